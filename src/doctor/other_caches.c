#include <jitwarm/caches.h>

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "doctor/folder_size.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/platform.h"

enum { MOST_SUPERSEDED = 64, MOST_NUMBERS = 4, MOST_DIGITS = 6 };

/* A path begins with one of: ~ (the account's folder), {cache} (XDG_CACHE_HOME), {temp}, {local}
 * (%LOCALAPPDATA%). {user}, in its last part, is the account's name. */
struct known_cache {
	const char *name, *belongs_to, *variable;
	const char *below;   /* of the variable's folder */
	const char *path;    /* "": there is none without the variable */
	const char *windows; /* NULL: the same there */
	bool versioned;      /* its folders are named after the version that reads them */
};

static const struct known_cache known_caches[] = {
	{"CuPy", "CuPy", "CUPY_CACHE_DIR", "", "~/.cupy/kernel_cache", NULL, false},
	{"jiterator", "PyTorch", "PYTORCH_KERNEL_CACHE_PATH", "", "{cache}/torch/kernels",
	 "{temp}/torch/kernels", false},
	{"Inductor", "PyTorch's torch.compile", "TORCHINDUCTOR_CACHE_DIR", "",
	 "{temp}/torchinductor_{user}", NULL, false},
	{"Triton", "Triton", "TRITON_CACHE_DIR", "", "~/.triton/cache", NULL, false},
	{"vLLM", "vLLM", "VLLM_CACHE_ROOT", "", "{cache}/vllm", "~/.cache/vllm", false},
	{"FlashInfer", "FlashInfer", "FLASHINFER_WORKSPACE_BASE", ".cache/flashinfer",
	 "~/.cache/flashinfer", NULL, true},
	{"DeepGEMM", "DeepGEMM", "DG_JIT_CACHE_DIR", "", "~/.deep_gemm", NULL, false},
	{"CuTe DSL", "CUTLASS", "CUTE_DSL_CACHE_DIR", "", "{temp}/{user}/cutlass_python_cache", NULL,
	 false},
	{"Warp", "NVIDIA Warp", "WARP_CACHE_PATH", "", "{cache}/warp", "{local}/NVIDIA/warp/Cache",
	 true},
	{"MLX", "MLX", "MLX_PTX_CACHE_DIR", "", "{temp}/mlx", NULL, true},
	{"cuDF", "RAPIDS cuDF", "LIBCUDF_KERNEL_CACHE_PATH", "", "~/.cudf", NULL, true},
	{"JAX", "JAX, XLA", "JAX_COMPILATION_CACHE_DIR", "", "", NULL, false},
	{"Numba", "Numba", "NUMBA_CACHE_DIR", "", "", NULL, false},
	{"OptiX", "OptiX: Blender and other ray tracers", "OPTIX_CACHE_PATH", "",
	 "/var/tmp/OptixCache_{user}", "{local}/NVIDIA/OptixCache", false},
	{"GLCache", "OpenGL and Vulkan", "__GL_SHADER_DISK_CACHE_PATH", "", "{cache}/nvidia/GLCache",
	 "{local}/NVIDIA/GLCache", false},
};

enum { KNOWN = sizeof known_caches / sizeof *known_caches };

/* The first of these variables that is set, and not empty; NULL: none. */
static char *first_set(const char *const *names)
{
	for (; *names; names++) {
		char *value = os_env(*names);

		if (value && *value)
			return value;
		mem_free(value);
	}
	return NULL;
}

/* As Python's getpass.getuser(). */
static char *user_name(struct jw_error *err)
{
	static const char *const names[] = {"LOGNAME", "USER", "LNAME", "USERNAME", NULL};
	char *name = first_set(names);

	if (!name && os_account_id(err, &name))
		return NULL;
	return name;
}

static int base_folder(struct jw_error *err, const char *path, char **ret_folder)
{
	static const char *const caches[] = {"XDG_CACHE_HOME", NULL}, *const locals[] = {"LOCALAPPDATA",
																					 NULL};
	static const char *const temps[] = {"TMPDIR", "TEMP", "TMP", NULL};
	char *folder, *home;

	if (text_starts(path, "{cache}") && (folder = first_set(caches))) {
		*ret_folder = folder;
		return 0;
	}
	if (text_starts(path, "{temp}")) {
		folder = first_set(temps);
		*ret_folder = folder ? folder : os_temp_dir(err);
		return *ret_folder ? 0 : -1;
	}
	if (text_starts(path, "{local}")) {
		*ret_folder = first_set(locals);
		return *ret_folder ? 0 : error_set(err, JW_ERR_NOT_FOUND, "%%LOCALAPPDATA%% is not set");
	}
	if (os_home_dir(err, &home))
		return -1;
	folder = text_starts(path, "{cache}") ? os_join(err, home, ".cache") : mem_string(err, home);
	mem_free(home);
	if (!folder)
		return -1;
	*ret_folder = folder;
	return 0;
}

/* The rest of a path, with the account's name in it. */
static char *named_rest(struct jw_error *err, const char *rest)
{
	const char *at = strstr(rest, "{user}");
	char *user, *text;

	if (!at)
		return mem_string(err, rest);
	user = user_name(err);
	text = user ? mem_printf(err, "%.*s%s%s", (int)(at - rest), rest, user, at + strlen("{user}"))
				: NULL;
	mem_free(user);
	return text;
}

static int usual_path(struct jw_error *err, const char *path, char **ret_path)
{
	char *folder = NULL, *rest, *whole = NULL;

	if (path[0] == '/') {
		whole = named_rest(err, path);
	} else {
		rest = named_rest(err, strchr(path, '/') + 1);
		if (rest && !base_folder(err, path, &folder))
			whole = os_join(err, folder, rest);
		mem_free(rest);
		mem_free(folder);
	}
	if (!whole)
		return -1;
	*ret_path = whole;
	return 0;
}

/* *ret_path is NULL where the cache has no place. */
static int place_of(struct jw_error *err, const struct known_cache *known, char **ret_path,
					bool *ret_moved)
{
	const char *usual =
		known->windows && !strcmp(os_name, "windows") ? known->windows : known->path;
	char *value;

	if (os_env_read(err, known->variable, &value))
		return -1;
	*ret_moved = value && *value;
	*ret_path = NULL;
	if (*ret_moved && *known->below) {
		*ret_path = os_join(err, value, known->below);
		mem_free(value);
		return *ret_path ? 0 : -1;
	}
	if (*ret_moved) {
		*ret_path = value;
		return 0;
	}
	mem_free(value);
	return *usual ? usual_path(err, usual, ret_path) : 0;
}

/* ---- versions */

static bool version_read(const char *name, uint32_t numbers[MOST_NUMBERS])
{
	memset(numbers, 0, MOST_NUMBERS * sizeof *numbers);
	return text_numbers(name, MOST_DIGITS, numbers, MOST_NUMBERS) >= 2;
}

static bool version_is_older(const uint32_t *a, const uint32_t *b)
{
	for (size_t i = 0; i < MOST_NUMBERS; i++)
		if (a[i] != b[i])
			return a[i] < b[i];
	return false;
}

static int note_superseded(struct jw_error *err, struct jw_compiler_cache *cache, const char *name)
{
	struct folder_size size = {0};
	char *path = os_join(err, cache->path, name);
	int result = path ? folder_size(err, path, JW_COMPILER_CACHE_MOST_NAMES, &size) : -1;

	cache->superseded_bytes += size.bytes;
	if (!result)
		result = mem_add_string(err, &cache->superseded, &cache->superseded_count, MOST_SUPERSEDED,
								name);
	mem_free(path);
	return result;
}

static int find_superseded(struct jw_error *err, struct jw_compiler_cache *cache)
{
	uint32_t newest[MOST_NUMBERS] = {0}, numbers[MOST_NUMBERS];
	struct os_names names;
	int result = 0;

	if (os_list(NULL, cache->path, &names))
		return 0;
	for (size_t i = 0; i < names.count; i++)
		if (names.kinds[i] == OS_DIRECTORY && version_read(names.items[i], numbers) &&
			version_is_older(newest, numbers))
			memcpy(newest, numbers, sizeof newest);
	for (size_t i = 0; i < names.count && !result; i++)
		if (names.kinds[i] == OS_DIRECTORY && version_read(names.items[i], numbers) &&
			version_is_older(numbers, newest))
			result = note_superseded(err, cache, names.items[i]);
	os_names_free(&names);
	return result;
}

/* ---- all */

static int measure_cache(struct jw_error *err, const struct known_cache *known,
						 struct jw_compiler_cache *cache)
{
	struct folder_size size = {0};

	if (folder_size(err, cache->path, JW_COMPILER_CACHE_MOST_NAMES, &size))
		return -1;
	cache->files = size.files;
	cache->bytes = size.bytes;
	cache->newest_ns = size.newest_ns;
	cache->unread = size.unread;
	cache->cut = size.cut;
	return known->versioned ? find_superseded(err, cache) : 0;
}

static int add_known_cache(struct jw_error *err, const struct known_cache *known, bool measured,
						   struct jw_compiler_caches *caches)
{
	struct jw_compiler_cache *cache = &caches->items[caches->count];
	struct jw_error why = {0};
	char *given = NULL;
	int result = 0;

	*cache = (struct jw_compiler_cache){
		.name = known->name, .belongs_to = known->belongs_to, .variable = known->variable};
	if (place_of(&why, known, &given, &cache->moved))
		return why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
	if (given && !os_real_path(&why, given, &cache->path)) {
		caches->count++;
		result = measured ? measure_cache(err, known, cache) : 0;
	} else if (why.code == JW_ERR_MEMORY) {
		result = error_copy(err, &why);
	}
	mem_free(given);
	return result;
}

int jw_compiler_caches_find(struct jw_error *err, bool measured,
							struct jw_compiler_caches **ret_caches)
{
	struct jw_compiler_caches *caches = mem_alloc(err, sizeof *caches);
	int result = 0;

	if (!caches)
		return -1;
	caches->items = mem_array(err, KNOWN, sizeof *caches->items);
	if (!caches->items)
		result = -1;
	for (size_t i = 0; i < KNOWN && !result; i++)
		result = add_known_cache(err, &known_caches[i], measured, caches);
	if (result) {
		jw_compiler_caches_free(caches);
		return -1;
	}
	*ret_caches = caches;
	return 0;
}

void jw_compiler_caches_free(struct jw_compiler_caches *caches)
{
	if (!caches)
		return;
	for (size_t i = 0; caches->items && i < caches->count; i++) {
		struct jw_compiler_cache *cache = &caches->items[i];

		for (size_t at = 0; at < cache->superseded_count; at++)
			mem_free(cache->superseded[at]);
		mem_free(cache->superseded);
		mem_free(cache->path);
	}
	mem_free(caches->items);
	mem_free(caches);
}
