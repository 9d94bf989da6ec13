/* Packs are imported, and keys kept, while each allocation fails once: that is said, or all of the
 * work is done. */
#include "lacking_posix.h"

static void as_it_is(void)
{
}

static void with_others(void)
{
	without_target();
	put_entries(target, 100, 103);
}

static int import_with(struct jw_error *err, struct jw_import_options options, size_t accepted,
					   size_t refused)
{
	struct jw_import_result *result = NULL;

	options.size = sizeof options;
	options.path = pack;
	options.cache_dir = target;
	options.allow_unsigned = true;
	options.state_dir = state_dir;
	if (jw_import(err, &options, &result))
		return -1;
	assert_int_equal(result->accepted + result->there, accepted);
	assert_int_equal(result->refused, refused);
	/* What could not be looked at is compared when it is written */
	if (!options.dry_run && !result->there)
		assert_int_equal(result->added, result->accepted);
	jw_import_result_free(result);
	return 0;
}

static int imports(struct jw_error *err)
{
	return import_with(err, (struct jw_import_options){.system = NULL}, ENTRIES, 0);
}

static int imports_for_another(struct jw_error *err)
{
	static struct jw_gpu another = {.target = {.sm = 75}};
	struct jw_system system = machine;

	system.gpus = &another;
	return import_with(err, (struct jw_import_options){.system = &system}, 0, ENTRIES);
}

static bool wants_none(void *context, uint64_t key)
{
	(void)context;
	(void)key;
	return false;
}

static int imports_nothing_asked_for(struct jw_error *err)
{
	const struct jw_import_options options = {.only_missing = true, .wanted = wants_none};

	return import_with(err, options, 0, ENTRIES);
}

static int imports_evicting(struct jw_error *err)
{
	const struct jw_import_options options = {.dry_run = true, .limit_bytes = 500};

	return import_with(err, options, ENTRIES, 0);
}

static int imports_a_tree(struct jw_error *err)
{
	return import_with(err, (struct jw_import_options){.system = &machine}, 3, 0);
}

static int makes_a_key(struct jw_error *err)
{
	struct jw_key key;

	return jw_key_generate(err, state_dir, "ours", NULL, &key);
}

static int trusts_a_key(struct jw_error *err)
{
	struct jw_key key;
	char *path = os_join(err, state_dir, "keys/ours.pub");
	int result = path ? jw_key_trust(err, state_dir, NULL, path, &key) : -1;

	mem_free(path);
	return result;
}

static int distrusts_a_key(struct jw_error *err)
{
	return jw_key_distrust(err, state_dir, "ours");
}

static int looks_at_keys(struct jw_error *err)
{
	struct jw_keys keys;
	bool encrypted = true;

	if (jw_key_list(err, state_dir, &keys))
		return -1;
	assert_int_equal(keys.count, 1);
	assert_true(keys.items[0].can_sign && keys.items[0].trusted);
	jw_keys_free(&keys);
	if (jw_key_is_encrypted(err, state_dir, "ours", &encrypted))
		return -1;
	assert_false(encrypted);
	return jw_key_check(err, state_dir, "ours", NULL);
}

static int copies_a_key(struct jw_error *err)
{
	struct jw_key key;
	char *path = os_join(err, state_dir, "keys/ours.key");
	int result = path ? jw_key_import(err, state_dir, "copy", path, NULL, &key) : -1;

	mem_free(path);
	return result;
}

static void with_all(void)
{
	without_target();
	put_entries(target, 0, ENTRIES);
}

static void imports_say_so(void **unused)
{
	(void)unused;
	assert_int_equal(exports(NULL), 0);
	each_lacks("import", without_target, imports);
	each_lacks("import of what is there", with_all, imports);
	each_lacks("import for another GPU", without_target, imports_for_another);
	each_lacks("import of what is not asked for", without_target, imports_nothing_asked_for);
	each_lacks("import that evicts", with_others, imports_evicting);
	with_a_tree();
	assert_int_equal(exports_a_tree(NULL), 0);
	each_lacks("import of a tree", without_target, imports_a_tree);
	each_lacks("import of a tree that is there", with_a_tree, imports_a_tree);
}

static void keys_say_so(void **unused)
{
	(void)unused;
	each_lacks("key generate", without_keys, makes_a_key);
	with_a_key();
	each_lacks("key trust", as_it_is, trusts_a_key);
	each_lacks("key list", with_a_key, looks_at_keys);
	each_lacks("key distrust", with_a_key, distrusts_a_key);
	each_lacks("key import", with_a_key, copies_a_key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(imports_say_so),
		cmocka_unit_test(keys_say_so),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
