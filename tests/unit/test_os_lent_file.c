#include "files.h"

#include <stdio.h>

#include "os/folders.h"
#include "os/lent_file.h"

static char *folder;

static void only_short_files_are_lent(void **state)
{
	char *path = os_join(NULL, folder, "pem");
	struct os_lent lent = {0};
	struct jw_error why;

	(void)state;
	files_put_text(folder, "pem", "0123456789");
	assert_int_equal(os_lend(&why, path, 9, &lent), -1);
	assert_int_equal(why.code, JW_ERR_LIMIT);
	assert_int_equal(os_lend(&why, folder, 1 << 20, &lent), -1);
	assert_null(lent.file);
	assert_int_equal(os_lend(NULL, path, 10, &lent), 0);
	os_lent_close(&lent);
	assert_null(lent.path);
	mem_free(path);
}

/* Another file gets the name between the look and the reading. */
static void what_was_looked_at_is_read(void **state)
{
	char *path = os_join(NULL, folder, "name"), text[16] = {0};
	struct os_lent lent;
	FILE *file;

	(void)state;
	files_put_text(folder, "name", "before");
	assert_int_equal(os_lend(NULL, path, 100, &lent), 0);
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

static int make_folder(void **state)
{
	(void)state;
	return os_make_temp_dir(NULL, "jitwarm-lent", &folder);
}

static int remove_folder(void **state)
{
	(void)state;
	(void)os_remove_tree(NULL, folder);
	mem_free(folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_short_files_are_lent),
		cmocka_unit_test(what_was_looked_at_is_read),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
