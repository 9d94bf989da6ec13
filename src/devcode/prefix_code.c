#include "devcode/prefix_code.h"

enum { SYMBOLS = 288 };

struct filling {
	const struct code_table *table;
	unsigned counts[CODE_LONGEST + 1]; /* of symbols still to be placed, by length */
	unsigned longest;
	size_t used;     /* entries */
	uint32_t prefix; /* of the codes in the table that was opened last, which begins at `start` */
	size_t start;
	unsigned bits; /* of its index */
};

static void count_lengths(const uint8_t *lengths, size_t count, unsigned *counts)
{
	for (size_t i = 0; i <= CODE_LONGEST; i++)
		counts[i] = 0;
	for (size_t i = 0; i < count; i++)
		counts[lengths[i]]++;
	counts[0] = 0;
}

/* Codes of the greatest length that are left over; less than 0: there are too many symbols. */
static int codes_left(const unsigned *counts)
{
	int left = 1;

	for (size_t i = 1; i <= CODE_LONGEST && left >= 0; i++)
		left = left * 2 - (int)counts[i];
	return left;
}

/* The next code of that length. Their bits are in reverse, as they come. */
static uint32_t next_code(uint32_t code, unsigned length)
{
	uint32_t bit = UINT32_C(1) << (length - 1);

	while (code & bit)
		bit >>= 1;
	return bit ? (code & (bit - 1)) | bit : 0;
}

/* For all codes that begin with `prefix`, of which this one is the shortest. */
static bool open_table(struct filling *filling, uint32_t prefix, unsigned length)
{
	const struct code_table *table = filling->table;
	unsigned bits = length - table->bits;
	int left = 1 << bits;

	while (bits + table->bits < filling->longest) {
		left -= (int)filling->counts[bits + table->bits];
		if (left <= 0)
			break;
		bits++;
		left *= 2;
	}
	if ((size_t)1 << bits > table->room - filling->used)
		return false;
	filling->prefix = prefix;
	filling->start = filling->used;
	filling->bits = bits;
	filling->used += (size_t)1 << bits;
	table->entries[prefix] =
		CODE_SPECIAL | CODE_MORE | (uint32_t)filling->start << 16 | bits << 8 | table->bits;
	return true;
}

static bool place_symbol(struct filling *filling, size_t symbol, uint32_t code, unsigned length)
{
	const struct code_table *table = filling->table;
	const uint32_t prefix = code & ((UINT32_C(1) << table->bits) - 1),
				   entry = table->meaning(symbol);
	uint32_t *entries = table->entries;
	unsigned bits = table->bits;

	if (length > table->bits) {
		if (prefix != filling->prefix && !open_table(filling, prefix, length))
			return false;
		entries += filling->start;
		bits = filling->bits;
		code >>= table->bits;
		length -= table->bits;
	}
	for (size_t i = code; i < (size_t)1 << bits; i += (size_t)1 << length)
		entries[i] = entry + length * 0x101;
	return true;
}

static bool place_symbols(struct filling *filling, const uint8_t *lengths, size_t count)
{
	uint16_t sorted[SYMBOLS], at[CODE_LONGEST + 1] = {0};
	uint32_t code = 0;
	size_t used = 0;

	for (size_t i = 1; i < CODE_LONGEST; i++)
		at[i + 1] = (uint16_t)(at[i] + filling->counts[i]);
	for (size_t i = 0; i < count; i++) {
		if (lengths[i]) {
			sorted[at[lengths[i]]++] = (uint16_t)i;
			used++;
		}
	}
	for (size_t i = 0; i < used; i++) {
		const unsigned length = lengths[sorted[i]];

		if (!place_symbol(filling, sorted[i], code, length))
			return false;
		filling->counts[length]--;
		code = next_code(code, length);
	}
	return true;
}

bool code_table_build(const struct code_table *table, const uint8_t *lengths, size_t count)
{
	struct filling filling = {.table = table,
							  .longest = CODE_LONGEST,
							  .used = (size_t)1 << table->bits,
							  .prefix = UINT32_MAX};
	int left;

	count_lengths(lengths, count, filling.counts);
	while (filling.longest && !filling.counts[filling.longest])
		filling.longest--;
	left = codes_left(filling.counts);
	if (left < 0 || (left && filling.longest > 1))
		return false;
	for (size_t i = 0; left && i < (size_t)1 << table->bits; i++)
		table->entries[i] = CODE_SPECIAL;
	return place_symbols(&filling, lengths, count);
}
