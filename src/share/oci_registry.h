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

enum { REGISTRY_MOST_MANIFEST = 4 << 20 };

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

/* ---- blobs: bytes that are named by their SHA-256 */

struct os_file;

struct blob {
	const char *type; /* media type */
	char digest[REFERENCE_DIGEST];
	uint64_t size_bytes;
	const void *data; /* the bytes, or: */
	struct os_file *file;
	const char *path; /* of the file, for messages */
};

/* Sets digest and size from the bytes, or from the file. */
int blob_measure(struct jw_error *err, struct blob *blob, const struct jw_cancel *cancel);
/* Uploads it in one request, unless the repository has it. */
int blob_push(struct jw_error *err, struct registry *registry, const struct blob *blob);
/* Downloads it into `file`, which is empty: exactly `size_bytes` with exactly that digest. A
 * transfer that breaks off is continued. */
struct blob_progress {
	void *context;
	void (*tell)(void *context, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
};
int blob_pull(struct jw_error *err, struct registry *registry, const char *digest,
			  uint64_t size_bytes, struct os_file *file, const struct blob_progress *progress);

/* "sha256:…" of some bytes. */
void registry_digest(char digest[REFERENCE_DIGEST], const void *data, size_t size);
