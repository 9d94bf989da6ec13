/* As in zlib and libdeflate, tables tell for the next bits which symbol they begin with. An entry
 * also holds how many bits the symbol and its extra bits have, so that one step takes both, and 56
 * bits at hand are enough for a length and a distance. */
#include "devcode/inflate.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "devcode/prefix_code.h"

enum {
	HISTORY = 1 << 15,   /* how far a distance reaches */
	PIECE = 1 << 17,     /* made at a time */
	ROOM = 3 + 258 + 16, /* behind a piece: what one step may make, and write, beyond its end */
	LITERAL_BITS = 11,
	LITERAL_ENTRIES =
		2342, /* the most that 288 symbols need with tables of 11 bits: zlib's enough.c */
	DISTANCE_BITS = 8,
	DISTANCE_ENTRIES = 402, /* 32 symbols, 8 bits */
	ORDER_BITS = 7,
	ORDERS = 19,
	LITERALS = 288,
	DISTANCES = 32,
	FAKE_MOST = 8, /* bytes of zeros that may be at hand behind the end */
};

struct code_bits {
	const uint8_t *at, *end;
	uint64_t bits;
	unsigned count; /* of bits that are at hand; above them are the same ones as in `at` */
	unsigned fakes; /* bytes of zeros that were taken behind the end */
};

enum inflate_state { AT_BLOCK, IN_STORED, IN_CODES, AT_END };

struct inflate {
	struct code_bits in;
	const uint8_t *data;
	enum inflate_state state;
	bool last;          /* this block is the last one */
	bool fixed;         /* the tables are those of the fixed codes */
	size_t stored;      /* bytes left of a stored block */
	size_t given, made; /* of `window` */
	uint32_t literals[LITERAL_ENTRIES], distances[DISTANCE_ENTRIES];
	uint8_t window[HISTORY + PIECE + ROOM];
};

/* ---- bits */

/* At least 56 bits are at hand then. */
static inline void need_bits(struct code_bits *in)
{
	if (in->end - in->at >= 8) {
		in->bits |= load_u64(in->at) << in->count;
		in->at += (63 - in->count) >> 3;
		in->count |= 56;
		return;
	}
	for (; in->count <= 56; in->count += 8) {
		if (in->at < in->end)
			in->bits |= (uint64_t)*in->at++ << in->count;
		else
			in->fakes++;
	}
}

static inline void drop_bits(struct code_bits *in, unsigned count)
{
	in->bits >>= count;
	in->count -= count;
}

static inline unsigned take_bits(struct code_bits *in, unsigned count)
{
	const unsigned value = (unsigned)(in->bits & ((UINT64_C(1) << count) - 1));

	drop_bits(in, count);
	return value;
}

/* Whether bits were taken that the data does not have. */
static bool is_cut_off(const struct code_bits *in)
{
	return in->count < in->fakes * 8;
}

/* Gives back the bytes that were not begun. */
static void align_bits(struct code_bits *in)
{
	in->at -= in->count / 8 - in->fakes;
	in->fakes = 0;
	in->count = 0;
	in->bits = 0;
}

/* ---- the head of a block */

/* Symbols of literals, of the block's end and of lengths; and of distances. RFC 1951, 3.2.5 */
static uint32_t literal_meaning(size_t symbol)
{
	static const uint16_t bases[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
									 15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
									 67, 83, 99, 115, 131, 163, 195, 227, 258};
	static const uint8_t extras[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
									 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

	if (symbol < 256)
		return CODE_LITERAL | (uint32_t)symbol << 16;
	if (symbol == 256)
		return CODE_SPECIAL | CODE_END;
	return symbol < 257 + sizeof extras ? (uint32_t)bases[symbol - 257] << 16 | extras[symbol - 257]
										: CODE_SPECIAL;
}

static uint32_t distance_meaning(size_t symbol)
{
	const uint32_t number = (uint32_t)symbol, extra = number < 4 ? 0 : number / 2 - 1;
	const uint32_t base = number < 4 ? number + 1 : ((2 + number % 2) << extra) + 1;

	return number < 30 ? base << 16 | extra : CODE_SPECIAL;
}

static uint32_t order_meaning(size_t symbol)
{
	return (uint32_t)symbol << 16;
}

static bool build_tables(struct inflate *inflate, const uint8_t *literals, size_t literal_count,
						 const uint8_t *distances, size_t distance_count)
{
	const struct code_table literal = {inflate->literals, LITERAL_ENTRIES, LITERAL_BITS,
									   literal_meaning};
	const struct code_table distance = {inflate->distances, DISTANCE_ENTRIES, DISTANCE_BITS,
										distance_meaning};

	return code_table_build(&literal, literals, literal_count) &&
		   code_table_build(&distance, distances, distance_count);
}

static void begin_fixed(struct inflate *inflate)
{
	uint8_t literals[LITERALS], distances[DISTANCES];

	if (inflate->fixed)
		return;
	memset(literals, 8, 144);
	memset(literals + 144, 9, 256 - 144);
	memset(literals + 256, 7, 280 - 256);
	memset(literals + 280, 8, LITERALS - 280);
	memset(distances, 5, DISTANCES);
	inflate->fixed = build_tables(inflate, literals, LITERALS, distances, DISTANCES);
}

/* The lengths of both codes, themselves coded and with repetitions; false: damaged. */
static bool read_lengths(struct code_bits *in, const uint32_t *orders, uint8_t *lengths,
						 size_t count)
{
	for (size_t at = 0; at < count;) {
		uint32_t entry;
		unsigned symbol;
		uint8_t length = 0;
		size_t times;

		need_bits(in);
		entry = orders[in->bits & ((1U << ORDER_BITS) - 1)];
		if (entry & CODE_SPECIAL)
			return false;
		drop_bits(in, entry & CODE_ALL_BITS);
		symbol = entry >> 16;
		if (symbol < 16) {
			lengths[at++] = (uint8_t)symbol;
			continue;
		}
		if (symbol == 16 && !at)
			return false;
		if (symbol == 16)
			length = lengths[at - 1];
		times = symbol == 16   ? 3 + take_bits(in, 2)
				: symbol == 17 ? 3 + take_bits(in, 3)
							   : 11 + take_bits(in, 7);
		if (times > count - at)
			return false;
		memset(lengths + at, length, times);
		at += times;
	}
	return true;
}

static bool begin_dynamic(struct inflate *inflate)
{
	static const uint8_t order[ORDERS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
										  11, 4,  12, 3, 13, 2, 14, 1, 15};
	struct code_bits *in = &inflate->in;
	uint32_t orders[1 << ORDER_BITS];
	const struct code_table table = {orders, 1 << ORDER_BITS, ORDER_BITS, order_meaning};
	uint8_t order_lengths[ORDERS] = {0}, lengths[LITERALS + DISTANCES] = {0};
	const size_t literals = 257 + take_bits(in, 5), distances = 1 + take_bits(in, 5),
				 order_count = 4 + take_bits(in, 4);

	inflate->fixed = false;
	if (literals > 286 || distances > 30)
		return false;
	for (size_t i = 0; i < order_count; i++) {
		need_bits(in);
		order_lengths[order[i]] = (uint8_t)take_bits(in, 3);
	}
	return code_table_build(&table, order_lengths, ORDERS) &&
		   read_lengths(in, orders, lengths, literals + distances) && lengths[256] &&
		   build_tables(inflate, lengths, literals, lengths + literals, distances);
}

static bool begin_stored(struct inflate *inflate)
{
	struct code_bits *in = &inflate->in;
	unsigned size, again;

	if (is_cut_off(in))
		return false;
	align_bits(in);
	need_bits(in);
	size = take_bits(in, 16);
	again = take_bits(in, 16);
	if (is_cut_off(in) || size != (again ^ 0xffff))
		return false;
	align_bits(in);
	inflate->stored = size;
	return true;
}

static bool begin_block(struct inflate *inflate)
{
	unsigned kind;

	need_bits(&inflate->in);
	inflate->last = take_bits(&inflate->in, 1);
	kind = take_bits(&inflate->in, 2);
	inflate->state = kind ? IN_CODES : IN_STORED;
	if (kind == 1)
		begin_fixed(inflate);
	return kind == 0 ? begin_stored(inflate) : kind == 2 ? begin_dynamic(inflate) : kind == 1;
}

/* ---- its content */

/* The symbol at the next bits, from the table behind the first one if it is there. */
static inline uint32_t symbol_at(struct code_bits *in, const uint32_t *table, unsigned bits)
{
	uint32_t entry = table[in->bits & ((1U << bits) - 1)];

	if (entry & CODE_SPECIAL && entry & CODE_MORE) {
		drop_bits(in, bits);
		entry = table[(entry >> 16 & CODE_VALUE) + (in->bits & ((1U << (entry >> 8 & 15)) - 1))];
	}
	return entry;
}

static inline size_t take_base_and_extra(struct code_bits *in, uint32_t entry)
{
	const unsigned all = entry & CODE_ALL_BITS, own = entry >> 8 & 15;
	const uint64_t extra = (in->bits & ((UINT64_C(1) << all) - 1)) >> own;

	drop_bits(in, all);
	return (entry >> 16 & CODE_VALUE) + (size_t)extra;
}

/* Writes up to 15 bytes more. */
static inline void copy_match(uint8_t *out, size_t distance, size_t length)
{
	const uint8_t *from = out - distance, *end = out + length;

	if (distance >= 16) {
		for (; out < end; out += 16, from += 16)
			memcpy(out, from, 16);
	} else if (distance == 1) {
		memset(out, *from, length);
	} else {
		while (out < end)
			*out++ = *from++;
	}
}

/* Up to the block's end, or a bit beyond `limit`. NULL: damaged. The whole of inflating is here. */
static uint8_t *run_codes(struct inflate *inflate, uint8_t *out, const uint8_t *limit)
{
	struct code_bits in = inflate->in;
	const uint32_t *const literals = inflate->literals;

	while (out < limit && in.fakes <= FAKE_MOST) {
		uint32_t entry;
		size_t length, distance;

		need_bits(&in);
		entry = symbol_at(&in, literals, LITERAL_BITS);
		for (unsigned more = 2; entry & CODE_LITERAL && more; more--) {
			drop_bits(&in, entry & CODE_ALL_BITS);
			*out++ = (uint8_t)(entry >> 16);
			entry = symbol_at(&in, literals, LITERAL_BITS);
		}
		if (entry & CODE_LITERAL) {
			drop_bits(&in, entry & CODE_ALL_BITS);
			*out++ = (uint8_t)(entry >> 16);
			continue;
		}
		if (entry & CODE_SPECIAL) {
			drop_bits(&in, entry & CODE_ALL_BITS);
			inflate->state = AT_BLOCK;
			out = entry & CODE_END ? out : NULL;
			break;
		}
		need_bits(&in);
		length = take_base_and_extra(&in, entry);
		entry = symbol_at(&in, inflate->distances, DISTANCE_BITS);
		distance = take_base_and_extra(&in, entry);
		if (entry & CODE_SPECIAL || distance > (size_t)(out - inflate->window)) {
			out = NULL;
			break;
		}
		copy_match(out, distance, length);
		out += length;
	}
	inflate->in = in;
	return is_cut_off(&in) ? NULL : out;
}

static bool copy_stored(struct inflate *inflate, size_t limit)
{
	struct code_bits *in = &inflate->in;
	const size_t room = limit - inflate->made, left = (size_t)(in->end - in->at);
	size_t size = inflate->stored < room ? inflate->stored : room;

	if (size > left)
		return false;
	memcpy(inflate->window + inflate->made, in->at, size);
	in->at += size;
	inflate->made += size;
	inflate->stored -= size;
	if (!inflate->stored)
		inflate->state = AT_BLOCK;
	return true;
}

static bool inflate_step(struct inflate *inflate, size_t limit)
{
	uint8_t *out;

	switch (inflate->state) {
	case AT_BLOCK:
		if (!inflate->last)
			return begin_block(inflate);
		inflate->state = AT_END;
		return !is_cut_off(&inflate->in);
	case IN_STORED: return copy_stored(inflate, limit);
	case IN_CODES:
		out = run_codes(inflate, inflate->window + inflate->made, inflate->window + limit);
		if (out)
			inflate->made = (size_t)(out - inflate->window);
		return out != NULL;
	case AT_END: break;
	}
	return true;
}

/* Makes up to `wanted` bytes, or a few more; none at the end. All that was made before is given. */
static int make_more(struct jw_error *err, struct inflate *inflate, size_t wanted)
{
	size_t limit;

	if (inflate->made > HISTORY) {
		memmove(inflate->window, inflate->window + inflate->made - HISTORY, HISTORY);
		inflate->made = HISTORY;
	}
	inflate->given = inflate->made;
	limit = inflate->made + (wanted < PIECE ? wanted : PIECE);
	while (inflate->made < limit && inflate->state != AT_END)
		if (!inflate_step(inflate, limit))
			return is_cut_off(&inflate->in)
					   ? error_set(err, JW_ERR_FORMAT, "its deflated data is cut off")
					   : error_set(err, JW_ERR_FORMAT, "its deflated data is damaged");
	return 0;
}

int inflate_read(struct jw_error *err, struct inflate *inflate, uint8_t *to, size_t size,
				 size_t *ret_got)
{
	size_t got = 0;

	while (got < size) {
		size_t held = inflate->made - inflate->given;

		if (!held && inflate->state == AT_END)
			break;
		if (!held && make_more(err, inflate, size - got))
			return -1;
		held = inflate->made - inflate->given;
		held = held < size - got ? held : size - got;
		memcpy(to + got, inflate->window + inflate->given, held);
		inflate->given += held;
		got += held;
	}
	*ret_got = got;
	return 0;
}

size_t inflate_taken(const struct inflate *inflate)
{
	const struct code_bits *in = &inflate->in;

	return (size_t)(in->at - inflate->data) - (in->count / 8 - in->fakes);
}

void inflate_begin(struct inflate *inflate, const uint8_t *data, size_t size)
{
	inflate->in = (struct code_bits){.at = data, .end = data + size};
	inflate->data = data;
	inflate->state = AT_BLOCK;
	inflate->last = false;
	inflate->given = inflate->made = 0;
}

int inflate_open(struct jw_error *err, struct inflate **ret_inflate)
{
	struct inflate *inflate = mem_alloc(err, sizeof *inflate);

	if (!inflate)
		return -1;
	*ret_inflate = inflate;
	return 0;
}

void inflate_close(struct inflate *inflate)
{
	mem_free(inflate);
}
