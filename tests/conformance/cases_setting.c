/* NVIDIA's environment variables and the cache directory's rights decide about the cache as jitwarm
 * reads them. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Loads `path` twice in a separate client. */
static void load_twice(const char *const *settings, const char *path, struct answer ret_answers[2])
{
	struct client *client = client_start(settings);

	for (int i = 0; i < 2; i++)
		ret_answers[i] = client_load(client, "dataex", path, NULL);
	client_stop(client);
}

/* Loads `path` twice with CUDA_CACHE_PATH at the suite's cache and one more setting. */
static void load_twice_with(const char *setting, const char *path, struct answer ret_answers[2])
{
	char cache[320];
	const char *settings[] = {cache, setting, NULL};

	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s", suite.cache);
	load_twice(settings, path, ret_answers);
}

/* Returns "NAME=" and a path below the suite's scratch folder. */
static const char *setting(const char *name, const char *below)
{
	static char settings[4][600];
	static unsigned next;
	char *text = settings[next++ % 4];

	snprintf(text, sizeof *settings, "%s=%s/%s", name, suite.scratch, below);
	return text;
}

static size_t entries_below(const char *below)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", suite.scratch, below);
	return entries_count(path);
}

static enum outcome disabled(void)
{
	struct answer answers[2];

	load_twice_with("CUDA_CACHE_DISABLE=1", module(1), answers);
	CHECK_IS(answers[0].compiled, 1);
	CHECK_IS(answers[1].compiled, 1);
	CHECK_IS(entries_count(suite.cache), 0);
	CHECK(!exists(cache_file("index")));
	CHECK_IS(load(module(1)).compiled, 1);
	load_twice_with("CUDA_CACHE_DISABLE=1", module(1), answers);
	CHECK_IS(answers[0].compiled, 1);
	return PASSED;
}

/* The driver makes missing levels, except the first one of a relative path that has several:
 * without that one, no caching. */
static enum outcome missing_levels(void)
{
	static const struct {
		const char *path;
		bool made;
	} cases[] = {
		{"one", true}, {"one/two/three", true}, {"other/levels", false}, {"./other/levels", true}};
	struct answer answers[2];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char path[64];
		const char *settings[] = {path, "-directory", suite.scratch, NULL};

		snprintf(path, sizeof path, "CUDA_CACHE_PATH=%s", cases[i].path);
		load_twice(settings, module(1), answers);
		CHECK_IS(answers[0].compiled, 1);
		CHECK_IS(answers[1].compiled, cases[i].made ? 0 : 1);
		CHECK_IS(entries_below(cases[i].path), cases[i].made ? 1 : 0);
	}
	return PASSED;
}

static enum outcome file_in_its_place(void)
{
	const char *settings[] = {setting("CUDA_CACHE_PATH", "a-file"), NULL};
	struct answer answers[2];
	char path[512];
	struct stat info;

	snprintf(path, sizeof path, "%s/a-file", suite.scratch);
	CHECK(write_file(path, "text", 4));
	load_twice(settings, module(1), answers);
	CHECK_IS(answers[0].result, 0);
	CHECK_IS(answers[1].compiled, 1);
	CHECK(stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 4);
	return PASSED;
}

static enum outcome home(void)
{
	const char *settings[] = {"CUDA_CACHE_PATH", setting("HOME", "home"), NULL};
	struct answer answers[2];

	load_twice(settings, module(1), answers);
	CHECK_IS(answers[1].compiled, 0);
	CHECK_IS(entries_below("home/.nv/ComputeCache"), 1);
	return PASSED;
}

/* An empty value differs from an unset variable: no caching. */
static enum outcome empty_path(void)
{
	const char *settings[] = {"CUDA_CACHE_PATH=", setting("HOME", "home-of-empty"), "-directory",
							  suite.scratch, NULL};
	struct answer answers[2];

	load_twice(settings, module(1), answers);
	CHECK_IS(answers[0].result, 0);
	CHECK_IS(answers[1].compiled, 1);
	CHECK_IS(entries_below("home-of-empty/.nv/ComputeCache"), 0);
	return PASSED;
}

static enum outcome no_home(void)
{
	const char *settings[] = {"CUDA_CACHE_PATH", "HOME", NULL};
	struct answer answers[2];

	load_twice(settings, module(1), answers);
	CHECK_IS(answers[0].result, 0);
	CHECK_IS(answers[1].compiled, 1);
	return PASSED;
}

static enum outcome jit_disabled(void)
{
	struct answer answers[2];

	load_twice_with("CUDA_DISABLE_PTX_JIT=1", module(1), answers);
	CHECK_IS(answers[0].result, 223);
	CHECK_IS(load(module(1)).compiled, 1);
	load_twice_with("CUDA_DISABLE_PTX_JIT=1", module(1), answers);
	CHECK_IS(answers[0].result, 0);
	CHECK_IS(answers[0].compiled, 0);
	return PASSED;
}

/* Drivers of CUDA 11 ignore CUDA_FORCE_JIT. With CUDA_FORCE_PTX_JIT=1, they store each module under
 * an empty key. */
static bool of_cuda_11(void)
{
	return suite.cuda < 12000;
}

/* The container has PTX and a cubin that runs. If JIT is forced, each load compiles the PTX, and
 * stores it under its ordinary key. */
static enum outcome forced(const char *variable)
{
	struct entry entry;
	const char *path;
	struct answer answers[2];
	uint64_t hash;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	hash = entry.hash;
	path =
		CONTAINER({.kind = 2, .arch = suite.sm[0], .data = entry.value, .size = entry.value_size},
				  {.variant = 1, .nuls = 1});
	entry_free(&entry);
	cache_clear();
	CHECK_IS(load(path).compiled, 0);
	CHECK_IS(entries_count(suite.cache), 0);
	load_twice_with(variable, path, answers);
	if (of_cuda_11() && strcmp(variable, "CUDA_FORCE_JIT=1") == 0) {
		CHECK_IS(answers[0].result, 0);
		CHECK_IS(entries_count(suite.cache), 0);
		return PASSED;
	}
	CHECK_IS(answers[0].compiled, 1);
	CHECK_IS(answers[1].compiled, 1);
	CHECK(only_entry(&entry));
	entry_free(&entry);
	CHECK(entry.hash == (of_cuda_11() ? fnv("", 0) : hash));
	return PASSED;
}

static enum outcome forced_ptx(void)
{
	return forced("CUDA_FORCE_PTX_JIT=1");
}

static enum outcome forced_jit(void)
{
	return forced("CUDA_FORCE_JIT=1");
}

/* Without PTX, the driver does not take the cubin with either variable. */
static enum outcome forced_without_ptx(void)
{
	struct entry entry;
	const char *path;
	struct answer answers[2];

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	path =
		CONTAINER({.kind = 2, .arch = suite.sm[0], .data = entry.value, .size = entry.value_size});
	entry_free(&entry);
	load_twice_with("CUDA_FORCE_JIT=1", path, answers);
	CHECK_IS(answers[0].result, of_cuda_11() ? 0 : 209);
	load_twice_with("CUDA_FORCE_PTX_JIT=1", path, answers);
	CHECK_IS(answers[0].result, 209);
	return PASSED;
}

/* EAGER and LAZY make the same entry. */
static enum outcome loading_modes(void)
{
	struct answer answers[2];

	load_twice_with("CUDA_MODULE_LOADING=EAGER", module(1), answers);
	CHECK_IS(answers[0].compiled, 1);
	load_twice_with("CUDA_MODULE_LOADING=LAZY", module(1), answers);
	CHECK_IS(answers[0].compiled, 0);
	CHECK_IS(entries_count(suite.cache), 1);
	return PASSED;
}

/* Root ignores permissions unless it drops that right. */
static struct answer load_readonly(const char *path)
{
	char cache[320];
	const char *settings[] = {cache, NULL};
	struct client *client;
	struct answer answer;

	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s", suite.cache);
	client = client_start(settings);
	client_load(client, "readonly", "-", NULL);
	answer = client_load(client, "dataex", path, NULL);
	client_stop(client);
	return answer;
}

/* The index has mode 0444: there are no hits, since the driver opens it for writing. */
static enum outcome readonly_index(void)
{
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK_IS(chmod(cache_file("index"), 0444), 0);
	CHECK_IS(load_readonly(module(1)).compiled, 1);
	CHECK_IS(load_readonly(module(2)).result, 0);
	CHECK_IS(entries_count(suite.cache), 1);
	return PASSED;
}

/* Only the index is writable: there are hits, and new entries cannot be stored. */
static enum outcome writable_index_alone(void)
{
	struct entry entry;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	entry_free(&entry);
	CHECK_IS(chmod(entry.path, 0444), 0);
	*strrchr(entry.path, '/') = '\0';
	CHECK_IS(chmod(entry.path, 0555), 0);
	*strrchr(entry.path, '/') = '\0';
	CHECK_IS(chmod(entry.path, 0555), 0);
	CHECK_IS(chmod(suite.cache, 0555), 0);
	CHECK_IS(load_readonly(module(1)).compiled, 0);
	CHECK_IS(load_readonly(module(2)).result, 0);
	CHECK_IS(entries_count(suite.cache), 1);
	return PASSED;
}

/* Sets the last digit, which is what another account may do, in the modes of the cache's directory,
 * an entry's two folders, the index (-1: there is none), and the entry. */
static void set_modes(const char *entry, int directory, int folder, int index, int file)
{
	char path[512];

	snprintf(path, sizeof path, "%s", entry);
	chmod(path, (mode_t)(0600 | file));
	for (int level = 0; level < 2; level++) {
		*strrchr(path, '/') = '\0';
		chmod(path, (mode_t)(0700 | folder));
	}
	if (index < 0)
		unlink(cache_file("index"));
	else
		chmod(cache_file("index"), (mode_t)(0600 | index));
	chmod(suite.cache, (mode_t)(0700 | directory));
}

/* Returns whether the entries of module 1 and this one have the same first folder. */
static bool shares_folder(unsigned other)
{
	const size_t at = strlen(suite.cache) + 1;
	struct entry entries[2];
	bool same;

	cache_clear();
	(void)load(module(1));
	(void)load(module(other));
	if (entries_read(suite.cache, entries, 2) != 2)
		return true;
	same = entries[0].path[at] == entries[1].path[at];
	entry_free(&entries[0]);
	entry_free(&entries[1]);
	return same;
}

/* Another account's load hits if it may search the directory and the folders, read and write the
 * index (or make it), and read the entry. It adds an entry whose
 * folders are missing if it may also write to the directory. */
static enum outcome every_mode(void)
{
	static const int folders[] = {0, 1, 3, 5}, files[] = {0, 4}, indexes[] = {-1, 0, 4, 6};
	char cache[320], restore[1200];
	const char *settings[] = {cache, NULL};
	struct client *client;
	struct entry entry;
	unsigned other = 3;

	if (geteuid() != 0)
		return case_skipped("needs root");
	while (shares_folder(++other))
		CHECK(other < 20);
	cache_clear();
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	entry_free(&entry);
	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s", suite.cache);
	snprintf(restore, sizeof restore, "cp -a %s %s.kept", suite.cache, suite.cache);
	CHECK_IS(chmod(suite.scratch, 0755), 0);
	CHECK_IS(system(restore), 0);
	snprintf(restore, sizeof restore, "rm -rf %s && cp -a %s.kept %s", suite.cache, suite.cache,
			 suite.cache);
	client = client_start(settings);
	/* The driver's compiler may be in a folder of root's. */
	CHECK_IS(client_load(client, "dataex", module(3), NULL).compiled, 1);
	CHECK_IS(client_load(client, "account", "65534", NULL).result, 0);
	CHECK_IS(system(restore), 0);
	for (int number = 0; number < 4 * 4 * 4 * 2; number++) {
		const int directory = folders[number / 32], folder = folders[number / 8 % 4],
				  index = indexes[number / 2 % 4], file = files[number % 2];
		const bool searches = directory & 1, writes = searches && directory & 2,
				   opens = index == 6 || (index < 0 && writes);
		struct answer first, second;
		size_t count;

		set_modes(entry.path, directory, folder, index, file);
		first = client_load(client, "dataex", module(1), NULL);
		second = client_load(client, "dataex", module(other), NULL);
		count = entries_count(suite.cache);
		if (first.result || second.result || !second.compiled ||
			first.compiled == (searches && opens && folder & 1 && file & 4) ||
			(index >= 0 && count != 1u + (writes && opens))) {
			fprintf(stderr, "directory %o, folders %o, index %o, entry %o: ", directory, folder,
					index, file);
			fprintf(stderr, "%d compiled %d, %d compiled %d, entries %zu\n", first.result,
					first.compiled, second.result, second.compiled, count);
			client_stop(client);
			return case_failed(__FILE__, __LINE__, "these modes");
		}
		/* The case may have changed the files that it can write to. */
		if ((writes || folder & 2 || index < 0) && system(restore) != 0)
			return case_failed(__FILE__, __LINE__, restore);
	}
	client_stop(client);
	return PASSED;
}

/* A switch is on if its value is the number 1, parsed as in C. */
static enum outcome switches(void)
{
	static const struct {
		const char *setting;
		bool on;
	} cases[] = {
		{"CUDA_CACHE_DISABLE=01", true},   {"CUDA_CACHE_DISABLE= 1", true},
		{"CUDA_CACHE_DISABLE=2", false},   {"CUDA_CACHE_DISABLE=true", false},
		{"CUDA_CACHE_DISABLE=yes", false}, {"CUDA_CACHE_DISABLE=", false},
	};

	CHECK_IS(load(module(1)).compiled, 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct answer answers[2];

		load_twice_with(cases[i].setting, module(1), answers);
		CHECK_IS(answers[0].result, 0);
		CHECK_IS(answers[0].compiled, cases[i].on);
	}
	return PASSED;
}

/* CUDA_FORCE_PTX_JIT, if set, overrides CUDA_FORCE_JIT: the second load hits. */
static enum outcome force_is_overridden(void)
{
	char cache[320];
	const char *settings[] = {cache, "CUDA_FORCE_PTX_JIT=0", "CUDA_FORCE_JIT=1", NULL};
	struct answer answers[2];

	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s", suite.cache);
	load_twice(settings, module(1), answers);
	CHECK_IS(answers[0].compiled, 1);
	CHECK_IS(answers[1].compiled, 0);
	return PASSED;
}

/* Variables that are set after the driver's start have no effect. */
static enum outcome read_once(void)
{
	char path[600];
	char cache[320];
	const char *settings[] = {cache, NULL};
	struct client *client;
	struct answer answers[2];

	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s", suite.cache);
	snprintf(path, sizeof path, "CUDA_CACHE_PATH=%s/elsewhere", suite.scratch);
	client = client_start(settings);
	client_load(client, "setenv", path, NULL);
	client_load(client, "setenv", "CUDA_CACHE_DISABLE=1", NULL);
	client_load(client, "setenv", "CUDA_CACHE_MAXSIZE=1", NULL);
	client_load(client, "setenv", "CUDA_FORCE_PTX_JIT=1", NULL);
	for (int i = 0; i < 2; i++)
		answers[i] = client_load(client, "dataex", module(1), NULL);
	client_stop(client);
	CHECK_IS(answers[0].compiled, 1);
	CHECK_IS(answers[1].compiled, 0);
	CHECK_IS(entries_count(suite.cache), 1);
	CHECK_IS(entries_below("elsewhere"), 0);
	return PASSED;
}

const struct test_case setting_cases[] = {
	{"setting/CUDA_CACHE_DISABLE=1", disabled},
	{"setting/the driver makes missing folders of the path", missing_levels},
	{"setting/a file instead of the cache directory", file_in_its_place},
	{"setting/the path follows HOME", home},
	{"setting/an empty CUDA_CACHE_PATH: no caching", empty_path},
	{"setting/without HOME", no_home},
	{"setting/with CUDA_DISABLE_PTX_JIT=1: error 223 for cold modules; the driver loads warm ones",
	 jit_disabled},
	{"setting/with CUDA_FORCE_PTX_JIT=1 the driver stores entries, and never loads them",
	 forced_ptx},
	{"setting/with CUDA_FORCE_JIT=1 the driver stores entries, and never loads them", forced_jit},
	{"setting/with CUDA_FORCE_PTX_JIT=1 and no PTX: error 209", forced_without_ptx},
	{"setting/CUDA_MODULE_LOADING=EAGER and LAZY", loading_modes},
	{"setting/switches are on only for the value 1", switches},
	{"setting/CUDA_FORCE_PTX_JIT=0 overrides CUDA_FORCE_JIT=1", force_is_overridden},
	{"setting/the driver reads all variables once, at the start", read_once},
	{"permission/a read-only index: the driver loads no entry", readonly_index},
	{"permission/a writable index alone: the driver loads entries", writable_index_alone},
	{"permission/what another account may do with files of each mode", every_mode},
	{NULL, NULL},
};
