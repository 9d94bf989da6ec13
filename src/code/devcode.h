/* Device code in files: its place and its content.
 *
 * The caller pulls: each step returns a container, a complete image, or the reason why a file (a
 * library, a program, an archive, a wheel, a loose file) cannot be read.
 *
 *     if (code_open(err, path, cancel, &reader))
 *             return -1;
 *     while ((step = code_next(err, reader, &found)) > CODE_END)
 *             ...
 *     code_close(reader);
 *
 * An image is the file, or a member of the archive. Its containers come first, in the order of
 * their offsets, with their bytes in memory until the next step. The image itself comes last, with
 * its sections, since a file that is streamed out of a wheel has its section headers at its end.
 *
 * For the same reason a container from an archive comes before its section is known.
 * devcode_image.containers is the authority: a container that this list lacks (by `index`) was a
 * chance hit in code or debug data, and the caller drops what it recorded about it. The caller does
 * the same if an image ends in a trouble, or if no image follows its containers.
 *
 * At most one container is held in memory, so memory use does not grow with the file. For a large
 * container from an archive, only headers, PTX and small cubins are held. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"

enum devcode_format {
	DEVCODE_ELF,
	DEVCODE_PE,
	DEVCODE_FATBIN, /* a loose container file */
	DEVCODE_CUBIN,  /* a loose ELF for a GPU */
	DEVCODE_PTX,    /* loose PTX text */
};

/* The CUDA runtime's use of a section. Source: docs/internals/fatbin.md. */
enum devcode_role {
	DEVCODE_REGISTERED,  /* .nv_fatbin, .nv_fatb: registered with the driver at start */
	DEVCODE_RELOCATABLE, /* __nv_relfatbin, __nv_rel: inputs of run-time linking */
	DEVCODE_LOOSE,       /* anywhere else: the library itself loads the code on demand */
};

struct devcode_section {
	char name[32];
	enum devcode_role role;
	uint64_t offset, size_bytes; /* the place in the image */
};

/* Entry kinds that jitwarm interprets; other numbers are only listed. */
enum {
	DEVCODE_KIND_PTX = 1,
	DEVCODE_KIND_CUBIN = 2,
	DEVCODE_KIND_LTOIR = 8,
	DEVCODE_KIND_RELOCATABLE_PTX = 0x40,
	DEVCODE_KIND_TILE = 0x80, /* Tile IR */
};
static inline bool devcode_kind_is_ptx(uint32_t kind)
{
	return kind == DEVCODE_KIND_PTX || kind == DEVCODE_KIND_RELOCATABLE_PTX;
}
static inline bool devcode_kind_is_known(uint32_t kind)
{
	return devcode_kind_is_ptx(kind) || kind == DEVCODE_KIND_CUBIN || kind == DEVCODE_KIND_LTOIR ||
		   kind == DEVCODE_KIND_TILE;
}

enum devcode_compression {
	DEVCODE_RAW,
	DEVCODE_LZ4,
	DEVCODE_ZSTD,
	DEVCODE_FOREIGN, /* flags that jitwarm does not decode: an older compression, obfuscation */
};

/* Marks a payload that was not kept, neither PTX nor a small cubin, in a large container of an
 * archive. code_copy_next reads it. */
#define DEVCODE_NOT_HELD UINT64_MAX

struct devcode_entry {
	uint64_t offset; /* the place of the entry's header in the image */
	uint32_t kind;
	/* The header's number and flags; `a` also if a cubin's .nv.compat has it. The text of an
	 * unflagged PTX entry may name another target (`.target sm_90a` under 90); the text decides,
	 * and devcode_ptx_header reads it if the answer matters. */
	struct jw_target target;
	uint16_t isa_major, isa_minor; /* PTX: ISA version in the header; the text is authoritative.
									  Cubin: 1 and its ABI's number, 7 or 8 */
	uint64_t flags;
	enum devcode_compression compression;
	uint64_t payload_offset; /* the place in the container's bytes, or DEVCODE_NOT_HELD */
	/* The compressed size without padding; a raw payload's size with padding. */
	uint64_t stored_bytes;
	uint64_t size_bytes; /* the size of the payload from devcode_payload; equal to stored_bytes if
							the compression is foreign and the header does not have the size */
	/* The option string in the container's bytes, as libcuda reads it, up to its NUL; length 0 if
	 * there are no options. Never set for cubins, whose options are binary. */
	uint32_t options_offset, options_length;
	bool options_lost; /* libcuda finds them outside of the header; the entry is damaged */
	bool cuda_13;      /* cubin: CUDA 13 or newer wrote it; known for sm_100 and newer */
	/* for a cubin: the CUDA version (12080) of the first driver that loads it, 0 if every driver
	 * does; and of the compiler that wrote it, 0 if unknown. Taken from the cubin's own header, or,
	 * if the cubin is packed in zstd, from the entry's header. */
	uint32_t first_cuda, compiler_cuda;
	bool damaged; /* its header contradicts itself (sizes, place of the options). Only
					 devcode_payload shows whether the payload can be decoded */
};

#define DEVCODE_NO_SECTION UINT32_MAX

/* A loose cubin or PTX file is one container without a header: offset 0, the whole file, one entry
 * whose payload is the file, at payload_offset 0. So is each PTX text in a program's data. */
struct devcode_container {
	uint64_t offset;      /* the place in the image */
	uint64_t size_bytes;  /* the size with the header */
	const uint8_t *bytes; /* valid until the next step; NULL in devcode_image.containers */
	bool mapped;       /* `bytes` are those of a mapped file: they may change (os/file.h, os_map) */
	size_t held_bytes; /* the number of bytes held if payloads were not kept; 0 if all are held */
	/* Valid until the next step; NULL in devcode_image.containers. */
	const struct devcode_entry *entries;
	size_t entry_count;
	size_t index; /* the number of the container in its image, from 0 */
	/* Known only when the image is complete, in devcode_image.containers: */
	uint32_t section; /* index in devcode_image.sections, DEVCODE_NO_SECTION in loose files and in
						 images without section headers */
	bool linked;      /* a version 2 wrapper in .nvFatBinSegment points here: the result of device
						 linking, which the CUDA runtime links again if it has no code for the GPU
						 (docs/internals/fatbin.md) */
	bool text;        /* the container is a PTX text in a program's data */
};

struct devcode_image {
	const char *path;   /* the path that the caller passed */
	const char *member; /* the member's name in its archive; NULL for a file. A loose file packed
						   with zstd has no member, and its offsets count in the unpacked bytes */
	enum devcode_format format;
	uint64_t size_bytes;
	const struct devcode_section *sections; /* sections that hold containers */
	size_t section_count;
	/* Only offset, size_bytes, index, section, linked are valid. */
	const struct devcode_container *containers;
	size_t container_count;
	size_t damaged; /* places that look like a container but are unsound, in sections that hold
					   containers */
	/* True if `linked` is reliable: the wrappers were read, or no container is relocatable. False
	 * if the wrappers are missing or cannot be followed. */
	bool wrappers_known;
	/* The CUDA version of the CUDA runtime that the image is linked to as a shared library
	 * (libcudart.so.11.0, cudart64_110.dll); from 11 on the name has only the major version. 0 if
	 * there is none, or it is unknown. */
	uint32_t runtime_cuda;
	/* A bit for each row “library” of packages.tsv that the image is linked to (libcublas.so.11).
	 */
	uint32_t needs;
};

/* Returns the role of a container; one outside all sections is loose. */
static inline enum devcode_role devcode_role_of(const struct devcode_image *image,
												const struct devcode_container *container)
{
	return container->section < image->section_count ? image->sections[container->section].role
													 : DEVCODE_LOOSE;
}

enum code_step {
	CODE_FAILED = -1, /* the reading ended: JW_ERR_INTERRUPTED */
	CODE_END,
	CODE_CONTAINER,
	/* An image that holds device code, after its containers, or one of code_take_hosts. */
	CODE_IMAGE,
	/* A file or member of a known format that cannot be read. Everything returned for that image is
	 * void; reading continues with the next one. */
	CODE_TROUBLE,
};

/* The result of a step, valid until the next one. */
struct code_found {
	const struct devcode_container *container; /* for CODE_CONTAINER */
	const struct devcode_image *image;         /* for CODE_IMAGE */
	const char *member;                        /* as in devcode_image */
	struct jw_error why;                       /* for CODE_TROUBLE: the reason, one line */
};

/* Opens a file (never a directory). `path` and `cancel`, which may be NULL, must outlive the
 * reader; `cancel` is asked often, so that even one huge member of an archive can be interrupted.
 * -1 if the file cannot be opened, or is not a regular file. */
struct code_reader;
int code_open(struct jw_error *err, const char *path, const struct jw_cancel *cancel,
			  struct code_reader **ret_reader);
/* Splits a wheel into parts, which several threads may read: the members before, between and after
 * its large libraries, and, with odd numbers, each of these alone. Anything else is one part.
 * Called before the first code_next. The readers of all parts, one after the other, return what
 * `reader` returns; `reader` must stay open. */
size_t code_parts(struct code_reader *reader);
/* Leaves out the libraries of a wheel for every system (“…-any.whl”) that another system loads, if
 * the wheel has some for that platform (jw_platform). Called after code_parts. */
void code_leave_foreign(struct code_reader *reader, const char *platform);
/* Also takes programs and libraries without device code that need a shared CUDA runtime: images
 * without containers. Called before code_part. */
void code_take_hosts(struct code_reader *reader);
struct code_reader *code_part(struct code_reader *reader, size_t part);
/* Returns the next enum code_step. A file without device code ends at once. */
int code_next(struct jw_error *err, struct code_reader *reader, struct code_found *ret_found);
void code_close(struct code_reader *reader); /* may be NULL */

/* The most bytes of one container from an archive that are held in memory, and of a cubin: a
 * container's payload has the same limit. A PTX file, which is held whole, has a lower one. */
enum { DEVCODE_MAX_STREAMED = 1 << 30, DEVCODE_MAX_TEXT = 1 << 28 };
enum { DEVCODE_MAX_PAYLOAD = 1 << 30 };
struct devcode_view {
	const uint8_t *data;
	size_t size;
};

/* Decompresses the payload of an entry (at most DEVCODE_MAX_PAYLOAD bytes) with its own trailing
 * NULs. The driver's key contains it and one more NUL. Raw PTX has that NUL in its padding: the
 * payload ends before the padding's last byte (measured on drivers 535 and 550). `ret_view` points
 * into the container if the payload is raw and the container is not mapped, else into `scratch`,
 * which is cleared first and grows as needed. It is valid until either is freed, and does not
 * change. */
int devcode_payload(struct jw_error *err, const struct devcode_container *container,
					const struct devcode_entry *entry, struct buf *scratch,
					struct devcode_view *ret_view);

/* Finds the stored payload in the container's bytes. To decode it later, pass devcode_payload a
 * container of those bytes alone, mapped like the first one, and the entry with its payload_offset
 * changed. */
int devcode_stored(struct jw_error *err, const struct devcode_container *container,
				   const struct devcode_entry *entry, struct devcode_view *ret_view);

/* The first lines of a PTX text. */
struct devcode_ptx_header {
	uint16_t isa_major, isa_minor;
	struct jw_target target;
};

/* Reads the `.version` and `.target` of a PTX entry's text; decompresses only its beginning (some
 * microseconds for LZ4, some tens for zstd). */
int devcode_ptx_header(struct jw_error *err, const struct devcode_container *container,
					   const struct devcode_entry *entry, struct devcode_ptx_header *ret_header);

/* Returns the CUDA version (12080) of the compiler that wrote an entry, from a cubin's own header;
 * for PTX, the first version with its ISA; 0 if unknown. */
uint32_t devcode_compiler(const struct devcode_entry *entry);

/* Bytes of an image that are read again, from a file or from an archive's member. */
struct devcode_part {
	const char *member; /* as in devcode_image */
	uint64_t offset, size_bytes;
	bool done; /* set by code_copy_next */
};

/* The size of a piece; only the last piece of a part is smaller. */
enum { DEVCODE_PIECE = 3 << 16 };

/* Reads a file once more, and returns its parts piece by piece.
 *
 *     struct code_copy copy = {.path = path, .parts = parts, .count = count};
 *     while ((step = code_copy_next(err, &copy)) > 0)
 *             ...
 *     code_copy_close(&copy); */
struct code_copy {
	const char *path;
	/* Parts of one member are adjacent, in ascending order, without overlaps. */
	struct devcode_part *parts;
	size_t count;
	const struct jw_cancel *cancel;     /* may be NULL */
	atomic_uint_least64_t *again_bytes; /* see walk_again; may be NULL */
	/* The current piece, valid until the next call: */
	size_t part;
	const uint8_t *data;
	size_t size;
	struct code_copying *copying; /* private */
};
/* Returns 1 for a piece, 0 after all parts were read, and -1 if one could not be read (`done` shows
 * which ones were). */
int code_copy_next(struct jw_error *err, struct code_copy *copy);
void code_copy_close(struct code_copy *copy);
