#include "os/archive.h"

#ifdef JITWARM_LATE_LIBRARIES
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include <uv.h>

static struct os_archive functions;
static struct jw_error failed;
static uv_once_t once = UV_ONCE_INIT;

static void load(void)
{
	static const struct {
		const char *name;
		void *place;
	} wanted[] = {
#define WANTED(name) {"archive_" #name, (void *)&functions.name},
		OS_ARCHIVE_FUNCTIONS(WANTED)
#undef WANTED
	};
	void *library = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
	bool all = library != NULL;

	for (size_t i = 0; all && i < sizeof wanted / sizeof *wanted; i++) {
		void *found = dlsym(library, wanted[i].name);

		memcpy(wanted[i].place, &found, sizeof found);
		all = found != NULL;
	}
	if (!all)
		error_set(&failed, JW_ERR_NOT_FOUND, "%s", dlerror());
}

int os_archive_load(struct jw_error *err)
{
	uv_once(&once, load);
	return failed.code ? error_copy(err, &failed) : 0;
}
#else
static const struct os_archive functions = {
#define LINKED(name) .name = archive_##name,
	OS_ARCHIVE_FUNCTIONS(LINKED)
#undef LINKED
};

int os_archive_load(struct jw_error *err)
{
	(void)err;
	return 0;
}
#endif

const struct os_archive *os_archive(void)
{
	return &functions;
}
