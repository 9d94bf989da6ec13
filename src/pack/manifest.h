/* The manifest: the content of a pack, and how to restore entries of a cache from it.
 *
 * Members are PTX payloads and cubins, each stored once and named by its hash; an entry names one
 * of each and the other parts of its key (cache/key.h). Format: docs/internals/formats.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "cache/key.h"
#include "cache/profile.h"
#include "pack/format.h"
#include "pack/pack_tar.h"

enum pack_kind { PACK_PTX, PACK_CUBIN };

struct pack_member {
	enum pack_kind kind;
	struct digest digest;
	uint64_t size_bytes;
};

/* Writes "ptx/<64 hex digits>"; returns `name`. */
const char *pack_member_name(char name[TAR_MAX_NAME + 1], const struct pack_member *member);

/* The driver that made entries, or a library with its own stamp. */
struct pack_driver {
	char stamp[CACHE_STAMP_SIZE + 1];
	char release[24]; /* "550.163.01"; "" if unknown */
	uint32_t cuda;    /* as in struct jw_driver; 0 if unknown */
};

enum pack_form {
	PACK_LOAD, /* payload "\0" " " options */
	PACK_LINK, /* payload "\0" " -c" options */
	PACK_BARE, /* all bytes after the target are payload (cache/key.h) */
};

struct pack_entry {
	uint64_t key; /* FNV-1a-64 of the whole key: the entry's name under its own driver */
	uint32_t driver, ptx, cubin; /* indices of the driver and the members */
	struct jw_target target;     /* the device's architecture, as in the key */
	enum pack_form form;
	char *options; /* "" without options, and for PACK_BARE */
};

struct pack_manifest {
	char os[16]; /* os_name of the system that the entries are for */
	struct pack_driver *drivers;
	size_t driver_count;
	struct pack_member *members; /* sorted in the pack's order */
	size_t member_count;
	struct pack_entry *entries;
	size_t entry_count;
};

/* Writes the manifest as JSON in one line. Replaces *text. */
int manifest_format(struct jw_error *err, const struct pack_manifest *manifest, struct buf *text);
/* Reads untrusted text and checks everything that does not need the members. JW_ERR_FORMAT,
 * JW_ERR_LIMIT, or JW_ERR_UNSUPPORTED for an unknown version or feature. The caller frees the
 * manifest. */
int manifest_parse(struct jw_error *err, const char *text, size_t size,
				   struct pack_manifest *ret_manifest);
void manifest_free(struct pack_manifest *manifest);

/* Returns the bytes of all members. */
uint64_t manifest_content(const struct pack_manifest *manifest);
/* Returns the size of the archive after the manifest: members, with headers, and its end. */
uint64_t manifest_extent(const struct pack_manifest *manifest);
/* Finds the member with this kind and digest, and adds it if `leads`, a set of the first bytes of
 * the members' digests, lacks it. manifest->members has room for one more. */
struct set;
int manifest_add_member(struct jw_error *err, struct pack_manifest *manifest, struct set *leads,
						const struct pack_member *member, uint32_t *ret_at);

/* Returns whether libnvJitLink made the entry: its options are "-arch=sm_86 -c", and its stamp is
 * not a driver's. */
bool pack_entry_is_jitlink(const struct pack_entry *entry);
/* Returns whether the entry's cubin is relocatable. */
bool pack_entry_is_relocatable(const struct pack_entry *entry);

/* Writes the bytes after the payload in an entry's key and returns their length; 0 for a bare
 * entry. */
size_t pack_key_tail(char tail[CACHE_KEY_MAX_TAIL], const struct pack_entry *entry);
/* Computes the identity of an entry's key from the digest of its PTX (cache/key.h). */
void pack_entry_identity(struct jw_identity *ret_identity, const struct pack_manifest *manifest,
						 const struct pack_entry *entry);
/* Returns the size of the whole key under any stamp. */
uint64_t pack_key_bytes(const struct pack_manifest *manifest, const struct pack_entry *entry);
