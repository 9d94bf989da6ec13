/* The caches of other compilers (data/jit-caches.csv), which jitwarm neither reads nor packs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct jit_cache {
	const char *variable; /* names the folder */
	const char *below;    /* the name of its folder in one folder for all caches: "triton" */
	const char *standard; /* without the variable; "": nowhere */
	const char *inside;   /* the part of the folder that is the cache */
	const char *package;
};
extern const struct jit_cache jit_caches[];
extern const size_t jit_cache_count;

/* The folder of a cache, from the environment or the default; NULL: none. The caller frees it. */
char *jit_cache_path(const struct jit_cache *cache);
/* The size of the files below a folder, not beyond other file systems; 0 if there are none. */
uint64_t jit_cache_bytes(const char *path);
