/* A library with NVRTC's functions that compiles nothing, to do what a real one seldom does. The
 * source selects an event ("#crash", "#exit", "#refuse", "#silent"; "#hang": writes its parent's
 * number into the file of FAKE_NVRTC_HANGS; "#empty", "#text": its result is not PTX; "#new": PTX
 * that no driver reads); any other source becomes a small PTX text. FAKE_NVRTC_ARCHS is the number
 * of supported architectures, from sm_50 on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { COMPILATION = 6 };

static char ptx[4096], program_log[4096];
static const char *source_text, *source_name;

static int arch_count(void)
{
	const char *text = getenv("FAKE_NVRTC_ARCHS");

	return text ? atoi(text) : 3;
}

EXPORT const char *nvrtcGetErrorString(int result);
EXPORT const char *nvrtcGetErrorString(int result)
{
	return result == COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_FAKE";
}

EXPORT int nvrtcVersion(int *major, int *minor);
EXPORT int nvrtcVersion(int *major, int *minor)
{
	*major = 12;
	*minor = 0;
	return 0;
}

EXPORT int nvrtcGetNumSupportedArchs(int *count);
EXPORT int nvrtcGetNumSupportedArchs(int *count)
{
	*count = arch_count();
	return 0;
}

EXPORT int nvrtcGetSupportedArchs(int *archs);
EXPORT int nvrtcGetSupportedArchs(int *archs)
{
	static const int all[] = {75, 50, 60, 70, 80};

	for (int i = 0; i < arch_count() && i < 5; i++)
		archs[i] = all[i];
	return 0;
}

EXPORT int nvrtcCreateProgram(void **program, const char *source, const char *name, int count,
							  const char *const *headers, const char *const *names);
EXPORT int nvrtcCreateProgram(void **program, const char *source, const char *name, int count,
							  const char *const *headers, const char *const *names)
{
	(void)count, (void)headers, (void)names;
	source_text = source;
	source_name = name;
	*program = ptx;
	return 0;
}

EXPORT int nvrtcDestroyProgram(void **program);
EXPORT int nvrtcDestroyProgram(void **program)
{
	*program = NULL;
	return 0;
}

static void hang(void)
{
	FILE *file = fopen(getenv("FAKE_NVRTC_HANGS"), "w");

	if (file) {
		(void)fprintf(file, "%d\n", (int)getppid());
		(void)fclose(file);
	}
	for (;;)
		(void)sleep(60);
}

EXPORT int nvrtcCompileProgram(void *program, int count, const char *const *options);
EXPORT int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
	const char *arch = NULL;
	unsigned sum = 0;

	(void)program;
	for (int i = 0; i < count; i++)
		if (strstr(options[i], "compute_"))
			arch = strstr(options[i], "compute_") + strlen("compute_");
	if (strstr(source_text, "#hang"))
		hang();
	if (strstr(source_text, "#crash"))
		abort();
	if (strstr(source_text, "#exit"))
		exit(7);
	if (strstr(source_text, "#refuse")) {
		(void)snprintf(program_log, sizeof program_log, "%s(1): warning: one\n%s(2): error: two\n",
					   source_name, source_name);
		return COMPILATION;
	}
	if (strstr(source_text, "#silent"))
		return COMPILATION;
	(void)snprintf(ptx, sizeof ptx,
				   ".version %s\n.target sm_%s\n.address_size 64\n.visible .entry k() { ret; }\n",
				   strstr(source_text, "#new") ? "9.9" : "7.0", arch ? arch : "52");
	for (const char *at = source_text; *at; at++) /* the source is part of the text */
		sum = sum * 31 + (unsigned char)*at;
	(void)snprintf(ptx + strlen(ptx), sizeof ptx - strlen(ptx), "// %x\n", sum);
	for (int i = 0; i < count; i++) /* the options are part of the text, as in the real NVRTC's */
		(void)snprintf(ptx + strlen(ptx), sizeof ptx - strlen(ptx), "// %s\n", options[i]);
	if (strstr(source_text, "#empty"))
		*ptx = '\0';
	if (strstr(source_text, "#text"))
		(void)snprintf(ptx, sizeof ptx, "no PTX\n");
	return 0;
}

EXPORT int nvrtcGetPTXSize(void *program, size_t *size);
EXPORT int nvrtcGetPTXSize(void *program, size_t *size)
{
	(void)program;
	*size = strlen(ptx) + 1;
	return 0;
}

EXPORT int nvrtcGetPTX(void *program, char *to);
EXPORT int nvrtcGetPTX(void *program, char *to)
{
	(void)program;
	memcpy(to, ptx, strlen(ptx) + 1);
	return 0;
}

EXPORT int nvrtcGetProgramLogSize(void *program, size_t *size);
EXPORT int nvrtcGetProgramLogSize(void *program, size_t *size)
{
	(void)program;
	*size = strlen(program_log) + 1;
	return 0;
}

EXPORT int nvrtcGetProgramLog(void *program, char *to);
EXPORT int nvrtcGetProgramLog(void *program, char *to)
{
	(void)program;
	memcpy(to, program_log, strlen(program_log) + 1);
	return 0;
}
