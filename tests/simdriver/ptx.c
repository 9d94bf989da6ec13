/* Reads the facts of a PTX text that the simulated compiler needs: its version, its target, and the
 * inputs of its cost. */
#include "sim.h"

#include <string.h>

/* Returns the number after a directive: `.version 8.4` gives 84. */
static unsigned read_isa(const uint8_t *at, const uint8_t *end)
{
	unsigned major = 0, minor = 0;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		major = major * 10 + (unsigned)(*at - '0');
	if (at < end && *at == '.')
		for (at++; at < end && *at >= '0' && *at <= '9'; at++)
			minor = minor * 10 + (unsigned)(*at - '0');
	return major * 10 + minor;
}

static void read_target(struct ptx *ptx, const uint8_t *at, const uint8_t *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (end - at < 3 || memcmp(at, "sm_", 3) != 0)
		return;
	for (at += 3; at < end && *at >= '0' && *at <= '9'; at++)
		ptx->target = ptx->target * 10 + (*at - '0');
	if (at < end && (*at == 'a' || *at == 'f'))
		ptx->target_form = (char)*at;
}

static void add_name(struct bytes *names, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *start;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (start = at; at<end && * at> ' ' && *at != '(' && *at != '{';)
		at++;
	bytes_add(names, start, (size_t)(at - start));
	bytes_add(names, NULL, 1);
}

static void add_entry(struct ptx *ptx, const uint8_t *at, const uint8_t *end)
{
	add_name(&ptx->names, at, end);
	ptx->entries++;
}

/* Reads “.visible .func (.param .b32 result) NAME(”; in the sample's texts a declaration is extern.
 * */
static void add_function(struct ptx *ptx, const uint8_t *at, const uint8_t *end)
{
	while (at < end && *at == ' ')
		at++;
	if (at < end && *at == '(')
		while (at < end && *at++ != ')')
			;
	add_name(&ptx->function_names, at, end);
	ptx->functions++;
}

static bool starts(const uint8_t *at, const uint8_t *end, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(end - at) > length && memcmp(at, word, length) == 0;
}

/* Reads one line without its comment. */
static void read_line(struct ptx *ptx, const uint8_t *at, const uint8_t *end, long *depth)
{
	if (end > at && end[-1] == ';')
		ptx->statements++;
	for (; at < end; at++) {
		*depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
		if (*at == 'b' && starts(at, end, "bra"))
			ptx->branches++;
		if (*at != '.')
			continue;
		if (starts(at, end, ".version") && !ptx->isa)
			ptx->isa = read_isa(at + 8, end);
		else if (starts(at, end, ".target") && !ptx->target)
			read_target(ptx, at + 7, end);
		else if (starts(at, end, ".entry"))
			add_entry(ptx, at + 6, end);
		else if (starts(at, end, ".visible .func"))
			add_function(ptx, at + 14, end);
	}
}

void ptx_read(struct ptx *ret_ptx, const uint8_t *text, size_t size)
{
	const uint8_t *end = text + size;
	long depth = 0;

	*ret_ptx = (struct ptx){0};
	while (text < end && *text) {
		const uint8_t *next = memchr(text, '\n', (size_t)(end - text));
		const uint8_t *stop = next ? next : end;

		for (const uint8_t *at = text; at + 1 < stop; at++)
			if (at[0] == '/' && at[1] == '/')
				stop = at;
		while (stop > text && (stop[-1] <= ' '))
			stop--;
		read_line(ret_ptx, text, stop, &depth);
		text = next ? next + 1 : end;
	}
	ret_ptx->balanced = depth == 0;
}

void ptx_free(struct ptx *ptx)
{
	bytes_free(&ptx->names);
	bytes_free(&ptx->function_names);
}
