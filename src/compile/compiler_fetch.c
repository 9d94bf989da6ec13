#include "compile/compiler_fetch.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include <jitwarm/compiler.h>
#include <jitwarm/version.h>

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "compile/package_index.h"
#include "compile/wheel_member.h"
#include "os/clock.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/platform.h"

enum { MOST_WHEEL = 1 << 30, DAY_S = 86400, MOST_SHOWN = 400 };

static const char fresh_start[] = ".new-";

int compiler_fetch_store(struct jw_error *err, char **ret_path)
{
	bool windows = !strcmp(os_name, "windows");
	char *given = os_env("JITWARM_PTXAS");
	char *cache = os_env(windows ? "LOCALAPPDATA" : "XDG_CACHE_HOME"), *home = NULL, *path = NULL;

	if (given && *given)
		path = mem_string(err, given);
	else if (cache && os_is_absolute(cache))
		path = mem_printf(err, "%s%cjitwarm%cptxas", cache, os_separator, os_separator);
	else if (!os_home_dir(err, &home))
		path = mem_printf(err, "%s/.cache/jitwarm/ptxas", home);
	mem_free(home);
	mem_free(cache);
	mem_free(given);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

const char *compiler_fetch_program(void)
{
	return !strcmp(os_name, "windows") ? "ptxas.exe" : "ptxas";
}

/* Source: PyPI; up to CUDA 12 the packages carry the number. */
const char *compiler_fetch_package(char text[64], unsigned major)
{
	(void)snprintf(text, 64, major < 13 ? "nvidia-cuda-nvcc-cu%u" : "nvidia-cuda-nvcc", major);
	return text;
}

struct fetch {
	const struct jw_compiler_fetch_options *options;
	struct wheel_wanted wanted;
	const char *program; /* "ptxas" */
	struct os_file *file;
	uint64_t size;
	crypto_hash_sha256_state hash;
};

static int take_wheel(struct jw_error *err, void *context, const void *data, size_t size)
{
	struct fetch *fetch = context;

	if (!data) {
		fetch->size = 0;
		(void)crypto_hash_sha256_init(&fetch->hash);
		return os_file_truncate(err, fetch->file, 0);
	}
	if (os_file_write(err, fetch->file, fetch->size, data, size))
		return -1;
	(void)crypto_hash_sha256_update(&fetch->hash, data, size);
	fetch->size += size;
	return 0;
}

/* As messages may have it: an index can list addresses with a password or a token. */
static const char *show_place(char room[MOST_SHOWN], const struct wheel_found *found)
{
	if (!found->local)
		return text_address(room, MOST_SHOWN, found->place);
	text_copy(room, MOST_SHOWN, found->place);
	return room;
}

static int check_wheel(struct jw_error *err, struct fetch *fetch, const struct wheel_found *found)
{
	uint8_t hash[crypto_hash_sha256_BYTES];
	char text[2 * sizeof hash + 1], shown[MOST_SHOWN];

	(void)crypto_hash_sha256_final(&fetch->hash, hash);
	(void)sodium_bin2hex(text, sizeof text, hash, sizeof hash);
	if (*found->sha256 && !text_equal_fold(text, found->sha256))
		return error_set(err, JW_ERR_FORMAT, "%s: its SHA-256 is %s, but the index lists %s",
						 show_place(shown, found), text, found->sha256);
	return 0;
}

static int download(struct jw_error *err, struct fetch *fetch, struct http *http,
					const struct wheel_found *found, const char *to)
{
	struct http_request request = {.url = found->place,
								   .most_bytes = MOST_WHEEL,
								   .take = take_wheel,
								   .context = fetch,
								   .progress = fetch->options->progress,
								   .progress_context = fetch->options->context};
	struct http_answer answer;
	int result;

	if (os_file_open(err, to, OS_OPEN_CREATE, &fetch->file))
		return -1;
	result = http_get(err, http, &request, &answer);
	os_file_close(fetch->file);
	if (result)
		return -1;
	mem_free(answer.url);
	return check_wheel(err, fetch, found);
}

static int take_program(struct jw_error *err, struct fetch *fetch, struct http *http,
						const struct wheel_found *found, const char *folder)
{
	char *wheel = found->local ? mem_string(err, found->place) : os_join(err, folder, "wheel"),
		 *program = os_join(err, folder, fetch->program);
	char shown[MOST_SHOWN];
	int result = -1;

	if (wheel && program && (found->local || !download(err, fetch, http, found, wheel))) {
		result = wheel_member_take(err, wheel, fetch->program, program, &fetch->options->cancel);
		if (result)
			error_prefix(err, "%s", show_place(shown, found));
	}
	if (wheel && !found->local)
		(void)os_remove(NULL, wheel);
	mem_free(program);
	mem_free(wheel);
	return result;
}

static int fill_store_folder(struct jw_error *err, struct fetch *fetch, const char *folder)
{
	struct pip_config config;
	struct wheel_found found;
	struct http *http;
	int result = -1;

	if (pip_config_load(err, &config))
		return -1;
	http = http_open(err, &config, &fetch->options->cancel);
	if (http && !package_index_find(err, http, &config, &fetch->wanted, &found)) {
		result = take_program(err, fetch, http, &found, folder);
		mem_free(found.place);
	}
	http_close(http);
	pip_config_free(&config);
	return result;
}

/* Fills a folder beside the place, then renames it. */
static int fetch_into(struct jw_error *err, struct fetch *fetch, const char *store,
					  const char *place, const char *path)
{
	char *fresh = mem_printf(err, "%s%c%s%llx", store, os_separator, fresh_start,
							 (unsigned long long)os_monotonic_ns());
	struct jw_error why = {0};
	int result = -1;

	if (!fresh)
		return -1;
	os_sweep(store, fresh_start, "%", OS_DIRECTORY, DAY_S); /* of killed runs: no run takes a day */
	if (os_make_dirs(err, fresh, 0755) || fill_store_folder(err, fetch, fresh))
		goto done;
	result = os_rename(&why, fresh, place);
	/* Another process was faster. */
	if (result && os_exists(path))
		result = 0;
	else if (result && os_exists(place))
		error_set(err, JW_ERR_IO, "%.400s: is there without %s: remove it, then fetch again", place,
				  fetch->program);
	else if (result)
		error_copy(err, &why);
done:
	(void)os_remove_tree(NULL, fresh);
	mem_free(fresh);
	return result;
}

static bool is_cuda(const struct wheel_version *version)
{
	return (version->count == 2 || version->count == 3) && version->numbers[0] >= 11 &&
		   version->numbers[0] < 1000;
}

static int remove_compilers(struct jw_error *err, const char *store)
{
	struct wheel_version version;
	struct os_names names;
	int result = 0;

	if (os_list(err, store, &names))
		return -1;
	for (size_t i = 0; !result && i < names.count; i++) {
		char *path;

		if (names.kinds[i] != OS_DIRECTORY ||
			!(text_starts(names.items[i], fresh_start) ||
			  (wheel_version_read(names.items[i], &version) && is_cuda(&version))))
			continue;
		path = os_join(err, store, names.items[i]);
		result = path ? os_remove_tree(err, path) : -1;
		mem_free(path);
	}
	os_names_free(&names);
	return result;
}

int compiler_fetch_remove(struct jw_error *err, char **ret_path)
{
	char *given = os_env("JITWARM_PTXAS"), *store = NULL, *above;
	const bool named = given && *given;
	struct jw_error why = {0};

	mem_free(given);
	*ret_path = NULL;
	if (named)
		return 0;
	if (compiler_fetch_store(&why, &store) || remove_compilers(&why, store)) {
		mem_free(store);
		return error_unless_missing(err, &why);
	}
	above = os_dir_name(err, store);
	if (above && !os_remove_empty_dir(NULL, store))
		(void)os_remove_empty_dir(NULL, above);
	mem_free(above);
	if (!above) {
		mem_free(store);
		return -1;
	}
	*ret_path = store;
	return 0;
}

int jw_compiler_fetch(struct jw_error *err, const char *version,
					  const struct jw_compiler_fetch_options *options, char **ret_path)
{
	static const struct jw_compiler_fetch_options none = JW_COMPILER_FETCH_OPTIONS_INIT;

	options = SIZED(err, options ? options : &none, struct jw_compiler_fetch_options);
	if (!options)
		return -1;
	struct fetch fetch = {.options = options, .program = compiler_fetch_program()};
	char *store = NULL, *place, *path, package[64];
	int result = -1;

	if (!wheel_version_read(version, &fetch.wanted.version) || !is_cuda(&fetch.wanted.version))
		return error_set(err, JW_ERR_USAGE, "“%.40s” is not a CUDA version (12.4) from 11.0 on",
						 version);
	if (sodium_init() < 0)
		return error_set(err, JW_ERR_IO, "libsodium cannot start");
	if (compiler_fetch_store(err, &store))
		return -1;
	fetch.wanted.package = compiler_fetch_package(package, fetch.wanted.version.numbers[0]);
	fetch.wanted.platform = jw_platform();
	place = os_join(err, store, version);
	path = place ? os_join(err, place, fetch.program) : NULL;
	if (path && (os_exists(path) || !fetch_into(err, &fetch, store, place, path))) {
		*ret_path = path;
		path = NULL;
		result = 0;
	}
	mem_free(path);
	mem_free(place);
	mem_free(store);
	return result;
}
