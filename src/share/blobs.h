/* Blobs of a repository: bytes that are named by their SHA-256. */
#pragma once

#include "share/oci_registry.h"

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
