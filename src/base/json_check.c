/* cJSON accepts more than JSON: text behind the document and behind a NUL, any bytes in a string,
 * numbers like 01, repeated members. This file checks RFC 8259, and that every string is a C
 * string. */
#include "base/json_check.h"

#include <string.h>

#include "base/hash.h"
#include "base/set.h"
#include "base/text.h"

enum {
	MOST_DEPTH = CJSON_NESTING_LIMIT,
	FEW = 8, /* up to this many members are compared pairwise */
};

struct checking {
	const char *at, *end;
	size_t depth;
	bool objects[MOST_DEPTH + 1]; /* by depth: the open brackets */
};

static bool is_next(const struct checking *check, char wanted)
{
	return check->at < check->end && *check->at == wanted;
}

static bool take_character(struct checking *check, char wanted)
{
	bool there = is_next(check, wanted);

	check->at += there;
	return there;
}

static void skip_blanks(struct checking *check)
{
	while (check->at < check->end && memchr(" \t\n\r", *check->at, 4))
		check->at++;
}

static bool take_hex4(struct checking *check, unsigned *ret_unit)
{
	unsigned unit = 0;

	if (check->end - check->at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		const char c = *check->at++;
		const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
							   : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
							   : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
													  : 16;

		if (digit > 15)
			return false;
		unit = unit << 4 | digit;
	}
	*ret_unit = unit;
	return true;
}

/* After the backslash. An escaped NUL would end the C string. */
static bool take_escape(struct checking *check)
{
	unsigned unit, low;

	if (check->at < check->end && memchr("\"\\/bfnrt", *check->at, 8)) {
		check->at++;
		return true;
	}
	if (!take_character(check, 'u') || !take_hex4(check, &unit) || !unit)
		return false;
	if (unit < 0xd800 || unit > 0xdfff)
		return true;
	return unit < 0xdc00 && take_character(check, '\\') && take_character(check, 'u') &&
		   take_hex4(check, &low) && low >= 0xdc00 && low <= 0xdfff;
}

static bool take_string(struct checking *check)
{
	if (!take_character(check, '"'))
		return false;
	while (check->at < check->end && *check->at != '"') {
		size_t length = text_utf8_next(check->at, (size_t)(check->end - check->at), NULL);

		if (!length || (unsigned char)*check->at < 0x20)
			return false;
		if (*check->at != '\\')
			check->at += length;
		else if (check->at++, !take_escape(check))
			return false;
	}
	return take_character(check, '"');
}

static bool take_digits(struct checking *check)
{
	const char *start = check->at;

	while (check->at < check->end && *check->at >= '0' && *check->at <= '9')
		check->at++;
	return check->at > start;
}

static bool check_number(struct checking *check)
{
	(void)take_character(check, '-');
	if (!take_character(check, '0') && !take_digits(check))
		return false;
	if (take_character(check, '.') && !take_digits(check))
		return false;
	if (!take_character(check, 'e') && !take_character(check, 'E'))
		return true;
	if (!take_character(check, '+'))
		(void)take_character(check, '-');
	return take_digits(check);
}

static bool check_word(struct checking *check, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(check->end - check->at) < length || memcmp(check->at, word, length) != 0)
		return false;
	check->at += length;
	return true;
}

static bool take_name(struct checking *check)
{
	skip_blanks(check);
	if (!take_string(check))
		return false;
	skip_blanks(check);
	return take_character(check, ':');
}

/* A text, number or word. */
static bool take_scalar(struct checking *check)
{
	if (is_next(check, '"'))
		return take_string(check);
	return check_word(check, "true") || check_word(check, "false") || check_word(check, "null") ||
		   check_number(check);
}

/* After a value: moves to the next one, or to the document's end (*ret_ended). */
static bool go_on(struct checking *check, bool *ret_ended)
{
	for (;;) {
		bool object = check->objects[check->depth];

		skip_blanks(check);
		*ret_ended = !check->depth;
		if (*ret_ended)
			return check->at == check->end;
		if (take_character(check, ','))
			return !object || take_name(check);
		if (!take_character(check, object ? '}' : ']'))
			return false;
		check->depth--;
	}
}

static bool take_document(struct checking *check)
{
	for (bool ended = false; !ended;) {
		bool object;

		skip_blanks(check);
		object = is_next(check, '{');
		if (object || is_next(check, '[')) {
			check->at++;
			if (++check->depth > MOST_DEPTH)
				return false;
			check->objects[check->depth] = object;
			skip_blanks(check);
			if (!is_next(check, object ? '}' : ']')) {
				if (object && !take_name(check))
					return false;
				continue;
			}
		} else if (!take_scalar(check)) {
			return false;
		}
		if (!go_on(check, &ended))
			return false;
	}
	return true;
}

int json_check_text(struct jw_error *err, const char *text, size_t size)
{
	struct checking check = {.at = text, .end = text + size};

	/* RFC 8259, 8.1: a reader may skip a byte order mark. */
	(void)check_word(&check, "\xef\xbb\xbf");
	return take_document(&check)
			   ? 0
			   : error_set(err, JW_ERR_FORMAT, "not JSON at byte %zu", (size_t)(check.at - text));
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
static int find_pair(struct jw_error *err, const cJSON *object, bool *ret_twice)
{
	struct set names = {0};
	int result = 0;

	for (const cJSON *one = object->child; !result && !*ret_twice && one; one = one->next) {
		const uint64_t hash = fnv_update(FNV_START, one->string, strlen(one->string));

		*ret_twice = set_has(&names, hash);
		result = set_add(err, &names, hash, 0);
	}
	set_free(&names);
	return result;
}

static int check_names(struct jw_error *err, const cJSON *object)
{
	bool twice = false;

	if (cJSON_GetArraySize(object) <= FEW)
		twice = has_pair(object);
	else if (find_pair(err, object, &twice))
		return -1;
	return twice ? error_set(err, JW_ERR_FORMAT, "not JSON: an object has a member twice") : 0;
}

int json_check_names(struct jw_error *err, const cJSON *value)
{
	if (cJSON_IsObject(value) && check_names(err, value))
		return -1;
	for (const cJSON *item = value->child; item; item = item->next)
		if (item->child && json_check_names(err, item))
			return -1;
	return 0;
}
