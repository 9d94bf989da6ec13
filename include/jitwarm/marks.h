/* The entries of a cache that an older driver's compiler made (jitwarm/carry.h). jitwarm knows this
 * for entries that it carried over or imported.
 *
 * Threads: any number of threads may call these functions at the same time. Several threads may
 * read one jw_marks. */
#ifndef JITWARM_MARKS_H
#define JITWARM_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/error.h>

/* The marks of the cache directory, in the form of jw_cache_list; `state_dir` NULL: no marks. The
 * caller frees with jw_marks_close. */
struct jw_marks;
struct jw_marks *jw_marks_open(const char *state_dir, const char *cache_dir);
void jw_marks_close(struct jw_marks *marks);

/* A mark ends when the entry is compiled again. */
bool jw_marks_has(const struct jw_marks *marks, uint64_t key);
size_t jw_marks_count(const struct jw_marks *marks);

#endif
