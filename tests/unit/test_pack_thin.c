/* Packs without their PTX: PTX in files here is restored to the byte, missing PTX is reported, and
 * no manifest misleads a reader. */
#include "make_devcode.h"

#include "folder.h"

#include <jitwarm/find.h>

#include "entries.h"
#include "lacking.h"
#include "packs.h"

enum { ENTRIES = 4 };

static char *cache, *target, *pack, *library;

/* A library with the modules of entries number `first` to `last` - 1, each in a separate container.
 */
static void make_library(const char *path, unsigned first, unsigned last)
{
	struct buf code = make_buf(), elf = make_buf();
	struct make_section section = {.name = ".nv_fatbin"};

	for (unsigned n = first; n < last; n++) {
		char payload[16];
		const struct write_ptx ptx = {
			.payload = payload,
			.payload_size = (size_t)snprintf(payload, sizeof payload, "// %05u", n),
			.isa_major = 8,
			.target = {.sm = 80},
			.compression = n % 2 ? DEVCODE_ZSTD : DEVCODE_LZ4,
		};

		assert_int_equal(write_container(NULL, &ptx, &code), 0);
	}
	section.data = code.data;
	section.size = code.size;
	make_elf(&elf, MAKE_ELF_X86_64, &section, 1);
	assert_int_equal(os_write_atomic(NULL, path, elf.data, elf.size), 0);
	buf_free(&code);
	buf_free(&elf);
}

static struct jw_pack_file file_at(const char *path, const char *name)
{
	return (struct jw_pack_file){.path = path, .name = name, .package = "Frame", .version = "1.2"};
}

static struct jw_export_result export_thin(const struct jw_pack_file *files, size_t count)
{
	const struct jw_export_options options = {.size = sizeof options,
											  .cache_dir = cache,
											  .output = pack,
											  .thin = true,
											  .files = files,
											  .file_count = count};
	struct jw_export_result result = {.size = sizeof result};
	struct jw_error err = {0};

	if (jw_export(&err, &options, &result))
		fail_msg("%s", err.message);
	return result;
}

/* The files of an import. */
struct here {
	struct jw_pack_file files[2];
	size_t count, asked;
};

static int find_files(struct jw_error *err, void *context, const struct jw_pack_file **ret_files,
					  size_t *ret_count)
{
	struct here *here = context;

	(void)err;
	here->asked++;
	*ret_files = here->files;
	*ret_count = here->count;
	return 0;
}

static int import_from(struct jw_error *err, struct here *here, bool any_file,
					   struct jw_import_result **ret_result)
{
	const struct jw_import_options options = {.size = sizeof options,
											  .path = pack,
											  .cache_dir = target,
											  .allow_unsigned = true,
											  .context = here,
											  .find_files = find_files,
											  .any_file = any_file};

	return jw_import(err, &options, ret_result);
}

/* The results for the entries: accepted, there, missing. */
static void assert_import(struct here *here, bool any_file, size_t accepted, size_t there,
						  size_t missing, const char *why)
{
	struct jw_import_result *result;
	struct jw_error err = {0};

	if (import_from(&err, here, any_file, &result))
		fail_msg("%s", err.message);
	assert_int_equal(result->accepted, accepted);
	assert_int_equal(result->added, accepted);
	assert_int_equal(result->there, there);
	assert_int_equal(result->missing, missing);
	assert_int_equal(result->refused, 0);
	assert_int_equal(result->missing_file_count, missing ? 1 : 0);
	if (missing) {
		assert_int_equal(result->missing_files->entries, missing);
		assert_string_equal(result->missing_files->path, "frame/lib/libframe.so");
		assert_string_equal(result->missing_files->package, "Frame");
		if (!strstr(result->missing_files->why, why))
			fail_msg("%s", result->missing_files->why);
	}
	jw_import_result_free(result);
}

static void assert_entries(unsigned first, unsigned last)
{
	for (unsigned n = first; n < last; n++) {
		struct entries_entry entry;
		struct buf got = {0};
		char *path;

		entries_make(&entry, n, 10 * n);
		path = cache_entry_path(NULL, target, entry.key);
		assert_int_equal(os_read_file(NULL, path, ENTRIES_MOST, &got), 0);
		assert_int_equal(got.size, entry.size);
		assert_memory_equal(got.data, entry.bytes, entry.size);
		buf_free(&got);
		mem_free(path);
	}
}

/* Elsewhere the same file has another path. */
static void comes_back(void **state)
{
	struct jw_pack_file from = file_at(library, "frame/lib/libframe.so");
	char *moved = os_join(NULL, folder, "libframe.so"), *other = os_join(NULL, folder, "other.so");
	struct here here = {.files = {file_at(moved, "x")}, .count = 1};
	struct jw_export_result result = {.size = sizeof result};

	(void)state;
	make_library(library, 0, ENTRIES);
	make_library(moved, 0, ENTRIES);
	result = export_thin(&from, 1);
	assert_int_equal(result.entries, ENTRIES);
	assert_int_equal(result.thin_modules, ENTRIES);
	assert_int_equal(result.thin_bytes, ENTRIES * 8);
	assert_import(&here, false, ENTRIES, 0, 0, "");
	assert_entries(0, ENTRIES);
	assert_int_equal(here.asked, 1);
	/* No file is searched twice, and an existing entry needs no module */
	here.count = 0;
	assert_import(&here, false, 0, ENTRIES, 0, "");
	assert_int_equal(os_remove_tree(NULL, target), 0);
	/* A file of another name and package counts only if the user named it */
	assert_int_equal(os_rename(NULL, moved, other), 0);
	here = (struct here){.files = {{.path = other, .name = "other.so"}}, .count = 1};
	assert_import(&here, false, 0, 0, ENTRIES, "the package is not installed here");
	assert_false(os_exists(target));
	assert_import(&here, true, ENTRIES, 0, 0, "");
	assert_int_equal(os_remove_tree(NULL, target), 0);
	mem_free(moved);
	mem_free(other);
}

/* As Python compares their names. */
static void a_file_of_the_same_package_is_searched(void **state)
{
	static const struct {
		const char *packed, *here;
		size_t accepted;
	} cases[] = {{"A_Z.x", "a.z-X", ENTRIES}, {"aBYz", "AbyZ", ENTRIES}, {"Frame", "Frames", 0},
				 {"Frames", "Frame", 0},      {"Frame", "Frane", 0},     {"Frame", NULL, 0}};
	char *other = os_join(NULL, folder, "other.so");

	(void)state;
	make_library(library, 0, ENTRIES);
	make_library(other, 0, ENTRIES);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_pack_file from = file_at(library, "frame/lib/libframe.so");
		struct here here = {
			.files = {{.path = other, .name = "other.so", .package = cases[i].here}}, .count = 1};
		struct jw_import_result *result;

		from.package = cases[i].packed;
		(void)export_thin(&from, 1);
		assert_int_equal(import_from(NULL, &here, false, &result), 0);
		assert_int_equal(result->accepted, cases[i].accepted);
		assert_int_equal(result->missing, ENTRIES - cases[i].accepted);
		jw_import_result_free(result);
		assert_int_equal(os_remove_tree(NULL, target), 0);
	}
	mem_free(other);
}

/* A thin pack of version 1, which every later jitwarm has to read. */
static void kept_one(void **state)
{
	struct here here = {.files = {file_at(library, "x")}, .count = 1};
	struct buf bytes = {0};

	(void)state;
	make_library(library, 0, ENTRIES);
	assert_int_equal(os_read_file(NULL,
								  JITWARM_SOURCE_DIR "/tests/data/features/pack-1-thin.jwpack",
								  1 << 20, &bytes),
					 0);
	assert_int_equal(os_write_atomic(NULL, pack, bytes.data, bytes.size), 0);
	assert_import(&here, false, ENTRIES, 0, 0, "");
	assert_entries(0, ENTRIES);
	assert_int_equal(os_remove_tree(NULL, target), 0);
	buf_free(&bytes);
}

/* Entries of the file's modules are imported, and the rest is reported; the original file completes
 * the import. */
static void in_part(void **state)
{
	struct jw_pack_file from = file_at(library, "frame/lib/libframe.so");
	struct here here = {.files = {from}, .count = 1};

	(void)state;
	make_library(library, 0, ENTRIES);
	(void)export_thin(&from, 1);
	make_library(library, 1, 3);
	here.files[0].version = "1.3";
	assert_import(&here, false, 2, 0, 2, "version 1.3 is installed here");
	assert_entries(1, 3);
	here.files[0].version = "1.2";
	assert_import(&here, false, 0, 2, 2, "does not hold them");
	assert_int_equal(os_write_atomic(NULL, library,
									 "\x7f"
									 "ELF\2\1\1",
									 7),
					 0);
	assert_import(&here, false, 0, 2, 2, "libframe.so");
	assert_int_equal(os_remove(NULL, library), 0);
	assert_import(&here, false, 0, 2, 2, "libframe.so");
	here.count = 0;
	assert_import(&here, false, 0, 2, 2, "no file was searched");
	make_library(library, 0, ENTRIES);
	here.count = 1;
	assert_import(&here, false, 2, 2, 0, "");
	assert_entries(0, ENTRIES);
	assert_int_equal(os_remove_tree(NULL, target), 0);
}

/* Modules that no file has are in the pack. */
static void modules_in_no_file_stay_in_the_pack(void **state)
{
	struct jw_pack_file from = file_at(library, "frame/lib/libframe.so");
	struct here here = {.files = {from}, .count = 1};
	struct jw_export_result result = {.size = sizeof result};

	(void)state;
	make_library(library, 0, 2);
	result = export_thin(&from, 1);
	assert_int_equal(result.modules, ENTRIES);
	assert_int_equal(result.thin_modules, 2);
	assert_import(&here, false, ENTRIES, 0, 0, "");
	assert_entries(0, ENTRIES);
	assert_int_equal(os_remove_tree(NULL, target), 0);
	/* A name that no manifest may hold; no name */
	from.name = "/etc/passwd";
	result = export_thin(&from, 1);
	assert_int_equal(result.thin_modules, 0);
	result = export_thin(NULL, 0);
	assert_int_equal(result.thin_modules, 0);
	here.asked = 0;
	assert_import(&here, false, ENTRIES, 0, 0, "");
	assert_int_equal(here.asked, 0);
	assert_int_equal(os_remove_tree(NULL, target), 0);
}

/* ---- hostile manifests */

#define START                                                                                      \
	"{\"format\":\"jitwarm.pack/1\",\"requires\":[%s],\"os\":\"linux\",\"pointer_bits\":64,"
#define DRIVER "\"drivers\":[{\"stamp\":\"Jun 25 202401:14:48\"}],"

struct hostile {
	const char *features, *files, *origin; /* of the PTX: the member after its size */
	enum jw_code code;
	size_t accepted, missing;
};

static void try_hostile(const struct packs_parts *parts, const struct hostile *one)
{
	char *entry = packs_entry_text(parts, "sm_86", "load", 0, 1);
	char *manifest = mem_printf(NULL,
								START DRIVER "%s\"members\":[{\"name\":\"%s\",\"bytes\":8%s},"
											 "{\"name\":\"%s\",\"bytes\":%d}],\"entries\":[%s]}",
								one->features, one->files, parts->ptx_name, one->origin,
								parts->cubin_name, ENTRIES_CUBIN, entry);
	const struct packs_member member = {parts->cubin_name, parts->cubin, ENTRIES_CUBIN};
	struct here here = {.files = {file_at(library, "x")}, .count = 1};
	struct jw_import_result *result = NULL;
	struct jw_error err = {0};
	struct buf bytes;

	packs_make(&bytes, manifest, &member, 1);
	assert_int_equal(os_write_atomic(NULL, pack, bytes.data, bytes.size), 0);
	if (import_from(&err, &here, false, &result)) {
		if (err.code != one->code)
			fail_msg("%s: %s", manifest, err.message);
		assert_false(os_exists(target));
	} else {
		assert_int_equal(one->code, JW_OK);
		assert_int_equal(result->accepted, one->accepted);
		assert_int_equal(result->missing, one->missing);
		jw_import_result_free(result);
		assert_int_equal(os_remove_tree(NULL, target), 0);
	}
	buf_free(&bytes);
	mem_free(manifest);
	mem_free(entry);
}

#define FILES(path)    "\"files\":[{\"path\":\"" path "\",\"package\":\"frame\"}],"
#define ORIGIN(offset) ",\"file\":0,\"offset\":" offset
#define THIN           "\"thin\""

static void hostile_manifests(void **state)
{
	static const struct hostile cases[] = {
		{.features = THIN,
		 .files = FILES("a/libframe.so"),
		 .origin = ORIGIN("64"),
		 .code = JW_OK,
		 .accepted = 1},
		/* The place is only a hint */
		{.features = THIN,
		 .files = FILES("a/libframe.so"),
		 .origin = ORIGIN("0"),
		 .code = JW_OK,
		 .accepted = 1},
		{.features = THIN,
		 .files = FILES("a/libframe.so"),
		 .origin = ORIGIN("281474976710656"),
		 .code = JW_OK,
		 .accepted = 1},
		{.features = THIN,
		 .files = FILES("nowhere.so"),
		 .origin = ORIGIN("64"),
		 .code = JW_OK,
		 .accepted = 1},
		/* Places that cannot be */
		{.features = THIN,
		 .files = FILES("a"),
		 .origin = ORIGIN("281474976710657"),
		 .code = JW_ERR_FORMAT},
		{.features = THIN, .files = FILES("a"), .origin = ORIGIN("-1"), .code = JW_ERR_FORMAT},
		{.features = THIN, .files = FILES("a"), .origin = ORIGIN("1e300"), .code = JW_ERR_FORMAT},
		{.features = THIN, .files = FILES("a"), .origin = ORIGIN("\"64\""), .code = JW_ERR_FORMAT},
		{.features = THIN, .files = FILES("a"), .origin = ",\"file\":0", .code = JW_ERR_FORMAT},
		{.features = THIN,
		 .files = FILES("a"),
		 .origin = ",\"file\":1,\"offset\":0",
		 .code = JW_ERR_FORMAT},
		{.features = THIN,
		 .files = FILES("a"),
		 .origin = ",\"file\":null,\"offset\":0",
		 .code = JW_ERR_FORMAT},
		{.features = THIN, .files = "", .origin = ORIGIN("64"), .code = JW_ERR_FORMAT},
		{.features = THIN, .files = "\"files\":7,", .origin = ORIGIN("64"), .code = JW_ERR_FORMAT},
		{.features = THIN,
		 .files = "\"files\":[7],",
		 .origin = ORIGIN("64"),
		 .code = JW_ERR_FORMAT},
		{.features = THIN,
		 .files = "\"files\":[{\"path\":\"a\"},{\"path\":\"b\"}],",
		 .origin = ORIGIN("64"),
		 .code = JW_ERR_FORMAT},
		/* Paths that lead elsewhere */
		{.features = THIN,
		 .files = FILES("/etc/passwd"),
		 .origin = ORIGIN("64"),
		 .code = JW_ERR_FORMAT},
		{.features = THIN,
		 .files = FILES("a/../../etc/passwd"),
		 .origin = ORIGIN("64"),
		 .code = JW_ERR_FORMAT},
		{.features = THIN, .files = FILES(".."), .origin = ORIGIN("64"), .code = JW_ERR_FORMAT},
		{.features = THIN, .files = FILES("a//b"), .origin = ORIGIN("64"), .code = JW_ERR_FORMAT},
		{.features = THIN, .files = FILES("a\\\\b"), .origin = ORIGIN("64"), .code = JW_ERR_FORMAT},
		{.features = THIN,
		 .files = FILES("a\\u001b[2J"),
		 .origin = ORIGIN("64"),
		 .code = JW_ERR_FORMAT},
		{.features = THIN, .files = FILES("a\\nb"), .origin = ORIGIN("64"), .code = JW_ERR_FORMAT},
		{.features = THIN, .files = FILES(""), .origin = ORIGIN("64"), .code = JW_ERR_FORMAT},
		{.features = THIN,
		 .files = "\"files\":[{\"path\":\"a\",\"package\":\"../b\"}],",
		 .origin = ORIGIN("64"),
		 .code = JW_ERR_FORMAT},
		{.features = THIN,
		 .files = "\"files\":[{\"path\":\"a\",\"version\":\"1 2\"}],",
		 .origin = ORIGIN("64"),
		 .code = JW_ERR_FORMAT},
		{.features = THIN,
		 .files = "\"files\":[{\"path\":\"a\",\"member\":\"\"}],",
		 .origin = ORIGIN("64"),
		 .code = JW_ERR_FORMAT},
		/* Members that a reader without thin packs would skip */
		{.features = "", .files = FILES("a"), .origin = ORIGIN("64"), .code = JW_ERR_FORMAT},
		{.features = THIN ",\"wings\"",
		 .files = FILES("a"),
		 .origin = ORIGIN("64"),
		 .code = JW_ERR_UNSUPPORTED},
		{.features = "7", .files = FILES("a"), .origin = ORIGIN("64"), .code = JW_ERR_UNSUPPORTED},
		/* Claims to contain it, and does not */
		{.features = THIN, .files = "", .origin = "", .code = JW_ERR_FORMAT},
	};
	struct packs_parts parts;

	(void)state;
	packs_parts_make(&parts);
	make_library(library, 0, 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		try_hostile(&parts, &cases[i]);
	/* A different module of the same size at that place */
	make_library(library, 1, 2);
	try_hostile(&parts, &(struct hostile){THIN, FILES("a/libframe.so"), ORIGIN("64"), JW_OK, 0, 1});
	/* A cubin is always in the pack */
	try_hostile(&parts, &(struct hostile){THIN, FILES("a"), "},{\"name\":\"cubin/x\",\"bytes\":8",
										  JW_ERR_FORMAT, 0, 0});
}

static int set_up(void **state)
{
	char *made;

	if (make_folder(state))
		return -1;
	cache = os_join(NULL, folder, "cache");
	target = os_join(NULL, folder, "target");
	pack = os_join(NULL, folder, "thin.jwpack");
	made = os_join(NULL, folder, "made");
	library = os_join(NULL, made, "libframe.so");
	if (os_make_dirs(NULL, made, 0700))
		return -1;
	mem_free(made);
	for (unsigned n = 0; n < ENTRIES; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, 10 * n);
		packs_put(cache, entry.key, entry.bytes, entry.size);
	}
	return 0;
}

static int tear_down(void **state)
{
	mem_free(cache);
	mem_free(target);
	mem_free(pack);
	mem_free(library);
	return remove_folder(state);
}

/* What an import was told of its search. */
struct search {
	size_t told, files;
	enum jw_code why;
};

static void on_found(void *context, const struct jw_found *found, const struct jw_error *why)
{
	struct search *search = context;

	search->told++;
	search->files = found ? found->file_count : 0;
	search->why = found ? JW_OK : why->code;
}

static struct search import_finding(const char *name, size_t accepted, size_t missing,
									bool searched)
{
	struct search search = {0};
	const struct jw_find_options find = {.size = sizeof find, .names = &name, .name_count = 1};
	const struct jw_import_options options = {.size = sizeof options,
											  .path = pack,
											  .cache_dir = target,
											  .allow_unsigned = true,
											  .context = &search,
											  .find = &find,
											  .found = on_found};
	struct jw_import_result *result;

	assert_int_equal(jw_import(NULL, &options, &result), 0);
	assert_int_equal(result->accepted, accepted);
	assert_int_equal(result->missing, missing);
	assert_int_equal(result->searched, searched);
	assert_int_equal(search.told, searched);
	jw_import_result_free(result);
	return search;
}

static void no_file_is_left_out(const struct jw_found *found)
{
	struct jw_pack_file *files = NULL;

	STARVE(jw_pack_files(&err, found, &files), jw_pack_files_free(files));
}

/* By names alone: the export takes what jw_find found, and the import calls it where it must. */
static void the_files_are_found_by_their_names(void **state)
{
	const char *name = library;
	const struct jw_find_options find = {.size = sizeof find, .names = &name, .name_count = 1};
	struct jw_export_options options = {
		.size = sizeof options, .cache_dir = cache, .output = pack, .thin = true};
	struct jw_export_result result = {.size = sizeof result};
	struct jw_found *found, none = {0};
	struct jw_error err = {0};

	(void)state;
	make_library(library, 0, ENTRIES - 1);
	(void)os_remove_tree(NULL, target);
	assert_int_equal(jw_find(NULL, &find, &found), 0);
	options.found = found;
	assert_int_equal(jw_export(NULL, &options, &result), 0);
	assert_int_equal(result.entries, ENTRIES);
	assert_int_equal(result.thin_modules, ENTRIES - 1);
	assert_int_equal(import_finding("no/such/file", 1, ENTRIES - 1, true).why, JW_ERR_NOT_FOUND);
	assert_int_equal(import_finding(library, ENTRIES - 1, 0, true).files, 1);
	no_file_is_left_out(found);
	options.thin = false;
	assert_int_equal(jw_export(NULL, &options, &result), 0);
	jw_found_free(found);
	(void)import_finding("no/such/file", 0, 0, false);
	options.found = &none;
	assert_int_equal(jw_export(&err, &options, &result), -1);
	assert_int_equal(err.code, JW_ERR_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(a_file_of_the_same_package_is_searched),
		cmocka_unit_test(kept_one),
		cmocka_unit_test(in_part),
		cmocka_unit_test(modules_in_no_file_stay_in_the_pack),
		cmocka_unit_test(hostile_manifests),
		cmocka_unit_test(the_files_are_found_by_their_names),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
