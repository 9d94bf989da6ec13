/* jitwarm reads the environment as the driver does; each case was tried on a real driver. */
#include "base/arena.h"
#include "check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/settings.h"
#include "folder.h"
#include "os/env.h"
#include "os/file.h"

/* The kernel's answer about file systems from this call on; 0: the true answer. */
static struct {
	unsigned from, calls, type;
	uint64_t free_bytes;
	bool fails;
	char first[1024]; /* the path of that call */
} kernel;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int statfs(const char *path, struct statfs *info)
{
	kernel.calls++;
	if (!kernel.from || kernel.calls < kernel.from)
		return (int)syscall(SYS_statfs, path, info);
	if (kernel.calls == kernel.from)
		TEXT_COPY(kernel.first, path);
	*info = (struct statfs){
		.f_type = kernel.type, .f_bsize = 4096, .f_bavail = kernel.free_bytes / 4096};
	errno = EIO;
	return kernel.fails ? -1 : 0;
}

static const char *const names[] = {
	"CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE",   "CUDA_CACHE_DISABLE", "CUDA_FORCE_PTX_JIT",
	"CUDA_FORCE_JIT",  "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT",   "CUDA_CACHE_MAX_SIZE",
	"CUDA_CACHE_DIR",  "CUDA_CACHE_SIZE",      "CUDA_CACHE_DISABLED"};

/* The settings of a test; the next test frees them, and the tear-down the last ones. */
static void *owner;

static int clean_environment(void **state)
{
	(void)state;
	jw_result_free(owner);
	owner = arena_open(0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (os_env_set(why, names[i], NULL))
			return -1;
	return os_env_set(why, "HOME", folder);
}

static bool warns_of(const struct jw_cache_info *settings, const char *what)
{
	for (size_t i = 0; i < settings->warning_count; i++)
		if (strstr(settings->warnings[i], what))
			return true;
	return false;
}

TEST_WITH(limits_are_decimal_prefixes, clean_environment, NULL)
{
	static const struct {
		const char *text;
		uint64_t limit;
	} cases[] = {
		{"5000", 5000},
		{" 5000", 5000},
		{"+5000", 5000},
		{"05000", 5000},
		{"5000x", 5000},
		{"1G", 1},
		{"0x2000", 0},
		{"1e4", 1},
		{"", 0},
		{"abc", 0},
		{"4294967295", UINT64_C(4294967295)},
		{"4294967296", CACHE_MAX_LIMIT},
		{"8589934592", CACHE_MAX_LIMIT},
		{"-1", CACHE_MAX_LIMIT},
		{"99999999999999999999999", CACHE_MAX_LIMIT},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(cache_parse_limit(cases[i].text), cases[i].limit);
}

TEST_WITH(variables_are_read_as_the_driver_does, clean_environment, NULL)
{
	static const struct {
		const char *name, *value;
		bool disabled, force, force_jit, no_ptx, warned;
	} cases[] = {
		{.name = "CUDA_CACHE_DISABLE", .value = "1", .disabled = true, .warned = true},
		{.name = "CUDA_CACHE_DISABLE", .value = "01", .disabled = true, .warned = true},
		{.name = "CUDA_CACHE_DISABLE", .value = " 1", .disabled = true, .warned = true},
		{.name = "CUDA_CACHE_DISABLE", .value = "0"},
		{.name = "CUDA_CACHE_DISABLE", .value = "2"},
		{.name = "CUDA_CACHE_DISABLE", .value = "true"},
		{.name = "CUDA_CACHE_DISABLE", .value = ""},
		{.name = "CUDA_FORCE_PTX_JIT", .value = "1", .force = true},
		{.name = "CUDA_FORCE_PTX_JIT", .value = "yes"},
		{.name = "CUDA_FORCE_JIT", .value = "1", .force_jit = true},
		{.name = "CUDA_DISABLE_PTX_JIT", .value = "1", .no_ptx = true, .warned = true},
		{.name = "CUDA_DISABLE_JIT", .value = "1", .no_ptx = true, .warned = true},
		{.name = "CUDA_CACHE_MAX_SIZE", .value = "1000000", .warned = true},
		{.name = "CUDA_CACHE_DIR", .value = "/tmp", .warned = true},
		{.name = "CUDA_CACHE_MAXSIZE", .value = "1G", .warned = true},
		{.name = "CUDA_CACHE_MAXSIZE", .value = "2 GiB", .warned = true},
		{.name = "CUDA_CACHE_MAXSIZE", .value = "abc", .warned = true},
		{.name = "CUDA_CACHE_MAXSIZE", .value = "8589934592", .warned = true},
		{.name = "CUDA_CACHE_MAXSIZE", .value = "1073741824"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_cache_info settings;

		assert_int_equal(clean_environment(state), 0);
		OK(os_env_set(why, cases[i].name, cases[i].value));
		OK(cache_settings_read(why, owner, NULL, &settings));
		assert_int_equal(settings.disabled, cases[i].disabled);
		assert_int_equal(settings.force_ptx_jit, cases[i].force);
		assert_int_equal(settings.force_jit, cases[i].force_jit);
		assert_int_equal(settings.disable_ptx_jit, cases[i].no_ptx);
		assert_int_equal(settings.warning_count, cases[i].warned);
		if (cases[i].warned)
			assert_true(warns_of(&settings, cases[i].name));
	}
}

TEST_WITH(one_variable_overrides_the_other, clean_environment, NULL)
{
	struct jw_cache_info settings;

	OK(os_env_set(why, "CUDA_FORCE_PTX_JIT", "0"));
	OK(os_env_set(why, "CUDA_FORCE_JIT", "1"));
	OK(cache_settings_read(why, owner, NULL, &settings));
	assert_false(settings.force_ptx_jit || settings.force_jit);
}

TEST_WITH(the_place_follows_the_driver, clean_environment, NULL)
{
	struct jw_cache_info settings;
	char *expected = keep(os_join(folder, ".nv/ComputeCache")), *here;

	OK(cache_settings_read(why, owner, NULL, &settings));
	assert_string_equal(settings.path, expected);
	assert_false(settings.path_set);
	assert_false(settings.exists);
	assert_int_equal(settings.limit_bytes, UINT64_C(1) << 30);
	assert_int_equal(settings.warning_count, 0);

	OK(os_env_set(why, "HOME", ""));
	OK(cache_settings_read(why, owner, NULL, &settings));
	assert_string_equal(settings.path, "/.nv/ComputeCache");

	OK(os_env_set(why, "HOME", NULL));
	OK(cache_settings_read(why, owner, NULL, &settings));
	assert_null(settings.path);
	assert_true(warns_of(&settings, "HOME"));

	OK(os_env_set(why, "CUDA_CACHE_PATH", ""));
	OK(cache_settings_read(why, owner, NULL, &settings));
	assert_null(settings.path);
	assert_true(settings.path_set);
	assert_true(warns_of(&settings, "CUDA_CACHE_PATH"));

	OK(os_env_set(why, "CUDA_CACHE_PATH", "no/such/levels"));
	OK(cache_settings_read(why, owner, NULL, &settings));
	OK(os_real_path(why, ".", &here));
	assert_true(!strncmp(settings.path, here, strlen(here)));
	assert_true(warns_of(&settings, "relative"));
	mem_free(here);
}

TEST_WITH(an_unusable_directory_is_reported, clean_environment, NULL)
{
	struct jw_cache_info settings;
	char *file = keep(os_join(folder, "file")), *dir = keep(os_join(folder, "dir"));

	OK(os_write_atomic(why, file, "x", 1));
	OK(cache_settings_read(why, owner, file, &settings));
	assert_false(settings.usable);
	assert_true(warns_of(&settings, "not a directory"));

	OK(os_make_dirs(why, dir, 0700));
	OK(cache_settings_read(why, owner, dir, &settings));
	assert_true(settings.usable && settings.exists);
	assert_int_equal(settings.warning_count, 0);

	if (getuid()) { /* root may write anywhere */
		assert_int_equal(chmod(dir, 0500), 0);
		OK(cache_settings_read(why, owner, dir, &settings));
		assert_false(settings.usable);
		assert_int_equal(settings.warning_count, 1);
		assert_int_equal(chmod(dir, 0700), 0);
	}
}

TEST_WITH(values_that_are_misread_are_explained, clean_environment, NULL)
{
	static const struct {
		const char *text, *line;
	} cases[] = {
		{"1G", "the driver reads 1 byte; write 1073741824"},
		{"5k", "the driver reads 5 bytes; write 5120"},
		{"2  MiB", "the driver reads 2 bytes; write 2097152"},
		{"4G", "write 4294967296"},
		{"5G", "write 4294967296, which is 4 GiB, the maximum"},
		{"1T", "write 4294967296"},
		{"17179869184G", "write 4294967296"},
		{"99999999999999T", "write 4294967296"},
		{"0K", "the driver reads 0 and stores nothing; write bytes"},
		{"", "the driver reads 0 and stores nothing"},
		{"0", "the driver reads 0 and stores nothing"},
		{"1", NULL},
		{"1 X", NULL},
		{"4294967296", NULL},
		{"4294967297", "the driver reads it as its maximum, 4 GiB"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *line = keep(cache_explain_limit(cases[i].text));

		if (!line != !cases[i].line || (line && !strstr(line, cases[i].line)))
			fail_msg("%s: %s", cases[i].text, line ? line : "nothing");
	}
	assert_string_equal(cache_lookalike_of("CUDA_CACHE_SIZE"), "CUDA_CACHE_MAXSIZE");
	assert_string_equal(cache_lookalike_of("CUDA_CACHE_DIR"), "CUDA_CACHE_PATH");
	assert_null(cache_lookalike_of("CUDA_CACHE_PATH"));
}

static void expect_path(const char *value, const char *path, const char *warning)
{
	struct jw_cache_info settings;

	OK(os_env_set(why, "CUDA_CACHE_PATH", value));
	OK(cache_settings_read(why, owner, NULL, &settings));
	assert_true(settings.path_set);
	assert_string_equal(settings.path + strlen(settings.path) - strlen(path), path);
	if (settings.warning_count != (warning != NULL) || (warning && !warns_of(&settings, warning)))
		fail_msg("%s: %zu: %s", value, settings.warning_count,
				 settings.warning_count ? settings.warnings[0] : "");
}

TEST_WITH(paths_are_absolute_in_the_end, clean_environment, NULL)
{
	char *here, *slashes = keep(mem_printf("%s//", folder)), *dir = keep(os_join(folder, "plain"));

	OK(os_make_dirs(why, dir, 0700));
	OK(os_real_path(why, ".", &here));
	assert_int_equal(chdir(folder), 0);
	expect_path("plain", "/plain", "relative to each program's working directory");
	expect_path("plain/", "/plain", "relative to each program's working directory");
	expect_path("plain/no/such", "/plain/no/such", "relative to each program's working directory");
	expect_path("no/such", "/no/such",
				"relative, and its first folder is missing: the driver caches nothing");
	expect_path("~/cache", "/~/cache", "does not expand ~");
	assert_int_equal(chdir(here), 0);
	expect_path(dir, "/plain", NULL);
	expect_path(slashes, folder, NULL);
	if (!getuid())
		expect_path("/", "/", NULL);
	mem_free(here);
}

TEST_WITH(another_account_has_no_limit_of_ours, clean_environment, NULL)
{
	struct jw_cache_info info;

	cache_settings_keep_limit(5);
	OK(cache_settings_read(why, owner, folder, &info));
	assert_int_equal(info.kept_bytes, 5);
	cache_settings_forget_adopted();
	OK(cache_settings_read(why, owner, folder, &info));
	assert_int_equal(info.kept_bytes, 0);
}

/* The place of the cache is examined, and so is the kernel's answer on its file system. */
TEST(a_place_is_looked_at)
{
	enum { PROC = 0x9fa0, NFS = 0x6969, EXT = 0xef53, LITTLE = 64 << 20 };
	static const struct {
		const char *place;
		unsigned from, type;
		uint64_t free_bytes;
		bool fails, exists, usable;
		const char *warnings[2];
	} cases[] = {
		{"dir", 1, EXT, LITTLE, false, true, true, {NULL}},
		{"dir", 1, EXT, LITTLE - 4096, false, true, true, {"are free"}},
		{"dir", 1, NFS, LITTLE, false, true, true, {"on a network file system"}},
		{"dir", 1, NFS, 0, false, true, true, {"on a network file system", "are free"}},
		{"dir", 1, NFS, 0, true, true, true, {NULL}},
		{"dir", 1, PROC, LITTLE, false, true, false, {"not writable for this account: "}},
		{"odd", 1, EXT, LITTLE, false, true, true, {NULL}},
		{"odd", 2, PROC, LITTLE, false, true, false, {"so the driver does not use the cache"}},
		{"dir/a/b", 1, EXT, LITTLE, false, false, true, {NULL}},
		{"dir/a/b", 1, EXT, 0, false, false, true, {"are free"}},
		{"dir/a/b", 1, PROC, 0, false, false, false, {"is not writable)"}},
		{"file/a", 1, EXT, 0, false, false, false, {"is not writable)"}},
		{"file", 1, EXT, 0, false, false, false, {"not a directory: the driver caches nothing"}},
	};
	char *index = keep(os_join(folder, "odd/index")), *dir = keep(os_join(folder, "dir")),
		 *file = keep(os_join(folder, "file"));

	OK(os_make_dirs(why, index, 0700));
	OK(os_make_dirs(why, dir, 0700));
	OK(os_write_atomic(why, file, "x", 1));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_cache_info settings;
		char *path = keep(os_join(folder, cases[i].place));
		const char *const *wanted = cases[i].warnings;

		assert_int_equal(clean_environment(state), 0);
		kernel.from = cases[i].from;
		kernel.calls = 0;
		kernel.type = cases[i].type;
		kernel.free_bytes = cases[i].free_bytes;
		kernel.fails = cases[i].fails;
		OK(cache_settings_read(why, owner, path, &settings));
		if (settings.exists != cases[i].exists || settings.usable != cases[i].usable ||
			settings.warning_count != (size_t)(wanted[0] != NULL) + (wanted[1] != NULL) ||
			text_ends(kernel.first, "/index") != (cases[i].from > 1) ||
			(wanted[0] && !warns_of(&settings, wanted[0])) ||
			(wanted[1] && !warns_of(&settings, wanted[1])))
			fail_msg("%zu: %s: %d %d %zu %s", i, path, settings.exists, settings.usable,
					 settings.warning_count, settings.warning_count ? settings.warnings[0] : "");
	}
	kernel.from = 0;
}

static int tear_down(void **state)
{
	jw_result_free(owner);
	return remove_folder(state);
}

RUN_TESTS(make_folder, tear_down)
