/* Writing a recording, and reading one (docs/internals/formats.md). */
#include <stdio.h>
#include <string.h>

#include <jitwarm/recording.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/json_table.h"
#include "base/text.h"
#include "cache/key.h"
#include "driver/ptxas.h"
#include "os/file.h"
#include "prime/recording.h"

static const char *const kinds[] = {
	[JW_RECORDED_LOAD] = "load",         [JW_RECORDED_LINK] = "link",
	[JW_RECORDED_JITLINK] = "nvjitlink", [JW_RECORDED_OPENCL] = "opencl",
	[JW_RECORDED_OTHER] = "other",       [JW_RECORDED_OTHER + 1] = NULL,
};

static const char *format_recorded_target(char room[JSON_ROOM], const void *member)
{
	const struct jw_target *target = member;

	return target->sm ? jw_target_sm(room, *target) : "";
}

/* Rounds to milliseconds, which are precise enough. */
static double round_seconds(const void *member)
{
	return (double)(int64_t)(*(const double *)member * 1000 + 0.5) / 1000;
}

static const char *format_recorded_release(char room[JSON_ROOM], const void *member)
{
	struct jw_driver release = *(const struct jw_driver *)member;

	release.cuda = 0;
	return release.release[0] ? jw_driver_text(room, &release) : "";
}

static const char *format_recorded_cuda(char room[JSON_ROOM], const void *member)
{
	const uint32_t cuda = *(const uint32_t *)member;

	(void)snprintf(room, JSON_ROOM, "%u.%u", cuda / 1000, cuda % 1000 / 10);
	return cuda ? room : "";
}

/* Rows that are not lists are read with their checks, below. */
static const struct json_field driver_fields[] = {
	JSON_FORMATTED("version", struct jw_recording, driver, format_recorded_release, NULL,
				   .presence = JSON_IF_SET),
	JSON_FORMATTED("cuda", struct jw_recording, driver.cuda, format_recorded_cuda, NULL,
				   .presence = JSON_IF_SET),
	JSON(struct jw_recording, stamp, NULL, .presence = JSON_IF_SET),
	{0},
};
static const struct json_table driver_table = {.fields = driver_fields};

static const struct json_field command_fields[] = {JSON(struct jw_recording, command, NULL), {0}};
static const struct json_table command_table = {.schema = RECORDING_SCHEMA,
												.fields = command_fields};

#define FILE_TEXT(member) JSON(struct jw_recorded_file, member, NULL, .presence = JSON_UNLESS_NULL)
static const struct json_field file_fields[] = {
	FILE_TEXT(path),
	FILE_TEXT(package),
	FILE_TEXT(version),
	FILE_TEXT(member),
	JSON(struct jw_recorded_file, size_bytes, NULL),
	{0},
};
static const struct json_table file_table = {.fields = file_fields};

#define MODULE(name, ...) JSON_AS(name, struct jw_recorded_module, __VA_ARGS__)
#define MODULE_NAME                                                                                \
	JSON_AS("form", struct jw_recorded_module, kind, NULL, .names = kinds),                        \
		JSON_FORMATTED("target", struct jw_recorded_module, target, format_recorded_target, NULL,  \
					   .presence = JSON_IF_SET),                                                   \
		JSON_OF(JSON_HEX, "key", struct jw_recorded_module, key, .text = NULL),                    \
		MODULE("key_bytes", key_bytes, NULL)
#define MODULE_PTX                                                                                 \
	MODULE("size_bytes", payload_bytes, NULL),                                                     \
		JSON_AS("blake2b_256", struct jw_recorded_module, digest, NULL, .presence = JSON_IF_SET),  \
		MODULE("options", options, NULL),                                                          \
		MODULE("text", text, NULL, JSON_IF(struct jw_recorded_module, has_text))
#define MODULE_TIME                                                                                \
	JSON_NUMBERED("seconds", struct jw_recorded_module, seconds, round_seconds, NULL),             \
		MODULE("known_before", known_before, NULL)

static const struct json_field owned_fields[] = {
	MODULE("file", file, NULL),
	MODULE_NAME,
	MODULE("container", container_offset, NULL),
	MODULE("offset", entry_offset, NULL),
	MODULE_PTX,
	MODULE_TIME,
	{0},
};
static const struct json_field other_fields[] = {
	MODULE_NAME,
	MODULE_PTX,
	JSON(struct jw_recorded_module, producer, NULL, .presence = JSON_UNLESS_NULL),
	MODULE_TIME,
	{0},
};
static const struct json_table owned_module = {.fields = owned_fields},
							   other_module = {.fields = other_fields};

static const struct json_field text_fields[] = {
	JSON(struct jw_recorded_text, size_bytes, NULL),
	JSON(struct jw_recorded_text, zstd, NULL),
	{0},
};
static const struct json_table text_table = {.fields = text_fields};

static void put_row(const struct json_table *table, const void *values, const char *before,
					struct buf *text)
{
	char *line = json_object_line(table, values);

	buf_add(text, "%s%s", before, line);
	cJSON_free(line);
}

static void put_modules(const struct jw_recording *recording, bool in_files, struct buf *text)
{
	const char *before = "\n";

	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_recorded_module *module = &recording->modules[i];

		if ((module->file != JW_RECORDED_NO_FILE) != in_files)
			continue;
		put_row(in_files ? &owned_module : &other_module, module, before, text);
		before = ",\n";
	}
}

int recording_format(struct jw_error *err, const struct jw_recording *recording, struct buf *text)
{
	put_row(&command_table, recording, "", text);
	if (text->size)
		text->size--; /* remove its closing brace */
	put_row(&driver_table, recording, ",\n\"driver\":", text);
	buf_add(text, ",\n\"files\":[");
	for (size_t i = 0; i < recording->file_count; i++)
		put_row(&file_table, &recording->files[i], i ? ",\n" : "\n", text);
	buf_add(text, "],\n\"modules\":[");
	put_modules(recording, true, text);
	buf_add(text, "],\n\"not_in_files\":[");
	put_modules(recording, false, text);
	buf_add(text, "],\n\"texts\":[");
	for (size_t i = 0; i < recording->text_count; i++)
		put_row(&text_table, &recording->texts[i], i ? ",\n" : "\n", text);
	buf_add(text, "]}\n");
	return text->overflowed ? error_set(err, JW_ERR_LIMIT, "the recording has more than %d bytes",
										RECORDING_MAX_BYTES)
							: 0;
}

int jw_recording_write(struct jw_error *err, const char *path, const struct jw_recording *recording)
{
	struct buf text = BUF_MAX(RECORDING_MAX_BYTES);
	int result = recording_format(err, recording, &text);

	if (!result)
		result = os_write_output(err, path, buf_text(&text), text.size);
	buf_free(&text);
	return result;
}

static int wrong(struct jw_error *err, const char *what, size_t at)
{
	return error_set(err, JW_ERR_FORMAT, "%s %zu is malformed", what, at);
}

/* Reads a row of a list. */
static int take_row(struct jw_error *err, void *owner, const cJSON *object,
					const struct json_table *table, const char *what, size_t at, void *values)
{
	if (!json_take(NULL, owner, object, table, values))
		return 0;
	return wrong(err, what, at);
}

static bool is_package_name(const char *name)
{
	static const char letters[] =
		"-.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

	return !strchr("-.", *name) && !name[strspn(name, letters)];
}

/* Returns whether a path is absolute on the recorded machine, whatever its system is. */
static bool begins_at_root(const char *path)
{
	return *path == '/' || text_starts(path, "~/") || text_starts(path, "~\\") ||
		   text_starts(path, "\\\\") || (*path && path[1] == ':');
}

/* Returns whether no part of the path is “..”, and no part stands for several names. */
static bool leads_to_one_file(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at++)
		if ((at == path || strchr("/\\", at[-1])) && strchr("/\\", at[2]))
			return false;
	return !strpbrk(path, "*?[");
}

static int read_recorded_file(struct jw_error *err, void *owner, const cJSON *object, size_t at,
							  struct jw_recorded_file *file)
{
	if (take_row(err, owner, object, &file_table, "file", at, file))
		return -1;
	if (!file->path)
		return wrong(err, "file", at);
	if (file->package && !is_package_name(file->package))
		return error_set(
			err, JW_ERR_FORMAT,
			"file %zu: “%.100s” is not the name of a package: record the command again", at,
			file->package);
	if (!leads_to_one_file(file->path) || (!file->package && !begins_at_root(file->path)))
		return error_set(err, JW_ERR_FORMAT,
						 "file %zu: “%.200s” is not the path of one file: record the command again",
						 at, file->path);
	return 0;
}

static bool read_digest(const cJSON *object, char digest[65])
{
	const char *text = json_text(object, "blake2b_256", "");

	if (!*text)
		return true;
	if (strlen(text) != 64 || strspn(text, "0123456789abcdef") != 64)
		return false;
	memcpy(digest, text, 65);
	return true;
}

static bool read_recorded_target(const cJSON *object, struct jw_target *ret_target)
{
	const char *text = json_text(object, "target", NULL);

	return !text || (text_starts(text, "sm_") && jw_target_parse(text, ret_target));
}

/* Reads an index below `count`. */
static bool read_place(const cJSON *object, const char *name, size_t count, uint32_t *ret_place)
{
	const double place = json_number(object, name, -1);

	if (!(place >= 0) || !(place < (double)count))
		return false;
	*ret_place = (uint32_t)place;
	return true;
}

/* Reads a module that is compiled from a text of the recording. */
static int read_with_text(struct jw_error *err, const cJSON *object, const char *what, size_t at,
						  const struct jw_recording *recording, struct jw_recorded_module *module)
{
	size_t length = 0;
	const char *with_file = ptxas_option_with_file(module->options, &length);

	if (with_file)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s %zu: the options may name files: %.*s", what,
						 at, (int)(length < 200 ? length : 200), with_file);
	module->has_text = true;
	return read_place(object, "text", recording->text_count, &module->text) &&
				   recording_may_have_text(module) && recording->stamp[0] &&
				   module->payload_bytes == recording->texts[module->text].size_bytes
			   ? 0
			   : wrong(err, what, at);
}

static int read_module(struct jw_error *err, const cJSON *object, const char *what, size_t at,
					   bool in_file, struct jw_recording *recording,
					   struct jw_recorded_module *module)
{
	const double seconds = json_number(object, "seconds", 0);

	if (take_row(err, recording, object, in_file ? &owned_module : &other_module, what, at, module))
		return -1;
	module->file = JW_RECORDED_NO_FILE;
	module->text = 0;
	if (!read_recorded_target(object, &module->target) || !read_digest(object, module->digest))
		return wrong(err, what, at);
	if (in_file &&
		(!read_place(object, "file", recording->file_count, &module->file) || !module->target.sm))
		return wrong(err, what, at);
	module->seconds = seconds >= 0 && seconds <= RECORDING_MAX_SECONDS ? seconds : 0;
	if (!module->options)
		module->options = arena_string(recording, "");
	if (strlen(module->options) > CACHE_KEY_MAX_OPTIONS)
		return wrong(err, what, at);
	return cJSON_GetObjectItemCaseSensitive(object, "text")
			   ? read_with_text(err, object, what, at, recording, module)
			   : 0;
}

static int read_recorded_driver(struct jw_error *err, const cJSON *object,
								struct jw_recording *recording)
{
	const char *version = json_text(object, "version", NULL),
			   *cuda = json_text(object, "cuda", NULL), *stamp = json_text(object, "stamp", "");
	struct jw_driver toolkit = {0};

	if (version && jw_driver_parse(err, version, &recording->driver))
		return -1;
	if (cuda && jw_driver_parse(err, cuda, &toolkit))
		return -1;
	if (toolkit.cuda)
		recording->driver.cuda = toolkit.cuda;
	if (*stamp && !jw_stamp_is(stamp))
		return error_set(err, JW_ERR_FORMAT, "the driver's stamp is malformed");
	TEXT_COPY(recording->stamp, stamp);
	return 0;
}

static size_t count_of(const cJSON *array)
{
	return cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0;
}

static int read_files(struct jw_error *err, const cJSON *array, struct jw_recording *recording)
{
	const size_t count = count_of(array);
	const cJSON *item;

	if (count > RECORDING_MAX_FILES)
		return error_set(err, JW_ERR_LIMIT, "more than %d files", RECORDING_MAX_FILES);
	recording->files = arena_array(recording, count, sizeof *recording->files);
	cJSON_ArrayForEach(item, array)
	{
		struct jw_recorded_file *file = &recording->files[recording->file_count];

		if (recording->file_count == count)
			break;
		if (read_recorded_file(err, recording, item, recording->file_count++, file))
			return -1;
	}
	return 0;
}

static int read_texts(struct jw_error *err, const cJSON *array, struct jw_recording *recording)
{
	const size_t count = count_of(array);
	const cJSON *item;

	if (count > RECORDING_MAX_MODULES)
		return error_set(err, JW_ERR_LIMIT, "more than %d PTX sources", RECORDING_MAX_MODULES);
	recording->texts = arena_array(recording, count, sizeof *recording->texts);
	cJSON_ArrayForEach(item, array)
	{
		struct jw_recorded_text *text = &recording->texts[recording->text_count];

		if (recording->text_count == count)
			break;
		if (take_row(err, recording, item, &text_table, "text", recording->text_count++, text))
			return -1;
		/* A frame that is longer than necessary would be read again for each module. */
		if (!text->zstd || text->size_bytes > RECORDING_MAX_UNPACKED ||
			strlen(text->zstd) > recording_max_packed((size_t)text->size_bytes))
			return wrong(err, "text", recording->text_count - 1);
	}
	return 0;
}

static int read_list(struct jw_error *err, const cJSON *array, const char *what, bool in_file,
					 size_t room, struct jw_recording *recording)
{
	const cJSON *item;
	size_t at = 0;

	cJSON_ArrayForEach(item, array)
	{
		struct jw_recorded_module *module = &recording->modules[recording->module_count];

		if (recording->module_count == room)
			break;
		recording->module_count++;
		if (read_module(err, item, what, at++, in_file, recording, module))
			return -1;
	}
	return 0;
}

static int read_modules(struct jw_error *err, const cJSON *document, struct jw_recording *recording)
{
	const cJSON *found = cJSON_GetObjectItemCaseSensitive(document, "modules"),
				*others = cJSON_GetObjectItemCaseSensitive(document, "not_in_files");
	const size_t count = count_of(found) + count_of(others);
	uint64_t unpacked = 0;

	if (count > RECORDING_MAX_MODULES)
		return error_set(err, JW_ERR_LIMIT, "more than %d modules", RECORDING_MAX_MODULES);
	recording->modules = arena_array(recording, count, sizeof *recording->modules);
	if (cJSON_IsArray(found) && read_list(err, found, "module", true, count_of(found), recording))
		return -1;
	if (cJSON_IsArray(others) && read_list(err, others, "not_in_files", false, count, recording))
		return -1;
	for (size_t i = 0; i < recording->module_count; i++)
		unpacked += recording->modules[i].has_text ? recording->modules[i].payload_bytes : 0;
	return unpacked > RECORDING_MAX_UNPACKED
			   ? error_set(err, JW_ERR_LIMIT, "its texts unpack to more than %d bytes",
						   RECORDING_MAX_UNPACKED)
			   : 0;
}

static int read_recording_document(struct jw_error *err, const cJSON *document,
								   struct jw_recording *recording)
{
	const char *schema = json_text(document, "schema", "");

	if (!text_starts(schema, "jitwarm.recording/"))
		return error_set(err, JW_ERR_FORMAT, "not a recording of jitwarm");
	/* The first version is the same without texts. */
	if (strcmp(schema, RECORDING_SCHEMA) != 0 && strcmp(schema, "jitwarm.recording/1") != 0)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "another version of jitwarm made it (%.60s), and this version reads %s",
						 schema, RECORDING_SCHEMA);
	recording->command = arena_string(recording, json_text(document, "command", ""));
	if (read_recorded_driver(err, cJSON_GetObjectItemCaseSensitive(document, "driver"),
							 recording) ||
		read_files(err, cJSON_GetObjectItemCaseSensitive(document, "files"), recording) ||
		read_texts(err, cJSON_GetObjectItemCaseSensitive(document, "texts"), recording))
		return -1;
	return read_modules(err, document, recording);
}

int jw_recording_parse(struct jw_error *err, const char *text, size_t size,
					   struct jw_recording **ret_recording)
{
	struct jw_recording *recording = arena_open(sizeof *recording);
	cJSON *document = json_parse(err, text, size);
	int result = document ? read_recording_document(err, document, recording) : -1;

	cJSON_Delete(document);
	if (result)
		jw_result_free(recording);
	else
		*ret_recording = recording;
	return result;
}

int jw_recording_read(struct jw_error *err, const char *path, struct jw_recording **ret_recording)
{
	struct buf text = {0};
	int result = os_read_file(err, path, RECORDING_MAX_BYTES, &text);

	if (!result && jw_recording_parse(err, buf_text(&text), text.size, ret_recording))
		result = error_prefix(err, "%s", path);
	if (!result)
		(*ret_recording)->path = arena_string(*ret_recording, path);
	buf_free(&text);
	return result;
}
