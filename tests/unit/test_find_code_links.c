/* Which programs, symlinks, pipes and devices may hold device code. */
#include <sys/stat.h>
#include <unistd.h>

#include "code_files.h"

enum { HANGS_AFTER_S = 60 };

static void make_above(const char *path)
{
	char *above = keep(os_dir_name(path));

	OK(os_make_dirs(why, above, 0700));
}

static void put_program(const struct named_file *file, unsigned number)
{
	struct buf data = make_buf(), elf = make_buf();
	struct make_section section = {.name = ".nv_fatbin"};
	char *path = keep(tree_path(file->name));

	small_put(&data, number, 70, "");
	section.data = data.data;
	section.size = data.size;
	make_elf(&elf, MAKE_ELF_X86_64, &section, 1);
	files_put(tree, file->name, elf.data, elf.size);
	assert_int_equal(chmod(path, 0755), 0);
	buf_free(&data);
	buf_free(&elf);
}

static void put_plain_elf(const struct named_file *file, unsigned number)
{
	char *path = keep(tree_path(file->name));

	put_program(file, number);
	assert_int_equal(chmod(path, 0644), 0);
}

static void put_script(const struct named_file *file, unsigned number)
{
	char *path = keep(tree_path(file->name));

	(void)number;
	files_put_text(tree, file->name, "#!/bin/sh\n");
	assert_int_equal(chmod(path, 0755), 0);
}

static void put_link(const struct named_file *file, unsigned number)
{
	char *path = keep(tree_path(file->name));

	(void)number;
	make_above(path);
	assert_int_equal(symlink(file->target, path), 0);
}

/* Makes a symlink to a file outside of the tree, with a module. */
static void put_link_outside(const struct named_file *file, unsigned number)
{
	const struct named_file outside = {.name = file->target};

	put_module(&outside, number);
	put_link(file, number);
}

static void put_link_to_folder(const struct named_file *file, unsigned number)
{
	char *inner = keep(mem_printf("%s/k.ptx", file->target));
	const struct named_file outside = {.name = inner},
							link = {.name = "aside", .target = file->target};

	put_module(&outside, number);
	put_link(&link, number);
}

static void put_hard_link(const struct named_file *file, unsigned number)
{
	char *path = keep(tree_path(file->name)), *target = keep(tree_path(file->target));

	(void)number;
	assert_int_equal(link(target, path), 0);
}

static void put_fifo(const struct named_file *file, unsigned number)
{
	char *path = keep(tree_path(file->name));

	(void)number;
	assert_int_equal(mkfifo(path, 0755), 0);
}

static void put_folder(const struct named_file *file, unsigned number)
{
	char *path = keep(tree_path(file->name));

	(void)number;
	OK(os_make_dirs(why, path, 0700));
}

/* Symlinks add no files: each symlink sorts after its target. */
TEST_WITH(kinds_have_one_answer, make_tree, remove_tree)
{
	static const struct named_file files[] = {
		{.name = "program", .make = put_program, .counts = true},
		{.name = "bin/program", .make = put_program, .counts = true},
		{.name = "program-1.2", .make = put_program}, /* a suffix without a meaning */
		{.name = "not-to-be-run", .make = put_plain_elf},
		{.name = "script", .make = put_script},
		{.name = "real.so", .counts = true},
		{.name = "real.so.1", .make = put_link, .target = "real.so"},
		{.name = "zlink.so", .make = put_link, .target = "./real.so"},
		{.name = "zhard.so", .make = put_hard_link, .target = "real.so"},
		{.name = "outside.so", .make = put_link_outside, .target = "../elsewhere", .counts = true},
		/* the name here decides */
		{.name = "outside.bin", .make = put_link_outside, .target = "../elsewhere.so"},
		{.name = "aside/k.ptx", .make = put_link_to_folder, .target = "../beside", .counts = true},
		{.name = "loop", .make = put_link, .target = "."},
		{.name = "loop.so", .make = put_link, .target = "../tree"},
		{.name = "dead.so", .make = put_link, .target = "nowhere"},
		{.name = "itself.so", .make = put_link, .target = "itself.so"},
		{.name = "folder.so", .make = put_folder},
		{.name = "pipe.so", .make = put_fifo},
		{.name = "pipe", .make = put_fifo},
		{.name = "null.so", .make = put_link, .target = "/dev/null"},
		{.name = "zero", .make = put_link, .target = "/dev/zero"},
	};

	(void)alarm(HANGS_AFTER_S);
	expect_one_answer(files, sizeof files / sizeof *files);
	(void)alarm(0);
}

RUN_TESTS(NULL, NULL)
