/* Writing a recording (docs/recording-format.md). */
#include "record/recording.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "os/file.h"

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
