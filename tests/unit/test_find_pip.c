/* Packages are understood as they are typed, only names and harmless options reach pip, and
 * what an index answers is read. */
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "find/pip.h"
#include "find/pip_answer.h"
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
		struct required found;

		if (requirement_typed(typed[i].text, &found) != (typed[i].name != NULL))
			fail_msg("“%s”", typed[i].text);
		if (!typed[i].name)
			continue;
		assert_string_equal(found.is.name, typed[i].name);
		assert_string_equal(found.is.extras, typed[i].extras);
		assert_string_equal(found.version, typed[i].version);
	}
}

/* A word that is not a name is refused with a sentence. */
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
		char *asked = keep(pip_requirement(names[i][0]));

		assert_string_equal(asked ? asked : "none", names[i][1]);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		char *asked = keep(pip_requirement(others[i]));

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
		{.name = "-", .text = "name: x\nchannels:\n  - pytorch\ndependencies:\n  - torch\n"},
		{.name = "-",
		 .text = "# packages in environment at /x:\n#\n# Name  Version  Build  Channel\n"
				 "numpy  1.24.3  py39hf6e8229_1\ntorch  2.1.0  pypi_0  pypi\n"},
		{.name = "list.txt",
		 .text = "# This file may be used to create an environment using:\n# platform: linux-64\n"
				 "pytorch=1.12.1=py3.9_cuda11.3\n"},
		/* what “pip list” prints */
		{"-",
		 "Package            Version    Editable project location\n"
		 "------------------ ---------- ----\nTorch              2.6.0+cu124\n"
		 "typing_extensions_ 4\nmine               0.1        /home/me\n\nnumpy              2.1\n",
		 "torch==2.6.0+cu124\nnumpy==2.1\n4 other\n5 file\n"},
		{"r.txt", "Package Version\n", "1 other\n"},
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
		 "a==1 ; x == 'y' --hash=sha256:" HEX " --hash=sha256:" HEX "\nd==2\nevil==1.0+a.zip\n"
		 "10 file\n13 address\n24 other\n27 other\n"},
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
		 "evil.zip[x]\nevil.tar.gz[x]\nevil.ZIP\nevil==1.0+a.zip\nRuamel.Yaml>=1 "
		 "--hash=sha256:00\nroot:$y$j9T$:1::\n",
		 "evil==1.0+a.zip\nruamel-yaml>=1 --hash=sha256:00\n1 file\n2 file\n3 file\n6 other\n"},
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

/* index.py's answers, in which an index may have written any text. */
static int read_answer(struct pip_answer *answer, const char *line)
{
	*why = (struct jw_error){0};
	return pip_answer_read(why, answer, line, "/tmp/x");
}

TEST(a_failure_of_an_index_becomes_a_sentence)
{
	static const struct {
		const char *line;
		enum pip_lack lack;
		int code;
		const char *message;
	} cases[] = {
		{"{\"error\":\"wheel\",\"name\":\"x\",\"version\":\"1.0+cu121\",\"pythons\":\"3.7, 3.8+, "
		 "PyPy "
		 "3.9\",\"systems\":\"any, linux\"}",
		 PIP_LACKS_WHEEL, JW_ERR_NOT_FOUND,
		 "no wheel of x 1.0+cu121 fits; its wheels are for Python 3.7, 3.8+, PyPy 3.9 on any, "
		 "linux"},
		{"{\"error\":\"source\",\"asked\":\"x==1\"}", PIP_LACKS_ANY_WHEEL, JW_ERR_NOT_FOUND,
		 "the package index has source code of x==1, and no wheel: pip builds one when it installs "
		 "the package"},
		{"{\"error\":\"unknown\",\"host\":\"h\",\"name\":\"x\"}", PIP_LACKS_PACKAGE,
		 JW_ERR_NOT_FOUND, "h: the package index has no package “x”"},
		{"{\"error\":\"refused\",\"host\":\"h\",\"name\":\"x\"}", PIP_LACKS_ACCESS,
		 JW_ERR_NOT_FOUND, "h: the package index refused x (403)"},
		{"{\"error\":\"version\",\"asked\":\"x==9\",\"versions\":\"1, 2\"}", PIP_LACKS_VERSION,
		 JW_ERR_NOT_FOUND, "the package index has no wheel of x==9; it has wheels of 1, 2"},
		{"{\"error\":\"version\",\"asked\":\"x\",\"versions\":\"\"}", PIP_LACKS_VERSION,
		 JW_ERR_NOT_FOUND, "the package index has no wheel of x"},
		{"{\"error\":\"failed\",\"host\":\"h\",\"status\":502,\"reason\":\"\"}", PIP_LACKS_INDEX,
		 JW_ERR_IO, "h: the package index failed (502); try again later"},
		{"{\"error\":\"failed\",\"host\":\"h\",\"status\":429,\"reason\":\"\",\"wait\":3600}",
		 PIP_LACKS_INDEX, JW_ERR_IO,
		 "h: the package index is busy (429); try again in 3600 seconds"},
		{"{\"error\":\"reach\",\"host\":\"h\",\"reason\":\"timeout\"}", PIP_LACKS_INDEX, JW_ERR_IO,
		 "h: the package index cannot be reached (it did not answer in time); check the network, "
		 "the proxy (https_proxy), and pip's index (PIP_INDEX_URL)"},
		{"{\"error\":\"hash\",\"file\":\"x.whl\",\"name\":\"sha256\"}", PIP_LACKS_NOTHING,
		 JW_ERR_FORMAT, "x.whl: its hash differs from the one in the index or list"},
		{"{\"error\":\"none\"}", PIP_LACKS_NOTHING, JW_ERR_UNSUPPORTED, "no pip"},
		{"{\"error\":\"old\",\"version\":\"19.3\"}", PIP_LACKS_NOTHING, JW_ERR_UNSUPPORTED,
		 "pip 19.3 is older than 20.0"},
		{"{\"error\":\"words\",\"reason\":\"ValueError: x\"}", PIP_LACKS_NOTHING, JW_ERR_IO,
		 "pip: ValueError: x"},
		{"{\"error\":3}", PIP_LACKS_NOTHING, JW_ERR_IO, "pip: "},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct pip_answer answer = {.total_bytes = 0};

		assert_int_equal(read_answer(&answer, cases[i].line), 1);
		assert_int_equal(answer.lack, cases[i].lack);
		assert_int_equal(answer.failure.code, cases[i].code);
		assert_string_equal(answer.failure.message, cases[i].message);
		pip_answer_free(&answer);
	}
}

#define DIGITS_OF "\"sha256\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\""

TEST(the_wheels_of_an_index_are_lines_of_json)
{
	static const char *const lines[] = {
		"{\"index\":\"h/whl/simple\"}",
		"{\"file\":\"x-1.0-py3-none-any.whl\",\"version\":\"1.0\",\"systems\":[\"linux\","
		"\"windows\","
		"3,\"a b\"],\"pythons\":\"cp39+,py3\",\"address\":\"https://h/"
		"x\",\"size\":1234,\"best\":true,\"yanked\":true,\"pre\":false," DIGITS_OF
		",\"requires\":[\"torch==2.0\",\"numpy; extra == 'x'\",\"evil\\npiece 9\",\"\",3]}",
		"{\"file\":\"x-2.0-py3-none-any.whl\",\"version\":\"2.0\",\"pythons\":\"py3\"}",
		"{\"file\":\"x-2.0-py3-none-any.whl\",\"requires\":[\"six\"]}",
		"{\"file\":\"x-2.0-py3-none-any.whl\",\"requires\":[\"other\"]}",
		"{\"file\":\"x-3.0-py3-none-any.whl\",\"requires\":[\"six\"]}",
		"{\"source\":\"3.1\"}",
		"{\"source\":\"no version\"}",
		"{\"source\":3}",
		"{\"file\":\"x-2.0-py3-none-any.whl\",\"size\":77}",
		"{\"total\":40}",
		"{\"total\":2}",
	};
	struct pip_answer answer = {.total_bytes = 0};
	const struct pip_file *file;

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (read_answer(&answer, lines[i]))
			fail_msg("%s: %s", lines[i], why->message);
	assert_int_equal(read_answer(&answer, "{\"end\":true}"), 1);
	assert_true(!answer.failure.code);
	assert_int_equal(answer.total_bytes, 42);
	assert_string_equal(answer.listing.index, "h/whl/simple");
	assert_int_equal(answer.listing.count, 2);
	file = &answer.listing.items[0];
	assert_string_equal(file->systems, "linux,windows");
	assert_string_equal(file->pythons, "cp39+,py3");
	assert_string_equal(file->address, "https://h/x");
	assert_int_equal(file->size_bytes, 1234);
	assert_int_equal(strlen(file->sha256), 64);
	assert_true(file->best && file->yanked && !file->pre);
	assert_int_equal(file->required_count, 2);
	assert_string_equal(file->required[0], "torch==2.0");
	assert_string_equal(file->required[1], "numpy; extra == 'x'");
	assert_int_equal(answer.listing.items[1].required_count, 1);
	assert_string_equal(answer.listing.items[1].required[0], "six");
	assert_int_equal(answer.listing.source_count, 1);
	assert_string_equal(answer.listing.sources[0], "3.1");
	assert_int_equal(answer.listing.items[1].size_bytes, 77);
	pip_answer_free(&answer);
}

/* An answer that was changed in any place is one, or ends in one line. */
TEST(a_changed_answer_ends_in_one_line)
{
	static const char *const lines[] = {
		"{\"file\":\"x-1.0-py3-none-any.whl\",\"version\":\"1.0\",\"systems\":[\"any\"],"
		"\"pythons\":"
		"\"py3\",\"requires\":[\"torch>=2; extra == 'x'\",\"numpy\"],\"size\":1}",
		"{\"file\":\"x-1.0-py3-none-any.whl\",\"requires\":[\"torch (>=2,<3)\"]}",
		"{\"source\":\"2.0.post1\"}",
		"{\"error\":\"wheel\",\"name\":\"x\",\"version\":\"1\",\"systems\":\"l\"}",
	};
	enum { LINES = sizeof lines / sizeof *lines, CHANGES = 200 };
	struct pip_answer answer = {.total_bytes = 0};
	uint32_t seed = 1;

	for (size_t i = 0; i < LINES * CHANGES; i++) {
		char *line = keep(mem_string(lines[i % LINES]));
		const size_t size = strlen(line);

		for (size_t k = 0; k < 1 + i % 3; k++) {
			seed = seed * 1103515245 + 12345;
			line[(seed >> 8) % size] = (char)(1 + seed % 255);
		}
		*why = (struct jw_error){0};
		if (read_answer(&answer, line) < 0 && (!*why->message || strchr(why->message, '\n')))
			fail_msg("%s: “%s”", line, why->message);
		for (size_t k = 0; k < answer.listing.count; k++)
			for (size_t m = 0; m < answer.listing.items[k].required_count; m++)
				assert_null(strchr(answer.listing.items[k].required[m], '\n'));
	}
	pip_answer_free(&answer);
}

TEST(what_is_no_answer_is_refused)
{
	static const char *const lines[] = {
		"",
		"x",
		"[",
		"{\"file\":\"x-1.0-py3-none-any.whl\",\"version\":\"x y\",\"pythons\":\"py3\"}",
		"{\"file\":\"../x-1.0-py3-none-any.whl\",\"version\":\"1.0\",\"pythons\":\"py3\"}",
		"{\"file\":\"x-1.0-py3 none-any.whl\",\"version\":\"1.0\",\"pythons\":\"py3\"}",
		"{\"file\":\"x-1.0.tar.gz\",\"version\":\"1.0\",\"pythons\":\"py3\"}",
		"{\"file\":\"x-1.0-py3-none-any.whl\",\"version\":\"1.0\",\"pythons\":\"py3\\nwheel\"}",
		("{\"file\":\"x-1.0-py3-none-any.whl\",\"version\":\"1.0\",\"pythons\":\"py3\","
		 "\"sha256\":\"0\"}"),
	};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct pip_answer answer = {.total_bytes = 0};

		if (read_answer(&answer, lines[i]) != -1 || !*why->message)
			fail_msg("%s is an answer", lines[i]);
		pip_answer_free(&answer);
	}
}

RUN_TESTS(NULL, NULL)
