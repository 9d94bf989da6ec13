/* A wheel: a program is extracted only with the SHA-256 that a RECORD in the wheel lists for it. */
#include "fuzz.h"
#include "fuzz_memory.h"

#include <archive.h>
#include <archive_entry.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"
#include "compile/wheel_member.h"
#include "os/file.h"

/* The texts of all files of that name. */
static void read_records(const uint8_t *data, size_t size, struct buf *text)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;

	MUST(archive && !archive_read_support_format_zip_seekable(archive) &&
		 !archive_read_open_memory(archive, data, size));
	while (archive_read_next_header(archive, &entry) >= ARCHIVE_WARN) {
		const char *name = archive_entry_pathname(entry);
		char step[4096];
		la_ssize_t got;

		if (!name || !text_ends(name, "RECORD"))
			continue;
		while ((got = archive_read_data(archive, step, sizeof step)) > 0)
			MUST(!buf_append(NULL, text, step, (size_t)got));
	}
	(void)archive_read_free(archive);
}

static void check_program(const uint8_t *data, size_t size, const char *path)
{
	struct buf program = {0}, records = BUF_MAX(WHEEL_MOST_RECORD * 4);
	uint8_t hash[crypto_hash_sha256_BYTES];
	char text[64] = "sha256=";

	MUST(!os_read_file(NULL, path, WHEEL_MOST_PROGRAM, &program));
	(void)crypto_hash_sha256(hash, program.data, program.size);
	(void)sodium_bin2base64(text + 7, sizeof text - 7, hash, sizeof hash,
							sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	read_records(data, size, &records);
	MUST(strstr(buf_text(&records), text));
	buf_free(&program);
	buf_free(&records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int wheel = fuzz_memory_file("wheel"), program = fuzz_memory_file("program");
	const struct jw_cancel never = {0};
	char from[32], to[32];
	struct stat stat;

	MUST(wheel >= 0 && program >= 0 && write(wheel, data, size) == (ssize_t)size);
	(void)snprintf(from, sizeof from, "/proc/self/fd/%d", wheel);
	(void)snprintf(to, sizeof to, "/proc/self/fd/%d", program);
	if (!wheel_member_take(NULL, from, "bin/ptxas", to, &never)) {
		MUST(!fstat(program, &stat) && (stat.st_mode & 0777) == 0755);
		check_program(data, size, to);
	}
	(void)close(wheel);
	(void)close(program);
	return 0;
}
