/* Tar archives that are written again: without changes they are the same, apart from the padding of
 * files, and the archive with other contents can be read and edited again. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "package/tar_edit.h"

enum { MOST_TAR = 1 << 22 };

#define MUST(condition)                                                                            \
	do {                                                                                           \
		if (!(condition))                                                                          \
			abort();                                                                               \
	} while (0)

struct fuzz_tar {
	const uint8_t *data;
	size_t left, files;
	struct buf out;
	struct buf taken;
	bool wants;
};

static int read_some(struct jw_error *err, void *context, uint8_t *to, size_t size, size_t *ret_got)
{
	struct fuzz_tar *tar = context;

	(void)err;
	*ret_got = size < tar->left ? size : tar->left;
	if (!*ret_got)
		return 0;
	memcpy(to, tar->data, *ret_got);
	tar->data += *ret_got;
	tar->left -= *ret_got;
	return 0;
}

static int write_some(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	return buf_append(err, &((struct fuzz_tar *)context)->out, data, size);
}

static bool wants_all(void *context, const char *name, uint64_t size_bytes, const uint8_t *head,
					  size_t head_size)
{
	struct fuzz_tar *tar = context;

	(void)head;
	MUST(memchr(name, 0, 1 << 12) && head_size <= size_bytes);
	buf_clear(&tar->taken);
	return tar->wants;
}

static int take_some(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	return buf_append(err, &((struct fuzz_tar *)context)->taken, data, size);
}

static int taken_more(struct jw_error *err, void *context, const char *name,
					  const uint8_t **ret_data, uint64_t *ret_size_bytes)
{
	struct fuzz_tar *tar = context;

	(void)name;
	tar->files++;
	if (buf_append(err, &tar->taken, "more", 4))
		return -1;
	*ret_data = tar->taken.data;
	*ret_size_bytes = tar->taken.size;
	return 0;
}

static int any_link(struct jw_error *err, void *context, const char *name, const char *to)
{
	(void)err;
	(void)context;
	MUST(memchr(name, 0, 1 << 12) && memchr(to, 0, 1 << 12));
	return 0;
}

static int edit_once(struct fuzz_tar *tar)
{
	const struct tar_edit edit = {.context = tar,
								  .read = read_some,
								  .write = write_some,
								  .wants = wants_all,
								  .take = take_some,
								  .taken = taken_more,
								  .link = any_link};

	tar->out = tar->taken = BUF_MAX(MOST_TAR);
	return tar_edit(NULL, &edit);
}

static void free_tar(struct fuzz_tar *tar)
{
	buf_free(&tar->out);
	buf_free(&tar->taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_tar plain = {.data = data, .left = size}, changed = {.data = data, .left = size};

	if (!edit_once(&plain)) {
		MUST(plain.out.size == size);
		changed.wants = true;
		if (!edit_once(&changed)) {
			struct fuzz_tar again = {.data = changed.out.data, .left = changed.out.size};

			again.wants = true;
			MUST(!edit_once(&again) && again.files == changed.files);
			free_tar(&again);
		}
		free_tar(&changed);
	}
	free_tar(&plain);
	return 0;
}
