/* Text for people: sizes, times, and strings from outside. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__MINGW32__)
#define JW_PRINTF(at, first) __attribute__((format(gnu_printf, at, first)))
#else
#define JW_PRINTF(at, first) __attribute__((format(printf, at, first)))
#endif

/* The language of output, which the program sets before it starts threads. If it is NULL, all
 * output is in English, as in a program that uses the library. */
struct text_language {
	/* Called for each formatted text; its first `from` bytes existed before. */
	void (*made)(const char *text, size_t from, const char *format, va_list arguments);
	/* Returns the translation of a formatted text, or NULL. The caller frees it. */
	char *(*translation)(const char *english);
	/* Stores the translation of a text that another process formatted. */
	void (*learn)(const char *english, const char *translation);
};
extern const struct text_language *text_language;

/* snprintf and vsnprintf for output that is translated; text_append adds to a text. */
int text_format(char *text, size_t size, const char *format, ...) JW_PRINTF(3, 4);
void text_append(char *text, size_t size, const char *format, ...) JW_PRINTF(3, 4);
int text_vformat(char *text, size_t from, size_t size, const char *format, va_list arguments)
	JW_PRINTF(4, 0);

#define TEXT_SHORT   48  /* the size of a buffer for text_bytes or text_duration */
#define TEXT_COUNTED 256 /* the size of a buffer for text_count */

/* Formats a size in steps of 2^10, as the driver counts its limit: "0 B", "3.2 KiB", "620 MiB", "1
 * GiB", "1.10 GiB". Returns `text`. */
const char *text_bytes(char text[TEXT_SHORT], uint64_t size_bytes);

/* Formats a measured time: "under 0.1 s", "0.4 s", "12 s", "3 min 20 s", "1 h 5 min". Returns
 * `text`. */
const char *text_duration(char text[TEXT_SHORT], double seconds);
/* Formats a time that somebody has set, exactly: "1 ms", "1.5 s", "5 s", "2 min", "1 h 30 min".
 * Returns `text`. */
const char *text_set_time(char text[TEXT_SHORT], uint64_t ms);

/* Formats an uncertain time: "2 to 3 min", "50 s to 2 min", "about 4 s", "under 0.1 s". Returns
 * `text`. */
const char *text_span(char text[TEXT_SHORT], double low_s, double high_s);

/* Formats seconds since 1970 as "2026-11-22T10:15:00Z"; gmtime is not for threads. Returns
 * `text`. */
enum { TEXT_UTC = 24 };
const char *text_utc(char text[TEXT_UTC], int64_t since_1970_s);

/* Formats a count: "1 entry", "2 entries". Returns `text`; the macro's text lives as long as the
 * block around it. */
const char *text_count(char text[TEXT_COUNTED], uint64_t count, const char *one, const char *many);
#define TEXT_COUNT(count, one, many) text_count((char[TEXT_COUNTED]){0}, (count), (one), (many))

/* Copies a text into `size` bytes, always with a NUL; a longer text is truncated. */
void text_copy(char *to, size_t size, const char *from);
/* Copies a text into an array. */
#define TEXT_COPY(to, from) text_copy((to), sizeof(to), (from))

/* Copies a path of another account for a message. Its quotes, which would read like those around
 * this program's own commands, become "\u201c", "\u201d" and "\x22". Returns `room`. */
const char *text_unquoted(char *room, size_t size, const char *path);

/* ASCII, independent of the locale. */
static inline bool text_is_digit(int c)
{
	return c >= '0' && c <= '9';
}
static inline bool text_is_alnum(char c)
{
	return text_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool text_is_blank(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns whether both are equal, or both NULL. */
bool text_same(const char *a, const char *b);
bool text_starts(const char *text, const char *start);
bool text_ends(const char *text, const char *end);
/* Returns whether the whole text matches `form`: “#” stands for a decimal number, “%” for a
 * hexadecimal one in lower case, “?” for one of a-z0-9, “*” at the beginning for anything before a
 * rest without “#” and “%”, and other characters for themselves. */
bool text_has_form(const char *text, const char *form);
/* Returns whether the whole text fits a pattern: “*” stands for anything, “?” for one byte. */
bool text_fits(const char *text, const char *pattern);
/* These two ignore ASCII case. */
bool text_starts_fold(const char *text, const char *start);
bool text_equal_fold(const char *a, const char *b);

/* Reads a decimal number; returns false if the text contains anything else or the number is above
 * `most`. */
bool text_number(const char *text, uint64_t most, uint64_t *ret_value);

/* Reads up to `most` decimal numbers with dots between them ("550.163.01") and returns how many
 * there are; 0 if the text is anything else or a number has more than `max_digits`. */
size_t text_numbers(const char *text, size_t max_digits, uint32_t *numbers, size_t most);

enum { PACKAGE_MAX_NAME = 256, VERSION_NUMBERS = 8 };

/* Writes a package's name as PEP 503 normalises it: lower case, and runs of '-', '_' and '.' become
 * one '-'. False if `text` (its first `length` bytes) is not a package name. */
bool package_normalise(const char *text, size_t length, char name[PACKAGE_MAX_NAME]);

/* The numbers of a version: 2 and 1 of "2.1rc1" or "2.1.post1". Missing numbers are 0. */
struct version {
	uint32_t numbers[VERSION_NUMBERS];
	size_t count;
};

/* Reads the numbers at the start of a version; *ret_rest is the text after them. False if the text
 * does not begin with a number, or has more or longer numbers than fit. */
bool version_read(const char *text, struct version *ret_version, const char **ret_rest);
/* Compares the first `count` numbers and returns -1, 0 or 1. */
int version_order(const struct version *a, const struct version *b, size_t count);

/* Returns the length of the well-formed UTF-8 sequence (RFC 3629) at the start of `size` bytes, and
 * its code point; 0 for anything else. ret_point may be NULL. */
size_t text_utf8_next(const void *data, size_t size, uint32_t *ret_point);
/* Writes a code point, or U+FFFD for an invalid one, as UTF-8 and returns its length. */
size_t text_utf8_put(uint32_t point, char utf8[4]);

/* Returns whether a character must not be printed as it is: it controls a terminal or the direction
 * of writing, ends a line, or is invisible. */
bool text_is_hidden(uint32_t point);

/* Returns whether `size` bytes are well-formed UTF-8 whose only control characters are tab and line
 * feed. */
bool text_is_utf8(const void *data, size_t size);

/* Finds the name that is nearest to the typed one, for "Did you mean ...?". */
struct suggest {
	const char *typed;
	size_t length;
	size_t distance;  /* the distance of `best`; more distant candidates are ignored */
	bool whole;       /* the beginning of a name is not a match */
	const char *best; /* NULL as long as no candidate is near enough */
};

/* `typed` need not end in NUL and must outlive the result. */
struct suggest suggest_for(const char *typed, size_t length);
void suggest_offer(struct suggest *suggest, const char *candidate);
