#include "cache/cubin_view.h"

#include <string.h>

#include "base/cursor.h"
#include "gpu/rules.h"

enum {
	ORDER_AT = 5,
	OSABI_AT = 7,
	VERSION_AT = 8,
	TYPE_AT = 16,
	MACHINE_AT = 18,
	TOOLKIT_AT = 20, /* e_version: the toolkit's version in tenths */
	FLAGS_AT = 48,
	PHNUM_AT = 56,
};

enum {
	OSABI_7 = 0x33,
	OSABI_8 = 0x41,
	VERSION_7 = 7,
	CUDA_12_4 = 12040,
	CUDA_12_5 = 12050,
	NOT_MEASURED = 12060,
	SM_90 = 90, /* from here on code may be limited to its own capability, which is not recorded */
};

bool cubin_sm_loads(uint16_t sm, struct jw_target device)
{
	const struct jw_target code = {.sm = sm};

	return sm == device.sm || (sm < SM_90 && gpu_sass_fit(code, device) != GPU_FIT_NONE);
}

/* Loaders take every cubin for one of ABI 7. One of ABI 8 stays what it is where they refuse it:
 * its flags do not begin with an architecture. */
static void view_as_loader(uint8_t *header, struct jw_target device)
{
	if (header[OSABI_AT] != OSABI_8 || cubin_sm_loads(header[FLAGS_AT], device)) {
		header[OSABI_AT] = OSABI_7;
		header[VERSION_AT] = VERSION_7;
	}
	store_u16(header + TYPE_AT, ELF64_EXEC);
}

static enum cache_damage view_as_linker(uint8_t *header, uint32_t cuda)
{
	const uint32_t own_toolkit = cuda / 1000 * 10 + cuda % 1000 / 10;
	const bool is_exec = header[TYPE_AT] == ELF64_EXEC && !header[TYPE_AT + 1];

	header[ORDER_AT] = ELF64_LITTLE;
	store_u16(header + MACHINE_AT, CUBIN_MACHINE);
	if (cuda < CUDA_12_5 || header[OSABI_AT] != OSABI_8)
		header[OSABI_AT] = OSABI_7;
	if (cuda >= CUDA_12_4 && !is_exec)
		store_u16(header + TYPE_AT, ELF64_REL);
	return load_u32(header + TOOLKIT_AT) > own_toolkit ? CACHE_DAMAGE_ABI : CACHE_SOUND;
}

enum cache_damage cubin_view_open(struct cubin_view *view, const struct cache_code *code,
								  uint32_t cuda)
{
	view->code = code;
	if (code->size < ELF64_EHDR_SIZE)
		return CACHE_DAMAGE_CUBIN;
	if (code->read(NULL, code->context, 0, view->header, ELF64_EHDR_SIZE))
		return CACHE_DAMAGE_READ;
	if (!cuda || cuda >= NOT_MEASURED)
		return CACHE_SOUND;
	store_u16(view->header + PHNUM_AT, 0);
	if (code->parts->form == CACHE_KEY_LINK)
		return view_as_linker(view->header, cuda);
	view_as_loader(view->header, code->parts->target);
	return CACHE_SOUND;
}

int cubin_view_read(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size)
{
	const struct cubin_view *view = context;
	const uint64_t in_header = offset < ELF64_EHDR_SIZE ? ELF64_EHDR_SIZE - offset : 0;

	if (view->code->read(err, view->code->context, offset, data, size))
		return -1;
	if (in_header)
		memcpy(data, view->header + offset, size < in_header ? size : (size_t)in_header);
	return 0;
}
