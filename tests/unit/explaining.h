/* A library of small modules, and entries that drivers make of them. */
#pragma once

#include "small_modules.h"

#include "cache/entry.h"
#include "entries.h"
#include "plan/build.h"

static const struct cache_profile profile = {.stamp = "Apr  8 202512:10:18",
											 .trust = CACHE_STAMP_CONFIRMED,
											 .driver = {12040, {550, 163, 1}}};
enum { MODULES = 8 };

/* A library of MODULES modules without options. */
static inline char *write_library(void)
{
	struct buf data = make_buf();

	for (unsigned i = 0; i < MODULES; i++)
		small_put(&data, i, 70, "");
	small_fatbin_library("lib.so", &data);
	buf_free(&data);
	return os_join(NULL, folder, "lib.so");
}

/* The entry that a driver makes of a module, without its last `cut` bytes. */
static inline void put_entry(const char *cache, unsigned number, const char *stamp, unsigned sm,
							 const char *options, size_t cut)
{
	uint8_t value[ENTRIES_CUBIN];
	char text[SMALL_TEXT], *path;
	uint8_t header[CACHE_ENTRY_HEADER];
	struct buf key = make_buf(), entry = make_buf();

	assert_int_equal(
		buf_printf(NULL, &key, "%sHOST64sm_%u%s", stamp, sm, small_text(text, number, 70)), 0);
	make_bytes(&key, "\0\0 ", 3);
	make_bytes(&key, options, strlen(options));
	entries_cubin(value, (uint16_t)sm, false);
	cache_entry_header(header, key.size, sizeof value, fnv_update(FNV_START, value, sizeof value));
	make_bytes(&entry, header, sizeof header);
	make_bytes(&entry, key.data, key.size);
	make_bytes(&entry, value, sizeof value);
	path = cache_entry_path(NULL, cache, fnv_update(FNV_START, key.data, key.size));
	path[strlen(path) - 15] = '\0';
	assert_int_equal(os_make_dirs(NULL, path, 0700), 0);
	path[strlen(path)] = '/';
	assert_int_equal(os_write_atomic(NULL, path, entry.data, entry.size - cut), 0);
	mem_free(path);
	buf_free(&key);
	buf_free(&entry);
}

/* A request to plan one library for sm_86; it points into itself. */
struct library_request {
	struct jw_target target;
	struct jw_found_file file;
	struct jw_found found;
	struct plan_request plan;
};

static inline void library_request(struct library_request *request, char *library, char *cache)
{
	*request = (struct library_request){.target = {.sm = 86}, .file = {.path = library}};
	request->found = (struct jw_found){.files = &request->file, .file_count = 1};
	request->plan = (struct plan_request){.found = &request->found,
										  .targets = &request->target,
										  .target_count = 1,
										  .profile = &profile,
										  .cache_dir = cache};
}

static inline struct plan *plan_for(const struct plan_request *request, const char *stamp)
{
	struct cache_profile other = profile;
	struct plan_request copy = *request;
	struct plan *plan;

	memcpy(other.stamp, stamp, sizeof other.stamp);
	copy.profile = &other;
	assert_int_equal(plan_build(NULL, &copy, &plan), 0);
	return plan;
}

static inline uint64_t key_of(unsigned number, const char *stamp)
{
	struct cache_profile other = profile;

	memcpy(other.stamp, stamp, sizeof other.stamp);
	return small_key(&other, number, 70, 86, CACHE_KEY_LOAD, "", NULL);
}
