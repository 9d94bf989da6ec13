#include "cli/language.h"

#include <string.h>

#include "base/mem.h"
#include "cli/translate.h"
#include "os/console.h"

#include "messages_ko.h"

static struct translator *chosen;

bool language_choose(const char *name)
{
	language_close();
	/* Without memory for it, English is what there is. */
	if (!strcmp(name, "ko"))
		(void)translator_make(NULL, messages_ko, sizeof messages_ko / sizeof *messages_ko, &chosen);
	return !strcmp(name, "ko") || !strcmp(name, "en");
}

void language_open(void)
{
	char name[OS_LANGUAGE];

	language_close();
	if (os_prints_utf8() && os_language(name))
		(void)language_choose(name);
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

void language_keep(const char *name)
{
	if (chosen)
		translator_keep(chosen, name);
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
