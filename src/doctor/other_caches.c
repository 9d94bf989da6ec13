#include <jitwarm/caches.h>

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/platform.h"

/* A path begins with one of: ~ (the account's folder), {cache} (XDG_CACHE_HOME), {temp}, {local}
 * (%LOCALAPPDATA%). {user}, in its last part, is the account's name. */
struct known_cache {
	const char *name, *belongs_to, *variable;
	const char *below;   /* of the variable's folder */
	const char *path;    /* "": there is none without the variable */
	const char *windows; /* NULL: the same there */
};

static const struct known_cache known_caches[] = {
	{"CuPy", "CuPy", "CUPY_CACHE_DIR", "", "~/.cupy/kernel_cache", NULL},
	{"jiterator", "PyTorch", "PYTORCH_KERNEL_CACHE_PATH", "", "{cache}/torch/kernels",
	 "{temp}/torch/kernels"},
	{"Inductor", "PyTorch's torch.compile", "TORCHINDUCTOR_CACHE_DIR", "",
	 "{temp}/torchinductor_{user}", NULL},
	{"Triton", "Triton", "TRITON_CACHE_DIR", "", "~/.triton/cache", NULL},
	{"vLLM", "vLLM", "VLLM_CACHE_ROOT", "", "{cache}/vllm", "~/.cache/vllm"},
	{"FlashInfer", "FlashInfer", "FLASHINFER_WORKSPACE_BASE", ".cache/flashinfer",
	 "~/.cache/flashinfer", NULL},
	{"DeepGEMM", "DeepGEMM", "DG_JIT_CACHE_DIR", "", "~/.deep_gemm", NULL},
	{"CuTe DSL", "CUTLASS", "CUTE_DSL_CACHE_DIR", "", "{temp}/{user}/cutlass_python_cache", NULL},
	{"Warp", "NVIDIA Warp", "WARP_CACHE_PATH", "", "{cache}/warp", "{local}/NVIDIA/warp/Cache"},
	{"MLX", "MLX", "MLX_PTX_CACHE_DIR", "", "{temp}/mlx", NULL},
	{"cuDF", "RAPIDS cuDF", "LIBCUDF_KERNEL_CACHE_PATH", "", "~/.cudf", NULL},
	{"JAX", "JAX, XLA", "JAX_COMPILATION_CACHE_DIR", "", "", NULL},
	{"Numba", "Numba", "NUMBA_CACHE_DIR", "", "", NULL},
	{"OptiX", "OptiX: Blender and other ray tracers", "OPTIX_CACHE_PATH", "",
	 "/var/tmp/OptixCache_{user}", "{local}/NVIDIA/OptixCache"},
	{"GLCache", "OpenGL and Vulkan", "__GL_SHADER_DISK_CACHE_PATH", "", "{cache}/nvidia/GLCache",
	 "{local}/NVIDIA/GLCache"},
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

static int add_known_cache(struct jw_error *err, const struct known_cache *known,
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
	if (given && !os_real_path(&why, given, &cache->path))
		caches->count++;
	else if (why.code == JW_ERR_MEMORY)
		result = error_copy(err, &why);
	mem_free(given);
	return result;
}

int jw_compiler_caches_find(struct jw_error *err, struct jw_compiler_caches **ret_caches)
{
	struct jw_compiler_caches *caches = mem_alloc(err, sizeof *caches);
	int result = 0;

	if (!caches)
		return -1;
	caches->items = mem_array(err, KNOWN, sizeof *caches->items);
	if (!caches->items)
		result = -1;
	for (size_t i = 0; i < KNOWN && !result; i++)
		result = add_known_cache(err, &known_caches[i], caches);
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
	for (size_t i = 0; caches->items && i < caches->count; i++)
		mem_free(caches->items[i].path);
	mem_free(caches->items);
	mem_free(caches);
}
