/* jw_state_remove: removes only what jitwarm has written into the state directory. */
#include <jitwarm/system.h>

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/folders.h"

/* jitwarm's files there. JITWARM_STATE may name a folder with other files: they stay. */
static bool is_known(const char *name)
{
	static const char *const starts[] = {
		"devices.json", "drivers", "inventory", "ledger-",     "verified-", "runs",
		"work",         "speed",   "tune.lock", "tuned.json",  "last-run-", "startup-task",
		"trusted",      "store",   "ptxas",     "totals.json", "folders",
	};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (text_starts(name, starts[i]))
			return true;
	return false;
}

/* Secret keys cannot be made again: they stay, unless requested. */
static int remove_state(struct jw_error *err, const char *path, bool with_keys, bool *ret_kept)
{
	struct os_names names;
	int result = 0;

	*ret_kept = false;
	if (os_list(err, path, &names))
		return -1;
	for (size_t i = 0; !result && i < names.count; i++) {
		char *inner;

		if (!strcmp(names.items[i], "keys") && !with_keys)
			*ret_kept = true;
		if (!is_known(names.items[i]) && (strcmp(names.items[i], "keys") != 0 || !with_keys))
			continue;
		inner = os_join(err, path, names.items[i]);
		result = !inner                           ? -1
				 : names.kinds[i] == OS_DIRECTORY ? os_remove_tree(err, inner)
												  : os_remove(err, inner);
		mem_free(inner);
	}
	os_names_free(&names);
	if (!result)
		(void)os_remove_empty_dir(NULL, path);
	return result;
}

int jw_state_remove(struct jw_error *err, bool with_keys, char **ret_path, bool *ret_kept)
{
	char *given = NULL, *path = NULL;
	struct jw_error why = {0};
	bool kept = false;
	int result;

	if (os_state_dir(&why, &given) || os_real_path(&why, given, &path))
		result = error_unless_missing(err, &why);
	else
		result = remove_state(err, path, with_keys, &kept);
	mem_free(given);
	if (result) {
		mem_free(path);
		return -1;
	}
	*ret_path = path;
	*ret_kept = kept;
	return 0;
}
