#include "driver/compiler_fetch.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/compiler.h>
#include <jitwarm/version.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/packages.h"
#include "base/text.h"
#include "driver/ptxas.h"
#include "find/pip.h"
#include "os/archive.h"
#include "os/clock.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/platform.h"

enum { MAX_PROGRAM = 1 << 30, MAX_MEMBERS = 100000, STEP = 1 << 16, DAY_S = 86400 };

static const char fresh_start[] = ".new-";

static char *named_store;

void jw_use_compilers(const char *folder)
{
	mem_free(named_store);
	named_store = folder ? mem_string(folder) : NULL;
}

int jw_compiler_store(struct jw_error *err, char **ret_path)
{
	char *cache = os_env(os_is_windows ? "LOCALAPPDATA" : "XDG_CACHE_HOME"), *home = NULL;
	int result = 0;

	if (named_store)
		*ret_path = mem_string(named_store);
	else if (cache && os_is_absolute(cache))
		*ret_path = mem_printf("%s%cjitwarm%cptxas", cache, os_separator, os_separator);
	else
		result = os_home_dir(err, &home);
	if (home)
		*ret_path = os_join(home, ".cache/jitwarm/ptxas");
	mem_free(home);
	mem_free(cache);
	return result;
}

const char *compiler_fetch_program(void)
{
	return os_is_windows ? "ptxas.exe" : "ptxas";
}

/* Writes the name of the package with a compiler, the first row of that kind in packages.tsv. Up to
 * CUDA 12 the names of packages end in the number. Source: PyPI. */
static const char *write_package_name(char text[64], const char *kind, unsigned major)
{
	size_t at = 0;

	(void)snprintf(text, 64, major < 13 ? "%s-cu%u" : "%s", package_fact_next(kind, &at)->name,
				   major);
	return text;
}

const char *compiler_fetch_package(char text[64], unsigned major)
{
	return write_package_name(text, "ptxas", major);
}

/* PyPI has nvidia-cuda-nvcc since 11.7.99; there was no CUDA 12.7. */
uint32_t compiler_fetch_first(uint32_t cuda)
{
	return cuda < 11070                   ? 11070
		   : cuda > 11080 && cuda < 12000 ? 12000
		   : cuda == 12070                ? 12080
										  : cuda;
}

enum { MAX_PIECES = 1 };

/* The file that is kept of one wheel. */
struct fetched_piece {
	char package[64],
		member[64];  /* "nvidia-cuda-nvcc-cu12", and "bin/ptxas", the end of the file's name */
	char asked[128]; /* "nvidia-cuda-nvcc-cu12==12.4.*" */
	int (*version)(struct jw_error *err, const char *path,
				   uint32_t *ret_cuda); /* reads the version that the file reports */
};

struct fetch {
	void *owner; /* of paths */
	const struct jw_compiler_fetch_options *options;
	struct version cuda;
	struct fetched_piece pieces[MAX_PIECES];
	size_t piece_count;
};

/* ---- one file */

static int fail_wheel(struct jw_error *err, struct archive *archive)
{
	const char *why = os_archive()->error_string(archive);

	return error_set(err, JW_ERR_FORMAT, "%.300s", why ? why : "a damaged zip file");
}

static int write_program(struct jw_error *err, struct archive *archive, const char *path,
						 const struct jw_cancel *cancel)
{
	uint8_t bytes[STEP];
	struct os_file *file = NULL;
	uint64_t size = 0;
	la_ssize_t got = 1;
	int result = os_file_open(err, path, OS_OPEN_CREATE, &file);

	while (!result && got) {
		if (cancel_check(err, cancel))
			result = -1;
		else if ((got = os_archive()->read_data(archive, bytes, sizeof bytes)) < 0)
			result = got == ARCHIVE_RETRY ? 0 : fail_wheel(err, archive);
		else if ((uint64_t)got > MAX_PROGRAM - size)
			result = error_set(err, JW_ERR_LIMIT, "a program of more than %d bytes", MAX_PROGRAM);
		else if (got)
			result = os_file_write(err, file, size, bytes, (size_t)got);
		size += got > 0 ? (uint64_t)got : 0;
	}
	if (file)
		os_file_close(file);
	return result ? result : os_set_mode(err, path, 0755);
}

/* Extracts the one file whose name ends in /`member`; no other one is written. */
static int find_program(struct jw_error *err, struct archive *archive, const char *member,
						const char *path, const struct jw_cancel *cancel)
{
	const size_t tail = strlen(member);
	struct archive_entry *entry;
	size_t count = 0;
	bool found = false;
	int code;

	while ((code = os_archive()->read_next_header(archive, &entry)) != ARCHIVE_EOF) {
		const char *name = code < ARCHIVE_WARN ? NULL : os_archive()->entry_pathname(entry);
		const size_t length = name ? strlen(name) : 0;

		if (code < ARCHIVE_WARN && code != ARCHIVE_RETRY)
			return fail_wheel(err, archive);
		if (++count > MAX_MEMBERS)
			return error_set(err, JW_ERR_LIMIT, "more than %d members", MAX_MEMBERS);
		if (length <= tail || os_archive()->entry_filetype(entry) != AE_IFREG ||
			!text_ends(name, member) || name[length - tail - 1] != '/')
			continue;
		if (found)
			return error_set(err, JW_ERR_FORMAT, "two programs, the second is %.200s", name);
		if (write_program(err, archive, path, cancel))
			return -1;
		found = true;
	}
	return found ? 0 : error_set(err, JW_ERR_FORMAT, "has no %s", member);
}

static int unpack_program(struct jw_error *err, const char *wheel, const char *member,
						  const char *path, const struct jw_cancel *cancel)
{
	struct archive *archive;
	struct os_map map;
	int result;

	if (os_archive_load(err) || os_map_open(err, wheel, &map))
		return -1;
	archive = os_archive()->read_new();
	if (!archive)
		mem_ended(0);
	if (os_archive()->read_support_format_zip_seekable(archive) ||
		os_archive()->read_open_memory(archive, map.data, map.size))
		result = fail_wheel(err, archive);
	else
		result = find_program(err, archive, member, path, cancel);
	(void)os_archive()->read_free(archive);
	os_map_close(&map);
	return result;
}

/* Checks the version by starting the program, as it will be started to compile. The name is not
 * enough: every search for this version would skip a program that reports another one. */
static int check_fetched_version(struct jw_error *err, const struct fetch *fetch,
								 const struct fetched_piece *piece, const char *path)
{
	const unsigned *wanted = fetch->cuda.numbers;
	struct jw_error why = {0};
	uint32_t cuda;

	if (piece->version(&why, path, &cuda))
		return error_set(err, JW_ERR_FORMAT, "%s", why.message);
	if (cuda != wanted[0] * 1000 + wanted[1] * 10)
		return error_set(err, JW_ERR_FORMAT, "its %s reports CUDA %u.%u, not %u.%u",
						 os_base_name(piece->member), cuda / 1000, cuda % 1000 / 10, wanted[0],
						 wanted[1]);
	return 0;
}

static const char by_hand[] = "name the ptxas of a CUDA toolkit (--ptxas FILE)";

/* Fills a folder with the files of the wheels. */
static int fill_store_folder(struct jw_error *err, const struct fetch *fetch, const char *folder)
{
	char *room = arena_keep(fetch->owner, os_join(folder, "pip"));
	const struct pip_options how = {.folder = room,
									.platform = jw_platform(),
									.any_python = true,
									.by_hand = by_hand,
									.fetch = fetch->options};
	struct pip *pip = NULL;
	int result = os_make_dirs(err, room, 0700);

	if (!result)
		result = pip_open(err, &how, &pip);
	for (size_t i = 0; !result && i < fetch->piece_count; i++) {
		const struct fetched_piece *piece = &fetch->pieces[i];
		char *wheel = NULL,
			 *program = arena_keep(fetch->owner, os_join(folder, os_base_name(piece->member)));
		struct jw_error why = {0};

		if (pip_get_one(&why, pip, "", piece->asked, &wheel))
			result = why.code == JW_ERR_NOT_FOUND && pip_lack(pip) != PIP_LACKS_NOTHING
						 ? error_set(err, why.code, "%s; %s", why.message, by_hand)
						 : error_copy(err, &why);
		else if (unpack_program(err, arena_keep(fetch->owner, wheel), piece->member, program,
								&fetch->options->cancel) ||
				 check_fetched_version(err, fetch, piece, program))
			result = error_prefix(err, "%s", os_base_name(wheel));
	}
	pip_close(pip);
	(void)os_remove_tree(NULL, room);
	return result;
}

/* ---- the store */

/* Fills a temporary folder and renames it. `path` is the path of ptxas in the final folder. */
static int fetch_into(struct jw_error *err, struct fetch *fetch, const char *store,
					  const char *place, const char *path)
{
	char *fresh = arena_printf(fetch->owner, "%s%c%s%llx", store, os_separator, fresh_start,
							   (unsigned long long)os_monotonic_ns());
	struct jw_error why = {0};
	int result = -1;

	os_sweep(store, fresh_start, "%", OS_DIRECTORY,
			 DAY_S); /* folders of killed runs, since no run takes a day */
	if (os_make_dirs(err, fresh, 0755) || fill_store_folder(err, fetch, fresh))
		goto done;
	result = os_rename(&why, fresh, place);
	if (result && os_exists(path)) {
		/* The folder was fetched before: by another process, without its linker, or in another
		 * version. It keeps its other files. */
		result = 0;
		for (size_t i = 0; !result && i < fetch->piece_count; i++) {
			const char *name = os_base_name(fetch->pieces[i].member);

			result = os_rename(err, arena_keep(fetch->owner, os_join(fresh, name)),
							   arena_keep(fetch->owner, os_join(place, name)));
		}
	} else if (result && os_exists(place)) {
		error_set(err, JW_ERR_IO, "%.400s: exists without %s: remove it, then fetch again", place,
				  compiler_fetch_program());
	} else if (result) {
		error_copy(err, &why);
	}
done:
	(void)os_remove_tree(NULL, fresh);
	return result;
}

static bool read_wanted_version(const char *text, struct version *ret_version)
{
	const char *rest;

	return version_read(text, ret_version, &rest) && !*rest &&
		   (ret_version->count == 2 || ret_version->count == 3) && ret_version->numbers[0] >= 11 &&
		   ret_version->numbers[0] < 1000;
}

/* Removes the fetched versions and what killed fetches have left. A dry run only fails if there is
 * no folder. */
static int remove_compilers(struct jw_error *err, bool dry_run, const char *store)
{
	struct version version;
	struct os_names names;
	int result = 0;

	if (os_list(err, store, &names))
		return -1;
	for (size_t i = 0; !result && i < names.count; i++) {
		char *path;

		if (dry_run || names.kinds[i] != OS_DIRECTORY ||
			!(text_starts(names.items[i], fresh_start) ||
			  read_wanted_version(names.items[i], &version)))
			continue;
		path = os_join(store, names.items[i]);
		result = os_remove_tree(err, path);
		mem_free(path);
	}
	os_names_free(&names);
	return result;
}

int compiler_fetch_remove(struct jw_error *err, bool dry_run, char **ret_path)
{
	char *store = NULL, *above;
	struct jw_error why = {0};

	*ret_path = NULL;
	if (named_store)
		return 0;
	if (jw_compiler_store(&why, &store) || remove_compilers(&why, dry_run, store)) {
		mem_free(store);
		return error_unless_missing(err, &why);
	}
	above = os_dir_name(store);
	if (!dry_run && !os_remove_empty_dir(NULL, store))
		(void)os_remove_empty_dir(NULL, above);
	mem_free(above);
	*ret_path = store;
	return 0;
}

/* Lists ptxas, unless this version of it is already there. */
static void find_missing(struct fetch *fetch, const char *path)
{
	const unsigned *cuda = fetch->cuda.numbers;
	struct fetched_piece *piece = &fetch->pieces[0];

	(void)compiler_fetch_package(piece->package, cuda[0]);
	(void)snprintf(piece->member, sizeof piece->member, "bin/%s", compiler_fetch_program());
	piece->version = ptxas_version;
	if (fetch->cuda.count < 3)
		(void)snprintf(piece->asked, sizeof piece->asked, "%.60s==%u.%u.*", piece->package, cuda[0],
					   cuda[1]);
	else
		(void)snprintf(piece->asked, sizeof piece->asked, "%.60s==%u.%u.%u", piece->package,
					   cuda[0], cuda[1], cuda[2]);
	fetch->piece_count = !os_exists(path) || check_fetched_version(NULL, fetch, piece, path);
}

int jw_compiler_fetch(struct jw_error *err, const char *version,
					  const struct jw_compiler_fetch_options *options, char **ret_path)
{
	static const struct jw_compiler_fetch_options none;
	struct fetch fetch = {.options = options ? options : &none};
	char *store = NULL, *place, *path;
	int result;

	if (!read_wanted_version(version, &fetch.cuda))
		return error_set(err, JW_ERR_USAGE,
						 "“%.40s” is not a CUDA version from 11.0 on (such as 12.4)", version);
	/* Wheels are numbered by builds (12.4.131), which have two digits or more. */
	if (fetch.cuda.count == 3 && fetch.cuda.numbers[2] < 10)
		return error_set(err, JW_ERR_USAGE,
						 "“%.40s”: wheels are not numbered by toolkit update: “jitwarm compiler "
						 "fetch %.*s” gets the newest",
						 version, (int)(strrchr(version, '.') - version), version);
	if (jw_compiler_store(err, &store))
		return -1;
	fetch.owner = arena_open(0);
	place = arena_keep(fetch.owner, os_join(arena_keep(fetch.owner, store), version));
	path = arena_keep(fetch.owner, os_join(place, compiler_fetch_program()));
	find_missing(&fetch, path);
	result = fetch.piece_count ? fetch_into(err, &fetch, store, place, path) : 0;
	if (!result)
		*ret_path = mem_string(path);
	jw_result_free(fetch.owner);
	return result;
}
