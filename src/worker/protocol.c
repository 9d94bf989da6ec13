#include "worker/protocol.h"

#include <math.h>
#include <string.h>

#include <sodium.h>

#include "base/text.h"

static const char *const form_names[] = {
	[CACHE_KEY_LOAD] = "load", [CACHE_KEY_LINK] = "link", [CACHE_KEY_TEXT] = "text"};

static int put_document(struct jw_error *err, struct buf *line, const cJSON *document)
{
	char *text = json_line(err, document);
	int result;

	if (!text)
		return -1;
	result = buf_append(err, line, text, strlen(text)) || buf_append(err, line, "\n", 1) ? -1 : 0;
	cJSON_free(text);
	return result;
}

/* An object with numbers and strings: cJSON's functions return NULL when memory is short, and
 * accept NULL. */
static int put_and_delete(struct jw_error *err, struct buf *line, cJSON *document, bool complete)
{
	int result = document && complete ? put_document(err, line, document)
									  : error_set(err, JW_ERR_MEMORY, "out of memory");

	cJSON_Delete(document);
	return result;
}

/* A name of a file may be any bytes, and a JSON text may not: "path", or {"hex": "70617468"}. */
static bool put_path(cJSON *object, const char *name, const char *path)
{
	char hex[2 * sizeof((struct protocol_job *)0)->path + 1];
	const size_t length = strlen(path);

	if (text_is_utf8(path, length))
		return cJSON_AddStringToObject(object, name, path);
	(void)sodium_bin2hex(hex, sizeof hex, (const uint8_t *)path, length);
	return cJSON_AddStringToObject(cJSON_AddObjectToObject(object, name), "hex", hex);
}

/* "" where there is none; false for one that is too long or damaged. */
static bool get_path(const cJSON *object, const char *name, char *room, size_t size)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
	const char *text = json_text(object, name, ""), *hex = json_text(member, "hex", NULL);
	size_t length = 0;

	if (!hex) {
		text_copy(room, size, text);
		return strlen(text) < size;
	}
	if (sodium_hex2bin((uint8_t *)room, size - 1, hex, strlen(hex), NULL, &length, NULL))
		return false;
	room[length] = '\0';
	return strlen(room) == length;
}

int protocol_put_job(struct jw_error *err, struct buf *line, const struct protocol_job *job)
{
	cJSON *object = cJSON_CreateObject();
	bool complete = cJSON_AddNumberToObject(object, "job", (double)job->id) &&
					cJSON_AddNumberToObject(object, "device", job->device) &&
					cJSON_AddStringToObject(object, "form", form_names[job->form]) &&
					put_path(object, "path", job->path) &&
					cJSON_AddNumberToObject(object, "offset", (double)job->offset) &&
					cJSON_AddNumberToObject(object, "size_bytes", (double)job->size_bytes) &&
					(!job->spare_bytes ||
					 cJSON_AddNumberToObject(object, "spare_bytes", (double)job->spare_bytes)) &&
					(!job->output[0] || put_path(object, "output", job->output)) &&
					cJSON_AddNumberToObject(object, "entry_offset", (double)job->entry_offset);

	return put_and_delete(err, line, object, complete);
}

/* One line as an object that has the member `name`, or NULL. */
static cJSON *get(struct jw_error *err, const char *line, size_t size, const char *name)
{
	cJSON *object = json_parse(err, line, size);

	if (!object)
		return NULL;
	if (cJSON_IsObject(object) && cJSON_HasObjectItem(object, name))
		return object;
	cJSON_Delete(object);
	error_set(err, JW_ERR_FORMAT, "a message without \"%s\"", name);
	return NULL;
}

/* A CUresult; -1 for anything else. */
static int get_result(const cJSON *object, const char *name)
{
	double result = json_number(object, name, -1);

	return fabs(result) < 1e6 ? (int)result : -1;
}

int protocol_get_job(struct jw_error *err, const char *line, size_t size,
					 struct protocol_job *ret_job)
{
	cJSON *object = get(err, line, size, "job");
	struct protocol_job job = {0};
	const char *form;
	int result = -1;

	if (!object)
		return -1;
	form = json_text(object, "form", "");
	job.id = json_count(object, "job");
	job.device = (int)(json_count(object, "device") % PROTOCOL_MOST_DEVICES);
	job.offset = json_count(object, "offset");
	job.size_bytes = json_count(object, "size_bytes");
	job.spare_bytes = json_count(object, "spare_bytes");
	job.entry_offset = json_count(object, "entry_offset");
	while (job.form <= CACHE_KEY_TEXT && strcmp(form_names[job.form], form) != 0)
		job.form++;
	if (job.form > CACHE_KEY_TEXT || !get_path(object, "path", job.path, sizeof job.path) ||
		!*job.path || !get_path(object, "output", job.output, sizeof job.output)) {
		error_set(err, JW_ERR_FORMAT, "not a job");
		goto done;
	}
	*ret_job = job;
	result = 0;
done:
	cJSON_Delete(object);
	return result;
}

cJSON *protocol_devices_to_json(struct jw_error *err, const struct protocol_device *devices,
								size_t count)
{
	cJSON *array = cJSON_CreateArray();
	bool complete = array != NULL;

	for (size_t i = 0; complete && i < count; i++) {
		const struct protocol_device *d = &devices[i];
		cJSON *object = cJSON_CreateObject();

		complete = cJSON_AddNumberToObject(object, "ordinal", d->ordinal) &&
				   cJSON_AddNumberToObject(object, "sm", d->target.sm) &&
				   cJSON_AddStringToObject(object, "name", d->name) &&
				   cJSON_AddStringToObject(object, "bus", d->bus) &&
				   cJSON_AddStringToObject(object, "uuid", d->uuid) &&
				   cJSON_AddNumberToObject(object, "memory_bytes", (double)d->memory_bytes) &&
				   cJSON_AddNumberToObject(object, "compute_mode", d->compute_mode);
		cJSON_AddItemToArray(array, object);
	}
	if (!complete) {
		error_set(err, JW_ERR_MEMORY, "out of memory");
		cJSON_Delete(array);
		return NULL;
	}
	return array;
}

int protocol_devices_from_json(struct jw_error *err, const cJSON *array,
							   struct protocol_device *devices, size_t *ret_count)
{
	const cJSON *object;
	size_t count = 0;

	if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) > PROTOCOL_MOST_DEVICES)
		return error_set(err, JW_ERR_FORMAT, "not a list of devices");
	cJSON_ArrayForEach(object, array)
	{
		struct protocol_device d = {0};
		uint64_t sm = json_count(object, "sm");

		if (sm < 10 || sm > 999)
			return error_set(err, JW_ERR_FORMAT, "a device without compute capability");
		d.ordinal = (int)(json_count(object, "ordinal") % PROTOCOL_MOST_DEVICES);
		d.target.sm = (uint16_t)sm;
		d.memory_bytes = json_count(object, "memory_bytes");
		d.compute_mode = (int)(json_count(object, "compute_mode") % 16);
		TEXT_COPY(d.name, json_text(object, "name", ""));
		TEXT_COPY(d.bus, json_text(object, "bus", ""));
		TEXT_COPY(d.uuid, json_text(object, "uuid", ""));
		devices[count++] = d;
	}
	*ret_count = count;
	return 0;
}

int protocol_put_hello(struct jw_error *err, struct buf *line, const struct protocol_hello *hello)
{
	cJSON *object = cJSON_CreateObject(),
		  *devices = protocol_devices_to_json(err, hello->devices, hello->device_count);
	bool complete = devices && cJSON_AddNumberToObject(object, "hello", hello->result) &&
					cJSON_AddStringToObject(object, "error", hello->error) &&
					cJSON_AddStringToObject(object, "library", hello->library) &&
					cJSON_AddNumberToObject(object, "cuda", hello->cuda);

	if (!cJSON_AddItemToObject(object, "devices", devices)) {
		complete = false;
		cJSON_Delete(devices);
	}
	return put_and_delete(err, line, object, complete);
}

int protocol_get_hello(struct jw_error *err, const char *line, size_t size,
					   struct protocol_hello *ret_hello)
{
	cJSON *object = get(err, line, size, "hello");
	int result = -1;

	if (!object)
		return -1;
	memset(ret_hello, 0, sizeof *ret_hello);
	ret_hello->result = get_result(object, "hello");
	ret_hello->cuda = (uint32_t)(json_count(object, "cuda") % 1000000);
	TEXT_COPY(ret_hello->error, json_text(object, "error", ""));
	TEXT_COPY(ret_hello->library, json_text(object, "library", ""));
	result = protocol_devices_from_json(err, cJSON_GetObjectItemCaseSensitive(object, "devices"),
										ret_hello->devices, &ret_hello->device_count);
	cJSON_Delete(object);
	return result;
}

int protocol_put_answer(struct jw_error *err, struct buf *line,
						const struct protocol_answer *answer)
{
	cJSON *object = cJSON_CreateObject();
	bool complete = cJSON_AddNumberToObject(object, "answer", (double)answer->id) &&
					cJSON_AddNumberToObject(object, "result", answer->result) &&
					cJSON_AddBoolToObject(object, "sticky", answer->sticky) &&
					cJSON_AddBoolToObject(object, "no_context", answer->no_context) &&
					cJSON_AddNumberToObject(object, "wall_ms", answer->wall_ms) &&
					cJSON_AddNumberToObject(object, "cpu_ms", answer->cpu_ms) &&
					cJSON_AddNumberToObject(object, "peak_bytes", (double)answer->peak_bytes) &&
					cJSON_AddStringToObject(object, "error", answer->error) &&
					cJSON_AddStringToObject(object, "log", answer->log);

	return put_and_delete(err, line, object, complete);
}

static double get_ms(const cJSON *object, const char *name)
{
	double ms = json_number(object, name, 0);

	return ms >= 0 && ms < 1e12 ? ms : 0;
}

int protocol_get_answer(struct jw_error *err, const char *line, size_t size,
						struct protocol_answer *ret_answer)
{
	cJSON *object = get(err, line, size, "answer");

	if (!object)
		return -1;
	memset(ret_answer, 0, sizeof *ret_answer);
	ret_answer->id = json_count(object, "answer");
	ret_answer->result = get_result(object, "result");
	ret_answer->sticky = json_bool(object, "sticky", false);
	ret_answer->no_context = json_bool(object, "no_context", false);
	ret_answer->wall_ms = get_ms(object, "wall_ms");
	ret_answer->cpu_ms = get_ms(object, "cpu_ms");
	ret_answer->peak_bytes = json_count(object, "peak_bytes");
	TEXT_COPY(ret_answer->error, json_text(object, "error", ""));
	TEXT_COPY(ret_answer->log, json_text(object, "log", ""));
	cJSON_Delete(object);
	return 0;
}
