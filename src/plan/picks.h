/* The PTX entries that the driver would take, which become modules of a plan: each is decompressed
 * once, counted, and hashed for all targets together.
 *
 * FNV-1a is limited by the latency of one multiplication per byte. So payloads are collected until
 * there are enough of them, and hashed side by side, by several threads if there are cores.
 *
 *     picks_init(&picks, ...);
 *     picks_add(err, &picks, container, entry, targets, &index);  ...
 *     picks_flush(&picks);           from here on the hashes are known
 *     picks_clear(&picks);           for the next image
 *     picks_free(&picks); */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/key.h"
#include "cache/profile.h"
#include "code/devcode.h"
#include "plan/module.h"

enum {
	PICKS_SLOTS = 64,
	PICKS_MAX = 1 << 22, /* picks in one image: cuFFT has 8,183 */
};

/* The hash state at the beginning of the text, for one target. */
struct picks_target {
	uint64_t start;
	size_t start_bytes;
};

struct pick {
	struct plan_module module; /* without target, role and form, on which its keys depend */
	uint64_t body_bytes;       /* the length of the payload's part that is in keys */
	uint32_t load_tail_bytes, link_tail_bytes;
	struct jw_identity load, link; /* the identities of its keys, the same for all targets */
	bool text;                     /* PTX text without a container */
	bool readable; /* its payload was decompressed, and its option string fits into a key */
};

/* The hashes of one pick for one target. */
struct pick_keys {
	uint64_t load, link; /* 0 if the driver's stamp is unknown */
};

struct picks_slot;

struct picks {
	struct picks_target targets[PLAN_MAX_TARGETS];
	size_t target_count;
	bool keyed; /* the driver's stamp is known */
	struct pick *items;
	size_t count, capacity;
	struct pick_keys *keys; /* count * target_count */
	size_t keys_capacity;   /* the capacity of keys, in picks */
	struct picks_slot *slots;
	size_t used_slots;
	uint64_t used_bytes;
};

/* `profile` may be NULL. */
int picks_init(struct jw_error *err, struct picks *picks, const struct jw_target *targets,
			   size_t target_count, const struct cache_profile *profile);
void picks_free(struct picks *picks);

/* Adds one entry of a container for the targets whose bits are set in `targets`. A payload that
 * cannot be decompressed is marked unreadable; -1 for more than PICKS_MAX. Its facts are complete
 * after picks_flush. */
int picks_add(struct jw_error *err, struct picks *picks, const struct devcode_container *container,
			  const struct devcode_entry *entry, uint32_t targets, size_t *ret_index);
/* Processes the collected picks. */
void picks_flush(struct picks *picks);
void picks_clear(struct picks *picks);

/* Makes the input of the key of one entry whose payload is in memory. */
struct cache_key_input picks_key_input(const struct devcode_container *container,
									   const struct devcode_entry *entry,
									   struct devcode_view payload, uint16_t sm,
									   enum cache_key_form form);
