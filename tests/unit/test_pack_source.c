/* A pack on standard input, which is read once: here a file, read again from its beginning. */
#include "folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <sodium.h>

#include "lacking.h"
#include "os/env.h"
#include "pack/format.h"
#include "pack/reader.h"
#include "packs.h"

static int open_standard_input(struct jw_error *err, void *context)
{
	struct source *source = NULL;

	(void)context;
	assert_int_equal(lseek(0, 0, SEEK_SET), 0);
	if (source_open(err, "-", &source))
		return -1;
	source_close(source);
	return 0;
}

TEST(standard_input_is_kept_or_refused)
{
	char *file = os_join(NULL, folder, "pack"), *temporary = os_join(NULL, folder, "tmp");
	struct os_names names;
	struct buf pack;
	struct jw_error err;
	int kept = dup(0), fd;

	assert_int_equal(os_make_dirs(NULL, temporary, 0700), 0);
	assert_int_equal(os_env_set(NULL, "TMPDIR", temporary), 0);
	packs_make(&pack, "{}", NULL, 0);
	assert_int_equal(os_write_atomic(NULL, file, pack.data, pack.size), 0);
	fd = open(file, O_RDWR);
	assert_true(fd > 0);
	assert_int_equal(dup2(fd, 0), 0);
	assert_int_equal(open_standard_input(NULL, NULL), 0);
	each_allocation_lacks(open_standard_input, NULL);
	assert_int_equal(ftruncate(0, (off_t)pack.size - 1), 0);
	assert_int_equal(open_standard_input(&err, NULL), -1);
	assert_int_equal(err.code, JW_ERR_FORMAT);
	assert_int_equal(dup2(kept, 0), 0);
	(void)close(kept);
	(void)close(fd);
	/* Nothing is left of what was kept. */
	assert_int_equal(os_list(NULL, temporary, &names), 0);
	assert_int_equal(names.count, 0);
	os_names_free(&names);
	assert_int_equal(os_env_set(NULL, "TMPDIR", NULL), 0);
	buf_free(&pack);
	mem_free(temporary);
	mem_free(file);
}

/* Files are read by the megabyte; the trailer may begin at the end of one and end in the next. */
TEST(a_trailer_may_lie_in_two_blocks)
{
	char *file = os_join(NULL, folder, "pack");

	for (size_t end = 1; end <= PACK_TRAILER_SIZE; end += PACK_TRAILER_SIZE - 1) {
		uint8_t digest[32];
		struct source *source = NULL;
		static uint8_t pack[(1 << 20) + PACK_TRAILER_SIZE];
		const size_t size = (1 << 20) + end, content = size - PACK_TRAILER_SIZE;

		crypto_generichash(digest, sizeof digest, pack, content, NULL, 0);
		pack_trailer(pack + content, digest);
		assert_int_equal(os_write_atomic(NULL, file, pack, size), 0);
		assert_int_equal(source_open(NULL, file, &source), 0);
		source_close(source);
		memset(pack + content, 0, PACK_TRAILER_SIZE);
	}
	mem_free(file);
}

RUN_TESTS(make_folder, remove_folder)
