/* The facts when findings are tested, and a finding while it is being written. */
#pragma once

#include <jitwarm/doctor.h>
#include <jitwarm/tune.h>

#include "base/text.h"
#include "cache/settings.h"

/* The result of probing the cache and the driver (doctor.c). */
struct cache_probe {
	enum jw_probe_use use;
	char *entry;    /* the entry's path; NULL if the driver was not asked */
	char why[1024]; /* for JW_PROBE_FAILED: the reason, one line */
};

struct examination {
	const struct jw_doctor_options *options;
	const struct jw_system *system;
	const struct jw_check_result *check; /* NULL if no file was named, or there is no GPU */
	struct jw_cache_info settings;       /* from the environment */
	struct jw_settings *sources;         /* where its variables are set */
	char **objections;                   /* objections to the directory of the cache */
	size_t objection_count;
	char *doubt; /* a doubt about the account; NULL if there is none */
	struct cache_probe probe;
};

enum { DRAFT_TEXT = 2048, DRAFT_WORDS = 40 };

struct finding_draft {
	char evidence[DRAFT_TEXT], fix[DRAFT_TEXT];
	bool hopeless;
	const char *command[DRAFT_WORDS]; /* points to texts that outlive the draft, or to `word` */
	size_t word_count, dropped;       /* the number of words, and of those that did not fit */
	char word[32];
	const char *variable; /* as in struct jw_finding */
	char value[32];       /* "" if not set */
};

#define EVIDENCE(draft, ...)                                                                       \
	(void)text_format((draft)->evidence, sizeof(draft)->evidence, __VA_ARGS__)
#define FIX(draft, ...) (void)text_format((draft)->fix, sizeof(draft)->fix, __VA_ARGS__)

void draft_word(struct finding_draft *draft, const char *word);
/* Says which words the command leaves out. */
void draft_finish(struct finding_draft *draft);
/* Adds the arguments of `jitwarm prime`: what the user has named; without names, the
 * environment. */
void draft_prime(const struct examination *seen, struct finding_draft *draft);

/* Returns the relative CUDA_CACHE_PATH of the process that is examined; in our environment it is
 * absolute now. NULL if it is not relative. */
const char *examine_relative_cache(void);

/* A kind of finding: `test` returns whether it applies, and then fills in the draft. */
struct finding_kind {
	const char *id;
	bool (*test)(const struct examination *seen, struct finding_draft *draft);
};

/* The likeliest kinds come first; a NULL id ends the list. */
extern const struct finding_kind finding_kinds[];
