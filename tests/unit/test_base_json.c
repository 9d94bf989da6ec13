/* Valid JSON is accepted and everything else is refused, in bounded memory. */
#include "check.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

static bool parses(const char *text, size_t size)
{
	cJSON *document = json_parse(why, text, size);
	bool parsed = document != NULL;

	assert_true(parsed || why->code == JW_ERR_FORMAT);
	cJSON_Delete(document);
	return parsed;
}

TEST(json_is_parsed)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"0",
		"-0.5e+10",
		"1E3",
		" \t\r\n[1 , 2.25 ,\"\"]\n",
		"{\"a\":{\"b\":[{},[]]},\"c\":null}",
		"\"\\u00e9\\ud83d\\ude00\\n\\/ \xc3\xa9\"",
		"[true,false,null]",
		"\xef\xbb\xbf{\"a\":1}",
		"{\"a\":1,\"A\":2}",
		"[{\"a\":1},{\"a\":1}]",
		"\"\\\\u0000\"",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (!parses(texts[i], strlen(texts[i])))
			fail_msg("%s", texts[i]);
}

TEST(all_else_is_refused)
{
	static const char *const texts[] = {
		"",
		" ",
		"{",
		"[1,]",
		"[,1]",
		"{\"a\"}",
		"{\"a\":1,}",
		"{a:1}",
		"[1}",
		"{]",
		".5",
		"+1",
		"-",
		"1e",
		"0x10",
		"nul",
		"NaN",
		"[1]2",
		"{} {}",
		"\"a",
		"\"\\x\"",
		"\"\\u00\"",
		"\"\\ud800\"",
		"\"\\udc00\"",
		"\"\\ud800\\u0041\"",
		"\"\xff\"",
		"\"\xc0\x80\"",
		"\"\xed\xa0\x80\"",
		"\"\\u0000\"",
		"[\"a\\u0000b\"]",
		"{\"a\\u0000\":1}",
		"\"\\\\\\u0000\"",
		"// no\n1",
		"{\"a\":1,\"a\":1}",
		"[{\"a\":{\"b\":1,\"c\":2,\"b\":3}}]",
		"{\"a\":1,\"\\u0061\":2}",
		"{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,\"a\":1}",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (parses(texts[i], strlen(texts[i])))
			fail_msg("%s", texts[i]);
	assert_false(parses("{}\0", 3));
	assert_false(parses("{}\0{\"a\":1}", 10));
	assert_false(parses("[\0]", 3));
}

/* A text is read as it was written, in the names of members, too, and by pairs of surrogates. */
/* Each value would take forty times its text's memory. */
TEST(a_million_of_short_values_are_refused)
{
	enum { VALUES = (1 << 20) + 1 };
	char *text = keep(mem_alloc(2 * (size_t)VALUES));

	assert_non_null(text);
	for (size_t i = 0; i < VALUES; i++)
		memcpy(text + 2 * i, "0,", 2);
	text[0] = '[';
	text[1] = ' ';
	text[2 * VALUES - 1] = ']';
	assert_null(json_parse(why, text, 2 * (size_t)VALUES));
	assert_int_equal(why->code, JW_ERR_LIMIT);
}

TEST(hidden_characters_are_escaped)
{
	static const char *const visible[] = {"plain", "한글", "\xc3\xa9", "\xf0\x9f\x98\x80",
										  "\xef\xbf\xbd"};

	for (uint32_t point = 1; point < 0x110000; point += point < 0x3000 ? 1 : 0x31) {
		char text[5] = {0}, *line, *lines;
		cJSON *document = cJSON_CreateObject(), *again;
		bool shown;

		(void)text_utf8_put(point, text);
		json_add_text(document, text, text);
		line = json_line(document);
		lines = json_lines(document);
		shown = strstr(line, text) || (point >= 0x20 && strstr(lines, text));
		if (shown && text_is_hidden(point))
			fail_msg("U+%04X is there: %s", (unsigned)point, line);
		assert_non_null(again = json_parse(NULL, line, strlen(line)));
		assert_string_equal(json_text(again, text, "none"), text);
		cJSON_Delete(again);
		cJSON_Delete(document);
		cJSON_free(lines);
		cJSON_free(line);
	}
	for (size_t i = 0; i < sizeof visible / sizeof *visible; i++) {
		cJSON *document = json_string(visible[i]);
		char *line = json_line(document);

		assert_non_null(strstr(line, visible[i]));
		cJSON_free(line);
		cJSON_Delete(document);
	}
}

RUN_TESTS(NULL, NULL)
