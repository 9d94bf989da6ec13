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

static int remember_variable(struct jw_error *err, struct tune_job *job, enum os_variables where,
							 const char *name, const char *value, const struct os_variable *now)
{
	bool machine = where == OS_VARIABLES_MACHINE;
	struct settings_record_variable *old = settings_record_variable(&job->record, machine, name);
	struct settings_record_variable fresh = {
		.machine = machine, .name = mem_string(err, name), .set_to = mem_string(err, value)};
	bool still_ours = old && now->value && !strcmp(now->value, old->set_to);
	int result = -1;

	/* A value that another program has set since becomes the former value. */
	fresh.expands = still_ours ? old->expands : now->expands;
	fresh.was = still_ours ? old->was : now->value;
	if (fresh.name && fresh.set_to) {
		struct settings_record_variable kept = fresh;

		kept.was = fresh.was ? mem_string(err, fresh.was) : NULL;
		if (old)
			settings_record_drop_variable(&job->record, old);
		result = (fresh.was && !kept.was) ||
						 settings_record_add_variable(err, &job->record, &kept) ||
						 tune_job_keep(err, job)
					 ? -1
					 : 0;
		mem_free(kept.was);
	}
	mem_free(fresh.name);
	mem_free(fresh.set_to);
	return result;
}

/* The write failed, so the registry still has the former value. */
static void forget_variable(struct tune_job *job, enum os_variables where, const char *name,
							const struct os_variable *now, bool was_known)
{
	struct settings_record_variable *entry =
		settings_record_variable(&job->record, where == OS_VARIABLES_MACHINE, name);
	char *set_to = was_known && now->value ? mem_string(NULL, now->value) : NULL;

	if (entry && set_to) {
		mem_free(entry->set_to);
		entry->set_to = set_to;
	} else if (entry) {
		settings_record_drop_variable(&job->record, entry);
	}
}

static int apply_variable(struct jw_error *err, struct tune_job *job, enum os_variables where,
						  const char *name, const char *value)
{
	struct os_variable now, wanted = {.value = mem_string(err, value)};
	bool was_known =
		settings_record_variable(&job->record, where == OS_VARIABLES_MACHINE, name) != NULL;
	int result = -1;

	if (!wanted.value || read_variable(err, where, name, &now)) {
		mem_free(wanted.value);
		return -1;
	}
	/* A value that expands stays one; ours contains no % that could be taken for a variable. */
	wanted.expands = now.expands && !strchr(value, '%');
	if (now.value && !strcmp(now.value, value))
		result = note_variable(err, job, where, name, "unchanged");
	else if (!remember_variable(err, job, where, name, value, &now)) {
		if (os_variable_write(err, where, name, &wanted)) {
			forget_variable(job, where, name, &now, was_known);
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
	if (job->request->limit_bytes && apply_variable(err, job, where, "CUDA_CACHE_MAXSIZE", number))
		return -1;
	return job->request->path
			   ? apply_variable(err, job, where, "CUDA_CACHE_PATH", job->request->path)
			   : 0;
}

static int undo_variable(struct jw_error *err, struct tune_job *job,
						 struct settings_record_variable *variable)
{
	enum os_variables where = variable->machine ? OS_VARIABLES_MACHINE : OS_VARIABLES_USER;
	const struct os_variable was = {variable->was, variable->expands};
	struct os_variable now;
	int result = -1;

	if (read_variable(err, where, variable->name, &now))
		return -1;
	if (!now.value || strcmp(now.value, variable->set_to) != 0) {
		result = note_variable(err, job, where, variable->name, "left");
	} else if (!os_variable_write(err, where, variable->name, was.value ? &was : NULL)) {
		job->announce = true;
		result = note_variable(err, job, where, variable->name, was.value ? "restored" : "removed");
	}
	if (!result)
		settings_record_drop_variable(&job->record, variable);
	mem_free(now.value);
	return result;
}

int tune_job_undo_variables(struct jw_error *err, struct tune_job *job, bool user, bool machine)
{
	for (size_t i = job->record.variable_count; i > 0; i--) {
		struct settings_record_variable *variable = &job->record.variables[i - 1];

		if ((variable->machine ? machine : user) && undo_variable(err, job, variable))
			return -1;
	}
	return 0;
}
