#include "share/blobs.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { READ = 1 << 20, MOST_CONTINUED = 32 };

struct upload {
	struct registry *registry;
	const struct blob *blob;
	char location[4 * WEB_TEXT]; /* of the session, which every answer may change */
	uint64_t start;              /* of this request's part */
	uint64_t chunk_bytes;        /* a blob up to this size is one request */
};

static int read_blob(struct jw_error *err, const struct blob *blob, uint64_t offset, void *data,
					 size_t size)
{
	size_t got;

	if (!blob->file) {
		memcpy(data, (const char *)blob->data + offset, size);
		return 0;
	}
	if (os_file_read(err, blob->file, offset, data, size, &got))
		return error_prefix(err, "%s", blob->path);
	return got == size
			   ? 0
			   : error_set(err, JW_ERR_IO, "%s: was shortened while it was read", blob->path);
}

int blob_measure(struct jw_error *err, struct blob *blob, const struct jw_cancel *cancel)
{
	crypto_hash_sha256_state state;
	uint8_t hash[crypto_hash_sha256_BYTES], *room;
	int result = 0;

	if (!blob->file) {
		registry_digest(blob->digest, blob->data, (size_t)blob->size_bytes);
		return 0;
	}
	room = mem_alloc(err, READ);
	if (!room || os_file_size(err, blob->file, &blob->size_bytes)) {
		mem_free(room);
		return -1;
	}
	(void)crypto_hash_sha256_init(&state);
	for (uint64_t at = 0; !result && at < blob->size_bytes; at += READ) {
		const uint64_t left = blob->size_bytes - at;
		const size_t size = left < READ ? (size_t)left : READ;

		result = cancel_check(err, cancel) || read_blob(err, blob, at, room, size) ? -1 : 0;
		if (!result)
			(void)crypto_hash_sha256_update(&state, room, size);
	}
	(void)crypto_hash_sha256_final(&state, hash);
	memcpy(blob->digest, "sha256:", 7);
	sodium_bin2hex(blob->digest + 7, sizeof blob->digest - 7, hash, sizeof hash);
	mem_free(room);
	return result;
}

static int give_part(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size)
{
	const struct upload *upload = context;

	return read_blob(err, upload->blob, upload->start + offset, data, size);
}

static int take_location(struct jw_error *err, struct upload *upload,
						 const struct web_answer *answer)
{
	if (!*answer->location)
		return error_set(err, JW_ERR_FORMAT, "the registry does not say where an upload goes");
	TEXT_COPY(upload->location, answer->location);
	return 0;
}

/* Begins a session; *ret_there: none is needed, the blob was mounted. */
static int begin_upload(struct jw_error *err, struct upload *upload, const char *from,
						bool *ret_there)
{
	struct buf url = BUF_MAX(4 * WEB_TEXT);
	struct web_request request = {.method = "POST"};
	struct web_answer answer;
	char *base = registry_url(err, upload->registry, "blobs", "uploads/");
	int result =
		!base || buf_printf(err, &url, "%s?", base) ||
				web_query(err, &url, "mount", upload->blob->digest) ||
				(from && (buf_append(err, &url, "&", 1) || web_query(err, &url, "from", from)))
			? -1
			: 0;

	request.url = buf_text(&url);
	if (!result)
		result = registry_ask(err, upload->registry, &request, &answer);
	mem_free(base);
	buf_free(&url);
	if (result)
		return registry_prefix(err, upload->registry, upload->blob->digest);
	*ret_there = answer.status == 201;
	if (*ret_there)
		return 0;
	if (answer.status != 202)
		return registry_refusal(err, upload->registry, "an upload", &answer);
	if (answer.chunk_bytes > upload->chunk_bytes)
		upload->chunk_bytes = answer.chunk_bytes;
	return take_location(err, upload, &answer);
}

static int begin_somewhere(struct jw_error *err, struct upload *upload, bool *ret_there)
{
	const struct registry_options *options = registry_options_of(upload->registry);

	if (!options->mount_from_count)
		return begin_upload(err, upload, NULL, ret_there);
	*ret_there = false;
	for (size_t i = 0; !*ret_there && i < options->mount_from_count; i++)
		if (begin_upload(err, upload, options->mount_from[i], ret_there))
			return -1;
	return 0;
}

/* The last request of a session, with what it does not have of a small blob, or with nothing. */
static int end_upload(struct jw_error *err, struct upload *upload, struct web_answer *ret_answer)
{
	struct buf url = BUF_MAX(5 * WEB_TEXT);
	struct web_request request = {.method = "PUT",
								  .headers = {"Content-Type: application/octet-stream"},
								  .give = give_part,
								  .give_bytes = upload->blob->size_bytes - upload->start,
								  .context = upload,
								  .bulk = true};
	int result = buf_printf(err, &url, "%s%s", upload->location,
							strchr(upload->location, '?') ? "&" : "?") ||
						 web_query(err, &url, "digest", upload->blob->digest)
					 ? -1
					 : 0;

	request.url = buf_text(&url);
	if (!result)
		result = registry_ask_once(err, upload->registry, &request, ret_answer);
	buf_free(&url);
	return result;
}

static int send_chunk(struct jw_error *err, struct upload *upload, struct web_answer *ret_answer)
{
	const uint64_t left = upload->blob->size_bytes - upload->start;
	char range[80];
	struct web_request request = {.method = "PATCH",
								  .url = upload->location,
								  .headers = {"Content-Type: application/octet-stream", range},
								  .give = give_part,
								  .give_bytes =
									  left < upload->chunk_bytes ? left : upload->chunk_bytes,
								  .context = upload,
								  .bulk = true};

	(void)snprintf(range, sizeof range, "Content-Range: %llu-%llu",
				   (unsigned long long)upload->start,
				   (unsigned long long)(upload->start + request.give_bytes - 1));
	if (registry_ask_once(err, upload->registry, &request, ret_answer))
		return -1;
	if (ret_answer->status != 202 && ret_answer->status != 201 && ret_answer->status != 204)
		return 0;
	upload->start += request.give_bytes;
	return take_location(err, upload, ret_answer);
}

/* "0-1023": so many bytes and one. A session without any says "0-0" or nothing. */
static uint64_t bytes_received(const struct web_answer *answer)
{
	const char *dash = strchr(answer->range, '-');
	uint64_t last;

	return dash && text_starts(answer->range, "0-") &&
				   text_number(dash + 1, UINT64_MAX / 2, &last) && last
			   ? last + 1
			   : 0;
}

/* Asks a session how far it is. False: it is gone. */
static bool continue_upload(struct upload *upload)
{
	struct web_request request = {.method = "GET", .url = upload->location};
	struct web_answer answer;
	uint64_t received;

	if (registry_ask(NULL, upload->registry, &request, &answer) || answer.status != 204)
		return false;
	received = bytes_received(&answer);
	if (received > upload->blob->size_bytes)
		return false;
	upload->start = received;
	registry_options_of(upload->registry)->web.traffic->resumed++;
	return !*answer.location || !take_location(NULL, upload, &answer);
}

static bool is_stored(long status)
{
	return status == 201 || status == 204;
}

static bool is_chunk_taken(long status)
{
	return status == 201 || status == 202 || status == 204;
}

/* The next request of a session; *ret_done: it was the last one, and the blob is stored. */
static int upload_step(struct jw_error *err, struct upload *upload, struct web_answer *answer,
					   bool *ret_done)
{
	const uint64_t size = upload->blob->size_bytes;
	int result;

	*ret_done = false;
	if (size > upload->chunk_bytes && upload->start < size)
		return send_chunk(err, upload, answer);
	result = end_upload(err, upload, answer);
	*ret_done = !result && is_stored(answer->status);
	return result;
}

/* One session, continued after broken connections. 0 with *ret_answer: the last answer. */
static int run_upload(struct jw_error *err, struct upload *upload)
{
	struct web *web = registry_web(upload->registry);
	unsigned tries = 0, continued = 0;

	for (;;) {
		const uint64_t before = upload->start;
		struct web_answer answer = {0};
		struct jw_error why = {0};
		bool done, again;
		const int failed = upload_step(&why, upload, &answer, &done);

		if (done)
			return 0;
		if (!failed && is_chunk_taken(answer.status) && upload->start > before) {
			tries = 0;
			continue;
		}
		again = failed ? why.code == JW_ERR_BUSY
					   : answer.status == 429 || answer.status == 416 || answer.status >= 500;
		if (again && ++continued < MOST_CONTINUED &&
			web_wait(web, tries++, failed ? -1 : answer.wait_s) && !cancel_asked(web_cancel(web)) &&
			continue_upload(upload)) {
			tries = upload->start > before ? 0 : tries;
			continue;
		}
		if (!failed)
			return registry_refusal(err, upload->registry, upload->blob->digest, &answer);
		error_copy(err, &why);
		return registry_prefix(err, upload->registry, upload->blob->digest);
	}
}

/* Whether the repository has it. */
static int has_blob(struct jw_error *err, struct registry *registry, const char *digest,
					bool *ret_there)
{
	char *url = registry_url(err, registry, "blobs", digest);
	struct web_request request = {.method = "HEAD", .url = url};
	struct web_answer answer;
	int result = url ? registry_ask(err, registry, &request, &answer) : -1;

	mem_free(url);
	if (result)
		return registry_prefix(err, registry, digest);
	if (answer.status != 200 && answer.status != 404)
		return registry_refusal(err, registry, digest, &answer);
	*ret_there = answer.status == 200;
	return 0;
}

int blob_push(struct jw_error *err, struct registry *registry, const struct blob *blob)
{
	struct jw_traffic *traffic = registry_options_of(registry)->web.traffic;
	struct upload upload = {.registry = registry,
							.blob = blob,
							.chunk_bytes = registry_options_of(registry)->chunk_bytes};
	bool there = false;

	if (has_blob(err, registry, blob->digest, &there))
		return -1;
	if (there) {
		traffic->blobs_there++;
		return 0;
	}
	if (begin_somewhere(err, &upload, &there))
		return -1;
	if (there) {
		traffic->blobs_mounted++;
		return 0;
	}
	if (run_upload(err, &upload))
		return -1;
	traffic->blobs_sent++;
	return 0;
}
