/* A repository in a registry: the calls of the OCI Distribution Specification 1.1. Every failure
 * names host and repository. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "net/web.h"
#include "share/reference.h"

#define REGISTRY_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define REGISTRY_INDEX    "application/vnd.oci.image.index.v1+json"

enum { REGISTRY_MOST_MANIFEST = 4 << 20, REGISTRY_MOST_TAGS = 4096 };

struct registry_options {
	const struct reference *reference;
	struct web_options web;
	bool push;
};

struct registry;
/* `options` must outlive it. NULL and err set. */
struct registry *registry_open(struct jw_error *err, const struct registry_options *options);
void registry_close(struct registry *registry);
/* "HOST/REPOSITORY" */
const char *registry_place(const struct registry *registry);

/* `name`: a tag or a digest. *ret_digest is "" if there is no such manifest. */
int registry_head(struct jw_error *err, struct registry *registry, const char *name,
				  char ret_digest[REFERENCE_DIGEST]);
/* JW_ERR_NOT_FOUND. The text's maximum is REGISTRY_MOST_MANIFEST; its digest is computed here, and
 * is that of `name` or of the answer's header, where one of them gives it. */
int registry_manifest(struct jw_error *err, struct registry *registry, const char *name,
					  struct buf *text, char ret_digest[REFERENCE_DIGEST]);
int registry_put(struct jw_error *err, struct registry *registry, const char *name,
				 const char *type, const struct buf *text);
/* Calls `take` for each tag, at most REGISTRY_MOST_TAGS. */
int registry_tags(struct jw_error *err, struct registry *registry,
				  int (*take)(struct jw_error *err, void *context, const char *tag), void *context);

/* ---- for blobs.c */

/* web_ask with what proves who we are, and again where that or a pause may help. */
int registry_ask(struct jw_error *err, struct registry *registry, struct web_request *request,
				 struct web_answer *ret_answer);
/* The same without the repetitions after a broken connection, which the caller makes. */
int registry_ask_once(struct jw_error *err, struct registry *registry, struct web_request *request,
					  struct web_answer *ret_answer);
/* An address below /v2/REPOSITORY; the caller frees it. */
char *registry_url(struct jw_error *err, const struct registry *registry, const char *kind,
				   const char *name);
/* A refusal as an error about `what`. */
int registry_refusal(struct jw_error *err, const struct registry *registry, const char *what,
					 const struct web_answer *answer);
int registry_prefix(struct jw_error *err, const struct registry *registry, const char *what);
struct web *registry_web(const struct registry *registry);
const struct registry_options *registry_options_of(const struct registry *registry);

/* "sha256:…" of some bytes. */
void registry_digest(char digest[REFERENCE_DIGEST], const void *data, size_t size);
