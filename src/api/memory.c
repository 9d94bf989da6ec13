#include <jitwarm/error.h>

#include "base/mem.h"

void jw_text_free(char *text)
{
	mem_free(text);
}

void jw_lines_free(char **lines, size_t count)
{
	for (size_t i = 0; lines && i < count; i++)
		mem_free(lines[i]);
	mem_free(lines);
}
