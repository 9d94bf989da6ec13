#include "code/cuda.h"

#include "base/text.h"
#include "os/library.h"
#include "os/platform.h"

int cuda_open(struct jw_error *err, struct cuda *ret_cuda)
{
	struct cuda cuda = {0};

	if (os_library_open(err, os_is_windows ? "nvcuda.dll" : "libcuda.so.1", &cuda.library))
		return -1;
#define CUDA_FIND(name, parameters)                                                                \
	if (!os_library_function(cuda.library, #name, &cuda.name))                                     \
		return error_set(err, JW_ERR_DRIVER,                                                       \
						 "the driver is too old, because it lacks %s: upgrade the driver", #name);
	CUDA_REQUIRED(CUDA_FIND)
#undef CUDA_FIND
#define CUDA_TRY(name, parameters) (void)os_library_function(cuda.library, #name, &cuda.name);
	CUDA_OPTIONAL(CUDA_TRY)
#undef CUDA_TRY
	*ret_cuda = cuda;
	return 0;
}

const char *cuda_error_name(const struct cuda *cuda, int result)
{
	static _Thread_local char text[32];
	const char *name = NULL;

	if (cuda->cuGetErrorName && !cuda->cuGetErrorName(result, &name) && name)
		return name;
	(void)text_format(text, sizeof text, "error %d", result);
	return text;
}
