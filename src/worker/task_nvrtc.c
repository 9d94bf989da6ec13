/* A worker with NVRTC: the job is a CUDA C source, the result a PTX file. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/nvrtc.h"
#include "os/file.h"
#include "os/library.h"
#include "worker/task.h"

enum { MOST_OPTIONS = 4096 };

struct nvrtc_task {
	char *library, *name, *output;
	char **options;
	size_t option_count;
	struct nvrtc nvrtc;
};

static void nvrtc_close(void *state)
{
	struct nvrtc_task *task = state;

	for (size_t i = 0; task->options && i < task->option_count; i++)
		mem_free(task->options[i]);
	mem_free(task->options);
	mem_free(task->library);
	mem_free(task->name);
	mem_free(task->output);
	mem_free(task);
}

/* Architectures are sent as devices. */
static void nvrtc_greet(void *state, struct protocol_hello *hello)
{
	struct nvrtc_task *task = state;
	struct nvrtc *nvrtc = &task->nvrtc;
	struct jw_error why = {0};
	char *path = NULL;

	memset(hello, 0, sizeof *hello);
	if (nvrtc_open(&why, task->library, nvrtc)) {
		hello->result = -1;
		TEXT_COPY(hello->error, why.message);
		return;
	}
	if (!os_library_path(NULL, nvrtc->library, "nvrtcVersion", &path))
		TEXT_COPY(hello->library, path);
	mem_free(path);
	hello->cuda = nvrtc->major * 1000 + nvrtc->minor * 10;
	for (size_t i = 0; i < nvrtc->arch_count && i < PROTOCOL_MOST_DEVICES; i++)
		hello->devices[hello->device_count++] =
			(struct protocol_device){.ordinal = (int)i, .target = {.sm = nvrtc->archs[i]}};
}

static void nvrtc_work(void *state, const struct protocol_job *job, struct buf *image,
					   struct protocol_answer *answer)
{
	struct nvrtc_task *task = state;
	const struct nvrtc_source source = {.text = buf_text(image),
										.name = task->name,
										.options = (const char *const *)task->options,
										.option_count = task->option_count};
	struct buf log = {0}, ptx = {0};
	struct jw_error why = {0};
	int result = 0;

	(void)job;
	answer->result = -1;
	if (nvrtc_compile(&why, &task->nvrtc, &source, &result, &log, &ptx) ||
		(!result && os_write_atomic(&why, task->output, buf_text(&ptx), ptx.size))) {
		TEXT_COPY(answer->error, why.message);
	} else {
		answer->result = result;
		if (result)
			TEXT_COPY(answer->error, nvrtc_error_name(&task->nvrtc, result));
	}
	TEXT_COPY(answer->log, buf_text(&log));
	buf_free(&log);
	buf_free(&ptx);
}

static int read_nvrtc_options(struct jw_error *err, const cJSON *array, struct nvrtc_task *task)
{
	const cJSON *item;

	if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) > MOST_OPTIONS)
		return error_set(err, JW_ERR_FORMAT, "a task without options");
	task->options = mem_array(err, (size_t)cJSON_GetArraySize(array), sizeof *task->options);
	if (!task->options)
		return -1;
	cJSON_ArrayForEach(item, array)
	{
		if (!cJSON_IsString(item))
			return error_set(err, JW_ERR_FORMAT, "an option that is not text");
		task->options[task->option_count] = mem_string(err, item->valuestring);
		if (!task->options[task->option_count++])
			return -1;
	}
	return 0;
}

int task_nvrtc(struct jw_error *err, const cJSON *document, struct task *ret_task)
{
	struct nvrtc_task *task = mem_alloc(err, sizeof *task);

	if (!task)
		return -1;
	task->library = mem_string(err, json_text(document, "library", ""));
	task->name = mem_string(err, json_text(document, "name", ""));
	task->output = mem_string(err, json_text(document, "output", ""));
	if (!task->library || !task->name || !task->output ||
		read_nvrtc_options(err, cJSON_GetObjectItemCaseSensitive(document, "options"), task)) {
		nvrtc_close(task);
		return -1;
	}
	*ret_task = (struct task){
		.state = task, .greet = nvrtc_greet, .work = nvrtc_work, .close = nvrtc_close};
	return 0;
}
