#include "package/conda_members.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "package/library_owner.h"

enum { MOST_INFO_JSON = 64 << 20, MOST_CHANGES = 1 << 16 };

/* ---- the info archive */

/* Its two documents: read (`to_write` false), or written. */
struct info_edit {
	struct conda_members *conda;
	struct buf *at; /* the one at hand */
	struct buf skipped;
	bool to_write;
};

static struct buf *document_of(struct conda_members *conda, const char *name)
{
	return !strcmp(name, "info/index.json")   ? &conda->index
		   : !strcmp(name, "info/paths.json") ? &conda->paths
											  : NULL;
}

static bool wants_info(void *context, const char *name, uint64_t size_bytes, const uint8_t *head,
					   size_t head_size)
{
	struct info_edit *edit = context;

	(void)size_bytes;
	(void)head;
	(void)head_size;
	edit->at = document_of(edit->conda, name);
	return edit->at != NULL;
}

static int take_info(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	struct info_edit *edit = context;

	return edit->to_write ? 0 : buf_append(err, edit->at, data, size);
}

static int taken_info(struct jw_error *err, void *context, const char *name,
					  const uint8_t **ret_data, uint64_t *ret_size_bytes)
{
	const struct info_edit *edit = context;

	(void)err;
	(void)name;
	*ret_data = edit->at->data;
	*ret_size_bytes = edit->at->size;
	return 0;
}

static int no_link(struct jw_error *err, void *context, const char *name, const char *to)
{
	(void)err;
	(void)context;
	(void)name;
	(void)to;
	return 0;
}

static int edit_info(struct jw_error *err, struct conda_members *conda, bool to_write,
					 const struct jw_cancel *cancel, zip_take write, void *to)
{
	struct info_edit info = {.conda = conda, .to_write = to_write};
	const struct tar_edit edit = {.context = &info,
								  .wants = wants_info,
								  .take = take_info,
								  .taken = taken_info,
								  .link = no_link};

	return conda_members_edit(err, conda, conda->info, &edit, cancel, write, to);
}

int conda_members_write_info(struct jw_error *err, struct conda_members *conda,
							 const struct jw_cancel *cancel, zip_take write, void *to)
{
	struct buf index = BUF_MAX(MOST_INFO_JSON), paths = BUF_MAX(MOST_INFO_JSON);

	if (conda_edit_index(err, &conda->index, conda->build, &index) ||
		conda_edit_paths(err, &conda->paths, conda->changes, conda->change_count, &paths)) {
		buf_free(&index);
		buf_free(&paths);
		return -1;
	}
	buf_free(&conda->index);
	buf_free(&conda->paths);
	conda->index = index;
	conda->paths = paths;
	return edit_info(err, conda, true, cancel, write, to);
}

/* ---- names */

static char *archive_name(struct jw_error *err, const char *kind, const char *stem)
{
	return mem_printf(err, "%s-%s.tar.zst", kind, stem);
}

static int find_archives(struct jw_error *err, struct conda_members *conda, const char *stem)
{
	char *info = archive_name(err, "info", stem), *pkg = archive_name(err, "pkg", stem);
	int result = info && pkg ? 0 : -1;

	if (!result) {
		conda->info = zip_directory_find(&conda->directory, info);
		conda->pkg = zip_directory_find(&conda->directory, pkg);
		if (!conda->info || !conda->pkg)
			result = error_set(err, JW_ERR_FORMAT, "is not a conda package: it has no %.300s",
							   conda->info ? pkg : info);
		else if (conda->info->method != ZIP_STORED || conda->pkg->method != ZIP_STORED)
			result =
				error_set(err, JW_ERR_UNSUPPORTED, "its archives are not stored in the zip file");
	}
	mem_free(info);
	mem_free(pkg);
	return result;
}

static int name_new(struct jw_error *err, struct conda_members *conda, const char *stem,
					const cJSON *index, const struct jw_target *gpus, size_t gpu_count)
{
	const char *name = json_text(index, "name", ""), *version = json_text(index, "version", ""),
			   *build = json_text(index, "build", "");
	struct buf licence = BUF_MAX(MOST_INFO_JSON);
	char *own = mem_printf(err, "%s-%s-%s", name, version, build), *new_stem = NULL;
	int result = -1;

	if (own && strcmp(own, stem) != 0) {
		error_set(err, JW_ERR_FORMAT, "is called %.200s, and its index.json says %.200s", stem,
				  own);
	} else if (own &&
			   !buf_printf(err, &licence, "License: %s\n", json_text(index, "license", ""))) {
		conda->nvidia = library_owner_is_nvidia(&licence);
		conda->package = mem_string(err, name);
		conda->build = conda_edit_build(err, build, gpus, gpu_count);
		new_stem = conda->build ? mem_printf(err, "%s-%s-%s", name, version, conda->build) : NULL;
		conda->file_name = new_stem ? mem_printf(err, "%s.conda", new_stem) : NULL;
		conda->new_info = new_stem ? archive_name(err, "info", new_stem) : NULL;
		conda->new_pkg = new_stem ? archive_name(err, "pkg", new_stem) : NULL;
		result = conda->package && conda->file_name && conda->new_info && conda->new_pkg ? 0 : -1;
	}
	buf_free(&licence);
	mem_free(new_stem);
	mem_free(own);
	return result;
}

static int read_conda_names(struct jw_error *err, struct conda_members *conda, const char *stem,
							const struct jw_target *gpus, size_t gpu_count,
							const struct jw_cancel *cancel)
{
	cJSON *index;
	int result;

	conda->index = conda->paths = BUF_MAX(MOST_INFO_JSON);
	if (find_archives(err, conda, stem) || edit_info(err, conda, false, cancel, NULL, NULL))
		return -1;
	if (!conda->index.size || !conda->paths.size)
		return error_set(err, JW_ERR_FORMAT, "is not a conda package: it has no info/%s",
						 conda->index.size ? "paths.json" : "index.json");
	if (!(index = json_parse(err, buf_text(&conda->index), conda->index.size)))
		return error_prefix(err, "its index.json");
	result = name_new(err, conda, stem, index, gpus, gpu_count);
	cJSON_Delete(index);
	return result;
}

int conda_members_open(struct jw_error *err, const char *path, const struct jw_target *gpus,
					   size_t gpu_count, const struct jw_cancel *cancel,
					   struct conda_members *ret_conda)
{
	const char *name = os_base_name(path);
	char *stem = mem_string_n(err, name, strlen(name) - strlen(".conda"));
	struct conda_members conda = {0};
	int result = stem ? os_map_open(err, path, &conda.map) : -1;

	if (!result)
		result = zip_directory_read(err, conda.map.data, conda.map.size, &conda.directory) ||
				 read_conda_names(err, &conda, stem, gpus, gpu_count, cancel);
	mem_free(stem);
	if (result) {
		conda_members_close(&conda);
		return -1;
	}
	*ret_conda = conda;
	return 0;
}

int conda_members_change(struct jw_error *err, struct conda_members *conda,
						 const struct conda_change *change)
{
	char *path;

	if (VEC_ROOM(err, conda->changes, conda->change_capacity, conda->change_count, MOST_CHANGES) ||
		!(path = mem_string(err, change->path)))
		return -1;
	conda->changes[conda->change_count] = *change;
	conda->changes[conda->change_count++].path = path;
	return 0;
}

void conda_members_close(struct conda_members *conda)
{
	for (size_t i = 0; i < conda->change_count; i++)
		mem_free(conda->changes[i].path);
	mem_free(conda->changes);
	mem_free(conda->package);
	mem_free(conda->build);
	mem_free(conda->file_name);
	mem_free(conda->new_info);
	mem_free(conda->new_pkg);
	buf_free(&conda->index);
	buf_free(&conda->paths);
	zip_directory_free(&conda->directory);
	os_map_close(&conda->map);
	*conda = (struct conda_members){0};
}
