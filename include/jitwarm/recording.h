/* A recording: the modules that a command had compiled, and their files
 * (docs/internals/formats.md), so that `prime` can compile the same modules on any machine with the
 * same files. It holds the PTX of modules that are in no file.
 *
 * Threads: several threads may read a recording that no thread changes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/error.h>
#include <jitwarm/target.h>

/* The reason why the driver compiled a module. */
enum jw_recorded_kind {
	JW_RECORDED_LOAD,    /* a module of a container that was loaded */
	JW_RECORDED_LINK,    /* an input of run-time linking */
	JW_RECORDED_JITLINK, /* an entry of libnvJitLink or a similar library */
	JW_RECORDED_OPENCL,  /* OpenCL source, which became PTX */
	JW_RECORDED_OTHER,   /* of an unknown form */
};

struct jw_recorded_file {
	char *path;    /* with a package: relative to its installation folder */
	char *package; /* the package that installed it, and its version; NULL if unknown */
	char *version;
	char *member; /* the name inside an archive; NULL for a file */
	uint64_t size_bytes;
};

/* A PTX text that the program had compiled and that no file contains in this form; each is listed
 * once. */
struct jw_recorded_text {
	uint64_t size_bytes; /* the unpacked size */
	char *zstd;          /* a zstd frame in base64 */
};

#define JW_RECORDED_NO_FILE UINT32_MAX

struct jw_recorded_module {
	/* An index into recording.files; JW_RECORDED_NO_FILE if it is in no searched file. */
	uint32_t file;
	enum jw_recorded_kind kind;
	/* The name of the entry that the driver made, and the length of its key. */
	uint64_t key, key_bytes;
	struct jw_target target;                 /* sm is 0 if unknown */
	uint64_t container_offset, entry_offset; /* places in the file */
	bool has_text;                           /* it is compiled from recording.texts[text] */
	uint32_t text;
	uint64_t payload_bytes; /* the size of the PTX, with the zeros at its end */
	char digest[65];        /* the payload's BLAKE2b-256 in hex */
	char *options;
	char *producer;    /* the compiler that its PTX names ("NVIDIA NVVM", "LLVM"); NULL if it names
						  none */
	double seconds;    /* the predicted time of compiling it */
	bool known_before; /* the user's cache already had it, so it is the same in every run */
};

struct jw_recording {
	char *command; /* the program's name, without folder and arguments */
	struct jw_driver driver;
	char stamp[20]; /* the driver's stamp; "" if nothing was compiled */
	struct jw_recorded_file *files;
	size_t file_count;
	struct jw_recorded_module *modules; /* in the order in which they were compiled */
	size_t module_count;
	struct jw_recorded_text *texts;
	size_t text_count;
	char *path; /* the path of the file that was read; NULL if it was not read from a file */
};

/* Reads a recording. JW_ERR_FORMAT if it is not a recording, or one of an unknown version. The
 * caller frees it with jw_result_free. */
int jw_recording_read(struct jw_error *err, const char *path, struct jw_recording **ret_recording);
/* Reads a recording from `size` bytes, which may be hostile. */
int jw_recording_parse(struct jw_error *err, const char *text, size_t size,
					   struct jw_recording **ret_recording);
/* Writes a recording. Readers of the file see the old recording or the new one, never a part. */
int jw_recording_write(struct jw_error *err, const char *path,
					   const struct jw_recording *recording);

struct jw_found; /* jitwarm/find.h */

/* Replaces the paths of files that were found here by names with the same meaning on another
 * machine: a package with the path below its folder, "~" for the home directory. `given` has the
 * files that the user named; NULL for none. */
void jw_recording_name_files(struct jw_recording *recording, const struct jw_found *given);
/* Finds the files of this machine that the recording names. Missing files are not a failure:
 * *ret_found may be empty. The caller frees it with jw_result_free. */
int jw_recording_find(struct jw_error *err, const struct jw_recording *recording,
					  struct jw_found **ret_found);
