/* jw_tune_apply and jw_tune_undo: a file of jitwarm's own, a marked line in a file of other
 * programs, and variables in Windows' registry. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/accounts.h>

#include "base/arena.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "setup/lines.h"
#include "setup/marked_line.h"
#include "setup/setting_places.h"
#include "setup/setting_sources.h"

enum { MAX_CHANGES = 1024, MAX_FOLDERS = 3 }; /* .config/fish/conf.d */

/* The state of one run. */
struct applying {
	const struct jw_tune_request *request; /* zeros to undo everything */
	struct jw_tune_result *result;
	bool dry_run;
	bool announce; /* variables of the registry have changed */
};

/* Records one change for the caller's report; struct jw_tune_change describes `what`. */
static int note_change(struct jw_error *err, struct applying *run, const char *where,
					   const char *what)
{
	struct jw_tune_result *result = run->result;

	/* A profile can hold the lines of two scopes. */
	for (size_t i = 0; i < result->count; i++)
		if (!strcmp(result->changes[i].where, where) && !strcmp(result->changes[i].what, what))
			return 0;
	if (ARENA_ROOM(err, result, result->changes, result->capacity, result->count, MAX_CHANGES))
		return -1;
	result->changes[result->count++] = (struct jw_tune_change){arena_string(result, where), what};
	return 0;
}

/* ---- files */

/* Reads a profile; a missing one is empty. */
static int read_profile(struct jw_error *err, const char *path, struct buf *text, bool *ret_there)
{
	struct jw_error why = {0};

	*ret_there = !os_read_file(&why, path, MARKED_MAX_FILE, text);
	if (!*ret_there)
		*text = BUF_MAX(MARKED_MAX_FILE);
	return *ret_there || why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
}

/* Writes a profile through links, with the file's owner and rights. All accounts may read the
 * system's files, and only the superuser may write them, whatever the umask. */
static int write_profile(struct jw_error *err, const struct applying *run, const char *path,
						 const struct buf *text)
{
	const bool system = run->request->scope == JW_SCOPE_SYSTEM;
	const int result = system ? os_make_shared_parent(err, path, 0755) ||
									os_rewrite_mode(err, path, buf_text(text), text->size, 0644)
							  : os_make_parent(err, path, 0755) ||
									os_rewrite(err, path, buf_text(text), text->size);

	if (!result)
		return 0;
	if (!strstr(err->message, "ermission denied"))
		return error_prefix(err, "%s: not changed", path);
	return error_prefix(err, "%s: not changed (%s)", path,
						system ? "the system's files need sudo"
							   : "check that this account owns the file");
}

/* Replaces a profile and takes ownership of `after`. */
static int replace_profile(struct jw_error *err, struct applying *run, const char *path,
						   const struct buf *before, struct buf *after)
{
	const bool same = before->size == after->size &&
					  (!before->size || !memcmp(before->data, after->data, before->size));
	const int result = same ? 0 : write_profile(err, run, path, after);

	buf_free(after);
	return result ? -1 : note_change(err, run, path, same ? "unchanged" : "written");
}

static int apply_own(struct jw_error *err, struct applying *run, const struct setting_place *place)
{
	struct buf before = {0}, after = BUF_MAX(MARKED_MAX_FILE);
	bool there;
	int result = -1;

	if (place_lines(err, place->form, run->request->limit_bytes, run->request->path, &after) ||
		read_profile(err, place->path, &before, &there))
		buf_free(&after);
	else
		result = replace_profile(err, run, place->path, &before, &after);
	buf_free(&before);
	return result;
}

static int apply_marked(struct jw_error *err, struct applying *run,
						const struct setting_place *place)
{
	const char *path = place->loader ? place->loader : place->path;
	struct buf before = {0}, after = {0}, line = BUF_MAX(MARKED_MAX_FILE);
	char mark[PLACE_MARK];
	bool there;
	int result = -1;

	place_mark(mark, place->scope);
	if (!place_marked(err, place, run->request->limit_bytes, run->request->path, &line) &&
		!read_profile(err, path, &before, &there) &&
		!marked_put(err, buf_text(&before), before.size, mark, buf_text(&line), !there, &after))
		result = replace_profile(err, run, path, &before, &after);
	buf_free(&before);
	buf_free(&line);
	return result;
}

/* Removes the file, and the folders above it, below the home, that hold nothing else. */
static int remove_with_folders(struct jw_error *err, const char *path)
{
	char *at = mem_string(path), *home = NULL;
	struct jw_error why;
	struct os_names left;
	int result = os_remove(err, at);

	(void)os_home_dir(NULL, &home);
	for (unsigned level = 0; !result && level < MAX_FOLDERS; level++) {
		char *above = os_dir_name(at);

		mem_free(at);
		at = above;
		if (text_same(at, home))
			break;
		if (os_remove_empty_dir(&why, at)) {
			/* A folder that others use stays. */
			if (!os_list(NULL, at, &left)) {
				result = left.count ? 0 : error_copy(err, &why);
				os_names_free(&left);
			}
			break;
		}
	}
	mem_free(home);
	mem_free(at);
	return result;
}

static int undo_own(struct jw_error *err, struct applying *run, const char *path)
{
	struct jw_error why = {0};
	bool there = false;

	if (os_check_exists(&why, path, &there))
		return error_copy(err, &why);
	if (!there)
		return 0;
	if (!run->dry_run && remove_with_folders(err, path))
		return -1;
	return note_change(err, run, path, "removed");
}

static int undo_marked(struct jw_error *err, struct applying *run, enum jw_scope scope,
					   const char *path)
{
	struct buf before = {0}, after = {0};
	char mark[PLACE_MARK];
	bool there;
	int result = -1;

	place_mark(mark, scope);
	if (read_profile(err, path, &before, &there) ||
		marked_take(err, buf_text(&before), before.size, mark, &after, &there))
		goto done;
	if (!there)
		result = 0;
	else if (!after.size && (run->dry_run || !os_remove(err, path)))
		result = note_change(err, run, path, "removed");
	else if (after.size && (run->dry_run || !write_profile(err, run, path, &after)))
		result = note_change(err, run, path, "restored");
done:
	buf_free(&before);
	buf_free(&after);
	return result;
}

/* ---- Windows' registry */

static const struct variable_place {
	enum os_variables where, record; /* the variables, and jitwarm's record of them */
} for_user = {OS_VARIABLES_USER, OS_VARIABLES_USER_RECORD},
  for_machine = {OS_VARIABLES_MACHINE, OS_VARIABLES_MACHINE_RECORD};

enum { VARIABLE_LIMIT, VARIABLE_PATH, VARIABLES };
static const char *const variable_names[VARIABLES] = {
	[VARIABLE_LIMIT] = "CUDA_CACHE_MAXSIZE",
	[VARIABLE_PATH] = "CUDA_CACHE_PATH",
};

/* The value that jitwarm has set, and the value before: NAME and “NAME before”. */
struct variable_record {
	struct os_variable set, before;
};

/* Reads a variable, which the run's result then has; the value is NULL if it is not set. */
static int read_variable(struct jw_error *err, const struct applying *run, enum os_variables where,
						 const char *name, struct os_variable *ret_variable)
{
	struct jw_error why = {0};

	*ret_variable = (struct os_variable){0};
	if (os_variable_read(&why, where, name, ret_variable))
		return why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
	(void)arena_keep(run->result, ret_variable->value);
	return 0;
}

static int read_variable_record(struct jw_error *err, const struct applying *run,
								enum os_variables where, const char *name,
								struct variable_record *ret_record)
{
	return read_variable(err, run, where, name, &ret_record->set) ||
				   read_variable(err, run, where, arena_printf(run->result, "%s before", name),
								 &ret_record->before)
			   ? -1
			   : 0;
}

/* Writes a record. The set value is written last and removed first, so that a kill in between
 * leaves no wrong pair. */
static int write_variable_record(struct jw_error *err, enum os_variables where, const char *name,
								 const struct variable_record *record)
{
	const struct os_variable *set = record->set.value ? &record->set : NULL,
							 *before = record->before.value ? &record->before : NULL;
	char *before_name = mem_printf("%s before", name);
	int result = 0;

	if (!set)
		result = os_variable_write(err, where, name, NULL);
	if (!result)
		result = os_variable_write(err, where, before_name, set ? before : NULL);
	if (!result && set)
		result = os_variable_write(err, where, name, set);
	mem_free(before_name);
	return result;
}

static int note_variable(struct jw_error *err, struct applying *run, enum os_variables where,
						 const char *name, const char *what)
{
	return note_change(err, run, arena_printf(run->result, "%s\\%s", os_variables_key(where), name),
					   what);
}

static int apply_variable(struct jw_error *err, struct applying *run,
						  const struct variable_place *place, const char *name, const char *value)
{
	struct variable_record known = {0}, record = {0};
	struct os_variable now = {0}, wanted = {.value = arena_string(run->result, value)};
	bool still_ours;

	if (read_variable(err, run, place->where, name, &now) ||
		read_variable_record(err, run, place->record, name, &known))
		return -1;
	if (now.value && !strcmp(now.value, value))
		return note_variable(err, run, place->where, name, "unchanged");
	/* A value with %NAME% in it stays of that type; jitwarm's value contains no % that could be
	 * taken for a variable. */
	wanted.expands = now.expands && !strchr(value, '%');
	/* A value that another program has set since becomes the former value. */
	still_ours = known.set.value && now.value && !strcmp(now.value, known.set.value);
	record = (struct variable_record){.set = {.value = wanted.value},
									  .before = still_ours ? known.before : now};
	if (write_variable_record(err, place->record, name, &record) ||
		os_variable_write(err, place->where, name, &wanted)) {
		(void)write_variable_record(NULL, place->record, name, &known);
		return -1;
	}
	run->announce = true;
	return note_variable(err, run, place->where, name, "written");
}

static int apply_variables(struct jw_error *err, struct applying *run,
						   const struct variable_place *place)
{
	char number[24];

	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)run->request->limit_bytes);
	if (run->request->limit_bytes &&
		apply_variable(err, run, place, variable_names[VARIABLE_LIMIT], number))
		return -1;
	return run->request->path
			   ? apply_variable(err, run, place, variable_names[VARIABLE_PATH], run->request->path)
			   : 0;
}

static int undo_variable(struct jw_error *err, struct applying *run,
						 const struct variable_place *place, const char *name)
{
	static const struct variable_record none;
	struct variable_record known;
	struct os_variable now;
	bool still_ours;

	if (read_variable_record(err, run, place->record, name, &known))
		return -1;
	/* Removes the rest of a record that could not be removed as a whole. */
	if (!known.set.value)
		return known.before.value && !run->dry_run
				   ? write_variable_record(err, place->record, name, &none)
				   : 0;
	if (read_variable(err, run, place->where, name, &now))
		return -1;
	still_ours = now.value && !strcmp(now.value, known.set.value);
	if (still_ours && !run->dry_run) {
		if (os_variable_write(err, place->where, name, known.before.value ? &known.before : NULL))
			return -1;
		run->announce = true;
	}
	if (!run->dry_run && write_variable_record(err, place->record, name, &none))
		return -1;
	return note_variable(err, run, place->where, name,
						 !still_ours          ? "left"
						 : known.before.value ? "restored"
											  : "removed");
}

static int undo_variables(struct jw_error *err, struct applying *run,
						  const struct variable_place *place)
{
	int result = 0;

	for (size_t i = VARIABLES; os_variables_kept() && i > 0; i--)
		if (undo_variable(err, run, place, variable_names[i - 1]))
			result = -1;
	return result;
}

/* ---- which files, and in which order */

/* Completes the request with jitwarm's settings in the scope's file. The caller frees `*ret_kept`,
 * which has the text of `path`, after the last use of the request. */
static int keep_rest(struct jw_error *err, struct jw_tune_request *request,
					 struct jw_settings **ret_kept)
{
	if (settings_read_scope(err, request->scope, ret_kept))
		return -1;
	for (size_t i = 0; i < (*ret_kept)->count; i++) {
		const struct jw_setting *setting = &(*ret_kept)->items[i];

		if (!setting->ours)
			continue;
		if (!strcmp(setting->name, variable_names[VARIABLE_LIMIT]) && !request->limit_bytes)
			(void)text_number(setting->value, UINT64_MAX, &request->limit_bytes);
		if (!strcmp(setting->name, variable_names[VARIABLE_PATH]) && !request->path)
			request->path = setting->value;
	}
	return 0;
}

static int apply_files(struct jw_error *err, struct applying *run,
					   const struct setting_places *places)
{
	const struct jw_tune_request *const wanted = run->request;
	struct jw_tune_request whole = *wanted;
	struct jw_settings *kept = NULL;
	int result = keep_rest(err, &whole, &kept);

	run->request = &whole;
	for (size_t i = 0; !result && i < places->count; i++) {
		const struct setting_place *place = &places->items[i];

		/* The loaded file is written before the line that loads it. */
		if (place->form != PLACE_SHARED)
			result = apply_own(err, run, place);
		if (!result && (place->form == PLACE_SHARED || place->loader))
			result = apply_marked(err, run, place);
	}
	run->request = wanted;
	jw_result_free(kept);
	return result;
}

static int apply_scope(struct jw_error *err, struct applying *run)
{
	const struct jw_tune_request *request = run->request;
	struct setting_places *places;
	struct jw_error why = {0};
	int result;

	if (request->path && !os_is_absolute(request->path))
		return error_set(err, JW_ERR_USAGE, "%s: name an absolute path", request->path);
	if (places_of(err, request->scope, &places))
		return -1;
	result = apply_files(&why, run, places);
	jw_result_free(places);
	if (result && request->scope != JW_SCOPE_SYSTEM && !jw_tune_can_apply(request->scope))
		return error_set(err, JW_ERR_IO,
						 "%s; “jitwarm tune --print sh” prints the lines instead, for where your "
						 "programs are started",
						 why.message);
	if (result)
		return error_copy(err, &why);
	return os_variables_kept()
			   ? apply_variables(err, run,
								 request->scope == JW_SCOPE_USER ? &for_user : &for_machine)
			   : 0;
}

/* Undoes the files of a scope, whichever shell's they are. A file that cannot be undone does not
 * keep the others; the first failure is reported. */
static int undo_scope_files(struct jw_error *err, struct applying *run, enum jw_scope scope)
{
	struct setting_places *places;
	struct jw_error later = {0};
	int result = 0;

	if (places_of_all(err, scope, &places))
		return -1;
	/* The line that loads a file is removed first, then the file. */
	for (size_t i = 0; i < places->count; i++) {
		const struct setting_place *place = &places->items[i];
		const char *marked = place->form == PLACE_SHARED ? place->path : place->loader;

		if (marked && undo_marked(result ? &later : err, run, scope, marked))
			result = -1;
	}
	for (size_t i = 0; i < places->count; i++)
		if (places->items[i].form != PLACE_SHARED &&
			undo_own(result ? &later : err, run, places->items[i].path))
			result = -1;
	jw_result_free(places);
	return result;
}

static int undo_scope(struct jw_error *err, struct applying *run)
{
	const enum jw_scope scope = run->request->scope;

	if (undo_scope_files(err, run, scope))
		return -1;
	return undo_variables(err, run, scope == JW_SCOPE_USER ? &for_user : &for_machine);
}

/* Undoes all scopes; the system's only if this account may write it. */
static int undo_everywhere(struct jw_error *err, struct applying *run)
{
	const bool administrator = jw_is_administrator();
	struct jw_error later = {0};
	char *home = NULL;
	int result = 0;

	/* A HOME that may not be entered holds nothing of jitwarm's. */
	if (!os_variables_kept() && !os_home_dir(NULL, &home)) {
		result = undo_scope_files(err, run, JW_SCOPE_SHELL);
		if (undo_scope_files(result ? &later : err, run, JW_SCOPE_USER))
			result = -1;
	}
	mem_free(home);
	if (administrator && !os_variables_kept() && undo_scope_files(err, run, JW_SCOPE_SYSTEM))
		result = -1;
	if (administrator && undo_variables(err, run, &for_machine))
		result = -1;
	if (undo_variables(err, run, &for_user))
		result = -1;
	return result;
}

/* Does the work, and adds the changes that were made before a failure to the message. */
static int run_and_report(struct jw_error *err, struct applying run,
						  int (*work)(struct jw_error *err, struct applying *run),
						  struct jw_tune_result **ret_result)
{
	static const struct jw_tune_request none;
	struct buf changed = BUF_MAX(sizeof err->message / 2);
	struct jw_error why = {0};
	int result;

	run.request = run.request ? run.request : &none;
	run.result = arena_open(sizeof *run.result);
	result = work(&why, &run);
	if (run.announce)
		os_variables_announce();
	if (!result) {
		*ret_result = run.result;
		return 0;
	}
	/* Changes made before a failure stay. */
	for (size_t i = 0; i < run.result->count && !run.dry_run; i++)
		if (strcmp(run.result->changes[i].what, "unchanged") != 0)
			buf_add(&changed, "%s%s", changed.size ? ", " : "", run.result->changes[i].where);
	if (changed.size)
		error_set(err, why.code, "%s; changed before: %s", why.message, buf_text(&changed));
	else
		error_copy(err, &why);
	buf_free(&changed);
	jw_result_free(run.result);
	return -1;
}

int jw_tune_apply(struct jw_error *err, const struct jw_tune_request *request,
				  struct jw_tune_result **ret_result)
{
	return run_and_report(err, (struct applying){.request = request}, apply_scope, ret_result);
}

int jw_tune_undo(struct jw_error *err, const struct jw_tune_request *request,
				 struct jw_tune_result **ret_result)
{
	return run_and_report(err, (struct applying){.request = request},
						  request ? undo_scope : undo_everywhere, ret_result);
}

int jw_tune_undo_find(struct jw_error *err, struct jw_tune_result **ret_result)
{
	return run_and_report(err, (struct applying){.dry_run = true}, undo_everywhere, ret_result);
}
