#include "base/json_table.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include <jitwarm/error.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"

static cJSON *item_of(const struct json_field *field, const uint8_t *values);

static uint64_t unsigned_at(const void *at, size_t width)
{
	switch (width) {
	case sizeof(uint16_t): return *(const uint16_t *)at;
	case sizeof(uint32_t): return *(const uint32_t *)at;
	case sizeof(uint64_t): return *(const uint64_t *)at;
	default: return *(const uint8_t *)at;
	}
}

static int64_t signed_at(const void *at, size_t width)
{
	const unsigned unused = 64 - 8 * (unsigned)width;

	return (int64_t)(unsigned_at(at, width) << unused) >> unused;
}

static const void *pointer_at(const void *at)
{
	return *(const void *const *)at;
}

const char *json_name_of(const struct json_field *field)
{
	const char *dot = strrchr(field->name, '.');

	return dot ? dot + 1 : field->name;
}

/* Returns whether the member on which this one depends is set. */
static bool is_field_wanted(const struct json_field *field, const uint8_t *values)
{
	const char *at = (const char *)values + field->when_offset, *text;

	switch ((int)field->when_kind) {
	case JSON_CHARS: return *at;
	case JSON_TEXT: return (text = pointer_at(at)) && *text;
	default: return unsigned_at(at, field->when_width);
	}
}

static cJSON *array_of(const struct json_field *field, const uint8_t *values)
{
	const bool inside = field->kind == JSON_INSIDE, lines = field->kind == JSON_LINES;
	const uint8_t *at = inside ? values + field->offset : pointer_at(values + field->offset);
	const size_t count = (size_t)unsigned_at(values + field->count, sizeof count);
	const size_t size = inside ? field->width : lines ? sizeof(char *) : field->table->size;
	cJSON *array = field->kind == JSON_MAP ? cJSON_CreateObject() : cJSON_CreateArray();

	for (size_t i = 0; i < count; i++, at += size) {
		if (field->presence == JSON_EACH && !is_field_wanted(field, at))
			continue;
		if (field->kind == JSON_MAP) {
			cJSON *key = item_of(&field->table->fields[0], at);

			(void)cJSON_AddItemToObject(array, key->valuestring,
										item_of(&field->table->fields[1], at));
			cJSON_Delete(key);
		} else {
			(void)cJSON_AddItemToArray(array, lines          ? json_string(pointer_at(at))
											  : field->table ? json_object(field->table, at)
															 : json_string((const char *)at));
		}
	}
	return array;
}

static cJSON *item_of(const struct json_field *field, const uint8_t *values)
{
	const uint8_t *at = values + field->offset;
	const cJSON *ready;
	char room[JSON_ROOM];
	uint64_t number;

	switch ((int)field->kind) {
	case JSON_BOOL: return cJSON_CreateBool(*at);
	case JSON_SIGNED: return cJSON_CreateNumber((double)signed_at(at, field->width));
	case JSON_DOUBLE: return cJSON_CreateNumber(*(const double *)(const void *)at);
	case JSON_NUMBER: return cJSON_CreateNumber(field->number(at));
	case JSON_CHARS: return json_string((const char *)at);
	case JSON_PATH: return json_path((const char *)at);
	case JSON_HEX:
		number = unsigned_at(at, sizeof number);
		(void)snprintf(room, sizeof room, "%016llx", (unsigned long long)number);
		return cJSON_CreateString(room);
	case JSON_TEXT: return json_string(pointer_at(at));
	case JSON_FORMAT: return json_string(field->format(room, at));
	case JSON_OBJECT:
		at = field->pointer ? pointer_at(at) : at;
		return at ? json_object(field->table, at) : cJSON_CreateNull();
	case JSON_LIST:
	case JSON_LINES:
	case JSON_INSIDE:
	case JSON_MAP: return array_of(field, values);
	case JSON_READY:
		ready = pointer_at(at);
		return ready ? cJSON_CreateArrayReference(ready->child) : cJSON_CreateNull();
	default:
		number = unsigned_at(at, field->width);
		if (field->names)
			return cJSON_CreateString(field->names[number]);
		if (field->kind != JSON_MAYBE)
			return cJSON_CreateNumber((double)number);
		return number > 1 ? cJSON_CreateNull() : cJSON_CreateBool(number == 1);
	}
}

static bool is_value_set(const cJSON *item)
{
	return cJSON_IsTrue(item) || item->child || (cJSON_IsString(item) && *item->valuestring) ||
		   (cJSON_IsNumber(item) && item->valuedouble != 0);
}

static void put_fields(cJSON *object, const struct json_table *table, const uint8_t *values)
{
	for (const struct json_field *field = table->fields; field->kind; field++) {
		const uint8_t *at = values + field->offset;
		cJSON *item;

		if (field->presence == JSON_WHEN && !is_field_wanted(field, values))
			continue;
		if (field->kind == JSON_MEMBERS) {
			put_fields(object, field->table, field->pointer ? pointer_at(at) : at);
			continue;
		}
		item = item_of(field, values);
		if ((field->presence == JSON_UNLESS_NULL && cJSON_IsNull(item)) ||
			(field->presence == JSON_IF_SET && !is_value_set(item)))
			cJSON_Delete(item);
		else
			(void)cJSON_AddItemToObject(object, json_name_of(field), item);
	}
}

cJSON *json_object(const struct json_table *table, const void *values)
{
	cJSON *object = cJSON_CreateObject();

	if (table && table->schema)
		json_add_text(object, "schema", table->schema);
	if (table)
		put_fields(object, table, values);
	return object;
}

char *json_object_line(const struct json_table *table, const void *values)
{
	cJSON *object = json_object(table, values);
	char *line = json_line(object);

	cJSON_Delete(object);
	return line;
}

/* ---- reading */

static int malformed_field(struct jw_error *err, const struct json_field *field)
{
	return error_set(err, JW_ERR_FORMAT, "its “%s” is malformed", json_name_of(field));
}

static void put_json_number(uint8_t *at, size_t width, uint64_t number)
{
	switch (width) {
	case sizeof(uint16_t): *(uint16_t *)(void *)at = (uint16_t)number; break;
	case sizeof(uint32_t): *(uint32_t *)(void *)at = (uint32_t)number; break;
	case sizeof(uint64_t): *(uint64_t *)(void *)at = number; break;
	default: *at = (uint8_t)number;
	}
}

/* Reads a name of an enum, or a whole number; a number that does not fit its member becomes 0. */
static int take_whole(struct jw_error *err, const struct json_field *field, const cJSON *object,
					  uint8_t *at)
{
	const unsigned bits = 8 * (unsigned)field->width - (field->kind == JSON_SIGNED);
	const double number = json_number(object, json_name_of(field), 0);
	const char *name = json_text(object, json_name_of(field), "");
	size_t i = 0;

	if (field->names) {
		while (field->names[i] && strcmp(field->names[i], name) != 0)
			i++;
		if (!field->names[i])
			return malformed_field(err, field);
		put_json_number(at, field->width, i);
	} else if (number >= 0) {
		const uint64_t count = json_count(object, json_name_of(field));

		put_json_number(at, field->width, bits < 64 && count >> bits ? 0 : count);
	} else if (field->kind == JSON_SIGNED && number > -9007199254740992.0 &&
			   number >= -(double)(UINT64_C(1) << bits)) {
		put_json_number(at, field->width, (uint64_t)(int64_t)number);
	}
	return 0;
}

static int take_json_path(struct jw_error *err, const struct json_field *field, const cJSON *item,
						  char *path)
{
	const char *text = cJSON_IsString(item) ? item->valuestring : "",
			   *hex = json_text(item, "hex", NULL);
	size_t length = strlen(text);

	if (hex ? sodium_hex2bin((uint8_t *)path, field->width - 1, hex, strlen(hex), NULL, &length,
							 NULL)
			: length >= field->width)
		return malformed_field(err, field);
	if (!hex)
		memcpy(path, text, length);
	path[length] = '\0';
	return strlen(path) == length ? 0 : malformed_field(err, field);
}

static int take_array(struct jw_error *err, void *owner, const struct json_field *field,
					  const cJSON *item, uint8_t *values)
{
	const bool lines = field->kind == JSON_LINES;
	const size_t count = cJSON_IsArray(item) ? (size_t)cJSON_GetArraySize(item) : 0;
	size_t *taken = (size_t *)(void *)(values + field->count);
	uint8_t *at = values + field->offset;
	const cJSON *element;

	if (count > field->most || (!lines && !cJSON_IsArray(item)))
		return malformed_field(err, field);
	if (lines && count) {
		char **room = arena_array(owner, count, sizeof *room);

		*(char ***)(void *)at = room;
		at = (uint8_t *)room;
	}
	cJSON_ArrayForEach(element, item)
	{
		if (lines)
			*(char **)(void *)at =
				arena_string(owner, cJSON_IsString(element) ? element->valuestring : "");
		else if (json_take(err, owner, element, field->table, at))
			return -1;
		at += lines ? sizeof(char *) : field->width;
		++*taken;
	}
	return 0;
}

static int take_json_field(struct jw_error *err, void *owner, const cJSON *object,
						   const struct json_field *field, uint8_t *values)
{
	const char *name = json_name_of(field), *text = json_text(object, name, "");
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
	uint8_t *at = values + field->offset;

	switch ((int)field->kind) {
	case JSON_BOOL: *at = cJSON_IsTrue(item) != 0; return 0;
	case JSON_UNSIGNED:
	case JSON_SIGNED: return take_whole(err, field, object, at);
	case JSON_DOUBLE: *(double *)(void *)at = json_number(object, name, 0); return 0;
	case JSON_CHARS: text_copy((char *)at, field->width, text); return 0;
	case JSON_PATH: return take_json_path(err, field, item, (char *)at);
	case JSON_HEX:
		return json_hex64(object, name, (uint64_t *)(void *)at) ? 0 : malformed_field(err, field);
	case JSON_TEXT: *(char **)(void *)at = *text ? arena_string(owner, text) : NULL; return 0;
	case JSON_LINES: return take_array(err, owner, field, item, values);
	case JSON_INSIDE: return field->table ? take_array(err, owner, field, item, values) : 0;
	case JSON_MEMBERS:
		return json_take(err, owner, object, field->table,
						 field->pointer ? *(void **)(void *)at : (void *)at);
	default: return 0;
	}
}

int json_take(struct jw_error *err, void *owner, const cJSON *object,
			  const struct json_table *table, void *values)
{
	if (table->schema && strcmp(json_text(object, "schema", ""), table->schema) != 0)
		return error_set(err, JW_ERR_FORMAT, "is not a document “%s”", table->schema);
	for (const struct json_field *field = table->fields; field->kind; field++)
		if (take_json_field(err, owner, object, field, values))
			return -1;
	return 0;
}
