/* A log of JSON lines that several processes append to. */
#include <jitwarm/startup.h>

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"

enum { MAX_LOG = 1 << 20, MAX_LINES = 1000, WAIT_MS = 2000 };

int jw_log_path(struct jw_error *err, char **ret_path)
{
	char *folder;

	if (os_state_dir(err, &folder))
		return -1;
	*ret_path = os_join(folder, "runs.jsonl");
	mem_free(folder);
	return 0;
}

/* Moves the second half of the file to its front, in place, since others may have the file open. */
static int halve(struct jw_error *err, struct os_file *file, uint64_t size)
{
	struct buf half = BUF_MAX(2 * MAX_LOG);
	uint64_t from = size - MAX_LOG / 2;
	const uint8_t *line;
	size_t got, left;
	int result = -1;

	if (buf_reserve(err, &half, MAX_LOG / 2) ||
		os_file_read(err, file, from, half.data, MAX_LOG / 2, &got))
		goto done;
	line = memchr(half.data, '\n', got);
	line = line ? line + 1 : half.data + got;
	left = got - (size_t)(line - half.data);
	result = os_file_write(err, file, 0, line, left);
	if (!result)
		result = os_file_truncate(err, file, left);
done:
	buf_free(&half);
	return result;
}

/* The beginning of every line of such a log. */
static const char beginning[] = "{\"schema\":\"jitwarm.run/";

/* Refuses a foreign file that was named by mistake: it is neither extended nor shortened. */
static int check_ours(struct jw_error *err, struct os_file *file, const char *path)
{
	char start[sizeof beginning - 1];
	size_t got;

	if (os_file_read(err, file, 0, start, sizeof start, &got))
		return -1;
	if (got && (got < sizeof start || memcmp(start, beginning, sizeof start) != 0))
		return error_set(err, JW_ERR_FORMAT,
						 "%s: not a log of jitwarm, and left unchanged: name another file", path);
	return 0;
}

static int append_log_line(struct jw_error *err, struct os_file *file, const char *path,
						   const char *line, bool locked)
{
	struct buf text = BUF_MAX(MAX_LOG);
	uint64_t size;
	int result = -1;

	if (!check_ours(err, file, path) && !os_file_size(err, file, &size) &&
		(!locked || size < MAX_LOG || !halve(err, file, size)) && !os_file_size(err, file, &size) &&
		!buf_printf(err, &text, "%s\n", line))
		result = os_file_write(err, file, size, text.data, text.size);
	buf_free(&text);
	return result;
}

/* Another account that may read the file can lock it. No line is lost then, and the file is not
 * halved. */
static int append_unlocked(const char *path, const char *line)
{
	struct os_file *file;
	int result;

	if (os_file_open(NULL, path, OS_OPEN_APPEND, &file))
		return -1;
	result = append_log_line(NULL, file, path, line, false);
	os_file_close(file);
	return result;
}

static int append_line(struct jw_error *err, const char *path, const char *line)
{
	struct os_file *file;
	struct jw_error no_locks = {0};
	int result;

	if (os_make_parent(err, path, 0700) || os_file_open(err, path, OS_OPEN_CREATE, &file))
		return -1;
	result = os_file_wait_lock(err, file, path, WAIT_MS, &no_locks);
	if (!result)
		result = append_log_line(err, file, path, line, true);
	else if (err->code == JW_ERR_BUSY || err->code == JW_ERR_INTERRUPTED)
		result = append_unlocked(path, line);
	os_file_close(file);
	return result;
}

/* Renames a damaged log in the state directory (after a power cut), which stays beside the new
 * one. */
static int put_aside(struct jw_error *err, const char *path)
{
	char *aside = mem_printf("%s.damaged", path);
	int result = os_rename(err, path, aside);

	mem_free(aside);
	return result;
}

int jw_log_append(struct jw_error *err, const char *path, const char *line)
{
	struct jw_error why = {0};
	char *real, *own = NULL;
	int result;

	/* Devices and pipes are refused, because opening alone may have an effect. */
	if (os_replaceable(err, path, &real))
		return -1;
	result = append_line(&why, real, line);
	if (result && why.code == JW_ERR_FORMAT && !jw_log_path(NULL, &own) && !strcmp(own, path))
		result = put_aside(&why, path) || append_line(&why, path, line) ? -1 : 0;
	mem_free(own);
	mem_free(real);
	return result ? error_copy(err, &why) : 0;
}

int jw_log_tail(struct jw_error *err, const char *path, size_t most, char ***ret_lines,
				size_t *ret_count)
{
	struct buf text = {0};
	size_t count = 0, end;
	char **lines;

	if (os_read_file(err, path, 2 * MAX_LOG, &text))
		return -1;
	most = most < MAX_LINES ? most : MAX_LINES;
	lines = mem_array(most + 1, sizeof *lines);
	for (end = text.size; end && count < most;) {
		size_t start = end - (text.data[end - 1] == '\n'), stop = start;

		while (start && text.data[start - 1] != '\n')
			start--;
		lines[count++] = mem_string_n((const char *)text.data + start, stop - start);
		end = start;
	}
	buf_free(&text);
	/* Reverses the order, so that the newest is last. */
	for (size_t i = 0; i < count / 2; i++) {
		char *line = lines[i];

		lines[i] = lines[count - 1 - i];
		lines[count - 1 - i] = line;
	}
	*ret_lines = lines;
	*ret_count = count;
	return 0;
}
