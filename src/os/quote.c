#include "os/quote.h"

#include <string.h>

int quote_windows(struct jw_error *err, struct buf *line, const char *argument)
{
	size_t backslashes = 0;

	if (line->size && buf_append(err, line, " ", 1))
		return -1;
	if (buf_append(err, line, "\"", 1))
		return -1;
	for (; *argument; argument++) {
		size_t more = *argument == '"' ? backslashes + 1 : 0;

		backslashes = *argument == '\\' ? backslashes + 1 : 0;
		while (more--)
			if (buf_append(err, line, "\\", 1))
				return -1;
		if (buf_append(err, line, argument, 1))
			return -1;
	}
	while (backslashes--)
		if (buf_append(err, line, "\\", 1))
			return -1;
	return buf_append(err, line, "\"", 1);
}

int quote_systemd(struct jw_error *err, struct buf *line, const char *argument)
{
	if ((line->size && buf_append(err, line, " ", 1)) || buf_append(err, line, "\"", 1))
		return -1;
	for (; *argument; argument++) {
		char twice[3] = {*argument, *argument, '\0'};
		int result;

		if (strchr("\"\\", *argument))
			result = buf_printf(err, line, "\\%c", *argument);
		else if (strchr("%$", *argument))
			result = buf_printf(err, line, "%s", twice);
		else if (*argument == '\n')
			result = buf_printf(err, line, "\\n");
		else
			result = buf_append(err, line, argument, 1);
		if (result)
			return -1;
	}
	return buf_append(err, line, "\"", 1);
}
