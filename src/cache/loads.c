#include "cache/loads.h"

#include "gpu/rules.h"

enum {
	CUDA_12_8 = 12080, /* the first release whose drivers know cubin ABI 8 */
	SM_90 = 90,        /* from here on code may be for its own capability alone, unknown to us */
};

bool cache_abi_loads(enum cubin_abi abi, uint32_t cuda)
{
	return abi != CUBIN_ABI_8 || !cuda || cuda >= CUDA_12_8;
}

static bool runs_on(uint16_t sm, struct jw_target device)
{
	const struct jw_target code = {.sm = sm};

	return sm == device.sm || (sm < SM_90 && gpu_sass_fit(code, device) != GPU_FIT_NONE);
}

enum cache_damage cache_cubin_damage(const struct cubin_header *cubin, struct jw_target device,
									 enum cache_key_form form, uint32_t cuda)
{
	if (!cubin)
		return CACHE_DAMAGE_CUBIN;
	if (!cache_abi_loads(cubin->abi, cuda))
		return CACHE_DAMAGE_ABI;
	if (!runs_on(cubin->sm, device))
		return CACHE_DAMAGE_GPU;
	return form == CACHE_KEY_LINK && !cubin->relocatable ? CACHE_DAMAGE_LINKED : CACHE_SOUND;
}
