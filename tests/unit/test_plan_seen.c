/* The images of an archive, one after the other: what is seen of one stays out of the next. */
#include "make_archive.h"

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

/* Its containers are read before it is known that its section headers are missing. */
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
	path = write_file("a-1.0-py3-none-any.whl", &archive);
	OK(plan_paths(why, &request, (const char *[]){path}, 1, &plan));
	assert_int_equal(plan->troubles, 1);
	assert_int_equal(plan->module_count, 1);
	assert_string_equal(plan->files[plan->modules[0].file].member, "a/whole.so");
	plan_free(plan);
	mem_free(path);
	buf_free(&cut);
	buf_free(&whole);
	buf_free(&archive);
}

RUN_TESTS(make_folder, remove_folder)
