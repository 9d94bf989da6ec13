/* HTTP and HTTPS with libcurl and the settings of pip's configuration.
 *
 * Plain http works only for this machine and for hosts that the configuration trusts. Names and
 * passwords, also those of .netrc, go only to the scheme, host and port of a place that the
 * configuration names, never to another one of a redirect or a page. Messages never contain them.
 */
#pragma once

#include <stdint.h>

#include "base/cancel.h"
#include "compile/pip_config.h"

struct http;

struct http_request {
	const char *url;
	const char *accept; /* a header; the answer may be compressed. NULL: anything, uncompressed */
	uint64_t most_bytes;
	/* Takes the body. `data` NULL: begin, also after an interrupted answer. */
	int (*take)(struct jw_error *err, void *context, const void *data, size_t size);
	void *context;
	void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
	void *progress_context;
};

struct http_answer {
	char *url;     /* of the answer, after redirects, without name and password; for the caller */
	char type[64]; /* "text/html", in lower case; "" if there is none */
};

/* `config` and `cancel` must outlive it. libcurl counts its global state itself (from 7.84 on in
 * any thread, beside an application's use). NULL and err set. */
struct http *http_open(struct jw_error *err, const struct pip_config *config,
					   const struct jw_cancel *cancel);
void http_close(struct http *http);

/* Remembers an address that the configuration names, with its name and password, for everything on
 * that scheme, host and port. *ret_url is the address without them, for the caller. */
int http_login(struct jw_error *err, struct http *http, const char *url, char **ret_url);

/* The address of a link on a page. The caller frees it. */
int http_resolve(struct jw_error *err, const char *page, const char *link, char **ret_url);

/* JW_ERR_NOT_FOUND: 404 and 410; JW_ERR_LIMIT: more than most_bytes;
 * JW_ERR_INTERRUPTED: cancelled; or the error of `take`. The caller frees
 * ret_answer->url. */
int http_get(struct jw_error *err, struct http *http, const struct http_request *request,
			 struct http_answer *ret_answer);
