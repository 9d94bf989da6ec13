/* A model of the cache with a second actor. Each trial does one thing to a small cache (insert with
 * space or without, import, repair, removal). At one of its locks, unlocks, writes to the index,
 * removals and renames, another process acts once, or this one is killed. At each of these calls,
 * the promises of cache/insert.h for every instant must hold; at the end, the directory must be the
 * model's result of the same steps, with the other's step somewhere among them. Clock and lock are
 * the model's own: no trial depends on time, and none waits. */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cache/remove.h"
#include "inserting.h"

/* Entries 1 to 4 exist at first; 2 has another size then than the entry that replaces it, and 3 has
 * a file without a row before a repair. Entries 5 to 7 are added, 8 after a kill, 9 by the driver.
 * */
enum { SECOND = 2, FIRST_OWN = 5, AFTER_KILL = 8, DRIVERS = 9, NUMBERS = 10, MAX_ROWS = 16 };

enum operation { INSERT, INSERT_FULL, IMPORT, REPAIR, REMOVE, OPERATIONS };
enum act {
	NOTHING,
	ADDS,      /* a driver stores an entry */
	ADDS_LATE, /* the same, and it writes the index a while after it has released the lock */
	EVICTS,    /* a driver removes the oldest entry */
	WIPES,     /* a driver deletes all entries, and stores one */
	CLEARS,    /* a user removes the directory */
	EMPTIES,   /* a program removes the folders of entries */
	DELETES,   /* a user removes one entry's file */
	DELETES_OWN,
	TEARS, /* a program is killed while it writes the index, which is left truncated */
	HOLDS, /* a program keeps the lock for 30 ms */
	KILL,
	ACTS
};
static const char *const operations[] = {"insert", "insert when full", "import", "repair",
										 "remove"};
static const char *const acts[] = {"nothing", "adds",    "adds late",   "evicts", "wipes", "clears",
								   "empties", "deletes", "deletes own", "tears",  "holds", "kill"};

static struct trial {
	enum operation operation;
	enum act act;
	unsigned at;      /* the call */
	uint64_t late_ns; /* for ADDS_LATE */
	uint64_t step_ns; /* each call takes this long */
} trial;

static struct entries_entry entries[NUMBERS], former; /* `former`: entry 2 as it is at first */

struct row {
	unsigned n;
	uint64_t bytes;
};
/* A model of the cache: its rows in their order. */
struct model {
	struct row rows[MAX_ROWS];
	unsigned count;
	struct cache_live_counts counts;
};

static uint64_t limit_bytes, now_ns, held_since_ns, others_until_ns, late_at_ns;
static unsigned calls, acted_at, last_lock,
	removed; /* `removed`: entries removed by the other process, as bits */
static int index_fd;
static bool running, held, torn, was_sound;
static uint8_t late_image[4096];
static size_t late_size;

/* The directory, read and written by the plainest means. */

static const char *entry_path(unsigned n)
{
	static char path[4096];
	const uint64_t key = entries[n].key;

	(void)snprintf(path, sizeof path, "%s/%x/%x/%014llx", dir, (unsigned)(key >> 60),
				   (unsigned)(key >> 56 & 15), (unsigned long long)(key << 8 >> 8));
	return path;
}

static const char *index_path(void)
{
	static char path[4096];

	(void)snprintf(path, sizeof path, "%s/index", dir);
	return path;
}

static ssize_t read_whole(const char *path, uint8_t *bytes, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? -1 : read(fd, bytes, size);

	if (fd >= 0)
		(void)close(fd);
	return got;
}

/* Writes like a driver, which never shortens the index. */
static void write_over(const char *path, const void *bytes, size_t size)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	assert_int_equal(syscall(SYS_pwrite64, fd, bytes, size, 0), size);
	(void)close(fd);
}

static void put_file(const struct entries_entry *entry, unsigned n)
{
	const char *path = entry_path(n);
	char folders[4096];

	(void)snprintf(folders, sizeof folders, "%s", path);
	for (size_t at = strlen(dir); folders[at]; at++)
		if (folders[at] == '/') {
			folders[at] = '\0';
			(void)mkdir(folders, 0700);
			folders[at] = '/';
		}
	write_over(path, entry->bytes, entry->size);
}

static unsigned number_of(uint64_t key)
{
	for (unsigned n = 1; n < NUMBERS; n++)
		if (entries[n].key == key)
			return n;
	return 0;
}

/* Returns false if a driver would wipe the cache. */
static bool read_model(const uint8_t *bytes, ssize_t size, struct model *ret_model)
{
	*ret_model = (struct model){0};
	if (size <= 0)
		return true;
	if (size < 16 || load_u32(bytes) != 0x41 || load_u32(bytes + 4) > MAX_ROWS ||
		size < 16 + 16 * (ssize_t)load_u32(bytes + 4))
		return false;
	ret_model->count = load_u32(bytes + 4);
	for (unsigned i = 0; i < ret_model->count; i++)
		ret_model->rows[i] =
			(struct row){number_of(load_u64(bytes + 16 + 16 * i)), load_u64(bytes + 24 + 16 * i)};
	return true;
}

static uint64_t total_of(const struct model *model)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < model->count; i++)
		total += model->rows[i].bytes;
	return total;
}

static size_t image_of(const struct model *model, uint8_t *bytes)
{
	store_u32(bytes, 0x41);
	store_u32(bytes + 4, model->count);
	store_u64(bytes + 8, total_of(model));
	for (unsigned i = 0; i < model->count; i++) {
		store_u64(bytes + 16 + 16 * i, entries[model->rows[i].n].key);
		store_u64(bytes + 24 + 16 * i, model->rows[i].bytes);
	}
	return 16 + 16 * model->count;
}

/* The model's steps. */

static unsigned find_row(const struct model *model, unsigned n)
{
	unsigned i = 0;

	while (i < model->count && model->rows[i].n != n)
		i++;
	return i;
}

static void take_row(struct model *model, unsigned at)
{
	memmove(&model->rows[at], &model->rows[at + 1], (--model->count - at) * sizeof *model->rows);
}

/* Adds a row and evicts the oldest ones, except those in `spared`, numbers as bits. */
static void put_row(struct model *model, unsigned n, uint64_t bytes, unsigned spared)
{
	const unsigned old = find_row(model, n);

	if (old < model->count)
		take_row(model, old);
	for (unsigned i = 0; i < model->count && total_of(model) + bytes > limit_bytes;) {
		if (spared >> model->rows[i].n & 1) {
			i++;
			continue;
		}
		model->counts.evicted++;
		model->counts.evicted_bytes += model->rows[i].bytes;
		take_row(model, i);
	}
	model->rows[model->count++] = (struct row){n, bytes};
}

/* In a repair, this is the entry whose row has no file. */
static unsigned drivers_entry(void)
{
	return trial.operation == REPAIR ? 6 : DRIVERS;
}

/* Does the other process's action in the model; the directory follows. */
static void act_on(struct model *model)
{
	const unsigned deleted = find_row(model, trial.act == DELETES ? 1 : FIRST_OWN);
	const struct model before = *model;

	if (trial.act == WIPES || trial.act == CLEARS || trial.act == EMPTIES)
		model->count = 0;
	if (trial.act == WIPES || trial.act == ADDS || trial.act == ADDS_LATE)
		put_row(model, drivers_entry(), entries[drivers_entry()].row_bytes, 0);
	if (trial.act == EVICTS && model->count)
		take_row(model, 0);
	if ((trial.act == DELETES || trial.act == DELETES_OWN) && deleted < model->count)
		take_row(model, deleted);
	model->counts = before.counts;
}

static void do_act(void)
{
	struct model before, after;
	uint8_t bytes[4096] = {0};
	const bool sound = read_model(bytes, read_whole(index_path(), bytes, sizeof bytes), &before);

	acted_at = calls;
	if (trial.act == HOLDS)
		others_until_ns = now_ns + 30000000;
	if (trial.act == TEARS && !truncate(index_path(), 20))
		torn = true;
	if (trial.act == CLEARS)
		(void)os_remove_tree(NULL, dir);
	for (unsigned n = 1; n < NUMBERS; n++)
		if (trial.act == EMPTIES || (trial.act == DELETES && n == 1) ||
			(trial.act == DELETES_OWN && n == FIRST_OWN))
			removed |= (unsigned)!unlink(entry_path(n)) << n;
	for (unsigned i = 0; trial.act == EMPTIES && i < 16; i++) {
		(void)os_remove_tree(NULL, keep(mem_printf("%s/%x", dir, i)));
	}
	if ((trial.act != ADDS && trial.act != ADDS_LATE && trial.act != EVICTS &&
		 trial.act != WIPES) ||
		!sound)
		return;
	after = before;
	act_on(&after);
	for (unsigned n = 1; n < NUMBERS; n++)
		if (trial.act == WIPES ||
			(find_row(&before, n) < before.count && find_row(&after, n) == after.count))
			removed |= (unsigned)!unlink(entry_path(n)) << n;
	if (trial.act != EVICTS)
		put_file(&entries[drivers_entry()], drivers_entry());
	late_size = image_of(&after, trial.act == ADDS_LATE ? late_image : bytes);
	if (trial.act == ADDS_LATE) {
		late_at_ns = now_ns + trial.late_ns;
		return;
	}
	write_over(index_path(), bytes, late_size);
}

static void wrong(const char *what)
{
	fail_msg("%s; %s at call %u (late by %llu ms, a step of %llu us): %s",
			 operations[trial.operation], acts[trial.act], trial.at,
			 (unsigned long long)trial.late_ns / 1000000, (unsigned long long)trial.step_ns / 1000,
			 what);
}

/* Checks what holds at every instant: entries are whole, old or new, and no driver would wipe the
 * cache. */
static void check_instant(void)
{
	static uint8_t bytes[2 * ENTRIES_MAX];
	struct model model;
	ssize_t got;

	for (unsigned n = 1; n < NUMBERS; n++) {
		got = read_whole(entry_path(n), bytes, sizeof bytes);
		if (got >= 0 &&
			((size_t)got != entries[n].size || memcmp(bytes, entries[n].bytes, (size_t)got)) &&
			(n != SECOND || (size_t)got != former.size || memcmp(bytes, former.bytes, (size_t)got)))
			wrong("an entry is neither the old one nor the new one");
	}
	got = read_whole(index_path(), bytes, sizeof bytes);
	/* A new index has its rows before its header. */
	if (read_model(bytes, got, &model))
		was_sound = was_sound || got > 0, torn = false;
	else if (!torn && (was_sound || load_u32(bytes)))
		wrong("a driver would wipe");
}

static bool needs_lock(void)
{
	return trial.act != CLEARS && trial.act != EMPTIES && trial.act != DELETES &&
		   trial.act != DELETES_OWN;
}

static void step(void)
{
	if (!running)
		return;
	running = false;
	now_ns += trial.step_ns;
	if (++calls > 1000)
		wrong("it does not end");
	check_instant();
	if (trial.act == KILL && calls == trial.at)
		_exit(0);
	if (trial.act != KILL && calls >= trial.at && !acted_at && !(held && needs_lock()))
		do_act();
	if (late_at_ns && now_ns >= late_at_ns) {
		write_over(index_path(), late_image, late_size);
		late_at_ns = 0;
	}
	if (trial.act == CLEARS && acted_at == calls)
		was_sound = false;
	running = true;
}

/* The calls. */

int fcntl(int fd, int command, ...)
{
	static char link[64], path[4096];
	va_list arguments;
	void *argument;
	ssize_t length;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (command != F_SETLK || !running)
		return (int)syscall(SYS_fcntl, fd, command, argument);
	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	path[length > 0 ? length : 0] = '\0';
	if (!strstr(path, "/index"))
		return (int)syscall(SYS_fcntl, fd, command, argument);
	if (((const struct flock *)argument)->l_type == F_UNLCK) {
		/* Renames are tried again while the folders are gone. */
		if (trial.act != CLEARS &&
			now_ns - held_since_ns > CACHE_HOLD_MS * UINT64_C(1000000) + 6 * trial.step_ns)
			wrong("the lock was held too long");
		held = false;
		index_fd = -1;
		step();
		return 0;
	}
	step();
	if (now_ns < others_until_ns) {
		errno = EAGAIN;
		return -1;
	}
	last_lock = calls;
	held = true;
	held_since_ns = now_ns;
	index_fd = fd;
	return 0;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	step();
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

int unlinkat(int folder_fd, const char *name, int flags)
{
	step();
	return (int)syscall(SYS_unlinkat, folder_fd, name, flags);
}

/* libuv writes through this function, and reads this clock. */
__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *bytes, size_t size,
														off_t offset)
{
	if (fd == index_fd)
		step();
	return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
	if (clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, time);
	*time = (struct timespec){(time_t)(now_ns / 1000000000), (long)(now_ns % 1000000000)};
	return 0;
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *asked,
													 struct timespec *left)
{
	(void)left;
	now_ns += (uint64_t)asked->tv_sec * 1000000000 + (uint64_t)asked->tv_nsec;
	if (running && late_at_ns && now_ns >= late_at_ns) {
		write_over(index_path(), late_image, late_size);
		late_at_ns = 0;
	}
	return 0;
}

/* The trials. */

static struct model begin(void)
{
	static const unsigned order[] = {2, 1, 4, 3};
	struct model files = {0}, rows;
	uint8_t bytes[4096];

	running = false;
	OK(os_remove_tree(why, dir));
	OK(os_make_dirs(why, dir, 0700));
	for (unsigned i = 0; i < 4; i++) {
		const struct entries_entry *entry = order[i] == SECOND ? &former : &entries[order[i]];

		put_file(entry, order[i]);
		files.rows[files.count++] = (struct row){order[i], entry->row_bytes};
	}
	rows = files;
	if (trial.operation == REPAIR) {
		/* entry 3 has no row, 6 no file, and 1 another size */
		rows.rows[3].n = 6;
		rows.rows[1].bytes++;
	}
	write_over(index_path(), bytes, image_of(&rows, bytes));
	limit_bytes = 1 << 30;
	if (trial.operation == INSERT_FULL)
		/* There is space for the new entry, and for entry 4, which is kept. */
		limit_bytes = entries[1].row_bytes + entries[SECOND].row_bytes + entries[4].row_bytes +
					  entries[5].row_bytes + entries[6].row_bytes;
	now_ns = UINT64_C(1) << 40;
	calls = acted_at = last_lock = removed = 0;
	others_until_ns = late_at_ns = 0;
	index_fd = -1;
	held = torn = false;
	was_sound = true;
	running = true;
	return files;
}

static struct cache_addition additions[4];
static struct cache_removal removals[2];

static int insert(struct jw_error *err, struct cache_live *live)
{
	static const unsigned numbers[] = {1, 5, SECOND, 6};
	static struct cache_part parts[4][2];
	static const size_t batches[] = {2, 1, 1};
	int result = 0;

	for (unsigned i = 0; i < 4; i++) {
		const struct entries_entry *entry = &entries[numbers[i]];
		const size_t head = CACHE_ENTRY_HEADER + (size_t)entry->key_bytes;

		additions[i] = addition_of(entry);
		if (trial.operation != IMPORT)
			continue;
		parts[i][0] = (struct cache_part){entry->bytes, head};
		parts[i][1] = (struct cache_part){entry->bytes + head, entry->size - head};
		additions[i].parts = parts[i];
		additions[i].identity = &entry->identity;
		additions[i].part_count = 2;
		additions[i].verified = true;
	}
	if (trial.operation == IMPORT)
		return cache_insert(err, live, additions, 4);
	if (trial.operation == INSERT_FULL)
		cache_keep(live, entries[4].key);
	for (size_t i = 0, at = 0; !result && i < 3; at += batches[i++])
		result = cache_insert(err, live, additions + at, batches[i]);
	return result;
}

static int operate(struct jw_error *err, struct cache_live_counts *ret_counts)
{
	const struct cache_live_options options = {
		.limit_bytes = limit_bytes,
		.when_full = trial.operation == INSERT_FULL ? CACHE_FULL_EVICT : CACHE_FULL_REFUSE};
	struct cache_live *live = NULL;
	int result;

	for (unsigned i = 0; i < 2; i++) {
		removals[i] = (struct cache_removal){.key = entries[i + 2].key};
		(void)cache_presence(dir, removals[i].key, 0, &removals[i].probed);
	}
	for (unsigned i = 0; i < 4; i++)
		additions[i].added = CACHE_ADDED_NOT;
	if (cache_live_open(err, dir, &options, &live))
		return -1;
	/* These are the steps of jw_cache_repair. */
	result = trial.operation == REPAIR || trial.operation == REMOVE
				 ? cache_remove(err, live, removals, trial.operation == REMOVE ? 2 : 0) ||
					   cache_remove_settle(err, live)
				 : insert(err, live);
	cache_live_counts(live, ret_counts);
	return cache_live_close(result ? NULL : err, live) || result ? -1 : 0;
}

static void add(struct model *model, unsigned n, unsigned spared)
{
	const unsigned old = find_row(model, n);
	const uint64_t bytes = entries[n].row_bytes,
				   had = old < model->count ? model->rows[old].bytes : 0;

	model->counts.added += !had;
	model->counts.same += had == bytes;
	model->counts.replaced += had && had != bytes;
	model->counts.grown_bytes += (int64_t)bytes - (int64_t)had;
	put_row(model, n, bytes, spared);
}

/* Follows jitwarm's steps in the model, with the other's action before step `other`; false if there
 * are fewer steps. */
static bool follow(struct model *model, unsigned other)
{
	unsigned spared = trial.operation == INSERT_FULL ? 1u << 4 : 0, done = 0;

	for (unsigned i = 0; i < 4; i++) {
		const struct cache_addition *addition = &additions[i];

		if (addition->added == CACHE_ADDED_NOT)
			continue;
		if (done++ == other)
			act_on(model);
		add(model, number_of(addition->key), spared);
		spared |= 1u << number_of(addition->key);
	}
	for (unsigned i = 0; trial.operation == REMOVE && i < 2; i++) {
		if (done++ == other)
			act_on(model);
		if (find_row(model, i + 2) < model->count)
			take_row(model, find_row(model, i + 2));
	}
	if (done == other)
		act_on(model);
	return done >= other;
}

static bool same_files(const struct model *model)
{
	for (unsigned n = 1; n < NUMBERS; n++)
		if (!access(entry_path(n), F_OK) != (find_row(model, n) < model->count))
			return false;
	return true;
}

/* Checks that each file has its row, each row its file, once and of its size, and that the total is
 * right. */
static void check_rows(void)
{
	uint8_t bytes[4096] = {0};
	const ssize_t got = read_whole(index_path(), bytes, sizeof bytes);
	const bool late = trial.act == ADDS_LATE;
	struct model rows;

	if (trial.act == TEARS && acted_at > last_lock)
		return;
	if (!read_model(bytes, got, &rows))
		wrong("the index is unsound at the end");
	/* A late or torn write may undo a repair. That is harmless, and the next repair finds it. */
	if ((late || trial.act == TEARS) && (trial.operation == REPAIR || trial.operation == REMOVE))
		return;
	if (got > 0 && load_u64(bytes + 8) != total_of(&rows))
		wrong("the total is wrong");
	for (unsigned n = 1; n < NUMBERS; n++) {
		const unsigned at = find_row(&rows, n);
		struct stat stat;
		const bool there = !lstat(entry_path(n), &stat);

		/* The driver's row may be missing if jitwarm's was written over it; if the cache is full,
		 * there was no space at that time. */
		if (there && at == rows.count &&
			!(late && (n == DRIVERS || trial.operation == INSERT_FULL)))
			wrong("a file has no row");
		if (!there && at < rows.count && !(late && trial.operation == INSERT_FULL) &&
			!(!needs_lock() && removed >> n & 1))
			wrong("a row has no file");
		if (there && at < rows.count &&
			rows.rows[at].bytes != (uint64_t)stat.st_size - CACHE_ENTRY_HEADER)
			wrong("a row has another size than its file");
		for (unsigned i = at + 1; i < rows.count; i++)
			if (rows.rows[i].n == n)
				wrong("a file has two rows");
	}
	if (!late && total_of(&rows) > limit_bytes)
		wrong("the limit is exceeded");
}

static void check_nothing_is_left(void)
{
	DIR *opened = opendir(dir);

	for (const struct dirent *entry; opened && (entry = readdir(opened));)
		/* After a kill, a lock file without its folder stays for an hour. */
		if (!strncmp(entry->d_name, ".jitwarm", 8) &&
			!(trial.act == KILL && strstr(entry->d_name, ".lock")))
			wrong("something is left beside the tree");
	if (opened)
		(void)closedir(opened);
}

static void check_counts(const struct model *model, const struct cache_live_counts *counts)
{
	uint8_t bytes[4096];
	struct model rows;

	if (trial.operation == REPAIR || trial.operation == REMOVE)
		return;
	if (trial.act != NOTHING && trial.act != HOLDS)
		return;
	if (counts->added != model->counts.added || counts->replaced != model->counts.replaced ||
		counts->same != model->counts.same || counts->refused)
		wrong("additions are counted wrong");
	if (counts->grown_bytes != model->counts.grown_bytes)
		wrong("grown bytes are counted wrong");
	(void)read_model(bytes, read_whole(index_path(), bytes, sizeof bytes), &rows);
	if (rows.count != model->count ||
		memcmp(rows.rows, model->rows, rows.count * sizeof *rows.rows) != 0)
		wrong("the rows are in another order");
}

/* Returns the model after the first order of the steps that gives these files and counts. */
static struct model find_order(const struct model *before, const struct cache_live_counts *counts)
{
	struct model after = *before;
	/* Rows that come back late are evicted once more, and a torn index loses their order. */
	const bool any_order =
		trial.operation == INSERT_FULL && (trial.act == ADDS_LATE || trial.act == TEARS);

	for (unsigned i = 0; any_order && i < 4; i++)
		if (additions[i].added && !(removed >> number_of(additions[i].key) & 1) &&
			access(entry_path(number_of(additions[i].key)), F_OK))
			wrong("an added entry is not there");
	for (unsigned other = 0; !any_order; other++) {
		after = *before;
		if (!follow(&after, other))
			wrong("no order of the steps leads to these entries and counts of evictions");
		if (same_files(&after) &&
			(!needs_lock() || (counts->evicted == after.counts.evicted &&
							   counts->evicted_bytes == after.counts.evicted_bytes)))
			break;
	}
	return after;
}

/* Returns the number of the trial's calls. */
static unsigned try(void)
{
	const struct model before = begin();
	struct cache_live_counts counts = {0};
	struct model after;
	int result;

	*why = (struct jw_error){0};
	result = operate(why, &counts);
	if (late_at_ns)
		write_over(index_path(), late_image, late_size);
	if (!acted_at)
		trial.act = NOTHING;
	check_instant();
	running = false;
	/* The entry that is being added may be missing, or may exist already. */
	if (result && trial.act != CLEARS &&
		!(why->code == JW_ERR_BUSY && (trial.act == WIPES || !needs_lock())))
		wrong(why->message);
	if (result && !*why->message)
		wrong("no reason is given");
	after = find_order(&before, &counts);
	check_rows();
	check_nothing_is_left();
	check_counts(&after, &counts);
	return calls;
}

/* Kills the process before call `at`; then another process inserts. */
static void try_killed(void)
{
	struct cache_live_counts counts;
	struct cache_live_options options = {.limit_bytes = 1 << 30};
	struct cache_live *live = NULL;
	pid_t child;

	(void)begin();
	child = fork();
	if (!child) {
		(void)operate(NULL, &counts);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	check_instant();
	running = false;
	limit_bytes = 1 << 30;
	OK(cache_live_open(why, dir, &options, &live));
	running = true;
	trial.act = NOTHING;
	OK(insert_one(why, live, AFTER_KILL, 8 * AFTER_KILL, NULL));
	OK(cache_live_close(why, live));
	running = false;
	trial.act = KILL;
	for (unsigned n = 1; n <= 4; n++)
		if (trial.operation != INSERT_FULL && trial.operation != REMOVE &&
			access(entry_path(n), F_OK))
			wrong("an entry is lost");
	if (access(entry_path(AFTER_KILL), F_OK))
		wrong("nothing can be added any more");
	check_rows();
	check_nothing_is_left();
}

TEST(the_cache_is_the_model_whoever_acts_meanwhile)
{
	static const uint64_t steps_ns[] = {20000, 1500000},
						  late_ns[] = {0, 1000000, 6000000, 12000000, 19000000};
	unsigned trials = 0;

	for (unsigned n = 1; n < NUMBERS; n++)
		entries_make(&entries[n], n, 8 * (size_t)n);
	entries_make(&former, SECOND, 60);
	for (enum operation operation = 0; operation < OPERATIONS; operation++)
		for (size_t speed = 0; speed < 2; speed++) {
			unsigned most;

			trial = (struct trial){operation, NOTHING, 0, 0, steps_ns[speed]};
			most = try();
			for (enum act act = ADDS; act < ACTS; act++)
				for (size_t late = 0; late < (act == ADDS_LATE ? 5 : 1); late++)
					for (unsigned at = 1; at <= most; at++, trials++) {
						trial = (struct trial){operation, act, at, late_ns[late], steps_ns[speed]};
						if (act == KILL)
							try_killed();
						else
							(void)try();
					}
		}
	assert_true(trials > 1000);
}

/* Makes a folder for thousands of small files, in memory if that is possible. */
static int make_quick_folder(void **state)
{
	if (!access("/dev/shm", W_OK))
		(void)setenv("TMPDIR", "/dev/shm", 0);
	return make_folder(state);
}

RUN_TESTS(make_quick_folder, remove_folder)
