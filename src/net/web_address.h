/* Addresses of servers: what is one, which may be asked, and how. Messages name the host alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* Which servers may be asked by plain http. */
struct web_hosts {
	bool here;                /* this machine */
	const char *const *hosts; /* and these: "HOST" or "HOST:PORT" */
	size_t host_count;
	bool exact; /* only those with a port */
};

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
/* Appends NAME=VALUE with what an address and a form cannot hold as %XX. */
int web_query(struct jw_error *err, struct buf *text, const char *name, const char *value);
/* Whether both addresses have the same scheme, host and port: only then does what proves who we
 * are, and was given for one of them, go to the other. */
bool web_same_origin(const char *a, const char *b);
