/* The grammar of an inventory file (inventory.h). All numbers are little endian.
 *
 *     file      "JWINV" 0 u16 version, then records
 *
 *     record    u32 size of what follows, u64 FNV-1a-64 of the body, body
 *
 *     body      u64 device, inode, size, mtime_ns, changed_ns; u32 day of last use; text path;
 *               u32 images; image…
 *
 *     image     u8 library; text member; u32 views; view…
 *
 *     view      question; u64 containers of each verdict and each reason; u16 ISA major, minor;
 *               u64 × 6 sums; u8 link_needed and fate; u32 modules; module…
 *
 *     question  u32 cuda, release[3]; u16 sm; char stamp[19], NULs where unknown
 *
 *     module    u8 role; u8 form (bit 6: superseded, bit 7: with line information);
 *               u32 statements, divisions, entries; u64 container offset, bytes, entry offset,
 *               payload bytes, key, key bytes, identity
 *
 *     text      u16 length (0xffff: none), bytes
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "plan/analyse.h"

enum {
	RECORD_MOST_IMAGES = 1 << 16,
	RECORD_MOST_VIEWS = 256, /* per image: drivers and GPUs; older ones are forgotten first */
	RECORD_MOST_MODULES = 1 << 22,
	RECORD_MOST_PATH = 0xfffe,
	RECORD_MODULE_SIZE = 70,
};

/* Begins every record. */
struct record_file {
	uint64_t device, inode, size_bytes;
	int64_t mtime_ns, changed_ns;
	uint32_t used_day;
	const char *path; /* in the record, not terminated */
	size_t path_length;
	uint32_t images;
};

struct record_image {
	bool library;
	const char *member; /* likewise; NULL: not in an archive */
	size_t member_length;
	uint32_t views;
};

/* The driver and GPU of a view. */
struct record_question {
	struct jw_driver driver;
	uint16_t sm;
	char stamp[CACHE_STAMP_SIZE];
};

struct record_view {
	struct record_question question;
	struct analyse_target target;
	uint32_t modules;
	struct cursor at; /* its modules */
};

bool record_question_equal(const struct record_question *a, const struct record_question *b);
struct record_question record_question_of(const struct analyse_question *question, size_t target);

/* Readers: false if the record is damaged. */
bool record_read_file(struct cursor *cursor, struct record_file *ret_file);
bool record_read_image(struct cursor *cursor, struct record_image *ret_image);
/* Skips the view's modules too. */
bool record_read_view(struct cursor *cursor, struct record_view *ret_view);
/* One of a view's modules; its target stays 0. */
bool record_read_module(struct cursor *cursor, struct analyse_module *ret_module);

/* Writers. */
int record_write_file(struct jw_error *err, struct buf *buf, const struct record_file *file);
int record_write_image(struct jw_error *err, struct buf *buf, const struct record_image *image);
int record_write_view(struct jw_error *err, struct buf *buf, const struct record_question *question,
					  const struct analyse_target *target, uint32_t modules);
int record_write_module(struct jw_error *err, struct buf *buf, const struct analyse_module *module);
