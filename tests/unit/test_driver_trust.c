/* Which compilers are used, by version and owner; how a failing one is judged; and which libraries
 * root opens by their names (NVRTC in a folder of LD_LIBRARY_PATH). */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jitwarm/compiler.h>

#include "base/mem.h"
#include "driver/compiler_trust.h"
#include "driver/installed_compilers.h"
#include "driver/ptxas.h"
#include "os/file.h"
#include "os/folders.h"

enum { OTHER_ACCOUNT = 64321 };

TEST(the_first_folder_with_the_library_decides)
{
	char *folder, *path, *places;

	if (geteuid() != 0)
		skip();
	OK(os_make_temp_dir(why, "jitwarm-trust", &folder));
	path = os_join(folder, "libx.so.1");
	places = mem_printf("/nonexistent:%s:/usr/lib", folder);
	assert_int_equal(setenv("LD_LIBRARY_PATH", places, 1), 0);
	OK(compiler_check_name(why, "libx.so.1")); /* none of the folders has it */
	OK(os_write_atomic(why, path, "x", 1));
	OK(compiler_check_name(why, "libx.so.1"));
	assert_int_equal(chown(path, OTHER_ACCOUNT, OTHER_ACCOUNT), 0);
	GIVES(JW_ERR_IO, compiler_check_name(why, "libx.so.1"));
	assert_non_null(strstr(why->message, path));
	assert_non_null(strstr(why->message, "is not run as root"));
	places[strlen("/nonexistent")] = ';'; /* the linker accepts either separator */
	assert_int_equal(setenv("LD_LIBRARY_PATH", places, 1), 0);
	assert_int_equal(compiler_check_name(NULL, "libx.so.1"), -1);
	OK(compiler_check_name(why, "liby.so.1"));
	assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
	OK(compiler_check_name(why, "libx.so.1"));
	OK(os_remove_tree(why, folder));
	mem_free(places);
	mem_free(path);
	mem_free(folder);
}

/* Writes a compiler that reports this version and belongs to this account. */
static void put_compiler(const char *root, const char *name, const char *version, unsigned owner)
{
	char *path = os_join(root, name);
	char *text = mem_printf("#!/bin/sh\necho ptxas: release %s, V%s.1\n", version, version);

	OK(os_make_parent(why, path, 0755));
	OK(os_write_mode(why, path, text, strlen(text), 0755));
	assert_int_equal(chown(path, owner, (gid_t)-1), 0);
	mem_free(text);
	mem_free(path);
}

TEST(the_version_and_the_owner_decide)
{
	static const struct {
		const char *name, *version, *name2, *version2,
			*found;           /* the compiler that is found; "": none */
		uint32_t least, most; /* least 0: exactly the version `most` */
		bool theirs, whole;   /* PATH is a complete path */
	} cases[] = {
		{"store/12.4/ptxas", "12.4", NULL, NULL, "store/12.4/ptxas", 0, 12040, false, true},
		{"store/12.4/ptxas", "12.3", NULL, NULL, "", 0, 12040, false, true},
		{"store/.new-1/ptxas", "12.4", NULL, NULL, "", 0, 12040, false, true},
		{"cuda/bin/ptxas", "12.4", NULL, NULL, "cuda/bin/ptxas", 0, 12040, false, true},
		{"cuda/bin/ptxas", "12.5", "bin/ptxas", "12.4", "bin/ptxas", 0, 12040, false, true},
		{"bin/ptxas", "12.4", NULL, NULL, "", 0, 12040, false, false},
		{"bin/ptxas", "12.4", NULL, NULL, "", 0, 12040, true, true},
		{"cuda/bin/ptxas", "12.4", "bin/ptxas", "12.2", "bin/ptxas", 12000, 12050, false, true},
		{"cuda/bin/ptxas", "12.2", "bin/ptxas", "12.4", "cuda/bin/ptxas", 12000, 12050, false,
		 true},
		{"cuda/bin/ptxas", "12.6", "bin/ptxas", "11.8", "", 12000, 12050, false, true},
	};
	char *before = NULL;

	if (geteuid() != 0)
		skip();
	OK(os_real_path(why, ".", &before));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_driver driver = {.cuda = cases[i].most};
		struct jw_compiler compiler = {.path = NULL};
		char *folder, *kept, *cuda, *bin, *path = getenv("PATH"), *wanted;
		int result;

		OK(os_make_temp_dir(why, "jitwarm-found", &folder));
		path = mem_string(path);
		kept = os_join(folder, "store");
		cuda = os_join(folder, "cuda");
		bin = mem_printf("%s%sbin:/usr/bin:/bin", cases[i].whole ? folder : "",
						 cases[i].whole ? "/" : "");
		wanted = os_join(folder, cases[i].found);
		put_compiler(folder, cases[i].name, cases[i].version, cases[i].theirs ? OTHER_ACCOUNT : 0);
		if (cases[i].name2)
			put_compiler(folder, cases[i].name2, cases[i].version2, 0);
		jw_use_compilers(kept);
		assert_int_equal(setenv("CUDA_HOME", cuda, 1) || setenv("PATH", bin, 1) || chdir(folder),
						 0);
		result = cases[i].least
					 ? compiler_oldest(NULL, cases[i].least, cases[i].most, NULL, &compiler)
					 : jw_compiler_find(why, &driver, NULL, &compiler);
		jw_use_compilers(NULL);
		assert_int_equal(setenv("PATH", path, 1) || unsetenv("CUDA_HOME") || chdir(before), 0);
		if (result != (*cases[i].found ? 0 : -1) || (!result && strcmp(compiler.path, wanted) != 0))
			fail_msg("case %zu: %d, %s", i, result, compiler.path ? compiler.path : "");
		if (cases[i].theirs)
			assert_non_null(strstr(why->message, "is not run as root"));
		jw_compiler_free(&compiler);
		OK(os_remove_tree(why, folder));
		mem_free(path);
		mem_free(kept);
		mem_free(cuda);
		mem_free(bin);
		mem_free(wanted);
		mem_free(folder);
	}
	mem_free(before);
}

/* An older compiler works, but does not make the driver's own code; the driver refuses a newer
 * one's code. */
TEST(a_named_compiler_is_exact_older_or_refused)
{
	static const struct {
		uint32_t cuda;
		int result;
		bool exact;
	} cases[] = {{12040, 0, true}, {12050, 0, false}, {12030, -1, false}};
	char *folder, *path;

	OK(os_make_temp_dir(why, "jitwarm-named", &folder));
	path = os_join(folder, "ptxas");
	put_compiler(folder, "ptxas", "12.4", geteuid());
	for (size_t i = 0; i < 3; i++) {
		const struct jw_driver driver = {.cuda = cases[i].cuda};
		struct jw_compiler compiler = {.path = NULL};

		assert_int_equal(jw_compiler_find(NULL, &driver, path, &compiler), cases[i].result);
		assert_int_equal(compiler.exact, cases[i].exact);
		jw_compiler_free(&compiler);
	}
	OK(os_remove_tree(why, folder));
	mem_free(path);
	mem_free(folder);
}

/* The last argument of a compile is its output; the third from the end is its source. */
TEST(how_a_compiler_ends_is_what_it_says)
{
	static const struct {
		const char *end, *error; /* error NULL: it has compiled */
	} cases[] = {{"exit 0", NULL},
				 {"exit 3", "ptxas ended with status 3"},
				 {"kill -9 $$", "ptxas was ended by signal 9 (killed; out of memory?)"}};

	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		const bool link = i % 2;
		char *folder, *program, *text, *work;
		struct ptxas_outcome outcome;
		struct buf log = {0}, cubin = BUF_MAX(1 << 16);
		struct os_names names;
		uint32_t cuda;

		OK(os_make_temp_dir(why, "jitwarm-ended", &folder));
		program = os_join(folder, "ptxas");
		work = os_join(folder, "work");
		text = mem_printf("#!/bin/sh\necho ptxas: release 12.4, V12.4.1\n"
						  "[ \"$1\" = --version ] || cat \"$%d\" - >\"$%d\" <<END\n $2\nEND\n%s\n",
						  link ? 3 : 2, link ? 5 : 4, cases[i / 2].end);
		OK(os_make_dirs(why, work, 0700));
		OK(os_write_mode(why, program, text, strlen(text), 0755));
		assert_int_equal(ptxas_version(NULL, program, &cuda), cases[i / 2].error ? -1 : 0);
		OK(ptxas_compile(why,
						 &(struct ptxas_job){.program = program,
											 .folder = work,
											 .target = {.sm = 86},
											 .link = link,
											 .options = "",
											 .ptx = "ptx\0\0",
											 .ptx_bytes = 5},
						 &outcome, &log, &cubin));
		assert_int_equal(outcome.refused, cases[i / 2].error != NULL);
		assert_string_equal(outcome.error, cases[i / 2].error ? cases[i / 2].error : "");
		if (!cases[i / 2].error) {
			/* The text lacks the NULs at the end; -c is there for an input of a link. */
			assert_true(!strncmp(buf_text(&cubin), "ptx ", 4));
			assert_int_equal(strstr(buf_text(&cubin), " -c\n") != NULL, link);
		}
		OK(os_list(why, work, &names));
		assert_int_equal(names.count, 0);
		os_names_free(&names);
		buf_free(&cubin);
		buf_free(&log);
		OK(os_remove_tree(why, folder));
		mem_free(text);
		mem_free(work);
		mem_free(program);
		mem_free(folder);
	}
}

/* ptxas would write these files with the rights of the account that reads the library. */
TEST(options_of_a_library_name_no_files)
{
	static const struct {
		const char *options;
		bool allowed;
	} cases[] = {
		{"-lineinfo --generate-line-info  -maxrregcount=32 -O3", true},
		{"--compiler-stats time --compiler-stats-file passwd", false},
		{"-lineinfo --fdevice-time-trace=passwd", false},
		{"--options-file passwd", false},
		{"-optf passwd", false},
		{"-maxrregcount=96 -v --compile-only  --generate-line-info ", true},
		{"--maxrregcount 32 -O3 -dlcm ca", true},
		{"-O words", false},
		{"-O4", true},
		{"-lineinfo=1 --keep", false},
		{"-lineinfo /dev/zero", false},
		{"--opt", false},
		/* A word that is not an option's value is an input. */
		{"-v passwd", false},
		{"passwd", false},
		{"-maxrregcount=32 passwd", false},
		{"-maxrregcount 32 passwd", false},
		{"-o ../passwd", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!ptxas_option_with_file(cases[i].options, NULL) != cases[i].allowed)
			fail_msg("%s", cases[i].options);
}

RUN_TESTS(NULL, NULL)
