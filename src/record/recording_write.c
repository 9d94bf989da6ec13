/* Writing a recording (docs/formats.md). */
#include <stdio.h>
#include <string.h>

#include <jitwarm/recording.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/key.h"
#include "cache/stamp.h"
#include "os/file.h"
#include "record/recording.h"

static int write_recorded_text(struct jw_error *err, cJSON *object, const char *name,
							   const char *text)
{
	return text ? json_add_text(err, object, name, text) : 0;
}

static int add_number(struct jw_error *err, cJSON *object, const char *name, double value)
{
	return cJSON_AddNumberToObject(object, name, value)
			   ? 0
			   : error_set(err, JW_ERR_MEMORY, "out of memory");
}

static int add_bool(struct jw_error *err, cJSON *object, const char *name, bool value)
{
	return cJSON_AddBoolToObject(object, name, value)
			   ? 0
			   : error_set(err, JW_ERR_MEMORY, "out of memory");
}

static int write_recorded_module(struct jw_error *err, cJSON *object,
								 const struct jw_recorded_module *module)
{
	const bool is_found = module->file != JW_RECORDED_NO_FILE;
	char target[JW_TARGET_TEXT];

	if (is_found && add_number(err, object, "file", module->file))
		return -1;
	if (write_recorded_text(err, object, "form", jw_recorded_kind_name(module->kind)) ||
		(module->target.sm &&
		 write_recorded_text(err, object, "target", jw_target_sm(target, module->target))) ||
		json_add_hex64(err, object, "key", module->key) ||
		add_number(err, object, "key_bytes", (double)module->key_bytes))
		return -1;
	if (is_found && (add_number(err, object, "container", (double)module->container_offset) ||
					 add_number(err, object, "offset", (double)module->entry_offset)))
		return -1;
	if (add_number(err, object, "size_bytes", (double)module->payload_bytes) ||
		(module->digest[0] && write_recorded_text(err, object, "blake2b_256", module->digest)) ||
		write_recorded_text(err, object, "options", module->options) ||
		(!is_found && write_recorded_text(err, object, "producer", module->producer)))
		return -1;
	/* Milliseconds are precise enough. */
	if (add_number(err, object, "seconds",
				   (double)(int64_t)(module->seconds * 1000 + 0.5) / 1000) ||
		add_bool(err, object, "measured", module->measured))
		return -1;
	return add_bool(err, object, "known_before", module->known_before);
}

static int write_recorded_file(struct jw_error *err, cJSON *object,
							   const struct jw_recorded_file *file)
{
	if (write_recorded_text(err, object, "path", file->path) ||
		write_recorded_text(err, object, "package", file->package) ||
		write_recorded_text(err, object, "version", file->version) ||
		write_recorded_text(err, object, "member", file->member))
		return -1;
	return add_number(err, object, "size_bytes", (double)file->size_bytes);
}

static int put_line(struct jw_error *err, struct buf *text, cJSON *object, int failed,
					const char *before)
{
	char *line = failed ? NULL : json_line(err, object);
	int result = line ? buf_printf(err, text, "%s%s", before, line) : -1;

	cJSON_free(line);
	cJSON_Delete(object);
	return result;
}

static int put_files(struct jw_error *err, const struct jw_recording *recording, struct buf *text)
{
	for (size_t i = 0; i < recording->file_count; i++) {
		cJSON *object = cJSON_CreateObject();

		if (put_line(err, text, object, write_recorded_file(err, object, &recording->files[i]),
					 i ? ",\n" : "\n"))
			return -1;
	}
	return 0;
}

static int put_modules(struct jw_error *err, const struct jw_recording *recording, bool in_files,
					   struct buf *text)
{
	bool first = true;

	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_recorded_module *module = &recording->modules[i];
		cJSON *object;

		if ((module->file != JW_RECORDED_NO_FILE) != in_files)
			continue;
		object = cJSON_CreateObject();
		if (put_line(err, text, object, write_recorded_module(err, object, module),
					 first ? "\n" : ",\n"))
			return -1;
		first = false;
	}
	return 0;
}

static int put_driver(struct jw_error *err, const struct jw_recording *recording, struct buf *text)
{
	const struct jw_driver *driver = &recording->driver;
	cJSON *object = cJSON_CreateObject();
	char version[JW_DRIVER_TEXT], cuda[JW_DRIVER_TEXT];
	const struct jw_driver release = {
		.release = {driver->release[0], driver->release[1], driver->release[2]}};

	(void)jw_driver_text(version, &release);
	(void)snprintf(cuda, sizeof cuda, "%u.%u", driver->cuda / 1000, driver->cuda % 1000 / 10);
	return put_line(
		err, text, object,
		(driver->release[0] && write_recorded_text(err, object, "version", version)) ||
			(driver->cuda && write_recorded_text(err, object, "cuda", cuda)) ||
			(recording->stamp[0] && write_recorded_text(err, object, "stamp", recording->stamp)),
		"");
}

static int put_command(struct jw_error *err, const struct jw_recording *recording, struct buf *text)
{
	cJSON *object = cJSON_CreateObject();
	char *line = NULL;
	int result = -1;

	if (write_recorded_text(err, object, "schema", RECORDING_SCHEMA) ||
		write_recorded_text(err, object, "command", recording->command) ||
		!(line = json_line(err, object)))
		goto done;
	/* Without the closing brace. */
	line[strlen(line) - 1] = '\0';
	result = buf_printf(err, text, "%s", line);
done:
	cJSON_free(line);
	cJSON_Delete(object);
	return result;
}

int recording_format(struct jw_error *err, const struct jw_recording *recording, struct buf *text)
{
	if (put_command(err, recording, text) || buf_printf(err, text, ",\n\"driver\":") ||
		put_driver(err, recording, text) || buf_printf(err, text, ",\n\"files\":[") ||
		put_files(err, recording, text) || buf_printf(err, text, "],\n\"modules\":[") ||
		put_modules(err, recording, true, text) ||
		buf_printf(err, text, "],\n\"not_in_files\":[") || put_modules(err, recording, false, text))
		return -1;
	return buf_printf(err, text, "]}\n");
}

int jw_recording_write(struct jw_error *err, const char *path, const struct jw_recording *recording)
{
	struct buf text = BUF_MAX(RECORDING_MOST_BYTES);
	int result = recording_format(err, recording, &text);

	if (!result)
		result = os_write_output(err, path, buf_text(&text), text.size);
	buf_free(&text);
	return result;
}

/* Reading a recording (docs/formats.md). */

static const char *const kinds[] = {
	[JW_RECORDED_LOAD] = "load",         [JW_RECORDED_LINK] = "link",
	[JW_RECORDED_JITLINK] = "nvjitlink", [JW_RECORDED_OPENCL] = "opencl",
	[JW_RECORDED_OTHER] = "other",
};

const char *jw_recorded_kind_name(enum jw_recorded_kind kind)
{
	return kinds[kind];
}

void jw_recording_free(struct jw_recording *recording)
{
	if (!recording)
		return;
	for (size_t i = 0; recording->files && i < recording->file_count; i++) {
		mem_free(recording->files[i].path);
		mem_free(recording->files[i].package);
		mem_free(recording->files[i].version);
		mem_free(recording->files[i].member);
	}
	for (size_t i = 0; recording->modules && i < recording->module_count; i++) {
		mem_free(recording->modules[i].options);
		mem_free(recording->modules[i].producer);
	}
	mem_free(recording->files);
	mem_free(recording->modules);
	mem_free(recording->command);
	mem_free(recording);
}

static int wrong(struct jw_error *err, const char *what, size_t at)
{
	return error_set(err, JW_ERR_FORMAT, "%s %zu is malformed", what, at);
}

/* A copy of a text member; NULL where it is missing, or out of memory with *ret_failed. */
static char *copy_recorded_text(struct jw_error *err, const cJSON *object, const char *name,
								bool *ret_failed)
{
	const char *text = json_text(object, name, NULL);
	char *copy = text ? mem_string(err, text) : NULL;

	*ret_failed = *ret_failed || (text && !copy);
	return copy;
}

static int read_recorded_file(struct jw_error *err, const cJSON *object, size_t at,
							  struct jw_recorded_file *file)
{
	bool failed = false;

	file->path = copy_recorded_text(err, object, "path", &failed);
	file->package = copy_recorded_text(err, object, "package", &failed);
	file->version = copy_recorded_text(err, object, "version", &failed);
	file->member = copy_recorded_text(err, object, "member", &failed);
	file->size_bytes = json_count(object, "size_bytes");
	if (failed)
		return -1;
	return file->path && file->path[0] ? 0 : wrong(err, "file", at);
}

static bool read_kind(const cJSON *object, enum jw_recorded_kind *ret_kind)
{
	const char *name = json_text(object, "form", "");

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(name, kinds[i]) != 0)
			continue;
		*ret_kind = (enum jw_recorded_kind)i;
		return true;
	}
	return false;
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

static int read_module(struct jw_error *err, const cJSON *object, const char *what, size_t at,
					   size_t files, struct jw_recorded_module *module)
{
	const cJSON *file = cJSON_GetObjectItemCaseSensitive(object, "file");
	const double seconds = json_number(object, "seconds", 0);
	bool failed = false;

	module->file = JW_RECORDED_NO_FILE;
	if (!read_kind(object, &module->kind) || !json_hex64(object, "key", &module->key) ||
		!read_recorded_target(object, &module->target) || !read_digest(object, module->digest))
		return wrong(err, what, at);
	if (files != SIZE_MAX) {
		if (!cJSON_IsNumber(file) || !(file->valuedouble >= 0) ||
			!(file->valuedouble < (double)files) || !module->target.sm)
			return wrong(err, what, at);
		module->file = (uint32_t)file->valuedouble;
	}
	module->key_bytes = json_count(object, "key_bytes");
	module->container_offset = json_count(object, "container");
	module->entry_offset = json_count(object, "offset");
	module->payload_bytes = json_count(object, "size_bytes");
	module->seconds = seconds >= 0 && seconds <= RECORDING_MOST_SECONDS ? seconds : 0;
	module->measured = json_bool(object, "measured", false);
	module->known_before = json_bool(object, "known_before", false);
	module->options = copy_recorded_text(err, object, "options", &failed);
	module->producer = copy_recorded_text(err, object, "producer", &failed);
	if (!failed && !module->options) {
		module->options = mem_string(err, "");
		failed = !module->options;
	}
	if (failed)
		return -1;
	return strlen(module->options) < CACHE_KEY_MOST_TAIL ? 0 : wrong(err, what, at);
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
	if (*stamp && !stamp_is(stamp))
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

	if (count > RECORDING_MOST_FILES)
		return error_set(err, JW_ERR_LIMIT, "more than %d files", RECORDING_MOST_FILES);
	recording->files = mem_array(err, count, sizeof *recording->files);
	if (!recording->files)
		return -1;
	cJSON_ArrayForEach(item, array)
	{
		struct jw_recorded_file *file = &recording->files[recording->file_count];

		if (recording->file_count == count)
			break;
		if (read_recorded_file(err, item, recording->file_count++, file))
			return -1;
	}
	return 0;
}

static int read_list(struct jw_error *err, const cJSON *array, const char *what, size_t files,
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
		if (read_module(err, item, what, at++, files, module))
			return -1;
	}
	return 0;
}

static int read_modules(struct jw_error *err, const cJSON *document, struct jw_recording *recording)
{
	const cJSON *found = cJSON_GetObjectItemCaseSensitive(document, "modules"),
				*others = cJSON_GetObjectItemCaseSensitive(document, "not_in_files");
	const size_t count = count_of(found) + count_of(others);

	if (count > RECORDING_MOST_MODULES)
		return error_set(err, JW_ERR_LIMIT, "more than %d modules", RECORDING_MOST_MODULES);
	recording->modules = mem_array(err, count, sizeof *recording->modules);
	if (!recording->modules)
		return -1;
	if (cJSON_IsArray(found) &&
		read_list(err, found, "module", recording->file_count, count_of(found), recording))
		return -1;
	return cJSON_IsArray(others)
			   ? read_list(err, others, "not_in_files", SIZE_MAX, count, recording)
			   : 0;
}

static int read_recording_document(struct jw_error *err, const cJSON *document,
								   struct jw_recording *recording)
{
	const char *schema = json_text(document, "schema", "");

	if (!text_starts(schema, "jitwarm.recording/"))
		return error_set(err, JW_ERR_FORMAT, "not a recording of jitwarm");
	if (strcmp(schema, RECORDING_SCHEMA) != 0)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "made by another version of jitwarm: %.60s, and this one reads %s", schema,
						 RECORDING_SCHEMA);
	recording->command = mem_string(err, json_text(document, "command", ""));
	if (!recording->command)
		return -1;
	if (read_recorded_driver(err, cJSON_GetObjectItemCaseSensitive(document, "driver"),
							 recording) ||
		read_files(err, cJSON_GetObjectItemCaseSensitive(document, "files"), recording))
		return -1;
	return read_modules(err, document, recording);
}

int jw_recording_parse(struct jw_error *err, const char *text, size_t size,
					   struct jw_recording **ret_recording)
{
	struct jw_recording *recording = mem_alloc(err, sizeof *recording);
	cJSON *document = recording ? json_parse(err, text, size) : NULL;
	int result = document ? read_recording_document(err, document, recording) : -1;

	cJSON_Delete(document);
	if (result)
		jw_recording_free(recording);
	else
		*ret_recording = recording;
	return result;
}

int jw_recording_read(struct jw_error *err, const char *path, struct jw_recording **ret_recording)
{
	struct buf text = {0};
	int result = os_read_file(err, path, RECORDING_MOST_BYTES, &text);

	if (!result && jw_recording_parse(err, buf_text(&text), text.size, ret_recording))
		result = error_prefix(err, "%s", path);
	buf_free(&text);
	return result;
}
