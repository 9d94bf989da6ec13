/* The sample framework is only the data that nvcc puts into a library for the CUDA runtime. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* nvcc puts this wrapper into .nvFatBinSegment and passes it to __cudaRegisterFatBinary. */
struct sample_wrapper {
	uint32_t magic;
	uint32_t version; /* 2: linked from relocatable objects */
	const void *data;
	const void *more;
};

enum sample_kind {
	SAMPLE_PLAIN,
	SAMPLE_ZSTD,   /* drivers before 550.54.14 cannot decompress it */
	SAMPLE_LINKED, /* linked code; if it does not fit, the objects that follow are linked */
	SAMPLE_OBJECT,
};

struct sample_module {
	const char *name; /* NULL after the last one */
	enum sample_kind kind;
	const struct sample_wrapper *wrapper; /* NULL for an object */
	const void *data;                     /* of an object, else NULL */
	size_t size;
};

SAMPLE_EXPORT extern const struct sample_module sample_modules[];
