#include "work/cache_turn_lock.h"

#include <string.h>

#include <uv.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/view.h"
#include "os/clock.h"
#include "os/file.h"

enum { TRY_EVERY_MS = 100, MAX_HOLDER = 4096, MAX_LOCKS = 100 };

static void write_holder(const struct cache_turn *turn)
{
	char host[UV_MAXHOSTNAMESIZE] = "";
	size_t size = sizeof host;
	cJSON *object = cJSON_CreateObject();
	char *line;

	(void)uv_os_gethostname(host, &size);
	(void)cJSON_AddStringToObject(object, "host", host);
	(void)cJSON_AddNumberToObject(object, "pid", (double)uv_os_getpid());
	(void)cJSON_AddNumberToObject(object, "since", (double)os_now_s());
	line = json_line(object);
	(void)os_write_atomic(NULL, turn->holder_path, line, strlen(line));
	cJSON_free(line);
	cJSON_Delete(object);
}

/* Reads "jitwarm on HOST (process 123, for 2 min 3 s)". The file may contain anything. */
static void read_holder(const struct cache_turn *turn, char *text, size_t size)
{
	struct buf content = {0};
	cJSON *object = NULL;
	char duration[TEXT_SHORT];
	int64_t since, now = os_now_s();

	(void)text_format(text, size, "another jitwarm");
	if (!os_read_file(NULL, turn->holder_path, MAX_HOLDER, &content))
		object = json_parse(NULL, buf_text(&content), content.size);
	since = object ? (int64_t)json_count(object, "since") : 0;
	if (since && since < now)
		(void)text_format(text, size, "jitwarm on %.64s (process %llu, for %s)",
						  json_text(object, "host", "?"),
						  (unsigned long long)json_count(object, "pid"),
						  text_duration(duration, (double)(now - since)));
	else if (since)
		(void)text_format(text, size, "jitwarm on %.64s (process %llu, started just now)",
						  json_text(object, "host", "?"),
						  (unsigned long long)json_count(object, "pid"));
	cJSON_Delete(object);
	buf_free(&content);
}

/* Returns whether the file is still in place. The last holder may have removed it after we opened
 * it; then a lock on it has no effect. */
static bool is_in_place(const struct cache_turn *turn, struct os_file *file)
{
	struct os_stat ours, there;

	return !os_file_stat(NULL, file, &ours) && !os_stat(NULL, turn->lock_path, &there) &&
		   ours.inode == there.inode && ours.device == there.device;
}

enum attempt { TAKEN, BUSY, NO_LOCKS };

/* On a file system whose inode numbers change from call to call, the file never counts as in
 * place. */
static enum attempt try_lock(struct cache_turn *turn)
{
	for (int tries = 0; tries < MAX_LOCKS; tries++) {
		struct os_file *file = NULL;
		bool held = false;

		if (os_file_open(NULL, turn->lock_path, OS_OPEN_LOCK, &file))
			return NO_LOCKS;
		if (os_file_lock(NULL, file, true, &held)) {
			os_file_close(file);
			return NO_LOCKS;
		}
		if (held && is_in_place(turn, file)) {
			turn->lock = file;
			return TAKEN;
		}
		os_file_close(file);
		if (!held)
			return BUSY;
	}
	return NO_LOCKS;
}

int cache_turn_take(struct jw_error *err, const char *cache_dir, const struct cache_turn_wait *wait,
					struct cache_turn *ret_turn)
{
	struct cache_turn turn = {
		.lock_path = mem_printf("%s/" CACHE_STAGING_PREFIX "lock", cache_dir),
		.holder_path = mem_printf("%s/" CACHE_STAGING_PREFIX "holder", cache_dir),
	};
	char holder[256], line[512];
	enum attempt attempt;

	/* A directory that cannot be made or written to is reported later. */
	(void)os_make_dirs(NULL, cache_dir, 0700);
	while ((attempt = try_lock(&turn)) == BUSY) {
		if (!turn.waited && wait->message) {
			read_holder(&turn, holder, sizeof holder);
			(void)text_format(line, sizeof line,
							  "%s primes the same cache: waiting for it to finish", holder);
			wait->message(wait->context, line);
		}
		turn.waited = true;
		if (cancel_check(err, &wait->cancel)) {
			cache_turn_end(&turn);
			return -1;
		}
		uv_sleep(TRY_EVERY_MS);
	}
	if (attempt == TAKEN)
		write_holder(&turn);
	*ret_turn = turn;
	return 0;
}

void cache_turn_end(struct cache_turn *turn)
{
	if (turn->lock) {
		(void)os_remove(NULL, turn->holder_path);
		(void)os_remove(NULL, turn->lock_path);
	}
	os_file_close(turn->lock);
	mem_free(turn->lock_path);
	mem_free(turn->holder_path);
	*turn = (struct cache_turn){0};
}
