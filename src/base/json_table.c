#include "base/json_table.h"

#include <string.h>

#include "base/json.h"

static cJSON *item_of(struct jw_error *err, const struct json_field *field, const uint8_t *values);

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

/* Whether the member on which this one depends is set. */
static bool is_field_wanted(const struct json_field *field, const uint8_t *values)
{
	const char *at = (const char *)values + field->when_offset, *text;

	switch ((int)field->when_kind) {
	case JSON_CHARS: return *at;
	case JSON_TEXT: return (text = pointer_at(at)) && *text;
	default: return unsigned_at(at, field->when_width);
	}
}

static cJSON *made(struct jw_error *err, cJSON *item)
{
	if (!item)
		error_set(err, JW_ERR_MEMORY, "out of memory");
	return item;
}

/* `item` may be NULL, with err set. */
static int put_item(struct jw_error *err, cJSON *to, const char *name, cJSON *item)
{
	if (!item)
		return -1;
	if (name ? cJSON_AddItemToObject(to, name, item) : cJSON_AddItemToArray(to, item))
		return 0;
	cJSON_Delete(item);
	return error_set(err, JW_ERR_MEMORY, "out of memory");
}

static int put_pair(struct jw_error *err, cJSON *map, const struct json_field *pair,
					const uint8_t *values)
{
	cJSON *key = item_of(err, &pair[0], values),
		  *value = key ? item_of(err, &pair[1], values) : NULL;
	int result = key ? put_item(err, map, key->valuestring, value) : -1;

	cJSON_Delete(key);
	return result;
}

static int put_element(struct jw_error *err, cJSON *array, const struct json_field *field,
					   const uint8_t *at)
{
	switch ((int)field->kind) {
	case JSON_MAP: return field->table ? put_pair(err, array, field->table->fields, at) : -1;
	case JSON_INSIDE: return put_item(err, array, NULL, json_string(err, (const char *)at));
	case JSON_LINES: return put_item(err, array, NULL, json_string(err, pointer_at(at)));
	default: return put_item(err, array, NULL, json_object(err, field->table, at));
	}
}

static cJSON *array_of(struct jw_error *err, const struct json_field *field, const uint8_t *values)
{
	const bool inside = field->kind == JSON_INSIDE;
	const uint8_t *at = inside ? values + field->offset : pointer_at(values + field->offset);
	const size_t count = (size_t)unsigned_at(values + field->count, sizeof count);
	const size_t size = inside ? field->width : field->table ? field->table->size : sizeof(char *);
	cJSON *array = made(err, field->kind == JSON_MAP ? cJSON_CreateObject() : cJSON_CreateArray());
	int result = array ? 0 : -1;

	for (size_t i = 0; !result && i < count; i++, at += size)
		if (field->presence != JSON_EACH || is_field_wanted(field, at))
			result = put_element(err, array, field, at);
	if (!result)
		return array;
	cJSON_Delete(array);
	return NULL;
}

static cJSON *text_item(struct jw_error *err, const char *text)
{
	return text ? json_string(err, text) : made(err, cJSON_CreateNull());
}

static cJSON *unsigned_item(struct jw_error *err, const struct json_field *field, uint64_t number)
{
	if (field->names)
		return json_string(err, field->names[number]);
	if (field->kind != JSON_MAYBE)
		return made(err, cJSON_CreateNumber((double)number));
	return made(err, number > 1 ? cJSON_CreateNull() : cJSON_CreateBool(number == 1));
}

static cJSON *item_of(struct jw_error *err, const struct json_field *field, const uint8_t *values)
{
	const uint8_t *at = values + field->offset;
	const cJSON *ready;
	char room[JSON_ROOM];

	switch ((int)field->kind) {
	case JSON_BOOL: return made(err, cJSON_CreateBool(*at));
	case JSON_SIGNED: return made(err, cJSON_CreateNumber((double)signed_at(at, field->width)));
	case JSON_DOUBLE: return made(err, cJSON_CreateNumber(*(const double *)(const void *)at));
	case JSON_NUMBER: return made(err, cJSON_CreateNumber(field->number(at)));
	case JSON_CHARS: return json_string(err, (const char *)at);
	case JSON_TEXT: return text_item(err, pointer_at(at));
	case JSON_SAY: return text_item(err, field->say(room, at));
	case JSON_OBJECT:
		at = field->pointer ? pointer_at(at) : at;
		return at ? json_object(err, field->table, at) : made(err, cJSON_CreateNull());
	case JSON_LIST:
	case JSON_LINES:
	case JSON_INSIDE:
	case JSON_MAP: return array_of(err, field, values);
	case JSON_READY:
		ready = pointer_at(at);
		return made(err, ready ? cJSON_CreateArrayReference(ready->child) : cJSON_CreateNull());
	default: return unsigned_item(err, field, unsigned_at(at, field->width));
	}
}

static bool is_set(const cJSON *item)
{
	return cJSON_IsTrue(item) || item->child || (cJSON_IsString(item) && *item->valuestring) ||
		   (cJSON_IsNumber(item) && item->valuedouble != 0);
}

static int put_fields(struct jw_error *err, cJSON *object, const struct json_table *table,
					  const uint8_t *values);

static int put_field(struct jw_error *err, cJSON *object, const struct json_field *field,
					 const uint8_t *values)
{
	const uint8_t *at = values + field->offset;
	cJSON *item;

	if (field->presence == JSON_WHEN && !is_field_wanted(field, values))
		return 0;
	if (field->kind == JSON_MEMBERS)
		return put_fields(err, object, field->table, field->pointer ? pointer_at(at) : at);
	item = item_of(err, field, values);
	if (item && ((field->presence == JSON_UNLESS_NULL && cJSON_IsNull(item)) ||
				 (field->presence == JSON_IF_SET && !is_set(item)))) {
		cJSON_Delete(item);
		return 0;
	}
	return put_item(err, object, json_name_of(field), item);
}

static int put_fields(struct jw_error *err, cJSON *object, const struct json_table *table,
					  const uint8_t *values)
{
	for (const struct json_field *field = table->fields; field->kind; field++)
		if (put_field(err, object, field, values))
			return -1;
	return 0;
}

cJSON *json_object(struct jw_error *err, const struct json_table *table, const void *values)
{
	cJSON *object = made(err, cJSON_CreateObject());

	if (object && table &&
		!(table->schema && put_item(err, object, "schema", json_string(err, table->schema))) &&
		!put_fields(err, object, table, values))
		return object;
	cJSON_Delete(object);
	return NULL;
}

char *json_object_line(struct jw_error *err, const struct json_table *table, const void *values)
{
	cJSON *object = json_object(err, table, values);
	char *line = object ? json_line(err, object) : NULL;

	cJSON_Delete(object);
	return line;
}
