/* Where settings are read from, in which order, with which line, and which of them are ours. */
#include "root.h"

#include <stdio.h>
#include <unistd.h>

#include <jitwarm/tune.h>

#include "setup/assign.h"

static int usual(void **state)
{
	static const char *const others[] = {"XDG_CONFIG_HOME", "CONDA_PREFIX"};
	char *home = os_join(root, "home");
	int result = root_empty(state) || os_env_set(why, "HOME", home);

	for (size_t i = 0; !result && i < sizeof others / sizeof *others; i++)
		result = os_env_set(why, others[i], NULL);
	for (size_t i = 0; !result && assign_names[i]; i++)
		result = os_env_set(why, assign_names[i], NULL);
	mem_free(home);
	return result;
}

/* "SOURCE:LINE=VALUE" of each, "!" where it is unset and "*" where it is ours. */
static char *settings_text(size_t *ret_warnings)
{
	static char text[8192];
	struct jw_settings *settings;

	text[0] = '\0';
	OK(jw_settings_read(why, &settings));
	for (size_t i = 0; i < settings->count; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s:%zu%s%s=%s\n",
					   settings->items[i].source, settings->items[i].line,
					   settings->items[i].unset ? "!" : "", settings->items[i].ours ? "*" : "",
					   settings->items[i].value);
	*ret_warnings = settings->warning_count;
	jw_settings_free(settings);
	return text;
}

TEST_WITH(files_are_read_from_the_general_to_the_specific, usual, NULL)
{
	static const struct {
		const char *path, *text;
	} files[] = {
		{"etc/environment", "CUDA_CACHE_PATH=/1"},
		{"etc/environment.d/a.conf", "\nCUDA_CACHE_PATH=/2"},
		{"etc/environment.d/a.txt", "CUDA_CACHE_PATH=/no"},
		{"etc/environment.d/b.conf/a.conf", "CUDA_CACHE_PATH=/no"},
		{"etc/profile", "export CUDA_CACHE_PATH=/3"},
		{"etc/profile.d/a.sh", "export CUDA_CACHE_PATH=/4"},
		{"etc/bash.bashrc", "export CUDA_CACHE_PATH=/5"},
		{"etc/systemd/system/a.service", "[Service]\nEnvironment=CUDA_CACHE_PATH=/6"},
		{"etc/systemd/system/b.service.d/a.conf", "Environment=CUDA_CACHE_PATH=/7"},
		{"etc/systemd/system/b.service.d/a.txt", "Environment=CUDA_CACHE_PATH=/no"},
		{"etc/systemd/system/c.timer", "Environment=CUDA_CACHE_PATH=/no"},
		{"etc/systemd/system/c.timer.d/a.conf", "Environment=CUDA_CACHE_PATH=/no"},
		{"home/.config/environment.d/a.conf", "CUDA_CACHE_PATH=/8"},
		{"home/.profile", "unset CUDA_CACHE_PATH"},
		{"home/.bash_profile", "export CUDA_CACHE_PATH=/9"},
		{"home/.bash_login", "export CUDA_CACHE_PATH=/10"},
		{"home/.bashrc", "export CUDA_CACHE_PATH=/11"},
		{"home/.zshenv", "export CUDA_CACHE_PATH=/12"},
		{"home/.zprofile", "export CUDA_CACHE_PATH=/13"},
		{"home/.zshrc", "export CUDA_CACHE_PATH=/14"},
		{"home/.zlogin", "export CUDA_CACHE_PATH=/15"},
		{"home/.cshrc", "setenv CUDA_CACHE_PATH /16"},
		{"home/.tcshrc", "setenv CUDA_CACHE_PATH /17"},
		{"home/.login", "setenv CUDA_CACHE_PATH /18"},
		{"home/.config/fish/config.fish", "set -gx CUDA_CACHE_PATH /19"},
		{"home/.config/fish/conf.d/a.fish", "set -gx CUDA_CACHE_PATH /20"},
		{"home/.config/systemd/user/a.service", "Environment=CUDA_CACHE_PATH=/21"},
	};
	size_t warnings;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		root_put(files[i].path, files[i].text);
	OK(os_env_set(why, "CUDA_CACHE_PATH", "~"));
	assert_string_equal(
		settings_text(&warnings),
		"process:0=~\n/etc/environment:1=/1\nenvironment.d:2=/2\nshell "
		"profile:1=/3\nprofile.d:1=/4\n"
		"shell profile:1=/5\nsystemd unit:2=/6\nsystemd unit:1=/7\nenvironment.d:1=/8\n"
		"shell profile:1!=\nshell profile:1=/9\nshell profile:1=/10\nshell profile:1=/11\n"
		"shell profile:1=/12\nshell profile:1=/13\nshell profile:1=/14\nshell profile:1=/15\n"
		"shell profile:1=/16\nshell profile:1=/17\nshell profile:1=/18\nshell profile:1=/19\n"
		"shell profile:1=/20\nsystemd unit:1=/21\n");
	/* The system's own report covers this process. */
	assert_int_equal(warnings, 0);
}

TEST_WITH(lines_in_our_block_are_ours, usual, NULL)
{
	size_t warnings;

	root_put("home/.profile", "export CUDA_CACHE_PATH=/1\n# >>> jitwarm tune >>>\n"
							  "export CUDA_CACHE_PATH=/2\n# <<< jitwarm tune <<<\n"
							  "export CUDA_CACHE_PATH=/3\n");
	root_put("home/.zshrc", "# >>> jitwarm tune >>>\nexport CUDA_CACHE_PATH=/4\n");
	assert_string_equal(settings_text(&warnings),
						"shell profile:1=/1\nshell profile:3*=/2\nshell profile:5=/3\n"
						"shell profile:2=/4\n");
}

/* What a value means where a user would think of something else. */
TEST_WITH(values_that_mislead_are_told, usual, NULL)
{
	static const struct {
		const char *line, *said; /* NULL: nothing */
	} cases[] = {
		{"CUDA_CACHE_MAXSIZE=1000000000", NULL},
		{"CUDA_CACHE_MAXSIZE=$SIZE", NULL},
		{"CUDA_CACHE_MAXSIZE=1G", "reads 1 byte"},
		{"CUDA_CACHE_PATH=/a", NULL},
		{"CUDA_CACHE_PATH=~/a", "CUDA_CACHE_PATH=~/a: the driver does not expand ~"},
		{"CUDA_CACHE_PATH=", "empty: the driver caches nothing"},
		{"CUDA_CACHE_DISABLE=0", NULL},
		{"CUDA_CACHE_DISABLE=1", "CUDA_CACHE_DISABLE=1: the driver neither reads nor writes"},
		{"CUDA_FORCE_PTX_JIT=1", "CUDA_FORCE_PTX_JIT=1: the driver compiles everything"},
		{"CUDA_FORCE_JIT=1", "CUDA_FORCE_JIT=1: the driver compiles everything"},
		{"CUDA_DISABLE_PTX_JIT=1", "the driver compiles no PTX"},
		{"CUDA_DISABLE_JIT=1", "the driver compiles no PTX"},
		{"CUDA_CACHE_DIR=/a", "no driver reads it; the variable is called CUDA_CACHE_PATH"},
		{"CUDA_CACHE_SIZE=1", "the variable is called CUDA_CACHE_MAXSIZE"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_settings *settings;

		root_put("etc/environment", cases[i].line);
		OK(jw_settings_read(why, &settings));
		assert_int_equal(settings->warning_count, cases[i].said ? 1 : 0);
		if (cases[i].said) {
			if (!strstr(settings->warnings[0], cases[i].said))
				fail_msg("%s", settings->warnings[0]);
			assert_non_null(strstr(settings->warnings[0], "/etc/environment:1: "));
		}
		jw_settings_free(settings);
		OK(jw_settings_read(why, &settings));
		jw_settings_free(settings);
	}
}

RUN_TESTS(root_make, root_remove)
