/* The signature version 4 of AWS, as the header “Authorization”. Not libcurl's own, since that of
 * Debian 12 (7.88) signs headers that are not sent and says nothing of the body
 * (docs/decisions.md).
 */
#pragma once

#include "share/aws_profile.h"

enum { AWS_SHA256 = 65 };

struct aws_request {
	const char *method;
	const char *host;  /* as the header “Host” has it */
	const char *path;  /* with what an address cannot hold as %XX */
	const char *query; /* sorted, "" for none */
	const char *region;
	const char *body; /* its SHA-256, 64 hex digits */
	int64_t now_s;
};

struct aws_signature {
	char date[20]; /* the value of x-amz-date */
	char authorization[1024];
};

/* Host, x-amz-content-sha256, x-amz-date and, where keys have a token, x-amz-security-token are
 * signed, and have to be sent. */
int aws_sign(struct jw_error *err, const struct aws_keys *keys, const struct aws_request *request,
			 struct aws_signature *ret_signature);
