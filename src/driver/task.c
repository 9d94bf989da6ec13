#include "driver/task.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "code/container.h"
#include "code/target_names.h"
#include "driver/protocol.h"
#include "driver/ptxas.h"
#include "os/env.h"
#include "os/file.h"

enum { MAX_TASK = 1 << 20 };

int task_open(struct jw_error *err, struct task *ret_task)
{
	char *path = os_env(WORKER_TASK);
	struct buf text = {0};
	cJSON *document = NULL;
	const char *compiler;
	int result = -1;

	if (!path)
		return 0;
	if (os_read_file(err, path, MAX_TASK, &text) ||
		!(document = json_parse(err, buf_text(&text), text.size)))
		goto done;
	compiler = json_text(document, "compiler", "");
	if (!strcmp(compiler, "nvrtc"))
		result = task_nvrtc(err, document, ret_task);
	else if (!strcmp(compiler, "ptxas"))
		result = task_ptxas(err, document, ret_task);
	else
		error_set(err, JW_ERR_FORMAT, "no compiler is called “%.40s”", compiler);
	if (!result)
		(void)os_env_set(NULL, WORKER_TASK, NULL);
done:
	cJSON_Delete(document);
	buf_free(&text);
	mem_free(path);
	return result;
}

int task_write(struct jw_error *err, const char *folder, cJSON *document, char **ret_path)
{
	char *text = json_line(document);
	char *path = os_join(folder, "task.json");
	const int result = os_write_atomic(err, path, text, strlen(text));

	if (result)
		mem_free(path);
	else
		*ret_path = path;
	cJSON_free(text);
	cJSON_Delete(document);
	return result;
}

/* A worker that runs ptxas and leaves the entry in its private cache that the driver would have
 * left.
 *
 *     {"compiler": "ptxas", "program": "/…/ptxas", "stamp": "Apr  8 202512:10:18",
 *      "targets": [86, 89]} */

enum { MAX_ENTRIES = 1 << 16 };

struct ptxas_task {
	char *program;
	char *folder; /* the private cache directory */
	struct cache_profile profile;
	struct jw_target targets[PROTOCOL_MAX_DEVICES];
	size_t target_count;
	struct buf payload, log, cubin, entry;
};

/* The PTX of a job: its text as in the key, and its options. */
struct module {
	struct devcode_view payload;
	char options[CACHE_KEY_MAX_OPTIONS + 1];
	bool bare; /* stored raw without a NUL, so the key has none (plan/picks.c) */
};

static void ptxas_close(void *state)
{
	struct ptxas_task *task = state;

	buf_free(&task->payload);
	buf_free(&task->log);
	buf_free(&task->cubin);
	buf_free(&task->entry);
	mem_free(task->program);
	mem_free(task->folder);
	mem_free(task);
}

static void ptxas_greet(void *state, struct protocol_hello *hello)
{
	struct ptxas_task *task = state;

	memset(hello, 0, sizeof *hello);
	TEXT_COPY(hello->library, task->program);
	hello->cuda = task->profile.driver.cuda;
	for (size_t i = 0; i < task->target_count; i++)
		hello->devices[hello->device_count++] =
			(struct protocol_device){.ordinal = (int)i, .target = task->targets[i]};
}

static int take_ptx(struct jw_error *err, struct ptxas_task *task,
					const struct devcode_container *container, const struct devcode_entry *entry,
					struct module *module)
{
	struct devcode_view *payload = &module->payload;

	if (entry->options_length > CACHE_KEY_MAX_OPTIONS)
		return error_set(err, JW_ERR_LIMIT, "its options have %u bytes", entry->options_length);
	task->payload.most = DEVCODE_MAX_PAYLOAD;
	if (devcode_payload(err, container, entry, &task->payload, payload))
		return -1;
	/* For kind 0x40 the driver uses the text up to its NUL and no options, for the key and for the
	 * compile: measured on 555, where ptxas -c without options gives the same bytes. */
	if (entry->kind == DEVCODE_KIND_RELOCATABLE_PTX) {
		payload->size = cache_key_payload(CACHE_KEY_TEXT, payload->data, payload->size);
		module->options[0] = '\0';
		return 0;
	}
	memcpy(module->options, container->bytes + entry->options_offset, entry->options_length);
	module->options[entry->options_length] = '\0';
	module->bare = entry->compression == DEVCODE_RAW && payload->size == entry->stored_bytes;
	return 0;
}

static int find_ptx(struct jw_error *err, struct ptxas_task *task, const struct buf *image,
					uint64_t offset, struct module *module)
{
	struct devcode_container container = {.bytes = image->data, .size_bytes = image->size};
	struct container_walk walk = {0};
	struct devcode_entry *entries;
	int result = -1;

	if (container_check(&walk, image->data, image->size, image->size) != CONTAINER_SOUND ||
		walk.entries > MAX_ENTRIES)
		return error_set(err, JW_ERR_FORMAT, "not a sound container");
	entries = mem_array(walk.entries, sizeof *entries);
	container_entries(image->data, walk.size_bytes, 0, entries, walk.entries);
	for (size_t i = 0; i < walk.entries; i++)
		if (entries[i].offset == offset && devcode_kind_is_ptx(entries[i].kind)) {
			result = take_ptx(err, task, &container, &entries[i], module);
			goto done;
		}
	error_set(err, JW_ERR_FORMAT, "no PTX at offset %llu of its container",
			  (unsigned long long)offset);
done:
	mem_free(entries);
	return result;
}

/* Writes the entry that the driver would have written. */
static int store(struct jw_error *err, struct ptxas_task *task, struct jw_target device,
				 enum cache_key_form form, const struct module *module)
{
	char text[CACHE_KEY_MAX_TAIL], start[CACHE_KEY_MAX_START + 1];
	const char *tail = text + module->bare;
	size_t tail_length =
		cache_key_tail(text, form, module->options, strlen(module->options)) - module->bare;
	size_t body_length = cache_key_payload(form, module->payload.data, module->payload.size);
	size_t start_length =
		cache_key_write_start(start, task->profile.stamp, (struct jw_target){.sm = device.sm});
	uint64_t key_bytes = start_length + body_length + tail_length;
	uint64_t body =
		fnv_update(fnv_update(FNV_START, start, start_length), module->payload.data, body_length);
	uint64_t key = fnv_update(body, tail, tail_length);
	uint8_t header[CACHE_ENTRY_HEADER];
	char *path = cache_entry_path(task->folder, key);
	struct buf *entry = &task->entry;
	int result = -1;

	cache_entry_header(header, key_bytes, task->cubin.size,
					   fnv_update(FNV_START, task->cubin.data, task->cubin.size));
	buf_clear(entry);
	entry->most = CACHE_MAX_ENTRY;
	if (!buf_append(err, entry, header, sizeof header) &&
		!buf_append(err, entry, start, start_length) &&
		!buf_append(err, entry, module->payload.data, body_length) &&
		!buf_append(err, entry, tail, tail_length) &&
		!buf_append(err, entry, task->cubin.data, task->cubin.size) &&
		!os_make_parent(err, path, 0700))
		result = os_write_atomic(err, path, entry->data, entry->size);
	mem_free(path);
	return result;
}

static int compile_ptx(struct jw_error *err, struct ptxas_task *task,
					   const struct protocol_job *job, const struct buf *image,
					   struct protocol_answer *answer)
{
	static struct module module;
	struct ptxas_job compile = {.program = task->program,
								.folder = task->folder,
								.link = job->form == CACHE_KEY_LINK,
								.options = module.options};
	struct ptxas_outcome outcome;
	struct jw_target device;

	if ((size_t)job->device >= task->target_count)
		return error_set(err, JW_ERR_USAGE, "no device %d", job->device);
	module = (struct module){.payload = {image->data, image->size}};
	if (job->form != CACHE_KEY_TEXT && find_ptx(err, task, image, job->entry_offset, &module))
		return -1;
	device = task->targets[job->device];
	compile.target = gpu_jit_target(device, task->profile.driver.cuda);
	compile.ptx = module.payload.data;
	compile.ptx_bytes = cache_key_payload(job->form, module.payload.data, module.payload.size);
	buf_clear(&task->log);
	buf_clear(&task->cubin);
	if (ptxas_compile(err, &compile, &outcome, &task->log, &task->cubin))
		return -1;
	answer->result = outcome.refused;
	answer->cpu_ms = outcome.cpu_ms;
	if (outcome.peak_bytes > answer->peak_bytes)
		answer->peak_bytes = outcome.peak_bytes;
	TEXT_COPY(answer->error, outcome.error);
	TEXT_COPY(answer->log, buf_text(&task->log));
	return outcome.refused ? 0 : store(err, task, device, job->form, &module);
}

static void ptxas_work(void *state, const struct protocol_job *job, struct buf *image,
					   struct protocol_answer *answer)
{
	struct jw_error why = {0};

	if (!compile_ptx(&why, state, job, image, answer))
		return;
	answer->result = -1;
	TEXT_COPY(answer->error, why.message);
}

int task_ptxas(struct jw_error *err, const cJSON *document, struct task *ret_task)
{
	const cJSON *targets = cJSON_GetObjectItemCaseSensitive(document, "targets"), *item;
	struct ptxas_task *task = mem_alloc(sizeof *task);

	task->folder = os_env("CUDA_CACHE_PATH");
	task->program = mem_string(json_text(document, "program", ""));
	TEXT_COPY(task->profile.stamp, json_text(document, "stamp", ""));
	if (!task->folder || !task->profile.stamp[0]) {
		error_set(err, JW_ERR_FORMAT, "not a task for ptxas");
		goto fail;
	}
	if (!cJSON_IsArray(targets) || cJSON_GetArraySize(targets) > PROTOCOL_MAX_DEVICES) {
		error_set(err, JW_ERR_FORMAT, "a task without targets");
		goto fail;
	}
	cJSON_ArrayForEach(item, targets)
	{
		if (!cJSON_IsNumber(item) || !(item->valuedouble >= 10 && item->valuedouble <= 999)) {
			error_set(err, JW_ERR_FORMAT, "not an architecture");
			goto fail;
		}
		task->targets[task->target_count++].sm = (uint16_t)item->valuedouble;
	}
	*ret_task = (struct task){
		.state = task, .greet = ptxas_greet, .work = ptxas_work, .close = ptxas_close};
	return 0;
fail:
	ptxas_close(task);
	return -1;
}

int task_write_ptxas(struct jw_error *err, const struct plan *plan, const char *ptxas,
					 const char *folder, char **ret_task)
{
	cJSON *object = cJSON_CreateObject(), *targets;

	json_add_text(object, "compiler", "ptxas");
	json_add_text(object, "program", ptxas);
	json_add_text(object, "stamp", plan->profile.stamp);
	targets = cJSON_AddArrayToObject(object, "targets");
	for (size_t i = 0; i < plan->target_count; i++)
		(void)cJSON_AddItemToArray(targets, cJSON_CreateNumber(plan->targets[i].device.sm));
	return task_write(err, folder, object, ret_task);
}
