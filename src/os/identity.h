/* The account of this process, and acting as another one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/accounts.h>

#include "base/buf.h"
#include "base/error.h"

struct jw_account;

/* Returns whether this process runs as root, or as Windows' own account (LocalSystem), which
 * services and tasks may use: no user has folders for its programs. An administrator of Windows
 * uses the same folders with and without elevation. */
bool os_is_superuser(void);
/* The number of this process's account; 0 on Windows. */
uint32_t os_own_account(void);
/* Returns the account that called sudo if we are root through it, else NULL. The caller frees it.
 */
char *os_sudo_user(void);
/* Finds our account's name for the system's own programs: a user name on POSIX, the SID
 * ("S-1-5-...") on Windows. The caller frees it. */
int os_account_id(struct jw_error *err, char **ret_id);

/* The first part of a path that another account could change, or make lead elsewhere: a folder, a
 * file or a link. os_check_private says which accounts count as the superuser. */
struct os_stranger {
	bool found;
	bool missing; /* if not found: the path ends in something that does not exist, which `part`
					 names */
	bool unknown; /* the part cannot be examined, so it counts as found */
	int reason;   /* why, if this process or the system has no descriptor left (errno); else 0 */
	bool link;    /* the path has a link that belongs to an account that counts as root */
	bool open;    /* the part lies in a folder for everyone, with the sticky bit */
	uint32_t owner, group; /* of the part; 0 if it is root's and others may write to it */
	char part[4096];
};
/* Makes accounts count as the superuser from now on: numbers, or "*" for all; NULL for none. Called
 * before other threads start. Does nothing on Windows. */
void os_trust_accounts(const char *list);
/* Returns whether the path has such a part, if this process is the superuser's. Always false for
 * other accounts, and on Windows. */
bool os_find_stranger(const char *path, struct os_stranger *ret_stranger);
/* The same for a file or folder that the superuser may make: a name that nobody has so far does not
 * count in a folder for everyone. For what is only read it counts, since the account whose file had
 * the name a moment ago can give it back. */
bool os_find_stranger_before(const char *path, struct os_stranger *ret_stranger);
/* Returns whether a typed word is a path, and cannot be another account's file with the name of
 * something else: it has a separator, or for the superuser no part of it is a stranger's. */
bool os_is_path_typed(const char *word);
/* Finds folders and symlinks in `folder`, or in one of its folders, that another account can
 * change, so that the superuser changes nothing there (os_follow_none_below), and those files that
 * `wanted` wants, which it does not read. Describes the first one, and adds the paths of at most
 * `most` to a list of mem_add_string. Returns false for other accounts, on Windows, and if another
 * account can change `folder` itself. */
bool os_find_strangers_below(const char *folder, bool (*wanted)(const char *file),
							 struct os_stranger *ret_first, size_t most, char ***paths,
							 size_t *count);
/* Returns whether the path, or anything below it, is something through which a program that follows
 * symlinks, or opens what it finds, would change what another account has chosen: a symlink,
 * whoever made it, a file with a second name, a device or pipe, what another account owns or may
 * write to, or a folder whose default access list lets others write to new files. Others may write
 * to a file that is itself at the path. Describes the first one. Follows no symlink. False if
 * nothing is at the path, for other accounts than the superuser, and on Windows. */
enum { OS_STRANGER_TEXT = 4200 };
bool os_find_planted(const char *path, char ret_text[OS_STRANGER_TEXT]);
/* Returns whether the folder has a default access list by which others may write to a file that the
 * superuser makes there, if a program does not take that permission away, as jitwarm does. False
 * for other accounts than the superuser, and on Windows. */
#define OS_OPENING_LIST                                                                            \
	"%s has a default access list by which other accounts may write to new files"
bool os_opens_new_files(const char *folder);
/* Returns whether the file, folder or link at the path is there and belongs to this account, the
 * superuser, or an account that counts as the superuser. A FUSE file system belongs to whoever
 * mounted it. Always true on Windows. */
bool os_is_ours(const char *path);
/* Returns whether the account may enter a folder, whose path has no symlink, and those above it: as
 * the superuser, their owner, or with everybody's permissions; access lists do not count. Always
 * true on Windows. */
bool os_may_enter(uint32_t account, const char *real);
/* Describes it: "/home/ann belongs to ann", "other accounts may write to /srv". The path has no
 * quotes (text_unquoted). Returns `text`. */
const char *os_stranger_text(char text[OS_STRANGER_TEXT], const struct os_stranger *stranger);

/* Runs `work` as another account. On POSIX, a child process first becomes that account for good,
 * and is ended after `most_s` seconds. The child has its own session without a terminal, an
 * environment of a few names, and no descriptor above 2 except `keeps` (-1: none). The caller gets
 * what `work` appends to the answer, at most its maximum. `slow` is called with the child's number
 * once it has taken ten seconds. On Windows, `work` runs in this process as the administrator. */
int os_work_as(struct jw_error *err, const struct jw_account *account, int keeps, unsigned most_s,
			   int (*work)(struct jw_error *err, void *context, struct buf *answer),
			   void (*slow)(void *context, long process), void *context, struct buf *answer);

/* The accounts of this machine (jitwarm/accounts.h lists them). */
enum { ACCOUNTS_MAX = 100000 };

/* Adds an account and takes ownership of the strings. If one of them is NULL, returns -1 and frees
 * the others. */
int accounts_add(struct jw_error *err, struct jw_accounts *accounts,
				 const struct jw_account *account);

/* Finds the default directory of an account's driver cache, which applies unless CUDA_CACHE_PATH is
 * set. On Windows it is below %APPDATA%, which may have been moved; that is known for our own
 * account and for accounts whose registry is loaded, and the usual folder is assumed for others.
 * The account may have chosen any path, so write there only with its rights. JW_ERR_UNSUPPORTED if
 * another account has chosen one on a server, or on no drive. */
int os_account_cache_dir(struct jw_error *err, const struct jw_account *account, char **ret_path);

/* Finds the account with this name, or, if `name` is NULL, with this number; its home may be
 * missing. JW_ERR_NOT_FOUND, and on Windows JW_ERR_UNSUPPORTED. */
int os_find_account(struct jw_error *err, const char *name, uint32_t owner,
					struct jw_account *ret_account);
void os_found_free(const struct jw_account *account);
