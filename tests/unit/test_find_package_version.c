/* Versions of packages, and files that ask pip for packages. */
#include <stdio.h>
#include <string.h>

#include "base/package_version.h"
#include "check.h"
#include "find/requirement.h"

static const struct {
	const char *version, *wanted;
	bool fits;
} cases[] = {
	{"2.1", "", true},
	{"2.1", "==2.1", true},
	{"2.1", "==2.1.0", true},
	{"2.1.0", "==2.1", true},
	{"2.1.0+cu118", "==2.1", true},
	{"2.1.0+cu118", "==2.1+cu118", true},
	{"2.1.0+cu118", "==2.1+cu121", false},
	{"2.1.0+cu118", "==2.1.*", true},
	{"2.1", "==20.*", false},
	{"20.1", "==2.*", false},
	{"2", "==2.0.*", true},
	{"2.1", "!=2.1", false},
	{"2.1", "!=2.*", false},
	{"2.2", "!=2.1.*", true},
	{"2.1", ">=2.1", true},
	{"2.1", ">=2.2", false},
	{"2.10", ">=2.9", true},
	{"2.9", ">=2.10", false},
	{"2.1", ">2.1", false},
	{"2.1.post1", ">2.1", false},
	{"2.1+cu118", ">2.1", false},
	{"2.1", "<2.1", false},
	{"2.1", "<2.2", true},
	{"2.1rc1", "<2.1", false},
	{"2.1rc1", "<=2.1", true},
	{"2.1rc1", "<2.2", true},
	{"2.1rc1", "==2.1", true},
	{"2.1rc1", "==2.1.0rc1", true},
	{"2.1.0rc1", "==2.1rc2", false},
	{"2.1", "==2.1rc1", false},
	{"2.1rc1", "!=2.1rc1", false},
	{"2.1", ">=2.1rc1", true},
	{"2.1", "~=2.0", true},
	{"2.1", "~=2.0.1", false},
	{"2.0.9", "~=2.0.1", true},
	{"2.1", "~=2.1rc1", true},
	{"1.0", "==1!1.0", false},
	{"2.1", ">=2,!=2.1", false},
	{"2.1", ">= 2 , < 3", true},
	{"20240101", ">=20230101", true},
	{"2.1.2", "=2.1", true}, /* conda's */
	{"2.1", "=2.1.*", true},
	{"2.10", "=2.1", false},
	{"1.1.1w", ">=1.1", true},
	{"1.1.1w", "==1.1.1w", true},
	{"2023c_x", "", true},
	{"v2", "!=3", false},
	{"1.2.3.4.5.6.7.8.9", ">=1", false},
};

TEST(versions_are_ordered)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!version_is_wanted(cases[i].wanted) ||
			version_fits(cases[i].version, cases[i].wanted) != cases[i].fits)
			fail_msg("%s %s", cases[i].version, cases[i].wanted);
}

TEST(other_texts_are_no_versions)
{
	static const char *const others[] = {"2.1",    "=",       "==",
										 ">=x",    "~=2",     ">=2.*",
										 "<2.*",   "~=2.1.*", "=>2",
										 "==2 3",  "== 2;x",  ">=2 <3",
										 "==-1",   "@ x",     "(>=2)",
										 ">",      ",torch",  "[x]",
										 "==!1",   "==2.1(a", "===2.1",
										 "==2*.1", ">=2,,<3", "==2.1.*.1",
										 "==2.1*", "=2/x",    "==1234567890123456789"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (version_is_wanted(others[i]) || version_fits("2.1", others[i]))
			fail_msg("%s", others[i]);
}

TEST(packages_are_read_as_they_are_typed)
{
	static const struct {
		const char *text, *name, *extras, *versions; /* name NULL: not one */
	} typed[] = {
		{"torch", "torch", "", ""},
		{"Torch>=2,<3", "torch", "", ">=2,<3"},
		{"my_jax [cuda12, x] ~= 0.4", "my-jax", "cuda12,x", "~= 0.4"},
		{"torch[]==2", "torch", "", "==2"},
		{.text = "torch,numpy"},
		{.text = "torch[x"},
		{.text = "torch[/x]"},
		{.text = "torch[x]y"},
		{.text = "torch>=2;python_version>'3'"},
		{.text = "torch @ https://example.org/torch.whl"},
		{.text = "./torch"},
		{.text = "torch/"},
		{.text = ">=2"},
		{.text = ""},
	};

	for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
		struct typed_package found;

		if (requirement_typed(typed[i].text, &found) != (typed[i].name != NULL))
			fail_msg("“%s”", typed[i].text);
		if (!typed[i].name)
			continue;
		assert_string_equal(found.requirement.name, typed[i].name);
		assert_string_equal(found.requirement.extras, typed[i].extras);
		assert_string_equal(found.versions, typed[i].versions);
	}
}

/* As pip has them: what is behind a version's numbers counts. */
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
		{">=1.0", "1.0 2.0 2.0rc1", "1.0rc1 0.9"},
		{">= 2 , < 3", "2.1", "3 1"},
		{"==2.1.*,!=2.1.1", "2.1 2.1.2", "2.1.1 2.2"},
		{"!=2.1.*", "2.0 2.2", "2.1 2.1.7"},
		{"==1.0+cu121,<2", "1.0+cu121", "1.0+cu118 1.0"},
	};
	struct package_version is;

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		for (int wanted = 0; wanted < 2; wanted++) {
			const char *at = wanted ? samples[i].in : samples[i].out;

			for (size_t length; *at; at += length + (at[length] != 0)) {
				char version[64];

				length = strcspn(at, " ");
				(void)snprintf(version, sizeof version, "%.*s", (int)length, at);
				assert_true(package_version_read(version, length, &is) && !is.odd);
				assert_true(version_is_wanted(samples[i].ranges));
				if (package_version_fits(&is, samples[i].ranges) != wanted)
					fail_msg("%s in %s", version, samples[i].ranges);
			}
		}
}

/* “LINE asked”, with “?” where a marker decides, and a line break behind each. */
TEST(what_files_ask_pip_for)
{
	static const struct {
		const char *name, *text, *asked; /* NULL: no list of packages */
	} lists[] = {
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

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct jw_package_list list = {.items = NULL};
		struct jw_error why = {0};
		char said[1024] = "";

		(void)package_list_parse(&why, lists[i].name, lists[i].text, strlen(lists[i].text), &list);
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
		assert_string_equal(said, lists[i].asked ? lists[i].asked : "");
		assert_int_equal(!why.code, lists[i].asked != NULL);
		jw_package_list_free(&list);
	}
}

RUN_TESTS(NULL, NULL)
