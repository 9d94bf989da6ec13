#include "pack/origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "devcode/devcode.h"

/* One size to look for, and how many modules of it are not found yet. */
struct wanted_size {
	uint64_t bytes;
	size_t left;
};

struct finder {
	const struct origin_search *search;
	struct origin_module **order; /* by digest */
	struct wanted_size *sizes;    /* ascending */
	size_t size_count, left;
	size_t file;
	struct origin_module **fresh; /* found in the current image, whose name is not known yet */
	size_t fresh_count;
	bool failed; /* a failure of the search itself, not of the file */
	struct buf scratch;
};

static int by_digest(const void *a, const void *b)
{
	const struct origin_module *const *left = a, *const *right = b;

	return memcmp(&(*left)->digest, &(*right)->digest, sizeof(*left)->digest);
}

static int by_wanted_bytes(const void *a, const void *b)
{
	const struct wanted_size *left = a, *right = b;

	return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static int finder_open(struct jw_error *err, struct finder *finder)
{
	const struct origin_search *search = finder->search;
	size_t count = search->module_count, used = 0;

	finder->scratch = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	finder->order = mem_array(err, count, sizeof(struct origin_module *));
	finder->fresh = mem_array(err, count, sizeof(struct origin_module *));
	finder->sizes = mem_array(err, count, sizeof *finder->sizes);
	if (!finder->order || !finder->fresh || !finder->sizes)
		return -1;
	for (size_t i = 0; i < count; i++) {
		finder->order[i] = &search->modules[i];
		finder->sizes[i] = (struct wanted_size){search->modules[i].size_bytes, 1};
	}
	finder->left = count;
	if (!count)
		return 0;
	qsort(finder->order, count, sizeof(struct origin_module *), by_digest);
	qsort(finder->sizes, count, sizeof *finder->sizes, by_wanted_bytes);
	for (size_t i = 1; i < count; i++) {
		if (finder->sizes[i].bytes == finder->sizes[used].bytes)
			finder->sizes[used].left++;
		else
			finder->sizes[++used] = finder->sizes[i];
	}
	finder->size_count = used + 1;
	return 0;
}

static void finder_close(struct finder *finder)
{
	mem_free(finder->order);
	mem_free(finder->fresh);
	mem_free(finder->sizes);
	buf_free(&finder->scratch);
}

/* NULL: no module of that size is missing. */
static struct wanted_size *wanted_size(const struct finder *finder, uint64_t bytes)
{
	const struct wanted_size wanted = {.bytes = bytes};
	struct wanted_size *size =
		bsearch(&wanted, finder->sizes, finder->size_count, sizeof wanted, by_wanted_bytes);

	return size && size->left ? size : NULL;
}

static int try_payload(struct jw_error *err, struct finder *finder,
					   const struct devcode_entry *entry, const uint8_t *data, size_t bytes)
{
	struct wanted_size *size = wanted_size(finder, bytes);
	struct origin_module like, *key = &like, **at, *module;

	if (!size)
		return 0;
	digest_of(&like.digest, data, bytes);
	at = bsearch(&key, finder->order, finder->search->module_count, sizeof(struct origin_module *),
				 by_digest);
	module = at ? *at : NULL;
	if (!module || module->found || module->size_bytes != bytes)
		return 0;
	if (finder->search->payload &&
		finder->search->payload(err, finder->search->context, module, data))
		return -1;
	module->found = true;
	module->file = finder->file;
	module->offset = entry->offset;
	finder->fresh[finder->fresh_count++] = module;
	size->left--;
	finder->left--;
	return 0;
}

/* Decompresses only after the header's size matches. Stored images need no decompression; for loose
 * text and kind 0x40 keys hold the bytes before the first NUL (cache/key.h). */
static bool is_worth_it(const struct finder *finder, const struct devcode_entry *entry)
{
	if (entry->damaged || entry->compression == DEVCODE_FOREIGN ||
		!devcode_kind_is_ptx(entry->kind))
		return false;
	return entry->compression == DEVCODE_RAW || entry->kind == DEVCODE_KIND_RELOCATABLE_PTX ||
		   wanted_size(finder, entry->size_bytes);
}

static int take_container_entry(struct jw_error *err, struct finder *finder,
								const struct devcode_container *container,
								const struct devcode_entry *entry)
{
	struct devcode_view view;
	struct jw_error why = {0};
	const uint8_t *nul;

	if (!is_worth_it(finder, entry))
		return 0;
	if (devcode_payload(&why, container, entry, &finder->scratch, &view))
		return why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
	if (try_payload(err, finder, entry, view.data, view.size))
		return -1;
	nul = view.size ? memchr(view.data, 0, view.size) : NULL;
	return nul ? try_payload(err, finder, entry, view.data, (size_t)(nul - view.data)) : 0;
}

static int take_container(struct jw_error *err, void *context,
						  const struct devcode_container *container)
{
	struct finder *finder = context;
	const struct origin_search *search = finder->search;

	finder->failed = cancel_check(err, &search->cancel) != 0;
	for (size_t i = 0; !finder->failed && i < container->entry_count; i++)
		finder->failed = take_container_entry(err, finder, container, &container->entries[i]) != 0;
	return finder->failed ? -1 : 0;
}

/* A complete or a broken image: PTX that was found in it is valid in both cases. */
static int name_member(struct jw_error *err, struct finder *finder, const char *member)
{
	for (size_t i = 0; member && i < finder->fresh_count; i++) {
		finder->fresh[i]->member = mem_string(err, member);
		if (!finder->fresh[i]->member)
			return -1;
	}
	finder->fresh_count = 0;
	return 0;
}

static int take_origin_image(struct jw_error *err, void *context, const struct devcode_image *image)
{
	struct finder *finder = context;

	finder->failed = name_member(err, finder, image->member) != 0;
	return finder->failed || !finder->left ? -1 : 0;
}

static void note_origin_trouble(void *context, const char *path, const char *member,
								const struct jw_error *why)
{
	struct finder *finder = context;

	(void)path;
	(void)name_member(NULL, finder, member);
	if (finder->search->trouble)
		finder->search->trouble(finder->search->context, finder->file, why);
}

static int take_file(struct jw_error *err, struct finder *finder)
{
	const struct origin_search *search = finder->search;
	const struct devcode_sink sink = {finder, take_container, take_origin_image,
									  note_origin_trouble, search->cancel};
	struct jw_error why = {0};
	int result = devcode_read(&why, search->paths[finder->file], &sink);

	finder->fresh_count = 0;
	if (finder->failed || (result && (why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED)))
		return error_copy(err, &why);
	if (result && finder->left && search->trouble)
		search->trouble(search->context, finder->file, &why);
	return 0;
}

int origin_find(struct jw_error *err, const struct origin_search *search)
{
	struct finder finder = {.search = search};
	int result = finder_open(err, &finder);

	for (size_t i = 0; !result && finder.left && i < search->path_count; i++) {
		finder.file = i;
		result = take_file(err, &finder);
	}
	finder_close(&finder);
	return result;
}

int origin_modules(struct jw_error *err, const struct pack_manifest *manifest, const bool *needed,
				   struct origin_module **ret_modules, size_t *ret_count)
{
	struct origin_module *modules = mem_array(err, manifest->member_count, sizeof *modules);

	if (!modules)
		return -1;
	*ret_count = 0;
	for (uint32_t i = 0; i < manifest->member_count; i++) {
		const struct pack_member *member = &manifest->members[i];

		if (needed ? member->thin && needed[i] : member->kind == PACK_PTX)
			modules[(*ret_count)++] = (struct origin_module){
				.digest = member->digest, .size_bytes = member->size_bytes, .at = i};
	}
	*ret_modules = modules;
	return 0;
}

void origin_free(struct origin_module *modules, size_t count)
{
	for (size_t i = 0; modules && i < count; i++)
		mem_free(modules[i].member);
	mem_free(modules);
}
