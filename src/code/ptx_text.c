#include "code/ptx_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/smaller.h"
#include "base/text.h"
#include "code/find_bytes.h"
#include "code/ptx.h"

enum {
	COMPILERS_END = 2, /* line breaks with which nvcc ends a text */
	LITERALS_LEAD = 1, /* line breaks with which a multi-line literal begins */
};

/* The white space around a run's texts: before the first, between two, after the last. `…_sure`
 * means that a NUL follows it, so that all of it belongs to the text. */
struct edges {
	size_t before, least_gap, first_gap, behind;
	bool before_sure, behind_sure;
};

size_t ptx_run_blanks_behind(const uint8_t *text, size_t size)
{
	size_t blanks = 0;

	while (blanks < size && text_is_blank(text[size - 1 - blanks]))
		blanks++;
	return blanks;
}

size_t ptx_run_blanks_before(const uint8_t *text, size_t size)
{
	size_t blanks = 0;

	while (blanks < size && text_is_blank(text[blanks]))
		blanks++;
	return blanks;
}

/* Splits a gap into the end of one text and the beginning of the next, neither longer than at an
 * edge to which another string may have added. */
static size_t choose_lead(const struct edges *edges)
{
	const size_t most = smaller(edges->before, edges->least_gap),
				 least = edges->first_gap > edges->behind ? edges->first_gap - edges->behind : 0;

	if (edges->before_sure || least >= most)
		return most;
	if (edges->behind_sure || edges->least_gap <= COMPILERS_END || least > LITERALS_LEAD)
		return least;
	return LITERALS_LEAD;
}

void ptx_run_measure(const uint8_t *version, size_t before, size_t size, struct ptx_run *ret_run)
{
	const size_t left = smaller(size, PTX_TEXT_MAX);
	struct ptx_run run = {0};
	struct edges edges = {.least_gap = SIZE_MAX};
	size_t lead;

	for (size_t at = 0, next = 0; at < left; at += next) {
		size_t read, length = ptx_text_length(version + at, left - at, &read);

		run.read = at + read;
		if (!length)
			break;
		run.size = at + length;
		run.count++;
		edges.behind = ptx_run_blanks_behind(version + at, length);
		edges.behind_sure = run.size == left || !version[run.size];
		next = length + ptx_text_next(version + run.size, left - run.size);
		if (at + next >= left)
			break;
		edges.first_gap = run.count == 1 ? edges.behind : edges.first_gap;
		edges.least_gap = smaller(edges.least_gap, edges.behind);
	}
	lead = ptx_text_lead(version, before);
	edges.before = ptx_run_blanks_before(version - lead, lead);
	edges.before_sure = lead == before || !*(version - lead - 1);
	if (run.count > 1) {
		run.lead = choose_lead(&edges);
		run.first_lead = edges.before_sure ? edges.before : smaller(edges.before, run.lead);
		run.trail =
			edges.behind_sure ? edges.behind : smaller(edges.behind, edges.first_gap - run.lead);
	}
	*ret_run = run;
}

#define VERSION ".version"

enum { WORD = sizeof VERSION - 1 };

size_t ptx_text_find(const uint8_t *bytes, size_t size, size_t left)
{
	return find_bytes(bytes, size, left, VERSION, WORD);
}

/* ---- the parts of a text */

struct scan_text {
	const uint8_t *at, *end;
	bool broken; /* it has a byte that PTX never contains, or no end */
};

static bool has(const struct scan_text *text, const char *word)
{
	const size_t length = strlen(word);

	return (size_t)(text->end - text->at) >= length && !memcmp(text->at, word, length);
}

/* Skips to a byte that ends the text; a NUL never belongs to one. */
static void skip_to(struct scan_text *text, const char *stop)
{
	while (text->at < text->end && *text->at && !has(text, stop)) {
		if (*stop == '"' && *text->at == '\\' && text->at + 1 < text->end && text->at[1])
			text->at++;
		text->at++;
	}
}

/* Skips a comment or string that begins here; false if none does. */
static bool skip_quoted(struct scan_text *text)
{
	const char *stop;
	uint8_t first;

	if (text->at == text->end)
		return false;
	/* The text may change (os/file.h, os_map), so its byte is read once. */
	first = load_u8(text->at);
	if (first != '/' && first != '"')
		return false;
	stop = first == '"' ? "\"" : has(text, "//") ? "\n" : has(text, "/*") ? "*/" : NULL;
	if (!stop)
		return false;
	text->at += first == '"' ? 1 : 2;
	skip_to(text, stop);
	/* A one-line comment may be the last thing in a text. */
	text->broken = text->broken || (*stop != '\n' && !has(text, stop));
	if (has(text, stop))
		text->at += strlen(stop);
	return true;
}

static void skip_white(struct scan_text *text)
{
	while (text->at < text->end && text_is_blank(*text->at))
		text->at++;
}

static void skip_text_space(struct scan_text *text)
{
	do
		skip_white(text);
	while (!has(text, "\"") && skip_quoted(text));
}

/* Returns whether the directive ends with its line, rather than before the next directive. */
static bool is_of_a_line(const struct scan_text *text)
{
	return has(text, VERSION) || has(text, ".target") || has(text, ".address_size") ||
		   has(text, ".file") || has(text, ".loc");
}

static void skip_line(struct scan_text *text)
{
	while (text->at < text->end && *text->at && *text->at != '\n') {
		if (text_is_blank(*text->at) && text->at + 1 < text->end && text->at[1] == '.')
			return;
		if (!skip_quoted(text))
			text->at++;
	}
}

/* Skips one statement of a module: up to its ";", or the "}" of its body. */
static void skip_ptx_statement(struct scan_text *text)
{
	unsigned depth = 0;

	while (text->at < text->end && !text->broken) {
		const uint8_t c = load_u8(text->at);

		if (skip_quoted(text))
			continue;
		if (c > '~' || (c < ' ' && !text_is_blank(c)))
			break;
		text->at++;
		depth += c == '{';
		depth -= c == '}' && depth;
		if ((c == '}' || c == ';') && !depth)
			return;
	}
	text->broken = true;
}

/* All statements of a module begin with a directive; lone ";" may lie between them. */
static bool at_statement(const struct scan_text *text, const uint8_t *start)
{
	static const char *const directives[] = {".visible", ".extern", ".weak",  ".common", ".entry",
											 ".func",    ".global", ".const", ".shared", ".tex",
											 ".section", ".pragma", ".alias", ";"};

	for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
		if (has(text, directives[i]))
			return true;
	return is_of_a_line(text) && (text->at == start || !has(text, VERSION));
}

/* ---- where a text begins and ends */

/* Returns whether only white space and comments lie between `start` and `version`. */
static bool leads_to(const uint8_t *start, const uint8_t *version)
{
	const size_t size = (size_t)(version - start);

	return ptx_is(start, size + WORD + 1) && !ptx_is(start, size);
}

size_t ptx_text_lead(const uint8_t *version, size_t before)
{
	const uint8_t *first = version, *start = version, *line = version, *end;

	while (first > version - before && first[-1])
		first--;
	if (leads_to(first, version))
		return (size_t)(version - first);
	/* Another string precedes the text without a NUL. Compilers begin with lines of comment, the
	 * first of them empty: "//". White space between the two counts as the text's. */
	while (line > first) {
		for (start = line; line > first && text_is_blank(line[-1]);)
			line--;
		for (end = line; line > first && line[-1] != '\n';)
			line--;
		if (end - line < 2 || memcmp(line, "//", 2) != 0)
			break;
		start = line;
	}
	for (end = start; end > first && text_is_blank(end[-1]);)
		end--;
	if (start < version && end - first >= 2 && !memcmp(end - 2, "//", 2))
		end -= 2;
	return leads_to(end, version) ? (size_t)(version - end) : 0;
}

static bool is_module(const uint8_t *text, size_t size)
{
	static const char wide[] = ".address_size 64";
	struct ptx_features features;
	struct devcode_ptx_header header;

	if (ptx_header_read(NULL, text, size, &header) ||
		find_bytes(text, size, size, wide, sizeof wide - 1) == size)
		return false;
	ptx_count(text, size, &features);
	return features.code;
}

size_t ptx_text_length(const uint8_t *version, size_t size, size_t *ret_read)
{
	struct scan_text text = {version, version + (size < PTX_TEXT_MAX ? size : PTX_TEXT_MAX), false};
	struct scan_text next = text;
	const uint8_t *end = version;

	while (at_statement(&text, version)) {
		if (is_of_a_line(&text))
			skip_line(&text);
		else
			skip_ptx_statement(&text);
		if (text.broken)
			break;
		skip_white(&text);
		end = text.at;
		next = text;
		skip_text_space(&next);
		if (next.broken)
			break;
		text = next;
	}
	/* A comment without an end was read as well. */
	*ret_read = (size_t)((text.at > next.at ? text.at : next.at) - version);
	/* This is the end of the array or string, after a comment at its end. */
	if (!text.broken && text.at < text.end && !*text.at)
		end = text.at;
	return !text.broken && is_module(version, (size_t)(end - version)) ? (size_t)(end - version)
																	   : 0;
}

size_t ptx_text_next(const uint8_t *end, size_t size)
{
	struct scan_text text = {end, end + size, false};

	skip_text_space(&text);
	return !text.broken && has(&text, VERSION) ? (size_t)(text.at - end) : size;
}

uint64_t ptx_text_kernels(const uint8_t *text, size_t size)
{
	static const char word[] = ".entry";
	uint64_t sum = 0;

	for (size_t at = 0;
		 (at += find_bytes(text + at, size - at, size - at, word, sizeof word - 1)) < size;) {
		size_t name;

		for (at += sizeof word - 1; at < size && text_is_blank(text[at]);)
			at++;
		for (name = at;
			 at < size && !text_is_blank(text[at]) && text[at] != '(' && text[at] != '{';)
			at++;
		sum += fnv_update(FNV_START, text + name, at - name);
	}
	return sum;
}
