/* JSON from tables: a row for each member gives its name, its place in a struct, and its meaning.
 *
 *     static const struct json_field gpu_fields[] = {
 *         JSON(struct jw_gpu, name, "as the driver calls it"),
 *         JSON_AS("memory", struct jw_gpu, memory_bytes, "in bytes", .presence = JSON_IF_SET),
 *         {0},
 *     };
 *     … JSON_LIST_OF("gpus", struct jw_system, gpus, gpu_count,
 *                    JSON_TABLE(struct jw_gpu, gpu_fields), "of this machine"), …
 *
 * The member's type gives the kind of the row. The same tables generate the reference of all
 * documents and their JSON Schemas (tests/documents). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "base/error.h"

/* Room for a text that a function of a row writes. */
enum { JSON_ROOM = 128 };

enum json_kind {
	JSON_BOOL = 1,
	JSON_MAYBE,    /* an enum: 0 false, 1 true, anything else null */
	JSON_UNSIGNED, /* with `names`: an enum, by its names */
	JSON_SIGNED,
	JSON_DOUBLE,
	JSON_CHARS,   /* char[] */
	JSON_PATH,    /* char[] with any bytes: a text, or {"hex": "70617468"} */
	JSON_HEX,     /* 64 bits as 16 hex digits, since JSON's numbers are doubles */
	JSON_TEXT,    /* char * */
	JSON_FORMAT,  /* a text that `format` makes from the member */
	JSON_NUMBER,  /* a number that `number` makes from the member */
	JSON_OBJECT,  /* a struct with its own `table`; with `pointer`, a pointer to one */
	JSON_MEMBERS, /* a struct whose members become members of the current object */
	JSON_LIST,    /* an array of structs, each with `table` */
	JSON_LINES,   /* an array of char * */
	JSON_INSIDE, /* an array inside the struct: lines of char[], or structs if there is a `table` */
	JSON_MAP,   /* an array of structs: the first row of `table` is the key, the second its value */
	JSON_READY, /* cJSON *: an array made earlier; its owner frees it */
};

enum json_presence {
	JSON_ALWAYS,
	JSON_UNLESS_NULL, /* absent if the pointer is NULL */
	JSON_IF_SET,      /* absent if it is NULL, "", 0, false or empty */
	JSON_OR_NULL,     /* null if the pointer is NULL */
	JSON_WHEN,        /* present if another member is set (JSON_IF) */
	JSON_EACH,        /* an array of only those elements in which a member is set (JSON_EACH_IF) */
};

struct json_field {
	const char *name;
	/* For the reference: what the member means, in Markdown; NULL if that is clear. */
	const char *text;
	enum json_kind kind;
	enum json_presence presence;
	size_t offset, width;
	size_t count; /* for an array: the offset of its number of elements, a size_t */
	size_t most;  /* the maximum number of elements to read */
	bool pointer;
	const struct json_table *table;
	const char *const *names; /* the names of an enum's values; NULL at the end */
	const char *(*format)(char room[JSON_ROOM], const void *member);
	double (*number)(const void *member);
	enum json_kind when_kind;
	size_t when_offset, when_width;
};

struct json_table {
	const char *schema;               /* "jitwarm.check/1" for a whole document */
	const char *text;                 /* for the reference: paragraphs before the rows */
	const char *end;                  /* for the reference: paragraphs after the rows */
	const struct json_field *fields;  /* the last one has a NULL name */
	size_t size;                      /* the size of the struct */
	const struct json_table *instead; /* the document that may replace this one */
};

#define JSON_KIND(type, member)                                                                    \
	_Generic(&((type *)0)->member,                                                                 \
		bool *: JSON_BOOL,                                                                         \
		double *: JSON_DOUBLE,                                                                     \
		char **: JSON_TEXT,                                                                        \
		const char **: JSON_TEXT,                                                                  \
		int *: JSON_SIGNED,                                                                        \
		long *: JSON_SIGNED,                                                                       \
		long long *: JSON_SIGNED,                                                                  \
		unsigned short *: JSON_UNSIGNED,                                                           \
		unsigned *: JSON_UNSIGNED,                                                                 \
		unsigned long *: JSON_UNSIGNED,                                                            \
		unsigned long long *: JSON_UNSIGNED,                                                       \
		default: _Generic(((type *)0)->member,                                                     \
			char *: JSON_CHARS,                                                                    \
			default: (struct json_has_no_row_for_this_type *)NULL))
#define JSON_AT(type, member) .offset = offsetof(type, member), .width = sizeof(((type *)0)->member)

/* The macros for rows. The text follows the arguments, and then any settings of the row:
 * JSON_IF(…), .presence = …, .names = …, .pointer = true. If a name has dots (system.cache.path),
 * its last part is the JSON name. */
#define JSON_AS(name_, type, member, ...)                                                          \
	JSON_ROW(name_, JSON_KIND(type, member), JSON_AT(type, member), .text = __VA_ARGS__)
#define JSON(type, member, ...) JSON_AS(#member, type, member, __VA_ARGS__)
#define JSON_OF(kind_, name_, type, member, ...)                                                   \
	JSON_ROW(name_, kind_, JSON_AT(type, member), __VA_ARGS__)
#define JSON_FORMATTED(name_, type, member, format_, ...)                                          \
	JSON_OF(JSON_FORMAT, name_, type, member, .format = (format_), .text = __VA_ARGS__)
#define JSON_NUMBERED(name_, type, member, number_, ...)                                           \
	JSON_OF(JSON_NUMBER, name_, type, member, .number = (number_), .text = __VA_ARGS__)
#define JSON_OBJECT_OF(name_, type, member, table_, ...)                                           \
	JSON_OF(JSON_OBJECT, name_, type, member, .table = (table_), .text = __VA_ARGS__)
/* The object that a pointer points to; absent if it is NULL. */
#define JSON_POINTER_OF(...)                                                                       \
	JSON_BEHIND(JSON_OBJECT, __VA_ARGS__, .pointer = true, .presence = JSON_UNLESS_NULL)
#define JSON_READY_OF(...) JSON_BEHIND(JSON_READY, __VA_ARGS__)
/* Puts the members of the struct behind a pointer into the current object. */
#define JSON_MEMBERS_BEHIND(type, member, table_)                                                  \
	JSON_BEHIND(JSON_MEMBERS, "", type, member, table_, NULL, .pointer = true)
#define JSON_BEHIND(kind_, name_, type, member, table_, ...)                                       \
	JSON_ROW(name_, kind_, .offset = offsetof(type, member), .table = (table_), .text = __VA_ARGS__)
#define JSON_MEMBERS_OF(type, member, table_)                                                      \
	JSON_OF(JSON_MEMBERS, "", type, member, .table = (table_))
/* A text that is made from the whole struct. */
#define JSON_FORMATTED_OF(name_, format_, ...)                                                     \
	JSON_ROW(name_, JSON_FORMAT, .format = (format_), .text = __VA_ARGS__)
#define JSON_NUMBER_OF(name_, number_, ...)                                                        \
	JSON_ROW(name_, JSON_NUMBER, .number = (number_), .text = __VA_ARGS__)
#define JSON_PART(name_, table_, ...)                                                              \
	JSON_ROW(name_, JSON_OBJECT, .table = (table_), .text = __VA_ARGS__)
#define JSON_SAME(table_) JSON_ROW("", JSON_MEMBERS, .table = (table_))
#define JSON_ARRAY_OF(kind_, name_, type, items, number, table_, ...)                              \
	JSON_ROW(name_, kind_, .offset = offsetof(type, items), .count = offsetof(type, number),       \
			 .table = (table_), .text = __VA_ARGS__)
#define JSON_LIST_OF(...) JSON_ARRAY_OF(JSON_LIST, __VA_ARGS__)
#define JSON_MAP_OF(...)  JSON_ARRAY_OF(JSON_MAP, __VA_ARGS__)
#define JSON_LINES_OF(name, type, items, number, ...)                                              \
	JSON_ARRAY_OF(JSON_LINES, name, type, items, number, NULL, __VA_ARGS__)
#define JSON_INSIDE_OF(name_, type, items, number, ...)                                            \
	JSON_OF(JSON_INSIDE, name_, type, items[0], .count = offsetof(type, number),                   \
			.text = __VA_ARGS__)
#define JSON_ROW(name_, kind_, ...)                                                                \
	{                                                                                              \
		.name = (name_), .kind = (kind_), __VA_ARGS__                                              \
	}
/* Makes a table of these rows, for a row that refers to it. */
#define JSON_TABLE(type, rows) (&(const struct json_table){.fields = (rows), .size = sizeof(type)})
/* The row is present only if this member is set. */
#define JSON_IF(type, member)      .presence = JSON_WHEN, JSON_CONDITION(type, member)
#define JSON_EACH_IF(type, member) .presence = JSON_EACH, JSON_CONDITION(type, member)
#define JSON_CONDITION(type, member)                                                               \
	.when_kind = JSON_KIND(type, member), .when_offset = offsetof(type, member),                   \
	.when_width = sizeof(((type *)0)->member)

/* The name of the member in the document. */
const char *json_name_of(const struct json_field *field);

/* Makes an object from a struct by its table; a document begins with the member "schema". Bytes
 * that are not UTF-8 become U+FFFD. */
cJSON *json_object(const struct json_table *table, const void *values);
/* Makes the object as one line without blanks; the caller frees it with cJSON_free. */
char *json_object_line(const struct json_table *table, const void *values);

/* Fills a zeroed struct from an object, by the table that also prints it. A value that is missing,
 * of another type or too large stays zero; a text that is too long for its char[] is truncated, and
 * an empty one is NULL for a char *. `owner` (base/arena.h) gets the texts and lines, and may be
 * NULL for a table without them. The caller checks the values, and reads rows with computed values
 * (JSON_FORMAT, JSON_NUMBER) and lists of structs itself. JW_ERR_FORMAT: another schema, an unknown
 * name of an enum, a malformed JSON_PATH or JSON_HEX, or too many elements. */
int json_take(struct jw_error *err, void *owner, const cJSON *object,
			  const struct json_table *table, void *values);
