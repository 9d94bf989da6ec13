/* Objects of a shared folder are added and read, and a failure is blamed on the object or on the
 * folder correctly. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "files.h"
#include "folder.h"
#include "share/object_entry.h"

enum { MOST = 100 };

static char *file;
static struct object_directory place;

static void file_is(const char *text)
{
	struct buf content;

	OK(os_read_file(why, file, MOST, &content));
	assert_string_equal(buf_text(&content), text);
	buf_free(&content);
	OK(os_remove(why, file));
}

TEST(a_directory_has_objects)
{
	char *where = os_join(folder, "place"), *object = os_join(where, "v1/a/x");
	const mode_t mask = umask(0);
	struct os_stat stat;

	GIVES(JW_ERR_NOT_FOUND, object_directory_open(why, where, &place));
	files_put_text(folder, "place", "");
	GIVES(JW_ERR_UNSUPPORTED, object_directory_open(why, where, &place));
	OK(os_remove(why, where));
	OK(os_make_dirs(why, where, 0775));
	OK(object_directory_open(why, where, &place));
	GIVES(JW_ERR_NOT_FOUND, object_directory_get(why, &place, "v1/a/x", MOST, file));
	files_put_text(folder, "file", "0123456789");
	OK(object_directory_put(why, &place, "v1/a/x", file));
	/* Only those that may write to the place may write there, whatever the umask is. */
	mem_free(object);
	object = os_join(where, "v1/a");
	OK(os_stat(why, object, &stat));
	assert_int_equal(stat.mode & 0777, 0775);
	mem_free(object);
	object = os_join(where, "v1/a/x");
	files_put_text(folder, "file", "longer than the object");
	OK(object_directory_get(why, &place, "v1/a/x", 10, file));
	file_is("0123456789");
	GIVES(JW_ERR_LIMIT, object_directory_get(why, &place, "v1/a/x", 9, file));
	assert_false(os_exists(file));
	(void)umask(mask);
	object_directory_forget(&place, "v1/a/x");
	assert_int_equal(os_stat(NULL, object, &stat), -1);
	assert_int_equal(object_directory_put(why, &place, "v1/a/x", file), -1);
	mem_free(where);
	mem_free(object);
}

/* A folder in an object's place stays, and no file is left beside it. */
TEST(a_folder_in_the_way_stays)
{
	char *where = os_join(folder, "taken"), *object = os_join(where, "v1/x");
	struct os_names names;

	OK(os_make_dirs(why, object, 0700));
	files_put_text(folder, "file", "text");
	OK(object_directory_open(why, where, &place));
	GIVES(JW_ERR_FORMAT, object_directory_put(why, &place, "v1/x", file));
	assert_non_null(strstr(why->message, "is not a file"));
	mem_free(object);
	object = os_join(where, "v1");
	OK(os_list(why, object, &names));
	assert_int_equal(names.count, 1);
	os_names_free(&names);
	OK(os_remove(why, file));
	mem_free(where);
	mem_free(object);
}

/* After a few unreadable objects in a row, and from then on, the place is blamed. */
TEST(what_cannot_be_read_is_blamed)
{
	char *where = os_join(folder, "unreadable"), *loop = os_join(where, "loop");
	char *pipe = os_join(where, "pipe");

	OK(os_make_dirs(why, where, 0700));
	files_put_text(where, "good", "text");
	assert_int_equal(symlink("loop", loop), 0);
	OK(object_directory_open(why, where, &place));
	assert_int_equal(mkfifo(pipe, 0600), 0);
	GIVES(JW_ERR_UNSUPPORTED, object_directory_get(why, &place, "pipe", MOST, file));
	mem_free(pipe);
	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 5; i++) {
			*why = (struct jw_error){0};
			GIVES(i < 3 ? JW_ERR_FORMAT : JW_ERR_IO,
				  object_directory_get(why, &place, "loop", MOST, file));
		}
		OK(object_directory_get(why, &place, "good", MOST, file));
		file_is("text");
	}
	OK(os_remove_tree(why, where));
	assert_int_equal(object_directory_get(why, &place, "loop", MOST, file), -1);
	/* A mount point whose mount has gone is not filled. */
	files_put_text(folder, "file", "text");
	GIVES(JW_ERR_NOT_FOUND, object_directory_put(why, &place, "v1/x", file));
	assert_false(os_exists(where));
	OK(os_remove(why, file));
	mem_free(where);
	mem_free(loop);
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	file = os_join(folder, "file");
	return 0;
}

static int tear_down(void **state)
{
	mem_free(file);
	return remove_folder(state);
}

RUN_TESTS(set_up, tear_down)
