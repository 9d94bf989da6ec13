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
			(fits && (named.version.count != cases[i].version.count ||
					  version_order(&named.version, &cases[i].version, named.version.count))))
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
	struct wheel_wanted wanted = {.package = "x", .platform = "x86_64-linux"};

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
		struct wheel_tail tail;
		struct version version;
		const char *rest;

		assert_false(version_read(wrong[i], &version, &rest) && wheel_tail_read(rest, &tail));
	}
}

TEST(ranges_hold_versions)
{
	static const struct {
		const char *ranges, *in, *out; /* versions */
	} samples[] = {
		{">=2.1,<2.3", "2.1 2.1.0.post1 2.2.9", "2.0.9 2.3 2.3rc1 2.1rc1"},
		{"<=2.1,!=2.0", "1 2.0.1 2.1", "2 2.0 2.1.post1 3"},
		{"~=2.1.3", "2.1.3 2.1.9", "2.1.2 2.2 3.1.3"},
		{">1.7", "1.7.1 1.8", "1.7 1.7.post1"},
		{"<2.0rc2", "2.0rc1 1.9", "2.0 2.0rc2"},
		{">=1.0", "1.0 2.0", "2.0rc1 3.dev1"},
		{"==2.1.*,!=2.1.1", "2.1 2.1.2", "2.1.1 2.2"},
		{"!=2.1.*", "2.0 2.2", "2.1 2.1.7"},
		{"==1.0+cu121,<2", "1.0+cu121", "1.0+cu118 1.0"},
	};
	static const char *const wrong[] = {">=2,,<3", ">=2,",  "2",   "=2", "===2",
										"~=2",     ">=2.*", "< 2", ">"};
	struct wheel_named named;
	bool hold;

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		for (int wanted = 0; wanted < 2; wanted++) {
			const char *at = wanted ? samples[i].in : samples[i].out;

			for (size_t length; *at; at += length + (at[length] != 0)) {
				char version[64];

				length = strcspn(at, " ");
				(void)snprintf(version, sizeof version, "%.*s", (int)length, at);
				assert_true(wheel_version_read(version, &named));
				assert_true(wheel_ranges_read(samples[i].ranges, &named, &hold));
				if (hold != wanted)
					fail_msg("%s in %s", version, samples[i].ranges);
			}
		}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_false(wheel_ranges_read(wrong[i], &named, &hold));
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
	const struct wheel_wanted wanted = {
		.package = "nvidia-cuda-nvcc-cu12", .version = {{12, 4}, 2}, .platform = "x86_64-linux"};

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

TEST(versions_without_a_wheel_have_a_successor)
{
	static const uint32_t firsts[][2] = {{9000, 11070},  {11070, 11070}, {11080, 11080},
										 {11090, 12000}, {12000, 12000}, {12060, 12060},
										 {12070, 12080}, {12080, 12080}, {13000, 13000}};

	for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
		assert_int_equal(compiler_fetch_first(firsts[i][0]), firsts[i][1]);
}

/* “LINE asked”, with “?” where a marker decides, and a line break behind each. */
TEST(what_files_ask_pip_for)
{
	static const struct {
		const char *name, *text, *asked; /* NULL: no list of packages */
	} cases[] = {
		{"r.txt",
		 "# x==1\\\n\nxgboost==1.5.2 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n"
		 " numpy[a,b] == 1.26 ; python_version < '3' # why\nTorch # see https://h/\ncertifi;a",
		 "3 xgboost==1.5.2 {sha256:00 sha256:11}\n6 numpy==1.26?\n7 Torch\n8 certifi?\n"},
		{"r.txt", "\xEF\xBB\xBFnumpy\r\n\r\nx==1 \\\r\n --hash=00\r\ny==2\r\n",
		 "1 numpy\n3 x==1\n5 y==2\n"},
		{"r.txt", "-r base.txt\n-e .\ntorch>=2,<3\nx==1,<2\nx===1\nx y\n./x.whl\nx[",
		 "1 -r base.txt\n2 -e .\n3 torch>=2,<3\n4 x==1,<2\n5 x===1\n6 x y\n7 ./x.whl\n8 x[\n"},
		{"r.txt",
		 "--extra-index-url https://me:word@h/s\nx @ git+https://word@h/x\nhttps://h/x.whl",
		 "1 --extra-index-url …\n2 x @ git+https://…\n3 https://…\n"},
		{"r.txt", "--proxy=me:word@h:1\ntorch >= 2.1, <2.3 ; x # why\n--index-url=//me@h",
		 "1 --proxy …\n2 torch>=2.1,<2.3?\n3 --index-url …\n"},
		{"r.txt",
		 "x --hash=sha256:00\ny==1 --config-settings=a=//me:word@h --hash=sha256:11\n"
		 "z[a] # --hash=sha256:22\n",
		 "1 x {sha256:00}\n2 y==1 {sha256:11}\n3 z\n"},
		{"pylock.toml",
		 "[[packages]]\nname = 'a'\nversion = '1'\nwheels = [\n { hashes = { sha256='1' } },\n"
		 " { hashes = { sha256='2' } },\n]\n[[packages]]\nname = 'b'\nversion = '2'\n"
		 "[packages.wheels.hashes]\nsha256 = '3'\n[[packages]]\nname = 'c'\nversion = '3'\n",
		 "1 a==1 {sha256='1' sha256='2'}\n8 b==2 {sha256}\n13 c==3\n"},
		{"report.json",
		 "{\"install\": [{\"metadata\": {\"name\": \"a\", \"version\": \"1\"}, "
		 "\"download_info\": {\"archive_info\": {\"hashes\": {\"sha256\": \"sha256-4\"}}}}]}",
		 "0 a==1 {sha256-4}\n"},
		{"pylock.toml",
		 "created-by = 'uv'\n[[packages]]\nname = \"a\"\nversion = \"1\"\nmarker = \"x\"\n"
		 "wheels = [\n    { url = \"https://h/a-1-py3-none-any.whl\" },\n]\n[[packages]]\n"
		 "name='b'\ndirectory = { path = '.' }\n[[packages]]\nname = 'c'\n[packages.vcs]\n"
		 "name = 'not c'\n[[packages]]\nname = 'd'\n[[packages.wheels]]\nname = 'd.whl'\n",
		 "2 a==1?\n9 b @ directory\n12 c @ vcs\n16 d==\n"},
		{"report.json",
		 " {\"install\": [{\"is_direct\": false, \"metadata\": {\"name\": \"a\", \"version\": "
		 "\"1+cu121\"}}, {\"is_direct\": true, \"metadata\": {\"name\": \"b\"}}, 3]}",
		 "0 a==1+cu121\n0 b @ url\n"},
		{"r.txt", "", NULL},
		{"r.txt", "# nothing\n", NULL},
		{"pylock.toml", "name = 'a'\n", NULL},
		{"r.json", "{\"install\": {}}", NULL},
		{"r.json", "{\"install\": [", NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_package_list list = {.items = NULL};
		struct jw_error why = {0};
		char said[1024] = "";

		(void)package_list_parse(&why, cases[i].name, cases[i].text, strlen(cases[i].text), &list);
		for (size_t k = 0; k < list.count; k++) {
			char hashes[512] = "";

			/* Those words of it that name one */
			for (const char *at = list.items[k].hashes; at && (at = strstr(at, "sha256")); at++)
				text_append(hashes, sizeof hashes, "%s%.*s", *hashes ? " " : " {",
							(int)strcspn(at, " \t\r}"), at);
			text_append(said, sizeof said, "%zu %s%s%s%s\n", list.items[k].line,
						list.items[k].asked, list.items[k].conditional ? "?" : "", hashes,
						*hashes ? "}" : "");
		}
		assert_string_equal(said, cases[i].asked ? cases[i].asked : "");
		assert_int_equal(!why.code, cases[i].asked != NULL);
		jw_package_list_free(&list);
	}
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
