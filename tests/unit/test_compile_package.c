/* Names of wheels, and pages of package indexes. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/compiler.h>

#include "base/mem.h"
#include "check.h"
#include "compile/package_index.h"

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
		{"nvidia_cuda_nvcc_cu12-12.4rc1-py3-none-manylinux1_x86_64.whl", "x86_64-linux", {{0}, 0}},
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
		struct version version;
		const bool fits = wheel_name_fits(&wanted, cases[i].name, &version);

		if (fits != !!cases[i].version.count ||
			(fits && (version.count != cases[i].version.count ||
					  version_order(&version, &cases[i].version, version.count))))
			fail_msg("%s for %s: %s", cases[i].name, cases[i].platform, fits ? "fits" : "no");
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

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ROW(version, members)                                                                      \
	"{\"filename\": \"nvidia_cuda_nvcc_cu12-" version                                              \
	"-py3-none-manylinux1_x86_64.whl\", " members "}"
#define PAGE(rows) "{\"meta\": {\"api-version\": \"1.1\"}, \"files\": [" rows "]}"

TEST(the_newest_that_was_not_withdrawn_is_chosen)
{
	static const struct {
		const char *page, *place, *sha256; /* place NULL: none */
	} cases[] = {
		{PAGE(""), NULL, ""},
		{PAGE("1, null, {}"), NULL, ""},
		{PAGE(ROW("12.4.9",
				  "\"url\": \"../f/a%20b.whl#x\", \"hashes\": {\"sha256\": \"" HASH "\"}")),
		 "https://x.example/f/a%20b.whl", HASH},
		{PAGE(ROW("12.4.9",
				  "\"url\": \"https://u:p@y.example/a\", \"hashes\": {\"sha256\": \"12\"}")),
		 "https://y.example/a", ""},
		{PAGE(ROW("12.4.9", "\"url\": \"9\"") ", " ROW("12.4.10", "\"url\": \"10\"") ", " ROW(
			 "12.4.10", "\"url\": \"again\"") ", " ROW("12.5.1", "\"url\": \"other\"")),
		 "https://x.example/s/10", ""},
		{PAGE(ROW("12.4.9", "\"url\": \"9\", \"yanked\": false") ", " ROW(
			 "12.4.10",
			 "\"url\": \"10\", \"yanked\": true") ", " ROW("12.4.11",
														   "\"url\": \"11\", \"yanked\": "
														   "\"broken\"")),
		 "https://x.example/s/9", ""},
	};
	const struct wheel_wanted wanted = {"nvidia-cuda-nvcc-cu12", {{12, 4}, 2}, "x86_64-linux"};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct wheel_choice choice = {.wanted = &wanted};

		assert_int_equal(package_index_read(NULL, "https://x.example/s/", cases[i].page,
											strlen(cases[i].page), &choice),
						 0);
		if (!cases[i].place)
			assert_null(choice.best.place);
		else
			assert_string_equal(choice.best.place, cases[i].place);
		assert_string_equal(choice.best.sha256, cases[i].sha256);
		mem_free(choice.best.place);
	}
}

RUN_TESTS(NULL, NULL)
