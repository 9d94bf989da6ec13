/* When its lock is taken, the index may be something other than a file, or not yet written. */
#include "gates_posix.h"

#include "files.h"
#include "held_lock.h"
#include "index_bytes.h"
#include "open_files.h"

static unsigned locks, mode_changes;
static uint8_t sound[4096];
static size_t sound_bytes;

static bool is_index(const char *path)
{
	return !strcmp(os_base_name(path), "index");
}

int fchmodat(int folder_fd, const char *name, mode_t mode, int flags)
{
	(void)flags;
	mode_changes += is_index(name);
	return (int)syscall(SYS_fchmodat, folder_fd, name, mode);
}

/* Root changes the mode of the index only through its descriptor. */
int fchmod(int fd, mode_t mode)
{
	char link[64], path[1024] = "";

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	(void)!readlink(link, path, sizeof path - 1);
	mode_changes += is_index(path);
	return (int)syscall(SYS_fchmod, fd, mode);
}

/* Called between the examination of the index and its opening for writing. */
static void (*before_opening)(void);
static int opening_error;

int openat(int folder_fd, const char *name, int flags, ...)
{
	void (*does)(void) = before_opening;
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_list arguments;

		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		va_end(arguments);
	}
	/* Root examines the index first, and then opens the file that it has examined. */
	if (is_index(name) && ((flags & O_ACCMODE) == O_RDWR || flags & O_PATH)) {
		before_opening = NULL;
		if (does)
			does();
		if (opening_error) {
			errno = opening_error;
			opening_error = 0;
			return -1;
		}
	}
	return (int)syscall(SYS_openat, folder_fd, name, flags, mode);
}

/* A pipe in the index's place that cannot be removed ends the insertion; jitwarm opens nothing that
 * would wait, and locks nothing that does not exist. */
TEST(what_cannot_be_removed_is_no_index)
{
	char *index = keep(os_join(dir, "index"));
	struct cache_live *live;

	start_anew();
	OK(os_make_dirs(why, dir, 0700));
	assert_int_equal(mkfifo(index, 0600), 0);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	gate_removal_fails = true;
	assert_int_equal(insert_one(why, live, 1, 0, NULL), -1);
	gate_removal_fails = false;
	assert_int_equal(why->code, JW_ERR_IO);
	assert_non_null(strstr(why->message, index));
	/* The pipe has the same owner, who can remove it. */
	OK(insert_one(why, live, 1, 0, NULL));
	OK(cache_live_close(why, live));
	assert_consistent(1);
}

/* A driver's last bytes come after its unlocking: at the first lock the header is missing, at the
 * third it is there. Until then, nobody writes anything else. */
static void write_late(const char *path)
{
	static const char unsound[] = "unsound!";
	char now[sizeof unsound] = "";
	int fd;

	if (!is_index(path) || ++locks > 3)
		return;
	/* Closing this descriptor loses no lock of this process, which is about to take it. */
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	if (locks > 1) {
		assert_int_equal(pread(fd, now, sizeof now - 1, 0), sizeof now - 1);
		assert_string_equal(now, unsound);
	}
	if (locks < 3)
		assert_int_equal(pwrite(fd, unsound, sizeof unsound - 1, 0), sizeof unsound - 1);
	else
		assert_int_equal(pwrite(fd, sound, sound_bytes, 0), sound_bytes);
	(void)close(fd);
}

TEST(an_index_that_is_being_written_is_read_again)
{
	struct cache_live *live;
	struct buf bytes = {0};

	start_anew();
	fill(1, 3);
	OK(os_read_file(why, keep(os_join(dir, "index")), sizeof sound, &bytes));
	memcpy(sound, bytes.data, bytes.size);
	sound_bytes = bytes.size;
	buf_free(&bytes);
	locks = 0;
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	gate_before_lock = write_late;
	OK(insert_one(why, live, 4, 0, NULL));
	gate_before_lock = NULL;
	OK(cache_live_close(why, live));
	assert_true(locks >= 3);
	assert_consistent(4);
}

/* The index gets the folder's sharing; an index that others can write to already stays as it is. */
TEST(an_index_is_shared_as_its_folder_is)
{
	static const struct {
		mode_t folder, before, after;
		unsigned changes;
	} cases[] = {{0755, 0644, 0666, 1}, {0750, 0600, 0660, 1}, {0705, 0600, 0606, 1},
				 {0755, 0666, 0666, 0}, {0755, 0777, 0777, 0}, {0700, 0640, 0640, 0},
				 {0744, 0600, 0600, 0}};
	char *index = keep(os_join(dir, "index"));

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct stat stat_after;

		start_anew();
		fill(1, 1);
		assert_int_equal(chmod(dir, cases[i].folder), 0);
		assert_int_equal(chmod(index, cases[i].before), 0);
		mode_changes = 0;
		fill(2, 2);
		assert_int_equal(stat(index, &stat_after), 0);
		assert_int_equal(stat_after.st_mode & 0777, cases[i].after);
		assert_int_equal(mode_changes, cases[i].changes);
		assert_int_equal(chmod(dir, 0700), 0);
	}
}

/* A symlink to an index elsewhere is followed, one to nowhere is replaced, and one to itself is an
 * error that changes nothing. */
TEST(a_link_is_followed_where_it_leads)
{
	static const struct {
		const char *target;
		bool followed, failed;
	} cases[] = {
		{"../elsewhere", true, false}, {"../nowhere/index", false, false}, {"index", true, true}};
	char *index = keep(os_join(dir, "index"));

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cache_live *live;
		const bool failed = cases[i].failed;
		struct stat stat_after;

		start_anew();
		OK(os_make_dirs(why, dir, 0700));
		assert_int_equal(symlink(cases[i].target, index), 0);
		if (!i)
			files_put_text(folder, "elsewhere", "");
		live = open_live(1 << 30, CACHE_FULL_REFUSE);
		assert_int_equal(insert_one(why, live, 1, 0, NULL), failed ? -1 : 0);
		(void)cache_live_close(NULL, live);
		assert_int_equal(lstat(index, &stat_after), 0);
		assert_int_equal(S_ISLNK(stat_after.st_mode), failed || cases[i].followed);
		if (!failed)
			assert_consistent(1);
	}
}

/* A container runtime made the folder, in one case empty, in the other with a file. */
TEST(a_folder_gives_way_if_it_is_empty)
{
	char *index = keep(os_join(dir, "index")), *inside = keep(os_join(index, "file"));

	for (int full = 0; full < 2; full++) {
		struct cache_live *live;

		start_anew();
		OK(os_make_dirs(why, index, 0700));
		if (full)
			OK(os_write_atomic(why, inside, "x", 1));
		live = open_live(1 << 30, CACHE_FULL_REFUSE);
		assert_int_equal(insert_one(why, live, 1, 0, NULL), full ? -1 : 0);
		(void)cache_live_close(NULL, live);
		if (full) {
			assert_non_null(strstr(why->message, "move it away"));
			assert_true(os_exists(inside));
		} else {
			assert_consistent(1);
		}
	}
}

static void remove_index(void)
{
	assert_int_equal(unlink(keep(os_join(dir, "index"))), 0);
}

/* An index that was removed between its examination and its opening is made again. If it cannot be
 * opened, that is the error, even if opening would succeed a moment later. */
TEST(only_a_missing_index_is_made)
{
	for (int fails = 0; fails < 2; fails++) {
		struct cache_live *live;

		start_anew();
		fill(1, 1);
		live = open_live(1 << 30, CACHE_FULL_REFUSE);
		before_opening = fails ? NULL : remove_index;
		opening_error = fails ? EIO : 0;
		GIVES(fails ? JW_ERR_IO : JW_OK, insert_one(why, live, 2, 0, NULL));
		assert_true(!before_opening && !opening_error);
		(void)cache_live_close(NULL, live);
	}
}

/* The holder is named by its process number, also if it has the lock of an open file. */
TEST(who_holds_the_lock_is_named)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct cache_live *live;
	char number[40];
	pid_t child;
	int release, fd;

	start_anew();
	fill(1, 1);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	release = hold_lock(true, &child);
	assert_true(release >= 0);
	GIVES(JW_ERR_BUSY, insert_one(why, live, 2, 0, NULL));
	(void)snprintf(number, sizeof number, "(process %d) for ", (int)child);
	assert_non_null(strstr(why->message, number));
	end_lock(release, child);
	fd = open(keep(os_join(dir, "index")), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(syscall(SYS_fcntl, fd, F_OFD_SETLK, &lock), 0);
	GIVES(JW_ERR_BUSY, insert_one(why, live, 2, 0, NULL));
	(void)snprintf(number, sizeof number, "(process %d) for ", (int)getpid());
	assert_non_null(strstr(why->message, number));
	(void)close(fd);
	OK(insert_one(why, live, 2, 0, NULL));
	OK(cache_live_close(why, live));
}

static int held;
static pid_t holder;

static void let_go_at_the_second_try(const char *path)
{
	if (is_index(path) && ++locks == 2)
		end_lock(held, holder);
}

/* A driver holds the lock for a moment. */
TEST(a_lock_is_waited_for)
{
	const struct cache_live_options options = {.limit_bytes = 1 << 30, .lock_wait_ms = 600000};
	struct cache_live *live;

	start_anew();
	fill(1, 1);
	OK(cache_live_open(why, dir, &options, &live));
	held = hold_lock(true, &holder);
	assert_true(held >= 0);
	locks = 0;
	gate_before_lock = let_go_at_the_second_try;
	OK(insert_one(why, live, 2, 0, NULL));
	gate_before_lock = NULL;
	assert_true(locks >= 2);
	OK(cache_live_close(why, live));
	assert_consistent(2);
}

/* Counts readings while nobody has repaired the index. */
static void count_unsound(const char *path)
{
	char now[8];

	locks += is_index(path) && os_read_head(path, now, 8) == 8 && !memcmp(now, "unsound!", 8);
}

/* The index is read five more times. */
TEST(an_unsound_index_is_read_again_and_then_mended)
{
	struct cache_live_counts counts;
	struct cache_live *live;

	start_anew();
	fill(1, 2);
	write_index("unsound!", 8);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	locks = 0;
	gate_before_lock = count_unsound;
	OK(insert_one(why, live, 3, 0, NULL));
	gate_before_lock = NULL;
	assert_int_equal(locks, 6);
	cache_live_counts(live, &counts);
	assert_true(counts.mended);
	OK(cache_live_close(why, live));
	assert_consistent(3);
}

/* Two indexes have as many rows, without files, and differ in their last row. */
static struct buf many_rows[2];

/* Counts locks while nobody else has written to the index. */
static bool counts_lock(const char *path)
{
	struct buf now = {0};
	bool counts;

	if (!is_index(path))
		return false;
	OK(os_read_file(why, path, 1 << 20, &now));
	counts = now.size == many_rows[0].size && (!memcmp(now.data, many_rows[0].data, now.size) ||
											   !memcmp(now.data, many_rows[1].data, now.size));
	locks += counts;
	buf_free(&now);
	return counts;
}

static void only_count(const char *path)
{
	(void)counts_lock(path);
}

static void write_other(const char *path)
{
	const struct buf *other = &many_rows[(locks + 1) % 2];
	int fd;

	if (!counts_lock(path))
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, other->data, other->size, 0), other->size);
	(void)close(fd);
}

/* Counts the locks until an insertion has written its row, whether others write before each lock,
 * or none does. */
static unsigned locks_for(size_t rows, bool others_write)
{
	struct cache_index index = {.rows = mem_array(rows, sizeof *index.rows), .count = rows};
	struct cache_live *live;

	start_anew();
	OK(os_make_dirs(why, dir, 0700));
	for (size_t i = 0; i < rows; i++)
		index.rows[i] = (struct cache_row){i + 1, 10};
	for (size_t i = 0; i < 2; i++) {
		index.rows[rows - 1].key = rows + i;
		many_rows[i] = (struct buf){0};
		many_rows[i] = index_bytes(&index);
	}
	cache_index_free(&index);
	write_index(many_rows[0].data, many_rows[0].size);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	locks = 0;
	gate_before_lock = others_write ? write_other : only_count;
	OK(insert_one(why, live, 1, 0, NULL));
	gate_before_lock = NULL;
	(void)cache_live_close(NULL, live);
	for (size_t i = 0; i < 2; i++)
		buf_free(&many_rows[i]);
	return locks;
}

/* Each of both holds may come four more times. */
TEST(many_rows_are_looked_through_without_the_lock)
{
	assert_int_equal(locks_for(3, false), 2);
	assert_int_equal(locks_for(4096, false), 2);
	assert_int_equal(locks_for(4097, false), 3);
	assert_int_equal(locks_for(4096, true), 2);
	assert_int_equal(locks_for(4097, true), 10);
}

/* The index is of a later version, or a folder that is not empty. */
TEST(what_fails_lets_go)
{
	static const uint8_t later[32] = {0x42};
	const size_t before = open_files();
	struct cache_live *live;

	start_anew();
	fill(1, 1);
	write_index(later, sizeof later);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	for (int again = 0; again < 2; again++) {
		GIVES(JW_ERR_UNSUPPORTED, insert_one(why, live, 2, 0, NULL));
		assert_int_equal(open_files(), before + 1); /* the lock of the folder for staged files */
		assert_true(gate_can_lock(keep(os_join(dir, "index"))));
	}
	(void)cache_live_close(NULL, live);
	assert_int_equal(open_files(), before);
}

RUN_TESTS(make_folder, remove_folder)
