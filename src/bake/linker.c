#include "bake/linker.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/text.h"
#include "code/release.h"
#include "driver/compiler_fetch.h"
#include "driver/driver_session.h"
#include "driver/nvjitlink.h"
#include "driver/task.h"
#include "find/libraries.h"
#include "os/file.h"
#include "os/process.h"

enum { ASK_LIMIT_S = 60 };

/* Returns whether the name is like libnvJitLink.so.12 or nvJitLink_120_0.dll. */
static bool is_nvjitlink(const char *name)
{
	return text_starts(name, "libnvJitLink.so") ||
		   (text_starts(name, "nvJitLink_") && text_ends(name, ".dll"));
}

static const char *const linker_folders[] = {"nvidia/nvjitlink/lib", "nvidia/nvjitlink/bin",
											 "nvjitlink/lib", NULL};
static const struct library_kind linker_kind = {
	.option = "--nvjitlink",
	.called = "an nvJitLink",
	.files = "libnvJitLink.so, nvJitLink_*.dll",
	.is = is_nvjitlink,
	.brought = "nvjitlink",
	.folders = linker_folders,
};

int linker_ask(struct jw_error *err, const char *library, struct jw_target target,
			   const char *folder, struct driver_query ask, uint32_t *ret_cuda,
			   struct protocol_answer *ret_answer)
{
	struct protocol_hello *hello = mem_alloc(sizeof *hello);
	cJSON *object = cJSON_CreateObject();
	char name[JW_TARGET_TEXT], *task = NULL;
	int result;

	(void)cJSON_AddStringToObject(object, "compiler", "nvjitlink");
	(void)cJSON_AddStringToObject(object, "library", library);
	(void)cJSON_AddStringToObject(object, "target", jw_target_sm(name, target));
	result = task_write(err, folder, object, &task);
	if (!result) {
		ask.task = task;
		ask.cache_dir = folder;
		result = driver_query(err, &ask, hello, ret_answer);
	}
	if (!result && hello->result)
		result = error_set(err, JW_ERR_UNSUPPORTED, "%s", hello->error);
	if (!result && ret_cuda)
		*ret_cuda = hello->cuda;
	mem_free(task);
	mem_free(hello);
	return result;
}

struct linker_search {
	struct linker *linker;
	const struct jw_system *system;
	const struct jw_cancel *cancel;
	struct run_folder folder;
};

static bool is_known_linker(const struct linker *linker, const char *path)
{
	for (size_t i = 0; i < linker->count; i++)
		if (!strcmp(linker->items[i].path, path))
			return true;
	return false;
}

/* Adds a library, and keeps the list sorted. */
static void add_linker(struct linker *linker, const char *path, uint32_t cuda)
{
	size_t at = linker->count++;

	for (; at && linker->items[at - 1].cuda > cuda; at--)
		linker->items[at] = linker->items[at - 1];
	linker->items[at] = (struct linker_library){path, cuda};
}

/* Adds a library that can be used; skips others, and NULL. */
static int try_library(struct jw_error *err, struct linker_search *search, const char *path)
{
	struct linker *linker = search->linker;
	const struct driver_query ask = {
		.worker = search->system->worker, .limit_s = ASK_LIMIT_S, .cancel = search->cancel};
	struct jw_error why = {0};
	uint32_t cuda = 0;
	bool names;
	char *real;

	if (!path || os_real_path(&why, path, &real) ||
		is_known_linker(linker, arena_keep(linker->owner, real)) || linker->count == LINKER_MAX)
		return 0;
	if (!linker_ask(&why, real, search->system->gpus[0].target, search->folder.path, ask, &cuda,
					NULL)) {
		add_linker(linker, real, cuda);
		return 0;
	}
	names = strstr(why.message, real) != NULL;
	if (!linker->why.code)
		error_set(&linker->why, why.code, "%s%s%s", names ? "" : real, names ? "" : ": ",
				  why.message);
	return why.code == JW_ERR_INTERRUPTED ? error_copy(err, &why) : 0;
}

/* Tries the library below a folder, which the linker's owner then has; none below NULL. */
static int try_below(struct jw_error *err, struct linker_search *search, char *root)
{
	void *owner = search->linker->owner;

	return arena_keep(owner, root)
			   ? try_library(err, search, library_below(owner, &linker_kind, root))
			   : 0;
}

static int search_store(struct jw_error *err, struct linker_search *search)
{
	struct os_names names;
	char *store = NULL;
	int result = 0;

	if (jw_compiler_store(NULL, &store))
		return 0;
	if (!os_list(NULL, store, &names)) {
		for (size_t i = 0; !result && i < names.count; i++)
			if (names.kinds[i] == OS_DIRECTORY && *names.items[i] != '.')
				result = try_below(err, search, os_join(store, names.items[i]));
		os_names_free(&names);
	}
	mem_free(store);
	return result;
}

static int search_everywhere(struct jw_error *err, struct linker_search *search)
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
	const uint32_t last = search->linker->most ? search->linker->most : gpu_newest_cuda();
	const struct package_fact *package;
	void *owner = search->linker->owner;
	int result = search_store(err, search);

	for (size_t at = 0; !result && (package = package_fact_next(linker_kind.brought, &at));)
		result =
			try_library(err, search, library_of_package(NULL, owner, &linker_kind, package->name));
	for (size_t i = 0; !result && i < sizeof variables / sizeof *variables; i++)
		result = try_library(err, search, library_of_variable(owner, &linker_kind, variables[i]));
	for (uint32_t cuda = NVJITLINK_FIRST_CUDA; !result && cuda <= last; cuda += 10)
		result = try_below(err, search, os_cuda_toolkit(cuda / 1000, cuda % 1000 / 10));
	return result ? result : try_below(err, search, os_cuda_toolkit(0, 0));
}

int linker_named(struct jw_error *err, const char *name)
{
	void *owner = arena_open(0);
	const bool there = library_named(err, owner, &linker_kind, name);

	jw_result_free(owner);
	return there ? 0 : -1;
}

int linker_search(struct jw_error *err, struct linker *linker, const struct jw_system *system,
				  const struct jw_cancel *cancel)
{
	struct linker_search search = {.linker = linker, .system = system, .cancel = cancel};
	int result;

	if (linker->looked)
		return linker->named && !linker->count ? error_copy(err, &linker->why) : 0;
	if (run_folder_make(err, system->state_dir, &search.folder))
		return -1;
	linker->looked = true;
	result =
		!linker->named
			? search_everywhere(err, &search)
			: try_library(err, &search,
						  library_named(&linker->why, linker->owner, &linker_kind, linker->named));
	run_folder_remove(&search.folder);
	if (!result && linker->named && !linker->count)
		result = error_copy(err, &linker->why);
	return result;
}

int linker_fetch(struct jw_error *err, struct linker *linker, uint32_t least, uint32_t most,
				 const struct jw_system *system, const struct jw_cancel *cancel)
{
	const uint32_t cuda = compiler_fetch_first(least);
	char version[32], *path;

	if (!linker->fetch || linker->named || cuda > most)
		return 0;
	for (size_t i = 0; i < linker->count; i++)
		if (linker->items[i].cuda >= least && linker->items[i].cuda <= most)
			return 0;
	(void)snprintf(version, sizeof version, "%u.%u", cuda / 1000, cuda % 1000 / 10);
	if (jw_compiler_fetch(err, version, linker->fetch, &path))
		return -1;
	mem_free(path);
	linker->looked = false;
	return linker_search(err, linker, system, cancel);
}

int linker_folder(struct jw_error *err, struct linker *linker, const struct jw_system *system,
				  const char **ret_folder)
{
	if (!linker->folder.path && run_folder_make(err, system->state_dir, &linker->folder))
		return -1;
	*ret_folder = linker->folder.path;
	return 0;
}

static int open_driver(struct jw_error *err, struct linker *linker, const struct jw_system *system)
{
	struct driver_query ask = {
		.worker = system->worker, .limit_s = LINKER_LIMIT_S, .cancel = &linker->cancel};
	struct protocol_hello *hello = mem_alloc(sizeof *hello);
	const char *folder = NULL;
	int result = linker_folder(err, linker, system, &folder);

	ask.cache_dir = folder;
	if (!result)
		result = driver_session_open(err, &ask, &linker->driver, hello);
	if (!result && hello->result)
		result = error_set(err, JW_ERR_DRIVER, "the driver does not link its objects: %s%s%s",
						   hello->error, "", "");
	mem_free(hello);
	return result;
}

static void close_driver(struct linker *linker)
{
	driver_session_close(linker->driver);
	linker->driver = NULL;
}

int linker_ask_driver(struct jw_error *err, struct linker *linker, const struct jw_system *system,
					  const struct jw_cancel *cancel, const struct protocol_job *what,
					  struct protocol_answer *ret_answer)
{
	int result = 0;

	linker->cancel = *cancel;
	if (linker->driver && !driver_session_alive(linker->driver))
		close_driver(linker);
	if (linker->driver)
		driver_session_renew(linker->driver);
	else
		result = open_driver(err, linker, system);
	if (!result)
		result = driver_session_ask(err, linker->driver, what, ret_answer);
	if (result)
		close_driver(linker);
	return result;
}

void linker_free(struct linker *linker)
{
	close_driver(linker);
	run_folder_remove(&linker->folder);
}
