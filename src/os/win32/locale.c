/* The C library of Windows has no locale in UTF-8; names go through UTF-16 there. */
#include "os/locale.h"

#include <stddef.h>

struct os_locale *os_locale_utf8(void)
{
	return NULL;
}

void os_locale_restore(struct os_locale *locale)
{
	(void)locale;
}
