/* A wheel that is opened to be written again: its members, and what its own files say. */
#pragma once

#include <jitwarm/target.h>

#include "devcode/zip_directory.h"

/* A member whose content changes. */
struct wheel_change {
	uint8_t before[32], sha256[32];
	uint64_t size_bytes;
	bool listed; /* in RECORD */
};

struct wheel_members {
	struct os_map map;
	struct zip_directory directory;
	const struct zip_member *metadata, *record;
	char **names;                  /* of all members in the new wheel */
	struct wheel_change **changes; /* of all members; NULL: as it was */
	char *package;                 /* its name */
	char *file_name;               /* of the new wheel */
	struct buf new_metadata;
	bool nvidia; /* METADATA names NVIDIA's licence */
};

/* Reads the directory and METADATA, and finds the names in a wheel for these GPUs. */
int wheel_members_open(struct jw_error *err, const char *path, const struct jw_target *gpus,
					   size_t gpu_count, struct wheel_members *ret_wheel);
void wheel_members_close(struct wheel_members *wheel);

/* Whether it signs RECORD, which the new wheel's differs from: RECORD.jws, RECORD.p7s. */
bool wheel_member_is_signature(const struct wheel_members *wheel, size_t member);
int wheel_members_change(struct jw_error *err, struct wheel_members *wheel, size_t member,
						 const uint8_t before[32], const uint8_t sha256[32], uint64_t size_bytes);
/* RECORD with all changes; they have to be in it with their former hashes. */
int wheel_members_record(struct jw_error *err, struct wheel_members *wheel, struct buf *ret_record);
