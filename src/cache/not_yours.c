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

/* Returns true, and a line that says how to get it back, if another account's file or folder in the
 * cache keeps this account out. What neither root nor this account made is not adopted: it can be
 * compiled again. */
static bool note_not_yours(const char *dir, const char *path, char **ret_line)
{
	char *id = NULL, word[SHELL_WORD];
	struct os_stat stat;

	if (os_stat(NULL, path, &stat) || stat.owner == os_own_account() || !os_may_write(NULL, path))
		return false;
	(void)os_account_id(NULL, &id);
	*ret_line = stat.owner ? mem_printf("%s: belongs to another account (number %u): “sudo rm -r "
										"-- %s”",
										path, stat.owner, shell_word(word, path))
						   : mem_printf("%s: belongs to root (%u): “sudo chown -R --from=root %s "
										"%s”",
										path, stat.owner, id ? id : "USER", shell_word(word, dir));
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

char *cache_not_roots(const char *dir)
{
	enum { MAX_FOLDERS = 16 };
	struct os_stranger first;
	char text[OS_STRANGER_TEXT], word[SHELL_WORD], **folders = NULL, *line;
	struct buf words = BUF_MAX(2 * SHELL_WORD);
	size_t count = 0;

	if (!dir || !os_find_strangers_below(dir, &first, MAX_FOLDERS, &folders, &count))
		return NULL;
	os_stranger_text(text, &first);
	shell_word(word, first.part);
	if (has_checked_files(first.part)) {
		line = mem_printf(first.owner ? "%s, and root changes nothing there: “chown root -- %s”"
									  : "%s, and root changes nothing there: “chmod go-w -- %s”",
						  text, word);
	} else {
		/* A word that does not fit is left out: messages cut long lines off. After this line, the
		 * next one names the other folders. */
		for (size_t i = 0; i < count; i++)
			if (!has_checked_files(folders[i]))
				buf_add(&words, " %s", shell_word(word, folders[i]));
		/* An account that can change a folder chooses the machine code in it. */
		line =
			mem_printf("%s, and root changes nothing there: “rm -r --%s”", text, buf_text(&words));
	}
	buf_free(&words);
	for (size_t i = 0; i < count; i++)
		mem_free(folders[i]);
	mem_free(folders);
	return line;
}

/* A program that root ran once with this account's cache leaves an index, or folders, that no other
 * account may use. */
char *cache_not_yours(const char *dir)
{
	static const char digits[] = "0123456789abcdef";
	struct os_stat stat;
	char *line = NULL, *index;

	if (os_is_superuser())
		return cache_not_roots(dir);
	if (os_is_windows || os_stat(NULL, dir, &stat))
		return NULL;
	index = os_join(dir, "index");
	if (stat.owner == os_own_account() && !note_not_yours(dir, index, &line))
		for (const char *first = digits; *first && !line; first++) {
			char *top = mem_printf("%s/%c", dir, *first);

			if (!note_not_yours(dir, top, &line) && os_exists(top))
				for (const char *second = digits; *second && !line; second++) {
					char *below = mem_printf("%s/%c", top, *second);

					(void)note_not_yours(dir, below, &line);
					mem_free(below);
				}
			mem_free(top);
		}
	mem_free(index);
	return line;
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
