#include "files.h"
#include "folder.h"

#include <stdio.h>

TEST(only_short_files_are_lent)
{
	char *path = os_join(folder, "pem");
	struct os_lent lent = {0};

	files_put_text(folder, "pem", "0123456789");
	GIVES(JW_ERR_LIMIT, os_lend(why, path, 9, &lent));
	assert_int_equal(os_lend(why, folder, 1 << 20, &lent), -1);
	assert_null(lent.file);
	OK(os_lend(why, path, 10, &lent));
	os_lent_close(&lent);
	assert_null(lent.path);
	mem_free(path);
}

/* Another file gets the name between the look and the reading. */
TEST(what_was_looked_at_is_read)
{
	char *path = os_join(folder, "name"), text[16] = {0};
	struct os_lent lent;
	FILE *file;

	files_put_text(folder, "name", "before");
	OK(os_lend(why, path, 100, &lent));
	if (strcmp(lent.path, path) != 0) { /* a system with /proc */
		files_put_text(folder, "name", "planted");
		file = fopen(lent.path, "r");
		assert_non_null(file);
		assert_int_equal(fread(text, 1, sizeof text - 1, file), 6);
		assert_int_equal(fclose(file), 0);
		assert_string_equal(text, "before");
	}
	os_lent_close(&lent);
	mem_free(path);
}

RUN_TESTS(make_folder, remove_folder)
