/* A wheel with machine code in its libraries. */
#include <string.h>

#include "bake/bake_package.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "devcode/image_kind.h"
#include "package/wheel_members.h"
#include "package/zip_write.h"

struct wheel_bake {
	const struct bake_package_job *job;
	struct bake_package_files *files;
	struct wheel_members wheel;
	struct package_part part;
	struct zip_writer *writer; /* NULL: nothing was baked until now */
	char *output;
	size_t signatures; /* left out */
};

/* ---- what is written */

static int write_content(struct jw_error *err, struct wheel_bake *bake, size_t index,
						 const void *data, size_t size)
{
	return zip_writer_begin(err, bake->writer, index, &bake->wheel.directory.members[index],
							bake->wheel.names[index], true, size) ||
				   zip_writer_put(err, bake->writer, data, size) ||
				   zip_writer_end(err, bake->writer)
			   ? -1
			   : 0;
}

/* A member that is not baked. RECORD is written last, and keeps its place in the directory. */
static int write_other(struct jw_error *err, struct wheel_bake *bake, size_t index)
{
	const struct wheel_members *wheel = &bake->wheel;
	const struct zip_member *member = &wheel->directory.members[index];

	if (member == wheel->record)
		return 0;
	if (wheel_member_is_signature(wheel, index)) {
		bake->signatures++;
		return 0;
	}
	if (member == wheel->metadata)
		return write_content(err, bake, index, wheel->new_metadata.data, wheel->new_metadata.size);
	return zip_writer_copy(err, bake->writer, index, &wheel->map, member, wheel->names[index],
						   &bake->job->file.cancel);
}

/* With the members before the first that is baked. */
static int begin_wheel(struct jw_error *err, struct wheel_bake *bake, size_t before)
{
	if (bake->writer)
		return 0;
	if (zip_writer_open(err, bake->part.file, bake->wheel.directory.count, &bake->writer))
		return -1;
	for (size_t i = 0; i < before; i++)
		if (write_other(err, bake, i))
			return -1;
	return 0;
}

static int write_baked_bytes(struct jw_error *err, struct wheel_bake *bake,
							 const struct os_map *map, uint8_t sha256[32])
{
	enum { STEP = 1 << 20 };
	crypto_hash_sha256_state state;

	(void)crypto_hash_sha256_init(&state);
	for (size_t at = 0; at < map->size; at += STEP) {
		const size_t size = map->size - at < STEP ? map->size - at : STEP;

		if (cancel_check(err, &bake->job->file.cancel) ||
			zip_writer_put(err, bake->writer, map->data + at, size))
			return -1;
		(void)crypto_hash_sha256_update(&state, map->data + at, size);
		os_map_forget(map, at, size);
	}
	(void)crypto_hash_sha256_final(&state, sha256);
	return 0;
}

static int write_baked(struct jw_error *err, struct wheel_bake *bake, size_t index,
					   const struct package_file *before, const char *path)
{
	struct wheel_members *wheel = &bake->wheel;
	uint8_t sha256[32];
	struct os_map map;
	int result;

	if (begin_wheel(err, bake, index) || os_map_open(err, path, &map))
		return -1;
	result = zip_writer_begin(err, bake->writer, index, &wheel->directory.members[index],
							  wheel->names[index], true, map.size) ||
					 write_baked_bytes(err, bake, &map, sha256) ||
					 zip_writer_end(err, bake->writer) ||
					 wheel_members_change(err, wheel, index, before->sha256, sha256, map.size)
				 ? -1
				 : 0;
	os_map_close(&map);
	return result;
}

/* ---- members */

static int may_hold_code(struct jw_error *err, const struct wheel_members *wheel,
						 const struct zip_member *member, bool *ret_may)
{
	uint8_t head[KIND_HEAD];
	size_t size = sizeof head;

	if (zip_member_head(err, &wheel->map, member, head, &size))
		return -1;
	*ret_may =
		member != wheel->metadata && member != wheel->record && kind_of(head, size) != KIND_NONE;
	return 0;
}

/* *ret_baked: whether it was written. */
static int bake_code(struct jw_error *err, struct wheel_bake *bake, size_t index, bool *ret_baked)
{
	const struct zip_member *member = &bake->wheel.directory.members[index];
	struct package_file file = {0};
	const struct bake_member what = {.package = bake->wheel.package,
									 .member = member->name,
									 .nvidia = bake->wheel.nvidia,
									 .file = &file};
	char *baked = NULL;
	int result;

	if (bake_package_check_size(err, member->name, member->packed_bytes, member->size_bytes) ||
		package_file_open(err, &bake->part, "member", &file))
		return -1;
	result = zip_member_unpack(err, &bake->wheel.map, member, &bake->job->file.cancel,
							   package_file_put, &file);
	package_file_close(&file);
	if (!result)
		result = bake_package_member(err, bake->job, &bake->part, &what, bake->files, &baked);
	if (!result && baked)
		result = write_baked(err, bake, index, &file, baked);
	*ret_baked = baked != NULL;
	if (baked)
		(void)os_remove(NULL, baked);
	mem_free(baked);
	package_file_drop(&file);
	return result;
}

static int bake_members(struct jw_error *err, struct wheel_bake *bake)
{
	const struct zip_directory *directory = &bake->wheel.directory;

	for (size_t i = 0; i < directory->count; i++) {
		bool baked = false, code = false;

		if (cancel_check(err, &bake->job->file.cancel) ||
			may_hold_code(err, &bake->wheel, &directory->members[i], &code) ||
			(code && bake_code(err, bake, i, &baked)))
			return -1;
		if (bake->writer && !baked && write_other(err, bake, i))
			return -1;
	}
	return 0;
}

/* ---- the wheel */

static int finish_wheel(struct jw_error *err, struct wheel_bake *bake)
{
	struct wheel_members *wheel = &bake->wheel;
	struct buf record = {0};
	int result;

	if (wheel_members_record(err, wheel, &record))
		return -1;
	result = write_content(err, bake, (size_t)(wheel->record - wheel->directory.members),
						   record.data, record.size) ||
					 zip_writer_finish(err, bake->writer, wheel->directory.comment) ||
					 bake_package_check(err, bake->job, &wheel->map, bake->output) ||
					 package_part_finish(err, &bake->part, bake->output, wheel->map.stat.mode)
				 ? -1
				 : 0;
	buf_free(&record);
	return result;
}

static int run_wheel(struct jw_error *err, struct wheel_bake *bake)
{
	const struct bake_package_job *job = bake->job;

	if (wheel_members_open(err, job->path, job->file.targets, job->file.target_count,
						   &bake->wheel) ||
		bake_package_output(err, job, bake->wheel.file_name, &bake->output) ||
		bake_package_check_owner(err, job, bake->wheel.package, bake->wheel.nvidia) ||
		package_part_open(err, job->folder, job->state_dir, &bake->part))
		return -1;
	if (job->only_check)
		return 0;
	if (bake_members(err, bake))
		return -1;
	return bake->writer ? finish_wheel(err, bake) : 0;
}

int bake_wheel(struct jw_error *err, const struct bake_package_job *job,
			   struct bake_package_files *files, char **ret_output)
{
	struct wheel_bake bake = {.job = job, .files = files};
	int result = run_wheel(err, &bake);

	if (!result && bake.writer) {
		for (size_t i = 0; i < files->count; i++)
			files->items[i].signatures = bake.signatures;
		*ret_output = bake.output;
		bake.output = NULL;
	}
	zip_writer_close(bake.writer);
	package_part_drop(&bake.part);
	wheel_members_close(&bake.wheel);
	mem_free(bake.output);
	return result;
}
