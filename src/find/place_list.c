#include "find/place_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

static bool has_mark(const char *path, const char *mark)
{
	char *marked = os_join(NULL, path, mark);
	const bool has = marked && os_exists(marked);

	mem_free(marked);
	return has;
}

const char *environment_kind(const char *path)
{
	if (has_mark(path, "pyvenv.cfg"))
		return "venv";
	if (has_mark(path, "conda-meta"))
		return "conda";
	return has_mark(path, "bin/python3") || has_mark(path, "python.exe") ? "Python" : NULL;
}

/* NULL where nothing is there, or memory is short (`err`). */
static char *real_path(struct jw_error *err, const char *path, bool *ret_failed)
{
	struct jw_error why = {0};
	char *real = NULL;

	*ret_failed = os_real_path(&why, path, &real) && error_if_memory(err, &why);
	return real;
}

/* Takes the name and the paths over. */
static int put_place(struct jw_error *err, struct place_list *list, const struct jw_place *place)
{
	struct jw_places *places = list->places;

	if (!place->name || VEC_ROOM(err, places->items, list->capacity, places->count, PLACES_MOST)) {
		mem_free(place->name);
		jw_lines_free(place->paths, place->path_count);
		return -1;
	}
	places->items[places->count++] = *place;
	return 0;
}

static bool is_full(const struct place_list *list)
{
	return list->places->count == PLACES_MOST;
}

static struct jw_place *place_named(const struct jw_places *places, const char *kind,
									const char *name)
{
	for (size_t i = 0; i < places->count; i++)
		if (!strcmp(places->items[i].kind, kind) && !strcmp(places->items[i].name, name))
			return &places->items[i];
	return NULL;
}

static bool has_environment(const struct jw_places *places, const char *path)
{
	for (size_t i = 0; i < places->count; i++)
		if (places->items[i].environment && !strcmp(places->items[i].name, path))
			return true;
	return false;
}

static bool place_has_path(const struct jw_place *place, const char *path)
{
	for (size_t i = 0; i < place->path_count; i++)
		if (!strcmp(place->paths[i], path))
			return true;
	return false;
}

int place_add_environment(struct jw_error *err, struct place_list *list, const char *kind,
						  const char *path, bool *ret_is)
{
	bool failed;
	char *real = real_path(err, path, &failed);
	const char *is = real ? environment_kind(real) : NULL;
	struct jw_place place = {.kind = kind ? kind : is, .environment = true};
	int result = failed ? -1 : 0;

	if (ret_is)
		*ret_is = is;
	if (is && !is_full(list) && !has_environment(list->places, real)) {
		place.name = mem_string(err, real);
		result = place.name ? mem_add_string(err, &place.paths, &place.path_count, 1, real) : -1;
		if (result) {
			mem_free(place.name);
			jw_lines_free(place.paths, place.path_count);
		} else {
			result = put_place(err, list, &place);
		}
	}
	mem_free(real);
	return result;
}

int place_add_path(struct jw_error *err, struct place_list *list, const char *kind,
				   const char *name, const char *path)
{
	struct jw_place *place = place_named(list->places, kind, name);
	bool failed;
	char *real = real_path(err, path, &failed);
	int result = failed ? -1 : 0;

	if (real && !place && !is_full(list)) {
		result =
			put_place(err, list, &(struct jw_place){.kind = kind, .name = mem_string(err, name)});
		place = result ? NULL : place_named(list->places, kind, name);
	}
	if (real && place && !place_has_path(place, real))
		result =
			place->path_count < PLACE_MOST_PATHS
				? mem_add_string(err, &place->paths, &place->path_count, PLACE_MOST_PATHS, real)
				: place_note(err, list, "%s: more than %d paths, only these were looked at",
							 place->name, (int)PLACE_MOST_PATHS);
	mem_free(real);
	return result;
}

static bool has_note(const struct jw_places *places, const char *text)
{
	for (size_t i = 0; i < places->note_count; i++)
		if (!strcmp(places->notes[i], text))
			return true;
	return false;
}

int place_note(struct jw_error *err, struct place_list *list, const char *format, ...)
{
	va_list arguments;
	char *text;
	int result;

	va_start(arguments, format);
	text = mem_vprintf(err, format, arguments);
	va_end(arguments);
	result = !text ? -1
			 : has_note(list->places, text) || list->places->note_count == PLACE_MOST_NOTES
				 ? 0
				 : mem_add_string(err, &list->places->notes, &list->places->note_count,
								  PLACE_MOST_NOTES, text);
	mem_free(text);
	return result;
}
