/* Machine code counts as sound exactly if drivers load it, as the conformance cases trust/ show. */
#include "check.h"

#include "cache/sound.h"

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

RUN_TESTS(NULL, NULL)
