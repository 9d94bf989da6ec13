#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

int buf_reserve(struct jw_error *err, struct buf *buf, size_t more)
{
	size_t needed, wanted;

	if (more > buf->most || buf->size > buf->most - more) {
		buf->overflowed = true;
		return error_set(err, JW_ERR_LIMIT, "more than %zu bytes", buf->most);
	}
	/* One more byte, and half as much again, have a length, too. */
	if (buf->size + more > SIZE_MAX / 2)
		mem_ended(SIZE_MAX);
	needed = buf->size + more + 1;
	if (needed <= buf->capacity)
		return 0;
	wanted = buf->capacity + buf->capacity / 2;
	if (wanted < needed)
		wanted = needed;
	if (wanted - 1 > buf->most)
		wanted = buf->most + 1;
	buf->data = mem_resize(buf->data, wanted);
	buf->capacity = wanted;
	return 0;
}

int buf_append(struct jw_error *err, struct buf *buf, const void *data, size_t size)
{
	if (buf_reserve(err, buf, size))
		return -1;
	if (size)
		memcpy(buf->data + buf->size, data, size);
	buf->size += size;
	buf->data[buf->size] = 0;
	return 0;
}

static int print_into(struct jw_error *err, struct buf *buf, const char *format, va_list arguments)
	JW_PRINTF(3, 0);
static int print_into(struct jw_error *err, struct buf *buf, const char *format, va_list arguments)
{
	va_list again;
	int length, result = -1;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, arguments);
	if (length < 0) {
		error_set(err, JW_ERR_USAGE, "text cannot be formatted");
	} else if (!buf_reserve(err, buf, (size_t)length)) {
		(void)text_vformat((char *)buf->data, buf->size, buf->capacity, format, again);
		buf->size += (size_t)length;
		result = 0;
	}
	va_end(again);
	return result;
}

int buf_printf(struct jw_error *err, struct buf *buf, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = print_into(err, buf, format, arguments);
	va_end(arguments);
	return result;
}

void buf_add(struct buf *buf, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)print_into(NULL, buf, format, arguments);
	va_end(arguments);
}

const char *buf_text(const struct buf *buf)
{
	return buf->data && buf->size ? (const char *)buf->data : "";
}

void buf_clear(struct buf *buf)
{
	buf->size = 0;
	buf->overflowed = false;
	if (buf->data)
		buf->data[0] = 0;
}

void buf_free(struct buf *buf)
{
	mem_free(buf->data);
	*buf = (struct buf){.most = buf->most};
}
