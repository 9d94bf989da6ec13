/* The encoding of text for libraries. */
#pragma once

/* While it lasts, UTF-8 is the C locale's encoding for libraries in this thread (libarchive
 * converts names by it). NULL if the system has no such locale, which os_locale_restore accepts. */
struct os_locale;
struct os_locale *os_locale_utf8(void);
void os_locale_restore(struct os_locale *locale);
