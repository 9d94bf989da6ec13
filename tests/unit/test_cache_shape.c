/* How a cache lost its entries, from what its folders were and are. */
#include "check.h"

#include "cache/shape.h"
#include "os/file.h"

static struct cache_shape shape_of(uint64_t folder, uint64_t index, uint64_t witness, uint64_t part)
{
	struct cache_shape shape = {folder, index, witness, {0}};

	shape.parts[3] = part;
	shape.parts[9] = part ? part + 1 : 0;
	return shape;
}

static void a_loss_is_told_from_the_folders(void **state)
{
	const uint64_t unknown = OS_UNIDENTIFIED;
	const struct {
		const char *what;
		struct cache_shape before, now;
		enum cache_loss loss;
	} cases[] = {
		{"never seen", shape_of(0, 0, 0, 0), shape_of(1, 2, 3, 4), CACHE_LOSS_NONE},
		{"never seen, now without identities", shape_of(0, 0, 0, 0), shape_of(unknown, 2, 3, 4),
		 CACHE_LOSS_NONE},
		{"no identities", shape_of(unknown, 2, 3, 4), shape_of(1, 2, 3, 4), CACHE_LOSS_UNKNOWN},
		{"no identities now", shape_of(1, 2, 3, 4), shape_of(unknown, 2, 3, 4), CACHE_LOSS_UNKNOWN},
		{"another folder", shape_of(1, 2, 3, 4), shape_of(9, 2, 3, 4), CACHE_LOSS_REPLACED},
		{"the folder is gone", shape_of(1, 2, 3, 4), shape_of(0, 0, 0, 0), CACHE_LOSS_REPLACED},
		{"evictions", shape_of(1, 2, 3, 4), shape_of(1, 2, 3, 4), CACHE_LOSS_NONE},
		{"a new index beside old parts", shape_of(1, 2, 3, 4), shape_of(1, 8, 3, 4),
		 CACHE_LOSS_NONE},
		{"no parts before", shape_of(1, 2, 3, 0), shape_of(1, 8, 3, 4), CACHE_LOSS_NONE},
		{"a wipe by an insert", shape_of(1, 2, 3, 4), shape_of(1, 2, 3, 7), CACHE_LOSS_INDEX},
		{"an index without identity", shape_of(1, unknown, 3, 4), shape_of(1, unknown, 3, 7),
		 CACHE_LOSS_UNSURE},
		{"no index at either time", shape_of(1, 0, 3, 4), shape_of(1, 0, 3, 7), CACHE_LOSS_UNSURE},
		{"no witness", shape_of(1, 2, 0, 4), shape_of(1, 8, 0, 7), CACHE_LOSS_UNSURE},
		{"a witness without identity", shape_of(1, 2, unknown, 4), shape_of(1, 8, unknown, 7),
		 CACHE_LOSS_UNSURE},
		{"emptied by hand", shape_of(1, 2, 3, 4), shape_of(1, 8, 0, 7), CACHE_LOSS_EMPTIED},
		{"a wipe by a look-up", shape_of(1, 2, 3, 4), shape_of(1, 8, 3, 7), CACHE_LOSS_WIPED},
		{"an insert without an index", shape_of(1, 0, 3, 4), shape_of(1, 8, 3, 7),
		 CACHE_LOSS_INDEX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const enum cache_loss loss = cache_shape_compare(&cases[i].before, &cases[i].now);

		if (loss != cases[i].loss)
			fail_msg("%s: %d, not %d", cases[i].what, (int)loss, (int)cases[i].loss);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_loss_is_told_from_the_folders)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
