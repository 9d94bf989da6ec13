/* What is known when findings are looked for, and a finding while it is written down. */
#pragma once

#include <jitwarm/bake.h>
#include <jitwarm/doctor.h>
#include <jitwarm/tune.h>

#include "base/text.h"
#include "cache/settings.h"

/* Of the cache, and of the driver (doctor.c). */
struct cache_probe {
	enum jw_probe_use use;
	char *entry;    /* its path; NULL where the driver was not asked */
	char why[1024]; /* JW_PROBE_FAILED: a line */
};

struct examination {
	const struct jw_doctor_options *options;
	const struct jw_system *system;
	const struct jw_check_result *check; /* NULL: no file was named, or there is no GPU */
	struct jw_cache_info settings;       /* of the environment */
	struct jw_settings *sources;         /* where its variables are set */
	char **objections;                   /* to the directory of the cache */
	size_t objection_count;
	char *doubt; /* about the account; NULL: none */
	struct cache_probe probe;
};

enum { DRAFT_TEXT = 2048, DRAFT_WORDS = 40 };

struct finding_draft {
	char evidence[DRAFT_TEXT], fix[DRAFT_TEXT];
	bool hopeless;
	const char *command[DRAFT_WORDS]; /* points to texts that outlive the draft, or to `word` */
	size_t word_count, dropped;       /* words; those that the command has no room for */
	char word[32];
	const char *variable; /* as in struct jw_finding */
	char value[32];       /* "": not set */
};

#define EVIDENCE(draft, ...)                                                                       \
	(void)text_format((draft)->evidence, sizeof(draft)->evidence, __VA_ARGS__)
#define FIX(draft, ...) (void)text_format((draft)->fix, sizeof(draft)->fix, __VA_ARGS__)

void draft_word(struct finding_draft *draft, const char *word);
/* Says what the command leaves out. */
void draft_finish(struct finding_draft *draft);
/* What `jitwarm prime` is told: what the user has named; without names, the environment. */
void draft_prime(const struct examination *seen, struct finding_draft *draft);

/* CUDA_CACHE_PATH as the process has it that is looked as, where it is relative: in the environment
 * it is absolute now. */
const char *examine_relative_cache(void);

/* A kind of finding: `test` returns whether it applies, and then fills in the draft. */
struct finding_kind {
	const char *id;
	bool (*test)(const struct examination *seen, struct finding_draft *draft);
};

/* The likeliest first; an id of NULL at the end. */
extern const struct finding_kind finding_kinds[];
