#include "compile/wheel_member.h"

#include <archive.h>
#include <archive_entry.h>
#include <sodium.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { STEP = 1 << 16, MOST_MEMBERS = 100000, HASH_TEXT = 64 };

struct wheel {
	struct archive *archive;
	const struct jw_cancel *cancel;
	char *member; /* the program's name in the wheel */
	char hash[HASH_TEXT];
	struct buf record;
	uint8_t step[STEP];
};

static int fail_wheel(struct jw_error *err, const struct wheel *wheel)
{
	const char *why = archive_error_string(wheel->archive);

	return error_set(err, JW_ERR_FORMAT, "%.300s", why ? why : "a damaged zip file");
}

/* The member's next bytes; *ret_got is 0 at its end. */
static int read_step(struct jw_error *err, struct wheel *wheel, size_t *ret_got)
{
	la_ssize_t got;

	if (cancel_check(err, wheel->cancel))
		return -1;
	do
		got = archive_read_data(wheel->archive, wheel->step, STEP);
	while (got == ARCHIVE_RETRY);
	if (got < 0)
		return fail_wheel(err, wheel);
	*ret_got = (size_t)got;
	return 0;
}

static int read_wheel_record(struct jw_error *err, struct wheel *wheel)
{
	size_t got = 0;

	buf_clear(&wheel->record);
	do
		if (read_step(err, wheel, &got) || buf_append(err, &wheel->record, wheel->step, got))
			return -1;
	while (got);
	return 0;
}

static int write_program(struct jw_error *err, struct wheel *wheel, const char *path)
{
	crypto_hash_sha256_state state;
	uint8_t hash[crypto_hash_sha256_BYTES];
	struct os_file *file = NULL;
	uint64_t size = 0;
	size_t got = 1;
	int result = os_file_open(err, path, OS_OPEN_CREATE, &file);

	(void)crypto_hash_sha256_init(&state);
	while (!result && got) {
		result = read_step(err, wheel, &got);
		if (!result && got > WHEEL_MOST_PROGRAM - size)
			result =
				error_set(err, JW_ERR_LIMIT, "a program of more than %d bytes", WHEEL_MOST_PROGRAM);
		if (!result && got)
			result = os_file_write(err, file, size, wheel->step, got);
		if (!result) {
			(void)crypto_hash_sha256_update(&state, wheel->step, got);
			size += got;
		}
	}
	if (file)
		os_file_close(file);
	(void)crypto_hash_sha256_final(&state, hash);
	(void)sodium_bin2base64(wheel->hash, sizeof wheel->hash, hash, sizeof hash,
							sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	return result || os_set_mode(err, path, 0755) ? -1 : 0;
}

/* …/NAME, with only characters that CSV does not quote. */
static bool is_program_member(const char *member, const char *name)
{
	size_t length = strlen(member), tail = strlen(name);

	return length > tail + 1 && text_ends(member, name) && member[length - tail - 1] == '/' &&
		   !strpbrk(member, "\",\r\n");
}

/* NAME.dist-info/RECORD */
static bool is_record(const char *member)
{
	const char *slash = strchr(member, '/');

	return slash && text_ends(member, ".dist-info/RECORD") && !strchr(slash + 1, '/');
}

static int take_wheel_member(struct jw_error *err, struct wheel *wheel, struct archive_entry *entry,
							 const char *name, const char *path)
{
	const char *member = archive_entry_pathname(entry);

	if (!member || archive_entry_filetype(entry) != AE_IFREG)
		return 0;
	if (is_record(member))
		return read_wheel_record(err, wheel);
	if (!is_program_member(member, name))
		return 0;
	if (wheel->member)
		return error_set(err, JW_ERR_FORMAT, "two programs: %.200s and %.200s", wheel->member,
						 member);
	wheel->member = mem_string(err, member);
	return wheel->member ? write_program(err, wheel, path) : -1;
}

static int read_members(struct jw_error *err, struct wheel *wheel, const char *name,
						const char *path)
{
	struct archive_entry *entry;
	size_t count = 0;
	int code;

	while ((code = archive_read_next_header(wheel->archive, &entry)) != ARCHIVE_EOF) {
		if (code == ARCHIVE_RETRY)
			continue;
		if (code < ARCHIVE_WARN)
			return fail_wheel(err, wheel);
		if (++count > MOST_MEMBERS)
			return error_set(err, JW_ERR_LIMIT, "more than %d members", MOST_MEMBERS);
		if (take_wheel_member(err, wheel, entry, name, path))
			return -1;
	}
	return wheel->member ? 0 : error_set(err, JW_ERR_FORMAT, "has no %s", name);
}

/* The row of the program: “PATH,sha256=HASH,SIZE” (PEP 376). */
static int check_record(struct jw_error *err, const struct wheel *wheel)
{
	const char *row = buf_text(&wheel->record), *at;
	size_t name = strlen(wheel->member), hash = strlen(wheel->hash);

	for (; row; row = (row = strchr(row, '\n')) ? row + 1 : NULL) {
		if (strncmp(row, wheel->member, name) != 0 || row[name] != ',')
			continue;
		at = row + name + 1;
		if (text_starts(at, "sha256=") && !strncmp(at + 7, wheel->hash, hash) &&
			at[7 + hash] == ',')
			return 0;
		return error_set(err, JW_ERR_FORMAT, "the SHA-256 of %s is not the one in RECORD",
						 wheel->member);
	}
	return error_set(err, JW_ERR_FORMAT, "RECORD does not list %s", wheel->member);
}

static int open_wheel(struct jw_error *err, struct wheel *wheel, const struct os_map *map)
{
	if (!(wheel->archive = archive_read_new()))
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	if (archive_read_support_format_zip_seekable(wheel->archive) ||
		archive_read_open_memory(wheel->archive, map->data, map->size))
		return fail_wheel(err, wheel);
	return 0;
}

int wheel_member_take(struct jw_error *err, const char *wheel, const char *name, const char *path,
					  const struct jw_cancel *cancel)
{
	struct wheel *state;
	struct os_map map;
	int result;

	if (os_map_open(err, wheel, &map))
		return -1;
	if (!(state = mem_alloc(err, sizeof *state))) {
		os_map_close(&map);
		return -1;
	}
	state->cancel = cancel;
	state->record = BUF_MAX(WHEEL_MOST_RECORD);
	result = open_wheel(err, state, &map) || read_members(err, state, name, path) ||
					 check_record(err, state)
				 ? -1
				 : 0;
	(void)archive_read_free(state->archive);
	buf_free(&state->record);
	mem_free(state->member);
	mem_free(state);
	os_map_close(&map);
	return result;
}
