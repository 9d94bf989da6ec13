/* Folders that are copied, and compared. */
#pragma once

#include <stddef.h>
#include <stdint.h>

void tree_copy(const char *from, const char *to);
/* It may be missing. */
void tree_remove(const char *dir);
/* Of what is in it, whatever its order; of a driver's index the number of rows counts. */
uint64_t tree_sum(const char *dir);
/* Of the tree that was summed up last, for messages. */
const char *tree_text(void);
size_t tree_open_files(void);
