#include "cli/error_words.h"

#include <string.h>

#include "base/buf.h"

/* docs/troubleshooting.md says the same at greater length. */
static const struct {
	const char *number, *name, *sentence, *cause;
} errors[] = {
	{"35", "cudaErrorInsufficientDriver", "insufficient for CUDA runtime",
	 "the driver is older than the CUDA version of the package: upgrade the driver; “jitwarm "
	 "check” "
	 "names the driver that each package needs"},
	{"48", "cudaErrorNoKernelImageForDevice", "no kernel image",
	 "a library has neither machine code nor usable PTX for this GPU, and no cache helps: “jitwarm "
	 "check” names the library"},
	{"200", "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid",
	 "the code is newer than the driver, or an entry of the cache is damaged: “jitwarm doctor” "
	 "finds out which"},
	{"209", "CUDA_ERROR_NO_BINARY_FOR_GPU", "no binary for GPU",
	 "a library has neither machine code nor usable PTX for this GPU, and no cache helps: “jitwarm "
	 "check” names the library"},
	{"218", "CUDA_ERROR_INVALID_PTX", "PTX JIT compilation failed",
	 "the driver cannot compile the PTX, which is damaged or for another GPU: “jitwarm check” "
	 "names "
	 "the library"},
	{"221", "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "JIT compiler library not found",
	 "libnvidia-ptxjitcompiler.so.1 is missing, so the driver compiles no PTX: “jitwarm doctor” "
	 "names the package that has it"},
	{"222", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "unsupported toolchain",
	 "the PTX is newer than the driver reads: “jitwarm doctor” names the library or compiler, and "
	 "the driver that it needs"},
	{"500", "CUDA_ERROR_NOT_FOUND", "named symbol not found",
	 "a part of a library has no code for this GPU: “jitwarm check” names the library"},
};

void error_words_explain(struct jw_error *err, const struct options *options)
{
	struct buf typed = BUF_MAX(1000);

	for (size_t i = 0; i < options->operand_count; i++)
		buf_add(&typed, "%s%s", i ? " " : "", options->operands[i]);
	for (size_t i = 0; i < sizeof errors / sizeof *errors && !typed.overflowed; i++)
		if (!strcmp(buf_text(&typed), errors[i].number) ||
			strstr(buf_text(&typed), errors[i].name) ||
			strstr(buf_text(&typed), errors[i].sentence)) {
			error_set(err, JW_ERR_NOT_FOUND, "error %s (%s): %s", errors[i].number, errors[i].name,
					  errors[i].cause);
			break;
		}
	buf_free(&typed);
}
