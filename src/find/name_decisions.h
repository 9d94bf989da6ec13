/* Why a typed name cannot be resolved: facts in, one value out. find.c and named_paths.c have the
 * sentences. */
#pragma once

#include <stdbool.h>

/* Why no file and no installed package has the name. */
enum absent_name {
	ABSENT_NO_ENVIRONMENT,
	ABSENT_NEAR,       /* a package has almost that name */
	ABSENT_PROJECT,    /* its package has another name, and is not installed */
	ABSENT_OTHERS,     /* the environment has other packages for GPUs */
	ABSENT_NOT_ACTIVE, /* no environment is active that could have it */
	ABSENT,
};

struct absent_facts {
	bool environment;
	bool near;
	bool project;
	bool others;
	bool asks_index;   /* the package index could have the package */
	bool installation; /* the environment is a Python installation itself */
};

enum absent_name absent_decide(const struct absent_facts *facts);

/* Why a named file holds no device code. */
enum no_code {
	NO_CODE_IS_CODE, /* it may hold device code */
	NO_CODE_EMPTY,
	NO_CODE_PACK,
	NO_CODE_SOURCE, /* CUDA C source */
	NO_CODE_COMPRESSED,
	NO_CODE_PACKAGES,
	NO_CODE_PROJECT,
	NO_CODE_PYTHON,
	NO_CODE_TEXT,
	NO_CODE_OTHER,
};

struct no_code_facts {
	bool unread; /* it is not empty, but nothing could be read */
	bool code;   /* its first bytes or its name are typical of code */
	bool empty;
	bool pack;
	bool source;
	bool sources; /* the caller compiles CUDA C */
	bool compressed;
	bool text;
	bool packages;
	bool project;
	bool python;
};

enum no_code no_code_decide(const struct no_code_facts *facts);
