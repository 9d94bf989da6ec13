/* Packages are understood as they are typed, only names and harmless options reach pip, and no
 * password is printed. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "find/pip.h"
#include "find/pip_output.h"
#include "find/requirement.h"

TEST(packages_are_read_as_they_are_typed)
{
	static const struct {
		const char *text, *name, *extras, *version; /* name NULL: not a package */
	} typed[] = {
		{"torch", "torch", "", ""},
		{"Torch==2.1", "torch", "", "2.1"},
		{"my_jax [cuda12, x] == 0.4rc1+cu12", "my-jax", "cuda12,x", "0.4rc1+cu12"},
		{"torch[]==2", "torch", "", "2"},
		{.text = "torch>=2,<3"},
		{.text = "torch==2.*"},
		{.text = "torch==2,<3"},
		{.text = "torch==2 3"},
		{.text = "torch=="},
		{.text = "torch=2"},
		{.text = "torch,numpy"},
		{.text = "torch[x"},
		{.text = "torch[/x]"},
		{.text = "torch[x]y"},
		{.text = "torch==2;python_version>'3'"},
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
		assert_string_equal(found.version, typed[i].version);
	}
}

/* pip would build a word that is not a name, or read it as a file, and run code of that file. */
TEST(only_names_are_asked_for)
{
	static const char *const names[][2] = {{"torch", "torch"},
										   {"Torch==2.1", "torch==2.1"},
										   {"x>=1,<2", "x>=1,<2"},
										   {"my_jax [a,b] ~= 0.4", "my-jax [a,b] ~= 0.4"},
										   {"ruamel.Yaml__x[jinja2.x]", "ruamel-yaml-x[jinja2.x]"},
										   {"x!=1.*", "x!=1.*"},
										   {"x===1+cu12", "x===1+cu12"},
										   {"x==1!2", "x==1!2"}};
	static const char *const others[] = {"",
										 "-r x",
										 "--pre",
										 ".",
										 "./x",
										 "x/y",
										 "x\\y",
										 "x @ https://h/x.whl",
										 "x.whl",
										 "x.tar.gz",
										 "X.ZIP.zip",
										 "x.ZIP",
										 "x.zip[y]",
										 "x.tar.gz[y] ",
										 "x==1.zip",
										 "x==1.0+a.Zip",
										 "x===1.zip",
										 "x[y]>=1.tgz , <2",
										 "x>=1,.tar",
										 "file:x",
										 "https://h/x",
										 "git+https://h/",
										 "x --no-binary=:all:",
										 "x ; y",
										 "x # y",
										 "x\ny",
										 "x[",
										 "x[../y]",
										 "x$Y",
										 "x==${Y}",
										 "pyproject.toml",
										 "_x",
										 "x_",
										 "requirements.txt",
										 "x=1",
										 "x~1",
										 "x!1",
										 "x=",
										 "x\ty"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *asked = pip_requirement(names[i][0]);

		assert_string_equal(asked ? asked : "none", names[i][1]);
		mem_free(asked);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		char *asked = pip_requirement(others[i]);

		if (asked)
			fail_msg("“%s” is none", others[i]);
	}
}

/* Lines of options and requirements; then those left out, as “LINE kind”; then the packages of a
 * report. */
TEST(what_files_ask_pip_for)
{
#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const struct {
		const char *name, *text, *asked; /* NULL: not a list of packages */
	} lists[] = {
		{"r.txt",
		 "# x==1\\\n\nxgboost==1.5.2 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n"
		 " numpy[a,b] == 1.26 ; python_version < '3' # why\nTorch # see https://h/\ncertifi;a",
		 "xgboost==1.5.2 --hash=sha256:00       --hash=sha256:11\n"
		 "numpy[a,b] == 1.26 ; python_version < '3'\ntorch\ncertifi ;a\n"},
		{.name = "uv.lock", .text = "[[package]]\nname = 'x'\nversion = '1'\n"},
		{.name = "env/environment.yml", .text = "dependencies:\n  - torch\n"},
		{"r.txt", "\xEF\xBB\xBFnumpy\r\n\r\nx==1 \\\r\n --hash=a:00\r\ny==2\r\n",
		 "numpy\nx==1 --hash=a:00\ny==2\n"},
		{"r.txt",
		 "-r base.txt\n-e .\ntorch>=2,<3\n./x.whl\nx[\nx --hash=sha256:0 -e .\n"
		 "x --config-settings=a=b\nx.tar.gz\nx ; a@b\n",
		 "torch>=2,<3\n1 list\n2 file\n4 file\n5 other\n6 other\n7 other\n8 file\n9 address\n"},
		{"r.txt",
		 "--extra-index-url https://me:word@h/s\n-i http://h:1/s # why\n--pre\nx\n"
		 "x @ git+https://word@h/x\nhttps://h/x.whl\n",
		 "--extra-index-url https://me:word@h/s\n-i http://h:1/s\n--pre\nx\n"
		 "5 address\n6 address\n"},
		{"r.txt",
		 "--proxy=me:word@h:1\n--index-url=//me@h\n--index-url https://h/${WORD}\n"
		 "--extra-index-url https://h/ --no-binary :all:\n-c c.txt\n--no-binary :all:\n"
		 "-ihttps://u:p@h/\n--index-url file:///x\n--index-url httpx/y\n",
		 "-ihttps://u:p@h/\n1 option\n2 option\n3 option\n4 option\n5 list\n6 option\n8 option\n"
		 "9 option\n"},
		/* As pip reads them: no line continues a comment, and "-i=" has no value. */
		{"r.txt", "  # why \\\nx\n\t#\\\ny\n-i=https://h/\nz ; a>'3' -r b.txt\nz ; a>'3' --pre\n",
		 "x\ny\n5 option\n6 other\n7 other\n"},
		{"pylock.toml",
		 "created-by = 'uv'\n[[packages]]\nname = \"a\"\nversion = '1'\nmarker = \"x == 'y'\"\n"
		 "wheels = [\n { hashes = { sha256='" HEX "' } },\n { hashes = { sha256 = \"" HEX
		 "\" } },\n]\n[[packages]]\nname='b'\ndirectory = { path = '.' }\n[[packages]]\n"
		 "name = 'c'\n[packages.vcs]\nname = 'not c'\n[[packages]]\nname = 'd'\nversion = '2'\n"
		 "[[packages.wheels]]\nname = 'd.whl'\n[packages.wheels.hashes]\nsha256 = '0'\n"
		 "[[packages]]\nname = \"e --no-binary=:all:\"\nversion = '1'\n"
		 "[[packages]]\nname = \"evil.zip[x] #\"\nversion = '1'\n"
		 "[[packages]]\nname = \"evil\"\nversion = '1.0+a.zip'\n",
		 "a==1 ; x == 'y' --hash=sha256:" HEX " --hash=sha256:" HEX "\nd==2\n"
		 "10 file\n13 address\n24 other\n27 other\n30 file\n"},
		{"report.json",
		 " {\"install\": [{\"is_direct\": false, \"metadata\": {\"name\": \"a\", \"version\": "
		 "\"1+cu121\"}, \"download_info\": {\"url\": "
		 "\"https://u:p@h/a-1%2Bcu121-py3-none-any.whl\", "
		 "\"archive_info\": {\"hashes\": {\"sha256\": \"" HEX "\"}}}}, "
		 "{\"is_direct\": true, \"metadata\": {\"name\": \"b\"}}, "
		 "{\"metadata\": {\"name\": \"c\", \"version\": \"2\"}, "
		 "\"download_info\": {\"url\": \"https://u:p@h\", \"archive_info\": 3}}]}",
		 "= a==1+cu121 a-1+cu121-py3-none-any.whl " HEX "\n= b (direct)\n= c==2\n"},
		{"r.txt",
		 "evil.zip[x]\nevil.tar.gz[x]\nevil.ZIP\nevil==1.0+a.zip\nevil===1.zip\nRuamel.Yaml>=1 "
		 "--hash=sha256:00\nroot:$y$j9T$:1::\n",
		 "ruamel-yaml>=1 --hash=sha256:00\n1 file\n2 file\n3 file\n4 file\n5 file\n7 other\n"},
		{"report.json",
		 "{\"install\": [{\"metadata\": {\"name\": \"a\", \"version\": \"1 -e .\"}}]}", NULL},
		{"report.json", "{\"install\": [{\"is_direct\": true, \"metadata\": {\"name\": \"a b\"}}]}",
		 NULL},
		{"report.json", "{\"install\": [3]}", NULL},
		{"r.txt", "", NULL},
		{"r.txt", "# nothing\n", NULL},
		{"pylock.toml", "name = 'a'\n", NULL},
		{"r.json", "{\"install\": {}}", NULL},
		{"r.json", "{\"install\": [", NULL},
	};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct pip_lines lines;
		struct buf said = BUF_MAX(1 << 16);

		*why = (struct jw_error){0};
		if (!pip_lines_read(why, lists[i].name, lists[i].text, strlen(lists[i].text), &lines)) {
			buf_add(&said, "%s%s", buf_text(&lines.options), buf_text(&lines.requirements));
			for (size_t k = 0; k < lines.left_out.count; k++)
				buf_add(&said, "%zu %s\n", lines.left_out.items[k].line,
						lines.left_out.items[k].asked);
			for (size_t k = 0; k < lines.packages.count; k++) {
				const struct jw_listed_package *package = &lines.packages.items[k];

				buf_add(&said, "= %s%s%s%s%s%s\n", package->asked, *package->file ? " " : "",
						package->file, *package->sha256 ? " " : "", package->sha256,
						package->direct ? " (direct)" : "");
			}
			pip_lines_free(&lines);
		}
		assert_string_equal(buf_text(&said), lists[i].asked ? lists[i].asked : "");
		assert_int_equal(!why->code, lists[i].asked != NULL);
		buf_free(&said);
	}
}

TEST(no_password_of_an_address_is_told)
{
	static const char *const texts[][2] = {
		{"at https://u:p@h/x and http://h/", "at https://h/x and http://h/"},
		{"'https://u:p@ss@h/'", "'https://h/'"},
		{"https://u:p/w@h/x", "https://h/x"},
		{"X=git+https://token@h https://a:b@c", "X=git+https://h https://c"},
		{"https://u:p'q\"<r>@h", "https://h"},
		{"://@", "://"},
		{"u@h //u:p@h", "u@h //u:p@h"},
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char text[128];

		TEXT_COPY(text, texts[i][0]);
		pip_hide_passwords(text);
		assert_string_equal(text, texts[i][1]);
	}
}

RUN_TESTS(NULL, NULL)

/* Reports of older releases of pip, and text that no pip prints. */
TEST(what_pip_lacks_is_in_its_words)
{
	static const char missing[] =
		"ERROR: Could not find a version that satisfies the requirement "
		"my-x[a]==1.0 (from -r asked.txt (line 1)) (from versions: none)\n";
	static const struct {
		const char *said;
		enum pip_lack lack;
		const char *message;
	} cases[] = {
		{"", PIP_LACKS_VERSION, ""},
		{"  Skipping link: none of the wheel's tags match: cp37-cp37m-win32: "
		 "https://h/My_X-1.0-1-cp37.cp38-cp37m-win32.manylinux1_x86_64.whl#sha256=0 (from x)\n"
		 "  Skipping link: none of the wheel's tags match: https://h/my.x-1.0.1-py3-none-any.whl\n"
		 "Link requires a different Python (3.9 not in: '>=4'): "
		 "https://h/my_x-1.0%2Bcu121-py4-none-any.whl (from x)\n",
		 PIP_LACKS_WHEEL,
		 "no wheel of my-x 1.0+cu121 fits; its wheels are for Python 3.7, 3.8, 4 on any, linux, "
		 "win32"},
		{"Skipping link: No sources permitted for my-x: https://h/my-x-1.0.zip\n",
		 PIP_LACKS_ANY_WHEEL, "the package index has source code of my-x[a]==1.0, and no wheel"},
		{"Could not fetch URL https://us:er@h/x: 404 Client Error: Not Found\n", PIP_LACKS_PACKAGE,
		 "h: the package index has no package “my-x”"},
		{"Could not fetch URL https://h/x: 429 Client Error: Too Many Requests\n", PIP_LACKS_INDEX,
		 "h: the package index failed (429); try again later"},
		{"Could not fetch URL https://h/x: connection error: (Caused by X('Connection to h timed "
		 "out.'))\n",
		 PIP_LACKS_INDEX,
		 "h: the package index cannot be reached (it did not answer in time); check the network, "
		 "the proxy (https_proxy), and pip's index (PIP_INDEX_URL)"},
		{"Could not fetch URL https://h/x: connection error: (Caused by ProxyError('Cannot connect "
		 "to proxy.', OSError('Tunnel connection failed: 407 Proxy Authentication Required')))\n",
		 PIP_LACKS_INDEX,
		 "h: the package index cannot be reached (407 Proxy Authentication Required); check the "
		 "network, the proxy (https_proxy), and pip's index (PIP_INDEX_URL)"},
		{"Could not fetch URL ://Error: x Error: \nCould not fetch URL x Error: \n"
		 "Skipping link: ://\nSkipping link: ://.whl\nSkipping link: ://my-x-1-.whl\n"
		 "Skipping link: ://my-x-1.0----.whl\nSkipping link: ://-1.0-x-y-.whl",
		 PIP_LACKS_INDEX, NULL},
		{"Skipping link: ://\nSkipping link: ://.whl\nSkipping link: ://my_x-1-.whl\n"
		 "Skipping link: ://my_x-1.0----.whl\nSkipping link: ://-1.0-x-y-.whl\n"
		 "Skipping link: ://my_x-1.0-.-cp-.whl\nSkipping link: ://my_x-1.0-cp-cp-..whl",
		 PIP_LACKS_WHEEL, NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *said = mem_printf("%s%s", missing, cases[i].said);
		struct jw_error found = {0};

		assert_int_equal(pip_output_lack(&found, said), cases[i].lack);
		if (cases[i].message)
			assert_string_equal(found.message, cases[i].message);
		mem_free(said);
	}
}

TEST(the_wheels_of_an_index_are_in_its_words)
{
	static const char said[] =
		"jitwarm-file 1234 "
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0 "
		"x-1.0-py3-none-any.whl\n"
		"jitwarm-file 5 - 1 x-1.1-py3-none-any.whl\n"
		"jitwarm-file x y z\njitwarm-file \njitwarm-file 1 - 0 x y.whl\n"
		"  Found link https://us:p@ss@h/f/x-1.0-py3-none-any.whl (from "
		"https://us:p@ss@h/whl/simple/x/) (requires-python:>=3.9,<4), version: 1.0\n"
		"  Skipping link: none of the wheel's tags (a) are compatible: "
		"https://h/f/x-2.0%2Bcu12-cp39-cp39-win_amd64.whl"
		"#sha256=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb (from "
		"https://h/whl/simple/x/)\n"
		"  Found link https://h/f/x-3.0%0Awheel-py3-none-any.whl (from https://h/)\n"
		"Found link ://.whl (from ://\nFound link ://x.whl (from \n";
	struct pip_listing listing = {.index = NULL};

	pip_output_files(said, &listing);
	assert_string_equal(listing.index, "h/whl/simple");
	assert_string_equal(listing.items[0].name, "x-1.0-py3-none-any.whl");
	assert_string_equal(listing.items[0].address, "https://h/f/x-1.0-py3-none-any.whl");
	assert_string_equal(listing.items[0].python, "3.9");
	assert_int_equal(listing.items[0].size_bytes, 1234);
	assert_int_equal(strlen(listing.items[0].sha256), 64);
	assert_true(listing.items[0].fits && !listing.items[0].yanked);
	assert_true(listing.items[1].yanked && !listing.items[1].fits && !*listing.items[1].sha256);
	assert_string_equal(listing.items[2].name, "x-2.0+cu12-cp39-cp39-win_amd64.whl");
	assert_true(*listing.items[2].sha256 == 'b' && !listing.items[2].fits);
	for (size_t i = 3; i < listing.count; i++)
		assert_true(!strpbrk(listing.items[i].name, " \n"));
	pip_listing_free(&listing);
}

/* Only a line of pip's own counts, and not what an index has it print within one. */
TEST(the_words_of_an_index_are_not_those_of_pip)
{
	static const char link[] =
		"  Skipping link: 1.0 Requires-Python >=3 that satisfies the requirement (from x: "
		"https://h/my-x-1.0.xyz (from https://h/)\n"
		"  Skipping link: ERROR: Could not find a version that satisfies the requirement (from x: "
		"Could not fetch URL https://us:er@other/x: 401 Client Error: https://h/my-x-1.0.xyz\n"
		"  ERROR: Could not find a version that satisfies the requirement (from x\n";
	static const char own[] = "ERROR: Could not find a version that satisfies the requirement "
							  "my-x==2 (from versions: none)\n"
							  "ERROR: No matching distribution found for my-x==2\n";
	static const char *const orders[][3] = {
		{link, "", ""},
		{"that satisfies the requirement (from ", "", ""},
		{"ERROR: Could not find a version that satisfies the requirement ", "", ""},
		{"Could not fetch URL https://h/x: 404 Client Error: Not Found\n", link, own},
	};
	static const char *const messages[] = {"", "", "",
										   "h: the package index has no package “my-x”"};

	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		char *said = mem_printf("%s%s%s", orders[i][0], orders[i][1], orders[i][2]);
		struct jw_error found = {0};

		assert_int_equal(pip_output_lack(&found, said),
						 *messages[i] ? PIP_LACKS_PACKAGE : PIP_LACKS_VERSION);
		assert_string_equal(found.message, messages[i]);
		mem_free(said);
	}
}
