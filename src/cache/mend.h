/* Damaged entries that may be removed: those whose damage is understood. */
#pragma once

#include "cache/remove.h"
#include "cache/sound.h"

enum mend_verdict {
	MEND_TAKE,  /* damaged: no driver will ever use it */
	MEND_LEAVE, /* of another version, or unreadable: its damage is unknown */
	MEND_SOUND, /* sound by now, removed, or being written */
};

/* Reads the file again. With MEND_TAKE *ret_removal describes the judged file. MEND_LEAVE and err
 * set: out of memory. */
enum mend_verdict mend_judge(struct jw_error *err, const char *dir, struct sound_driver driver,
							 uint64_t key, struct cache_removal *ret_removal);

/* The name of a damaged entry ("a/b/cdef0123456789", jw_cache_report) as a key. */
bool mend_key(const char *name, uint64_t *ret_key);
