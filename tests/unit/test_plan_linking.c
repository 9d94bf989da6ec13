/* Only a container whose linked code does not run counts as linked at the start. */
#include "make_devcode.h"

#include <jitwarm/scan.h>

#include "entries.h"
#include "folder.h"

enum { WITH_CODE = 8192 }; /* a cubin of this size has kernels, whatever it holds */

/* Makes a container of one relocatable cubin, or of PTX for sm_80 if `sm` is 0. */
static void make_code(struct buf *code, uint16_t sm)
{
	uint8_t entry[64] = {DEVCODE_KIND_CUBIN, 0, 1, 1, 64}, cubin[WITH_CODE] = {0};

	make_container(code, DEVCODE_LZ4, "");
	if (!sm)
		return;
	entries_cubin(cubin, sm, true);
	store_u64(entry + 8, sizeof cubin);
	store_u32(entry + 28, sm);
	code->size = 16;
	make_bytes(code, entry, sizeof entry);
	make_bytes(code, cubin, sizeof cubin);
	make_pad(code, 8);
	store_u64(code->data + 8, code->size - 16);
}

/* Makes a program at a fixed address, whose only wrapper has a linked container; after it, with
 * `input`, PTX 7.8 that was linked. */
static char *make_program(uint16_t sm, bool input)
{
	enum { CODE = 0x1000, WRAPPERS = 0x8000 };
	struct buf code = make_buf(), file = make_buf(), ptx = make_buf();
	char *path = os_join(folder, "program");
	uint8_t wrapper[24] = {0};

	make_code(&code, sm);
	make_code(&ptx, 0);
	if (input)
		make_bytes(&code, ptx.data, ptx.size);
	store_u32(wrapper, 0x466243B1);
	store_u32(wrapper + 4, 2);
	store_u64(wrapper + 8, CODE);
	make_elf(&file, MAKE_ELF_X86_64,
			 (struct make_section[]){
				 {"__nv_relfatbin", code.data, code.size, 1, 2, CODE},
				 {".nvFatBinSegment", wrapper, sizeof wrapper, 1, 3, WRAPPERS},
			 },
			 2);
	OK(os_write_atomic(why, path, file.data, file.size));
	buf_free(&code);
	buf_free(&file);
	buf_free(&ptx);
	return path;
}

static size_t images;

static int note_verdicts(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	struct jw_scan_verdicts *verdicts = context;

	(void)err;
	assert_int_equal(image->verdict_count, 1);
	images++;
	*verdicts = image->verdicts[0];
	return 0;
}

/* Returns the verdicts of the one image for sm_86. */
static struct jw_scan_verdicts verdicts_of(uint16_t sm, bool input, struct jw_driver driver)
{
	const char *const path = keep(make_program(sm, input));
	const struct jw_target gpu = {.sm = 86};
	struct jw_scan_verdicts verdicts = {0};
	const struct jw_scan_options options = {.paths = &path,
											.path_count = 1,
											.targets = &gpu,
											.target_count = 1,
											.driver = driver,
											.context = &verdicts,
											.image = note_verdicts};

	images = 0;
	OK(jw_scan(why, &options, NULL));
	assert_int_equal(images, 1);
	return verdicts;
}

TEST(only_what_does_not_run_is_linked)
{
	static const struct {
		uint16_t sm;
		size_t compatible, native, link;
		enum jw_scan_need needed;
	} cases[] = {
		{.sm = 86, .native = 1, .needed = JW_SCAN_NEED_NO},
		{.sm = 80, .compatible = 1, .needed = JW_SCAN_NEED_NO},
		{.sm = 90,
		 .needed = JW_SCAN_NEED_NO}, /* there is nothing to link, so the runtime skips it */
		{.sm = 0, .link = 1, .needed = JW_SCAN_NEED_YES},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_scan_verdicts verdicts =
			verdicts_of(cases[i].sm, false, (struct jw_driver){0});

		assert_int_equal(verdicts.native, cases[i].native);
		assert_int_equal(verdicts.compatible, cases[i].compatible);
		assert_int_equal(verdicts.link, cases[i].link);
		assert_int_equal(verdicts.link_needed, cases[i].needed);
	}
}

/* nvcc -dlto leaves the newest PTX beside the linked machine code, and only a link reads it. */
TEST(what_a_link_would_read_is_too_new_only_if_there_is_a_link)
{
	static const struct {
		uint16_t sm;
		size_t cannot;
		uint32_t needs;
	} cases[] = {{86, 0, 0}, {80, 0, 0}, {90, 1, 11080}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_scan_verdicts verdicts =
			verdicts_of(cases[i].sm, true, (struct jw_driver){11040, {470, 0, 0}});

		assert_int_equal(verdicts.cannot, cases[i].cannot);
		assert_int_equal(verdicts.cannot_too_new, cases[i].cannot);
		assert_int_equal(verdicts.needs.cuda, cases[i].needs);
	}
}

RUN_TESTS(make_folder, remove_folder)
