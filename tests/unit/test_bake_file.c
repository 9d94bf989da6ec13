/* Baking one library from a cache gives each container the right code, and no code that is damaged,
 * of another form, or too large. */
#include "entries.h"
#include "files.h"
#include "make_devcode.h"
/* This header must follow those that have parameters with its names. */
#include "folder.h"

#include "bake/bake_file.h"
#include "cache/key.h"
#include "code/container.h"

enum { ROOM = 4096, MAX_KEY = 2048 };

static struct cache_profile profile = {.stamp = "Jun 25 202401:14:48",
									   .trust = JW_TRUST_TABLE,
									   .driver = {.cuda = 12040, .release = {550, 163, 1}}};
static const struct jw_target gpus[] = {{.sm = 86}, {.sm = 90}};

struct text {
	const char *target; /* the target in the text; its entry has only the number */
	uint16_t sm;
	const char *section;
	bool bare; /* the text fills its eight bytes, and has no NUL */
};
static const struct text plain = {.target = "sm_80", .sm = 80, .section = ".nv_fatbin"};

static size_t write_text(char text[256], const struct text *from)
{
	size_t size = (size_t)snprintf(text, 256,
								   ".version 8.0\n.target %s\n.address_size 64\n.visible .entry "
								   "k()\n{\n\tret;\n}\n",
								   from->target);

	if (!from->bare)
		return size + 1;
	while (size % 8)
		text[size++] = '\n';
	return size;
}

/* Machine code of zeros beside the text: one that makes space when compressed, one that is
 * compressed. */
static const uint8_t zeros[ROOM];
static const struct write_cubin roomy = {.cubin = {zeros, sizeof zeros},
										 .target = {.sm = 70},
										 .flags = 0x11,
										 .compression = DEVCODE_RAW};
static const struct write_cubin packed = {.cubin = {zeros, sizeof zeros},
										  .target = {.sm = 90},
										  .flags = 0x11,
										  .compression = DEVCODE_LZ4};

static void add_container(const struct text *from, const struct write_cubin *other,
						  struct buf *containers)
{
	char text[256];
	const struct write_ptx ptx = {.payload = text,
								  .payload_size = write_text(text, from),
								  .isa_major = 8,
								  .target = {.sm = from->sm},
								  .compression = DEVCODE_RAW};
	const size_t at = containers->size;

	OK(write_container(why, &ptx, containers));
	if (other)
		OK(write_cubin_entry(why, other, containers));
	store_u64(containers->data + at + 8, containers->size - at - CONTAINER_HEADER);
}

/* Makes a library with `count` containers: every second one has the other text. */
static char *put_libraries(const struct text *from, const struct text *second,
						   const struct write_cubin *other, size_t count)
{
	struct buf containers = make_buf(), file = make_buf();
	struct make_section section = {.name = from->section};
	char *path = os_join(folder, "library.so");

	for (size_t i = 0; i < count; i++)
		add_container(i % 2 ? second : from, other, &containers);
	section.data = containers.data;
	section.size = containers.size;
	make_elf(&file, MAKE_ELF_X86_64, &section, 1);
	OK(os_write_atomic(why, path, file.data, file.size));
	buf_free(&containers);
	buf_free(&file);
	return path;
}

/* Makes a library with one container, which has the text and other code. Without `roomy` there is
 * no space. */
static char *put_library(const struct text *from, const struct write_cubin *other)
{
	return put_libraries(from, NULL, other, 1);
}

static char *cache_folder(void)
{
	return os_join(folder, "cache");
}

enum damage { NONE, VALUE, KEY };

/* Makes the text's entry for a GPU. `abi` and `sm` are the cubin's; `damage` is to its checksum or
 * name. */
static void put_entry(const struct text *from, uint16_t gpu, uint8_t abi, uint16_t sm,
					  enum damage damage)
{
	uint8_t bytes[CACHE_ENTRY_HEADER + MAX_KEY + ENTRIES_CUBIN];
	char text[256], tail[CACHE_KEY_MAX_TAIL], *key = (char *)bytes + CACHE_ENTRY_HEADER;
	char *cache = keep(cache_folder());
	const bool link = !strcmp(from->section, "__nv_relfatbin");
	const enum cache_key_form form = link ? CACHE_KEY_LINK : CACHE_KEY_LOAD;
	size_t text_size = write_text(text, from), padded = (text_size + 7) / 8 * 8;
	size_t length = (size_t)snprintf(key, MAX_KEY, "%sHOST64sm_%u", profile.stamp, gpu);
	const size_t tail_size = cache_key_tail(tail, form, "", 0);
	uint64_t name;
	uint8_t *value;

	/* Stored raw, the payload has the NULs of its padding, except the last, which is in the key's
	 * tail. */
	memset(key + length, 0, padded);
	memcpy(key + length, text, text_size);
	length += padded - !from->bare;
	memcpy(key + length, tail + from->bare, tail_size - from->bare);
	length += tail_size - from->bare;
	value = (uint8_t *)key + length;
	entries_cubin(value, sm, link);
	if (abi == 8) {
		value[7] = 0x41;
		value[8] = 8;
		store_u32(value + 48, (uint32_t)sm << 8);
	}
	cache_entry_header(bytes, length, ENTRIES_CUBIN, fnv_update(FNV_START, value, ENTRIES_CUBIN));
	name = fnv_update(FNV_START, key, length);
	value[63] ^= damage == VALUE;
	key[40] ^= damage == KEY;
	files_put_at(cache_entry_path(cache, name), bytes, CACHE_ENTRY_HEADER + length + ENTRIES_CUBIN);
}

/* Bakes the library, which it frees, and reads the copy into *ret_seen. */
static struct jw_bake_file bake(char *library, const struct jw_target *targets, size_t count,
								struct make_seen *ret_seen)
{
	char *cache = keep(cache_folder()), *output = keep(os_join(folder, "out/library.so"));
	const struct bake_file_job job = {.cache_dir = cache,
									  .profile = &profile,
									  .targets = targets,
									  .target_count = count,
									  .output = output};
	struct jw_bake_file file = {.path = library};
	struct buf copy;

	OK(os_remove(why, output));
	OK(bake_file(why, &job, &file));
	assert_int_equal(file.failed.code, JW_OK);
	assert_int_equal(os_exists(output), file.output != NULL);
	if (ret_seen && file.output) {
		OK(os_read_file(why, output, 1 << 20, &copy));
		assert_int_equal(make_read(&copy, ret_seen), 0);
		buf_free(&copy);
	}
	mem_free(library);
	return file;
}

static int clear(void **state)
{
	char *cache = keep(cache_folder());

	(void)state;
	OK(os_remove_tree(why, cache));
	return 0;
}

TEST_WITH(whole_code_is_taken, clear, NULL)
{
	struct make_seen seen = {0};
	struct jw_bake_file file;

	put_entry(&plain, 86, 7, 86, NONE);
	file = bake(put_library(&plain, &roomy), gpus, 1, &seen);
	assert_int_equal(file.modules, 1);
	assert_int_equal(file.baked, 1);
	assert_int_equal(seen.entry.kind, DEVCODE_KIND_CUBIN);
	assert_int_equal(seen.entry.target.sm, 86);
	assert_int_equal(seen.entry.target.suffix, 0);
}

TEST_WITH(damaged_code_is_not, clear, NULL)
{
	struct jw_bake_file file;

	for (enum damage damage = VALUE; damage <= KEY; damage++) {
		put_entry(&plain, 86, 7, 86, damage);
		file = bake(put_library(&plain, &roomy), gpus, 1, NULL);
		assert_int_equal(file.baked, 0);
		assert_int_equal(file.uncompiled, 1);
	}
}

/* The key has no NUL either, as in the driver's cache (docs/internals/driver-cache.md). */
TEST_WITH(text_without_a_nul_has_its_code, clear, NULL)
{
	static const struct text bare = {
		.target = "sm_80", .sm = 80, .section = ".nv_fatbin", .bare = true};
	struct jw_bake_file file;

	put_entry(&bare, 86, 7, 86, NONE);
	file = bake(put_library(&bare, &roomy), gpus, 1, NULL);
	assert_int_equal(file.baked, 1);
}

TEST_WITH(code_of_another_form_is_not, clear, NULL)
{
	static const struct {
		uint16_t gpu, sm;
		uint8_t abi;
		uint32_t cuda;
	} cases[] = {{86, 86, 8, 12040},
				 {86, 80, 7, 12040},
				 {120, 120, 7, 12040},
				 {120, 120, 8, 13000}}; /* without the part that its entry would repeat */
	const uint32_t before = profile.driver.cuda;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_target gpu = {.sm = cases[i].gpu};
		struct jw_bake_file file;

		clear(state);
		profile.driver.cuda = cases[i].cuda;
		put_entry(&plain, cases[i].gpu, cases[i].abi, cases[i].sm, NONE);
		file = bake(put_library(&plain, &roomy), &gpu, 1, NULL);
		assert_int_equal(file.baked, 0);
		assert_int_equal(file.unknown, 1);
	}
	profile.driver.cuda = before;
}

/* The library cannot become longer: no segment has the container. */
TEST_WITH(code_without_room_is_counted, clear, NULL)
{
	struct jw_bake_file file;

	put_entry(&plain, 86, 7, 86, NONE);
	file = bake(put_library(&plain, &packed), gpus, 1, NULL);
	assert_int_equal(file.modules, 1);
	assert_int_equal(file.no_room, 1);
	assert_int_equal(file.no_room_why.code, JW_ERR_FORMAT);
}

TEST_WITH(code_has_the_suffix_of_its_text, clear, NULL)
{
	static const struct text exclusive = {.target = "sm_90a", .sm = 90, .section = ".nv_fatbin"};
	struct make_seen seen = {0};

	put_entry(&exclusive, 90, 7, 90, NONE);
	assert_int_equal(bake(put_library(&exclusive, &roomy), &gpus[1], 1, &seen).baked, 1);
	assert_int_equal(seen.entry.target.suffix, 'a');
}

/* Without a linked container, nothing is linked at start. */
TEST_WITH(objects_that_nobody_links_stay, clear, NULL)
{
	static const struct text object = {.target = "sm_80", .sm = 80, .section = "__nv_relfatbin"};
	struct jw_bake_file file;

	put_entry(&object, 86, 7, 86, NONE);
	file = bake(put_library(&object, &roomy), gpus, 1, NULL);
	assert_int_equal(file.modules, 0);
	assert_int_equal(file.baked, 0);
}

/* Returns the containers of a file, each as long as the first. */
static const uint8_t *find_containers(const struct buf *file, size_t *ret_bytes)
{
	static const uint8_t start[] = {0x50, 0xED, 0x55, 0xBA};
	size_t at = 0;

	while (memcmp(file->data + at, start, sizeof start) != 0)
		assert_true(++at + CONTAINER_HEADER < file->size);
	*ret_bytes = CONTAINER_HEADER + (size_t)load_u64(file->data + at + 8);
	return file->data + at;
}

/* The result for each container is the same as if it were alone, at its place. */
TEST_WITH(each_of_many_is_as_one_alone, clear, NULL)
{
	enum { MANY = 400 };
	static const struct text cold = {.target = "sm_75", .sm = 75, .section = ".nv_fatbin"};
	char *output = keep(os_join(folder, "out/library.so")), *library;
	struct buf before = make_buf(), one = make_buf(), many = make_buf();
	const uint8_t *old, *alone, *all;
	size_t bytes, size;
	struct jw_bake_file file;

	put_entry(&plain, 86, 7, 86, NONE);
	(void)bake(put_library(&plain, &roomy), gpus, 1, NULL);
	OK(os_read_file(why, output, 1 << 26, &one));
	library = put_libraries(&plain, &cold, &roomy, MANY);
	OK(os_read_file(why, library, 1 << 26, &before));
	file = bake(library, gpus, 1, NULL);
	assert_int_equal(file.modules, MANY);
	assert_int_equal(file.baked, MANY / 2);
	assert_int_equal(file.uncompiled, MANY / 2);
	OK(os_read_file(why, output, 1 << 26, &many));
	old = find_containers(&before, &bytes);
	alone = find_containers(&one, &size);
	all = find_containers(&many, &size);
	for (size_t i = 0; i < MANY; i++)
		assert_memory_equal(all + i * bytes, i % 2 ? old + i * bytes : alone, bytes);
	buf_free(&before);
	buf_free(&one);
	buf_free(&many);
}

RUN_TESTS(make_folder, remove_folder)
