/* schemas FOLDER writes a JSON Schema (draft 2020-12) for each document, from its table, and prints
 * the files' names in the order of docs/programs.md */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_table.h"

/* clang-format off */
#define DOCUMENTS(X) \
	X(error) \
	X(config) \
	X(version) \
	X(status) \
	X(text) \
	X(scan) \
	X(check) \
	X(prime) \
	X(command) \
	X(doctor) \
	X(watch) \
	X(export) \
	X(import) \
	X(store) \
	X(store_clear) \
	X(key) \
	X(cache_list) \
	X(cache_verify) \
	X(cache_clear) \
	X(compiler) \
	X(tune) \
	X(startup) \
	X(run) \
	X(uninstall) \
	X(lint) \
	X(find) \
	X(which) \
	X(constraints)
/* clang-format on */

#define DECLARE(name) extern const struct json_table document_##name;
#define REFER(name)   &document_##name,

DOCUMENTS(DECLARE)

static const struct json_table *const documents[] = {DOCUMENTS(REFER)};

static void end(const char *why)
{
	(void)fprintf(stderr, "schemas: %s\n", why);
	exit(3);
}

static cJSON *add(cJSON *object, const char *name, cJSON *item)
{
	if (!item || !cJSON_AddItemToObject(object, name, item))
		end("out of memory");
	return item;
}

static void add_text(cJSON *object, const char *name, const char *text)
{
	if (text)
		add(object, name, cJSON_CreateString(text));
}

static void describe_object(cJSON *schema, const struct json_table *table);

static void describe_names(cJSON *schema, const char *const *names)
{
	cJSON *values = add(schema, "enum", cJSON_CreateArray());

	for (; *names; names++)
		if (!cJSON_AddItemToArray(values, cJSON_CreateString(*names)))
			end("out of memory");
}

static void describe_number(cJSON *schema, const struct json_field *field)
{
	if (field->names) {
		describe_names(schema, field->names);
		return;
	}
	add_text(schema, "type",
			 field->kind == JSON_DOUBLE || field->kind == JSON_NUMBER ? "number" : "integer");
	if (field->kind == JSON_UNSIGNED)
		add(schema, "minimum", cJSON_CreateNumber(0));
}

static void describe(cJSON *schema, const struct json_field *field);

static void describe_array(cJSON *schema, const struct json_field *field)
{
	cJSON *items;

	add_text(schema, "type", field->kind == JSON_MAP ? "object" : "array");
	if (field->kind == JSON_MAP) {
		items = add(schema, "propertyNames", cJSON_CreateObject());
		add_text(items, "title", field->table->fields[0].name);
		items = add(schema, "additionalProperties", cJSON_CreateObject());
		describe(items, &field->table->fields[1]);
		return;
	}
	items = add(schema, "items", cJSON_CreateObject());
	if (field->table)
		describe_object(items, field->table);
	else
		add_text(items, "type", "string");
}

static void describe(cJSON *schema, const struct json_field *field)
{
	cJSON *types;

	add_text(schema, "description", field->text);
	switch ((int)field->kind) {
	case JSON_BOOL: add_text(schema, "type", "boolean"); break;
	case JSON_CHARS:
	case JSON_TEXT:
	case JSON_FORMAT:
		if (field->presence != JSON_OR_NULL) {
			add_text(schema, "type", "string");
			break;
		}
		types = add(schema, "type", cJSON_CreateArray());
		(void)cJSON_AddItemToArray(types, cJSON_CreateString("string"));
		(void)cJSON_AddItemToArray(types, cJSON_CreateString("null"));
		break;
	case JSON_MAYBE:
		types = add(schema, "type", cJSON_CreateArray());
		(void)cJSON_AddItemToArray(types, cJSON_CreateString("boolean"));
		(void)cJSON_AddItemToArray(types, cJSON_CreateString("null"));
		break;
	case JSON_OBJECT: describe_object(schema, field->table); break;
	case JSON_LIST:
	case JSON_LINES:
	case JSON_INSIDE:
	case JSON_MAP:
	case JSON_READY: describe_array(schema, field); break;
	default: describe_number(schema, field);
	}
}

static void describe_members(cJSON *members, cJSON *required, const struct json_table *table)
{
	for (const struct json_field *field = table->fields; field->kind; field++) {
		if (field->kind == JSON_MEMBERS) {
			describe_members(members, required, field->table);
			continue;
		}
		describe(add(members, json_name_of(field), cJSON_CreateObject()), field);
		if (field->presence == JSON_ALWAYS || field->presence == JSON_OR_NULL ||
			field->presence == JSON_EACH)
			(void)cJSON_AddItemToArray(required, cJSON_CreateString(json_name_of(field)));
	}
}

static void describe_object(cJSON *schema, const struct json_table *table)
{
	cJSON *members, *required;

	add_text(schema, "type", "object");
	members = add(schema, "properties", cJSON_CreateObject());
	required = cJSON_CreateArray();
	if (table->schema) {
		add_text(add(members, "schema", cJSON_CreateObject()), "const", table->schema);
		(void)cJSON_AddItemToArray(required, cJSON_CreateString("schema"));
	}
	describe_members(members, required, table);
	add(schema, "required", required);
	add(schema, "additionalProperties", cJSON_CreateFalse());
}

static void write_schema(const char *folder, const struct json_table *table)
{
	cJSON *schema = cJSON_CreateObject();
	char path[4096], *text;
	FILE *file;

	add_text(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
	add_text(schema, "title", table->schema);
	add_text(schema, "description", table->text);
	if (table->instead) {
		cJSON *forms = add(schema, "anyOf", cJSON_CreateArray());

		for (const struct json_table *form = table; form; form = form->instead) {
			cJSON *one = cJSON_CreateObject();

			add_text(one, "description", form == table ? NULL : form->text);
			describe_object(one, form);
			(void)cJSON_AddItemToArray(forms, one);
		}
	} else {
		describe_object(schema, table);
	}
	add_text(schema, "$comment", table->end);
	text = cJSON_Print(schema);
	(void)snprintf(path, sizeof path, "%s/%s.json", folder, table->schema);
	*strrchr(path, '/') = '-';
	file = fopen(path, "wb");
	(void)printf("%s\n", path + strlen(folder) + 1);
	if (!text || !file || fprintf(file, "%s\n", text) < 0 || fclose(file))
		end(path);
	cJSON_free(text);
	cJSON_Delete(schema);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		end("name a folder");
	for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
		write_schema(argv[1], documents[i]);
	return 0;
}
