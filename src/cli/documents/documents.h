/* The documents that --json prints, as tables (base/json_table.h): docs/json.md and the schemas in
 * data/schemas are made from them by scripts/make-documents.sh. To add one, write its table here
 * and name it in tests/documents/schemas.c. */
#pragma once

#include <jitwarm/accounts.h>
#include <jitwarm/ahead.h>
#include <jitwarm/bake.h>
#include <jitwarm/cache.h>
#include <jitwarm/carry.h>
#include <jitwarm/check.h>
#include <jitwarm/doctor.h>
#include <jitwarm/key.h>
#include <jitwarm/lint.h>
#include <jitwarm/pack.h>
#include <jitwarm/places.h>
#include <jitwarm/prime.h>
#include <jitwarm/prune.h>
#include <jitwarm/record.h>
#include <jitwarm/scan.h>
#include <jitwarm/share.h>
#include <jitwarm/startup.h>
#include <jitwarm/store.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>
#include <jitwarm/version.h>

#include "base/json_table.h"
#include "cli/output.h"
#include "cli/parts/eyes.h"

/* Prints a document if --json requests it. `values` is the struct that its table describes: a
 * result of the library, or one of the structs below. */
int document_print(struct output *out, const struct json_table *document, const void *values);

extern const struct json_table document_error; /* struct jw_error */

extern const struct json_table document_version;
struct text_document {
	const char *text;
};
extern const struct json_table document_text;
struct version_document {
	const char *version, *platform, *compiler, *build_type;
	const struct jw_component *libraries;
	size_t library_count;
};

extern const struct json_table document_config;
struct config_document {
	char *account_file, *machine_file;
	struct config_row {
		const char *name;
		char *value;        /* "": not set */
		const char *origin; /* NULL: not set */
		const char *help;
	} * rows;
	size_t count;
};

extern const struct json_table document_compiler;
struct compiler_document {
	struct compiler_row {
		const char *version;
		char *path;
	} * rows;
	size_t count;
};

extern const struct json_table document_outlook; /* struct jw_cache_outlook, a part of others */

extern const struct json_table document_status;
struct status_document {
	struct jw_system system;
	size_t carried;
	struct jw_other_cache *others;
	size_t other_count;
	bool wsl;
	const char *environment; /* NULL: none was found, or there is no GPU */
	struct jw_check_result packages;
	size_t troubles; /* files and folders of the environment that could not be read */
	struct jw_ahead ahead;
};

/* Image objects are made one at a time, as images are found. */
extern const struct json_table document_scan, document_scan_image, document_scan_package;
struct scan_document {
	const cJSON *packages; /* NULL: without -r */
	const cJSON *files;
	const struct jw_scan_total *totals;
	size_t total_count;
};
struct scan_package_document {
	struct jw_listed_package package;
	const char *wheel, *why;
};

extern const struct json_table document_lint; /* struct jw_lint_result */

extern const struct json_table document_check;
struct check_document {
	struct jw_check_result result;
	struct jw_check_gpu sum;
	const char *why_useless;
	bool explain;
};

extern const struct json_table document_find;
struct find_document {
	struct jw_places places;
	struct find_row {
		struct jw_place place;
		size_t files, images, warm, cold, failing; /* images 0: no device code, or not looked at */
		struct jw_seconds start;                   /* that a first start takes for the cold ones */
		char *trouble;                             /* NULL: none */
		char **dearest;                            /* files with cold modules */
		size_t dearest_count;
		enum jw_verdict verdict;
		bool judged; /* for GPUs; otherwise only files are counted */
	} * rows;        /* what costs most first */
	size_t count;
};

extern const struct json_table document_span;     /* struct jw_seconds */
extern const struct json_table document_forecast; /* struct jw_forecast */

extern const struct json_table document_export;
struct export_document {
	const char *file;
	struct jw_export_result result;
};

extern const struct json_table document_prime, document_prime_skipped; /* struct unattended */
struct prime_document {
	struct jw_prime_result result;
	struct prime_failure {
		struct jw_prime_failure failure;
		char *command; /* reproduces it; NULL: out of memory */
	} * failures;
	uint64_t peak_supervisor_bytes;
	const struct jw_store_refilled *refilled;
	const struct jw_carry_result *carried;
	const struct export_document *pack;
	const struct jw_shared *shared; /* with --share */
};

extern const struct json_table document_bake;
struct bake_document {
	struct jw_bake_result result;
	bool dry_run;
};
extern const struct json_table document_bake_verify; /* struct jw_bake_verify_result */

extern const struct json_table document_run; /* struct unattended */

extern const struct json_table document_command;
struct command_document {
	const char *file; /* the recording; NULL: none */
	struct jw_record_result result;
	struct jw_recording recording;
	struct command_owner {
		struct jw_recorded_file file;
		size_t modules;
		double seconds;
	} * owners; /* the dearest first */
	size_t owner_count, not_in_files;
	const char *why_useless; /* "": programs use the cache */
};

extern const struct json_table document_doctor;
/* What a command of a finding has before it, and behind its name; NULL: nothing. */
struct doctor_words {
	const char *before, *environment;
};
struct doctor_document {
	struct jw_doctor_result result;
	struct doctor_words words;
	struct process_code process; /* pid 0: none */
	char **fixed;
	size_t fixed_count;
};

extern const struct json_table document_watch;
enum watch_state { WATCH_COMPILING, WATCH_LINKING, WATCH_BUSY, WATCH_WAITING, WATCH_STATES };
struct watch_document {
	struct process_code process;
	const char *cache; /* NULL: the driver has none for it */
	double seconds, cpu_seconds;
	double compiling_s, linking_s, busy_s, waiting_s;
	double left_s;        /* for those left; less than 0: not known */
	size_t entries, left; /* that appeared; that its files have and the cache lacks */
	uint64_t bytes;
	unsigned processes;     /* it, and those that it has started, at the last look */
	enum watch_state state; /* the last one */
	bool ended;             /* the process has */
};

extern const struct json_table document_push;       /* struct jw_push_result */
extern const struct json_table document_pull;       /* struct jw_pull_result */
extern const struct json_table document_import;     /* struct jw_import_result */
extern const struct json_table document_import_all; /* struct jw_import_all_result */
extern const struct json_table document_store;      /* struct jw_store */
extern const struct json_table document_key;        /* struct jw_keys */

extern const struct json_table document_cache_list;
struct cache_list_document {
	char *path;
	struct cache_list_row {
		struct jw_cache_entry entry;
		bool carried;
	} * rows;
	size_t count;
};

extern const struct json_table document_cache_verify;
struct cache_verify_document {
	struct jw_cache_report report;
	size_t carried;
	struct jw_cache_repaired repaired;
};

extern const struct json_table document_cache_prune;
struct cache_prune_document {
	struct jw_prune_result result;
	bool applied;
};

extern const struct json_table document_tune, document_tune_undone;
struct tune_document {
	struct jw_cache_info cache;
	const char *path; /* the expected path */
	uint64_t limit_bytes, predicted_bytes;
	struct jw_settings settings;
	char **warnings;
	size_t warning_count;
	struct jw_tune_result changes;
};

extern const struct json_table document_startup;
struct startup_document {
	struct jw_startup startup;
	bool enabled;
	const cJSON *runs;
};

extern const struct json_table document_ahead; /* struct jw_ahead */

extern const struct json_table document_uninstall;
struct uninstall_document {
	char **removed;
	size_t count;
};

/* For rows: "sm_86" of a struct jw_target, "" if it is unknown; nanoseconds as seconds, and as
 * whole seconds. */
const char *document_sm(char room[JSON_ROOM], const void *target);
const char *document_verdict(char room[JSON_ROOM], const void *verdict); /* enum jw_verdict */
const char *document_driver(char room[JSON_ROOM], const void *driver);   /* struct jw_driver */
double document_seconds(const void *ns);
double document_whole_seconds(const void *ns);
