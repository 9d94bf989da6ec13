/* Recordings: written, read again, refused, and narrowing a plan. */
#include "small_modules.h"

#include "prime/recorded_plan.h"
#include "record/recording.h"

static struct jw_recording *parse(struct jw_error *err, const char *text)
{
	struct jw_recording *recording = NULL;

	return jw_recording_parse(err, text, strlen(text), &recording) ? NULL : recording;
}

/* ---- reading */

TEST(written_text_is_read_back)
{
	static const char text[] =
		"{\"schema\":\"jitwarm.recording/1\",\"command\":\"python3\",\n"
		"\"driver\":{\"version\":\"550.163.01\",\"cuda\":\"12.4\",\"stamp\":\"Apr  8 "
		"202512:10:18\"},\n\"files\":[\n"
		"{\"path\":\"torch/lib/a.so\",\"package\":\"torch\",\"version\":\"1.4\",\"size_bytes\":12},"
		"\n{\"path\":\"~/b.whl\",\"member\":\"c.so\",\"size_bytes\":13}],\n\"modules\":[\n"
		"{\"file\":1,\"form\":\"link\",\"target\":\"sm_86\",\"key\":\"00000000000000ff\",\"key_"
		"bytes\":99,\"container\":64,\"offset\":80,\"size_bytes\":50,\"blake2b_256\":"
		"\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\"options\":\" "
		"-lineinfo\",\"seconds\":1.25,\"known_before\":false}],\n"
		"\"not_in_files\":[\n"
		"{\"form\":\"load\",\"target\":\"sm_90\",\"key\":\"fedcba9876543210\",\"key_bytes\":1,"
		"\"size_bytes\":2,\"options\":\"\",\"producer\":\"LLVM\",\"seconds\":0,"
		"\"known_before\":true},\n"
		"{\"form\":\"other\",\"key\":\"0000000000000001\",\"key_bytes\":1,\"size_bytes\":0,"
		"\"options\":\"\",\"seconds\":0,\"known_before\":false}]}\n";
	struct jw_recording *recording = parse(NULL, text);
	struct buf again = BUF_MAX(1 << 20);

	assert_non_null(recording);
	assert_int_equal(recording->driver.release[1], 163);
	assert_int_equal(recording->file_count, 2);
	assert_string_equal(recording->files[1].member, "c.so");
	assert_null(recording->files[1].package);
	assert_int_equal(recording->module_count, 3);
	assert_int_equal(recording->modules[0].file, 1);
	assert_int_equal(recording->modules[0].kind, JW_RECORDED_LINK);
	assert_int_equal(recording->modules[0].key, 0xff);
	assert_int_equal(recording->modules[1].file, JW_RECORDED_NO_FILE);
	assert_int_equal(recording->modules[1].target.sm, 90);
	assert_true(recording->modules[1].known_before);
	assert_int_equal(recording_format(NULL, recording, &again), 0);
	assert_string_equal(buf_text(&again), text);
	buf_free(&again);
	jw_recording_free(recording);
}

/* ---- narrowing a plan */

static const struct cache_profile there = {.stamp = "Jun 25 202401:14:48",
										   .trust = CACHE_STAMP_CONFIRMED,
										   .driver = {12050, {555, 58, 2}}};
static const struct cache_profile here = {.stamp = "Apr  8 202512:10:18",
										  .trust = CACHE_STAMP_CONFIRMED,
										  .driver = {12040, {550, 163, 1}}};

static struct jw_recorded_module recorded(unsigned number, unsigned sm)
{
	struct jw_recorded_module module = {.target = {.sm = 86}};

	module.key = small_key(&there, number, sm, 86, CACHE_KEY_LOAD, "", &module.key_bytes);
	return module;
}

/* A library of three modules: two are recorded, one of them for the recorded GPU and others; a
 * third recorded module is in no file. */
TEST(other_drivers_and_gpus_prime_the_same_containers)
{
	const struct jw_target target = {75, 0};
	struct jw_recorded_module modules[] = {recorded(2, 70), recorded(3, 80), recorded(4, 70)};
	struct jw_recorded_file file = {0};
	struct jw_recording recording = {.driver = there.driver,
									 .files = &file,
									 .file_count = 1,
									 .modules = modules,
									 .module_count = 3};
	struct buf data = make_buf();
	char *path = os_join(folder, "lib.so");
	struct jw_found_file library = {.path = path};
	const struct jw_found found = {.files = &library, .file_count = 1};
	const struct plan_request request = {.found = &found,
										 .targets = &target,
										 .target_count = 1,
										 .profile = &here,
										 .everything = true};
	struct recorded_account account;
	struct plan *plan;
	char text[256];

	memcpy(recording.stamp, there.stamp, sizeof recording.stamp);
	small_put(&data, 1, 70, "");
	small_put(&data, 2, 70, "");
	small_put(&data, 3, 80, "");
	small_fatbin_library("lib.so", &data);
	assert_int_equal(plan_build(NULL, &request, &plan), 0);
	assert_int_equal(plan->module_count, 2); /* not for sm_80 */
	assert_int_equal(recorded_narrow(NULL, &recording, &request, plan, &account), 0);
	assert_int_equal(plan->module_count, 1);
	(void)small_text(text, 2, 70);
	assert_int_equal(plan->modules[0].key,
					 cache_key_hash(&here,
									&(struct cache_key_input){75, CACHE_KEY_LOAD, text,
															  strlen(text) + 1, "", 0, false},
									NULL));
	assert_int_equal(account.wanted, 3);
	assert_int_equal(account.missing, 1);
	assert_int_equal(account.missing_by_file[0], 1);
	assert_int_equal(account.idle, 1);
	mem_free(account.missing_by_file);
	plan_free(plan);
	buf_free(&data);
	mem_free(path);
}

RUN_TESTS(make_folder, remove_folder)
