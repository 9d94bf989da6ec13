/* Any output of pip gives an error, a lack and wheels without a password; an index may have written
 * most of the output. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/pip.h"
#include "find/pip_output.h"
#include "fuzz.h"

/* No “@” follows “://” in a word. */
static void check_hidden(const char *text)
{
	bool address = false;

	for (; *text; text++) {
		if (text_is_blank((unsigned char)*text))
			address = false;
		address = address || text_starts(text, "://");
		MUST(!address || *text != '@');
	}
}

static void check_passwords(const char *said)
{
	char *text = mem_string(said), *again;

	pip_hide_passwords(text);
	MUST(strlen(text) <= strlen(said));
	check_hidden(text);
	again = mem_string(text);
	pip_hide_passwords(again);
	MUST(!strcmp(text, again));
	mem_free(again);
	mem_free(text);
}

static void check_files(const char *said)
{
	struct pip_listing listing = {.index = NULL};

	pip_output_files(said, &listing);
	for (size_t i = 0; i < listing.count; i++) {
		const struct pip_file *file = &listing.items[i];

		MUST(text_ends(file->name, ".whl") && !strpbrk(file->name, " \t\r\n/\\"));
		MUST(!*file->sha256 || strlen(file->sha256) == 64);
		MUST(!strpbrk(file->address, " #\r\n"));
		check_hidden(file->address);
	}
	pip_listing_free(&listing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	char *said = mem_string_n((const char *)data, end ? (size_t)(end - data) : size);
	const struct os_ended ended = {.status = 1};
	struct jw_error err = {0}, lack = {0};

	check_passwords(said);
	MUST(pip_output_error(&err, said, "pip", "/tmp/x", &ended) == -1 && *err.message);
	check_hidden(err.message);
	MUST(pip_output_lack(&lack, said) <= PIP_LACKS_VERSION);
	check_hidden(lack.message);
	check_files(said);
	mem_free(said);
	return 0;
}
