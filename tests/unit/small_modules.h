/* Modules of a few lines, each with a different number, and libraries of them in the test's folder.
 * */
#pragma once

#include "cache/profile.h"
#include "make_devcode.h"

#include <stdio.h>
#include <string.h>

#include "cache/key.h"
#include "folder.h"

enum { SMALL_TEXT = 256 };

/* LZ4 keeps the payload unchanged, with its NUL. */
static inline const char *small_text(char text[SMALL_TEXT], unsigned number, unsigned sm)
{
	(void)snprintf(text, SMALL_TEXT,
				   "\n.version 7.8\n.target sm_%u\n.address_size 64\n\n.visible .entry k%u()\n{\n"
				   "\tbra L;\nL:\n\tret;\n}\n",
				   sm, number);
	return text;
}

/* Makes a container with only this PTX. */
static inline void small_put_text(struct buf *data, const char *text, uint16_t isa_major,
								  uint16_t isa_minor, unsigned sm, const char *options)
{
	const struct write_ptx ptx = {
		.payload = text,
		.payload_size = strlen(text) + 1,
		.isa_major = isa_major,
		.isa_minor = isa_minor,
		.target = {.sm = (uint16_t)sm},
		.options = options,
		.compression = DEVCODE_LZ4,
	};

	OK(write_container(why, &ptx, data));
}

/* Makes a container with only that module. */
static inline void small_put(struct buf *data, unsigned number, unsigned sm, const char *options)
{
	char text[SMALL_TEXT];

	small_put_text(data, small_text(text, number, sm), 7, 8, sm, options);
}

/* Returns the name of its entry on a GPU; `ret_bytes` may be NULL. */
static inline uint64_t small_key(const struct cache_profile *profile, unsigned number, unsigned sm,
								 uint16_t device, enum cache_key_form form, const char *options,
								 uint64_t *ret_bytes)
{
	char text[SMALL_TEXT];

	(void)small_text(text, number, sm);
	return cache_key_hash(profile->stamp,
						  &(struct cache_key_input){device, form, text, strlen(text) + 1, options,
													strlen(options), false},
						  ret_bytes);
}

static inline void small_write(const char *name, const struct buf *content)
{
	char *path = keep(os_join(folder, name));

	assert_non_null(path);
	OK(os_write_atomic(why, path, content->data, content->size));
}

/* Writes a library of sections. */
static inline void small_library(const char *name, const struct make_section *sections,
								 size_t count)
{
	struct buf file = make_buf();

	make_elf(&file, MAKE_ELF_X86_64, sections, count);
	small_write(name, &file);
	buf_free(&file);
}

/* Writes a library whose one section of device code has these containers. */
static inline void small_fatbin_library(const char *name, const struct buf *data)
{
	small_library(name, &(struct make_section){.name = ".nv_fatbin", data->data, data->size}, 1);
}
