/* From an image to a cubin: selects the entry, makes the key, looks into the cache, and compiles.
 * */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

/* CUjit_option */
enum {
	JIT_INFO_LOG = 3,
	JIT_INFO_LOG_SIZE = 4,
	JIT_ERROR_LOG = 5,
	JIT_ERROR_LOG_SIZE = 6,
	JIT_OPTIMIZATION = 7,
	JIT_VERBOSE = 12
};

void jit_options_read(struct jit_options *ret, unsigned count, const int *options, void **values)
{
	*ret = (struct jit_options){0};
	for (unsigned i = 0; i < count; i++) {
		uintptr_t number = (uintptr_t)values[i];

		switch (options[i]) {
		case JIT_INFO_LOG: ret->info = values[i]; break;
		case JIT_INFO_LOG_SIZE:
			ret->info_size = (size_t)(unsigned)number;
			ret->info_filled = &values[i];
			break;
		case JIT_ERROR_LOG: ret->error = values[i]; break;
		case JIT_ERROR_LOG_SIZE:
			ret->error_size = (size_t)(unsigned)number;
			ret->error_filled = &values[i];
			break;
		case JIT_OPTIMIZATION:
			/* The level is part of the key, even if it is 4, the default. */
			snprintf(ret->key_text, sizeof ret->key_text, "-O%u ", (unsigned)number);
			break;
		case JIT_VERBOSE: ret->verbose = number != 0; break;
		default: break;
		}
	}
}

static void answer(char *buffer, size_t size, void **filled, const struct bytes *text)
{
	size_t length = text->size < size ? text->size : size ? size - 1 : 0;

	if (buffer && size) {
		if (length)
			memcpy(buffer, text->data, length);
		buffer[length] = '\0';
	}
	if (filled)
		*filled = (void *)(uintptr_t)length;
}

void jit_options_answer(const struct jit_options *options, const struct bytes *info,
						const struct bytes *error)
{
	static const struct bytes nothing = {NULL, 0};

	answer(options->info, options->info_size, options->info_filled,
		   options->verbose ? info : &nothing);
	answer(options->error, options->error_size, options->error_filled, error);
}

/* The key is stamp "HOST64" "sm_NN" payload " " options, or " -c" options for an input to a link.
 * The payload has the NUL that unpacking adds. */
static void key_make(struct bytes *ret_key, const struct image *image, int sm, bool link,
					 const struct jit_options *options)
{
	char head[64];

	snprintf(head, sizeof head, "%sHOST64sm_%d", sim.stamp, sm);
	bytes_add_text(ret_key, head);
	bytes_add(ret_key, image->payload.data, image->payload.size);
	bytes_add_text(ret_key, link ? " -c" : " ");
	bytes_add_text(ret_key, options->key_text);
	bytes_add_text(ret_key, image->options);
}

/* Makes a cubin of the PTX of `image`. */
static int build_ptx(struct build *build, const struct image *image, int sm,
					 struct bytes *ret_cubin)
{
	bool link = build->link || image->relocatable;
	struct job job = {image->payload.data, image->payload.size, image->options, sm, link};
	struct bytes key = {NULL, 0};
	uint64_t hash;
	int bad = CU_OK;

	while (job.size > 0 && !job.ptx[job.size - 1])
		job.size--;
	key_make(&key, image, sm, link, &build->options);
	hash = sim_fnv(SIM_FNV_START, key.data, key.size);
	if (cache_find(&key, ret_cubin)) {
		log_event("hit", "%016llx sm_%d", (unsigned long long)hash, sm);
	} else if (sim.jit_disabled) {
		bad = CU_JIT_COMPILATION_DISABLED;
	} else {
		bad = compile_ptx(&job, ret_cubin, &build->info, &build->error);
		if (bad == CU_OK)
			cache_store(&key, ret_cubin);
	}
	bytes_free(&key);
	return bad;
}

int module_build(struct build *build, const void *image, size_t size, struct bytes *ret_cubin)
{
	int sm = sim.gpus[build->context->device].sm;
	struct image chosen;
	struct bytes cubin = {NULL, 0};
	int bad = image_choose(&chosen, image, size, sm, build->link);

	if (bad == CU_OK) {
		os_mutex_lock(build->context->compiling);
		if (chosen.form == IMAGE_PTX) {
			bad = build_ptx(build, &chosen, sm, &cubin);
			bytes_free(&chosen.payload);
		} else {
			cubin = chosen.payload;
		}
		os_mutex_unlock(build->context->compiling);
	}
	if (bad == CU_NO_BINARY_FOR_GPU && build->link && chosen.passed_over)
		return CU_OK; /* a link ignores input that it does not recognise */
	if (bad == CU_OK)
		bad = cubin_check(cubin.data, cubin.size, sm, build->link || chosen.relocatable);
	log_event("load", "sm_%d %s %d", sm, build->link ? "link" : "module", bad);
	jit_options_answer(&build->options, &build->info, &build->error);
	if (bad == CU_OK)
		*ret_cubin = cubin;
	else
		bytes_free(&cubin);
	return bad;
}

void build_free(struct build *build)
{
	bytes_free(&build->info);
	bytes_free(&build->error);
}
