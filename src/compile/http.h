/* Getting something by HTTP or HTTPS: libcurl, as pip's configuration says it is to be asked.
 *
 * An address in plain http is asked only where its host is this machine or one that the
 * configuration trusts. Names and passwords go to the host, scheme and port that they were given
 * for, and to no other that one redirects to. Messages never hold them. */
#pragma once

#include <stdint.h>

#include "base/cancel.h"
#include "compile/pip_config.h"

struct http;

/* What is done with a body. `begin` is called before its first byte, and again where the answer
 * broke off and is asked for once more. */
struct http_sink {
	void *context;
	int (*begin)(struct jw_error *err, void *context);
	int (*take)(struct jw_error *err, void *context, const void *data, size_t size);
};

struct http_request {
	const char *url;
	const char *accept; /* NULL: anything, as it is; else it may travel compressed */
	uint64_t most_bytes;
	struct http_sink sink;
	void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
	void *context;                                                              /* of progress */
};

struct http_answer {
	char *url; /* that has answered, after redirects, without name and password; for the caller */
	char type[64]; /* "text/html", in lower case; "" where it does not say */
};

/* `config` and `cancel` must outlive it. libcurl's global
 * state is counted by libcurl itself (7.84 and later: from any thread, beside an application's own
 * use). NULL and err set. */
struct http *http_open(struct jw_error *err, const struct pip_config *config,
					   const struct jw_cancel *cancel);
void http_close(struct http *http);

/* Remembers the name and password in an address, for everything on that host. *ret_url is the
 * address without them, for the caller. */
int http_login(struct jw_error *err, struct http *http, const char *url, char **ret_url);

/* The address of a link on a page. The caller frees it. */
int http_resolve(struct jw_error *err, const char *page, const char *link, char **ret_url);

/* JW_ERR_NOT_FOUND: it is not there (404, 410); JW_ERR_LIMIT: more than most_bytes;
 * JW_ERR_INTERRUPTED: cancelled. What `sink` fails with is passed on. The caller frees
 * ret_answer->url. */
int http_get(struct jw_error *err, struct http *http, const struct http_request *request,
			 struct http_answer *ret_answer);
