/* A worker with nvJitLink: the job is containers, one behind the other, the result their linked
 * code in the job's output.
 *
 *     {"compiler": "nvjitlink", "library": "/…/libnvJitLink.so.12", "target": "sm_86"}
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/nvjitlink.h"
#include "os/file.h"
#include "os/library.h"
#include "worker/task.h"

struct nvjitlink_task {
	char *library;
	struct jw_target target;
	struct nvjitlink nvjitlink;
};

static void nvjitlink_close(void *state)
{
	struct nvjitlink_task *task = state;

	mem_free(task->library);
	mem_free(task);
}

static void nvjitlink_greet(void *state, struct protocol_hello *hello)
{
	struct nvjitlink_task *task = state;
	struct jw_error why = {0};

	memset(hello, 0, sizeof *hello);
	if (nvjitlink_open(&why, task->library, &task->nvjitlink)) {
		hello->result = -1;
		TEXT_COPY(hello->error, why.message);
		return;
	}
	TEXT_COPY(hello->library, task->library);
	hello->cuda = task->nvjitlink.cuda;
	hello->devices[hello->device_count++] = (struct protocol_device){.target = task->target};
}

static void nvjitlink_work(void *state, const struct protocol_job *job, struct buf *image,
						   struct protocol_answer *answer)
{
	struct nvjitlink_task *task = state;
	const struct nvjitlink_input input = {
		.target = task->target, .containers = image->data, .size = image->size};
	struct buf log = {0}, cubin = {0};
	struct jw_error why = {0};
	int result = 0;

	answer->result = -1;
	if (nvjitlink_link(&why, &task->nvjitlink, &input, &result, &log, &cubin) ||
		(!result && os_write_atomic(&why, job->output, cubin.data, cubin.size))) {
		TEXT_COPY(answer->error, why.message);
	} else {
		answer->result = result;
		if (result)
			(void)snprintf(answer->error, sizeof answer->error, "nvJitLink's error %d", result);
	}
	TEXT_COPY(answer->log, buf_text(&log));
	buf_free(&log);
	buf_free(&cubin);
}

int task_nvjitlink(struct jw_error *err, const cJSON *document, struct task *ret_task)
{
	struct nvjitlink_task *task = mem_alloc(err, sizeof *task);

	if (!task)
		return -1;
	task->library = mem_string(err, json_text(document, "library", ""));
	if (!task->library) {
		nvjitlink_close(task);
		return -1;
	}
	if (!jw_target_parse(json_text(document, "target", ""), &task->target)) {
		nvjitlink_close(task);
		return error_set(err, JW_ERR_FORMAT, "not an architecture");
	}
	*ret_task = (struct task){
		.state = task, .greet = nvjitlink_greet, .work = nvjitlink_work, .close = nvjitlink_close};
	return 0;
}
