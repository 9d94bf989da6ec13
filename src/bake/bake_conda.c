/* A conda package with machine code in its libraries. */
#include <string.h>

#include "bake/bake_package.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "devcode/image_kind.h"
#include "package/conda_members.h"
#include "package/zip_write.h"

struct conda_bake {
	const struct bake_package_job *job;
	struct bake_package_files *files;
	struct conda_members conda;
	struct package_part part;
	struct package_file pkg;  /* the new archive */
	struct package_file file; /* the member at hand, unpacked */
	struct jw_error why;      /* why it cannot be unpacked */
	char *baked;              /* its baked copy */
	struct os_map map;        /* of one of the two */
	char *output;
	bool any; /* something was baked */
};

/* ---- the libraries */

static void forget_file(struct conda_bake *bake)
{
	os_map_close(&bake->map);
	bake->map = (struct os_map){0};
	package_file_drop(&bake->file);
	if (bake->baked)
		(void)os_remove(NULL, bake->baked);
	mem_free(bake->baked);
	bake->baked = NULL;
}

static bool wants_code(void *context, const char *name, uint64_t size_bytes, const uint8_t *head,
					   size_t head_size)
{
	struct conda_bake *bake = context;

	(void)name;
	(void)size_bytes;
	if (kind_of(head, head_size) == KIND_NONE)
		return false;
	forget_file(bake);
	return !package_file_open(&bake->why, &bake->part, "member", &bake->file);
}

/* The names that conda gives its files have no "./". */
static const char *plain_name(const char *name)
{
	return name[0] == '.' && name[1] == '/' ? name + 2 : name;
}

static int note_change(struct jw_error *err, struct conda_bake *bake, const char *name)
{
	const char *plain = plain_name(name);
	char *path = mem_string(err, plain);
	struct conda_change change = {.path = path, .size_bytes = bake->map.size};
	crypto_hash_sha256_state state;
	int result;

	if (!path)
		return -1;
	memcpy(change.before, bake->file.sha256, sizeof change.before);
	(void)crypto_hash_sha256_init(&state);
	(void)crypto_hash_sha256_update(&state, bake->map.data, bake->map.size);
	(void)crypto_hash_sha256_final(&state, change.sha256);
	result = conda_members_change(err, &bake->conda, &change);
	mem_free(path);
	return result;
}

static int bake_taken(struct jw_error *err, void *context, const char *name,
					  const uint8_t **ret_data, uint64_t *ret_size_bytes)
{
	struct conda_bake *bake = context;
	const struct bake_member member = {.package = bake->conda.package,
									   .member = plain_name(name),
									   .nvidia = bake->conda.nvidia,
									   .file = &bake->file};

	package_file_close(&bake->file);
	if (bake_package_member(err, bake->job, &bake->part, &member, bake->files, &bake->baked) ||
		os_map_open(err, bake->baked ? bake->baked : bake->file.path, &bake->map) ||
		(bake->baked && note_change(err, bake, name)))
		return -1;
	bake->any = bake->any || bake->baked;
	*ret_data = bake->map.data;
	*ret_size_bytes = bake->map.size;
	return 0;
}

static int take_code(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	struct conda_bake *bake = context;

	return package_file_put(err, &bake->file, data, size);
}

/* Its content is that of the baked file then. */
static int note_link(struct jw_error *err, void *context, const char *name, const char *to)
{
	struct conda_bake *bake = context;

	for (size_t i = 0; i < bake->conda.change_count; i++) {
		struct conda_change change = bake->conda.changes[i];
		int result;

		if (strcmp(change.path, plain_name(to)) != 0)
			continue;
		if (!(change.path = mem_string(err, plain_name(name))))
			return -1;
		result = conda_members_change(err, &bake->conda, &change);
		mem_free(change.path);
		return result;
	}
	return 0;
}

static int bake_pkg(struct jw_error *err, struct conda_bake *bake)
{
	const struct tar_edit edit = {.context = bake,
								  .wants = wants_code,
								  .take = take_code,
								  .taken = bake_taken,
								  .link = note_link};
	const bool writes = bake->job->folder != NULL;
	int result;

	if (writes && package_file_open(err, &bake->part, "pkg", &bake->pkg))
		return -1;
	result = conda_members_edit(err, &bake->conda, bake->conda.pkg, &edit, &bake->job->file.cancel,
								writes ? package_file_put : NULL, &bake->pkg);
	forget_file(bake);
	package_file_close(&bake->pkg);
	if (!result && bake->why.code)
		result = error_copy(err, &bake->why);
	return result;
}

/* ---- the package */

static int put_stored(struct jw_error *err, struct conda_bake *bake, struct zip_writer *writer,
					  size_t index, const char *name, const struct package_file *file)
{
	enum { STEP = 1 << 20 };
	struct os_map map;
	int result;

	if (os_map_open(err, file->path, &map))
		return -1;
	result = zip_writer_begin(err, writer, index, &bake->conda.directory.members[index], name,
							  false, map.size);
	for (size_t at = 0; !result && at < map.size; at += STEP) {
		const size_t size = map.size - at < STEP ? map.size - at : STEP;

		result = cancel_check(err, &bake->job->file.cancel) ||
				 zip_writer_put(err, writer, map.data + at, size);
		os_map_forget(&map, at, size);
	}
	result = result || zip_writer_end(err, writer);
	os_map_close(&map);
	return result ? -1 : 0;
}

static int put_conda_members(struct jw_error *err, struct conda_bake *bake,
							 struct zip_writer *writer, const struct package_file *info)
{
	const struct conda_members *conda = &bake->conda;

	for (size_t i = 0; i < conda->directory.count; i++) {
		const struct zip_member *member = &conda->directory.members[i];

		if (member == conda->info || member == conda->pkg
				? put_stored(err, bake, writer, i,
							 member == conda->info ? conda->new_info : conda->new_pkg,
							 member == conda->info ? info : &bake->pkg)
				: zip_writer_copy(err, writer, i, &conda->map, member, member->name,
								  &bake->job->file.cancel))
			return -1;
	}
	return zip_writer_finish(err, writer, conda->directory.comment);
}

static int finish_conda(struct jw_error *err, struct conda_bake *bake)
{
	struct zip_writer *writer = NULL;
	struct package_file info = {0};
	int result = package_file_open(err, &bake->part, "info", &info);

	if (!result)
		result = conda_members_write_info(err, &bake->conda, &bake->job->file.cancel,
										  package_file_put, &info);
	package_file_close(&info);
	if (!result)
		result = zip_writer_open(err, bake->part.file, bake->conda.directory.count, &writer) ||
				 put_conda_members(err, bake, writer, &info) ||
				 package_part_finish(err, &bake->part, bake->output, bake->conda.map.stat.mode);
	zip_writer_close(writer);
	package_file_drop(&info);
	return result ? -1 : 0;
}

static int run_conda(struct jw_error *err, struct conda_bake *bake)
{
	const struct bake_package_job *job = bake->job;

	if (conda_members_open(err, job->path, job->file.targets, job->file.target_count,
						   &job->file.cancel, &bake->conda) ||
		bake_package_output(err, job, bake->conda.file_name, &bake->output) ||
		bake_package_check_owner(err, job, bake->conda.package, bake->conda.nvidia) ||
		package_part_open(err, job->folder, job->state_dir, &bake->part))
		return -1;
	if (job->only_check)
		return 0;
	if (bake_pkg(err, bake))
		return -1;
	if (!bake->any)
		return 0;
	return bake_package_check(err, job, &bake->conda.map, bake->output) || finish_conda(err, bake)
			   ? -1
			   : 0;
}

int bake_conda(struct jw_error *err, const struct bake_package_job *job,
			   struct bake_package_files *files, char **ret_output)
{
	struct conda_bake bake = {.job = job, .files = files};
	int result = run_conda(err, &bake);

	if (!result && bake.any) {
		*ret_output = bake.output;
		bake.output = NULL;
	}
	forget_file(&bake);
	package_file_drop(&bake.pkg);
	package_part_drop(&bake.part);
	conda_members_close(&bake.conda);
	mem_free(bake.output);
	return result;
}
