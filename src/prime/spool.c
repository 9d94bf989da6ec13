#include "prime/spool.h"

#include <string.h>

#include "base/mem.h"
#include "devcode/devcode.h"
#include "os/file.h"

/* One pass over one archive. Which member a container belongs to is known only when the member
 * ends, so what might be wanted is written first and kept or dropped then. */
struct pass {
	struct spool *spool;
	const struct plan *plan;
	const char *path;
	struct taken {
		size_t module;
		uint64_t at; /* in the spool */
	} * taken;
	size_t taken_count, taken_capacity;
};

static bool is_wanted(const struct pass *pass, size_t module,
					  const struct devcode_container *container)
{
	const struct plan_module *m = &pass->plan->modules[module];

	return m->state == PLAN_COLD && m->container_offset == container->offset &&
		   m->container_bytes == container->size_bytes && !pass->spool->places[module].path &&
		   !strcmp(pass->plan->files[m->file].path, pass->path);
}

static int take(struct jw_error *err, void *context, const struct devcode_container *container)
{
	struct pass *pass = context;
	uint64_t at = pass->spool->used_bytes;
	bool written = false;

	for (size_t i = 0; i < pass->plan->module_count; i++) {
		if (!is_wanted(pass, i, container))
			continue;
		if (!written && os_file_write(err, pass->spool->file, at, container->bytes,
									  (size_t)container->size_bytes))
			return -1;
		if (VEC_ROOM(err, pass->taken, pass->taken_capacity, pass->taken_count,
					 pass->plan->module_count * 2 + 64))
			return -1;
		pass->taken[pass->taken_count++] = (struct taken){i, at};
		written = true;
	}
	if (written)
		pass->spool->used_bytes += container->size_bytes;
	return 0;
}

static bool same_member(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int assign(struct jw_error *err, void *context, const struct devcode_image *image)
{
	struct pass *pass = context;

	(void)err;
	for (size_t i = 0; i < pass->taken_count; i++) {
		const struct plan_module *m = &pass->plan->modules[pass->taken[i].module];
		struct spool_place *place = &pass->spool->places[pass->taken[i].module];

		if (same_member(pass->plan->files[m->file].member, image->member))
			*place = (struct spool_place){.path = pass->spool->path,
										  .offset = pass->taken[i].at,
										  .size_bytes = m->container_bytes};
	}
	pass->taken_count = 0;
	return 0;
}

static int open_spool(struct jw_error *err, struct spool *spool, const char *folder)
{
	if (spool->file)
		return 0;
	spool->path = os_join(err, folder, "containers");
	return spool->path ? os_file_open(err, spool->path, OS_OPEN_CREATE, &spool->file) : -1;
}

static int take_out(struct jw_error *err, struct spool *spool, const struct plan *plan,
					const char *path)
{
	struct pass pass = {.spool = spool, .plan = plan, .path = path};
	struct devcode_sink sink = {.context = &pass, .container = take, .image = assign};
	int result = devcode_read(err, path, &sink);

	mem_free(pass.taken);
	return result;
}

/* Whether a file's containers do not stand in it as they are: a member of an archive, or a file
 * that is packed with zstd as a whole (RFC 8878, 3.1.1: the magic number). */
static bool is_packed(const struct plan_file *file)
{
	static const uint8_t zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
	uint8_t begin[sizeof zstd];
	struct os_file *handle;
	size_t got = 0;

	if (file->member)
		return true;
	if (os_file_open(NULL, file->path, OS_OPEN_READ, &handle))
		return false;
	(void)os_file_read(NULL, handle, 0, begin, sizeof begin, &got);
	os_file_close(handle);
	return got == sizeof begin && !memcmp(begin, zstd, sizeof begin);
}

/* What a pass over its archive has not found will not be found by another. */
static void mark_tried(struct spool *spool, const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->module_count; i++)
		if (!strcmp(plan->files[plan->modules[i].file].path, path))
			spool->places[i].tried = true;
}

int spool_fill(struct jw_error *err, const struct plan *plan, const char *folder,
			   void (*trouble)(void *context, const char *line), void *context,
			   struct spool *ret_spool)
{
	struct spool spool = {0};
	struct jw_error why;
	bool *packed = NULL;

	spool.places = mem_array(err, plan->module_count, sizeof *spool.places);
	packed = mem_array(err, plan->file_count, sizeof *packed);
	if (!spool.places || !packed)
		goto fail;
	for (size_t i = 0; i < plan->file_count; i++)
		packed[i] = is_packed(&plan->files[i]);
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *m = &plan->modules[i];

		if (m->state == PLAN_COLD && !packed[m->file])
			spool.places[i] = (struct spool_place){.path = plan->files[m->file].path,
												   .offset = m->container_offset,
												   .size_bytes = m->container_bytes};
	}
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *m = &plan->modules[i];

		if (m->state != PLAN_COLD || !packed[m->file] || spool.places[i].path ||
			spool.places[i].tried)
			continue;
		if (open_spool(err, &spool, folder))
			goto fail;
		if (take_out(&why, &spool, plan, plan->files[m->file].path) && trouble)
			trouble(context, why.message);
		mark_tried(&spool, plan, plan->files[m->file].path);
	}
	mem_free(packed);
	*ret_spool = spool;
	return 0;
fail:
	mem_free(packed);
	spool_free(&spool);
	return -1;
}

void spool_free(struct spool *spool)
{
	os_file_close(spool->file);
	mem_free(spool->path);
	mem_free(spool->places);
	*spool = (struct spool){0};
}
