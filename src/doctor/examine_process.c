/* Examines as a process of this account: with the variables of its driver. The
 * variables of a process are hostile: only those that decide what the driver compiles and for which
 * GPUs are taken. Others name libraries that the driver loads (CUDA_INJECTION64_PATH), files that
 * it writes and programs that it contacts. */
#include <jitwarm/doctor.h>

#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "doctor/examination.h"
#include "os/env.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/processes.h"

static bool is_of_driver(const char *name)
{
	return text_starts(name, "CUDA_") && strcmp(name, "CUDA_HOME") != 0 &&
		   strcmp(name, "CUDA_PATH") != 0;
}

static bool is_taken(const char *name)
{
	static const char *const starts[] = {"CUDA_CACHE_", "CUDA_FORCE_", "CUDA_DISABLE_"};
	static const char *const names[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
										"CUDA_MODULE_LOADING",  "HOME",
										"VIRTUAL_ENV",          "CONDA_PREFIX"};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (text_starts(name, starts[i]))
			return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Removes our own variables, which say nothing about the process. */
static int forget_own(struct jw_error *err)
{
	uv_env_item_t *items = NULL;
	int count = 0, result = 0;

	cache_settings_forget_adopted();
	if (uv_os_environ(&items, &count))
		return error_set(err, JW_ERR_IO, "the environment cannot be read");
	for (int i = 0; !result && i < count; i++)
		if (is_of_driver(items[i].name) || is_taken(items[i].name))
			result = os_env_set(err, items[i].name, NULL);
	uv_os_free_environ(items, count);
	/* Root that examines as root does not mean the account that called sudo. */
	return result ? -1 : os_env_set(err, "SUDO_USER", NULL);
}

struct taken {
	struct taken_variable {
		char *name, *value;
	} * items;
	size_t count, capacity;
	int pid;
};

enum { MAX_TAKEN = 256 };

/* The relative cache path of the process that is examined; NULL if it is not relative. */
static char *relative_cache;

const char *examine_relative_cache(void)
{
	return relative_cache;
}

/* Takes the cache path. The process's driver resolves a relative path from the folder of the
 * process, not from this process's folder. */
static int take_cache_path(struct jw_error *err, int pid, const char *value, char **ret_path)
{
	char *folder = NULL, *said = mem_string(value);

	if (os_process_folder(err, pid, &folder)) {
		mem_free(said);
		return error_prefix(err, "CUDA_CACHE_PATH=%.300s is relative", value);
	}
	*ret_path = os_join(folder, value);
	mem_free(folder);
	mem_free(relative_cache);
	relative_cache = said;
	return 0;
}

/* Returns whether a variable was already taken: a program sees the first of two variables of the
 * same name. */
static bool is_known_variable(const struct taken *taken, const char *name)
{
	for (size_t i = 0; i < taken->count; i++)
		if (!strcmp(taken->items[i].name, name))
			return true;
	return false;
}

/* Keeps a variable of the process if it decides about code; the first of several of one name
 * counts. */
static int keep_variable(struct jw_error *err, void *context, const char *name, const char *value)
{
	struct taken *taken = context;
	struct taken_variable *item;

	if (!is_taken(name) || is_known_variable(taken, name))
		return 0;
	if (taken->count == MAX_TAKEN)
		return error_set(err, JW_ERR_LIMIT, "process %d has more than %d variables of the driver",
						 taken->pid, MAX_TAKEN);
	if (VEC_ROOM(err, taken->items, taken->capacity, taken->count, MAX_TAKEN))
		return -1;
	item = &taken->items[taken->count++];
	*item = (struct taken_variable){0};
	item->name = mem_string(name);
	if (!strcmp(name, "CUDA_CACHE_PATH") && *value && !os_is_absolute(value))
		return take_cache_path(err, taken->pid, value, &item->value);
	item->value = mem_string(value);
	return 0;
}

int jw_examine_process(struct jw_error *err, int pid)
{
	struct taken taken = {.pid = pid};
	uint32_t owner, still;
	int result = -1;

	if (os_process_owner(err, pid, &owner) ||
		os_process_variables(err, pid, keep_variable, &taken) || os_process_owner(err, pid, &still))
		goto done;
	/* Another process may have got the number meanwhile. */
	if (still != owner) {
		error_set(err, JW_ERR_NOT_FOUND, "process %d has ended", pid);
		goto done;
	}
	if (owner != os_own_account()) {
		error_set(err, JW_ERR_UNSUPPORTED, "process %d: run jitwarm in its account", pid);
		goto done;
	}
	if (forget_own(err))
		goto done;
	for (size_t i = 0; i < taken.count; i++)
		if (os_env_set(err, taken.items[i].name, taken.items[i].value))
			goto done;
	result = 0;
done:
	for (size_t i = 0; i < taken.count; i++) {
		mem_free(taken.items[i].name);
		mem_free(taken.items[i].value);
	}
	mem_free(taken.items);
	return result;
}
