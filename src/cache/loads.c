#include "cache/loads.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/brief.h"
#include "devcode/ptx.h"
#include "os/folders.h"

enum {
	/* A text is judged by its beginning, whoever has read how much of it: all commands give the
	 * same answer. In front of it a key has a stamp, a host and a GPU, fewer than 64 bytes. */
	TEXT_JUDGED = CACHE_BRIEF_END - 64,
	CUDA_12_5 = 12050,
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
