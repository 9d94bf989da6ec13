/* The images of an archive, one after the other: the facts of one do not affect the next. */
#include "make_archive.h"

#include <stdatomic.h>

#include "plan/analyse.h"
#include "plan_paths.h"
#include "small_modules.h"

static struct buf library_of(unsigned number)
{
	struct buf data = make_buf(), file = make_buf();

	small_put(&data, number, 70, "");
	make_elf(&file, MAKE_ELF_X86_64,
			 &(struct make_section){.name = ".nv_fatbin", data.data, data.size}, 1);
	buf_free(&data);
	return file;
}

/* The containers are read before it is known that the section headers are missing. */
TEST(a_library_that_is_cut_off_spoils_no_other)
{
	const struct jw_target target = {86, 0};
	const struct plan_request request = {
		.targets = &target,
		.target_count = 1,
		.profile = &(struct cache_profile){.stamp = ""},
	};
	struct buf cut = library_of(1), whole = library_of(2), archive = make_buf();
	const struct packed_file files[] = {{"a/cut.so", &cut}, {"a/whole.so", &whole}};
	struct plan *plan;
	char *path;

	cut.size -= 64;
	make_archive(&archive, false, "zip:compression=deflate", files, 2);
	path = keep(write_file("a-1.0-py3-none-any.whl", &archive));
	OK(plan_paths(why, &request, (const char *[]){path}, 1, &plan));
	assert_int_equal(plan->troubles, 1);
	assert_int_equal(plan->module_count, 1);
	assert_string_equal(plan->files[plan->modules[0].file].member, "a/whole.so");
	plan_free(plan);
	buf_free(&cut);
	buf_free(&whole);
	buf_free(&archive);
}

/* The output of a pass over a wheel: the names of its images, and of files that cannot be read. */
struct told {
	char text[256];
	size_t most; /* from this number on, images are refused */
	size_t count;
	atomic_size_t asked; /* how often all threads ask whether to cancel */
	size_t cancel_at;
};

static int tell_name(struct jw_error *err, void *context, const struct analyse_image *image)
{
	struct told *told = context;
	const size_t used = strlen(told->text);

	if (told->count++ == told->most)
		return error_set(err, JW_ERR_IO, "no more");
	(void)snprintf(told->text + used, sizeof told->text - used, "%s %zu\n", image->scan.member,
				   image->module_count);
	return 0;
}

static void tell_name_of_trouble(void *context, const char *path, const char *member,
								 const struct jw_error *reason)
{
	struct told *told = context;
	const size_t used = strlen(told->text);

	(void)path;
	(void)reason;
	(void)snprintf(told->text + used, sizeof told->text - used, "!%s\n", member);
}

static bool ask_cancel(void *context)
{
	struct told *told = context;

	return ++told->asked > told->cancel_at;
}

static int pass(const char *path, struct told *told)
{
	const struct jw_target target = {86, 0};
	const struct analyse_question question = {.targets = &target, .target_count = 1};
	const struct analyse_sink sink = {.context = told,
									  .image = tell_name,
									  .trouble = tell_name_of_trouble,
									  .cancel = {told, ask_cancel}};

	*why = (struct jw_error){0};
	return analyse_path(why, path, &question, &sink);
}

/* The images come in this order, whichever thread reads them and whenever they are ready. */
TEST(large_libraries_are_told_in_their_order)
{
	static const char *const names[] = {"a.so", "b.so", "c.so", "d.so",
										"e.so", "f.so", "g.so", "h.so"};
	static const char *const wanted =
		"a.so 1\nb.so 1\nc.so 1\n!d.so\ne.so 1\nf.so 1\ng.so 1\nh.so 1\n";
	struct buf libraries[8], room = make_buf(), wheel = make_buf();
	struct packed_file files[8];
	char *path;

	make_zeros(&room, 17 << 20);
	for (unsigned i = 0; i < 8; i++) {
		struct buf data = make_buf();

		libraries[i] = make_buf();
		small_put(&data, i, 70, "");
		make_elf(&libraries[i], MAKE_ELF_X86_64,
				 (struct make_section[]){
					 {.name = ".nv_fatbin", data.data, data.size},
					 {.name = ".rodata", room.data, i % 2 || i > 4 ? room.size : 8},
				 },
				 2);
		buf_free(&data);
		files[i] = (struct packed_file){names[i], &libraries[i]};
	}
	libraries[3].size -= 64;
	make_archive(&wheel, false, "zip:compression=deflate,compression-level=1", files, 8);
	path = keep(write_file("large-1.0-py3-none-any.whl", &wheel));
	for (size_t round = 0; round < 5; round++) {
		struct told told = {.most = SIZE_MAX, .cancel_at = SIZE_MAX};

		OK(pass(path, &told));
		assert_string_equal(told.text, wanted);
	}
	/* An image is refused, or the pass is cancelled, at any point. */
	for (size_t most = 0; most < 7; most++) {
		struct told told = {.most = most, .cancel_at = SIZE_MAX};

		assert_int_equal(pass(path, &told), -1);
		assert_string_equal(why->message, "no more");
		assert_int_equal(told.count, most + 1);
		told = (struct told){.most = SIZE_MAX, .cancel_at = most * 60};
		assert_int_equal(pass(path, &told), -1);
		assert_int_equal(why->code, JW_ERR_INTERRUPTED);
		assert_memory_equal(told.text, wanted, strlen(told.text));
	}
	for (size_t i = 0; i < 8; i++)
		buf_free(&libraries[i]);
	buf_free(&room);
	buf_free(&wheel);
}

/* The files after the last large library, which is read alone, form one part, with more of them. */
TEST(a_wheel_may_have_any_number_of_large_libraries)
{
	enum { COUNT = 18 };
	struct told told = {.most = SIZE_MAX, .cancel_at = SIZE_MAX};
	struct buf room = make_buf(), library = make_buf(), wheel = make_buf(), data = make_buf();
	struct packed_file files[COUNT];
	char names[COUNT][8], wanted[256] = "", *path;

	make_zeros(&room, 17 << 20);
	small_put(&data, 1, 70, "");
	make_elf(&library, MAKE_ELF_X86_64,
			 (struct make_section[]){{.name = ".nv_fatbin", data.data, data.size},
									 {.name = ".rodata", room.data, room.size}},
			 2);
	for (unsigned i = 0; i < COUNT; i++) {
		const size_t used = strlen(wanted);

		(void)snprintf(names[i], sizeof names[i], "%u.so", i % 100);
		files[i] = (struct packed_file){names[i], &library};
		(void)snprintf(wanted + used, sizeof wanted - used, "%s 1\n", names[i]);
	}
	make_archive(&wheel, false, "zip:compression=deflate,compression-level=1", files, COUNT);
	path = keep(write_file("many-1.0-py3-none-any.whl", &wheel));
	OK(pass(path, &told));
	assert_string_equal(told.text, wanted);
	buf_free(&room);
	buf_free(&library);
	buf_free(&wheel);
	buf_free(&data);
}

RUN_TESTS(make_folder, remove_folder)
