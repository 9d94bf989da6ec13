#include "base/json_table.h"

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

/* ---- arrays */

static int put(struct jw_error *err, cJSON *to, const char *name, cJSON *item)
{
	if (item && (name ? cJSON_AddItemToObject(to, name, item) : cJSON_AddItemToArray(to, item)))
		return 0;
	cJSON_Delete(item);
	return error_set(err, JW_ERR_MEMORY, "out of memory");
}

static int put_pair(struct jw_error *err, cJSON *map, const struct json_field *pair,
					const uint8_t *values)
{
	cJSON *key = item_of(err, &pair[0], values),
		  *value = key ? item_of(err, &pair[1], values) : NULL;
	int result = value ? put(err, map, key->valuestring, value) : -1;

	cJSON_Delete(key);
	return result;
}

static int put_element(struct jw_error *err, cJSON *array, const struct json_field *field,
					   const uint8_t *at)
{
	cJSON *item;

	if (field->kind == JSON_MAP)
		return put_pair(err, array, field->table->fields, at);
	item = field->kind == JSON_LINES ? json_string(err, pointer_at(at))
									 : json_object(err, field->table, at);
	return item ? put(err, array, NULL, item) : -1;
}

static cJSON *array_of(struct jw_error *err, const struct json_field *field, const uint8_t *values)
{
	const uint8_t *at = pointer_at(values + field->offset);
	const size_t count = (size_t)unsigned_at(values + field->count, sizeof count);
	const size_t size = field->kind == JSON_LINES ? sizeof(char *) : field->table->size;
	cJSON *array = field->kind == JSON_MAP ? cJSON_CreateObject() : cJSON_CreateArray();
	int result = array ? 0 : error_set(err, JW_ERR_MEMORY, "out of memory");

	for (size_t i = 0; !result && i < count; i++)
		result = put_element(err, array, field, at + i * size);
	if (!result)
		return array;
	cJSON_Delete(array);
	return NULL;
}

/* ---- members */

static cJSON *text_item(struct jw_error *err, const char *text)
{
	return text ? json_string(err, text) : cJSON_CreateNull();
}

static cJSON *number_item(struct jw_error *err, const struct json_field *field, const void *at)
{
	uint64_t number = field->kind == JSON_DOUBLE ? 0 : unsigned_at(at, field->width);

	switch ((int)field->kind) {
	case JSON_MAYBE: return number > 1 ? cJSON_CreateNull() : cJSON_CreateBool(number == 1);
	case JSON_SIGNED: return cJSON_CreateNumber((double)signed_at(at, field->width));
	case JSON_DOUBLE: return cJSON_CreateNumber(*(const double *)at);
	default: break;
	}
	return field->names ? text_item(err, field->names[number]) : cJSON_CreateNumber((double)number);
}

/* NULL where memory is short; `err` may not be set then. */
static cJSON *item_of(struct jw_error *err, const struct json_field *field, const uint8_t *values)
{
	const uint8_t *at = values + field->offset;
	const cJSON *ready;
	char room[JSON_ROOM];

	switch ((int)field->kind) {
	case JSON_BOOL: return cJSON_CreateBool(*at);
	case JSON_CHARS: return json_string(err, (const char *)at);
	case JSON_TEXT: return text_item(err, pointer_at(at));
	case JSON_SAY: return text_item(err, field->say(room, at));
	case JSON_NUMBER: return cJSON_CreateNumber(field->number(at));
	case JSON_OBJECT:
		at = field->pointer ? pointer_at(at) : at;
		return at ? json_object(err, field->table, at) : cJSON_CreateNull();
	case JSON_LIST:
	case JSON_LINES:
	case JSON_MAP: return array_of(err, field, values);
	case JSON_READY:
		ready = pointer_at(at);
		return ready ? cJSON_CreateArrayReference(ready->child) : cJSON_CreateNull();
	default: return number_item(err, field, at);
	}
}

static bool is_set(const cJSON *item)
{
	return !cJSON_IsNull(item) && !cJSON_IsFalse(item) &&
		   !(cJSON_IsString(item) && !*item->valuestring) &&
		   !(cJSON_IsNumber(item) && item->valuedouble == 0) &&
		   !((cJSON_IsArray(item) || cJSON_IsObject(item)) && !item->child);
}

/* Whether the member on which this one depends is set. */
static bool is_wanted(const struct json_field *field, const uint8_t *values)
{
	const char *at = (const char *)values + field->when_offset, *text;

	switch ((int)field->when_kind) {
	case JSON_CHARS: return *at;
	case JSON_TEXT: return (text = pointer_at(at)) && *text;
	default: return unsigned_at(at, field->when_width);
	}
}

static int put_fields(struct jw_error *err, cJSON *object, const struct json_table *table,
					  const uint8_t *values);

static int put_field(struct jw_error *err, cJSON *object, const struct json_field *field,
					 const uint8_t *values)
{
	const uint8_t *at = values + field->offset;
	cJSON *item;

	if (field->presence == JSON_WHEN && !is_wanted(field, values))
		return 0;
	if (field->kind == JSON_MEMBERS)
		return put_fields(err, object, field->table, field->pointer ? pointer_at(at) : at);
	item = item_of(err, field, values);
	if (item && ((field->presence == JSON_UNLESS_NULL && cJSON_IsNull(item)) ||
				 (field->presence == JSON_IF_SET && !is_set(item)))) {
		cJSON_Delete(item);
		return 0;
	}
	return put(err, object, field->name, item);
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
	cJSON *object = cJSON_CreateObject();

	if (!object)
		error_set(err, JW_ERR_MEMORY, "out of memory");
	else if (!(table->schema && put(err, object, "schema", json_string(err, table->schema))) &&
			 !put_fields(err, object, table, values))
		return object;
	cJSON_Delete(object);
	return NULL;
}
