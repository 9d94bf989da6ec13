/* A table writes each kind of row, leaves out members that do not apply, reads back what it wrote,
 * and names malformed members. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "base/arena.h"
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

static const char *format_size(char room[JSON_ROOM], const void *size)
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
	JSON_FORMATTED("said", struct part, size, format_size, NULL, .presence = JSON_UNLESS_NULL),
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
	cJSON *made = json_object(&whole_table, whole);
	char *line = json_line(made);

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

/* ---- reading */

struct kept {
	char path[8];
	uint64_t hex;
	int below;
	int64_t far_below;
	uint16_t narrow;
	enum answer named;
	char *text;
	char **lines;
	size_t line_count;
	struct part inside[2];
	size_t inside_count;
};

static const struct json_field part_rows[] = {
	JSON(struct part, name, NULL), JSON(struct part, size, NULL), {0}};
static const struct json_field kept_fields[] = {
	JSON_OF(JSON_PATH, "path", struct kept, path, .text = NULL),
	JSON_OF(JSON_HEX, "hex", struct kept, hex, .text = NULL),
	JSON(struct kept, below, NULL),
	JSON(struct kept, far_below, NULL),
	JSON(struct kept, narrow, NULL),
	JSON(struct kept, named, NULL, .names = answer_names),
	JSON(struct kept, text, NULL),
	JSON_LINES_OF("lines", struct kept, lines, line_count, NULL, .most = 2),
	JSON_INSIDE_OF("inside", struct kept, inside, inside_count, NULL,
				   .table = JSON_TABLE(struct part, part_rows), .most = 2),
	{0},
};
static const struct json_table kept_table = {.schema = "test.kept/1", .fields = kept_fields};

/* With `failure` NULL, the text is accepted, and is written as it was. */
static void takes(const char *text, const char *failure)
{
	cJSON *document = json_parse(NULL, text, strlen(text));
	struct kept kept = {0};
	void *owner = arena_open(1);
	char *again;

	assert_non_null(document);
	assert_int_equal(json_take(why, owner, document, &kept_table, &kept), failure ? -1 : 0);
	if (failure) {
		assert_string_equal(why->message, failure);
	} else {
		again = json_object_line(&kept_table, &kept);
		assert_string_equal(again, text);
		cJSON_free(again);
	}
	jw_result_free(owner);
	cJSON_Delete(document);
}

#define KEPT(path, hex, named, rest)                                                               \
	"{\"schema\":\"test.kept/1\",\"path\":" path ",\"hex\":\"" hex                                 \
	"\",\"below\":-5,\"far_below\":-1099511627776,\"narrow\":65535,\"named\":\"" named "\"," rest  \
	"}"
#define REST "\"text\":\"a\",\"lines\":[\"one\",\"two\"],\"inside\":[{\"name\":\"in\",\"size\":7}]"

TEST(what_was_written_is_read)
{
	takes(KEPT("\"/a\"", "00000000000000ff", "perhaps", REST), NULL);
	takes(KEPT("{\"hex\":\"ff61\"}", "ffffffffffffffff", "no", REST), NULL);
}

TEST(what_is_malformed_is_named)
{
	takes("{}", "is not a document “test.kept/1”");
	takes(KEPT("\"12345678\"", "00000000000000ff", "no", REST), "its “path” is malformed");
	takes(KEPT("{\"hex\":\"610061\"}", "00000000000000ff", "no", REST), "its “path” is malformed");
	takes(KEPT("\"/a\"", "ff", "no", REST), "its “hex” is malformed");
	takes(KEPT("\"/a\"", "00000000000000ff", "maybe", REST), "its “named” is malformed");
	takes(KEPT("\"/a\"", "00000000000000ff", "no", "\"lines\":[1,2,3]"),
		  "its “lines” is malformed");
	takes(KEPT("\"/a\"", "00000000000000ff", "no", "\"inside\":7"), "its “inside” is malformed");
}

/* A value of another type, or too large for its member, becomes zero. */
TEST(what_does_not_fit_stays_zero)
{
	static const char text[] =
		"{\"schema\":\"test.kept/1\",\"path\":7,\"hex\":\"0000000000000001\","
		"\"below\":-1099511627776,\"far_below\":-1e300,\"narrow\":65536,"
		"\"named\":\"no\",\"text\":[],\"lines\":{},\"inside\":[]}";
	cJSON *document = json_parse(NULL, text, strlen(text));
	struct kept kept = {0};

	OK(json_take(why, NULL, document, &kept_table, &kept));
	assert_string_equal(kept.path, "");
	assert_int_equal(kept.below, 0);
	assert_int_equal(kept.far_below, 0);
	assert_int_equal(kept.narrow, 0);
	assert_null(kept.text);
	assert_int_equal(kept.line_count, 0);
	cJSON_Delete(document);
}

RUN_TESTS(NULL, NULL)
