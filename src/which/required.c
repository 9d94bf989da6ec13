/* Wheels fail on a GPU on which what they require fails: torch, or a library of NVIDIA's
 * (docs/internals/compat.md, sentences 9 and 10). What an installed package requires is installed
 * beside it, and is judged itself. */
#include <jitwarm/which.h>

#include <string.h>

#include "base/arena.h"
#include "base/wheel_name.h"
#include "code/zip_directory.h"
#include "os/file.h"
#include "which/brought.h"
#include "which/question.h"

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

/* Reads a wheel's name and requirements; its texts belong to the owner. False if it is none of a
 * platform that lists have, or requires nothing that decides. */
static bool read_wheel(void *owner, const char *path, const char *machine,
					   char package[PACKAGE_MAX_NAME], struct wheel *ret_wheel)
{
	char version[PACKAGE_MAX_NAME], tag[64], abi[64];
	struct buf metadata = {0};
	struct wheel_name name;

	if (!wheel_name_read(os_base_name(path), &name) ||
		!package_normalise(name.name.text, name.name.size, package))
		return false;
	(void)wheel_part_text(tag, sizeof tag, name.python);
	(void)wheel_part_text(abi, sizeof abi, name.abi);
	*ret_wheel = (struct wheel){
		.version = arena_string(owner, wheel_part_text(version, sizeof version, name.version)),
		.platform = platform_of(name.platform, machine),
		.pythons = text_starts(tag, "py")
					   ? "py3"
					   : arena_printf(owner, "%s%s", tag, strcmp(abi, "abi3") ? "" : "+"),
		.file = "",
		.sha256 = ""};
	if (ret_wheel->platform && !read_metadata(path, &metadata))
		add_requirements(owner, ret_wheel, &metadata);
	buf_free(&metadata);
	return ret_wheel->require_count;
}

int jw_which_required(struct jw_error *err, const char *path, const char *machine,
					  struct jw_target target, const struct jw_driver *driver,
					  struct jw_required **ret_required)
{
	struct jw_required *required = arena_open(sizeof *required);
	struct jw_which_release release = {.answer = JW_WHICH_RUNS};
	struct jw_which_options options = {.target = target, .driver = *driver};
	char package[PACKAGE_MAX_NAME];
	struct question *question;
	struct shelf *shelf;
	struct wheel wheel;
	int result;

	*ret_required = NULL;
	if (!read_wheel(required, path, machine, package, &wheel)) {
		jw_result_free(required);
		return 0;
	}
	options.package = package;
	options.platform = wheel.platform;
	if (question_open(err, &options, required, &question)) {
		jw_result_free(required);
		return -1;
	}
	shelf = arena_alloc(question->memory, sizeof *shelf);
	*shelf = (struct shelf){.listed = true, .list = {.wheels = &wheel, .count = 1}};
	TEXT_COPY(shelf->name, package);
	result = question_judge_pins(err, question, &wheel, NULL, &release);
	if (!result && release.answer != JW_WHICH_FAILS)
		result = judge_brought(err, question, shelf, &wheel, true, &release);
	question_free(question);
	if (result || release.answer != JW_WHICH_FAILS) {
		jw_result_free(required);
		return result;
	}
	required->what = release.pin;
	required->why = release.why;
	required->needs = release.needs;
	*ret_required = required;
	return 0;
}
