#include "worker/protocol.h"

#include <math.h>
#include <string.h>

#include <sodium.h>

#include "base/json.h"
#include "base/mem.h"
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

/* An object with numbers and strings: cJSON returns NULL when memory is short, and accepts NULL */
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

/* An error in English and, if the worker has its user's language, in that. */
static bool put_error(cJSON *object, const char *error)
{
	char *said = text_language ? text_language->translation(error) : NULL;
	const bool put = !json_add_text(NULL, object, "error", error) &&
					 (!said || !json_add_text(NULL, object, "translation", said));

	mem_free(said);
	return put;
}

static void get_error(const cJSON *object, char *error, size_t size)
{
	const char *said = json_text(object, "translation", NULL);

	text_copy(error, size, json_text(object, "error", ""));
	if (said && text_language)
		text_language->learn(error, said);
}

int protocol_put_hello(struct jw_error *err, struct buf *line, const struct protocol_hello *hello)
{
	cJSON *object = cJSON_CreateObject(),
		  *devices = protocol_devices_to_json(err, hello->devices, hello->device_count);
	bool complete = devices && cJSON_AddNumberToObject(object, "hello", hello->result) &&
					put_error(object, hello->error) &&
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
	get_error(object, ret_hello->error, sizeof ret_hello->error);
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
					put_error(object, answer->error) &&
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
	get_error(object, ret_answer->error, sizeof ret_answer->error);
	TEXT_COPY(ret_answer->log, json_text(object, "log", ""));
	cJSON_Delete(object);
	return 0;
}

static int put_object_line(struct jw_error *err, struct buf *line, cJSON *object, bool complete)
{
	char *text = complete ? json_line(err, object) : NULL;
	int result = -1;

	if (!complete)
		error_set(err, JW_ERR_MEMORY, "out of memory");
	else if (text)
		result = buf_printf(err, line, "%s\n", text);
	cJSON_free(text);
	cJSON_Delete(object);
	return result;
}

static bool add_some_text(cJSON *object, const char *name, const char *text)
{
	return !text || cJSON_AddStringToObject(object, name, text);
}

static bool add_hosts(cJSON *object, const struct jw_share_options *options)
{
	cJSON *array = cJSON_AddArrayToObject(object, "hosts");
	bool complete = array != NULL;

	for (size_t i = 0; complete && i < options->insecure_host_count && i < OBJECT_MOST_HOSTS; i++)
		complete = cJSON_AddItemToArray(array, cJSON_CreateString(options->insecure_hosts[i]));
	return complete;
}

int object_put_setup(struct jw_error *err, struct buf *line, const struct object_setup *setup)
{
	const struct jw_share_options *options = setup->options;
	const struct jw_driver_info *driver = &setup->system->driver;
	const struct jw_driver *version = &driver->version;
	cJSON *object = cJSON_CreateObject();
	bool complete = add_some_text(object, "place", options->place) &&
					add_some_text(object, "folder", setup->folder) &&
					add_some_text(object, "cache", setup->system->cache.path) &&
					add_some_text(object, "state", options->state_dir) &&
					add_some_text(object, "key", options->sign_key) &&
					add_some_text(object, "passphrase", options->passphrase) &&
					cJSON_AddBoolToObject(object, "unsigned", options->allow_unsigned) &&
					cJSON_AddBoolToObject(object, "insecure", options->insecure) &&
					add_hosts(object, options) && add_some_text(object, "stamp", driver->stamp) &&
					cJSON_AddNumberToObject(object, "trust", driver->trust) &&
					cJSON_AddNumberToObject(object, "cuda", version->cuda) &&
					cJSON_AddNumberToObject(object, "release", version->release[0]) &&
					cJSON_AddNumberToObject(object, "release_minor", version->release[1]) &&
					cJSON_AddNumberToObject(object, "release_patch", version->release[2]);

	return put_object_line(err, line, object, complete);
}

static const char *given_text(const cJSON *object, const char *name)
{
	const char *text = json_text(object, name, "");

	return *text ? text : NULL;
}

static void take_hosts(const cJSON *array, struct object_given *given)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, array) if (cJSON_IsString(item) &&
										given->options.insecure_host_count < OBJECT_MOST_HOSTS)
		given->hosts[given->options.insecure_host_count++] = item->valuestring;
	given->options.insecure_hosts = given->hosts;
}

int object_get_setup(struct jw_error *err, const char *line, size_t size,
					 struct object_given *ret_given)
{
	cJSON *object = json_parse(err, line, size);
	struct jw_driver_info *driver = &ret_given->system.driver;
	struct jw_error why = {0};

	if (!object)
		return -1;
	*ret_given = (struct object_given){
		.setup = {given_text(object, "folder"), &ret_given->system, &ret_given->options},
		.options = {.size = sizeof ret_given->options,
					.place = given_text(object, "place"),
					.state_dir = given_text(object, "state"),
					.sign_key = given_text(object, "key"),
					.passphrase = given_text(object, "passphrase"),
					.allow_unsigned = json_bool(object, "unsigned", false),
					.insecure = json_bool(object, "insecure", false)},
		.document = object,
	};
	take_hosts(cJSON_GetObjectItemCaseSensitive(object, "hosts"), ret_given);
	ret_given->system.cache.path = mem_string(&why, json_text(object, "cache", ""));
	TEXT_COPY(driver->stamp, json_text(object, "stamp", ""));
	driver->trust = (enum jw_trust)(json_count(object, "trust") % (JW_TRUST_OPAQUE + 1));
	driver->version = (struct jw_driver){(uint32_t)json_count(object, "cuda"),
										 {(uint32_t)json_count(object, "release"),
										  (uint32_t)json_count(object, "release_minor"),
										  (uint32_t)json_count(object, "release_patch")}};
	if (ret_given->system.cache.path && ret_given->setup.folder && ret_given->options.place)
		return 0;
	object_given_free(ret_given);
	return why.code ? error_copy(err, &why)
					: error_set(err, JW_ERR_FORMAT, "no place of objects is named");
}

void object_given_free(struct object_given *given)
{
	cJSON_Delete(given->document);
	mem_free(given->system.cache.path);
	*given = (struct object_given){0};
}

int object_put_job(struct jw_error *err, struct buf *line, const struct object_job *job)
{
	cJSON *object = cJSON_CreateObject();
	bool complete = cJSON_AddNumberToObject(object, "job", (double)job->id) &&
					cJSON_AddNumberToObject(object, "what", job->what) &&
					!json_add_hex64(err, object, "key", job->key) &&
					cJSON_AddNumberToObject(object, "sm", job->sm) &&
					cJSON_AddNumberToObject(object, "most_bytes", (double)job->most_bytes) &&
					!json_add_hex64(err, object, "dead", job->dead);

	return put_object_line(err, line, object, complete);
}

int object_get_job(struct jw_error *err, const char *line, size_t size, struct object_job *ret_job)
{
	cJSON *object = json_parse(err, line, size);
	struct object_job job = {0};
	bool whole;

	if (!object)
		return -1;
	whole = json_hex64(object, "key", &job.key) && json_hex64(object, "dead", &job.dead);
	job.id = json_count(object, "job");
	job.what = (enum object_what)(json_count(object, "what") % OBJECT_WHATS);
	job.sm = (uint16_t)(json_count(object, "sm") % 1000);
	job.most_bytes = json_count(object, "most_bytes");
	cJSON_Delete(object);
	if (!whole)
		return error_set(err, JW_ERR_FORMAT, "a job without an entry");
	*ret_job = job;
	return 0;
}

int object_put_answer(struct jw_error *err, struct buf *line, const struct object_answer *answer)
{
	cJSON *object = cJSON_CreateObject();
	bool complete = cJSON_AddNumberToObject(object, "answer", (double)answer->id) &&
					cJSON_AddNumberToObject(object, "what", answer->what) &&
					cJSON_AddNumberToObject(object, "said", answer->said) &&
					!json_add_hex64(err, object, "claim", answer->claim) &&
					cJSON_AddNumberToObject(object, "seconds", (double)answer->seconds) &&
					cJSON_AddNumberToObject(object, "bytes", (double)answer->bytes) &&
					!json_add_text(err, object, "why", answer->why);

	return put_object_line(err, line, object, complete);
}

int object_get_answer(struct jw_error *err, const char *line, size_t size,
					  struct object_answer *ret_answer)
{
	cJSON *object = json_parse(err, line, size);
	struct object_answer answer = {0};
	bool whole;

	if (!object)
		return -1;
	whole = cJSON_HasObjectItem(object, "answer") && json_hex64(object, "claim", &answer.claim) &&
			json_count(object, "what") < OBJECT_WHATS && json_count(object, "said") < OBJECT_SAIDS;
	answer.id = json_count(object, "answer");
	answer.what = (enum object_what)json_count(object, "what");
	answer.said = (enum object_said)json_count(object, "said");
	answer.seconds = json_count(object, "seconds");
	answer.bytes = json_count(object, "bytes");
	TEXT_COPY(answer.why, json_text(object, "why", ""));
	cJSON_Delete(object);
	if (!whole)
		return error_set(err, JW_ERR_FORMAT, "not an answer");
	*ret_answer = answer;
	return 0;
}

char *object_folder(struct jw_error *err, const char *folder, uint64_t key)
{
	return mem_printf(err, "%s/%016llx", folder, (unsigned long long)key);
}
