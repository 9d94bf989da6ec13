#include "bake/library_owner.h"

#include <string.h>

#include "bake/package_row.h"
#include "base/mem.h"
#include "base/packages.h"
#include "base/text.h"
#include "find/requirement.h"
#include "os/file.h"

/* Returns whether a file of a toolkit is NVIDIA's by its name. */
static bool is_named_by_nvidia(const char *package, const char *path)
{
	const struct package_fact *fact = package_fact_library("nvidia", path);

	/* The licence of an open-source library forbids no changes. */
	if (fact && !fact->values[0])
		return true;
	return package && package_fact_begins("owner", package);
}

/* Returns whether a line is “License: NVIDIA Proprietary Software” or “License-Expression:
 * LicenseRef-NVIDIA-Proprietary”. */
static bool is_nvidia_licence(const char *line, size_t length)
{
	static const char nvidia[] = "NVIDIA";

	if (length < strlen("License") || !text_starts_fold(line, "License"))
		return false;
	for (size_t i = 0; i + strlen(nvidia) <= length; i++)
		if (text_starts_fold(line + i, nvidia))
			return true;
	return false;
}

bool library_owner_is_nvidia(const struct buf *metadata)
{
	const char *at = buf_text(metadata), *end = at + metadata->size, *line;
	size_t length;

	while (metadata_line(&at, end, &line, &length) && length)
		if (is_nvidia_licence(line, length))
			return true;
	return false;
}

/* Reads the metadata of the package that lists the file. */
static int is_licensed_by_nvidia(struct jw_error *err, const char *library, bool *ret_is)
{
	struct package_row row;
	struct jw_error why = {0};
	struct buf text = {0};
	char *path;
	int result = 0;

	if (package_row_find(err, library, &row))
		return -1;
	if (!row.folder)
		return 0;
	path = os_join(row.folder, "METADATA");
	if (os_read_file(&why, path, METADATA_MAX_BYTES, &text))
		result = os_ignore_unreadable(err, path, &why);
	else
		*ret_is = library_owner_is_nvidia(&text);
	buf_free(&text);
	mem_free(path);
	package_row_free(&row);
	return result;
}

static int refuse_nvidia(struct jw_error *err)
{
	return error_set(err, JW_ERR_UNSUPPORTED, "belongs to NVIDIA, whose licence forbids changes");
}

/* Refuses a PE file: nobody has tried a longer copy of one on Windows. */
int library_refuse_windows(struct jw_error *err)
{
	return error_set(err, JW_ERR_UNSUPPORTED,
					 "a Windows library, which bake does not change: on Windows, “jitwarm prime” "
					 "fills the cache");
}

static int refuse_windows(struct jw_error *err, const char *path)
{
	struct os_file *file;
	uint8_t magic[2];
	size_t size;
	int result;

	if (os_file_open(err, path, OS_OPEN_READ, &file))
		return -1;
	result = os_file_read(err, file, 0, magic, sizeof magic, &size);
	os_file_close(file);
	if (!result && size == sizeof magic && magic[0] == 'M' && magic[1] == 'Z')
		result = library_refuse_windows(err);
	return result;
}

int library_allows_package(struct jw_error *err, const char *package, bool nvidia)
{
	return nvidia || is_named_by_nvidia(package, "") ? refuse_nvidia(err) : 0;
}

int library_allows_member(struct jw_error *err, const char *package, bool nvidia, bool any_owner,
						  const char *member, const char *path)
{
	if (!any_owner && (nvidia || is_named_by_nvidia(package, member)))
		return refuse_nvidia(err);
	return refuse_windows(err, path);
}

int library_allows_copy(struct jw_error *err, const struct jw_found_file *file, bool any_owner)
{
	bool nvidia = !any_owner && is_named_by_nvidia(file->package, file->path);
	char *real;
	int result;

	if (!nvidia && !any_owner) {
		if (os_real_path(err, file->path, &real))
			return -1;
		result = is_licensed_by_nvidia(err, real, &nvidia);
		mem_free(real);
		if (result)
			return -1;
	}
	return nvidia ? refuse_nvidia(err) : refuse_windows(err, file->path);
}
