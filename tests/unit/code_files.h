/* A tree with files of every kind of name, and all functions that decide which of them may hold
 * device code: jw_find, jw_scan, jw_check, jw_prime, and the comparison of `prime --if-changed`.
 *
 * Each file holds a different module, so that its content identifies it. */
#pragma once

#include <jitwarm/check.h>
#include <jitwarm/find.h>
#include <jitwarm/prime.h>
#include <jitwarm/scan.h>
#include <jitwarm/startup.h>

#include "files.h"
#include "os/env.h"
#include "small_modules.h"

/* One name below the tree. */
struct named_file {
	const char *name;
	bool counts; /* counts as a file that may hold device code */
	/* Makes the file; NULL: a regular file with a module. */
	void (*make)(const struct named_file *file, unsigned number);
	const char *target; /* the target of a symlink */
};

static char *tree, *state_dir;
static struct jw_gpu gpu = {.target = {.sm = 86}};
static struct jw_system jw_machine;

static inline char *tree_path(const char *name)
{
	char *path = os_join(tree, name);

	assert_non_null(path);
	return path;
}

static inline void put_module(const struct named_file *file, unsigned number)
{
	struct buf data = make_buf();

	small_put(&data, number, 70, "");
	files_put(tree, file->name, data.data, data.size);
	buf_free(&data);
}

static inline void put_named_file(const struct named_file *file, unsigned number)
{
	if (file->make)
		file->make(file, number);
	else
		put_module(file, number);
}

static int make_tree(void **unused)
{
	char *made;

	assert_int_equal(make_folder(unused), 0);
	OK(os_real_path(why, folder, &made));
	mem_free(folder);
	folder = made;
	tree = os_join(folder, "tree");
	state_dir = os_join(folder, "state");
	OK(os_make_dirs(why, tree, 0700));
	OK(os_env_set(why, "JITWARM_STATE", state_dir));
	jw_machine = (struct jw_system){
		.gpus = &gpu,
		.gpu_count = 1,
		.state_dir = state_dir,
		.driver = {.version = {12050, {555, 58, 2}}, .stamp = "Jun 25 202401:14:48"},
		.cache = {.path = os_join(folder, "cache"), .limit_bytes = 1 << 30, .usable = true},
	};
	return 0;
}

static int remove_tree(void **unused)
{
	mem_free(jw_machine.cache.path);
	mem_free(state_dir);
	mem_free(tree);
	return remove_folder(unused);
}

/* ---- the answer of each function: how often it has named a file */

struct tally {
	const struct named_file *files;
	size_t count;
	unsigned *times;
	size_t wrong; /* wrong answers so far */
};

static inline void expect_times(struct tally *tally, size_t at, unsigned times, const char *teller)
{
	const struct named_file *file = &tally->files[at];

	if (times == (file->counts ? 1 : 0))
		return;
	print_error("%s: %s: named %u times, should be %s\n", teller, file->name, times,
				file->counts ? "named once" : "passed over");
	tally->wrong++;
}

static inline void tally_path(struct tally *tally, const char *path)
{
	for (size_t i = 0; i < tally->count; i++) {
		char *expected = keep(tree_path(tally->files[i].name));

		for (char *c = expected; *c; c++)
			if (os_is_separator(*c))
				*c = '/';
		for (size_t at = 0;; at++) {
			if (expected[at] != (os_is_separator(path[at]) ? '/' : path[at]))
				break;
			if (!path[at]) {
				tally->times[i]++;
				return;
			}
		}
	}
	fail_msg("%s: was not put there", path);
}

static inline void expect_tally(struct tally *tally, const char *teller)
{
	for (size_t i = 0; i < tally->count; i++)
		expect_times(tally, i, tally->times[i], teller);
	memset(tally->times, 0, tally->count * sizeof *tally->times);
}

static inline int tally_image(struct jw_error *err, void *context,
							  const struct jw_scan_image *image)
{
	(void)err;
	tally_path(context, image->path);
	return 0;
}

static inline bool plan_alone(void *context, const struct jw_prime_result *result)
{
	*(size_t *)context = result->plan.modules;
	return false;
}

static inline void find_them(struct tally *tally)
{
	const char *name = tree;
	struct jw_found *found = NULL;

	OK(jw_find(why, &(struct jw_find_options){.names = &name, .name_count = 1}, &found));
	for (size_t i = 0; i < found->file_count; i++)
		tally_path(tally, found->files[i].path);
	jw_result_free(found);
	expect_tally(tally, "jw_find");
}

static inline void scan_them(struct tally *tally)
{
	const char *paths[] = {tree};
	const struct jw_scan_options options = {
		.paths = paths, .path_count = 1, .context = tally, .image = tally_image};

	OK(jw_scan(why, &options, NULL));
	expect_tally(tally, "jw_scan");
}

static inline void check_them(struct tally *tally)
{
	const char *paths[] = {tree};
	const struct jw_check_options options = {
		.paths = paths, .path_count = 1, .system = &jw_machine};
	struct jw_check_result *result = NULL;

	OK(jw_check(why, &options, &result));
	for (size_t i = 0; i < result->file_count; i++)
		tally_path(tally, result->files[i].path);
	jw_result_free(result);
	expect_tally(tally, "jw_check");
}

static inline void prime_them(struct tally *tally)
{
	const char *paths[] = {tree};
	size_t modules = 0, expected = 0;
	const struct jw_prime_options options = {.plan.paths = paths,
											 .plan.path_count = 1,
											 .dry_run = true,
											 .context = &modules,
											 .planned = plan_alone};
	struct jw_prime_result *result = NULL;

	OK(jw_prime(why, &jw_machine, &options, &result));
	jw_result_free(result);
	for (size_t i = 0; i < tally->count; i++)
		expected += tally->files[i].counts;
	if (modules != expected)
		print_error("jw_prime: %u modules, should be %u\n", (unsigned)modules, (unsigned)expected);
	tally->wrong += modules != expected;
}

/* Says whether there were changes since the last call. */
static inline bool has_changed(void)
{
	const char *names[] = {tree};
	const struct jw_run_key key = {
		.names = names, .name_count = 1, .cache_dir = jw_machine.cache.path};
	struct jw_run_state *now = NULL;
	const char *changes = NULL;
	bool changed;

	OK(jw_run_compare(why, &key, &now, &changes));
	changed = strstr(changes, "packages") != NULL;
	OK(jw_run_remember(why, now));
	jw_result_free(now);
	return changed;
}

/* Changes files that count one by one, since one change hides another; the others change together
 * in between. */
static inline void compare_them(struct tally *tally)
{
	size_t passed_over = 0;

	(void)has_changed();
	for (size_t i = 0; i < tally->count; i++) {
		bool counts = tally->files[i].counts, last = i + 1 == tally->count;

		put_named_file(&tally->files[i], (unsigned)i + 1);
		passed_over = counts ? 0 : passed_over + 1;
		if (counts) {
			expect_times(tally, i, has_changed(), "prime --if-changed");
		} else if ((last || tally->files[i + 1].counts) && has_changed()) {
			print_error("prime --if-changed: %s or one of %u before it counts\n",
						tally->files[i].name, (unsigned)passed_over - 1);
			tally->wrong++;
		}
	}
}

static inline void expect_one_answer(const struct named_file *files, size_t count)
{
	struct tally tally = {
		.files = files, .count = count, .times = mem_array(count, sizeof *tally.times)};

	assert_non_null(tally.times);
	compare_them(&tally);
	find_them(&tally);
	scan_them(&tally);
	check_them(&tally);
	prime_them(&tally);
	mem_free(tally.times);
	assert_int_equal(tally.wrong, 0);
}
