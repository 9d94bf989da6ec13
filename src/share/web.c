#include "share/web.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/library.h"

enum {
	MOST_HOPS = 5,
	MOST_DROPPED = 1 << 16, /* bytes of an answer that nobody asked for */
	MOST_PEM = 64 << 20,
	SLOW_BYTES = 1000, /* a second */
};

struct web {
	const struct web_options *options;
	CURL *curl;
	char *bundle, *folder;             /* of certificates; NULL: libcurl's own */
	struct os_lent netrc, lent_bundle; /* none: missing */
	bool late;
	char reason[CURL_ERROR_SIZE];
};

/* One hop. */
struct exchange {
	struct web *web;
	const struct web_request *request;
	struct web_answer *answer;
	struct buf refusal; /* the body of an answer that is not good */
	uint64_t given, taken, dropped;
	bool begun;
	struct jw_error err; /* of request->give and take */
};

/* ---- what libcurl calls */

static size_t on_web_header(char *data, size_t one, size_t size, void *context)
{
	struct exchange *exchange = context;

	(void)one;
	/* A status line begins the headers of another answer (100, a proxy's 200). */
	if (size > 5 && !memcmp(data, "HTTP/", 5))
		web_answer_clear(exchange->answer);
	else
		web_answer_header(exchange->answer, data, size);
	return size;
}

static size_t on_web_body(char *data, size_t one, size_t size, void *context)
{
	struct exchange *exchange = context;
	const struct web_request *request = exchange->request;
	struct web_answer *answer = exchange->answer;
	bool good;

	(void)one;
	(void)curl_easy_getinfo(exchange->web->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	good = answer->status >= 200 && answer->status < 300;
	if (good && request->take) {
		if (!exchange->begun && request->begin &&
			request->begin(&exchange->err, request->context, answer))
			return 0;
		exchange->begun = true;
		if (size > request->most_bytes - exchange->taken) {
			error_set(&exchange->err, JW_ERR_LIMIT, "sends more than %llu bytes",
					  (unsigned long long)request->most_bytes);
			return 0;
		}
		exchange->taken += size;
		return request->take(&exchange->err, request->context, data, size) ? 0 : size;
	}
	if (good || buf_append(NULL, &exchange->refusal, data, size))
		exchange->dropped += size;
	if (exchange->dropped <= MOST_DROPPED)
		return size;
	error_set(&exchange->err, JW_ERR_LIMIT, "sends an endless answer");
	return 0;
}

static size_t on_web_give(char *data, size_t one, size_t size, void *context)
{
	struct exchange *exchange = context;
	const struct web_request *request = exchange->request;
	const uint64_t left = request->give_bytes - exchange->given;

	(void)one;
	size = left < size ? (size_t)left : size;
	if (size && request->give(&exchange->err, request->context, exchange->given, data, size))
		return CURL_READFUNC_ABORT;
	exchange->given += size;
	return size;
}

/* libcurl begins again where a proxy or a reused connection wants it. */
static int on_web_seek(void *context, curl_off_t offset, int origin)
{
	struct exchange *exchange = context;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > exchange->request->give_bytes)
		return CURL_SEEKFUNC_FAIL;
	exchange->given = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* ---- one hop */

static void set_limits(CURL *curl, const struct web *web, const struct web_request *request)
{
	const long ms = (long)web->options->timeout_ms, s = ms < 1000 ? 1 : ms / 1000;

	(void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, ms);
	if (request->bulk) {
		(void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
		(void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, s);
	} else {
		(void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 2 * ms);
	}
#if LIBCURL_VERSION_NUM >= 0x075700
	/* A hung resolver does not hold up the end. */
	(void)curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
#endif
}

/* What proves who each of the two is. A name and password of ~/.netrc are for this origin. */
static void set_proofs(const struct exchange *exchange, const char *url)
{
	const struct web *web = exchange->web;
	const struct web_signature *sign = exchange->request->sign;
	const char *bundle = web->lent_bundle.path ? web->lent_bundle.path : web->bundle;

	(void)curl_easy_setopt(web->curl, CURLOPT_SSL_OPTIONS, (long)CURLSSLOPT_REVOKE_BEST_EFFORT);
	if (bundle)
		(void)curl_easy_setopt(web->curl, CURLOPT_CAINFO, bundle);
	if (web->folder)
		(void)curl_easy_setopt(web->curl, CURLOPT_CAPATH, web->folder);
	if (sign) {
		(void)curl_easy_setopt(web->curl, CURLOPT_AWS_SIGV4, sign->how);
		(void)curl_easy_setopt(web->curl, CURLOPT_USERNAME, sign->user);
		(void)curl_easy_setopt(web->curl, CURLOPT_PASSWORD, sign->password);
	} else if (web->netrc.path && web_same_origin(url, exchange->request->url)) {
		(void)curl_easy_setopt(web->curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
		(void)curl_easy_setopt(web->curl, CURLOPT_NETRC_FILE, web->netrc.path);
	}
}

/* libcurl follows no redirect itself: each hop needs the checks of its address. */
static void set_web_options(struct exchange *exchange, const char *url, struct curl_slist *headers)
{
	struct web *web = exchange->web;
	const struct web_request *request = exchange->request;
	CURL *curl = web->curl;

	curl_easy_reset(curl);
	*web->reason = 0;
	(void)curl_easy_setopt(curl, CURLOPT_URL, url);
	(void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, web->reason);
	(void)curl_easy_setopt(curl, CURLOPT_USERAGENT, "jitwarm");
	(void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_web_header);
	(void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_web_body);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
	(void)curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_web_give);
	(void)curl_easy_setopt(curl, CURLOPT_READDATA, exchange);
	(void)curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_web_seek);
	(void)curl_easy_setopt(curl, CURLOPT_SEEKDATA, exchange);
	if (!strcmp(request->method, "PUT")) {
		(void)curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
		(void)curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->give_bytes);
	}
	set_limits(curl, web, request);
	set_proofs(exchange, url);
}

static void add_header(struct curl_slist **headers, const char *text)
{
	struct curl_slist *more = curl_slist_append(*headers, text);

	if (!more)
		mem_ended(0);
	*headers = more;
}

static int fail_exchange(struct jw_error *err, const struct exchange *exchange, const char *url,
						 CURLcode code)
{
	static const CURLcode final[] = {CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
									 CURLE_UNSUPPORTED_PROTOCOL,     CURLE_URL_MALFORMAT,
									 CURLE_SSL_CERTPROBLEM,          CURLE_OPERATION_TIMEDOUT};
	const char *reason = exchange->web->reason;
	enum jw_code kind = JW_ERR_BUSY;
	char how[512] = "";

	exchange->web->late = !exchange->err.code && code == CURLE_OPERATION_TIMEDOUT;
	if (exchange->err.code)
		return error_copy(err, &exchange->err);
	for (size_t i = 0; i < sizeof final / sizeof *final; i++)
		if (code == final[i])
			kind = JW_ERR_IO;
	if (code == CURLE_SSL_CONNECT_ERROR && web_speaks_no_tls(reason))
		kind = JW_ERR_IO;
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		web_say_how_to_prove(reason, how, sizeof how);
	if (code == CURLE_SSL_CONNECT_ERROR)
		web_say_how_to_be_plain(url, how, sizeof how);
	return error_set(err, kind, "%s%s", *reason ? reason : curl_easy_strerror(code), how);
}

static int ask_hop(struct jw_error *err, struct exchange *exchange, const char *url)
{
	struct web *web = exchange->web;
	const struct web_request *request = exchange->request;
	struct curl_slist *headers = NULL;
	CURLcode code;

	web->late = false;
	exchange->given = exchange->taken = exchange->dropped = 0;
	exchange->begun = false;
	buf_clear(&exchange->refusal);
	if (web_may_ask(err, &web->options->plain, url))
		return -1;
	for (size_t i = 0; request->headers[i]; i++)
		add_header(&headers, request->headers[i]);
	/* No “100 Continue” is waited for. libcurl 7.88 signs what is not sent then. */
	if (!request->sign)
		add_header(&headers, "Expect:");
	set_web_options(exchange, url, headers);
	web_answer_clear(exchange->answer);
	code = curl_easy_perform(web->curl);
	(void)curl_easy_getinfo(web->curl, CURLINFO_RESPONSE_CODE, &exchange->answer->status);
	curl_slist_free_all(headers);
	return code ? fail_exchange(err, exchange, url, code) : 0;
}

static bool is_redirect(const struct exchange *exchange)
{
	const long status = exchange->answer->status;

	return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
		   *exchange->answer->location && !exchange->request->stay &&
		   !strcmp(exchange->request->method, "GET");
}

int web_ask(struct jw_error *err, struct web *web, const struct web_request *request,
			struct web_answer *ret_answer)
{
	struct web_answer answer;
	struct exchange exchange = {.web = web,
								.request = request,
								.answer = &answer,
								.refusal = BUF_MAX(WEB_ANSWER_MOST_REFUSAL)};
	char url[4 * WEB_TEXT], from[4 * WEB_TEXT];
	unsigned hops = 0;
	int result;

	if (strlen(request->url) >= sizeof url)
		return error_set(err, JW_ERR_LIMIT, "an address is too long");
	text_copy(url, sizeof url, request->url);
	for (;;) {
		result = ask_hop(err, &exchange, url);
		if (result || !is_redirect(&exchange))
			break;
		text_copy(from, sizeof from, url);
		if (++hops > MOST_HOPS)
			result = error_set(err, JW_ERR_FORMAT, "redirects more than %d times", MOST_HOPS);
		else
			result = web_resolve(err, from, answer.location, url, sizeof url);
		if (!result && text_starts_fold(from, "https:") && !text_starts_fold(url, "https:"))
			result = error_set(err, JW_ERR_FORMAT, "redirects from https to plain http");
		if (result)
			break;
	}
	if (!result && *answer.location) {
		result = web_resolve(err, url, answer.location, from, sizeof from);
		if (!result)
			TEXT_COPY(answer.location, from);
	}
	if (!result) {
		web_answer_words(&answer, buf_text(&exchange.refusal), exchange.refusal.size);
		*ret_answer = answer;
	}
	buf_free(&exchange.refusal);
	return result;
}

bool web_is_late(const struct web *web)
{
	return web->late;
}

/* ---- the whole */

static int find_web_certificates(struct jw_error *err, struct web *web)
{
	static const char *const bundles[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE"};
	struct jw_error why = {0};

	for (size_t i = 0; !web->bundle && i < sizeof bundles / sizeof *bundles; i++) {
		web->bundle = os_env(bundles[i]);
		if (web->bundle && !*web->bundle) {
			mem_free(web->bundle);
			web->bundle = NULL;
		}
	}
	web->folder = os_env("SSL_CERT_DIR");
	if (web->options->netrc)
		web->netrc = os_lend_netrc();
	/* A libcurl that is part of the program knows no distribution's place. */
	if (!web->bundle && !web->folder && !curl_version_info(CURLVERSION_NOW)->cainfo)
		web->bundle = os_certificates();
	/* What others name is libcurl's to open only after it was looked at: it would wait for a pipe.
	 * It says itself what is missing. */
	if (web->bundle && os_lend(&why, web->bundle, MOST_PEM, &web->lent_bundle) &&
		why.code != JW_ERR_NOT_FOUND)
		return error_copy(err, &why);
	return 0;
}

struct web *web_open(struct jw_error *err, const struct web_options *options)
{
	struct web *web;

	/* The youngest that is needed: of libcurl 7.62 */
	if (os_late_library(err, "curl_url"))
		return NULL;
	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		error_set(err, JW_ERR_IO, "libcurl cannot start");
		return NULL;
	}
	web = mem_alloc(sizeof *web);
	web->options = options;
	web->curl = curl_easy_init();
	if (!web->curl)
		mem_ended(0);
	if (find_web_certificates(err, web)) {
		web_close(web);
		return NULL;
	}
	return web;
}

void web_close(struct web *web)
{
	if (!web)
		return;
	curl_easy_cleanup(web->curl);
	mem_free(web->bundle);
	mem_free(web->folder);
	os_lent_close(&web->netrc);
	os_lent_close(&web->lent_bundle);
	mem_free(web);
	curl_global_cleanup();
}
