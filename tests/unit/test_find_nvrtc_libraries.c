/* jitwarm finds NVRTC in a toolkit's folder, a wheel and an environment, and chooses one of
 * several. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h> /* for Linux alone: tests/unit/CMakeLists.txt */

#include <jitwarm/find.h>

#include "base/arena.h"
#include "files.h"
#include "find/libraries.h"
#include "folder.h"
#include "os/env.h"

static void put(const char *name)
{
	files_put_text(folder, name, "x");
}

static void forget(const char *name)
{
	OK(os_remove(why, keep(os_join(folder, name))));
}

/* Checks that the folder `in` yields `wanted`; if `wanted` is NULL, that nothing is found, for the
 * reason `error`. */
static void check_found(const char *in, const char *wanted, const char *error)
{
	char *where = keep(os_join(folder, in)), *found = NULL;
	char *right = wanted ? os_join(folder, wanted) : NULL;

	if (wanted) {
		OK(jw_find_nvrtc(why, where, &found));
		assert_string_equal(found, right);
	} else {
		GIVES(JW_ERR_NOT_FOUND, jw_find_nvrtc(why, where, &found));
		assert_non_null(strstr(why->message, error));
		assert_null(found);
	}
	mem_free(found);
	mem_free(right);
}

TEST(every_layout_has_its_folder)
{
	static const char *const files[] = {
		"libnvrtc.so.12",
		"lib64/libnvrtc.so.12",
		"lib/libnvrtc.so",
		"bin/nvrtc64_120_0.dll",
		"bin/x64/nvrtc64_130_0.dll",
		"targets/x86_64-linux/lib/libnvrtc.so.11.2",
		"targets/sbsa-linux/lib/libnvrtc.so.12",
		"Library/bin/nvrtc64_112_0.dll",
		"nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
		"nvidia/cuda_nvrtc/bin/nvrtc64_120_0.dll",
		"nvidia/cu13/lib/libnvrtc.so.13",
		"nvidia/cu13/bin/x86_64/nvrtc64_130_0.dll",
		"cuda_nvrtc/lib/libnvrtc.so.12",
		"cu13/lib/libnvrtc.so.13",
	};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[200];

		(void)snprintf(path, sizeof path, "layout/%s", files[i]);
		put(path);
		check_found("layout", path, NULL);
		forget(path);
	}
	check_found("layout", NULL, "layout");
}

TEST(the_newest_is_taken)
{
	put("many/lib/libnvrtc.so.11.2");
	put("many/lib/libnvrtc.so.12");
	put("many/lib/libnvrtc-builtins.so.13");
	put("many/lib/libnvrtc.alt.so.13");
	put("many/lib/libnvrtc.so.13.alt");
	put("many/lib/nvrtc64_120_0.txt");
	check_found("many", "many/lib/libnvrtc.so.12", NULL);
	/* A file that is named is the one that is found, even beside a newer one. */
	check_found("many/lib/libnvrtc.so.11.2", "many/lib/libnvrtc.so.11.2", NULL);
	/* A file that is not a library is not found. */
	put("none/lib/libnvrtc-builtins.so.13");
	put("none/lib/libnvrtc.so.12/a");
	check_found("none", NULL, "none");
	check_found("nosuch", NULL, "nosuch");
}

TEST(a_toolkit_is_named_by_the_environment)
{
	static const char *const names[] = {"CUDA_HOME", "CUDA_PATH"};
	char *found = NULL, *empty = keep(os_join(folder, "nothing"));

	put("kit/lib64/libnvrtc.so.12");
	OK(os_make_dirs(why, empty, 0700));
	/* This environment has no NVRTC. */
	OK(os_env_set(why, "VIRTUAL_ENV", empty));
	OK(os_env_set(why, "CONDA_PREFIX", NULL));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *kit = keep(os_join(folder, "kit")),
			 *right = keep(os_join(kit, "lib64/libnvrtc.so.12"));

		OK(os_env_set(why, names[!i], NULL));
		OK(os_env_set(why, names[i], kit));
		OK(jw_find_nvrtc(why, NULL, &found));
		assert_string_equal(found, right);
		mem_free(found);
		/* A relative path would mean another one in each folder. */
		found = NULL;
		OK(os_env_set(why, names[i], "kit"));
		if (!jw_find_nvrtc(NULL, NULL, &found))
			assert_null(strstr(found, folder)); /* maybe a toolkit of this machine */
		mem_free(found);
		OK(os_env_set(why, names[i], NULL));
	}
}

/* Each folder above is asked for what environments have, so a path of thousands has a limit. */
TEST(a_file_is_in_an_environment_at_most_63_folders_deep)
{
	enum { DEEPEST = 63 };
	char *site = keep(os_join(folder, "site-packages")), *place = mem_string(site), *high = NULL;

	put("site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
	for (int depth = 0; depth <= DEEPEST + 1; depth++) {
		char *file = keep(os_join(place, "lib.so")), *below = os_join(place, "d");
		void *owner = arena_open(0);
		const char *found;

		OK(os_make_dirs(why, place, 0755));
		found = find_nvrtc_beside(owner, file);
		if ((found != NULL) != (depth <= DEEPEST))
			fail_msg("%d folders deep: %s", depth, found ? found : "nothing is found");
		jw_result_free(owner);
		if (depth == DEEPEST / 2)
			high = keep(mem_string(place));
		mem_free(place);
		place = below;
	}
	/* jitwarm removes no deeper tree at once. */
	OK(os_remove_tree(why, high));
	mem_free(place);
}

RUN_TESTS(make_folder, remove_folder)
