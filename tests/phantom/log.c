/* Writes the log of PHANTOM_LOG. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "phantom.h"

bool log_on, log_methods;
static int log_fd = -1;

void log_open(void)
{
	const char *path = getenv("PHANTOM_LOG");
	if (!path || !*path)
		return;
	/* A direct system call: open() is one of the functions that the phantom replaces. */
	if (strcmp(path, "-") == 0)
		log_fd = STDERR_FILENO;
	else
		log_fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
							  0644);
	log_on = log_fd >= 0;
	log_methods = log_on && getenv("PHANTOM_LOG_METHODS");
}

/* One write() per line, so that lines of several threads and processes do not mix. */
void log_line(const char *format, ...)
{
	char line[1024];
	va_list list;
	va_start(list, format);
	int length = vsnprintf(line, sizeof line - 1, format, list);
	va_end(list);
	if (length < 0)
		return;
	size_t n = (size_t)length < sizeof line - 2 ? (size_t)length : sizeof line - 2;
	line[n++] = '\n';
	if (write(log_fd, line, n) < 0)
		log_on = false;
}

void log_hex(const char *what, const void *bytes, size_t size)
{
	char text[900];
	size_t n = 0, shown = size < 384 ? size : 384;
	if (!log_on || !bytes)
		return;
	for (size_t i = 0; i + 4 <= shown && n < sizeof text - 16; i += 4) {
		uint32_t word;
		memcpy(&word, (const uint8_t *)bytes + i, 4);
		n += (size_t)snprintf(text + n, sizeof text - n, " %x", word);
	}
	text[n] = 0;
	log_line("    %s[%zu]%s%s", what, size, text, shown < size ? " ..." : "");
}
