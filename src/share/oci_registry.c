#include "share/oci_registry.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "share/login.h"

enum { READ = 1 << 20, MOST_CONTINUED = 32 };
/* So many times the time of one document, for all of them together: an index names hundreds. */
enum { MOST_DOCUMENT_TIMES = 20 };

struct registry {
	const struct registry_options *options;
	struct web *web;
	struct login login;
	char place[REFERENCE_HOST + REFERENCE_REPOSITORY];
	char base[REFERENCE_HOST + REFERENCE_REPOSITORY + 32]; /* https://HOST/v2/REPOSITORY */
	char scope[REFERENCE_REPOSITORY + 32];
	uint64_t document_ns; /* that documents have taken */
};

void registry_digest(char digest[REFERENCE_DIGEST], const void *data, size_t size)
{
	uint8_t hash[crypto_hash_sha256_BYTES];

	(void)crypto_hash_sha256(hash, data, size);
	memcpy(digest, "sha256:", 7);
	sodium_bin2hex(digest + 7, REFERENCE_DIGEST - 7, hash, sizeof hash);
}

struct registry *registry_open(struct jw_error *err, const struct registry_options *options)
{
	const struct reference *reference = options->reference;
	const char *server = reference_server(reference);
	struct registry *registry = mem_alloc(err, sizeof *registry);

	if (!registry)
		return NULL;
	registry->options = options;
	registry->login.reference = reference;
	registry->login.plain = &options->web.plain;
	registry->login.base = registry->base;
	(void)snprintf(registry->place, sizeof registry->place, "%s/%s", reference->host,
				   reference->repository);
	(void)snprintf(registry->scope, sizeof registry->scope, "repository:%s:pull%s",
				   reference->repository, options->push ? ",push" : "");
	registry->login.scope = registry->scope;
	if (sodium_init() < 0 || !(registry->web = web_open(err, &options->web))) {
		registry_close(registry);
		return NULL;
	}
	(void)snprintf(registry->base, sizeof registry->base, "%s://%s/v2/%s",
				   web_scheme(&options->web.plain, server), server, reference->repository);
	return registry;
}

void registry_close(struct registry *registry)
{
	if (!registry)
		return;
	login_free(&registry->login);
	web_close(registry->web);
	mem_free(registry);
}

const char *registry_place(const struct registry *registry)
{
	return registry->place;
}

static char *registry_url(struct jw_error *err, const struct registry *registry, const char *kind,
						  const char *name)
{
	return mem_printf(err, "%s/%s/%s", registry->base, kind, name);
}

static int registry_prefix(struct jw_error *err, const struct registry *registry, const char *what)
{
	/* Only here is a broken connection another thing than a failure, and “not found” would mean the
	 * manifest. */
	if (err && (err->code == JW_ERR_BUSY || err->code == JW_ERR_NOT_FOUND))
		err->code = JW_ERR_IO;
	if (err && (err->code == JW_ERR_INTERRUPTED || err->code == JW_ERR_MEMORY))
		return -1;
	return error_prefix(err, "%s: %s", registry->place, what);
}

static int registry_refusal(struct jw_error *err, const struct registry *registry, const char *what,
							const struct web_answer *answer)
{
	const char *host = registry->options->reference->host;
	const long status = answer->status;
	char wait[64] = "", help[2 * REFERENCE_HOST + 64] = "";

	if (answer->wait_s >= 0)
		(void)text_format(wait, sizeof wait, ", try again in %lld s", (long long)answer->wait_s);
	if (status == 401 || status == 403)
		(void)text_format(help, sizeof help,
						  "; “docker login %s” or “podman login %s” changes the name", host, host);
	else if (status == 413)
		TEXT_COPY(help, "; what stands in between limits requests (nginx: "
						"client_max_body_size): raise that for images and packs");
	return error_set(err, status == 404 ? JW_ERR_NOT_FOUND : JW_ERR_IO,
					 "%s: %s: the registry answers with status %ld%s%s%s%s%s", registry->place,
					 what, status, *answer->said ? " (" : "", answer->said,
					 *answer->said ? ")" : "", wait, help);
}

static int log_in(struct jw_error *err, struct registry *registry, const struct web_answer *answer)
{
	if (!*answer->challenge)
		return error_set(err, JW_ERR_FORMAT,
						 "refuses with status 401, and does not say how to "
						 "log in");
	return login_answer(err, &registry->login, registry->web, answer->challenge);
}

static int registry_ask_once(struct jw_error *err, struct registry *registry,
							 struct web_request *request, struct web_answer *ret_answer)
{
	/* An upload may go to another host, which is not told who we are. */
	const bool ours = web_same_origin(request->url, registry->base);
	int result;

	request->authorization = ours ? registry->login.authorization : NULL;
	result = web_ask(err, registry->web, request, ret_answer);
	if (result || ret_answer->status != 401 || !web_same_origin(ret_answer->url, registry->base))
		return result;
	if (log_in(err, registry, ret_answer))
		return -1;
	request->authorization = registry->login.authorization;
	return web_ask(err, registry->web, request, ret_answer);
}

static bool is_passing_status(long status)
{
	return status == 429 || status >= 500;
}

static int registry_ask(struct jw_error *err, struct registry *registry,
						struct web_request *request, struct web_answer *ret_answer)
{
	struct jw_error why;
	unsigned tries = 0;
	int result;

	do {
		why = (struct jw_error){0};
		result = registry_ask_once(&why, registry, request, ret_answer);
	} while ((result ? why.code == JW_ERR_BUSY : is_passing_status(ret_answer->status)) &&
			 web_wait(registry->web, tries++, result ? -1 : ret_answer->wait_s));
	return result ? error_copy(err, &why) : 0;
}

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
static int give_blob(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size)
{
	return read_blob(err, context, offset, data, size);
}

/* ---- manifests */

static const char accept_manifests[] = "Accept: " REGISTRY_MANIFEST ", " REGISTRY_INDEX;

static int begin_document(struct jw_error *err, void *context, const struct web_answer *answer)
{
	(void)err;
	(void)answer;
	buf_clear(context);
	return 0;
}

static int take_json_text(struct jw_error *err, void *context, const void *data, size_t size)
{
	return buf_append(err, context, data, size);
}

static int ask_document(struct jw_error *err, struct registry *registry, const char *url,
						const char *accept, struct buf *text, struct web_answer *ret_answer)
{
	struct web_request request = {.method = text ? "GET" : "HEAD",
								  .url = url,
								  .headers = {accept},
								  .begin = text ? begin_document : NULL,
								  .take = text ? take_json_text : NULL,
								  .context = text,
								  .most_bytes = REGISTRY_MOST_MANIFEST};

	const uint64_t limit_ms = MOST_DOCUMENT_TIMES * registry->options->web.timeout_ms;
	const uint64_t before_ns = os_monotonic_ns();
	int result;

	if (text)
		*text = BUF_MAX(REGISTRY_MOST_MANIFEST);
	if (registry->document_ns / 1000000 > limit_ms)
		return error_set(err, JW_ERR_IO,
						 "its manifests took more than %llu s, %d times --timeout; give it more "
						 "time",
						 (unsigned long long)limit_ms / 1000, MOST_DOCUMENT_TIMES);
	result = registry_ask(err, registry, &request, ret_answer);
	registry->document_ns += os_monotonic_ns() - before_ns;
	return result;
}

int registry_head(struct jw_error *err, struct registry *registry, const char *name,
				  char ret_digest[REFERENCE_DIGEST])
{
	char *url = registry_url(err, registry, "manifests", name);
	struct web_answer answer;
	int result = url ? ask_document(err, registry, url, accept_manifests, NULL, &answer) : -1;

	mem_free(url);
	if (result)
		return registry_prefix(err, registry, name);
	if (answer.status != 200 && answer.status != 404)
		return registry_refusal(err, registry, name, &answer);
	if (answer.status == 404)
		*ret_digest = '\0';
	else
		text_copy(ret_digest, REFERENCE_DIGEST,
				  reference_is_digest(answer.digest) ? answer.digest : "?");
	return 0;
}

int registry_manifest(struct jw_error *err, struct registry *registry, const char *name,
					  struct buf *text, char ret_digest[REFERENCE_DIGEST])
{
	char *url = registry_url(err, registry, "manifests", name), digest[REFERENCE_DIGEST];
	struct web_answer answer = {0};
	int result;

	*text = (struct buf){0};
	result = url ? ask_document(err, registry, url, accept_manifests, text, &answer) : -1;
	mem_free(url);
	if (result) {
		registry_prefix(err, registry, name);
	} else if (answer.status != 200) {
		result = registry_refusal(err, registry, name, &answer);
	} else {
		registry_digest(digest, buf_text(text), text->size);
		if ((reference_is_digest(name) && strcmp(name, digest) != 0) ||
			(reference_is_digest(answer.digest) && strcmp(answer.digest, digest) != 0))
			result = error_set(err, JW_ERR_FORMAT,
							   "%s: %s: the registry sent a manifest with another digest",
							   registry->place, name);
	}
	if (result)
		buf_free(text);
	else
		text_copy(ret_digest, REFERENCE_DIGEST, digest);
	return result;
}

int registry_put(struct jw_error *err, struct registry *registry, const char *name,
				 const char *type, const struct buf *text)
{
	char *url = registry_url(err, registry, "manifests", name), header[128];
	struct blob blob = {.data = text->data};
	struct web_request request = {.method = "PUT",
								  .url = url,
								  .headers = {header},
								  .give = give_blob,
								  .give_bytes = text->size,
								  .context = &blob};
	struct web_answer answer;
	int result;

	if (!url)
		return -1;
	(void)snprintf(header, sizeof header, "Content-Type: %s", type);
	result = registry_ask(err, registry, &request, &answer);
	mem_free(url);
	if (result)
		return registry_prefix(err, registry, name);
	return answer.status == 201 || answer.status == 200
			   ? 0
			   : registry_refusal(err, registry, name, &answer);
}

/* ---- blobs, up */

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
	struct jw_traffic *traffic = registry->options->web.traffic;
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
	} while (result && again && web_wait(registry->web, tries++, wait_s));
	if (result)
		return error_copy(err, &why);
	traffic->blobs_sent++;
	return 0;
}

/* ---- blobs, down */

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
		download->registry->options->web.traffic->resumed++;
	}
	return registry_ask_once(err, download->registry, &request, ret_answer);
}

/* Until all is there, or several tries in a row have brought nothing. */
static int fetch_blob(struct jw_error *err, struct download *download, const char *url,
					  const char *digest)
{
	struct web *web = download->registry->web;
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
						 "%s: %s: the registry sent other bytes, with digest %s", registry->place,
						 digest, got);
	return 0;
}
