#include "cli/language.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "os/console.h"

#include "messages_ko.h"

/* Formats have ten conversions at most. A longer text is not a message. Beyond that many texts,
 * everything except the catalogue is forgotten. */
enum { MAX_ARGUMENTS = 16, MAX_TEXT = 1 << 13, MAX_TEXTS = 1 << 16, MAX_FORMAT = 1 << 11 };

/* A text of the program, and its translation. */
struct phrase {
	/* For a formatted text one allocation; for a text of the catalogue none. */
	const char *english, *text;
	bool is_format; /* it has conversions, so no text equals it */
	bool is_name;   /* a name from outside, which stays as it is */
};

static struct {
	const struct message *messages; /* NULL for English */
	size_t message_count;
	struct phrase *texts; /* those of the catalogue come first */
	size_t count, capacity, first_made;
	struct set index;
	uv_mutex_t lock; /* any thread formats texts */
} language;

static uint64_t hash_of(const char *text)
{
	return fnv_update(FNV_START, text, strlen(text));
}

static struct phrase *find(const char *english)
{
	size_t cursor = 0, at;

	while ((at = set_find(&language.index, hash_of(english), &cursor)) != SET_NONE)
		if (!strcmp(language.texts[at].english, english))
			return &language.texts[at];
	return NULL;
}

/* Returns the translation of a text; NULL if it is not a text of the program. */
static const char *translation_of(const char *english)
{
	const struct phrase *phrase = find(english);

	return phrase && !phrase->is_format && !phrase->is_name ? phrase->text : NULL;
}

/* Adds a translation; the first one stays. There are at most MAX_TEXTS besides the catalogue. */
static void add(struct phrase phrase)
{
	(void)VEC_ROOM(NULL, language.texts, language.capacity, language.count, SIZE_MAX);
	set_add(&language.index, hash_of(phrase.english), language.count);
	language.texts[language.count++] = phrase;
}

static void forget(void)
{
	while (language.count > language.first_made)
		mem_free((void *)(uintptr_t)language.texts[--language.count].english);
	set_free(&language.index);
	language.count = 0;
}

static size_t literal_size(const char *form);

static void add_catalogue(void)
{
	for (size_t i = 0; i < language.message_count; i++) {
		const struct message *message = &language.messages[i];
		const char *const ids[] = {message->id, message->plural};

		for (size_t k = 0; k < 2 && *message->id && *message->text; k++)
			if (ids[k] && !find(ids[k]))
				add((struct phrase){.english = ids[k],
									.text = message->text,
									.is_format = ids[k][literal_size(ids[k])] != '\0'});
	}
	language.first_made = language.count;
}

/* Adds a formatted text; a NULL `text` marks a name. */
static void add_made(const char *english, const char *text)
{
	const size_t size = strlen(english) + 1, more = text ? strlen(text) + 1 : 0;
	char *copy;

	if (size == 1 || size > MAX_TEXT || find(english))
		return;
	if (language.count - language.first_made >= MAX_TEXTS) {
		forget();
		add_catalogue();
	}
	copy = mem_alloc(size + more);
	memcpy(copy, english, size);
	if (text)
		memcpy(copy + size, text, more);
	add((struct phrase){.english = copy, .text = copy + (text ? size : 0), .is_name = !text});
}

/* Returns the length of the conversion at '%', its type, and its number if it has one ("%2$s"),
 * else 0. The length is 0 if it is none, as in "%APPDATA%". */
static size_t conversion(const char *at, char *ret_type, size_t *ret_number)
{
	size_t used = 1, number = 0, digits = strspn(at + 1, "0123456789");

	if (digits && at[1 + digits] == '$') {
		for (; digits > 0; digits--)
			number = number * 10 + (size_t)(at[used++] - '0');
		used++;
	}
	used += strspn(at + used, "-+ #0123456789.*");
	used += strspn(at + used, "hlzjt");
	*ret_type = at[used];
	*ret_number = number;
	return at[used] && strchr("%cdefgipsuxX", at[used]) ? used + 1 : 0;
}

/* Returns the length of the text before the next conversion, or the end. */
static size_t literal_size(const char *form)
{
	size_t size = strcspn(form, "%"), number;
	char type;

	while (form[size] && !conversion(form + size, &type, &number))
		size += 1 + strcspn(form + size + 1, "%");
	return size;
}

/* Returns whether an argument is a name: a quoted name is a user's, whatever it reads like, and so
 * is a part of a path. */
static bool is_name(const char *form, const char *at, size_t length)
{
	return (at > form && strchr("'\"/", at[-1])) || at[length] == '/' ||
		   (at - form >= 3 && !memcmp(at - 3, "“", 3));
}

/* Korean particles depend on the last sound of the word before them. Translations have both forms
 * after an argument; if the sound is known, for Hangul, digits and units of size, one form
 * stays. */
enum sound { SOUND_UNKNOWN, SOUND_VOWEL, SOUND_CONSONANT, SOUND_L };

static const struct particle {
	const char *both, *after_consonant, *after_vowel;
	bool l_as_vowel;
} particles[] = {{"을(를)", "을", "를", false},
				 {"이(가)", "이", "가", false},
				 {"은(는)", "은", "는", false},
				 {"(으)로", "으로", "로", true}};

/* Finds the sound of the last character. Hangul syllables are sorted by their 28 endings; digits
 * are read as Chinese numbers. */
static enum sound last_sound(const uint8_t *text, size_t size)
{
	enum { LONGEST_REMARK = 80 };
	static const enum sound digits[] = {
		SOUND_CONSONANT, SOUND_L,         SOUND_VOWEL, SOUND_CONSONANT, SOUND_VOWEL,
		SOUND_VOWEL,     SOUND_CONSONANT, SOUND_L,     SOUND_L,         SOUND_VOWEL};
	uint32_t point = 0;
	unsigned ending;

	/* In "항목 9개(521 KiB)" the word is the text before the remark. */
	for (size_t i = 1; size && text[size - 1] == ')' && i < size && i < LONGEST_REMARK; i++)
		if (text[size - 1 - i] == '(')
			return last_sound(text, size - 1 - i - (i + 1 < size && text[size - 2 - i] == ' '));
	/* Units are read as words that end in -바이트. */
	if (size > 2 && text[size - 1] == 'B' &&
		(text[size - 2] == ' ' || (strchr("KMGTi", text[size - 2]) && text[size - 2])))
		return SOUND_VOWEL;
	if (size && text[size - 1] >= '0' && text[size - 1] <= '9')
		return digits[text[size - 1] - '0'];
	if (size < 3 || text_utf8_next(text + size - 3, 3, &point) != 3 || point < 0xac00 ||
		point > 0xd7a3)
		return SOUND_UNKNOWN;
	ending = (point - 0xac00) % 28;
	return !ending ? SOUND_VOWEL : ending == 8 ? SOUND_L : SOUND_CONSONANT;
}

static void particles_settle(struct buf *text)
{
	struct buf settled = BUF_MAX(text->most);
	size_t at = 0;

	while (at < text->size) {
		const struct particle *found = NULL;
		const enum sound sound = last_sound(settled.data, settled.size);

		for (size_t i = 0; i < sizeof particles / sizeof *particles && sound && !found; i++)
			if (text_starts((const char *)text->data + at, particles[i].both))
				found = &particles[i];
		if (found) {
			const char *const one = sound == SOUND_VOWEL || (sound == SOUND_L && found->l_as_vowel)
										? found->after_vowel
										: found->after_consonant;

			(void)buf_append(NULL, &settled, one, strlen(one));
		} else {
			(void)buf_append(NULL, &settled, text->data + at, 1);
		}
		at += found ? strlen(found->both) : 1;
	}
	if (settled.overflowed) {
		buf_free(&settled);
		return;
	}
	buf_free(text);
	*text = settled;
}

/* The arguments of a text, in its language. */
struct format_arguments {
	va_list list;
	struct buf texts; /* one after the other */
	size_t begins[MAX_ARGUMENTS + 1], count;
	bool translated; /* at least one argument */
};

static void translate_argument(struct format_arguments *arguments, const char *format,
							   const char *at, size_t length)
{
	/* `spec` is a piece of the program's own format; the attribute requires a literal. */
	int (*const print)(char *, size_t, const char *, va_list) = vsnprintf;
	char spec[64], type = at[length - 1];
	struct buf *texts = &arguments->texts;
	const char *phrase = NULL;
	size_t size = 0, columns = 0;
	va_list again;

	arguments->begins[arguments->count++] = texts->size;
	(void)snprintf(spec, sizeof spec, "%.*s", (int)length, at);
	va_copy(again, arguments->list);
	if (!buf_reserve(NULL, texts, MAX_TEXT))
		size = (size_t)print((char *)texts->data + texts->size, MAX_TEXT, spec, again);
	va_end(again);
	for (const char *star = spec; (star = strchr(star, '*')) != NULL; star++)
		(void)va_arg(arguments->list, int);
	if (type == 's') {
		const char *const text = va_arg(arguments->list, const char *);

		/* With a precision a text may have no NUL. */
		phrase = texts->overflowed
					 ? NULL
					 : translation_of(strchr(spec, '.') ? (char *)texts->data + texts->size : text);
	} else if (strchr("efg", type))
		/* NOLINTNEXTLINE(bugprone-branch-clone): the types differ */
		(void)va_arg(arguments->list, double);
	else if (type == 'p')
		(void)va_arg(arguments->list, void *);
	else if (strstr(spec, "ll") || strchr(spec, 'j'))
		(void)va_arg(arguments->list, long long);
	else if (strpbrk(spec, "zt"))
		(void)va_arg(arguments->list, size_t);
	else if (strchr(spec, 'l'))
		(void)va_arg(arguments->list, long);
	else
		(void)va_arg(arguments->list, int);
	if (!phrase || is_name(format, at, length)) {
		texts->size += size < MAX_TEXT ? size : MAX_TEXT - 1;
		return;
	}
	arguments->translated = true;
	(void)buf_append(NULL, texts, phrase, strlen(phrase));
	/* "%-10s": columns stay aligned. */
	for (columns = terminal_width(phrase); spec[1] == '-' && columns < size; columns++)
		(void)buf_append(NULL, texts, " ", 1);
}

/* Makes the text of each argument of a format, translated; false if they are too many or too long.
 */
static bool translate_arguments(struct format_arguments *arguments, const char *format)
{
	size_t number, length;
	char type;

	for (const char *at = format + literal_size(format); *at; at += literal_size(at)) {
		length = conversion(at, &type, &number);
		if (type != '%' && arguments->count == MAX_ARGUMENTS)
			return false;
		if (type != '%')
			translate_argument(arguments, format, at, length);
		at += length;
	}
	arguments->begins[arguments->count] = arguments->texts.size;
	return !arguments->texts.overflowed;
}

/* Fills in a translation, which may move arguments, and leave them out (precision 0). */
static void fill_in(struct buf *buf, const char *form, const struct format_arguments *arguments)
{
	size_t next = 0, number, length;
	char type;

	for (;;) {
		const size_t literal = literal_size(form);

		(void)buf_append(NULL, buf, form, literal);
		form += literal;
		if (!*form)
			return;
		length = conversion(form, &type, &number);
		number = number ? number - 1 : next;
		next += type != '%';
		if (type == '%')
			(void)buf_append(NULL, buf, "%", 1);
		else if (number < arguments->count &&
				 (length < 4 || memcmp(form + length - 3, ".0s", 3) != 0))
			(void)buf_append(NULL, buf, arguments->texts.data + arguments->begins[number],
							 arguments->begins[number + 1] - arguments->begins[number]);
		form += length;
	}
}

/* Translates a formatted text. The line feed at the end of a line is not part of the message,
 * because lines are printed one by one. */
static void translate_made(const char *english, const char *format, va_list list)
{
	struct format_arguments arguments = {.texts = BUF_MAX(2 * MAX_ARGUMENTS * MAX_TEXT)};
	struct buf text = BUF_MAX(8 * MAX_TEXT), line = BUF_MAX(MAX_TEXT);
	const size_t end = text_ends(format, "\n") ? 1 : 0;
	char message[MAX_FORMAT];
	const struct phrase *phrase;

	(void)snprintf(message, sizeof message, "%.*s", (int)(strlen(format) - end), format);
	phrase = find(message);
	va_copy(arguments.list, list);
	if (translate_arguments(&arguments, format) && (phrase || arguments.translated) &&
		!buf_append(NULL, &line, english, strlen(english) - end)) {
		fill_in(&text, phrase ? phrase->text : message, &arguments);
		particles_settle(&text);
		if (!text.overflowed)
			add_made(buf_text(&line), buf_text(&text));
	}
	va_end(arguments.list);
	buf_free(&arguments.texts);
	buf_free(&text);
	buf_free(&line);
}

/* Translates a text to which a piece was added. */
static void join(const char *whole, size_t from)
{
	char before[MAX_FORMAT];
	struct buf text = BUF_MAX(8 * MAX_TEXT);
	const char *first, *second = translation_of(whole + from);

	(void)snprintf(before, sizeof before, "%.*s", (int)from, whole);
	first = translation_of(before);
	if (!first && !second)
		return;
	first = first ? first : before;
	second = second ? second : whole + from;
	(void)buf_append(NULL, &text, first, strlen(first));
	(void)buf_append(NULL, &text, second, strlen(second));
	if (!text.overflowed)
		add_made(whole, buf_text(&text));
	buf_free(&text);
}

static void note_made(const char *whole, size_t from, const char *format, va_list list)
{
	uv_mutex_lock(&language.lock);
	/* Most texts are formatted again and again. */
	if (strchr(format, '%') && strlen(whole + from) < MAX_TEXT && !find(whole + from))
		translate_made(whole + from, format, list);
	if (from && from < MAX_FORMAT && whole[from])
		join(whole, from);
	uv_mutex_unlock(&language.lock);
}

static void learn_translation(const char *english, const char *translation)
{
	uv_mutex_lock(&language.lock);
	add_made(english, translation);
	uv_mutex_unlock(&language.lock);
}

void language_use(const struct message *messages, size_t count)
{
	static const struct text_language ours = {
		.made = note_made, .translation = language_line, .learn = learn_translation};

	language_close();
	if (uv_mutex_init(&language.lock))
		return;
	language.messages = messages;
	language.message_count = count;
	add_catalogue();
	text_language = &ours;
}

bool language_is_known(const char *name)
{
	return !strcmp(name, "ko") || !strcmp(name, "en");
}

bool language_choose(const char *name)
{
	language_close();
	if (!strcmp(name, "ko"))
		language_use(messages_ko, sizeof messages_ko / sizeof *messages_ko);
	return language_is_known(name);
}

void language_open(void)
{
	char name[OS_LANGUAGE];

	language_close();
	if (os_prints_utf8() && os_language(name))
		(void)language_choose(name);
}

void language_close(void)
{
	text_language = NULL;
	if (!language.messages)
		return;
	forget();
	mem_free(language.texts);
	uv_mutex_destroy(&language.lock);
	memset(&language, 0, sizeof language);
}

void language_keep(const char *name)
{
	struct phrase *phrase;

	if (!language.messages || !name)
		return;
	uv_mutex_lock(&language.lock);
	phrase = find(name);
	if (phrase)
		phrase->is_name = true;
	else
		add_made(name, NULL);
	uv_mutex_unlock(&language.lock);
}

const char *language_text(const char *english)
{
	const struct phrase *phrase;
	const char *text = NULL;

	if (!language.messages)
		return english;
	uv_mutex_lock(&language.lock);
	phrase = find(english);
	/* Only texts of the catalogue live on. */
	if (phrase && phrase < language.texts + language.first_made)
		text = phrase->text;
	uv_mutex_unlock(&language.lock);
	return text ? text : english;
}

char *language_line(const char *english)
{
	const char *text;
	char *line;

	if (!language.messages)
		return NULL;
	uv_mutex_lock(&language.lock);
	text = translation_of(english);
	line = text ? mem_string(text) : NULL;
	uv_mutex_unlock(&language.lock);
	return line;
}

char *language_translated(char *english)
{
	char *text = language_line(english);

	if (!text)
		return english;
	mem_free(english);
	return text;
}
