/* Sets variables that Windows keeps in its registry, and restores them. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tune/tune_job.h"

static int note_variable(struct jw_error *err, struct tune_job *job, enum os_variables where,
						 const char *name, const char *what)
{
	char *shown = mem_printf(err, "%s\\%s", os_variables_key(where), name);
	int result = shown ? tune_job_note(err, job, shown, what) : -1;

	mem_free(shown);
	return result;
}

/* The present value; NULL if there is no value. */
static int read_variable(struct jw_error *err, enum os_variables where, const char *name,
						 struct os_variable *ret_variable)
{
	struct jw_error why = {0};

	*ret_variable = (struct os_variable){0};
	if (!os_variable_read(&why, where, name, ret_variable) || why.code == JW_ERR_NOT_FOUND)
		return 0;
	return error_copy(err, &why);
}

/* A value that another program has set since becomes the former value. */
static int remember_variable(struct jw_error *err, struct tune_job *job,
							 struct settings_record_variable *variable, const char *value,
							 const struct os_variable *now)
{
	const bool still_ours = variable->set_to && now->value && !strcmp(now->value, variable->set_to);

	return settings_record_set(err, variable, value, still_ours ? variable->was : now->value,
							   still_ours ? variable->expands : now->expands) ||
				   tune_job_keep(err, job)
			   ? -1
			   : 0;
}

/* The write failed, so the registry still has the former value. */
static void forget_variable(struct settings_record_variable *variable,
							const struct os_variable *now, bool was_known)
{
	if (!was_known || !now->value ||
		settings_record_set(NULL, variable, now->value, variable->was, variable->expands))
		settings_record_drop(variable);
}

static int apply_variable(struct jw_error *err, struct tune_job *job, enum os_variables where,
						  size_t which, const char *value)
{
	const char *name = settings_record_names[which];
	struct os_variable now, wanted = {.value = mem_string(err, value)};
	struct settings_record_variable *variable =
		&job->record.variables[where == OS_VARIABLES_MACHINE][which];
	const bool was_known = variable->set_to != NULL;
	int result = -1;

	if (!wanted.value || read_variable(err, where, name, &now)) {
		mem_free(wanted.value);
		return -1;
	}
	/* A value that expands stays one; ours contains no % that could be taken for a variable. */
	wanted.expands = now.expands && !strchr(value, '%');
	if (now.value && !strcmp(now.value, value))
		result = note_variable(err, job, where, name, "unchanged");
	else if (!remember_variable(err, job, variable, value, &now)) {
		if (os_variable_write(err, where, name, &wanted)) {
			forget_variable(variable, &now, was_known);
		} else {
			job->announce = true;
			result = note_variable(err, job, where, name, "written");
		}
	}
	mem_free(wanted.value);
	mem_free(now.value);
	return result;
}

int tune_job_apply_variables(struct jw_error *err, struct tune_job *job, enum os_variables where)
{
	char number[24];

	if (!job->state_dir)
		return error_set(
			err, JW_ERR_NOT_FOUND,
			"LOCALAPPDATA is not set, so there is no folder to keep the former values in");
	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)job->request->limit_bytes);
	if (job->request->limit_bytes && apply_variable(err, job, where, 0, number))
		return -1;
	return job->request->path ? apply_variable(err, job, where, 1, job->request->path) : 0;
}

static int undo_variable(struct jw_error *err, struct tune_job *job, enum os_variables where,
						 size_t which)
{
	const char *name = settings_record_names[which];
	struct settings_record_variable *variable =
		&job->record.variables[where == OS_VARIABLES_MACHINE][which];
	const struct os_variable was = {variable->was, variable->expands};
	struct os_variable now;
	int result = -1;

	if (!variable->set_to)
		return 0;
	if (read_variable(err, where, name, &now))
		return -1;
	if (!now.value || strcmp(now.value, variable->set_to) != 0) {
		result = note_variable(err, job, where, name, "left");
	} else if (!os_variable_write(err, where, name, was.value ? &was : NULL)) {
		job->announce = true;
		result = note_variable(err, job, where, name, was.value ? "restored" : "removed");
	}
	if (!result)
		settings_record_drop(variable);
	mem_free(now.value);
	return result;
}

int tune_job_undo_variables(struct jw_error *err, struct tune_job *job, bool user, bool machine)
{
	for (size_t i = RECORD_NAMES; machine && i > 0; i--)
		if (undo_variable(err, job, OS_VARIABLES_MACHINE, i - 1))
			return -1;
	for (size_t i = RECORD_NAMES; user && i > 0; i--)
		if (undo_variable(err, job, OS_VARIABLES_USER, i - 1))
			return -1;
	return 0;
}
