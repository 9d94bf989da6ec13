#include "cli/language.h"

#include <string.h>

#include "base/mem.h"
#include "cli/translate.h"
#include "os/console.h"

#include "messages_ko.h"

static struct translator *chosen;

void language_open(void)
{
	char name[OS_LANGUAGE];

	language_close();
	if (!os_prints_utf8() || !os_language(name) || strcmp(name, "ko") != 0)
		return;
	/* Without memory for it, English is what there is. */
	(void)translator_make(NULL, messages_ko, sizeof messages_ko / sizeof *messages_ko, &chosen);
}

void language_close(void)
{
	translator_free(chosen);
	chosen = NULL;
}

const char *language_text(const char *english)
{
	const char *text = chosen ? translator_text(chosen, english) : NULL;

	return text ? text : english;
}

char *language_line(const char *english)
{
	return chosen ? translator_line(chosen, english) : NULL;
}

char *language_translated(char *english)
{
	char *text = english ? language_line(english) : NULL;

	if (!text)
		return english;
	mem_free(english);
	return text;
}
