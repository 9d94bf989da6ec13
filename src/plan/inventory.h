/* What files held when they were last looked at, so that nothing of them has to be read again.
 *
 * One file in the state directory for each version of the code that judges, so that no other's
 * verdicts are taken for its own; in it a record per library: its identity (path, device, inode,
 * size, mtime) and, per driver and GPU asked about, the verdicts and modules with their keys. It is
 * a cache: whatever is missing, damaged or foreign is as if it had never been written, and two
 * processes that write at once lose no more than one another's additions.
 *
 *     inventory_open(...);
 *     if (!inventory_replay(..., &known) && !known) {
 *         inventory_begin(...);  inventory_image(...) ...;  inventory_end(...);
 *     }
 *     inventory_save(...);  inventory_close(...);
 */
#ifndef JW_PLAN_INVENTORY_H
#define JW_PLAN_INVENTORY_H

#include <stdbool.h>

#include <jitwarm/find.h>

#include "plan/analyse.h"
#include "plan/build.h"

struct inventory;

/* An inventory without a usable file is empty. -1: out of memory. */
int inventory_open(struct jw_error *err, const char *state_dir, struct inventory **ret_inventory);
/* The same from the bytes of such a file (tests, fuzzing); it can not be saved. */
int inventory_parse(struct jw_error *err, const void *data, size_t size,
					struct inventory **ret_inventory);
void inventory_close(struct inventory *inventory);

/* Hands over what is remembered of a file that has not changed since, image by image, for all of
 * the question's targets. *ret_known is false, and nothing was handed over, where that is not the
 * case for every target. -1: the callback said so, or out of memory. */
typedef int (*inventory_image_fn)(struct jw_error *err, void *context,
								  const struct build_image *image);
int inventory_replay(struct jw_error *err, struct inventory *inventory,
					 const struct jw_found_file *from, const struct analyse_question *question,
					 inventory_image_fn take, void *context, bool *ret_known);

/* Remembers a file that is being read. Between begin and end come its images, in their order; other
 * drivers' and GPUs' memory of the same unchanged file is kept. Without an end nothing is
 * remembered. A file that was written in the last two seconds is not: it could change again without
 * a change of its time. */
int inventory_begin(struct jw_error *err, struct inventory *inventory,
					const struct jw_found_file *from, const struct analyse_question *question);
int inventory_image(struct jw_error *err, struct inventory *inventory,
					const struct build_image *image);
int inventory_end(struct jw_error *err, struct inventory *inventory);

/* Writes the file, where something is new. A failure is no more than that it will be slow again. */
int inventory_save(struct jw_error *err, struct inventory *inventory);

#endif
