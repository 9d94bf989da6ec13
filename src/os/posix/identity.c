#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uv.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/posix/posix.h"

bool os_is_superuser(void)
{
	return geteuid() == 0;
}

uint32_t os_own_account(void)
{
	return geteuid();
}

char *os_sudo_user(void)
{
	const char *name = getenv("SUDO_USER");
	struct os_account account = {0};
	char *found = NULL;

	if (os_is_superuser() && name && strcmp(name, "root") != 0 &&
		!os_find_account(NULL, name, 0, &account))
		found = mem_string(account.name);
	os_account_free(&account);
	return found;
}

int os_account_id(struct jw_error *err, char **ret_id)
{
	uv_passwd_t account;
	bool named = !uv_os_get_passwd(&account);
	char *id = named ? mem_string(account.username) : mem_printf("%lu", (unsigned long)geteuid());

	(void)err;
	if (named)
		uv_os_free_passwd(&account);
	*ret_id = id;
	return 0;
}

bool jw_is_administrator(void)
{
	return geteuid() == 0;
}

/* Opens the list with which tests replace the system's. */
static FILE *list_of_test(void)
{
	char *path;
	FILE *file;

	if (!getenv("JITWARM_SYSTEM_ROOT"))
		return NULL;
	path = posix_system_path("/etc/passwd");
	file = fopen(path, "re");
	mem_free(path);
	return file;
}

int os_find_account(struct jw_error *err, const char *name, uint32_t owner,
					struct os_account *ret_account)
{
	const struct passwd *entry = NULL;
	FILE *file = list_of_test();

	posix_lists_begin();
	while (file && (entry = fgetpwent(file)) &&
		   (name ? strcmp(entry->pw_name, name) != 0 : entry->pw_uid != owner))
		;
	if (!file)
		entry = name ? getpwnam(name) : getpwuid(owner);
	if (entry) {
		*ret_account = (struct os_account){.name = mem_string(entry->pw_name),
										   .home = mem_string(entry->pw_dir),
										   .owner = entry->pw_uid};
	} else if (name) {
		error_set(err, JW_ERR_NOT_FOUND, "%.100s: no such account", name);
	} else {
		error_set(err, JW_ERR_NOT_FOUND, "account %u has no name on this machine", owner);
	}
	if (file)
		(void)fclose(file);
	posix_lists_end();
	return entry ? 0 : -1;
}

/* umask() can be read only by changing it, which would affect files that other threads make. A
 * kernel before 4.7, or a system without /proc, is asked so once: at the command's start. */
uint32_t os_creation_mask(void)
{
	enum { MAX_STATUS = 64 << 10 };
	static _Atomic int64_t asked = -1;
	struct buf text = {0};
	const char *line = os_read_file(NULL, "/proc/self/status", MAX_STATUS, &text)
						   ? NULL
						   : strstr(buf_text(&text), "\nUmask:");
	uint32_t mask = line ? (uint32_t)strtoul(line + strlen("\nUmask:"), NULL, 8) : 0;

	if (!line && asked < 0) {
		const mode_t old = umask(0);

		(void)umask(old);
		asked = old;
	}
	buf_free(&text);
	return (line ? mask : (uint32_t)asked) | (os_is_superuser() ? 022 : 0);
}
