/* Inserting into a cache that other processes lock, remove, write or that are killed meanwhile. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "held_lock.h"

/* A child that waits for the folder of entry `n`, which is made while the entry is staged, then
 * removes `victim` and releases the lock. */
static pid_t remove_when_staged(unsigned n, const char *victim, int release)
{
	struct entries_entry entry;
	char *path, *level;
	pid_t child;

	entries_make(&entry, n, 0);
	path = cache_entry_path(NULL, dir, entry.key);
	level = os_dir_name(NULL, path);
	child = fork();
	if (!child) {
		while (!os_exists(level))
			(void)usleep(1000);
		(void)os_remove_tree(NULL, victim ? victim : level);
		_exit(0);
	}
	(void)close(release);
	mem_free(path);
	mem_free(level);
	return child;
}

TEST(an_entry_removed_after_the_comparison_is_not_a_hit)
{
	const struct cache_live_options options = {.limit_bytes = 1 << 30};
	struct entries_entry entries[2];
	struct cache_addition additions[2];
	struct cache_live *live = NULL;
	struct jw_error err = {0};
	pid_t holder, remover;
	char *first;
	int release;

	start_anew();
	fill(1, 1);
	for (unsigned i = 0; i < 2; i++) {
		entries_make(&entries[i], i + 1, 0);
		additions[i] = addition_of(&entries[i]);
	}
	first = cache_entry_path(NULL, dir, entries[0].key);
	assert_int_equal(cache_live_open(NULL, dir, &options, &live), 0);
	release = hold_lock(true, &holder);
	assert_true(release >= 0);
	remover = remove_when_staged(2, first, release);
	assert_int_equal(cache_insert(&err, live, additions, 2), -1);
	assert_int_equal(err.code, JW_ERR_BUSY);
	assert_int_equal(additions[0].added, CACHE_ADDED_NOT);
	assert_int_equal(waitpid(remover, NULL, 0), remover);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	assert_int_equal(cache_live_close(NULL, live), 0);
	mem_free(first);
}

TEST(a_pipe_is_not_an_entry)
{
	struct cache_live *live;
	struct entries_entry entry;
	struct cache_addition addition;
	char *made = os_join(NULL, folder, "pipe");

	start_anew();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	entries_make(&entry, 1, 0);
	addition = addition_of(&entry);
	addition.path = made;
	assert_int_equal(mkfifo(made, 0600), 0);
	(void)alarm(60); /* one that is opened waits for a writer */
	assert_int_equal(cache_insert(NULL, live, &addition, 1), 0);
	(void)alarm(0);
	assert_int_equal(addition.added, CACHE_ADDED_REFUSED);
	assert_int_equal(cache_live_close(NULL, live), 0);
	mem_free(made);
}

RUN_TESTS(make_folder, remove_folder)
