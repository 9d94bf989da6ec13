#include "setup/assign.h"

#include <string.h>

#include "base/text.h"

/* Further words of a statement are ignored. */
enum { MOST_WORDS = 64 };

const char *const assign_names[] = {
	"CUDA_CACHE_MAXSIZE", "CUDA_CACHE_PATH",      "CUDA_CACHE_DISABLE",  "CUDA_FORCE_PTX_JIT",
	"CUDA_FORCE_JIT",     "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT",    "CUDA_CACHE_MAX_SIZE",
	"CUDA_CACHE_SIZE",    "CUDA_CACHE_DIR",       "CUDA_CACHE_DISABLED", NULL,
};

bool assign_concerns(const char *name)
{
	for (size_t i = 0; assign_names[i]; i++)
		if (!strcmp(name, assign_names[i]))
			return true;
	return false;
}

struct parse {
	const char *text, *at, *end;
	size_t line;
	int (*take)(struct jw_error *err, void *context, const struct assign *assign);
	void *context;
	struct assign assign;
};

/* One word with its quotes removed. */
struct word {
	char text[ASSIGN_MOST_VALUE];
	size_t size;
};

static void word_add(struct word *word, char c)
{
	if (word->size + 1 < sizeof word->text && c)
		word->text[word->size++] = c;
	word->text[word->size] = '\0';
}

/* "" for a name that is longer than ours. */
static void set_name(struct parse *parse, const char *text, size_t length)
{
	if (length >= sizeof parse->assign.name)
		length = 0;
	memcpy(parse->assign.name, text, length);
	parse->assign.name[length] = '\0';
}

static void split_name(struct parse *parse, const char *text, const char *equals)
{
	set_name(parse, text, (size_t)(equals - text));
	TEXT_COPY(parse->assign.value, equals + 1);
}

static int hand_assignment(struct jw_error *err, struct parse *parse)
{
	return assign_concerns(parse->assign.name) ? parse->take(err, parse->context, &parse->assign)
											   : 0;
}

static bool ends_statement(char c)
{
	return c == '\n' || c == ';' || c == '&' || c == '|';
}

/* Reads up to the closing quote; in double quotes a backslash escapes the next character. */
static void read_quoted(struct parse *parse, char quote, struct word *word)
{
	while (parse->at < parse->end && *parse->at != quote) {
		if (quote == '"' && *parse->at == '\\' && parse->end - parse->at > 1)
			parse->at++;
		parse->line += *parse->at == '\n';
		word_add(word, *parse->at++);
	}
	parse->at += parse->at < parse->end;
}

/* False at the end of the statement, which stays unread. */
static bool read_shell_word(struct parse *parse, struct word *word)
{
	*word = (struct word){0};
	while (parse->at < parse->end &&
		   (*parse->at == ' ' || *parse->at == '\t' || *parse->at == '\r'))
		parse->at++;
	if (parse->at == parse->end || ends_statement(*parse->at))
		return false;
	if (*parse->at == '#') {
		while (parse->at < parse->end && *parse->at != '\n')
			parse->at++;
		return false;
	}
	while (parse->at < parse->end && !ends_statement(*parse->at) &&
		   !strchr(" \t\r", *parse->at ? *parse->at : 'x')) {
		char c = *parse->at++;

		if (c == '\'' || c == '"') {
			read_quoted(parse, c, word);
		} else if (c == '\\' && parse->at < parse->end) {
			parse->line += *parse->at == '\n';
			/* A line that goes on */
			word_add(word, (char)(*parse->at == '\n' ? 0 : *parse->at));
			parse->at++;
		} else {
			word_add(word, c);
		}
	}
	return true;
}

enum verb { VERB_NONE, VERB_EXPORT, VERB_SET, VERB_UNSET, VERB_OTHER };

static enum verb verb_of(const char *word)
{
	static const struct {
		const char *word;
		enum verb verb;
	} verbs[] = {
		{"export", VERB_EXPORT}, {"declare", VERB_EXPORT}, {"typeset", VERB_EXPORT},
		{"then", VERB_NONE},     {"else", VERB_NONE},      {"do", VERB_NONE},
		{"{", VERB_NONE},        {"setenv", VERB_SET},     {"set", VERB_SET},
		{"unset", VERB_UNSET},   {"unsetenv", VERB_UNSET},
	};

	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (!strcmp(word, verbs[i].word))
			return verbs[i].verb;
	return VERB_OTHER;
}

/* "set -gx NAME value" and "setenv NAME value"; "set -e NAME" removes it. */
static int take_set(struct jw_error *err, struct parse *parse, struct word *word)
{
	bool erase = false;

	while (read_shell_word(parse, word) && word->text[0] == '-')
		erase = erase || (word->text[1] != '-' && strchr(word->text, 'e')) ||
				!strcmp(word->text, "--erase");
	set_name(parse, word->text, word->size);
	parse->assign.unset = erase;
	if (!read_shell_word(parse, word))
		*word = (struct word){0};
	TEXT_COPY(parse->assign.value, word->text);
	return word->size || erase ? hand_assignment(err, parse) : 0;
}

static int take_unset(struct jw_error *err, struct parse *parse, struct word *word)
{
	parse->assign.unset = true;
	parse->assign.value[0] = '\0';
	while (read_shell_word(parse, word)) {
		set_name(parse, word->text, word->size);
		if (hand_assignment(err, parse))
			return -1;
	}
	return 0;
}

static bool is_assignment(const char *word)
{
	size_t length = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return length && word[length] == '=';
}

/* Assignments before a command apply to that command only. Reported only if none follows. */
static bool command_follows(struct parse parse)
{
	struct word word;

	/* Further words do not matter. */
	for (unsigned words = 0; words < MOST_WORDS && read_shell_word(&parse, &word); words++)
		if (!is_assignment(word.text))
			return true;
	return false;
}

static int take_statement(struct jw_error *err, struct parse *parse)
{
	struct word word;
	bool exported = false;

	parse->assign.unset = false;
	for (unsigned words = 0; read_shell_word(parse, &word); words++) {
		enum verb verb = exported ? VERB_OTHER : verb_of(word.text);

		if (words > MOST_WORDS)
			continue;
		if (verb == VERB_SET)
			return take_set(err, parse, &word);
		if (verb == VERB_UNSET)
			return take_unset(err, parse, &word);
		exported = exported || verb == VERB_EXPORT;
		if (verb == VERB_OTHER && !is_assignment(word.text) && !exported)
			return 0;
		if (!is_assignment(word.text) || (!exported && command_follows(*parse)))
			continue;
		split_name(parse, word.text, strchr(word.text, '='));
		if (hand_assignment(err, parse))
			return -1;
	}
	return 0;
}

/* Skips the rest of a statement. */
static void skip_shell_statement(struct parse *parse)
{
	struct word word;

	while (read_shell_word(parse, &word))
		;
	while (parse->at < parse->end && ends_statement(*parse->at))
		parse->line += *parse->at++ == '\n';
}

static int parse_shell(struct jw_error *err, struct parse *parse)
{
	while (parse->at < parse->end) {
		parse->assign.line = parse->line;
		parse->assign.offset = (size_t)(parse->at - parse->text);
		if (take_statement(err, parse))
			return -1;
		skip_shell_statement(parse);
	}
	return 0;
}

/* Skips anything but an assignment. */
static int take_shell_word(struct jw_error *err, struct parse *parse, const struct word *word)
{
	if (!is_assignment(word->text))
		return 0;
	split_name(parse, word->text, strchr(word->text, '='));
	return hand_assignment(err, parse);
}

/* "NAME=value", optionally after "export ", optionally in quotes. Source: pam_env(7),
 * environment.d(5). */
static int take_list_line(struct jw_error *err, struct parse *parse, const char *at,
						  const char *end)
{
	struct word word = {0};
	const char *equals;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (end - at > 7 && !memcmp(at, "export ", 7))
		at += 7;
	equals = at < end ? memchr(at, '=', (size_t)(end - at)) : NULL;
	if (!equals || *at == '#')
		return 0;
	while (strchr(" \t\r", end[-1] ? end[-1] : 'x'))
		end--;
	if (end - equals > 2 && (equals[1] == '"' || equals[1] == '\'') && end[-1] == equals[1]) {
		end--;
		for (; at <= equals; at++)
			word_add(&word, *at);
		at = equals + 2;
	}
	for (; at < end; at++)
		word_add(&word, *at);
	return take_shell_word(err, parse, &word);
}

static int take_unit_line(struct jw_error *err, struct parse *parse)
{
	struct word word;

	/* Words may contain ; & | here, but no driver variable does. */
	while (read_shell_word(parse, &word))
		if (take_shell_word(err, parse, &word))
			return -1;
	return 0;
}

static int parse_lines(struct jw_error *err, struct parse *parse, bool unit)
{
	static const char key[] = "Environment=";

	while (parse->at < parse->end) {
		const char *end = memchr(parse->at, '\n', (size_t)(parse->end - parse->at));
		int result = 0;

		if (!end)
			end = parse->end;
		parse->assign.line = parse->line;
		parse->assign.offset = (size_t)(parse->at - parse->text);
		if (!unit) {
			result = take_list_line(err, parse, parse->at, end);
		} else if ((size_t)(end - parse->at) >= sizeof key - 1 &&
				   !memcmp(parse->at, key, sizeof key - 1)) {
			parse->at += sizeof key - 1;
			result = take_unit_line(err, parse);
			end = memchr(parse->at, '\n', (size_t)(parse->end - parse->at));
			if (!end)
				end = parse->end;
		}
		if (result)
			return -1;
		parse->at = end + (end < parse->end);
		parse->line++;
	}
	return 0;
}

int assign_parse(struct jw_error *err, enum assign_form form, const char *text, size_t size,
				 int (*take)(struct jw_error *err, void *context, const struct assign *assign),
				 void *context)
{
	struct parse parse = {
		.text = text, .at = text, .end = text + size, .line = 1, .take = take, .context = context};

	switch (form) {
	case ASSIGN_SHELL: return parse_shell(err, &parse);
	case ASSIGN_LIST: return parse_lines(err, &parse, false);
	case ASSIGN_UNIT: return parse_lines(err, &parse, true);
	}
	return 0;
}
