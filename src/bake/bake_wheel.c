/* A wheel with machine code in its libraries. */
#include <string.h>

#include <sodium.h>

#include "bake/bake_package.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "devcode/image_kind.h"
#include "devcode/zip_directory.h"
#include "find/metadata.h"
#include "find/wheel_record.h"
#include "package/library_owner.h"
#include "package/package_row.h"
#include "package/wheel_edit.h"
#include "package/zip_write.h"

/* ---- a wheel that is opened to be written again: its members, and what its own files say */

/* A member whose content changes. */
struct wheel_change {
	uint8_t before[32], sha256[32];
	uint64_t size_bytes;
	bool listed; /* in RECORD */
};

struct wheel_members {
	struct os_map map;
	struct zip_directory directory;
	const struct zip_member *metadata, *record;
	char **names;                  /* of all members in the new wheel */
	struct wheel_change **changes; /* of all members; NULL: as it was */
	char *package;                 /* its name */
	char *file_name;               /* of the new wheel */
	struct buf new_metadata;
	bool nvidia; /* METADATA names NVIDIA's licence */
};

static const char info_end[] = ".dist-info/", data_end[] = ".data/";

/* ---- names */

/* The length of NAME-VERSION in NAME-VERSION.dist-info/…, 0 for other members. */
static size_t stem_length(const char *name)
{
	const char *slash = strchr(name, '/');
	const size_t length = slash ? (size_t)(slash + 1 - name) : 0, end = strlen(info_end);

	return length > end && !memcmp(slash + 1 - end, info_end, end) ? length - end : 0;
}

static int find_stem(struct jw_error *err, const struct zip_directory *directory, char **ret_stem)
{
	const char *first = NULL;

	for (size_t i = 0; i < directory->count; i++) {
		const char *name = directory->members[i].name;
		const size_t length = stem_length(name);

		if (!length || (first && stem_length(first) == length && !memcmp(first, name, length)))
			continue;
		if (first)
			return error_set(err, JW_ERR_FORMAT, "has two folders of metadata: %.200s and %.200s",
							 first, name);
		first = name;
	}
	if (!first)
		return error_set(err, JW_ERR_FORMAT, "is not a wheel: it has no folder .dist-info");
	*ret_stem = mem_string_n(err, first, stem_length(first));
	return *ret_stem ? 0 : -1;
}

/* A name in STEM.dist-info/ or STEM.data/ with the other stem. */
static char *rename_member(struct jw_error *err, const char *name, const char *stem,
						   const char *new_stem)
{
	const size_t length = strlen(stem);

	if (text_starts(name, stem) &&
		(text_starts(name + length, info_end) || text_starts(name + length, data_end)))
		return mem_printf(err, "%s%s", new_stem, name + length);
	return mem_string(err, name);
}

static int name_members(struct jw_error *err, struct wheel_members *wheel, const char *stem,
						const char *new_stem)
{
	const size_t count = wheel->directory.count;

	wheel->names = mem_array(err, count, sizeof(char *));
	wheel->changes = mem_array(err, count, sizeof(struct wheel_change *));
	if (!wheel->names || !wheel->changes)
		return -1;
	for (size_t i = 0; i < count; i++) {
		wheel->names[i] = rename_member(err, wheel->directory.members[i].name, stem, new_stem);
		if (!wheel->names[i])
			return -1;
		if (strcmp(wheel->names[i], wheel->directory.members[i].name) != 0 &&
			zip_directory_find(&wheel->directory, wheel->names[i]))
			return error_set(err, JW_ERR_FORMAT, "already has a member %.300s", wheel->names[i]);
	}
	return 0;
}

/* ---- RECORD */

/* Whether it signs RECORD, which the new wheel's differs from: RECORD.jws, RECORD.p7s. */
static bool wheel_member_is_signature(const struct wheel_members *wheel, size_t member)
{
	const char *name = wheel->directory.members[member].name, *record = wheel->record->name;
	const size_t length = strlen(record);

	return text_starts(name, record) &&
		   (!strcmp(name + length, ".jws") || !strcmp(name + length, ".p7s"));
}

static int wheel_members_change(struct jw_error *err, struct wheel_members *wheel, size_t member,
								const uint8_t before[32], const uint8_t sha256[32],
								uint64_t size_bytes)
{
	struct wheel_change *change = mem_alloc(err, sizeof *change);

	if (!change)
		return -1;
	memcpy(change->before, before, sizeof change->before);
	memcpy(change->sha256, sha256, sizeof change->sha256);
	change->size_bytes = size_bytes;
	wheel->changes[member] = change;
	return 0;
}

static int look_up_row(struct jw_error *err, void *context, const char *path, const char *row,
					   struct wheel_row *ret_row)
{
	struct wheel_members *wheel = context;
	const struct zip_member *member = zip_directory_find(&wheel->directory, path);
	struct wheel_change *change;
	size_t index;

	/* XGBoost 1.0.2's RECORD lists a file that a tool took out of the wheel. */
	if (!member) {
		ret_row->name = path;
		return zip_name_is_safe(path, strlen(path))
				   ? 0
				   : error_set(err, JW_ERR_FORMAT, "its RECORD lists %.300s, which leads out of it",
							   path);
	}
	index = (size_t)(member - wheel->directory.members);
	if (wheel_member_is_signature(wheel, index))
		return 0;
	ret_row->name = wheel->names[index];
	change = wheel->changes[index];
	if (!change)
		return 0;
	if (change->listed)
		return error_set(err, JW_ERR_FORMAT, "its RECORD lists %.300s twice", path);
	if (!package_row_is(row, change->before))
		return error_set(err, JW_ERR_FORMAT, "%.300s: its SHA-256 is not the one in RECORD", path);
	change->listed = true;
	ret_row->sha256 = change->sha256;
	ret_row->size_bytes = change->size_bytes;
	return 0;
}

/* RECORD with all changes; they have to be in it with their former hashes. */
static int wheel_members_record(struct jw_error *err, struct wheel_members *wheel,
								struct buf *ret_record)
{
	struct buf old = {0}, record = BUF_MAX(RECORD_MOST_BYTES);
	int result = zip_member_read(err, &wheel->map, wheel->record, RECORD_MOST_BYTES, &old);

	if (!result)
		result = wheel_edit_record(err, &old, look_up_row, wheel, &record);
	buf_free(&old);
	for (size_t i = 0; !result && i < wheel->directory.count; i++)
		if (wheel->changes[i] && !wheel->changes[i]->listed)
			result = error_set(err, JW_ERR_FORMAT, "its RECORD does not list %.300s",
							   wheel->directory.members[i].name);
	if (result)
		buf_free(&record);
	else
		*ret_record = record;
	return result;
}

/* ---- METADATA */

static int find_own(struct jw_error *err, const struct wheel_members *wheel, const char *stem,
					const char *name, const struct zip_member **ret_member)
{
	char *path = mem_printf(err, "%s%s%s", stem, info_end, name);

	if (!path)
		return -1;
	*ret_member = zip_directory_find(&wheel->directory, path);
	mem_free(path);
	return *ret_member ? 0 : error_set(err, JW_ERR_FORMAT, "is not a wheel: it has no %s", name);
}

static int change_metadata(struct jw_error *err, struct wheel_members *wheel,
						   const struct buf *metadata, const char *version)
{
	uint8_t before[32], after[32];

	wheel->nvidia = library_owner_is_nvidia(metadata);
	wheel->new_metadata = BUF_MAX(METADATA_MOST_BYTES);
	if (wheel_edit_metadata(err, metadata, version, &wheel->new_metadata))
		return -1;
	(void)crypto_hash_sha256(before, metadata->data, metadata->size);
	(void)crypto_hash_sha256(after, wheel->new_metadata.data, wheel->new_metadata.size);
	return wheel_members_change(err, wheel, (size_t)(wheel->metadata - wheel->directory.members),
								before, after, wheel->new_metadata.size);
}

static int take_wheel_version(struct jw_error *err, struct wheel_members *wheel, const char *path,
							  const char *stem, const struct buf *metadata,
							  const struct jw_target *gpus, size_t gpu_count)
{
	char *old = wheel_edit_old_version(err, metadata), *new_stem = NULL;
	char *version = old ? wheel_edit_version(err, old, gpus, gpu_count) : NULL;
	int result = -1;

	if (version && (new_stem = wheel_edit_stem(err, stem, old, version)) &&
		(wheel->file_name = wheel_edit_file_name(err, os_base_name(path), old, version)) &&
		!name_members(err, wheel, stem, new_stem))
		result = change_metadata(err, wheel, metadata, version);
	mem_free(new_stem);
	mem_free(version);
	mem_free(old);
	return result;
}

static int open_members(struct jw_error *err, struct wheel_members *wheel, const char *path,
						const struct jw_target *gpus, size_t gpu_count)
{
	struct buf metadata = {0};
	char *stem = NULL;
	int result;

	if (os_map_open(err, path, &wheel->map) ||
		zip_directory_read(err, wheel->map.data, wheel->map.size, &wheel->directory) ||
		find_stem(err, &wheel->directory, &stem))
		return -1;
	wheel->package = mem_string_n(err, stem, strcspn(stem, "-"));
	result = !wheel->package || find_own(err, wheel, stem, "METADATA", &wheel->metadata) ||
					 find_own(err, wheel, stem, "RECORD", &wheel->record) ||
					 zip_member_read(err, &wheel->map, wheel->metadata, METADATA_MOST_BYTES,
									 &metadata) ||
					 take_wheel_version(err, wheel, path, stem, &metadata, gpus, gpu_count)
				 ? -1
				 : 0;
	buf_free(&metadata);
	mem_free(stem);
	return result;
}

static void wheel_members_close(struct wheel_members *wheel)
{
	for (size_t i = 0; i < wheel->directory.count; i++) {
		if (wheel->names)
			mem_free(wheel->names[i]);
		if (wheel->changes)
			mem_free(wheel->changes[i]);
	}
	mem_free(wheel->names);
	mem_free(wheel->changes);
	mem_free(wheel->package);
	mem_free(wheel->file_name);
	buf_free(&wheel->new_metadata);
	zip_directory_free(&wheel->directory);
	os_map_close(&wheel->map);
	*wheel = (struct wheel_members){0};
}

/* Reads the directory and METADATA, and finds the names in a wheel for these GPUs. */
static int wheel_members_open(struct jw_error *err, const char *path, const struct jw_target *gpus,
							  size_t gpu_count, struct wheel_members *ret_wheel)
{
	struct wheel_members wheel = {0};
	struct buf record = {0};

	/* What is wrong with RECORD is said before anything is baked. */
	if (open_members(err, &wheel, path, gpus, gpu_count) ||
		wheel_members_record(err, &wheel, &record)) {
		wheel_members_close(&wheel);
		return -1;
	}
	buf_free(&record);
	wheel.changes[wheel.metadata - wheel.directory.members]->listed = false;
	*ret_wheel = wheel;
	return 0;
}

/* ---- the new wheel */

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

/* ---- all of it */

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
