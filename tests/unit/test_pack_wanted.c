/* An export chooses entries by the names that the files' modules have. */
#include "make_devcode.h"

#include <stdio.h>

#include "folder.h"

#include <jitwarm/find.h>

#include "cache/key.h"
#include "files.h"
#include "pack/gather.h"

static struct jw_gpu gpu = {.name = "GPU", .target = {.sm = 86}};
static const char *const payloads[] = {".version 8.0\n.target sm_80\n.entry a() { ret; }",
									   ".version 8.0\n.target sm_80\n.entry bb() { ret; }"};
static struct jw_system system_of;
static char *library;
static const char *path;

static int begin(void **state)
{
	struct buf code = make_buf(), elf = make_buf();
	struct make_section section = {.name = ".nv_fatbin"};

	if (make_folder(state))
		return -1;
	system_of = (struct jw_system){.gpus = &gpu, .gpu_count = 1};
	(void)snprintf(system_of.driver.stamp, sizeof system_of.driver.stamp, "Jun 25 202401:14:48");
	system_of.driver.version = (struct jw_driver){12050, {555, 58, 2}};
	for (size_t i = 0; i < 2; i++) {
		const struct write_ptx ptx = {.payload = payloads[i],
									  .payload_size = strlen(payloads[i]),
									  .isa_major = 8,
									  .target = {.sm = 80},
									  .compression = DEVCODE_LZ4};

		OK(write_container(why, &ptx, &code));
	}
	section.data = code.data;
	section.size = code.size;
	make_elf(&elf, MAKE_ELF_X86_64, &section, 1);
	files_put(folder, "libframe.so", elf.data, elf.size);
	path = library = keep(os_join(folder, "libframe.so"));
	buf_free(&code);
	buf_free(&elf);
	return 0;
}

static uint64_t key(const char *payload, uint16_t sm)
{
	const struct cache_profile profile = {.stamp = "Jun 25 202401:14:48"};

	return cache_key_hash(
		profile.stamp,
		&(struct cache_key_input){sm, CACHE_KEY_LOAD, payload, strlen(payload), "", 0, false},
		NULL);
}

static int wanted(struct jw_error *err, const struct jw_target *targets, size_t count,
				  struct wanted_entries *ret_wanted)
{
	const struct jw_export_options options = {.system = &system_of,
											  .paths = &path,
											  .path_count = 1,
											  .targets = targets,
											  .target_count = count};

	return wanted_of_paths(err, &options, ret_wanted);
}

/* Files that jw_find has found are used as they are. */
TEST(they_are_those_of_found_files)
{
	struct jw_found_file file = {.path = library};
	struct jw_found found = {.files = &file, .file_count = 1};
	struct jw_export_options options = {
		.system = &system_of, .cache_dir = folder, .output = "none", .found = &found};
	struct jw_export_result result = {0};
	struct wanted_entries entries = {0};

	OK(wanted_of_paths(why, &options, &entries));
	assert_int_equal(entries.keys.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(set_has(&entries.keys, key(payloads[i], 86)));
	wanted_free(&entries);
	found.file_count = 0;
	GIVES(JW_ERR_UNSUPPORTED, jw_export(why, &options, &result));
	assert_string_equal(why->message, "the named files and packages have no device code");
}

/* Without a driver, or without a GPU, there are no names. */
TEST(without_a_driver_or_a_gpu_there_are_none)
{
	const struct jw_export_options none = {.paths = &path, .path_count = 1};
	const struct jw_system whole = system_of;
	struct wanted_entries entries = {.keys.count = 7};

	for (int lack = 0; lack < 3; lack++) {
		if (lack == 1)
			system_of.driver.stamp[0] = '\0';
		if (lack == 2)
			system_of.gpu_count = 0;
		GIVES(JW_ERR_USAGE,
			  lack ? wanted(why, NULL, 0, &entries) : wanted_of_paths(why, &none, &entries));
		assert_non_null(strstr(why->message, lack == 2 ? "--arch" : "a machine with a driver"));
		assert_int_equal(entries.keys.count, 7);
		system_of = whole;
	}
}

static bool at_once(void *context)
{
	(void)context;
	return true;
}

/* A search that ended early gives no answer. */
TEST(an_end_is_an_error)
{
	const struct jw_export_options options = {
		.system = &system_of, .paths = &path, .path_count = 1, .cancel.is_cancelled = at_once};
	struct wanted_entries entries = {.keys.count = 7};

	GIVES(JW_ERR_INTERRUPTED, wanted_of_paths(why, &options, &entries));
	assert_int_equal(entries.keys.count, 7);
}

RUN_TESTS(begin, remove_folder)
