/* The inventory returns exactly the facts read from a file, and only while the file is
 * unchanged. */
#include "make_devcode.h"

#include <uv.h>

#include "files.h"
#include "os/clock.h"
#include "os/folders.h"
#include "plan/inventory.h"

static const struct cache_profile profile = {.stamp = "Jun 25 202401:14:48"};
static const struct cache_profile other_profile = {.stamp = "Apr  8 202512:10:18"};

static char library[] = "lib/a.so", other_library[] = "lib/b.so";

static struct jw_found_file file_of(uint64_t inode)
{
	return (struct jw_found_file){.path = library,
								  .size_bytes = 1000,
								  .mtime_ns = INT64_C(1600000000000000000),
								  .changed_ns = INT64_C(1600000000000000001),
								  .device = 7,
								  .inode = inode};
}

static struct analyse_question question_of(const struct cache_profile *stamp,
										   const struct jw_target *targets, size_t count)
{
	return (struct analyse_question){
		.targets = targets, .target_count = count, .driver = {12040, {550, 163, 1}}, stamp};
}

static const struct jw_scan_count counts[] = {{2, {90, 'a'}, 3, UINT64_C(1) << 33},
											  {1, {52, 0}, 4, 5}};

static const struct jw_target gpus[] = {{86, 0}, {90, 0}, {120, 0}};

/* Each member is saved. */
static const struct jw_piece_entry entries[] = {
	{.kind = 1,
	 .target = {90, 0},
	 .text = {90, 'a'},
	 .isa_major = 8,
	 .isa_minor = 4,
	 .zstd = true,
	 .relocatable = true,
	 .modules = 41,
	 .ptx_bytes = UINT64_C(1) << 40,
	 .cache_bytes = 42,
	 .cost_ms = 43,
	 .longest_ms = 44},
	{.kind = 2, .target = {80, 0}, .cuda = 12000, .toolkit = 12040, .damaged = true}};
static const struct jw_piece pieces[] = {
	{.containers = 31,
	 .role = DEVCODE_LOOSE,
	 .linked = true,
	 .empty = true,
	 .edited = true,
	 .kernels = "",
	 .entries = entries,
	 .entry_count = 2},
	{.containers = 32, .kernels = "", .entries = entries + 1, .entry_count = 1}};

static void check_pieces(const struct jw_scan_image *image)
{
	assert_int_equal(image->piece_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct jw_piece *got = &image->pieces[i];

		assert_int_equal(got->containers, pieces[i].containers);
		assert_int_equal(got->role, pieces[i].role);
		assert_int_equal(got->linked, pieces[i].linked);
		assert_int_equal(got->empty, pieces[i].empty);
		assert_int_equal(got->edited, pieces[i].edited);
		assert_int_equal(got->entry_count, pieces[i].entry_count);
		for (size_t k = 0; k < got->entry_count; k++) {
			const struct jw_piece_entry *a = &got->entries[k], *b = &pieces[i].entries[k];

			assert_true(a->kind == b->kind && jw_target_equal(a->target, b->target) &&
						jw_target_equal(a->text, b->text));
			assert_true(a->isa_major == b->isa_major && a->isa_minor == b->isa_minor);
			assert_true(a->cuda == b->cuda && a->toolkit == b->toolkit && a->zstd == b->zstd);
			assert_true(a->relocatable == b->relocatable && a->damaged == b->damaged);
			assert_true(a->modules == b->modules && a->ptx_bytes == b->ptx_bytes);
			assert_true(a->cache_bytes == b->cache_bytes && !(a->cost_ms < b->cost_ms) &&
						!(a->cost_ms > b->cost_ms) && !(a->longest_ms < b->longest_ms));
		}
	}
}

/* Two images of a file, one of them a member, with a module for each target in the second. */
static void remember(struct inventory *inventory, const struct jw_found_file *file,
					 const struct analyse_question *question, uint64_t seed)
{
	struct plan_module modules[3] = {0};
	struct analyse_image image = {
		.scan = {.path = file->path, .library = true, .pieces = pieces, .piece_count = 2}};

	for (size_t t = 0; t < question->target_count; t++) {
		modules[t] = (struct plan_module){.target = (uint32_t)t,
										  .role = DEVCODE_LOOSE,
										  .form = CACHE_KEY_LINK,
										  .container_offset = 64,
										  .container_bytes = 4096,
										  .entry_offset = 80,
										  .payload_bytes = 777,
										  .key = seed * 1000 + t,
										  .key_bytes = 800,
										  .drivers = UINT64_C(1) << 32 | 1,
										  .features = {11, 12, 13, t % 2 == 0, true}};
	}
	inventory_begin(inventory, file, question);
	inventory_image(inventory, &image);
	image.scan.member = "b.so";
	image.scan.library = false;
	image.modules = modules;
	image.module_count = question->target_count;
	analyse_divide_counts(&image.scan, counts, sizeof counts / sizeof *counts);
	image.scan.format = DEVCODE_PE;
	image.scan.size_bytes = UINT64_C(1) << 34;
	image.scan.containers = 21;
	image.scan.damaged = 22;
	image.scan.wrappers_known = image.scan.runtime_shared = true;
	image.unreadable = 23;
	image.scan.ptx_bytes = UINT64_C(1) << 35;
	image.scan.runtime_cuda = 12040;
	inventory_image(inventory, &image);
	inventory_end(inventory);
}

struct replayed {
	size_t images, modules;
	uint64_t seed;
	size_t targets;
};

static int check_image(struct jw_error *err, void *context, const struct analyse_image *image)
{
	struct replayed *replayed = context;

	(void)err;
	assert_string_equal(image->scan.path, "lib/a.so");
	if (!replayed->images++) {
		assert_null(image->scan.member);
		assert_true(image->scan.library);
		assert_int_equal(image->module_count, 0);
	} else {
		assert_string_equal(image->scan.member, "b.so");
		assert_false(image->scan.library);
		assert_int_equal(image->scan.cubin_count, 1);
		assert_int_equal(image->scan.ptx_count, 1);
		assert_int_equal(image->scan.other_count, 0);
		assert_memory_equal(image->scan.cubins, counts, sizeof counts);
		assert_int_equal(image->scan.format, DEVCODE_PE);
		assert_int_equal(image->scan.size_bytes, UINT64_C(1) << 34);
		assert_int_equal(image->scan.containers, 21);
		assert_int_equal(image->scan.damaged, 22);
		assert_true(image->scan.wrappers_known && image->scan.runtime_shared);
		assert_int_equal(image->unreadable, 23);
		assert_int_equal(image->scan.ptx_bytes, UINT64_C(1) << 35);
		assert_int_equal(image->scan.runtime_cuda, 12040);
	}
	check_pieces(&image->scan);
	for (size_t i = 0; i < image->module_count; i++) {
		const struct plan_module *module = &image->modules[i];

		assert_int_equal(module->key, replayed->seed * 1000 + module->target);
		assert_int_equal(module->form, CACHE_KEY_LINK);
		assert_int_equal(module->role, DEVCODE_LOOSE);
		assert_int_equal(module->container_bytes, 4096);
		assert_int_equal(module->entry_offset, 80);
		assert_int_equal(module->payload_bytes, 777);
		assert_int_equal(module->key_bytes, 800);
		assert_int_equal(module->features.statements, 11);
		assert_int_equal(module->features.divisions, 12);
		assert_int_equal(module->features.entries, 13);
		assert_int_equal(module->features.line_info, module->target % 2 == 0);
		assert_true(module->features.managed);
		assert_int_equal(module->drivers, UINT64_C(1) << 32 | 1);
		replayed->modules++;
	}
	return 0;
}

static bool replay(struct inventory *inventory, const struct jw_found_file *file,
				   const struct analyse_question *question, uint64_t seed)
{
	struct replayed replayed = {.seed = seed, .targets = question->target_count};
	bool known = true;

	OK(inventory_replay(why, inventory, file, question, check_image, &replayed, &known));
	assert_int_equal(replayed.images, known ? 2 : 0);
	assert_int_equal(replayed.modules, known ? question->target_count : 0);
	return known;
}

TEST(another_file_is_not_known)
{
	struct analyse_question question = question_of(&profile, gpus, 2);
	struct jw_found_file file = file_of(1), changed[6];
	struct inventory *inventory;

	for (size_t i = 0; i < 6; i++)
		changed[i] = file;
	changed[0].size_bytes++;
	changed[1].mtime_ns++;
	changed[2].inode++;
	changed[3].device++;
	changed[4].path = other_library;
	changed[5].changed_ns++;
	inventory = inventory_parse(NULL, 0);
	remember(inventory, &file, &question, 1);
	for (size_t i = 0; i < 6; i++)
		assert_false(replay(inventory, &changed[i], &question, 1));
	/* The new content is remembered from then on. */
	remember(inventory, &changed[0], &question, 2);
	assert_true(replay(inventory, &changed[0], &question, 2));
	inventory_close(inventory);
}

TEST(other_drivers_and_gpus_are_kept_beside_each_other)
{
	const struct analyse_question first = question_of(&profile, gpus, 2);
	const struct analyse_question second = question_of(&other_profile, gpus, 1);
	const struct analyse_question third = question_of(&profile, gpus + 2, 1);
	struct analyse_question newer = first, later = first, fourth = first, kinds[2];
	struct jw_target suffixed[] = {gpus[0], gpus[1]};
	const struct jw_found_file file = file_of(1);
	struct inventory *inventory;

	suffixed[0].suffix = 'a';
	fourth.targets = suffixed;
	newer.driver.release[2]++;
	later.driver.cuda++;
	inventory = inventory_parse(NULL, 0);
	remember(inventory, &file, &first, 1);
	assert_false(replay(inventory, &file, &second, 2));
	assert_false(replay(inventory, &file, &third, 3));
	assert_false(replay(inventory, &file, &newer, 3));
	assert_false(replay(inventory, &file, &later, 3));
	assert_false(replay(inventory, &file, &fourth, 3));
	for (size_t i = 0; i < 2; i++)
		kinds[i] = first;
	kinds[0].verdicts_only = kinds[1].releases = true;
	for (size_t i = 0; i < 2; i++)
		assert_false(replay(inventory, &file, &kinds[i], 3));
	remember(inventory, &file, &second, 2);
	remember(inventory, &file, &third, 3);
	assert_true(replay(inventory, &file, &first, 1));
	assert_true(replay(inventory, &file, &second, 2));
	assert_true(replay(inventory, &file, &third, 3));
	remember(inventory, &file, &first, 4); /* read again */
	assert_true(replay(inventory, &file, &first, 4));
	assert_true(replay(inventory, &file, &second, 2));
	inventory_close(inventory);
}

TEST(a_file_that_was_just_written_is_not_remembered)
{
	const struct analyse_question question = question_of(&profile, gpus, 2);
	struct jw_found_file file = file_of(1);
	struct inventory *inventory;

	inventory = inventory_parse(NULL, 0);
	file.mtime_ns = os_now_s() * INT64_C(1000000000);
	remember(inventory, &file, &question, 1);
	assert_false(replay(inventory, &file, &question, 1));
	/* A file whose modification time was set back counts as changed, too. */
	file.changed_ns = file.mtime_ns;
	file.mtime_ns = INT64_C(1600000000000000000);
	remember(inventory, &file, &question, 1);
	assert_false(replay(inventory, &file, &question, 1));
	inventory_close(inventory);
}

/* The numbers of a file's images, troubles and modules. */
struct seen_file {
	size_t images, troubles, modules;
};

static int see_image(struct jw_error *err, void *context, const struct analyse_image *image)
{
	struct seen_file *seen = context;

	(void)err;
	seen->images++;
	seen->modules += image->module_count;
	return 0;
}

static void see_trouble(void *context, const char *path, const char *member,
						const struct jw_error *what)
{
	struct seen_file *seen = context;

	(void)path;
	(void)member;
	(void)what;
	seen->troubles++;
}

static struct seen_file look_at(struct inventory *inventory, const struct jw_found_file *file,
								const struct analyse_question *question)
{
	struct seen_file seen = {0};
	const struct analyse_sink sink = {.context = &seen, .image = see_image, .trouble = see_trouble};

	OK(inventory_analyse(why, inventory, file, question, &sink));
	return seen;
}

TEST(a_file_is_read_once)
{
	static const char text[] =
		".version 6.3\n.target sm_52\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
	struct analyse_question question = question_of(&profile, gpus, 2);
	struct jw_found_file file = file_of(1), gone = file_of(2);
	struct inventory *inventory = inventory_parse(NULL, 0);
	struct seen_file first, second;
	char *folder;

	OK(os_make_temp_dir(why, "jitwarm-test", &folder));
	files_put_text(folder, "k.ptx", text);
	file.path = os_join(folder, "k.ptx");
	gone.path = os_join(folder, "gone.ptx");
	first = look_at(inventory, &file, &question);
	assert_int_equal(first.images, 1);
	assert_int_equal(first.modules, 2);
	/* A file that cannot be read is not remembered. */
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(look_at(inventory, &gone, &question).troubles, 1);
	OK(os_remove_tree(why, folder));
	second = look_at(inventory, &file, &question);
	assert_memory_equal(&first, &second, sizeof first);
	/* The names of kernels are not in any record. */
	question.kernels = true;
	assert_int_equal(look_at(inventory, &file, &question).troubles, 1);
	question.kernels = false;
	assert_int_equal(look_at(NULL, &file, &question).troubles, 1);
	inventory_close(inventory);
	mem_free(file.path);
	mem_free(gone.path);
	mem_free(folder);
}

/* Returns the path of the one file in a state directory; the caller frees it. */
static char *only_file(const char *folder)
{
	struct os_names names;
	char *path;

	OK(os_list(why, folder, &names));
	assert_int_equal(names.count, 1);
	path = os_join(folder, names.items[0]);
	os_names_free(&names);
	return path;
}

TEST(damage_is_as_if_it_were_not_there)
{
	const struct analyse_question question = question_of(&profile, gpus, 2);
	const struct jw_found_file first = file_of(1), second = file_of(2);
	struct inventory *inventory;
	struct buf file;
	char *folder, *path;
	size_t lost = 0;

	OK(os_make_temp_dir(why, "jitwarm-test", &folder));
	inventory = inventory_open(folder);
	remember(inventory, &first, &question, 1);
	remember(inventory, &second, &question, 2);
	OK(inventory_save(why, inventory));
	inventory_close(inventory);
	path = keep(only_file(folder));
	OK(os_read_file(why, path, 1 << 20, &file));
	for (size_t i = 0; i < file.size; i++) {
		bool known;

		file.data[i] ^= 0x41;
		inventory = inventory_parse(file.data, file.size);
		known = replay(inventory, &first, &question, 1);
		known = replay(inventory, &second, &question, 2) && known;
		lost += !known;
		inventory_close(inventory);
		file.data[i] ^= 0x41;
	}
	assert_int_equal(lost, file.size);
	for (size_t size = 0; size < file.size; size += 3) {
		inventory = inventory_parse(file.data, size);
		assert_false(replay(inventory, &second, &question, 2));
		inventory_close(inventory);
	}
	buf_free(&file);
	OK(os_remove_tree(why, folder));
	mem_free(folder);
}

static void make_older(const char *folder, const char *name, unsigned days)
{
	const double then = (double)os_now_s() - days * 86400.0;
	uv_fs_t request;

	OK(uv_fs_utime(NULL, &request, keep(os_join(folder, name)), then, then, NULL));
	uv_fs_req_cleanup(&request);
}

TEST(another_version_is_not_believed)
{
	static const struct {
		const char *name;
		unsigned days;
		bool stays;
	} old[] = {{"inventory-00000001", 61, false},
			   {"inventory-00000002", 59, true},
			   {"inventory-00000003.abcdef", 61, false},
			   {"inventory-00000004.abcdef", 59, true},
			   {"inventories", 61, true}};
	const struct analyse_question question = question_of(&profile, gpus, 2);
	const struct jw_found_file first = file_of(1);
	struct inventory *inventory;
	char *folder, *path, *other;

	OK(os_make_temp_dir(why, "jitwarm-test", &folder));
	inventory = inventory_open(folder);
	remember(inventory, &first, &question, 1);
	OK(inventory_save(why, inventory));
	inventory_close(inventory);
	path = keep(only_file(folder));
	other = keep(os_join(folder, "inventory-01234567"));
	OK(os_rename(why, path, other));
	inventory = inventory_open(folder);
	assert_false(replay(inventory, &first, &question, 1));
	remember(inventory, &first, &question, 1);
	OK(inventory_save(why, inventory));
	inventory_close(inventory);
	assert_true(os_exists(path) && os_exists(other));
	/* When an inventory is written, those that other versions and copies left two months ago are
	 * removed. */
	for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
		files_put_text(folder, old[i].name, "");
		make_older(folder, old[i].name, old[i].days);
	}
	inventory = inventory_open(folder);
	remember(inventory, &first, &question, 2);
	OK(inventory_save(why, inventory));
	inventory_close(inventory);
	for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
		other = keep(os_join(folder, old[i].name));
		if (os_exists(other) != old[i].stays)
			fail_msg("%s", old[i].name);
	}
	OK(os_remove_tree(why, folder));
	mem_free(folder);
}

RUN_TESTS(NULL, NULL)
