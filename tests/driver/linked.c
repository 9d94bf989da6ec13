/* linked RUNTIME OTHER LINKED [INPUT|zeros]...: passes a linked container to the CUDA runtime, as
 * nvcc's code for -rdc=true does, beside another container. "zeros" is an input that was stripped.
 * Prints the results of cudaFree(0), of requesting the kernel k of the other container, and of
 * requesting that of the linked one. */
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
	static char host, other_host, attributes[1 << 12];
	static struct wrapper wrapper = {0x466243b1, 2, NULL, inputs},
						  other = {0x466243b1, 1, NULL, NULL};
	struct runtime runtime;

	if (argc < 4 || argc > 4 + MAX_INPUTS || !runtime_open(argv[1], &runtime))
		return 2;
	other.data = read_file(argv[2]);
	wrapper.data = read_input(argv[3]);
	for (int i = 4; i < argc; i++)
		inputs[i - 4] = read_input(argv[i]);
	runtime_add(&runtime, &other, &other_host);
	runtime_add(&runtime, &wrapper, &host);
	printf("%d", runtime.free(NULL));
	printf(" %d", runtime.attributes(attributes, &other_host));
	printf(" %d\n", runtime.attributes(attributes, &host));
	return 0;
}
