/* Between the two halves of the analysis: seen.c keeps facts about containers until their image is
 * complete, for only then is each one's section known, and whether it is a container at all;
 * analyse.c counts them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "gpu/rules.h"
#include "plan/analyse.h"
#include "plan/picks.h"

enum { SEEN_MOST_CONTAINERS = 1 << 22, SEEN_MOST_ENTRIES = 1 << 25 };

#define SEEN_NO_PICK UINT32_MAX

/* The verdict on one container for one target, without regard to its section. */
struct seen_judgement {
	uint8_t verdict, reason;
	bool tile;
	uint32_t kind;
	struct jw_driver needs; /* these as in plan_judgement */
	uint32_t pick;          /* SEEN_NO_PICK if there is nothing to compile */
	bool code;              /* there is something that a program could miss */
};

struct seen_entry {
	uint32_t kind;
	struct jw_target target;
	uint64_t size_bytes;
};

struct seen_container {
	uint32_t first_entry, entry_count;
	bool code;        /* contains something that a driver may load */
	bool special;     /* and that is for GPUs of a family alone ('a', 'f') */
	uint64_t kernels; /* of a text: ptx_text_kernels; else 0 */
	uint32_t cuda;    /* the first version that compiles machine code as it is in it, 0: any */
	/* Its judgements, a row of all targets for each different outcome, and which row holds with the
	 * question's driver (0), and with those of gpu_releases */
	size_t first_judgement;
	uint8_t rows[1 + GPU_MOST_RELEASES];
};

struct seen {
	const struct analyse_question *question;
	struct jw_driver releases[GPU_MOST_RELEASES];
	size_t release_count;          /* 0: not asked for */
	struct plan_judgement *judged; /* of the current container, as many rows as there may be */
	const struct analyse_sink *sink;
	bool stopped; /* by the sink */
	struct seen_container *containers;
	size_t count, capacity;
	struct seen_judgement *judgements;
	size_t judgement_count, judgement_capacity;
	struct seen_entry *entries;
	size_t entry_count, entry_capacity;
	/* For the current container: its entries, corrected by their texts, and the targets that these
	 * name, if they were read (else sm is 0). */
	struct devcode_entry *corrected;
	struct jw_target *texts;
	size_t corrected_capacity;
	struct picks picks;
	struct buf scratch;
};

int seen_init(struct jw_error *err, struct seen *seen, const struct analyse_question *question,
			  const struct analyse_sink *sink);
void seen_free(struct seen *seen);
/* For the next image. */
void seen_clear(struct seen *seen);
/* Records one container. */
int seen_add(struct jw_error *err, struct seen *seen, const struct devcode_container *container);

/* The driver refuses it: a program that uses it fails, whatever else is there. */
static inline bool seen_is_fatal(enum plan_reason reason)
{
	return reason != REASON_NONE && reason != REASON_EXCLUSIVE;
}
