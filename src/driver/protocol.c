#include "driver/protocol.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/json_table.h"
#include "base/mem.h"
#include "base/text.h"

static const char *const form_names[] = {[CACHE_KEY_LOAD] = "load",
										 [CACHE_KEY_LINK] = "link",
										 [CACHE_KEY_TEXT] = "text",
										 [CACHE_KEY_TEXT + 1] = NULL};

/* ---- the messages; the first row of a table distinguishes its message from the others */

#define FIELD(type, name, member) JSON_AS(name, struct type, member, NULL)

static const struct json_field job_fields[] = {
	FIELD(protocol_job, "job", id),
	FIELD(protocol_job, "device", device),
	JSON_AS("form", struct protocol_job, form, NULL, .names = form_names),
	JSON_OF(JSON_PATH, "path", struct protocol_job, path, .text = NULL),
	FIELD(protocol_job, "offset", offset),
	FIELD(protocol_job, "size_bytes", size_bytes),
	JSON_AS("spare_bytes", struct protocol_job, spare_bytes, NULL, .presence = JSON_IF_SET),
	JSON_OF(JSON_PATH, "output", struct protocol_job, output, .presence = JSON_IF_SET),
	FIELD(protocol_job, "entry_offset", entry_offset),
	{0},
};
static const struct json_table job_table = {.fields = job_fields};

static const struct json_field device_fields[] = {
	FIELD(protocol_device, "ordinal", ordinal),
	FIELD(protocol_device, "sm", target.sm),
	FIELD(protocol_device, "name", name),
	FIELD(protocol_device, "bus", bus),
	FIELD(protocol_device, "uuid", uuid),
	FIELD(protocol_device, "memory_bytes", memory_bytes),
	FIELD(protocol_device, "compute_mode", compute_mode),
	{0},
};

/* The message's own result and errors are read and written beside the tables. */
static const struct json_field driver_fields[] = {
	FIELD(protocol_hello, "library", library),
	FIELD(protocol_hello, "cuda", cuda),
	JSON_INSIDE_OF("devices", struct protocol_hello, devices, device_count, NULL,
				   .table = JSON_TABLE(struct protocol_device, device_fields),
				   .most = PROTOCOL_MAX_DEVICES),
	{0},
};
const struct json_table protocol_driver = {.fields = driver_fields};
static const struct json_field hello_fields[] = {
	FIELD(protocol_hello, "hello", result), JSON_SAME(&protocol_driver), {0}};
static const struct json_table hello_table = {.fields = hello_fields};

static const struct json_field answer_fields[] = {
	FIELD(protocol_answer, "answer", id),
	FIELD(protocol_answer, "result", result),
	FIELD(protocol_answer, "sticky", sticky),
	FIELD(protocol_answer, "no_context", no_context),
	FIELD(protocol_answer, "wall_ms", wall_ms),
	FIELD(protocol_answer, "cpu_ms", cpu_ms),
	FIELD(protocol_answer, "peak_bytes", peak_bytes),
	FIELD(protocol_answer, "log", log),
	{0},
};
static const struct json_table answer_table = {.fields = answer_fields};

/* ---- lines */

static void get_error(const cJSON *object, char *error, size_t size)
{
	const char *translation = json_text(object, "translation", NULL);

	text_copy(error, size, json_text(object, "error", ""));
	if (translation && text_language)
		text_language->learn(error, translation);
}

/* Appends a message as a line. `error`, which may be NULL, is in English and, if the worker has its
 * user's language, also in that language. */
static int put(struct jw_error *err, struct buf *line, const struct json_table *table,
			   const void *values, const char *error)
{
	cJSON *object = json_object(table, values);
	char *translation = error && text_language ? text_language->translation(error) : NULL;
	char *text;
	int result;

	if (error)
		json_add_text(object, "error", error);
	if (translation)
		json_add_text(object, "translation", translation);
	text = json_line(object);
	result = buf_printf(err, line, "%s\n", text);
	cJSON_free(text);
	cJSON_Delete(object);
	mem_free(translation);
	return result;
}

/* Fills the zeroed struct; NULL if it is no such message. The caller deletes the object. */
static cJSON *get(struct jw_error *err, const char *line, size_t size,
				  const struct json_table *table, void *values)
{
	const char *name = table->fields[0].name;
	cJSON *object = json_parse(err, line, size);

	if (object && !cJSON_GetObjectItemCaseSensitive(object, name))
		error_set(err, JW_ERR_FORMAT, "a message without \"%s\"", name);
	else if (object && !json_take(err, NULL, object, table, values))
		return object;
	cJSON_Delete(object);
	return NULL;
}

/* Returns a CUresult, or -1 for anything else. */
static int get_result(const cJSON *object, const char *name)
{
	double result = json_number(object, name, -1);

	return fabs(result) < 1e6 ? (int)result : -1;
}

static int get_ordinal(int number)
{
	return number > 0 ? number % PROTOCOL_MAX_DEVICES : 0;
}

int protocol_put_job(struct jw_error *err, struct buf *line, const struct protocol_job *job)
{
	return put(err, line, &job_table, job, NULL);
}

int protocol_get_job(struct jw_error *err, const char *line, size_t size,
					 struct protocol_job *ret_job)
{
	struct protocol_job job = {0};
	cJSON *object = get(err, line, size, &job_table, &job);

	if (!object)
		return -1;
	cJSON_Delete(object);
	if (!*job.path)
		return error_set(err, JW_ERR_FORMAT, "not a job");
	job.device = get_ordinal(job.device);
	*ret_job = job;
	return 0;
}

int protocol_check_devices(struct jw_error *err, struct protocol_hello *hello)
{
	hello->cuda %= 1000000;
	for (size_t i = 0; i < hello->device_count; i++) {
		struct protocol_device *device = &hello->devices[i];

		if (device->target.sm < 10 || device->target.sm > 999)
			return error_set(err, JW_ERR_FORMAT, "a device without compute capability");
		device->ordinal = get_ordinal(device->ordinal);
		device->compute_mode = device->compute_mode > 0 ? device->compute_mode % 16 : 0;
	}
	return 0;
}

int protocol_put_hello(struct jw_error *err, struct buf *line, const struct protocol_hello *hello)
{
	return put(err, line, &hello_table, hello, hello->error);
}

int protocol_get_hello(struct jw_error *err, const char *line, size_t size,
					   struct protocol_hello *ret_hello)
{
	cJSON *object;

	memset(ret_hello, 0, sizeof *ret_hello);
	object = get(err, line, size, &hello_table, ret_hello);
	if (!object)
		return -1;
	ret_hello->result = get_result(object, "hello");
	get_error(object, ret_hello->error, sizeof ret_hello->error);
	cJSON_Delete(object);
	return protocol_check_devices(err, ret_hello);
}

int protocol_put_answer(struct jw_error *err, struct buf *line,
						const struct protocol_answer *answer)
{
	return put(err, line, &answer_table, answer, answer->error);
}

static double get_ms(double ms)
{
	return ms >= 0 && ms < 1e12 ? ms : 0;
}

int protocol_get_answer(struct jw_error *err, const char *line, size_t size,
						struct protocol_answer *ret_answer)
{
	cJSON *object;

	memset(ret_answer, 0, sizeof *ret_answer);
	object = get(err, line, size, &answer_table, ret_answer);
	if (!object)
		return -1;
	ret_answer->result = get_result(object, "result");
	ret_answer->wall_ms = get_ms(ret_answer->wall_ms);
	ret_answer->cpu_ms = get_ms(ret_answer->cpu_ms);
	get_error(object, ret_answer->error, sizeof ret_answer->error);
	cJSON_Delete(object);
	return 0;
}
