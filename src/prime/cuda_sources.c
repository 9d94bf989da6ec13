#include <jitwarm/find.h>
#include <jitwarm/nvrtc.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "code/ptx.h"
#include "code/release.h"
#include "code/rules.h"
#include "driver/child.h"
#include "driver/driver_session.h"
#include "driver/run_folder.h"
#include "driver/task.h"
#include "os/file.h"

enum {
	LIMIT_S = 900, /* a source with much of Thrust in it takes a minute */
	PTX_HEAD = 4096,
};

struct jw_nvrtc_inner {
	struct jw_nvrtc_options options;
	struct run_folder folder;
	unsigned count; /* the number of results so far */
};

/* Runs NVRTC; `arch` is an additional option, or "". */
static int ask_nvrtc(struct jw_error *err, const struct jw_nvrtc *nvrtc, const char *name,
					 const char *arch, const char *output, const struct protocol_job *job,
					 struct protocol_hello *ret_hello, struct protocol_answer *ret_answer)
{
	struct jw_nvrtc_inner *inner = nvrtc->inner;
	struct driver_query ask = {.worker = inner->options.worker,
							   .cache_dir = inner->folder.path,
							   .job = job,
							   .limit_s = LIMIT_S,
							   .cancel = &inner->options.cancel};
	cJSON *document = cJSON_CreateObject(), *options = cJSON_CreateArray();
	char *task = NULL;
	int result;

	(void)cJSON_AddStringToObject(document, "compiler", "nvrtc");
	(void)cJSON_AddStringToObject(document, "library", nvrtc->library);
	(void)cJSON_AddStringToObject(document, "name", name);
	(void)cJSON_AddStringToObject(document, "output", output);
	for (size_t i = 0; i < inner->options.option_count; i++)
		(void)cJSON_AddItemToArray(options, cJSON_CreateString(inner->options.options[i]));
	if (*arch)
		(void)cJSON_AddItemToArray(options, cJSON_CreateString(arch));
	(void)cJSON_AddItemToObject(document, "options", options);
	if (task_write(err, inner->folder.path, document, &task))
		return -1;
	ask.task = task;
	result = driver_query(err, &ask, ret_hello, ret_answer);
	mem_free(task);
	if (result)
		return -1;
	return ret_hello->result ? error_set(err, JW_ERR_UNSUPPORTED, "%s", ret_hello->error) : 0;
}

int jw_nvrtc_open(struct jw_error *err, const struct jw_nvrtc_options *options,
				  struct jw_nvrtc **ret_nvrtc)
{
	struct protocol_hello hello = {0};
	struct jw_nvrtc_inner *inner;
	struct jw_nvrtc *nvrtc;
	char *path = NULL;

	if (child_check_command(err, options->worker))
		return -1;
	/* If no NVRTC is found, the system's linker may know one. */
	if (jw_find_nvrtc(options->where ? err : NULL, options->where, &path) && options->where)
		return -1;
	nvrtc = mem_alloc(sizeof *nvrtc);
	inner = nvrtc->inner = mem_alloc(sizeof *inner);
	inner->options = *options;
	if (path && strlen(path) >= sizeof nvrtc->library) {
		error_set(err, JW_ERR_LIMIT, "%s: its path is too long", path);
		goto failed;
	}
	if (path)
		TEXT_COPY(nvrtc->library, path);
	if (run_folder_make(err, options->state_dir, &inner->folder) ||
		ask_nvrtc(err, nvrtc, "", "", "", NULL, &hello, NULL))
		goto failed;
	mem_free(path);
	TEXT_COPY(nvrtc->library, hello.library);
	nvrtc->major = hello.cuda / 1000;
	nvrtc->minor = hello.cuda % 1000 / 10;
	for (size_t i = 0; i < hello.device_count; i++)
		nvrtc->archs[nvrtc->arch_count++] = hello.devices[i].target;
	*ret_nvrtc = nvrtc;
	return 0;
failed:
	mem_free(path);
	jw_nvrtc_close(nvrtc);
	return -1;
}

void jw_nvrtc_close(struct jw_nvrtc *nvrtc)
{
	if (!nvrtc)
		return;
	run_folder_remove(&nvrtc->inner->folder);
	mem_free(nvrtc->inner);
	mem_free(nvrtc);
}

/* Returns "compute_86" for "--gpu-architecture=compute_86", "-arch=…" or two consecutive options;
 * NULL if the options name no architecture. */
static const char *arch_given(const struct jw_nvrtc_options *options)
{
	static const char *const names[] = {"--gpu-architecture", "-arch", "--arch"};
	const char *found = NULL;

	for (size_t i = 0; i < options->option_count; i++)
		for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
			size_t length = strlen(names[k]);

			if (!text_starts(options->options[i], names[k]))
				continue;
			if (options->options[i][length] == '=')
				found = options->options[i] + length + 1;
			else if (!options->options[i][length] && i + 1 < options->option_count)
				found = options->options[i + 1];
		}
	return found;
}

static const char *span(const struct jw_nvrtc *nvrtc, char text[64])
{
	char first[JW_TARGET_TEXT], last[JW_TARGET_TEXT];

	text[0] = '\0';
	if (nvrtc->arch_count)
		(void)text_format(text, 64, "%s to %s", jw_target_compute(first, nvrtc->archs[0]),
						  jw_target_compute(last, nvrtc->archs[nvrtc->arch_count - 1]));
	return text;
}

static int check_given(struct jw_error *err, const struct jw_nvrtc *nvrtc, const char *arch)
{
	struct jw_target target;
	char text[64];

	if (text_starts(arch, "sm_") || text_starts(arch, "lto_"))
		return error_set(err, JW_ERR_USAGE,
						 "with %s NVRTC makes no PTX for the driver to compile: there is nothing "
						 "to prime",
						 arch);
	if (!text_starts(arch, "compute_") || !jw_target_parse(arch, &target))
		return error_set(err, JW_ERR_USAGE, "“%s” is not an architecture; try compute_86", arch);
	for (size_t i = 0; i < nvrtc->arch_count; i++)
		if (nvrtc->archs[i].sm == target.sm)
			return 0;
	return error_set(err, JW_ERR_UNSUPPORTED, "NVRTC %u.%u does not know %s: it compiles for %s",
					 nvrtc->major, nvrtc->minor, arch, span(nvrtc, text));
}

/* Chooses the newest architecture that the GPU runs. */
static int choose_nvrtc_arch(struct jw_error *err, const struct jw_nvrtc *nvrtc,
							 struct jw_target device, char arch[JW_TARGET_TEXT])
{
	size_t best = SIZE_MAX;
	char name[JW_TARGET_TEXT], text[64];

	for (size_t i = 0; i < nvrtc->arch_count; i++)
		if (gpu_ptx_fits(nvrtc->archs[i], device))
			best = i;
	if (best == SIZE_MAX)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "NVRTC %u.%u compiles for %s, not for %s: name another NVRTC with --nvrtc",
						 nvrtc->major, nvrtc->minor, span(nvrtc, text), jw_target_sm(name, device));
	(void)jw_target_compute(arch, nvrtc->archs[best]);
	return 0;
}

/* Finds the first line that mentions an error, else the first line. */
static void first_error(const char *log, char *line, size_t size)
{
	const char *at = strstr(log, "error");
	size_t length;

	while (at && at > log && at[-1] != '\n')
		at--;
	if (!at)
		at = log + strspn(log, "\n");
	length = strcspn(at, "\n");
	(void)snprintf(line, size, "%.*s", (int)(length < 400 ? length : 400), at);
}

/* Refuses PTX that the driver cannot read: the other NVRTC that programs use makes other PTX. */
static int read_compiled_header(struct jw_error *err, const struct jw_nvrtc *nvrtc,
								struct jw_nvrtc_result *made)
{
	const struct jw_driver *driver = &nvrtc->inner->options.driver;
	struct devcode_ptx_header header;
	struct os_file *file;
	char head[PTX_HEAD], text[JW_DRIVER_TEXT];
	size_t got = 0;
	int result;

	if (os_file_open(err, made->ptx, OS_OPEN_READ, &file))
		return -1;
	result = os_file_read(err, file, 0, head, sizeof head, &got);
	os_file_close(file);
	if (result)
		return -1;
	if (!got)
		return error_set(
			err, JW_ERR_USAGE,
			"NVRTC made no PTX with these options (-dlto?): there is nothing to prime");
	if (ptx_header_read(err, head, got, &header))
		return -1;
	made->isa_major = header.isa_major;
	made->isa_minor = header.isa_minor;
	if (gpu_isa_compare((struct gpu_isa){header.isa_major, header.isa_minor},
						gpu_driver_isa(driver)) > 0)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "NVRTC %u.%u writes PTX %u.%u, which is too new for driver %s: name "
						 "another NVRTC with --nvrtc",
						 nvrtc->major, nvrtc->minor, header.isa_major, header.isa_minor,
						 jw_driver_text(text, driver));
	return 0;
}

static int compile_cuda_source(struct jw_error *err, struct jw_nvrtc *nvrtc, const char *source,
							   struct jw_nvrtc_result *result)
{
	struct protocol_hello hello = {0};
	struct protocol_answer answer = {0};
	struct protocol_job job = {0};
	struct jw_nvrtc_inner *inner = nvrtc->inner;
	const char *name = inner->options.name ? inner->options.name : os_base_name(source);
	char option[JW_TARGET_TEXT + 32] = "", line[512];
	struct os_stat stat;
	char *output;

	if (os_stat(err, source, &stat))
		return -1;
	if (strlen(source) >= sizeof job.path)
		return error_set(err, JW_ERR_LIMIT, "its path is too long");
	job = (struct protocol_job){.form = CACHE_KEY_TEXT, .size_bytes = stat.size_bytes};
	TEXT_COPY(job.path, source);
	if (!arch_given(&inner->options))
		(void)snprintf(option, sizeof option, "--gpu-architecture=%s", result->arch);
	output = mem_printf("%s/%u-%s.%s.ptx", inner->folder.path, inner->count++, os_base_name(source),
						result->arch);
	if (ask_nvrtc(err, nvrtc, name, option, output, &job, &hello, &answer)) {
		mem_free(output);
		return -1;
	}
	result->log = mem_string(answer.log);
	if (answer.result) {
		mem_free(output);
		first_error(answer.log, line, sizeof line);
		return error_set(err, JW_ERR_FORMAT, "NVRTC %u.%u does not compile it: %s", nvrtc->major,
						 nvrtc->minor, *line ? line : answer.error);
	}
	result->ptx = output;
	return 0;
}

int jw_nvrtc_compile(struct jw_error *err, struct jw_nvrtc *nvrtc, const char *source,
					 struct jw_target device, struct jw_nvrtc_result *ret_result)
{
	const char *given = arch_given(&nvrtc->inner->options);

	*ret_result = (struct jw_nvrtc_result){0};
	if (given)
		TEXT_COPY(ret_result->arch, given);
	if ((given ? check_given(err, nvrtc, given)
			   : choose_nvrtc_arch(err, nvrtc, device, ret_result->arch)) ||
		compile_cuda_source(err, nvrtc, source, ret_result) ||
		read_compiled_header(err, nvrtc, ret_result)) {
		mem_free(ret_result->ptx);
		ret_result->ptx = NULL;
		return error_prefix(err, "%s", source);
	}
	return 0;
}

void jw_nvrtc_result_free(struct jw_nvrtc_result *result)
{
	mem_free(result->ptx);
	mem_free(result->log);
	*result = (struct jw_nvrtc_result){0};
}
