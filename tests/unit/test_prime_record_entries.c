/* The recorder lists a command's modules in the order in which their entries were written. */
#include "inserting.h"

#include "base/arena.h"
#include "prime/record_entries.h"

static void write_time(unsigned n, int64_t second)
{
	char *path = keep(cache_entry_path(dir, key_of(n)));

	check_set_mtime(path, second * 1000000000);
}

/* The order is that in which the program needs the modules, since an insert evicts the oldest
 * first. */
TEST(modules_have_the_order_in_which_they_were_written)
{
	static const unsigned order[] = {2, 3, 1};
	const struct jw_system system = {0};
	const struct jw_record_options options = {0};
	struct recorder recorder = {.system = &system, .options = &options, .cache_dir = dir};
	struct jw_recording *recording;

	start_anew();
	fill(1, 3);
	for (unsigned i = 0; i < 3; i++)
		write_time(order[i], 1000000000 + i);
	recorder.result = arena_open(sizeof *recorder.result);
	recorder.result->recording = recording = arena_open(sizeof *recording);
	arena_join(recorder.result, recording);
	OK(record_read_entries(why, &recorder));
	assert_int_equal(recording->module_count, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(recording->modules[i].key, key_of(order[i]));
		assert_int_equal(recorder.entries[i].written_ns, (1000000000 + i) * INT64_C(1000000000));
	}
	mem_free(recorder.entries);
	jw_result_free(recorder.result);
}

RUN_TESTS(make_folder, remove_folder)
