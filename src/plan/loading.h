/* When the CUDA runtime passes the code of a library to the driver, as one rule. Measured with
 * runtimes 11.7 to 12.9 under drivers 525 to 555 (tests/driver/loading.sh; docs/internals/
 * driver-cache.md, "When code is loaded"). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum loading {
	LOADING_ALL, /* all of it when a program starts; the start fails if the driver refuses some */
	/* All of it when a program starts; the start fails if the driver calls some of it invalid. If
	 * the driver refuses code for another reason, only its kernels fail. */
	LOADING_LENIENT,
	LOADING_LAZY, /* each container when one of its kernels is first used; if it fails, that use
					 fails */
};

/* The setting of CUDA_MODULE_LOADING. */
enum loading_setting { LOADING_DEFAULT, LOADING_ASKED, LOADING_DECLINED };

struct loading_facts {
	uint32_t runtime_cuda; /* the CUDA version of the library's CUDA runtime; 0 if unknown */
	uint32_t driver_cuda;  /* the driver's CUDA version; 0 for a new driver */
	bool windows;
	enum loading_setting setting; /* the program's setting */
	const char *path, *member;    /* the library's path; member is NULL outside an archive */
};

enum loading loading_of(const struct loading_facts *facts);
/* Returns the setting of programs that this account starts. */
enum loading_setting loading_setting_here(void);
