/* A growing run of bytes with a maximum.
 *
 *     struct buf b = BUF_MAX(1 << 20);
 *     buf_append(err, &b, data, size);  ...  buf_free(&b);
 *
 * `data` always has one NUL after `size` bytes once something was appended: text is a C string */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct buf {
	uint8_t *data; /* NULL while empty and never used */
	size_t size;
	size_t capacity;
	size_t most;     /* maximum of `size` */
	bool overflowed; /* an append since the last buf_clear did not fit, and added nothing */
};

#define BUF_MAX(bytes) ((struct buf){.most = (bytes)})

/* Makes room for `more` bytes after `size`. JW_ERR_LIMIT past the maximum. */
int buf_reserve(struct jw_error *err, struct buf *buf, size_t more);
int buf_append(struct jw_error *err, struct buf *buf, const void *data, size_t size);
int buf_printf(struct jw_error *err, struct buf *buf, const char *format, ...) JW_PRINTF(3, 4);
/* Appends a piece of a text; a piece that does not fit sets `overflowed`, which the caller tests
 * once, at the end. */
void buf_add(struct buf *buf, const char *format, ...) JW_PRINTF(2, 3);
/* The content as a C string; "" while empty. Valid until the next change. */
const char *buf_text(const struct buf *buf);
/* Forgets the content, keeps the memory. */
void buf_clear(struct buf *buf);
void buf_free(struct buf *buf);
