/* What a power loss may do to an entry: of a file that was written shortly before it, other bytes
 * may be on the disk, under the same size and times. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether a file that was last changed at `changed_s` is on the disk at `now_s`, both in seconds
 * since 1970. */
bool settled_is(int64_t changed_s, int64_t now_s);

/* When this system was started, in seconds since 1970; where the machine sleeps, later by as much.
 */
uint64_t settled_boot_s(void);
/* Whether two of them are of one start: the clock may be adjusted. */
bool settled_same_boot(uint64_t a, uint64_t b);
