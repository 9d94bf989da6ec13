#include "cli/translate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/particles.h"

/* Names that no language changes: those of the command line and of what was found there.
 *
 * A line is translated when it is complete, and a file may be called “modules” or “x: nothing to
 * compile”. So the names that a run can meet are kept beforehand. One of several words is taken
 * out of a line before it is compared with the catalogue; one of a single word is refused where it
 * would be translated. */
struct kept_names {
	char **names;
	size_t count, capacity;
};

/* A mark is 1, two letters for the number of the name, 2. */
enum { MOST_NAMES = 256, MOST_NAME = 4096, MARK_SIZE = 4, LETTERS = 16, MARK = 1, MARK_END = 2 };

static bool kept_names_has(const struct kept_names *kept, const char *text, size_t size)
{
	for (size_t i = 0; i < kept->count; i++)
		if (strlen(kept->names[i]) == size && !memcmp(kept->names[i], text, size))
			return true;
	return false;
}

/* Beyond a bound, and without memory, a name is not kept. */
static void kept_names_add(struct kept_names *kept, const char *name)
{
	const size_t size = name ? strlen(name) : 0;
	char *copy;

	if (!size || size > MOST_NAME || name[strspn(name, " ")] == 0 ||
		kept_names_has(kept, name, size) ||
		VEC_ROOM(NULL, kept->names, kept->capacity, kept->count, MOST_NAMES))
		return;
	copy = mem_string(NULL, name);
	if (copy)
		kept->names[kept->count++] = copy;
}

static void kept_names_free(struct kept_names *kept)
{
	for (size_t i = 0; i < kept->count; i++)
		mem_free(kept->names[i]);
	mem_free(kept->names);
	*kept = (struct kept_names){0};
}

static bool continues_word(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
		   (letter >= '0' && letter <= '9');
}

/* The longest name of several words at this place of a line; NULL: none. */
static char *const *name_at(const struct kept_names *kept, const char *line, const char *at)
{
	char *const *found = NULL;

	if (at > line && continues_word(at[-1]) && continues_word(*at))
		return NULL;
	for (size_t i = 0; i < kept->count; i++) {
		const char *name = kept->names[i];
		const size_t size = strlen(name);

		if (strchr(name, ' ') && !strncmp(at, name, size) &&
			!(continues_word(name[size - 1]) && continues_word(at[size])) &&
			(!found || size > strlen(*found)))
			found = &kept->names[i];
	}
	return found;
}

/* The line with a mark instead of each name of several words; false: without memory, or the line
 * has such marks itself. */
static bool kept_names_hide(const struct kept_names *kept, const char *line, struct buf *ret_hidden)
{
	if (strchr(line, MARK))
		return false;
	for (const char *at = line; *at;) {
		char *const *name = name_at(kept, line, at);
		const size_t number = name ? (size_t)(name - kept->names) : 0;
		const char mark[MARK_SIZE] = {MARK, (char)('a' + number / LETTERS),
									  (char)('a' + number % LETTERS), MARK_END};

		(void)buf_append(NULL, ret_hidden, name ? mark : at, name ? MARK_SIZE : 1);
		at += name ? strlen(*name) : 1;
	}
	return !ret_hidden->lacking;
}

/* Puts the names back; a text without memory for that becomes lacking. */
static void kept_names_show(const struct kept_names *kept, struct buf *text)
{
	struct buf shown = BUF_MAX(text->most);

	for (size_t at = 0; at < text->size; at++) {
		const size_t number =
			text->data[at] == MARK && text->size - at >= MARK_SIZE
				? (size_t)(text->data[at + 1] - 'a') * LETTERS + (size_t)(text->data[at + 2] - 'a')
				: kept->count;

		if (number < kept->count) {
			(void)buf_append(NULL, &shown, kept->names[number], strlen(kept->names[number]));
			at += MARK_SIZE - 1;
		} else {
			(void)buf_append(NULL, &shown, text->data + at, 1);
		}
	}
	buf_free(text);
	*text = shown;
}

/* Formats have ten conversions at most; deeper pieces than that occur in no message. */
enum {
	MOST_CAPTURES = 16,
	DEEPEST = 4,
	MOST_STEPS = 120000,
	MOST_FORM_STEPS = 3000,
	MOST_LABELLED = 400,
	MOST_LINE_SIZE = 1 << 14
};

struct line_form {
	const char *id, *text;
	uint64_t pairs; /* of neighbouring letters, of which a line must have all: for a fast no */
	size_t letters; /* outside conversions: forms with more are tried first */
	bool plain;     /* no conversions */
	size_t lead;    /* the conversions that it begins with */
};

struct translator {
	struct line_form *forms;
	size_t count, capacity;
	struct kept_names kept;
};

struct line_span {
	const char *at;
	size_t size;
	char type; /* of its conversion */
	bool verbatim;
};

static void cut(struct buf *buf, size_t size)
{
	buf->size = size;
	if (buf->data)
		buf->data[size] = 0;
}

struct line_match {
	const struct translator *translator;
	struct line_span captures[MOST_CAPTURES];
	size_t captured;
	bool strict; /* what a conversion takes does not end a part of a line, or a quotation */
	size_t lead; /* of the form: what stands there takes no label ("sm_86: "), no indentation */
	const char *begin; /* of the text */
	size_t *steps;     /* that are left for this line */
};

/* The length of the conversion at '%'; its type, and its number where it has one ("%2$s"), else 0.
 * 0: it is none, as in "%APPDATA%". */
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

/* How much stands before the next conversion, or the end. */
static size_t literal_size(const char *form)
{
	size_t size = strcspn(form, "%"), number;
	char type;

	while (form[size] && !conversion(form + size, &type, &number))
		size += 1 + strcspn(form + size + 1, "%");
	return size;
}

static uint64_t pair_bit(char first, char second)
{
	const unsigned mixed = (unsigned)(uint8_t)first * 31 + (unsigned)(uint8_t)second * 7;

	return (uint64_t)1 << (mixed % 64);
}

static uint64_t pairs_of(const char *text, size_t size)
{
	uint64_t pairs = 0;

	for (size_t i = 0; i + 1 < size; i++)
		pairs |= pair_bit(text[i], text[i + 1]);
	return pairs;
}

static struct line_form form_of(const char *id, const char *text)
{
	struct line_form form = {.id = id, .text = text, .plain = true};
	const char *const begin = id;

	while (*id) {
		const size_t literal = literal_size(id);
		size_t number;
		char type;

		form.pairs |= pairs_of(id, literal);
		if (literal && !form.letters)
			form.lead = (size_t)(id - begin);
		form.letters += literal;
		id += literal;
		if (!*id)
			break;
		form.plain = false;
		id += conversion(id, &type, &number);
	}
	return form;
}

static int more_letters_first(const void *a, const void *b)
{
	const struct line_form *left = a, *right = b;

	if (left->plain != right->plain)
		return left->plain ? -1 : 1;
	if (left->plain)
		return strcmp(left->id, right->id);
	return left->letters != right->letters ? (left->letters > right->letters ? -1 : 1)
										   : strcmp(left->id, right->id);
}

int translator_make(struct jw_error *err, const struct message *messages, size_t count,
					struct translator **ret_translator)
{
	struct translator *made = mem_array(err, 1, sizeof *made);

	if (!made)
		return -1;
	made->forms = mem_array(err, 2 * count + 1, sizeof *made->forms);
	if (!made->forms) {
		mem_free(made);
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		if (!*messages[i].id || !*messages[i].text)
			continue;
		made->forms[made->count++] = form_of(messages[i].id, messages[i].text);
		if (messages[i].plural)
			made->forms[made->count++] = form_of(messages[i].plural, messages[i].text);
	}
	qsort(made->forms, made->count, sizeof *made->forms, more_letters_first);
	*ret_translator = made;
	return 0;
}

void translator_free(struct translator *translator)
{
	if (!translator)
		return;
	kept_names_free(&translator->kept);
	mem_free(translator->forms);
	mem_free(translator);
}

/* How much of the text a conversion other than %s takes; 0: it does not fit. */
static size_t take_number(const char *text, size_t size, char type)
{
	const char *const signs = strchr("xX", type)    ? "0123456789abcdefABCDEF"
							  : strchr("gef", type) ? "0123456789.,"
													: "0123456789";
	size_t used = 0, begin;

	if (type == 'c')
		return text_utf8_next(text, size, NULL);
	while (used < size && text[used] == ' ')
		used++;
	used += used < size && text[used] == '-';
	begin = used;
	while (used < size && strchr(signs, text[used]))
		used++;
	return used > begin ? used : 0;
}

/* A quoted name is a user's, whatever it says. */
static bool is_quote_before(const char *form, const char *at)
{
	return (at > form && (at[-1] == '\'' || at[-1] == '"')) ||
		   (at - form >= 3 && !memcmp(at - 3, "“", 3));
}

static bool form_fits(struct line_match *matching, const char *form, const char *at,
					  const char *text, size_t size);

static bool has_label(const char *text, size_t size)
{
	for (size_t i = 0; i + 2 < size; i++)
		if ((text[i] == ':' || text[i] == ' ') && text[i + 1] == ' ')
			return true;
	return size && *text == ' ';
}

/* The message without conversions that this is; NULL: there is none. */
static const struct line_form *plain_form(const struct translator *translator, const char *text,
										  size_t size)
{
	size_t low = 0, high = translator->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct line_form *form = &translator->forms[middle];
		int order = form->plain ? strncmp(form->id, text, size) : 1;

		if (!order && form->plain && form->id[size])
			order = 1;
		if (!order)
			return form;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* A part of a line ends at "; ", unless a piece of a sentence begins so; a quotation at its sign.
 */
static bool has_end(const struct line_span *span, bool begins)
{
	for (size_t i = 1; i + 2 < span->size; i++)
		if ((!begins && span->at[i] == ';' && span->at[i + 1] == ' ') ||
			(span->verbatim && !memcmp(span->at + i, "”", 3)))
			return true;
	return false;
}

/* %s takes as little as the rest allows. */
static bool fits_string(struct line_match *matching, const char *form, const char *rest,
						const char *text, size_t size, size_t slot)
{
	const bool begins = (size_t)(rest - form) <= matching->lead;

	for (size_t taken = 0; taken <= size; taken++) {
		if (*rest && *rest != '%') {
			const char *next = memchr(text + taken, *rest, size - taken);

			if (!next)
				return false;
			taken = (size_t)(next - text);
		} else if (!*rest) {
			taken = size;
		}
		if (begins && has_label(matching->begin, (size_t)(text - matching->begin) + taken) &&
			!plain_form(matching->translator, text, taken)) {
			if (size > MOST_LABELLED || !*matching->steps)
				return false;
			--*matching->steps;
			continue;
		}
		matching->captures[slot].size = taken;
		matching->captured = slot + 1;
		if (matching->strict && has_end(&matching->captures[slot], begins) &&
			!plain_form(matching->translator, text, taken))
			return false;
		if (form_fits(matching, form, rest, text + taken, size - taken))
			return true;
		if (!*matching->steps)
			return false;
	}
	return false;
}

static bool fits_conversion(struct line_match *matching, const char *form, const char *at,
							const char *text, size_t size)
{
	const size_t slot = matching->captured;
	size_t number, taken;
	const char *rest;
	char type;

	rest = at + conversion(at, &type, &number);
	if (type == '%')
		return size && *text == '%' && form_fits(matching, form, rest, text + 1, size - 1);
	if (slot == MOST_CAPTURES || !type)
		return false;
	matching->captures[slot] =
		(struct line_span){.at = text, .type = type, .verbatim = is_quote_before(form, at)};
	/* Blanks before a table's number are no part of it, nor an indentation. */
	if (matching->strict && (at == form || (size_t)(at - form) < matching->lead) && *text == ' ' &&
		type != 's')
		return false;
	if (type == 's')
		return fits_string(matching, form, rest, text, size, slot);
	taken = take_number(text, size, type);
	matching->captures[slot].size = taken;
	matching->captured = slot + 1;
	return taken && form_fits(matching, form, rest, text + taken, size - taken);
}

/* Whether the form from `at` on is this text; sets the captures. */
static bool form_fits(struct line_match *matching, const char *form, const char *at,
					  const char *text, size_t size)
{
	const size_t literal = literal_size(at);

	if (!*matching->steps)
		return false;
	--*matching->steps;
	if (literal > size || memcmp(at, text, literal) != 0)
		return false;
	if (!at[literal])
		return literal == size;
	return fits_conversion(matching, form, at + literal, text + literal, size - literal);
}

static bool translate_part(const struct translator *translator, struct buf *buf, const char *text,
						   size_t size, size_t *steps, unsigned depth);

/* The translation with what was found for each conversion. */
static void fill_in(struct buf *buf, const struct line_match *found, const char *text,
					unsigned depth)
{
	size_t next = 0;

	while (*text) {
		const size_t literal = literal_size(text);
		size_t number = 0, length;
		bool left_out;
		char type;

		(void)buf_append(NULL, buf, text, literal);
		text += literal;
		if (!*text)
			return;
		length = conversion(text, &type, &number);
		/* What a translation leaves out has the precision 0. */
		left_out = length >= 3 && !memcmp(text + length - 3, ".0s", 3);
		text += length;
		if (type == '%') {
			(void)buf_append(NULL, buf, "%", 1);
			continue;
		}
		number = number ? number - 1 : next++;
		if (number < found->captured && !left_out) {
			const struct line_span *span = &found->captures[number];

			if (span->type != 's' || span->verbatim ||
				!translate_part(found->translator, buf, span->at, span->size, found->steps,
								depth + 1))
				(void)buf_append(NULL, buf, span->at, span->size);
		}
	}
}

static bool translate_whole(const struct translator *translator, struct buf *buf, const char *text,
							size_t size, size_t *steps, unsigned depth, bool strict)
{
	const uint64_t pairs = pairs_of(text, size);
	const size_t cost = (translator->count + size) / 8 + 1;

	*steps -= cost < *steps ? cost : *steps;
	for (size_t i = 0; i < translator->count && *steps; i++) {
		const struct line_form *form = &translator->forms[i];
		const size_t most = *steps < MOST_FORM_STEPS ? *steps : MOST_FORM_STEPS;
		size_t left = most;
		bool fits;
		struct line_match matching = {.translator = translator,
									  .steps = &left,
									  .strict = strict,
									  .lead = strict ? form->lead : 0,
									  .begin = text};

		if (form->letters > size || (form->pairs & ~pairs) ||
			(form->plain && form->letters != size))
			continue;
		fits = form_fits(&matching, form->id, form->id, text, size);
		*steps -= most - left;
		if (fits) {
			matching.steps = steps;
			fill_in(buf, &matching, form->text, depth);
			return true;
		}
	}
	return false;
}

/* Two parts with `sign` between them, where one of them at least is a message. */
static bool translate_apart(const struct translator *translator, struct buf *buf, const char *text,
							size_t size, const char *sign, size_t *steps, unsigned depth)
{
	for (size_t at = 1; at + 2 < size && *steps; at++) {
		const size_t begin = buf->size;
		bool first, second;

		if (memcmp(text + at, sign, 2) != 0)
			continue;
		first = translate_part(translator, buf, text, at, steps, depth + 1);
		if (!first)
			(void)buf_append(NULL, buf, text, at);
		(void)buf_append(NULL, buf, sign, 2);
		second = translate_part(translator, buf, text + at + 2, size - at - 2, steps, depth + 1);
		if (!second)
			(void)buf_append(NULL, buf, text + at + 2, size - at - 2);
		if (first || second)
			return true;
		cut(buf, begin);
	}
	return false;
}

/* A text that ends with a message such as ", the driver's default". */
static bool translate_end(const struct translator *translator, struct buf *buf, const char *text,
						  size_t size, size_t *steps, unsigned depth)
{
	for (size_t i = 0; i < translator->count && translator->forms[i].plain; i++) {
		const struct line_form *form = &translator->forms[i];
		const size_t rest = size - form->letters;

		if ((*form->id != ' ' && *form->id != ',') || form->letters >= size ||
			memcmp(text + rest, form->id, form->letters) != 0)
			continue;
		if (!translate_part(translator, buf, text, rest, steps, depth + 1))
			(void)buf_append(NULL, buf, text, rest);
		(void)buf_append(NULL, buf, form->text, strlen(form->text));
		return true;
	}
	return false;
}

static bool translate_part(const struct translator *translator, struct buf *buf, const char *text,
						   size_t size, size_t *steps, unsigned depth)
{
	static const char *const signs[] = {"  ", "; ", ": ", ". ", ", "};
	size_t blanks = 0, end = size;

	if (depth > DEEPEST || kept_names_has(&translator->kept, text, size))
		return false;
	if (translate_whole(translator, buf, text, size, steps, depth, true))
		return true;
	while (blanks < size && text[blanks] == ' ')
		blanks++;
	while (end > blanks && text[end - 1] == ' ')
		end--;
	if (end == blanks)
		return false;
	if (blanks || end < size) {
		const size_t begin = buf->size;

		(void)buf_append(NULL, buf, text, blanks);
		if (translate_part(translator, buf, text + blanks, end - blanks, steps, depth)) {
			(void)buf_append(NULL, buf, text + end, size - end);
			return true;
		}
		cut(buf, begin);
		return false;
	}
	if (translate_end(translator, buf, text, size, steps, depth))
		return true;
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (translate_apart(translator, buf, text, size, signs[i], steps, depth))
			return true;
	return translate_whole(translator, buf, text, size, steps, depth, false);
}

const char *translator_text(const struct translator *translator, const char *english)
{
	const struct line_form *form = plain_form(translator, english, strlen(english));

	return form ? form->text : NULL;
}

void translator_keep(struct translator *translator, const char *name)
{
	if (name && (strchr(name, ' ') || translator_text(translator, name)))
		kept_names_add(&translator->kept, name);
}

char *translator_line(const struct translator *translator, const char *english)
{
	struct buf line = BUF_MAX(16 * MOST_LINE_SIZE), hidden = BUF_MAX(2 * MOST_LINE_SIZE);
	size_t steps = MOST_STEPS;
	char *text = NULL;

	if (strlen(english) <= MOST_LINE_SIZE && kept_names_hide(&translator->kept, english, &hidden) &&
		translate_part(translator, &line, buf_text(&hidden), hidden.size, &steps, 0)) {
		kept_names_show(&translator->kept, &line);
		particles_settle(&line);
		text = line.lacking ? NULL : mem_string(NULL, buf_text(&line));
	}
	buf_free(&hidden);
	buf_free(&line);
	return text;
}
