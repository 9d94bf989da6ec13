#include "cache/loads.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/brief.h"
#include "devcode/elf64.h"
#include "devcode/ptx.h"
#include "gpu/rules.h"
#include "os/folders.h"

/* ---- an entry's machine code as its driver reads it: what the driver does not look at in the ELF
 * header is what it must be. Source: docs/driver-cache.md, "What counts in a cubin's header". */

struct cubin_view {
	const struct cache_code *code;
	uint8_t header[ELF64_EHDR_SIZE];
};

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

/* Whether drivers load machine code whose flags say `sm`. */
static bool cubin_sm_loads(uint16_t sm, struct jw_target device)
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

/* `cuda`: the driver's version; one that is 0 or newer than those that were measured is taken to
 * look at everything. Not CACHE_SOUND: why the driver loads nothing of the code. */
static enum cache_damage cubin_view_open(struct cubin_view *view, const struct cache_code *code,
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

/* Of type cubin_read_fn; `context` is a view. */
static int cubin_view_read(struct jw_error *err, void *context, uint64_t offset, void *data,
						   size_t size)
{
	const struct cubin_view *view = context;
	const uint64_t in_header = offset < ELF64_EHDR_SIZE ? ELF64_EHDR_SIZE - offset : 0;

	if (view->code->read(err, view->code->context, offset, data, size))
		return -1;
	if (in_header)
		memcpy(data, view->header + offset, size < in_header ? size : (size_t)in_header);
	return 0;
}

/* ---- what a driver loads */

enum {
	/* A text is judged by its beginning, whoever has read how much of it: all commands give the
	 * same answer. In front of it a key has a stamp, a host and a GPU, fewer than 64 bytes. */
	TEXT_JUDGED = CACHE_BRIEF_END - 64,
	CUDA_12_8 = 12080, /* the first release whose drivers know cubin ABI 8 */
};

bool cache_abi_loads(enum cubin_abi abi, uint32_t cuda)
{
	return abi != CUBIN_ABI_8 || !cuda || cuda >= CUDA_12_8;
}

enum cache_damage cache_cubin_damage(const struct cubin_header *cubin, struct jw_target device,
									 enum cache_key_form form, uint32_t cuda)
{
	if (!cubin)
		return CACHE_DAMAGE_CUBIN;
	/* The linker of 12.5 takes ABI 8; its loader does not. */
	if (!cache_abi_loads(cubin->abi, cuda) && (form != CACHE_KEY_LINK || cuda < CUDA_12_5))
		return CACHE_DAMAGE_ABI;
	if (!cubin_sm_loads(cubin->sm, device))
		return CACHE_DAMAGE_GPU;
	return form == CACHE_KEY_LINK && !cubin->relocatable ? CACHE_DAMAGE_LINKED : CACHE_SOUND;
}

/* ---- an entry's value */

struct sound_driver sound_driver_of(const struct jw_driver_info *info)
{
	return info ? (struct sound_driver){info->stamp, info->version.cuda} : (struct sound_driver){0};
}

/* Looks a stamp up: the current driver, drivers of the table, and those whose profile jitwarm has
 * kept. */
static void ask_stamp(struct cache_loads *loads, const char *stamp)
{
	const struct cache_known_driver *known;
	struct cache_profile profile;
	char *state_dir = NULL;

	loads->known = false;
	loads->cuda = 0;
	TEXT_COPY(loads->stamp, stamp);
	if (loads->driver.stamp && !strcmp(loads->driver.stamp, stamp)) {
		loads->known = true;
		loads->cuda = loads->driver.cuda;
	}
	for (size_t i = 0; !loads->known && (known = cache_known_driver_at(i)); i++)
		if (!strcmp(known->stamp, stamp)) {
			loads->known = true;
			loads->cuda = known->cuda;
		}
	if (!loads->known && !os_state_dir(NULL, &state_dir) &&
		!cache_profile_of_stamp(NULL, state_dir, stamp, &profile)) {
		loads->known = true;
		loads->cuda = profile.driver.cuda;
	}
	mem_free(state_dir);
}

/* What the machine code must define. The inputs of a link keep functions too, if only the link
 * needs them. */
static size_t defined_name(const struct cache_key_parts *parts, const char **ret_name)
{
	const char *text = (const char *)parts->payload;
	const size_t size = parts->payload_size < TEXT_JUDGED ? parts->payload_size : TEXT_JUDGED;
	const size_t length = ptx_first_kernel(text, size, ret_name);

	return length || parts->form != CACHE_KEY_LINK ? length
												   : ptx_first_function(text, size, ret_name);
}

/* Whether the machine code defines what the key's text does first. Another module's code does not:
 * programs do not find their kernel (error 500), and links fail. A definition has a section of its
 * own; a name alone may be a call. */
static enum cache_damage judge_names(const struct cache_code *code, struct cubin_view *view)
{
	char section[CUBIN_MOST_NAME] = ".text.";
	const size_t before = strlen(section);
	const char *name;
	const size_t length = defined_name(code->parts, &name);
	bool found = true;

	if (!length || length > sizeof section - before)
		return CACHE_SOUND;
	memcpy(section + before, name, length);
	if (cubin_names(NULL, cubin_view_read, view, code->size, section, before + length, &found))
		return CACHE_DAMAGE_READ;
	return found ? CACHE_SOUND : CACHE_DAMAGE_MODULE;
}

enum cache_damage cache_code_damage(struct cache_loads *loads, const struct cache_code *code)
{
	const struct cache_key_parts *parts = code->parts;
	struct cubin_header cubin;
	struct cubin_view view;
	struct jw_error why = {0};
	enum cache_damage damage;

	if (parts->jitlink || parts->word_bits != 64)
		return CACHE_SOUND;
	if (strcmp(loads->stamp, parts->stamp) != 0)
		ask_stamp(loads, parts->stamp);
	if (!loads->known)
		return CACHE_SOUND;
	damage = cubin_view_open(&view, code, loads->cuda);
	if (damage != CACHE_SOUND)
		return damage;
	if (!cubin_read_by(&why, cubin_view_read, &view, code->size, &cubin)) {
		damage = cache_cubin_damage(&cubin, parts->target, parts->form, loads->cuda);
		return damage == CACHE_SOUND ? judge_names(code, &view) : damage;
	}
	if (why.code == JW_ERR_IO)
		return CACHE_DAMAGE_READ;
	if (why.code == JW_ERR_UNSUPPORTED && cache_abi_loads(CUBIN_ABI_8, loads->cuda))
		return CACHE_SOUND;
	return cache_cubin_damage(NULL, parts->target, parts->form, loads->cuda);
}
