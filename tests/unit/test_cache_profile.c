/* A driver's profile comes from its library's stamp or the table, and a stored profile counts only
 * for its own file. */
#include "caches.h"

#include <stdio.h>

#include <uv.h>

#include <jitwarm/cache.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "cache/key.h"
#include "cache/profile.h"
#include "cache/stamp.h"
#include "code/release.h"
#include "entries.h"
#include "files.h"
#include "folder.h"

TEST(a_stamp_is_found_where_it_is_certain)
{
#define BYTES(text) text, sizeof text - 1
#define RUN         "Jun 25 202401:14"
	static const struct {
		const char *bytes;
		size_t size;
		const char *stamp;
	} cases[] = {
		{BYTES("xx" RUN "xx:48\0x:48\0:13\0"), "Jun 25 202401:14:48"},
		{BYTES(":07\0" RUN), "Jun 25 202401:14:07"},
		{BYTES(RUN ":48\0" RUN), "Jun 25 202401:14:48"},
		{BYTES("Apr  8 202512:10:18\0"), "Apr  8 202512:10:18"},
		{BYTES(RUN ":48\0:13\0"), NULL},
		{BYTES(RUN ":61\0"), NULL},
		{BYTES(RUN), NULL},
		{BYTES(RUN "Jun 26 202401:14:48\0"), NULL},
		{BYTES("Foo 25 202401:14:48\0"), NULL},
		{BYTES("Jun 25 2024 01:14:48\0"), NULL},
		{BYTES("01:14:48\0"), NULL},
		{BYTES(""), NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char stamp[CACHE_STAMP_SIZE + 1] = "untouched";
		int result = stamp_find(
			NULL, &(struct os_map){.data = (const uint8_t *)cases[i].bytes, .size = cases[i].size},
			stamp);

		assert_int_equal(result, cases[i].stamp ? 0 : -1);
		assert_string_equal(stamp, cases[i].stamp ? cases[i].stamp : "untouched");
	}
}

/* Makes an ELF file with one note segment. */
static size_t make_elf(uint8_t file[256], uint32_t id_size)
{
	memset(file, 0, 256);
	memcpy(file,
		   "\x7f"
		   "ELF\2\1\1",
		   7);
	store_u64(file + 32, 64);
	store_u16(file + 52, 64);
	store_u16(file + 54, 56);
	store_u16(file + 56, 1);
	store_u32(file + 64, 4);
	store_u64(file + 72, 128);
	store_u64(file + 96, 16 + (uint64_t)id_size);
	store_u32(file + 128, 4);
	store_u32(file + 132, id_size);
	store_u32(file + 136, 3);
	memcpy(file + 140, "GNU", 4);
	for (uint32_t i = 0; i < id_size && 144 + i < 256; i++)
		file[144 + i] = (uint8_t)(0x10 + i);
	return 256;
}

TEST(a_build_id_is_read)
{
	uint8_t file[256];
	char text[STAMP_BUILD_ID_SIZE];

	assert_string_equal(stamp_build_id(file, make_elf(file, 4), text), "10111213");
	assert_string_equal(stamp_build_id(file, make_elf(file, 0), text), "");
	assert_string_equal(stamp_build_id(file, make_elf(file, 1000), text), "");
	assert_string_equal(stamp_build_id(file, 100, text), "");
	assert_string_equal(stamp_build_id("", 0, text), "");
}

TEST(known_drivers_have_profiles)
{
	struct cache_profile profile;

	for (size_t i = 0; cache_known_driver_at(i); i++) {
		const struct cache_known_driver *known = cache_known_driver_at(i);

		assert_true(jw_stamp_is(known->stamp));
		OK(cache_profile_for_release(why, known->name, &profile));
		assert_string_equal(profile.stamp, known->stamp);
		assert_int_equal(profile.trust, JW_TRUST_TABLE);
		assert_int_equal(profile.driver.cuda, known->cuda);
		assert_memory_equal(profile.driver.release, known->release, sizeof known->release);
	}
	OK(cache_profile_for_release(why, "550.163.01", &profile));
	assert_string_equal(profile.stamp, "Apr  8 202512:10:18");
	assert_int_equal(profile.trust, JW_TRUST_TABLE);
	assert_int_equal(profile.driver.cuda, 12040);
	OK(cache_profile_for_release(why, "12.2", &profile));
	assert_string_equal(profile.stamp, "");
	assert_int_equal(profile.trust, JW_TRUST_NONE);
	GIVES(JW_ERR_USAGE, cache_profile_for_release(why, "nonsense", &profile));
}

static char *write_library(const char *name, const char *bytes, size_t size)
{
	char *path = os_join(folder, name);

	OK(os_write_atomic(why, path, bytes, size));
	return path;
}

TEST(a_profile_is_kept_for_one_file)
{
	static const char bytes[] = RUN ":48\0:48\0";
	struct cache_profile found, kept;
	char *library = keep(write_library("libcuda.so.555.58.99", bytes, sizeof bytes - 1));

	OK(cache_profile_find(why, folder, library, NULL, &found));
	assert_string_equal(found.stamp, "Jun 25 202401:14:48");
	assert_int_equal(found.trust, JW_TRUST_READ);
	assert_int_equal(found.driver.release[2], 99);
	assert_int_equal(found.driver.cuda, 12050);
	found.trust = JW_TRUST_CONFIRMED;
	found.driver.cuda = 12060;
	OK(cache_profile_save(why, folder, &found));
	OK(cache_profile_find(why, folder, library, NULL, &kept));
	assert_memory_equal(&kept, &found, sizeof kept);

	/* It is neither accepted for another library of that size, nor for one of another size; a file
	 * system's clock ticks at 100 Hz. */
	uv_sleep(20);
	mem_free(write_library("libcuda.so.555.58.99", bytes, sizeof bytes - 1));
	OK(cache_profile_find(why, folder, library, NULL, &kept));
	assert_int_equal(kept.trust, JW_TRUST_READ);
	mem_free(write_library("libcuda.so.555.58.99", "other", 5));
	OK(cache_profile_find(why, folder, library, NULL, &kept));
	assert_int_equal(kept.trust, JW_TRUST_NONE);
	assert_string_equal(kept.stamp, "");
}

/* A driver's file is replaced, as on Windows: its stamp is still recognised. */
TEST(a_former_driver_of_the_same_file_is_remembered)
{
	static const char *const stamps[] = {"Jul  1 202401:14:48", "Jul  2 202401:14:48"};
	struct cache_profile profile = {.library = "/lib/nvcuda.dll", .trust = JW_TRUST_READ};

	for (size_t i = 0; i < 2; i++) {
		memcpy(profile.stamp, stamps[i], sizeof profile.stamp);
		OK(cache_profile_save(why, folder, &profile));
	}
	for (size_t i = 0; i < 2; i++) {
		OK(cache_profile_of_stamp(why, folder, stamps[i], &profile));
		assert_string_equal(profile.stamp, stamps[i]);
	}
}

TEST(the_table_confirms_the_stamp_of_the_file)
{
	static const char same[] = RUN ":48\0", other[] = "Jun 26 202401:14:48\0";
	char *library = keep(write_library("libcuda.so.555.58.02", same, sizeof same - 1));
	struct cache_profile profile;

	OK(cache_profile_find(why, NULL, library, NULL, &profile));
	assert_int_equal(profile.trust, JW_TRUST_TABLE);
	mem_free(write_library("libcuda.so.555.58.02", other, sizeof other - 1));
	OK(cache_profile_find(why, NULL, library, NULL, &profile));
	assert_int_equal(profile.trust, JW_TRUST_READ);
	assert_string_equal(profile.stamp, "Jun 26 202401:14:48");
}

/* One path is too long for a profile; another fits. */
TEST(a_long_path_is_no_profile)
{
	enum { ROOM = sizeof((struct cache_profile *)NULL)->library };
	char *deep = mem_string(folder), *next;
	struct cache_profile profile = {.library = "untouched"};

	while (strlen(deep) + 100 < ROOM) {
		next = mem_printf("%s/%099d", deep, 0);
		mem_free(deep);
		deep = next;
	}
	OK(os_make_dirs(why, deep, 0700));
	for (size_t length = ROOM; length >= ROOM - 1; length--) {
		char *path = keep(mem_printf("%s/%0*d", deep, (int)(length - strlen(deep) - 1), 0));

		assert_int_equal(strlen(path), length);
		OK(os_write_atomic(why, path, "x", 1));
		GIVES(length == ROOM ? JW_ERR_LIMIT : JW_OK,
			  cache_profile_find(why, NULL, path, NULL, &profile));
		assert_string_equal(profile.library, length == ROOM ? "untouched" : path);
	}
	mem_free(deep);
	GIVES(JW_ERR_NOT_FOUND, cache_profile_find(why, NULL, "/no/such", NULL, &profile));
}

/* A profile that names this library's path but describes another library is not used. */
TEST(a_profile_is_of_its_library)
{
	char *library = keep(write_library("libcuda.so.3", "x", 1));
	char *path =
		keep(mem_printf("%s/drivers/%016llx.json", folder,
						(unsigned long long)fnv_update(FNV_START, library, strlen(library))));
	struct cache_profile profile;

	OK(cache_profile_find(why, NULL, library, NULL, &profile));
	OK(cache_profile_save(why, folder, &profile));
	OK(cache_profile_of_library(why, folder, library, &profile));
	profile.library[1]++;
	OK(cache_profile_write(why, path, &profile));
	GIVES(JW_ERR_NOT_FOUND, cache_profile_of_library(why, folder, library, &profile));
	/* A file lies in the place of its folder. */
	*why = (struct jw_error){0};
	assert_int_equal(cache_profile_save(why, library, &profile), -1);
	assert_true(why->code != JW_OK);
}

/* The newest driver of its branch is taken; for a driver of unknown release, the newest of its CUDA
 * version. */
TEST(a_like_driver_is_the_newest_of_its_kind)
{
	for (size_t i = 0; cache_known_driver_at(i); i++) {
		const struct cache_known_driver *known = cache_known_driver_at(i);

		for (size_t by_cuda = 0; by_cuda < 2; by_cuda++) {
			struct jw_driver driver = {.cuda = by_cuda ? known->cuda : 1};
			const struct cache_known_driver *like;

			driver.release[0] = by_cuda ? 0 : known->release[0];
			like = cache_known_driver_like(&driver);
			assert_non_null(like);
			assert_true(by_cuda ? like->cuda == known->cuda
								: like->release[0] == known->release[0]);
			assert_true(memcmp(like->release, known->release, sizeof known->release) == 0 ||
						gpu_release_compare(like->release, known->release) > 0);
		}
		assert_ptr_equal(cache_known_driver(known->release), known);
		assert_non_null(jw_cache_driver_of_stamp(known->stamp));
	}
	assert_null(cache_known_driver_like(&(struct jw_driver){.release = {1}}));
	assert_null(cache_known_driver((const uint32_t[]){1, 2, 3}));
	assert_null(jw_cache_driver_of_stamp("Jan  1 200000:00:00"));
}

#define STAMP "Jun 25 202401:14:48"

/* Only an entry that begins with the stamp confirms it. */
TEST(other_entries_confirm_nothing)
{
	static const char bytes[] = RUN ":48\0";
	static const struct {
		const char *key;
		size_t key_bytes, value_bytes, less;
		bool confirms;
	} cases[] = {
		{STAMP "HOST64sm_86x", 31, 4, 0, true},
		{STAMP, 19, 1, 0, true},
		{STAMP, 18, 0, 0, false},
		{"Jun 25 202401:14:47HOST64sm_86x", 31, 4, 0, false},
		{STAMP "HOST64sm_86x", 31, 4, 1, false},
	};
	char *library = keep(write_library("libcuda.so.2", bytes, sizeof bytes - 1));
	char *dir = keep(os_join(folder, "others")), *index = keep(os_join(dir, "index"));

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t file[128] = {0}, rows[32] = {0x41, 0, 0, 0, 1};
		struct cache_profile profile;
		const uint64_t key = fnv_update(FNV_START, cases[i].key, cases[i].key_bytes);

		OK(os_remove_tree(why, dir));
		cache_entry_header(file, cases[i].key_bytes, cases[i].value_bytes, 1);
		memcpy(file + CACHE_ENTRY_HEADER, cases[i].key, cases[i].key_bytes);
		files_put_at(cache_entry_path(dir, key), file,
					 CACHE_ENTRY_HEADER + cases[i].key_bytes + cases[i].value_bytes -
						 cases[i].less);
		store_u64(rows + 16, key);
		OK(os_write_atomic(why, index, rows, sizeof rows));
		OK(cache_profile_find(why, NULL, library, dir, &profile));
		if ((profile.trust == JW_TRUST_CONFIRMED) != cases[i].confirms)
			fail_msg("%zu: %d", i, (int)profile.trust);
	}
}

RUN_TESTS(make_folder, remove_folder)
