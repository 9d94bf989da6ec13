/* The documents that --json prints, as tables (base/json_table.h); scripts/make-documents.sh makes
 * docs/programs.md and the schemas in data/schemas from them. Each table is in the file of its
 * command, and is named in tests/documents/schemas.c. The tables here are shared by several
 * documents. */
#pragma once
#include <jitwarm/cache.h>
#include <jitwarm/estimate.h>

#include "base/json_table.h"
#include "cli/output.h"

/* Prints a document if --json requests it. `values` is the struct that its table describes. */
int document_print(struct output *out, const struct json_table *document, const void *values);

extern const struct json_table document_error; /* struct jw_error */

/* The document of a command that prints one text. */
extern const struct json_table document_text;
struct text_document {
	const char *text;
};

/* ---- parts of other documents */
extern const struct json_table document_span;     /* struct jw_seconds */
extern const struct json_table document_refused;  /* struct gpu_refused */
extern const struct json_table document_failing;  /* struct jw_check_failing */
extern const struct json_table document_release;  /* struct jw_which_release */
extern const struct json_table document_forecast; /* struct jw_forecast */
const char *document_loading(char room[JSON_ROOM], const void *loading); /* enum jw_loading */
extern const struct json_table document_outlook; /* struct jw_cache_outlook */
#define OUTLOOK_INDEX                                                                              \
	"`sound`, `missing`, `empty`, `truncated` (fewer rows than it counts), "                       \
	"`not an index`, `a device`, `a pipe`, `not a file`; `unknown`: it cannot be read"
#define OUTLOOK_NEXT                                                                               \
	"what a driver does when it next stores an entry: `adds`; `evicts_soon`: evicts before its "   \
	"limit is reached; `evicts`: evicts until the cache, which is larger than its limit, fits; "   \
	"`evicts_all`: evicts every entry and stores nothing, every time; `wipes`: deletes every "     \
	"entry (of a `truncated` index at its next look-up already); `nothing`: neither uses nor "     \
	"stores entries; `hangs`: every program hangs at its first look-up"
#define OUTLOOK_EVICTED "with `evicts`: at least this many entries are evicted"

/* Functions for rows: "sm_86" for a struct jw_target, "" if it is unknown; nanoseconds as seconds,
 * and as whole seconds. */
const char *document_sm(char room[JSON_ROOM], const void *target);
const char *document_verdict(char room[JSON_ROOM], const void *verdict); /* enum jw_verdict */
const char *document_driver(char room[JSON_ROOM], const void *driver);   /* struct jw_driver */
const char *document_runs(char room[JSON_ROOM], const void *runs);       /* enum jw_runs */
#define DOCUMENT_RUNS                                                                              \
	"`fails`, `unsure` (jitwarm cannot tell), `compiles` (in the cache or not), `runs` or "        \
	"`no-code`: the files run on the CPU alone"
/* Rows that have the same text in each document. */
#define DOCUMENT_TARGET(type, member)                                                              \
	JSON_FORMATTED("target", type, member, document_sm, "the GPU architecture: `sm_86`")
#define DOCUMENT_MEMBER(type, member)                                                              \
	JSON_AS("member", type, member, "for a file inside an archive: its name in the archive",       \
			.presence = JSON_UNLESS_NULL)
extern const struct json_table document_fate; /* struct jw_fate: `reason`, `part`, `needs` */
/* struct jw_driver; zeros become "" */
const char *document_needs(char room[JSON_ROOM], const void *driver);
double document_seconds(const void *ns);
double document_whole_seconds(const void *ns);
