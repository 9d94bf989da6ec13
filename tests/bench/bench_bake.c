/* bench_bake LIBRARY COPY
 *
 * What packing costs that bake cannot do without, beside a copy of the file in the same run. COPY
 * is what `jitwarm bake` made of LIBRARY: its parts in LZ4 that LIBRARY does not have (new machine
 * code, and raw code that was packed to make room) are packed again, by LZ4's fast level and
 * nothing else. Processor time, least of five rounds; the copy goes to a new file beside COPY, as
 * cp writes one. And by how much the copy is longer, beside the machine code that it got. */
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "devcode/devcode.h"
#include "os/file.h"

enum { BENCH_BAKE_ROUNDS = 5, COPY_PIECE = 128 << 10, MOST_PARTS = 1 << 20 };

struct packing {
	struct digest *known; /* the library's parts, as they are stored */
	size_t known_count, known_capacity;
	struct buf *parts; /* unpacked: those that only the copy has */
	size_t part_count, part_capacity;
	struct buf scratch;
	uint64_t bytes, packed_bytes;
	struct digest *codes; /* the library's machine code, unpacked */
	size_t code_count, code_capacity;
	size_t added;
	uint64_t added_bytes, added_stored;
	bool copy; /* which of the two is read */
};

static double processor_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int by_digest(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct digest));
}

static int keep_part(struct jw_error *err, struct packing *packing,
					 const struct devcode_container *container, const struct devcode_entry *entry)
{
	struct devcode_view view;
	struct buf *part;

	if (devcode_payload(err, container, entry, &packing->scratch, &view) ||
		VEC_ROOM(err, packing->parts, packing->part_capacity, packing->part_count, MOST_PARTS))
		return -1;
	part = &packing->parts[packing->part_count++];
	*part = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	packing->bytes += view.size;
	return buf_append(err, part, view.data, view.size);
}

/* A cubin that only the copy has was added; others may be packed otherwise than in the library. */
static int see_code(struct jw_error *err, struct packing *packing,
					const struct devcode_container *container, const struct devcode_entry *entry)
{
	struct devcode_view view;
	struct digest digest;

	if (entry->kind != DEVCODE_KIND_CUBIN)
		return 0;
	if (devcode_payload(err, container, entry, &packing->scratch, &view))
		return -1;
	digest_of(&digest, view.data, view.size);
	if (!packing->copy) {
		if (VEC_ROOM(err, packing->codes, packing->code_capacity, packing->code_count, MOST_PARTS))
			return -1;
		packing->codes[packing->code_count++] = digest;
	} else if (!packing->code_count ||
			   !bsearch(&digest, packing->codes, packing->code_count, sizeof digest, by_digest)) {
		packing->added++;
		packing->added_bytes += view.size;
		packing->added_stored += entry->stored_bytes;
	}
	return 0;
}

static int see_parts(struct jw_error *err, void *context, const struct devcode_container *container)
{
	struct packing *packing = context;

	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];
		struct devcode_view stored;
		struct digest digest;

		if (entry->damaged || devcode_stored(err, container, entry, &stored))
			continue;
		if (see_code(err, packing, container, entry))
			return -1;
		digest_of(&digest, stored.data, stored.size);
		if (packing->copy) {
			if (entry->compression == DEVCODE_LZ4 &&
				!bsearch(&digest, packing->known, packing->known_count, sizeof digest, by_digest) &&
				keep_part(err, packing, container, entry))
				return -1;
		} else {
			if (VEC_ROOM(err, packing->known, packing->known_capacity, packing->known_count,
						 MOST_PARTS))
				return -1;
			packing->known[packing->known_count++] = digest;
		}
	}
	return 0;
}

static double time_packing(struct packing *packing)
{
	double least = 0;

	for (int round = 0; round < BENCH_BAKE_ROUNDS; round++) {
		const double began = processor_seconds();
		double took;

		packing->packed_bytes = 0;
		for (size_t i = 0; i < packing->part_count; i++) {
			const struct buf *part = &packing->parts[i];
			const int room = LZ4_compressBound((int)part->size);

			buf_clear(&packing->scratch);
			if (buf_reserve(NULL, &packing->scratch, (size_t)room))
				return 0;
			packing->packed_bytes += (uint64_t)LZ4_compress_default(
				(const char *)part->data, (char *)packing->scratch.data, (int)part->size, room);
		}
		took = processor_seconds() - began;
		least = round && least < took ? least : took;
	}
	return least;
}

static int copy_once(const char *from, const char *to)
{
	static uint8_t piece[COPY_PIECE];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	int result = in && out ? 0 : -1;
	size_t size;

	if (!result) {
		(void)setvbuf(in, NULL, _IONBF, 0);
		(void)setvbuf(out, NULL, _IONBF, 0);
	}
	while (!result && (size = fread(piece, 1, sizeof piece, in)) > 0)
		result = fwrite(piece, 1, size, out) == size ? 0 : -1;
	if (in)
		(void)fclose(in);
	if (out && fclose(out))
		result = -1;
	return result;
}

static double time_copy(const char *library, const char *beside)
{
	double least = 0;

	for (int round = 0; round < BENCH_BAKE_ROUNDS; round++) {
		const double began = processor_seconds();
		double took;

		if (copy_once(library, beside)) {
			perror(beside);
			exit(1);
		}
		took = processor_seconds() - began;
		(void)remove(beside);
		least = round && least < took ? least : took;
	}
	return least;
}

static void print_growth(const struct packing *packing, const char *library, const char *copy)
{
	struct os_stat before = {0}, after = {0};
	double grown;

	if (!packing->added || os_stat(NULL, library, &before) || os_stat(NULL, copy, &after))
		return;
	grown = (double)after.size_bytes - (double)before.size_bytes;
	printf(
		"%zu cubins added, %.3f MB, in the copy %.3f MB; the copy is longer by %.3f MB: %.2f and "
		"%.2f times them\n",
		packing->added, (double)packing->added_bytes / 1e6, (double)packing->added_stored / 1e6,
		grown / 1e6, grown / (double)packing->added_bytes, grown / (double)packing->added_stored);
}

static void see_bench_trouble(void *context, const char *path, const char *member,
							  const struct jw_error *why)
{
	(void)context;
	(void)member;
	printf("%s: %s\n", path, why->message);
}

int main(int argc, char **argv)
{
	struct packing packing = {.scratch = BUF_MAX(DEVCODE_MOST_PAYLOAD + 1)};
	const struct devcode_sink sink = {
		.context = &packing, .container = see_parts, .trouble = see_bench_trouble};
	struct jw_error err = {0};
	char beside[4096];
	double packing_s, copy_s;

	if (argc != 3) {
		fprintf(stderr, "usage: bench_bake LIBRARY COPY\n");
		return 64;
	}
	if (devcode_read(&err, argv[1], &sink)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	if (packing.known_count)
		qsort(packing.known, packing.known_count, sizeof *packing.known, by_digest);
	if (packing.code_count)
		qsort(packing.codes, packing.code_count, sizeof *packing.codes, by_digest);
	packing.copy = true;
	if (devcode_read(&err, argv[2], &sink)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	(void)snprintf(beside, sizeof beside, "%s.bench", argv[2]);
	packing_s = time_packing(&packing);
	copy_s = time_copy(argv[1], beside);
	printf("%zu parts, %.1f MB, by LZ4 %.1f MB: %.3f s  copy of the file %.3f s  ratio %.2f, with "
		   "the copy %.2f\n",
		   packing.part_count, (double)packing.bytes / 1e6, (double)packing.packed_bytes / 1e6,
		   packing_s, copy_s, packing_s / copy_s, 1 + packing_s / copy_s);
	print_growth(&packing, argv[1], argv[2]);
	for (size_t i = 0; i < packing.part_count; i++)
		buf_free(&packing.parts[i]);
	mem_free(packing.parts);
	mem_free(packing.codes);
	mem_free(packing.known);
	buf_free(&packing.scratch);
	return 0;
}
