#include "driver/cuda_errors.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jitwarm/target.h>

#include "base/mem.h"
#include "base/text.h"
#include "code/release.h"
#include "code/target_names.h"
#include "driver/error_pattern.h"

#define CUDA_ERROR(number, name, words, means, cause, windows, cure)                               \
	{number, name, words, means, cause, windows, cure},
static const struct cuda_error errors[] = {
#include "cuda_errors.inc"
};
#undef CUDA_ERROR

enum {
	ERRORS = sizeof errors / sizeof *errors,
	MAX_NUMBER = 9999,
	MAX_DIGITS = 4,
	MAX_MESSAGES = 16
};

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* Returns whether a text has a pattern anywhere, and captures the words of its first occurrence. */
static bool has_pattern(const char *text, const char *pattern, size_t length,
						struct captured *ret_captured)
{
	for (; *text; text++)
		if ((*pattern == '{' || lower(*text) == lower(*pattern)) &&
			error_pattern_begins(text, pattern, length, ret_captured))
			return true;
	return false;
}

/* Captures the words of the first pattern of a row that a text has. */
static void capture(const char *text, const struct cuda_error *error, struct captured *captured)
{
	const char *pattern = error->words;

	for (size_t length; *pattern; pattern += length + (pattern[length] == '|')) {
		length = strcspn(pattern, "|");
		if (has_pattern(text, pattern, length, captured))
			return;
	}
	captured->count = 0;
}

/* The patterns of all rows, linked by the two letters that begin a text with them. */
enum { SECONDS = 32, PLACES = SECONDS * SECONDS };
struct patterns {
	struct pattern {
		const char *text;
		size_t length;
		int row, next; /* the index of the next pattern with these letters; -1 if there is none */
	} * items;
	int first[PLACES], count;
	struct pattern added; /* by add_pattern */
};

static int place_of(unsigned char first, unsigned char second)
{
	return first % SECONDS * SECONDS + second % SECONDS;
}

static void count_pattern(unsigned char first, unsigned char second, void *data)
{
	size_t *count = data;

	(void)first;
	*count += second ? 1 : SECONDS;
}

/* Adds the pattern at DATA to the list of its letters, once. */
static void add_pattern(unsigned char first, unsigned char second, void *data)
{
	struct patterns *patterns = data;

	for (unsigned i = 0; i < (second ? 1 : SECONDS); i++) {
		int *place = &patterns->first[place_of(first, (unsigned char)(second + i))];

		if (*place >= 0 && patterns->items[*place].text == patterns->added.text)
			continue;
		patterns->added.next = *place;
		patterns->items[patterns->count] = patterns->added;
		*place = patterns->count++;
	}
}

/* Calls TAKE with the letters of each pattern of a row. */
static void take_patterns(int row,
						  void (*take)(unsigned char first, unsigned char second, void *data),
						  struct patterns *patterns, void *data)
{
	const char *at = errors[row].words;

	for (size_t length; *at; at += length + (at[length] == '|')) {
		length = strcspn(at, "|");
		patterns->added = (struct pattern){.text = at, .length = length, .row = row};
		error_pattern_letters(at, length, take, data);
	}
}

static void list_patterns(struct patterns *patterns)
{
	size_t most = 0;

	for (int i = 0; i < ERRORS; i++)
		take_patterns(i, count_pattern, patterns, &most);
	patterns->items = mem_array(most, sizeof *patterns->items);
	patterns->count = 0;
	for (int i = 0; i < PLACES; i++)
		patterns->first[i] = -1;
	for (int i = 0; i < ERRORS; i++)
		take_patterns(i, add_pattern, patterns, patterns);
}

/* Returns whether a row is an answer only for a text without other errors. */
static bool is_envelope(const struct cuda_error *error)
{
	return text_same(error->means, "envelope");
}

/* Returns whether a row's messages are not of NVIDIA, so that they are no answer, nor what stands
 * in them. */
static bool is_other(const struct cuda_error *error)
{
	return text_same(error->means, "other");
}

/* Returns whether a pattern of a row is a better answer than one of another row at the same place:
 * a special row than a general one, then the longer pattern, then the earlier row. */
static bool is_better(int row, size_t length, int other, size_t other_length)
{
	if (is_envelope(&errors[row]) != is_envelope(&errors[other]))
		return is_envelope(&errors[other]);
	return length > other_length || (length == other_length && row < other);
}

/* Returns the best row with a pattern at the start of a text, and the pattern's length there; -1 if
 * there is none. */
static int row_at(const struct patterns *patterns, const char *text, bool inside_name,
				  size_t *ret_length)
{
	const int place = place_of((unsigned char)lower(*text), (unsigned char)lower(text[1]));
	struct captured captured;
	int row = -1;

	*ret_length = 0;
	for (int i = patterns->first[place]; i >= 0; i = patterns->items[i].next) {
		const struct pattern *pattern = &patterns->items[i];
		size_t length;

		if (inside_name && *pattern->text == '{')
			continue;
		length = error_pattern_begins(text, pattern->text, pattern->length, &captured);
		if (length && (row < 0 || is_better(pattern->row, length, row, *ret_length))) {
			row = pattern->row;
			*ret_length = length;
		}
	}
	return row;
}

/* Returns whether two rows give the same answer. */
static bool is_same(const struct cuda_error *a, const struct cuda_error *b)
{
	return (a->number && a->number == b->number) || !strcmp(a->cause, b->cause);
}

/* The messages of a text. Those that stand close together are one group. */
struct messages {
	int rows[MAX_MESSAGES], groups[MAX_MESSAGES];
	size_t count;
};

/* Puts a row into its place: the groups in the order of the text, each in the order of the table.
 */
static void add_message(struct messages *messages, int row, int group)
{
	size_t at = messages->count;

	for (size_t i = 0; i < messages->count; i++)
		if (is_same(&errors[messages->rows[i]], &errors[row])) {
			if (messages->groups[i] == group && row < messages->rows[i])
				messages->rows[i] = row;
			return;
		}
	if (messages->count == MAX_MESSAGES)
		return;
	for (; at && messages->groups[at - 1] == group && messages->rows[at - 1] > row; at--) {
		messages->rows[at] = messages->rows[at - 1];
		messages->groups[at] = group;
	}
	messages->rows[at] = row;
	messages->groups[at] = group;
	messages->count++;
}

/* Finds all messages. One that follows another directly belongs to it: “CUDA_ERROR_INVALID_SOURCE:
 * device kernel image is invalid”. */
static void find_messages(const char *text, struct messages *messages)
{
	enum { NEAR = 200, DIRECTLY = 2 };
	const char *const first = text, *start = NULL, *end = NULL;
	struct patterns patterns;
	int group = 0;

	list_patterns(&patterns);
	messages->count = 0;
	for (size_t length; *text; text += length) {
		const bool inside_name = text > first && error_pattern_in_name(text[-1]);
		const int row = row_at(&patterns, text, inside_name, &length);

		if (row < 0) {
			length = 1;
			continue;
		}
		group += start && text - start > NEAR;
		if ((!end || text - end > DIRECTLY) && !is_other(&errors[row]))
			add_message(messages, row, group);
		start = text;
		end = is_envelope(&errors[row]) ? NULL : text + length;
		length = end ? length : 1; /* an envelope may have another message inside */
	}
	mem_free(patterns.items);
}

/* Returns the number whose name the text has; 0 if there is none. */
static int error_named(const char *text)
{
	struct captured none;

	for (size_t i = 0; i < ERRORS; i++)
		if (errors[i].number && has_pattern(text, errors[i].name, strlen(errors[i].name), &none))
			return errors[i].number;
	return 0;
}

/* Returns whether a text names CUDA here, and not a file or package, as “tiny-cuda-nn” and
 * “/usr/local/cuda/bin/nvcc”. */
static bool names_cuda(const char *text, const char *at)
{
	const bool after = at > text && strchr("/\\-_", at[-1]);

	return text_starts(at, "cuInit") ||
		   (text_starts_fold(at, "cuda") && !after && !strchr("/\\-.", at[strlen("cuda")]));
}

/* Returns the number in “222”, “error 222”, “CUDA error code: 222” and “cuda runtime error (222)”;
 * 0 if there is none. Far from the word CUDA, numbers are other programs' (“make: *** Error 2”). */
static int error_number(const char *text)
{
	static const char *const before[] = {"error ",       "error: ",   "error (",  "error code ",
										 "error code: ", "failure: ", "failure ", "code=",
										 "code: ",       " err: ",    "context ", "failed: ",
										 "failed : ",    "returned ", "status=",  "error #",
										 "error: [",     "init: [",   "error=",   "cudasuccess ("};
	/* These are of compilers and of make. */
	static const char *const others[] = {"fatal ", "] error "};
	enum { NEAR = 40 };
	const char *cuda = text_starts_fold(text, "error ") ? text : NULL;
	uint64_t number;

	if (text_number(text, MAX_NUMBER, &number))
		return (int)number;
	for (const char *at = text; *at; at++) {
		if (names_cuda(text, at))
			cuda = at;
		for (size_t i = 0; i < sizeof others / sizeof *others; i++)
			if (text_starts_fold(at, others[i]))
				cuda = NULL;
		for (size_t i = 0; i < sizeof before / sizeof *before && cuda && at - cuda <= NEAR; i++) {
			const char *digit = at + strlen(before[i]);
			int value = 0, digits = 0;

			if (!text_starts_fold(at, before[i]))
				continue;
			for (; text_is_digit(digit[digits]) && digits < MAX_DIGITS; digits++)
				value = value * 10 + (digit[digits] - '0');
			if (digits && !error_pattern_in_name(digit[digits]) && cuda_error_of(value))
				return value;
		}
	}
	return 0;
}

/* ---- numbers in messages */

/* Reads a version of CUDA: “12040”, “12.4”, “12.6.85”, and the “Complete_12_4” of a symbol. */
static uint32_t read_cuda_version(const char *word)
{
	uint32_t numbers[3] = {0};
	unsigned major, minor;
	const char *end = strrchr(word, '_');
	size_t count = text_numbers(word, 5, numbers, 3);

	while (!count && end && end > word && *--end != '_')
		;
	/* NOLINTNEXTLINE(cert-err34-c): two digits cannot overflow */
	if (!count && end && sscanf(end, "_%2u_%2u", &major, &minor) == 2)
		return major * 1000 + minor * 10;
	if (count == 1 && numbers[0] >= 1000 && numbers[0] % 1000 < 100)
		return numbers[0] / 10 * 10;
	return count > 1 && numbers[0] < 100 && numbers[1] < 100 ? numbers[0] * 1000 + numbers[1] * 10
															 : 0;
}

/* Returns the driver that came with the newest known CUDA version up to this one. */
static uint32_t branch_of(uint32_t cuda)
{
	struct jw_driver drivers[GPU_MAX_RELEASES];
	const size_t count = gpu_releases(drivers);
	uint32_t branch = 0;

	for (size_t i = 0; i < count && drivers[i].cuda <= cuda; i++)
		branch = drivers[i].release[0];
	return branch;
}

/* Adds what a GPU's architecture means: “sm_120 is RTX 50, …”, and, if the compiler matters, which
 * compilers know it. */
static void add_gpu(char *meaning, const char *before, const char *word, bool compiled)
{
	char name[CAPTURED_WORD + 4];
	struct jw_target target;
	uint32_t first, last;

	(void)snprintf(name, sizeof name, "%s%s",
				   text_is_digit(*word) && !strchr(word, '.') ? "sm_" : "", word);
	if (!jw_target_parse(name, &target) || !*jw_target_products(target))
		return;
	(void)jw_target_sm(name, target);
	first = gpu_first_compiler(target);
	last = gpu_last_compiler(target);
	if (!compiled)
		text_append(meaning, CUDA_ERROR_MEANING, "%s%s is %s", before, name,
					jw_target_products(target));
	else if (last)
		text_append(meaning, CUDA_ERROR_MEANING,
					"%s%s is %s: the compilers of CUDA %u.%u are the last ones for it", before,
					name, jw_target_products(target), last / 1000, last % 1000 / 10);
	else
		text_append(meaning, CUDA_ERROR_MEANING,
					"%s%s is %s: the compilers of CUDA %u.%u and newer make code for it", before,
					name, jw_target_products(target), first / 1000, first % 1000 / 10);
}

/* Adds what a word of this kind means, if it does. */
static void add_meaning(char *meaning, const char *kind, const char *word)
{
	const char *const before = *meaning ? "; " : "";
	uint32_t numbers[2] = {0}, cuda = 0, branch;

	if (text_starts(kind, "gpu") || text_starts(kind, "least")) {
		add_gpu(meaning, before, word, *kind == 'g');
		return;
	}
	if (!text_starts(kind, "ptx") && !text_starts(kind, "compiler"))
		cuda = read_cuda_version(word);
	else if (text_numbers(word, 2, numbers, 2) == 2)
		cuda = gpu_isa_driver((struct gpu_isa){(uint16_t)numbers[0], (uint16_t)numbers[1]}).cuda;
	branch = branch_of(cuda);
	if (!branch)
		return;
	if (text_starts(kind, "ptx"))
		text_append(meaning, CUDA_ERROR_MEANING, "%sPTX %s is of CUDA %u.%u, driver %u", before,
					word, cuda / 1000, cuda % 1000 / 10, branch);
	else if (text_starts(kind, "compiler"))
		text_append(meaning, CUDA_ERROR_MEANING, "%sthe compiler is of CUDA %u.%u, driver %u",
					before, cuda / 1000, cuda % 1000 / 10, branch);
	else if (text_starts(kind, "driver"))
		text_append(meaning, CUDA_ERROR_MEANING, "%s%s is the driver of CUDA %u.%u, branch %u",
					before, word, cuda / 1000, cuda % 1000 / 10, branch);
	else if (text_starts(kind, "image"))
		text_append(meaning, CUDA_ERROR_MEANING, "%sCUDA %u.%u came with driver %u", before,
					cuda / 1000, cuda % 1000 / 10, branch);
	else if (text_starts(kind, "library"))
		text_append(meaning, CUDA_ERROR_MEANING, "%sthe library is of CUDA %u.%u", before,
					cuda / 1000, cuda % 1000 / 10);
	else
		text_append(meaning, CUDA_ERROR_MEANING, "%s%s is CUDA %u.%u", before, word, cuda / 1000,
					cuda % 1000 / 10);
}

static void describe_numbers(const struct cuda_error *error, const struct captured *captured,
							 char meaning[CUDA_ERROR_MEANING])
{
	const char *kind = error->means;

	*meaning = '\0';
	for (size_t i = 0; i < captured->count && *kind; i++) {
		if (*kind != '-')
			add_meaning(meaning, kind, captured->words[i]);
		kind += strcspn(kind, " ");
		kind += *kind == ' ';
	}
}

/* ---- */

const struct cuda_error *cuda_error_of(int number)
{
	for (size_t i = 0; number && i < ERRORS; i++)
		if (errors[i].number == number && !strchr(errors[i].words, '*'))
			return &errors[i];
	for (size_t i = 0; number && i < ERRORS; i++)
		if (errors[i].number == number)
			return &errors[i];
	return NULL;
}

/* Copies a text with one blank for each run of blanks and line breaks: terminals break lines, and
 * ptxas aligns its words. Quotes lose their backslashes, which logs in JSON put before them. */
static char *one_line(const char *text)
{
	char *line = mem_string(text), *to = line;

	for (const char *from = text; *from; from++)
		if (*from == '\\' && from[1] == '"')
			continue;
		else if (!text_is_blank(*from))
			*to++ = *from;
		else if (to > line && to[-1] != ' ')
			*to++ = ' ';
	while (to > line && to[-1] == ' ')
		to--;
	*to = '\0';
	return line;
}

/* Returns whether a text comes from Windows: it names a DLL, or a path with a drive. */
static bool is_of_windows(const char *text)
{
	static const char *const marks[] = {".dll", ".pyd", ".exe", "winerror"};

	for (const char *at = text; *at; at++) {
		for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
			if (text_starts_fold(at, marks[i]))
				return true;
		if (text_is_alnum(*at) && at[1] == ':' && at[2] == '\\')
			return true;
	}
	return false;
}

size_t cuda_errors_find(const char *text, struct cuda_error_found ret_found[CUDA_ERRORS_FOUND])
{
	char *line = one_line(text);
	const bool windows = is_of_windows(line);
	const struct cuda_error *found[MAX_MESSAGES];
	struct messages messages;
	size_t count = 0, kept = 0;
	int envelope = ERRORS;

	find_messages(line, &messages);
	for (size_t i = 0; i < messages.count; i++)
		if (!is_envelope(&errors[messages.rows[i]]))
			found[count++] = &errors[messages.rows[i]];
		else if (messages.rows[i] < envelope)
			envelope = messages.rows[i];
	if (!count) {
		const int named = error_named(line);

		found[0] = cuda_error_of(named ? named : error_number(line));
		if (!found[0] && envelope < ERRORS)
			found[0] = &errors[envelope];
		count = found[0] != NULL;
	}
	for (; kept < count && kept < CUDA_ERRORS_FOUND; kept++) {
		const struct cuda_error *error = found[kept];
		struct captured captured;

		capture(line, error, &captured);
		ret_found[kept].error = error;
		ret_found[kept].cure = windows && *error->windows ? error->windows : error->cure;
		describe_numbers(error, &captured, ret_found[kept].meaning);
	}
	mem_free(line);
	return kept;
}
