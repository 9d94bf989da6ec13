/* A path is private if only root can change what it leads to: each folder and link on the way
 * counts. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "os/private.h"

enum { OTHER = 12345 };

/* Makes the folders ours, theirs, sticky (as /tmp), open (for everyone) and group, each with the
 * same names. */
static void make_places(void)
{
	static const struct {
		const char *name;
		mode_t mode;
	} places[] = {
		{"ours", 0755}, {"theirs", 0755}, {"sticky", 01777}, {"open", 0777}, {"group", 0775}};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		char *place = keep(os_join(folder, places[i].name)), *file = keep(os_join(place, "file")),
			 *own = keep(os_join(place, "own/file"));

		OK(os_make_dirs(why, place, 0755));
		OK(os_make_parent(why, own, 0755) || os_write_atomic(why, own, "x", 1));
		OK(os_write_atomic(why, file, "x", 1));
		assert_int_equal(chmod(place, places[i].mode), 0);
	}
	assert_int_equal(chmod(folder, 0755) || chdir(folder) || chown("theirs", OTHER, OTHER) ||
						 symlink("ours/file", "to ours") || symlink("theirs/file", "to theirs") ||
						 symlink("../theirs/file", "ours/far") || symlink("file", "ours/near") ||
						 symlink("ours", "of theirs") || lchown("of theirs", OTHER, OTHER) ||
						 symlink("../ours/file", "sticky/to ours") || symlink("loop", "loop") ||
						 symlink(".", "ours/here") || symlink("/", "root") ||
						 symlink("none", "ours/dangling") || symlink("sticky/none", "to none"),
					 0);
	OK(os_write_atomic(why, "ours/any", "x", 1) || chmod("ours/any", 0666));
	OK(os_write_atomic(why, "ours/given", "x", 1) || chown("ours/given", OTHER, 0));
}

TEST(each_part_of_a_path_counts)
{
	static const struct {
		const char *path, *part; /* the refused part; NULL: none, "": it is not named */
		unsigned owner;
		bool sticky;
		unsigned missing;
	} cases[] = {
		{"ours/file", NULL, 0, 0, 0},
		{"ours/none/below", NULL, 0, 0, 0},
		{"ours/here/here/./here/../ours/file", NULL, 0, 0, 0},
		{"ours/near", NULL, 0, 0, 0},
		{"ours/file/below", NULL, 0, 0, 0},
		{"ours/dangling", NULL, 0, 0, 0},
		{"to ours", NULL, 0, 0, 0},
		{"root/etc", NULL, 0, 0, 0},
		{"theirs/../ours/file", "theirs", OTHER, 0, 0},
		{"theirs/file", "theirs", OTHER, 0, 0},
		{"theirs/none", "theirs", OTHER, 0, 0},
		{"to theirs", "theirs", OTHER, 0, 0},
		{"ours/far", "theirs", OTHER, 0, 0},
		{"of theirs/file", "of theirs", OTHER, 0, 0},
		{"ours/given", "ours/given", OTHER, 0, 0},
		{"ours/any", "ours/any", 0, 0, 0},
		{"open/own/file", "open", 0, 0, 0},
		{"group/own/file", "group", 0, 0, 0},
		{"sticky", "sticky", 0, 1, 0},
		{"sticky/", "sticky", 0, 1, 0},
		{"sticky/file", NULL, 0, 1, 0},
		{"sticky/none", "sticky/none", 0, 1, 1},
		{"sticky/none/below/./it", "sticky/none", 0, 1, 4},
		{"sticky/own/file", NULL, 0, 0, 0},
		{"sticky/own/none/below", NULL, 0, 0, 0},
		{"sticky/file/below", NULL, 0, 0, 0},
		{"ours/none/../file", "", 0, 0, 0},
		{"ours/none/below/../../../theirs/file", "", 0, 0, 0},
		{"ours/none/..", "", 0, 0, 0},
		{"ours/none/..any", NULL, 0, 0, 0},
		{"to none", "sticky/none", 0, 1, 1},
		{"sticky/to ours", "", 0, 0, 0},
		{"loop", "", 0, 0, 0},
	};

	if (geteuid() != 0)
		skip();
	make_places();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *whole = keep(os_join(folder, cases[i].path));

		for (int absolute = 0; absolute < 2; absolute++) {
			char *part = cases[i].part ? os_join(folder, cases[i].part) : NULL;
			struct os_part found;
			const int result = os_check_private(why, absolute ? whole : cases[i].path, &found);

			if (result != (cases[i].part ? -1 : 0))
				fail_msg("%s: %s", cases[i].path, result ? why->message : "private");
			if (part && *cases[i].part) {
				assert_string_equal(found.path, part);
				assert_non_null(strstr(why->message, part));
			} else {
				assert_null(found.path);
			}
			assert_int_equal(found.owner, cases[i].owner);
			assert_int_equal(found.sticky, cases[i].sticky);
			assert_int_equal(found.missing, cases[i].missing);
			mem_free(found.path);
			mem_free(part);
		}
	}
	assert_int_equal(chdir("/"), 0);
}

/* A path of more bytes than the system's limit is refused, not cut off. */
TEST(a_path_that_is_too_long_is_refused)
{
	char *path = keep(mem_array(40000, 1)), *end = path;

	for (int i = 0; i < 9000; i++)
		end += snprintf(end, 5, "/tmp");
	assert_int_equal(os_check_private(NULL, path, NULL), -1);
	path[5000] = '\0';
	memcpy(path, "/etc", 4); /* has no tmp */
	assert_int_equal(os_check_private(NULL, path, NULL), 0);
}

static int refuse_all(struct jw_error *err, const char *path, bool for_all)
{
	return error_set(err, JW_ERR_UNSUPPORTED, "%s %d", path, for_all);
}

TEST(without_a_guard_everything_passes)
{
	OK(os_guard(why, "any") || os_guard_for_all(why, "any"));
	os_set_guard(refuse_all);
	GIVES(JW_ERR_UNSUPPORTED, os_guard(why, "any"));
	assert_string_equal(why->message, "any 0");
	GIVES(JW_ERR_UNSUPPORTED, os_guard_for_all(why, "any"));
	assert_string_equal(why->message, "any 1");
	os_set_guard(NULL);
}

RUN_TESTS(make_folder, remove_folder)
