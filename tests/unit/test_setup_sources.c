/* Settings are read from several places, and a variable that jitwarm has set has a state in this
 * process. */
#include "root.h"

#include <stdio.h>
#include <unistd.h>

#include <jitwarm/tune.h>

static int usual(void **state)
{
	static const char *const others[] = {
		"XDG_CONFIG_HOME",    "CUDA_CACHE_MAXSIZE", "CUDA_CACHE_PATH", "CUDA_CACHE_DISABLE",
		"CUDA_FORCE_PTX_JIT", "JITWARM_TUNED",      "CUDA_CACHE_DIR",  "CUDA_DISABLE_PTX_JIT"};
	char *home = keep(os_join(root, "home"));
	int result =
		root_empty(state) || os_env_set(why, "HOME", home) || os_env_set(why, "SHELL", "/bin/bash");

	for (size_t i = 0; !result && i < sizeof others / sizeof *others; i++)
		result = os_env_set(why, others[i], NULL);
	return result;
}

/* Returns "SOURCE=VALUE" for each setting, with "*" if jitwarm has set it. */
static char *settings_text(void)
{
	static char text[8192];
	struct jw_settings *settings;

	text[0] = '\0';
	OK(jw_settings_read(why, &settings));
	for (size_t i = 0; i < settings->count; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s\n",
					   settings->items[i].source, settings->items[i].ours ? "*" : "",
					   settings->items[i].value);
	jw_result_free(settings);
	return text;
}

/* jitwarm reads neither a profile nor a unit. */
TEST_WITH(files_are_read_from_the_general_to_the_specific, usual, NULL)
{
	root_put("etc/environment",
			 "CUDA_CACHE_DIR='/0'\n CUDA_CACHE_PATH=\"/1\"\r\nCUDA_CACHE_PATH /no\n"
			 "# jitwarm tune --scope system\nCUDA_CACHE_MAXSIZE=7\n"
			 "#CUDA_CACHE_PATH=/no\nCUDA_CACHE_MAXSIZE=8");
	root_put("etc/profile", "export CUDA_CACHE_PATH=/no");
	root_put("home/.bashrc", "export CUDA_CACHE_PATH=/no");
	root_put("home/.config/environment.d/50-mine.conf", "CUDA_CACHE_PATH=/no");
	root_put("home/.config/environment.d/60-jitwarm.conf", "CUDA_CACHE_PATH=\"/2 a\"\n");
	root_put("home/.config/jitwarm/shell.conf", "CUDA_CACHE_PATH=\"/3\"\n");
	OK(os_env_set(why, "CUDA_CACHE_PATH", "~"));
	assert_string_equal(settings_text(), "process=~\n/etc/environment=/0\n/etc/environment=/1\n"
										 "/etc/environment*=7\n/etc/environment=8\n"
										 "environment.d*=/2 a\nshell*=/3\n");
}

/* tune reads what it has written, for each shell and scope. */
TEST_WITH(what_is_written_is_read, usual, NULL)
{
	static const struct {
		const char *shell, *path, *wanted;
		enum jw_scope scope;
	} cases[] = {
		{"bash", "/a b", "shell*=7\nshell*=/a b\n", JW_SCOPE_SHELL},
		{"fish", "/a'\\b", "shell*=7\nshell*=/a'\\b\n", JW_SCOPE_SHELL},
		{"fish", "/a", "environment.d*=7\nenvironment.d*=/a\n", JW_SCOPE_USER},
		{"zsh", "/a", "environment.d*=7\nenvironment.d*=/a\n", JW_SCOPE_USER},
		{"zsh", "/a b", "/etc/environment*=7\n/etc/environment*=/a b\n", JW_SCOPE_SYSTEM},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_tune_request request = {cases[i].scope, 7, cases[i].path};
		struct jw_tune_result *result;

		assert_int_equal(usual(state), 0);
		OK(os_env_set(why, "SHELL", cases[i].shell));
		OK(jw_tune_apply(why, &request, &result));
		jw_result_free(result);
		assert_string_equal(settings_text(), cases[i].wanted);
	}
}

/* The stamp in the file shows whether a login is older than the file, or has overridden it. */
TEST_WITH(pending_and_overridden_are_told_apart, usual, NULL)
{
	static const struct {
		const char *value, *stamp; /* the process's value and stamp */
		enum jw_tune_state state;
		bool written;
	} cases[] = {
		{NULL, NULL, JW_TUNE_NOT_SET, false},   {"7", NULL, JW_TUNE_NOT_SET, false},
		{"7", "7:", JW_TUNE_IN_FORCE, true},    {"7", NULL, JW_TUNE_IN_FORCE, true},
		{NULL, NULL, JW_TUNE_PENDING, true},    {"6", NULL, JW_TUNE_PENDING, true},
		{"6", "6:", JW_TUNE_PENDING, true},     {NULL, "6:", JW_TUNE_PENDING, true},
		{"6", "7:", JW_TUNE_OVERRIDDEN, true},  {NULL, "7:", JW_TUNE_OVERRIDDEN, true},
		{"7 ", "7:", JW_TUNE_OVERRIDDEN, true}, {"", "", JW_TUNE_PENDING, true},
	};
	static const enum jw_scope scopes[] = {JW_SCOPE_USER, JW_SCOPE_SHELL, JW_SCOPE_SYSTEM};

	for (size_t at = 0; at < 3 * (sizeof cases / sizeof *cases); at++) {
		const size_t i = at / 3;
		const struct jw_tune_request request = {.scope = scopes[at % 3], .limit_bytes = 7};
		struct jw_settings *settings;
		struct jw_tune_result *result;
		const struct jw_setting *ours;

		assert_int_equal(usual(state), 0);
		OK(os_env_set(why, "CUDA_CACHE_MAXSIZE", cases[i].value));
		OK(os_env_set(why, "JITWARM_TUNED", cases[i].stamp));
		if (cases[i].written) {
			OK(jw_tune_apply(why, &request, &result));
			jw_result_free(result);
		}
		OK(jw_settings_read(why, &settings));
		assert_int_equal(jw_tune_state(settings, "CUDA_CACHE_MAXSIZE", &ours), cases[i].state);
		assert_int_equal(ours != NULL, cases[i].written);
		if (ours)
			assert_string_equal(ours->value, "7");
		assert_int_equal(jw_tune_state(settings, "CUDA_CACHE_PATH", &ours), JW_TUNE_NOT_SET);
		jw_result_free(settings);
	}
}

/* This place is read later, and is not jitwarm's. */
TEST_WITH(a_later_place_overrides, usual, NULL)
{
	static const struct {
		const char *file, *text;
		enum jw_tune_state state;
	} cases[] = {
		{"etc/environment", "CUDA_CACHE_MAXSIZE=6\n", JW_TUNE_PENDING},
		{"etc/environment",
		 "# jitwarm tune --scope system\nCUDA_CACHE_MAXSIZE=6\nCUDA_CACHE_MAXSIZE=5\n",
		 JW_TUNE_OVERRIDDEN},
	};

	for (size_t i = 0; i < 2; i++) {
		struct jw_settings *settings;
		const struct jw_setting *ours;

		assert_int_equal(usual(state), 0);
		root_put(cases[i].file, cases[i].text);
		if (!i)
			root_put("home/.config/environment.d/60-jitwarm.conf", "CUDA_CACHE_MAXSIZE=\"7\"\n");
		OK(jw_settings_read(why, &settings));
		assert_int_equal(jw_tune_state(settings, "CUDA_CACHE_MAXSIZE", &ours), cases[i].state);
		jw_result_free(settings);
	}
}

/* The command names files that the account's shell reads. */
TEST_WITH(the_command_finds_the_line, usual, NULL)
{
	static const struct {
		const char *shell, *file;
	} cases[] = {{"/bin/bash", ".bashrc"},
				 {"/bin/bash", ".bash_profile"},
				 {"/bin/bash", ".profile"},
				 {"zsh", ".zshrc"},
				 {"zsh", ".zshenv"},
				 {"fish", ".config/fish/config.fish"},
				 {"/bin/dash", ".profile"},
				 {"bash", ".config/environment.d/x.conf"},
				 {"bash", ".config/environment.d/.hidden"}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char path[256], line[4096], got[512] = "", wanted[512], *grep;
		FILE *pipe;

		assert_int_equal(usual(state), 0);
		OK(os_env_set(why, "SHELL", cases[i].shell));
		(void)snprintf(path, sizeof path, "home/%s", cases[i].file);
		root_put(path, "x\nexport CUDA_CACHE_MAXSIZE=1\n");
		grep = keep(jw_tune_grep("CUDA_CACHE_MAXSIZE"));
		(void)snprintf(line, sizeof line, "%s 2>&1", grep);
		pipe = popen(line, "r");
		assert_non_null(pipe);
		(void)!fread(got, 1, sizeof got - 1, pipe);
		(void)pclose(pipe);
		(void)snprintf(wanted, sizeof wanted, "%s/home/%s:2:export CUDA_CACHE_MAXSIZE=1\n", root,
					   cases[i].file);
		assert_string_equal(got, wanted);
	}
}

RUN_TESTS(root_make, root_remove)
