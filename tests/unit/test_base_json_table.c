/* JSON by tables: each kind of row, when a member is present, and texts of any bytes. */
#include <stdlib.h>

#include "check.h"

#include "base/json.h"
#include "base/json_table.h"

struct part {
	char name[12];
	unsigned size;
};

enum answer { NO, YES, PERHAPS };

struct whole {
	bool flag;
	enum answer answer;
	enum answer named;
	uint16_t narrow;
	uint64_t wide;
	int below;
	int64_t far_below;
	double real;
	char chars[8];
	const char *text, *none;
	struct part part, *there, *missing;
	struct part *parts;
	size_t part_count;
	char **lines;
	size_t line_count;
	char inside[3][4];
	size_t inside_count;
	const cJSON *ready;
};

static const char *say_size(char room[JSON_ROOM], const void *size)
{
	(void)room;
	return *(const unsigned *)size ? "some" : NULL;
}

static double twice(const void *values)
{
	return 2.0 * ((const struct whole *)values)->narrow;
}

static const char *const answer_names[] = {"no", "yes", "perhaps", NULL};

static const struct json_field part_fields[] = {
	JSON(struct part, name, NULL),
	JSON(struct part, size, NULL, .presence = JSON_IF_SET),
	JSON_SAID("said", struct part, size, say_size, NULL, .presence = JSON_UNLESS_NULL),
	{0},
};
#define PART JSON_TABLE(struct part, part_fields)

static const struct json_field whole_fields[] = {
	JSON(struct whole, flag, NULL),
	JSON_OF(JSON_MAYBE, "answer", struct whole, answer, .text = NULL),
	JSON(struct whole, named, NULL, .names = answer_names),
	JSON(struct whole, narrow, NULL),
	JSON(struct whole, wide, NULL),
	JSON(struct whole, below, NULL),
	JSON(struct whole, far_below, NULL),
	JSON(struct whole, real, NULL),
	JSON_NUMBER_OF("twice", twice, NULL),
	JSON(struct whole, chars, NULL),
	JSON(struct whole, text, NULL, JSON_IF(struct whole, flag)),
	JSON_AS("null", struct whole, none, NULL, .presence = JSON_OR_NULL),
	JSON(struct whole, none, NULL, .presence = JSON_UNLESS_NULL),
	JSON(struct whole, part.name, NULL),
	JSON_OBJECT_OF("part", struct whole, part, PART, NULL),
	JSON_MEMBERS_OF(struct whole, part, JSON_TABLE(struct part, part_fields + 1)),
	JSON_POINTER_OF("there", struct whole, there, PART, NULL),
	JSON_POINTER_OF("missing", struct whole, missing, PART, NULL),
	JSON_LIST_OF("parts", struct whole, parts, part_count, PART, NULL),
	JSON_LIST_OF("large", struct whole, parts, part_count, PART, NULL,
				 JSON_EACH_IF(struct part, size)),
	JSON_MAP_OF("sizes", struct whole, parts, part_count, PART, NULL),
	JSON_LINES_OF("lines", struct whole, lines, line_count, NULL),
	JSON_INSIDE_OF("inside", struct whole, inside, inside_count, NULL),
	JSON_READY_OF("ready", struct whole, ready, NULL, NULL),
	{0},
};
static const struct json_table whole_table = {.schema = "test.whole/1", .fields = whole_fields};

static void writes_to(const struct whole *whole, const char *wanted)
{
	cJSON *made = json_object(NULL, &whole_table, whole);
	char *line = made ? json_line(NULL, made) : NULL;

	assert_non_null(line);
	assert_string_equal(line, wanted);
	cJSON_free(line);
	cJSON_Delete(made);
}

TEST(every_kind_of_row_is_written)
{
	struct part parts[] = {{"a\xffz", 3}, {"", 0}};
	char one[] = "one", two[] = "two", *lines[] = {one, two};
	cJSON *ready = cJSON_Parse("[1,{\"x\":2}]");
	const struct whole whole = {
		.flag = true,
		.answer = PERHAPS,
		.named = YES,
		.narrow = 65535,
		.wide = (uint64_t)1 << 40,
		.below = -5,
		.far_below = -((int64_t)1 << 40),
		.real = 0.25,
		.chars = "ch\"rs",
		.text = "text",
		.part = {"in", 7},
		.there = parts,
		.parts = parts,
		.part_count = 1,
		.lines = lines,
		.line_count = 2,
		.inside = {"abc", "de"},
		.inside_count = 2,
		.ready = ready,
	};

	writes_to(
		&whole,
		"{\"schema\":\"test.whole/1\",\"flag\":true,\"answer\":null,\"named\":\"yes\","
		"\"narrow\":65535,\"wide\":1099511627776,\"below\":-5,\"far_below\":-1099511627776,"
		"\"real\":0.25,\"twice\":131070,\"chars\":\"ch\\\"rs\",\"text\":\"text\",\"null\":null,"
		"\"name\":\"in\",\"part\":{\"name\":\"in\",\"size\":7,\"said\":\"some\"},\"size\":7,"
		"\"said\":\"some\",\"there\":{\"name\":\"a\xef\xbf\xbdz\",\"size\":3,\"said\":\"some\"},"
		"\"parts\":[{\"name\":\"a\xef\xbf\xbdz\",\"size\":3,\"said\":\"some\"}],"
		"\"large\":[{\"name\":\"a\xef\xbf\xbdz\",\"size\":3,\"said\":\"some\"}],"
		"\"sizes\":{\"a\xef\xbf\xbdz\":3},\"lines\":[\"one\",\"two\"],\"inside\":[\"abc\","
		"\"de\"],\"ready\":[1,{\"x\":2}]}");
	cJSON_Delete(ready);
}

TEST(members_that_do_not_apply_are_left_out)
{
	struct part parts[] = {{"small", 0}};
	cJSON *ready = cJSON_CreateArray();
	const struct whole whole = {
		.answer = YES, .text = "left out", .parts = parts, .part_count = 1, .ready = ready};

	writes_to(&whole,
			  "{\"schema\":\"test.whole/1\",\"flag\":false,\"answer\":true,\"named\":\"no\","
			  "\"narrow\":0,\"wide\":0,\"below\":0,\"far_below\":0,\"real\":0,\"twice\":0,"
			  "\"chars\":\"\",\"null\":null,\"name\":\"\",\"part\":{\"name\":\"\"},"
			  "\"parts\":[{\"name\":\"small\"}],\"large\":[],\"sizes\":{\"small\":0},\"lines\":[],"
			  "\"inside\":[],\"ready\":[]}");
	cJSON_Delete(ready);
}

/* ---- memory */

RUN_TESTS(NULL, NULL)
