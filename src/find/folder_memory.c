#include "find/folder_memory.h"

#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "os/clock.h"
#include "state/kept_for.h"

enum {
	MOST_FILE = 16 << 20, /* of folders that were seen in this run */
	KEEP_FILE = 2 << 20,  /* with others: reading it takes time */
	HEAD = FOLDER_MEMORY_HEAD,
	FOLDER = 28, /* device, inode, time, size of the names */
	SUM = 8,     /* at the end: of all before */
	MOST_FOLDERS = MOST_FILE / FOLDER,
	SETTLED_S = 2,
};
/* What names are wanted is for the rules to say. */
const char folder_memory_head[HEAD] = "JWFOLD1" JITWARM_RULES;

/* A folder's names: each a letter and a text. */
struct known_folder {
	uint64_t device, inode;
	int64_t changed_ns;
	size_t offset, size; /* in `names` */
	bool seen;           /* in this run */
};

struct folder_memory {
	char *state_dir, *path;
	struct buf names;
	struct known_folder *items;
	size_t count, capacity;
	struct set by_inode;
	bool changed;
};

static int add_known_folder(struct jw_error *err, struct folder_memory *memory,
							const struct known_folder *folder)
{
	if (VEC_ROOM(err, memory->items, memory->capacity, memory->count, MOST_FOLDERS) ||
		set_add(err, &memory->by_inode, folder->inode, memory->count))
		return -1;
	memory->items[memory->count++] = *folder;
	return 0;
}

static int read_folders(struct jw_error *err, struct folder_memory *memory)
{
	const uint8_t *data = memory->names.data;
	const size_t size = memory->names.size < SUM ? 0 : memory->names.size - SUM;
	struct cursor cursor = cursor_of(data, size);
	const uint8_t *start = cursor_take(&cursor, HEAD);

	if (!start || memcmp(start, folder_memory_head, HEAD) != 0 ||
		load_u64(data + size) != fnv_update(FNV_START, data, size))
		return 0;
	while (cursor_left(&cursor)) {
		struct known_folder folder = {.device = cursor_u64(&cursor)};
		const uint8_t *names;

		folder.inode = cursor_u64(&cursor);
		folder.changed_ns = (int64_t)cursor_u64(&cursor);
		folder.size = cursor_u32(&cursor);
		names = cursor_take(&cursor, folder.size);
		if (!names)
			break;
		folder.offset = (size_t)(names - data);
		if (add_known_folder(err, memory, &folder))
			return -1;
	}
	return 0;
}

static struct folder_memory *new_memory(struct jw_error *err)
{
	struct folder_memory *memory = mem_alloc(err, sizeof *memory);

	if (memory)
		memory->names = BUF_MAX(2 * MOST_FILE);
	return memory;
}

int folder_memory_parse(struct jw_error *err, const void *data, size_t size,
						struct folder_memory **ret_memory)
{
	struct folder_memory *memory = new_memory(err);

	if (!memory)
		return -1;
	if ((size && buf_append(err, &memory->names, data, size)) || read_folders(err, memory)) {
		folder_memory_close(memory);
		return -1;
	}
	*ret_memory = memory;
	return 0;
}

/* What another account could write would decide what the superuser sees. */
static bool may_be_read(const char *path)
{
	struct jw_error why;

	return os_exists(path) && !state_check_writers(&why, path, 0);
}

int folder_memory_open(struct jw_error *err, const char *state_dir,
					   struct folder_memory **ret_memory)
{
	struct folder_memory *memory;
	struct buf content;

	if (!state_dir)
		return 0;
	memory = new_memory(err);
	if (!memory)
		return -1;
	memory->state_dir = mem_string(err, state_dir);
	memory->path = os_join(err, state_dir, "folders");
	if (!memory->state_dir || !memory->path)
		goto fail;
	if (may_be_read(memory->path) && !os_read_file(NULL, memory->path, MOST_FILE, &content)) {
		content.most = memory->names.most;
		memory->names = content;
	}
	if (read_folders(err, memory))
		goto fail;
	*ret_memory = memory;
	return 0;
fail:
	folder_memory_close(memory);
	return -1;
}

bool folder_memory_knows(const struct folder_memory *memory)
{
	return memory && memory->count;
}

static struct known_folder *find_known_folder(const struct folder_memory *memory,
											  const struct os_stat *folder)
{
	size_t cursor = 0, at;

	while ((at = set_find(&memory->by_inode, folder->inode, &cursor)) != SET_NONE)
		if (memory->items[at].device == folder->device && memory->items[at].inode == folder->inode)
			return &memory->items[at];
	return NULL;
}

/* One name, of which nothing leads elsewhere; NULL: it is none. */
static const char *take_known_name(struct cursor *cursor, enum os_kind *ret_kind)
{
	const uint8_t kind = cursor_u8(cursor);
	const char *name = (const char *)cursor->at;
	const char *end = memchr(name, 0, cursor_left(cursor));

	if (!end || !*name || (kind != 'd' && kind != 'f') || strchr(name, '/') || !strcmp(name, ".") ||
		!strcmp(name, ".."))
		return NULL;
	(void)cursor_take(cursor, (size_t)(end - name) + 1);
	*ret_kind = kind == 'd' ? OS_DIRECTORY : OS_REGULAR;
	return name;
}

static int copy_names(struct jw_error *err, struct cursor cursor, struct os_names *names)
{
	const size_t most = cursor_left(&cursor) / 3 + 1;

	names->items = mem_array(err, most, sizeof *names->items);
	names->kinds = mem_array(err, most, sizeof *names->kinds);
	if (!names->items || !names->kinds)
		return -1;
	while (cursor_left(&cursor)) {
		const char *name = take_known_name(&cursor, &names->kinds[names->count]);

		if (!name)
			return error_set(err, JW_ERR_FORMAT, "damaged");
		names->items[names->count] = mem_string(err, name);
		if (!names->items[names->count])
			return -1;
		names->count++;
	}
	return 0;
}

int folder_memory_names(struct jw_error *err, struct folder_memory *memory,
						const struct os_stat *folder, struct os_names *ret_names, bool *ret_known)
{
	struct known_folder *known = memory ? find_known_folder(memory, folder) : NULL;
	struct os_names names = {0};
	struct jw_error why;

	*ret_known = false;
	if (!known || !folder->changed_ns || known->changed_ns != folder->changed_ns)
		return 0;
	if (copy_names(&why, cursor_of(memory->names.data + known->offset, known->size), &names)) {
		os_names_free(&names);
		return error_if_memory(err, &why);
	}
	known->seen = true;
	*ret_names = names;
	*ret_known = true;
	return 0;
}

static int append_names(struct buf *to, const struct os_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (buf_append(NULL, to, names->kinds[i] == OS_DIRECTORY ? "d" : "f", 1) ||
			buf_append(NULL, to, names->items[i], strlen(names->items[i]) + 1))
			return -1;
	return 0;
}

void folder_memory_note(struct folder_memory *memory, const struct os_stat *folder, int64_t seen_s,
						const struct os_names *names)
{
	struct known_folder next = {.device = folder->device,
								.inode = folder->inode,
								.changed_ns = folder->changed_ns,
								.seen = true};
	struct known_folder *known;

	if (!memory || !folder->changed_ns || folder->changed_ns / 1000000000 >= seen_s - SETTLED_S)
		return;
	next.offset = memory->names.size;
	if (append_names(&memory->names, names)) {
		memory->names.size = next.offset;
		return;
	}
	next.size = memory->names.size - next.offset;
	known = find_known_folder(memory, folder);
	if (known)
		*known = next;
	else if (add_known_folder(NULL, memory, &next))
		return;
	memory->changed = true;
}

/* Those of this run, or those of others as long as there is room. */
static int write_folders(const struct folder_memory *memory, bool seen, size_t most,
						 struct buf *file)
{
	for (size_t i = 0; i < memory->count; i++) {
		const struct known_folder *folder = &memory->items[i];
		uint8_t bytes[FOLDER];

		if (folder->seen != seen || file->size + FOLDER + folder->size > most)
			continue;
		store_u64(bytes, folder->device);
		store_u64(bytes + 8, folder->inode);
		store_u64(bytes + 16, (uint64_t)folder->changed_ns);
		store_u32(bytes + 24, (uint32_t)folder->size);
		if (buf_append(NULL, file, bytes, sizeof bytes) ||
			buf_append(NULL, file, memory->names.data + folder->offset, folder->size))
			return -1;
	}
	return 0;
}

static void save_folders(const struct folder_memory *memory)
{
	struct buf file = BUF_MAX(MOST_FILE);
	uint8_t sum[SUM];

	if (!buf_append(NULL, &file, folder_memory_head, HEAD) &&
		!write_folders(memory, true, MOST_FILE - SUM, &file) &&
		!write_folders(memory, false, KEEP_FILE, &file)) {
		store_u64(sum, fnv_update(FNV_START, file.data, file.size));
		if (!buf_append(NULL, &file, sum, sizeof sum) &&
			!os_make_dirs(NULL, memory->state_dir, 0700))
			(void)os_write_atomic(NULL, memory->path, file.data, file.size);
	}
	buf_free(&file);
}

void folder_memory_close(struct folder_memory *memory)
{
	if (!memory)
		return;
	if (memory->changed && memory->path)
		save_folders(memory);
	mem_free(memory->state_dir);
	mem_free(memory->path);
	mem_free(memory->items);
	set_free(&memory->by_inode);
	buf_free(&memory->names);
	mem_free(memory);
}
