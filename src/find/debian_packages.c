#include "find/debian_packages.h"

#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "devcode/code_file.h"
#include "find/metadata.h"
#include "os/env.h"
#include "os/file.h"
#include "os/programs.h"

enum { MOST_STATUS = 64 << 20, MOST_FILE_LIST = 16 << 20, MOST_NAME = 128, MOST_LINE = 4000 };

/* A paragraph of dpkg's status, as far as it is read. */
struct paragraph {
	char name[MOST_NAME], architecture[32];
	bool installed, needs_cuda;
};

/* Libraries of CUDA, by the beginning of a package's name in a list of dependencies. */
static bool names_cuda(const char *line, size_t length)
{
	static const char *const starts[] = {"libcuda1",  "libcudart",  "libcublas",    "libcufft",
										 "libcurand", "libcudnn",   "libcusolver",  "libcusparse",
										 "libnvrtc",  "libnccl",    "libnvjitlink", "libnpp",
										 "libnvjpeg", "libcutensor"};
	const char *end = line + length;

	for (const char *at = line; at < end; at++) {
		if (at > line && at[-1] != ' ' && at[-1] != ',' && at[-1] != '|')
			continue;
		for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
			const size_t size = strlen(starts[i]);

			if ((size_t)(end - at) >= size && !memcmp(at, starts[i], size))
				return true;
		}
	}
	return false;
}

/* The value of `field` in a line; NULL: another field. */
static const char *field_value(const char *line, size_t length, const char *field,
							   size_t *ret_length)
{
	const size_t size = strlen(field);

	if (length < size || memcmp(line, field, size) != 0)
		return NULL;
	*ret_length = length - size;
	return line + size;
}

static void read_status_line(struct paragraph *paragraph, const char *line, size_t length)
{
	size_t size;
	const char *value;

	if ((value = field_value(line, length, "Package: ", &size)) != NULL)
		(void)snprintf(paragraph->name, sizeof paragraph->name, "%.*s",
					   (int)(size < MOST_NAME ? size : 0), value);
	else if ((value = field_value(line, length, "Architecture: ", &size)) != NULL)
		(void)snprintf(paragraph->architecture, sizeof paragraph->architecture, "%.*s",
					   (int)(size < 32 ? size : 0), value);
	else if ((value = field_value(line, length, "Status: ", &size)) != NULL)
		paragraph->installed = size == strlen("install ok installed") &&
							   !memcmp(value + size - strlen(" installed"), " installed", 10);
	else if ((value = field_value(line, length, "Depends: ", &size)) != NULL ||
			 (value = field_value(line, length, "Pre-Depends: ", &size)) != NULL ||
			 (value = field_value(line, length, "Recommends: ", &size)) != NULL)
		paragraph->needs_cuda = paragraph->needs_cuda || names_cuda(value, size);
}

/* Debian's policy 5.6.1: the name becomes a part of a path. */
static bool is_package_name(const char *name)
{
	return *name && name[0] != '.' &&
		   !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.")];
}

static int add_listed_files(struct jw_error *err, struct place_list *list, const char *name,
							const struct buf *text)
{
	const char *at = buf_text(text), *end = at + text->size, *line;
	char path[MOST_LINE];
	size_t length;
	int result = 0;

	while (!result && metadata_line(&at, end, &line, &length)) {
		struct os_stat stat;
		enum code_file kind;

		if (length >= sizeof path || !length || *line != '/' || memchr(line, 0, length))
			continue;
		memcpy(path, line, length);
		path[length] = 0;
		kind = code_file_by_name(path);
		if (kind == CODE_FILE_OTHER || os_stat(NULL, path, &stat) || stat.kind != OS_REGULAR ||
			(kind == CODE_FILE_PROGRAM && !code_file_is_program(path, &stat)))
			continue;
		result = place_add_path(err, list, "package", name, path);
	}
	return result;
}

static int add_debian_package(struct jw_error *err, struct place_list *list, const char *folder,
							  const struct paragraph *paragraph)
{
	struct jw_error why = {0};
	struct buf text = {0};
	char *path;
	int result = -1;

	if (!paragraph->installed || !paragraph->needs_cuda || !is_package_name(paragraph->name))
		return 0;
	if (cancel_check(err, &list->cancel))
		return -1;
	path = mem_printf(err, "%s/info/%s.list", folder, paragraph->name);
	if (path && !os_exists(path) && is_package_name(paragraph->architecture)) {
		mem_free(path);
		path =
			mem_printf(err, "%s/info/%s:%s.list", folder, paragraph->name, paragraph->architecture);
	}
	if (path)
		result = os_read_file(&why, path, MOST_FILE_LIST, &text)
					 ? error_if_memory(err, &why)
					 : add_listed_files(err, list, paragraph->name, &text);
	buf_free(&text);
	mem_free(path);
	return result;
}

static int add_paragraphs(struct jw_error *err, struct place_list *list, const char *folder,
						  const struct buf *status)
{
	const char *at = buf_text(status), *end = at + status->size, *line;
	struct paragraph paragraph = {0};
	size_t length;
	int result = 0;

	while (!result && metadata_line(&at, end, &line, &length)) {
		if (length) {
			read_status_line(&paragraph, line, length);
			continue;
		}
		result = add_debian_package(err, list, folder, &paragraph);
		paragraph = (struct paragraph){0};
	}
	return result ? result : add_debian_package(err, list, folder, &paragraph);
}

int debian_packages_add(struct jw_error *err, struct place_list *list)
{
	struct jw_error why = {0};
	struct buf status = {0};
	char *folder = NULL, *path = NULL;
	int result = os_env_read(err, "DPKG_ADMINDIR", &folder);

	if (!result && (!folder || !os_is_absolute(folder))) {
		mem_free(folder);
		folder = mem_string(err, "/var/lib/dpkg");
	}
	path = folder ? os_join(err, folder, "status") : NULL;
	if (!path)
		result = -1;
	else if (!os_is_whole_path(folder))
		result = 0; /* Windows */
	else if (!os_read_file(&why, path, MOST_STATUS, &status))
		result = add_paragraphs(err, list, folder, &status);
	else
		result = error_if_memory(err, &why);
	buf_free(&status);
	mem_free(path);
	mem_free(folder);
	return result;
}
