/* Counts the inputs of the cost model. */
#include <string.h>

#include "devcode/lanes.h"
#include "devcode/ptx.h"

enum {
	STEPS = 128,           /* steps between two checks of the counters, which hold up to 255 */
	BLOCK = LANES * STEPS, /* bytes between two such checks */
	AHEAD = 12,            /* the longest counted word ends at most this far behind its start */
};

static uint64_t sum(lanes counters)
{
	uint64_t total = 0;

	for (size_t i = 0; i < LANES; i++)
		total += counters[i];
	return total;
}

/* Counts the rare words at `size` places, one after the other. */
static void count_directives(const uint8_t *at, size_t size, size_t left,
							 struct ptx_features *features)
{
	const uint8_t *dot = at, *end = at + size;

	while ((dot = memchr(dot, '.', (size_t)(end - dot)))) {
		size_t rest = left - (size_t)(dot - at);

		if (rest >= 6 && !memcmp(dot, ".entry", 6))
			features->entries++;
		else if (rest >= 5 && !memcmp(dot, ".func", 5))
			features->code = true;
		dot++;
	}
}

static bool is_division(const uint8_t *at, size_t left)
{
	static const char *const words[] = {"rem.", "div.s64", "div.u64", "div.rn.f64"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (left >= strlen(words[i]) && !memcmp(at, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Where a division may begin; includes words that look similar. */
static lanes near_division(const uint8_t *at)
{
	lanes zero = lanes_load(at), one = lanes_load(at + 1), two = lanes_load(at + 2),
		  three = lanes_load(at + 3);

	return lanes_equal(three, '.') &
		   ((lanes_equal(zero, 'd') & lanes_equal(one, 'i') & lanes_equal(two, 'v')) |
			(lanes_equal(zero, 'r') & lanes_equal(one, 'e') & lanes_equal(two, 'm')));
}

static void count_divisions(const uint8_t *at, size_t left, struct ptx_features *features)
{
	for (size_t i = 0; i < BLOCK; i += LANES) {
		if (!lanes_any(near_division(at + i)))
			continue;
		for (size_t k = i; k < i + LANES; k++)
			features->divisions += is_division(at + k, left - k);
	}
}

static void count_block(const uint8_t *at, size_t left, struct ptx_features *features)
{
	lanes statements = {0}, divisions = {0}, rare = {0};

	for (size_t i = 0; i < BLOCK; i += LANES) {
		lanes zero = lanes_load(at + i), one = lanes_load(at + i + 1), two = lanes_load(at + i + 2);

		statements -= lanes_equal(zero, ';') & (lanes_equal(one, '\n') | lanes_equal(one, '\r'));
		divisions |= near_division(at + i);
		rare |= lanes_equal(zero, '.') & ((lanes_equal(one, 'e') & lanes_equal(two, 'n')) |
										  (lanes_equal(one, 'f') & lanes_equal(two, 'u')));
	}
	features->statements += sum(statements);
	if (lanes_any(divisions))
		count_divisions(at, left, features);
	if (lanes_any(rare))
		count_directives(at, BLOCK, left, features);
}

void ptx_count(const void *text, size_t size, struct ptx_features *ret_features)
{
	struct ptx_features features = {0};
	const uint8_t *at = text;

	for (; size >= BLOCK + AHEAD; at += BLOCK, size -= BLOCK)
		count_block(at, size, &features);
	for (size_t i = 0; i < size; i++) {
		if (at[i] == ';' && size - i > 1 && (at[i + 1] == '\n' || at[i + 1] == '\r'))
			features.statements++;
		else if (at[i] == 'd' || at[i] == 'r')
			features.divisions += is_division(at + i, size - i);
	}
	count_directives(at, size, size, &features);
	if (features.entries)
		features.code = true;
	*ret_features = features;
}
