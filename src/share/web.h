/* One request to a server, by libcurl, with every limit: sizes, redirects, time.
 *
 * Plain http works only for hosts that the options allow. What proves who we are goes only to the
 * scheme, host and port that it was given for, never along a redirect to another one. Messages
 * never contain it. Proxies are those of curl's environment variables (https_proxy, no_proxy …),
 * certificates those of CURL_CA_BUNDLE, SSL_CERT_FILE and SSL_CERT_DIR. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/share.h>

#include "base/buf.h"

/* ---- addresses of servers (web_address.c). Messages name the host alone. */

/* Which servers may be asked by plain http. */
struct web_hosts {
	bool here;                /* this machine */
	const char *const *hosts; /* and these: "HOST" or "HOST:PORT" */
	size_t host_count;
};

/* Whether curl's reason says that a server answered a TLS handshake with something else. */
bool web_speaks_no_tls(const char *reason);
/* For a server that answers no TLS: what asks it by plain http. */
void web_say_how_to_be_plain(const char *url, char *text, size_t size);
/* JW_ERR_FORMAT: not an address, or one that only https may go to. */
int web_may_ask(struct jw_error *err, const struct web_hosts *plain, const char *url);
/* "https" or, where that is allowed, "http". */
const char *web_scheme(const struct web_hosts *plain, const char *host);
/* An address with a host, and without a query: what is below it has addresses, too. JW_ERR_USAGE
 * for any other text. */
int web_check_address(struct jw_error *err, const char *url);
/* The whole address of `link` on a page. */
int web_resolve(struct jw_error *err, const char *page, const char *link, char *ret_url,
				size_t size);
/* Whether both addresses have the same scheme, host and port: only then does what proves who we
 * are, and was given for one of them, go to the other. */
bool web_same_origin(const char *a, const char *b);

/* ---- requests */

struct web;
struct web_answer;

enum { WEB_MOST_HEADERS = 6, WEB_TEXT = 1024 };

struct web_options {
	struct web_hosts plain;
	uint64_t timeout_ms; /* of connecting, of silence, and of an answer that is a document */
	bool netrc; /* names and passwords of ~/.netrc, or the file that NETRC names, for the origin of
				   the request */
};

/* libcurl's own signature of a request for an object store, with the headers that are given. */
struct web_signature {
	const char *how; /* "aws:amz:REGION:s3" */
	const char *user, *password;
};

struct web_request {
	const char *method; /* GET or PUT */
	const char *url;
	const char *headers[WEB_MOST_HEADERS + 1]; /* "Accept: …"; NULL at the end */
	const struct web_signature *sign;          /* with `stay` alone, or NULL */
	/* The body, given again after a redirect; NULL: none. */
	int (*give)(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size);
	uint64_t give_bytes;
	/* Takes the body of a good answer (200 to 299); NULL: it is dropped. `begin` is told once
	 * before its first byte, and may refuse the answer. */
	int (*begin)(struct jw_error *err, void *context, const struct web_answer *answer);
	int (*take)(struct jw_error *err, void *context, const void *data, size_t size);
	void *context;
	uint64_t most_bytes;
	bool bulk; /* no document: as slow as 1 KB/s is fine, however long it takes */
	bool stay; /* a redirect is an answer: what the headers prove goes nowhere else */
};

struct web_answer {
	long status;
	char location[4 * WEB_TEXT]; /* whole, "" without one */
	int64_t wait_s;              /* Retry-After; -1 without one */
	char region[64];             /* x-amz-bucket-region */
	int64_t date_s;              /* Date, the server's time; -1 without one */
	char said[256];              /* the server's own words about a failure, harmless; "" */
};

/* `options` must outlive it. NULL and err set. */
struct web *web_open(struct jw_error *err, const struct web_options *options);
void web_close(struct web *web);

/* Any answer of the server is 0, also a refusal. -1: JW_ERR_BUSY: no answer, or a broken one, which
 * another try may mend; JW_ERR_LIMIT: longer than most_bytes; JW_ERR_FORMAT: redirects that go on
 * forever, or to an address that is not allowed; or what `give`, `begin` and `take` failed
 * with. Redirects are followed for GET only. */
int web_ask(struct jw_error *err, struct web *web, const struct web_request *request,
			struct web_answer *ret_answer);
/* Whether the last request failed since its time was over (JW_ERR_IO). */
bool web_is_late(const struct web *web);

/* ---- the headers of an answer, and a server's words about a failure (web_answer.c): hostile
 * texts, which are cut and made harmless. */

enum { WEB_ANSWER_MOST_REFUSAL = 16 << 10 };

/* All but the address. */
void web_answer_clear(struct web_answer *answer);
/* One header line, with its line end. A value that is longer than its room is dropped. */
void web_answer_header(struct web_answer *answer, const char *line, size_t size);
/* The first message of an error document ({"errors": [{"code", "message"}]}). */
void web_answer_words(struct web_answer *answer, const char *body, size_t size);
/* What libcurl says of a certificate that proves nothing: what to look at, behind it, or "". */
void web_say_how_to_prove(const char *reason, char *room, size_t size);
