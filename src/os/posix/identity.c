#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <uv.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/console.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/posix/posix.h"
#include "os/process.h"

bool os_is_superuser(void)
{
	return geteuid() == 0;
}

int os_account(struct jw_error *err, struct os_account *ret_account)
{
	struct os_account account = {.owner = geteuid(), .group = getegid()};
	const char *name = getenv("SUDO_USER");
	struct passwd *user =
		os_is_superuser() && name && *name && strcmp(name, "root") != 0 ? getpwnam(name) : NULL;

	(void)err;
	if (user) {
		account.sudo_owner = user->pw_uid;
		account.sudo_user = mem_string(user->pw_name);
	}
	*ret_account = account;
	return 0;
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

/* All of it: ids, groups and capabilities, none of which comes back. Groups first: without root
 * they cannot be changed. setuid() alone leaves the inheritable capabilities, and with some
 * securebits all of them. Sources: credentials(7), capabilities(7). */
static int give_root_up(const char *name, uid_t owner, gid_t group)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
	uid_t ids[3];

	if ((name ? initgroups(name, group) : setgroups(1, &group)) || setresgid(group, group, group) ||
		setresuid(owner, owner, owner) || syscall(SYS_capset, &header, none))
		return -1;
	/* No way back. */
	errno = EPERM;
	return getresuid(&ids[0], &ids[1], &ids[2]) || ids[0] != owner || ids[1] != owner ||
				   ids[2] != owner || !setuid(0) || (group && !setgid(0))
			   ? -1
			   : 0;
}

int os_become_account(struct jw_error *err, const struct jw_account *account)
{
	static const char *const of_root[] = {"XDG_STATE_HOME",  "XDG_CACHE_HOME", "XDG_DATA_HOME",
										  "XDG_CONFIG_HOME", "ZDOTDIR",        "SHELL"};
	const struct passwd *user;

	if (give_root_up(account->name, account->owner, account->group))
		return posix_error(err, account->name);
	for (size_t i = 0; i < sizeof of_root / sizeof *of_root; i++)
		(void)unsetenv(of_root[i]);
	user = getpwnam(account->name);
	if (user && os_env_set(err, "SHELL", user->pw_shell))
		return -1;
	if (os_env_set(err, "HOME", account->home) || os_env_set(err, "USER", account->name) ||
		os_env_set(err, "LOGNAME", account->name))
		return -1;
	return 0;
}

int os_become_owner(struct jw_error *err, const struct os_way *way, bool keeps_home)
{
	struct jw_account account = {0};
	const bool named = !os_find_account(NULL, NULL, way->owner, &account);
	int result = 0;

	if (give_root_up(named ? account.name : NULL, way->owner, named ? account.group : way->group))
		result = error_set(err, JW_ERR_IO,
						   "belongs to account %lu, whose rights this process may not take "
						   "(CAP_SETUID, CAP_SETGID): run jitwarm as that account",
						   (unsigned long)way->owner);
	if (!result && !keeps_home)
		result = os_env_set(err, "HOME", named ? account.home : NULL);
	if (!result)
		result = os_env_set(err, "USER", named ? account.name : NULL) ||
						 os_env_set(err, "LOGNAME", named ? account.name : NULL)
					 ? -1
					 : 0;
	os_found_free(&account);
	return result;
}

struct said {
	int result;
	struct jw_error why;
};

/* Takes all that the child has written. */
static int hear(struct jw_error *err, int from, struct said *said, struct buf *answer)
{
	struct buf all = BUF_MAX(answer->most + sizeof *said);
	uint8_t bytes[4096];
	size_t got;
	int result;

	do {
		result = os_fd_read_some(err, from, bytes, sizeof bytes, &got) ||
						 (got && buf_append(err, &all, bytes, got))
					 ? -1
					 : 0;
	} while (!result && got);
	if (!result && all.size < sizeof *said)
		result = error_set(err, JW_ERR_IO, "the process that acted as that account ended early");
	if (!result) {
		memcpy(said, all.data, sizeof *said);
		said->why.message[sizeof said->why.message - 1] = '\0';
		result = buf_append(err, answer, all.data + sizeof *said, all.size - sizeof *said);
	}
	buf_free(&all);
	return result;
}

int os_work_as(struct jw_error *err, const struct jw_account *account,
			   int (*work)(struct jw_error *err, void *context, struct buf *answer), void *context,
			   struct buf *answer)
{
	struct said said = {.result = -1};
	int ends[2], result;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return posix_error(err, account->name);
	child = fork();
	if (!child) {
		if (!os_become_account(&said.why, account)) {
			os_die_with_parent();
			said.result = work(&said.why, context, answer);
		}
		if (!os_fd_write(NULL, ends[1], &said, sizeof said))
			(void)os_fd_write(NULL, ends[1], answer->data, answer->size);
		_exit(0);
	}
	(void)close(ends[1]);
	result = child < 0 ? posix_error(err, account->name) : hear(err, ends[0], &said, answer);
	(void)close(ends[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return result ? -1 : said.result ? error_copy(err, &said.why) : 0;
}

enum { MOST_LOGIN_DEFS = 1 << 16 };

bool jw_is_administrator(void)
{
	return geteuid() == 0;
}

static int add_account(struct jw_error *err, struct jw_accounts *accounts, const char *name,
					   const char *home, uid_t owner, gid_t group)
{
	const struct jw_account account = {.name = mem_string(name),
									   .home = mem_string(home),
									   .id = mem_printf("%lu", (unsigned long)owner),
									   .owner = owner,
									   .group = group};

	return accounts_add(err, accounts, &account);
}

struct id_range {
	unsigned long least, most;
};

/* "UID_MIN  1000". Source: login.defs(5). */
static void people_range(struct id_range *ret_range)
{
	static const char *const names[] = {"UID_MIN", "UID_MAX"};
	struct id_range range = {1000, 60000}; /* defaults of shadow if the file does not say */
	unsigned long *const values[] = {&range.least, &range.most};
	char *path = posix_system_path("/etc/login.defs");
	struct buf text = {0};

	(void)os_read_file(NULL, path, MOST_LOGIN_DEFS, &text);
	for (const char *line = buf_text(&text); *line; line += *line == '\n') {
		line += strspn(line, " \t");
		for (size_t i = 0; i < 2; i++) {
			const char *number;
			unsigned long value;
			char *end;

			if (!text_starts(line, names[i]))
				continue;
			number = line + strlen(names[i]);
			if (*number != ' ' && *number != '\t')
				continue;
			value = strtoul(number, &end, 10);
			if (end != number)
				*values[i] = value;
		}
		line += strcspn(line, "\n");
	}
	buf_free(&text);
	mem_free(path);
	*ret_range = range;
}

static bool is_folder_of_account(const char *path)
{
	struct stat native;

	return path[0] == '/' && path[1] && !stat(path, &native) && S_ISDIR(native.st_mode);
}

/* The test beds' list, which replaces the system's. */
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

static int read_accounts(struct jw_error *err, bool people, struct jw_accounts *accounts)
{
	const struct passwd *entry;
	struct id_range range;
	FILE *file = list_of_test();
	int result = 0;

	people_range(&range);
	if (!file)
		setpwent();
	while (!result && (entry = file ? fgetpwent(file) : getpwent())) {
		const bool person = entry->pw_uid >= range.least && entry->pw_uid <= range.most;

		if (entry->pw_uid && person == people && is_folder_of_account(entry->pw_dir))
			result = add_account(err, accounts, entry->pw_name, entry->pw_dir, entry->pw_uid,
								 entry->pw_gid);
	}
	if (file)
		(void)fclose(file);
	else
		endpwent();
	return result;
}

int jw_accounts_people(struct jw_error *err, struct jw_accounts *ret_accounts)
{
	struct jw_accounts accounts = {0};

	if (read_accounts(err, true, &accounts)) {
		jw_accounts_free(&accounts);
		return -1;
	}
	*ret_accounts = accounts;
	return 0;
}

static bool has_home(const struct jw_accounts *accounts, const char *home)
{
	for (size_t i = 0; i < accounts->count; i++)
		if (!strcmp(accounts->items[i].home, home))
			return true;
	return false;
}

/* StateDirectory= of a service; with DynamicUser= it lies in "private". */
static int add_state_folders(struct jw_error *err, const char *folder, struct jw_accounts *accounts)
{
	char *path = posix_system_path(folder);
	struct os_names names = {0};
	struct jw_error why = {0};
	int result;

	if (os_list(&why, path, &names))
		names = (struct os_names){0};
	result = 0;
	for (size_t i = 0; !result && i < names.count; i++) {
		char *home = os_join(path, names.items[i]);
		struct os_stat stat;

		if (!has_home(accounts, home) && !os_stat(NULL, home, &stat) && stat.kind == OS_DIRECTORY)
			result = add_account(err, accounts, names.items[i], home, stat.owner, stat.group);
		mem_free(home);
	}
	os_names_free(&names);
	mem_free(path);
	return result;
}

int jw_accounts_services(struct jw_error *err, struct jw_accounts *ret_accounts)
{
	struct jw_accounts accounts = {0};

	if (read_accounts(err, false, &accounts) || add_state_folders(err, "/var/lib", &accounts) ||
		add_state_folders(err, "/var/lib/private", &accounts)) {
		jw_accounts_free(&accounts);
		return -1;
	}
	*ret_accounts = accounts;
	return 0;
}

int os_account_cache_dir(struct jw_error *err, const struct jw_account *account, char **ret_path)
{
	return os_driver_cache_dir(err, account->home, ret_path);
}

int os_find_account(struct jw_error *err, const char *name, uint32_t owner,
					struct jw_account *ret_account)
{
	const struct passwd *entry = NULL;
	struct jw_accounts one = {0};
	FILE *file = list_of_test();
	int result;

	while (file && (entry = fgetpwent(file)) &&
		   (name ? strcmp(entry->pw_name, name) != 0 : entry->pw_uid != owner))
		;
	if (!file)
		entry = name ? getpwnam(name) : getpwuid(owner);
	if (entry)
		result =
			add_account(err, &one, entry->pw_name, entry->pw_dir, entry->pw_uid, entry->pw_gid);
	else if (name)
		result = error_set(err, JW_ERR_NOT_FOUND, "%.100s: no such account", name);
	else
		result = error_set(err, JW_ERR_NOT_FOUND, "account %u has no name here", owner);
	if (!result)
		*ret_account = one.items[0];
	mem_free(one.items);
	if (file)
		(void)fclose(file);
	return result;
}
