/* JSON by tables: a row for each member says its name, where a struct has it, and what it means.
 *
 *     static const struct json_field gpu_fields[] = {
 *         JSON(struct jw_gpu, name, "as the driver calls it"),
 *         JSON_AS("memory", struct jw_gpu, memory_bytes, "in bytes", .presence = JSON_IF_SET),
 *         {0},
 *     };
 *     static const struct json_table gpu_table = JSON_TABLE(struct jw_gpu, gpu_fields);
 *
 * The kind of a row follows from the member's type. The same tables give the reference of all
 * documents and their JSON Schemas (tests/documents). */
#ifndef JW_BASE_JSON_TABLE_H
#define JW_BASE_JSON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/error.h"

/* Room for a text that a function of a row writes. */
enum { JSON_ROOM = 64 };

enum json_kind {
	JSON_BOOL = 1,
	JSON_MAYBE,    /* an enum: 0 false, 1 true, anything else null */
	JSON_UNSIGNED, /* with `names`: an enum, by its names */
	JSON_SIGNED,
	JSON_DOUBLE,
	JSON_CHARS,   /* char[] */
	JSON_TEXT,    /* char * */
	JSON_SAY,     /* a text that `say` makes of the member */
	JSON_NUMBER,  /* a number that `number` makes of it */
	JSON_OBJECT,  /* by `table`: a struct, or with `pointer` what it points to */
	JSON_MEMBERS, /* the same, its members in the object at hand */
	JSON_LIST,    /* an array of structs by `table` */
	JSON_LINES,   /* an array of char * */
	JSON_MAP,   /* an array of structs: the first row of `table` is the key, the second its value */
	JSON_READY, /* cJSON *: an array made before, which stays its owner's */
};

enum json_presence {
	JSON_ALWAYS,
	JSON_UNLESS_NULL, /* absent where the pointer is NULL */
	JSON_IF_SET,      /* absent where it is NULL, "", 0, false or empty */
	JSON_OR_NULL,     /* null where the pointer is NULL */
	JSON_WHEN,        /* present where another member is set: JSON_IF */
};

struct json_field {
	const char *name;
	const char *text; /* for the reference: what it means, Markdown; NULL says nothing */
	enum json_kind kind;
	enum json_presence presence;
	size_t offset, width;
	size_t count; /* the offset of an array's number of elements, a size_t */
	bool pointer;
	const struct json_table *table;
	const char *const *names; /* NULL at the end */
	const char *(*say)(char room[JSON_ROOM], const void *member);
	double (*number)(const void *member);
	enum json_kind when_kind;
	size_t when_offset, when_width;
};

struct json_table {
	const char *schema;              /* "jitwarm.check/1" where it is a whole document */
	const char *text;                /* for the reference, paragraphs before the rows */
	const char *end;                 /* and behind them */
	const struct json_field *fields; /* a name of NULL at the end */
	size_t size;                     /* of the struct */
	const struct json_table * or ;   /* what a document with this schema may be instead */
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
		default: JSON_CHARS)
#define JSON_AT(type, member) .offset = offsetof(type, member), .width = sizeof(((type *)0)->member)
#define JSON_ARRAY(type, items, number)                                                            \
	.offset = offsetof(type, items), .count = offsetof(type, number)

/* Rows. What follows the arguments here is the text, and what else the row needs: JSON_IF(…),
 * .presence = …, .names = …, .pointer = true. */
#define JSON_AS(name_, type, member, ...)                                                          \
	{                                                                                              \
		.name = (name_), .kind = JSON_KIND(type, member), JSON_AT(type, member),                   \
		.text = __VA_ARGS__                                                                        \
	}
#define JSON(type, member, ...) JSON_AS(#member, type, member, __VA_ARGS__)
#define JSON_OF(kind_, name_, type, member, ...)                                                   \
	{                                                                                              \
		.name = (name_), .kind = (kind_), JSON_AT(type, member), .text = __VA_ARGS__               \
	}
#define JSON_TABLE(type, rows)                                                                     \
	{                                                                                              \
		.fields = (rows), .size = sizeof(type)                                                     \
	}
/* An object of members of the struct at hand. */
#define JSON_PART(name_, table_, ...)                                                              \
	{                                                                                              \
		.name = (name_), .kind = JSON_OBJECT, .table = (table_), .text = __VA_ARGS__               \
	}
#define JSON_ARRAY_OF(kind_, name_, type, items, number, table_, ...)                              \
	{                                                                                              \
		.name = (name_), .kind = (kind_), JSON_ARRAY(type, items, number), .table = (table_),      \
		.text = __VA_ARGS__                                                                        \
	}
#define JSON_LIST_OF(...) JSON_ARRAY_OF(JSON_LIST, __VA_ARGS__)
#define JSON_MAP_OF(...)  JSON_ARRAY_OF(JSON_MAP, __VA_ARGS__)
#define JSON_LINES_OF(name, type, items, number, ...)                                              \
	JSON_ARRAY_OF(JSON_LINES, name, type, items, number, NULL, __VA_ARGS__)
/* Present where this member is set. */
#define JSON_IF(type, member)                                                                      \
	.presence = JSON_WHEN, .when_kind = JSON_KIND(type, member),                                   \
	.when_offset = offsetof(type, member), .when_width = sizeof(((type *)0)->member)

/* A struct as an object by its table, with the member "schema" first where it is a document. Texts
 * of whatever bytes: what is no UTF-8 becomes U+FFFD. NULL and err set when memory is short, or a
 * text is longer than JSON_MOST_TEXT. */
cJSON *json_object(struct jw_error *err, const struct json_table *table, const void *values);

#endif
