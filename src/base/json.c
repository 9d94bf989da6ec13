#include "base/json.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_check.h"
#include "base/mem.h"
#include "base/text.h"

cJSON *json_parse(struct jw_error *err, const char *text, size_t size)
{
	cJSON *document;

	if (size > JSON_MOST_BYTES) {
		error_set(err, JW_ERR_LIMIT, "more than %d bytes of JSON", JSON_MOST_BYTES);
		return NULL;
	}
	if (json_check_text(err, text, size))
		return NULL;
	document = cJSON_ParseWithLength(text, size);
	if (!document)
		error_set(err, JW_ERR_MEMORY, "out of memory");
	else if (json_check_names(err, document)) {
		cJSON_Delete(document);
		document = NULL;
	}
	return document;
}

const char *json_text(const cJSON *object, const char *name, const char *otherwise)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(member) && member->valuestring ? member->valuestring : otherwise;
}

/* isfinite() of mingw-w64 converts to float, which our warnings reject. */
static bool number_is_finite(double number)
{
	return number >= -DBL_MAX && number <= DBL_MAX;
}

double json_number(const cJSON *object, const char *name, double otherwise)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(member) && number_is_finite(member->valuedouble) ? member->valuedouble
																		   : otherwise;
}

bool json_bool(const cJSON *object, const char *name, bool otherwise)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsBool(member) ? cJSON_IsTrue(member) : otherwise;
}

uint64_t json_count(const cJSON *object, const char *name)
{
	double value = json_number(object, name, 0);

	return value > 0 && value <= 9007199254740992.0 ? (uint64_t)value : 0;
}

int json_list_read(struct jw_error *err, const cJSON *object, const struct json_list *list,
				   void **ret_elements, size_t *ret_count)
{
	const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, list->name);
	size_t count = 0;
	char *element;

	if (!cJSON_IsArray(array))
		return error_set(err, JW_ERR_FORMAT, "not a list of %s", list->name);
	for (const cJSON *item = array->child; item; item = item->next)
		if (++count > list->most)
			return error_set(err, JW_ERR_LIMIT, "more than %zu %s", list->most, list->name);
	if (!(element = mem_array(err, count, list->size)))
		return -1;
	*ret_elements = element;
	for (const cJSON *item = array->child; item; item = item->next, element += list->size) {
		++*ret_count;
		if (list->read(err, list->context, item, element))
			return error_prefix(err, "%s[%zu]", list->name, *ret_count - 1);
	}
	return 0;
}

bool json_hex64(const cJSON *object, const char *name, uint64_t *ret_value)
{
	const char *text = json_text(object, name, "");

	if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		return false;
	*ret_value = strtoull(text, NULL, 16);
	return true;
}

int json_add_hex64(struct jw_error *err, cJSON *object, const char *name, uint64_t value)
{
	char text[17];

	(void)snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
	return cJSON_AddStringToObject(object, name, text)
			   ? 0
			   : error_set(err, JW_ERR_MEMORY, "out of memory");
}

cJSON *json_string(struct jw_error *err, const char *text)
{
	struct buf clean = BUF_MAX(JSON_MOST_TEXT);
	cJSON *made = NULL;
	size_t left = strlen(text);
	int result = 0;

	while (!result && left) {
		size_t length = text_utf8_next(text, left, NULL);

		result = length ? buf_append(err, &clean, text, length)
						: buf_append(err, &clean, "\xef\xbf\xbd", 3);
		length = length ? length : 1;
		text += length;
		left -= length;
	}
	if (!result && !(made = cJSON_CreateString(buf_text(&clean))))
		error_set(err, JW_ERR_MEMORY, "out of memory");
	buf_free(&clean);
	return made;
}

int json_add_text(struct jw_error *err, cJSON *object, const char *name, const char *text)
{
	cJSON *made = json_string(err, text);

	if (!made)
		return -1;
	if (cJSON_AddItemToObject(object, name, made))
		return 0;
	cJSON_Delete(made);
	return error_set(err, JW_ERR_MEMORY, "out of memory");
}

enum { ESCAPE = sizeof "\\udb40\\udc41" };

static size_t escape(char to[ESCAPE], uint32_t point)
{
	const unsigned high = 0xd7c0 + (point >> 10), low = 0xdc00 + (point & 0x3ff);

	return (size_t)(point < 0x10000 ? snprintf(to, ESCAPE, "\\u%04x", (unsigned)point)
									: snprintf(to, ESCAPE, "\\u%04x\\u%04x", high, low));
}

/* cJSON has escaped what is below U+0020: the rest of the hidden characters are in texts alone.
 * Returns the size, with `to` NULL of what would be written. */
static size_t escape_hidden(const char *from, size_t size, char *to)
{
	size_t length, written = 0;
	char room[ESCAPE];

	for (size_t at = 0; at < size; at += length) {
		uint32_t point = (uint8_t)from[at];
		const char *next = from + at;
		size_t put;

		length = point < 0x7f ? 1 : text_utf8_next(next, size - at, &point);
		length = put = length ? length : 1;
		if (point >= 0x7f && text_is_hidden(point)) {
			put = escape(room, point);
			next = room;
		}
		if (to)
			memcpy(to + written, next, put);
		written += put;
	}
	return written;
}

char *json_print(struct jw_error *err, const cJSON *document, bool broken)
{
	char *text = broken ? cJSON_Print(document) : cJSON_PrintUnformatted(document), *shown;
	const size_t size = text ? strlen(text) : 0, escaped = escape_hidden(text, size, NULL);

	if (text && escaped == size)
		return text;
	if ((shown = text ? cJSON_malloc(escaped + 1) : NULL))
		shown[escape_hidden(text, size, shown)] = '\0';
	else
		error_set(err, JW_ERR_MEMORY, "out of memory");
	cJSON_free(text);
	return shown;
}

char *json_line(struct jw_error *err, const cJSON *document)
{
	return json_print(err, document, false);
}
