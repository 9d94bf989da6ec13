/* Says which ptxas it is, as test_fetch.sh has written it over the
 * @, and compiles nothing. */
#include <stdio.h>

int main(void)
{
	return puts("ptxas: NVIDIA (R) Ptx optimizing assembler\n"
				"Cuda compilation tools, @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@") < 0;
}
