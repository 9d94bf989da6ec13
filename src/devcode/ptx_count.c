/* Counts the inputs of the cost model, sixteen bytes at a time. GCC's and clang's vector types need
 * no intrinsics, and become scalar code on a machine without vectors. */
#include <string.h>

#include "devcode/ptx.h"

enum {
	LANES = 16,
	STEPS = 128,           /* steps between two checks of the counters, which hold up to 255 */
	BLOCK = LANES * STEPS, /* bytes between two such checks */
	AHEAD = 12,            /* the longest counted word ends at most this far behind its start */
};

typedef uint8_t lanes __attribute__((vector_size(LANES)));

static lanes load_count_lanes(const uint8_t *from)
{
	lanes value;

	memcpy(&value, from, sizeof value);
	return value;
}

static lanes equal(lanes a, char c)
{
	return (lanes)(a == (uint8_t)c);
}

static uint64_t sum(lanes counters)
{
	uint64_t total = 0;

	for (size_t i = 0; i < LANES; i++)
		total += counters[i];
	return total;
}

static bool any_bit(lanes bits)
{
	uint64_t words[LANES / 8], all = 0;

	memcpy(words, &bits, sizeof words);
	for (size_t i = 0; i < LANES / 8; i++)
		all |= words[i];
	return all != 0;
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
	lanes zero = load_count_lanes(at), one = load_count_lanes(at + 1),
		  two = load_count_lanes(at + 2), three = load_count_lanes(at + 3);

	return equal(three, '.') & ((equal(zero, 'd') & equal(one, 'i') & equal(two, 'v')) |
								(equal(zero, 'r') & equal(one, 'e') & equal(two, 'm')));
}

static void count_divisions(const uint8_t *at, size_t left, struct ptx_features *features)
{
	for (size_t i = 0; i < BLOCK; i += LANES) {
		if (!any_bit(near_division(at + i)))
			continue;
		for (size_t k = i; k < i + LANES; k++)
			features->divisions += is_division(at + k, left - k);
	}
}

static void count_block(const uint8_t *at, size_t left, struct ptx_features *features)
{
	lanes statements = {0}, divisions = {0}, rare = {0};

	for (size_t i = 0; i < BLOCK; i += LANES) {
		lanes zero = load_count_lanes(at + i), one = load_count_lanes(at + i + 1),
			  two = load_count_lanes(at + i + 2);

		statements -= equal(zero, ';') & (equal(one, '\n') | equal(one, '\r'));
		divisions |= near_division(at + i);
		rare |= equal(zero, '.') &
				((equal(one, 'e') & equal(two, 'n')) | (equal(one, 'f') & equal(two, 'u')));
	}
	features->statements += sum(statements);
	if (any_bit(divisions))
		count_divisions(at, left, features);
	if (any_bit(rare))
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
