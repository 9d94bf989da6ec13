/* Functions that need random numbers and hashes work as the first call of a process. */
#include "folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <jitwarm/key.h>

#include "pack/import.h"
#include "packs.h"

static char *cache, *pack, *target;

static void makes_a_key(void)
{
	struct jw_key key;

	assert_int_equal(jw_key_generate(NULL, folder, "ours", NULL, &key), 0);
}

static void checks_a_key(void)
{
	assert_int_equal(jw_key_check(NULL, folder, "ours", NULL), 0);
}

static void exports(void)
{
	(void)packs_export(cache, pack);
}

static void imports(void)
{
	const struct jw_import_options options = {
		.size = sizeof options, .path = pack, .cache_dir = target, .allow_unsigned = true};
	struct jw_import_result *result;

	assert_int_equal(jw_import(NULL, &options, &result), 0);
	jw_import_result_free(result);
}

static void checks_a_pack(void)
{
	const struct jw_import_options options = {
		.size = sizeof options, .path = pack, .allow_unsigned = true};

	assert_int_equal(import_check_pack(NULL, &options), 0);
}

TEST(each_is_the_first)
{
	static void (*const calls[])(void) = {makes_a_key, checks_a_key, exports, imports,
										  checks_a_pack};
	struct entries_entry entry;

	entries_make(&entry, 1, 0);
	packs_put(cache, entry.key, entry.bytes, entry.size);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		const pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (!child) {
			calls[i]();
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			fail_msg("call %zu", i);
	}
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	cache = os_join(NULL, folder, "cache");
	pack = os_join(NULL, folder, "a.jwpack");
	target = os_join(NULL, folder, "target");
	return 0;
}

static int tear_down(void **state)
{
	mem_free(cache);
	mem_free(pack);
	mem_free(target);
	return remove_folder(state);
}

RUN_TESTS(set_up, tear_down)
