/* Which machine code a driver loads from an entry, as conformance cases trust/ show it. */
#include "check.h"

#include <string.h>

#include "base/cursor.h"
#include "cache/sound.h"
#include "devcode/elf64.h"

TEST(code_that_drivers_load_is_sound)
{
	static const struct {
		uint16_t sm, device;
		enum cubin_abi abi;
		bool relocatable;
		enum cache_key_form form;
		uint32_t cuda;
		enum cache_damage damage;
	} cases[] = {
		{86, 86, CUBIN_ABI_7, false, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{80, 86, CUBIN_ABI_7, false, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{75, 86, CUBIN_ABI_7, false, CACHE_KEY_LOAD, 12040, CACHE_DAMAGE_GPU},
		{89, 86, CUBIN_ABI_7, false, CACHE_KEY_LOAD, 12040, CACHE_DAMAGE_GPU},
		{87, 89, CUBIN_ABI_7, false, CACHE_KEY_LOAD, 12040, CACHE_DAMAGE_GPU},
		{100, 103, CUBIN_ABI_8, false, CACHE_KEY_LOAD, 13000, CACHE_DAMAGE_GPU},
		{86, 86, CUBIN_ABI_8, false, CACHE_KEY_LOAD, 12040, CACHE_DAMAGE_ABI},
		{86, 86, CUBIN_ABI_8, false, CACHE_KEY_LOAD, 12080, CACHE_SOUND},
		{86, 86, CUBIN_ABI_8, false, CACHE_KEY_LOAD, 0, CACHE_SOUND},
		{86, 86, CUBIN_ABI_7, true, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{86, 86, CUBIN_ABI_7, true, CACHE_KEY_LINK, 12040, CACHE_SOUND},
		{86, 86, CUBIN_ABI_7, false, CACHE_KEY_LINK, 12040, CACHE_DAMAGE_LINKED},
		{81, 86, CUBIN_ABI_7, false, CACHE_KEY_LOAD, 12040, CACHE_DAMAGE_GPU},
		{86, 86, CUBIN_ABI_8, true, CACHE_KEY_LINK, 12040, CACHE_DAMAGE_ABI},
		{86, 86, CUBIN_ABI_8, true, CACHE_KEY_LINK, 12050, CACHE_SOUND},
		{86, 86, CUBIN_ABI_8, false, CACHE_KEY_LOAD, 12050, CACHE_DAMAGE_ABI},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct cubin_header cubin = {
			.abi = cases[i].abi, .sm = cases[i].sm, .relocatable = cases[i].relocatable};

		assert_int_equal(cache_cubin_damage(&cubin, (struct jw_target){.sm = cases[i].device},
											cases[i].form, cases[i].cuda),
						 cases[i].damage);
	}
	assert_int_equal(cache_cubin_damage(NULL, (struct jw_target){.sm = 86}, CACHE_KEY_LOAD, 12040),
					 CACHE_DAMAGE_CUBIN);
}

/* A header as ptxas writes it, and nothing behind it */
static void write_header(uint8_t header[ELF64_EHDR_SIZE], uint16_t type)
{
	memset(header, 0, ELF64_EHDR_SIZE);
	memcpy(header,
		   "\x7f"
		   "ELF\2\1\1\x33\7",
		   9);
	store_u16(header + 16, type);
	store_u16(header + 18, CUBIN_MACHINE);
	store_u32(header + 20, 114);
	store_u32(header + 48, 0x05500556);
	store_u16(header + 58, ELF64_SHDR_SIZE);
}

static int read_header(struct jw_error *err, void *context, uint64_t offset, void *data,
					   size_t size)
{
	(void)err;
	memcpy(data, (const uint8_t *)context + offset, size);
	return 0;
}

static enum cache_damage damage_of(uint8_t *header, enum cache_key_form form, uint32_t cuda)
{
	const struct cache_key_parts parts = {
		.form = form, .word_bits = 64, .target = {86, 0}, .stamp = "Jun 25 202401:14:48"};
	const struct cache_code code = {
		.parts = &parts, .read = read_header, .context = header, .size = ELF64_EHDR_SIZE};
	struct cache_loads loads = {.driver = {parts.stamp, cuda}};

	return cache_code_damage(&loads, &code);
}

/* Loaders and linkers look at different fields: docs/driver-cache.md, "What counts in a cubin's
 * header". */
TEST(a_header_counts_as_drivers_read_it)
{
	static const struct {
		size_t at;
		uint8_t bit;
		enum cache_key_form form;
		uint32_t cuda;
		enum cache_damage damage;
	} cases[] = {
		{0, 0, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{0, 0, CACHE_KEY_LINK, 12040, CACHE_SOUND},
		/* class, order, version of ELF, OSABI and its version */
		{4, 1, CACHE_KEY_LOAD, 12040, CACHE_DAMAGE_CUBIN},
		{4, 1, CACHE_KEY_LINK, 12040, CACHE_DAMAGE_CUBIN},
		{5, 2, CACHE_KEY_LOAD, 12040, CACHE_DAMAGE_CUBIN},
		{5, 2, CACHE_KEY_LINK, 12040, CACHE_SOUND},
		{6, 2, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{6, 2, CACHE_KEY_LINK, 12040, CACHE_SOUND},
		{7, 2, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{7, 2, CACHE_KEY_LINK, 12040, CACHE_SOUND},
		{8, 2, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{8, 2, CACHE_KEY_LINK, 12040, CACHE_DAMAGE_CUBIN},
		{8, 2, CACHE_KEY_LOAD, 12060, CACHE_DAMAGE_CUBIN},
		/* type and machine */
		{16, 4, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{16, 4, CACHE_KEY_LINK, 12020, CACHE_DAMAGE_CUBIN},
		{16, 4, CACHE_KEY_LINK, 12040, CACHE_SOUND},
		{16, 3, CACHE_KEY_LINK, 12040, CACHE_DAMAGE_LINKED},
		{18, 1, CACHE_KEY_LOAD, 12040, CACHE_DAMAGE_CUBIN},
		{18, 1, CACHE_KEY_LINK, 12040, CACHE_SOUND},
		{18, 1, CACHE_KEY_LINK, 12060, CACHE_DAMAGE_CUBIN},
		/* the toolkit's version */
		{20, 8, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{20, 8, CACHE_KEY_LINK, 12040, CACHE_SOUND},
		{20, 8, CACHE_KEY_LINK, 11040, CACHE_DAMAGE_ABI},
		{21, 1, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{21, 1, CACHE_KEY_LINK, 12040, CACHE_DAMAGE_ABI},
		/* the architecture, and program headers */
		{48, 1, CACHE_KEY_LOAD, 12040, CACHE_DAMAGE_GPU},
		{48, 6, CACHE_KEY_LINK, 12040, CACHE_SOUND},
		{56, 1, CACHE_KEY_LOAD, 12040, CACHE_SOUND},
		{56, 1, CACHE_KEY_LINK, 12040, CACHE_SOUND},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t header[ELF64_EHDR_SIZE];

		write_header(header, cases[i].form == CACHE_KEY_LINK ? ELF64_REL : ELF64_EXEC);
		header[cases[i].at] ^= cases[i].bit;
		if (damage_of(header, cases[i].form, cases[i].cuda) != cases[i].damage)
			fail_msg("byte %zu, bit %u, form %d, CUDA %u: not %d", cases[i].at, cases[i].bit,
					 (int)cases[i].form, (unsigned)cases[i].cuda, (int)cases[i].damage);
	}
}

RUN_TESTS(NULL, NULL)
