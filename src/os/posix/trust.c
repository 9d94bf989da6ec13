/* Finds out who could replace the file that a path leads to, by the owners and permissions of
 * everything in the path. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/posix/at.h"
#include "os/posix/posix.h"

enum { UNMAPPED = 65534 }; /* the id that a user namespace shows for accounts that it lacks */

/* Returns whether this user namespace lacks the id. Then the files of all ids that it lacks show
 * UNMAPPED, and no process here has such an account. In other namespaces that number is a real
 * account's (nobody). `map` is /proc/self/uid_map or gid_map. Source: user_namespaces(7). */
static bool namespace_lacks(const char *map, uint32_t id)
{
	FILE *file = id == UNMAPPED ? fopen(map, "re") : NULL;
	unsigned first, outside, count;
	bool lacks = file;
	char line[80];

	while (lacks && fgets(line, sizeof line, file))
		/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
		lacks = sscanf(line, "%u %u %u", &first, &outside, &count) == 3 &&
				(id < first || id - first >= count);
	if (file)
		(void)fclose(file);
	return lacks;
}

static char *trusted_accounts;

void os_trust_accounts(const char *list)
{
	mem_free(trusted_accounts);
	trusted_accounts = list ? mem_string(list) : NULL;
}

static bool trusts_all(void)
{
	return trusted_accounts && !strcmp(trusted_accounts, "*");
}

static bool is_trusted(uint32_t account)
{
	char *at = trusted_accounts;

	while (at && *(at += strcspn(at, "0123456789")))
		if (strtoull(at, &at, 10) == account)
			return true;
	return trusts_all();
}

static bool is_other(uint32_t account, uint32_t owner)
{
	return account && account != owner && !is_trusted(account) &&
		   !namespace_lacks("/proc/self/uid_map", account);
}

bool posix_is_stranger(uint32_t account)
{
	return is_other(account, 0);
}

static const uint32_t unknown_server = UINT32_MAX; /* no account: it means “unchanged” */

/* Returns whether the path, not a symlink's target, lies in a FUSE file system, or may do so.
 * Source: statfs(2). */
static bool may_be_fuse(const char *path)
{
	enum { FUSE = 0x65735546 };
	const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct statfs system;
	const bool may = fd < 0 || fstatfs(fd, &system) || system.f_type == FUSE;

	if (fd >= 0)
		(void)close(fd);
	return may;
}

/* Returns the account whose program answers for the files of a FUSE file system, whatever owners it
 * shows; 0 for another file system; `unknown_server` for a FUSE file system that is not listed,
 * since /proc is missing, or the mount is outside a chroot. Source: mount.fuse(8),
 * proc_pid_mountinfo(5). */
static uint32_t server_of(const char *path, dev_t device)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	unsigned major, minor;
	bool listed = false;
	uint32_t server = 0;
	size_t size = 0;
	char *line = NULL;

	while (file && !server && getline(&line, &size, file) > 0) {
		/* The type, the source and the options; their blanks are escaped. */
		const char *at = strstr(line, " - fuse");

		for (int field = 0; at && field < 3; field++)
			at = strchr(at + 1, ' ');
		at = at ? strstr(at, ",user_id=") : NULL;
		/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
		if (sscanf(line, "%*u %*u %u:%u", &major, &minor) != 2 || makedev(major, minor) != device)
			continue;
		listed = true;
		server = at ? (uint32_t)strtoul(at + strlen(",user_id="), NULL, 10) : 0;
	}
	free(line);
	if (file)
		(void)fclose(file);
	return listed || !may_be_fuse(path) ? server : unknown_server;
}

/* Returns whether the name is another account's, or nobody's so far. */
static bool is_name_of_other(const char *name, uint32_t owner)
{
	const struct passwd *account = getpwnam(name);

	return !account || is_other(account->pw_uid, owner);
}

static bool is_password(const char *field)
{
	return field && *field && strcmp(field, "x") != 0 && !strchr("!*", *field);
}

/* Returns whether other accounts are members by this entry of the list of groups, or may join: with
 * the group's password, as its administrators, or as members that only the shadow file lists.
 * Source: group(5), gshadow(5), newgrp(1). */
static bool entry_has_others(const struct group *entry, uint32_t owner)
{
	bool has = is_password(entry->gr_passwd);
	FILE *file = fopen("/etc/gshadow", "re");
	size_t size = 0;
	char *line = NULL;

	for (char *const *name = entry->gr_mem; !has && *name; name++)
		has = is_name_of_other(*name, owner);
	while (file && !has && getline(&line, &size, file) > 0) {
		char *rest = line;
		const char *name = strsep(&rest, ":");

		if (strcmp(name, entry->gr_name) != 0)
			continue;
		has = is_password(strsep(&rest, ":"));
		while (!has && (name = strsep(&rest, ":,\n")))
			has = *name && is_name_of_other(name, owner);
	}
	free(line);
	if (file)
		(void)fclose(file);
	return has;
}

/* Returns whether other accounts are in the group, or may join it. Members of root's group count as
 * the superuser. The members of a group are unknown if it has no name, or if only a look-up by its
 * number finds it: directories of accounts (LDAP) list neither groups nor the accounts whose
 * primary group it is. */
static bool group_has_others(gid_t group, uint32_t owner)
{
	const struct group *entry;
	const struct passwd *account;
	bool listed = false, has = false;

	if (!group || namespace_lacks("/proc/self/gid_map", group))
		return false;
	posix_lists_begin();
	setgrent(); /* a number may have several names, each with its own members */
	while (!has && (entry = getgrent()))
		if (entry->gr_gid == group) {
			listed = true;
			has = entry_has_others(entry, owner);
		}
	endgrent();
	has = has || !listed;
	setpwent();
	while (!has && (account = getpwent()))
		has = account->pw_gid == group && is_other(account->pw_uid, owner);
	endpwent();
	posix_lists_end();
	return has;
}

/* Returns whether other accounts may write to the file `path`, which `fd` has open as a place
 * (O_PATH) unless it is -1. With an access list the group's bits are the maximum that any of its
 * entries allows; a list that cannot be read counts as one. */
static bool is_shared(const char *path, int fd, const struct stat *stat, uint32_t owner)
{
	static const char list[] = "system.posix_acl_access";
	char opened[32];
	ssize_t size;

	if (!(stat->st_mode & (S_IWGRP | S_IWOTH)) || trusts_all())
		return false;
	if (stat->st_mode & S_IWOTH || group_has_others(stat->st_gid, owner))
		return true;
	(void)snprintf(opened, sizeof opened, "/proc/self/fd/%d", fd);
	size = fd < 0 ? -1 : getxattr(opened, list, NULL, 0);
	if (fd < 0 || (size < 0 && errno == ENOENT)) /* without /proc */
		size = getxattr(path, list, NULL, 0);
	return size < 0 ? errno != ENODATA && errno != ENOTSUP : size > 0;
}

enum { MAX_WAY_LINKS = 40 };

/* The question, and how far the walk has come. */
struct way {
	uint32_t owner; /* who counts as the superuser */
	bool lasting;
	int links;
	dev_t device;    /* of the part before, */
	uint32_t server; /* and who answers for its file system */
	struct os_stranger *stranger;
};

enum { ENDS = 1 }; /* the walk has its answer */

/* Returns why nothing can be opened, if that is for lack of descriptors; else 0. */
static int lack_of_descriptors(void)
{
	return errno == EMFILE || errno == ENFILE ? errno : 0;
}

static int check_one(struct way *way, const char *path, int fd, const struct stat *stat)
{
	struct os_stranger *stranger = way->stranger;

	errno = 0;
	if (stat->st_dev != way->device)
		way->server = server_of(path, stat->st_dev);
	way->device = stat->st_dev;
	if (is_other(way->server, way->owner))
		*stranger = (struct os_stranger){.found = true,
										 .owner = way->server == unknown_server ? 0 : way->server,
										 .unknown = way->server == unknown_server,
										 .reason = lack_of_descriptors()};
	else if (is_other(stat->st_uid, way->owner))
		*stranger =
			(struct os_stranger){.found = true, .owner = stat->st_uid, .group = stat->st_gid};
	else if (S_ISLNK(stat->st_mode)) {
		stranger->link = stranger->link || stat->st_uid;
		/* In a folder for everyone, others may have given root's link a second name. */
		stranger->found = stranger->open && stat->st_nlink > 1;
	} else if (S_ISDIR(stat->st_mode) || S_ISREG(stat->st_mode)) {
		stranger->open = is_shared(path, fd, stat, way->owner);
		stranger->found = stranger->open &&
						  (!S_ISDIR(stat->st_mode) || !(stat->st_mode & S_ISVTX) || way->lasting);
	}
	if (!stranger->found)
		return 0;
	text_copy(stranger->part, sizeof stranger->part, path);
	return ENDS;
}

bool posix_finds_stranger(const char *path, const struct stat *stat, bool lasting,
						  struct os_stranger *ret_stranger)
{
	struct way way = {.lasting = lasting, .device = stat->st_dev, .stranger = ret_stranger};

	*ret_stranger = (struct os_stranger){0};
	return check_one(&way, path, -1, stat) == ENDS;
}

static int check_way(struct jw_error *err, struct way *way, const char *path, size_t safe, int at);

/* Checks the target of the link that `fd` has open, whose folder, open as `at`, is safe. */
static int check_target(struct jw_error *err, struct way *way, const char *link, int fd, int at)
{
	char target[PATH_MAX], *folder, *path;
	ssize_t length = readlinkat(fd, "", target, sizeof target - 1);
	int result;

	if (length < 0 || ++way->links > MAX_WAY_LINKS) {
		errno = length < 0 ? errno : ELOOP;
		return posix_error(err, link);
	}
	target[length] = '\0';
	folder = os_dir_name(link);
	path = target[0] == '/' ? mem_string(target) : os_join(folder, target);
	result = check_way(err, way, path, target[0] == '/' ? 0 : strlen(folder), at);
	mem_free(path);
	mem_free(folder);
	return result;
}

/* Opens what has the name as a place, not a link's target. A folder that the system mounts when it
 * is entered is mounted. */
static int open_place(int at, const char *name)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, fd = openat(at, name, flags | O_DIRECTORY);

	return fd < 0 && errno == ENOTDIR ? openat(at, name, flags) : fd;
}

/* Checks the part `path`, which has the name in the folder that is open as `at`. *ret_next is the
 * part as a place if `goes_on`, a link's target then; else -1. */
static int check_part(struct jw_error *err, struct way *way, const char *path, int at,
					  const char *name, bool goes_on, int *ret_next)
{
	int fd = open_place(at, name), result = 0;
	bool seen;
	struct stat stat;

	seen = fd >= 0 && !fstat(fd, &stat);
	if (seen) {
		result = check_one(way, path, fd, &stat);
		if (!result && S_ISLNK(stat.st_mode)) {
			result = check_target(err, way, path, fd, at);
			(void)close(fd);
			/* Nobody else can exchange what was found safe. */
			fd = result || !goes_on ? -1 : openat(at, name, O_PATH | O_CLOEXEC);
			seen = result || !goes_on || fd >= 0;
		}
	}
	if (!seen) {
		way->stranger->missing = errno == ENOENT;
		/* Another account's FUSE file system shows itself to that account alone, and what lies
		 * below it can change. Nothing lies below a file. */
		way->stranger->unknown = errno != ENOENT && errno != ENOTDIR;
		way->stranger->reason = lack_of_descriptors();
		text_copy(way->stranger->part, sizeof way->stranger->part, path);
		result = posix_error(err, path);
	}
	if (fd >= 0 && (result || !goes_on)) {
		(void)close(fd);
		fd = -1;
	}
	*ret_next = fd;
	return result;
}

/* Checks the parts of the path after the first `safe` bytes, which lead to the folder that is open
 * as `at`, one after the other, so that every part examined lies in folders that were found safe.
 * 0: all parts, from “/” on. Each part is opened in the one before, so the work grows with their
 * number, not with its square. */
static int check_way(struct jw_error *err, struct way *way, const char *path, size_t safe, int at)
{
	char *part = mem_string(path);
	int result = 0, folder = at;

	for (size_t length = safe; !result && path[length];) {
		const size_t start = length ? length + strspn(path + length, "/") : 0;
		int next;

		length = length ? start + strcspn(path + start, "/") : 1;
		part[length] = '\0';
		result = check_part(err, way, part, folder, length > start ? part + start : ".",
							path[length] != '\0', &next);
		part[length] = path[length];
		if (folder != at)
			(void)close(folder);
		folder = next;
	}
	if (folder >= 0 && folder != at)
		(void)close(folder);
	mem_free(part);
	return result;
}

/* Returns ENDS if something was found. */
static int walk_whole(struct jw_error *err, struct way *way, const char *path)
{
	char directory[PATH_MAX], *whole;
	int result;

	*way->stranger = (struct os_stranger){0};
	if (path[0] != '/' && !getcwd(directory, sizeof directory)) {
		way->stranger->unknown = true;
		text_copy(way->stranger->part, sizeof way->stranger->part, path);
		return posix_error(err, path);
	}
	whole = path[0] == '/' ? mem_string(path) : os_join(directory, path);
	result = check_way(err, way, whole, 0, -1);
	mem_free(whole);
	return result;
}

int os_check_private(struct jw_error *err, const char *path, uint32_t owner, bool lasting)
{
	struct os_stranger stranger;
	struct way way = {.owner = owner, .lasting = lasting, .stranger = &stranger};
	char text[OS_STRANGER_TEXT];
	int result = walk_whole(err, &way, path);

	return result <= 0 ? result
					   : error_set(err, JW_ERR_IO, "%s", os_stranger_text(text, &stranger));
}

bool os_find_stranger(const char *path, struct os_stranger *ret_stranger)
{
	(void)os_find_stranger_before(path, ret_stranger);
	ret_stranger->found = ret_stranger->found || (ret_stranger->missing && ret_stranger->open);
	return ret_stranger->found;
}

bool os_find_stranger_before(const char *path, struct os_stranger *ret_stranger)
{
	struct way way = {.stranger = ret_stranger};

	*ret_stranger = (struct os_stranger){0};
	if (geteuid() == 0)
		(void)walk_whole(NULL, &way, path);
	ret_stranger->found = ret_stranger->found || ret_stranger->unknown;
	return ret_stranger->found;
}

/* The finds of os_find_strangers_below. */
struct below {
	bool (*wanted)(const char *file);
	struct os_stranger *first;
	char ***paths;
	size_t *count, most;
};

/* Whoever has mounted a FUSE file system there is known without an answer from it. */
static bool is_strange(const char *path, enum os_kind kind, struct os_stranger *ret_stranger)
{
	struct way way = {.lasting = true, .stranger = ret_stranger};
	struct stat stat;
	bool mounted;

	*ret_stranger = (struct os_stranger){0};
	if (kind == OS_MOUNT &&
		posix_stat_unasked(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, &stat, &mounted) &&
		check_one(&way, path, -1, &stat) == ENDS)
		return true;
	return !lstat(path, &stat) && posix_finds_stranger(path, &stat, true, ret_stranger);
}

static void find_below(const char *folder, unsigned levels, struct below *below)
{
	struct os_names names;

	if (!levels || os_list_unfollowed(NULL, folder, "", &names))
		return;
	for (size_t i = 0; i < names.count && *below->count < below->most; i++) {
		char *path = os_join(folder, names.items[i]);
		struct os_stranger stranger;

		/* A symlink is not followed, and may be a stranger's itself. */
		if (names.kinds[i] == OS_REGULAR && !below->wanted(path))
			;
		else if (!is_strange(path, names.kinds[i], &stranger)) {
			if (names.kinds[i] != OS_OTHER && names.kinds[i] != OS_REGULAR)
				find_below(path, levels - 1, below);
		} else {
			if (!*below->count)
				*below->first = stranger;
			mem_add_string(below->paths, below->count, below->most, path);
		}
		mem_free(path);
	}
	os_names_free(&names);
}

bool os_find_strangers_below(const char *folder, bool (*wanted)(const char *file),
							 struct os_stranger *ret_first, size_t most, char ***paths,
							 size_t *count)
{
	struct below below = {wanted, ret_first, paths, count, most};

	if (geteuid() != 0 || os_find_stranger(folder, ret_first) || ret_first->open)
		return false;
	find_below(folder, 2, &below);
	return *count > 0;
}

bool os_is_ours(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && !is_other(stat.st_uid, geteuid()) &&
		   !is_other(server_of(path, stat.st_dev), geteuid());
}

const char *os_stranger_text(char text[OS_STRANGER_TEXT], const struct os_stranger *stranger)
{
	struct jw_account account = {0};
	char part[sizeof stranger->part];

	(void)text_unquoted(part, sizeof part, stranger->part);
	if (stranger->unknown && stranger->reason)
		(void)text_format(text, OS_STRANGER_TEXT, "%s cannot be examined: %s", part,
						  strerror(stranger->reason));
	else if (stranger->unknown)
		(void)text_format(text, OS_STRANGER_TEXT, "%s cannot be examined", part);
	else if (!stranger->owner)
		(void)text_format(text, OS_STRANGER_TEXT, "other accounts may write to %s", part);
	else if (!os_find_account(NULL, NULL, stranger->owner, &account))
		(void)text_format(text, OS_STRANGER_TEXT, "%s belongs to %s", part, account.name);
	else
		(void)text_format(text, OS_STRANGER_TEXT, "%s belongs to account %lu", part,
						  (unsigned long)stranger->owner);
	os_found_free(&account);
	return text;
}

/* ---- what another account has left below a folder */

bool os_opens_new_files(const char *folder)
{
	/* A list is little-endian: its version (4 bytes), and entries of a kind (2 bytes), permissions
	 * (2) and an account or group (4). Source: linux/posix_acl_xattr.h. */
	enum { ENTRY = 8, OWN_GROUP = 0x04, MASK = 0x10, OTHERS = 0x20, WRITE = 2, MAX_LIST = 1 << 16 };
	uint8_t list[MAX_LIST], others = 0, group = 0;
	bool masked = false;
	struct stat stat;
	ssize_t size;

	if (geteuid() != 0 || trusts_all())
		return false;
	size = getxattr(folder, "system.posix_acl_default", list, sizeof list);
	if (size < 0)
		return errno != ENODATA && errno != ENOTSUP && errno != ENOENT && errno != ENOTDIR;
	for (ssize_t at = 4; at + ENTRY <= size; at += ENTRY) {
		if (list[at] == OTHERS)
			others = list[at + 2];
		/* A list with named accounts or groups has a maximum for all of them. */
		if (list[at] == MASK || (list[at] == OWN_GROUP && !masked))
			group = list[at + 2];
		masked = masked || list[at] == MASK;
	}
	return others & WRITE ||
		   (group & WRITE &&
			(masked || lstat(folder, &stat) ||
			 group_has_others(stat.st_mode & S_ISGID ? stat.st_gid : getegid(), 0)));
}

enum { MAX_PLANTED_LEVELS = 8 };

/* The walk, and where it is. */
struct planted {
	struct way *way;
	const char *folder;
	unsigned levels;
	char *text;
};

static int find_planted(const struct planted *at, const char *path);

static int find_planted_in(struct jw_error *err, void *context, const char *name,
						   const struct os_stat *stat)
{
	const struct planted *at = context;
	char *path = os_join(at->folder, name);
	const int result = find_planted(at, path);

	(void)err;
	(void)stat;
	mem_free(path);
	return result;
}

/* Returns ENDS if something was found, and describes it. */
static int find_planted(const struct planted *at, const char *path)
{
	struct planted below = {at->way, path, at->levels + 1, at->text};
	char shown[PATH_MAX];
	struct stat stat;
	int result = -1;

	(void)text_unquoted(shown, sizeof shown, path);
	if (lstat(path, &stat)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
	} else if (S_ISLNK(stat.st_mode)) {
		(void)text_format(at->text, OS_STRANGER_TEXT, "%s is a symlink", shown);
		return ENDS;
	} else if (!S_ISREG(stat.st_mode) && !S_ISDIR(stat.st_mode)) {
		(void)text_format(at->text, OS_STRANGER_TEXT, "%s is a device or a pipe", shown);
		return ENDS;
	} else if (S_ISREG(stat.st_mode) && stat.st_nlink > 1) {
		(void)text_format(at->text, OS_STRANGER_TEXT, "%s has a second name (a hard link)", shown);
		return ENDS;
	} else {
		/* Whoever may write to the index changes that file alone. */
		if (S_ISREG(stat.st_mode) && !at->levels)
			stat.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH);
		if (check_one(at->way, path, -1, &stat)) {
			(void)os_stranger_text(at->text, at->way->stranger);
			return ENDS;
		}
		if (S_ISREG(stat.st_mode))
			return 0;
		if (os_opens_new_files(path)) {
			(void)text_format(at->text, OS_STRANGER_TEXT, OS_OPENING_LIST, shown);
			return ENDS;
		}
		if (at->levels < MAX_PLANTED_LEVELS)
			result = os_each(NULL, path, find_planted_in, &below);
	}
	if (result < 0)
		(void)text_format(at->text, OS_STRANGER_TEXT, "%s cannot be examined", shown);
	return result ? ENDS : 0;
}

bool os_find_planted(const char *path, char ret_text[OS_STRANGER_TEXT])
{
	struct os_stranger stranger = {0};
	struct way way = {.lasting = true, .stranger = &stranger};
	const struct planted at = {.way = &way, .text = ret_text};

	return geteuid() == 0 && find_planted(&at, path) == ENDS;
}

/* ---- what another account would read with root's rights */

/* Returns the only account that can have made a symlink in the path; 0 if several can. */
static uint32_t maker_of(const char *path, const struct os_stranger *stranger)
{
	struct os_stranger second;
	struct way way = {.owner = stranger->owner, .stranger = &second};

	return stranger->owner && !walk_whole(NULL, &way, path) ? stranger->owner : 0;
}

/* Returns whether the file or folder is the account's, or gives everybody, also members of its
 * group, the permission (04 to read, 01 to enter a folder). Access lists do not count. */
static bool may_use(uint32_t account, const struct stat *stat, mode_t permission)
{
	const mode_t everybody = permission | permission << 3;

	return (account && stat->st_uid == account) || (stat->st_mode & everybody) == everybody;
}

/* Opens the end of the path, as a place (O_PATH), without following a symlink, also none of /proc.
 * With `reader`, this account must be able to enter each folder in the path. -1 if the path has a
 * symlink or cannot be walked. */
static int walk_directly(const char *path, const uint32_t *reader)
{
	char *copy = mem_string(path), *part = copy, *rest;
	int at = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat stat;

	for (part += strspn(part, "/"); at >= 0 && *part; part = rest) {
		int next;

		rest = part + strcspn(part, "/");
		if (*rest)
			*rest++ = '\0';
		rest += strspn(rest, "/");
		/* A symlink is opened itself, and nothing is found below it. */
		next = reader && (fstat(at, &stat) || !may_use(*reader, &stat, S_IXOTH))
				   ? -1
				   : openat(at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		(void)close(at);
		at = next;
	}
	mem_free(copy);
	return at;
}

/* Returns whether the path leads to the open file without a symlink: in another mount namespace, a
 * file can have the same path. */
static bool leads_to(const char *path, int fd, const uint32_t *reader)
{
	const int end = walk_directly(path, reader);
	struct stat opened, named;
	const bool leads = end >= 0 && !fstat(fd, &opened) && !fstat(end, &named) &&
					   opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;

	if (end >= 0)
		(void)close(end);
	return leads;
}

bool os_may_enter(uint32_t account, const char *real)
{
	const int folder = account ? walk_directly(real, &account) : -1;
	struct stat stat;
	const bool may =
		!account || (folder >= 0 && !fstat(folder, &stat) && may_use(account, &stat, S_IXOTH));

	if (folder >= 0)
		(void)close(folder);
	return may;
}

/* Returns whether the account may read the open file, whose real path this is. */
static bool may_read(uint32_t account, int fd, const char *real)
{
	struct stat stat;

	return !fstat(fd, &stat) && may_use(account, &stat, S_IROTH) && leads_to(real, fd, &account);
}

bool posix_read_for_other(struct jw_error *err, int fd, const char *path)
{
	char real[PATH_MAX] = "a file that /proc does not show", text[OS_STRANGER_TEXT];
	const uint32_t everybody = 0, *reader = *path == '/' ? &everybody : NULL;
	struct os_stranger *stranger;
	bool direct, known, refused;
	struct stat opened;

	if (geteuid() != 0)
		return false;
	/* Most files: everybody may enter the folders and read the file, and no link is in the path. Of
	 * a relative path, root has entered the folders before. */
	if (!fstat(fd, &opened) && may_use(everybody, &opened, S_IROTH) && leads_to(path, fd, reader))
		return false;
	errno = 0;
	/* The current folder may lie deeper than its path can tell, so the path is walked from there.
	 */
	direct = leads_to(path, fd, NULL);
	if (!direct && (errno == EMFILE || errno == ENFILE)) {
		posix_error(err, path);
		return true;
	}
	/* A cache, or jitwarm's state: nothing else of root's is read there, and at_open() asks whose
	 * it is. */
	if (direct && at_is_in_closed(path))
		return false;
	known = posix_real_path(fd, real);
	stranger = mem_alloc(sizeof *stranger);
	if (direct) {
		/* An account can give any name in its folder to a file or folder that root left there. */
		char *folder = os_dir_name(path);

		refused = os_find_stranger(folder, stranger) &&
				  !(known && may_read(maker_of(folder, stranger), fd, real));
		mem_free(folder);
	} else {
		/* The symlink of another account may be gone by now. */
		refused = (os_find_stranger(path, stranger) || stranger->open || stranger->missing) &&
				  !(known && may_read(maker_of(path, stranger), fd, real));
	}
	if (refused && direct)
		error_set(err, JW_ERR_IO,
				  "%.300s: another account may have put this file there, and may not read it "
				  "(%.300s): copy the file into a folder of root's",
				  path, os_stranger_text(text, stranger));
	else if (refused)
		error_set(err, JW_ERR_IO,
				  "%.300s: a symlink leads to %.300s, which another account may not read (%.300s): "
				  "name that path itself",
				  path, real, os_stranger_text(text, stranger));
	mem_free(stranger);
	return refused;
}
