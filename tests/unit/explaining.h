/* A library of small modules, and entries that drivers make of them. */
#ifndef JW_TESTS_EXPLAINING_H
#define JW_TESTS_EXPLAINING_H

#include "make_devcode.h"

#include <stdio.h>
#include <string.h>

#include "cache/entry.h"
#include "cache/key.h"
#include "folder.h"
#include "plan/build.h"

static const struct cache_profile profile = {.stamp = "Apr  8 202512:10:18",
											 .trust = CACHE_STAMP_CONFIRMED,
											 .driver = {12040, {550, 163, 1}}};
enum { MODULES = 8 };

static inline const char *text_of(char text[256], unsigned number)
{
	(void)snprintf(text, 256,
				   ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k%u()\n{\n"
				   "\tret;\n}\n",
				   number);
	return text;
}

/* A library of MODULES modules without options. */
static inline char *write_library(void)
{
	struct buf data = make_buf(), library = make_buf();
	char *path = os_join(NULL, folder, "lib.so"), text[256];

	for (unsigned i = 0; i < MODULES; i++) {
		const struct write_ptx ptx = {
			.payload = text_of(text, i),
			.payload_size = strlen(text) + 1,
			.isa_major = 7,
			.isa_minor = 8,
			.target = {.sm = 70},
			.options = "",
			.compression = DEVCODE_LZ4,
		};

		assert_int_equal(write_container(NULL, &ptx, &data), 0);
	}
	make_elf(&library, MAKE_ELF_X86_64,
			 &(struct make_section){.name = ".nv_fatbin", data.data, data.size}, 1);
	assert_int_equal(os_write_atomic(NULL, path, library.data, library.size), 0);
	buf_free(&data);
	buf_free(&library);
	return path;
}

/* The entry that a driver makes of a module; `cut` bytes are missing at its end. */
static inline void put_entry(const char *cache, unsigned number, const char *stamp, unsigned sm,
							 const char *options, size_t cut)
{
	static const char value[] = "a cubin";
	char text[256], *path;
	uint8_t header[CACHE_ENTRY_HEADER];
	struct buf key = make_buf(), entry = make_buf();

	assert_int_equal(buf_printf(NULL, &key, "%sHOST64sm_%u%s", stamp, sm, text_of(text, number)),
					 0);
	make_bytes(&key, "\0\0 ", 3);
	make_bytes(&key, options, strlen(options));
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
	char text[256];

	memcpy(other.stamp, stamp, sizeof other.stamp);
	(void)text_of(text, number);
	return cache_key_hash(&other, 86, CACHE_KEY_LOAD, text, strlen(text) + 1, "", 0, NULL);
}

#endif
