/* Prepares the cache for a driver that is installed and starts at the next boot. The modules that
 * the running driver has compiled, also at run time and for programs that nobody named, are
 * compiled with the installed driver's compiler; between drivers of one CUDA minor version the
 * entries are reused. No entry of the running driver is evicted for that.
 *
 * Threads: any number of threads may call jw_ahead_find at the same time; one call of
 * jw_ahead_prepare at a time in a process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/error.h>
#include <jitwarm/prime.h>

/* The stage to which an account's cache is prepared, as a file of its state directory says. */
enum jw_ahead_state {
	JW_AHEAD_NONE,       /* the installed driver is running, and none was prepared */
	JW_AHEAD_NOTICED,    /* another driver is installed; nothing is prepared yet */
	JW_AHEAD_UNFINISHED, /* some modules have no entry yet */
	JW_AHEAD_COMPILING,  /* a process is preparing now */
	JW_AHEAD_READY,   /* every module has the entry that the installed driver would make itself */
	JW_AHEAD_LIVE,    /* the prepared driver is running now */
	JW_AHEAD_UNDONE,  /* another driver than the prepared one is running and installed */
	JW_AHEAD_NO_ROOM, /* the limit leaves no room beside the running driver's entries */
	JW_AHEAD_NO_COMPILER, /* the ptxas of the installed driver's CUDA version is missing */
	JW_AHEAD_FAILED,      /* modules could not be compiled */
};
/* Returns "none", "noticed", "unfinished", "compiling", "ready", "live", "undone", "no-room",
 * "no-compiler" or "failed". */
const char *jw_ahead_state_name(enum jw_ahead_state state);

struct jw_ahead {
	enum jw_ahead_state state;
	char running[32], next[32]; /* "535.309.01"; "" if unknown */
	bool pending;               /* the two differ: `next` starts at the next boot */
	bool named;     /* the caller named the library of `next`, whether it is installed or not */
	size_t modules; /* modules that the running driver has compiled, for this machine's GPUs */
	size_t ready;   /* those of them that have an entry of `next` */
	size_t stored;  /* with JW_AHEAD_NO_ROOM: modules that wait in the store until the boot */
	uint64_t limit_bytes; /* with JW_AHEAD_NO_ROOM: the limit that all modules would need */
	char why[512];        /* the reason for the last three states, one line; else "" */
};

/* Compares the running driver with the installed one, or with the library that is named (a newer
 * one, unpacked elsewhere; NULL: the installed one), and reads how far the last jw_ahead_prepare
 * came. Starts no driver, and writes nothing. JW_ERR_UNSUPPORTED if the named file does not show
 * which driver it is. */
int jw_ahead_find(struct jw_error *err, const char *library, struct jw_ahead *ret_ahead);

struct jw_ahead_options {
	const char *library; /* as in jw_ahead_find */
	/* The options for jw_prime: additional paths to prepare (files whose names depend on the
	 * driver), jobs, priority, compiler, fetching, cancel and callbacks. */
	const struct jw_prime_options *prime;
	const char *const *worker; /* as in jw_system_options */
	const char *cache_dir;     /* NULL for the live cache */
	/* Called, with the `context` of `prime`, when all reused entries are in the cache; may be
	 * NULL. */
	void (*reused)(void *context, const struct jw_ahead *ahead);
};

/* Prepares the cache. Does nothing unless another driver is pending, or one that was pending is
 * running now: once, and then until all of its modules are ready. *ret_ahead says how far it came.
 * JW_ERR_BUSY if another process is preparing; JW_ERR_NOT_FOUND if no GPU is known;
 * JW_ERR_UNSUPPORTED if the cache is not used, the GPU is not supported by that driver, or the
 * names of its entries are unknown. */
int jw_ahead_prepare(struct jw_error *err, const struct jw_ahead_options *options,
					 struct jw_ahead *ret_ahead);
