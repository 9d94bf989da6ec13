#include "share/blobs.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { MOST_CONTINUED = 32 };

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

static bool is_passing_status(long status)
{
	return status == 429 || status >= 500;
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
