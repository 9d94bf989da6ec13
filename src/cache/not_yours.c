#include "cache/not_yours.h"

#include <string.h>

#include <jitwarm/accounts.h>

#include "base/buf.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/path_calls.h"
#include "os/platform.h"
#include "os/shell.h"

void jw_not_yours_free(struct jw_not_yours *found)
{
	mem_free(found->what);
	mem_free(found->command);
	*found = (struct jw_not_yours){0};
}

/* Returns true, and how to get it back, if another account's file or folder in the cache keeps this
 * account out. What neither root nor this account made is not adopted: it can be compiled again. */
static bool note_not_yours(const char *dir, const char *path, struct jw_not_yours *ret_found)
{
	char *id = NULL, word[SHELL_WORD];
	struct os_stat stat;

	if (os_stat(NULL, path, &stat) || stat.owner == os_own_account() || !os_may_write(NULL, path))
		return false;
	(void)os_account_id(NULL, &id);
	if (stat.owner)
		*ret_found = (struct jw_not_yours){
			.what = mem_printf("%s: belongs to another account (number %u)", path, stat.owner),
			.command = mem_printf("sudo rm -r -- %s", shell_word(word, path)),
			.removes = true,
		};
	else
		*ret_found = (struct jw_not_yours){
			.what = mem_printf("%s: belongs to root", path),
			.command = mem_printf("sudo chown -R --from=root %s %s", id ? id : "USER",
								  shell_word(word, dir)),
		};
	mem_free(id);
	return true;
}

/* Returns whether the folder is one whose files root examines one by one. chown and chmod would
 * follow a symlink to what another account chooses; rm removes the symlink itself. */
static bool has_checked_files(const char *folder)
{
	const char *name = strrchr(folder, '/');

	return name &&
		   (!strcmp(name, "/keys") || !strcmp(name, "/trusted") || !strcmp(name, "/store")) &&
		   !path_is_link(folder);
}

/* Returns whether the file is one that another account may not have written. An index has no code,
 * and keys and packs are named where they are used: a secret key is not to be deleted lightly. */
static bool is_roots_file(const char *file)
{
	char *folder = os_dir_name(file);
	const bool is = strcmp(os_base_name(file), "index") != 0 && !has_checked_files(folder);

	mem_free(folder);
	return is;
}

static bool is_file(const char *path)
{
	struct os_stat stat;

	return !path_is_link(path) && !os_stat(NULL, path, &stat) && stat.kind == OS_REGULAR;
}

struct jw_not_yours cache_not_roots(const char *dir)
{
	enum { MAX_FOLDERS = 16 };
	struct jw_not_yours found = {0};
	struct os_stranger first;
	char text[OS_STRANGER_TEXT], word[SHELL_WORD], **folders = NULL;
	struct buf words = BUF_MAX(2 * SHELL_WORD);
	size_t count = 0;

	if (!dir || !os_find_strangers_below(dir, is_roots_file, &first, MAX_FOLDERS, &folders, &count))
		return found;
	found.what = mem_printf(is_file(first.part) ? "%s, and root does not read it"
												: "%s, and root changes nothing there",
							os_stranger_text(text, &first));
	shell_word(word, first.part);
	found.removes = !has_checked_files(first.part);
	if (!found.removes) {
		found.command = mem_printf(first.owner ? "chown root -- %s" : "chmod go-w -- %s", word);
	} else {
		/* A word that does not fit is left out: messages cut long lines off. After this line, the
		 * next one names the other folders. */
		for (size_t i = 0; i < count; i++)
			if (!has_checked_files(folders[i]))
				buf_add(&words, " %s", shell_word(word, folders[i]));
		/* An account that can change a folder chooses the machine code in it. */
		found.command = mem_printf("rm -r --%s", buf_text(&words));
	}
	buf_free(&words);
	for (size_t i = 0; i < count; i++)
		mem_free(folders[i]);
	mem_free(folders);
	return found;
}

/* A program that root ran once with this account's cache leaves an index, or folders, that no other
 * account may use. */
struct jw_not_yours cache_not_yours(const char *dir)
{
	static const char digits[] = "0123456789abcdef";
	struct os_stat stat;
	struct jw_not_yours found = {0};
	char *index;

	if (os_is_superuser())
		return cache_not_roots(dir);
	if (os_is_windows || os_stat(NULL, dir, &stat))
		return found;
	index = os_join(dir, "index");
	if (stat.owner == os_own_account() && !note_not_yours(dir, index, &found))
		for (const char *first = digits; *first && !found.what; first++) {
			char *top = mem_printf("%s/%c", dir, *first);

			if (!note_not_yours(dir, top, &found) && os_exists(top))
				for (const char *second = digits; *second && !found.what; second++) {
					char *below = mem_printf("%s/%c", top, *second);

					(void)note_not_yours(dir, below, &found);
					mem_free(below);
				}
			mem_free(top);
		}
	mem_free(index);
	return found;
}

int jw_account_doubt(struct jw_error *err, char **ret_line)
{
	char *caller = os_sudo_user();

	(void)err;
	*ret_line = NULL;
	if (caller)
		*ret_line = mem_printf(
			"under sudo, jitwarm warms root's cache, not the cache of %s: run jitwarm without sudo",
			caller);
	else if (os_is_superuser() && os_is_windows)
		*ret_line = mem_string("jitwarm is running as SYSTEM, whose cache no user's program reads: "
							   "run jitwarm in the user's own account");
	mem_free(caller);
	return 0;
}
