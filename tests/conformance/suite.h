/* The conformance suite: one case for each fact of docs/internals/driver-cache.md that jitwarm
 * relies on, run against any driver: NVIDIA's own ones on the phantom GPU, or the simulated one. It
 * uses nothing of libjitwarm.
 *
 * A case gets an empty cache directory and a client, a process with the driver, which lives from
 * case to case (the driver reads its variables once, the cache's files at every load). Cases about
 * variables start their own clients. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A case has either run, or run_at and where. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum outcome { PASSED, FAILED, SKIPPED };

struct test_case {
	const char *name;
	enum outcome (*run)(void);
	enum outcome (*run_at)(long where); /* in place of run */
	long where;
};

/* Each file of cases ends in a table; the last row has no name. */
extern const struct test_case key_cases[], lookup_cases[], damage_cases[], insert_cases[],
	limit_cases[], lock_cases[], disk_cases[], setting_cases[], choice_cases[], relocatable_cases[],
	compiler_cases[], loading_cases[];

/* CHECK(condition): ends the case as failed and reports the line. CHECK_IS(a, b): for numbers,
 * which it prints. */
enum outcome case_failed(const char *file, int line, const char *what);
enum outcome case_differs(const char *file, int line, const char *what, long long is,
						  long long should);
enum outcome case_skipped(const char *why);
#define CHECK(condition)                                                                           \
	do {                                                                                           \
		if (!(condition))                                                                          \
			return case_failed(__FILE__, __LINE__, #condition);                                    \
	} while (0)
#define CHECK_IS(is, should)                                                                       \
	do {                                                                                           \
		long long is_ = (long long)(is), should_ = (long long)(should);                            \
		if (is_ != should_)                                                                        \
			return case_differs(__FILE__, __LINE__, #is, is_, should_);                            \
	} while (0)

struct suite {
	char scratch[256]; /* a folder of this run */
	char cache[272];   /* the client's cache directory, empty when a case begins */
	struct client *client;
	int cuda;       /* 12040 */
	int sm[2];      /* the first and the second device's; 0: none */
	char stamp[20]; /* learnt from the first entry */
};
extern struct suite suite;

/* ---- client.c: a process with the driver ---- */

struct client;
struct answer {
	int result;   /* CUresult; -1: the process has ended */
	int compiled; /* 1: the log shows the compiler; only for calls that have a log */
	int function; /* CUresult of cuModuleGetFunction, if one was requested */
	double ms;
};

/* Starts a client. `settings` is a NULL-ended list of "NAME=VALUE", "NAME" (unset), or "-directory"
 * to start in. */
struct client *client_start(const char *const *settings);
void client_stop(struct client *client);
/* `call`: how to load the file: data, dataex, opt4 (with an optimisation level), fatbin, library,
 * wrapper, link (as an input to a link). Or a command: "device" N, "umask" "-" (sets it to 0),
 * "readonly" "-" (root drops its right to ignore permissions), "account" NUMBER (root becomes it),
 * "setenv" NAME=VALUE, "lockerror" NUMBER (errno with which locks fail from now on; 0: none), whose
 * result is the number of failures since the last call. `function` may be NULL. */
struct answer client_load(struct client *client, const char *call, const char *path,
						  const char *function);
/* Loads the file by "dataex" in the suite's client. */
struct answer load(const char *path);
/* Returns the error log of the last failing load; "" if it is empty. */
const char *client_error(void);
void client_ask(struct client *client, int *ret_cuda, int ret_sm[2]);
/* Runs the client, in the child process. */
int client_main(void);
/* Makes locks fail (interpose.c); returns the number of failures since the last call. */
int locks_fail_with(int error);

/* ---- build.c: modules and containers ---- */

struct part {
	int kind;            /* 1 PTX, 2 cubin; 0 means 1 */
	int arch;            /* of the entry's header; 0 means 52 */
	const char *kernel;  /* PTX: name of its kernel; NULL means "k" */
	const char *target;  /* of the text; NULL means "sm_52" */
	const char *version; /* of the text; NULL means "6.3" */
	const char *options; /* NULL: none */
	unsigned variant;    /* makes another module of the same kernel */
	int nuls;            /* NULs after the text: usually 1, 0 in old containers */
	int compression;     /* 0, 4 LZ4, 8 zstd */
	uint64_t flags;      /* beside 64-bit and Linux */
	int header_size;     /* 1: uncompressed_size is set although nothing is compressed */
	const char *text;    /* this text instead of a kernel's */
	const void *data;    /* cubin */
	size_t size;
	unsigned statements; /* additional statements */
};

struct blob {
	uint8_t *data;
	size_t size;
};

void blob_free(struct blob *blob);
struct blob blob_copy(const void *data, size_t size);
void blob_add(struct blob *blob, const void *data, size_t size);
/* Returns the text of a part's PTX, without NULs. */
struct blob part_text(const struct part *part);
/* Writes a container of these parts into the scratch folder. The returned path is valid for a few
 * further calls. */
const char *container(const struct part *parts, size_t count);
#define CONTAINER(...)                                                                             \
	container((const struct part[]){__VA_ARGS__},                                                  \
			  sizeof((const struct part[]){__VA_ARGS__}) / sizeof(struct part))
/* Writes a container with one module of kernel `k`, variant n. */
const char *module(unsigned variant);
/* Writes the bytes as a file into the scratch folder. */
const char *raw_file(const void *data, size_t size);

/* ---- files.c: the cache's files ---- */

struct entry {
	char path[512];
	uint64_t hash; /* from the file's name */
	struct blob file;
	uint64_t key_size, value_size, checksum;
	const uint8_t *key, *value;
};

uint64_t fnv(const void *data, size_t size);
bool read_file(const char *path, struct blob *ret_blob);
bool write_file(const char *path, const void *data, size_t size);
bool exists(const char *path);
/* Reads at most `most` entries of the directory, in any order. Returns their number. */
size_t entries_read(const char *cache, struct entry *entries, size_t most);
size_t entries_count(const char *cache);
void entry_free(struct entry *entry);
/* Reads the file at entry->path again. */
bool entry_reread(struct entry *entry);
/* Reads the only entry; false if there is none or more than one. */
bool only_entry(struct entry *ret_entry);
/* Says whether some entry in the suite's cache has the key stamp HOST64 sm payload tail. */
bool has_key(int sm, const void *payload, size_t size, const char *tail);

struct row {
	uint64_t hash, size;
};
struct index {
	uint32_t version, count;
	uint64_t total;
	size_t file_size;
	struct row rows[600];
};
bool index_read(struct index *ret_index);
/* Writes count, total and rows from `index`, right or wrong. */
void index_write(const struct index *index);
char *cache_file(const char *name);
void cache_clear(void);
void remove_tree(const char *path);
