/* The driver takes the entry of a container that jitwarm predicts, and gives the predicted error if
 * none fits. */
#include "suite.h"

#include <string.h>

#define FLAG_A 0x100000

/* Says whether the only entry in the cache was made from a text with this word. */
static bool made_from(const char *word)
{
	struct entry entry;
	bool found;

	if (!only_entry(&entry))
		return false;
	found = memmem(entry.key, entry.key_size, word, strlen(word)) != NULL;
	entry_free(&entry);
	return found;
}

static enum outcome cubin_beats_ptx(void)
{
	struct entry entry;
	const char *path;
	struct answer answer;

	CHECK_IS(load(CONTAINER({.kernel = "as_cubin", .nuls = 1})).compiled, 1);
	CHECK(only_entry(&entry));
	path =
		CONTAINER({.kernel = "as_ptx", .nuls = 1},
				  {.kind = 2, .arch = suite.sm[0], .data = entry.value, .size = entry.value_size});
	entry_free(&entry);
	cache_clear();
	answer = client_load(suite.client, "dataex", path, "as_cubin");
	CHECK_IS(answer.result, 0);
	CHECK_IS(answer.function, 0);
	CHECK_IS(entries_count(suite.cache), 0);
	return PASSED;
}

/* The driver takes machine code for the GPU, whatever is in it. */
static enum outcome cubin_without_kernels(void)
{
	struct entry entry;
	const char *path;
	struct answer answer;

	CHECK_IS(load(CONTAINER({.text = ".version 6.3\n.target sm_52\n.address_size 64\n", .nuls = 1}))
				 .result,
			 0);
	CHECK(only_entry(&entry));
	path =
		CONTAINER({.kernel = "as_ptx", .nuls = 1},
				  {.kind = 2, .arch = suite.sm[0], .data = entry.value, .size = entry.value_size});
	entry_free(&entry);
	cache_clear();
	answer = client_load(suite.client, "dataex", path, "as_ptx");
	CHECK_IS(answer.result, 0);
	CHECK_IS(answer.function, 500);
	CHECK_IS(entries_count(suite.cache), 0);
	return PASSED;
}

/* A cubin for another architecture does not count. */
static enum outcome other_cubin_is_passed_over(void)
{
	static char other[64];
	const struct part parts[] = {
		{.kind = 2, .arch = 52, .data = other, .size = sizeof other},
		{.kernel = "as_ptx", .nuls = 1},
	};

	CHECK_IS(load(container(parts, 2)).compiled, 1);
	CHECK(made_from("as_ptx"));
	return PASSED;
}

static enum outcome newest_usable_ptx(void)
{
	const struct part parts[] = {
		{.kernel = "second", .arch = 70, .target = "sm_70", .nuls = 1},
		{.kernel = "first", .arch = 75, .target = "sm_75", .nuls = 1},
		{.kernel = "third", .arch = 52, .nuls = 1},
		{.kernel = "beyond", .arch = 90, .target = "sm_90", .version = "7.8", .nuls = 1},
	};

	if (suite.sm[0] < 75 || suite.sm[0] >= 90)
		return case_skipped("for GPUs from sm_75 to sm_89");
	CHECK_IS(load(container(parts, 4)).result, 0);
	CHECK(made_from("first"));
	return PASSED;
}

/* The first of several entries for one architecture is taken; the last if that is the GPU's own
 * architecture. */
static enum outcome equal_ptx(void)
{
	const char *version = suite.cuda >= 12000 ? "8.0" : "7.1"; /* the first of sm_86 */
	char own[16];

	CHECK_IS(
		load(CONTAINER({.kernel = "former", .nuls = 1}, {.kernel = "latter", .nuls = 1})).result,
		0);
	CHECK(made_from("former"));
	cache_clear();
	snprintf(own, sizeof own, "sm_%d", suite.sm[0]);
	CHECK_IS(load(CONTAINER({.kernel = "former",
							 .arch = suite.sm[0],
							 .target = own,
							 .version = version,
							 .nuls = 1},
							{.kernel = "latter",
							 .arch = suite.sm[0],
							 .target = own,
							 .version = version,
							 .nuls = 1}))
				 .result,
			 0);
	CHECK(made_from("latter"));
	return PASSED;
}

/* The same for cubins, which are all for the GPU's own architecture here; CUDA 13 takes the first.
 * */
static enum outcome equal_cubins(void)
{
	const char *chosen = suite.cuda >= 13000 ? "former" : "latter";
	struct entry former, latter;
	struct answer answer;

	CHECK_IS(load(CONTAINER({.kernel = "former", .nuls = 1})).compiled, 1);
	CHECK(only_entry(&former));
	cache_clear();
	CHECK_IS(load(CONTAINER({.kernel = "latter", .nuls = 1})).compiled, 1);
	CHECK(only_entry(&latter));
	answer = client_load(
		suite.client, "dataex",
		CONTAINER(
			{.kind = 2, .arch = suite.sm[0], .data = former.value, .size = former.value_size},
			{.kind = 2, .arch = suite.sm[0], .data = latter.value, .size = latter.value_size}),
		chosen);
	entry_free(&former);
	entry_free(&latter);
	CHECK_IS(answer.result, 0);
	CHECK_IS(answer.function, 0);
	return PASSED;
}

/* Turns the entry into a cubin as CUDA 13 makes it, with ABI 8. */
static void make_newer(struct entry *entry)
{
	const uint32_t flags = 0x06000004 | (uint32_t)suite.sm[0] << 8;
	uint8_t *cubin = entry->file.data + 28 + entry->key_size;

	cubin[7] = 0x41;
	cubin[8] = 8;
	memcpy(cubin + 48, &flags, 4);
}

/* Uses a separate client, since the load may end it (-1). */
static int load_apart(const char *path)
{
	struct client *client = client_start((const char *const[]){NULL});
	int result = client_load(client, "dataex", path, NULL).result;

	client_stop(client);
	return result;
}

/* Machine code of a newer CUDA is chosen, even beside PTX or an older cubin. */
static enum outcome newer_machine_code(void)
{
	struct entry entry, sound;
	struct part newer;
	int alone, loose, with_ptx, passed_by;

	if (suite.cuda >= 12080)
		return case_skipped("this driver knows ABI 8");
	CHECK_IS(load(CONTAINER({.kernel = "k", .nuls = 1})).compiled, 1);
	CHECK(only_entry(&entry) && only_entry(&sound));
	make_newer(&entry);
	newer = (struct part){
		.kind = 2, .arch = suite.sm[0], .data = entry.value, .size = entry.value_size};
	cache_clear();
	alone = load_apart(container(&newer, 1));
	loose = load_apart(raw_file(entry.value, entry.value_size));
	with_ptx = load_apart(container((const struct part[]){newer, {.nuls = 1}}, 2));
	/* Drivers up to CUDA 12 take the last of two for the GPU's own architecture. */
	passed_by = load_apart(container(
		(const struct part[]){
			newer, {.kind = 2, .arch = suite.sm[0], .data = sound.value, .size = sound.value_size}},
		2));
	entry_free(&entry);
	entry_free(&sound);
	CHECK(alone == 200 || alone == -1);
	CHECK(loose == 200 || loose == -1);
	CHECK(with_ptx == 200 || with_ptx == -1);
	CHECK_IS(passed_by, 0);
	CHECK_IS(entries_count(suite.cache), 0);
	return PASSED;
}

/* As with PTX, the compression does not influence the choice. */
static enum outcome zstd_cubin(void)
{
	struct entry entry;
	int result;

	CHECK_IS(load(CONTAINER({.kernel = "k", .nuls = 1})).compiled, 1);
	CHECK(only_entry(&entry));
	cache_clear();
	result = load_apart(CONTAINER({.nuls = 1}, {.kind = 2,
												.arch = suite.sm[0],
												.compression = 8,
												.data = entry.value,
												.size = entry.value_size}));
	entry_free(&entry);
	CHECK_IS(result, suite.cuda >= 12040 ? 0 : 200);
	return PASSED;
}

/* The ISA version does not influence the choice. */
static enum outcome isa_does_not_choose(void)
{
	CHECK_IS(load(CONTAINER({.kernel = "older", .nuls = 1},
							{.kernel = "newer", .version = "7.0", .nuls = 1}))
				 .result,
			 0);
	CHECK(made_from("older"));
	return PASSED;
}

static enum outcome nothing_usable(void)
{
	CHECK_IS(load(CONTAINER({.arch = 90, .target = "sm_90", .version = "7.8", .nuls = 1})).result,
			 suite.sm[0] >= 90 ? 0 : 209);
	return PASSED;
}

static enum outcome empty_container(void)
{
	CHECK_IS(load(container(NULL, 0)).result, 209);
	return PASSED;
}

static enum outcome newer_than_the_driver(void)
{
	CHECK_IS(load(CONTAINER({.version = "9.9", .nuls = 1})).result, 222);
	CHECK_IS(entries_count(suite.cache), 0);
	return PASSED;
}

/* The newest target is chosen among several, too, even if the driver cannot compile it; there is no
 * second try. */
static enum outcome no_second_try(void)
{
	CHECK_IS(
		load(CONTAINER({.nuls = 1}, {.arch = 70, .target = "sm_70", .version = "9.9", .nuls = 1}))
			.result,
		222);
	CHECK_IS(entries_count(suite.cache), 0);
	return PASSED;
}

static enum outcome exact_target_elsewhere(void)
{
	const struct part parts[] = {
		{.kernel = "plain", .nuls = 1},
		{.kernel = "exact",
		 .arch = 90,
		 .target = "sm_90a",
		 .version = "8.0",
		 .flags = FLAG_A,
		 .nuls = 1},
	};

	if (suite.sm[0] >= 90)
		return case_skipped("for GPUs below sm_90");
	CHECK_IS(load(container(parts, 2)).result, 0);
	CHECK(made_from("plain"));
	CHECK_IS(load(container(parts + 1, 1)).result, 209);
	return PASSED;
}

/* The key names the GPU without its letter. */
static enum outcome exact_target_here(void)
{
	const struct part part = {.arch = 90,
							  .target = "sm_90a",
							  .version = "8.0",
							  .flags = FLAG_A,
							  .nuls = 2,
							  .compression = 4};
	struct blob payload = part_text(&part);
	bool found;
	int result;

	if (suite.sm[0] != 90) {
		blob_free(&payload);
		return case_skipped("for sm_90");
	}
	result = load(container(&part, 1)).result;
	blob_add(&payload, NULL, 3);
	found = has_key(90, payload.data, payload.size, " ");
	blob_free(&payload);
	CHECK_IS(result, 0);
	CHECK(found);
	return PASSED;
}

/* The entry's header says plain sm_52, the text says otherwise. */
static enum outcome text_for_another_target(void)
{
	if (suite.sm[0] == 90)
		return case_skipped("for other GPUs than sm_90");
	if (suite.cuda < 12000)
		return case_skipped("sm_90a came with CUDA 12.0");
	CHECK_IS(load(CONTAINER({.target = "sm_90a", .version = "8.0", .nuls = 1})).result, 218);
	CHECK_IS(entries_count(suite.cache), 0);
	return PASSED;
}

/* The result for a container whose PTX has no .version: driver 525 ends the process. */
static int no_version(void)
{
	return suite.cuda == 12000 ? -1 : 218;
}

/* In a container, such PTX goes to the compiler; alone, it is not an image. */
static enum outcome no_ptx_at_all(void)
{
	CHECK_IS(load(raw_file("this is no PTX\n", 15)).result, 200);
	CHECK_IS(load(CONTAINER({.text = "this is no PTX\n", .nuls = 1})).result, no_version());
	CHECK(no_version() == -1 || strstr(client_error(), "Missing .version directive"));
	CHECK_IS(entries_count(suite.cache), 0);
	return PASSED;
}

/* The driver stores nothing for a refused module, so jitwarm remembers it itself. */
static enum outcome refused_leaves_nothing(void)
{
	const char *path = CONTAINER(
		{.text = ".version 6.3\n.target sm_52\n.address_size 64\n.visible .entry k() { ret;\n",
		 .nuls = 1});

	for (int i = 0; i < 2; i++) {
		struct answer answer = load(path);

		CHECK_IS(answer.result, 218);
		CHECK(*client_error());
		CHECK_IS(entries_count(suite.cache), 0);
	}
	return PASSED;
}

/* Text is recognised by ".version" after blanks and comments. */
static enum outcome texts(void)
{
	static const struct {
		const char *before;
		int result;
	} cases[] = {{"", 0},        {"\n\t ", 0},          {"// c\n//\r\n", 0},
				 {"/* c */", 0}, {"\xef\xbb\xbf", 200}, {".target sm_52\n", 200}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256];
		int length = snprintf(text, sizeof text,
							  "%s.version 6.3\n.target sm_52\n.address_size 64\n", cases[i].before);

		CHECK_IS(load(raw_file(text, (size_t)length)).result, cases[i].result);
	}
	return PASSED;
}

static enum outcome zstd(void)
{
	CHECK_IS(load(CONTAINER({.nuls = 1, .compression = 8})).result,
			 suite.cuda >= 12040 ? 0 : no_version());
	return PASSED;
}

static enum outcome lz4(void)
{
	CHECK_IS(load(CONTAINER({.nuls = 1, .compression = 4, .statements = 100})).result, 0);
	return PASSED;
}

/* A relocatable module can thus be compiled by mistake, under a key that no link looks up. */
static enum outcome relocatable_is_loaded(void)
{
	struct answer answer =
		client_load(suite.client, "dataex",
					CONTAINER({.nuls = 1, .options = " --compile-only ", .compression = 4}), "k");

	CHECK_IS(answer.result, 0);
	return PASSED;
}

/* A text that does not compile leaves nothing in the cache, and is compiled again each time. */
static enum outcome failure_is_not_stored(void)
{
	const char *path = CONTAINER({.text = ".version 6.3\n.target sm_52\n.address_size 64\n.entry "
										  "k()\n{\n\tret;\n",
								  .nuls = 1});

	for (int i = 0; i < 2; i++) {
		CHECK_IS(load(path).result, 218);
		CHECK(strstr(client_error(), "ptxas"));
	}
	CHECK_IS(entries_count(suite.cache), 0);
	return PASSED;
}

/* A module of directives alone also makes an entry. */
static enum outcome module_without_kernels(void)
{
	CHECK_IS(load(CONTAINER({.text = ".version 6.3\n.target sm_52\n.address_size 64\n", .nuls = 1}))
				 .result,
			 0);
	CHECK_IS(entries_count(suite.cache), 1);
	return PASSED;
}

const struct test_case choice_cases[] = {
	{"choice/the driver takes a cubin that runs, and not PTX", cubin_beats_ptx},
	{"choice/the driver takes a cubin without kernels, and not PTX: error 500",
	 cubin_without_kernels},
	{"choice/the driver takes PTX, and not a cubin for another architecture",
	 other_cubin_is_passed_over},
	{"choice/the driver takes the newest usable PTX", newest_usable_ptx},
	{"choice/which of several PTX images for one architecture is taken", equal_ptx},
	{"choice/which of several cubins for one architecture is taken", equal_cubins},
	{"choice/machine code of a newer CUDA: error 200, or the process ends", newer_machine_code},
	{"choice/drivers from 550.54 on read machine code packed with zstd", zstd_cubin},
	{"choice/the PTX version does not decide which image is taken", isa_does_not_choose},
	{"choice/a container without usable code: error 209", nothing_usable},
	{"choice/an empty container: error 209", empty_container},
	{"choice/PTX newer than the driver: error 222", newer_than_the_driver},
	{"choice/the driver tries no second image if the first fails", no_second_try},
	{"choice/PTX for exactly another GPU is not used", exact_target_elsewhere},
	{"choice/PTX for exactly this GPU is used", exact_target_here},
	{"choice/PTX text for another target: error 218", text_for_another_target},
	{"choice/text that is no PTX: error 218", no_ptx_at_all},
	{"choice/a module that the compiler refuses has no entry, and is compiled at each load",
	 refused_leaves_nothing},
	{"choice/how the driver recognises PTX text", texts},
	{"choice/LZ4: the driver reads code packed with LZ4", lz4},
	{"choice/drivers from 550.54 on read PTX packed with zstd", zstd},
	{"choice/the driver stores no entry for a failed compile", failure_is_not_stored},
	{"choice/the driver caches a module without kernels", module_without_kernels},
	{"choice/a module with the option --compile-only loads as any other", relocatable_is_loaded},
	{NULL, NULL},
};
