#include "driver/ptxas.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "driver/child.h"
#include "os/child_variables.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/private.h"
#include "os/process.h"

enum { MAX_ARGUMENTS = 256 };

/* ---- which version */

/* Reads "Cuda compilation tools, release 12.4, V12.4.131". */
static bool read_release(const char *text, uint32_t *ret_cuda)
{
	const char *at = strstr(text, "release ");
	unsigned major = 0, minor = 0;

	/* NOLINTNEXTLINE(cert-err34-c): so few digits cannot overflow */
	if (!strstr(text, "ptxas") || !at || sscanf(at, "release %3u.%2u", &major, &minor) != 2)
		return false;
	*ret_cuda = major * 1000 + minor * 10;
	return true;
}

/* Runs ptxas, whose program is the first argument, in a private folder, which gets its temporary
 * files: ptxas -c makes files with foreseeable names, and writes through symlinks (measured with
 * 12.4). */
static int run_ptxas(struct jw_error *err, const char *const *arguments, const char *folder,
					 const char *output, struct os_ended *ret_ended)
{
	const struct child_variable temporary = {"TMPDIR", folder};
	char **environment;
	int result = -1;

	if (os_guard(err, arguments[0]))
		return -1;
	environment = child_variables_passed(err, &temporary, 1);
	if (environment)
		result = os_run(err, arguments, environment, folder, output, ret_ended);
	jw_result_free(environment);
	return result;
}

int ptxas_version(struct jw_error *err, const char *program, uint32_t *ret_cuda)
{
	const char *const arguments[] = {program, "--version", NULL};
	char *folder, *output;
	struct buf text = {0};
	struct os_ended ended;
	int result;

	if (os_make_temp_dir(err, "jitwarm-ptxas", &folder))
		return -1;
	output = os_join(folder, "answer");
	result = run_ptxas(err, arguments, folder, output, &ended);
	if (!result)
		result = os_read_file(err, output, PTXAS_MAX_LOG, &text);
	if (!result && (ended.signal || ended.status))
		buf_clear(&text);
	(void)os_remove_tree(NULL, folder);
	if (!result && !read_release(buf_text(&text), ret_cuda))
		result = error_set(err, JW_ERR_UNSUPPORTED, "%s: does not say which ptxas it is", program);
	buf_free(&text);
	mem_free(output);
	mem_free(folder);
	return result;
}

/* The files and arguments of one compile. */
struct call {
	char *source, *output, *log;
	char *options;
	const char *arguments[MAX_ARGUMENTS];
	size_t count;
};

static void call_free(struct call *call)
{
	char **files[] = {&call->source, &call->output, &call->log};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (*files[i])
			(void)os_remove(NULL, *files[i]);
		mem_free(*files[i]);
	}
	mem_free(call->options);
}

static int add_ptxas_argument(struct jw_error *err, struct call *call, const char *argument)
{
	if (call->count + 1 >= MAX_ARGUMENTS)
		return error_set(err, JW_ERR_LIMIT, "too many options");
	call->arguments[call->count++] = argument;
	return 0;
}

/* Returns whether an option of ptxas names no file. Whoever made the library chose its options, and
 * ptxas reads and writes the files that some options name, also options that no help lists
 * (--compiler-stats-file, --fdevice-time-trace). So only these are passed on: the options that
 * “ptxas --help” of 11.8 and 12.5 lists and that name no file, input or GPU. Those with “=” take a
 * value, which may be the next word; any other word without a dash is an input, also that after
 * “-O” (measured with 12.4). */
static bool names_no_file(const char *word, size_t length, bool *value_follows)
{
	static const char names[] =
		":allow-expensive-optimizations=:astoolspatch:c:compile-as-tools-patch:"
		"compile-only:def-load-cache=:def-store-cache=:device-debug:"
		"device-function-maxrregcount=:disable-optimizer-constants:disable-optimizer-consts:"
		"disable-warnings:dlcm=:dont-merge-basicblocks:dscm=:e=:entry=:ewp:"
		"extensible-whole-program:flcm=:fmad=:force-load-cache=:force-store-cache=:fscm=:"
		"func-maxrregcount=:g:generate-line-info:legacy-bar-warp-wide-behavior:lineinfo:m=:m64:"
		"machine=:make-errors-visible-at-exit:maxntid=:maxrregcount=:minnctapersm=:no-bb-merge:"
		"O0:O1:O2:O3:O4:opt-fp-atomics:opt-level=:optimize-float-atomics:"
		"override-directive-values:pic=:position-independent-code=:preserve-relocs:"
		"register-usage-level=:regUsageLevel=:ret-end:return-at-end:sp-bounds-check:"
		"suppress-async-bulk-multicast-advisory-warning:suppress-debug-info:"
		"suppress-double-demote-warning:suppress-stack-size-warning:v:verbose:w:"
		"warn-double-usage:warn-lmem-usage:warn-on-double-precision-use:"
		"warn-on-local-memory-usage:warn-on-spills:warn-spills:warning-as-error:Werror:";
	const char *name = word + strspn(word, "-");
	const bool value = name == word && *value_follows;
	size_t name_length = strcspn(name, "=: \t");
	char listed[TEXT_SHORT * 2];

	*value_follows = false;
	if (name == word)
		return value && strcspn(word, "/\\") >= length;
	if (name_length > TEXT_SHORT)
		return false;
	(void)snprintf(listed, sizeof listed, ":%.*s=:", (int)name_length, name);
	*value_follows = strstr(names, listed) && word + length == name + name_length;
	if (strstr(names, listed))
		return true;
	(void)snprintf(listed, sizeof listed, ":%.*s:", (int)name_length, name);
	return strstr(names, listed) != NULL;
}

const char *ptxas_option_with_file(const char *options, size_t *ret_length)
{
	bool value_follows = false;
	size_t length;

	for (const char *word = options; *(word += strspn(word, " \t")); word += length) {
		length = strcspn(word, " \t");
		if (names_no_file(word, length, &value_follows))
			continue;
		if (ret_length)
			*ret_length = length;
		return word;
	}
	return NULL;
}

/* Splits the entry's option string, which consists of words and blanks. */
static int add_options(struct jw_error *err, struct call *call)
{
	for (char *at = call->options; *(at += strspn(at, " \t"));) {
		char *word = at;

		at += strcspn(at, " \t");
		if (*at)
			*at++ = '\0';
		if (add_ptxas_argument(err, call, word))
			return -1;
	}
	return 0;
}

static int prepare(struct jw_error *err, const struct ptxas_job *job, const char *arch,
				   struct call *call)
{
	const char *text = job->ptx;
	size_t size = job->ptx_bytes;

	while (size && !text[size - 1])
		size--;
	call->source = os_join(job->folder, "module.ptx");
	call->output = os_join(job->folder, "module.cubin");
	call->log = os_join(job->folder, "module.log");
	call->options = mem_string(job->options);
	if (os_write_atomic(err, call->source, text, size) ||
		add_ptxas_argument(err, call, job->program) || add_ptxas_argument(err, call, arch) ||
		(job->link && add_ptxas_argument(err, call, "-c")) || add_options(err, call) ||
		add_ptxas_argument(err, call, call->source) || add_ptxas_argument(err, call, "-o") ||
		add_ptxas_argument(err, call, call->output))
		return -1;
	return 0;
}

int ptxas_compile(struct jw_error *err, const struct ptxas_job *job,
				  struct ptxas_outcome *ret_outcome, struct buf *log, struct buf *cubin)
{
	char name[JW_TARGET_TEXT], arch[JW_TARGET_TEXT + 8], text[TEXT_SHORT];
	struct call call = {0};
	struct os_ended ended;
	int result = -1;

	(void)snprintf(arch, sizeof arch, "-arch=%s", jw_target_sm(name, job->target));
	if (prepare(err, job, arch, &call) ||
		run_ptxas(err, call.arguments, job->folder, call.log, &ended) ||
		os_read_file(err, call.log, PTXAS_MAX_LOG, log))
		goto done;
	*ret_outcome = (struct ptxas_outcome){.refused = ended.status || ended.signal,
										  .peak_bytes = ended.peak_bytes,
										  .cpu_ms = ended.cpu_ms};
	if (ended.signal)
		(void)text_format(ret_outcome->error, sizeof ret_outcome->error, "ptxas was %s",
						  child_signal_text(text, sizeof text, ended.signal));
	else if (ended.status)
		(void)text_format(ret_outcome->error, sizeof ret_outcome->error,
						  "ptxas ended with status %d", ended.status);
	result = ret_outcome->refused ? 0 : os_read_file(err, call.output, PTXAS_MAX_CUBIN, cubin);
done:
	call_free(&call);
	return result;
}
