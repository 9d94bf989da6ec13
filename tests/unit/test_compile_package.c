/* Names of wheels, and pages of package indexes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/compiler.h>

#include "base/mem.h"
#include "check.h"
#include "compile/compiler_fetch.h"
#include "compile/package_index.h"
#include "compile/ptxas.h"
#include "compile/wheel_name.h"
#include "os/file.h"
#include "os/folders.h"

TEST(test_names)
{
	static const struct {
		const char *name, *platform;
		struct version version; /* no numbers: it does not fit */
	} cases[] = {
		{"nvidia_cuda_nvcc_cu12-12.4.131-py3-none-manylinux2014_x86_64.whl",
		 "x86_64-linux",
		 {{12, 4, 131}, 3}},
		{"Nvidia.CUDA__nvcc_.cu12-12.4-1build-py3-none-linux_aarch64.whl",
		 "aarch64-linux",
		 {{12, 4}, 2}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
		 "x86_64-linux",
		 {{12, 4}, 2}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-win_amd64.whl", "x86_64-windows", {{12, 4}, 2}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-win_amd64.whl", "amd64-windows", {{12, 4}, 2}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-win_arm64.whl", "arm64-windows", {{12, 4}, 2}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-win_arm64.whl", "x86_64-windows", {{0}, 0}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-win_amd64.whl", "x86_64-linux", {{0}, 0}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-manylinux2014_aarch64.whl", "x86_64-linux", {{0}, 0}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-macosx_11_0_x86_64.whl", "x86_64-linux", {{0}, 0}},
		{"nvidia_cuda_nvcc-12.4-py3-none-manylinux1_x86_64.whl", "x86_64-linux", {{0}, 0}},
		{"nvidia_cuda_nvcc_cu12-12.4rc1-py3-none-manylinux1_x86_64.whl",
		 "x86_64-linux",
		 {{12, 4}, 2}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none-any.whl", "x86_64-linux", {{12, 4}, 2}},
		{"nvidia_cuda_nvcc_cu12-12.4.x-py3-none-any.whl", "x86_64-linux", {{0}, 0}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-none/../x-any.whl", "x86_64-linux", {{0}, 0}},
		{"nvidia_cuda_nvcc_cu123-12.4-py3-none-manylinux1_x86_64.whl", "x86_64-linux", {{0}, 0}},
		{"nvidia_cuda_nvcc_cu12-12.4-py3-manylinux1_x86_64.whl", "x86_64-linux", {{0}, 0}},
		{"nvidia_cuda_nvcc_cu12-12.4-1-2-py3-none-manylinux1_x86_64.whl", "x86_64-linux", {{0}, 0}},
		{"nvidia_cuda_nvcc_cu12-12.4.131.tar.gz", "x86_64-linux", {{0}, 0}},
		{"-----.whl", "x86_64-linux", {{0}, 0}},
		{".whl", "x86_64-linux", {{0}, 0}},
		{"", "x86_64-linux", {{0}, 0}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct wheel_wanted wanted = {.package = "nvidia-cuda-nvcc-cu12",
									  .platform = cases[i].platform};
		struct wheel_named named;
		const bool fits = wheel_name_read(&wanted, cases[i].name, &named) && named.rank >= 0;

		if (fits != !!cases[i].version.count ||
			(fits &&
			 (named.version.numbers.count != cases[i].version.count ||
			  version_order(&named.version.numbers, &cases[i].version, cases[i].version.count))))
			fail_msg("%s for %s: %s", cases[i].name, cases[i].platform, fits ? "fits" : "no");
	}
}

/* Each is newer than the one before (PEP 440). */
TEST(versions_are_ordered_as_python_packages_order_them)
{
	static const char *const rising[] = {
		"1.0.dev3",       "1.0a1.dev1", "1.0a1",     "1.0-beta_2", "1.0rc1",
		"1.0rc2.post1",   "1.0rc10",    "1.0",       "1.0+cu118",  "1.0+CU121",
		"1.0.post1.dev2", "1.0.post1",  "1.0.post2", "1.0.1.dev0", "1.0.1"};
	static const char *const wrong[] = {
		"1.0x", "1.0+", "1.0 ", "1.0rc1rc2", "1.0+a/b", "1.0rc1234567890", "1.0."};
	struct wheel_choice choice = {.wanted = NULL};
	struct wheel_wanted wanted = {.package = "x", .versions = "", .platform = "x86_64-linux"};

	for (size_t i = 0; i < sizeof rising / sizeof *rising; i++)
		for (size_t k = 0; k < sizeof rising / sizeof *rising; k++) {
			char page[1024], last[128];

			(void)snprintf(page, sizeof page,
						   "{\"meta\": {\"api-version\": \"1.0\"}, \"files\": ["
						   "{\"filename\": \"x-%s-py3-none-any.whl\", \"url\": \"%zu\"}, "
						   "{\"filename\": \"x-%s-py3-none-any.whl\", \"url\": \"%zu\"}]}",
						   i == 3 ? "1.0b2" : rising[i], i, k == 3 ? "1.0b2" : rising[k], k);
			choice = (struct wheel_choice){.wanted = &wanted};
			assert_int_equal(
				package_index_read(NULL, "https://x.example/s/", page, strlen(page), &choice), 0);
			assert_non_null(choice.best.place);
			/* A pre-release gives way to any final one. */
			if ((i > 6 && i != 10 && i != 13) == (k > 6 && k != 10 && k != 13)) {
				(void)snprintf(last, sizeof last, "https://x.example/s/%zu", i > k ? i : k);
				assert_string_equal(choice.best.place, last);
			}
			mem_free(choice.best.place);
		}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct package_version version;

		assert_true(!package_version_read(wrong[i], strlen(wrong[i]), &version) || version.odd);
	}
}

TEST(other_texts_are_no_versions_of_cuda)
{
	static const char *const wrong[] = {"", "12.", ".4", "12..4", "12.4rc1", "12.4 ", "12", "10.2"};
	struct jw_error err = {0};
	char *path;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(jw_compiler_fetch(&err, wrong[i], NULL, &path), -1);
		assert_int_equal(err.code, JW_ERR_USAGE);
	}
}

TEST(versions_without_a_wheel_have_a_successor)
{
	static const uint32_t firsts[][2] = {{9000, 11070},  {11070, 11070}, {11080, 11080},
										 {11090, 12000}, {12000, 12000}, {12060, 12060},
										 {12070, 12080}, {12080, 12080}, {13000, 13000}};

	for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
		assert_int_equal(compiler_fetch_first(firsts[i][0]), firsts[i][1]);
}

#ifndef _WIN32
TEST(a_question_leaves_nothing)
{
	static const char text[] = "#!/bin/sh\necho ptxas, release 12.4, V12.4.131\n";
	char *folder, *program, *temporary;
	struct os_names names;
	uint32_t cuda = 0;

	assert_int_equal(os_make_temp_dir(NULL, "jitwarm-asked", &folder), 0);
	program = os_join(NULL, folder, "ptxas");
	temporary = os_join(NULL, folder, "temporary");
	assert_int_equal(os_make_dirs(NULL, temporary, 0700), 0);
	assert_int_equal(os_write_mode(NULL, program, text, sizeof text - 1, 0700), 0);
	assert_int_equal(setenv("TMPDIR", temporary, 1), 0);
	assert_int_equal(ptxas_version(NULL, program, &cuda), 0);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_int_equal(cuda, 12040);
	assert_int_equal(os_list(NULL, temporary, &names), 0);
	assert_int_equal(names.count, 0);
	os_names_free(&names);
	assert_int_equal(os_remove_tree(NULL, folder), 0);
	mem_free(temporary);
	mem_free(program);
	mem_free(folder);
}
#endif

RUN_TESTS(NULL, NULL)
