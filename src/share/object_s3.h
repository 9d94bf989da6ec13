/* Where the objects of s3://BUCKET[/PREFIX] are, and with which keys libcurl signs each request for
 * one (signature version 4).
 *
 * Keys are those of the environment, else of the profile AWS_PROFILE (or “default”) in
 * ~/.aws/credentials and ~/.aws/config (AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE), else what
 * “aws configure export-credentials” says: roles, single sign-on and programs are its business. Any
 * of it may be hostile: what is accepted is printable ASCII without blanks, so that it cannot add a
 * header. Messages never contain a key. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "share/web.h"

enum { AWS_TEXT = 256, AWS_TOKEN = 4096, AWS_SHA256 = 65 };

struct aws_keys {
	char id[AWS_TEXT], secret[AWS_TEXT]; /* "": none */
	char token[AWS_TOKEN];               /* of a session, "" without one */
};

struct object_s3;

/* `place` is what the user wrote. NULL and err set. */
struct object_s3 *object_s3_open(struct jw_error *err, const char *place);
void object_s3_close(struct object_s3 *s3);

/* Texts of one request. Begins as zeros; object_s3_forget ends it also after a failure. */
struct object_s3_request {
	char *url;
	char how[96], body[AWS_SHA256 + 32], token[AWS_TOKEN + 32];
	struct aws_keys keys;
	struct web_signature sign;
};
/* Sets address, headers (behind those that are there) and signature of `request`. `body` is the
 * SHA-256 of what is sent. */
int object_s3_sign(struct jw_error *err, const struct object_s3 *s3, const char *name,
				   const char *body, struct object_s3_request *texts, struct web_request *request);
void object_s3_forget(struct object_s3_request *texts);
/* Whether this answer says what to try again with: another region. */
bool object_s3_learns(struct object_s3 *s3, const struct web_answer *answer);
/* The server's words, with how far this clock is off where they are about that. Returns `room`. */
const char *object_s3_said(const struct web_answer *answer, char *room, size_t size);

/* ---- parts, for tests and for what only looks at a place */

/* SCHEME://HOST/PATH of the bucket. `endpoint` "": Amazon's. */
int object_s3_address(struct jw_error *err, const char *endpoint, const char *region,
					  const char *bucket, char *ret_address, size_t size);
/* s3://BUCKET[/PREFIX]; the prefix with %XX where an address needs it, and a slash first */
int object_s3_parse(struct jw_error *err, const char *place, char ret_bucket[64],
					char ret_prefix[WEB_TEXT]);

struct aws_profile {
	struct aws_keys keys;
	char region[64], endpoint[AWS_TEXT];
};
/* Adds what a file of sections says of the profile `name` and `profile` does not have yet; id and
 * secret come from one file. `config`: its sections are called “profile NAME”, except “default”.
 * Changes `text`. */
int aws_profile_read(struct jw_error *err, char *text, const char *name, bool config,
					 struct aws_profile *profile);
