#include "base/json.h"

#include <cjson/cJSON.h>
#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"

/* cJSON accepts a little more than JSON, such as 01, and ends a text at an escaped NUL. This file
 * checks what the code relies on. */
enum {
	FEW = 8, /* up to this many members are compared pairwise */
	/* cJSON allocates 80 bytes for each value, also for the two of “0,”. */
	MAX_SHORT = 1 << 20,
	SHORT_BYTES = 8,
};

/* Checks before parsing that the text is UTF-8 without a NUL, also an escaped one, and does not
 * have too many values. */
static int check_text(struct jw_error *err, const char *text, size_t size)
{
	size_t values = 1, length;
	bool quoted = false;

	for (size_t at = 0; at < size; at += length) {
		length = text_utf8_next(text + at, size - at, NULL);
		if (!length || !text[at])
			return error_set(err, JW_ERR_FORMAT, "not JSON at byte %zu", at);
		if (text[at] == '"')
			quoted = !quoted;
		else if (quoted && size - at >= strlen("\\u0000") && text_starts(text + at, "\\u0000"))
			return error_set(err, JW_ERR_FORMAT, "a NUL in a text of JSON at byte %zu", at);
		else if (quoted && text[at] == '\\')
			length = 2;
		else if (!quoted && strchr(",:[{", text[at]))
			values++;
	}
	if (values > MAX_SHORT && values > size / SHORT_BYTES)
		return error_set(err, JW_ERR_LIMIT, "too many values: %zu in %zu bytes of JSON", values,
						 size);
	return 0;
}

static bool has_pair(const cJSON *object)
{
	for (const cJSON *one = object->child; one; one = one->next)
		for (const cJSON *other = object->child; other != one; other = other->next)
			if (!strcmp(one->string, other->string))
				return true;
	return false;
}

/* FNV-1a collisions can be constructed; such a pair counts as one name. */
static bool has_pair_of_many(const cJSON *object)
{
	struct set names = {0};
	bool twice = false;

	for (const cJSON *one = object->child; !twice && one; one = one->next) {
		const uint64_t hash = fnv_update(FNV_START, one->string, strlen(one->string));

		twice = set_has(&names, hash);
		set_add(&names, hash, 0);
	}
	set_free(&names);
	return twice;
}

/* Checks after parsing that no object has a name twice. */
static int json_check_names(struct jw_error *err, const cJSON *value)
{
	if (cJSON_IsObject(value) &&
		(cJSON_GetArraySize(value) <= FEW ? has_pair(value) : has_pair_of_many(value)))
		return error_set(err, JW_ERR_FORMAT, "not JSON: an object has a member twice");
	for (const cJSON *item = value->child; item; item = item->next)
		if (item->child && json_check_names(err, item))
			return -1;
	return 0;
}

cJSON *json_parse(struct jw_error *err, const char *text, size_t size)
{
	const char *end = text;
	cJSON *document;

	if (size > JSON_MAX_BYTES) {
		error_set(err, JW_ERR_LIMIT, "more than %d bytes of JSON", JSON_MAX_BYTES);
		return NULL;
	}
	if (check_text(err, text, size))
		return NULL;
	document = cJSON_ParseWithLengthOpts(text, size, &end, false);
	while (document && end < text + size && strchr(" \t\n\r", *end))
		end++;
	if (!document || end < text + size)
		error_set(err, JW_ERR_FORMAT, "not JSON at byte %zu", (size_t)(end - text));
	else if (!json_check_names(err, document))
		return document;
	cJSON_Delete(document);
	return NULL;
}

const char *json_text(const cJSON *object, const char *name, const char *otherwise)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(member) && member->valuestring ? member->valuestring : otherwise;
}

double json_number(const cJSON *object, const char *name, double otherwise)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	/* isfinite() of mingw-w64 converts to float, which our warnings reject. */
	if (cJSON_IsNumber(member) && member->valuedouble >= -DBL_MAX && member->valuedouble <= DBL_MAX)
		return member->valuedouble;
	return otherwise;
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
	*ret_elements = element = mem_array(count, list->size);
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

cJSON *json_string(const char *text)
{
	struct buf clean = BUF_MAX(SIZE_MAX / 4);
	size_t left = text ? strlen(text) : 0;
	cJSON *made;

	if (!text)
		return cJSON_CreateNull();
	while (left) {
		size_t length = text_utf8_next(text, left, NULL);

		(void)buf_append(NULL, &clean, length ? text : "\xef\xbf\xbd", length ? length : 3);
		length = length ? length : 1;
		text += length;
		left -= length;
	}
	made = cJSON_CreateString(buf_text(&clean));
	buf_free(&clean);
	return made;
}

void json_add_text(cJSON *object, const char *name, const char *text)
{
	(void)cJSON_AddItemToObject(object, name, json_string(text));
}

cJSON *json_path(const char *path)
{
	const size_t length = strlen(path);
	cJSON *object;
	char *hex;

	if (text_is_utf8(path, length))
		return json_string(path);
	object = cJSON_CreateObject();
	hex = mem_array(2 * length + 1, 1);
	(void)sodium_bin2hex(hex, 2 * length + 1, (const uint8_t *)path, length);
	json_add_text(object, "hex", hex);
	mem_free(hex);
	return object;
}

enum { ESCAPE = sizeof "\\udb40\\udc41" };

static size_t escape(char to[ESCAPE], uint32_t point)
{
	const unsigned high = 0xd7c0 + (point >> 10), low = 0xdc00 + (point & 0x3ff);

	return (size_t)(point < 0x10000 ? snprintf(to, ESCAPE, "\\u%04x", (unsigned)point)
									: snprintf(to, ESCAPE, "\\u%04x\\u%04x", high, low));
}

/* Escapes hidden characters, which only texts contain; cJSON has already escaped those below
 * U+0020. Returns the size of the result, and writes nothing if `to` is NULL. */
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

/* Escapes the hidden characters of cJSON's output and frees it. A NULL `text` stands for a document
 * that cJSON cannot print. */
static char *escaped_text(char *text)
{
	size_t size, escaped;
	char *shown;

	if (!text)
		mem_ended(0);
	size = strlen(text);
	escaped = escape_hidden(text, size, NULL);
	if (escaped == size)
		return text;
	shown = cJSON_malloc(escaped + 1);
	shown[escape_hidden(text, size, shown)] = '\0';
	cJSON_free(text);
	return shown;
}

char *json_lines(const cJSON *document)
{
	return escaped_text(cJSON_Print(document));
}

char *json_line(const cJSON *document)
{
	return escaped_text(cJSON_PrintUnformatted(document));
}
