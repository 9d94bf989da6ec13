#include "driver/error_pattern.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define ERROR_WORDS(name, words) {name, words},
static const struct words {
	const char *name, *words;
} sets[] = {
#include "error_words.inc"
};
#undef ERROR_WORDS

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

bool error_pattern_in_name(char c)
{
	return text_is_alnum(c) || c == '_';
}

/* Returns the words of the set in a pattern that begins with “{”. */
static const char *words_of(const char *pattern)
{
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		const size_t length = strlen(sets[i].name);

		if (!strncmp(pattern + 1, sets[i].name, length) && pattern[length + 1] == '}')
			return sets[i].words;
	}
	return "";
}

/* Takes the word or number at the start of a text, at most LONGEST bytes of it; returns their
 * number. A dot or dash at its end belongs to the sentence, and a word before the dot of a pattern
 * (“lib*.so”) has none. Without a bound, a text of one long word would be read again for each
 * pattern in it. */
static size_t capture_word(const char *text, bool dots, struct captured *captured)
{
	enum { LONGEST = 256 };
	size_t length = 0;

	while (length < LONGEST && (error_pattern_in_name(text[length]) ||
								(length && (text[length] == '-' || (dots && text[length] == '.')))))
		length++;
	while (length && !error_pattern_in_name(text[length - 1]))
		length--;
	if (length && captured->count < CAPTURED_WORDS)
		(void)snprintf(captured->words[captured->count++], CAPTURED_WORD, "%.*s", (int)length,
					   text);
	return length;
}

static bool is_at_end_of_name(const char *end, const char *pattern, size_t length)
{
	return pattern[length - 1] == '*' || !error_pattern_in_name(*end) ||
		   !error_pattern_in_name(pattern[length - 1]);
}

/* Returns the bytes of a text that a pattern takes at its start; -1 if the text does not begin with
 * it. */
static int match_parts(const char *text, const char *pattern, size_t length,
					   struct captured *captured);

/* Matches one of a set's words and the rest of the pattern. */
static int match_set(const char *text, const char *pattern, size_t length,
					 struct captured *captured)
{
	const struct captured before = *captured;
	const char *word = words_of(pattern);
	size_t name = 0;

	while (name < length && pattern[name] != '}')
		name++;
	name += name < length;
	for (size_t bytes; *word; word += bytes + (word[bytes] == '|')) {
		int taken, rest = -1;

		bytes = strcspn(word, "|");
		taken = match_parts(text, word, bytes, captured);
		if (taken >= 0 && is_at_end_of_name(text + taken, word, bytes))
			rest = match_parts(text + taken, pattern + name, length - name, captured);
		if (rest >= 0)
			return taken + rest;
		*captured = before;
	}
	return -1;
}

/* Matches what follows “ ~ ”, in the same sentence and near. */
static int match_gap(const char *text, const char *pattern, size_t length,
					 struct captured *captured)
{
	enum { LONGEST = 40 };
	const struct captured before = *captured;

	if (error_pattern_in_name(*text))
		return -1;
	for (int gap = 0; gap < LONGEST && text[gap]; gap++) {
		const int rest = error_pattern_in_name(text[gap])
							 ? -1
							 : match_parts(text + gap + 1, pattern, length, captured);

		if (rest >= 0)
			return gap + 1 + rest;
		*captured = before;
		if (text[gap] == '.' && text[gap + 1] == ' ')
			break;
	}
	return -1;
}

static int match_parts(const char *text, const char *pattern, size_t length,
					   struct captured *captured)
{
	int used = 0;

	for (size_t i = 0; i < length; i++) {
		const bool gap = pattern[i] == ' ' && i + 3 < length && pattern[i + 1] == '~';

		if (pattern[i] == '{' || gap) {
			const int rest = gap ? match_gap(text + used, pattern + i + 3, length - i - 3, captured)
								 : match_set(text + used, pattern + i, length - i, captured);

			return rest < 0 ? -1 : used + rest;
		}
		if (pattern[i] == '*') {
			const bool ends_name = i && error_pattern_in_name(pattern[i - 1]) &&
								   (i + 1 == length || !error_pattern_in_name(pattern[i + 1]));
			const bool dots = i + 1 == length || pattern[i + 1] != '.';
			const size_t word = capture_word(text + used, dots, captured);

			if (!word && !ends_name)
				return -1;
			used += (int)word;
		} else if (lower(text[used++]) != lower(pattern[i])) {
			return -1;
		}
	}
	return used;
}

size_t error_pattern_begins(const char *text, const char *pattern, size_t length,
							struct captured *ret_captured)
{
	int taken;

	ret_captured->count = 0;
	taken = match_parts(text, pattern, length, ret_captured);
	return taken > 0 && (memchr(pattern, ' ', length) ||
						 is_at_end_of_name(text + taken, pattern, length))
			   ? (size_t)taken
			   : 0;
}

/* Calls TAKE with the first two letters of a word; the second is 0 where any byte may follow. */
static void take_letters(const char *word, size_t length,
						 void (*take)(unsigned char first, unsigned char second, void *data),
						 void *data)
{
	const bool any = length < 2 || strchr("*{", word[1]) || (length > 2 && word[2] == '~');

	take((unsigned char)lower(*word), (unsigned char)(any ? '\0' : lower(word[1])), data);
}

void error_pattern_letters(const char *pattern, size_t length,
						   void (*take)(unsigned char first, unsigned char second, void *data),
						   void *data)
{
	const char *word = *pattern == '{' ? words_of(pattern) : NULL;

	if (!word) {
		take_letters(pattern, length, take, data);
		return;
	}
	for (size_t bytes; *word; word += bytes + (word[bytes] == '|')) {
		bytes = strcspn(word, "|");
		take_letters(word, bytes, take, data);
	}
}
