#include "work/spool.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "code/code_file.h"
#include "code/devcode.h"
#include "os/file.h"

/* A cold module whose container has to be extracted. */
struct want {
	uint64_t offset;
	uint32_t file;
	uint32_t part; /* in the pass */
	size_t module;
};

static int by_file_and_place(const void *a, const void *b)
{
	const struct want *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* Copies the wanted containers of one archive, each once, to the spool, in one pass. `trouble`
 * reports missing ones. */
static void take_out(struct spool *spool, const struct plan *plan, struct want *wants, size_t count,
					 const struct jw_cancel *cancel, struct jw_error *trouble)
{
	struct devcode_part *parts = mem_array(count, sizeof *parts);
	uint64_t *places = mem_array(count, sizeof *places); /* of each part */
	struct code_copy copy = {
		.path = plan->files[wants->file].path, .parts = parts, .cancel = cancel};
	uint64_t written_bytes = 0; /* of the current part */
	size_t part = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		const struct plan_module *module = &plan->modules[wants[i].module];

		if (!i || by_file_and_place(&wants[i - 1], &wants[i])) {
			parts[copy.count] = (struct devcode_part){.member = plan->files[module->file].member,
													  .offset = module->container_offset,
													  .size_bytes = module->container_bytes};
			places[copy.count++] = spool->used_bytes;
			spool->used_bytes += module->container_bytes;
		}
		wants[i].part = (uint32_t)copy.count - 1;
	}
	while (code_copy_next(trouble, &copy) > 0) {
		written_bytes = copy.part == part ? written_bytes : 0;
		part = copy.part;
		if (os_file_write(trouble, spool->file, places[part] + written_bytes, copy.data, copy.size))
			break;
		written_bytes += copy.size;
	}
	code_copy_close(&copy);
	for (size_t i = 0; i < count; i++)
		if (parts[wants[i].part].done)
			spool->places[wants[i].module] =
				(struct spool_place){.path = spool->path,
									 .offset = places[wants[i].part],
									 .size_bytes = parts[wants[i].part].size_bytes};
	mem_free(parts);
	mem_free(places);
}

/* Returns whether a file's containers are packed: in a member of an archive, or in a file that is
 * compressed with zstd as a whole. */
static bool is_packed(const struct plan_file *file)
{
	uint8_t head[KIND_HEAD];

	if (file->containers)
		return false;
	return file->member || kind_of(head, os_read_head(file->path, head, sizeof head)) == KIND_ZSTD;
}

/* Sets the place of containers in plain files, which need no extraction. */
static void sort_out(struct spool *spool, const struct plan *plan, const bool *packed,
					 struct want *wants, size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *m = &plan->modules[i];
		const struct plan_file *file = &plan->files[m->file];

		if (m->state != PLAN_COLD)
			continue;
		if (packed[m->file])
			wants[count++] =
				(struct want){.offset = m->container_offset, .file = m->file, .module = i};
		else
			spool->places[i] =
				(struct spool_place){.path = file->containers ? file->containers : file->path,
									 .offset = m->container_offset,
									 .size_bytes = m->container_bytes};
	}
	if (count)
		qsort(wants, count, sizeof *wants, by_file_and_place);
	*ret_count = count;
}

int spool_fill(struct jw_error *err, const struct plan *plan, const char *folder,
			   void (*trouble)(void *context, const char *line), void *context,
			   const struct jw_cancel *cancel, struct spool *ret_spool)
{
	struct spool spool = {.places = mem_array(plan->module_count, sizeof *spool.places)};
	bool *packed = mem_array(plan->file_count, sizeof *packed);
	struct want *wants = mem_array(plan->module_count, sizeof *wants);
	size_t count = 0, next;
	int result = -1;

	for (size_t i = 0; i < plan->file_count; i++)
		packed[i] = is_packed(&plan->files[i]);
	sort_out(&spool, plan, packed, wants, &count);
	if (count) {
		spool.path = os_join(folder, "containers");
		if (os_file_open(err, spool.path, OS_OPEN_CREATE, &spool.file))
			goto done;
	}
	for (size_t at = 0; at < count; at = next) {
		const char *path = plan->files[wants[at].file].path;
		struct jw_error why = {0};

		for (next = at + 1; next < count && !strcmp(plan->files[wants[next].file].path, path);)
			next++;
		take_out(&spool, plan, wants + at, next - at, cancel, &why);
		if (why.code == JW_ERR_INTERRUPTED) {
			error_copy(err, &why);
			goto done;
		}
		if (why.code && trouble)
			trouble(context, why.message);
	}
	*ret_spool = spool;
	result = 0;
done:
	mem_free(packed);
	mem_free(wants);
	if (result)
		spool_free(&spool);
	return result;
}

void spool_free(struct spool *spool)
{
	os_file_close(spool->file);
	mem_free(spool->path);
	mem_free(spool->places);
	*spool = (struct spool){0};
}
