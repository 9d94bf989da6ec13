#include "os/child_variables.h"

#include <string.h>

#include <uv.h>

#include "base/arena.h"
#include "base/text.h"
#include "os/file.h"

/* Whole names ("HOME="), and beginnings. A path that one of them names is a row of the table in
 * cli/places.c, if the program starts or believes what is there. Source for CUDA_:
 * docs/internals/driver-cache.md, "Limits and variables". */
static const char *const passed[] = {
	"CUDA_CACHE_DISABLE=",
	"CUDA_CACHE_MAXSIZE=",
	"CUDA_CACHE_PATH=",
	"CUDA_DEVICE_ORDER=",
	"CUDA_DISABLE_JIT=",
	"CUDA_DISABLE_PTX_JIT=",
	"CUDA_FORCE_JIT=",
	"CUDA_FORCE_PTX_JIT=",
	"CUDA_MODULE_LOADING=",
	"CUDA_MPS_",
	"CUDA_VISIBLE_DEVICES=",
	"JITWARM_",
	/* the system's */
	"HOME=",
	"LANG",
	"LC_",
	"LD_",
	"PATH=",
	"TMPDIR=",
	"XDG_CACHE_HOME=",
	"XDG_CONFIG_HOME=",
	"XDG_RUNTIME_DIR=",
	"XDG_STATE_HOME=",
	/* Windows', of which libuv adds those without which no program starts */
	"APPDATA=",
	"COMMONPROGRAM",
	"LOCALAPPDATA=",
	"NUMBER_OF_PROCESSORS=",
	"PROCESSOR_",
	"PROGRAM",
	"TMP=",
	/* pip's, and its Python's */
	"PYENV_ROOT=",
	"PYENV_VERSION=",
	"PYTHONHOME=",
	"PYTHONNOUSERSITE=",
	"PYTHONPATH=",
	"PYTHONUSERBASE=",
	"PIP_CERT=",
	"PIP_CONFIG_FILE=",
	"PIP_DEFAULT_TIMEOUT=",
	"PIP_EXTRA_INDEX_URL=",
	"PIP_FIND_LINKS=",
	"PIP_INDEX_URL=",
	"PIP_NO_INDEX=",
	"PIP_PROXY=",
	"PIP_RETRIES=",
	"PIP_TIMEOUT=",
	"PIP_TRUSTED_HOST=",
	"NETRC=",
	"HTTP_PROXY=",
	"HTTPS_PROXY=",
	"ALL_PROXY=",
	"NO_PROXY=",
	"http_proxy=",
	"https_proxy=",
	"all_proxy=",
	"no_proxy=",
	"REQUESTS_CA_BUNDLE=",
	"SSL_CERT_DIR=",
	"SSL_CERT_FILE=",
	/* those of tests, sanitizers and Wine */
	"ASAN_",
	"FAKE_",
	"GCOV_",
	"LLVM_PROFILE_FILE=",
	"LSAN_",
	"PHANTOM_",
	"SIMDRIVER_",
	"TORTURE",
	"TSAN_",
	"UBSAN_",
	"WINE",
};

static bool is_passed(const char *pair)
{
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		if (os_separator == '/' ? text_starts(pair, passed[i]) : text_starts_fold(pair, passed[i]))
			return true;
	return false;
}

char **child_variables_with(struct jw_error *err, const struct child_variable *changes,
							size_t count)
{
	uv_env_item_t *items = NULL;
	char **variables;
	int item_count = 0;
	size_t used = 0;

	if (uv_os_environ(&items, &item_count)) {
		error_set(err, JW_ERR_IO, "the environment cannot be read");
		return NULL;
	}
	variables = arena_open(((size_t)item_count + count + 1) * sizeof *variables);
	for (int i = 0; i < item_count; i++) {
		bool changed = false;

		for (size_t k = 0; k < count; k++)
			changed = changed || text_equal_fold(changes[k].name, items[i].name);
		if (!changed)
			variables[used++] = arena_printf(variables, "%s=%s", items[i].name, items[i].value);
	}
	for (size_t i = 0; i < count; i++)
		if (changes[i].value)
			variables[used++] = arena_printf(variables, "%s=%s", changes[i].name, changes[i].value);
	uv_os_free_environ(items, item_count);
	return variables;
}

char **child_variables_passed(struct jw_error *err, const struct child_variable *changes,
							  size_t count)
{
	char **variables = child_variables_with(err, changes, count);
	size_t kept = 0;

	for (char **at = variables; at && *at; at++)
		if (is_passed(*at))
			variables[kept++] = *at;
	if (variables)
		variables[kept] = NULL;
	return variables;
}
