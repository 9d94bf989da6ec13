/* Members of archives are read again, and a reading is cancelled. */
#include "code/reread.h"
#include "make_archive.h"

static int read_again(struct jw_error *err, const char *path, const char *member, uint64_t offset,
					  uint64_t size, struct buf *ret_bytes)
{
	return reread(err, &(struct origin){.path = path, .member = member}, offset, size, ret_bytes);
}

TEST(a_member_is_read_again)
{
	struct buf library = make_buf(), wheel = make_buf(), packed = make_buf();
	struct buf short_library = make_buf(), again;
	struct buf tar = make_buf(), layer = make_buf(), conda = make_buf();
	char *paths[3];

	make_library(&library, 1000000);
	make_library(&short_library, 100);
	make_archive(&wheel, false, "zip:compression=deflate",
				 (struct packed_file[]){{"a.so", &short_library}, {"b.so", &library}}, 2);
	make_zstd(&packed, &library);
	paths[0] = write_file("wheel", &wheel);
	paths[1] = write_file("packed", &packed);
	make_archive(&tar, true, "", (struct packed_file[]){{"lib/c.so", &library}}, 1);
	make_zstd(&layer, &tar);
	make_archive(&conda, false, "zip:compression=store",
				 (struct packed_file[]){{"pkg-c.tar.zst", &layer}}, 1);
	paths[2] = write_file("conda", &conda);
	{
		const struct {
			const char *path, *member;
			const struct buf *from;
		} cases[] = {{paths[0], "a.so", &short_library},
					 {paths[0], "b.so", &library},
					 {paths[1], NULL, &library},
					 {paths[2], "lib/c.so", &library}};

		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
			size_t offset = cases[i].from->size / 2;

			OK(read_again(why, cases[i].path, cases[i].member, offset, 77, &again));
			assert_int_equal(again.size, 77);
			assert_memory_equal(again.data, cases[i].from->data + offset, 77);
			buf_free(&again);
		}
	}
	{
		GIVES(JW_ERR_NOT_FOUND, read_again(why, paths[0], "c.so", 0, 1, &again));
		GIVES(JW_ERR_FORMAT, read_again(why, paths[0], "a.so", short_library.size, 1, &again));
		OK(os_remove(why, paths[0]));
		GIVES(JW_ERR_NOT_FOUND, read_again(why, paths[0], NULL, 0, 1, &again));
	}
	for (size_t i = 0; i < 3; i++)
		mem_free(paths[i]);
	buf_free(&tar);
	buf_free(&layer);
	buf_free(&conda);
	buf_free(&library);
	buf_free(&short_library);
	buf_free(&wheel);
	buf_free(&packed);
}

/* ---- stopping */

/* Answers yes from the n-th question on. */
struct patience {
	size_t left, asked;
};

static bool is_enough(void *context)
{
	struct patience *patience = context;

	patience->asked++;
	return patience->asked > patience->left;
}

/* Stops a walk, which ends whenever it is cancelled, also in the middle of a member, and reports no
 * damage. */
static void stopped_at(const char *path, const char *member, const struct buf *library)
{
	size_t questions = 0;

	for (size_t n = 0;; n++) {
		struct patience patience = {.left = n};
		struct make_seen seen = {0};
		const struct jw_cancel stop = {&patience, is_enough};
		int result = make_read_path(why, path, &stop, &seen);

		assert_int_equal(seen.troubles, 0);
		if (!result) {
			assert_int_equal(seen.images, 1);
			questions = patience.asked;
			break;
		}
		assert_int_equal(why->code, JW_ERR_INTERRUPTED);
		/* The same question comes once more, before it is reported as trouble. */
		assert_in_range(patience.asked, n + 1, n + 6);
	}
	/* The question comes often enough within one member. */
	assert_true(questions > library->size >> 20);
	for (size_t n = 0;; n++) {
		struct patience patience = {.left = n};
		const struct jw_cancel stop = {&patience, is_enough};
		struct devcode_part part = {
			.member = member, .offset = library->size - 100, .size_bytes = 100};
		struct code_copy copy = {.path = path, .parts = &part, .count = 1, .cancel = &stop};
		size_t got = 0;
		int step;

		while ((step = code_copy_next(why, &copy)) > 0)
			got += copy.size;
		code_copy_close(&copy);
		if (!step) {
			assert_true(n > library->size >> 20);
			assert_int_equal(got, 100);
			break;
		}
		assert_int_equal(why->code, JW_ERR_INTERRUPTED);
		assert_false(part.done);
	}
}

TEST(reading_ends_when_it_is_cancelled)
{
	struct buf library = make_buf(), packed = make_buf(), wheel = make_buf(), tar = make_buf(),
			   layer = make_buf(), conda = make_buf();
	char *paths[3];

	make_library(&library, 2 << 20);
	make_zstd(&packed, &library);
	make_archive(&wheel, false, "zip:compression=deflate",
				 (struct packed_file[]){{"lib/a.so", &library}}, 1);
	make_archive(&tar, true, "", (struct packed_file[]){{"lib/a.so", &library}}, 1);
	make_zstd(&layer, &tar);
	make_archive(&conda, false, "zip:compression=store",
				 (struct packed_file[]){{"pkg-a.tar.zst", &layer}}, 1);
	paths[0] = write_file("packed", &packed);
	paths[1] = write_file("wheel", &wheel);
	paths[2] = write_file("conda", &conda);
	for (size_t i = 0; i < 3; i++) {
		stopped_at(paths[i], i ? "lib/a.so" : NULL, &library);
		mem_free(paths[i]);
	}
	buf_free(&library);
	buf_free(&packed);
	buf_free(&wheel);
	buf_free(&tar);
	buf_free(&layer);
	buf_free(&conda);
}

/* A zip in a stream has its members' sizes after them, so skipped members are unpacked, too. */
TEST(passing_over_a_member_is_unpacking)
{
	enum { PASSED = 32 << 20 };
	/* The member has one byte, packed with an unknown method. */
	static const char damaged[] = "PK\3\4\24\0\0\0\143\0\0\0\0\0\0\0\0\0"
								  "\1\0\0\0\1\0\0\0\1\0\0\0dx";
	struct buf other = make_buf();

	make_zeros(&other, PASSED);
	for (size_t behind = 0; behind < 2; behind++) {
		struct buf zip = make_buf(), packed = make_buf();
		struct patience patience = {.left = SIZE_MAX};
		struct make_seen seen = {0};
		const struct jw_cancel stop = {&patience, is_enough};
		char *path;

		if (behind)
			make_bytes(&zip, damaged, sizeof damaged - 1);
		make_archive(&zip, false, "zip:compression=deflate",
					 (struct packed_file[]){{"other", &other}}, 1);
		make_zstd(&packed, &zip);
		path = keep(write_file("passed", &packed));
		OK(make_read_path(why, path, &stop, &seen));
		assert_true(patience.asked > PASSED >> 20);
		patience = (struct patience){.left = patience.asked / 2};
		assert_int_equal(make_read_path(NULL, path, &stop, &seen), -1);
		assert_int_equal(seen.troubles, 2 * behind);
		buf_free(&zip);
		buf_free(&packed);
	}
	buf_free(&other);
}

RUN_TESTS(make_folder, remove_folder)
