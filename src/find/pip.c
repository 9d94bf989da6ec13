#include "find/pip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/pip_output.h"
#include "find/python.h"
#include "find/sites.h"
#include "os/env.h"
#include "os/file.h"
#include "os/platform.h"
#include "os/private.h"
#include "os/process.h"

enum {
	MAX_PYTHONS = 3,
	MAX_WORDS = 160,
	MAX_TAGS = 64,
	NO_PIP = 96 /* the exit status of `start` without pip */
};

/* the most bytes that pip may have downloaded while it runs */
#define MAX_BYTES (UINT64_C(16) << 30)

/* Arguments: the folder for temporary files, the wheel of pip or "", "list" and names of wheels
 * with which `note` prints what pages of an index tell, then pip's own. A page's name is printed
 * only if it is one short word: it is a line for jitwarm. The current folder is somebody's project:
 * no module of it is loaded, and pip runs in an empty folder, so that no file has the name of a
 * requirement; paths in variables of the account stay those of the current folder, where a folder
 * “https:” makes no path of an address. Settings that would refuse what installs nothing are off,
 * and pip starts no other Python (PIP_PYTHON). */
static const char start[] =
	"import sys\n"
	"folder, wheel, listed = sys.argv[1:4]\n"
	"sys.path[:] = [wheel] * bool(wheel) + [path for path in sys.path if path]\n"
	"import os, runpy, tempfile\n"
	"tempfile.tempdir = folder\n"
	"for name in ('PIP_FIND_LINKS', 'PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_CONFIG_FILE',\n"
	"             'PIP_CONSTRAINT', 'PIP_CERT', 'PIP_CLIENT_CERT', 'REQUESTS_CA_BUNDLE',\n"
	"             'CURL_CA_BUNDLE', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NETRC'):\n"
	"    if os.environ.get(name):\n"
	"        os.environ[name] = ' '.join(\n"
	"            os.path.abspath(word) if '://' not in word and os.path.exists(word) else word\n"
	"            for word in os.environ[name].split(' '))\n"
	"os.chdir(tempfile.mkdtemp())\n"
	"os.environ.update(PIP_REQUIRE_VIRTUALENV='0', PIP_USER='0', _PIP_RUNNING_IN_SUBPROCESS='1')\n"
	"sys.argv[:] = ['pip'] + sys.argv[4:]\n"
	"try:\n"
	"    import pip\n"
	"except ImportError:\n"
	"    raise SystemExit(96)\n"
	/* Pages of PEP 691 have hashes and, by PEP 700, sizes; pip does not print them. */
	"def page_files(page):\n"
	"    import re, urllib.parse as urls\n"
	"    if 'json' in page.headers.get('Content-Type', ''):\n"
	"        for file in page.json()['files']:\n"
	"            yield (file['filename'], file['url'], file.get('size'), file.get('yanked'),\n"
	"                   file.get('hashes', {}).get('sha256'))\n"
	"    else:\n"
	"        for link in re.findall(r'href=\"([^\"]+)\"', page.text):\n"
	"            path = urls.unquote(urls.urlparse(link).path)\n"
	"            if '.whl' in link:\n"
	"                yield os.path.basename(path), link, None, None, None\n"
	"def note(request, names):\n"
	"    import urllib.parse as urls\n"
	"    def answer(self, method, url, *more, **words):\n"
	"        page = request(self, method, url, *more, **words)\n"
	"        try:\n"
	"            for name, link, size, yanked, sha256 in page_files(page):\n"
	"                if len(name) > 300 or len(name.split()) != 1:\n"
	"                    continue\n"
	"                if not size and name in names:\n"
	"                    head = request(self, 'HEAD', urls.urljoin(page.url, link), timeout=15,\n"
	"                                   allow_redirects=True)\n"
	"                    size = head.headers.get('Content-Length') if head.ok else 0\n"
	"                known = sha256 and len(sha256) == 64 and sha256.isalnum()\n"
	"                print('jitwarm-file', int(size or 0), sha256 if known else '-',\n"
	"                      int(bool(yanked)), name, flush=True)\n"
	"        except Exception:\n"
	"            pass\n"
	"        return page\n"
	"    return answer\n"
	"if listed:\n"
	"    try:\n"
	"        from pip._vendor.requests.sessions import Session\n"
	"        Session.request = note(Session.request, listed.split(' ')[1:])\n"
	"    except ImportError:\n"
	"        pass\n"
	"runpy.run_module('pip', run_name='__main__', alter_sys=True)\n";

/* Prints the path of the wheel of pip that a Python brings for ensurepip; Debian's has it
 * elsewhere. Nothing is imported from another folder than Python's own. */
static const char find_bundled[] =
	"import sys\n"
	"sys.path[:] = [path for path in sys.path if path]\n"
	"import glob, os, sysconfig\n"
	"for folder in (os.path.join(os.path.dirname(os.__file__), 'ensurepip', '_bundled'),\n"
	"               sysconfig.get_config_var('WHEEL_PKG_DIR')):\n"
	"    wheels = folder and glob.glob(os.path.join(glob.escape(folder), 'pip-*.whl'))\n"
	"    if wheels:\n"
	"        print(max(wheels))\n"
	"        raise SystemExit\n"
	"raise SystemExit(1)\n";

struct pip {
	const struct pip_options *options;
	char *folder;               /* the absolute path of the options' folder */
	char *pythons[MAX_PYTHONS]; /* those of the active environment, of PATH and of uv */
	size_t count, at;           /* the Pythons before `at` have no pip, or no wheel of it */
	size_t bare;                /* Python has been asked for a wheel of pip before this one */
	bool bundled;               /* pip is Python's own wheel of it */
	char *wheel;                /* that of pythons[at]; NULL: not known */
	char active[16];            /* the environment's version, "3.11"; "" if unknown */
	bool active_first;          /* pythons[0] is the environment's */
	char *uv;                   /* NULL if there is no uv, or it has been asked */
	char *tmp, *wheels, *said, *asked; /* paths in the folder */
	char tags[MAX_TAGS][40];
	size_t tag_count;
	char *listed;             /* while it lists: "list" and names; else NULL */
	enum pip_lack lack;       /* the missing thing of the last failed download */
	struct jw_error distrust; /* why root does not run the first Python */
};

/* ---- which Python */

/* Reads the "3.11" of ".../python3.11/site-packages", or the version in its pyvenv.cfg. */
static int read_active_version(struct jw_error *err, const struct sites *sites, char version[16])
{
	static const char *const keys[] = {"version", "version_info"};

	for (size_t i = 0; i < sites->count && !*version; i++) {
		const char *at = strstr(sites->items[i].path, "/python3.");

		if (at)
			(void)snprintf(version, 16, "%.*s", (int)strspn(at + 7, "0123456789."), at + 7);
	}
	for (size_t i = 0; i < 2 && !*version; i++) {
		unsigned major, minor;
		char *value;

		if (pyvenv_value(err, sites->prefix, keys[i], &value))
			return -1;
		/* NOLINTNEXTLINE(cert-err34-c): so few digits cannot overflow */
		if (value && sscanf(value, "%2u.%3u", &major, &minor) == 2)
			(void)snprintf(version, 16, "%u.%u", major, minor);
		mem_free(value);
	}
	return 0;
}

/* Returns whether Python would load modules of the current folder; an empty part of PYTHONPATH
 * means that folder, too. */
static bool python_path_leads_here(void)
{
	char *list = os_env("PYTHONPATH"), *at = list && *list ? list : NULL;
	bool leads = false;

	while (at) {
		char *end = strchr(at, os_list_separator);

		if (end)
			*end = 0;
		leads = leads || !os_is_whole_path(at);
		at = end ? end + 1 : NULL;
	}
	mem_free(list);
	return leads;
}

/* Finds Pythons. A machine without Python may have uv, which sets a variable with its own path for
 * the programs that it starts (uvx). */
static int find_pythons(struct jw_error *err, struct pip *pip)
{
	static const char *const names[] = {"bin/python3", "bin/python", "Scripts/python.exe",
										"python.exe"};
	struct found_list list;
	struct sites sites = {0};
	struct jw_error why = {0};
	char *path = NULL;
	int result = 0;

	found_open(&list);
	list.cancel = pip->options->fetch->cancel;
	if (sites_find(&why, &list, &sites)) {
		result = why.code == JW_ERR_NOT_FOUND || why.code == JW_ERR_IO ? 0 : error_copy(err, &why);
	} else {
		for (size_t i = 0; !pip->count && i < sizeof names / sizeof *names; i++) {
			path = os_join(sites.prefix, names[i]);
			if (os_exists(path))
				pip->pythons[pip->count++] = path;
			else
				mem_free(path);
		}
		pip->active_first = pip->count > 0;
		result = read_active_version(err, &sites, pip->active);
	}
	jw_found_free(list.found);
	found_close(&list);
	sites_free(&sites);
	if (!result && !python_on_path(&why, &pip->options->fetch->cancel, &path)) {
		if (!os_is_whole_path(path) || (pip->count && !strcmp(pip->pythons[0], path)))
			mem_free(path);
		else
			pip->pythons[pip->count++] = path;
	}
	pip->uv = os_program_on_path("uv");
	if (!pip->uv && (pip->uv = os_env("UV")) &&
		(!os_is_whole_path(pip->uv) || !os_exists(pip->uv))) {
		mem_free(pip->uv);
		pip->uv = NULL;
	}
	return result;
}

/* ---- platform tags (PEP 600), those of newer systems first, since more wheels are built with
 * these */

static void add_tag(struct pip *pip, const char *system, unsigned minor, const char *machine)
{
	char *tag = pip->tags[pip->tag_count++];

	if (minor)
		(void)snprintf(tag, sizeof *pip->tags, "%s_2_%u_%s", system, minor, machine);
	else
		(void)snprintf(tag, sizeof *pip->tags, "%s_%s", system, machine);
}

static void list_tags(struct pip *pip)
{
	enum { NEWEST_GLIBC = 45, OLDEST = 17, OLDEST_X86 = 5 };
	static const struct {
		unsigned minor;
		const char *name;
	} named[] = {{17, "manylinux2014"}, {12, "manylinux2010"}, {5, "manylinux1"}};
	const char *platform = pip->options->platform;
	char machine[16];

	if (!platform)
		return;
	(void)snprintf(machine, sizeof machine, "%.*s", (int)strcspn(platform, "-"), platform);
	if (text_ends(platform, "-windows")) {
		add_tag(pip, "win", 0, !strcmp(machine, "x86_64") ? "amd64" : "arm64");
		return;
	}
	for (unsigned minor = NEWEST_GLIBC;
		 minor >= (strcmp(machine, "x86_64") != 0 ? OLDEST : OLDEST_X86); minor--) {
		add_tag(pip, "manylinux", minor, machine);
		for (size_t i = 0; i < sizeof named / sizeof *named; i++)
			if (named[i].minor == minor)
				add_tag(pip, named[i].name, 0, machine);
	}
	add_tag(pip, "linux", 0, machine);
}

/* ---- running pip */

static uint64_t reported_bytes(const struct pip *pip)
{
	struct buf text = {0};
	uint64_t size;

	if (os_read_file(NULL, pip->said, OS_MAX_OUTPUT, &text))
		return 0;
	size = pip_output_size(buf_text(&text));
	buf_free(&text);
	return size;
}

static void report_progress(void *context, uint64_t size_bytes)
{
	const struct pip *pip = context;
	const struct jw_compiler_fetch_options *fetch = pip->options->fetch;
	const uint64_t total = reported_bytes(pip);

	if (total)
		fetch->progress(fetch->context, size_bytes < total ? size_bytes : total, total);
}

static int fail_with_output(struct jw_error *err, const struct pip *pip,
							const struct os_ended *ended)
{
	struct buf said = {0};
	int result;

	(void)os_read_file(NULL, pip->said, OS_MAX_OUTPUT, &said);
	result = pip_output_error(err, buf_text(&said), "pip", pip->folder, ended);
	buf_free(&said);
	return result;
}

static int run_watched(struct jw_error *err, struct pip *pip, const char *const *words,
					   const char *runs_in, struct os_ended *ret_ended)
{
	const struct jw_compiler_fetch_options *fetch = pip->options->fetch;
	static struct os_patience patience = {.grace_s = OS_GRACE_S}; /* of the whole command */
	const struct os_helper helper = {.name = "pip",
									 .patience = &patience,
									 .folder = pip->tmp,
									 .runs_in = runs_in,
									 .most_bytes = MAX_BYTES,
									 .cancel = &fetch->cancel,
									 .on_size = fetch->progress ? report_progress : NULL,
									 .context = pip};

	if (os_run_helper(err, words, pip->said, &helper, ret_ended))
		return -1;
	if (helper.on_size && !ret_ended->status && !ret_ended->signal)
		report_progress(pip, UINT64_MAX); /* the last poll was before the end */
	return 0;
}

/* Adds a Python of uv's as the last one; none if uv has no other. uv runs in a folder of its own,
 * and reads no file of the current one, which may be anybody's. It fetches nothing. */
static int ask_uv_python(struct jw_error *err, struct pip *pip)
{
	const char *const words[] = {
		pip->uv,       "python",       "find",       "--system",
		"--no-config", "--no-project", "--no-cache", "--no-python-downloads",
		NULL};
	struct buf answer = {0};
	struct os_ended ended;
	int result = run_watched(err, pip, words, pip->folder, &ended);

	if (!result && !ended.status && !ended.signal)
		result = os_read_file(err, pip->said, OS_MAX_OUTPUT, &answer);
	mem_free(pip->uv);
	pip->uv = NULL;
	if (!result && answer.size) {
		const char *text = buf_text(&answer);
		char *python = mem_string_n(text, strcspn(text, "\r\n"));
		bool known = false;

		for (size_t i = 0; i < pip->count; i++)
			known = known || !strcmp(pip->pythons[i], python);
		if (known)
			mem_free(python);
		else
			pip->pythons[pip->count++] = python;
	}
	buf_free(&answer);
	return result;
}

/* Finds the wheel of pip that a Python brings. No other one is started: an index's would be code of
 * the index. *ret_wheel is NULL if there is none. */
static int find_wheel(struct jw_error *err, struct pip *pip, const char *python, char **ret_wheel)
{
	const char *const words[] = {python, "-IXutf8", "-c", find_bundled, NULL};
	struct buf answer = {0};
	struct os_ended ended;
	char *wheel = NULL;
	int result = run_watched(err, pip, words, ".", &ended);

	if (!result && !ended.status && !ended.signal)
		result = os_read_file(err, pip->said, OS_MAX_OUTPUT, &answer);
	if (!result && answer.size) {
		wheel = mem_string_n(buf_text(&answer), strcspn(buf_text(&answer), "\r\n"));
		result = os_guard(err, wheel);
	}
	buf_free(&answer);
	if (result)
		mem_free(wheel);
	else
		*ret_wheel = wheel;
	return result;
}

/* Runs pip; `words` are a command and its options. */
static int run_pip_by(struct jw_error *err, struct pip *pip, const char *python,
					  const char *const *words, struct os_ended *ret_ended)
{
	const struct pip_options *options = pip->options;
	const bool other = !(pip->active_first && python == pip->pythons[0]);
	const char *version = options->python ? options->python : other ? pip->active : "";
	const char *arguments[MAX_WORDS] = {python,
										pip->wheel                 ? "-IXutf8"
										: python_path_leads_here() ? "-EXutf8"
																   : "-Xutf8",
										"-c",
										start,
										pip->tmp,
										pip->wheel ? pip->wheel : "",
										pip->listed ? pip->listed : ""};
	const struct version last_m = {{3, 7}, 2};
	struct version numbers;
	const char *rest;
	char abi[24] = "cp";
	size_t count = 7;

	while (*words)
		arguments[count++] = *words++;
	for (size_t i = 0; i < pip->tag_count; i++) {
		arguments[count++] = "--platform";
		arguments[count++] = pip->tags[i];
	}
	if (options->any_python)
		arguments[count++] = "--ignore-requires-python";
	if (*version && !options->any_python) {
		for (const char *at = version; *at; at++)
			if (*at != '.')
				(void)snprintf(abi + strlen(abi), sizeof abi - strlen(abi), "%c", *at);
		/* Up to 3.7 the ABI is named after its allocator: cp37m (PEP 425). */
		if (version_read(version, &numbers, &rest) && version_order(&numbers, &last_m, 2) <= 0)
			text_append(abi, sizeof abi, "m");
		arguments[count++] = "--python-version";
		arguments[count++] = version;
		arguments[count++] = "--implementation";
		arguments[count++] = "cp";
		arguments[count++] = "--abi";
		arguments[count++] = abi;
	}
	arguments[count] = NULL;
	/* `start` leaves the current folder, in which it looks for the paths of variables. */
	return run_watched(err, pip, arguments, ".", ret_ended);
}

/* Goes on to the next Python that may have pip: first those that have it installed, then those that
 * bring a wheel of it, then uv's. False if there is none. */
static bool next_python(struct jw_error *err, struct pip *pip, int *ret_result)
{
	*ret_result = 0;
	if (pip->at == pip->count && !pip->bundled) {
		pip->bundled = true;
		pip->at = pip->bare;
		pip->bare = pip->count;
	}
	if (pip->at == pip->count && pip->uv) {
		*ret_result = ask_uv_python(err, pip);
		pip->bundled = pip->at == pip->count;
	}
	return !*ret_result && pip->at < pip->count;
}

static int run_pip(struct jw_error *err, struct pip *pip, const char *const *words)
{
	struct os_ended ended = {.status = NO_PIP};
	int result = 0;

	while (ended.status == NO_PIP && next_python(err, pip, &result)) {
		const char *python = pip->pythons[pip->at];
		struct jw_error why = {0};

		if (pip->bundled && !pip->wheel)
			result = find_wheel(&why, pip, python, &pip->wheel);
		if (!result && (pip->wheel || !pip->bundled))
			result = run_pip_by(&why, pip, python, words, &ended);
		if (result && why.code != JW_ERR_UNSUPPORTED)
			return error_copy(err, &why);
		if (result && !pip->distrust.code)
			pip->distrust = why;
		if (result)
			ended.status = NO_PIP;
		if (ended.status == NO_PIP) {
			mem_free(pip->wheel);
			pip->wheel = NULL;
			pip->at++;
		}
	}
	if (ended.status == NO_PIP && result)
		return -1;
	if (ended.status == NO_PIP)
		return pip->distrust.code
				   ? error_copy(err, &pip->distrust)
				   : error_set(
						 err, JW_ERR_NOT_FOUND,
						 "jitwarm asks package indexes through pip (python3 -m pip), and found "
						 "none: install it (“uv pip install pip”, or the system's package "
						 "python3-pip), or %s",
						 pip->options->by_hand);
	return ended.status || ended.signal ? fail_with_output(err, pip, &ended) : 0;
}

/* ---- pip's commands */

/* Asks once more, with all of pip's output, for the reason. */
static int find_lack(struct jw_error *err, struct pip *pip, const char **words, size_t count)
{
	struct jw_error why = {0};
	struct buf said = {0};

	words[count] = "-vv";
	words[count + 1] = "--retries=0";
	words[count + 2] = NULL;
	if (os_make_dirs(NULL, pip->tmp, 0700) || !run_pip(&why, pip, words))
		return -1;
	if (why.code == JW_ERR_INTERRUPTED)
		return error_copy(err, &why);
	(void)os_read_file(NULL, pip->said, OS_MAX_OUTPUT, &said);
	pip->lack = pip_output_lack(err, buf_text(&said));
	buf_free(&said);
	return -1;
}

/* The words of a command that gets no package's code, and their number. */
static size_t add_always(const struct pip *pip, const char **words, const char *const *command)
{
	static const char *const always[] = {
		"--no-deps",    "--only-binary=:all:",         "--no-cache-dir",
		"--no-input",   "--disable-pip-version-check", "--progress-bar=off",
		"--requirement"};
	size_t count = 0;

	while (*command)
		words[count++] = *command++;
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		words[count++] = always[i];
	words[count++] = pip->asked;
	words[count] = NULL;
	return count;
}

static int ask_pip(struct jw_error *err, struct pip *pip, const char *lines,
				   const char *const *command)
{
	const char *words[MAX_WORDS];
	struct jw_error why = {0};
	const size_t count = add_always(pip, words, command);
	int result;

	if (os_make_dirs(err, pip->tmp, 0700) || os_write_atomic(err, pip->asked, lines, strlen(lines)))
		return -1;
	pip->lack = PIP_LACKS_NOTHING;
	result = run_pip(&why, pip, words);
	if (result && why.code == JW_ERR_NOT_FOUND && pip->at < pip->count)
		result = find_lack(&why, pip, words, count);
	if (result)
		(void)error_copy(err, &why);
	(void)os_remove_tree(NULL, pip->tmp);
	return result;
}

/* No version is called so: pip lists the package's files, and finds none. */
static const char no_version[] = "==0+jitwarm";

int pip_list(struct jw_error *err, struct pip *pip, const char *package, const char *sized,
			 struct pip_listing *ret_listing)
{
	const char *const command[] = {"download", "-vv", "--dest", pip->wheels, NULL};
	const char *words[MAX_WORDS];
	struct pip_listing listing = {.index = NULL};
	struct jw_error why = {0};
	struct buf said = {0};
	char *lines = mem_printf("%s%s\n", package, no_version);
	int result;

	(void)add_always(pip, words, command);
	pip->listed = mem_printf("list %s", sized);
	pip->lack = PIP_LACKS_NOTHING;
	result =
		os_make_dirs(&why, pip->tmp, 0700) ||
		os_write_atomic(&why, pip->asked, lines, strlen(lines)) ||
		(run_pip(&why, pip, words) && (why.code != JW_ERR_NOT_FOUND || pip->at == pip->count)) ||
		os_read_file(&why, pip->said, OS_MAX_OUTPUT, &said);
	if (!result) {
		char *text = mem_string(buf_text(&said));

		pip_output_files(text, &listing);
		if (!listing.count) {
			text_replace(text, no_version, "");
			text_replace(why.message, no_version, "");
			pip->lack = pip_output_lack(&why, text);
			result = -1;
		}
		mem_free(text);
	}
	(void)os_remove_tree(NULL, pip->tmp);
	buf_free(&said);
	mem_free(pip->listed);
	pip->listed = NULL;
	mem_free(lines);
	if (result)
		return error_copy(err, &why);
	*ret_listing = listing;
	return 0;
}

void pip_listing_free(struct pip_listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		mem_free(listing->items[i].name);
		mem_free(listing->items[i].address);
	}
	mem_free(listing->items);
	mem_free(listing->index);
	*listing = (struct pip_listing){.index = NULL};
}

char *pip_downloaded(const struct pip *pip, const char *name)
{
	return os_join(pip->wheels, name);
}

int pip_download_all(struct jw_error *err, struct pip *pip, const char *lines,
					 struct os_names *ret_names)
{
	const char *const command[] = {"download", "--dest", pip->wheels, NULL};
	struct os_names names;
	bool sound = true;

	(void)os_remove_tree(NULL, pip->wheels);
	if (os_make_dirs(err, pip->wheels, 0700) || ask_pip(err, pip, lines, command) ||
		os_list(err, pip->wheels, &names))
		return -1;
	/* Each file must be a file itself, and no link to another one. */
	for (size_t i = 0; sound && i < names.count; i++) {
		char *path = pip_downloaded(pip, names.items[i]), *real = NULL;

		sound = names.kinds[i] == OS_REGULAR && text_ends(names.items[i], ".whl") &&
				!os_real_path(NULL, path, &real) && !strcmp(real, path);
		mem_free(real);
		mem_free(path);
	}
	if (!sound) {
		os_names_free(&names);
		return error_set(err, JW_ERR_FORMAT, "pip fetched no wheel");
	}
	*ret_names = names;
	return 0;
}

int pip_download(struct jw_error *err, struct pip *pip, const char *lines, char **ret_path)
{
	struct os_names names;
	char *path = NULL;

	if (pip_download_all(err, pip, lines, &names))
		return -1;
	if (names.count == 1)
		path = pip_downloaded(pip, names.items[0]);
	os_names_free(&names);
	if (!path)
		return error_set(err, JW_ERR_FORMAT, "pip fetched no wheel");
	*ret_path = path;
	return 0;
}

int pip_open(struct jw_error *err, const struct pip_options *options, struct pip **ret_pip)
{
	struct pip *pip = mem_alloc(sizeof *pip);

	*pip = (struct pip){.options = options};
	list_tags(pip);
	if (os_real_path(err, options->folder, &pip->folder))
		goto fail;
	pip->tmp = os_join(pip->folder, "tmp");
	pip->wheels = os_join(pip->folder, "wheels");
	pip->said = os_join(pip->folder, "said");
	pip->asked = os_join(pip->folder, "asked.txt");
	if (find_pythons(err, pip))
		goto fail;
	*ret_pip = pip;
	return 0;
fail:
	pip_close(pip);
	return -1;
}

enum pip_lack pip_lack(const struct pip *pip)
{
	return pip->lack;
}

void pip_close(struct pip *pip)
{
	if (!pip)
		return;
	for (size_t i = 0; i < pip->count; i++)
		mem_free(pip->pythons[i]);
	mem_free(pip->wheel);
	mem_free(pip->uv);
	mem_free(pip->folder);
	mem_free(pip->tmp);
	mem_free(pip->wheels);
	mem_free(pip->said);
	mem_free(pip->asked);
	mem_free(pip);
}
