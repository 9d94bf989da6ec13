/* Device code in files: its place and its content.
 *
 * devcode_read reads one path (a library, a program, an archive, a wheel, a loose file) and hands
 * its images to the sink: the file, or the members of an archive. For each image the containers
 * come first, in the order of their offsets, with their bytes in memory during the call. The image
 * itself comes last, with its sections, since a file that is streamed out of a wheel has its
 * section headers at its end.
 *
 * For the same reason a container from an archive is handed over before its section is known.
 * devcode_image.containers is the authority: a container that this list lacks (by `index`) was a
 * chance hit in code or debug data, and the sink drops its notes about it. The sink does the same
 * if an image ends in `trouble`, or if no image follows its containers.
 *
 * At most one container is held in memory, so memory use does not grow with the file. Of a large
 * container from an archive only headers and PTX are held. */
#pragma once

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

/* "elf", "pe", "fatbin", "cubin", "ptx" */
const char *devcode_format_name(enum devcode_format format);

/* How the CUDA runtime uses a section. Source: docs/fatbin.md. */
enum devcode_role {
	DEVCODE_REGISTERED,  /* .nv_fatbin, .nv_fatb: handed to the driver at start */
	DEVCODE_RELOCATABLE, /* __nv_relfatbin, __nv_rel: inputs of run-time linking */
	DEVCODE_LOOSE,       /* anywhere else: the library itself loads it on demand */
};

struct devcode_section {
	char name[32];
	enum devcode_role role;
	uint64_t offset, size_bytes; /* in the image */
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

/* A payload that was not kept: no PTX, in a large container of an archive. devcode_copy reads it */
#define DEVCODE_NOT_HELD UINT64_MAX

struct devcode_entry {
	uint64_t offset; /* of the entry's header, in the image */
	uint32_t kind;
	struct jw_target target; /* the header's number and flags; `a` also where a cubin's .nv.compat
								says so. An unflagged PTX entry's text may name another target
								(`.target sm_90a` under 90): the text decides, and
								devcode_ptx_header reads it if the answer matters */
	uint16_t isa_major, isa_minor; /* PTX: ISA version in the header; the text is authoritative.
									  Cubin: 1 and its ABI's number, 7 or 8 */
	uint64_t flags;
	enum devcode_compression compression;
	uint64_t payload_offset; /* in the container's bytes, or DEVCODE_NOT_HELD */
	uint64_t stored_bytes;   /* compressed size, without padding; if stored raw, with padding */
	uint64_t size_bytes;     /* of the payload from devcode_payload; stored_bytes if the compression
								is foreign and the header does not give the size */
	uint32_t options_offset,
		options_length; /* the option string in the container's bytes, as libcuda reads it: up to
						   its NUL; length 0: no options. Never set for cubins, whose options are
						   binary */
	bool cuda_13;       /* cubin: CUDA 13 or newer wrote it; known for sm_100 and newer */
	bool baked;         /* cubin: bake has added it to what the library's compiler made */
	bool damaged;       /* its header contradicts itself (sizes, place of the options). Only
						   devcode_payload shows whether the payload can be decoded */
};

#define DEVCODE_NO_SECTION UINT32_MAX

/* A loose cubin or PTX file is one container without a header: offset 0, the whole file, one entry
 * whose payload is the file, at payload_offset 0. So is each PTX text in a program's data. */
struct devcode_container {
	uint64_t offset;      /* in the image */
	uint64_t size_bytes;  /* with its header */
	const uint8_t *bytes; /* valid during the call only; NULL in devcode_image.containers */
	size_t held_bytes;    /* number of held bytes if payloads were not kept; 0: all are held */
	const struct devcode_entry *entries; /* likewise */
	size_t entry_count;
	size_t index; /* counts from 0 in each image */
	/* Known only when the image is complete, in devcode_image.containers: */
	uint32_t section; /* index in devcode_image.sections, DEVCODE_NO_SECTION in loose files and in
						 images without section headers */
	bool linked;      /* a version 2 wrapper in .nvFatBinSegment points here: the result of device
						 linking, which the CUDA runtime links again if it has no code for the GPU
						 (docs/fatbin.md) */
	bool text;        /* a PTX text in a program's data */
};

struct devcode_image {
	const char *path;   /* as the caller gave it */
	const char *member; /* the member's name in its archive; NULL for a file. A loose file packed
						   with zstd has no member, and its offsets count in the unpacked bytes */
	enum devcode_format format;
	uint64_t size_bytes;
	const struct devcode_section *sections; /* sections that hold containers */
	size_t section_count;
	const struct devcode_container
		*containers; /* only offset, size_bytes, index, section, linked are valid */
	size_t container_count;
	size_t damaged; /* places that look like a container but are unsound, in sections that hold
					   containers */
	/* `linked` is reliable: the wrappers were read, or no container is relocatable. false: the
	 * wrappers are missing or cannot be followed. */
	bool wrappers_known;
	/* The CUDA version (13000) of the runtime that an ELF image is linked to, as libcudart.so; 0:
	 * to none, or not known. */
	uint32_t runtime_cuda;
	/* The section that names the objects which the runtime links (devcode/container.h); size 0:
	 * there is none. */
	uint64_t module_ids_offset, module_ids_bytes;
};

struct devcode_sink {
	void *context;
	/* One container. A return other than 0 stops the reading. May be NULL. */
	int (*container)(struct jw_error *err, void *context,
					 const struct devcode_container *container);
	/* One image that holds device code, after its containers. May be NULL. */
	int (*image)(struct jw_error *err, void *context, const struct devcode_image *image);
	/* A file or member of a known format that cannot be read; `why` is one line. Everything handed
	 * over from that image is void; reading continues with the next image. May be NULL. */
	void (*trouble)(void *context, const char *path, const char *member,
					const struct jw_error *why);
	/* Polled often, so that even one huge member of an archive can be interrupted:
	 * JW_ERR_INTERRUPTED. */
	struct jw_cancel cancel;
};

/* Reads one path: a file (never a directory). A file without device code calls nothing and is not
 * an error. -1: the file cannot be opened or is not a regular file, or the sink stopped it. */
int devcode_read(struct jw_error *err, const char *path, const struct devcode_sink *sink);

/* The decompressed payload of an entry (at most DEVCODE_MOST_PAYLOAD bytes) with its own trailing
 * NULs. The driver's key contains it and one more NUL. Raw PTX has that NUL in its padding: the
 * payload ends before the padding's last byte (measured on drivers 535 and 550). `ret_view` points
 * into the container if the payload is raw, else into `scratch`, which is cleared first and grows
 * as needed. It is valid until either is freed. */
struct devcode_view {
	const uint8_t *data;
	size_t size;
};
enum { DEVCODE_MOST_PAYLOAD = 1 << 30 };

/* The maximum that is held in memory of one container from an archive. */
enum { DEVCODE_MOST_STREAMED = 1 << 30 };
int devcode_payload(struct jw_error *err, const struct devcode_container *container,
					const struct devcode_entry *entry, struct buf *scratch,
					struct devcode_view *ret_view);

/* The stored payload: a pointer into the container's bytes. To decode it later, make a container of
 * those bytes alone, and the entry with its payload_offset changed, for devcode_payload. */
int devcode_stored(struct jw_error *err, const struct devcode_container *container,
				   const struct devcode_entry *entry, struct devcode_view *ret_view);

/* The first lines of a PTX text. */
struct devcode_ptx_header {
	uint16_t isa_major, isa_minor;
	struct jw_target target;
};

/* The `.version` and `.target` of a PTX entry's text; decompresses only its beginning (some
 * microseconds for LZ4, some tens for zstd). */
int devcode_ptx_header(struct jw_error *err, const struct devcode_container *container,
					   const struct devcode_entry *entry, struct devcode_ptx_header *ret_header);

/* The CUDA version (12080) of the first driver that loads a cubin entry; 0: every driver does. The
 * cubin's header decides; the entry's header, if the cubin is packed in zstd or was not kept. */
uint32_t devcode_cubin_cuda(const struct devcode_container *container,
							const struct devcode_entry *entry);

/* Bytes of an image to be read again: from a file, or from an archive's member. */
struct devcode_part {
	const char *member; /* as in devcode_image */
	uint64_t offset, size_bytes;
	bool done; /* set by devcode_copy */
};

/* Pieces have this size, except each part's last one. */
enum { DEVCODE_PIECE = 3 << 16 };

/* Reads `path` once and hands over the parts piece by piece, in order. Parts of one member are
 * adjacent, in ascending order, without overlaps. -1 if a part could not be read (`done` tells
 * which could), or if `piece` returned other than 0. `cancel` and `again_bytes` (walk_again) may be
 * NULL. */
int devcode_copy(struct jw_error *err, const char *path, struct devcode_part *parts, size_t count,
				 int (*piece)(struct jw_error *err, void *context, size_t part, const uint8_t *data,
							  size_t size),
				 void *context, const struct jw_cancel *cancel, uint64_t *again_bytes);
/* One part, into memory. The caller frees *ret_bytes. */
int devcode_reread(struct jw_error *err, const char *path, const struct devcode_part *part,
				   const struct jw_cancel *cancel, uint64_t *again_bytes, struct buf *ret_bytes);
