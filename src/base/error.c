#include "base/error.h"

#include <stdarg.h>
#include <string.h>

/* Makes the message one line: control characters from files or the driver become blanks. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
}

int error_fill(struct jw_error *err, enum jw_code code, const char *format, ...)
{
	va_list arguments;

	if (!err)
		return -1;
	err->code = code;
	va_start(arguments, format);
	if (text_vformat(err->message, 0, sizeof err->message, format, arguments) < 0)
		err->message[0] = '\0';
	va_end(arguments);
	make_one_line(err->message);
	return -1;
}

int error_fill_copy(struct jw_error *err, const struct jw_error *why)
{
	if (err && err != why)
		*err = *why;
	return -1;
}

int error_unless_missing(struct jw_error *err, const struct jw_error *why)
{
	return why->code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, why);
}

int error_fill_prefix(struct jw_error *err, const char *format, ...)
{
	char where[sizeof err->message], joined[sizeof err->message];
	va_list arguments;
	int length;

	if (!err)
		return -1;
	va_start(arguments, format);
	length = text_vformat(where, 0, sizeof where, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof where - 2)
		return -1;
	make_one_line(where);
	(void)text_format(joined, sizeof joined, "%s: %s", where, err->message);
	memcpy(err->message, joined, sizeof joined);
	return -1;
}

const char *error_text(const struct jw_error *err)
{
	return err ? err->message : "";
}
