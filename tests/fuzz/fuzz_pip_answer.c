/* Any answer of index.py gives wheels that are words in a list's lines, or a failure with a
 * sentence; an index may have written most of the answer. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/pip_answer.h"
#include "fuzz.h"

static void check_word(const char *text)
{
	for (; *text; text++)
		MUST(*text > ' ' && *text < 0x7f);
}

static void check_file(const struct pip_file *file)
{
	check_word(file->name);
	check_word(file->version);
	check_word(file->pythons);
	check_word(file->systems);
	MUST(text_ends(file->name, ".whl") && !strpbrk(file->name, "/\\"));
	MUST(*file->version && *file->pythons);
	MUST(!*file->sha256 || strlen(file->sha256) == 64);
	for (size_t i = 0; i < file->required_count; i++)
		for (const char *at = file->required[i]; *at; at++)
			MUST(*at >= ' ' && *at != 0x7f); /* it becomes a line of a list */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pip_answer answer = {.total_bytes = 0};
	char *text = mem_string_n((const char *)data, size), *line = text;
	int result = 0;

	/* Lines of one answer, which ends at the first that is none. */
	while (!result && (size_t)(line - text) < size) {
		struct jw_error err = {0};
		const size_t length = strcspn(line, "\n");

		line[length] = '\0';
		result = pip_answer_read(&err, &answer, line, "/tmp/x");
		MUST(result >= -1 && result <= 1 && (result < 0) == (err.code != JW_OK));
		MUST(result == 1 || !answer.failure.code);
		line += length + 1;
	}
	MUST(!answer.failure.code == !*answer.failure.message);
	for (size_t i = 0; i < answer.listing.count; i++)
		check_file(&answer.listing.items[i]);
	mem_free(text);
	pip_answer_free(&answer);
	return 0;
}
