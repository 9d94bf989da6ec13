/* A test's own directory: make_folder and remove_folder are the group's set-up and tear-down. */
#pragma once

#include "check.h"

#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"

/* On Windows, only one of so many trials that write files is made: under Wine, each takes a hundred
 * times as long, and tests the same code. The number does not divide 8, so that all bits of a byte
 * have their turn. */
#ifdef _WIN32
enum { EACH_TRIAL = 11 };
#else
enum { EACH_TRIAL = 1 };
#endif

static char *folder;

static inline int make_folder(void **state)
{
	(void)state;
	OK(os_make_temp_dir(why, "jitwarm-test", &folder));
	return 0;
}

static inline int remove_folder(void **state)
{
	(void)state;
	OK(os_remove_tree(why, folder));
	mem_free(folder);
	folder = NULL;
	return 0;
}
