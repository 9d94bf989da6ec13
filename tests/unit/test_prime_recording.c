/* Recordings are written, read back, refused, and used to narrow a plan. */
#include "small_modules.h"

#include "base/arena.h"
#include "os/env.h"

#include "prime/recorded_plan.h"
#include "prime/recording.h"

static struct jw_recording *parse(struct jw_error *err, const char *text)
{
	struct jw_recording *recording = NULL;

	return jw_recording_parse(err, text, strlen(text), &recording) ? NULL : recording;
}

/* ---- reading */

TEST(written_text_is_read_back)
{
	static const char text[] =
		"{\"schema\":\"jitwarm.recording/2\",\"command\":\"python3\",\n"
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
		"\"options\":\"\",\"seconds\":0,\"known_before\":false}],\n\"texts\":[]}\n";
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
	OK(recording_format(why, recording, &again));
	assert_string_equal(buf_text(&again), text);
	buf_free(&again);
	jw_result_free(recording);
}

/* ---- texts */

static const char ptx[] =
	".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n";

#define STAMP "Apr  8 202512:10:18"

/* Returns a recording of one module with this text, in which `to` replaces the members `from`. */
static char *with_text(const char *from, const char *to)
{
	const struct cache_profile profile = {.stamp = STAMP, .trust = JW_TRUST_CONFIRMED};
	struct jw_recorded_text text = recording_pack_text(ptx, sizeof ptx);
	uint64_t key, key_bytes;
	char *document, *at, *made;

	key = cache_key_hash(
		profile.stamp,
		&(struct cache_key_input){86, CACHE_KEY_LOAD, ptx, sizeof ptx, "-O4", 3, false},
		&key_bytes);
	document = keep(mem_printf(
		"{\"schema\":\"jitwarm.recording/2\",\"command\":\"python3\",\n"
		"\"driver\":{\"version\":\"550.163.01\",\"cuda\":\"12.4\",\"stamp\":\"" STAMP
		"\"},\n\"files\":[],\n\"modules\":[],\n\"not_in_files\":[\n"
		"{\"form\":\"load\",\"target\":\"sm_86\",\"key\":\"%016llx\",\"key_bytes\":%llu,"
		"\"size_bytes\":%zu,\"options\":\"-O4\",\"text\":0,\"seconds\":0,\"known_before\":false}],"
		"\n"
		"\"texts\":[\n{\"size_bytes\":%zu,\"zstd\":\"%s\"}]}\n",
		(unsigned long long)key, (unsigned long long)key_bytes, sizeof ptx, sizeof ptx, text.zstd));
	mem_free(text.zstd);
	at = from ? strstr(document, from) : NULL;
	if (!from)
		return document;
	assert_non_null(at);
	made = mem_printf("%.*s%s%s", (int)(at - document), document, to, at + strlen(from));
	return made;
}

TEST(texts_are_read_back)
{
	char *text = keep(with_text(NULL, NULL));
	struct jw_recording *recording = parse(NULL, text);
	struct buf again = BUF_MAX(1 << 20), payload = BUF_MAX(1 << 20), key = BUF_MAX(1 << 20);

	assert_non_null(recording);
	assert_true(recording->modules[0].has_text);
	OK(recording_format(why, recording, &again));
	assert_string_equal(buf_text(&again), text);
	OK(recording_unpack_text(why, recording->texts, &payload));
	assert_int_equal(payload.size, sizeof ptx);
	assert_memory_equal(payload.data, ptx, sizeof ptx);
	OK(recording_key(why, recording, recording->modules, ptx, sizeof ptx, &key));
	assert_memory_equal(key.data, STAMP "HOST64sm_86.version 7.8",
						sizeof STAMP "HOST64sm_86.version 7.8" - 1);
	assert_memory_equal(key.data + key.size - 6, "\0\0 -O4", 6);
	/* The text differs from its digest. */
	payload.data[9] = '6';
	assert_int_equal(
		recording_key(NULL, recording, recording->modules, payload.data, payload.size, &key), -1);
	buf_free(&key);
	buf_free(&payload);
	buf_free(&again);
	jw_result_free(recording);
}

TEST(hostile_texts_are_refused)
{
	static const struct {
		const char *from, *to, *message;
	} cases[] = {
		{"\"text\":0", "\"text\":1", "not_in_files 0 is malformed"},
		{"\"text\":0", "\"text\":-1", "not_in_files 0 is malformed"},
		{"\"text\":0", "\"text\":\"0\"", "not_in_files 0 is malformed"},
		{"\"load\"", "\"opencl\"", "not_in_files 0 is malformed"},
		{"\"load\"", "\"nvjitlink\"", "not_in_files 0 is malformed"},
		{"\"target\":\"sm_86\",", "", "not_in_files 0 is malformed"},
		{",\"stamp\":\"" STAMP "\"", "", "not_in_files 0 is malformed"},
		{"\"size_bytes\":", "\"size_bytes\":1", "not_in_files 0 is malformed"},
		{"\"zstd\"", "\"zst\"", "text 0 is malformed"},
		{"{\"size_bytes\":", "{\"size_bytes\":1000000000", "text 0 is malformed"},
		{"-O4", "-v -o /etc/passwd", "not_in_files 0: the options may name files: -o"},
		{"-O4", "-v passwd", "not_in_files 0: the options may name files: passwd"},
		{"-O4", "--options-file=x", "not_in_files 0: the options may name files: --options-file=x"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = keep(with_text(cases[i].from, cases[i].to));

		assert_null(parse(why, text));
		assert_string_equal(why->message, cases[i].message);
	}
}

/* A text that unpacks to more or less than its stated size, or is not a frame, is refused. */
TEST(texts_unpack_to_what_they_say)
{
	static const size_t sizes[] = {sizeof ptx - 1, sizeof ptx + 1, 0, 1 << 20};
	struct buf payload = BUF_MAX(1 << 20);
	struct jw_recorded_text text = recording_pack_text(ptx, sizeof ptx);
	char broken[] = "KLUv/Q==", no_base64[] = "K*";

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		text.size_bytes = sizes[i];
		assert_int_equal(recording_unpack_text(NULL, &text, &payload), -1);
	}
	mem_free(text.zstd);
	assert_int_equal(recording_unpack_text(NULL, &(struct jw_recorded_text){4, broken}, &payload),
					 -1);
	assert_int_equal(
		recording_unpack_text(NULL, &(struct jw_recorded_text){1, no_base64}, &payload), -1);
	buf_free(&payload);
}

/* Empty frames would be read for each module that has the text. */
TEST(texts_are_no_longer_than_they_need_be)
{
	char *text = keep(with_text(NULL, NULL)), *at = strstr(text, "\"zstd\":\"") + 8, *made;
	char *blank = keep(mem_array(1, 4096));
	struct jw_recording *recording;

	memset(blank, 'A', 4095);
	made = keep(mem_printf("%.*s%s%s", (int)(at - text), text, blank, at));
	recording = parse(why, made);
	assert_null(recording);
	assert_string_equal(why->message, "text 0 is malformed");
}

/* A hundred modules share one text that claims 11 MB. */
TEST(texts_are_counted_each_time)
{
	struct buf text = BUF_MAX(1 << 20);

	for (int i = 0; i < 100; i++)
		OK(buf_printf(why, &text,
					  "%s{\"form\":\"load\",\"target\":\"sm_86\",\"key\":\"0000000000000001\","
					  "\"size_bytes\":11000000,\"text\":0}",
					  i ? ","
						: "{\"schema\":\"jitwarm.recording/2\",\"driver\":{\"stamp\":\"" STAMP
						  "\"},\"texts\":[{\"size_bytes\":11000000,\"zstd\":\"KLUv\"}],"
						  "\"not_in_files\":["));
	OK(buf_printf(why, &text, "]}"));
	assert_null(parse(why, buf_text(&text)));
	assert_int_equal(why->code, JW_ERR_LIMIT);
	buf_free(&text);
}

/* ---- narrowing a plan */

static const struct cache_profile there = {
	.stamp = "Jun 25 202401:14:48", .trust = JW_TRUST_CONFIRMED, .driver = {12050, {555, 58, 2}}};
static const struct cache_profile here = {
	.stamp = "Apr  8 202512:10:18", .trust = JW_TRUST_CONFIRMED, .driver = {12040, {550, 163, 1}}};

static struct jw_recorded_module recorded(unsigned number, unsigned sm)
{
	struct jw_recorded_module module = {.target = {.sm = 86}};

	module.key = small_key(&there, number, sm, 86, CACHE_KEY_LOAD, "", &module.key_bytes);
	return module;
}

/* The library has three modules: two are recorded, one of them for the recorded GPU and for others;
 * a third recorded module is in no file. */
TEST(other_drivers_and_gpus_prime_the_same_containers)
{
	const struct jw_target target = {75, 0};
	struct jw_recorded_module modules[] = {recorded(2, 70), recorded(3, 80), recorded(4, 70)};
	char name[] = "lib.so";
	struct jw_recorded_file file = {.path = name};
	struct jw_recording recording = {.driver = there.driver,
									 .files = &file,
									 .file_count = 1,
									 .modules = modules,
									 .module_count = 3};
	struct buf data = make_buf();
	char *path = keep(os_join(folder, "lib.so"));
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
	OK(plan_build(why, &request, &plan));
	assert_int_equal(plan->module_count, 2); /* not for sm_80 */
	OK(recorded_narrow(why, &recording, &request, plan, &account));
	assert_int_equal(plan->module_count, 1);
	(void)small_text(text, 2, 70);
	assert_int_equal(plan->modules[0].key,
					 cache_key_hash(here.stamp,
									&(struct cache_key_input){75, CACHE_KEY_LOAD, text,
															  strlen(text) + 1, "", 0, false},
									NULL));
	assert_int_equal(account.wanted, 3);
	assert_int_equal(account.missing, 1);
	assert_int_equal(account.texts, 0);
	assert_int_equal(plan->troubles, 1);
	assert_int_equal(plan->note_count, 2); /* none for the container without code for this GPU */
	assert_string_equal(plan->notes[0], "lib.so: 1 recorded module is not in the files here");
	assert_string_equal(plan->notes[1], "1 recorded module has nothing to compile on these GPUs");
	plan_free(plan);
	buf_free(&data);
}

/* The recording's text becomes a module for each GPU that its PTX fits, even if a file that is not
 * recorded has it, too. */
TEST(texts_are_planned_for_the_gpus_that_they_fit)
{
	static const struct {
		uint16_t sm;
		struct jw_driver driver;
		size_t modules, unfit, too_new;
	} cases[] = {
		{86, {12040, {550, 163, 1}}, 1, 0, 0},
		{75, {12040, {550, 163, 1}}, 1, 0, 0},
		{61, {12040, {550, 163, 1}}, 0, 1, 0},
		{86, {11070, {515, 105, 1}}, 0, 0, 1},
	};
	char *document = keep(with_text(NULL, NULL)), *path = keep(os_join(folder, "lib.so"));
	struct jw_recording *recording = parse(NULL, document);
	struct jw_found_file library = {.path = path};
	struct buf data = make_buf();

	assert_non_null(recording);
	small_put_text(&data, ptx, 7, 8, 70, "-O4");
	small_put(&data, 1, 70, "");
	small_fatbin_library("lib.so", &data);
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		const struct jw_target target = {cases[i / 2].sm, 0};
		const struct jw_found found = {.files = &library, .file_count = i % 2};
		struct cache_profile profile = here;
		struct plan_request request = {
			.found = &found, .targets = &target, .target_count = 1, .profile = &profile};
		struct recorded_account account;
		struct recorded_keys keys;
		struct plan *plan;

		profile.driver = cases[i / 2].driver;
		recorded_request(recording, &keys, &request);
		OK(plan_build(why, &request, &plan));
		assert_int_equal(plan->unfit, cases[i / 2].unfit);
		assert_int_equal(plan->too_new, cases[i / 2].too_new);
		OK(recorded_narrow(why, recording, &request, plan, &account));
		assert_int_equal(account.texts, 1);
		assert_int_equal(account.unfiled, 0);
		assert_int_equal(plan->module_count, cases[i / 2].modules);
		assert_int_equal(plan->troubles, cases[i / 2].too_new);
		if (plan->module_count)
			assert_int_equal(
				plan->modules[0].key,
				cache_key_hash(here.stamp,
							   &(struct cache_key_input){target.sm, CACHE_KEY_LOAD, ptx, sizeof ptx,
														 "-O4", 3, false},
							   NULL));
		recorded_keys_free(&keys);
		plan_free(plan);
	}
	buf_free(&data);
	jw_result_free(recording);
}

/* The files are below the home, and beside it. */
TEST(paths_are_portable_below_the_home)
{
	static const char *const cases[][2] = {
		{"ann/a.so", "~/a.so"}, {"anna/a.so", NULL}, {"a.so", NULL}};
	char *home = keep(os_join(folder, "ann"));

	OK(os_env_set(why, "HOME", home));
	OK(os_env_set(why, "USERPROFILE", home));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *whole = keep(os_join(folder, cases[i][0]));
		struct jw_recorded_file file = {.path = whole};
		struct jw_recording *recording = arena_open(sizeof *recording);

		*recording = (struct jw_recording){.files = &file, .file_count = 1};
		jw_recording_name_files(recording, NULL);
		assert_string_equal(file.path, cases[i][1] ? cases[i][1] : whole);
		jw_result_free(recording);
	}
}

RUN_TESTS(make_folder, remove_folder)
