#include "os/posix/rights.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/path_calls.h"
#include "os/posix/at.h"
#include "os/posix/posix.h"
#include "os/posix/walk.h"
#include "os/uv.h"

enum {
	UNMAPPED = 65534, /* the id that a user namespace shows for accounts that it lacks */
	MOST_GROUPS = 65536,
	MOST_ENTRY = 1 << 20,
	MOST_KEPT = 64, /* accounts */
};

struct account_groups {
	uid_t owner;
	gid_t group; /* group of files that the account makes */
	gid_t *items;
	int count;
};

/* An account's groups are read once and kept until the program ends, as in a login. */
static struct {
	pthread_mutex_t lock;
	struct account_groups items[MOST_KEPT];
	size_t count;
	gid_t *own; /* the superuser's */
	int own_count;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Rights that this thread has given up, to be restored. */
static _Thread_local struct {
	bool acts;
	int dumpable, parent_signal;
} self;

bool rights_are_roots(void)
{
	return !self.acts && geteuid() == 0;
}

/* glibc's setgroups() changes all threads. */
static int set_groups(int count, const gid_t *items)
{
#ifdef SYS_setgroups32
	return (int)syscall(SYS_setgroups32, count, items);
#else
	return (int)syscall(SYS_setgroups, count, items);
#endif
}

static int keep_own(struct jw_error *err)
{
	int count = kept.own ? 0 : getgroups(0, NULL);
	gid_t *items;

	if (kept.own)
		return 0;
	items = count < 0 ? NULL : mem_array((size_t)count + 1, sizeof *items);
	if (!items)
		return -1;
	kept.own_count = getgroups(count, items);
	if (kept.own_count < 0) {
		mem_free(items);
		return posix_error(err, "this account's groups");
	}
	kept.own = items;
	return 0;
}

int rights_keep_groups(struct jw_error *err)
{
	int result;

	(void)pthread_mutex_lock(&kept.lock);
	result = keep_own(err);
	(void)pthread_mutex_unlock(&kept.lock);
	return result;
}

void rights_restore_groups(void)
{
	if (kept.own)
		(void)setgroups((size_t)kept.own_count, kept.own);
}

/* The account's groups, its own first. */
static int list_groups(struct jw_error *err, const struct passwd *entry,
					   struct account_groups *groups)
{
	int count = 32, most = MOST_GROUPS;

	groups->group = entry->pw_gid;
	while (count <= most) {
		int wanted = count;
		gid_t *items = mem_array((size_t)count, sizeof *items);

		if (!items)
			return -1;
		if (getgrouplist(entry->pw_name, entry->pw_gid, items, &wanted) >= 0) {
			groups->items = items;
			groups->count = wanted;
			return 0;
		}
		mem_free(items);
		count = wanted > count ? wanted : count * 2;
	}
	return error_set(err, JW_ERR_LIMIT, "%s: is in too many groups", entry->pw_name);
}

static int read_groups(struct jw_error *err, struct account_groups *groups)
{
	size_t size = 4096;

	for (;; size *= 4) {
		struct passwd entry, *found = NULL;
		char *text = mem_alloc(size);
		int reason, result = 0;

		if (!text)
			return -1;
		reason = getpwuid_r(groups->owner, &entry, text, size, &found);
		if (!reason && found)
			result = list_groups(err, &entry, groups);
		mem_free(text);
		if (reason != ERANGE || size >= MOST_ENTRY)
			return result;
	}
}

/* Copies without the lock: an item never changes. */
static int find_groups(struct jw_error *err, uid_t owner, gid_t group,
					   struct account_groups *ret_groups, bool *ret_mine)
{
	struct account_groups groups = {.owner = owner, .group = group};

	for (size_t i = 0; i < kept.count; i++)
		if (kept.items[i].owner == owner && (kept.items[i].items || kept.items[i].group == group)) {
			*ret_groups = kept.items[i];
			*ret_mine = false;
			return 0;
		}
	if (read_groups(err, &groups))
		return -1;
	*ret_mine = kept.count == MOST_KEPT;
	if (!*ret_mine)
		kept.items[kept.count++] = groups;
	*ret_groups = groups;
	return 0;
}

/* The kernel resets both at such a change. */
static void restore_process(void)
{
	(void)prctl(PR_SET_DUMPABLE, self.dumpable);
	if (self.parent_signal)
		(void)prctl(PR_SET_PDEATHSIG, self.parent_signal);
}

static void take_rights_back(void)
{
	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	(void)set_groups(kept.own_count, kept.own);
	restore_process();
}

/* Whether this user namespace lacks the account: then its files are shown as UNMAPPED's, and root
 * here has no power over them, links included. Elsewhere that number is a real account's (nobody).
 * Source: user_namespaces(7). */
static bool namespace_lacks(uid_t account)
{
	FILE *map = account == UNMAPPED ? fopen("/proc/self/uid_map", "re") : NULL;
	unsigned first, outside, count;
	bool lacks = map;
	char line[80];

	while (lacks && fgets(line, sizeof line, map))
		/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
		lacks = sscanf(line, "%u %u %u", &first, &outside, &count) == 3 &&
				(account < first || account - first >= count);
	if (map)
		(void)fclose(map);
	return lacks;
}

static int change(struct jw_error *err, const struct account_groups *groups)
{
	const gid_t none = (gid_t)-1;
	const bool set = !set_groups(groups->count ? groups->count : 1,
								 groups->count ? groups->items : &groups->group);

	if (set) {
		(void)setfsgid(groups->group);
		(void)setfsuid(groups->owner);
	}
	/* Neither call reports success. Source: setfsuid(2). */
	if (set && (uid_t)setfsuid((uid_t)-1) == groups->owner &&
		(gid_t)setfsgid(none) == groups->group)
		return 0;
	take_rights_back();
	return namespace_lacks(groups->owner)
			   ? error_set(err, JW_ERR_UNSUPPORTED, "this user namespace lacks the account")
			   : error_set(err, JW_ERR_IO,
						   "belongs to account %lu, whose rights this process may not take "
						   "(CAP_SETUID, CAP_SETGID): run jitwarm as that account",
						   (unsigned long)groups->owner);
}

int rights_take(struct jw_error *err, uid_t owner, gid_t group)
{
	struct account_groups groups;
	bool mine = false;
	int result;

	(void)pthread_mutex_lock(&kept.lock);
	result = keep_own(err) || find_groups(err, owner, group, &groups, &mine);
	(void)pthread_mutex_unlock(&kept.lock);
	if (result)
		return -1;
	self.dumpable = prctl(PR_GET_DUMPABLE);
	if (self.dumpable < 0 || self.dumpable > 1)
		self.dumpable = 0;
	if (prctl(PR_GET_PDEATHSIG, &self.parent_signal))
		self.parent_signal = 0;
	result = change(err, &groups);
	self.acts = !result;
	if (mine)
		mem_free(groups.items);
	return result;
}

void rights_return(void)
{
	int reason = errno;

	take_rights_back();
	self.acts = false;
	errno = reason;
}

enum { MOST_XATTR = 64 << 10 };
static const char access_list[] = "system.posix_acl_access";

/* Attributes that belong to the content (security.ima, capabilities) or to the kernel stay behind;
 * a new file gets its label from the system's policy. */
static bool is_copied(const char *name)
{
	return text_starts(name, "user.") || !strcmp(name, access_list);
}

static int copy_xattr(struct jw_error *err, int from, int to, const char *path, const char *name)
{
	char value[MOST_XATTR];
	const ssize_t size = fgetxattr(from, name, value, sizeof value);

	if (size < 0)
		return errno == ENODATA ? 0 : posix_error(err, path);
	return fsetxattr(to, name, value, (size_t)size, 0) ? posix_error(err, path) : 0;
}

static int copy_xattrs(struct jw_error *err, int from, int to, const char *path)
{
	char *names = mem_alloc(MOST_XATTR);
	const ssize_t size = flistxattr(from, names, MOST_XATTR - 1);
	int result = 0;

	if (size < 0 && errno != ENOTSUP)
		result = posix_error(err, path);
	for (ssize_t at = 0; !result && at < size; at += (ssize_t)strlen(names + at) + 1)
		if (is_copied(names + at))
			result = copy_xattr(err, from, to, path, names + at);
	mem_free(names);
	return result;
}

/* A new file has the default list of its folder, which the original may lack. */
static int remove_access_list(struct jw_error *err, int to, const char *path)
{
	return fremovexattr(to, access_list) && errno != ENODATA && errno != ENOTSUP
			   ? posix_error(err, path)
			   : 0;
}

/* The mode comes last: giving a file away clears its set-user-id bits. */
static int copy_all(struct jw_error *err, int from, int to, const char *path)
{
	struct stat old, new;

	if (fstat(from, &old) || fstat(to, &new))
		return posix_error(err, path);
	if ((old.st_uid != new.st_uid || old.st_gid != new.st_gid) &&
		fchown(to, old.st_uid, old.st_gid))
		return posix_error(err, path);
	if (remove_access_list(err, to, path) || copy_xattrs(err, from, to, path))
		return -1;
	return fchmod(to, old.st_mode & 07777) ? posix_error(err, path) : 0;
}

/* To an open file at `path`, whose folder decides whose rights this thread has. */
static int copy_rights(struct jw_error *err, const char *from, int to, const char *path)
{
	const int source = path_open(err, from, UV_FS_O_RDONLY | UV_FS_O_NONBLOCK);
	struct at at;
	int result = -1;

	if (source >= 0 && !at_enter(err, path, AT_LAST_KEPT, &at)) {
		result = copy_all(err, source, to, from);
		at_leave(&at);
	}
	if (source >= 0)
		(void)close(source);
	return result;
}

int os_copy_rights(struct jw_error *err, const char *from, const char *to)
{
	const int target = path_open(err, to, UV_FS_O_RDWR);
	const int result = target < 0 ? -1 : copy_rights(err, from, target, to);

	if (target >= 0)
		(void)close(target);
	return result;
}

enum { MOST_STATUS = 64 << 10 };

/* umask() can be read only by changing it, which would affect files that other threads make. */
static mode_t creation_mask(void)
{
	struct buf text = {0};
	const char *line = os_read_file(NULL, "/proc/self/status", MOST_STATUS, &text)
						   ? NULL
						   : strstr(buf_text(&text), "\nUmask:");
	mode_t mask = line ? (mode_t)strtoul(line + strlen("\nUmask:"), NULL, 8) : umask(0);

	if (!line)
		(void)umask(mask);
	buf_free(&text);
	return mask;
}

/* Another account's file keeps its owner if this thread may do that; otherwise the file is not
 * replaced. The path decides whose rights apply: in another account's directory the superuser gives
 * no files away. */
int fd_set_rights(struct jw_error *err, int fd, const char *path, uint32_t mode, bool keep)
{
	struct at at;
	int result;

	if (keep)
		return copy_rights(err, path, fd, path);
	if (mode == RIGHTS_OF_NEW)
		mode = 0666 & ~creation_mask();
	if (at_enter(err, path, AT_LAST_KEPT, &at))
		return -1;
	result = fchmod(fd, (mode_t)mode) ? posix_error(err, path) : 0;
	at_leave(&at);
	return result;
}

enum { MOST_WAY_LINKS = 40, OWNER_TEXT = 64 };

struct way {
	uint32_t owner;
	bool lasting;
	int links;
	struct os_way *whose; /* what is asked; NULL: whether the way is safe */
	bool shared, sticky;  /* the last folder: others may write to it */
};

static const char *owner_name(char *text, uid_t owner)
{
	char names[4096];
	struct passwd room, *found = NULL;

	if (!getpwuid_r(owner, &room, names, sizeof names, &found) && found)
		(void)snprintf(text, OWNER_TEXT, "%s", found->pw_name);
	else
		(void)text_format(text, OWNER_TEXT, "account %lu", (unsigned long)owner);
	return text;
}

static int check_owner(struct jw_error *err, const struct way *way, const char *path,
					   const struct stat *stat)
{
	char name[OWNER_TEXT];

	return !stat->st_uid || stat->st_uid == way->owner
			   ? 0
			   : error_set(err, JW_ERR_IO, "%s belongs to %s", path,
						   owner_name(name, stat->st_uid));
}

static int check_one(struct jw_error *err, const struct way *way, const char *path,
					 const struct stat *stat)
{
	if (check_owner(err, way, path, stat))
		return -1;
	if (S_ISLNK(stat->st_mode) || !walk_is_shared(path, stat) ||
		(S_ISDIR(stat->st_mode) && (stat->st_mode & S_ISVTX) && !way->lasting))
		return 0;
	return error_set(err, JW_ERR_IO, "other accounts may write to %s", path);
}

enum { ENDS = 1 }; /* of a walk: it has its answer */

static int ask_whose(struct jw_error *err, struct way *way, const char *path,
					 const struct stat *stat)
{
	if (stat->st_uid && !namespace_lacks(stat->st_uid)) {
		*way->whose = (struct os_way){.owner = stat->st_uid, .group = stat->st_gid};
		return ENDS;
	}
	/* In a folder that others may write to a second name may be theirs, and without the sticky bit
	 * any: they may have moved the link there. */
	if (S_ISLNK(stat->st_mode) && way->shared && (!way->sticky || stat->st_nlink > 1))
		return error_set(err, JW_ERR_IO,
						 "%s: is a link that another account may have put there: not followed",
						 path);
	if (S_ISDIR(stat->st_mode)) {
		way->shared = walk_is_shared(path, stat);
		way->sticky = stat->st_mode & S_ISVTX;
	}
	return 0;
}

static int check_way(struct jw_error *err, struct way *way, const char *path, size_t safe);

/* Where a link leads; its folder is safe. */
static int check_target(struct jw_error *err, struct way *way, const char *link)
{
	char *target = mem_alloc(PATH_MAX), *folder = os_dir_name(link), *path = NULL;
	const bool counts = folder && ++way->links <= MOST_WAY_LINKS;
	int result = -1;

	errno = ELOOP;
	if (folder && (!counts || readlink(link, target, PATH_MAX - 1) < 0))
		posix_error(err, link);
	else if (counts)
		path = target[0] == '/' ? mem_string(target) : os_join(folder, target);
	if (path)
		result = check_way(err, way, path, target[0] == '/' ? 0 : strlen(folder));
	mem_free(path);
	mem_free(folder);
	mem_free(target);
	return result;
}

/* What lies behind the first `safe` bytes of the path, one after the other: all that is looked at
 * lies in folders that were found safe. */
static int check_way(struct jw_error *err, struct way *way, const char *path, size_t safe)
{
	int result = 0;

	for (size_t length = safe; !result && path[length];) {
		struct stat stat;
		char *part;

		length += strspn(path + length, "/");
		length += strcspn(path + length, "/");
		part = mem_string_n(path, length);
		if (!part)
			return -1;
		/* What is missing, or cannot be reached, is nobody's. */
		if (lstat(part, &stat))
			result = way->whose ? ENDS : posix_error(err, part);
		else
			result =
				way->whose ? ask_whose(err, way, part, &stat) : check_one(err, way, part, &stat);
		if (!result && S_ISLNK(stat.st_mode))
			result = check_target(err, way, part);
		mem_free(part);
	}
	return result;
}

static int walk_whole(struct jw_error *err, struct way *way, const char *path)
{
	char directory[PATH_MAX], *whole;
	int result;

	if (path[0] != '/' && !getcwd(directory, sizeof directory))
		return posix_error(err, path);
	whole = path[0] == '/' ? mem_string(path) : os_join(directory, path);
	result = whole ? check_way(err, way, "/", 0) : -1;
	if (!result)
		result = check_way(err, way, whole, 0);
	mem_free(whole);
	return result;
}

int os_check_private(struct jw_error *err, const char *path, uint32_t owner, bool lasting)
{
	struct way way = {.owner = owner, .lasting = lasting};

	return walk_whole(err, &way, path);
}

int os_find_way(struct jw_error *err, const char *path, struct os_way *ret_way)
{
	struct way way = {.whose = ret_way};

	*ret_way = (struct os_way){0};
	if (geteuid() == 0 && walk_whole(err, &way, path) < 0)
		return -1;
	ret_way->shared = way.shared;
	return 0;
}
