/* A wheel is unpacked and written again: its libraries are baked in a folder of the run, libarchive
 * packs all members there, and the finished wheel is copied to its place. */
#include "bake/bake_wheel.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include "bake/baked_copy.h"
#include "bake/library_owner.h"
#include "bake/package_row.h"
#include "bake/wheel_edit.h"
#include "base/arena.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "code/code_file.h"
#include "code/walk.h"
#include "code/zip_directory.h"
#include "driver/run_folder.h"
#include "find/package_files.h"
#include "find/requirement.h"
#include "os/archive.h"
#include "os/platform.h"

enum {
	SHA256 = crypto_hash_sha256_BYTES,
	UNIX = 3, /* a system in zip_member.made_by */
};

static const char info_end[] = ".dist-info/", data_end[] = ".data/";

struct wheel_member {
	char *row;         /* its row of RECORD; NULL if not listed */
	const char *baked; /* its new file in the run's folder; NULL if unchanged */
	uint8_t before[SHA256];
};

struct wheel {
	const struct bake_package_job *job;
	struct bake_files *files;
	struct os_map map;
	struct zip_directory directory;
	struct wheel_member *members; /* an array of all members */
	size_t metadata, record;      /* the indices of METADATA and RECORD */
	char *stem, *new_stem;        /* NAME-VERSION of the .dist-info */
	char *package;                /* the package's name */
	char *output;
	struct buf new_metadata, new_record;
	bool nvidia; /* METADATA names NVIDIA's licence */
	size_t baked;
	struct run_folder run;
	/* The new wheel: */
	char *path;
	struct os_file *file;
	uint64_t written;
	struct archive *archive;
	crypto_hash_sha256_state sum; /* the hash of the current member */
	uint64_t size_bytes;
	uint64_t packed_bytes, total_bytes; /* the sizes of all members, packed so far and in total */
	struct jw_error why;                /* why libarchive was stopped */
};

/* Returns the length of NAME-VERSION in NAME-VERSION.dist-info/…, 0 for other members. */
static size_t stem_length(const char *name)
{
	const char *slash = strchr(name, '/');
	const size_t length = slash ? (size_t)(slash + 1 - name) : 0, end = strlen(info_end);

	return length > end && !memcmp(slash + 1 - end, info_end, end) ? length - end : 0;
}

static int find_stem(struct jw_error *err, struct wheel *wheel)
{
	const char *first = NULL;

	for (size_t i = 0; i < wheel->directory.count; i++) {
		const char *name = wheel->directory.members[i].name;
		const size_t length = stem_length(name);

		if (!length || (first && stem_length(first) == length && !memcmp(first, name, length)))
			continue;
		if (first)
			return error_set(err, JW_ERR_FORMAT, "has two metadata folders: %.200s and %.200s",
							 first, name);
		first = name;
	}
	if (!first)
		return error_set(err, JW_ERR_FORMAT, "is not a wheel: it has no folder .dist-info");
	wheel->stem = arena_keep(wheel, mem_string_n(first, stem_length(first)));
	wheel->package = arena_keep(wheel, mem_string_n(first, strcspn(wheel->stem, "-")));
	return 0;
}

static int find_own(struct jw_error *err, struct wheel *wheel, const char *name, size_t *ret_index)
{
	const struct zip_member *member = zip_directory_find(
		&wheel->directory, arena_printf(wheel, "%s%s%s", wheel->stem, info_end, name));

	if (!member)
		return error_set(err, JW_ERR_FORMAT, "is not a wheel: it has no %s", name);
	*ret_index = (size_t)(member - wheel->directory.members);
	return 0;
}

/* Returns a name in STEM.dist-info/ or STEM.data/ with the new stem. */
static const char *new_name(struct wheel *wheel, const char *name)
{
	const size_t length = strlen(wheel->stem);

	if (text_starts(name, wheel->stem) &&
		(text_starts(name + length, info_end) || text_starts(name + length, data_end)))
		return arena_printf(wheel, "%s%s", wheel->new_stem, name + length);
	return name;
}

/* Writes METADATA and names with the version whose label has the GPUs. */
static int take_wheel_version(struct jw_error *err, struct wheel *wheel)
{
	const struct bake_package_job *job = wheel->job;
	struct buf metadata = {0};
	const char *old, *version, *name = NULL;
	int result = -1;

	if (zip_member_read(err, &wheel->map, &wheel->directory.members[wheel->metadata],
						METADATA_MAX_BYTES, &metadata))
		return -1;
	wheel->nvidia = library_owner_is_nvidia(&metadata);
	(void)crypto_hash_sha256(wheel->members[wheel->metadata].before, metadata.data, metadata.size);
	wheel->new_metadata = BUF_MAX(METADATA_MAX_BYTES);
	if ((old = arena_keep(wheel, wheel_edit_old_version(err, &metadata))) &&
		(version = arena_keep(
			 wheel, wheel_edit_version(err, old, job->file.targets, job->file.target_count))) &&
		(wheel->new_stem = arena_keep(wheel, wheel_edit_stem(err, wheel->stem, old, version))) &&
		(name =
			 arena_keep(wheel, wheel_edit_file_name(err, os_base_name(job->path), old, version))))
		result = wheel_edit_metadata(err, &metadata, version, &wheel->new_metadata);
	if (!result && job->folder)
		wheel->output = arena_keep(wheel->files->owner, os_join(job->folder, name));
	buf_free(&metadata);
	return result;
}

/* Returns whether a member signs RECORD, which the new wheel changes: RECORD.jws, RECORD.p7s. */
static bool is_signature(const struct wheel *wheel, const char *name)
{
	const char *record = wheel->directory.members[wheel->record].name;
	const size_t length = strlen(record);

	return text_starts(name, record) &&
		   (!strcmp(name + length, ".jws") || !strcmp(name + length, ".p7s"));
}

/* Takes a row; those of files that are not in the wheel are dropped: XGBoost 1.0.2's RECORD lists a
 * file that is gone. */
static int take_wheel_row(struct jw_error *err, void *context, const char *path, const char *row)
{
	struct wheel *wheel = context;
	const struct zip_member *member = zip_directory_find(&wheel->directory, path);
	char **at;

	if (!member && !zip_name_is_safe(path, strlen(path)))
		return error_set(err, JW_ERR_FORMAT, "its RECORD lists %.300s, which is outside the wheel",
						 path);
	if (!member)
		return 0;
	at = &wheel->members[member - wheel->directory.members].row;
	if (*at)
		return error_set(err, JW_ERR_FORMAT, "its RECORD lists %.300s twice", path);
	*at = arena_string(wheel, row);
	return 0;
}

static int take_rows(struct jw_error *err, struct wheel *wheel)
{
	struct buf record = {0};
	int result;

	wheel->members = arena_array(wheel, wheel->directory.count, sizeof *wheel->members);
	if (zip_member_read(err, &wheel->map, &wheel->directory.members[wheel->record],
						RECORD_MAX_BYTES, &record))
		return -1;
	result = wheel_record_rows(err, &record, take_wheel_row, wheel);
	buf_free(&record);
	return result;
}

/* Adds a row for a member that RECORD does not list; a changed member must be listed. */
static int check_row(struct jw_error *err, const struct wheel *wheel, size_t index, bool changed,
					 const uint8_t sha256[SHA256])
{
	const char *row = wheel->members[index].row, *name = wheel->directory.members[index].name;

	if (!row && changed)
		return error_set(err, JW_ERR_FORMAT, "its RECORD does not list %.300s", name);
	if (row && !strstr(row, ",sha256="))
		return error_set(err, JW_ERR_FORMAT, "%.300s: RECORD has no SHA-256 for it", name);
	if (row && !package_row_is(row, sha256))
		return error_set(err, JW_ERR_FORMAT, "%.300s: its SHA-256 differs from the one in RECORD",
						 name);
	return 0;
}

static int put_wheel_row(struct jw_error *err, struct wheel *wheel, const char *name,
						 const uint8_t *sha256)
{
	const bool quoted = strpbrk(name, ",\"") != NULL;
	struct buf *record = &wheel->new_record;
	char *row;
	int result;

	if (quoted && buf_append(err, record, "\"", 1))
		return -1;
	for (const char *c = name; *c; c++)
		if (buf_append(err, record, "\"\"", *c == '"' ? 1 : 0) || buf_append(err, record, c, 1))
			return -1;
	row = sha256 ? package_row_with("", sha256, wheel->size_bytes) : mem_string(",,");
	result = buf_printf(err, record, "%s%s\n", quoted ? "\"" : "", row);
	mem_free(row);
	return result;
}

void bake_files_add(struct bake_files *files, const struct jw_bake_file *file)
{
	(void)ARENA_ROOM(NULL, files->owner, files->items, files->capacity, files->count, SIZE_MAX);
	files->items[files->count++] = *file;
}

int bake_package_check_size(struct jw_error *err, const char *member, uint64_t packed_bytes,
							uint64_t size_bytes)
{
	if (size_bytes <= walk_most_unpacked(packed_bytes))
		return 0;
	return error_set(err, JW_ERR_LIMIT,
					 "%.300s: %llu bytes that unpack to %llu cannot be a library", member,
					 (unsigned long long)packed_bytes, (unsigned long long)size_bytes);
}

struct unpacked {
	struct os_file *file;
	uint64_t size_bytes;
	crypto_hash_sha256_state sum;
};

static int put_unpacked(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	struct unpacked *unpacked = context;

	if (os_file_write(err, unpacked->file, unpacked->size_bytes, data, size))
		return -1;
	(void)crypto_hash_sha256_update(&unpacked->sum, data, size);
	unpacked->size_bytes += size;
	return 0;
}

static int unpack_member(struct jw_error *err, struct wheel *wheel, size_t index, const char *path)
{
	const struct zip_member *member = &wheel->directory.members[index];
	struct unpacked unpacked = {0};
	int result;

	if (bake_package_check_size(err, member->name, member->packed_bytes, member->size_bytes) ||
		os_file_open(err, path, OS_OPEN_CREATE, &unpacked.file))
		return -1;
	(void)crypto_hash_sha256_init(&unpacked.sum);
	result = zip_member_unpack(err, &wheel->map, member, &wheel->job->file.cancel, put_unpacked,
							   &unpacked);
	os_file_close(unpacked.file);
	(void)crypto_hash_sha256_final(&unpacked.sum, wheel->members[index].before);
	return result;
}

static int bake_unpacked(struct jw_error *err, struct wheel *wheel, size_t index, char *path,
						 const char *output)
{
	const struct bake_package_job *job = wheel->job;
	const char *name = wheel->directory.members[index].name;
	struct jw_bake_file file = {.path = path};
	struct bake_file_job how = job->file;
	struct jw_error why = {0};
	int result;

	how.output = NULL;
	if (!library_allows_member(&why, wheel->package, wheel->nvidia, job->any_owner, name, path) &&
		job->folder)
		how.output = output;
	result = bake_file(err, &how, &file);
	if (!result && why.code && file.modules && !file.failed.code)
		file.failed = why;
	/* A library that is damaged, or may not be changed, stays as it is in the new package; other
	 * failures prevent the new package. */
	if (!result && file.failed.code && file.failed.code != JW_ERR_UNSUPPORTED &&
		file.failed.code != JW_ERR_FORMAT && file.failed.code != JW_ERR_LIMIT)
		result = error_copy(err, &file.failed);
	wheel->members[index].baked = result ? NULL : file.output;
	wheel->baked += wheel->members[index].baked != NULL;
	wheel->files->images += file.size_before_bytes > 0;
	file.output = NULL;
	if (result || (!file.modules && !file.failed.code))
		return result;
	file.path = arena_string(wheel->files->owner, job->path);
	file.member = arena_string(wheel->files->owner, name);
	bake_files_add(wheel->files, &file);
	return 0;
}

static int bake_member(struct jw_error *err, struct wheel *wheel, size_t index)
{
	const struct zip_member *member = &wheel->directory.members[index];
	uint8_t head[KIND_HEAD];
	const size_t size = zip_member_head(&wheel->map, member, head, sizeof head);
	char *path;
	int result;

	if (index == wheel->metadata || index == wheel->record || kind_of(head, size) == KIND_NONE)
		return 0;
	path = arena_keep(wheel, os_join(wheel->run.path, "member"));
	result = unpack_member(err, wheel, index, path);
	if (!result)
		result = bake_unpacked(err, wheel, index, path, arena_printf(wheel, "%s.%zu", path, index));
	(void)os_remove(NULL, path);
	return result;
}

static la_ssize_t write_packed(struct archive *archive, void *context, const void *data,
							   size_t size)
{
	struct wheel *wheel = context;

	if (os_file_write(&wheel->why, wheel->file, wheel->written, data, size)) {
		os_archive()->set_error(archive, EIO, "%s", wheel->why.message);
		return -1;
	}
	wheel->written += size;
	return (la_ssize_t)size;
}

static int fail_archive(struct jw_error *err, struct wheel *wheel)
{
	const char *why = os_archive()->error_string(wheel->archive);

	return wheel->why.code ? error_copy(err, &wheel->why)
						   : error_set(err, JW_ERR_IO, "libarchive: %s", why ? why : "");
}

static int put_packed(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	struct wheel *wheel = context;

	if (cancel_check(err, &wheel->job->file.cancel))
		return -1;
	(void)crypto_hash_sha256_update(&wheel->sum, data, size);
	wheel->size_bytes += size;
	wheel->packed_bytes += size;
	if (wheel->job->packing)
		wheel->job->packing(wheel->job->context, wheel->packed_bytes, wheel->total_bytes);
	if (os_archive()->write_data(wheel->archive, data, size) != (la_ssize_t)size)
		return fail_archive(err, wheel);
	return 0;
}

static int put_whole_file(struct jw_error *err, struct wheel *wheel, const struct os_map *map)
{
	enum { STEP = 1 << 20 };

	for (size_t at = 0; at < map->size; at += STEP) {
		const size_t size = map->size - at < STEP ? map->size - at : STEP;

		if (put_packed(err, wheel, map->data + at, size))
			return -1;
		os_map_forget(map, at, size);
	}
	return 0;
}

/* Returns a member's time, which is local in both files. */
static time_t time_of(const struct zip_member *member)
{
	struct tm time = {.tm_year = (member->date >> 9) + 80,
					  .tm_mon = (member->date >> 5 & 15) - 1,
					  .tm_mday = member->date & 31,
					  .tm_hour = member->time >> 11,
					  .tm_min = member->time >> 5 & 63,
					  .tm_sec = (member->time & 31) * 2,
					  .tm_isdst = -1};

	return mktime(&time);
}

/* Writes a member's header to the new wheel, with the mode and time of the old one. */
static int begin_member(struct jw_error *err, struct wheel *wheel, const struct zip_member *member,
						const char *name, uint64_t size)
{
	struct archive_entry *entry = os_archive()->entry_new();
	const bool folder = text_ends(name, "/");
	const uint32_t mode = member->made_by >> 8 == UNIX ? member->external >> 16 & 07777
						  : folder                     ? 0755
													   : 0644;
	int result = 0;

	if (!entry)
		mem_ended(0);
	if (!os_archive()->entry_update_pathname_utf8(entry, name))
		os_archive()->entry_set_pathname(entry, name);
	os_archive()->entry_set_mode(entry, (__LA_MODE_T)(mode | (folder ? AE_IFDIR : AE_IFREG)));
	os_archive()->entry_set_mtime(entry, time_of(member), 0);
	os_archive()->entry_set_size(entry, (la_int64_t)size);
	if (os_archive()->write_header(wheel->archive, entry) < ARCHIVE_WARN)
		result = fail_archive(err, wheel);
	os_archive()->entry_free(entry);
	(void)crypto_hash_sha256_init(&wheel->sum);
	wheel->size_bytes = 0;
	return result;
}

static int put_member_content(struct jw_error *err, struct wheel *wheel, size_t index,
							  const char *name)
{
	const struct zip_member *member = &wheel->directory.members[index];
	struct os_map map;
	int result;

	if (index == wheel->metadata) {
		if (begin_member(err, wheel, member, name, wheel->new_metadata.size))
			return -1;
		return put_packed(err, wheel, wheel->new_metadata.data, wheel->new_metadata.size);
	}
	if (!wheel->members[index].baked) {
		if (begin_member(err, wheel, member, name, member->size_bytes))
			return -1;
		return zip_member_unpack(err, &wheel->map, member, &wheel->job->file.cancel, put_packed,
								 wheel);
	}
	if (os_map_open(err, wheel->members[index].baked, &map))
		return -1;
	result = begin_member(err, wheel, member, name, map.size);
	if (!result)
		result = put_whole_file(err, wheel, &map);
	os_map_close(&map);
	return result;
}

static int write_member(struct jw_error *err, struct wheel *wheel, size_t index)
{
	const char *old_name = wheel->directory.members[index].name, *name;
	const bool changed = index == wheel->metadata || wheel->members[index].baked;
	uint8_t sha256[SHA256];
	int result;

	if (index == wheel->record || is_signature(wheel, old_name))
		return 0;
	name = new_name(wheel, old_name);
	if (strcmp(name, old_name) != 0 && zip_directory_find(&wheel->directory, name))
		result = error_set(err, JW_ERR_FORMAT, "already has a member %.300s", name);
	else
		result = put_member_content(err, wheel, index, name);
	(void)crypto_hash_sha256_final(&wheel->sum, sha256);
	if (!result && !text_ends(name, "/")) {
		result =
			check_row(err, wheel, index, changed, changed ? wheel->members[index].before : sha256);
		if (!result)
			result = put_wheel_row(err, wheel, name, sha256);
	}
	return result;
}

/* Writes RECORD, which comes last. */
static int write_wheel_record(struct jw_error *err, struct wheel *wheel)
{
	const struct zip_member *record = &wheel->directory.members[wheel->record];
	const char *name = new_name(wheel, record->name);

	return put_wheel_row(err, wheel, name, NULL) ||
				   begin_member(err, wheel, record, name, wheel->new_record.size) ||
				   put_packed(err, wheel, wheel->new_record.data, wheel->new_record.size)
			   ? -1
			   : 0;
}

static int write_wheel_members(struct jw_error *err, struct wheel *wheel)
{
	struct os_locale *locale;
	int result = 0;

	if (os_archive_load(err))
		return -1;
	locale = os_locale_utf8();
	for (size_t i = 0; i < wheel->directory.count; i++) {
		const char *baked = wheel->members[i].baked;
		struct os_stat stat;

		wheel->total_bytes += baked && !os_stat(NULL, baked, &stat)
								  ? stat.size_bytes
								  : wheel->directory.members[i].size_bytes;
	}
	wheel->new_record = BUF_MAX(RECORD_MAX_BYTES);
	wheel->archive = os_archive()->write_new();
	if (!wheel->archive)
		mem_ended(0);
	if (os_archive()->write_set_format_zip(wheel->archive) ||
		os_archive()->write_set_format_option(wheel->archive, "zip", "hdrcharset", "UTF-8") ||
		os_archive()->write_set_bytes_in_last_block(wheel->archive, 1) ||
		os_archive()->write_open(wheel->archive, wheel, NULL, write_packed, NULL))
		result = fail_archive(err, wheel);
	for (size_t i = 0; !result && i < wheel->directory.count; i++)
		result = write_member(err, wheel, i);
	if (!result)
		result = write_wheel_record(err, wheel);
	if (!result && os_archive()->write_close(wheel->archive))
		result = fail_archive(err, wheel);
	(void)os_archive()->write_free(wheel->archive);
	wheel->archive = NULL;
	os_locale_restore(locale);
	return result;
}

static int write_wheel(struct jw_error *err, struct wheel *wheel)
{
	struct baked_copy copy = {0};
	uint64_t identity;
	struct os_map made;
	int result;

	wheel->path = arena_keep(wheel, os_join(wheel->run.path, "wheel"));
	if (os_file_open(err, wheel->path, OS_OPEN_CREATE, &wheel->file))
		return -1;
	result = write_wheel_members(err, wheel);
	os_file_close(wheel->file);
	if (result)
		return -1;
	identity = baked_copy_identity(wheel->output);
	if (identity && identity == baked_copy_identity(wheel->job->path))
		return error_set(err, JW_ERR_USAGE,
						 "the new package would overwrite it: name another folder");
	/* The old wheel must still be the file that was mapped. */
	if (baked_copy_check(err, wheel->job->path, &wheel->map.stat) ||
		os_map_open(err, wheel->path, &made))
		return -1;
	result =
		baked_copy_begin(err, wheel->path, &made, wheel->output, &wheel->job->file.cancel, &copy);
	if (!result)
		result = baked_copy_finish(err, &copy, wheel->map.stat.mode);
	os_map_close(&made);
	return result;
}

/* Returns whether the wheel's libraries are those of Windows, which are never changed. */
static bool is_for_windows(const struct wheel *wheel)
{
	size_t libraries = 0, windows = 0;

	for (size_t i = 0; i < wheel->directory.count; i++) {
		uint8_t head[KIND_HEAD];
		const size_t size =
			zip_member_head(&wheel->map, &wheel->directory.members[i], head, sizeof head);

		libraries += kind_of(head, size) != KIND_NONE;
		windows += size > 2 && head[0] == 'M' && head[1] == 'Z';
	}
	return windows && windows == libraries;
}

static int bake_wheel(struct jw_error *err, struct wheel *wheel)
{
	const struct bake_package_job *job = wheel->job;
	int result = 0;

	if (os_map_open(err, job->path, &wheel->map) ||
		zip_directory_read(err, &wheel->map, &wheel->directory) || find_stem(err, wheel) ||
		find_own(err, wheel, "METADATA", &wheel->metadata) ||
		find_own(err, wheel, "RECORD", &wheel->record) || take_rows(err, wheel) ||
		take_wheel_version(err, wheel))
		return -1;
	if (job->only_check && !job->any_owner &&
		library_allows_package(err, wheel->package, wheel->nvidia))
		return -1;
	if (job->only_check)
		return is_for_windows(wheel) ? library_refuse_windows(err) : 0;
	if (run_folder_make(err, job->state_dir, &wheel->run))
		return -1;
	for (size_t i = 0; !result && i < wheel->directory.count; i++) {
		result = cancel_check(err, &job->file.cancel);
		if (!result)
			result = bake_member(err, wheel, i);
	}
	if (!result && wheel->baked)
		result = write_wheel(err, wheel);
	return result;
}

static void close_wheel(struct wheel *wheel)
{
	buf_free(&wheel->new_metadata);
	buf_free(&wheel->new_record);
	zip_directory_free(&wheel->directory);
	os_map_close(&wheel->map);
	run_folder_remove(&wheel->run);
	jw_result_free(wheel);
}

bool bake_is_package(const char *path)
{
	static const char *const endings[] = {".whl", ".conda", ".tar.bz2"};
	const size_t length = strlen(path);

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (length > strlen(endings[i]) &&
			text_equal_fold(path + length - strlen(endings[i]), endings[i]))
			return true;
	return false;
}

/* Bakes the libraries of a wheel, which have the same output. */
static int bake_kind(struct jw_error *err, const struct bake_package_job *job,
					 struct bake_files *files)
{
	const size_t first = files->count;
	struct wheel *wheel;
	int result;

	if (!text_equal_fold(job->path + strlen(job->path) - strlen(".whl"), ".whl"))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "is a conda package, which jitwarm does not write: run “jitwarm bake” in "
						 "the build step of its recipe, before conda-build writes the package");
	wheel = arena_open(sizeof *wheel);
	wheel->job = job;
	wheel->files = files;
	result = bake_wheel(err, wheel);
	for (size_t i = first; !result && wheel->baked && i < files->count; i++) {
		struct jw_bake_file *file = &files->items[i];

		if (!file->failed.code && file->baked)
			file->output = wheel->output;
	}
	close_wheel(wheel);
	return result;
}

int bake_package(struct jw_error *err, const struct bake_package_job *job, struct bake_files *files)
{
	const size_t first = files->count;
	struct jw_bake_file failed = {0};

	if (!bake_kind(&failed.failed, job, files))
		return 0;
	files->count = first;
	if (failed.failed.code == JW_ERR_INTERRUPTED)
		return error_copy(err, &failed.failed);
	failed.path = arena_string(files->owner, job->path);
	bake_files_add(files, &failed);
	return 0;
}
