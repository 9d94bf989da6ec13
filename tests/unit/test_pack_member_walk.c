/* A walk through a pack returns the same, whether the pack is kept as a whole or read member by
 * member, verified or not. */
#include "folder.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "pack/member_walk.h"
#include "packs.h"

enum { PAIRS = 16, MEMBERS = 2 * PAIRS };

/* The sizes lie around those that are decompressed, read and passed on at a time; the contents are
 * text that compresses and bytes that do not. */
static uint8_t *contents[MEMBERS];
static size_t sizes[MEMBERS];
static char names[MEMBERS][80];
static struct packs_member members[MEMBERS];
static char *manifest, *file;

static size_t size_of(size_t at)
{
	static const size_t some[] = {1, 511, 512, 513, 4096, 40000, 300000, 1100000};

	return some[at % (sizeof some / sizeof *some)] + at;
}

static void make_member(size_t at)
{
	struct pack_member member = {.kind = at % 2 ? PACK_CUBIN : PACK_PTX};
	char name[TAR_MAX_NAME + 1];

	sizes[at] = size_of(at);
	contents[at] = mem_alloc(sizes[at]);
	if (at % 3)
		memset(contents[at], 'a' + (int)(at % 26), sizes[at]);
	else
		randombytes_buf(contents[at], sizes[at]);
	contents[at][0] = (uint8_t)at;
	digest_of(&member.digest, contents[at], sizes[at]);
	(void)snprintf(names[at], sizeof names[at], "%s", pack_member_name(name, &member));
	members[at] = (struct packs_member){names[at], contents[at], sizes[at]};
}

/* Entry i needs the members 2i and 2i + 1, and the last one also the first member. */
static int set_up(void **state)
{
	struct buf text = BUF_MAX(1 << 20);

	if (make_folder(state) || !(file = os_join(folder, "pack")))
		return -1;
	assert_true(sodium_init() >= 0);
	(void)buf_printf(NULL, &text,
					 "{\"format\":\"jitwarm.pack/1\",\"requires\":[],\"os\":\"linux\","
					 "\"pointer_bits\":64,\"drivers\":[{\"stamp\":\"Jun 25 202401:14:48\"}],"
					 "\"members\":[");
	for (size_t i = 0; i < MEMBERS; i++) {
		make_member(i);
		(void)buf_printf(NULL, &text, "%s{\"name\":\"%s\",\"bytes\":%zu}", i ? "," : "", names[i],
						 sizes[i]);
	}
	(void)buf_printf(NULL, &text, "],\"entries\":[");
	for (size_t i = 0; i <= PAIRS; i++) {
		size_t ptx = i == PAIRS ? 0 : 2 * i, cubin = i == PAIRS ? MEMBERS - 1 : 2 * i + 1;

		(void)buf_printf(
			NULL, &text,
			"%s{\"key\":\"%016zx\",\"driver\":0,\"target\":\"sm_86\",\"form\":\"load\","
			"\"options\":\"\",\"ptx\":%zu,\"cubin\":%zu}",
			i ? "," : "", i + 1, ptx, cubin);
	}
	(void)buf_printf(NULL, &text, "]}");
	manifest = keep(mem_string(buf_text(&text)));
	buf_free(&text);
	return 0;
}

static int tear_down(void **state)
{
	for (size_t i = 0; i < MEMBERS; i++)
		mem_free(contents[i]);
	mem_free(file);
	return remove_folder(state);
}

/* ---- walking */

struct seen {
	bool entries[PAIRS + 1];
	size_t count;
};

static int see(struct jw_error *err, void *context, const struct member_walk *walk,
			   const uint32_t *entries, size_t count)
{
	struct seen *seen = context;

	(void)err;
	for (size_t i = 0; i < count; i++) {
		const struct pack_entry *entry = &walk->manifest->entries[entries[i]];
		const uint32_t both[] = {entry->ptx, entry->cubin};

		assert_false(seen->entries[entries[i]]);
		seen->entries[entries[i]] = true;
		seen->count++;
		for (size_t k = 0; k < 2; k++)
			assert_memory_equal(walk->bytes[both[k]], contents[both[k]], sizes[both[k]]);
	}
	return 0;
}

struct result {
	int result;
	struct jw_error err;
	size_t seen, seen_again;
};

static struct result walk_bytes(const struct buf *pack, bool keep, bool verify)
{
	struct pack_manifest read = {0};
	struct reader *reader = NULL;
	struct source *source = NULL;
	struct seen seen = {0}, again = {0};
	struct member_walk walk = {
		.manifest = &read, .verify = verify, .keep = keep, .context = &seen, .complete = see};
	struct result result = {0};

	OK(os_write_atomic(why, file, pack->data, pack->size));
	assert_int_equal(source_open(&result.err, file, NULL, &source), 0);
	result.result = reader_open(&result.err, source, &read, &reader) ||
							member_walk_pack(&result.err, &walk, reader, "pack")
						? -1
						: 0;
	walk.context = &again;
	if (!result.result && keep)
		assert_int_equal(member_walk_again(&result.err, &walk), 0);
	result.seen = seen.count;
	result.seen_again = again.count;
	member_walk_free(&walk);
	reader_close(reader);
	manifest_free(&read);
	source_close(source);
	return result;
}

TEST(every_entry_once)
{
	struct buf pack;

	packs_make(&pack, manifest, members, MEMBERS);
	for (unsigned how = 0; how < 4; how++) {
		struct result result = walk_bytes(&pack, how & 1, how & 2);

		if (result.result)
			fail_msg("%s", result.err.message);
		assert_int_equal(result.seen, PAIRS + 1);
		assert_int_equal(result.seen_again, how & 1 ? PAIRS + 1 : 0);
	}
	buf_free(&pack);
}

static int stops(struct jw_error *err, void *context, const struct member_walk *walk,
				 const uint32_t *entries, size_t count)
{
	(void)context;
	(void)walk;
	(void)entries;
	(void)count;
	return error_set(err, JW_ERR_BUSY, "enough");
}

static bool is_cancelled(void *context)
{
	return context != NULL;
}

/* Some members are not read yet. */
TEST(it_stops_where_it_is_told)
{
	struct buf pack;

	packs_make(&pack, manifest, members, MEMBERS);
	for (unsigned how = 0; how < 8; how++) {
		struct pack_manifest read = {0};
		struct reader *reader = NULL;
		struct source *source = NULL;
		struct member_walk walk = {.manifest = &read,
								   .keep = how & 1,
								   .verify = how & 2,
								   .cancel = {how & 4 ? &pack : NULL, is_cancelled},
								   .complete = stops};

		OK(os_write_atomic(why, file, pack.data, pack.size));
		OK(source_open(why, file, NULL, &source));
		OK(reader_open(why, source, &read, &reader));
		GIVES(how & 4 ? JW_ERR_INTERRUPTED : JW_ERR_BUSY,
			  member_walk_pack(why, &walk, reader, "pack"));
		assert_null(walk.bytes);
		reader_close(reader);
		manifest_free(&read);
		source_close(source);
	}
	buf_free(&pack);
}

/* The byte is in any member, and either thread finds it. */
TEST(one_wrong_byte)
{
	for (size_t at = 0; at < MEMBERS; at += 13) {
		struct buf pack;

		contents[at][sizes[at] - 1] ^= 1;
		packs_make(&pack, manifest, members, MEMBERS);
		contents[at][sizes[at] - 1] ^= 1;
		for (unsigned keep = 0; keep < 2; keep++) {
			struct result result = walk_bytes(&pack, keep, true);

			assert_int_equal(result.result, -1);
			assert_int_equal(result.err.code, JW_ERR_FORMAT);
			assert_non_null(strstr(result.err.message, "its content does not match its name"));
			assert_non_null(strstr(result.err.message, names[at]));
		}
		buf_free(&pack);
	}
}

RUN_TESTS(set_up, tear_down)
