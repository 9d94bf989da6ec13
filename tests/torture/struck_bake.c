/* Machine code in copies of libraries and in wheels (struck_try.h). */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/bake.h>

#include <sodium.h>

#include "entries.h"
#include "files.h"
/* This header must follow those that have parameters with its names. */
#include "make_archive.h"

#include "cache/key.h"
#include "os/env.h"
#include "struck_try.h"

enum { USUAL_EVERY = 23, ROOM = 4096, MAX_KEY = 2048 };

#define LIBRARY "frame/lib.so.1"

static char *now, *cache, *out, *site, *library;
static struct jw_system machine;

/* ---- the state before each call */

static size_t write_text(char text[256], unsigned n)
{
	return (size_t)snprintf(text, 256,
							".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry "
							"k%u()\n{\n\tret;\n}\n",
							n) +
		   1;
}

/* Makes a library with two containers, each with a text and with zeros, which make space when
 * compressed; both twice. */
static void make_code_library(struct buf *file)
{
	static const uint8_t zeros[ROOM];
	static const struct write_cubin roomy = {.cubin = {zeros, sizeof zeros},
											 .target = {.sm = 70},
											 .flags = 0x11,
											 .compression = DEVCODE_RAW};
	struct buf containers = make_buf();
	struct make_section section = {.name = ".nv_fatbin"};

	for (unsigned n = 0; n < 2; n++) {
		char text[256];
		const struct write_ptx ptx = {.payload = text,
									  .payload_size = write_text(text, n),
									  .isa_major = 8,
									  .target = {.sm = 80},
									  .compression = DEVCODE_RAW};
		const size_t start = containers.size;

		OK(write_container(why, &ptx, &containers));
		for (int twice = 0; twice < 2; twice++)
			OK(write_cubin_entry(why, &roomy, &containers));
		store_u64(containers.data + start + 8, containers.size - start - 16);
	}
	section.data = containers.data;
	section.size = containers.size;
	make_elf(file, MAKE_ELF_X86_64, &section, 1);
	buf_free(&containers);
}

/* Makes a text's entry in the cache. */
static void put_entry(unsigned n, uint16_t sm)
{
	uint8_t bytes[CACHE_ENTRY_HEADER + MAX_KEY + ENTRIES_CUBIN];
	char text[256], tail[CACHE_KEY_MAX_TAIL], *key = (char *)bytes + CACHE_ENTRY_HEADER;
	const size_t text_size = write_text(text, n), padded = (text_size + 7) / 8 * 8;
	const size_t tail_size = cache_key_tail(tail, CACHE_KEY_LOAD, "", 0);
	size_t length = (size_t)snprintf(key, MAX_KEY, "%sHOST64sm_%u", machine.driver.stamp, sm);
	uint8_t *value;

	memset(key + length, 0, padded);
	memcpy(key + length, text, text_size);
	length += padded - 1;
	memcpy(key + length, tail, tail_size);
	length += tail_size;
	value = (uint8_t *)key + length;
	entries_cubin(value, sm, false);
	cache_entry_header(bytes, length, ENTRIES_CUBIN, fnv_update(FNV_START, value, ENTRIES_CUBIN));
	files_put_at(cache_entry_path(cache, fnv_update(FNV_START, key, length)), bytes,
				 CACHE_ENTRY_HEADER + length + ENTRIES_CUBIN);
}

static void put_entries(uint16_t sm)
{
	put_entry(0, sm);
	put_entry(1, sm);
}

static void put_library(void)
{
	struct buf file = make_buf();

	put_entries(86);
	make_code_library(&file);
	files_put(site, LIBRARY, file.data, file.size);
	files_put_text(site, "frame/__init__.py", "");
	files_put_text(site, "frame-1.0.dist-info/METADATA", "Name: frame\nVersion: 1.0\n");
	files_put_text(site, "frame-1.0.dist-info/RECORD",
				   "frame/__init__.py,,\nframe/lib.so.1,sha256=x,5\n"
				   "frame/lib.so.2,sha256=x,5\nframe-1.0.dist-info/RECORD,,\n");
	buf_free(&file);
}

static void put_text_into(struct buf *buf, const char *text)
{
	*buf = make_buf();
	make_bytes(buf, text, strlen(text));
}

static void put_row(struct buf *record, const char *name, const struct buf *bytes)
{
	uint8_t sum[crypto_hash_sha256_BYTES];
	char text[64], row[256];

	(void)crypto_hash_sha256(sum, bytes->data, bytes->size);
	(void)sodium_bin2base64(text, sizeof text, sum, sizeof sum,
							sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	make_bytes(record, row,
			   (size_t)snprintf(row, sizeof row, "%s,sha256=%s,%zu\n", name, text, bytes->size));
}

static void put_wheel(void)
{
	struct buf bytes[4] = {make_buf()}, wheel = make_buf();
	const struct packed_file files[] = {{LIBRARY, &bytes[0]},
										{"frame/__init__.py", &bytes[1]},
										{"frame-1.0.dist-info/METADATA", &bytes[2]},
										{"frame-1.0.dist-info/RECORD", &bytes[3]}};

	put_entries(86);
	make_code_library(&bytes[0]);
	put_text_into(&bytes[1], "import os\n");
	put_text_into(&bytes[2], "Metadata-Version: 2.1\nName: frame\nVersion: 1.0\n\n");
	bytes[3] = make_buf();
	put_row(&bytes[3], "frame/__init__.py", &bytes[1]);
	put_row(&bytes[3], LIBRARY, &bytes[0]);
	put_row(&bytes[3], "frame-1.0.dist-info/METADATA", &bytes[2]);
	make_bytes(&bytes[3], "frame-1.0.dist-info/RECORD,,\n", 29);
	make_archive(&wheel, false, "compression=deflate", files, 4);
	files_put(site, "frame-1.0-py3-none-any.whl", wheel.data, wheel.size);
	for (size_t i = 0; i < 4; i++)
		buf_free(&bytes[i]);
	buf_free(&wheel);
}

/* ---- the actions */

static int bake_all(struct jw_error *err, const char *name)
{
	char *path = os_join(site, name);
	const char *const names[] = {path};
	struct jw_find_options wanted = {0};
	struct jw_bake_options options = {0};
	struct jw_found *found = NULL;
	struct jw_bake_result *result = NULL;
	int failed;

	wanted.names = names;
	wanted.name_count = 1;
	options.system = &machine;
	options.output = out;
	failed = jw_find(err, &wanted, &found);
	options.found = found;
	failed = failed || jw_bake(err, &options, &result) ? -1 : 0;
	if (!failed && result->file_count == 1 && result->files[0].failed.code) {
		if (err)
			*err = result->files[0].failed;
		failed = -1;
	} else if (!failed) {
		failed = result->file_count == 1 && result->files[0].baked == 2 ? 0 : STRUCK_NOT_WHOLE;
	}
	jw_result_free(result);
	jw_result_free(found);
	mem_free(path);
	return failed;
}

static int bakes_a_copy(struct jw_error *err)
{
	return bake_all(err, LIBRARY);
}

static int bakes_a_wheel(struct jw_error *err)
{
	return bake_all(err, "frame-1.0-py3-none-any.whl");
}

static const struct struck_scenario scenarios[] = {
	{"bake", put_library, bakes_a_copy, "out", NEXT_TIME},
	{"bake a wheel", put_wheel, bakes_a_wheel, "out", NEXT_TIME},
};

static const struct struck_path paths[] = {
	{&cache, "cache"}, {&out, "out"}, {&site, "site"}, {&library, "site/" LIBRARY}, {NULL, NULL},
};

const struct struck_group struck_bake = {
	&now, paths, &machine, scenarios, sizeof scenarios / sizeof *scenarios, USUAL_EVERY};
