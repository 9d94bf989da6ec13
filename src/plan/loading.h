/* When the CUDA runtime hands the code of a library to the driver: one rule.
 *
 * Measured with runtimes 11.7 to 12.4 under drivers 525 to 555 (tests/driver/loading.sh;
 * docs/driver-cache.md, "When code is loaded"). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/target.h>

enum loading {
	LOADING_ALL, /* all of it when a program starts; the start fails if the driver refuses some */
	/* All of it when a program starts; the start fails if the driver calls some of it invalid.
	 * Of what the driver refuses for another reason, the kernels fail. */
	LOADING_LENIENT,
	LOADING_LAZY, /* each container when one of its kernels is first used, which fails then */
};

/* CUDA_MODULE_LOADING */
enum loading_setting { LOADING_DEFAULT, LOADING_ASKED, LOADING_DECLINED };

struct loading_facts {
	uint32_t runtime_cuda; /* the CUDA version of the library's CUDA runtime; 0: unknown */
	uint32_t driver_cuda;  /* that of the driver; 0: a new one */
	bool windows;
	enum loading_setting setting; /* of the program */
	const char *path, *member;    /* of the library; member NULL: it is in no archive */
};

enum loading loading_of(const struct loading_facts *facts);
/* The setting of programs that this account starts. */
enum loading_setting loading_setting_here(void);
