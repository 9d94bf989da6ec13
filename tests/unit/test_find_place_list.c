#include "check.h"

#include <jitwarm/places.h>

#include "find/place_list.h"
#include "folder.h"

static void add(struct place_list *list, const char *name)
{
	char *path = os_join(NULL, folder, name);

	assert_non_null(path);
	assert_int_equal(os_make_dirs(NULL, path, 0700), 0);
	assert_int_equal(place_add_path(NULL, list, "program", "many", path), 0);
	mem_free(path);
}

TEST(what_a_place_has_no_room_for_is_said_once)
{
	struct place_list list = {.places = mem_alloc(NULL, sizeof *list.places)};
	struct jw_place *place;

	assert_non_null(list.places);
	add(&list, "first");
	assert_int_equal(list.places->count, 1);
	place = &list.places->items[0];
	while (place->path_count < PLACE_MOST_PATHS - 1)
		assert_int_equal(
			mem_add_string(NULL, &place->paths, &place->path_count, PLACE_MOST_PATHS, "made up"),
			0);
	add(&list, "last");
	assert_int_equal(place->path_count, PLACE_MOST_PATHS);
	add(&list, "first"); /* is there already */
	assert_int_equal(list.places->note_count, 0);
	add(&list, "too many");
	add(&list, "far too many");
	assert_int_equal(place->path_count, PLACE_MOST_PATHS);
	assert_int_equal(list.places->note_count, 1);
	assert_string_equal(list.places->notes[0],
						"many: more than 4096 paths, only these were looked at");
	jw_places_free(list.places);
}

TEST(notes_have_a_most_and_come_once)
{
	struct place_list list = {.places = mem_alloc(NULL, sizeof *list.places)};

	assert_non_null(list.places);
	for (int i = 0; i < 2 * PLACE_MOST_NOTES; i++)
		assert_int_equal(place_note(NULL, &list, "place %d", i / 2), 0);
	assert_int_equal(list.places->note_count, PLACE_MOST_NOTES);
	assert_int_equal(place_note(NULL, &list, "another"), 0);
	assert_int_equal(list.places->note_count, PLACE_MOST_NOTES);
	jw_places_free(list.places);
}

/* An environment under two names, and a path that is added twice, count once. */
TEST(each_place_and_path_is_there_once)
{
	struct place_list list = {.places = mem_alloc(NULL, sizeof *list.places)};
	char *env = os_join(NULL, folder, "env"), *mark = os_join(NULL, folder, "env/conda-meta"),
		 *same = os_join(NULL, folder, "env/../env");
	bool is;

	assert_non_null(list.places);
	assert_int_equal(os_make_dirs(NULL, mark, 0700), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(place_add_environment(NULL, &list, NULL, i ? same : env, &is), 0);
		assert_true(is);
		assert_int_equal(place_add_path(NULL, &list, "program", "one", i ? same : env), 0);
	}
	assert_int_equal(list.places->count, 2);
	assert_string_equal(list.places->items[0].kind, "conda");
	assert_int_equal(list.places->items[1].path_count, 1);
	mem_free(env);
	mem_free(mark);
	mem_free(same);
	jw_places_free(list.places);
}

RUN_TESTS(make_folder, remove_folder)
