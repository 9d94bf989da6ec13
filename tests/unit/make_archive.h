/* Archives for tests of src/code, made in memory: wheels, .conda, zstd. */
#pragma once

#include "make_devcode.h"

#include <archive.h>
#include <archive_entry.h>
#include <zstd.h>

#include "folder.h"

/* Makes a library with one container in .nv_fatbin and, before it, one in code that does not count.
 * `filler` bytes of other data lie between. */
static inline void make_library(struct buf *file, size_t filler)
{
	struct buf container = make_buf(), text = make_buf(), other = make_buf();

	make_empty_container(&text);
	make_container(&container, DEVCODE_LZ4, "");
	make_zeros(&other, filler);
	for (uint32_t i = 0, random = 7; i < filler; i++) {
		random = random * 1664525 + 1013904223;
		other.data[i] = (uint8_t)(random >> 24);
	}
	{
		const struct make_section sections[] = {
			{.name = ".text", .data = text.data, .size = text.size, .flags = MAKE_EXEC},
			{.name = ".rodata", .data = other.data, .size = other.size},
			{.name = ".nv_fatbin", .data = container.data, .size = container.size},
		};

		make_elf(file, MAKE_ELF_X86_64, sections, 3);
	}
	buf_free(&container);
	buf_free(&text);
	buf_free(&other);
}

/* ---- zip, tar, zstd */

struct packed_file {
	const char *name;
	const struct buf *bytes; /* NULL: a hard link to the first one */
};

static la_ssize_t write_out(struct archive *archive, void *context, const void *data, size_t size)
{
	(void)archive;
	make_bytes(context, data, size);
	return (la_ssize_t)size;
}

static inline void make_archive(struct buf *out, bool tar, const char *options,
								const struct packed_file *files, size_t count)
{
	struct archive *archive = archive_write_new();

	assert_int_equal(tar ? archive_write_set_format_pax_restricted(archive)
						 : archive_write_set_format_zip(archive),
					 ARCHIVE_OK);
	assert_int_equal(archive_write_set_options(archive, options), ARCHIVE_OK);
	(void)archive_write_set_bytes_in_last_block(archive, 1);
	assert_int_equal(archive_write_open(archive, out, NULL, write_out, NULL), ARCHIVE_OK);
	for (size_t i = 0; i < count; i++) {
		struct archive_entry *entry = archive_entry_new();

		archive_entry_set_pathname(entry, files[i].name);
		archive_entry_set_filetype(entry, AE_IFREG);
		archive_entry_set_perm(entry, 0644);
		if (files[i].bytes)
			archive_entry_set_size(entry, (la_int64_t)files[i].bytes->size);
		else
			archive_entry_set_hardlink(entry, files[0].name);
		assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
		if (files[i].bytes)
			assert_int_equal(
				archive_write_data(archive, files[i].bytes->data, files[i].bytes->size),
				(la_ssize_t)files[i].bytes->size);
		archive_entry_free(entry);
	}
	assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
	(void)archive_write_free(archive);
}

static inline void make_zstd(struct buf *out, const struct buf *bytes)
{
	size_t room = ZSTD_compressBound(bytes->size), got;

	OK(buf_reserve(why, out, room));
	got = ZSTD_compress(out->data + out->size, room, bytes->data, bytes->size, 1);
	assert_false(ZSTD_isError(got));
	out->size += got;
}

static inline char *write_file(const char *name, const struct buf *bytes)
{
	char *path = os_join(folder, name);

	OK(os_write_atomic(why, path, bytes->data, bytes->size));
	return path;
}
