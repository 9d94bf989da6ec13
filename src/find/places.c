#include <jitwarm/places.h>

#include <string.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/sized.h"
#include "find/debian_packages.h"
#include "find/metadata.h"
#include "find/place_below.h"
#include "find/place_list.h"
#include "find/place_pattern.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/private.h"
#include "os/python.h"

enum { MOST_CONDA_LIST = 1 << 20, MOST_CONDA_LINES = 10000, MOST_LINE = 4000 };

/* Environments: only where one is. A program's patterns lead to one place. docs/find.md says where
 * each comes from. */
static const struct place_rule {
	const char *kind, *program; /* program NULL: environments */
	const char *pattern;        /* place_pattern.h */
} rules[] = {
	{"venv", NULL, "{VIRTUAL_ENV}"},
	{"conda", NULL, "{CONDA_PREFIX}"},
	{"venv", NULL, "{WORKON_HOME}/*"},
	{"venv", NULL, "~/.virtualenvs/*"},
	{"venv", NULL, "~/.venvs/*"},
	{"venv", NULL, "~/.local/share/virtualenvs/*"},
	{"venv", NULL, "~/.cache/pypoetry/virtualenvs/*"},
	{"venv", NULL, "{LOCALAPPDATA}/pypoetry/Cache/virtualenvs/*"},
	{"conda", NULL, "{MAMBA_ROOT_PREFIX}"},
	{"conda", NULL, "{MAMBA_ROOT_PREFIX}/envs/*"},
	{"conda", NULL, "{CONDA_ENVS_PATH}/*"},
	{"conda", NULL, "{CONDA_EXE}/../.."},
	{"conda", NULL, "{CONDA_EXE}/../../envs/*"},
	{"conda", NULL, "~/*conda3"},
	{"conda", NULL, "~/*conda3/envs/*"},
	{"conda", NULL, "~/mi*forge*"},
	{"conda", NULL, "~/mi*forge*/envs/*"},
	{"conda", NULL, "~/mambaforge*"},
	{"conda", NULL, "~/mambaforge*/envs/*"},
	{"conda", NULL, "~/micromamba/envs/*"},
	{"conda", NULL, "~/.conda/envs/*"},
	{"conda", NULL, "~/.pixi/envs/*"},
	{"conda", NULL, "/opt/*conda*"},
	{"conda", NULL, "/opt/*conda*/envs/*"},
	{"conda", NULL, "/opt/mi*forge*"},
	{"conda", NULL, "/opt/mi*forge*/envs/*"},
	{"conda", NULL, "{LOCALAPPDATA}/*conda3"},
	{"conda", NULL, "{LOCALAPPDATA}/*conda3/envs/*"},
	{"conda", NULL, "{ProgramData}/*conda3"},
	{"conda", NULL, "{ProgramData}/*conda3/envs/*"},
	{"pipx", NULL, "{PIPX_HOME}/venvs/*"},
	{"pipx", NULL, "~/.local/share/pipx/venvs/*"},
	{"pipx", NULL, "~/.local/pipx/venvs/*"},
	{"pipx", NULL, "/opt/pipx/venvs/*"},
	{"pipx", NULL, "~/pipx/venvs/*"},
	{"pipx", NULL, "{LOCALAPPDATA}/pipx/pipx/venvs/*"},
	{"uv", NULL, "{UV_TOOL_DIR}/*"},
	{"uv", NULL, "~/.local/share/uv/tools/*"},
	{"uv", NULL, "{APPDATA}/uv/tools/*"},
	{"uv", NULL, "{APPDATA}/uv/data/tools/*"},
	{"uv", NULL, "{UV_PYTHON_INSTALL_DIR}/*"},
	{"uv", NULL, "~/.local/share/uv/python/*"},
	{"uv", NULL, "{APPDATA}/uv/python/*"},
	{"uv", NULL, "{APPDATA}/uv/data/python/*"},
	{"pyenv", NULL, "{PYENV_ROOT}/versions/*"},
	{"pyenv", NULL, "~/.pyenv/versions/*"},
	{"pyenv", NULL, "~/.pyenv/versions/*/envs/*"},
	{"pyenv", NULL, "~/.pyenv/pyenv-win/versions/*"},
	{"Python", NULL, "/usr"},
	{"Python", NULL, "/usr/local"},
	{"Python", NULL, "/opt/*/bin/.."},
	{"Python", NULL, "{LOCALAPPDATA}/Programs/Python/*"},
	{"folder", "Python of the Store",
	 "{LOCALAPPDATA}/Packages/PythonSoftwareFoundation.Python.*/LocalCache/local-packages"},
	{"program", "ollama", "/usr/lib/ollama"},
	{"program", "ollama", "/usr/local/lib/ollama"},
	{"program", "ollama", "{PATH:ollama}/../lib/ollama"},
	{"program", "ollama", "{PATH:ollama}/lib/ollama"},
	{"program", "ollama", "{LOCALAPPDATA}/Programs/Ollama/lib/ollama"},
	{"program", "llama.cpp", "/usr/lib/libggml-cuda*"},
	{"program", "llama.cpp", "/usr/lib/*/libggml-cuda*"},
	{"program", "llama.cpp", "/usr/lib/*/ggml/backends*/libggml-cuda*"},
	{"program", "llama.cpp", "/usr/local/lib/libggml-cuda*"},
	{"program", "llama.cpp", "{PATH:llama-server}/*ggml-cuda*"},
	{"program", "llama.cpp", "{PATH:llama-server}/../lib/*ggml-cuda*"},
	{"program", "llama.cpp", "{PATH:llama-server}/llama-server*"},
	{"program", "Blender", "/usr/share/blender"},
	{"program", "Blender", "/opt/blender*"},
	{"program", "Blender", "~/blender*"},
	{"program", "Blender", "/snap/blender/current"},
	{"program", "Blender", "{ProgramFiles}/Blender Foundation/*"},
	{"program", "OpenCV", "/usr/local/lib/libopencv_*"},
	{"program", "OpenCV", "/usr/local/lib64/libopencv_*"},
	{"program", "OpenCV", "/opt/opencv*/lib/libopencv_*"},
	{"program", "OpenCV", "{OPENCV_DIR}/bin/opencv_*"},
	{"program", "OpenCV", "{PATH}/opencv_world*"},
};

struct rule_search {
	struct place_list *list;
	const struct place_rule *rule;
};

static int take_match(struct jw_error *err, void *context, const char *path)
{
	const struct rule_search *search = context;

	if (cancel_check(err, &search->list->cancel))
		return -1;
	return search->rule->program
			   ? place_add_path(err, search->list, search->rule->kind, search->rule->program, path)
			   : place_add_environment(err, search->list, search->rule->kind, path, NULL);
}

/* ---- conda's list */

static int take_conda_lines(struct jw_error *err, struct place_list *list, const char *path,
							const struct buf *text)
{
	const char *at = buf_text(text), *end = at + text->size, *line;
	size_t length, lines = 0;
	int result = 0;

	while (!result && metadata_line(&at, end, &line, &length)) {
		char prefix[MOST_LINE];

		if (++lines > MOST_CONDA_LINES)
			return place_note(err, list, "%s: more than %d lines, only these were looked at", path,
							  (int)MOST_CONDA_LINES);
		if (!length || length >= sizeof prefix || memchr(line, 0, length))
			continue;
		memcpy(prefix, line, length);
		prefix[length] = 0;
		if (cancel_check(err, &list->cancel))
			return -1;
		if (os_is_absolute(prefix))
			result = place_add_environment(err, list, "conda", prefix, NULL);
	}
	return result;
}

/* The superuser believes no list that somebody else has written, or could have led it to. What
 * holds for the path holds when it is read, too: only the superuser can change that. */
static int may_believe(struct jw_error *err, const char *path, bool *ret_may)
{
	struct jw_error why = {0};
	struct os_account account;

	*ret_may = false;
	if (os_account(&why, &account))
		return error_if_memory(err, &why);
	*ret_may = !account.superuser || !os_check_private(&why, path, 0, false);
	os_account_free(&account);
	return *ret_may ? 0 : error_if_memory(err, &why);
}

static int take_conda_list(struct jw_error *err, struct place_list *list)
{
	struct jw_error why = {0};
	struct buf text = {0};
	char *home = NULL, *path;
	bool there, may;
	int result;

	if (os_home_dir(&why, &home))
		return error_if_memory(err, &why);
	path = os_join(err, home, ".conda/environments.txt");
	mem_free(home);
	if (!path)
		return -1;
	if (!os_look(NULL, path, &there) && !there)
		result = 0;
	else if (may_believe(err, path, &may))
		result = -1;
	else if (!may)
		result = place_note(err, list, "%s is no file of this account: left out", path);
	else if (!os_read_file(&why, path, MOST_CONDA_LIST, &text))
		result = take_conda_lines(err, list, path, &text);
	else
		result = why.code == JW_ERR_MEMORY ? error_copy(err, &why)
										   : place_note(err, list, "%s: left out", why.message);
	buf_free(&text);
	mem_free(path);
	return result;
}

/* ---- folders */

static int take_home(struct jw_error *err, struct place_list *list)
{
	static const struct place_depth near = {3, 20000, true};
	struct jw_error why = {0};
	char *home, *real;
	bool any;
	int result;

	if (os_home_dir(&why, &home))
		return error_if_memory(err, &why);
	result = os_real_path(&why, home, &real);
	mem_free(home);
	if (result)
		return error_if_memory(err, &why);
	result = place_below(err, list, real, &near, &any);
	mem_free(real);
	return result;
}

static int take_folder(struct jw_error *err, struct place_list *list, const char *folder)
{
	static const struct place_depth far = {8, 1000000, false};
	char *real;
	bool any;
	int result;

	if (os_real_path(err, folder, &real))
		return -1;
	result = place_below(err, list, real, &far, &any);
	if (!result && !any)
		result = place_add_path(err, list, "folder", real, real);
	mem_free(real);
	return result;
}

static int take_registered(struct jw_error *err, void *context, const char *prefix)
{
	return place_add_environment(err, context, "Python", prefix, NULL);
}

static int take_usual(struct jw_error *err, struct place_list *list)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		struct rule_search search = {list, &rules[i]};

		if (place_pattern_each(err, rules[i].pattern, take_match, &search))
			return -1;
	}
	return take_conda_list(err, list) || os_python_each(err, take_registered, list) ||
				   take_home(err, list) || debian_packages_add(err, list)
			   ? -1
			   : 0;
}

int jw_places_find(struct jw_error *err, const struct jw_places_options *options,
				   struct jw_places **ret_places)
{
	options = SIZED(err, options, struct jw_places_options);
	if (!options)
		return -1;
	struct place_list list = {.places = mem_alloc(err, sizeof *list.places),
							  .cancel = options->cancel};
	int result = !list.places ? -1 : options->folder_count ? 0 : take_usual(err, &list);

	for (size_t i = 0; !result && i < options->folder_count; i++)
		result = take_folder(err, &list, options->folders[i]);
	if (!result && list.places->count == PLACES_MOST)
		result = place_note(err, &list, "there are more than %d places: the others are left out",
							(int)PLACES_MOST);
	result = result || place_note_dropped(err, &list) ? -1 : 0;
	set_free(&list.dropped);
	if (result)
		jw_places_free(list.places);
	else
		*ret_places = list.places;
	return result;
}

void jw_places_free(struct jw_places *places)
{
	if (!places)
		return;
	for (size_t i = 0; i < places->count; i++) {
		struct jw_place *place = &places->items[i];

		mem_free(place->name);
		jw_lines_free(place->paths, place->path_count);
	}
	mem_free(places->items);
	jw_lines_free(places->notes, places->note_count);
	mem_free(places);
}
