/* Python environments that a test makes in its folder, and the results of jw_find for them. */
#pragma once

#include <string.h>

#include "check.h"

#include <jitwarm/find.h>

#include "base/mem.h"
#include "files.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"

static char *root; /* the test's own folder */

static char *at(const char *relative)
{
	char *path = os_join(root, relative);

	assert_non_null(path);
	return path;
}

static void put(const char *relative, const char *content)
{
	files_put_text(root, relative, content);
}

static void set(const char *name, const char *relative)
{
	char *path = keep(at(relative));

	OK(os_env_set(why, name, path));
}

/* Clears the variables that decide which environment is active. */
static int set_up(void **state)
{
	static const char *const variables[] = {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH",
											"PYTHONUSERBASE", "PYTHONNOUSERSITE"};
	char *made;

	(void)state;
	OK(os_make_temp_dir(why, "jitwarm-find", &made));
	OK(os_real_path(why, made, &root));
	mem_free(made);
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		OK(os_env_set(why, variables[i], NULL));
	set("HOME", "home");
	set("APPDATA", "roaming");
	set("PATH", "nothing");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	OK(os_remove_tree(why, root));
	mem_free(root);
	root = NULL;
	return 0;
}

static inline const struct jw_found_file *file_in(const struct jw_found *found,
												  const char *relative)
{
	char *path = keep(at(relative));
	const struct jw_found_file *file = NULL;

	for (size_t i = 0; i < found->file_count; i++)
		if (!strcmp(found->files[i].path, path))
			file = &found->files[i];
	return file;
}

static inline void expect_file(const struct jw_found *found, const char *relative,
							   const char *package, const char *version)
{
	const struct jw_found_file *file = file_in(found, relative);

	if (!file) {
		fail_msg("%s was not found", relative);
		return;
	}
	assert_int_equal(file->package != NULL, package != NULL);
	if (package)
		assert_string_equal(file->package, package);
	if (version)
		assert_string_equal(file->version, version);
}

static inline bool has_note(const struct jw_found *found, const char *part)
{
	for (size_t i = 0; i < found->note_count; i++)
		if (strstr(found->notes[i].text, part))
			return true;
	return false;
}

static inline int find_named(struct jw_error *err, const char *const *names, size_t count,
							 struct jw_found **ret_found)
{
	return jw_find(err, &(struct jw_find_options){.names = names, .name_count = count}, ret_found);
}

static inline struct jw_found *find_one(const char *name)
{
	struct jw_found *found = NULL;

	OK(find_named(why, &name, name ? 1 : 0, &found));
	return found;
}

static inline void find_fails(const char *name, enum jw_code code, const char *part)
{
	struct jw_found *found = NULL;

	assert_int_equal(find_named(why, &name, name ? 1 : 0, &found), -1);
	assert_null(found);
	assert_int_equal(why->code, code);
	if (!strstr(why->message, part))
		fail_msg("“%s” does not say “%s”", why->message, part);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)
