/* A plan has each module that the driver would compile once for each GPU, under its name, and says
 * which files fail. */
#include "small_modules.h"

#include <stdlib.h>

#include "entries.h"
#include "os/env.h"
#include "plan/build.h"
#include "plan_paths.h"

#define OPTIONS " --generate-line-info "

static const struct cache_profile profile = {
	.stamp = "Jun 25 202401:14:48",
	.trust = JW_TRUST_CONFIRMED,
	.driver = {12050, {555, 58, 2}},
};

static uint64_t key_of(unsigned number, unsigned sm, uint16_t device, enum cache_key_form form,
					   const char *options)
{
	return small_key(&profile, number, sm, device, form, options, NULL);
}

static struct plan *plan_folder(const struct jw_target *targets, size_t count, const char *cache,
								bool everything)
{
	const char *paths[] = {folder};
	const struct plan_request request = {
		.targets = targets,
		.target_count = count,
		.profile = &profile,
		.cache_dir = cache,
		.everything = everything,
	};
	struct plan *plan;

	OK(plan_paths(why, &request, paths, 1, &plan));
	return plan;
}

static const struct plan_module *find(const struct plan *plan, uint64_t key)
{
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].key == key)
			return &plan->modules[i];
	return NULL;
}

static enum plan_state state_of(const struct plan *plan, uint64_t key)
{
	const struct plan_module *module = find(plan, key);

	return module ? module->state : (enum plan_state)99;
}

TEST_WITH(each_module_once_for_each_gpu, make_folder, remove_folder)
{
	const struct jw_target targets[] = {{86, 0}, {90, 0}};
	struct buf first = make_buf(), second = make_buf();
	struct plan *plan;

	small_put(&first, 1, 70, OPTIONS);
	small_put(&first, 2, 70, "");
	small_put(&first, 1, 70, OPTIONS); /* the same again */
	small_put(&first, 1, 70, "");      /* the same text with another key */
	small_put(&first, 3, 90, "");      /* for only one of the two GPUs */
	small_put(&second, 2, 70, "");     /* again in another file */
	small_fatbin_library("a.so", &first);
	small_fatbin_library("b.so", &second);
	plan = plan_folder(targets, 2, NULL, false);
	assert_int_equal(plan->module_count, 3 + 4);
	assert_int_equal(plan->file_count, 2);
	assert_int_equal(plan->note_count, 0); /* the piece for sm_90 alone is none */
	for (size_t i = 0; i < 2; i++) {
		uint16_t sm = targets[i].sm;
		const struct plan_module *module = find(plan, key_of(1, 70, sm, CACHE_KEY_LOAD, OPTIONS));

		assert_non_null(module);
		if (!module)
			break;
		assert_int_equal(module->target, i);
		assert_int_equal(module->state, PLAN_COLD);
		assert_int_equal(module->container_offset, 64);
		assert_int_equal(module->entry_offset, 64 + 16);
		assert_int_equal(module->features.statements, 2);
		assert_int_equal(module->features.divisions, 0);
		assert_int_equal(module->features.entries, 1);
		assert_int_equal(module->form, CACHE_KEY_LOAD);
		assert_string_equal(os_base_name(plan->files[module->file].path), "a.so");
		assert_true(module->features.line_info);
		module = find(plan, key_of(1, 70, sm, CACHE_KEY_LOAD, ""));
		assert_non_null(module);
		assert_true(module && !module->features.line_info);
		assert_non_null(find(plan, key_of(2, 70, sm, CACHE_KEY_LOAD, "")));
	}
	assert_null(find(plan, key_of(3, 90, 86, CACHE_KEY_LOAD, "")));
	assert_non_null(find(plan, key_of(3, 90, 90, CACHE_KEY_LOAD, "")));
	plan_free(plan);
	buf_free(&first);
	buf_free(&second);
}

/* Writes a library with wrappers; the first container of .nv_fatbin is the result of a link. */
static void write_linked(const char *name, unsigned version, const struct buf *linked,
						 const struct buf *inputs)
{
	enum { FATBIN = 0x1000, INPUTS = 0x10000, WRAPPERS = 0x20000 };
	struct buf wrapper = make_buf(), relocation = make_buf();

	make_zeros(&wrapper, 24);
	store_u32(wrapper.data, 0x466243B1);
	store_u32(wrapper.data + 4, version);
	make_zeros(&relocation, 24);
	store_u64(relocation.data, WRAPPERS + 8);
	store_u64(relocation.data + 8, 8);
	store_u64(relocation.data + 16, FATBIN);
	{
		const struct make_section sections[] = {
			{".rela.dyn", relocation.data, relocation.size, 4, 2, 0x200},
			{".nv_fatbin", linked->data, linked->size, 1, 2, FATBIN},
			{"__nv_relfatbin", inputs->data, inputs->size, 1, 2, INPUTS},
			{".nvFatBinSegment", wrapper.data, wrapper.size, 1, 3, WRAPPERS},
		};

		small_library(name, sections, 4);
	}
	buf_free(&wrapper);
	buf_free(&relocation);
}

TEST_WITH(inputs_of_a_link_count_where_it_is_needed, make_folder, remove_folder)
{
	static const struct {
		unsigned version;
		size_t modules;
	} cases[] = {{2, 2}, {1, 0}};
	const struct jw_target target = {86, 0};

	for (size_t i = 0; i < 2; i++) {
		struct buf linked = make_buf(), inputs = make_buf();
		struct plan *plan;

		make_empty_container(&linked);
		small_put(&inputs, 1, 70, "-maxrregcount=96 --compile-only ");
		small_put(&inputs, 2, 70, "");
		small_put(&inputs, 2, 70, "");
		write_linked("linked.so", cases[i].version, &linked, &inputs);
		plan = plan_folder(&target, 1, NULL, false);
		assert_int_equal(plan->module_count, cases[i].modules);
		assert_int_equal(plan->targets[0].link_containers, 3);
		assert_int_equal(plan->targets[0].link_bytes > 0, cases[i].modules > 0);
		if (cases[i].modules) {
			assert_non_null(
				find(plan, key_of(1, 70, 86, CACHE_KEY_LINK, "-maxrregcount=96 --compile-only ")));
			assert_non_null(find(plan, key_of(2, 70, 86, CACHE_KEY_LINK, "")));
			assert_int_equal(plan->modules[0].form, CACHE_KEY_LINK);
		}
		plan_free(plan);
		buf_free(&linked);
		buf_free(&inputs);
	}
}

/* Writes PTX of 17 MB, nearly all of it a comment. */
static void put_large(struct buf *data, char letter)
{
	enum { SIZE = 17000000 };
	static const char start[] = "\n.version 7.8\n.target sm_70\n//";
	struct write_ptx ptx = {.payload_size = SIZE,
							.isa_major = 7,
							.isa_minor = 8,
							.target = {.sm = 70},
							.compression = DEVCODE_ZSTD};
	char *text = keep(mem_alloc(SIZE));

	assert_non_null(text);
	memset(text, letter, SIZE - 1);
	memcpy(text, start, sizeof start - 1);
	ptx.payload = text;
	OK(write_container(why, &ptx, data));
}

TEST_WITH(much_outside_the_registered_sections_is_left_out, make_folder, remove_folder)
{
	static const struct {
		const char *section;
		size_t large;
		bool everything;
		enum plan_state loose;
		size_t notes;
	} cases[] = {
		{.section = ".rodata", .large = 2, .loose = PLAN_LEFT_OUT, .notes = 1},
		{.section = ".rodata", .large = 2, .everything = true, .loose = PLAN_COLD},
		{.section = ".rodata", .large = 1, .loose = PLAN_COLD},
		{.section = ".nv_fatbin", .large = 2, .loose = PLAN_COLD},
	};
	const struct jw_target target = {86, 0};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf loose = make_buf(), registered = make_buf();
		struct make_section sections[2] = {{.name = ".nv_fatbin"}, {.name = cases[i].section}};
		struct plan *plan;

		small_put(&registered, 1, 70, "");
		small_put(&loose, 1, 70, "");
		small_put(&loose, 2, 70, "");
		for (size_t k = 0; k < cases[i].large; k++)
			put_large(&loose, (char)('a' + k));
		sections[0].data = registered.data;
		sections[0].size = registered.size;
		sections[1].data = loose.data;
		sections[1].size = loose.size;
		small_library("large.so", sections, 2);
		plan = plan_folder(&target, 1, NULL, cases[i].everything);
		assert_int_equal(plan->module_count, 2 + cases[i].large);
		assert_int_equal(state_of(plan, key_of(1, 70, 86, CACHE_KEY_LOAD, "")), PLAN_COLD);
		assert_int_equal(state_of(plan, key_of(2, 70, 86, CACHE_KEY_LOAD, "")), cases[i].loose);
		assert_int_equal(plan->note_count, cases[i].notes);
		assert_int_equal(plan->troubles, 0);
		if (cases[i].notes) {
			assert_non_null(strstr(plan->notes[0], "large.so: 3 modules (32.4 MiB of PTX"));
			assert_non_null(strstr(plan->notes[0], "--all"));
		}
		plan_free(plan);
		buf_free(&loose);
		buf_free(&registered);
	}
}

TEST_WITH(the_dearest_comes_first, make_folder, remove_folder)
{
	const struct jw_target target = {86, 0};
	struct buf data = make_buf();
	struct plan *plan;

	for (unsigned i = 0; i < 5; i++) {
		char text[2048] = "\n.version 7.8\n.target sm_70\n";

		for (unsigned k = 0; k < 1 + 7 * (i * 2 % 5); k++)
			(void)snprintf(text + strlen(text), 32, "add.u32 %%r1;\n");
		small_put_text(&data, text, 7, 8, 70, NULL);
	}
	small_write("loose.fatbin", &data);
	plan = plan_folder(&target, 1, NULL, false);
	assert_int_equal(plan->module_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(plan->modules[i].features.statements, 1 + 7 * (4 - i));
	assert_true(plan->modules[0].cost_ms > plan->modules[4].cost_ms);
	plan_free(plan);
	buf_free(&data);
}

TEST_WITH(text_has_another_key, make_folder, remove_folder)
{
	const struct jw_target target = {86, 0};
	struct buf data = make_buf();
	char text[256];
	struct plan *plan;

	(void)small_text(text, 1, 70);
	make_bytes(&data, text, strlen(text));
	small_write("loose.ptx", &data);
	plan = plan_folder(&target, 1, NULL, false);
	assert_int_equal(plan->module_count, 1);
	assert_int_equal(plan->modules[0].form, CACHE_KEY_TEXT);
	assert_int_equal(plan->modules[0].key,
					 cache_key_hash(profile.stamp,
									&(struct cache_key_input){86, CACHE_KEY_TEXT, text,
															  strlen(text), "", 0, false},
									NULL));
	plan_free(plan);
	buf_free(&data);
}

/* PTX that is too new is named beside code that runs; but no driver needs PTX that declares
 * nothing, as nvcc makes it for files without kernels. */
TEST_WITH(what_is_too_new_in_a_file_is_named, make_folder, remove_folder)
{
	static const struct {
		const char *text;
		size_t cannot;
	} cases[] = {
		{"\n.version 8.8\n.target sm_70\n.entry k() { ret; }\n", 1},
		{"\n.version 8.8\n.target sm_70\n.global .u32 x;\n", 1},
		{"\n.version 8.8\n.target sm_70\n.address_size 64\n", 0},
	};
	static const char runs[] = "\n.version 7.0\n.target sm_70\n.entry a() { ret; }\n";
	const struct jw_target target = {86, 0};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf data = make_buf();
		struct plan *plan;

		small_put_text(&data, runs, 7, 0, 70, NULL);
		small_put_text(&data, cases[i].text, 8, 8, 70, NULL);
		small_write("loose.fatbin", &data);
		plan = plan_folder(&target, 1, NULL, false);
		assert_int_equal(plan->module_count, 1);
		assert_int_equal(plan->targets[0].unplanned.cannot, cases[i].cannot);
		assert_int_equal(plan->fates.count, 0);
		assert_int_equal(plan->fates.part_count, cases[i].cannot);
		if (cases[i].cannot) {
			assert_int_equal(plan->fates.parts[0].is.reason, REASON_TOO_NEW);
			assert_int_equal(plan->fates.parts[0].is.needs.release[0], 575);
		}
		plan_free(plan);
		buf_free(&data);
	}
}

/* Writes a library of PTX of that version and target. */
static void write_library(const char *name, const char *version, const char *sm)
{
	struct buf data = make_buf();
	char text[128];

	(void)snprintf(text, sizeof text, "\n.version %s\n.target sm_%s\n.entry k() { ret; }\n",
				   version, sm);
	small_put_text(&data, text, (uint16_t)(version[0] - '0'), (uint16_t)(version[2] - '0'),
				   (unsigned)strtoul(sm, NULL, 10), NULL);
	small_fatbin_library(name, &data);
	buf_free(&data);
}

/* Beside it lies liba.so, which runs on sm_86. */
TEST_WITH(only_a_variant_spares_a_library_without_code, NULL, NULL)
{
	static const struct {
		const char *names[2], *version, *sm; /* the second library's code */
		size_t failing, lacking;
	} cases[] = {
		{{"liba.so", "libb.so"}, "7.0", "90", 1, 0},
		{{"liba.so", "libb.so"}, "7.0", "90a", 1, 0}, /* each is judged alone */
		{{"libx_cuda118.so", "libx_cuda12.8.so"}, "7.0", "90", 0, 0},
		{{"libx.so.11", "libx.so.12.1"}, "7.0", "90", 0, 0},
		{{"x_sm80.so", "x_sm90a.so"}, "7.0", "90a", 0, 0},
		{{"sm80/x.so", "sm100/x.so"}, "7.0", "100", 0, 0},
		{{"cu12/x.so", "cu13/x.so"}, "7.0", "90", 0, 0},
		{{"run1/x.so", "run2/x.so"}, "7.0", "90", 1, 0},
		{{"kernel_compute_75.ptx.zst", "kernel_sm_90.cubin.zst"}, "7.0", "90", 0, 0}, /* Cycles */
		{{"kernel_optix.ptx.zst", "kernel_sm_90.cubin.zst"}, "7.0", "90", 1, 0},
		{{"liba.so", "libb.so"}, "8.8", "70", 1, 0},
		{{"libx_cuda118.so", "libx_cuda128.so"}, "8.8", "70", 0, 0},
		{{"libx_cuda118.so", "libx_cuda117_nocublaslt.so"}, "7.0", "90", 0, 0}, /* bitsandbytes */
		{{"libx.so", "libx_more.so"}, "7.0", "90", 1, 0},
	};
	const struct jw_target target = {86, 0};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct plan *plan;

		make_folder(NULL);
		for (size_t k = 0; k < 2; k++) {
			char inner[32];

			(void)snprintf(inner, sizeof inner, "%.*s",
						   (int)(os_base_name(cases[i].names[k]) - cases[i].names[k]),
						   cases[i].names[k]);
			if (*inner) {
				OK(os_make_dirs(why, keep(os_join(folder, inner)), 0700));
			}
			write_library(cases[i].names[k], k ? cases[i].version : "7.0", k ? cases[i].sm : "70");
		}
		plan = plan_folder(&target, 1, NULL, false);
		if (plan->fates.count != cases[i].failing || plan->fates.part_count != cases[i].lacking)
			fail_msg("%s %s: %zu of %zu", cases[i].names[1], cases[i].sm, plan->fates.count,
					 plan->fates.part_count);
		plan_free(plan);
		remove_folder(NULL);
	}
}

/* A linked container without code is as good as its inputs. */
TEST_WITH(a_link_without_code_fails, make_folder, remove_folder)
{
	static const struct {
		unsigned sm[2]; /* of the objects; 0: none */
		size_t failing;
	} cases[] = {{{70, 70}, 0}, {{90, 90}, 1}, {{70, 90}, 0}, {{90, 0}, 1}, {{0, 0}, 1}};
	const struct jw_target target = {86, 0};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf linked = make_buf(), inputs = make_buf();
		struct plan *plan;

		small_put(&linked, 9, 90, "");
		for (unsigned k = 0; k < 2; k++)
			if (cases[i].sm[k])
				small_put(&inputs, k, cases[i].sm[k], "--compile-only ");
		write_linked("linked.so", 2, &linked, &inputs);
		for (int eager = 0; eager < 2; eager++) {
			OK(os_env_set(why, "CUDA_MODULE_LOADING", eager ? "EAGER" : NULL));
			plan = plan_folder(&target, 1, NULL, false);
			OK(os_env_set(why, "CUDA_MODULE_LOADING", NULL));
			assert_int_equal(plan->fates.count, cases[i].failing);
			assert_true(!cases[i].failing ||
						(plan->fates.items[0].is.reason == REASON_NONE &&
						 plan->fates.items[0].is.lacking == plan->fates.items[0].is.pieces));
			plan_free(plan);
		}
		buf_free(&linked);
		buf_free(&inputs);
	}
}

/* An entry for sm_90 whose text says sm_90a is for that GPU alone; an entry for sm_70 whose text
 * says sm_90 is not for sm_86. */
TEST_WITH(the_text_decides_what_it_is_for, make_folder, remove_folder)
{
	static const struct {
		uint16_t header;
		const char *text;
		struct jw_target targets[2];
	} cases[] = {
		{90, "\n.version 8.0\n.target sm_90a\n.visible .entry k() { ret; }\n", {{90, 0}, {120, 0}}},
		{70, "\n.version 8.0\n.target sm_90\n.visible .entry k() { ret; }\n", {{86, 0}, {90, 0}}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf data = make_buf();
		struct plan *plan;

		small_put_text(&data, cases[i].text, 8, 0, cases[i].header, NULL);
		small_write("loose.fatbin", &data);
		plan = plan_folder(cases[i].targets, 2, NULL, false);
		assert_int_equal(plan->module_count, 1);
		assert_int_equal(plan->modules[0].target, i);
		assert_int_equal(plan->targets[i].unplanned.cannot, 0);
		assert_int_equal(plan->targets[1 - i].unplanned.cannot, 1);
		plan_free(plan);
		buf_free(&data);
	}
}

static bool stop_countdown(void *context)
{
	size_t *left = context;

	return *left == 0 || --*left == 0;
}

TEST_WITH(an_interrupt_ends_it_between_containers, make_folder, remove_folder)
{
	const struct jw_target target = {86, 0};
	char *path = keep(os_join(folder, "a.fatbin"));
	const char *paths[] = {path};
	size_t left = 3; /* the file, then one of its two containers */
	const struct plan_request request = {
		.targets = &target,
		.target_count = 1,
		.profile = &(struct cache_profile){.stamp = ""},
		.cancel = {&left, stop_countdown},
	};
	struct buf data = make_buf();
	struct plan *plan = NULL;

	small_put(&data, 1, 70, "");
	small_put(&data, 2, 70, "");
	small_write("a.fatbin", &data);
	GIVES(JW_ERR_INTERRUPTED, plan_paths(why, &request, paths, 1, &plan));
	assert_null(plan);
	left = 100;
	OK(plan_paths(why, &request, paths, 1, &plan));
	assert_int_equal(plan->module_count, 2);
	plan_free(plan);
	buf_free(&data);
}

/* Whatever a hostile package has, a command ends with a line before its modules fill the memory;
 * the modules of 100,000 others, for all GPUs, are no reason. */
TEST(modules_have_a_limit)
{
	const struct jw_target gpu = {86, 0};
	const struct plan_request request = {.targets = &gpu, .target_count = 1, .profile = &profile};
	struct plan_module module = {.key = 1, .drivers = 1};
	const struct analyse_image image = {
		.scan = {.path = "many.whl", .member = "many.so", .library = true},
		.modules = &module,
		.module_count = 1};
	struct build build;
	uint64_t first, second;

	OK(build_begin(why, &build, &request));
	OK(build_add_image(why, &build, &image));
	first = build.held_bytes;
	OK(build_add_image(why, &build, &image)); /* the same module */
	second = build.held_bytes - first;
	assert_true(second && first >= second + sizeof module);
	assert_true((first - second) * 100000 * PLAN_MAX_TARGETS < BUILD_MAX_HELD / 2);
	module.key = 2;
	build.held_bytes = BUILD_MAX_HELD - second;
	GIVES(JW_ERR_LIMIT, build_add_image(why, &build, &image));
	assert_string_equal(
		why->message, "many.whl: many.so: with this file, the device code needs more than 2 GiB of "
					  "memory; name fewer files or fewer GPUs");
	build.held_bytes = BUILD_MAX_HELD;
	GIVES(JW_ERR_LIMIT, build_hold(why, &build, "many.whl", NULL, 1));
	build_end(&build);
	plan_free(build.plan);
}

RUN_TESTS(NULL, NULL)
