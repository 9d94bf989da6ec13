/* Makes modules from the keys of entries, in the cache or in a recording. The key of an entry has
 * the whole PTX and its options, so modules that one driver has compiled can be compiled for
 * another, even if a program made them at run time.
 *
 * Entries of libnvJitLink and other libraries, which have their own stamps, are left out, and so
 * are those of OpenCL, whose first step is not compiled from PTX. */
#include "plan/build.h"

#include <string.h>

#include "base/mem.h"
#include "cache/view.h"
#include "code/container.h"
#include "code/ptx.h"
#include "code/release.h"
#include "code/rules.h"
#include "code/write.h"
#include "os/file.h"

/* The modules found so far, and the file of their containers. */
struct cached {
	const struct plan_request *request;
	struct plan_module *modules;
	size_t count, capacity;
	struct os_file *file; /* NULL if none is written */
	uint64_t used_bytes;
	struct buf container;
	size_t unfit, too_new; /* modules of a recording for none of the GPUs, or for newer drivers */
};

/* Returns whether the key's payload is bare: PTX that was stored raw and fills its eight bytes has
 * no NUL, and neither has its key; then everything after the target is the payload, and the blank
 * before the options ends it. */
static bool is_bare_key(const struct cache_key_parts *parts)
{
	return !memchr(parts->payload, '\0', parts->payload_size) && !parts->options_length &&
		   parts->payload_size && parts->payload[parts->payload_size - 1] == ' ' &&
		   (parts->payload_size - 1) % CONTAINER_ALIGN == 0;
}

/* Appends a container whose only entry has this key. */
static int write_cached(struct jw_error *err, struct cached *cached,
						const struct cache_key_parts *parts,
						const struct devcode_ptx_header *header, uint64_t *ret_bytes)
{
	const bool bare = is_bare_key(parts);
	struct write_ptx ptx = {
		.payload = parts->payload,
		.payload_size = parts->payload_size - bare,
		.isa_major = header->isa_major,
		.isa_minor = header->isa_minor,
		.target = header->target,
		.compression = bare ? DEVCODE_RAW : DEVCODE_LZ4,
	};
	char *options = mem_string_n(parts->options, parts->options_length);
	int result;

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

/* Takes an entry: its key with the plan's stamp and target names the new entry. */
static int take_cached_entry(struct jw_error *err, struct cached *cached, const struct buf *key)
{
	const struct plan_request *request = cached->request;
	struct plan_module module = {.role = DEVCODE_LOOSE};
	struct devcode_ptx_header header;
	struct cache_key_parts parts;
	struct gpu_isa isa;
	size_t rest_bytes, taken = 0;

	/* No driver has compiled a text that does not begin like PTX. */
	if (!cache_key_split(key->data, key->size, &parts) || parts.jitlink || parts.word_bits != 64 ||
		strcmp(parts.stamp, request->of_stamp) != 0 ||
		ptx_header_read(NULL, parts.payload, parts.payload_size, &header))
		return 0;
	isa = (struct gpu_isa){header.isa_major, header.isa_minor};
	if (request->next_key && gpu_isa_compare(isa, gpu_driver_isa(&request->profile->driver)) > 0) {
		cached->too_new++;
		return 0;
	}
	rest_bytes = (size_t)(key->data + key->size - parts.payload);
	module.form = parts.form;
	cache_key_identity_of(&module.identity, key->data, key->size);
	module.container_offset = cached->used_bytes;
	module.entry_offset = module.container_offset + CONTAINER_HEADER;
	module.payload_bytes = parts.payload_size;
	module.drivers = UINT64_MAX;
	module.features = plan_features_of(parts.payload, parts.payload_size);
	for (size_t t = 0; t < request->target_count; t++) {
		size_t start_bytes;
		const uint64_t start =
			cache_key_start(request->profile->stamp, request->targets[t].sm, &start_bytes);

		/* The target of the entry is wanted; for a recording, any target that its PTX fits. */
		if (request->targets[t].sm != parts.target.sm &&
			!(request->next_key && gpu_ptx_fits(header.target, request->targets[t])))
			continue;
		if (cached->file && !taken &&
			write_cached(err, cached, &parts, &header, &module.container_bytes))
			return -1;
		if (VEC_ROOM(err, cached->modules, cached->capacity, cached->count,
					 (size_t)(BUILD_MAX_HELD / sizeof module)))
			return -1;
		module.target = (uint32_t)t;
		module.key_bytes = start_bytes ? start_bytes + rest_bytes : 0;
		module.key = start_bytes ? fnv_update(start, parts.payload, rest_bytes) : 0;
		cached->modules[cached->count++] = module;
		taken++;
	}
	cached->unfit += !taken;
	return 0;
}

static int take_recorded_entries(struct jw_error *err, struct cached *cached)
{
	const struct plan_request *request = cached->request;
	struct buf key = BUF_MAX(CACHE_MAX_ENTRY);
	int more;

	while ((more = request->next_key(err, request->keys, &key)) > 0) {
		if (cancel_asked(&request->cancel))
			more = error_set(err, JW_ERR_INTERRUPTED, "interrupted while a recording was read");
		else if (take_cached_entry(err, cached, &key))
			more = -1;
		if (more < 0)
			break;
	}
	buf_free(&key);
	return more;
}

static int take_cached_entries(struct jw_error *err, struct cached *cached)
{
	const struct plan_request *request = cached->request;
	struct buf key = BUF_MAX(CACHE_MAX_ENTRY);
	struct cache_files scan = {0};
	struct jw_error why = {0};
	int result = 0;

	if (cache_files_scan(&why, request->cache_dir, /* headers= */ true, &request->cancel, &scan))
		return error_unless_missing(err, &why);
	for (size_t i = 0; !result && i < scan.count; i++) {
		if (cancel_asked(&request->cancel))
			result = error_set(err, JW_ERR_INTERRUPTED, "interrupted while the cache was read");
		else if (scan.files[i].probed.damage == CACHE_SOUND &&
				 scan.files[i].probed.key_bytes > CACHE_STAMP_SIZE &&
				 cache_file_key(request->cache_dir, &scan.files[i], &key))
			result = take_cached_entry(err, cached, &key);
	}
	cache_files_free(&scan);
	buf_free(&key);
	return result;
}

int build_add_cached(struct jw_error *err, struct build *build)
{
	const struct plan_request *request = build->request;
	const bool recorded = request->next_key != NULL;
	struct cached cached = {.request = request, .container = BUF_MAX(DEVCODE_MAX_PAYLOAD)};
	int result = 0;

	if (request->containers)
		result = os_file_open(err, request->containers, OS_OPEN_CREATE, &cached.file);
	if (!result)
		result = recorded ? take_recorded_entries(err, &cached) : take_cached_entries(err, &cached);
	os_file_close(cached.file);
	if (!result && cached.count) {
		const struct analyse_image image = {
			.scan.path = recorded ? request->keys_name : request->cache_dir,
			.keyed = true,
			.modules = cached.modules,
			.module_count = cached.count,
		};

		build->found = UINT32_MAX; /* from none of the files */
		result = build_add_image(err, build, &image);
	}
	build->plan->unfit = cached.unfit;
	build->plan->too_new = cached.too_new;
	mem_free(cached.modules);
	buf_free(&cached.container);
	return result;
}
