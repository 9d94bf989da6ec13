/* NVRTC 11.0 under its own name, for the CuPy that is linked with it. Each function forwards to
 * 11.2 or newer (libnvrtc.so.11.2), which is published as a wheel, while 11.0 is not. x86-64 Linux.
 * */
#include <dlfcn.h>
#include <stddef.h>

#define EACH(F)                                                                                    \
	F(nvrtcVersion)                                                                                \
	F(nvrtcGetErrorString)                                                                         \
	F(nvrtcCreateProgram)                                                                          \
	F(nvrtcDestroyProgram)                                                                         \
	F(nvrtcCompileProgram)                                                                         \
	F(nvrtcGetPTXSize)                                                                             \
	F(nvrtcGetPTX)                                                                                 \
	F(nvrtcGetCUBINSize)                                                                           \
	F(nvrtcGetCUBIN)                                                                               \
	F(nvrtcGetNVVMSize)                                                                            \
	F(nvrtcGetNVVM)                                                                                \
	F(nvrtcGetProgramLogSize)                                                                      \
	F(nvrtcGetProgramLog)                                                                          \
	F(nvrtcAddNameExpression)                                                                      \
	F(nvrtcGetLoweredName)                                                                         \
	F(nvrtcGetNumSupportedArchs)                                                                   \
	F(nvrtcGetSupportedArchs)

/* A jump leaves all arguments where they are. */
#define JUMP(name)                                                                                 \
	__attribute__((visibility("hidden"))) void *to_##name;                                         \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ",@function\n" #name              \
			":\n\tjmp *to_" #name "(%rip)\n.popsection\n");

EACH(JUMP)

__attribute__((constructor)) static void find(void)
{
	void *library = dlopen("libnvrtc.so.11.2", RTLD_NOW);

#define FIND(name) to_##name = library ? dlsym(library, #name) : NULL;
	EACH(FIND)
}
