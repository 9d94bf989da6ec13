/* Changes one value of JSON, or one byte of another file, at a time, and records the outcome of
 * each change (test_changed_documents.c). */
#pragma once

#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* structures are compared as they are in memory */

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

#define DATA JITWARM_SOURCE_DIR "/tests/data/changed/"

enum { MAX_OUTCOMES = 64, MAX_SIZE = 1 << 20, LONGEST = 1 << 18, MAX_TEXT = 1300 };

struct document {
	const char *name, *sample; /* a file below tests */
	/* Appends the facts that were read to `facts`, for comparing. */
	int (*reads)(struct jw_error *err, const char *data, size_t size, struct buf *facts);
	struct buf (*makes)(void); /* used instead of a sample */
	bool is_bytes;
};

/* ---- the outcomes of the changes at one place; equal ones are put together */

static const struct document *document;
static struct buf told;
static uint64_t calm;
static struct {
	char text[MAX_TEXT];
	struct buf changes;
	uint64_t sum;
} outcomes[MAX_OUTCOMES];
static size_t outcome_count;

static int try_bytes(char text[MAX_TEXT], const char *data, size_t size, uint64_t *ret_sum)
{
	struct jw_error err = {0};
	struct buf facts = BUF_MAX(MAX_SIZE);
	const int result = document->reads(&err, data, size, &facts);

	*ret_sum = fnv_update(FNV_START, buf_text(&facts), facts.size);
	if (result)
		(void)snprintf(text, MAX_TEXT, "%d: %s", (int)err.code, err.message);
	else
		(void)snprintf(text, MAX_TEXT, *ret_sum == calm ? "as it is" : "taken");
	/* The tests' own folder has a different name each time, and on Windows a different separator.
	 * */
	for (char *at; folder && (at = strstr(text, folder));) {
		const char *rest = at + strlen(folder);

		rest += *rest == '/' || *rest == '\\';
		memmove(at, rest, strlen(rest) + 1);
	}
	buf_free(&facts);
	return result;
}

static void JW_PRINTF(3, 4) note(const char *data, size_t size, const char *change, ...)
{
	char text[MAX_TEXT];
	uint64_t sum;
	size_t i = 0;
	va_list list;
	char name[256];

	(void)try_bytes(text, data, size, &sum);
	while (i < outcome_count && strcmp(outcomes[i].text, text) != 0)
		i++;
	assert_true(i < MAX_OUTCOMES);
	if (i == outcome_count) {
		TEXT_COPY(outcomes[i].text, text);
		outcomes[i].changes = BUF_MAX(MAX_SIZE);
		outcomes[i].sum = FNV_START;
		outcome_count++;
	}
	va_start(list, change);
	(void)vsnprintf(name, sizeof name, change, list);
	va_end(list);
	OK(buf_printf(why, &outcomes[i].changes, " %s", name));
	outcomes[i].sum = fnv_update(outcomes[i].sum, &sum, sizeof sum);
}

static void tell_outcomes(const char *path)
{
	for (size_t i = 0; i < outcome_count; i++) {
		OK(buf_printf(why, &told, "%s%s: %s", path, buf_text(&outcomes[i].changes),
					  outcomes[i].text));
		if (!strcmp(outcomes[i].text, "taken"))
			OK(buf_printf(why, &told, " %08x", (unsigned)outcomes[i].sum));
		OK(buf_append(why, &told, "\n", 1));
		buf_free(&outcomes[i].changes);
	}
	outcome_count = 0;
}

/* ---- bytes: each one is changed, and the end comes earlier or later */

struct range {
	size_t from;
	char text[MAX_TEXT];
	uint64_t sum;
};

static void end_range(const struct range *range, const char *change, size_t until)
{
	char sum[16] = "";

	if (!strcmp(range->text, "taken"))
		(void)snprintf(sum, sizeof sum, " %08x", (unsigned)range->sum);
	if (until > range->from)
		OK(buf_printf(why, &told, "%s at %zu-%zu: %s%s\n", change, range->from, until - 1,
					  range->text, sum));
}

static void change_bytes(const char *data, size_t size)
{
	static const char *const changes[] = {"^01", "^80", "=00",     "=ff",
										  "=20", "cut", "removed", "twice"};

	for (size_t kind = 0; kind < sizeof changes / sizeof *changes; kind++) {
		struct range range = {.sum = FNV_START};

		for (size_t at = 0; at < size; at++) {
			struct buf bytes = BUF_MAX(MAX_SIZE);
			char text[MAX_TEXT];
			uint64_t sum;

			OK(buf_append(why, &bytes, data, size));
			OK(buf_append(why, &bytes, data + size - 1, 1));
			if (kind < 5)
				bytes.data[at] =
					(uint8_t[]){bytes.data[at] ^ 1, bytes.data[at] ^ 0x80, 0, 0xff, ' '}[kind];
			else if (kind == 6)
				memmove(bytes.data + at, bytes.data + at + 1, size - at);
			else if (kind == 7)
				memcpy(bytes.data + at + 1, data + at, size - at);
			(void)try_bytes(text, (char *)bytes.data,
							kind < 5    ? size
							: kind == 5 ? at
							: kind == 6 ? size - 1
										: size + 1,
							&sum);
			buf_free(&bytes);
			if (strcmp(text, range.text) != 0) {
				end_range(&range, changes[kind], at);
				range = (struct range){.from = at, .sum = FNV_START};
				TEXT_COPY(range.text, text);
			}
			range.sum = fnv_update(range.sum, &sum, strncmp(text, "taken", 5) ? 0 : sizeof sum);
		}
		end_range(&range, changes[kind], size);
	}
}

/* ---- JSON: each value */

static cJSON *whole;

static void note_json(const char *change)
{
	char *text = cJSON_PrintUnformatted(whole);

	note(text, strlen(text), "%s", change);
	cJSON_free(text);
}

static uint64_t takes_sum; /* a sum of the accepted values */

static bool takes(void)
{
	char *text = cJSON_PrintUnformatted(whole), said[MAX_TEXT];
	uint64_t sum;
	const bool taken = !try_bytes(said, text, strlen(text), &sum);

	cJSON_free(text);
	if (taken)
		takes_sum = fnv_update(takes_sum, &sum, sizeof sum);
	return taken;
}

/* Takes the place of a value; the value's neighbours and name stay. */
static void become(cJSON *node, const cJSON *other)
{
	node->type = other->type;
	node->child = other->child;
	node->valuestring = other->valuestring;
	node->valuedouble = other->valuedouble;
}

static void note_other(cJSON *node, cJSON *other, const char *change)
{
	const cJSON before = *node;

	become(node, other);
	note_json(change);
	become(node, &before);
	cJSON_Delete(other);
}

static void note_place(cJSON *parent, cJSON *node)
{
	cJSON *const next = node->next, *other = cJSON_Duplicate(node, true), **link = &parent->child;

	while (*link != node)
		link = &(*link)->next;
	node->next = other;
	other->next = next;
	note_json("twice");
	*link = node->next = next;
	note_json("removed");
	*link = node;
	other->next = NULL;
	cJSON_Delete(other);
	if (next) {
		const cJSON before = *node;

		become(node, next);
		become(next, &before);
		note_json("swapped");
		become(next, node);
		become(node, &before);
	}
}

static void tell_bound(const char *path, const char *what, double bound)
{
	OK(buf_printf(why, &told, "%s %s %.0f\n", path, what, bound));
}

/* Finds the largest and the smallest number that is accepted. */
static void number_bounds(const char *path, cJSON *node)
{
	const double before = node->valuedouble;

	for (int smallest = 0; smallest < 2; smallest++) {
		double taken = (double)(int64_t)before, other = smallest ? -1 : 36028797018963968.0;

		while (taken - other > 1 || other - taken > 1) {
			node->valuedouble = (double)(int64_t)((taken + other) / 2);
			*(takes() ? &taken : &other) = node->valuedouble;
		}
		tell_bound(path, smallest ? "at least" : "at most", taken);
	}
	node->valuedouble = before;
}

static void set_length(char *text, size_t from, size_t length)
{
	memset(text + from, text[from - 1], length - from);
	text[length] = '\0';
}

static void text_bounds(const char *path, cJSON *node)
{
	char *const before = node->valuestring, *text = calloc(1, LONGEST + 1);
	const size_t length = strlen(before);
	size_t low = length, high = LONGEST;

	memcpy(text, before, length);
	node->valuestring = text;
	while (length && high - low > 1) {
		set_length(text, length, (low + high) / 2);
		*(takes() ? &low : &high) = (low + high) / 2;
	}
	tell_bound(path, "at most as long as", (double)low);
	memcpy(text, before, length + 1);
	for (size_t place = 0; length && place < 3; place++) {
		static const char *const places[] = {"begin", "end", "go on"};
		const size_t at = (size_t[]){0, length - 1, length / 2}[place];
		struct buf set = BUF_MAX(4096);

		takes_sum = FNV_START;
		for (int c = 1; c < 128; c++) {
			text[at] = (char)c;
			if (takes())
				OK(buf_printf(why, &set, c > ' ' && c < 127 ? "%c" : " %02x ", c));
		}
		text[at] = before[at];
		OK(buf_printf(why, &told, "%s may %s with %s: %08x\n", path, places[place], buf_text(&set),
					  (unsigned)takes_sum));
		buf_free(&set);
	}
	node->valuestring = before;
	free(text);
}

static void change_text(cJSON *node)
{
	static const char *const tricky[] = {"nul.jwpack", "a.jwpack", "..",    "/etc/passwd",
										 "sm_90a",     "12.4",     "610062"};
	const char *before = node->valuestring;
	const size_t length = strlen(before);
	char other[4096];

	for (int kind = 0; length && length < 2048 && kind < 6; kind++) {
		static const char *const names[] = {"longer", "shorter",  "other",
											"upper",  "with-ESC", "upwards"};

		(void)snprintf(other, sizeof other,
					   kind == 0   ? "%s%.1s"
					   : kind == 5 ? "../%s"
								   : "%s",
					   before, before + length - 1);
		if (kind == 1)
			other[length - 1] = '\0';
		if (kind == 2)
			other[length / 2] = other[length / 2] == '1' ? '2' : '1';
		for (size_t i = 0; kind == 3 && i < length; i++)
			other[i] = (char)(other[i] >= 'a' && other[i] <= 'z' ? other[i] - 32 : other[i]);
		if (kind == 4)
			other[length / 2] = '\x1b';
		note_other(node, cJSON_CreateString(other), names[kind]);
	}
	for (size_t i = 0; i < sizeof tricky / sizeof *tricky; i++)
		note_other(node, cJSON_CreateString(tricky[i]), tricky[i]);
}

static void change_value(const char *path, cJSON *node)
{
	static const double numbers[] = {0,
									 1,
									 -1,
									 1.5,
									 1e300,
									 4294967296.0,
									 9007199254740992.0,
									 9007199254740994.0,
									 1.8446744073709552e19};
	char text[64];

	note_other(node, cJSON_CreateNull(), "null");
	note_other(node, cJSON_CreateTrue(), "true");
	note_other(node, cJSON_CreateFalse(), "false");
	note_other(node, cJSON_CreateString(""), "empty");
	note_other(node, cJSON_CreateString("x"), "x");
	note_other(node, cJSON_CreateArray(), "[]");
	note_other(node, cJSON_CreateObject(), "{}");
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		(void)snprintf(text, sizeof text, "%.16g", numbers[i]);
		note_other(node, cJSON_CreateNumber(numbers[i]), text);
	}
	if (cJSON_IsNumber(node)) {
		(void)snprintf(text, sizeof text, "%.16g", node->valuedouble);
		note_other(node, cJSON_CreateString(text), "as-text");
		note_other(node, cJSON_CreateNumber(node->valuedouble + 1), "+1");
		note_other(node, cJSON_CreateNumber(node->valuedouble - 1), "-1");
	}
	if (cJSON_IsString(node))
		change_text(node);
	if (cJSON_IsObject(node)) {
		cJSON *other = cJSON_CreateObject();

		(void)cJSON_AddItemToObject(other, "another", cJSON_CreateNumber(1));
		other->child->next = node->child;
		node->child = other->child;
		note_json("another");
		node->child = other->child->next;
		other->child->next = NULL;
		cJSON_Delete(other);
	}
	tell_outcomes(path);
	if (cJSON_IsNumber(node))
		number_bounds(path, node);
	if (cJSON_IsString(node) && !document->makes) /* a pack takes a while */
		text_bounds(path, node);
}

static void change_json(const char *path, cJSON *node)
{
	size_t n = 0;

	change_value(path, node);
	for (cJSON *child = node->child, *next; child; child = next, n++) {
		char *below = child->string ? mem_printf("%s.%s", path, child->string)
									: mem_printf("%s[%zu]", path, n);

		next = child->next;
		note_place(node, child);
		tell_outcomes(below);
		change_json(below, child);
		mem_free(below);
	}
}

static void change(struct buf *sample)
{
	char text[MAX_TEXT];
	uint64_t sum;

	told = BUF_MAX(1 << 26);
	calm = 0;
	if (try_bytes(text, buf_text(sample), sample->size, &calm))
		fail_msg("%s: %s", document->name, text);
	if (document->is_bytes) {
		change_bytes((const char *)sample->data, sample->size);
		return;
	}
	whole = json_parse(NULL, buf_text(sample), sample->size);
	assert_non_null(whole);
	/* the value as it is printed */
	{
		char *printed = cJSON_PrintUnformatted(whole);

		assert_int_equal(try_bytes(text, printed, strlen(printed), &sum), 0);
		assert_true(sum == calm);
		cJSON_free(printed);
	}
	change_json("", whole);
	cJSON_Delete(whole);
}

static void first_difference(const char *golden)
{
	const char *now = buf_text(&told), *line = now, *was = golden;
	size_t number = 1;

	for (size_t i = 0; now[i] && now[i] == golden[i]; i++)
		if (now[i] == '\n') {
			line = now + i + 1;
			was = golden + i + 1;
			number++;
		}
	fail_msg("tests/data/changed/%s, line %zu: now\n%.*s\nnot\n%.*s", document->name, number,
			 (int)strcspn(line, "\n"), line, (int)strcspn(was, "\n"), was);
}
