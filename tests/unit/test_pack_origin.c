/* Modules that are looked for in files: which are found, in which member, and what ends the search.
 */
#include "make_archive.h"

#include "lacking.h"
#include "pack/origin.h"

/* As they are in files, and the bytes of each that keys have. */
static const struct {
	const char *payload;
	size_t size, key_size;
	enum devcode_compression compression;
	uint32_t kind;
	bool never;
} texts[] = {
	{"alpha of one size", 18, 18, DEVCODE_LZ4, 0, false},
	{"gamma of one size", 18, 18, DEVCODE_ZSTD, 0, false},
	{"fifteen letters", 16, 15, DEVCODE_RAW, 0, false},
	{"with three NULs of it\0\0", 24, 21, DEVCODE_LZ4, DEVCODE_KIND_RELOCATABLE_PTX, false},
	{"raw one of three!\0\0\0\0", 22, 17, DEVCODE_RAW, DEVCODE_KIND_RELOCATABLE_PTX, false},
	{"machine code is none", 21, 21, DEVCODE_LZ4, DEVCODE_KIND_CUBIN, true},
};
enum { TEXTS = sizeof texts / sizeof *texts };

static char *library;
static const char *paths[2];

/* How many payloads the search has given, of which the last one fails; how many troubles it met. */
struct given {
	size_t payloads, fails_at, troubles;
	const struct origin_module *modules;
};

static int take(struct jw_error *err, void *context, const struct origin_module *module,
				const uint8_t *data)
{
	struct given *given = context;

	assert_memory_equal(data, texts[module->at].payload, module->size_bytes);
	if (++given->payloads == given->fails_at)
		return error_set(err, JW_ERR_IO, "no room");
	return 0;
}

static void meet(void *context, size_t file, const struct jw_error *why)
{
	struct given *given = context;

	assert_int_equal(file, 0);
	assert_true(*why->message);
	given->troubles++;
}

static void fill_modules(struct origin_module *modules)
{
	for (uint32_t i = 0; i < TEXTS; i++) {
		modules[i] = (struct origin_module){.size_bytes = texts[i].key_size, .at = i};
		digest_of(&modules[i].digest, texts[i].payload, texts[i].key_size);
	}
}

static void add_image(struct buf *archive, const char *name, const struct buf *code)
{
	const struct make_section section = {
		.name = ".nv_fatbin", .data = code->data, .size = code->size};
	struct buf elf = make_buf();

	make_elf(&elf, MAKE_ELF_X86_64, &section, 1);
	add_member(archive, name, elf.data, elf.size);
	buf_free(&elf);
}

/* A static library: the first text is broken in its first member; in the second are all of them,
 * and in the third, after a broken one, the first again. */
static int begin(void **state)
{
	struct buf archive = make_buf(), codes[3];

	if (make_folder(state))
		return -1;
	make_bytes(&archive, "!<arch>\n", 8);
	for (size_t member = 0; member < 3; member++) {
		codes[member] = make_buf();
		for (size_t i = 0; i < (member == 1 ? TEXTS : 1); i++) {
			const struct write_ptx ptx = {.payload = texts[i].payload,
										  .payload_size = texts[i].size,
										  .isa_major = 8,
										  .target = {.sm = 80},
										  .compression = texts[i].compression,
										  .kind = texts[i].kind};

			assert_int_equal(write_container(NULL, &ptx, &codes[member]), 0);
		}
		if (member != 1)
			memset(codes[member].data + codes[member].size - 24, 0xff, 24);
		add_image(&archive, member == 1 ? "second.o/" : "other.o/", &codes[member]);
		buf_free(&codes[member]);
	}
	add_member(&archive, "broken.o/",
			   "\x7f"
			   "ELF\2\1\1",
			   7);
	make_pad(&archive, 2);
	library = os_join(NULL, folder, "lib.a");
	paths[0] = library;
	paths[1] = "no/such/file";
	assert_int_equal(os_write_atomic(NULL, library, archive.data, archive.size), 0);
	buf_free(&archive);
	return 0;
}

static int end(void **state)
{
	mem_free(library);
	return remove_folder(state);
}

static void each_text_is_found_in_its_member(void **state)
{
	(void)state;
	for (int told = 0; told < 2; told++) {
		struct origin_module *modules = mem_array(NULL, TEXTS, sizeof *modules);
		struct given given = {0};
		struct origin_search search = {.paths = paths,
									   .path_count = 1,
									   .modules = modules,
									   .module_count = TEXTS,
									   .context = &given,
									   .payload = told ? take : NULL,
									   .trouble = told ? meet : NULL};

		fill_modules(modules);
		assert_int_equal(origin_find(NULL, &search), 0);
		for (size_t i = 0; i < TEXTS; i++) {
			if (texts[i].never) {
				assert_false(modules[i].found);
				continue;
			}
			assert_true(modules[i].found);
			assert_int_equal(modules[i].file, 0);
			assert_string_equal(modules[i].member, "second.o");
		}
		assert_int_equal(given.payloads, told ? TEXTS - 1 : 0);
		assert_int_equal(given.troubles, told);
		origin_free(modules, TEXTS);
	}
}

/* Nothing is read when all are found. */
static void the_search_ends_with_the_last(void **state)
{
	struct origin_module *modules = mem_array(NULL, TEXTS, sizeof *modules);
	struct given given = {0};
	struct origin_search search = {.paths = paths,
								   .path_count = 2,
								   .modules = modules,
								   .module_count = 5,
								   .context = &given,
								   .payload = take,
								   .trouble = meet};

	(void)state;
	fill_modules(modules);
	assert_int_equal(origin_find(NULL, &search), 0);
	assert_int_equal(given.payloads, 5);
	assert_int_equal(given.troubles, 0);
	origin_free(modules, TEXTS);
}

/* The receiver's error, at whichever text. */
static void a_receivers_failure_ends_it(void **state)
{
	(void)state;
	for (size_t at = 1; at < TEXTS; at++) {
		struct origin_module *modules = mem_array(NULL, TEXTS, sizeof *modules);
		struct given given = {.fails_at = at};
		struct origin_search search = {.paths = paths,
									   .path_count = 1,
									   .modules = modules,
									   .module_count = TEXTS,
									   .context = &given,
									   .payload = take};
		struct jw_error err = {0};

		fill_modules(modules);
		assert_int_equal(origin_find(&err, &search), -1);
		assert_int_equal(err.code, JW_ERR_IO);
		assert_string_equal(err.message, "no room");
		assert_int_equal(given.payloads, at);
		origin_free(modules, TEXTS);
	}
}

static bool at_once(void *context)
{
	(void)context;
	return true;
}

static void an_end_is_an_error(void **state)
{
	struct origin_module *modules = mem_array(NULL, TEXTS, sizeof *modules);
	struct origin_search search = {.paths = paths,
								   .path_count = 1,
								   .modules = modules,
								   .module_count = TEXTS,
								   .cancel.is_cancelled = at_once};
	struct jw_error err = {0};

	(void)state;
	fill_modules(modules);
	assert_int_equal(origin_find(&err, &search), -1);
	assert_int_equal(err.code, JW_ERR_INTERRUPTED);
	/* For none there is nothing to read. */
	search.module_count = 0;
	assert_int_equal(origin_find(&err, &search), 0);
	origin_free(modules, TEXTS);
}

static bool lacked;

static void note_lack(void *context, size_t file, const struct jw_error *why)
{
	(void)context;
	(void)file;
	lacked = lacked || why->code == JW_ERR_MEMORY;
}

static int find_all(struct jw_error *err, void *context)
{
	struct origin_module *modules = context;
	struct origin_search search = {.paths = paths,
								   .path_count = 1,
								   .modules = modules,
								   .module_count = TEXTS,
								   .trouble = note_lack};
	int result;

	lacked = false;
	fill_modules(modules);
	result = origin_find(err, &search);
	for (size_t i = 0; i < TEXTS; i++) {
		if (!result && !lacked && !texts[i].never) {
			assert_true(modules[i].found);
			assert_string_equal(modules[i].member, "second.o");
		}
		mem_free(modules[i].member);
	}
	return result;
}

/* Or a trouble of a member. */
static void a_lack_of_memory_is_an_error(void **state)
{
	struct origin_module modules[TEXTS];

	(void)state;
	each_allocation_lacks(find_all, modules);
}

/* For an export all PTX, for an import the PTX that is needed and is not in the pack. */
static void the_ptx_of_a_manifest_is_looked_for(void **state)
{
	struct pack_member members[4] = {{.kind = PACK_PTX, .size_bytes = 10},
									 {.kind = PACK_CUBIN, .size_bytes = 11},
									 {.kind = PACK_PTX, .size_bytes = 12, .thin = true},
									 {.kind = PACK_PTX, .size_bytes = 13, .thin = true}};
	static const bool needed[] = {true, true, true, false};
	const struct pack_manifest manifest = {.members = members, .member_count = 4};

	(void)state;
	for (int some = 0; some < 2; some++) {
		static const uint32_t wanted[2][3] = {{0, 2, 3}, {2, 0, 0}};
		struct origin_module *modules;
		size_t count;

		assert_int_equal(origin_modules(NULL, &manifest, some ? needed : NULL, &modules, &count),
						 0);
		assert_int_equal(count, some ? 1 : 3);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(modules[i].at, wanted[some][i]);
			assert_int_equal(modules[i].size_bytes, 10 + wanted[some][i]);
			assert_false(modules[i].found);
		}
		origin_free(modules, count);
	}
	{
		struct origin_module *modules = NULL;
		size_t count = 0;

		STARVE(origin_modules(&err, &manifest, NULL, &modules, &count),
			   origin_free(modules, count));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_text_is_found_in_its_member),
		cmocka_unit_test(the_search_ends_with_the_last),
		cmocka_unit_test(a_receivers_failure_ends_it),
		cmocka_unit_test(an_end_is_an_error),
		cmocka_unit_test(a_lack_of_memory_is_an_error),
		cmocka_unit_test(the_ptx_of_a_manifest_is_looked_for),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
