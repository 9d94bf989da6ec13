#include "cache/driver_place.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/shell.h"

bool cache_is_unsafe(const char *dir, struct cache_unsafe *ret_unsafe)
{
	/* The driver touches these names only. */
	static const char *const names[] = {"index", "0", "1", "2", "3", "4", "5", "6", "7",
										"8",     "9", "a", "b", "c", "d", "e", "f"};
	char text[OS_STRANGER_TEXT], word[SHELL_WORD];
	struct buf words = BUF_MAX(2 * SHELL_WORD);
	struct cache_unsafe unsafe = {0};
	struct os_stranger stranger;

	/* In a folder such as /tmp another account can put a symlink. */
	if (os_find_stranger(dir, &stranger))
		unsafe.why = mem_string(os_stranger_text(text, &stranger));
	else if (stranger.open || !os_is_private(dir))
		unsafe.why = mem_printf("other accounts may write to %s", dir);
	else if (os_opens_new_files(dir)) {
		unsafe.why = mem_printf(OS_OPENING_LIST, text_unquoted(text, sizeof text, dir));
		unsafe.command = mem_printf("setfacl -R -k -- %s", shell_word(word, dir));
	}
	if (unsafe.why) {
		*ret_unsafe = unsafe;
		return true;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = os_join(dir, names[i]);

		if (os_find_planted(path, text)) {
			unsafe.why = unsafe.why ? unsafe.why : mem_string(text);
			/* A driver wipes a cache without an index. A word that does not fit is left out: after
			 * this line, the next one names it. */
			if (i > 0)
				buf_add(&words, " %s", shell_word(word, path));
		}
		mem_free(path);
	}
	if (unsafe.why) {
		unsafe.command = words.size ? mem_printf("rm -r --%s", buf_text(&words))
									: mem_string("jitwarm cache verify --repair");
		*ret_unsafe = unsafe;
	}
	buf_free(&words);
	return unsafe.why;
}

void cache_unsafe_free(struct cache_unsafe *unsafe)
{
	mem_free(unsafe->why);
	mem_free(unsafe->command);
	*unsafe = (struct cache_unsafe){0};
}
