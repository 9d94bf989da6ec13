#include "tune/machine_record.h"

#include <string.h>

#include "base/mem.h"
#include "os/variables.h"

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

	for (size_t i = 0; os_variables_kept() && !result && settings_record_names[i]; i++) {
		const char *name = settings_record_names[i];
		char *before_name = name_before(err, name);
		struct settings_record_variable variable = {.machine = true, .name = mem_string(err, name)};
		struct os_variable set = {0}, before = {0};

		result = !before_name || !variable.name || read_recorded(err, name, &set) ||
						 read_recorded(err, before_name, &before)
					 ? -1
					 : 0;
		variable.set_to = set.value;
		variable.was = before.value;
		variable.expands = before.expands;
		if (!result && set.value)
			result = settings_record_add_variable(err, record, &variable);
		mem_free(set.value);
		mem_free(before.value);
		mem_free(variable.name);
		mem_free(before_name);
	}
	return result;
}

static const struct settings_record_variable *machine_variable(const struct settings_record *record,
															   const char *name)
{
	for (size_t i = 0; i < record->variable_count; i++)
		if (record->variables[i].machine && !strcmp(record->variables[i].name, name))
			return &record->variables[i];
	return NULL;
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

	for (size_t i = 0; os_variables_kept() && !result && settings_record_names[i]; i++) {
		const char *name = settings_record_names[i];
		const struct settings_record_variable *variable = machine_variable(record, name);
		char *before_name = name_before(err, name);
		struct os_variable set = {0}, before = {0};

		if (!before_name)
			return -1;
		if (variable) {
			set.value = variable->set_to;
			before = (struct os_variable){variable->was, variable->expands && variable->was};
		}
		/* The set value is written last and removed first: a kill between the two leaves no wrong
		 * pair. */
		result = variable
					 ? record_value(err, before_name, &before) || record_value(err, name, &set)
					 : record_value(err, name, &set) || record_value(err, before_name, &before);
		mem_free(before_name);
	}
	return result ? -1 : 0;
}
