/* Objects of a web server: GET and PUT below an address (share/object_place.h). */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "share/object_place.h"
#include "share/web.h"

/* The supervisor loses patience first. */
enum { TIMEOUT_MS = 4000, MOST_TRIES = 2 };

struct object_web {
	struct web *web;
	struct web_options how;
	struct jw_traffic traffic;
	char *base; /* without a slash at its end */
	_Atomic uint64_t *moved;
};

/* One object, from or to a file. */
struct web_object {
	struct object_web *web;
	struct os_file *file;
	uint64_t at;
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
static int ask_web_object(struct jw_error *err, struct object_web *web, const char *name,
						  struct web_request *request)
{
	char *url = mem_printf(err, "%s/%s", web->base, name);
	struct jw_error why = {.code = JW_ERR_BUSY};
	struct web_answer answer;
	int result = -1;

	if (!url)
		return -1;
	request->url = url;
	for (int tries = 0; result && why.code == JW_ERR_BUSY && tries < MOST_TRIES; tries++)
		result = web_ask(&why, web->web, request, &answer);
	mem_free(url);
	if (result)
		return error_set(err, why.code == JW_ERR_FORMAT ? JW_ERR_IO : why.code, "%s: %s", web->base,
						 why.message);
	if (answer.status >= 200 && answer.status < 300)
		return 0;
	return error_set(err,
					 !strcmp(request->method, "GET") &&
							 (answer.status == 404 || answer.status == 410)
						 ? JW_ERR_NOT_FOUND
						 : JW_ERR_IO,
					 "%s: the server answers a %s with status %ld%s%s", web->base, request->method,
					 answer.status, *answer.said ? ": " : "", answer.said);
}

static int web_get(struct jw_error *err, void *state, const char *name, uint64_t most_bytes,
				   const char *path)
{
	struct web_object object = {.web = state};
	struct web_request request = {.method = "GET",
								  .begin = begin_web_object,
								  .take = take_web_object,
								  .context = &object,
								  .most_bytes = most_bytes,
								  .bulk = true};
	int result;

	if (os_file_open(err, path, OS_OPEN_CREATE, &object.file))
		return -1;
	result = ask_web_object(err, state, name, &request);
	os_file_close(object.file);
	if (result)
		(void)os_remove(NULL, path);
	return result;
}

static int web_put(struct jw_error *err, void *state, const char *name, const char *path)
{
	struct web_object object = {.web = state};
	struct web_request request = {.method = "PUT",
								  .headers = {"Content-Type: application/octet-stream"},
								  .give = give_web_object,
								  .context = &object};
	int result = os_file_open(err, path, OS_OPEN_READ, &object.file) ||
						 os_file_size(err, object.file, &request.give_bytes) ||
						 ask_web_object(err, state, name, &request)
					 ? -1
					 : 0;

	os_file_close(object.file);
	return result;
}

static void object_web_close(void *state)
{
	struct object_web *web = state;

	web_close(web->web);
	mem_free(web->base);
	mem_free(web);
}

void *object_web_open(struct jw_error *err, const struct jw_share_options *options,
					  _Atomic uint64_t *moved, struct object_backend *ret_backend)
{
	struct object_web *web = mem_alloc(err, sizeof *web);
	size_t length = strlen(options->place);

	if (!web)
		return NULL;
	while (length && options->place[length - 1] == '/')
		length--;
	*web = (struct object_web){.how = {.insecure = options->insecure,
									   .insecure_hosts = options->insecure_hosts,
									   .insecure_host_count = options->insecure_host_count,
									   .timeout_ms = TIMEOUT_MS,
									   .netrc = true},
							   .moved = moved};
	web->how.traffic = &web->traffic;
	web->base = mem_string_n(err, options->place, length);
	web->web = web->base ? web_open(err, &web->how) : NULL;
	if (!web->web) {
		object_web_close(web);
		return NULL;
	}
	*ret_backend = (struct object_backend){web_get, web_put, NULL, object_web_close};
	return web;
}
