/* Names of wheels, pages of package indexes, pip's configuration. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/compiler.h>

#include "base/mem.h"
#include "check.h"
#include "compile/package_index.h"

static void test_names(void **state)
{
	static const struct {
		const char *name, *platform, *version; /* version NULL: it does not fit */
	} cases[] = {
		{"nvidia_cuda_nvcc_cu12-12.4.131-py3-none-manylinux2014_x86_64.whl", "x86_64-linux",
		 "12.4.131"},
		{"Nvidia.CUDA__nvcc_.cu12-12.4-1build-py3-none-linux_aarch64.whl", "aarch64-linux", "12.4"},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
		 "x86_64-linux", "12.4"},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-win_amd64.whl", "x86_64-windows", "12.4"},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-win_amd64.whl", "amd64-windows", "12.4"},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-win_arm64.whl", "arm64-windows", "12.4"},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-win_arm64.whl", "x86_64-windows", NULL},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-win_amd64.whl", "x86_64-linux", NULL},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-manylinux2014_aarch64.whl", "x86_64-linux", NULL},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-macosx_11_0_x86_64.whl", "x86_64-linux", NULL},
		{"nvidia_cuda_nvcc-12.4-py3-none-manylinux1_x86_64.whl", "x86_64-linux", NULL},
		{"nvidia_cuda_nvcc_cu12-12.4rc1-py3-none-manylinux1_x86_64.whl", "x86_64-linux", NULL},
		{"nvidia_cuda_nvcc_cu123-12.4-py3-none-manylinux1_x86_64.whl", "x86_64-linux", NULL},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-manylinux1_x86_64.whl", "x86_64-linux", NULL},
		{"nvidia_cuda_nvcc_cu12-12.4-1-2-py3-none-manylinux1_x86_64.whl", "x86_64-linux", NULL},
		{"nvidia_cuda_nvcc_cu12-12.4.131.tar.gz", "x86_64-linux", NULL},
		{"-----.whl", "x86_64-linux", NULL},
		{".whl", "x86_64-linux", NULL},
		{"", "x86_64-linux", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct wheel_wanted wanted = {.package = "nvidia-cuda-nvcc-cu12",
									  .platform = cases[i].platform};
		char version[VERSION_TEXT] = "";
		bool fits = wheel_name_fits(&wanted, cases[i].name, version);

		if (fits != !!cases[i].version || (fits && strcmp(version, cases[i].version) != 0))
			fail_msg("%s for %s: %s", cases[i].name, cases[i].platform, fits ? version : "no");
	}
}

static void other_texts_are_no_versions_of_cuda(void **state)
{
	static const char *const wrong[] = {"", "12.", ".4", "12..4", "12.4rc1", "12.4 ", "12", "10.2"};
	struct jw_error err = {0};
	char *path;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(jw_compiler_fetch(&err, wrong[i], NULL, &path), -1);
		assert_int_equal(err.code, JW_ERR_USAGE);
	}
}

struct seen {
	char text[2000];
};

static int on_file(struct jw_error *err, void *context, const struct index_file *file)
{
	struct seen *seen = context;
	size_t used = strlen(seen->text);

	(void)err;
	(void)snprintf(seen->text + used, sizeof seen->text - used, "%s|%s|%s|%.4s%s\n", file->name,
				   file->base, file->url, file->sha256 ? file->sha256 : "none",
				   file->yanked ? "|yanked" : "");
	return 0;
}

static void test_html(void **state)
{
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const char page[] =
		"<html><!-- <a href=no.whl> --><a href=before.whl>x</a>"
		"<BASE HREF=\"https://x.example/f/\"><base href=\"https://other/\">"
		"<a class='a>b' href='../a%20b.whl?x=1&amp;y=2#egg=e&sha256=" HASH "'>c</a>"
		"<a data-yanked href=b.whl#sha256=" HASH "0></a><a name=x></a><a href=/folder/></a>"
		"<a href=c%2Fd.whl></a><abbr href=e.whl><a href=\"f&#x2e;whl\"\n>";
	struct seen seen = {""};
	const struct index_reader reader = {&seen, on_file};

	(void)state;
	assert_int_equal(index_page_read_html(NULL, page, sizeof page - 1, &reader), 0);
	assert_string_equal(seen.text, "before.whl||before.whl|none\n"
								   "a b.whl|https://x.example/f/|../a%20b.whl?x=1&y=2|0123\n"
								   "b.whl|https://x.example/f/|b.whl|none|yanked\n"
								   "f.whl|https://x.example/f/|f.whl|none\n");
}

static void test_config(void **state)
{
	static const char first[] = "[global]\nindex-url = a\nTrusted_Host =\n  x\n\n  y z\n"
								"[download]\ntimeout: 7\n[list]\nproxy = p\n",
					  second[] = "[global]\nindex-url = b\ntimeout = 9\nno-index = yes\ncert =\n";
	struct pip_config config = {{0}, {0}};
	struct jw_error err = {0};
	const char *at;
	char *word;

	(void)state;
	assert_int_equal(pip_config_parse(NULL, &config, first, sizeof first - 1), 0);
	assert_int_equal(pip_config_parse(NULL, &config, second, sizeof second - 1), 0);
	assert_string_equal(config.values[PIP_INDEX_URL], "b");
	assert_int_equal(pip_config_number(&config, PIP_TIMEOUT, 15), 7);
	assert_int_equal(pip_config_number(&config, PIP_RETRIES, 5), 5);
	assert_true(pip_config_bool(&config, PIP_NO_INDEX));
	assert_null(config.values[PIP_PROXY]);
	assert_null(config.values[PIP_CERT]);
	at = config.values[PIP_TRUSTED_HOST];
	for (const char *expected = "x\0y\0z\0"; *expected; expected += 2) {
		assert_non_null(word = pip_config_next(NULL, &at));
		assert_string_equal(word, expected);
		mem_free(word);
	}
	assert_null(pip_config_next(NULL, &at));
	assert_int_equal(pip_config_parse(&err, &config, "[global]\nx\n", 11), -1);
	assert_string_equal(err.message, "line 2: neither a section nor “name = value”");
	pip_config_free(&config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(other_texts_are_no_versions_of_cuda),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
