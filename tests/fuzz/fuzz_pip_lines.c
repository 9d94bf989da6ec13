/* Any requirements, pylock.toml or report of pip gives only lines that are safe to pass to pip. */
#include <string.h>

#include "base/mem.h"
#include "find/pip.h"
#include "fuzz.h"

/* Each line begins with a name, or is an option for indexes; no other option follows. */
static void check_lines(const struct buf *lines, bool options)
{
	const char *line = buf_text(lines);

	for (size_t length; *line; line += length + 1) {
		char *text;

		length = strcspn(line, "\n");
		MUST(line[length] == '\n' && options == (*line == '-'));
		text = mem_string_n(line, length);
		MUST(!strpbrk(text, "\r\\$"));
		if (!options) {
			MUST(!strpbrk(text, "@/"));
			for (const char *at = text; (at = strstr(at, " -")); at++)
				MUST(!strncmp(at, " --hash=", 8));
		}
		mem_free(text);
	}
}

/* Checks that the text for pip is the same requirement once more. */
static void check_requirement(const char *asked)
{
	char *again = pip_requirement(asked);

	MUST(again && !strcmp(again, asked));
	mem_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"requirements.txt", "pylock.toml"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct pip_lines lines;

		if (pip_lines_read(NULL, names[i], data, size, &lines))
			continue;
		check_lines(&lines.options, true);
		check_lines(&lines.requirements, false);
		for (size_t k = 0; k < lines.left_out.count; k++)
			MUST(lines.left_out.items[k].line <= size &&
				 strlen(lines.left_out.items[k].asked) <= strlen("address"));
		for (size_t k = 0; k < lines.packages.count; k++)
			check_requirement(lines.packages.items[k].asked);
		pip_lines_free(&lines);
	}
	return 0;
}
