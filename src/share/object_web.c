/* Objects of a web server or an object store: GET and PUT below an address (object_entry.h). */
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "share/object_entry.h"
#include "share/object_s3.h"
#include "share/web.h"

/* The supervisor gives up first, and goes on without it meanwhile. */
enum { TIMEOUT_MS = 8000, MOST_TRIES = 2, MOST_LESSONS = 2, HASH_BYTES = 16 << 10 };

struct object_web {
	struct object_place place;
	struct web *web;
	struct web_options how;
	struct object_s3 *s3; /* NULL: the place is an address */
	char *base;           /* without a slash at its end */
	char name[WEB_TEXT];  /* what messages say of it */
	_Atomic uint64_t *moved;
	struct jw_error closed; /* why nothing can be put there, JW_OK as long as it could */
};

/* One object, from or to a file. */
struct web_object {
	struct object_web *web;
	struct os_file *file;
	uint64_t at;
	char sha256[AWS_SHA256];
};

static int begin_web_object(struct jw_error *err, void *context, const struct web_answer *answer)
{
	struct web_object *object = context;

	(void)answer;
	object->at = 0;
	return os_file_truncate(err, object->file, 0);
}

static int take_web_object(struct jw_error *err, void *context, const void *data, size_t size)
{
	struct web_object *object = context;

	*object->web->moved += size;
	object->at += size;
	return os_file_write(err, object->file, object->at - size, data, size);
}

static int give_web_object(struct jw_error *err, void *context, uint64_t offset, void *data,
						   size_t size)
{
	struct web_object *object = context;
	size_t got;

	*object->web->moved += size;
	if (os_file_read(err, object->file, offset, data, size, &got))
		return -1;
	return got == size ? 0 : error_set(err, JW_ERR_IO, "a file has become shorter");
}

/* A connection that was kept may have been closed at the other end meanwhile: tried once more. */
static int try_web_object(struct jw_error *err, struct object_web *web,
						  const struct web_request *request, struct web_answer *answer)
{
	struct jw_error why = {.code = JW_ERR_BUSY};
	bool late = false;
	int result = -1;

	for (int tries = 0; result && why.code == JW_ERR_BUSY && !late && tries < MOST_TRIES; tries++) {
		result = web_ask(&why, web->web, request, answer);
		late = result && web_is_late(web->web);
	}
	web->place.later_s = -1;
	if (!result)
		return 0;
	return error_set(err,
					 late                        ? JW_ERR_BUSY
					 : why.code == JW_ERR_FORMAT ? JW_ERR_IO
												 : why.code,
					 "%s", why.message);
}

/* `object` has the SHA-256 of what is sent. */
static int send_web_object(struct jw_error *err, const struct web_object *object, const char *name,
						   const struct web_request *given, struct web_answer *answer)
{
	struct object_web *web = object->web;
	struct object_s3_request texts = {0};
	struct web_request request = *given;
	struct jw_error why = {0};
	char *url = mem_printf("%s/%s", web->base, name);
	int result = 0;

	request.url = url;
	/* Without keys every object is as good as gone, not this one alone. */
	if (web->s3 && object_s3_sign(&why, web->s3, name, object->sha256, &texts, &request))
		result = error_set(err, JW_ERR_IO, "%s", why.message);
	if (!result)
		result = try_web_object(err, web, &request, answer);
	object_s3_forget(&texts);
	mem_free(url);
	return result ? error_prefix(err, "%s", web->name) : 0;
}

/* A bucket that is missing is no object that is. */
static bool is_missing(const struct web_request *request, const struct web_answer *answer)
{
	return !strcmp(request->method, "GET") && (answer->status == 404 || answer->status == 410) &&
		   !text_starts(answer->said, "NoSuchBucket");
}

/* An overloaded server, or one whose own server is away */
static bool is_for_later(const struct web_answer *answer)
{
	return answer->status == 408 || answer->status == 429 ||
		   (answer->status >= 500 && answer->status <= 504 && answer->status != 501);
}

/* A place that takes nothing from us, or nothing more, may give. */
static int fail_put(struct jw_error *err, struct object_web *web, const struct web_answer *answer,
					const struct jw_error *why)
{
	enum { TOO_LARGE = 413 };
	struct jw_error of_object = *why;

	of_object.code = JW_ERR_FORMAT;
	if (answer->status != TOO_LARGE)
		web->closed = of_object;
	return error_copy(err, &of_object);
}

static int ask_web_object(struct jw_error *err, const struct web_object *object, const char *name,
						  const struct web_request *request)
{
	struct object_web *web = object->web;
	struct web_answer answer;
	struct jw_error why = {0};
	char said[512];
	int result = send_web_object(err, object, name, request, &answer);

	for (int tries = 1; !result && web->s3 && tries < MOST_LESSONS; tries++) {
		if (!object_s3_learns(web->s3, &answer))
			break;
		result = send_web_object(err, object, name, request, &answer);
	}
	if (result)
		return -1;
	if (answer.status >= 200 && answer.status < 300)
		return 0;
	if (is_for_later(&answer))
		web->place.later_s = answer.wait_s > 0 ? answer.wait_s : 0;
	error_set(&why,
			  is_missing(request, &answer) ? JW_ERR_NOT_FOUND
			  : is_for_later(&answer)      ? JW_ERR_BUSY
										   : JW_ERR_IO,
			  "%s: the server answers a %s with status %ld%s%s", web->name, request->method,
			  answer.status, *answer.said ? ": " : "", object_s3_said(&answer, said, sizeof said));
	return why.code == JW_ERR_IO && answer.status >= 400 && !strcmp(request->method, "PUT")
			   ? fail_put(err, web, &answer, &why)
			   : error_copy(err, &why);
}

static int hash_web_object(struct jw_error *err, const struct web_object *object, uint64_t size,
						   char hex[AWS_SHA256])
{
	crypto_hash_sha256_state state;
	uint8_t bytes[HASH_BYTES], hash[crypto_hash_sha256_BYTES];
	size_t got = 0;

	if (!object->web->s3)
		return 0;
	(void)crypto_hash_sha256_init(&state);
	for (uint64_t at = 0; at < size; at += got) {
		if (os_file_read(err, object->file, at, bytes, sizeof bytes, &got))
			return -1;
		if (!got)
			return error_set(err, JW_ERR_IO, "a file has become shorter");
		(void)crypto_hash_sha256_update(&state, bytes, got);
	}
	(void)crypto_hash_sha256_final(&state, hash);
	(void)sodium_bin2hex(hex, AWS_SHA256, hash, sizeof hash);
	return 0;
}

static int web_get(struct jw_error *err, struct object_place *place, const char *name,
				   uint64_t most_bytes, const char *path)
{
	struct web_object object = {.web = (void *)place};
	struct web_request request = {.method = "GET",
								  .begin = begin_web_object,
								  .take = take_web_object,
								  .context = &object,
								  .most_bytes = most_bytes,
								  .bulk = true};
	int result;

	if (os_file_open(err, path, OS_OPEN_CREATE, &object.file))
		return -1;
	result = hash_web_object(err, &object, 0, object.sha256);
	if (!result)
		result = ask_web_object(err, &object, name, &request);
	os_file_close(object.file);
	if (result)
		(void)os_remove(NULL, path);
	return result;
}

static int web_put(struct jw_error *err, struct object_place *place, const char *name,
				   const char *path)
{
	const struct object_web *web = (void *)place;
	struct web_object object = {.web = (void *)place};
	struct web_request request = {.method = "PUT",
								  .headers = {"Content-Type: application/octet-stream"},
								  .give = give_web_object,
								  .context = &object,
								  .bulk = true};
	int result;

	if (web->closed.code)
		return error_copy(err, &web->closed);
	if (os_file_open(err, path, OS_OPEN_READ, &object.file))
		return -1;
	result = os_file_size(err, object.file, &request.give_bytes);
	if (!result)
		result = hash_web_object(err, &object, request.give_bytes, object.sha256);
	if (!result)
		result = ask_web_object(err, &object, name, &request);
	os_file_close(object.file);
	return result;
}

static void object_web_close(struct object_place *place)
{
	struct object_web *web = (void *)place;

	web_close(web->web);
	object_s3_close(web->s3);
	mem_free(web->base);
	mem_free(web);
}

struct object_place *object_web_open(struct jw_error *err, const struct jw_share_options *options,
									 _Atomic uint64_t *moved)
{
	struct object_web *web = mem_alloc(sizeof *web);
	const bool s3 = text_starts(options->place, "s3://");
	size_t length = strlen(options->place);

	while (length && options->place[length - 1] == '/')
		length--;
	*web = (struct object_web){
		.place = {web_get, web_put, NULL, object_web_close, .later_s = -1},
		.how = {.plain = {options->insecure, options->insecure_hosts, options->insecure_host_count},
				.timeout_ms = TIMEOUT_MS,
				.netrc = !s3},
		.moved = moved};
	web->base = mem_string_n(options->place, length);
	(void)text_address(web->name, sizeof web->name, web->base);
	if (s3)
		web->s3 = object_s3_open(err, options->place);
	if (!s3 || web->s3)
		web->web = web_open(err, &web->how);
	if (!web->web) {
		object_web_close(&web->place);
		return NULL;
	}
	return &web->place;
}
