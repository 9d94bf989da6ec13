#include "compile/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/web_address.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/lent_file.h"

enum {
	MOST_PLACES = 64,
	MOST_REDIRECTS = 10,
	MOST_IGNORED = 1 << 20, /* bytes of a redirect's body */
	TIMEOUT_S = 15,         /* pip's own */
	RETRIES = 5,
	PAUSE_MS = 50,
	MOST_PEM = 64 << 20,
};

/* The parts of an address. */
struct address {
	char *whole; /* without name, password and fragment */
	char *origin, *host, *user, *password;
	bool secure;
};

struct http {
	CURL *curl;
	const struct pip_config *config;
	const struct jw_cancel *cancel;
	char *certificates;            /* a file or folder; NULL: libcurl's own */
	bool folder;                   /* it is one */
	struct os_lent bundle, client; /* the file, and the client's certificate; none: missing */
	struct os_lent netrc;
	struct address places[MOST_PLACES]; /* that the configuration names */
	size_t place_count;
	char reason[CURL_ERROR_SIZE];
};

/* One hop of one try. */
struct transfer {
	struct http *http;
	const struct http_request *request;
	const char *url; /* for messages */
	uint64_t taken, ignored;
	struct jw_error err; /* of request->take */
};

static void address_free(struct address *address)
{
	curl_free(address->whole);
	mem_free(address->origin);
	curl_free(address->host);
	curl_free(address->user);
	curl_free(address->password);
	*address = (struct address){0};
}

/* Name and password are optional. */
static CURLUcode read_parts(CURLU *parts, struct address *address, char **scheme, char **port)
{
	CURLUcode code;

	(void)curl_url_get(parts, CURLUPART_USER, &address->user, CURLU_URLDECODE);
	(void)curl_url_get(parts, CURLUPART_PASSWORD, &address->password, CURLU_URLDECODE);
	(void)curl_url_set(parts, CURLUPART_USER, NULL, 0);
	(void)curl_url_set(parts, CURLUPART_PASSWORD, NULL, 0);
	(void)curl_url_set(parts, CURLUPART_FRAGMENT, NULL, 0);
	if ((code = curl_url_get(parts, CURLUPART_URL, &address->whole, 0)) ||
		(code = curl_url_get(parts, CURLUPART_HOST, &address->host, 0)) ||
		(code = curl_url_get(parts, CURLUPART_SCHEME, scheme, 0)))
		return code;
	return curl_url_get(parts, CURLUPART_PORT, port, CURLU_DEFAULT_PORT);
}

static int address_read(struct jw_error *err, const char *url, struct address *ret_address)
{
	CURLU *parts = curl_url();
	struct address address = {0};
	char *scheme = NULL, *port = NULL;
	CURLUcode code = parts ? curl_url_set(parts, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
	int result = -1;

	if (!code)
		code = read_parts(parts, &address, &scheme, &port);
	if (code) {
		/* The address may contain a password. */
		error_set(err, code == CURLUE_OUT_OF_MEMORY ? JW_ERR_MEMORY : JW_ERR_FORMAT,
				  "not an address: %s; check index-url", curl_url_strerror(code));
	} else if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0) {
		error_set(err, JW_ERR_UNSUPPORTED, "%.200s: an index needs https or http", address.whole);
	} else {
		address.secure = !strcmp(scheme, "https");
		address.origin = mem_printf(err, "%s://%s:%s", scheme, address.host, port);
		result = address.origin ? 0 : -1;
	}
	curl_free(scheme);
	curl_free(port);
	curl_url_cleanup(parts);
	if (result)
		address_free(&address);
	else
		*ret_address = address;
	return result;
}

int http_login(struct jw_error *err, struct http *http, const char *url, char **ret_url)
{
	struct address address;
	char *whole;

	if (address_read(err, url, &address))
		return -1;
	whole = mem_string(err, address.whole);
	if (whole && http->place_count < MOST_PLACES)
		http->places[http->place_count++] = address;
	else
		address_free(&address);
	if (!whole)
		return -1;
	*ret_url = whole;
	return 0;
}

int http_resolve(struct jw_error *err, const char *page, const char *link, char **ret_url)
{
	CURLU *parts = curl_url();
	char *whole = NULL, *url;
	CURLUcode code = parts ? curl_url_set(parts, CURLUPART_URL, page, 0) : CURLUE_OUT_OF_MEMORY;

	if (!code)
		code = curl_url_set(parts, CURLUPART_URL, link, CURLU_URLENCODE);
	if (!code)
		code = curl_url_get(parts, CURLUPART_URL, &whole, 0);
	curl_url_cleanup(parts);
	if (code)
		return error_set(err, JW_ERR_FORMAT, "a link is not an address: %s",
						 curl_url_strerror(code));
	url = mem_string(err, whole);
	curl_free(whole);
	if (!url)
		return -1;
	*ret_url = url;
	return 0;
}

static bool is_loopback(const char *host)
{
	return text_equal_fold(host, "localhost") || !strcmp(host, "[::1]") ||
		   (text_starts(host, "127.") && strspn(host, "0123456789.") == strlen(host));
}

/* trusted-host: "host" or "host:port" */
static bool is_trusted(const struct http *http, const struct address *address)
{
	const char *at = http->config->values[PIP_TRUSTED_HOST],
			   *with_port = strstr(address->origin, "//") + 2;
	bool trusted = false;
	char *host;

	while (!trusted && (host = pip_config_next(NULL, &at))) {
		trusted = text_equal_fold(host, address->host) || text_equal_fold(host, with_port);
		mem_free(host);
	}
	return trusted;
}

/* A place on the same origin, if possible one with a name. */
static const struct address *find_address(const struct http *http, const char *url)
{
	const struct address *found = NULL;

	for (size_t i = 0; i < http->place_count; i++)
		if ((!found || !found->user) && web_same_origin(http->places[i].whole, url))
			found = &http->places[i];
	return found;
}

static size_t on_body(char *data, size_t one, size_t size, void *context)
{
	struct transfer *transfer = context;
	const struct http_request *request = transfer->request;
	long status = 0;

	(void)one;
	(void)curl_easy_getinfo(transfer->http->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200) {
		transfer->ignored += size;
		return transfer->ignored > MOST_IGNORED ? 0 : size;
	}
	if (size > request->most_bytes - transfer->taken) {
		error_set(&transfer->err, JW_ERR_LIMIT, "more than %llu bytes",
				  (unsigned long long)request->most_bytes);
		return 0;
	}
	transfer->taken += size;
	return request->take(&transfer->err, request->context, data, size) ? 0 : size;
}

static int on_transfer_progress(void *context, curl_off_t total, curl_off_t done,
								curl_off_t up_total, curl_off_t up)
{
	struct transfer *transfer = context;

	(void)up_total;
	(void)up;
	if (cancel_asked(transfer->http->cancel))
		return 1;
	if (transfer->request->progress && transfer->taken && total > 0 && done <= total)
		transfer->request->progress(transfer->request->progress_context, (uint64_t)done,
									(uint64_t)total);
	return 0;
}

static void set_text(CURL *curl, CURLoption option, const char *text)
{
	if (text)
		(void)curl_easy_setopt(curl, option, text);
}

static void set_proof(const struct http *http, const struct address *address)
{
	const char *bundle = http->bundle.path, *client = http->client.path;
	long verify = !is_trusted(http, address);

	(void)curl_easy_setopt(http->curl, CURLOPT_SSL_VERIFYPEER, verify);
	(void)curl_easy_setopt(http->curl, CURLOPT_SSL_VERIFYHOST, 2 * verify);
	(void)curl_easy_setopt(http->curl, CURLOPT_SSL_OPTIONS, (long)CURLSSLOPT_REVOKE_BEST_EFFORT);
	set_text(http->curl, http->folder ? CURLOPT_CAPATH : CURLOPT_CAINFO,
			 bundle ? bundle : http->certificates);
	set_text(http->curl, CURLOPT_SSLCERT, client ? client : http->config->values[PIP_CLIENT_CERT]);
}

/* Nobody is named in an address that a server gives. */
static void set_login(const struct http *http, const struct address *address)
{
	const struct address *place = find_address(http, address->whole);

	if (place && place->user) {
		(void)curl_easy_setopt(http->curl, CURLOPT_USERNAME, place->user);
		set_text(http->curl, CURLOPT_PASSWORD, place->password);
	} else if (place && http->netrc.path) {
		(void)curl_easy_setopt(http->curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
		set_text(http->curl, CURLOPT_NETRC_FILE, http->netrc.path);
	}
}

/* libcurl does not follow redirects here: every hop needs the checks of its host. */
static void set_options(struct transfer *transfer, const struct address *address,
						struct curl_slist *headers)
{
	struct http *http = transfer->http;
	long timeout = (long)pip_config_number(http->config, PIP_TIMEOUT, TIMEOUT_S);
	CURL *curl = http->curl;

	curl_easy_reset(curl);
	*http->reason = 0;
	(void)curl_easy_setopt(curl, CURLOPT_URL, address->whole);
	(void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->reason);
	(void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_USERAGENT, "jitwarm");
	(void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, timeout);
	(void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, timeout);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	(void)curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	(void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_transfer_progress);
	(void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, transfer);
	if (transfer->request->accept)
		(void)curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
	set_text(curl, CURLOPT_PROXY, http->config->values[PIP_PROXY]);
	set_proof(http, address);
	set_login(http, address);
}

static int fail_transfer(struct jw_error *err, const struct transfer *transfer, CURLcode code)
{
	const char *why = *transfer->http->reason ? transfer->http->reason : curl_easy_strerror(code);
	enum jw_code kind = transfer->err.code;
	long status = 0;

	if (kind)
		return error_set(err, kind, "%.500s: %s", transfer->url, transfer->err.message);
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return error_set(err, JW_ERR_INTERRUPTED, "interrupted");
	if (code == CURLE_WRITE_ERROR)
		return error_set(err, JW_ERR_LIMIT, "%.500s: a redirect with an endless body",
						 transfer->url);
	(void)curl_easy_getinfo(transfer->http->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_HTTP_RETURNED_ERROR)
		return error_set(err, status == 404 || status == 410 ? JW_ERR_NOT_FOUND : JW_ERR_IO,
						 "%.500s: the server answers with status %ld%s", transfer->url, status,
						 status == 401
							 ? "; write the name and password into the index-url of pip's "
							   "configuration, or into ~/.netrc"
							 : "");
	return error_set(err, code == CURLE_OUT_OF_MEMORY ? JW_ERR_MEMORY : JW_ERR_IO, "%.500s: %s",
					 transfer->url, why);
}

/* Repeats a request after a broken connection or a server error. */
static bool is_passing(const struct transfer *transfer, CURLcode code)
{
	static const CURLcode broken[] = {CURLE_COULDNT_RESOLVE_HOST,
									  CURLE_COULDNT_CONNECT,
									  CURLE_PARTIAL_FILE,
									  CURLE_OPERATION_TIMEDOUT,
									  CURLE_GOT_NOTHING,
									  CURLE_SEND_ERROR,
									  CURLE_RECV_ERROR};
	long status = 0;

	if (transfer->err.code)
		return false;
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
		if (code == broken[i])
			return true;
	(void)curl_easy_getinfo(transfer->http->curl, CURLINFO_RESPONSE_CODE, &status);
	return code == CURLE_HTTP_RETURNED_ERROR && (status == 429 || status >= 500);
}

/* Waits 0, ½, 1, 2 … seconds, as pip does. */
static void pause_before(const struct http *http, unsigned retry)
{
	unsigned ms = retry ? 250u << (retry < 8 ? retry : 8) : 0;

	for (unsigned waited = 0; waited < ms && !cancel_asked(http->cancel); waited += PAUSE_MS)
		uv_sleep(PAUSE_MS);
}

static CURLcode perform(struct transfer *transfer, const struct address *address)
{
	const struct http_request *request = transfer->request;
	struct curl_slist *headers = request->accept ? curl_slist_append(NULL, request->accept) : NULL;
	CURLcode code = CURLE_WRITE_ERROR;

	transfer->taken = transfer->ignored = 0;
	set_options(transfer, address, headers);
	if (!request->take(&transfer->err, request->context, NULL, 0))
		code = curl_easy_perform(transfer->http->curl);
	curl_slist_free_all(headers);
	return code;
}

/* Requests one address until it answers; *ret_status is 200 or a redirect's. */
static int ask_server(struct jw_error *err, struct transfer *transfer,
					  const struct address *address, long *ret_status)
{
	struct http *http = transfer->http;
	unsigned retries = pip_config_number(http->config, PIP_RETRIES, RETRIES), retry = 0;
	CURLcode code;

	transfer->url = address->whole;
	if (!address->secure && !is_loopback(address->host) && !is_trusted(http, address))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%.500s: plain http can be changed on its way; name the host as "
						 "trusted-host in pip's configuration to allow it",
						 address->whole);
	while ((code = perform(transfer, address)) && retry < retries && is_passing(transfer, code))
		pause_before(http, retry++);
	if (code)
		return fail_transfer(err, transfer, code);
	(void)curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, ret_status);
	if (*ret_status == 200 || (*ret_status >= 300 && *ret_status < 400))
		return 0;
	return error_set(err, JW_ERR_IO, "%.500s: the server answers with status %ld", transfer->url,
					 *ret_status);
}

static void take_type(CURL *curl, char type[64])
{
	char *text = NULL;
	size_t at = 0;

	(void)curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &text);
	for (; text && at < 63 && text[at] && !strchr("; \t", text[at]); at++)
		type[at] = (char)tolower((unsigned char)text[at]);
	type[at] = 0;
}

/* Replaces `address` by the target of its redirect. */
static int follow_redirects(struct jw_error *err, const struct http *http, struct address *address)
{
	struct address next;
	char *location = NULL;
	bool secure = address->secure;

	(void)curl_easy_getinfo(http->curl, CURLINFO_REDIRECT_URL, &location);
	if (!location)
		return error_set(err, JW_ERR_FORMAT, "%.500s: a redirect without a target", address->whole);
	if (address_read(err, location, &next))
		return error_prefix(err, "%.300s redirects", address->whole);
	address_free(address);
	*address = next;
	if (secure && !next.secure)
		return error_set(err, JW_ERR_FORMAT, "%.500s: a redirect from https to http",
						 address->whole);
	return 0;
}

int http_get(struct jw_error *err, struct http *http, const struct http_request *request,
			 struct http_answer *ret_answer)
{
	struct transfer transfer = {.http = http, .request = request};
	struct http_answer answer = {0};
	struct address address;
	unsigned hops = 0;
	long status;
	int result;

	if (address_read(err, request->url, &address))
		return -1;
	result = ask_server(err, &transfer, &address, &status);
	while (!result && status != 200)
		if (++hops > MOST_REDIRECTS)
			result = error_set(err, JW_ERR_FORMAT, "%.500s: more than %d redirects", request->url,
							   MOST_REDIRECTS);
		else
			result = follow_redirects(err, http, &address) ||
							 ask_server(err, &transfer, &address, &status)
						 ? -1
						 : 0;
	if (!result) {
		take_type(http->curl, answer.type);
		answer.url = mem_string(err, address.whole);
		result = answer.url ? 0 : -1;
	}
	address_free(&address);
	if (!result)
		*ret_answer = answer;
	return result;
}

/* In the order of python's requests, which pip uses. */
static char *find_certificates(const struct pip_config *config)
{
	static const char *const names[] = {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"};
	char *path = config->values[PIP_CERT] ? mem_string(NULL, config->values[PIP_CERT]) : NULL;

	for (size_t i = 0; !path && i < sizeof names / sizeof *names; i++)
		path = pip_config_variable(names[i]);
	/* A libcurl that is part of the program knows no distribution's place. */
	if (!path && !curl_version_info(CURLVERSION_NOW)->cainfo)
		path = os_certificates();
	return path;
}

/* libcurl says what is missing where it needs it. */
static int lend_pem(struct jw_error *err, const char *path, struct os_lent *lent)
{
	struct jw_error why;

	return !path || !os_lend(&why, path, MOST_PEM, lent) || why.code == JW_ERR_NOT_FOUND
			   ? 0
			   : error_copy(err, &why);
}

/* What others name is libcurl's to open only after it was looked at. */
static int lend_files(struct jw_error *err, struct http *http)
{
	struct os_stat stat;

	http->netrc = os_lend_netrc();
	http->folder = http->certificates && !os_stat(NULL, http->certificates, &stat) &&
				   stat.kind == OS_DIRECTORY;
	return lend_pem(err, http->folder ? NULL : http->certificates, &http->bundle) ||
				   lend_pem(err, http->config->values[PIP_CLIENT_CERT], &http->client)
			   ? -1
			   : 0;
}

struct http *http_open(struct jw_error *err, const struct pip_config *config,
					   const struct jw_cancel *cancel)
{
	struct http *http;

	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		error_set(err, JW_ERR_IO, "libcurl cannot start");
		return NULL;
	}
	if (!(http = mem_alloc(err, sizeof *http))) {
		curl_global_cleanup();
		return NULL;
	}
	*http = (struct http){.curl = curl_easy_init(),
						  .config = config,
						  .cancel = cancel,
						  .certificates = find_certificates(config)};
	if (!http->curl) {
		error_set(err, JW_ERR_MEMORY, "out of memory");
		http_close(http);
		return NULL;
	}
	if (lend_files(err, http)) {
		http_close(http);
		return NULL;
	}
	return http;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	curl_easy_cleanup(http->curl);
	for (size_t i = 0; i < http->place_count; i++)
		address_free(&http->places[i]);
	os_lent_close(&http->bundle);
	os_lent_close(&http->client);
	os_lent_close(&http->netrc);
	mem_free(http->certificates);
	mem_free(http);
	curl_global_cleanup();
}
