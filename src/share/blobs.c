#include "share/blobs.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { READ = 1 << 20, MOST_CONTINUED = 32 };

static bool is_passing_status(long status)
{
	return status == 429 || status >= 500;
}

/* ---- up */

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

static int give_blob(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size)
{
	return read_blob(err, context, offset, data, size);
}

/* All bytes in one request, in a session of its own. *ret_again: another try may mend a failure,
 * after *ret_wait_s (-1: the registry does not say). */
static int upload_once(struct jw_error *err, struct registry *registry, const struct blob *blob,
					   bool *ret_again, int64_t *ret_wait_s)
{
	char *begin = registry_url(err, registry, "blobs", "uploads/");
	struct buf url = BUF_MAX(5 * WEB_TEXT);
	struct web_request session = {.method = "POST", .url = begin};
	struct web_request request = {.method = "PUT",
								  .headers = {"Content-Type: application/octet-stream"},
								  .give = give_blob,
								  .give_bytes = blob->size_bytes,
								  .context = (void *)(uintptr_t)blob,
								  .bulk = true};
	struct web_answer answer;
	struct jw_error why = {0};
	int result = -1;

	*ret_again = false;
	*ret_wait_s = -1;
	if (!begin)
		goto done;
	if (registry_ask(err, registry, &session, &answer)) {
		registry_prefix(err, registry, blob->digest);
		goto done;
	}
	if (answer.status != 202) {
		registry_refusal(err, registry, "an upload", &answer);
		goto done;
	}
	if (!*answer.location) {
		error_set(err, JW_ERR_FORMAT, "the registry does not say where an upload goes");
		goto done;
	}
	if (buf_printf(err, &url, "%s%s", answer.location, strchr(answer.location, '?') ? "&" : "?") ||
		web_query(err, &url, "digest", blob->digest))
		goto done;
	request.url = buf_text(&url);
	if (registry_ask_once(&why, registry, &request, &answer)) {
		*ret_again = why.code == JW_ERR_BUSY;
		error_copy(err, &why);
		registry_prefix(err, registry, blob->digest);
	} else if (answer.status == 201 || answer.status == 204) {
		result = 0;
	} else {
		*ret_again = is_passing_status(answer.status);
		*ret_wait_s = answer.wait_s;
		registry_refusal(err, registry, blob->digest, &answer);
	}
done:
	mem_free(begin);
	buf_free(&url);
	return result;
}

int blob_push(struct jw_error *err, struct registry *registry, const struct blob *blob)
{
	struct jw_traffic *traffic = registry_options_of(registry)->web.traffic;
	char *url = registry_url(err, registry, "blobs", blob->digest);
	struct web_request request = {.method = "HEAD", .url = url};
	struct web_answer answer;
	struct jw_error why;
	unsigned tries = 0;
	bool again;
	int64_t wait_s;
	int result = url ? registry_ask(err, registry, &request, &answer) : -1;

	mem_free(url);
	if (result)
		return registry_prefix(err, registry, blob->digest);
	if (answer.status == 200) {
		traffic->blobs_there++;
		return 0;
	}
	if (answer.status != 404)
		return registry_refusal(err, registry, blob->digest, &answer);
	do {
		why = (struct jw_error){0};
		result = upload_once(&why, registry, blob, &again, &wait_s);
	} while (result && again && web_wait(registry_web(registry), tries++, wait_s));
	if (result)
		return error_copy(err, &why);
	traffic->blobs_sent++;
	return 0;
}

/* ---- down */

struct download {
	struct registry *registry;
	const struct blob_progress *progress;
	struct os_file *file;
	uint64_t size_bytes, done;
	crypto_hash_sha256_state hash;
};

/* A server that ignores the range begins again. */
static int begin_download(struct jw_error *err, void *context, const struct web_answer *answer)
{
	struct download *download = context;

	if (answer->status == 206 && answer->has_start && answer->start == download->done)
		return 0;
	if (answer->status == 206 && (download->done || answer->has_start))
		return error_set(err, JW_ERR_FORMAT, "the registry sends another range than was asked for");
	download->done = 0;
	(void)crypto_hash_sha256_init(&download->hash);
	return 0;
}

static int take_download(struct jw_error *err, void *context, const void *data, size_t size)
{
	struct download *download = context;
	const struct blob_progress *progress = download->progress;

	if (size > download->size_bytes - download->done)
		return error_set(err, JW_ERR_FORMAT,
						 "the registry sends more than the %llu bytes that the "
						 "manifest names",
						 (unsigned long long)download->size_bytes);
	if (os_file_write(err, download->file, download->done, data, size))
		return -1;
	(void)crypto_hash_sha256_update(&download->hash, data, size);
	download->done += size;
	if (progress && progress->tell)
		progress->tell(progress->context, download->done, download->size_bytes);
	return 0;
}

static int ask_download(struct jw_error *err, struct download *download, const char *url,
						struct web_answer *ret_answer)
{
	char range[64];
	struct web_request request = {.method = "GET",
								  .url = url,
								  .headers = {"Accept: application/octet-stream"},
								  .begin = begin_download,
								  .take = take_download,
								  .context = download,
								  .most_bytes = download->size_bytes + 1,
								  .bulk = true};

	(void)snprintf(range, sizeof range, "Range: bytes=%llu-", (unsigned long long)download->done);
	if (download->done) {
		request.headers[1] = range;
		registry_options_of(download->registry)->web.traffic->resumed++;
	}
	return registry_ask_once(err, download->registry, &request, ret_answer);
}

/* Until all is there, or several tries in a row have brought nothing. */
static int fetch_blob(struct jw_error *err, struct download *download, const char *url,
					  const char *digest)
{
	struct web *web = registry_web(download->registry);
	unsigned tries = 0, continued = 0;

	for (;;) {
		const uint64_t before = download->done;
		struct jw_error why = {0};
		struct web_answer answer = {0};
		const int failed = ask_download(&why, download, url, &answer);

		if (failed && why.code != JW_ERR_BUSY) {
			error_copy(err, &why);
			return registry_prefix(err, download->registry, digest);
		}
		if (!failed && !is_passing_status(answer.status)) {
			if (answer.status != 200 && answer.status != 206)
				return registry_refusal(err, download->registry, digest, &answer);
			if (download->done == download->size_bytes)
				return 0;
			error_set(&why, JW_ERR_FORMAT, "the registry sends %llu of %llu bytes",
					  (unsigned long long)download->done, (unsigned long long)download->size_bytes);
		}
		tries = download->done > before ? 0 : tries + 1;
		if (!web_wait(web, tries, failed || answer.wait_s < 0 ? -1 : answer.wait_s) ||
			++continued > MOST_CONTINUED) {
			if (!why.code)
				return registry_refusal(err, download->registry, digest, &answer);
			error_copy(err, &why);
			return registry_prefix(err, download->registry, digest);
		}
	}
}

int blob_pull(struct jw_error *err, struct registry *registry, const char *digest,
			  uint64_t size_bytes, struct os_file *file, const struct blob_progress *progress)
{
	struct download download = {
		.registry = registry, .progress = progress, .file = file, .size_bytes = size_bytes};
	char *url = registry_url(err, registry, "blobs", digest), got[REFERENCE_DIGEST] = "sha256:";
	uint8_t hash[crypto_hash_sha256_BYTES];
	int result;

	if (!url)
		return -1;
	(void)crypto_hash_sha256_init(&download.hash);
	result = fetch_blob(err, &download, url, digest);
	mem_free(url);
	if (result)
		return -1;
	(void)crypto_hash_sha256_final(&download.hash, hash);
	sodium_bin2hex(got + 7, sizeof got - 7, hash, sizeof hash);
	if (strcmp(got, digest) != 0)
		return error_set(err, JW_ERR_FORMAT,
						 "%s: %s: the registry sent other bytes, with digest %s",
						 registry_place(registry), digest, got);
	return 0;
}
