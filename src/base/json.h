/* Reads JSON that may be hostile: every accessor checks the type; none returns a NULL text. Writing
 * uses cJSON directly. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/error.h"

/* Parses a whole document of `size` bytes (at most JSON_MAX_BYTES; cJSON limits nesting). NULL and
 * err set if it is not JSON in UTF-8 (a number may be 01, and a text ends at an escaped NUL), or
 * if an object repeats a member. The caller deletes it with cJSON_Delete. */
enum { JSON_MAX_BYTES = 256 << 20 };
cJSON *json_parse(struct jw_error *err, const char *text, size_t size);

/* A member's value; the default if it is missing or of another type. */
const char *json_text(const cJSON *object, const char *name, const char *otherwise);
double json_number(const cJSON *object, const char *name, double otherwise);
bool json_bool(const cJSON *object, const char *name, bool otherwise);
/* A non-negative whole number up to 2^53; 0 if it is missing or anything else. */
uint64_t json_count(const cJSON *object, const char *name);

/* Reads the member `name`, an array of at most `most` elements, into a new, zeroed array of the
 * caller's. Sets both outputs on failure too, up to the element that `read` refused. */
struct json_list {
	const char *name;
	size_t most, size; /* elements; bytes of one in the caller's array */
	int (*read)(struct jw_error *err, void *context, const cJSON *item, void *element);
	void *context;
};
int json_list_read(struct jw_error *err, const cJSON *object, const struct json_list *list,
				   void **ret_elements, size_t *ret_count);

/* 64-bit values are 16 hex digits, since JSON's numbers are doubles. */
bool json_hex64(const cJSON *object, const char *name, uint64_t *ret_value);

/* Makes a JSON text from any bytes: invalid UTF-8 becomes U+FFFD. NULL becomes null. */
cJSON *json_string(const char *text);
/* A file's name, which may be any bytes: one that is not UTF-8 becomes {"hex": "..."}. */
cJSON *json_path(const char *path);
void json_add_text(cJSON *object, const char *name, const char *text);

/* The document in lines, or as one line without blanks; the caller frees it with cJSON_free.
 * Characters that are not for people's eyes (text_is_hidden) are escaped. */
char *json_lines(const cJSON *document);
char *json_line(const cJSON *document);
