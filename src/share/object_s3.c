#include "share/object_s3.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>
#include <uv.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/process.h"

enum { MOST_PROFILES = 1 << 20, MOST_ANSWER = 64 << 10, ANSWER_MS = 60000, AGAIN_S = 300 };

struct object_s3 {
	char bucket[64], prefix[WEB_TEXT];
	char region[64], endpoint[AWS_TEXT];
	char address[WEB_TEXT]; /* SCHEME://HOST/PATH of the bucket */
};

/* ---- names */

static bool is_s3_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || text_is_digit((unsigned char)c);
}

static bool is_s3_name(const char *name, const char *besides)
{
	if (!*name)
		return false;
	for (; *name; name++)
		if (!is_s3_letter(*name) && !strchr(besides, *name))
			return false;
	return true;
}

/* A segment of dots would be another address. */
static bool has_dots(const char *path)
{
	while (*path) {
		const size_t length = strcspn(path, "/");

		if ((length == 1 && *path == '.') || (length == 2 && !memcmp(path, "..", 2)))
			return true;
		path += length + (path[length] == '/');
	}
	return false;
}

int object_s3_parse(struct jw_error *err, const char *place, char ret_bucket[64],
					char ret_prefix[WEB_TEXT])
{
	const char *bucket = place + strlen("s3://"), *prefix;
	size_t length, used = 0;
	char name[64], path[WEB_TEXT], said[300];

	place = text_address(said, sizeof said, place);
	prefix = bucket + strcspn(bucket, "/");
	(void)snprintf(name, sizeof name, "%.*s", (int)(prefix - bucket), bucket);
	if (prefix - bucket > 63 || !is_s3_name(name, "._-") || *name == '.')
		return error_set(err, JW_ERR_USAGE, "%s: not s3://BUCKET or s3://BUCKET/PREFIX", place);
	for (length = strlen(prefix); length && prefix[length - 1] == '/';)
		length--;
	if (has_dots(prefix))
		return error_set(err, JW_ERR_USAGE, "%s: the prefix goes through “.” or “..”", place);
	for (size_t i = 0; i < length; i++) {
		if (used + 4 > sizeof path)
			return error_set(err, JW_ERR_LIMIT, "%s: the prefix is too long", place);
		if (is_s3_letter(prefix[i]) || strchr("-._~/", prefix[i]))
			path[used++] = prefix[i];
		else
			used += (size_t)snprintf(path + used, 4, "%%%02X", (unsigned char)prefix[i]);
	}
	path[used] = '\0';
	text_copy(ret_bucket, 64, name);
	text_copy(ret_prefix, WEB_TEXT, path);
	return 0;
}

/* SCHEME://HOST[:PORT], as AWS_ENDPOINT_URL has it. Nobody is named in it: it can be said. */
static bool is_s3_endpoint(const char *text)
{
	const char *host = strstr(text, "://");

	return host && (text_starts(text, "https://") || text_starts(text, "http://")) &&
		   is_s3_name(host + 3, ".-_:[]");
}

int object_s3_address(struct jw_error *err, const char *endpoint, const char *region,
					  const char *bucket, char *ret_address, size_t size)
{
	const char *china = text_starts(region, "cn-") ? ".cn" : "";
	char bare[AWS_TEXT];
	int length;

	text_copy(bare, sizeof bare, endpoint);
	for (size_t at = strlen(bare); at && bare[at - 1] == '/'; at--)
		bare[at - 1] = '\0';
	if (!is_s3_name(region, "-"))
		return error_set(err, JW_ERR_USAGE, "“%s” is not an AWS region", region);
	if (*bare && !is_s3_endpoint(bare))
		return error_set(err, JW_ERR_USAGE, "AWS_ENDPOINT_URL is not https://HOST[:PORT]");
	/* The certificate of *.s3.… is for one name before it. Servers of others seldom have names for
	 * their buckets. */
	if (*bare)
		length = snprintf(ret_address, size, "%s/%s", bare, bucket);
	else if (strpbrk(bucket, "._ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		length =
			snprintf(ret_address, size, "https://s3.%s.amazonaws.com%s/%s", region, china, bucket);
	else
		length =
			snprintf(ret_address, size, "https://%s.s3.%s.amazonaws.com%s", bucket, region, china);
	if (length <= 0 || (size_t)length >= size)
		return error_set(err, JW_ERR_LIMIT, "the address of the bucket is too long");
	return 0;
}

/* ---- keys */

/* Of the process. */
static struct {
	uv_once_t once;
	uv_mutex_t mutex; /* of all below */
	bool open;        /* the mutex is there */
	bool asked;
	int64_t again_s; /* when to ask again, since they expire; 0: never */
	struct aws_keys keys;
	struct jw_error failed;
} source = {.once = UV_ONCE_INIT};

static void open_aws_source(void)
{
	source.open = !uv_mutex_init(&source.mutex);
}

static int take_aws_text(struct jw_error *err, const char *name, const char *value, char *room,
						 size_t size)
{
	bool is_word = strlen(value) < size;

	for (const char *at = value; *at; at++)
		is_word = is_word && *at > ' ' && *at <= '~';
	if (!is_word)
		return error_set(err, JW_ERR_FORMAT, "%s has a value that cannot be one", name);
	if (*value)
		text_copy(room, size, value);
	return 0;
}

static int take_aws_variable(struct jw_error *err, const char *name, char *room, size_t size)
{
	char *value = os_env(name);
	int result = 0;

	if (value) {
		result = take_aws_text(err, name, value, room, size);
		sodium_memzero(value, strlen(value));
	}
	mem_free(value);
	return result;
}

static int take_aws_setting(struct jw_error *err, char *line, struct aws_profile *profile)
{
	struct aws_keys *keys = &profile->keys;
	const struct {
		const char *name;
		char *room;
		size_t size;
	} known[] = {{"aws_access_key_id", keys->id, sizeof keys->id},
				 {"aws_secret_access_key", keys->secret, sizeof keys->secret},
				 {"aws_session_token", keys->token, sizeof keys->token},
				 {"region", profile->region, sizeof profile->region},
				 {"endpoint_url", profile->endpoint, sizeof profile->endpoint}};
	char *equals = strchr(line, '='),
		 *value = equals ? equals + 1 + strspn(equals + 1, " \t") : line;

	line[strcspn(line, " \t=")] = '\0';
	value[strcspn(value, " \t\r")] = '\0'; /* a remark may follow */
	for (size_t i = 0; equals && i < sizeof known / sizeof *known; i++)
		if (text_equal_fold(line, known[i].name))
			return take_aws_text(err, known[i].name, value, known[i].room, known[i].size);
	return 0;
}

int aws_profile_read(struct jw_error *err, char *text, const char *name, bool config,
					 struct aws_profile *profile)
{
	struct aws_profile found = {0};
	char section[AWS_TEXT + 16];
	bool inside = false;
	int result = 0;

	(void)snprintf(section, sizeof section, "[%s%.255s]",
				   config && strcmp(name, "default") != 0 ? "profile " : "", name);
	/* Indented lines belong to the setting before them. */
	for (char *line = text, *end; !result && line; line = end) {
		if ((end = strchr(line, '\n')))
			*end++ = '\0';
		if (*line == '[')
			inside = text_starts(line, section);
		else if (inside && *line && !strchr("#; \t\r", *line))
			result = take_aws_setting(err, line, &found);
	}
	if (!result && !*found.keys.id != !*found.keys.secret)
		result =
			error_set(err, JW_ERR_FORMAT,
					  "the profile has only one of aws_access_key_id and aws_secret_access_key");
	if (!result) {
		if (!*profile->keys.id)
			profile->keys = found.keys;
		if (!*profile->region)
			TEXT_COPY(profile->region, found.region);
		if (!*profile->endpoint)
			TEXT_COPY(profile->endpoint, found.endpoint);
	}
	sodium_memzero(&found, sizeof found);
	return result;
}

/* What the files say of the profile. */
static int read_aws_files(struct jw_error *err, char name[AWS_TEXT], struct aws_profile *profile)
{
	static const char *const variables[] = {"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"};
	static const char *const files[] = {".aws/credentials", ".aws/config"};
	int result;

	text_copy(name, AWS_TEXT, "default");
	result = take_aws_variable(err, "AWS_PROFILE", name, AWS_TEXT);
	for (size_t i = 0; !result && i < sizeof files / sizeof *files; i++) {
		char *path = os_env(variables[i]), *home = NULL;
		struct buf text = {0};
		bool there = false;

		if (!path || !*path) {
			mem_free(path);
			path = !os_home_dir(NULL, &home) && *home ? os_join(home, files[i]) : NULL;
			mem_free(home);
		}
		result = path && os_look(err, path, &there);
		if (there)
			result = os_read_file(err, path, MOST_PROFILES, &text);
		if (text.data && aws_profile_read(err, (char *)text.data, name, i == 1, profile))
			result = error_prefix(err, "%s", path);
		if (text.data)
			sodium_memzero(text.data, text.size);
		buf_free(&text);
		mem_free(path);
	}
	return result;
}

/* {"AccessKeyId": …, "SecretAccessKey": …, "SessionToken": …, "Expiration": …} */
static int read_aws_answer(struct jw_error *err, const struct buf *answer, struct aws_keys *keys,
						   bool *ret_expires)
{
	const struct {
		const char *name;
		char *room;
		size_t size;
	} parts[] = {{"AccessKeyId", keys->id, sizeof keys->id},
				 {"SecretAccessKey", keys->secret, sizeof keys->secret},
				 {"SessionToken", keys->token, sizeof keys->token}};
	cJSON *document = json_parse(err, buf_text(answer), answer->size);
	int result = 0;

	if (!document)
		return -1;
	for (size_t i = 0; !result && i < sizeof parts / sizeof *parts; i++)
		result = take_aws_text(err, parts[i].name, json_text(document, parts[i].name, ""),
							   parts[i].room, parts[i].size);
	if (!result && (!*keys->id || !*keys->secret))
		result = error_set(err, JW_ERR_FORMAT, "the answer has no keys");
	*ret_expires = *json_text(document, "Expiration", "") != '\0';
	cJSON_Delete(document);
	return result;
}

static int ask_aws(struct jw_error *err, const char *profile, struct aws_keys *keys,
				   bool *ret_expires)
{
	char *aws = os_program_on_path("aws");
	const char *const arguments[] = {aws,        "configure", "export-credentials",
									 "--format", "process",   NULL};
	struct buf answer = BUF_MAX(MOST_ANSWER);
	const struct os_question question = {.arguments = arguments,
										 .input = "",
										 .timeout_ms = ANSWER_MS,
										 .answer = &answer,
										 .mute = true};
	int status = 0, result;

	if (!aws)
		return error_set(
			err, JW_ERR_NOT_FOUND,
			"no AWS keys in the environment or in the profile %.64s of ~/.aws, and no program "
			"“aws” on PATH to ask for them",
			profile);
	result = os_ask_found_program(err, &question, &status);
	if (!result && status)
		result = error_set(
			err, JW_ERR_NOT_FOUND,
			"no AWS keys in the environment or in the profile %.64s of ~/.aws, and “aws configure "
			"export-credentials” ends with exit status %d",
			profile, status);
	else if (!result && read_aws_answer(err, &answer, keys, ret_expires))
		result = error_prefix(err, "aws configure export-credentials");
	if (answer.data)
		sodium_memzero(answer.data, answer.size);
	buf_free(&answer);
	mem_free(aws);
	return result;
}

static int find_aws_keys(struct jw_error *err, struct aws_keys *ret_keys, bool *ret_expires)
{
	struct aws_profile profile = {0};
	struct aws_keys *keys = &profile.keys;
	char name[AWS_TEXT];
	int result =
		take_aws_variable(err, "AWS_ACCESS_KEY_ID", keys->id, sizeof keys->id) ||
		take_aws_variable(err, "AWS_SECRET_ACCESS_KEY", keys->secret, sizeof keys->secret) ||
		take_aws_variable(err, "AWS_SESSION_TOKEN", keys->token, sizeof keys->token);

	*ret_expires = false;
	if (!result && !*keys->id != !*keys->secret)
		result = error_set(err, JW_ERR_FORMAT,
						   "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set");
	if (!result && !*keys->id)
		result = read_aws_files(err, name, &profile) ||
				 (!*keys->id && ask_aws(err, name, keys, ret_expires));
	if (!result)
		*ret_keys = *keys;
	sodium_memzero(&profile, sizeof profile);
	return result ? -1 : 0;
}

/* For any number of threads: asked for once, and again every few minutes where they expire. */
static int aws_keys_now(struct jw_error *err, struct aws_keys *ret_keys)
{
	bool expires;
	int result;

	uv_once(&source.once, open_aws_source);
	if (!source.open)
		mem_ended(0);
	uv_mutex_lock(&source.mutex);
	if (!source.asked || (!source.failed.code && source.again_s && source.again_s < os_now_s())) {
		source.asked = true;
		(void)find_aws_keys(&source.failed, &source.keys, &expires);
		source.again_s = expires ? os_now_s() + AGAIN_S : 0;
	}
	result = source.failed.code ? error_copy(err, &source.failed) : 0;
	if (!result)
		*ret_keys = source.keys;
	uv_mutex_unlock(&source.mutex);
	return result;
}

/* ---- one request */

int object_s3_sign(struct jw_error *err, const struct object_s3 *s3, const char *name,
				   const char *body, struct object_s3_request *texts, struct web_request *request)
{
	size_t count = 0;

	texts->url = mem_printf("%s%s/%s", s3->address, s3->prefix, name);
	if (aws_keys_now(err, &texts->keys))
		return -1;
	while (request->headers[count])
		count++;
	if (count + 2 > WEB_MOST_HEADERS)
		return error_set(err, JW_ERR_LIMIT, "too many headers");
	(void)snprintf(texts->how, sizeof texts->how, "aws:amz:%s:s3", s3->region);
	(void)snprintf(texts->body, sizeof texts->body, "x-amz-content-sha256: %.64s", body);
	(void)snprintf(texts->token, sizeof texts->token, "x-amz-security-token: %s",
				   texts->keys.token);
	texts->sign = (struct web_signature){texts->how, texts->keys.id, texts->keys.secret};
	request->headers[count++] = texts->body;
	if (*texts->keys.token)
		request->headers[count] = texts->token;
	request->url = texts->url;
	request->stay = true;
	request->sign = &texts->sign;
	return 0;
}

void object_s3_forget(struct object_s3_request *texts)
{
	mem_free(texts->url);
	sodium_memzero(texts, sizeof *texts);
}

/* Only Amazon's own hosts, or the one that the user named, ever get a request. */
bool object_s3_learns(struct object_s3 *s3, const struct web_answer *answer)
{
	char address[WEB_TEXT];

	if (answer->status < 300 || !is_s3_name(answer->region, "-") ||
		!strcmp(answer->region, s3->region) ||
		object_s3_address(NULL, s3->endpoint, answer->region, s3->bucket, address, sizeof address))
		return false;
	TEXT_COPY(s3->region, answer->region);
	TEXT_COPY(s3->address, address);
	return true;
}

const char *object_s3_said(const struct web_answer *answer, char *room, size_t size)
{
	const int64_t behind_s = answer->date_s - os_now_s();
	const bool skewed = answer->status >= 400 && answer->date_s >= 0 &&
						text_starts(answer->said, "RequestTimeTooSkewed");
	char time[TEXT_SHORT], clock[128] = "";

	if (skewed && behind_s > 0)
		(void)text_format(clock, sizeof clock, " (this machine's clock is %s behind the server's)",
						  text_duration(time, (double)behind_s));
	else if (skewed)
		(void)text_format(clock, sizeof clock,
						  " (this machine's clock is %s ahead of the server's)",
						  text_duration(time, (double)-behind_s));
	(void)text_format(room, size, "%s%s", answer->said, clock);
	return room;
}

struct object_s3 *object_s3_open(struct jw_error *err, const char *place)
{
	struct object_s3 *s3 = mem_alloc(sizeof *s3);
	struct aws_profile profile = {0};
	char name[AWS_TEXT];
	bool sound = false;

	if (!object_s3_parse(err, place, s3->bucket, s3->prefix) &&
		!take_aws_variable(err, "AWS_DEFAULT_REGION", s3->region, sizeof s3->region) &&
		!take_aws_variable(err, "AWS_REGION", s3->region, sizeof s3->region) &&
		!take_aws_variable(err, "AWS_ENDPOINT_URL", s3->endpoint, sizeof s3->endpoint) &&
		!take_aws_variable(err, "AWS_ENDPOINT_URL_S3", s3->endpoint, sizeof s3->endpoint) &&
		!read_aws_files(err, name, &profile)) {
		if (!*s3->region)
			TEXT_COPY(s3->region, *profile.region ? profile.region : "us-east-1");
		if (!*s3->endpoint)
			TEXT_COPY(s3->endpoint, profile.endpoint);
		sound = !object_s3_address(err, s3->endpoint, s3->region, s3->bucket, s3->address,
								   sizeof s3->address);
	}
	sodium_memzero(&profile, sizeof profile);
	if (sound)
		return s3;
	object_s3_close(s3);
	return NULL;
}

void object_s3_close(struct object_s3 *s3)
{
	mem_free(s3);
}
