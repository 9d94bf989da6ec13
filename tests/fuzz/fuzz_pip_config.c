/* pip.conf */
#include <string.h>

#include "base/mem.h"
#include "compile/pip_config.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pip_config config = {{0}, {0}};
	char *word;

	(void)pip_config_parse(NULL, &config, (const char *)data, size);
	for (size_t i = 0; i < PIP_OPTIONS; i++) {
		const char *at = config.values[i];

		MUST(!at || *at);
		while ((word = pip_config_next(NULL, &at))) {
			MUST(*word && !strpbrk(word, " \t\r\n"));
			mem_free(word);
		}
		(void)pip_config_number(&config, (enum pip_option)i, 1);
	}
	pip_config_free(&config);
	return 0;
}
