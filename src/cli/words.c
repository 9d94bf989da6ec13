#include "cli/words.h"

#include <string.h>

#include <jitwarm/which.h>

#include "base/mem.h"
#include "base/packages.h"
#include "base/text.h"
#include "cli/gpu_targets.h"
#include "cli/next_step.h"
#include "os/file.h"
#include "os/shell.h"

static const struct word rows[] = {
#include "words.inc"
};

const struct word *words_next(const char *kind, size_t *at)
{
	while (*at < sizeof rows / sizeof *rows)
		if (!strcmp(rows[(*at)++].kind, kind))
			return &rows[*at - 1];
	return NULL;
}

const struct word *words_typed(const char *kind, const char *typed, size_t length, size_t *at)
{
	const struct word *row;

	while ((row = words_next(kind, at)))
		if (strlen(row->typed) == length && text_starts_fold(typed, row->typed))
			return row;
	return NULL;
}

/* Returns the length of a word without the punctuation of a sentence behind it. */
static size_t plain_length(const char *word)
{
	size_t length = strlen(word);

	while (length > 1 && strchr("?!,;:.", word[length - 1]))
		length--;
	return length;
}

size_t words_gpu(const char *const *words, size_t count, char ret_name[WORDS_GPU])
{
	enum { MOST_WORDS = 5 };

	if (os_exists(*words))
		return 0;
	for (size_t used = count < MOST_WORDS ? count : MOST_WORDS; used; used--) {
		struct buf name = BUF_MAX(WORDS_GPU - 1);
		bool found;

		for (size_t i = 0; i < used; i++)
			buf_add(&name, "%.*s", (int)plain_length(words[i]), words[i]);
		/* A GPU's name may have the word “with” inside, but not at its end. */
		found = !name.overflowed && !text_equal_fold(words[used - 1], "with") &&
				gpu_targets_is_gpu(buf_text(&name));
		if (found)
			(void)text_copy(ret_name, WORDS_GPU, buf_text(&name));
		buf_free(&name);
		if (found)
			return used;
	}
	return 0;
}

/* Returns whether the text begins with the row's word; `*` at its end stands for more letters. */
static bool begins_with_word(const char *text, const struct word *row)
{
	const size_t length = strlen(row->typed), stem = length - text_ends(row->typed, "*");
	char *word = mem_string_n(row->typed, stem);
	const bool begins =
		text_starts_fold(text, word) && (stem < length || !text_is_alnum(text[stem]));

	mem_free(word);
	return begins;
}

const char *words_advise_slow(const char *text)
{
	const struct word *row;

	for (; *(text += strspn(text, " \t\n")); text += strcspn(text, " \t\n"))
		for (size_t at = 0; (row = words_next("slow", &at));)
			if (begins_with_word(text, row))
				return "to find out why a start is slow, run “jitwarm doctor”; to look at a "
					   "running process, “jitwarm watch PID”";
	return NULL;
}

/* A line of words without a command: “does torch 2.8 work on rtx 5090?”. */
struct sentence {
	char *text;
	const char **words;
	size_t count;
	struct buf gpus, packages; /* “rtx5090”, for --target; “ torch==2.8” */
	const char *advice;        /* about a slow start, or NULL */
	size_t foreign;            /* words behind the first one that are neither */
};

static bool is_version(const char *word)
{
	const size_t length = plain_length(word);

	return text_is_digit(*word) && strspn(word, "0123456789.") >= length &&
		   memchr(word, '.', length);
}

/* Appends the package that a word names, with the version behind it. Returns the number of words
 * that are used. */
static size_t add_package(struct buf *packages, const char *const *words, size_t count)
{
	char *word = mem_string_n(words[0], plain_length(words[0]));
	const struct package_fact *called = package_fact_of("called", word);
	const bool known = jw_which_knows(word) && !os_exists(word),
			   versioned = known && count > 1 && is_version(words[1]) && !strpbrk(word, "<=>!~");
	struct buf package = BUF_MAX(NEXT_STEP_MAX);

	if (known)
		buf_add(&package, "%s", called ? called->values[0] : word);
	if (versioned)
		buf_add(&package, "==%.*s", (int)plain_length(words[1]), words[1]);
	if (known)
		shell_add_word(packages, buf_text(&package));
	buf_free(&package);
	mem_free(word);
	return known ? 1u + versioned : 0;
}

/* Reads a line, which may be in quotes. */
static void read_sentence(const char *const *words, size_t count, struct sentence *ret_is)
{
	struct sentence is = {.gpus = BUF_MAX(NEXT_STEP_MAX), .packages = BUF_MAX(NEXT_STEP_MAX)};
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	for (size_t i = 0; i < count; i++)
		buf_add(&line, "%s ", words[i]);
	is.text = mem_string(buf_text(&line));
	is.advice = words_advise_slow(is.text);
	buf_free(&line);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	is.words = mem_array(strlen(is.text) + 1, sizeof *is.words);
	for (char *word = is.text + strspn(is.text, " \t\n"); *word;) {
		char *const end = word + strcspn(word, " \t\n");

		is.words[is.count++] = word;
		word = end + strspn(end, " \t\n");
		*end = '\0';
	}
	for (size_t i = 0, used; i < is.count; i += used ? used : 1) {
		char gpu[WORDS_GPU];

		used = words_gpu(is.words + i, is.count - i, gpu);
		if (used)
			buf_add(&is.gpus, "%s%s", is.gpus.size ? "," : "", gpu);
		else
			used = add_package(&is.packages, is.words + i, is.count - i);
		is.foreign += i && !used;
	}
	*ret_is = is;
}

static void free_sentence(struct sentence *is)
{
	buf_free(&is->gpus);
	buf_free(&is->packages);
	mem_free(is->words);
	mem_free(is->text);
}

/* Returns the row for the first word, or for the first two. */
static const struct word *row_of_command(const char *const *words, size_t count)
{
	const struct word *row = NULL;

	for (size_t used = count < 2 ? count : 2; used && !row; used--) {
		char *name = used > 1 ? mem_printf("%s %s", words[0], words[1]) : mem_string(words[0]);
		size_t at = 0;

		row = words_typed("command", name, strlen(name), &at);
		mem_free(name);
	}
	return row;
}

/* Answers a sentence about a GPU and packages, or about a slow start. */
static int refuse_sentence(struct jw_error *err, const struct sentence *is, const char *first)
{
	struct buf which = BUF_MAX(NEXT_STEP_MAX);

	if (!is->gpus.size)
		return error_set(err, JW_ERR_USAGE, "no command is called “%.100s”; %s", first, is->advice);
	buf_add(&which, "jitwarm which --target");
	shell_add_word(&which, buf_text(&is->gpus));
	buf_add(&which, "%s", is->packages.size ? buf_text(&is->packages) : " PACKAGE");
	error_set(err, JW_ERR_USAGE,
			  "no command is called “%.100s”; to see which releases run on a GPU, run “%s”", first,
			  buf_text(&which));
	buf_free(&which);
	return -1;
}

/* Names the command of a row, the nearest one, or the second words of a group. */
static int refuse_near(struct jw_error *err, const struct cli_command *const *commands,
					   const char *const *words, size_t count, const char *nearest)
{
	struct buf text = BUF_MAX(NEXT_STEP_MAX);

	if (nearest) {
		const bool both = strchr(nearest, ' ') && count > 1;

		return error_set(err, JW_ERR_USAGE,
						 "no command is called “%.100s%s%.100s” (did you mean “%s”?)", words[0],
						 both ? " " : "", both ? words[1] : "", nearest);
	}
	commands_list_second(&text, commands, words[0], strlen(words[0]));
	if (count > 1)
		error_set(err, JW_ERR_USAGE,
				  "no command is called “%.100s %.100s”; the second word is one of: %s", words[0],
				  words[1], buf_text(&text));
	else
		error_set(err, JW_ERR_USAGE, "“%.100s” needs a second word: %s", words[0], buf_text(&text));
	buf_free(&text);
	return -1;
}

int words_refuse(struct jw_error *err, const struct cli_command *const *commands,
				 const char *const *words, size_t count)
{
	const bool group = commands_is_group(commands, words[0]), file = os_exists(words[0]);
	const struct word *const row = row_of_command(words, count);
	const char *nearest = row ? row->means[0] : NULL;
	struct buf check = BUF_MAX(NEXT_STEP_MAX), doctor = BUF_MAX(NEXT_STEP_MAX);
	struct sentence is;
	bool sentence;

	read_sentence(words, count, &is);
	/* The first word of a sentence is no typing error: “can” is not “scan”. */
	sentence = !group && !file && (is.gpus.size || is.advice) &&
			   (is.foreign || !(nearest || commands_suggest(commands, words[0])));
	if (sentence) {
		(void)refuse_sentence(err, &is, words[0]);
		goto done;
	}
	if (!nearest && !group)
		nearest = commands_suggest(commands, words[0]);
	if (nearest || group) {
		(void)refuse_near(err, commands, words, count, nearest);
		goto done;
	}
	shell_add_word(&check, words[0]);
	shell_add_words(&doctor, words, count);
	error_set(err, JW_ERR_USAGE,
			  "no command is called “%.100s”; to examine a file or a package, run “jitwarm "
			  "check%s”; to explain the text of an error, “jitwarm doctor%s”",
			  words[0], buf_text(&check), buf_text(&doctor));
done:
	free_sentence(&is);
	buf_free(&check);
	buf_free(&doctor);
	return -1;
}
