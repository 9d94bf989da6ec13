/* Where the objects of s3://BUCKET[/PREFIX] are, and the signature of each request for one. */
#pragma once

#include "share/aws_credentials.h"
#include "share/aws_sign.h"
#include "share/web.h"

struct object_s3;

/* `place` is what the user wrote. NULL and err set. */
struct object_s3 *object_s3_open(struct jw_error *err, const char *place);
void object_s3_close(struct object_s3 *s3);

/* Texts of one request. Begins as zeros; object_s3_forget ends it also after a failure. */
struct object_s3_request {
	char *url;
	char body[AWS_SHA256 + 32], date[64], *token; /* headers; token NULL: none */
	struct aws_signature signature;
};
/* Sets address, headers (behind those that are there) and authorization of `request`. `body` is the
 * SHA-256 of what is sent. */
int object_s3_sign(struct jw_error *err, const struct object_s3 *s3, const char *name,
				   const char *body, struct object_s3_request *texts, struct web_request *request);
void object_s3_forget(struct object_s3_request *texts);
/* Whether this answer says what to try again with: another region, or the server's time where this
 * machine's clock is off (once). */
bool object_s3_learns(struct object_s3 *s3, const struct web_answer *answer);
/* The server's words, with how far this machine's clock is off where they are about that. Returns
 * `room`. */
const char *object_s3_said(const struct web_answer *answer, char *room, size_t size);

/* SCHEME://HOST/PATH of the bucket. `endpoint` "": Amazon's. */
int object_s3_address(struct jw_error *err, const char *endpoint, const char *region,
					  const char *bucket, char *ret_address, size_t size);
/* s3://BUCKET[/PREFIX]; the prefix with what an address cannot hold as %XX, and a slash at its
 * start. */
int object_s3_parse(struct jw_error *err, const char *place, char ret_bucket[64],
					char ret_prefix[WEB_TEXT]);
