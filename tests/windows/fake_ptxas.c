/* Prints the version of ptxas that test_fetch.sh has written over the @, and compiles nothing. */
#include <stdio.h>

int main(void)
{
	return puts("ptxas: NVIDIA (R) Ptx optimizing assembler\n"
				"Cuda compilation tools, @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@") < 0;
}
