/* The simulated compiler: its refusals, its time and memory, its output. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

/* The time of a compile; the model is that of SIMDRIVER_COST in README.md. */
static double cost_ms(const struct ptx *ptx)
{
	return 8 + 0.0243 * (double)ptx->statements + 0.163 * (double)ptx->branches +
		   0.49 * (double)ptx->entries;
}

static void spend(double ms)
{
	if (sim.cost_busy)
		os_burn_ms(ms * sim.cost_factor);
	else
		os_sleep_ms(ms * sim.cost_factor);
}

/* Refuses the same texts as the real compiler, with its messages. */
static int refuse(const struct ptx *ptx, int sm, struct bytes *error)
{
	char text[256];

	if (!ptx->isa) {
		bytes_add_text(error, "ptxas application ptx input, line 1; fatal   : Missing .version "
							  "directive at start of file 'application ptx input'\n");
		return CU_INVALID_PTX;
	}
	if (ptx->isa > config_newest_isa()) {
		snprintf(
			text, sizeof text,
			"ptxas application ptx input, line 1; fatal   : Unsupported .version %u.%u; current "
			"version is '%u.%u'\n",
			ptx->isa / 10, ptx->isa % 10, config_newest_isa() / 10, config_newest_isa() % 10);
		bytes_add_text(error, text);
		return CU_UNSUPPORTED_PTX_VERSION;
	}
	if (!ptx_runs(ptx->target, ptx->target_form, sm)) {
		snprintf(text, sizeof text,
				 "ptxas fatal   : SM version specified by .target is higher than "
				 "default SM version assumed\n");
		bytes_add_text(error, text);
		return CU_INVALID_PTX;
	}
	if (!ptx->balanced) {
		bytes_add_text(
			error,
			"ptxas application ptx input, line 1; fatal   : Parsing error near end of file: syntax "
			"error\nptxas fatal   : Ptx assembly aborted due to errors\n");
		return CU_INVALID_PTX;
	}
	return CU_OK;
}

static void describe(const struct ptx *ptx, int sm, struct bytes *info)
{
	const char *name = (const char *)ptx->names.data;
	char text[512];

	snprintf(text, sizeof text, "ptxas info    : 0 bytes gmem\n");
	bytes_add_text(info, text);
	for (size_t i = 0; i < ptx->entries; i++, name += strlen(name) + 1) {
		snprintf(text, sizeof text,
				 "ptxas info    : Compiling entry function '%.200s' for 'sm_%d'\n"
				 "ptxas info    : Used 8 registers, 360 bytes cmem[0]\n",
				 name, sm);
		bytes_add_text(info, text);
	}
}

static void make(const struct job *job, struct ptx *ptx, size_t size, struct bytes *ret_cubin)
{
	struct cubin_wish wish = {.sm = job->sm, .relocatable = job->relocatable, .size = size};

	/* Relocatable code keeps functions for a link; other code keeps only its kernels. */
	if (job->relocatable && ptx->functions)
		bytes_add(&ptx->names, ptx->function_names.data, ptx->function_names.size);
	wish.names = ptx->names.data ? ptx->names.data : (const uint8_t *)"";
	wish.names_size = ptx->names.size;
	wish.entries = ptx->entries + (job->relocatable ? ptx->functions : 0);

	/* Same module, options, architecture and CUDA version give the same bytes in any build. */
	wish.seed = sim_fnv(SIM_FNV_START, job->ptx, job->size);
	wish.seed = sim_fnv(wish.seed, job->options, strlen(job->options));
	wish.seed = sim_fnv(wish.seed, &job->sm, sizeof job->sm);
	wish.seed = sim_fnv(wish.seed, &job->relocatable, sizeof job->relocatable);
	wish.seed = sim_fnv(wish.seed, &sim.cuda_version, sizeof sim.cuda_version);
	cubin_make(ret_cubin, &wish);
}

int compile_ptx(const struct job *job, struct bytes *ret_cubin, struct bytes *info,
				struct bytes *error)
{
	struct ptx ptx;
	int bad;

	ptx_read(&ptx, job->ptx, job->size);
	log_event("compile", "sm_%d %llu %.100s", job->sm, (unsigned long long)job->size,
			  ptx.entries ? (const char *)ptx.names.data : "-");
	bad = refuse(&ptx, job->sm, error);
	if (bad == CU_OK)
		bad = fault_strike(job->ptx, job->size, error);
	if (bad == CU_OK) {
		spend(cost_ms(&ptx));
		describe(&ptx, job->sm, info);
		make(job, &ptx, job->size - job->size / 10, ret_cubin);
	}
	ptx_free(&ptx);
	return bad;
}
