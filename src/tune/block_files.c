/* Inserts our block into files of other programs, and removes it. */
#include <string.h>

#include "base/mem.h"
#include "tune/block.h"
#include "tune/tune_job.h"

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

/* All accounts may read the system's files, and only the superuser may write them, whatever the
 * umask. */
static int write_for_all(struct jw_error *err, const char *path, const struct buf *text)
{
	return os_make_shared_parent(err, path, 0755) ||
				   os_rewrite_mode(err, path, buf_text(text), text->size, 0644)
			   ? -1
			   : 0;
}

int tune_job_write_file(struct jw_error *err, const struct tune_job *job, const char *path,
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

int tune_job_apply_file(struct jw_error *err, struct tune_job *job,
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

/* Removes a file that we made, and the folders that we made for it, unless they contain other
 * things. */
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

int tune_job_undo_file(struct jw_error *err, struct tune_job *job,
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
