#include "bake/library_owner.h"

#include <string.h>

#include "bake/package_row.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"
#include "find/requirement.h"
#include "os/file.h"
#include "os/process.h"

enum { MOST_LIST = 64 << 20, MOST_LEVELS = 24 };

const char library_owner_dpkg[] = "/var/lib/dpkg/info";

/* ---- NVIDIA */

/* Files of a toolkit are recognised by their names. */
static bool is_named_by_nvidia(const char *package, const char *path)
{
	static const char *const packages[] = {"nvidia-", "nvidia_", "tensorrt", "cuda-"};
	static const char *const libraries[] = {"cublas",   "cudnn", "cufft",  "curand", "cusolver",
											"cusparse", "npp",   "nvjpeg", "nvrtc",  "nvinfer"};
	const char *name = os_base_name(path);

	for (size_t i = 0; package && i < sizeof packages / sizeof *packages; i++)
		if (text_starts_fold(package, packages[i]))
			return true;
	name += text_starts(name, "lib") ? 3 : 0;
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (text_starts_fold(name, libraries[i]))
			return true;
	return false;
}

/* “License: NVIDIA Proprietary Software”, “License-Expression: LicenseRef-NVIDIA-Proprietary” */
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

/* The metadata of the package that lists the file. */
static int is_licensed_by_nvidia(struct jw_error *err, const char *library, bool *ret_is)
{
	struct package_row row;
	struct jw_error why = {0};
	struct buf text = {0};
	char *path;
	int result;

	if (package_row_find(err, library, &row))
		return -1;
	path = row.folder ? os_join(err, row.folder, "METADATA") : NULL;
	result = row.folder && !path ? -1 : 0;
	if (path && os_read_file(&why, path, METADATA_MOST_BYTES, &text))
		result = os_holds_nothing(err, path, &why);
	else if (path)
		*ret_is = library_owner_is_nvidia(&text);
	buf_free(&text);
	mem_free(path);
	package_row_free(&row);
	return result;
}

/* ---- a signature */

/* Whether the PE file's header names a table of certificates. Source: Microsoft, "PE Format". */
static int look_for_signature(struct jw_error *err, const char *path, bool *ret_signed)
{
	enum { DOS = 64, MAGIC = 24, FIRST_32 = 96, FIRST_64 = 112, CERTIFICATES = 4, HEAD = 256 };
	uint8_t dos[DOS], head[HEAD];
	struct os_file *file;
	size_t at, first, dos_size = 0, size = 0;
	int failed;

	if (os_file_open(err, path, OS_OPEN_READ, &file))
		return -1;
	failed = os_file_read(err, file, 0, dos, sizeof dos, &dos_size);
	if (!failed && dos_size == DOS && dos[0] == 'M' && dos[1] == 'Z')
		failed = os_file_read(err, file, load_u32(dos + 60), head, sizeof head, &size);
	os_file_close(file);
	if (failed)
		return -1;
	*ret_signed = false;
	if (size < MAGIC + 2 || memcmp(head, "PE\0\0", 4) != 0)
		return 0;
	first = head[MAGIC + 1] == 2 ? FIRST_64 : FIRST_32;
	at = MAGIC + first + (size_t)CERTIFICATES * 8;
	*ret_signed = range_fits(at, 8, size) && load_u32(head + at + 4);
	return 0;
}

static int refuse_nvidia(struct jw_error *err)
{
	return error_set(err, JW_ERR_UNSUPPORTED,
					 "is NVIDIA's, whose licence does not let anyone modify it");
}

static int allow_unless(struct jw_error *err, bool nvidia, const char *path)
{
	bool is_signed;

	if (nvidia)
		return refuse_nvidia(err);
	if (look_for_signature(err, path, &is_signed))
		return -1;
	return is_signed
			   ? error_set(err, JW_ERR_UNSUPPORTED, "is signed, and a change breaks the signature")
			   : 0;
}

int library_owner_allows_package(struct jw_error *err, const char *package, bool nvidia)
{
	return nvidia || is_named_by_nvidia(package, "") ? refuse_nvidia(err) : 0;
}

int library_owner_allows_member(struct jw_error *err, const char *package, bool nvidia,
								const char *member, const char *path)
{
	return allow_unless(err, nvidia || is_named_by_nvidia(package, member), path);
}

int library_owner_allows_copy(struct jw_error *err, const struct jw_found_file *file)
{
	bool nvidia = is_named_by_nvidia(file->package, file->path);
	char *real = NULL;
	int failed = 0;

	if (!nvidia)
		failed = os_real_path(err, file->path, &real) || is_licensed_by_nvidia(err, real, &nvidia);
	mem_free(real);
	return failed ? -1 : allow_unless(err, nvidia, file->path);
}

/* ---- package managers */

/* Whether a package manager's list names the file. */
static int is_in_list(struct jw_error *err, const char *path, const char *const wanted[2],
					  bool *ret_is)
{
	struct jw_error why = {0};
	struct buf text = {0};

	if (os_read_file(&why, path, MOST_LIST, &text))
		return os_holds_nothing(err, path, &why);
	*ret_is = strstr(buf_text(&text), wanted[0]) || strstr(buf_text(&text), wanted[1]);
	buf_free(&text);
	return 0;
}

/* The first file in `folder` with that end of its name and one of the texts in it; to be freed */
static int find_list(struct jw_error *err, const char *folder, const char *ending,
					 const char *const wanted[2], char **ret_name)
{
	struct jw_error why = {0};
	struct os_names names;
	int result = 0;

	if (os_list(&why, folder, &names))
		return os_holds_nothing(err, folder, &why);
	for (size_t i = 0; !result && !*ret_name && i < names.count; i++) {
		bool named = false;
		char *path;

		if (!text_ends(names.items[i], ending))
			continue;
		path = os_join(err, folder, names.items[i]);
		result = path ? is_in_list(err, path, wanted, &named) : -1;
		if (named) {
			*ret_name = mem_string_n(err, names.items[i], strlen(names.items[i]) - strlen(ending));
			result = *ret_name ? 0 : -1;
		}
		mem_free(path);
	}
	os_names_free(&names);
	return result;
}

/* dpkg may know a file by its place before /lib became a link to /usr/lib. */
static int find_debian(struct jw_error *err, const char *path, const char *dpkg_folder,
					   char **ret_name)
{
	const char *unmerged = text_starts(path, "/usr/") ? path + strlen("/usr") : path;
	char *lines[2] = {mem_printf(err, "\n%s\n", path), mem_printf(err, "\n%s\n", unmerged)};
	int result = lines[0] && lines[1]
					 ? find_list(err, dpkg_folder, ".list",
								 (const char *const[2]){lines[0], lines[1]}, ret_name)
					 : -1;

	mem_free(lines[0]);
	mem_free(lines[1]);
	return result;
}

static int find_conda(struct jw_error *err, const char *path, char **ret_name)
{
	char *prefix = os_dir_name(err, path);
	int result = prefix ? 0 : -1;

	for (int level = 0; !result && !*ret_name && level < MOST_LEVELS; level++) {
		char *above = os_dir_name(err, prefix), *meta = os_join(err, prefix, "conda-meta");
		char *listed = mem_printf(
			err, "\"%s\"", path + strlen(prefix) + !os_is_separator(prefix[strlen(prefix) - 1]));
		const bool top = above && !strcmp(above, prefix);

		for (char *c = listed; c && *c; c++)
			if (os_is_separator(*c))
				*c = '/';
		result =
			above && meta && listed
				? find_list(err, meta, ".json", (const char *const[2]){listed, listed}, ret_name)
				: -1;
		mem_free(listed);
		mem_free(meta);
		mem_free(prefix);
		prefix = above;
		if (top)
			break;
	}
	mem_free(prefix);
	return result;
}

int library_owner_allows_change(struct jw_error *err, const char *path, const char *dpkg_folder)
{
	char *name = NULL;
	/* Not on Windows, where anyone may make such a folder */
	int result = os_is_whole_path(dpkg_folder) ? find_debian(err, path, dpkg_folder, &name) : 0;

	const char *manager = "Debian";

	if (!result && !name) {
		manager = "conda";
		result = find_conda(err, path, &name);
	}
	if (!result && name)
		result = error_set(err, JW_ERR_UNSUPPORTED,
						   "belongs to the %s package %s, which knows its checksum: bake a copy "
						   "(-o)",
						   manager, name);
	mem_free(name);
	return result;
}
