#include "net/web.h"

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
	POLL_MS = 100,
	SLOW_BYTES = 1000, /* a second */
};

struct web {
	const struct web_options *options;
	CURLM *many; /* one transfer at a time; its loop asks for Ctrl-C often */
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

static bool is_good(long status)
{
	return status >= 200 && status < 300;
}

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

static int take_good(struct exchange *exchange, const char *data, size_t size)
{
	const struct web_request *request = exchange->request;

	if (!exchange->begun && request->begin &&
		request->begin(&exchange->err, request->context, exchange->answer))
		return -1;
	exchange->begun = true;
	if (size > request->most_bytes - exchange->taken)
		return error_set(&exchange->err, JW_ERR_LIMIT, "sends more than %llu bytes",
						 (unsigned long long)request->most_bytes);
	exchange->taken += size;
	return request->take(&exchange->err, request->context, data, size);
}

static size_t on_web_body(char *data, size_t one, size_t size, void *context)
{
	struct exchange *exchange = context;
	bool good;

	(void)one;
	(void)curl_easy_getinfo(exchange->web->curl, CURLINFO_RESPONSE_CODE, &exchange->answer->status);
	good = is_good(exchange->answer->status);

	if (good && exchange->request->take)
		return take_good(exchange, data, size) ? 0 : size;
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

/* libcurl begins again where a proxy or a reused connection wants it. Of a blob, the server may
 * have kept what it got: only its session says where to go on. */
static int on_web_seek(void *context, curl_off_t offset, int origin)
{
	struct exchange *exchange = context;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > exchange->request->give_bytes ||
		(exchange->request->bulk && (uint64_t)offset != exchange->given))
		return CURL_SEEKFUNC_FAIL;
	exchange->given = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* ---- one hop */

static void set_web_text(CURL *curl, CURLoption option, const char *text)
{
	if (text)
		(void)curl_easy_setopt(curl, option, text);
}

static void set_method(CURL *curl, const struct web_request *request)
{
	if (!strcmp(request->method, "HEAD"))
		(void)curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	else if (request->give || !strcmp(request->method, "PUT") ||
			 !strcmp(request->method, "PATCH") || !strcmp(request->method, "POST")) {
		(void)curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
		(void)curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->give_bytes);
		(void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	}
}

static void set_limits(CURL *curl, const struct web *web, const struct web_request *request)
{
	const long ms = (long)web->options->timeout_ms, s = ms < 1000 ? 1 : ms / 1000;

	(void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, ms);
	if (request->bulk) {
		(void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
		/* A server reads what it got once more before it answers. */
		(void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, request->give ? 4 * s : s);
	} else {
		(void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 2 * ms);
	}
#if LIBCURL_VERSION_NUM >= 0x075700
	/* A hung resolver does not hold up the end. */
	(void)curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
#endif
}

/* The name and password of ~/.netrc for this origin. */
static void set_web_login(const struct exchange *exchange, const char *url)
{
	const struct web *web = exchange->web;
	const struct web_signature *sign = exchange->request->sign;

	if (sign) {
		(void)curl_easy_setopt(web->curl, CURLOPT_AWS_SIGV4, sign->how);
		(void)curl_easy_setopt(web->curl, CURLOPT_USERNAME, sign->user);
		(void)curl_easy_setopt(web->curl, CURLOPT_PASSWORD, sign->password);
	} else if (web->netrc.path && web_same_origin(url, exchange->request->url)) {
		(void)curl_easy_setopt(web->curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
		(void)curl_easy_setopt(web->curl, CURLOPT_NETRC_FILE, web->netrc.path);
	}
}

static void set_web_proof(const struct web *web)
{
	(void)curl_easy_setopt(web->curl, CURLOPT_SSL_OPTIONS, (long)CURLSSLOPT_REVOKE_BEST_EFFORT);
	set_web_text(web->curl, CURLOPT_CAINFO,
				 web->lent_bundle.path ? web->lent_bundle.path : web->bundle);
	set_web_text(web->curl, CURLOPT_CAPATH, web->folder);
}

/* libcurl follows no redirect itself: each hop needs the checks of its address. */
static void set_web_options(struct exchange *exchange, const char *url, struct curl_slist *headers)
{
	struct web *web = exchange->web;
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
	set_method(curl, exchange->request);
	set_limits(curl, web, exchange->request);
	set_web_proof(web);
	set_web_login(exchange, url);
}

static void add_header(struct curl_slist **headers, const char *text)
{
	struct curl_slist *more = curl_slist_append(*headers, text);

	if (!more)
		mem_ended(0);
	*headers = more;
}

static int list_headers(const struct web_request *request, const char *url,
						struct curl_slist **headers)
{
	const bool proves = request->authorization && web_same_origin(url, request->url);
	char *line = proves ? mem_printf("Authorization: %s", request->authorization) : NULL;
	int result = proves && !line ? -1 : 0;

	for (size_t i = 0; !result && request->headers[i]; i++)
		add_header(headers, request->headers[i]);
	/* No “100 Continue” is waited for. libcurl 7.88 signs what is not sent then. */
	if (!result && !request->sign)
		add_header(headers, "Expect:");
	if (!result && line)
		add_header(headers, line);
	mem_free(line);
	return result;
}

/* curl_easy_perform would notice Ctrl-C only after a second. */
static CURLcode run_transfer(struct jw_error *err, struct web *web)
{
	CURLcode code = CURLE_FAILED_INIT;
	int running = 1, left;
	const CURLMsg *message;

	if (curl_multi_add_handle(web->many, web->curl))
		return code;
	while (running && !curl_multi_perform(web->many, &running) && running &&
		   !cancel_check(err, web->options->cancel))
		if (curl_multi_poll(web->many, NULL, 0, POLL_MS, NULL))
			break;
	while ((message = curl_multi_info_read(web->many, &left)))
		if (message->msg == CURLMSG_DONE)
			code = message->data.result;
	(void)curl_multi_remove_handle(web->many, web->curl);
	return code;
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
	if (code == CURLE_OUT_OF_MEMORY)
		mem_ended(0);
	for (size_t i = 0; i < sizeof final / sizeof *final; i++)
		if (code == final[i])
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
	struct curl_slist *headers = NULL;
	struct jw_error why = {0};
	CURLcode code;
	int result;

	web->late = false;
	exchange->given = exchange->taken = exchange->dropped = 0;
	exchange->begun = false;
	buf_clear(&exchange->refusal);
	result = web_may_ask(err, &web->options->plain, url) ||
			 list_headers(exchange->request, url, &headers);
	if (!result) {
		set_web_options(exchange, url, headers);
		web_answer_clear(exchange->answer);
		code = run_transfer(&why, web);
		(void)curl_easy_getinfo(web->curl, CURLINFO_RESPONSE_CODE, &exchange->answer->status);
		if (why.code)
			result = error_copy(err, &why);
		else if (code)
			result = fail_exchange(err, exchange, url, code);
	}
	curl_slist_free_all(headers);
	return result ? -1 : 0;
}

static bool is_redirect(const struct exchange *exchange)
{
	const long status = exchange->answer->status;

	return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
		   *exchange->answer->location && !exchange->request->stay &&
		   (!strcmp(exchange->request->method, "GET") ||
			!strcmp(exchange->request->method, "HEAD"));
}

/* The next address in place of `url`. */
static int follow_web_redirect(struct jw_error *err, struct exchange *exchange, const char *from,
							   char url[4 * WEB_TEXT])
{
	if (web_resolve(err, from, exchange->answer->location, url, 4 * WEB_TEXT))
		return -1;
	if (text_starts_fold(from, "https:") && !text_starts_fold(url, "https:"))
		return error_set(err, JW_ERR_FORMAT, "redirects from https to plain http");
	return 0;
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
		result = ++hops > MOST_HOPS
					 ? error_set(err, JW_ERR_FORMAT, "redirects more than %d times", MOST_HOPS)
					 : follow_web_redirect(err, &exchange, from, url);
		if (result)
			break;
	}
	if (!result && *answer.location && web_resolve(err, url, answer.location, from, sizeof from))
		result = -1;
	else if (!result && *answer.location)
		TEXT_COPY(answer.location, from);
	if (!result) {
		text_copy(answer.url, sizeof answer.url, url);
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
	return web->bundle && os_lend(&why, web->bundle, MOST_PEM, &web->lent_bundle) &&
				   why.code != JW_ERR_NOT_FOUND
			   ? error_copy(err, &why)
			   : 0;
}

struct web *web_open(struct jw_error *err, const struct web_options *options)
{
	struct web *web;

	/* The youngest that is needed: of libcurl 7.66 */
	if (os_late_library(err, "curl_multi_poll"))
		return NULL;
	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		error_set(err, JW_ERR_IO, "libcurl cannot start");
		return NULL;
	}
	web = mem_alloc(sizeof *web);
	web->options = options;
	web->many = curl_multi_init();
	web->curl = curl_easy_init();
	if (!web->many || !web->curl)
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
	if (web->curl)
		curl_easy_cleanup(web->curl);
	if (web->many)
		(void)curl_multi_cleanup(web->many);
	mem_free(web->bundle);
	mem_free(web->folder);
	os_lent_close(&web->netrc);
	os_lent_close(&web->lent_bundle);
	mem_free(web);
	curl_global_cleanup();
}
