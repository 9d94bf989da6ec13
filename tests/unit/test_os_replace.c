/* A file is replaced as a whole, with the right mode and syncs, and a failure leaves the old file.
 * */
#include "folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uv.h>

#include "os/console.h"

static int syncs, sync_fails, close_fails;

/* NFS, and a file system with quotas, report only here that bytes did not fit. */
__attribute__((visibility("default"))) int uv_fs_close(uv_loop_t *loop, uv_fs_t *request,
													   uv_file file, uv_fs_cb done)
{
	(void)loop;
	(void)done;
	*request = (uv_fs_t){.type = UV_FS, .fs_type = UV_FS_CLOSE};
	(void)close(file);
	request->result = close_fails ? UV_ENOSPC : 0;
	return (int)request->result;
}

__attribute__((visibility("default"))) int fsync(int fd)
{
	(void)fd;
	syncs++;
	errno = EIO;
	return sync_fails ? -1 : 0;
}

static const char *inside(const char *name)
{
	static char paths[4][4096];
	static size_t next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void expect(const char *name, const char *content, unsigned mode)
{
	struct buf text = {0};
	struct stat stat_of;

	OK(os_read_file(why, inside(name), 100, &text));
	assert_string_equal(buf_text(&text), content);
	assert_int_equal(stat(inside(name), &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0777, mode);
	buf_free(&text);
}

static size_t files(void)
{
	struct os_names names;
	size_t count;

	OK(os_list(why, folder, &names));
	count = names.count;
	os_names_free(&names);
	return count;
}

static int empty(void **state)
{
	(void)umask(027);
	sync_fails = close_fails = 0;
	return remove_folder(state) || make_folder(state);
}

enum way { ATOMIC, SECRET, MODE, REWRITE, REWRITE_MODE, WAYS };

static int replace_by(struct jw_error *err, enum way way, const char *path, const char *text)
{
	switch (way) {
	case ATOMIC: return os_write_atomic(err, path, text, strlen(text));
	case SECRET: return os_write_mode(err, path, text, strlen(text), 0600);
	case MODE: return os_write_mode(err, path, text, strlen(text), 0644);
	case REWRITE: return os_rewrite(err, path, text, strlen(text));
	case REWRITE_MODE: return os_rewrite_mode(err, path, text, strlen(text), 0644);
	case WAYS: break;
	}
	return -1;
}

TEST(each_way_has_its_rights_and_its_syncs)
{
	static const struct {
		unsigned made, kept;
		bool lasts;
	} ways[WAYS] = {
		[ATOMIC] = {0640, 0640, false},      [SECRET] = {0600, 0600, true},
		[MODE] = {0644, 0644, true},         [REWRITE] = {0640, 0604, true},
		[REWRITE_MODE] = {0644, 0604, true},
	};

	for (int way = 0; way < WAYS; way++)
		for (int linked = 0; linked < 2; linked++) {
			struct stat stat_of;

			assert_int_equal(empty(state), 0);
			syncs = 0;
			OK(replace_by(why, (enum way)way, inside("file"), "new"));
			expect("file", "new", ways[way].made);
			assert_int_equal(chmod(inside("file"), 0604), 0);
			if (linked)
				assert_int_equal(symlink("file", inside("link")), 0);
			OK(replace_by(why, (enum way)way, inside(linked ? "link" : "file"), "other"));
			expect("file", "other", ways[way].kept);
			assert_int_equal(syncs > 0, ways[way].lasts);
			if (linked) {
				assert_int_equal(lstat(inside("link"), &stat_of), 0);
				assert_true(S_ISLNK(stat_of.st_mode));
			}
			assert_int_equal(files(), 1 + (size_t)linked);
		}
}

TEST_WITH(what_cannot_be_replaced_stays, empty, NULL)
{
	static const struct {
		const char *name, *said;
		enum jw_code code;
	} cases[] = {
		{"directory", "Is a directory", JW_ERR_UNSUPPORTED},
		{"pipe", "is not a regular file: not replaced", JW_ERR_UNSUPPORTED},
		{"nowhere", "is a symlink to a file that does not exist", JW_ERR_IO},
		{"to-directory", "Is a directory", JW_ERR_UNSUPPORTED},
		{"absent/file", "", JW_ERR_NOT_FOUND},
	};
	char *real = folder;
	size_t before;

	assert_int_equal(mkdir(inside("directory"), 0700), 0);
	assert_int_equal(mkfifo(inside("pipe"), 0600), 0);
	assert_int_equal(symlink("gone", inside("nowhere")), 0);
	assert_int_equal(symlink("directory", inside("to-directory")), 0);
	before = files();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (int way = 0; way < WAYS; way++) {
			GIVES(cases[i].code, replace_by(why, (enum way)way, inside(cases[i].name), "x"));
			assert_non_null(strstr(why->message, cases[i].said));
		}
		if (cases[i].code != JW_ERR_NOT_FOUND)
			assert_int_equal(os_replaceable(NULL, inside(cases[i].name), &real), -1);
		assert_ptr_equal(real, folder);
	}
	assert_int_equal(files(), before);
}

/* The former file still exists, and no other file beside it. */
TEST_WITH(a_failure_leaves_the_old_file, empty, NULL)
{
	OK(os_write_atomic(why, inside("file"), "old", 3));
	sync_fails = 1;
	for (int way = SECRET; way < WAYS; way++) {
		GIVES(JW_ERR_IO, replace_by(why, (enum way)way, inside("file"), "new"));
		expect("file", "old", 0640);
		assert_int_equal(files(), 1);
	}
}

/* A truncated file would replace the good one. */
TEST_WITH(a_close_that_fails_leaves_the_old_file, empty, NULL)
{
	OK(os_write_atomic(why, inside("file"), "old", 3));
	for (int way = ATOMIC; way < WAYS; way++) {
		close_fails = 1;
		assert_int_equal(replace_by(why, (enum way)way, inside("file"), "new"), -1);
		close_fails = 0;
		assert_int_equal(why->code, JW_ERR_IO);
		expect("file", "old", 0640);
		assert_int_equal(files(), 1);
	}
}

TEST_WITH(what_would_be_replaced_is_named, empty, NULL)
{
	char *real = NULL, *wanted = NULL;

	OK(os_replaceable(why, inside("file"), &real));
	assert_string_equal(real, inside("file"));
	mem_free(real);
	OK(os_write_atomic(why, inside("file"), "old", 3));
	assert_int_equal(symlink("file", inside("link")), 0);
	OK(os_replaceable(why, inside("link"), &real));
	OK(os_real_path(why, inside("file"), &wanted));
	assert_string_equal(real, wanted);
	mem_free(real);
	mem_free(wanted);
}

TEST_WITH(an_output_may_be_no_file, empty, NULL)
{
	OK(os_write_output(why, inside("file"), "two", 3));
	expect("file", "two", 0640);
	assert_int_equal(mkdir(inside("directory"), 0700), 0);
	assert_int_equal(os_write_output(NULL, inside("directory"), "x", 1), -1);
	/* A device that accepts everything is not a file, and stays as it is. */
	assert_int_equal(os_write_output(NULL, "/dev/null", "x", 1), -1);
}

/* A bad disk, or a symlink in a circle, is not a lack of rights. */
TEST_WITH(only_a_lack_of_rights_is_a_denial, empty, NULL)
{
	const uid_t own = geteuid();
	bool closed, open_file, loop, none;

	OK(os_write_atomic(why, inside("closed"), "x", 1));
	OK(os_write_atomic(why, inside("open"), "x", 1));
	assert_int_equal(symlink("loop", inside("loop")), 0);
	assert_int_equal(chmod(folder, 0755) || chmod(inside("open"), 0644), 0);
	assert_int_equal(chmod(inside("closed"), 0) || (own == 0 && seteuid(65534)), 0);
	closed = os_is_denied(inside("closed"));
	open_file = os_is_denied(inside("open"));
	loop = os_is_denied(inside("loop"));
	none = os_is_denied(inside("none"));
	assert_int_equal(seteuid(own), 0);
	assert_true(closed && !open_file && !loop && !none);
}

/* Whatever a symlink leads to, sweeps neither follow nor remove it. */
TEST_WITH(a_symlink_is_no_leftover, empty, NULL)
{
	assert_int_equal(symlink("/", inside("run-1")), 0);
	assert_int_equal(symlink("file", inside("run-2")), 0);
	OK(os_write_atomic(why, inside("file"), "x", 1));
	os_sweep(folder, "run-", "#", OS_REGULAR, 0);
	os_sweep(folder, "run-", "#", OS_DIRECTORY, 0);
	assert_int_equal(files(), 3);
}

RUN_TESTS(make_folder, remove_folder)
