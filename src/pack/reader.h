/* Going through a pack's content, from its manifest to its last member, as often as wanted. Nothing
 * that is not exactly as it must be is passed over: every header, every padding byte, the end. */
#pragma once

#include "base/buf.h"
#include "pack/manifest.h"
#include "pack/pack_source.h"

struct reader;

/* Reads the manifest, the first member. Both are the caller's: manifest_free, reader_close. The
 * source must outlive the reader. */
int reader_open(struct jw_error *err, struct source *source, struct pack_manifest *ret_manifest,
				struct reader **ret_reader);
/* What the members that are in the pack and all around them take, decompressed. */
uint64_t reader_extent(const struct pack_manifest *manifest);
/* Before the first member: all of them are decompressed into `room`, reader_extent bytes, and stay
 * there. The decompressor needs no window of its own then, and nothing is copied. */
void reader_into(struct reader *reader, void *room, size_t size);
/* The content of the next member, which must be the one given: at *bytes, which has room for
 * member->size_bytes, or after reader_into in that, and *bytes says where. */
int reader_member(struct jw_error *err, struct reader *reader, const struct pack_member *member,
				  uint8_t **bytes);
/* After the last: nothing more may follow. */
int reader_end(struct jw_error *err, struct reader *reader);
void reader_close(struct reader *reader);
