#include "os/locale.h"

#include <locale.h>

#include "base/mem.h"

struct os_locale {
	locale_t own, before;
};

struct os_locale *os_locale_utf8(void)
{
	struct os_locale *locale = mem_alloc(NULL, sizeof *locale);

	if (!locale)
		return NULL;
	locale->own = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!locale->own) {
		mem_free(locale);
		return NULL;
	}
	locale->before = uselocale(locale->own);
	return locale;
}

void os_locale_restore(struct os_locale *locale)
{
	if (!locale)
		return;
	(void)uselocale(locale->before);
	freelocale(locale->own);
	mem_free(locale);
}
