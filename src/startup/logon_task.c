/* The logon task, managed with schtasks. */
#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"
#include "startup/parts.h"
#include "startup/unit_text.h"

const char startup_task_name[] = "jitwarm prime",
		   startup_task_of_everyone[] = "jitwarm prime (all users)";

static const char schtasks[] = "schtasks.exe";

/* The XML for schtasks is kept in the state directory, since not every system can read a task back.
 */
static int kept_path(struct jw_error *err, const char *task, char **ret_path)
{
	char *folder, *path;

	if (os_state_dir(err, &folder))
		return -1;
	path = os_join(err, folder,
				   strcmp(task, startup_task_of_everyone) ? "startup-task.xml"
														  : "startup-task-all.xml");
	mem_free(folder);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

/* The output is in the console's code page, or in UTF-16. Searches for ASCII and skips NULs. */
static bool output_has(const struct buf *output, const char *what)
{
	struct buf text = BUF_MAX(STARTUP_MOST_TEXT);
	bool has;

	for (size_t i = 0; i < output->size; i++)
		if (output->data[i] && buf_append(NULL, &text, output->data + i, 1))
			break;
	has = strstr(buf_text(&text), what) != NULL;
	buf_free(&text);
	return has;
}

int task_look(struct jw_error *err, struct jw_startup_item *item)
{
	const char *const *words = STARTUP_WORDS("/query", "/tn", item->where, "/xml");
	char *kept = NULL;
	struct buf output = {0};
	int result = -1;

	if (kept_path(err, item->where, &kept) ||
		startup_command(err, NULL, schtasks, words, &output, &item->there))
		goto done;
	/* Wine's schtasks prints nothing and ends with 0. The apostrophe in the mark may have become an
	 * entity, so only the end of the mark is compared. */
	item->there = item->there && output_has(&output, "<Task");
	item->ours = item->there && output_has(&output, "JIT cache (jitwarm startup)");
	if (!item->there && os_exists(kept))
		item->there = item->ours = true;
	result = 0;
done:
	buf_free(&output);
	mem_free(kept);
	return result;
}

int task_register(struct jw_error *err, struct jw_startup *startup)
{
	struct jw_startup_item *item = &startup->items[0];
	char *kept = NULL;
	struct buf wide = BUF_MAX(STARTUP_MOST_TEXT);
	bool good;
	int result = -1;

	if (kept_path(err, item->where, &kept) || startup_utf16(err, item->text, &wide) ||
		os_make_parent(err, kept, 0700) || os_write_atomic(err, kept, wide.data, wide.size))
		goto done;
	result = startup_command(err, startup, schtasks,
							 STARTUP_WORDS("/create", "/tn", item->where, "/xml", kept, "/f"), NULL,
							 &good);
	if (!result && !good) {
		(void)os_remove(NULL, kept);
		result = error_set(err, JW_ERR_IO, "the task could not be registered: %s", startup->failed);
	}
	item->there = item->ours = !result;
done:
	buf_free(&wide);
	mem_free(kept);
	return result;
}

int task_remove(struct jw_error *err, struct jw_startup *startup)
{
	const char *const *words = STARTUP_WORDS("/delete", "/tn", startup->items[0].where, "/f");
	char *kept = NULL;
	bool good;
	int result = -1;

	if (!kept_path(err, startup->items[0].where, &kept) &&
		!startup_command(err, startup, schtasks, words, NULL, &good)) {
		result =
			good ? os_remove(err, kept)
				 : error_set(err, JW_ERR_IO, "the task could not be removed: %s", startup->failed);
		startup->items[0].there = startup->items[0].ours = result != 0;
	}
	mem_free(kept);
	return result;
}
