#include "cache/not_yours.h"

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/platform.h"
#include "os/shell.h"

/* Returns true, and a line that says how to get it back, if another account's file or folder in the
 * cache keeps this account out. */
static bool note_not_yours(const char *dir, const char *path, char **ret_line)
{
	char *id = NULL, word[SHELL_WORD];
	struct os_stat stat;

	if (os_stat(NULL, path, &stat) || stat.owner == os_own_account() || !os_may_write(NULL, path))
		return false;
	(void)os_account_id(NULL, &id);
	*ret_line =
		mem_printf(stat.owner ? "%s: belongs to another account (number %u): “sudo chown -R "
								"%s %s”"
							  : "%s: belongs to root (%u): “sudo chown -R %s %s”",
				   path, stat.owner, id ? id : "USER", shell_word(word, dir));
	mem_free(id);
	return true;
}

char *cache_not_roots(const char *dir)
{
	struct os_stranger stranger;
	char text[OS_STRANGER_TEXT], word[SHELL_WORD];

	if (!dir || !os_find_stranger_below(dir, &stranger))
		return NULL;
	return mem_printf(stranger.owner ? "%s, and root changes nothing there: “chown -R root %s”"
									 : "%s, and root changes nothing there: “chmod go-w %s”",
					  os_stranger_text(text, &stranger),
					  shell_word(word, stranger.owner ? dir : stranger.part));
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
