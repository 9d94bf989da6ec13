#include "setup/logon_task.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "setup/startup_command.h"
#include "setup/unit_text.h"

static const char task_of_everyone[] = "jitwarm prime (all users)";

static const char schtasks[] = "schtasks.exe";

char *task_name(const struct jw_startup_options *options, const char *account)
{
	return options->everyone ? mem_string(task_of_everyone)
							 : mem_printf("jitwarm prime %s", account);
}

/* Returns the path of the XML's copy in the state directory, which is kept since not every system
 * can read a task back. schtasks never reads this copy, because other programs of the account may
 * write to it. */
static int task_copy_path(struct jw_error *err, const char *task, char **ret_path)
{
	char *folder;

	if (os_state_dir(err, &folder))
		return -1;
	*ret_path = os_join(folder, strcmp(task, task_of_everyone) ? "startup-task.xml"
															   : "startup-task-all.xml");
	mem_free(folder);
	return 0;
}

/* Returns whether the task runs as this account, or as the group Users. The trigger's <UserId> may
 * have become a name; the principal's stays a SID. */
static bool is_our_task(const struct jw_startup_item *item, const char *xml)
{
	const char *start = strstr(xml, "<Principals>");
	const char *end = start ? strstr(start, "</Principals>") : NULL, *found;
	char *account = NULL, *principal;

	if (!end)
		return false;
	if (strcmp(item->where, task_of_everyone) != 0 && os_account_id(NULL, &account))
		return false;
	principal = mem_printf(">%s<", account ? account : "S-1-5-32-545");
	found = strstr(start, principal);
	mem_free(principal);
	mem_free(account);
	/* The apostrophe in the mark may have become an entity, so only the end of the mark is
	 * compared. */
	return found && found < end && strstr(xml, "JIT cache (jitwarm startup)");
}

int task_find(struct jw_error *err, struct jw_startup_item *item)
{
	const char *const *words = STARTUP_WORDS("/query", "/tn", item->where, "/xml");
	char *kept = NULL;
	struct buf output = {0}, xml = BUF_MAX(STARTUP_MAX_TEXT);
	bool good;
	int result = -1;

	if (task_copy_path(err, item->where, &kept) ||
		startup_command(err, NULL, schtasks, words, &output, &good))
		goto done;
	/* The output is in the console's code page, or in UTF-16; the searched text is ASCII. */
	for (size_t i = 0; i < output.size; i++)
		if (output.data[i] && buf_append(NULL, &xml, output.data + i, 1))
			break;
	item->there = good && strstr(buf_text(&xml), "<Task");
	item->ours = item->there && is_our_task(item, buf_text(&xml));
	/* Wine's schtasks prints nothing and ends with 0. If schtasks fails, it knows no such task:
	 * somebody has deleted it, even if we have a copy. */
	if (good && !output.size && os_exists(kept))
		item->there = item->ours = true;
	result = 0;
done:
	buf_free(&output);
	buf_free(&xml);
	mem_free(kept);
	return result;
}

int task_register(struct jw_error *err, struct jw_startup *startup)
{
	struct jw_startup_item *item = &startup->items[0];
	char *kept = NULL, *folder = NULL, *handed = NULL;
	struct buf wide = BUF_MAX(STARTUP_MAX_TEXT);
	bool good;
	int result = -1;

	/* Writes the file that schtasks reads; an administrator's is in a folder where only
	 * administrators write. */
	if (task_copy_path(err, item->where, &kept) || startup_utf16(err, item->text, &wide) ||
		os_make_temp_dir(err, "jitwarm-task", &folder))
		goto done;
	handed = os_join(folder, "task.xml");
	if (os_write_atomic(err, handed, wide.data, wide.size))
		goto done;
	result = startup_command(err, startup, schtasks,
							 STARTUP_WORDS("/create", "/tn", item->where, "/xml", handed, "/f"),
							 NULL, &good);
	if (!result && !good)
		result = error_set(err, JW_ERR_IO, "the task could not be registered: %s", startup->failed);
	if (!result &&
		(os_make_parent(err, kept, 0700) || os_write_atomic(err, kept, wide.data, wide.size)))
		result = -1;
	item->there = item->ours = !result;
done:
	if (folder)
		(void)os_remove_tree(NULL, folder);
	mem_free(handed);
	mem_free(folder);
	buf_free(&wide);
	mem_free(kept);
	return result;
}

int task_forget(struct jw_error *err, const struct jw_startup_item *item)
{
	char *kept;
	int result;

	if (task_copy_path(err, item->where, &kept))
		return -1;
	result = os_remove(err, kept);
	mem_free(kept);
	return result;
}

int task_remove(struct jw_error *err, struct jw_startup *startup)
{
	const char *const *words = STARTUP_WORDS("/delete", "/tn", startup->items[0].where, "/f");
	char *kept = NULL;
	bool good;
	int result = -1;

	if (!task_copy_path(err, startup->items[0].where, &kept) &&
		!startup_command(err, startup, schtasks, words, NULL, &good)) {
		result =
			good ? os_remove(err, kept)
				 : error_set(err, JW_ERR_IO, "the task could not be removed: %s", startup->failed);
		startup->items[0].there = startup->items[0].ours = result != 0;
	}
	mem_free(kept);
	return result;
}
