#include "cli/error_words.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"

/* docs/troubleshooting.md says the same at greater length. The number is NULL for messages that are
 * not CUDA's. */
static const struct {
	const char *number, *name, *sentences[3], *cause;
} errors[] = {
	{"2",
	 "CUDA_ERROR_OUT_OF_MEMORY",
	 {"CUDA out of memory", "out of memory"},
	 "the GPU's memory is full, which jitwarm cannot change: use a smaller batch or model, or end "
	 "other programs that use the GPU"},
	{"35",
	 "cudaErrorInsufficientDriver",
	 {"insufficient for CUDA runtime"},
	 "the driver is older than the CUDA version of the package: upgrade the driver; “jitwarm "
	 "check” names the driver that each package needs"},
	{"100",
	 "CUDA_ERROR_NO_DEVICE",
	 {"no CUDA-capable device is detected", "cudaErrorNoDevice"},
	 "the driver finds no GPU: CUDA_VISIBLE_DEVICES hides the GPU, or the container was started "
	 "without GPUs (“docker run --gpus all”): “jitwarm doctor” finds out which"},
	{"200",
	 "CUDA_ERROR_INVALID_IMAGE",
	 {"device kernel image is invalid"},
	 "the code is newer than the driver, or an entry of the cache is damaged: “jitwarm doctor” "
	 "finds out which"},
	{"209",
	 "CUDA_ERROR_NO_BINARY_FOR_GPU",
	 {"no kernel image", "cudaErrorNoKernelImageForDevice", "no binary for GPU"},
	 "a library has neither machine code nor usable PTX for this GPU, and no cache helps: “jitwarm "
	 "check” names the library"},
	{"218",
	 "CUDA_ERROR_INVALID_PTX",
	 {"PTX JIT compilation failed"},
	 "the driver cannot compile the PTX, which is damaged or for another GPU: “jitwarm check” "
	 "names the library"},
	{"221",
	 "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
	 {"JIT compiler library not found"},
	 "libnvidia-ptxjitcompiler.so.1 is missing, so the driver compiles no PTX: “jitwarm doctor” "
	 "names the package that has it"},
	{"222",
	 "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	 {"unsupported toolchain"},
	 "the PTX is newer than the driver reads: “jitwarm doctor” names the library or compiler, and "
	 "the driver that is needed"},
	{"500",
	 "CUDA_ERROR_NOT_FOUND",
	 {"named symbol not found"},
	 "a part of a library has no code for this GPU: “jitwarm check” names the library"},
	{"803",
	 "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	 {"unsupported display driver / cuda driver combination"},
	 "a new driver is installed, and the previous one is still running: restart the machine"},
	{NULL,
	 "libcuda.so.1",
	 {"libcuda.so.1: cannot open shared object file"},
	 "NVIDIA's driver is not installed, or the container was started without GPUs (“docker run "
	 "--gpus all”): “jitwarm doctor” finds out which"},
	{NULL,
	 "PyTorch",
	 {"is not compatible with the current PyTorch installation"},
	 "this build of PyTorch has no code for the GPU: “jitwarm which torch” names the versions "
	 "that run on it"},
};

/* Returns whether these words are an error's number, alone or as in “CUDA error 222” and “(error
 * code 222)”. */
static bool is_number(const char *typed, const char *number)
{
	static const char *const before[] = {
		"error ", "Error ", "error: ", "error code ", "code=", "code: "};
	char words[TEXT_SHORT];

	if (!strcmp(typed, number))
		return true;
	for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
		const char *found;

		text_format(words, sizeof words, "%s%s", before[i], number);
		found = strstr(typed, words);
		if (found && !text_is_digit(found[strlen(words)]))
			return true;
	}
	return false;
}

static bool is_error(const char *typed, size_t at)
{
	for (size_t i = 0; i < sizeof errors->sentences / sizeof *errors->sentences; i++) {
		if (errors[at].sentences[i] && strstr(typed, errors[at].sentences[i]))
			return true;
	}
	return errors[at].number &&
		   (strstr(typed, errors[at].name) || is_number(typed, errors[at].number));
}

bool error_words_explain(struct jw_error *err, const char *const *words, size_t count)
{
	const size_t error_count = sizeof errors / sizeof *errors;
	struct buf typed = BUF_MAX(1000);
	size_t at = 0;

	for (size_t i = 0; i < count; i++)
		buf_add(&typed, "%s%s", i ? " " : "", words[i]);
	while (at < error_count && !is_error(buf_text(&typed), at))
		at++;
	buf_free(&typed);
	if (at == error_count)
		return false;
	if (errors[at].number)
		error_set(err, JW_ERR_NOT_FOUND, "error %s (%s): %s", errors[at].number, errors[at].name,
				  errors[at].cause);
	else
		error_set(err, JW_ERR_NOT_FOUND, "%s: %s", errors[at].name, errors[at].cause);
	return true;
}
