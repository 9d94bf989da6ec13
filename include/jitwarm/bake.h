/* Puts machine code for named GPUs into copies of libraries: the code that the driver would compile
 * and store in its cache is in the copies' containers, so it is never compiled at a start, whatever
 * happens to the cache. For a wheel a new wheel is written, whose version has a local label
 * ("1.0.2+jitwarm.sm86").
 *
 * Threads: calls at the same time need different output folders. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/find.h>
#include <jitwarm/prime.h>
#include <jitwarm/system.h>

enum { JW_BAKE_MAX_GPUS = 32 };

/* The drivers that load a copy's machine code for a GPU. */
struct jw_bake_drivers {
	struct jw_target target;
	struct jw_driver from; /* the first driver, by its branch; with an older one programs fail */
	/* The newest driver with which such code was measured; zeros if none was. */
	struct jw_driver to;
};

struct jw_bake_file {
	char *path; /* the library, or the package that contains it */
	const char
		*member; /* the name in a wheel; NULL for a file, or if `failed` is about the whole package
				  */
	const char *output; /* the copy, or the new package; NULL if none was written (see `failed`), or
					 there was nothing to bake */
	/* The numbers of containers; each counts once for each GPU architecture. */
	size_t modules; /* containers that the driver would compile, and results of device linking
					   that the CUDA runtime would link: the sum of the next five */
	size_t baked;   /* containers that have machine code for the GPU now */
	size_t no_room; /* containers that are too small for it, and cannot move; `no_room_why` is the
					   reason for the first one */
	size_t uncompiled; /* containers whose machine code is not in the cache */
	size_t unknown; /* containers of a form that is not written, or that the driver does not load */
	size_t unlinked; /* results of device linking that could not be made, so that a start may link
						them; `unlinked_why` is the reason for the first one, with JW_ERR_NOT_FOUND
						if no start can link it either */
	size_t texts;    /* PTX texts in a program's data, which have no container */
	size_t linked;   /* those of `baked` that are results of device linking */
	size_t moved;    /* containers that got another place, since their own had no room */
	uint64_t size_before_bytes, size_after_bytes;
	struct jw_bake_drivers drivers[JW_BAKE_MAX_GPUS]; /* one for each GPU with code in the copy */
	size_t driver_count;
	struct jw_error unlinked_why, no_room_why;
	struct jw_error failed; /* why no copy was written; JW_OK if one was written, or there was
							   nothing to bake */
};

struct jw_bake_result {
	struct jw_bake_file *files; /* the files with something to bake, and those that failed */
	size_t file_count;
	size_t images; /* the files with device code, in wheels too; `files` may leave some out */
	struct jw_target *targets; /* the GPUs that the code is for */
	size_t target_count;
	struct jw_driver driver; /* the driver whose compiler made the code: this driver and newer ones
								of its CUDA major version load the copies */
	size_t uncompiled;       /* modules that could not be compiled */
	bool interrupted;
	struct jw_error uncompiled_why; /* why the first one could not be compiled; JW_OK if unknown */
};

struct jw_bake_options {
	/* The GPUs, the driver, and the cache that the code is taken from. */
	const struct jw_system *system;
	const struct jw_found *found; /* the libraries (jw_find) */
	const char *output; /* a folder for the copies, made if missing; not used with dry_run */
	/* Options for compiling cold modules: jobs, memory, callbacks. jw_bake sets its paths,
	 * `everything` and `dry_run`. If NULL, cold modules are not compiled. */
	const struct jw_prime_options *prime;
	bool dry_run;   /* only count what would be baked */
	bool any_owner; /* bake NVIDIA's own libraries too, although their licence does not allow
					   modifying them */
	struct jw_cancel cancel;
	/* Called with the progress of packing a new wheel, in bytes of its unpacked members; may be
	 * NULL. */
	void (*packing)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *packing_context;
	/* The linker of relocatable code for another machine: an nvJitLink's file, a toolkit's folder,
	 * or a package that contains one. If NULL, the oldest suitable one of the environment, of
	 * toolkits, and of fetched ones. */
	const char *nvjitlink;
};

/* Checks what can be known without a library; jw_bake calls it, too. JW_ERR_USAGE if no folder is
 * named; JW_ERR_IO if no copy could be written to it; JW_ERR_NOT_FOUND if there is no GPU, or
 * `nvjitlink` leads to no library; JW_ERR_UNSUPPORTED if the driver uses no cache. Only `system`,
 * `output`, `dry_run` and `nvjitlink` are used. */
int jw_bake_check(struct jw_error *err, const struct jw_bake_options *options);

/* Compiles cold modules, and writes a copy of each library for which there is something to bake;
 * others are not copied. A copy has the library's size, or is longer if containers were moved, and
 * appears complete or not at all. Errors as for jw_bake_check and jw_prime, and JW_ERR_UNSUPPORTED
 * if the form of the driver's cache is unknown. The caller frees *ret_result with
 * jw_result_free. */
int jw_bake(struct jw_error *err, const struct jw_bake_options *options,
			struct jw_bake_result **ret_result);

/* ---- verifies that nothing is compiled */

struct jw_bake_verified {
	char *path;        /* the library, or the wheel that contains it */
	char *member;      /* the name in a wheel; NULL for a file */
	size_t containers; /* containers that a start loads, once for each GPU architecture */
	size_t refused;    /* containers that the driver did not load */
	size_t too_old;    /* containers for whose code the driver is too old (it reads no zstd, or the
						  code is of a newer CUDA). They are not passed to the driver, because a
						  program that loads them fails */
	size_t entries;    /* entries that loading added to an empty cache; each is a compile */
	bool compiler_opened; /* the driver opened its compiler library, which also links */
	/* Why the library could not be verified; code 0 if all of it was loaded. */
	struct jw_error failed;
};

struct jw_bake_verify_result {
	struct jw_bake_verified *items;
	size_t count;
};

struct jw_bake_verify_options {
	const struct jw_system *system; /* its GPUs, driver and worker */
	const char *const *paths;       /* the libraries, baked or not */
	size_t path_count;
	struct jw_cancel cancel;
};

/* Has the driver load the device code of libraries as a start would, in a worker with an empty
 * cache for each library. Loads no library itself. JW_ERR_NOT_FOUND if there is no GPU;
 * JW_ERR_INTERRUPTED; another code if no worker can be started. The caller frees *ret_result with
 * jw_result_free. */
int jw_bake_verify(struct jw_error *err, const struct jw_bake_verify_options *options,
				   struct jw_bake_verify_result **ret_result);
