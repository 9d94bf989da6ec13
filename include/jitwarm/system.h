/* This machine: GPUs, driver, and the driver's cache in effect.
 *
 * Threads: any number of threads may read an open jw_system. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cache.h>
#include <jitwarm/error.h>
#include <jitwarm/estimate.h>
#include <jitwarm/target.h>

struct jw_gpu {
	char name[128];
	struct jw_target target;
	char bus[32];  /* "0000:01:00.0"; "" if unknown */
	char uuid[48]; /* as nvidia-smi prints it; "" if unknown */
	uint64_t memory_bytes;
	int ordinal;      /* the driver's number, in the order of CUDA_DEVICE_ORDER */
	int compute_mode; /* CUcomputemode: 0 default, 2 prohibited, 3 exclusive process */
};

/* The reliability of predicted names of the driver's cache entries. */
enum jw_trust {
	JW_TRUST_NONE,      /* the driver's stamp is unknown */
	JW_TRUST_READ,      /* read from the library, not confirmed yet */
	JW_TRUST_CONFIRMED, /* seen in an entry that this driver made */
	JW_TRUST_OPAQUE,    /* an entry that this driver made has another form than predicted */
	JW_TRUST_TABLE,     /* from the table of known drivers; jw_system reports it as JW_TRUST_READ */
};

struct jw_driver_info {
	char library[1024]; /* the file; "" if no driver is installed */
	struct jw_driver version;
	char stamp[20]; /* "Apr  8 202512:10:18"; "" if unknown */
	enum jw_trust trust;
};

/* The cache's settings from the environment, and their consequences. */
struct jw_cache_info {
	char *path; /* the absolute path of the live cache; NULL if the driver would not cache at all (a
				   warning gives the reason) */
	bool path_set; /* CUDA_CACHE_PATH is set */
	bool named;    /* the path is from jw_system_options.cache_dir */
	/* CUDA_CACHE_MAXSIZE as the driver interprets it; 0 if nothing is stored. */
	uint64_t limit_bytes;
	bool limit_set;       /* the limit is from the variable, not the driver's default */
	uint64_t meant_bytes; /* the limit that the user meant by a unit, which the driver misreads
							 ("8G"); 0 without a unit */
	/* The largest limit in jitwarm's own files, which programs may only have from a later start
	 * on; 0 without one. No advice is lower. */
	uint64_t kept_bytes;
	uint64_t free_bytes; /* on the file system; UINT64_MAX if unknown */
	/* The three values that programs started by this process have; jw_settings_adopt takes the
	 * other values from their next login. `path` is NULL if it is not set. */
	struct {
		char *path;
		uint64_t limit_bytes;
		bool limit_set, disabled;
	} now;
	bool disabled; /* CUDA_CACHE_DISABLE=1: the cache is neither read nor written */
	/* The cache is written and never read, because of CUDA_FORCE_PTX_JIT, or of CUDA_FORCE_JIT
	 * (force_jit), which old drivers ignore. */
	bool force_ptx_jit, force_jit;
	bool disable_ptx_jit; /* CUDA_DISABLE_PTX_JIT or CUDA_DISABLE_JIT: cold modules fail to load */
	bool usable; /* the driver can read and write the directory, as far as that can be seen without
					writing */
	bool reads;  /* the driver can only read the directory: entries are loaded, and none is added */
	bool no_compiler; /* the library with which the driver compiles PTX is missing: entries are
						 loaded, and modules that are not in the cache fail with error 221 */
	/* One line on why programs with these settings do not use a warm cache (one of the above, or no
	 * usable directory), or why nothing can be added to it (`reads`, `no_compiler`); "" if they use
	 * it. A directory other than the live cache is always usable. */
	char why_useless[1024];
	bool exists;
	struct jw_cache_outlook outlook; /* as of when the system was opened; with `asleep`, entries and
										bytes are those of a sound index */
	char **warnings;                 /* one line each */
	size_t warning_count;
};

struct run_folder;

struct jw_system {
	struct jw_gpu *gpus;
	size_t gpu_count;
	size_t pci_count; /* NVIDIA display devices that the operating system lists, whether the driver
						 supports them or not */
	/* Values for an example of --target and --driver: the architecture of a GPU that is installed,
	 * though no driver runs it, else a usual one ("rtx4090"); and a driver that runs it. */
	char example[JW_TARGET_TEXT];
	const char *example_driver;
	struct jw_driver_info driver;
	struct jw_cache_info cache;
	char *state_dir; /* NULL if the account has no home directory, so that nothing is stored */
	char why_forgets[512]; /* one line on why nothing can be stored in state_dir; "" if it can */
	bool remembered; /* an earlier worker reported these GPUs, for this driver and these devices */
	bool unasked;    /* there may be GPUs, but the driver was not asked because of `asleep` or
						`let_sleep`. If all of them are known by their PCI device ids, they are listed
						here, without `uuid` and memory */
	char why_none[512];         /* one line on why there are no GPUs; "" if there are */
	int start_error;            /* the CUresult with which the driver has refused to start; 0 if it
								   starts, or fails without one */
	struct jw_speed speed;      /* learned from runs on this machine, measured before the first run;
								   zeros for another machine */
	const char *const *worker;  /* as the caller gave it */
	struct run_folder *scratch; /* private */
	bool elsewhere;             /* another machine, the one of jw_system_options.targets */
};

/* With jw_system_options.asleep: whether to start the driver once nevertheless, if the GPUs are
 * unknown without it. Its answer is remembered. */
enum jw_ask {
	JW_ASK_NEVER,
	JW_ASK_UNKNOWN,  /* if they are neither remembered nor known by their PCI device ids */
	JW_ASK_UNCERTAIN /* if they are not remembered */
};

struct jw_system_options {
	bool asleep; /* use only remembered facts and files; do not start the driver */
	bool probe;  /* have the driver compile a tiny module if its stamp is not confirmed yet, and
					larger ones for up to 0.3 s if its speed is unknown */
	/* The command that runs jw_worker_main, ending with NULL (worker.h). Not copied. Required if
	 * the driver may have to be started: unless `asleep`, with `probe` or `ask`, and for
	 * jw_prime. */
	const char *const *worker;
	const char *cache_dir; /* a directory in place of the live cache; NULL for the live cache */
	bool scratch; /* use a new directory for this run only, which jw_system_free removes with its
					 content */
	/* Another machine, with these GPUs; 0 for this machine. The driver is then that of `driver`
	 * ("550.163.01", or a CUDA version in addition to the file), of the library `driver_library`,
	 * of the profile `driver_profile` (jw_system_write_profile), or, if all are NULL, the installed
	 * one. A `driver` of "" stands for none. */
	const struct jw_target *targets;
	size_t target_count;
	const char *driver, *driver_library, *driver_profile;
	bool nameless; /* with these GPUs, an unknown stamp is not a failure: nothing is warm, and
					  nothing is compiled */
	enum jw_ask ask;
	/* If the system has put a GPU to sleep, and all GPUs are known by their PCI device ids, the
	 * driver is not asked, because that would wake the GPU; the result is then as with `asleep`
	 * (jw_system.unasked). */
	bool let_sleep;
};

/* Returns the advised CUDA_CACHE_MAXSIZE: the present size, and 1.25 times the predicted growth,
 * rounded up to 256 MiB; at least 1 GiB, the default of new drivers, and at most 4 GiB, the largest
 * limit that a driver counts. */
uint64_t jw_tune_limit(uint64_t present_bytes, uint64_t predicted_bytes);
/* Returns the limit to advise for this cache: jw_tune_limit, or `meant_bytes` if that is larger or
 * holds everything; never less than `kept_bytes` or the limit in force. */
uint64_t jw_cache_limit(const struct jw_cache_info *cache, uint64_t predicted_bytes);
/* Returns whether the cache's limit holds its present content and this growth, and is not a
 * mistake. */
bool jw_cache_holds(const struct jw_cache_info *cache, uint64_t predicted_bytes);
/* Returns whether programs that this process starts use this cache without evicting anything of
 * this size. */
bool jw_cache_serves_now(const struct jw_cache_info *cache, uint64_t bytes);

/* Returns a driver, for an example, that runs all of these GPUs and whose names of cache entries
 * are known: "550.163.01". */
const char *jw_driver_example(const struct jw_target *targets, size_t count);
/* Lists the drivers whose names are known: "418.39, 460.106.00, …"; all of them, or only those next
 * to `driver`. Returns `text`. */
enum { JW_DRIVER_NAMES = 1024 };
const char *jw_driver_names(char text[JW_DRIVER_NAMES], const struct jw_driver *driver);

/* Opens a system. A missing GPU or driver is not a failure: why_none describes it. JW_ERR_USAGE if
 * a worker is required and not named, or the caller is a worker. With targets, an unknown stamp of
 * the driver is a failure (JW_ERR_UNSUPPORTED), unless `nameless`. The caller frees it with
 * jw_system_free. */
int jw_system_open(struct jw_error *err, const struct jw_system_options *given,
				   struct jw_system **ret_system);
void jw_system_free(struct jw_system *system);
/* Lists the architectures of the system's GPUs, each once and in order, at most `most`. Returns
 * their number. */
size_t jw_system_targets(const struct jw_system *system, struct jw_target *targets, size_t most);

/* Writes the profile of this system's driver, with which another machine can prime for it.
 * JW_ERR_NOT_FOUND without a driver; JW_ERR_UNSUPPORTED for an unknown stamp or form of its
 * cache. */
int jw_system_write_profile(struct jw_error *err, const struct jw_system *system, const char *path);

/* The options of jw_state_remove, and its results. */
struct jw_state_removal {
	bool with_keys;              /* remove secret keys, too, which cannot be made again */
	bool dry_run;                /* remove nothing, and report what would be removed */
	char *path;                  /* the path of the state directory; NULL if nothing was removed */
	bool keys_stay, others_stay; /* secret keys stay; files that jitwarm has not written stay */
};

/* Removes the files that jitwarm has written into its state directory, and the directory if nothing
 * else is in it. Other files stay, even in folders with jitwarm's names. No other call
 * may use the directory meanwhile. The caller frees the path with jw_text_free. */
int jw_state_remove(struct jw_error *err, struct jw_state_removal *removal);
