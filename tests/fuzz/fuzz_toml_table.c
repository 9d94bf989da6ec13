/* Any pyproject.toml's table is read or refused with a line number. */
#include <string.h>

#include "base/mem.h"
#include "base/toml_table.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_string_n((const char *)data, size);
	struct toml_table *table;

	if (!toml_table_read(NULL, text, "tool.jitwarm.lint", &table)) {
		for (size_t i = 0; i < table->count; i++) {
			const struct toml_value *value = &table->values[i];

			MUST(*value->key && value->line && value->line <= size + 1);
			for (size_t k = 0; k < value->count; k++)
				MUST(strlen(value->items[k]) <= size);
		}
		jw_result_free(table);
	}
	mem_free(text);
	return 0;
}
