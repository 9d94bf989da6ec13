/* Settings that Windows keeps in its registry, with a registry of the test in memory: writes,
 * records, and undoing, also if a write or memory fails. */
#include "root.h"

#include <stdio.h>
#include <unistd.h>

#include <jitwarm/tune.h>

#include "os/env.h"
#include "setup/setting_places.h"

/* ---- the registry */

enum { PLACES = 4, MAX_VARIABLES = 16 };

static struct fake_variable {
	char name[40], value[80];
	bool set, expands;
} registry[PLACES][MAX_VARIABLES];
static bool kept, announced;
static int writes, fails_at;   /* the fails_at-th write fails; 0: none */
static const char *unreadable; /* the name of a value */
static char order[1024];       /* the names that were written, in order */

bool os_variables_kept(void)
{
	return kept;
}

const char *os_variables_key(enum os_variables where)
{
	static const char *const keys[] = {"USER", "MACHINE", "USER_RECORD", "RECORD"};

	return keys[where];
}

static struct fake_variable *slot_of(enum os_variables where, const char *name)
{
	for (size_t i = 0; i < MAX_VARIABLES; i++) {
		struct fake_variable *one = &registry[where][i];

		if (!one->name[0])
			(void)snprintf(one->name, sizeof one->name, "%s", name);
		if (!strcmp(one->name, name))
			return one;
	}
	fail();
	return NULL;
}

int os_variable_read(struct jw_error *err, enum os_variables where, const char *name,
					 struct os_variable *ret_variable)
{
	const struct fake_variable *one = slot_of(where, name);
	char *copy;

	if (unreadable && !strcmp(name, unreadable))
		return error_set(err, JW_ERR_IO, "%s: cannot be read", name);
	if (!one->set)
		return error_set(err, JW_ERR_NOT_FOUND, "%s: not set", name);
	copy = mem_string(one->value);
	*ret_variable = (struct os_variable){copy, one->expands};
	return 0;
}

int os_variable_write(struct jw_error *err, enum os_variables where, const char *name,
					  const struct os_variable *variable)
{
	struct fake_variable *one = slot_of(where, name);

	if (++writes == fails_at)
		return error_set(err, JW_ERR_IO, "%s: Permission denied", name);
	(void)snprintf(order + strlen(order), sizeof order - strlen(order), "%s %s|",
				   os_variables_key(where), name);
	one->set = variable != NULL;
	one->expands = variable && variable->expands;
	(void)snprintf(one->value, sizeof one->value, "%s", variable ? variable->value : "");
	return 0;
}

void os_variables_announce(void)
{
	announced = true;
}

static void put(enum os_variables where, const char *name, const char *value, bool expands)
{
	struct fake_variable *one = slot_of(where, name);

	one->set = value != NULL;
	one->expands = expands;
	(void)snprintf(one->value, sizeof one->value, "%s", value ? value : "");
}

/* Returns "NAME=value" or "NAME=%value" for all values there. */
static char *text_of(enum os_variables where)
{
	static char text[2048];

	text[0] = '\0';
	for (size_t i = 0; i < MAX_VARIABLES; i++)
		if (registry[where][i].set)
			(void)snprintf(text + strlen(text), sizeof text - strlen(text), "%.39s=%s%.79s|",
						   registry[where][i].name, registry[where][i].expands ? "%" : "",
						   registry[where][i].value);
	return text;
}

/* ---- the tests */

static int usual(void **state)
{
	static const char *const others[] = {"XDG_CONFIG_HOME", "CONDA_PREFIX", "CUDA_CACHE_PATH",
										 "CUDA_CACHE_MAXSIZE"};
	char *inner = keep(os_join(root, "state"));
	int result = root_empty(state) || os_env_set(why, "JITWARM_STATE", inner) ||
				 os_env_set(why, "HOME", root);

	for (size_t i = 0; !result && i < sizeof others / sizeof *others; i++)
		result = os_env_set(why, others[i], NULL);
	memset(registry, 0, sizeof registry);
	/* names in their order */
	(void)slot_of(OS_VARIABLES_USER, "CUDA_CACHE_MAXSIZE");
	(void)slot_of(OS_VARIABLES_MACHINE, "CUDA_CACHE_MAXSIZE");
	(void)slot_of(OS_VARIABLES_MACHINE_RECORD, "CUDA_CACHE_MAXSIZE");
	(void)slot_of(OS_VARIABLES_MACHINE_RECORD, "CUDA_CACHE_PATH");
	(void)slot_of(OS_VARIABLES_USER_RECORD, "CUDA_CACHE_MAXSIZE");
	kept = true;
	announced = false;
	writes = fails_at = 0;
	unreadable = NULL;
	order[0] = '\0';
	return result;
}

static int changes(struct jw_error *err, bool undo, const struct jw_tune_request *request,
				   char *text, size_t size)
{
	struct jw_tune_result *result;

	text[0] = '\0';
	if (undo ? jw_tune_undo(err, request, &result) : jw_tune_apply(err, request, &result))
		return -1;
	for (size_t i = 0; i < result->count; i++)
		(void)snprintf(text + strlen(text), size - strlen(text), "%s %s|", result->changes[i].what,
					   result->changes[i].where);
	jw_result_free(result);
	return 0;
}

static void expect(bool undo, const struct jw_tune_request *request, const char *wanted)
{
	char text[1024];

	OK(changes(why, undo, request, text, sizeof text));
	assert_string_equal(text, wanted);
}

static const struct jw_tune_request for_user = {.scope = JW_SCOPE_USER,
												.limit_bytes = 7,
												.path = "/a"},
									for_all = {
										.scope = JW_SCOPE_SYSTEM, .limit_bytes = 7, .path = "/a"};

TEST_WITH(a_users_variables_are_set_and_restored, usual, NULL)
{
	put(OS_VARIABLES_USER, "CUDA_CACHE_PATH", "%TEMP%\\c", true);
	expect(false, &for_user, "written USER\\CUDA_CACHE_MAXSIZE|written USER\\CUDA_CACHE_PATH|");
	assert_true(announced);
	/* A value that Windows expands still does: there is nothing to expand. */
	assert_string_equal(text_of(OS_VARIABLES_USER), "CUDA_CACHE_MAXSIZE=7|CUDA_CACHE_PATH=%/a|");
	assert_string_equal(text_of(OS_VARIABLES_MACHINE), "");
	assert_string_equal(text_of(OS_VARIABLES_MACHINE_RECORD), "");
	assert_string_equal(
		text_of(OS_VARIABLES_USER_RECORD),
		"CUDA_CACHE_MAXSIZE=7|CUDA_CACHE_PATH=/a|CUDA_CACHE_PATH before=%%TEMP%\\c|");
	announced = false;
	expect(false, &for_user, "unchanged USER\\CUDA_CACHE_MAXSIZE|unchanged USER\\CUDA_CACHE_PATH|");
	assert_false(announced);
	/* Another scope's are left alone. */
	expect(true, &for_all, "");
	expect(true, &for_user, "restored USER\\CUDA_CACHE_PATH|removed USER\\CUDA_CACHE_MAXSIZE|");
	assert_true(announced);
	assert_string_equal(text_of(OS_VARIABLES_USER), "CUDA_CACHE_PATH=%%TEMP%\\c|");
	assert_string_equal(text_of(OS_VARIABLES_USER_RECORD), "");
	expect(true, NULL, "");
}

TEST_WITH(a_value_in_percent_signs_does_not_expand, usual, NULL)
{
	struct jw_tune_request request = for_user;

	request.path = "/100%";
	request.limit_bytes = 0;
	put(OS_VARIABLES_USER, "CUDA_CACHE_PATH", "x", true);
	expect(false, &request, "written USER\\CUDA_CACHE_PATH|");
	assert_string_equal(text_of(OS_VARIABLES_USER), "CUDA_CACHE_PATH=/100%|");
	request.path = "/b";
	expect(false, &request, "written USER\\CUDA_CACHE_PATH|");
	/* The second call does not forget the values that were there before the first. */
	expect(true, &request, "restored USER\\CUDA_CACHE_PATH|");
	assert_string_equal(text_of(OS_VARIABLES_USER), "CUDA_CACHE_PATH=%x|");
}

TEST_WITH(what_others_have_set_since_is_left, usual, NULL)
{
	expect(false, &for_user, "written USER\\CUDA_CACHE_MAXSIZE|written USER\\CUDA_CACHE_PATH|");
	put(OS_VARIABLES_USER, "CUDA_CACHE_PATH", "theirs", false);
	put(OS_VARIABLES_USER, "CUDA_CACHE_MAXSIZE", NULL, false);
	expect(true, &for_user, "left USER\\CUDA_CACHE_PATH|left USER\\CUDA_CACHE_MAXSIZE|");
	assert_string_equal(text_of(OS_VARIABLES_USER), "CUDA_CACHE_PATH=theirs|");
	expect(true, &for_user, "");
	/* A variable that is set again has its new value restored. */
	expect(false, &for_user, "written USER\\CUDA_CACHE_MAXSIZE|written USER\\CUDA_CACHE_PATH|");
	put(OS_VARIABLES_USER, "CUDA_CACHE_PATH", "later", false);
	expect(false, &for_user, "unchanged USER\\CUDA_CACHE_MAXSIZE|written USER\\CUDA_CACHE_PATH|");
	expect(true, NULL, "restored USER\\CUDA_CACHE_PATH|removed USER\\CUDA_CACHE_MAXSIZE|");
	assert_string_equal(text_of(OS_VARIABLES_USER), "CUDA_CACHE_PATH=later|");
}

/* The machine's former values are in its part of the registry, where only administrators may write.
 * */
TEST_WITH(the_machines_have_their_own_record, usual, NULL)
{
	struct jw_tune_request path = for_all;
	struct jw_tune_result *result;

	/* A kill between two writes leaves a record without a value, but no value without a record, and
	 * no wrong pair. */
	path.limit_bytes = 0;
	put(OS_VARIABLES_MACHINE, "CUDA_CACHE_PATH", "was", true);
	expect(false, &path, "written MACHINE\\CUDA_CACHE_PATH|");
	assert_string_equal(order, "RECORD CUDA_CACHE_PATH before|RECORD CUDA_CACHE_PATH|"
							   "MACHINE CUDA_CACHE_PATH|");
	order[0] = '\0';
	expect(true, &path, "restored MACHINE\\CUDA_CACHE_PATH|");
	assert_string_equal(order, "MACHINE CUDA_CACHE_PATH|RECORD CUDA_CACHE_PATH|"
							   "RECORD CUDA_CACHE_PATH before|");
	/* A value that cannot be read does not count as none. */
	writes = 0;
	unreadable = "CUDA_CACHE_PATH";
	assert_int_equal(jw_tune_apply(NULL, &path, &result), -1);
	assert_int_equal(writes, 0);
	unreadable = NULL;
	expect(false, &for_all,
		   "written MACHINE\\CUDA_CACHE_MAXSIZE|written MACHINE\\CUDA_CACHE_PATH|");
	assert_string_equal(text_of(OS_VARIABLES_MACHINE), "CUDA_CACHE_MAXSIZE=7|CUDA_CACHE_PATH=%/a|");
	assert_string_equal(text_of(OS_VARIABLES_USER), "");
	assert_string_equal(text_of(OS_VARIABLES_MACHINE_RECORD),
						"CUDA_CACHE_MAXSIZE=7|CUDA_CACHE_PATH=/a|CUDA_CACHE_PATH before=%was|");
	/* Equal values are not written again. */
	writes = 0;
	expect(false, &for_all,
		   "unchanged MACHINE\\CUDA_CACHE_MAXSIZE|unchanged MACHINE\\CUDA_CACHE_PATH|");
	expect(true, &for_user, "");
	assert_int_equal(writes, 0);
	expect(true, &for_all,
		   "restored MACHINE\\CUDA_CACHE_PATH|removed MACHINE\\CUDA_CACHE_MAXSIZE|");
	assert_string_equal(text_of(OS_VARIABLES_MACHINE), "CUDA_CACHE_PATH=%was|");
	assert_string_equal(text_of(OS_VARIABLES_MACHINE_RECORD), "");
}

/* Each write that fails is reported, and undoing brings back the former values. */
TEST_WITH(a_write_that_fails_loses_nothing, usual, NULL)
{
	const struct jw_tune_request *const requests[] = {&for_user, &for_all};
	char text[1024];

	for (int i = 0; i < 2; i++)
		for (int at = 1;; at++) {
			const enum os_variables where = i ? OS_VARIABLES_MACHINE : OS_VARIABLES_USER;
			int failed;

			assert_int_equal(usual(state), 0);
			put(where, "CUDA_CACHE_PATH", "was", true);
			fails_at = at;
			failed = changes(why, false, requests[i], text, sizeof text);
			fails_at = 0;
			if (!failed) {
				assert_true(writes < at && at > 2);
				break;
			}
			assert_int_equal(why->code, JW_ERR_IO);
			OK(changes(why, true, requests[i], text, sizeof text));
			assert_string_equal(text_of(where), "CUDA_CACHE_PATH=%was|");
			assert_string_equal(text_of(OS_VARIABLES_MACHINE_RECORD), "");
			assert_string_equal(text_of(OS_VARIABLES_USER_RECORD), "");
			/* A variable that was not written is not recorded either. */
			assert_null(strstr(text, "left"));
		}
}

/* Undoing continues after a failure; an undone setting is removed from the record, whatever failed
 * after it. */
TEST_WITH(an_undo_that_fails_goes_on, usual, NULL)
{
	if (geteuid() != 0)
		skip();
	for (int at = 1; at <= 5; at++) {
		char text[1024];

		assert_int_equal(usual(state), 0);
		put(OS_VARIABLES_USER, "CUDA_CACHE_PATH", "was", true);
		put(OS_VARIABLES_MACHINE, "CUDA_CACHE_PATH", "were", false);
		OK(changes(why, false, &for_user, text, sizeof text));
		OK(changes(why, false, &for_all, text, sizeof text));
		writes = 0;
		fails_at = at;
		GIVES(JW_ERR_IO, changes(why, true, NULL, text, sizeof text));
		fails_at = 0;
		OK(changes(why, true, NULL, text, sizeof text));
		assert_string_equal(text_of(OS_VARIABLES_USER), "CUDA_CACHE_PATH=%was|");
		assert_string_equal(text_of(OS_VARIABLES_MACHINE), "CUDA_CACHE_PATH=were|");
		assert_string_equal(text_of(OS_VARIABLES_MACHINE_RECORD), "");
		assert_string_equal(text_of(OS_VARIABLES_USER_RECORD), "");
	}
}

TEST_WITH(settings_are_read_from_there, usual, NULL)
{
	static const struct {
		const char *source, *where, *value;
	} wanted[] = {
		{"Windows machine", "MACHINE", "1G"},
		{"Windows machine", "MACHINE", "/m"},
		{"Windows user", "USER", "/u"},
	};
	struct jw_settings *settings;

	root_put("etc/environment", "CUDA_CACHE_PATH=/not/here\n");
	put(OS_VARIABLES_MACHINE, "CUDA_CACHE_MAXSIZE", "1G", false);
	put(OS_VARIABLES_MACHINE, "CUDA_CACHE_PATH", "/m", false);
	put(OS_VARIABLES_USER, "CUDA_CACHE_PATH", "/u", false);
	OK(jw_settings_read(why, &settings));
	assert_int_equal(settings->count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(settings->items[i].source, wanted[i].source);
		assert_string_equal(settings->items[i].where, wanted[i].where);
		assert_string_equal(settings->items[i].value, wanted[i].value);
	}
	jw_result_free(settings);
	OK(jw_settings_read(why, &settings));
	jw_result_free(settings);
}

/* The account's variable takes precedence over the machine's; jitwarm's record says which ones
 * jitwarm has set. */
TEST_WITH(the_registrys_values_are_pending_or_overridden, usual, NULL)
{
	static const struct {
		const char *machine, *machine_record, *account, *account_record, *process;
		enum jw_tune_state state;
	} cases[] = {
		{"7", "7", NULL, NULL, NULL, JW_TUNE_PENDING},
		{"7", "7", NULL, NULL, "7", JW_TUNE_IN_FORCE},
		{"7", "7", "6", NULL, "6", JW_TUNE_OVERRIDDEN},
		{"7", "7", "6", "6", "6", JW_TUNE_IN_FORCE},
		{"7", NULL, "6", "5", "6", JW_TUNE_NOT_SET},
		{NULL, NULL, "6", "6", "5", JW_TUNE_PENDING},
	};
	static const char name[] = "CUDA_CACHE_MAXSIZE";

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_settings *settings;
		const struct jw_setting *ours;

		assert_int_equal(usual(state), 0);
		if (cases[i].machine)
			put(OS_VARIABLES_MACHINE, name, cases[i].machine, false);
		if (cases[i].machine_record)
			put(OS_VARIABLES_MACHINE_RECORD, name, cases[i].machine_record, false);
		if (cases[i].account)
			put(OS_VARIABLES_USER, name, cases[i].account, false);
		if (cases[i].account_record)
			put(OS_VARIABLES_USER_RECORD, name, cases[i].account_record, false);
		OK(os_env_set(why, name, cases[i].process));
		OK(jw_settings_read(why, &settings));
		assert_int_equal(jw_tune_state(settings, name, &ours), cases[i].state);
		jw_result_free(settings);
	}
	OK(os_env_set(why, name, NULL));
}

TEST_WITH(scopes_that_windows_lacks_are_refused, usual, NULL)
{
	struct setting_places *places = NULL;

	for (int scope = 0; scope < JW_SCOPES; scope++) {
		const bool lacks = scope == JW_SCOPE_SHELL;

		GIVES(lacks ? JW_ERR_UNSUPPORTED : JW_OK, places_of(why, (enum jw_scope)scope, &places));
		if (!lacks) {
			assert_int_equal(places->count, 0);
			jw_result_free(places);
		}
	}
}

RUN_TESTS(root_make, root_remove)
