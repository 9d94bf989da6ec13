/* A project's page in a package index: which wheel is chosen. */
#include <string.h>

#include "base/mem.h"
#include "compile/package_index.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct wheel_wanted wanted = {
		.package = "nvidia-cuda-nvcc-cu12", .versions = "==12.4.*", .platform = "x86_64-linux"};
	struct wheel_choice choice = {.wanted = &wanted};

	(void)package_index_read(NULL, "https://x.example/simple/x/", (const char *)data, size,
							 &choice);
	if (choice.best.place) {
		MUST(strstr(choice.best.place, "://") && !choice.best.local);
		MUST(strspn(choice.best.sha256, "0123456789abcdefABCDEF") == strlen(choice.best.sha256));
		MUST(choice.best.named.version.numbers.numbers[0] == 12 &&
			 choice.best.named.version.numbers.numbers[1] == 4);
	}
	mem_free(choice.best.place);
	return 0;
}
