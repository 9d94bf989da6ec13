/* Runs whose workers are shell scripts, for tests of work/run.h. */
#pragma once

#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "cache/insert.h"
#include "entries.h"
#include "files.h"
#include "os/file.h"
#include "os/folders.h"
#include "work/run.h"

enum { MODULES = 6 };

/* The script greets, then answers each job with `do_job ID DEVICE`; make_entry copies the entry of
 * a job into the worker's cache. "$first" is true in the first worker that asks. */
static const char common[] =
	"answer() { echo \"{\\\"answer\\\":$1,\\\"result\\\":$2,\\\"sticky\\\":${3:-false},"
	"\\\"no_context\\\":${4:-false},\\\"error\\\":\\\"${5:-}\\\"}\"; }\n"
	"hello() { echo \"{\\\"hello\\\":0,\\\"cuda\\\":12040,\\\"devices\\\":[{\\\"ordinal\\\":0,"
	"\\\"sm\\\":${1:-86},\\\"name\\\":\\\"test\\\",\\\"compute_mode\\\":${2:-0}}]}\"; }\n"
	"make_entry() { cp -R \"$trees/$1/.\" \"$CUDA_CACHE_PATH/\"; }\n"
	"fine() { make_entry $1; answer $1 0; }\n"
	"once() { mkdir \"$marks/$1\" 2>/dev/null; }\n"
	"serve() { while read -r line; do id=${line#*:}; do_job \"${id%%,*}\"; done; }\n";

static char *folder, *script, *cache, *state_dir;
static struct plan_module modules[MODULES];
static char file_path[] = "library.so";
static struct plan_file file = {.path = file_path};
static struct plan_target target = {.device = {.sm = 86}};
static struct plan plan = {.files = &file,
						   .file_count = 1,
						   .targets = &target,
						   .target_count = 1,
						   .modules = modules,
						   .module_count = MODULES};
static struct spool_place places[MODULES];
static struct spool spool = {.places = places};
static struct jw_system jw_machine;
static struct jw_prime_options options;
static struct jw_prime_result *result;
static unsigned start_ms, end_ms;
static bool opaque; /* the workers write the cache themselves */
static const char *task;

static inline int make_folder(void **state)
{
	(void)state;
	if (os_make_temp_dir(why, "jitwarm-run", &folder))
		return -1;
	script = os_join(folder, "worker.sh");
	cache = os_join(folder, "cache");
	state_dir = os_join(folder, "state");
	return 0;
}

static inline int remove_folder(void **state)
{
	(void)state;
	mem_free(script);
	mem_free(cache);
	mem_free(state_dir);
	if (os_remove_tree(why, folder))
		return -1;
	mem_free(folder);
	return 0;
}

static inline void make_tree(size_t id)
{
	struct entries_entry entry;
	char *root = keep(mem_printf("%s/trees/%zu", folder, id));

	entries_make(&entry, (unsigned)id, 100);
	files_put_at(cache_entry_path(root, entry.key), entry.bytes, entry.size);
	modules[id] = (struct plan_module){.container_bytes = 1,
									   .key = entry.key,
									   .key_bytes = entry.key_bytes,
									   .identity = entry.identity,
									   .payload_bytes = 100,
									   .cost_ms = 10};
	places[id] = (struct spool_place){.path = "library.so", .size_bytes = 1};
}

/* Starts with empty folders and a worker that runs `body`. */
static inline int begin(void **state)
{
	char *marks = keep(os_join(folder, "marks"));

	(void)state;
	/* A run that does not end is a failure. */
	(void)alarm(240);
	OK(os_remove_tree(why, cache));
	OK(os_remove_tree(why, state_dir));
	OK(os_remove_tree(why, marks));
	OK(os_make_dirs(why, marks, 0700));
	for (size_t i = 0; i < MODULES; i++)
		make_tree(i);
	jw_machine = (struct jw_system){.state_dir = state_dir,
									.cache = {.path = cache, .limit_bytes = 1 << 30}};
	options = (struct jw_prime_options){0};
	start_ms = end_ms = 0;
	opaque = false;
	task = NULL;
	result = arena_open(sizeof *result);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	jw_result_free(result);
	return 0;
}

static inline int run_with(struct jw_error *err, unsigned workers, const char *body)
{
	const char *const command[] = {"/bin/sh", script, NULL};
	struct cache_live_options how = {.limit_bytes = 1 << 30, .lock_wait_ms = 20};
	char *text =
		keep(mem_printf("trees='%s/trees' marks='%s/marks'\n%s%s", folder, folder, common, body));
	char *private_folder = keep(os_join(folder, "run"));
	struct cache_live *live = NULL;
	struct run_setup setup = {.plan = &plan,
							  .spool = &spool,
							  .system = &jw_machine,
							  .options = &options,
							  .worker = command,
							  .folder = private_folder,
							  .workers = workers,
							  .start_ms = start_ms,
							  .end_ms = end_ms,
							  .task = task};
	int failed;

	OK(os_write_atomic(why, script, text, strlen(text)));
	OK(os_remove_tree(why, private_folder));
	OK(os_make_dirs(why, private_folder, 0700));
	OK(cache_live_open(why, cache, &how, &live));
	setup.live = opaque ? NULL : live;
	failed = run_plan(err, &setup, result);
	(void)cache_live_close(NULL, live);
	return failed;
}

/* Starts another process that holds the lock of the cache's index for `milliseconds`. */
static inline pid_t hold_lock(unsigned milliseconds)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int ready[2], fd;
	char byte;
	pid_t pid;

	OK(os_make_dirs(why, cache, 0700));
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		fd = open(keep(os_join(cache, "index")), O_RDWR | O_CREAT, 0666);
		while (fcntl(fd, F_SETLK, &lock))
			(void)usleep(1000);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		(void)usleep(milliseconds * 1000);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

static inline char *mark_path(const char *name)
{
	return mem_printf("%s/marks/%s", folder, name);
}

static inline void await_mark(const char *name)
{
	char *path = keep(mark_path(name));

	while (!os_exists(path))
		(void)usleep(1000);
}

static inline size_t warm(void)
{
	size_t count = 0;

	for (size_t i = 0; i < MODULES; i++)
		count += cache_presence(cache, modules[i].key, &modules[i].identity, NULL) == CACHE_PRESENT;
	return count;
}

static inline void expect_all(void)
{
	assert_int_equal(result->compile.compiled, MODULES);
	assert_int_equal(result->compile.failed, 0);
	assert_int_equal(result->compile.undone, 0);
	assert_int_equal(warm(), MODULES);
}

/* Asserts the order in which jobs began ("3+") and ended ("3-"). */
static inline void expect_order(const char *part, bool at_end)
{
	struct buf order = {0};
	const char *found;

	OK(os_read_file(why, keep(os_join(folder, "marks/order")), 1000, &order));
	found = strstr(buf_text(&order), part);
	if (!found || (at_end && found[strlen(part)]))
		fail_msg("the order is “%s”, without “%s”%s", buf_text(&order), part,
				 at_end ? " at its end" : "");
	buf_free(&order);
}

#define CASE(name) TEST_WITH(name, begin, end)
