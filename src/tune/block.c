#include "tune/block.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "tune/tune_job.h"

static const char begin_mark[] = ">>> jitwarm tune", end_mark[] = "<<< jitwarm tune <<<";

static bool range_starts(const char *at, const char *end, const char *start)
{
	size_t length = strlen(start);

	return (size_t)(end - at) >= length && !memcmp(at, start, length);
}

static const char *line_end(const char *at, const char *end)
{
	const char *feed = memchr(at, '\n', (size_t)(end - at));

	return feed ? feed + 1 : end;
}

/* After the mark: " >>>", " (joined) >>>", " (made 2) >>>". Any other line is not ours. */
static bool read_flags(const char *at, const char *end, struct block_found *found)
{
	char rest[48] = {0};
	size_t size = (size_t)(end - at);
	unsigned made = 0;
	int used = -1;

	while (size && (at[size - 1] == '\n' || at[size - 1] == '\r'))
		size--;
	if (size >= sizeof rest || memchr(at, '\0', size))
		return false;
	memcpy(rest, at, size);
	found->joined = !strcmp(rest, " (joined) >>>");
	found->made = 0;
	if (found->joined || !strcmp(rest, " >>>"))
		return true;
	/* NOLINTNEXTLINE(cert-err34-c): two digits cannot overflow */
	if (sscanf(rest, " (made %2u) >>>%n", &made, &used) != 1 || used != (int)size)
		return false;
	found->made = made;
	return made > 0 && made <= BLOCK_MOST_MADE;
}

/* Whether a line is one of ours: comment sign and mark. Returns the text after the mark, or NULL */
static const char *behind_mark(const char *at, const char *end, const char *comment,
							   const char *mark)
{
	if (!range_starts(at, end, comment))
		return NULL;
	at += strlen(comment);
	return range_starts(at, end, mark) ? at + strlen(mark) : NULL;
}

int block_find(struct jw_error *err, const char *comment, const char *text, size_t size,
			   bool *ret_there, struct block_found *ret_found)
{
	const char *end = text + size, *next;
	struct block_found found = {0};
	bool inside = false;

	for (const char *at = text; at < end; at = next) {
		const char *rest = behind_mark(at, end, comment, begin_mark);

		next = line_end(at, end);
		if (!inside && rest && read_flags(rest, next, &found)) {
			inside = true;
			found.start = (size_t)(at - text);
		} else if (inside && behind_mark(at, end, comment, end_mark)) {
			found.end = (size_t)(next - text);
			*ret_found = found;
			*ret_there = true;
			return 0;
		}
	}
	if (inside)
		return error_set(err, JW_ERR_FORMAT,
						 "the block that begins with “%s%s” has lost its last line; please repair "
						 "it by hand",
						 comment, begin_mark);
	*ret_there = false;
	return 0;
}

static int append_block(struct jw_error *err, const char *comment, const char *body,
						const struct block_found *how, struct buf *text)
{
	char flags[32] = "";

	if (how->joined)
		(void)snprintf(flags, sizeof flags, " (joined)");
	else if (how->made)
		(void)snprintf(flags, sizeof flags, " (made %u)", how->made);
	return buf_printf(err, text, "%s%s%s >>>\n%s%s%s\n", comment, begin_mark, flags, body, comment,
					  end_mark);
}

int block_put(struct jw_error *err, const char *comment, const char *text, size_t size,
			  const char *body, unsigned made, struct buf *ret_text)
{
	struct buf result = BUF_MAX(BLOCK_MOST_FILE);
	struct block_found found = {0};
	bool there;

	if (block_find(err, comment, text, size, &there, &found))
		return -1;
	if (!there)
		found = (struct block_found){.start = size,
									 .end = size,
									 .joined = size && text[size - 1] != '\n',
									 .made = size ? 0 : made};
	if (buf_append(err, &result, text, found.start) ||
		(!there && found.joined && buf_append(err, &result, "\n", 1)) ||
		append_block(err, comment, body, &found, &result) ||
		buf_append(err, &result, text + found.end, size - found.end)) {
		buf_free(&result);
		return -1;
	}
	*ret_text = result;
	return 0;
}

int block_take(struct jw_error *err, const char *comment, const char *text, size_t size,
			   struct buf *ret_text, bool *ret_there, struct block_found *ret_found)
{
	struct buf result = BUF_MAX(BLOCK_MOST_FILE);
	struct block_found found = {0};
	size_t before;
	bool there;

	if (block_find(err, comment, text, size, &there, &found))
		return -1;
	before = there ? found.start : size;
	/* Removes our own line feed too, unless text was added after the block. */
	if (there && found.joined && found.end == size && before)
		before--;
	if (buf_append(err, &result, text, before) ||
		(there && buf_append(err, &result, text + found.end, size - found.end))) {
		buf_free(&result);
		return -1;
	}
	*ret_text = result;
	*ret_there = there;
	*ret_found = found;
	return 0;
}

/* Inserts our block into files of other programs, and removes it. */

int tune_job_read_file(struct jw_error *err, const char *path, struct buf *text)
{
	struct jw_error why = {0};

	if (!os_read_file(&why, path, BLOCK_MOST_FILE, text))
		return 0;
	if (why.code == JW_ERR_NOT_FOUND) {
		*text = BUF_MAX(BLOCK_MOST_FILE);
		return 0;
	}
	return error_copy(err, &why);
}

/* Counts the file and the folders above it that are missing. */
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

/* All accounts may read the system's files, only the superuser writes them, whatever the umask */
static int write_for_all(struct jw_error *err, const char *path, const struct buf *text)
{
	return os_make_shared_parent(err, path, 0755) ||
				   os_rewrite_mode(err, path, buf_text(text), text->size, 0644)
			   ? -1
			   : 0;
}

static int tune_job_write_file(struct jw_error *err, const struct tune_job *job, const char *path,
							   const struct buf *text)
{
	const bool system = job->request && (job->request->scope == JW_SCOPE_SYSTEM ||
										 job->request->scope == JW_SCOPE_UNIT);

	if (system ? !write_for_all(err, path, text)
			   : !os_make_parent(err, path, 0755) &&
					 !os_rewrite(err, path, buf_text(text), text->size))
		return 0;
	if (job->request && job->request->scope != JW_SCOPE_CONDA)
		return error_prefix(err, "nothing was changed there (%s)",
							job->request->scope == JW_SCOPE_SYSTEM ||
									job->request->scope == JW_SCOPE_UNIT
								? "the system's files need sudo"
								: "is it this account's own?");
	return -1;
}

/* Our block in a file (files.c). */
static int tune_job_apply_file(struct jw_error *err, struct tune_job *job,
							   const struct setting_place *place)
{
	struct buf before = {0}, after = {0}, body = BUF_MAX(BLOCK_MOST_FILE);
	unsigned made = missing_levels(place->path);
	int result = -1;

	if (place_lines(err, place->form, job->request->limit_bytes, job->request->path, &body) ||
		tune_job_read_file(err, place->path, &before))
		goto done;
	if (block_put(err, place_comment(place->form), buf_text(&before), before.size, buf_text(&body),
				  made, &after)) {
		error_prefix(err, "%s", place->path);
		goto done;
	}
	/* Recorded before it is written: a record without a block does no harm. */
	if (settings_record_add_file(err, &job->record, place->path) ||
		settings_record_write(err, job->state_dir, &job->record))
		goto done;
	if (before.size == after.size &&
		(!before.size || !memcmp(before.data, after.data, before.size)))
		result = tune_job_note(err, job, place->path, "unchanged");
	else if (!tune_job_write_file(err, job, place->path, &after))
		result = tune_job_note(err, job, place->path, "written");
done:
	buf_free(&before);
	buf_free(&after);
	buf_free(&body);
	return result;
}

/* Removes a file that we made, and the folders that we made for it, unless they hold more */
static int remove_made(struct jw_error *err, const char *path, unsigned made)
{
	char *at = mem_string(err, path);
	int result = at ? os_remove(err, at) : -1;

	/* The record of it goes next. */
	if (!result)
		os_sync_names(path);
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

static int tune_job_undo_file(struct jw_error *err, struct tune_job *job,
							  const struct setting_place *place)
{
	struct buf before = {0}, after = {0};
	struct block_found found;
	bool there;
	int result = -1;

	if (tune_job_read_file(err, place->path, &before))
		goto done;
	if (block_take(err, place_comment(place->form), buf_text(&before), before.size, &after, &there,
				   &found)) {
		error_prefix(err, "%s", place->path);
		goto done;
	}
	if (!there)
		result = 0;
	else if (found.made && !after.size)
		result = remove_made(err, place->path, found.made) ||
						 tune_job_note(err, job, place->path, "removed")
					 ? -1
					 : 0;
	else if (!tune_job_write_file(err, job, place->path, &after))
		result = tune_job_note(err, job, place->path, "restored");
	if (!result)
		settings_record_drop_file(&job->record, place->path);
done:
	buf_free(&before);
	buf_free(&after);
	return result;
}

/* Writes settings and reverts them: where, and in which order. */

static int apply_scope(struct jw_error *err, struct tune_job *job)
{
	const struct jw_tune_request *request = job->request;
	struct setting_places places;
	int result = 0;

	if (request->path && !os_is_absolute(request->path))
		return error_set(err, JW_ERR_USAGE, "%s: a path for every program has to be absolute",
						 request->path);
	if (places_of(err, request, &places))
		return -1;
	for (size_t i = 0; !result && i < places.count; i++)
		result = tune_job_apply_file(err, job, &places.items[i]);
	places_free(&places);
	if (!result && os_variables_kept() && request->scope == JW_SCOPE_USER)
		result = tune_job_apply_variables(err, job, OS_VARIABLES_USER);
	if (!result && os_variables_kept() && request->scope == JW_SCOPE_SYSTEM)
		result = tune_job_apply_variables(err, job, OS_VARIABLES_MACHINE);
	return result;
}

static int undo_scope(struct jw_error *err, struct tune_job *job)
{
	enum jw_scope scope = job->request->scope;
	struct setting_places places;
	int result = 0;

	if (places_of(err, job->request, &places))
		return -1;
	/* In reverse: the file for which a folder was made is undone after those added to it */
	for (size_t i = places.count; !result && i > 0; i--)
		result = tune_job_undo_file(err, job, &places.items[i - 1]);
	places_free(&places);
	if (!result && os_variables_kept())
		result =
			tune_job_undo_variables(err, job, scope == JW_SCOPE_USER, scope == JW_SCOPE_SYSTEM);
	return result;
}

/* A change that cannot be undone stays on record, and the others are undone. */
static int undo_record(struct jw_error *err, struct tune_job *job)
{
	int result = 0;

	for (size_t i = job->record.file_count; i > 0; i--) {
		struct setting_place place = {.path = mem_string(err, job->record.files[i - 1])};

		if (!place.path)
			return -1;
		if (place_form_of(place.path, &place.form) &&
			(tune_job_check_recorded(err, job, place.path) || tune_job_undo_file(err, job, &place)))
			result = -1;
		mem_free(place.path);
	}
	/* All accounts may read the machine's record; an administrator may undo it. */
	return tune_job_undo_variables(err, job, true, jw_is_administrator()) || result ? -1 : 0;
}

int jw_tune_apply(struct jw_error *err, const struct jw_tune_request *request,
				  struct jw_tune_result **ret_result)
{
	struct tune_job job;
	int result = tune_job_open(err, request, &job);

	return tune_job_finish(err, &job, result ? result : apply_scope(err, &job), ret_result);
}

int jw_tune_undo(struct jw_error *err, const struct jw_tune_request *request,
				 struct jw_tune_result **ret_result)
{
	struct tune_job job;
	int result = tune_job_open(err, request, &job);

	if (!result)
		result = request ? undo_scope(err, &job) : undo_record(err, &job);
	return tune_job_finish(err, &job, result, ret_result);
}
