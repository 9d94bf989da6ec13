/* Other accounts of this machine.
 *
 * Threads: any number of threads may call these functions at the same time. */
#ifndef JITWARM_ACCOUNTS_H
#define JITWARM_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/error.h>

struct jw_account {
	char *name;            /* "alice", "LocalSystem" */
	char *home;            /* its home folder, absolute */
	char *id;              /* the SID on Windows, the number elsewhere */
	uint32_t owner, group; /* POSIX ids; 0 on Windows */
};

struct jw_accounts {
	struct jw_account *items;
	size_t count, capacity;
};

/* Lists the accounts of people with a folder on this machine. Linux: user ids from UID_MIN to
 * UID_MAX of /etc/login.defs, as far as getpwent(3) lists them (most directory services list none).
 * Windows: the profiles of local, domain and cloud accounts
 * (HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProfileList). The caller frees
 * the list with jw_accounts_free. */
int jw_accounts_people(struct jw_error *err, struct jw_accounts *ret_accounts);
void jw_accounts_free(struct jw_accounts *accounts);

/* Returns whether this process may write into other accounts' folders: it is root's, or on Windows
 * an administrator's and elevated. */
bool jw_is_administrator(void);

/* Returns a line that says why the live cache of this process is probably not the intended one:
 * under sudo it is root's; Windows' SYSTEM has a cache that no user's program reads. NULL if it is
 * the user's. The caller frees it with jw_text_free. */
int jw_account_doubt(struct jw_error *err, char **ret_line);

#endif
