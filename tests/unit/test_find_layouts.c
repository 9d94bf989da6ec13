/* Environments laid out as on Windows (Lib\site-packages, Library\bin). jitwarm searches Windows
 * layouts on both systems, so this test runs on both. */
#include "environments.h"

#include "os/env.h"
#include "os/platform.h"

/* Says whether a file of this package was found whose path ends in `end`, with either separator. */
static bool has_file(const struct jw_found *found, const char *end, const char *package)
{
	for (size_t i = 0; i < found->file_count; i++) {
		const struct jw_found_file *file = &found->files[i];
		size_t length = strlen(file->path), tail = strlen(end), same = 0;

		while (same < tail && same < length &&
			   (file->path[length - 1 - same] == end[tail - 1 - same] ||
				(file->path[length - 1 - same] == '\\' && end[tail - 1 - same] == '/')))
			same++;
		if (same == tail)
			return package ? file->package && !strcmp(file->package, package) : !file->package;
	}
	return false;
}

static void put_torch(const char *site)
{
	static const char *const files[][2] = {
		{"torch-2.5.1.dist-info/METADATA", "Name: torch\nVersion: 2.5.1\n"},
		{"torch-2.5.1.dist-info/RECORD",
		 "torch/lib/torch_cuda.dll,,\r\ntorch\\_C.pyd,,\r\n../../Scripts/torchrun.exe,,\r\n"
		 "..\\..\\..\\outside.dll,,\r\n/outside.dll,,\r\n"},
		{"torch/lib/torch_cuda.dll", "MZ"},
		{"torch/_C.pyd", "MZ"},
	};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		put(keep(os_join(site, files[i][0])), files[i][1]);
	}
}

CASE(virtual_environment)
{
	struct jw_found *found;

	put("venv/pyvenv.cfg", "home = C:\\Python310\r\ninclude-system-site-packages = false\r\n");
	put_torch("venv/Lib/site-packages");
	put("venv/Scripts/torchrun.exe", "MZ");
	put("outside.dll", "MZ");
	set("VIRTUAL_ENV", "venv");
	found = find_one("torch");
	assert_true(has_file(found, "/torch/lib/torch_cuda.dll", "torch"));
	assert_true(has_file(found, "/venv/Scripts/torchrun.exe", "torch"));
	assert_int_equal(has_file(found, "/torch/_C.pyd", "torch"), os_is_windows);
	assert_false(has_file(found, "/outside.dll", "torch"));
	assert_int_equal(found->trouble_count, 0);
	assert_true(found->note_count > 0);
	jw_result_free(found);
}

CASE(conda_environment)
{
	struct jw_found *found;

	put("conda/conda-meta/cudatoolkit-11.8-h1_2.json",
		"{\"name\": \"cudatoolkit\", \"version\": \"11.8\","
		" \"files\": [\"Library/bin/cufft64_10.dll\", \"../../evil.dll\"]}");
	put("conda/Library/bin/cufft64_10.dll", "MZ");
	put("conda/Lib/site-packages/own.pyd", "MZ");
	set("CONDA_PREFIX", "conda");
	found = find_one(NULL);
	assert_int_equal(found->file_count, 2);
	assert_true(has_file(found, "/conda/Library/bin/cufft64_10.dll", "cudatoolkit"));
	assert_true(has_file(found, "/conda/Lib/site-packages/own.pyd", NULL));
	jw_result_free(found);
}

/* python.exe lies beside its Lib folder, the user's own packages beside the version's name. */
CASE(python_on_path)
{
	struct jw_found *found;

	if (!os_is_windows)
		skip();
	put("store/python.exe", "");
	put("Python310/python.exe", "MZ");
	put("Python310/python310.dll", "MZ");
	put_torch("Python310/Lib/site-packages");
	put("roaming/Python/Python310/site-packages/mine.pyd", "MZ");
	put("roaming/Python/Python39/site-packages/other.pyd", "MZ");
	OK(os_env_set(why, "PATH", keep(mem_printf("%s/store;%s/Python310", root, root))));
	found = find_one(NULL);
	assert_true(has_file(found, "/torch/_C.pyd", "torch"));
	assert_true(has_file(found, "/mine.pyd", NULL));
	assert_false(has_file(found, "/other.pyd", NULL));
	jw_result_free(found);
}

RUN_TESTS(NULL, NULL)
