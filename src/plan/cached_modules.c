/* Modules out of a cache's own entries. The key of an entry holds the whole PTX and its options, so
 * what one driver has compiled can be compiled for another, also what a program made at run time.
 *
 * Left out: entries of libnvJitLink and other libraries, which have stamps of their own, and of
 * OpenCL, whose first step is not compiled from PTX. */
#include "plan/build.h"

#include <string.h>

#include "base/mem.h"
#include "cache/view.h"
#include "devcode/container.h"
#include "devcode/ptx.h"
#include "devcode/write.h"
#include "os/file.h"

/* The modules found so far, and the file of their containers. */
struct cached {
	const struct plan_request *request;
	struct analyse_module *modules;
	size_t count, capacity;
	struct os_file *file; /* NULL: none is written */
	uint64_t used_bytes;
	struct buf container;
};

/* PTX that was stored raw and fills its eight bytes has no NUL, and neither has its key: all that
 * follows the target is then the payload, and the blank before the options ends it. */
static bool is_bare_key(const struct cache_key_parts *parts)
{
	return !memchr(parts->payload, '\0', parts->payload_size) && !parts->options_length &&
		   parts->payload_size && parts->payload[parts->payload_size - 1] == ' ' &&
		   (parts->payload_size - 1) % CONTAINER_ALIGN == 0;
}

/* Appends a container whose only entry has this key. *ret_bytes is 0 for a text without a head of
 * PTX, which no driver has compiled. */
static int write_cached(struct jw_error *err, struct cached *cached,
						const struct cache_key_parts *parts, uint64_t *ret_bytes)
{
	const bool bare = is_bare_key(parts);
	struct devcode_ptx_header header;
	struct write_ptx ptx = {
		.payload = parts->payload,
		.payload_size = parts->payload_size - bare,
		.compression = bare ? DEVCODE_RAW : DEVCODE_LZ4,
	};
	char *options;
	int result;

	*ret_bytes = 0;
	if (ptx_header_read(NULL, parts->payload, parts->payload_size, &header))
		return 0;
	ptx.isa_major = header.isa_major;
	ptx.isa_minor = header.isa_minor;
	ptx.target = header.target;
	options = mem_string_n(parts->options, parts->options_length);
	ptx.options = options;
	buf_clear(&cached->container);
	result = write_container(err, &ptx, &cached->container);
	if (!result)
		result = os_file_write(err, cached->file, cached->used_bytes, cached->container.data,
							   cached->container.size);
	if (!result) {
		*ret_bytes = cached->container.size;
		cached->used_bytes += cached->container.size;
	}
	mem_free(options);
	return result;
}

/* The index of the request's target that this entry was made for, SIZE_MAX if there is none. */
static size_t target_of_entry(const struct plan_request *request, struct jw_target target)
{
	for (size_t t = 0; t < request->target_count; t++)
		if (request->targets[t].sm == target.sm)
			return t;
	return SIZE_MAX;
}

/* The key with the plan's stamp in place of its own names the new entry. */
static int take_cached_entry(struct jw_error *err, struct cached *cached, const struct buf *key)
{
	const struct plan_request *request = cached->request;
	const uint8_t *rest = key->data + CACHE_STAMP_SIZE;
	const size_t rest_bytes = key->size - CACHE_STAMP_SIZE;
	struct cache_key_parts parts;
	struct analyse_module module = {.role = DEVCODE_LOOSE, .key_bytes = key->size};
	size_t target;

	if (!cache_key_split(key->data, key->size, &parts) || parts.jitlink || parts.word_bits != 64 ||
		strcmp(parts.stamp, request->of_stamp) != 0)
		return 0;
	target = target_of_entry(request, parts.target);
	if (target == SIZE_MAX)
		return 0;
	module.container_offset = cached->used_bytes;
	if (cached->file && write_cached(err, cached, &parts, &module.container_bytes))
		return -1;
	if (VEC_ROOM(err, cached->modules, cached->capacity, cached->count, PLAN_MOST_MODULES))
		return -1;
	module.target = (uint32_t)target;
	module.form = parts.form;
	module.entry_offset = module.container_offset + CONTAINER_HEADER;
	module.payload_bytes = parts.payload_size;
	module.key = fnv_update(fnv_update(FNV_START, request->profile->stamp, CACHE_STAMP_SIZE), rest,
							rest_bytes);
	module.features = plan_features_of(parts.payload, parts.payload_size);
	if (!cached->file || module.container_bytes)
		cached->modules[cached->count++] = module;
	return 0;
}

static int take_cached_entries(struct jw_error *err, struct cached *cached,
							   const struct cache_files *scan)
{
	struct buf key = BUF_MAX(CACHE_MOST_ENTRY);
	int result = 0;

	for (size_t i = 0; !result && i < scan->count; i++) {
		if (cancel_asked(&cached->request->cancel))
			result = error_set(err, JW_ERR_INTERRUPTED, "interrupted while the cache was read");
		else if (scan->files[i].probed.damage == CACHE_SOUND &&
				 scan->files[i].probed.key_bytes > CACHE_STAMP_SIZE &&
				 cache_file_key(cached->request->cache_dir, &scan->files[i], &key))
			result = take_cached_entry(err, cached, &key);
	}
	buf_free(&key);
	return result;
}

int build_take_cached(struct jw_error *err, struct build *build)
{
	const struct plan_request *request = build->request;
	struct cached cached = {.request = request, .container = BUF_MAX(DEVCODE_MOST_PAYLOAD)};
	const struct analyse_target none[ANALYSE_MOST_TARGETS] = {0};
	struct cache_files scan = {0};
	struct jw_error why = {0};
	int result = 0;

	if (cache_files_scan(&why, request->cache_dir, &scan))
		return error_unless_missing(err, &why);
	if (request->containers)
		result = os_file_open(err, request->containers, OS_OPEN_CREATE, &cached.file);
	result = result || take_cached_entries(err, &cached, &scan) ? -1 : 0;
	os_file_close(cached.file);
	if (!result && cached.count) {
		const struct build_image image = {
			.path = request->containers ? request->containers : request->cache_dir,
			.targets = none,
			.modules = cached.modules,
			.module_count = cached.count,
		};

		build->found = UINT32_MAX; /* of none of the files */
		result = build_take(err, build, &image);
	}
	mem_free(cached.modules);
	buf_free(&cached.container);
	cache_files_free(&scan);
	return result;
}
