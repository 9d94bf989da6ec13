#include "worker/object_protocol.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

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
					cJSON_AddNumberToObject(object, "release_patch", version->release[2]) &&
					cJSON_AddNumberToObject(object, "plan_bytes", (double)setup->plan_bytes);

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
		.setup = {given_text(object, "folder"), &ret_given->system, &ret_given->options,
				  json_count(object, "plan_bytes")},
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
					cJSON_AddNumberToObject(object, "seconds", (double)job->seconds) &&
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
	job.seconds = json_count(object, "seconds");
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
