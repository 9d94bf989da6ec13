#include "os/posix/rights.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/posix/posix.h"

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

static bool hostile_names;

bool posix_names_are_hostile(void)
{
	return hostile_names;
}

void posix_names_become_hostile(void)
{
	hostile_names = true;
}

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
	items = count < 0 ? NULL : mem_array(err, (size_t)count + 1, sizeof *items);
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

/* The account's groups, its own first. */
static int list_groups(struct jw_error *err, const struct passwd *entry,
					   struct account_groups *groups)
{
	int count = 32, most = MOST_GROUPS;

	groups->group = entry->pw_gid;
	while (count <= most) {
		int wanted = count;
		gid_t *items = mem_array(err, (size_t)count, sizeof *items);

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

	if (posix_names_are_hostile())
		return 0;
	for (;; size *= 4) {
		struct passwd entry, *found = NULL;
		char *text = mem_alloc(err, size);
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
	return groups->owner == UNMAPPED
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
