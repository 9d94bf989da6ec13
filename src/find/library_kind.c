#include "find/library_kind.h"

#include <jitwarm/find.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"
#include "os/programs.h"

/* The last name is the newest version: libnvrtc.so < libnvrtc.so.11.2 < libnvrtc.so.12. */
static bool look_into(const struct library_kind *kind, const char *folder, char **ret_path)
{
	struct os_names names;
	const char *best = NULL;

	if (os_list(NULL, folder, &names))
		return false;
	for (size_t i = 0; i < names.count; i++)
		if (names.kinds[i] == OS_REGULAR && kind->is(names.items[i]))
			best = names.items[i];
	if (best)
		*ret_path = os_join(NULL, folder, best);
	os_names_free(&names);
	return best && *ret_path;
}

static bool look_in(const struct library_kind *kind, const char *root, const char *below,
					char **ret_path)
{
	char *folder = os_join(NULL, root, below);
	const bool found = folder && look_into(kind, folder, ret_path);

	mem_free(folder);
	return found;
}

bool library_kind_below(const struct library_kind *kind, const char *root, char **ret_path)
{
	static const char *const places[] = {"lib64",
										 "lib",
										 "bin",
										 "bin/x64",
										 "targets/x86_64-linux/lib",
										 "targets/sbsa-linux/lib",
										 "Library/bin",
										 "nvidia/cu13/lib",
										 "nvidia/cu13/bin/x86_64",
										 "cu13/lib"};

	if (look_into(kind, root, ret_path))
		return true;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (look_in(kind, root, places[i], ret_path))
			return true;
	for (size_t i = 0; kind->folders[i]; i++)
		if (look_in(kind, root, kind->folders[i], ret_path))
			return true;
	return false;
}

bool library_kind_of_package(struct jw_error *err, const struct library_kind *kind,
							 const char *name, char **ret_path)
{
	struct jw_found *found = NULL;
	bool is_there = false;

	if (jw_find(err,
				&(struct jw_find_options){
					.size = sizeof(struct jw_find_options), .names = &name, .name_count = 1},
				&found))
		return false;
	for (size_t i = 0; i < found->file_count && !is_there; i++)
		if (kind->is(os_base_name(found->files[i].path))) {
			*ret_path = mem_string(err, found->files[i].path);
			is_there = *ret_path != NULL;
		}
	jw_found_free(found);
	return is_there;
}

int library_kind_named(struct jw_error *err, const struct library_kind *kind, const char *name,
					   char **ret_path)
{
	struct jw_error why = {0};
	struct os_stat stat;

	if (!os_stat(NULL, name, &stat)) {
		if (stat.kind == OS_DIRECTORY && library_kind_below(kind, name, ret_path))
			return 0;
		if (stat.kind == OS_REGULAR)
			return os_real_path(err, name, ret_path);
	}
	if (library_kind_of_package(&why, kind, name, ret_path))
		return 0;
	if (why.message[0])
		return error_set(err, JW_ERR_NOT_FOUND, "%s %s: %s", kind->option, name, why.message);
	return error_set(err, JW_ERR_NOT_FOUND,
					 "%s %s: neither it nor a package that it requires brings %s (%s)",
					 kind->option, name, kind->called, kind->files);
}

bool library_kind_of_variable(const struct library_kind *kind, const char *variable,
							  char **ret_path)
{
	char *root = os_env(variable);
	const bool found = root && os_is_whole_path(root) && library_kind_below(kind, root, ret_path);

	mem_free(root);
	return found;
}
