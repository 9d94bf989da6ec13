#include "find/pip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "find/pip_answer.h"
#include "find/python.h"
#include "find/sites.h"
#include "os/env.h"
#include "os/file.h"
#include "os/process.h"

#include "index_zst.h"

enum { MAX_PYTHONS = 3, UV_MS = 10000 };

/* the most bytes that pip may have downloaded while it runs */
#define MAX_BYTES (UINT64_C(16) << 30)

struct pip {
	const struct pip_options *options;
	struct os_helper helper;
	struct os_answering *answering; /* index.py; NULL: not started, or ended */
	char *pythons[MAX_PYTHONS];     /* those of the active environment, of PATH and of uv */
	size_t count, at;               /* the Pythons before `at` have no pip */
	char active[16];                /* the environment's version, "3.11"; "" if unknown */
	bool active_first;              /* pythons[0] is the environment's */
	char *uv;                       /* NULL if there is no uv, or it has been asked */
	char *folder, *tmp, *wheels;    /* the absolute path of the options' folder, and paths in it */
	struct pip_answer answer;       /* to the question that is open */
	enum pip_lack lack;             /* the missing thing of the last failed question */
	struct jw_error refused;        /* why the first Python is not used */
};

/* ---- which Python */

/* Reads the "3.11" of ".../python3.11/site-packages", or the version in its pyvenv.cfg. */
static int read_active_version(struct jw_error *err, struct sites *sites, char version[16])
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

		if (pyvenv_value(err, sites, sites->prefix, keys[i], &value))
			return -1;
		/* NOLINTNEXTLINE(cert-err34-c): so few digits cannot overflow */
		if (value && sscanf(value, "%2u.%3u", &major, &minor) == 2)
			(void)snprintf(version, 16, "%u.%u", major, minor);
	}
	return 0;
}

/* Finds Pythons. A machine without Python may have uv, which sets a variable with its own path for
 * the programs that it starts (uvx). */
static int find_pythons(struct jw_error *err, struct pip *pip)
{
	static const char *const names[] = {"bin/python3", "bin/python", "Scripts/python.exe",
										"python.exe"};
	struct found_list list;
	struct sites *sites = NULL;
	struct jw_error why = {0};
	char *path;
	int result = 0;

	found_open(&list);
	list.cancel = pip->options->fetch->cancel;
	if (sites_find(&why, &list, &sites)) {
		result = why.code == JW_ERR_NOT_FOUND || why.code == JW_ERR_IO ? 0 : error_copy(err, &why);
	} else {
		for (size_t i = 0; !pip->count && i < sizeof names / sizeof *names; i++) {
			path = arena_keep(pip, os_join(sites->prefix, names[i]));
			if (os_exists(path))
				pip->pythons[pip->count++] = path;
		}
		pip->active_first = pip->count > 0;
		result = read_active_version(err, sites, pip->active);
	}
	jw_result_free(list.found);
	found_close(&list);
	jw_result_free(sites);
	if (!result && !python_on_path(&why, pip, &pip->options->fetch->cancel, &path) &&
		os_is_whole_path(path) && !(pip->count && !strcmp(pip->pythons[0], path)))
		pip->pythons[pip->count++] = path;
	pip->uv = arena_keep(pip, os_program_on_path("uv"));
	if (!pip->uv && (pip->uv = arena_keep(pip, os_env("UV"))) &&
		(!os_is_whole_path(pip->uv) || !os_exists(pip->uv)))
		pip->uv = NULL;
	return result;
}

/* ---- running index.py */

static void report_progress(void *context, uint64_t size_bytes)
{
	const struct pip *pip = context;
	const struct jw_compiler_fetch_options *fetch = pip->options->fetch;
	const uint64_t total = pip->answer.total_bytes;

	fetch->progress(fetch->context, size_bytes < total ? size_bytes : total, total);
}

/* Adds a Python of uv's as the last one; none if uv has no other. uv runs in a folder of its own,
 * and reads no file of the current one, which may be anybody's. It fetches nothing. */
static int ask_uv_python(struct jw_error *err, struct pip *pip)
{
	const char *const words[] = {
		pip->uv,       "python",       "find",       "--system",
		"--no-config", "--no-project", "--no-cache", "--no-python-downloads",
		NULL};
	struct buf answer = BUF_MAX(1 << 16);
	const struct os_question question = {.arguments = words,
										 .folder = pip->folder,
										 .timeout_ms = UV_MS,
										 .cancel = &pip->options->fetch->cancel,
										 .answer = &answer};
	struct jw_error why = {0};
	int status = 0, result = 0;

	if (os_ask_found_program(&why, &question, &status))
		result = why.code == JW_ERR_INTERRUPTED || why.code == JW_ERR_UNSUPPORTED
					 ? error_copy(err, &why)
					 : 0;
	else if (!status && answer.size) {
		char *python =
			arena_keep(pip, mem_string_n(buf_text(&answer), strcspn(buf_text(&answer), "\r\n")));
		bool known = false;

		for (size_t i = 0; i < pip->count; i++)
			known = known || !strcmp(pip->pythons[i], python);
		if (!known)
			pip->pythons[pip->count++] = python;
	}
	pip->uv = NULL;
	buf_free(&answer);
	return result;
}

static int take_answer(struct jw_error *err, void *context, char *line)
{
	struct pip *pip = context;

	return pip_answer_read(err, &pip->answer, line, pip->folder);
}

static int fail_ended(struct jw_error *err, const struct pip *pip, const struct os_ended *ended)
{
	const char *python = pip->pythons[pip->at];

	return ended->signal
			   ? error_set(err, JW_ERR_IO, "%s: pip was ended by signal %d", python, ended->signal)
			   : error_set(err, JW_ERR_IO,
						   "%s ended with status %d instead of an answer; “%s -m pip --version” "
						   "may show why",
						   python, ended->status, python);
}

/* Asks, and waits for the whole answer. index.py goes on after a failure that it names. */
static int ask(struct jw_error *err, struct pip *pip, const char *question)
{
	struct os_ended ended = {.status = -1};
	int result;

	pip->answer.failure = (struct jw_error){0};
	pip->answer.lack = PIP_LACKS_NOTHING;
	result = os_answering_ask(err, pip->answering, question, take_answer, pip, &ended);
	if (result) {
		os_answering_stop(pip->answering);
		pip->answering = NULL;
	}
	pip->lack = pip->answer.lack;
	if (result && ended.status != -1)
		return fail_ended(err, pip, &ended);
	if (!result && pip->helper.on_size && pip->answer.total_bytes)
		report_progress(pip, pip->answer.total_bytes); /* the last poll was before the end */
	return result ? -1 : pip->answer.failure.code ? error_copy(err, &pip->answer.failure) : 0;
}

/* Starts index.py in a Python. JW_ERR_UNSUPPORTED if it has no pip that answers. */
static int start(struct jw_error *err, struct pip *pip, const char *python)
{
	const struct pip_options *options = pip->options;
	const bool other = !(pip->active_first && python == pip->pythons[0]);
	cJSON *how;
	char program[index_zst_SIZE + 1] = "", *text;
	int result;

	if (ZSTD_isError(ZSTD_decompress(program, index_zst_SIZE, index_zst, sizeof index_zst)))
		return error_set(err, JW_ERR_FORMAT, "index.py in this program is damaged");
	how = cJSON_CreateObject();
	json_add_text(how, "wheels", pip->wheels);
	json_add_text(how, "temporary", pip->tmp);
	json_add_text(how, "platform", options->platform ? options->platform : "");
	json_add_text(how, "python", options->python ? options->python : other ? pip->active : "");
	(void)cJSON_AddBoolToObject(how, "any_python", options->any_python);
	text = json_line(how);
	cJSON_Delete(how);
	/* The current folder may be somebody's project: -I keeps its modules out. */
	const char *const words[] = {python, "-I", "-Xutf8", "-c", program, text, NULL};

	result = os_answering_start(err, words, &pip->helper, &pip->answering) || ask(err, pip, NULL);
	cJSON_free(text);
	return result ? -1 : 0;
}

/* Starts index.py in the first Python with pip. */
static int start_any(struct jw_error *err, struct pip *pip)
{
	if (os_make_dirs(err, pip->tmp, 0700) || os_make_dirs(err, pip->wheels, 0700))
		return -1;
	for (;; pip->at++) {
		struct jw_error why = {0};

		if (pip->at == pip->count && pip->uv && ask_uv_python(&why, pip) &&
			why.code == JW_ERR_INTERRUPTED)
			return error_copy(err, &why);
		if (pip->at == pip->count)
			break;
		if (!start(&why, pip, pip->pythons[pip->at]))
			return 0;
		os_answering_stop(pip->answering);
		pip->answering = NULL;
		if (why.code == JW_ERR_INTERRUPTED || why.code == JW_ERR_LIMIT)
			return error_copy(err, &why);
		if (!pip->refused.code && strcmp(why.message, "no pip") != 0)
			(void)error_set(&pip->refused, JW_ERR_UNSUPPORTED, "%s%s%s",
							strstr(why.message, pip->pythons[pip->at]) ? "" : pip->pythons[pip->at],
							strstr(why.message, pip->pythons[pip->at]) ? "" : ": ", why.message);
	}
	pip->at = 0; /* the next question tries again */
	return pip->refused.code
			   ? error_copy(err, &pip->refused)
			   : error_set(err, JW_ERR_NOT_FOUND,
						   "jitwarm asks package indexes through pip (python3 -m pip), and found "
						   "none: install it (“uv pip install pip”, or the system's package "
						   "python3-pip), or %s",
						   pip->options->by_hand);
}

/* Asks a question, and frees it. pip->answer has the answer. */
static int ask_pip(struct jw_error *err, struct pip *pip, cJSON *question)
{
	char *line = json_line(question);
	int result = 0;

	cJSON_Delete(question);
	pip->lack = PIP_LACKS_NOTHING;
	pip->answer.total_bytes = 0;
	if (!pip->answering)
		result = start_any(err, pip);
	if (!result)
		result = ask(err, pip, line);
	cJSON_free(line);
	return result;
}

static cJSON *new_question(const char *kind)
{
	cJSON *question = cJSON_CreateObject();

	json_add_text(question, "do", kind);
	return question;
}

/* ---- questions */

/* Gives the answer's listing away if there is one. */
static int hand_over(struct pip *pip, int result, struct pip_listing *ret_listing)
{
	if (!result) {
		*ret_listing = pip->answer.listing;
		pip->answer.listing = (struct pip_listing){.index = NULL};
	}
	pip_answer_free(&pip->answer);
	return result;
}

int pip_list(struct jw_error *err, struct pip *pip, const char *package,
			 struct pip_listing *ret_listing)
{
	cJSON *question = new_question("list");

	json_add_text(question, "name", package);
	return hand_over(pip, ask_pip(err, pip, question), ret_listing);
}

/* Asks for more about wheels of a listing. */
static int ask_more(struct jw_error *err, struct pip *pip, const char *kind, const char *names,
					struct pip_listing *listing)
{
	cJSON *question = new_question(kind);
	int result;

	json_add_text(question, "files", names);
	pip->answer.listing = *listing;
	result = ask_pip(err, pip, question);
	*listing = pip->answer.listing;
	pip->answer.listing = (struct pip_listing){.index = NULL};
	pip_answer_free(&pip->answer);
	return result;
}

int pip_sizes(struct jw_error *err, struct pip *pip, const char *names, struct pip_listing *listing)
{
	return ask_more(err, pip, "sizes", names, listing);
}

int pip_requires(struct jw_error *err, struct pip *pip, const char *names,
				 struct pip_listing *listing)
{
	return ask_more(err, pip, "requires", names, listing);
}

int pip_get(struct jw_error *err, struct pip *pip, const char *options, const char *lines,
			struct pip_listing *ret_got)
{
	cJSON *question = new_question("get");

	json_add_text(question, "options", options);
	json_add_text(question, "lines", lines);
	(void)os_remove_tree(NULL, pip->wheels);
	if (os_make_dirs(err, pip->wheels, 0700)) {
		cJSON_Delete(question);
		return -1;
	}
	return hand_over(pip, ask_pip(err, pip, question), ret_got);
}

int pip_get_one(struct jw_error *err, struct pip *pip, const char *options, const char *line,
				char **ret_path)
{
	struct pip_listing got;
	int result;

	if (pip_get(err, pip, options, line, &got))
		return -1;
	result = got.count == 1 ? 0 : error_set(err, JW_ERR_FORMAT, "pip fetched no wheel");
	if (!result)
		*ret_path = pip_got(pip, got.items[0].name);
	pip_listing_free(&got);
	return result;
}

char *pip_got(const struct pip *pip, const char *name)
{
	return os_join(pip->wheels, name);
}

int pip_open(struct jw_error *err, const struct pip_options *options, struct pip **ret_pip)
{
	static struct os_patience patience = {.grace_s = OS_GRACE_S}; /* of the whole command */
	struct pip *pip = arena_open(sizeof *pip);

	*pip = (struct pip){.options = options};
	if (os_real_path(err, options->folder, &pip->folder))
		goto fail;
	(void)arena_keep(pip, pip->folder);
	pip->tmp = arena_keep(pip, os_join(pip->folder, "tmp"));
	pip->wheels = arena_keep(pip, os_join(pip->folder, "wheels"));
	/* index.py leaves the current folder, in which it looks for the paths of variables. */
	pip->helper = (struct os_helper){.name = "pip",
									 .patience = &patience,
									 .folder = pip->folder,
									 .runs_in = ".",
									 .most_bytes = MAX_BYTES,
									 .cancel = &options->fetch->cancel,
									 .on_size = options->fetch->progress ? report_progress : NULL,
									 .context = pip};
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
	os_answering_stop(pip->answering);
	pip_answer_free(&pip->answer);
	jw_result_free(pip);
}
