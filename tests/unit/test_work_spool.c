/* Workers find the bytes of each module in plain files, or in files taken out of archives. */
#include "make_archive.h"

#include "work/spool.h"

/* Answers yes from the n-th question on. */
static bool is_enough(void *context)
{
	size_t *left = context;

	return !*left || !--*left;
}

static void assert_place(const struct spool_place *place, const struct buf *library,
						 const struct plan_module *module)
{
	struct buf bytes;

	assert_non_null(place->path);
	assert_int_equal(place->size_bytes, module->container_bytes);
	OK(os_read_file(why, place->path, 1 << 28, &bytes));
	assert_in_range(place->offset + place->size_bytes, 1, bytes.size);
	assert_memory_equal(bytes.data + place->offset, library->data + module->container_offset,
						module->container_bytes);
	buf_free(&bytes);
}

/* One library, as a file and in a wheel, has two modules to compile each. */
TEST(containers_are_taken_out_of_wheels)
{
	static char member[] = "lib/a.so";
	struct buf library = make_buf(), wheel = make_buf();
	struct plan_file files[2] = {{0}};
	struct plan_module modules[4] = {{0}};
	struct plan plan = {.files = files, .file_count = 2, .modules = modules, .module_count = 4};
	struct spool spool;
	size_t questions = SIZE_MAX, stopped = 0;
	int result;

	make_library(&library, 2 << 20);
	make_archive(&wheel, false, "zip:compression=deflate",
				 (struct packed_file[]){{member, &library}}, 1);
	files[0].path = write_file("a.so", &library);
	files[1].path = write_file("a.whl", &wheel);
	files[1].member = member;
	for (size_t i = 0; i < 4; i++) {
		modules[i].file = i % 2;
		modules[i].container_offset = i < 2 ? library.size - 300 : library.size / 2;
		modules[i].container_bytes = i < 2 ? 100 : 70000;
	}
	OK(spool_fill(why, &plan, folder, NULL, NULL, &(struct jw_cancel){&questions, is_enough},
				  &spool));
	for (size_t i = 0; i < 4; i++)
		assert_place(&spool.places[i], &library, &modules[i]);
	assert_string_equal(spool.places[2].path, files[0].path);
	assert_string_not_equal(spool.places[3].path, files[1].path);
	spool_free(&spool);

	/* Ctrl-C takes effect within one member, and leaves no partial spool. */
	do {
		questions = ++stopped;
		result = spool_fill(why, &plan, folder, NULL, NULL,
							&(struct jw_cancel){&questions, is_enough}, &spool);
		if (result)
			assert_int_equal(why->code, JW_ERR_INTERRUPTED);
	} while (result);
	assert_true(stopped > 4);
	spool_free(&spool);
	mem_free(files[0].path);
	mem_free(files[1].path);
	buf_free(&library);
	buf_free(&wheel);
}

static void count_trouble(void *context, const char *line)
{
	++*(unsigned *)context;
	assert_true(*line != '\0');
}

/* Two members of one archive, and a file compressed as a whole: each wanted container gets a place
 * of its own. */
TEST(each_container_has_one_place)
{
	static char members[2][9] = {"lib/a.so", "lib/b.so"};
	struct buf first = make_buf(), second = make_buf(), wheel = make_buf(), packed = make_buf();
	struct plan_file files[3] = {{0}};
	struct plan_module modules[7] = {{0}};
	static const uint32_t file_of[7] = {0, 1, 0, 2, 0, 1, 0};
	const struct plan plan = {
		.files = files, .file_count = 3, .modules = modules, .module_count = 7};
	struct spool spool;
	unsigned troubles = 0;

	make_library(&first, 3 << 20);
	make_library(&second, 3 << 20);
	for (size_t i = 0; i < 3 << 20; i++)
		first.data[1000 + i] = (uint8_t)(i >> 8);
	make_archive(&wheel, false, "zip:compression=deflate",
				 (struct packed_file[]){{members[0], &first}, {members[1], &second}}, 2);
	make_zstd(&packed, &first);
	files[0].path = files[1].path = write_file("two.whl", &wheel);
	files[0].member = members[0];
	files[1].member = members[1];
	files[2].path = write_file("packed.so", &packed);
	for (size_t i = 0; i < 7; i++) {
		modules[i].file = file_of[i];
		modules[i].container_offset = 5000;
		modules[i].container_bytes = 2 << 20;
	}
	/* one warm module; one beyond the end */
	modules[4].state = PLAN_WARM;
	modules[5].container_offset = second.size;
	modules[6].container_offset = 4000;
	modules[6].container_bytes = 10;
	OK(spool_fill(why, &plan, folder, count_trouble, &troubles, NULL, &spool));
	for (size_t i = 0; i < 4; i++)
		assert_place(&spool.places[i], file_of[i] == 1 ? &second : &first, &modules[i]);
	assert_place(&spool.places[6], &first, &modules[6]);
	assert_int_equal(spool.places[0].offset, spool.places[2].offset);
	assert_null(spool.places[4].path);
	assert_null(spool.places[5].path);
	assert_int_equal(troubles, 1);
	spool_free(&spool);
	mem_free(files[0].path);
	mem_free(files[2].path);
	buf_free(&first);
	buf_free(&second);
	buf_free(&wheel);
	buf_free(&packed);
}

RUN_TESTS(make_folder, remove_folder)
