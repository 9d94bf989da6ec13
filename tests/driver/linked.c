/* linked RUNTIME LINKED [INPUT|zeros]...: passes a linked container to the CUDA runtime, as nvcc's
 * code for -rdc=true does. "zeros" is an input that was stripped. Prints the results of cudaFree(0)
 * and of requesting the kernel k. */
#include "runtime.h"

enum { MAX_INPUTS = 8 };

/* Returns the input of that name. */
static void *read_input(const char *name)
{
	return strcmp(name, "zeros") ? read_file(name) : calloc(1, MAX_BYTES);
}

int main(int argc, char **argv)
{
	static void *inputs[MAX_INPUTS + 1];
	static char host, attributes[1 << 12];
	static struct wrapper wrapper = {0x466243b1, 2, NULL, inputs};
	struct runtime runtime;

	if (argc < 3 || argc > 3 + MAX_INPUTS || !runtime_open(argv[1], &runtime))
		return 2;
	wrapper.data = read_input(argv[2]);
	for (int i = 3; i < argc; i++)
		inputs[i - 3] = read_input(argv[i]);
	runtime_add(&runtime, &wrapper, &host);
	printf("%d", runtime.free(NULL));
	printf(" %d\n", runtime.attributes(attributes, &host));
	return 0;
}
