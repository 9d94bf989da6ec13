/* Writing settings, and taking them back. */
#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/system.h"
#include "os/variables.h"
#include "tune/block.h"
#include "tune/place.h"
#include "tune/record.h"

enum { LOCK_WAIT_MS = 10000, LOCK_STEP_MS = 20, MOST_CHANGES = 1024 };

struct job {
	const struct jw_tune_request *request;
	char *state_dir; /* NULL: nothing is kept */
	struct os_file *lock;
	struct record record;
	struct jw_tune_result *result;
	bool announce;
};

static int note(struct jw_error *err, struct job *job, const char *where, const char *what)
{
	struct jw_tune_result *result = job->result;
	char *copy = mem_string(err, where);

	if (!copy || VEC_ROOM(err, result->changes, result->capacity, result->count, MOST_CHANGES)) {
		mem_free(copy);
		return -1;
	}
	result->changes[result->count++] = (struct jw_tune_change){copy, what};
	return 0;
}

void jw_tune_result_free(struct jw_tune_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->count; i++)
		mem_free(result->changes[i].where);
	mem_free(result->changes);
	mem_free(result);
}

/* ---- one at a time */

static int take_lock(struct jw_error *err, struct job *job)
{
	char *path = os_join(err, job->state_dir, "tune.lock");
	bool held = false;
	int result = -1;

	if (!path || os_make_dirs(err, job->state_dir, 0700) ||
		os_file_open(err, path, OS_OPEN_CREATE, &job->lock))
		goto done;
	for (unsigned waited_ms = 0; !held; waited_ms += LOCK_STEP_MS) {
		if (os_file_lock(err, job->lock, true, &held))
			goto done;
		if (!held && waited_ms >= LOCK_WAIT_MS) {
			error_set(err, JW_ERR_BUSY, "another “jitwarm tune” is at work (it holds %s)", path);
			goto done;
		}
		if (!held)
			uv_sleep(LOCK_STEP_MS);
	}
	result = 0;
done:
	mem_free(path);
	return result;
}

static void close_job(struct job *job)
{
	if (job->lock) {
		(void)os_file_unlock(NULL, job->lock);
		os_file_close(job->lock);
	}
	record_free(&job->record);
	mem_free(job->state_dir);
	*job = (struct job){0};
}

static int open_job(struct jw_error *err, const struct jw_tune_request *request, struct job *job)
{
	*job = (struct job){.request = request};
	job->result = mem_alloc(err, sizeof *job->result);
	if (!job->result)
		return -1;
	/* Without a home nothing can be remembered; blocks in files remember themselves. */
	if (os_state_dir(NULL, &job->state_dir))
		job->state_dir = NULL;
	return job->state_dir && (take_lock(err, job) || record_read(err, job->state_dir, &job->record))
			   ? -1
			   : 0;
}

/* ---- files */

static int read_text(struct jw_error *err, const char *path, struct buf *text)
{
	struct jw_error why = {0};

	if (!os_read_file(&why, path, BLOCK_MOST_FILE, text))
		return 0;
	if (why.code == JW_ERR_NOT_FOUND) {
		*text = BUF_MAX(BLOCK_MOST_FILE);
		return 0;
	}
	return error_set(err, why.code, "%s", why.message);
}

/* The file and the folders above it that are not there. */
static unsigned missing_levels(const char *path)
{
	char *at = mem_string(NULL, path);
	unsigned levels = 0;

	while (at && !os_exists(at) && levels < BLOCK_MOST_MADE) {
		char *above = os_dir_name(NULL, at);

		mem_free(at);
		at = above;
		levels++;
	}
	mem_free(at);
	return levels;
}

static int make_folder(struct jw_error *err, const char *path)
{
	char *folder = os_dir_name(err, path);
	int result = folder ? os_make_dirs(err, folder, 0755) : -1;

	mem_free(folder);
	return result;
}

static int write_text(struct jw_error *err, const struct job *job, const char *path,
					  const struct buf *text)
{
	if (!make_folder(err, path) && !os_rewrite(err, path, buf_text(text), text->size))
		return 0;
	if (job->request && job->request->scope != JW_SCOPE_CONDA)
		return error_prefix(err, "nothing was changed there (%s)",
							job->request->scope == JW_SCOPE_SYSTEM ||
									job->request->scope == JW_SCOPE_UNIT
								? "the system's files need sudo"
								: "is it this account's own?");
	return -1;
}

static bool same(const struct buf *a, const struct buf *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

static int apply_file(struct jw_error *err, struct job *job, const struct place *place)
{
	struct buf before = {0}, after = {0}, body = BUF_MAX(BLOCK_MOST_FILE);
	unsigned made = missing_levels(place->path);
	int result = -1;

	if (place_lines(err, place->form, job->request->limit_bytes, job->request->path, &body) ||
		read_text(err, place->path, &before))
		goto done;
	if (block_put(err, place_comment(place->form), buf_text(&before), before.size, buf_text(&body),
				  made, &after)) {
		error_prefix(err, "%s", place->path);
		goto done;
	}
	/* Remembered before it is written: a block that is not there is no harm. */
	if (record_add_file(err, &job->record, place->path) ||
		record_write(err, job->state_dir, &job->record))
		goto done;
	if (same(&before, &after))
		result = note(err, job, place->path, "unchanged");
	else if (!write_text(err, job, place->path, &after))
		result = note(err, job, place->path, "written");
done:
	buf_free(&before);
	buf_free(&after);
	buf_free(&body);
	return result;
}

/* A file that we made, and the folders that we made for it, unless something else is in them. */
static int remove_made(struct jw_error *err, const char *path, unsigned made)
{
	char *at = mem_string(err, path);
	int result = at ? os_remove(err, at) : -1;

	for (unsigned level = 1; !result && at && level < made; level++) {
		char *above = os_dir_name(NULL, at);

		mem_free(at);
		at = above;
		if (!at || os_remove_empty_dir(NULL, at))
			break;
	}
	mem_free(at);
	return result;
}

static int undo_file(struct jw_error *err, struct job *job, const struct place *place)
{
	struct buf before = {0}, after = {0};
	struct block_found found;
	bool there;
	int result = -1;

	if (read_text(err, place->path, &before))
		goto done;
	if (block_take(err, place_comment(place->form), buf_text(&before), before.size, &after, &there,
				   &found)) {
		error_prefix(err, "%s", place->path);
		goto done;
	}
	if (!there)
		result = 0;
	else if (found.made && !after.size)
		result = remove_made(err, place->path, found.made) || note(err, job, place->path, "removed")
					 ? -1
					 : 0;
	else if (!write_text(err, job, place->path, &after))
		result = note(err, job, place->path, "restored");
	if (!result)
		record_drop_file(&job->record, place->path);
done:
	buf_free(&before);
	buf_free(&after);
	return result;
}

/* ---- the registry */

static int note_variable(struct jw_error *err, struct job *job, enum os_variables where,
						 const char *name, const char *what)
{
	char *shown = mem_printf(err, "%s\\%s", os_variables_key(where), name);
	int result = shown ? note(err, job, shown, what) : -1;

	mem_free(shown);
	return result;
}

/* What is there now; NULL where nothing is. */
static int read_variable(struct jw_error *err, enum os_variables where, const char *name,
						 struct os_variable *ret_variable)
{
	struct jw_error why = {0};

	*ret_variable = (struct os_variable){0};
	if (!os_variable_read(&why, where, name, ret_variable) || why.code == JW_ERR_NOT_FOUND)
		return 0;
	return error_set(err, why.code, "%s", why.message);
}

static int remember_variable(struct jw_error *err, struct job *job, enum os_variables where,
							 const char *name, const char *value, const struct os_variable *now)
{
	bool machine = where == OS_VARIABLES_MACHINE;
	struct record_variable *old = record_variable(&job->record, machine, name);
	struct record_variable fresh = {
		.machine = machine, .name = mem_string(err, name), .set_to = mem_string(err, value)};
	bool still_ours = old && now->value && !strcmp(now->value, old->set_to);
	int result = -1;

	/* What somebody else has set since counts as what was there before. */
	fresh.expands = still_ours ? old->expands : now->expands;
	fresh.was = still_ours ? old->was : now->value;
	if (fresh.name && fresh.set_to) {
		struct record_variable kept = fresh;

		kept.was = fresh.was ? mem_string(err, fresh.was) : NULL;
		if (old)
			record_drop_variable(&job->record, old);
		result = (fresh.was && !kept.was) || record_add_variable(err, &job->record, &kept) ||
						 record_write(err, job->state_dir, &job->record)
					 ? -1
					 : 0;
		mem_free(kept.was);
	}
	mem_free(fresh.name);
	mem_free(fresh.set_to);
	return result;
}

/* It was not written after all: what the registry has is what it had. */
static void forget_variable(struct job *job, enum os_variables where, const char *name,
							const struct os_variable *now, bool was_known)
{
	struct record_variable *entry =
		record_variable(&job->record, where == OS_VARIABLES_MACHINE, name);
	char *set_to = was_known && now->value ? mem_string(NULL, now->value) : NULL;

	if (entry && set_to) {
		mem_free(entry->set_to);
		entry->set_to = set_to;
	} else if (entry) {
		record_drop_variable(&job->record, entry);
	}
}

static int apply_variable(struct jw_error *err, struct job *job, enum os_variables where,
						  const char *name, const char *value)
{
	struct os_variable now, wanted = {.value = mem_string(err, value)};
	bool was_known = record_variable(&job->record, where == OS_VARIABLES_MACHINE, name) != NULL;
	int result = -1;

	if (!wanted.value || read_variable(err, where, name, &now)) {
		mem_free(wanted.value);
		return -1;
	}
	/* A value that expands stays one; ours has no % that would be taken for a variable. */
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

static int apply_variables(struct jw_error *err, struct job *job, enum os_variables where)
{
	char number[24];

	if (!job->state_dir)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "there is no folder to remember in what was set before (LOCALAPPDATA)");
	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)job->request->limit_bytes);
	if (job->request->limit_bytes && apply_variable(err, job, where, "CUDA_CACHE_MAXSIZE", number))
		return -1;
	return job->request->path
			   ? apply_variable(err, job, where, "CUDA_CACHE_PATH", job->request->path)
			   : 0;
}

static int undo_variable(struct jw_error *err, struct job *job, struct record_variable *variable)
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
		record_drop_variable(&job->record, variable);
	mem_free(now.value);
	return result;
}

static int undo_variables(struct jw_error *err, struct job *job, bool user, bool machine)
{
	for (size_t i = job->record.variable_count; i > 0; i--) {
		struct record_variable *variable = &job->record.variables[i - 1];

		if ((variable->machine ? machine : user) && undo_variable(err, job, variable))
			return -1;
	}
	return 0;
}

/* ---- all of it */

static int apply(struct jw_error *err, struct job *job)
{
	const struct jw_tune_request *request = job->request;
	struct places places;
	int result = 0;

	if (request->path && !os_is_absolute(request->path))
		return error_set(err, JW_ERR_USAGE, "%s: a path for every program has to be absolute",
						 request->path);
	if (places_of(err, request, &places))
		return -1;
	for (size_t i = 0; !result && i < places.count; i++)
		result = apply_file(err, job, &places.items[i]);
	places_free(&places);
	if (!result && os_variables_kept() && request->scope == JW_SCOPE_USER)
		result = apply_variables(err, job, OS_VARIABLES_USER);
	if (!result && os_variables_kept() && request->scope == JW_SCOPE_SYSTEM)
		result = apply_variables(err, job, OS_VARIABLES_MACHINE);
	return result;
}

static int undo_scope(struct jw_error *err, struct job *job)
{
	enum jw_scope scope = job->request->scope;
	struct places places;
	int result = 0;

	if (places_of(err, job->request, &places))
		return -1;
	/* Backwards: the file for which a folder was made goes after those that were added to it. */
	for (size_t i = places.count; !result && i > 0; i--)
		result = undo_file(err, job, &places.items[i - 1]);
	places_free(&places);
	if (!result && os_variables_kept())
		result = undo_variables(err, job, scope == JW_SCOPE_USER, scope == JW_SCOPE_SYSTEM);
	return result;
}

/* What cannot be undone stays on record, and does not keep the rest from being undone. */
static int undo_record(struct jw_error *err, struct job *job)
{
	int result = 0;

	for (size_t i = job->record.file_count; i > 0; i--) {
		struct place place = {.path = mem_string(err, job->record.files[i - 1])};

		if (!place.path)
			return -1;
		if (place_form_of(place.path, &place.form) && undo_file(err, job, &place))
			result = -1;
		mem_free(place.path);
	}
	return undo_variables(err, job, true, true) || result ? -1 : 0;
}

static int finish(struct jw_error *err, struct job *job, int result,
				  struct jw_tune_result **ret_result)
{
	/* Also after a failure: what was done is done. */
	if (job->lock && record_write(result ? NULL : err, job->state_dir, &job->record))
		result = -1;
	if (job->announce)
		os_variables_announce();
	if (result)
		jw_tune_result_free(job->result);
	else
		*ret_result = job->result;
	close_job(job);
	return result ? -1 : 0;
}

int jw_tune_apply(struct jw_error *err, const struct jw_tune_request *request,
				  struct jw_tune_result **ret_result)
{
	struct job job;
	int result = open_job(err, request, &job);

	return finish(err, &job, result ? result : apply(err, &job), ret_result);
}

int jw_tune_undo(struct jw_error *err, const struct jw_tune_request *request,
				 struct jw_tune_result **ret_result)
{
	struct job job;
	int result = open_job(err, request, &job);

	if (!result)
		result = request ? undo_scope(err, &job) : undo_record(err, &job);
	return finish(err, &job, result, ret_result);
}
