/* The simulated driver: declarations that its files share.
 *
 * It is an independent witness of the driver's cache format and uses nothing of libjitwarm: hash,
 * key, entry, index and lock are implemented a second time, from docs/internals/driver-cache.md
 * alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The CUresult values that are used, by cuda.h's numbers. API functions return int. */
enum {
	CU_OK = 0,
	CU_INVALID_VALUE = 1,
	CU_OUT_OF_MEMORY = 2,
	CU_NOT_INITIALIZED = 3,
	CU_DEVICE_UNAVAILABLE = 46,
	CU_NO_DEVICE = 100,
	CU_INVALID_DEVICE = 101,
	CU_INVALID_IMAGE = 200,
	CU_INVALID_CONTEXT = 201,
	CU_NO_BINARY_FOR_GPU = 209,
	CU_INVALID_PTX = 218,
	CU_UNSUPPORTED_PTX_VERSION = 222,
	CU_JIT_COMPILATION_DISABLED = 223,
	CU_INVALID_SOURCE = 300,
	CU_NOT_FOUND = 500,
	CU_ILLEGAL_ADDRESS = 700,
	CU_UNKNOWN = 999
};

#define SIM_GPUS_MAX 16

struct bytes {
	uint8_t *data;
	size_t size;
};

/* Ends the process with a message when memory runs out; never returns NULL. */
void *sim_alloc(size_t size);
void bytes_free(struct bytes *bytes);
/* Appends; `data` may be NULL for zeros. */
void bytes_add(struct bytes *bytes, const void *data, size_t size);
void bytes_add_text(struct bytes *bytes, const char *text);
uint32_t get_u32(const uint8_t *from);
uint64_t get_u64(const uint8_t *from);
void put_u16(uint8_t *to, uint16_t value);
void put_u32(uint8_t *to, uint32_t value);
void put_u64(uint8_t *to, uint64_t value);
uint64_t sim_fnv(uint64_t state, const void *data, size_t size);
#define SIM_FNV_START UINT64_C(0xcbf29ce484222325)

/* ---- config.c: the environment, read once in cuInit ---- */

struct gpu {
	int sm;
	unsigned pci_device; /* PCI device id, vendor 10de */
	unsigned pci_bus;    /* 0000:BUS:00.0 */
	const char *name;
	unsigned memory_mib;
	int multiprocessors;
	int compute_mode; /* 0 default, 2 prohibited, 3 exclusive process */
	uint8_t uuid[16];
};

struct config {
	struct gpu gpus[SIM_GPUS_MAX];
	size_t gpu_count;
	int cuda_version;       /* 12040 */
	unsigned version[3];    /* 550, 163, 1 */
	char stamp[20];         /* "Feb 29 202423:59:58" and a NUL */
	double cost_factor;     /* factor on the milliseconds of the model or table */
	bool cost_busy;         /* burn processor time instead of sleeping */
	char *fault;            /* or NULL */
	char *log;              /* file, or NULL */
	char *state;            /* folder of the markers of ":once", or NULL */
	char *gate;             /* a fault "wait" lasts while this file exists; or NULL */
	unsigned tail_delay_ms; /* between unlocking and writing the index's tail */
	unsigned memory_mib;    /* that cuDeviceTotalMem reports; 0: that of the GPU in gpus.inc */
	unsigned free_mib;      /* free memory of a GPU, beside a context; 0: most of it */
	bool mig;               /* the GPUs are slices of one */
	/* NVIDIA's own variables */
	char *cache_directory; /* NULL: no caching */
	uint64_t cache_limit;
	bool cache_disabled;
	bool jit_disabled;
	bool force_jit; /* PTX and never a cubin, and the cache is written but not read */
};

/* Returns the CUresult of cuInit. */
int config_read(void);
extern struct config sim;

/* Returns the newest PTX ISA that the simulated driver reads, as major * 10 + minor. */
unsigned config_newest_isa(void);
/* Says whether the driver reads zstd entries, as from 550.54.14 on. */
bool config_reads_zstd(void);

/* Writes one line to SIMDRIVER_LOG: "PID EVENT ...". */
void log_event(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- container.c: recognising images, and choosing an entry ---- */

enum { KIND_PTX = 1, KIND_CUBIN = 2, KIND_LTOIR = 8, KIND_RELOCATABLE_PTX = 0x40 };
enum image_form { IMAGE_CUBIN, IMAGE_PTX };

struct image {
	enum image_form form;
	struct bytes payload; /* as it is in the key; to be freed */
	const char *options;  /* points into the container, or at "" */
	bool relocatable;     /* compiled as for a link, even if it is loaded */
	bool passed_over;     /* it holds relocatable PTX of a kind that this driver does not load */
};

/* Chooses and decompresses an entry, for a link or a load. `size` is 0 if the caller does not know
 * it. Returns 0 or a CUresult. */
int image_choose(struct image *ret_image, const void *data, size_t size, int sm, bool link);
/* Returns the container that a wrapper of the CUDA runtime points to; any other image unchanged. */
const void *image_unwrap(const void *image);
/* Says whether code for `sm` (variant 0, 'a' or 'f') runs on `gpu`, as PTX or as a cubin. */
bool ptx_runs(int sm, char variant, int gpu);
bool cubin_runs(int sm, char variant, int gpu);

/* ---- ptx.c ---- */

struct ptx {
	unsigned isa;     /* major * 10 + minor; 0: no .version */
	int target;       /* 86 */
	char target_form; /* 0, 'a' or 'f' */
	size_t statements;
	size_t branches;
	size_t entries;
	bool balanced;      /* as many closing braces as opening ones */
	struct bytes names; /* of the entries, each with its NUL */
	size_t functions;
	struct bytes
		function_names; /* the names of functions that others may call, each with its NUL */
};

void ptx_read(struct ptx *ret_ptx, const uint8_t *text, size_t size);
void ptx_free(struct ptx *ptx);

/* ---- compile.c, cubin.c, fault.c ---- */

struct job {
	const uint8_t *ptx;
	size_t size;         /* of the text, without NULs */
	const char *options; /* as in the key */
	int sm;
	bool relocatable;
};

/* Takes the modelled time and makes the cubin; appends text for the logs to `info` and `error`. */
int compile_ptx(const struct job *job, struct bytes *ret_cubin, struct bytes *info,
				struct bytes *error);

struct cubin_wish {
	int sm;
	bool relocatable;
	uint64_t seed;
	size_t size; /* at least about this */
	const uint8_t *names;
	size_t names_size;
	size_t entries;
};
void cubin_make(struct bytes *ret_cubin, const struct cubin_wish *wish);
/* Returns 0, or the driver's error: 200 (no cubin, ABI unknown), 209 (not an input of a link), 300
 * (architecture). */
int cubin_check(const uint8_t *data, size_t size, int sm, bool relocatable);
/* Returns the total size according to the section table, for images without a size. 0: not ELF. */
size_t cubin_size(const uint8_t *data);
/* Appends the names of kernels and functions, each with its NUL; returns their number. */
size_t cubin_functions(const uint8_t *data, size_t size, struct bytes *names);
bool cubin_has_function(const uint8_t *data, size_t size, const char *name);

/* Applies the fault of SIMDRIVER_FAULT for this PTX. Returns 0, or the CUresult to return. */
int fault_strike(const uint8_t *ptx, size_t size, struct bytes *error);
/* Returns CU_OK, or the error that every call returns from now on. */
int fault_sticky(void);

/* ---- cache.c, index.c ---- */

bool cache_find(const struct bytes *key, struct bytes *ret_value);
void cache_store(const struct bytes *key, const struct bytes *value);

struct index_row {
	uint64_t hash;
	uint64_t size;
};
struct index {
	struct index_row *rows;
	size_t count;
	uint64_t total;
};
/* Returns false if the driver would wipe the cache: no header, another version, fewer rows than its
 * count. */
bool index_parse(struct index *ret_index, const struct bytes *file);
/* Says whether there are fewer rows than the header's count, which a look-up checks, too. */
bool index_lacks_rows(const struct bytes *file);
void index_format(struct bytes *ret_file, const struct index *index);
void index_append(struct index *index, uint64_t hash, uint64_t size);
void index_remove(struct index *index, size_t at);
void index_free(struct index *index);

/* ---- module.c ---- */

struct context {
	int device; /* index into sim.gpus */
	struct os_mutex *compiling;
	bool primary;
};

/* The log buffers of an option list, and the text that other options add to the key. */
struct jit_options {
	char *info;
	size_t info_size;
	void **info_filled;
	char *error;
	size_t error_size;
	void **error_filled;
	bool verbose;
	char key_text[64];
};
void jit_options_read(struct jit_options *ret, unsigned count, const int *options, void **values);
void jit_options_answer(const struct jit_options *options, const struct bytes *info,
						const struct bytes *error);
struct build {
	const struct context *context;
	bool link; /* an input to a link */
	struct jit_options options;
	struct bytes info, error; /* log so far; a link's log grows from input to input */
};
/* Makes a cubin of the image, through cache and compiler. */
int module_build(struct build *build, const void *image, size_t size, struct bytes *ret_cubin);
void build_free(struct build *build);
struct context *context_current(void);
/* Returns CU_OK, or the reason why no call can work now. */
int api_state(void);
