#include "prime/required.h"

#include <string.h>

#include "base/arena.h"
#include "base/wheel_name.h"
#include "code/zip_directory.h"
#include "os/file.h"
#include "prime/brought.h"
#include "prime/question.h"

struct required_wheel {
	char *path, *package;
	struct wheel is; /* without libraries */
};

/* Returns the platform of a wheel. */
static const char *platform_of(struct wheel_part tags, const char *machine)
{
	char text[256];

	(void)wheel_part_text(text, sizeof text, tags);
	for (size_t i = 0; i < WHEEL_PLATFORMS; i++)
		if (text_ends(text, wheel_platforms[i].tag) ||
			(!strcmp(text, "any") && machine && !strcmp(machine, wheel_platforms[i].machine)))
			return wheel_platforms[i].name;
	return NULL;
}

/* Adds the requirements in METADATA that decide. */
static void add_requirements(void *owner, struct wheel *wheel, const struct buf *metadata)
{
	static const char field[] = "Requires-Dist:";
	const char *at = (const char *)metadata->data, *const end = at + metadata->size, *line;
	char **list = NULL;
	size_t length;

	while (metadata_line(&at, end, &line, &length) && length) {
		struct required required;
		char *text;

		if (length < strlen(field) || memcmp(line, field, strlen(field)) != 0)
			continue;
		line += strlen(field);
		length -= strlen(field);
		text = arena_keep(owner, mem_string_n(line, length));
		text += strspn(text, " \t");
		if (required_read(text, &required) && question_is_base(required.is.name))
			arena_add_string(owner, &list, &wheel->require_count, METADATA_MAX_REQUIREMENTS, text);
	}
	wheel->requires = (const char *const *)list;
}

/* Reads METADATA, which lies in NAME-VERSION.dist-info. */
static int read_metadata(const char *path, struct buf *ret_metadata)
{
	static const char name[] = ".dist-info/METADATA";
	struct zip_directory directory = {.count = 0};
	struct os_map map;
	int result;

	if (os_map_open(NULL, path, &map))
		return -1;
	result = zip_directory_read(NULL, &map, &directory);
	for (size_t i = 0; !result && !ret_metadata->data && i < directory.count; i++)
		if (text_ends(directory.members[i].name, name) &&
			strcspn(directory.members[i].name, "/") + strlen("/METADATA") ==
				strlen(directory.members[i].name))
			result = zip_member_read(NULL, &map, &directory.members[i], METADATA_MAX_BYTES,
									 ret_metadata);
	zip_directory_free(&directory);
	os_map_close(&map);
	return result;
}

void required_note(struct required_wheels *wheels, const char *path, const char *machine)
{
	char package[PACKAGE_MAX_NAME], version[PACKAGE_MAX_NAME], tag[64], abi[64];
	struct buf metadata = {0};
	struct wheel_name name;
	struct required_wheel wheel;

	if (wheels->count && !strcmp(wheels->items[wheels->count - 1].path, path))
		return;
	if (!wheel_name_read(os_base_name(path), &name) ||
		!package_normalise(name.name.text, name.name.size, package))
		return;
	if (!wheels->owner)
		wheels->owner = arena_open(1);
	(void)wheel_part_text(tag, sizeof tag, name.python);
	(void)wheel_part_text(abi, sizeof abi, name.abi);
	wheel = (struct required_wheel){
		.path = arena_string(wheels->owner, path),
		.package = arena_string(wheels->owner, package),
		.is = {.version = arena_string(wheels->owner,
									   wheel_part_text(version, sizeof version, name.version)),
			   .platform = platform_of(name.platform, machine),
			   .pythons = text_starts(tag, "py") ? "py3"
												 : arena_printf(wheels->owner, "%s%s", tag,
																strcmp(abi, "abi3") ? "" : "+"),
			   .file = "",
			   .sha256 = ""}};
	if (wheel.is.platform && !read_metadata(path, &metadata))
		add_requirements(wheels->owner, &wheel.is, &metadata);
	buf_free(&metadata);
	(void)ARENA_ROOM(NULL, wheels->owner, wheels->items, wheels->capacity, wheels->count, SIZE_MAX);
	wheels->items[wheels->count++] = wheel;
}

/* Judges what a wheel requires on one GPU; the answer belongs to the question. */
static int judge_wheel(struct jw_error *err, struct question *question,
					   const struct required_wheel *wheel, struct jw_which_release *release)
{
	struct wheel one = wheel->is;
	struct shelf *shelf = arena_alloc(question->memory, sizeof *shelf);

	*shelf = (struct shelf){.listed = true, .list = {.wheels = &one, .count = 1}};
	TEXT_COPY(shelf->name, wheel->package);
	*release = (struct jw_which_release){.answer = JW_WHICH_RUNS};
	if (question_judge_pins(err, question, &one, NULL, release))
		return -1;
	return release->answer == JW_WHICH_FAILS
			   ? 0
			   : judge_brought(err, question, shelf, &one, true, release);
}

int required_judge(struct jw_error *err, struct required_wheels *wheels, struct plan *plan)
{
	int result = 0;

	for (size_t i = 0; !result && i < wheels->count; i++)
		for (uint32_t t = 0; !result && wheels->items[i].is.require_count && t < plan->target_count;
			 t++) {
			const struct required_wheel *wheel = &wheels->items[i];
			const struct jw_which_options options = {.package = wheel->package,
													 .target = plan->targets[t].device,
													 .driver = plan->profile.driver,
													 .platform = wheel->is.platform};
			struct jw_which_release release;
			struct question *question;

			result = question_open(err, &options, NULL, &question);
			if (result)
				break;
			question->owner = question->memory;
			result = judge_wheel(err, question, wheel, &release);
			if (!result && release.answer == JW_WHICH_FAILS)
				fates_add_required(&plan->fates, wheel->path, t, release.pin, release.why,
								   release.needs);
			question_free(question);
		}
	return result;
}

void required_free(struct required_wheels *wheels)
{
	jw_result_free(wheels->owner);
	*wheels = (struct required_wheels){.owner = NULL};
}
