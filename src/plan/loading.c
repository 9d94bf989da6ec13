#include "plan/loading.h"

#include <string.h>

#include "base/mem.h"
#include "base/packages.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"

enum {
	LAZY_RUNTIME =
		11080,           /* the first runtime that loads lazily; 11.7 never does, whatever is set */
	LAZY_DRIVER = 11070, /* driver 515 */
	LAZY_BY_DEFAULT = 12020,
	LAZY_BY_DEFAULT_WINDOWS = 12030,
	LENIENT_RUNTIME = 12000,
};

static bool has_folder(const char *path, const char *folder)
{
	const size_t length = strlen(folder);

	for (const char *at = path; at && (at = strstr(at, folder)); at++)
		if ((at == path || os_is_separator(at[-1])) && os_is_separator(at[length]))
			return true;
	return false;
}

/* Returns whether PyTorch loads the library. PyTorch sets CUDA_MODULE_LOADING=LAZY unless it is
 * set; it has done so since 1.13, which is older than its wheels with a runtime that loads lazily.
 * The libraries of these packages run in its processes. */
static bool is_with_torch(const struct loading_facts *facts)
{
	const struct package_fact *fact;

	for (size_t at = 0; (fact = package_fact_next("lazy", &at));)
		if (has_folder(facts->path, fact->name) || has_folder(facts->member, fact->name))
			return true;
	return false;
}

enum loading loading_of(const struct loading_facts *facts)
{
	const uint32_t driver = facts->driver_cuda ? facts->driver_cuda : UINT32_MAX,
				   by_default = facts->windows ? LAZY_BY_DEFAULT_WINDOWS : LAZY_BY_DEFAULT;

	if (facts->runtime_cuda >= LAZY_RUNTIME && driver >= LAZY_DRIVER &&
		facts->setting != LOADING_DECLINED &&
		(driver >= by_default || facts->setting == LOADING_ASKED || is_with_torch(facts)))
		return LOADING_LAZY;
	return facts->runtime_cuda >= LENIENT_RUNTIME ? LOADING_LENIENT : LOADING_ALL;
}

enum loading_setting loading_setting_here(void)
{
	char *value = os_env("CUDA_MODULE_LOADING");
	enum loading_setting setting = LOADING_DEFAULT;

	/* The driver reads EAGER in any case, and LAZY only in capitals. */
	if (value && !strcmp(value, "LAZY"))
		setting = LOADING_ASKED;
	else if (value && text_starts_fold(value, "eager") && !value[5])
		setting = LOADING_DECLINED;
	mem_free(value);
	return setting;
}
