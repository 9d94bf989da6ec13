#include <string.h>

#include <jitwarm/constraints.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/packages.h"
#include "os/env.h"
#include "os/file.h"

/* Returns whether the file holds torch: a line of it begins with this name. One that cannot be read
 * may hold it. */
static bool holds_torch(const char *path)
{
	enum { MAX_FILE = 1 << 20 };
	static const char name[] = "torch";
	struct buf content;
	bool holds = false;

	if (os_read_file(NULL, path, MAX_FILE, &content))
		return true;
	if (!text_starts(buf_text(&content), JW_CONSTRAINTS_HEAD))
		for (const char *at = buf_text(&content); *at && !holds; at += *at == '\n') {
			at += strspn(at, " \t\r");
			holds = text_starts_fold(at, name) && strchr(" =<>!~@;[", at[strlen(name)]);
			at += strcspn(at, "\n");
		}
	buf_free(&content);
	return holds;
}

/* Returns whether a file of PIP_CONSTRAINT, whose paths have blanks between them, holds torch. */
static bool is_held(void)
{
	char *paths = os_env("PIP_CONSTRAINT");
	bool held = false;

	for (char *at = paths, *end; at && *(at += strspn(at, " ")) && !held; at = end) {
		end = at + strcspn(at, " ");
		if (*end)
			*end++ = '\0';
		held = holds_torch(at);
	}
	mem_free(paths);
	return held;
}

/* Returns whether a version has the label of NVIDIA's images: 2.8.0a0+5228986c39.nv25.6. */
static bool has_nvidias_label(const char *version)
{
	const char *label = strchr(version, '+');

	return label && (text_starts(label, "+nv") || strstr(label, ".nv"));
}

/* Returns whether the torch of the active environment has that label. */
static bool is_nvidias(void)
{
	struct sites *sites = NULL;
	struct found_list list;
	char version[PACKAGE_MAX_NAME];
	struct packages packages;
	bool is = false;
	size_t at;

	found_open(&list);
	if (!sites_find(NULL, &list, &sites) && !packages_open(NULL, sites, &packages)) {
		at = packages_find(&packages, "torch", 0);
		is = at != SET_NONE && packages_is_version(&packages.items[at], "", version) &&
			 has_nvidias_label(version);
		packages_close(&packages);
	}
	jw_result_free(sites);
	jw_result_free(list.found);
	found_close(&list);
	return is;
}

bool jw_constraints_keep_torch(void)
{
	return is_held() || is_nvidias();
}
