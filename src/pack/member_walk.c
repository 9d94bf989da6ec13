#include "pack/member_walk.h"

#include <string.h>

#include <uv.h>

#include "base/arena.h"
#include "os/uv.h"

struct order {
	/* The entries, grouped by the member that completes them: first[m] to first[m+1]. */
	uint32_t *entries, *first;
	uint32_t *dead, *dead_first; /* the members, grouped by the last member that needs them */
};

static uint32_t later(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Sorts `count` things by where[thing], a number below `places`: a counting sort. */
static void sort_by(const uint32_t *where, size_t count, uint32_t *things, uint32_t *first,
					size_t places)
{
	for (size_t i = 0; i < count; i++)
		first[where[i] + 1]++;
	for (size_t i = 0; i < places; i++)
		first[i + 1] += first[i];
	for (size_t i = count; i-- > 0;)
		things[--first[where[i] + 1]] = (uint32_t)i;
	/* Each place's number is its start now, so all are moved back by one place. */
	memmove(first, first + 1, places * sizeof *first);
	first[places] = (uint32_t)count;
}

/* The caller frees the order with jw_result_free. */
static struct order *order_make(const struct pack_manifest *manifest)
{
	size_t members = manifest->member_count, entries = manifest->entry_count;
	struct order *order = arena_open(sizeof *order);
	uint32_t *completes = arena_array(order, entries, sizeof *completes);
	uint32_t *last = arena_array(order, members, sizeof *last);

	order->entries = arena_array(order, entries, sizeof *order->entries);
	order->first = arena_array(order, members + 1, sizeof *order->first);
	order->dead = arena_array(order, members, sizeof *order->dead);
	order->dead_first = arena_array(order, members + 1, sizeof *order->dead_first);
	for (size_t i = 0; i < entries; i++) {
		const struct pack_entry *entry = &manifest->entries[i];

		completes[i] = later(entry->ptx, entry->cubin);
		last[entry->ptx] = later(last[entry->ptx], completes[i]);
		last[entry->cubin] = later(last[entry->cubin], completes[i]);
	}
	sort_by(completes, entries, order->entries, order->first, members);
	sort_by(last, members, order->dead, order->dead_first, members);
	return order;
}

/* Checks the largest amount that is kept at a time, which is known in advance. */
static int check_retained(struct jw_error *err, const struct pack_manifest *manifest,
						  const struct order *order, const char *name)
{
	uint64_t retained = 0;

	for (size_t at = 0; at < manifest->member_count; at++) {
		retained += manifest->members[at].size_bytes;
		if (retained > PACK_MAX_RETAINED)
			return error_set(err, JW_ERR_LIMIT,
							 "%s: the order of its members needs more than %llu MiB of memory; "
							 "export it again",
							 name, (unsigned long long)(PACK_MAX_RETAINED >> 20));
		for (size_t i = order->dead_first[at]; i < order->dead_first[at + 1]; i++)
			retained -= manifest->members[order->dead[i]].size_bytes;
	}
	return 0;
}

/* Limits of reading ahead: one thread decompresses, the caller's thread checks or writes, and both
 * hash. */

enum { MAX_AHEAD = 16, MAX_BYTES_AHEAD = 48 << 20 };
enum { MAX_TOGETHER = 8, MAX_BYTES_TOGETHER = 16 << 20 };

struct ahead {
	struct member_walk *walk;
	struct reader *reader;
	const char *name;
	uv_mutex_t mutex;
	uv_cond_t changed;
	size_t read, taken;   /* the numbers of members read and taken */
	uint64_t bytes_ahead; /* the bytes of members that were read and not passed on */
	size_t hashed;        /* the number of members that are hashed, or being hashed */
	/* The first member that the reading thread is hashing; SIZE_MAX if there is none. */
	size_t other;
	bool stop;
	bool failed, wrong; /* reading failed, or a member does not match its name */
	struct jw_error why;
};

static int hash_member(struct jw_error *err, const struct ahead *ahead, size_t at)
{
	const struct pack_member *member = &ahead->walk->manifest->members[at];
	char text[TAR_MAX_NAME + 1];
	struct digest digest;

	digest_of(&digest, ahead->walk->bytes[at], (size_t)member->size_bytes);
	return digest_equal(&digest, &member->digest)
			   ? 0
			   : error_set(err, JW_ERR_FORMAT, "%s: %s: its content does not match its name",
						   ahead->name, pack_member_name(text, member));
}

enum step { READ, HASH, DONE };

/* Reads if there is room. Without room or at the end of the pack it hashes the members that were
 * read; if there are none, it waits. */
static enum step go_ahead(struct ahead *ahead)
{
	for (;;) {
		size_t unread = ahead->walk->manifest->member_count - ahead->read;
		bool room =
			ahead->walk->whole || ahead->read == ahead->taken ||
			(ahead->read - ahead->taken < MAX_AHEAD && ahead->bytes_ahead <= MAX_BYTES_AHEAD);

		if (ahead->stop || ahead->wrong)
			return DONE;
		if (!ahead->failed && unread && room)
			return READ;
		if (ahead->walk->verify && ahead->hashed < ahead->read)
			return HASH;
		if (ahead->failed || !unread)
			return DONE;
		uv_cond_wait(&ahead->changed, &ahead->mutex);
	}
}

static void fail_walk(struct ahead *ahead, bool *which, const struct jw_error *why)
{
	if (!ahead->failed && !ahead->wrong)
		ahead->why = *why;
	*which = true;
}

static void read_ahead(void *argument)
{
	struct ahead *ahead = argument;
	enum step step;

	uv_mutex_lock(&ahead->mutex);
	while ((step = go_ahead(ahead)) != DONE) {
		struct member_walk *walk = ahead->walk;
		const size_t at = step == READ ? ahead->read : ahead->hashed++;
		const struct pack_member *member = &walk->manifest->members[at];
		struct jw_error why = {0};
		int result;

		ahead->other = step == HASH ? at : SIZE_MAX;
		uv_mutex_unlock(&ahead->mutex);
		if (step == READ && !walk->whole)
			walk->bytes[at] = mem_resize(NULL, (size_t)member->size_bytes);
		result = step == READ ? reader_member(&why, ahead->reader, member, &walk->bytes[at])
							  : hash_member(&why, ahead, at);
		uv_mutex_lock(&ahead->mutex);
		ahead->other = SIZE_MAX;
		if (result)
			fail_walk(ahead, step == READ ? &ahead->failed : &ahead->wrong, &why);
		else if (step == READ) {
			ahead->read++;
			ahead->bytes_ahead += member->size_bytes;
		}
		uv_cond_signal(&ahead->changed);
	}
	uv_mutex_unlock(&ahead->mutex);
}

/* Waits until a member was read. */
static int take_read_member(struct jw_error *err, struct ahead *ahead, size_t at)
{
	bool there;

	uv_mutex_lock(&ahead->mutex);
	while (ahead->read <= at && !ahead->failed && !ahead->wrong)
		uv_cond_wait(&ahead->changed, &ahead->mutex);
	there = ahead->read > at;
	if (there) {
		ahead->taken = at + 1;
		ahead->bytes_ahead -= ahead->walk->manifest->members[at].size_bytes;
		uv_cond_signal(&ahead->changed);
	}
	uv_mutex_unlock(&ahead->mutex);
	return there ? 0 : error_copy(err, &ahead->why);
}

/* Hashes the members up to `end` that the other thread has not taken, and waits for the one that it
 * has. */
static int verify_members(struct jw_error *err, struct ahead *ahead, size_t end)
{
	bool wrong;

	uv_mutex_lock(&ahead->mutex);
	while (!ahead->wrong && ahead->hashed < end) {
		size_t at = ahead->hashed++;
		struct jw_error why = {0};
		int result;

		uv_mutex_unlock(&ahead->mutex);
		result = hash_member(&why, ahead, at);
		uv_mutex_lock(&ahead->mutex);
		if (result)
			fail_walk(ahead, &ahead->wrong, &why);
	}
	while (ahead->other < end)
		uv_cond_wait(&ahead->changed, &ahead->mutex);
	wrong = ahead->wrong;
	uv_mutex_unlock(&ahead->mutex);
	return wrong ? error_copy(err, &ahead->why) : 0;
}

static int complete(struct jw_error *err, struct member_walk *walk, const struct order *order,
					size_t at, size_t end)
{
	size_t first = order->first[at], count = order->first[end] - first;

	if (cancel_check(err, &walk->cancel))
		return -1;
	return count ? walk->complete(err, walk->context, walk, order->entries + first, count) : 0;
}

/* Passes on members from `at` on, several together, since one entry alone gives fnv_update_many no
 * lanes. *ret_end is the next one. */
static int walk_batch(struct jw_error *err, struct ahead *ahead, const struct order *order,
					  size_t at, size_t *ret_end)
{
	struct member_walk *walk = ahead->walk;
	const struct pack_manifest *manifest = walk->manifest;
	uint64_t bytes = manifest->members[at].size_bytes;
	size_t end = at + 1;

	while (end < manifest->member_count && end - at < MAX_TOGETHER) {
		bytes += manifest->members[end].size_bytes;
		if (bytes > MAX_BYTES_TOGETHER)
			break;
		end++;
	}
	*ret_end = end;
	for (size_t i = at; i < end; i++)
		if (take_read_member(err, ahead, i))
			return -1;
	if (walk->verify && verify_members(err, ahead, end))
		return -1;
	if (complete(err, walk, order, at, end))
		return -1;
	for (size_t i = order->dead_first[at]; !walk->keep && i < order->dead_first[end]; i++) {
		uint32_t dead = order->dead[i];

		mem_free(walk->bytes[dead]);
		walk->bytes[dead] = NULL;
	}
	return 0;
}

static int walk_members(struct jw_error *err, struct ahead *ahead, const struct order *order)
{
	const struct pack_manifest *manifest = ahead->walk->manifest;
	uv_thread_t thread;
	int result = 0;

	os_mutex_make(&ahead->mutex);
	os_cond_make(&ahead->changed);
	if (os_thread_start(&thread, read_ahead, ahead)) {
		result = error_set(err, JW_ERR_IO, "no thread can be started");
	} else {
		for (size_t at = 0; !result && at < manifest->member_count;)
			result = walk_batch(err, ahead, order, at, &at);
		uv_mutex_lock(&ahead->mutex);
		ahead->stop = true;
		uv_cond_signal(&ahead->changed);
		uv_mutex_unlock(&ahead->mutex);
		(void)uv_thread_join(&thread);
	}
	uv_cond_destroy(&ahead->changed);
	uv_mutex_destroy(&ahead->mutex);
	return result;
}

int member_walk_pack(struct jw_error *err, struct member_walk *walk, struct reader *reader,
					 const char *name)
{
	const struct pack_manifest *manifest = walk->manifest;
	struct ahead ahead = {.walk = walk, .reader = reader, .name = name, .other = SIZE_MAX};
	struct order *order = order_make(manifest);
	int result = -1;

	walk->bytes = mem_array(manifest->member_count, sizeof *walk->bytes);
	if (walk->keep) {
		const size_t size = (size_t)manifest_extent(manifest);

		walk->whole = mem_resize(NULL, size);
		reader_into(reader, walk->whole, size);
	}
	if (!check_retained(err, manifest, order, name) && !walk_members(err, &ahead, order))
		result = reader_end(err, reader);
	if (result || !walk->keep)
		member_walk_free(walk);
	jw_result_free(order);
	return result;
}

int member_walk_again(struct jw_error *err, struct member_walk *walk)
{
	struct order *order = order_make(walk->manifest);
	const int result = complete(err, walk, order, 0, walk->manifest->member_count);

	jw_result_free(order);
	return result;
}

void member_walk_free(struct member_walk *walk)
{
	for (size_t i = 0; walk->bytes && !walk->whole && i < walk->manifest->member_count; i++)
		mem_free(walk->bytes[i]);
	mem_free(walk->whole);
	mem_free(walk->bytes);
	walk->bytes = NULL;
	walk->whole = NULL;
}
