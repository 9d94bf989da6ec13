#include "tune/settings_record.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"

enum { MOST_BYTES = 1 << 20, MOST_VALUE = 32767 }; /* Windows' maximum for a variable */
static const char schema[] = "jitwarm.tuned/1";

const char *const settings_record_names[RECORD_NAMES] = {"CUDA_CACHE_MAXSIZE", "CUDA_CACHE_PATH"};

int settings_record_add_file(struct jw_error *err, struct settings_record *record, const char *path)
{
	char *copy;

	for (size_t i = 0; i < record->file_count; i++)
		if (!strcmp(record->files[i], path))
			return 0;
	if (record->file_count == RECORD_MOST_FILES)
		return error_set(err, JW_ERR_LIMIT, "%s: settings were written into too many files", path);
	copy = mem_string(err, path);
	if (!copy)
		return -1;
	record->files[record->file_count++] = copy;
	return 0;
}

void settings_record_drop_file(struct settings_record *record, const char *path)
{
	for (size_t i = 0; i < record->file_count; i++) {
		if (strcmp(record->files[i], path) != 0)
			continue;
		mem_free(record->files[i]);
		record->file_count--;
		for (; i < record->file_count; i++)
			record->files[i] = record->files[i + 1];
		return;
	}
}

void settings_record_drop(struct settings_record_variable *variable)
{
	mem_free(variable->set_to);
	mem_free(variable->was);
	*variable = (struct settings_record_variable){0};
}

int settings_record_set(struct jw_error *err, struct settings_record_variable *variable,
						const char *set_to, const char *was, bool expands)
{
	struct settings_record_variable fresh = {mem_string(err, set_to),
											 was ? mem_string(err, was) : NULL, expands};

	if (!fresh.set_to || (was && !fresh.was)) {
		settings_record_drop(&fresh);
		return -1;
	}
	settings_record_drop(variable);
	*variable = fresh;
	return 0;
}

void settings_record_free(struct settings_record *record)
{
	for (size_t i = 0; i < record->file_count; i++)
		mem_free(record->files[i]);
	for (size_t i = 0; i < RECORD_NAMES; i++) {
		settings_record_drop(&record->variables[false][i]);
		settings_record_drop(&record->variables[true][i]);
	}
	*record = (struct settings_record){0};
}

/* A text that a variable can hold and a program would have set. */
static bool is_value(const char *value)
{
	for (const char *at = value; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return false;
	return strlen(value) <= MOST_VALUE;
}

/* Accepts only what any program of the account may have us restore: its own two variables */
static int take_variable(struct jw_error *err, const cJSON *item, struct settings_record *record)
{
	const cJSON *was = cJSON_GetObjectItemCaseSensitive(item, "was"),
				*name = cJSON_GetObjectItemCaseSensitive(item, "name"),
				*set_to = cJSON_GetObjectItemCaseSensitive(item, "set_to");

	if (json_bool(item, "machine", false) || !cJSON_IsString(name) || !cJSON_IsString(set_to) ||
		(was && !cJSON_IsString(was)) || !is_value(set_to->valuestring) ||
		(was && !is_value(was->valuestring)))
		return 0;
	for (size_t i = 0; i < RECORD_NAMES; i++) {
		struct settings_record_variable *variable = &record->variables[false][i];

		if (!variable->set_to && !strcmp(settings_record_names[i], name->valuestring))
			return settings_record_set(err, variable, set_to->valuestring,
									   was ? was->valuestring : NULL,
									   json_bool(item, "expands", false));
	}
	return 0;
}

int settings_record_parse(struct jw_error *err, const char *text, size_t size,
						  struct settings_record *ret_record)
{
	cJSON *document = json_parse(err, text, size);
	const cJSON *item;
	struct settings_record record = {0};
	int result = 0;

	if (!document)
		return -1;
	if (strcmp(json_text(document, "schema", ""), schema) != 0)
		result = error_set(err, JW_ERR_FORMAT, "not a record of settings that jitwarm wrote");
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(
								 document, "files")) if (!result && cJSON_IsString(item) &&
														 os_is_absolute(item->valuestring)) result =
		settings_record_add_file(err, &record, item->valuestring);
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(document, "variables")) if (!result)
		result = take_variable(err, item, &record);
	cJSON_Delete(document);
	if (result)
		settings_record_free(&record);
	else
		*ret_record = record;
	return result;
}

int settings_record_read(struct jw_error *err, const char *state_dir,
						 struct settings_record *ret_record, char **ret_aside)
{
	char *path = os_join(err, state_dir, "tuned.json");
	struct jw_error why = {0};
	struct buf text = {0};
	int result = path ? 0 : -1;

	*ret_record = (struct settings_record){0};
	*ret_aside = NULL;
	if (!path || (!os_read_file(&why, path, MOST_BYTES, &text) &&
				  !settings_record_parse(&why, buf_text(&text), text.size, ret_record))) {
		result = path ? 0 : -1;
	} else if (why.code != JW_ERR_FORMAT && why.code != JW_ERR_LIMIT) {
		result = error_unless_missing(err, &why);
	} else {
		*ret_aside = mem_printf(err, "%s.damaged", path);
		if (!*ret_aside || os_rename(err, path, *ret_aside)) {
			mem_free(*ret_aside);
			*ret_aside = NULL;
			result = -1;
		}
	}
	buf_free(&text);
	mem_free(path);
	return result;
}

static bool add_variables(cJSON *document, const struct settings_record *record, size_t *ret_count)
{
	cJSON *array = cJSON_AddArrayToObject(document, "variables");

	*ret_count = 0;
	for (size_t i = 0; array && i < RECORD_NAMES; i++) {
		const struct settings_record_variable *variable = &record->variables[false][i];
		cJSON *item = variable->set_to ? cJSON_CreateObject() : NULL;

		if (!variable->set_to)
			continue;
		++*ret_count;
		if (!item || !cJSON_AddItemToArray(array, item) ||
			!cJSON_AddBoolToObject(item, "machine", false) ||
			!cJSON_AddStringToObject(item, "name", settings_record_names[i]) ||
			!cJSON_AddStringToObject(item, "set_to", variable->set_to) ||
			!cJSON_AddBoolToObject(item, "expands", variable->expands) ||
			(variable->was && !cJSON_AddStringToObject(item, "was", variable->was)))
			return false;
	}
	return array != NULL;
}

int settings_record_write(struct jw_error *err, const char *state_dir,
						  const struct settings_record *record)
{
	cJSON *document = cJSON_CreateObject(), *files;
	char *text = NULL, *path = NULL;
	size_t variables;
	int result = -1;
	bool made = cJSON_AddStringToObject(document, "schema", schema) &&
				(files = cJSON_AddArrayToObject(document, "files"));

	for (size_t i = 0; made && i < record->file_count; i++)
		made = cJSON_AddItemToArray(files, cJSON_CreateString(record->files[i]));
	if (!made || !add_variables(document, record, &variables)) {
		error_set(err, JW_ERR_MEMORY, "out of memory");
		goto done;
	}
	if (!state_dir) {
		result = 0;
		goto done;
	}
	path = os_join(err, state_dir, "tuned.json");
	text = path ? json_line(err, document) : NULL;
	if (!text)
		goto done;
	if (!record->file_count && !variables)
		result = os_remove(err, path);
	else
		result = os_make_dirs(err, state_dir, 0700) || os_rewrite(err, path, text, strlen(text))
					 ? -1
					 : 0;
done:
	cJSON_free(text);
	cJSON_Delete(document);
	mem_free(path);
	return result;
}

/* Stored beside the set value, which has the variable's name. */
static char *name_before(struct jw_error *err, const char *name)
{
	return mem_printf(err, "%s before", name);
}

/* NULL for a value that is missing or cannot be read; -1: out of memory. */
static int read_recorded(struct jw_error *err, const char *name, struct os_variable *ret_variable)
{
	struct jw_error why = {0};

	*ret_variable = (struct os_variable){0};
	(void)os_variable_read(&why, OS_VARIABLES_MACHINE_RECORD, name, ret_variable);
	return error_if_memory(err, &why);
}

int machine_record_read(struct jw_error *err, struct settings_record *record)
{
	int result = 0;

	for (size_t i = 0; os_variables_kept() && !result && i < RECORD_NAMES; i++) {
		const char *name = settings_record_names[i];
		char *before_name = name_before(err, name);
		struct os_variable set = {0}, before = {0};

		result = !before_name || read_recorded(err, name, &set) ||
						 read_recorded(err, before_name, &before)
					 ? -1
					 : 0;
		if (!result && set.value)
			result = settings_record_set(err, &record->variables[true][i], set.value, before.value,
										 before.expands);
		mem_free(set.value);
		mem_free(before.value);
		mem_free(before_name);
	}
	return result;
}

static int record_value(struct jw_error *err, const char *name, const struct os_variable *wanted)
{
	struct os_variable now;
	bool same;

	if (read_recorded(err, name, &now))
		return -1;
	same = now.value && wanted->value
			   ? !strcmp(now.value, wanted->value) && now.expands == wanted->expands
			   : !now.value && !wanted->value;
	mem_free(now.value);
	return same ? 0
				: os_variable_write(err, OS_VARIABLES_MACHINE_RECORD, name,
									wanted->value ? wanted : NULL);
}

int machine_record_write(struct jw_error *err, const struct settings_record *record)
{
	int result = 0;

	for (size_t i = 0; os_variables_kept() && !result && i < RECORD_NAMES; i++) {
		const char *name = settings_record_names[i];
		const struct settings_record_variable *variable = &record->variables[true][i];
		const struct os_variable set = {.value = variable->set_to},
								 before = {variable->was, variable->expands && variable->was};
		char *before_name = name_before(err, name);

		if (!before_name)
			return -1;
		/* The set value is written last and removed first: a kill between leaves no wrong pair */
		result = variable->set_to
					 ? record_value(err, before_name, &before) || record_value(err, name, &set)
					 : record_value(err, name, &set) || record_value(err, before_name, &before);
		mem_free(before_name);
	}
	return result ? -1 : 0;
}
