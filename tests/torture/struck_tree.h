/* Copies and compares folders. */
#pragma once

#include <stddef.h>
#include <stdint.h>

void tree_copy(const char *from, const char *to);
/* The folder may be missing. */
void tree_remove(const char *dir);
/* Sums the contents of a folder, in any order; a driver's index counts by its number of rows. */
uint64_t tree_sum(const char *dir);
/* Returns the text of the tree that was summed up last, for messages. */
const char *tree_text(void);
size_t tree_open_files(void);
