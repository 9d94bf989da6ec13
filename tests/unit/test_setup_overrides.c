/* Which settings of people's own win over what tune writes. */
#include "root.h"

#include <unistd.h>

#include <jitwarm/tune.h>

enum { MOST = 3 };

static const struct {
	const char *name;
	struct jw_tune_request request;
	struct {
		const char *source, *where, *name, *value;
		size_t line;
		bool unset, ours;
	} settings[MOST];
	const char *wins; /* 'y' or 'n' for each setting */
} cases[] = {
	{"switches, wherever they are",
	 {.scope = JW_SCOPE_USER},
	 {{"process", "", "CUDA_CACHE_DISABLE", "1", 0, false, false},
	  {"profile.d", "/x", "CUDA_FORCE_PTX_JIT", "$x", 1, false, false},
	  {"systemd unit", "/x", "CUDA_FORCE_JIT", "1", 1, false, false}},
	 "yyy"},
	{"switches that are off, and others",
	 {.scope = JW_SCOPE_USER},
	 {{"shell profile", "/x", "CUDA_CACHE_DISABLE", "0", 1, false, false},
	  {"shell profile", "/x", "CUDA_FORCE_JIT", "1", 1, true, false},
	  {"shell profile", "/x", "CUDA_DISABLE_PTX_JIT", "1", 1, false, false}},
	 "nny"},
	{"switches that drivers take for off",
	 {.scope = JW_SCOPE_USER},
	 {{"shell profile", "/x", "CUDA_CACHE_DISABLE", "", 1, false, false},
	  {"shell profile", "/x", "CUDA_FORCE_JIT", "yes", 1, false, false},
	  {"shell profile", "/x", "CUDA_DISABLE_JIT", "0", 1, false, false}},
	 "nnn"},
	{"our own",
	 {.scope = JW_SCOPE_SHELL, .limit_bytes = 7},
	 {{"shell profile", "/x", "CUDA_CACHE_DISABLE", "1", 1, false, true},
	  {"shell profile", "/x", "CUDA_CACHE_MAXSIZE", "1", 1, false, true}},
	 "nn"},
	{"a smaller limit",
	 {.scope = JW_SCOPE_SHELL, .limit_bytes = 7},
	 {{"shell profile", "/x", "CUDA_CACHE_MAXSIZE", "6", 1, false, false},
	  {"shell profile", "/x", "CUDA_CACHE_MAXSIZE", "7", 1, false, false},
	  {"shell profile", "/x", "CUDA_CACHE_MAXSIZE", "8", 1, false, false}},
	 "ynn"},
	{"none, and no number",
	 {.scope = JW_SCOPE_SHELL, .limit_bytes = 7, .path = "/a"},
	 {{"shell profile", "/x", "CUDA_CACHE_MAXSIZE", "8", 1, true, false},
	  {"shell profile", "/x", "CUDA_CACHE_MAXSIZE", "8G", 1, false, false},
	  {"shell profile", "/x", "CUDA_CACHE_DIR", "/b", 1, false, false}},
	 "yyn"},
	{"a limit that is not asked for",
	 {.scope = JW_SCOPE_SHELL, .path = "/a"},
	 {{"shell profile", "/x", "CUDA_CACHE_MAXSIZE", "1", 1, false, false},
	  {"shell profile", "/x", "CUDA_CACHE_MAXSIZE", "1", 1, true, false}},
	 "nn"},
	{"another path",
	 {.scope = JW_SCOPE_SHELL, .path = "/a"},
	 {{"shell profile", "/x", "CUDA_CACHE_PATH", "/b", 1, false, false},
	  {"shell profile", "/x", "CUDA_CACHE_PATH", "/a", 1, false, false},
	  {"shell profile", "/x", "CUDA_CACHE_PATH", "/a", 1, true, false}},
	 "yny"},
	{"a path that is not asked for",
	 {.scope = JW_SCOPE_SHELL, .limit_bytes = 7},
	 {{"shell profile", "/x", "CUDA_CACHE_PATH", "/b", 1, false, false}},
	 "n"},
	{"what is read before",
	 {.scope = JW_SCOPE_SHELL, .limit_bytes = 7},
	 {{"shell profile", "/r/etc/profile", "CUDA_CACHE_MAXSIZE", "1", 1, false, false},
	  {"environment.d", "/x", "CUDA_CACHE_MAXSIZE", "1", 1, false, false},
	  {"shell profile", "/etc/profile.local", "CUDA_CACHE_MAXSIZE", "1", 1, false, false}},
	 "nny"},
	{"of all accounts, too",
	 {.scope = JW_SCOPE_SYSTEM, .limit_bytes = 7},
	 {{"shell profile", "/x", "CUDA_CACHE_MAXSIZE", "1", 1, false, false}},
	 "y"},
	/* "~" is this account's profile, to whose end we write. */
	{"above the block that will be written",
	 {.scope = JW_SCOPE_SHELL, .limit_bytes = 7},
	 {{"shell profile", "~", "CUDA_CACHE_MAXSIZE", "1", 9, false, false},
	  {"shell profile", "/x", "CUDA_CACHE_MAXSIZE", "7", 1, false, true}},
	 "nn"},
	{"above it and below it",
	 {.scope = JW_SCOPE_SHELL, .limit_bytes = 7},
	 {{"shell profile", "~", "CUDA_CACHE_MAXSIZE", "1", 4, false, false},
	  {"shell profile", "~", "CUDA_CACHE_MAXSIZE", "7", 5, false, true},
	  {"shell profile", "~", "CUDA_CACHE_MAXSIZE", "1", 6, false, false}},
	 "nny"},
	{"in its line",
	 {.scope = JW_SCOPE_SHELL, .limit_bytes = 7},
	 {{"shell profile", "~", "CUDA_CACHE_MAXSIZE", "1", 5, false, false},
	  {"shell profile", "~", "CUDA_CACHE_MAXSIZE", "7", 5, false, true}},
	 "nn"},
	{"below lines that are not ours",
	 {.scope = JW_SCOPE_SHELL, .limit_bytes = 7},
	 {{"shell profile", "~", "CUDA_CACHE_MAXSIZE", "1", 4, false, false},
	  {"shell profile", "~", "CUDA_CACHE_MAXSIZE", "1", 6, false, false}},
	 "nn"},
};

TEST(each_condition_has_its_case)
{
	char *profile = os_join(root, ".profile");

	OK(os_env_set(why, "HOME", root));
	OK(os_env_set(why, "SHELL", "/bin/sh"));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_tune_request request = cases[i].request;
		struct jw_setting items[MOST] = {0};
		struct jw_settings settings = {.items = items};
		bool wins[MOST] = {0};

		for (; settings.count < strlen(cases[i].wins); settings.count++) {
			const char *where = cases[i].settings[settings.count].where;

			items[settings.count] = (struct jw_setting){
				.source = cases[i].settings[settings.count].source,
				.where = *where == '~' ? profile : (char *)(uintptr_t)where,
				.name = (char *)(uintptr_t)cases[i].settings[settings.count].name,
				.value = (char *)(uintptr_t)cases[i].settings[settings.count].value,
				.line = cases[i].settings[settings.count].line,
				.unset = cases[i].settings[settings.count].unset,
				.ours = cases[i].settings[settings.count].ours};
		}
		jw_tune_overrides(&settings, &request, wins);
		for (size_t k = 0; k < settings.count; k++)
			if (wins[k] != (cases[i].wins[k] == 'y'))
				fail_msg("%s: setting %zu", cases[i].name, k);
	}
	mem_free(profile);
}

RUN_TESTS(root_make, root_remove)
