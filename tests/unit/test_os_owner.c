/* Root replaces no file of another account, unless the account counts as root: then the file stays
 * that account's. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "folder.h"
#include "os/env.h"
#include "os/identity.h"
#include "os/posix/posix.h"
#include "os/process.h"

TEST(a_rewritten_file_keeps_its_owner)
{
	enum { OTHER = 12345 };
	char *path = os_join(folder, "file");
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	OK(os_write_atomic(why, path, "one", 3));
	assert_int_equal(chown(path, OTHER, OTHER + 1), 0);
	assert_int_equal(chmod(path, 0640), 0);
	GIVES(JW_ERR_IO, os_rewrite(why, path, "two", 3));
	os_trust_accounts("12345");
	OK(os_rewrite(why, path, "two", 3));
	OK(os_stat(why, path, &stat));
	assert_int_equal(stat.owner, OTHER);
	assert_int_equal(stat.group, OTHER + 1);
	assert_int_equal(stat.mode, 0640);
	/* A file that is written anew belongs to this account. */
	OK(os_write_atomic(why, path, "new", 3));
	OK(os_stat(why, path, &stat));
	assert_int_equal(stat.owner, 0);
	os_trust_accounts(NULL);
	mem_free(path);
}

/* Owner and group differ; or only the group does, which the owner's number does not show. */
TEST(rights_are_kept_whole)
{
	static const struct {
		uid_t owner;
		gid_t group;
	} cases[] = {{12345, 23456}, {0, 23456}, {12345, 0}};
	char *path = os_join(folder, "from");
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	os_trust_accounts("12345");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		OK(os_write_atomic(why, path, "x", 1));
		assert_int_equal(chown(path, cases[i].owner, cases[i].group), 0);
		OK(os_rewrite(why, path, "y", 1));
		OK(os_stat(why, path, &stat));
		assert_int_equal(stat.owner, cases[i].owner);
		assert_int_equal(stat.group, cases[i].group);
		OK(os_remove(why, path));
	}
	os_trust_accounts(NULL);
	mem_free(path);
}

/* This access list lets account 12345 write. */
static const unsigned char list[] = {2,   0,   0,   0,   1,   0,    7,    0,   255, 255, 255,
									 255, 2,   0,   7,   0,   0x39, 0x30, 0,   0,   4,   0,
									 5,   0,   255, 255, 255, 255,  16,   0,   7,   0,   255,
									 255, 255, 255, 32,  0,   5,    0,    255, 255, 255, 255};

static const struct {
	int error;
	bool shared;
} looked_for[] = {{EIO, true},      {EACCES, true},   {EPERM, true},
				  {ENODATA, false}, {ENOTSUP, false}, {0, false}},
  *looking;

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	if (!looking)
		return syscall(SYS_getxattr, path, name, value, size);
	errno = looking->error ? looking->error : EIO;
	return looking->error ? -1 : 0;
}

/* The file that another account makes at the moment in which root renames one. */
static const char *planted;

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	const int fd = planted ? creat(planted, 0644) : -1;

	if (fd >= 0)
		(void)!fchown(fd, 12345, 12345);
	if (fd >= 0)
		(void)close(fd);
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

/* Another account links root's file to the name at the moment in which root makes it. */
static const char *linked[2];

/* Without /proc: another account renames the first file to the second name at the moment in which
 * root, which has looked at the second, is about to open it. */
static bool no_proc;
static const char *exchanged[2];

int openat(int dir, const char *path, int flags, ...)
{
	va_list more;
	int mode;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, int) : 0;
	va_end(more);
	if (linked[0] && flags & O_CREAT) {
		(void)!link(linked[0], linked[1]);
		linked[0] = NULL;
	}
	if (no_proc && !strncmp(path, "/proc/", strlen("/proc/"))) {
		if (exchanged[0])
			(void)!rename(exchanged[0], exchanged[1]);
		exchanged[0] = NULL;
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

TEST(a_second_name_that_is_made_meanwhile_is_not_written_to)
{
	char *path = os_join(folder, "new"), *precious = os_join(folder, "precious");
	struct os_file *file = NULL;

	if (geteuid() != 0)
		skip();
	OK(os_write_atomic(why, precious, "x", 1));
	linked[1] = path;
	linked[0] = precious;
	GIVES(JW_ERR_IO, os_file_open(why, path, OS_OPEN_CREATE, &file));
	assert_null(linked[0]);
	assert_non_null(strstr(why->message, strerror(EMLINK)));
	OK(os_remove(why, path));
	OK(os_file_open(why, path, OS_OPEN_CREATE, &file));
	os_file_close(file);
	OK(os_remove(why, precious));
	mem_free(precious);
	mem_free(path);
}

TEST(without_proc_a_file_that_is_exchanged_meanwhile_is_not_opened)
{
	static const char *const kinds[] = {"second", "link", "pipe", "other"};
	static const char *const words[] = {"/bin/true", NULL};
	char *path = os_join(folder, "looked at"), *precious = os_join(folder, "precious"),
		 *second = os_join(folder, "second");
	struct os_ended ended;
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	no_proc = true;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char *kind = os_join(folder, kinds[i]);
		struct os_file *file = NULL;

		OK(os_write_atomic(why, path, "long", 4) || os_write_atomic(NULL, precious, "x", 1));
		/* Without an exchange, the file is opened. */
		OK(os_file_open(why, path, OS_OPEN_UPDATE, &file));
		os_file_close(file);
		assert_int_equal(i == 0   ? link(precious, kind)
						 : i == 1 ? symlink(precious, kind)
						 : i == 2 ? mkfifo(kind, 0600)
								  : os_write_atomic(why, kind, "other", 5),
						 0);
		exchanged[1] = path;
		exchanged[0] = kind;
		*why = (struct jw_error){0};
		if (i == 3) {
			OK(os_file_open(why, path, OS_OPEN_UPDATE, &file));
			os_file_close(file);
		} else {
			assert_int_equal(os_file_open(why, path, OS_OPEN_UPDATE, &file), -1);
		}
		assert_null(exchanged[0]);
		if (i == 0)
			assert_non_null(strstr(why->message, strerror(EMLINK)));
		OK(os_stat(why, precious, &stat));
		assert_int_equal(stat.size_bytes, 1);
		OK(os_remove(why, path) || os_remove(why, precious));
		mem_free(kind);
	}
	/* A program's output replaces what the file held. */
	OK(os_write_atomic(why, path, "long", 4) ||
	   os_run(why, words, environ, NULL, path, NULL, &ended) || os_stat(NULL, path, &stat));
	assert_int_equal(stat.size_bytes, 0);
	OK(os_write_atomic(why, precious, "x", 1));
	assert_int_equal(link(precious, second), 0);
	exchanged[0] = second;
	GIVES(JW_ERR_IO, os_run(why, words, environ, NULL, path, NULL, &ended));
	OK(os_stat(why, precious, &stat));
	assert_int_equal(stat.size_bytes, 1);
	OK(os_remove(why, path) || os_remove(why, precious));
	no_proc = false;
	mem_free(second);
	mem_free(precious);
	mem_free(path);
}

TEST(a_name_that_another_account_takes_meanwhile_stays_its_file)
{
	char *path = os_join(folder, "raced");
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	planted = path;
	GIVES(JW_ERR_IO, os_write_atomic(why, path, "x", 1));
	planted = NULL;
	assert_non_null(strstr(why->message, "belongs to another account"));
	OK(os_stat(why, path, &stat));
	assert_int_equal(stat.owner, 12345);
	assert_int_equal(stat.size_bytes, 0);
	OK(os_remove(why, path));
	mem_free(path);
}

/* The files are on the path to files that root believes or starts. */
TEST(an_access_list_that_cannot_be_looked_for_is_one)
{
	char *path = os_join(folder, "asked");

	if (geteuid() != 0)
		skip();
	OK(os_make_dirs(why, path, 0755) || chmod(path, 0775));
	for (size_t i = 0; i < sizeof looked_for / sizeof *looked_for; i++) {
		looking = &looked_for[i];
		assert_int_equal(os_check_private(NULL, path, 0, false), looked_for[i].shared ? -1 : 0);
	}
	looking = NULL;
	mem_free(path);
}

/* The first part of a path that another account could change is reported, symlinks included; a
 * missing part belongs to nobody. */
TEST(a_place_is_a_strangers_if_a_part_of_its_path_is)
{
	static const struct {
		const char *path, *part; /* NULL: none */
		uint32_t owner;
		bool missing, open;
	} cases[] = {
		{"ours/file", NULL, 0, false, false},
		{"ours/none/below", NULL, 0, true, false},
		{"theirs/ours/file", "theirs", 12345, 0, 0},
		{"theirs/none", "theirs", 12345, 0, 0},
		{"to theirs", "theirs", 12345, 0, 0},
		{"theirs of ours", "theirs of ours", 12345, 0, 0},
		{"to theirs/../ours", "theirs", 12345, 0, 0},
		{"all/file", NULL, 0, false, false},
		{"all/none", NULL, 0, true, true},
		{"all/none/below", NULL, 0, true, true},
		{"all/to ours", NULL, 0, false, false},
		{"all/second", "all/second", 0, false, true},
		{"open/to ours", "open", 0, false, true},
		{"open/ours", "open", 0, false, true},
		{"loop", NULL, 0, false, false},
		{"ours/here/here/here/here/here/here/here/here/none", NULL, 0, true, false},
		{"ours/any", "ours/any", 0, false, true},
		{"ours/file/below", NULL, 0, false, false},
	};
	static const char *const folders[] = {"ours", "theirs", "theirs/ours",
										  "all",  "open",   "open/ours"};

	char *base = os_join(folder, "ways");

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		char *place = os_join(base, folders[i]), *file = os_join(place, "file");

		OK(os_make_dirs(why, place, 0755));
		OK(os_write_atomic(why, file, "x", 1));
		mem_free(file);
		mem_free(place);
	}
	assert_int_equal(chdir(base) || chown("theirs", 12345, 12345) || chmod("all", 01777) ||
						 chmod("open", 0777) || symlink("theirs", "to theirs") ||
						 symlink("ours", "theirs of ours") ||
						 lchown("theirs of ours", 12345, 12345) ||
						 symlink("../ours", "all/to ours") || symlink("../ours", "open/to ours") ||
						 symlink("../ours", "all/second") || link("all/second", "all/name") ||
						 symlink("loop", "loop") || symlink(".", "ours/here"),
					 0);
	OK(os_write_atomic(why, "ours/any", "x", 1) || chmod("ours/any", 01666));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path = os_join(base, cases[i].path);
		struct os_stranger stranger;

		for (int absolute = 0; absolute < 2; absolute++) {
			const char *asked = absolute ? path : cases[i].path;

			if (os_find_stranger(asked, &stranger) !=
				(cases[i].part != NULL || (cases[i].missing && cases[i].open)))
				fail_msg("%s: %s", asked, stranger.part);
			/* Only whoever makes the file may take a name that nobody has. */
			if (os_find_stranger_before(asked, &stranger) != (cases[i].part != NULL))
				fail_msg("%s before it is made: %s", asked, stranger.part);
			assert_int_equal(stranger.owner, cases[i].owner);
			if (cases[i].part)
				assert_string_equal(stranger.part + strlen(stranger.part) - strlen(cases[i].part),
									cases[i].part);
			else if (cases[i].missing)
				assert_int_equal(stranger.open, cases[i].open);
			assert_int_equal(stranger.missing, cases[i].missing);
		}
		mem_free(path);
	}
	assert_int_equal(chdir("/"), 0);
	mem_free(base);
}

/* Root writes only to its own files. */
TEST(root_writes_through_no_link_and_no_second_name)
{
	static const char *const names[] = {"a link", "second", "pipe", "missing link"};
	char *victim = os_join(folder, "victim"), *second = os_join(folder, "second");
	char *there = os_join(folder, "a link"), *pipe = os_join(folder, "pipe");
	char *missing = os_join(folder, "missing link"), *made = os_join(folder, "made");
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	OK(os_write_atomic(why, victim, "x", 1) || chmod(victim, 0640));
	assert_int_equal(link(victim, second) || symlink("victim", there) || symlink("made", missing) ||
						 mkfifo(pipe, 0600),
					 0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = os_join(folder, names[i]);
		struct os_file *file = NULL;

		GIVES(i == 1 ? JW_ERR_IO : JW_ERR_UNSUPPORTED,
			  os_file_open(why, path, OS_OPEN_UPDATE, &file));
		GIVES(i == 1 ? JW_ERR_IO : JW_ERR_UNSUPPORTED,
			  os_file_open(why, path, OS_OPEN_CREATE, &file));
		if (i != 1)
			assert_int_equal(os_set_mode(NULL, path, 0666), -1);
		mem_free(path);
	}
	OK(os_stat(why, victim, &stat));
	assert_int_equal(stat.mode, 0640);
	assert_false(os_exists(made));
	/* Neither root nor another account opens a device. */
	for (int way = OS_OPEN_READ; way <= OS_OPEN_CREATE; way++)
		for (int other = 0; other < 2; other++) {
			struct os_file *file = NULL;
			int result;

			*why = (struct jw_error){0};
			assert_int_equal(seteuid(other ? 65534 : 0), 0);
			result = os_file_open(why, "/dev/null", (enum os_open)way, &file);
			assert_int_equal(seteuid(0), 0);
			assert_int_equal(result, -1);
			assert_int_equal(why->code, JW_ERR_UNSUPPORTED);
		}
	/* If a new file replaces a second name, the first name keeps its file. */
	OK(os_write_atomic(why, second, "new", 3));
	OK(os_stat(why, victim, &stat));
	assert_int_equal(stat.size_bytes, 1);
	mem_free(victim);
	mem_free(second);
	mem_free(there);
	mem_free(pipe);
	mem_free(missing);
	mem_free(made);
}

/* No symlink is followed, wherever it is in the path and whoever owns it; folders are checked only
 * on request. */
TEST(below_some_folders_no_link_is_followed)
{
	char *place = os_join(folder, "place"), *away = os_join(folder, "away"),
		 *down = os_join(place, "down"), *file = os_join(down, "file"),
		 *made = os_join(away, "file"), *inner = os_join(place, "inner"),
		 *second = os_join(inner, "file");
	struct os_file *open = NULL;
	struct os_stat stat = {0};
	const uid_t own = geteuid();

	OK(os_make_dirs(why, away, 0755) || os_make_dirs(NULL, inner, 0755) ||
	   symlink("../away", down) || os_write_atomic(NULL, second, "x", 1));
	assert_int_equal(chmod(folder, 0755) || (own ? 0 : chown(place, 65534, 65534)), 0);
	assert_int_equal(own ? 0 : seteuid(65534), 0);
	(void)os_follow_none_below(place, OS_BELOW_OWN);
	assert_int_equal(os_file_open(why, file, OS_OPEN_CREATE, &open), -1);
	assert_non_null(
		strstr(why->message, "a symlink, which jitwarm does not follow in this folder"));
	assert_int_equal(os_make_dirs(NULL, file, 0755), -1);
	assert_int_equal(os_rename(NULL, second, file), -1);
	OK(os_stat(why, down, &stat));
	assert_int_equal(stat.kind, OS_DIRECTORY);
	(void)os_follow_none_below(inner, OS_BELOW_SHARED);
	OK(os_stat(why, down, &stat));
	assert_int_equal(stat.kind, OS_OTHER);
	assert_int_equal(os_stat(NULL, file, &stat), -1);
	OK(os_stat(why, second, &stat));
	assert_int_equal(own ? 0 : seteuid(0), 0);
	assert_false(os_exists(made));
	OK(os_remove_tree(why, down));
	assert_true(os_exists(away));
	mem_free(place);
	mem_free(away);
	mem_free(down);
	mem_free(file);
	mem_free(made);
	mem_free(inner);
	mem_free(second);
}

/* A rewritten file keeps its attributes and gets no others: neither those that its folder gives to
 * new files, nor those that the system keeps about the content. */
TEST(attributes_are_kept_as_far_as_they_are_the_files)
{
	static const char *const names[] = {"user.kept", "system.posix_acl_access", "security.other"};
	char *place = os_join(folder, "listed"), *path = os_join(place, "one"), value[64];
	bool possible[3];

	for (int lists = 0; lists < 2; lists++) {
		OK(os_make_dirs(why, place, 0700) || os_write_atomic(NULL, path, "x", 1));
		for (size_t i = 0; i < 3; i++) {
			const bool acl = i == 1;

			possible[i] = !setxattr(acl && !lists ? place : path,
									acl && !lists ? "system.posix_acl_default" : names[i],
									acl ? (const void *)list : "it", acl ? sizeof list : 2, 0);
		}
		OK(os_rewrite(why, path, "z", 1));
		for (size_t i = 0; i < 3; i++)
			if (possible[i])
				assert_int_equal(lgetxattr(path, names[i], value, sizeof value) >= 0,
								 i == 1 ? lists : !i);
		OK(os_remove_tree(why, place));
	}
	mem_free(path);
	mem_free(place);
}

/* A place is private if nobody else can have made it or put it there; a file that cannot be
 * examined may be anything. */
TEST(a_place_is_private_if_nobody_else_can_change_it)
{
	char *shared = os_join(folder, "for all"), *below = os_join(shared, "ours");
	char *loop = os_join(folder, "loop"), *none = os_join(folder, "none"), *base;
	bool doubtful;

	if (geteuid() != 0)
		skip();
	OK(os_make_dirs(why, below, 0755) || symlink("loop", loop));
	for (int sticky = 0; sticky < 2; sticky++) {
		assert_int_equal(chmod(shared, sticky ? 01777 : 0777), 0);
		assert_int_equal(os_is_private(below), sticky);
		OK(os_env_set(why, "TMPDIR", below));
		base = os_temp_dir(NULL);
		assert_string_equal(base, sticky ? below : "/tmp");
		mem_free(base);
	}
	OK(os_env_set(why, "TMPDIR", NULL));
	assert_true(os_identity(none) == 0 && os_identity(loop) == OS_UNIDENTIFIED);
	assert_int_equal(chmod(folder, 0755) || seteuid(65534), 0);
	doubtful = os_identity(loop) == OS_UNIDENTIFIED;
	assert_int_equal(seteuid(0), 0);
	assert_true(doubtful);
	mem_free(none);
	mem_free(loop);
	mem_free(below);
	mem_free(shared);
}

/* Every link and folder that a path passes decides who can change its target. */
TEST(a_program_is_private_if_all_of_its_way_is)
{
	enum { OTHER = 12345 };
	static const struct {
		const char *path;
		bool lasting, to_owner, to_all; /* whether it is private: for root, and for OTHER, too */
	} cases[] = {
		{"ours/program", false, true, true},
		{"theirs/program", false, true, false},
		{"to ours", false, true, true},
		{"to theirs", false, true, false},
		{"ours/far", false, true, false},
		{"ours/near", false, true, true},
		{"folder/../ours/program", false, true, true},
		{"through/program", false, true, false},
		{"through/../ours/program", false, true, false},
		{"loop", false, false, false},
		{"none", false, false, false},
		{"all/program", false, true, true},
		{"all/program", true, false, false},
		{"open/program", false, false, false},
		{"to open", false, false, false},
	};
	char *target;

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < 4; i++) {
		static const char *const folders[] = {"ours", "theirs", "all", "open"};
		static const mode_t modes[] = {0755, 0755, 01777, 0777};
		char *place = os_join(folder, folders[i]), *program = os_join(place, "program");

		OK(os_make_dirs(why, place, 0755));
		OK(os_write_atomic(why, program, "x", 1) || chmod(place, modes[i]));
		if (i == 1)
			assert_int_equal(chown(place, OTHER, OTHER), 0);
		mem_free(program);
		mem_free(place);
	}
	assert_int_equal(chmod(folder, 0755) || chdir(folder), 0);
	target = os_join(folder, "theirs/program");
	assert_int_equal(symlink("ours/program", "to ours") || symlink(target, "to theirs") ||
						 symlink("../theirs/program", "ours/far") ||
						 symlink("program", "ours/near") || symlink("ours", "folder") ||
						 symlink("theirs", "through") || symlink("open/program", "to open"),
					 0);
	mem_free(target);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *whole = os_join(folder, cases[i].path);

		for (int absolute = 0; absolute < 2; absolute++) {
			const char *path = absolute ? whole : cases[i].path;
			const bool private = !os_check_private(NULL, path, 0, cases[i].lasting);

			assert_int_equal(private, cases[i].to_all);
			assert_int_equal(!os_check_private(NULL, path, OTHER, cases[i].lasting),
							 cases[i].to_owner);
		}
		mem_free(whole);
	}
	assert_int_equal(chdir("/"), 0);
}

/* JITWARM_TRUST_ACCOUNTS names accounts that count as root, or all; and some groups have no other
 * members. */
TEST(trusted_accounts_and_groups_without_others_are_no_strangers)
{
	static const struct {
		const char *trusted;
		uid_t owner;
		gid_t group;
		mode_t mode;
		bool stranger;
	} cases[] = {
		{NULL, 12345, 0, 0755, true},        {"12345", 12345, 0, 0755, false},
		{"1234", 12345, 0, 0755, true},      {"123456", 12345, 0, 0755, true},
		{"7, 12345", 12345, 0, 0755, false}, {"*", 12345, 0, 0755, false},
		{NULL, 0, 0, 0775, false},           {NULL, 0, 0, 0757, true},
		{"12345", 0, 0, 0757, true},         {"*", 0, 0, 0757, false},
		{NULL, 0, 23456, 0775, true},        {"*", 0, 23456, 0775, false},
		{"", 12345, 0, 0755, true},          {"**", 12345, 0, 0755, true},
		{"7,*", 12345, 0, 0755, true},       {"4294967295", 0, 0, 0757, true},
	};
	char *path = os_join(folder, "trusted");
	struct os_stranger stranger;

	if (geteuid() != 0)
		skip();
	OK(os_make_dirs(why, path, 0755));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		os_trust_accounts(cases[i].trusted);
		assert_int_equal(chown(path, cases[i].owner, cases[i].group) || chmod(path, cases[i].mode),
						 0);
		if (os_find_stranger(path, &stranger) != cases[i].stranger)
			fail_msg("case %zu", i);
	}
	os_trust_accounts(NULL);
	mem_free(path);
}

TEST(what_cannot_be_replaced_is_said)
{
	char *dir = os_join(folder, "directory"), *to = os_join(folder, "linked");
	char *from = os_join(folder, "link"), *nowhere = os_join(folder, "none/file");

	OK(os_make_dirs(why, dir, 0700));
	GIVES(JW_ERR_UNSUPPORTED, os_write_atomic(why, dir, "x", 1));
	GIVES(JW_ERR_NOT_FOUND, os_write_atomic(why, nowhere, "x", 1));
	assert_int_equal(symlink(to, from), 0);
	assert_int_equal(os_write_atomic(why, from, "x", 1), -1);
	assert_non_null(strstr(why->message, "is a symlink to a file that does not exist"));
	OK(os_write_atomic(why, to, "old", 3));
	mem_free(dir);
	mem_free(to);
	mem_free(from);
	mem_free(nowhere);
}

static void lease_was_broken(int number)
{
	(void)number;
	_exit(1);
}

/* Whoever opens a file waits for its owner's lease. */
TEST(root_does_not_open_another_accounts_file_to_write)
{
	char *path = os_join(folder, "leased"), done;
	struct os_file *file = NULL;
	int ready[2], status;
	pid_t child;

	if (geteuid() != 0)
		skip();
	OK(os_write_atomic(why, path, "x", 1));
	assert_int_equal(chown(path, 12345, 12345) || pipe(ready), 0);
	child = fork();
	if (!child) {
		const int fd = setuid(12345) ? -1 : open(path, O_RDONLY);

		(void)signal(SIGIO, lease_was_broken);
		(void)write(ready[1], fcntl(fd, F_SETLEASE, F_RDLCK) ? "n" : "y", 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &done, 1), 1);
	GIVES(JW_ERR_IO, os_file_open(why, path, OS_OPEN_APPEND, &file));
	assert_non_null(strstr(why->message, "belongs to another account"));
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(done == 'n' || WIFSIGNALED(status));
	(void)close(ready[0]);
	(void)close(ready[1]);
	OK(os_remove(why, path));
	mem_free(path);
}

/* Other accounts exchange names in a folder for everyone while root looks at them. */
TEST(root_follows_its_own_link_where_only_root_makes_names)
{
	static const struct {
		mode_t mode;
		bool follows;
	} cases[] = {{0755, true}, {01777, false}, {0777, false}};
	char *names = os_join(folder, "names"), *to = os_join(folder, "linked");
	char *from = os_join(names, "link");
	struct os_stat stat;

	if (geteuid() != 0)
		skip();
	OK(os_make_dirs(why, names, 0755));
	assert_int_equal(symlink(to, from), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		OK(os_write_atomic(why, to, "old", 3));
		assert_int_equal(chmod(names, cases[i].mode), 0);
		assert_int_equal(os_write_atomic(why, from, "longer", 6), cases[i].follows ? 0 : -1);
		OK(os_stat(why, to, &stat));
		assert_int_equal(stat.size_bytes, cases[i].follows ? 6 : 3);
	}
	mem_free(names);
	mem_free(to);
	mem_free(from);
}

/* The path of an open file is gone when root looks who made it: a folder of another account's
 * process in /proc disappears with the process. */
TEST(a_path_that_is_gone_counts_as_another_accounts)
{
	char *path = os_join(folder, "secret"), *gone = os_join(folder, "gone/link");
	int fd;

	if (geteuid() != 0)
		skip();
	OK(os_write_atomic(why, path, "x", 1));
	assert_int_equal(chmod(path, 0600), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_false(posix_read_for_other(why, fd, path));
	assert_true(posix_read_for_other(why, fd, gone));
	assert_non_null(strstr(why->message, "which another account may not read"));
	(void)close(fd);
	mem_free(path);
	mem_free(gone);
}

RUN_TESTS(make_folder, remove_folder)
