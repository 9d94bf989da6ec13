/* An unfinished package beside its final path, and the unpacked members that become part of it. All
 * have names that begin with the package's, which is locked while its run lives: another run
 * removes what killed ones have left. */
#pragma once

#include <sodium.h>

#include "os/file.h"
#include "state/run_folder.h"

struct package_part {
	char *folder;         /* of the new package; NULL: there will be none */
	char *path;           /* its path until it is finished; that of a folder without one */
	struct os_file *file; /* NULL without one */
	struct run_folder run;
	char *nearest; /* the part of `folder` that was there before; NULL once the package is */
};

/* `folder` is made if missing; NULL: members are unpacked among the run's own files below
 * `state_dir`. */
int package_part_open(struct jw_error *err, const char *folder, const char *state_dir,
					  struct package_part *ret_part);
/* Moves the package to `output`, on disk, with the mode. */
int package_part_finish(struct jw_error *err, struct package_part *part, const char *output,
						uint32_t mode);
/* Removes what is unfinished; {0} is valid. */
void package_part_drop(struct package_part *part);

/* One member, unpacked. */
struct package_file {
	char *path;
	struct os_file *file;
	uint64_t size_bytes;
	crypto_hash_sha256_state state;
	uint8_t sha256[32]; /* of all that was put, once it is closed */
};
/* `kind` is part of the name. */
int package_file_open(struct jw_error *err, const struct package_part *part, const char *kind,
					  struct package_file *ret_file);
/* As zip_take. */
int package_file_put(struct jw_error *err, void *package_file, const uint8_t *data, size_t size);
void package_file_close(struct package_file *file);
/* Removes it, too; {0} is valid. */
void package_file_drop(struct package_file *file);
