/* The lines that set variables are right to the byte in each form, and values that a form cannot
 * express are refused. */
#include "check.h"

#include <string.h>

#include <jitwarm/tune.h>

#include "base/mem.h"
#include "setup/lines.h"

#define OWN "# jitwarm tune wrote this file, and jitwarm tune --undo removes it.\n"

static const struct form {
	enum place_form form;
	uint64_t limit_bytes;
	const char *path, *wanted;
} forms[] = {
	{PLACE_LIST, 0, NULL, OWN "JITWARM_TUNED=\"0:\"\n"},
	{PLACE_LIST, 77, "/a b%",
	 OWN "CUDA_CACHE_MAXSIZE=\"77\"\nCUDA_CACHE_PATH=\"/a b%\"\nJITWARM_TUNED=\"77:/a b%\"\n"},
	{PLACE_FISH, 7, "/a'\\\"",
	 OWN "set -gx CUDA_CACHE_MAXSIZE '7'\nset -gx CUDA_CACHE_PATH '/a\\'\\\\\"'\n"
		 "set -gx JITWARM_TUNED '7:/a\\'\\\\\"'\n"},
	{PLACE_FISH_LOGIN, 7, NULL,
	 OWN "if status is-login\n    set -gx CUDA_CACHE_MAXSIZE '7'\n    set -gx JITWARM_TUNED "
		 "'7:'\nend\n"},
	{PLACE_SHARED, 7, "/a b", "\nCUDA_CACHE_MAXSIZE=7\nCUDA_CACHE_PATH=/a b\nJITWARM_TUNED=7:/a b"},
};

TEST(each_form_is_written_to_the_byte)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const struct form *form = &forms[i];
		struct buf text = BUF_MAX(strlen(form->wanted));

		OK(place_lines(why, form->form, form->limit_bytes, form->path, &text));
		assert_string_equal(buf_text(&text), form->wanted);
		buf_free(&text);
	}
}

/* Each lack of space is reported. */
TEST(less_room_is_a_failure)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		for (size_t most = 0; most < strlen(forms[i].wanted); most++) {
			struct buf text = BUF_MAX(most);

			if (!place_lines(why, forms[i].form, forms[i].limit_bytes, forms[i].path, &text))
				fail_msg("%zu bytes for %s", most, forms[i].wanted);
			assert_int_equal(why->code, JW_ERR_LIMIT);
			buf_free(&text);
		}
}

TEST(what_a_form_cannot_hold_is_refused)
{
	static const struct {
		enum place_form form;
		const char *path, *said;
	} cases[] = {
		{PLACE_FISH, "/a\nb", "“ ”"}, {PLACE_FISH, "/a\rb", "in such a file"},
		{PLACE_LIST, "/\"", "“\"”"},  {PLACE_LIST, "/'", "“'”"},
		{PLACE_LIST, "/$", "“$”"},    {PLACE_LIST, "/#", "“#”"},
		{PLACE_LIST, "/\\", "“\\”"},  {PLACE_SHARED, "/`", "“`”"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf text = BUF_MAX(4096);

		GIVES(JW_ERR_USAGE, place_lines(why, cases[i].form, 0, cases[i].path, &text));
		assert_non_null(strstr(why->message, cases[i].said));
		buf_free(&text);
	}
}

/* The file that a profile loads is quoted for the profile's shell. */
TEST(a_marked_line_loads_the_file)
{
	static char path[] = "/it's/a", loader[] = "/p";
	const struct setting_place loaded = {path, PLACE_LIST, JW_SCOPE_USER, loader},
							   shared = {path, PLACE_SHARED, JW_SCOPE_SYSTEM, NULL};
	struct buf text = BUF_MAX(4096);

	OK(place_marked(why, &loaded, 7, NULL, &text));
	assert_string_equal(buf_text(&text),
						"if [ -r '/it'\\''s/a' ]; then set -a; . '/it'\\''s/a'; set +a; fi "
						"# jitwarm tune --scope user");
	buf_clear(&text);
	OK(place_marked(why, &shared, 7, NULL, &text));
	assert_string_equal(buf_text(&text),
						"# jitwarm tune --scope system\nCUDA_CACHE_MAXSIZE=7\nJITWARM_TUNED=7:");
	buf_free(&text);
}

TEST(each_program_has_its_form)
{
	static const struct {
		const char *form, *path, *wanted;
	} cases[] = {
		{"sh", "/a", "export CUDA_CACHE_MAXSIZE='7'\nexport CUDA_CACHE_PATH='/a'\n"},
		{"fish", NULL, "set -gx CUDA_CACHE_MAXSIZE '7'\n"},
		{"cmd", "/a", "set \"CUDA_CACHE_MAXSIZE=7\"\nset \"CUDA_CACHE_PATH=/a\"\n"},
		{"powershell", "/a'\xc2\x80",
		 "$env:CUDA_CACHE_MAXSIZE = '7'\n$env:CUDA_CACHE_PATH = '/a''\xc2\x80'\n"},
		/* PowerShell takes four more characters for "'". */
		{"powershell", "\xe2\x80\x97\xe2\x80\x98;\xe2\x80\x99\xe2\x80\x9a\xe2\x80\x9b\xe2\x80\x9c",
		 "$env:CUDA_CACHE_MAXSIZE = '7'\n$env:CUDA_CACHE_PATH = '\xe2\x80\x97'\xe2\x80\x98;'"
		 "\xe2\x80\x99'\xe2\x80\x9a'\xe2\x80\x9b\xe2\x80\x9c'\n"},
		{"compose", "/$a\"",
		 "environment:\n  CUDA_CACHE_MAXSIZE: \"7\"\n  CUDA_CACHE_PATH: "
		 "\"/var/cache/ComputeCache\"\n"
		 "volumes:\n  - type: bind\n    source: \"/$$a\\\"\"\n    target: "
		 "/var/cache/ComputeCache\n"},
		{"docker", NULL, "-e CUDA_CACHE_MAXSIZE='7' \n"},
		{"docker", "/a",
		 "-e CUDA_CACHE_MAXSIZE='7' -e CUDA_CACHE_PATH='/var/cache/ComputeCache' "
		 "-v '/a':/var/cache/ComputeCache\n"},
		{"compose", "/\"\\",
		 "environment:\n  CUDA_CACHE_MAXSIZE: \"7\"\n  CUDA_CACHE_PATH: "
		 "\"/var/cache/ComputeCache\"\n"
		 "volumes:\n  - type: bind\n    source: \"/\\\"\\\\\"\n    target: "
		 "/var/cache/ComputeCache\n"},
		{"k8s", NULL,
		 "# for the container\nenv:\n  - name: CUDA_CACHE_MAXSIZE\n    value: \"7\"\n  - name: "
		 "CUDA_CACHE_PATH\n    value: \"/var/cache/ComputeCache\"\nvolumeMounts:\n  - name: "
		 "compute-cache\n    mountPath: /var/cache/ComputeCache\n# for the pod; the path is a "
		 "folder of each node\nvolumes:\n  - name: compute-cache\n    hostPath:\n      type: "
		 "DirectoryOrCreate\n      path: \"/var/cache/jitwarm\"\n"},
		{"systemd", NULL, "[Service]\nEnvironment=\"CUDA_CACHE_MAXSIZE=7\"\n"},
		{"conda", "/a",
		 "conda env config vars set CUDA_CACHE_MAXSIZE='7'\n"
		 "conda env config vars set CUDA_CACHE_PATH='/a'\n"},
	};
	char *text = NULL;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		OK(jw_tune_print(why, cases[i].form, 7, cases[i].path, NULL, &text));
		assert_string_equal(text, cases[i].wanted);
		mem_free(text);
	}
	/* Slurm's script has a folder of its own, and each task another one below it. */
	for (int given = 0; given < 2; given++) {
		OK(jw_tune_print(why, "slurm", 0, given ? "/a" : NULL, NULL, &text));
		assert_int_equal(strstr(text, "\nbase='/a'\n") != NULL, given);
		assert_int_equal(strstr(text, "\nbase='/var/cache/jitwarm'\n") != NULL, !given);
		assert_null(strstr(text, "CUDA_CACHE_PATH=%s\\n' '"));
		assert_null(strstr(text, "MAXSIZE"));
		mem_free(text);
	}
}

TEST(another_form_and_too_long_a_path_are_refused)
{
	static char path[(1 << 20) + 2];
	char *text = path;

	GIVES(JW_ERR_USAGE, jw_tune_print(why, "shell", 7, NULL, NULL, &text));
	assert_non_null(strstr(why->message, "--print shell: "));
	memset(path, '/', sizeof path - 1);
	*why = (struct jw_error){0};
	GIVES(JW_ERR_LIMIT, jw_tune_print(why, "cmd", 7, path, NULL, &text));
	/* A file name of Windows has no "\"", and one would end the word. */
	GIVES(JW_ERR_USAGE, jw_tune_print(why, "cmd", 7, "C:\\a\"&b", NULL, &text));
	assert_ptr_equal(text, path);
}

RUN_TESTS(NULL, NULL)
