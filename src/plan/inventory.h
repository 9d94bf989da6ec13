/* Remembers the contents of files that were read, so that they need not be read again.
 *
 * The state directory has one file for each version of the judging code, so no version uses
 * another's verdicts. It holds a record for each library and question about it: its identity (path,
 * device, inode, size, mtime, last change), driver and GPUs, and the verdicts and modules with
 * their keys. It is a cache: a missing, damaged or foreign file counts as empty, and two concurrent
 * writers lose at most each other's additions.
 *
 *     inventory_open(...);
 *     if (!inventory_replay(..., &known) && !known) {
 *         inventory_begin(...);  inventory_image(...) ...;  inventory_end(...);
 *     }
 *     inventory_save(...);  inventory_close(...); */
#pragma once

#include <stdbool.h>

#include <jitwarm/find.h>

#include "base/buf.h"
#include "plan/analyse.h"

struct inventory;

/* Opens an inventory; without a usable file it is empty. */
struct inventory *inventory_open(const char *state_dir);
/* Opens an inventory from the bytes of such a file (tests, fuzzing); it cannot be saved. */
struct inventory *inventory_parse(const void *data, size_t size);
void inventory_close(struct inventory *inventory);

/* Passes on the record of an unchanged file, image by image. If there is none for this question,
 * *ret_known is false and nothing was passed on. -1 if the callback failed. */
typedef int (*inventory_image_fn)(struct jw_error *err, void *context,
								  const struct analyse_image *image);
int inventory_replay(struct jw_error *err, struct inventory *inventory,
					 const struct jw_found_file *from, const struct analyse_question *question,
					 inventory_image_fn take, void *context, bool *ret_known);

/* Reads a file like analyse_path, or replays its record if the inventory has one; else it remembers
 * the file, unless a part of it cannot be read. An inventory of NULL remembers nothing, and no
 * inventory has pieces. */
int inventory_analyse(struct jw_error *err, struct inventory *inventory,
					  const struct jw_found_file *from, const struct analyse_question *question,
					  const struct analyse_sink *sink);

/* Remembers a file while it is read. Its images come between begin and end, in order; records of
 * the same file for other questions are kept. Without an end nothing is remembered, nor is a file
 * that was written in the last two seconds: it could change again within its time stamp. */
void inventory_begin(struct inventory *inventory, const struct jw_found_file *from,
					 const struct analyse_question *question);
void inventory_image(struct inventory *inventory, const struct analyse_image *image);
void inventory_end(struct inventory *inventory);

/* Writes the bytes of its file. */
void inventory_format(const struct inventory *inventory, struct buf *file);
/* Writes the file if something is new. After a failure the next run reads the files again. */
int inventory_save(struct jw_error *err, struct inventory *inventory);
/* Forgets all files: one of them has changed although its identity has not. */
void inventory_forget(const char *state_dir);
