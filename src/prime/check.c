#include <jitwarm/check.h>
#include <jitwarm/which.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/index.h"
#include "cache/outlook.h"
#include "code/release.h"
#include "code/reread.h"
#include "code/rules.h"
#include "code/sections.h"
#include "code/target_names.h"
#include "driver/environment.h"
#include "driver/installed_compilers.h"
#include "driver/known_gpus.h"
#include "driver/speed_model.h"
#include "find/named_paths.h"
#include "find/python.h"
#include "os/file.h"
#include "plan/analyse.h"
#include "plan/plan.h"
#include "prime/explain.h"
#include "prime/planning.h"
#include "prime/start_verdict.h"

/* ---- packages */

/* The place of a file's package; package_count if it is not listed. The files of a package mostly
 * follow one another. */
static size_t package_place(const struct jw_check_result *result, const struct jw_found_file *file)
{
	for (size_t i = result->package_count; i-- > 0;)
		if (text_same(result->packages[i].name, file->package))
			return i;
	return result->package_count;
}

static void list_package(const struct jw_found_file *file, struct jw_check_result *result)
{
	struct jw_check_package *package;

	if (package_place(result, file) < result->package_count)
		return;
	package = &result->packages[result->package_count++];
	package->name = file->package ? mem_string(file->package) : NULL;
	package->version = file->version ? mem_string(file->version) : NULL;
	package->gpus = mem_array(result->gpu_count, sizeof *package->gpus);
	package->gpu_count = result->gpu_count;
	for (size_t t = 0; t < result->gpu_count; t++)
		package->gpus[t].target = result->gpus[t].target;
}

/* Whether a failing file ("path" or "path: member") is this one or in it. */
static bool is_of_file(const char *failing, const char *path)
{
	const size_t length = strlen(path);

	return !strncmp(failing, path, length) &&
		   (!failing[length] || text_starts(failing + length, ": "));
}

static void count_failing(const struct plan *plan, const struct jw_found *found,
						  const struct jw_check_failing *failing,
						  const struct jw_check_result *result)
{
	size_t file = 0, gpu = 0;

	/* A file without code may be called as the beginning of another one's name. */
	while (file < found->file_count &&
		   (!plan->has_code[file] || !is_of_file(failing->file, found->files[file].path)))
		file++;
	while (gpu < result->gpu_count && !jw_target_equal(result->gpus[gpu].target, failing->target))
		gpu++;
	if (file < found->file_count && gpu < result->gpu_count) {
		struct jw_check_package_gpu *of =
			&result->packages[package_place(result, &found->files[file])].gpus[gpu];

		of->failing++;
		of->refused += failing->refused;
	}
}

static double package_seconds(const struct jw_check_package *package)
{
	double sum = 0;

	for (size_t t = 0; t < package->gpu_count; t++)
		sum += package->gpus[t].forecast.start.likely;
	return sum;
}

static int by_package_seconds(const void *a, const void *b)
{
	const struct jw_check_package *one = a, *two = b;
	const double left = package_seconds(one), right = package_seconds(two);

	if (left < right || left > right)
		return left < right ? 1 : -1;
	return strcmp(one->name ? one->name : "", two->name ? two->name : "");
}

/* Fills in `packages` of a result that has its GPUs and failing files; `found` is the search that
 * the plan was made of. */
static void check_packages(const struct plan *plan, const struct jw_found *found,
						   struct jw_check_result *result)
{
	result->packages = mem_array(found->file_count, sizeof *result->packages);
	for (size_t i = 0; i < found->file_count; i++)
		if (plan->has_code[i])
			list_package(&found->files[i], result);
	for (size_t i = 0; i < found->file_count; i++)
		for (size_t t = 0; plan->unsure[i] >> t && t < result->gpu_count; t++)
			if (plan->unsure[i] >> t & 1)
				result->packages[package_place(result, &found->files[i])].gpus[t].unsure = true;
	/* A file with modules has code, and so its package is listed. What a recording holds itself is
	 * of no package. */
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];
		const uint32_t file = plan->files[module->file].found;
		struct jw_check_package_gpu *gpu;

		if (file >= found->file_count)
			continue;
		gpu = &result->packages[package_place(result, &found->files[file])].gpus[module->target];
		gpu->warm += module->state == PLAN_WARM;
		if (module->state == PLAN_COLD || module->state == PLAN_RESTORED) {
			gpu->cold++;
			forecast_add(&gpu->forecast, plan, module);
		}
	}
	for (size_t i = 0; i < result->failing_count; i++)
		count_failing(plan, found, &result->failing[i], result);
	for (size_t i = 0; i < result->package_count; i++)
		for (size_t t = 0; t < result->gpu_count; t++) {
			struct jw_check_package_gpu *gpu = &result->packages[i].gpus[t];

			forecast_share(&gpu->forecast, forecast_workers(gpu->cold));
		}
	if (result->package_count)
		qsort(result->packages, result->package_count, sizeof *result->packages,
			  by_package_seconds);
}

/* ---- compilers with which programs compile while they run */

enum {
	MAX_COMPILERS = 64,
	MAX_READ = 1 << 17,   /* of a section: ptxas says its version in the first 16 KB of one */
	MACHINE_CODE = 12020, /* from here on a compiler's machine code needs a driver of its CUDA's
							 major version (tests/conformance, compiler_cases) */
};

static const char *const compiler_names[] = {"NVRTC", "NVVM", "nvJitLink", "ptxas"};
enum compiler_kind { COMPILER_NVRTC, COMPILER_NVVM, COMPILER_NVJITLINK, COMPILER_PTXAS };

/* Of a package that has CUDA's own version. */
static uint32_t cuda_of_package(const struct jw_found_file *file)
{
	static const char *const names[] = {"nvvm", "nvcc", "nvjitlink", "cudatoolkit"};

	for (size_t i = 0; file->package && i < sizeof names / sizeof *names; i++)
		if (strstr(file->package, names[i]))
			return compiler_cuda_of_text(file->version);
	return 0;
}

/* A program says of itself: “Cuda compilation tools, release 12.8, V12.8.93”. */
static uint32_t cuda_of_bytes(const uint8_t *at, size_t size)
{
	static const char words[] = "Cuda compilation tools, release ";
	const size_t length = sizeof words - 1;
	const uint8_t *end = at + size;
	char release[8];

	while ((at = memchr(at, 'C', (size_t)(end - at)))) {
		const size_t left = (size_t)(end - at);

		if (left > length + sizeof release && !memcmp(at, words, length)) {
			memcpy(release, at + length, sizeof release);
			release[sizeof release - 1] = '\0';
			release[strcspn(release, ",")] = '\0';
			return compiler_cuda_of_text(release);
		}
		at++;
	}
	return 0;
}

static uint32_t cuda_of_program(const char *path)
{
	struct section_table sections = {0};
	struct bytes bytes;
	struct os_map map;
	uint32_t cuda = 0;

	if (os_map_open(NULL, path, &map))
		return 0;
	bytes = (struct bytes){.size_bytes = map.size, .memory = map.data};
	if (!elf_sections(NULL, &bytes, &sections))
		for (size_t i = 0; !cuda && i < sections.count; i++) {
			const struct section *section = &sections.items[i];

			cuda = cuda_of_bytes(map.data + section->offset, section->size_bytes < MAX_READ
																 ? (size_t)section->size_bytes
																 : MAX_READ);
		}
	sections_free(&sections);
	os_map_close(&map);
	return cuda;
}

/* The CUDA version of a compiler, by its name, its package, or its own words; 0: it is none. */
static uint32_t find_compiler(const struct jw_found_file *file, enum compiler_kind *ret_kind)
{
	const char *name = os_base_name(file->path);

	if (text_starts(name, "libnvrtc-builtins") || text_starts(name, "nvrtc-builtins64_")) {
		*ret_kind = COMPILER_NVRTC;
		return compiler_nvrtc_cuda(file->path);
	}
	if (text_starts(name, "libnvvm.so") || text_starts(name, "nvvm64_")) {
		*ret_kind = COMPILER_NVVM;
		return cuda_of_package(file);
	}
	if (text_starts(name, "libnvJitLink.so") || text_starts(name, "nvJitLink_")) {
		*ret_kind = COMPILER_NVJITLINK;
		return cuda_of_package(file);
	}
	*ret_kind = COMPILER_PTXAS;
	return !strcmp(name, "ptxas") || !strcmp(name, "ptxas-blackwell") ? cuda_of_program(file->path)
																	  : 0;
}

/* Triton uses another ptxas on GPUs from sm_100 on, where it has one. */
static bool is_passed_over(const struct jw_found *found, const struct jw_found_file *file,
						   struct jw_target device)
{
	const size_t length = strlen(file->path);

	if (text_ends(file->path, "-blackwell"))
		return device.sm < 100;
	for (size_t i = 0; device.sm >= 100 && i < found->file_count; i++)
		if (!strncmp(found->files[i].path, file->path, length) &&
			!strcmp(found->files[i].path + length, "-blackwell"))
			return true;
	return false;
}

/* Why a program fails whose compiler this is, NULL if it fits. A compiler that does not know the
 * GPU stays so with a newer driver. */
static char *misfit_text(enum compiler_kind kind, uint32_t cuda, const struct jw_driver *driver,
						 struct jw_target device, struct jw_check_compiler *misfit)
{
	const bool writes_ptx = kind == COMPILER_NVRTC || kind == COMPILER_NVVM;
	char name[JW_DRIVER_TEXT], sm[JW_TARGET_TEXT], version[32], *refused;

	(void)text_format(version, sizeof version, "CUDA %u.%u", cuda / 1000, cuda % 1000 / 10);
	(void)jw_driver_text(name, driver);
	if (gpu_compiler_fits(cuda, device) > 0) {
		misfit->last = gpu_last_compiler(device);
		return mem_printf(
			"%s's %s makes no code for %s any more, CUDA %u.%u was the last: programs that compile "
			"for this GPU while they run fail",
			version, compiler_names[kind], jw_target_sm(sm, device), misfit->last / 1000,
			misfit->last % 1000 / 10);
	}
	if (writes_ptx && (refused = compiler_refused_ptx(compiler_names[kind], cuda, driver)))
		return refused;
	if (!writes_ptx && driver->cuda && cuda >= MACHINE_CODE && cuda / 1000 > driver->cuda / 1000)
		return mem_printf(
			"%s's %s writes machine code that driver %s does not load: programs that use it fail",
			version, compiler_names[kind], name);
	if (!gpu_compiler_fits(cuda, device))
		return NULL;
	misfit->needs = gpu_first_compiler(device);
	return mem_printf("%s's %s knows no %s: programs that compile for this GPU while they run fail",
					  version, compiler_names[kind], jw_target_sm(sm, device));
}

/* Whether a package of that name, or one whose name begins so, has one of the files. */
static bool has_package(const struct jw_found *found, const char *const *names, size_t count)
{
	for (size_t i = 0; i < found->file_count; i++)
		for (size_t k = 0; found->files[i].package && k < count; k++)
			if (text_starts(found->files[i].package, names[k]))
				return true;
	return false;
}

/* JAX and TensorFlow have ptxas compile, and use no NVVM, which comes with it. With a ptxas that is
 * newer than the driver they compile on one core. Source: XLA's gpu_executable, jax#19821. */
static char *slower_text(enum compiler_kind kind, uint32_t cuda, const struct jw_driver *driver)
{
	char name[JW_DRIVER_TEXT];

	if (kind != COMPILER_PTXAS || !driver->cuda || cuda <= driver->cuda)
		return NULL;
	return mem_printf("CUDA %u.%u's ptxas is newer than driver %s: JAX and TensorFlow compile more "
					  "slowly, and nothing fails",
					  cuda / 1000, cuda % 1000 / 10, jw_driver_text(name, driver));
}

/* What is said of several is listed once. Takes `misfit.why` over. */
static void list_compiler(const struct jw_found_file *file, struct jw_check_compiler misfit,
						  struct jw_check_result *result)
{
	size_t same = 0;

	while (misfit.why && same < result->compiler_count &&
		   strcmp(result->compilers[same].why, misfit.why) != 0)
		same++;
	if (!misfit.why || same < result->compiler_count || same == MAX_COMPILERS) {
		mem_free(misfit.why);
		return;
	}
	misfit.file = mem_string(file->path);
	misfit.package = file->package ? mem_string(file->package) : NULL;
	misfit.version = file->version ? mem_string(file->version) : NULL;
	result->compilers[result->compiler_count++] = misfit;
}

/* Starts nothing and loads no library: names, versions, and of ptxas a few kilobytes. Returns
 * whether an NVRTC is among them. */
static bool check_compilers(const struct jw_found *found, const struct jw_driver *driver,
							struct jw_check_result *result)
{
	static const char *const xla[] = {"jax", "tensorflow"}, *const nvvm[] = {"numba"};
	const bool has_xla = has_package(found, xla, sizeof xla / sizeof *xla),
			   has_nvvm = has_package(found, nvvm, sizeof nvvm / sizeof *nvvm);
	bool has_nvrtc = false;

	result->compilers = mem_array(MAX_COMPILERS, sizeof *result->compilers);
	for (size_t i = 0; i < found->file_count; i++) {
		const struct jw_found_file *file = &found->files[i];
		enum compiler_kind kind;
		const uint32_t cuda = find_compiler(file, &kind);

		has_nvrtc = has_nvrtc || (cuda && kind == COMPILER_NVRTC);
		for (size_t t = 0; cuda && t < result->gpu_count; t++) {
			const struct jw_target device = result->gpus[t].target;
			struct jw_check_compiler misfit = {.name = compiler_names[kind], .cuda = cuda};
			const bool used = !(kind == COMPILER_PTXAS && is_passed_over(found, file, device)) &&
							  !(kind == COMPILER_NVVM && has_xla && !has_nvvm);

			if (used)
				misfit.why = misfit_text(kind, cuda, driver, device, &misfit);
			misfit.fails = misfit.why != NULL;
			if (used && !misfit.why && has_xla)
				misfit.why = slower_text(kind, cuda, driver);
			list_compiler(file, misfit, result);
		}
	}
	return has_nvrtc;
}

/* That of CUDA_HOME, /usr/local/cuda or the linker's cache, which programs load that bring none
 * (hashcat, CuPy without its wheel). */
static void check_outside(const struct jw_driver *driver, struct jw_check_result *result)
{
	char *paths[NVRTC_OUTSIDE];
	const size_t count = find_nvrtc_outside(paths);

	for (size_t i = 0; i < count; i++) {
		const uint32_t cuda = compiler_nvrtc_cuda(paths[i]);

		for (size_t t = 0; cuda && t < result->gpu_count; t++) {
			struct jw_check_compiler misfit = {.name = compiler_names[COMPILER_NVRTC],
											   .cuda = cuda};

			misfit.why = misfit_text(COMPILER_NVRTC, cuda, driver, result->gpus[t].target, &misfit);
			misfit.fails = misfit.why != NULL;
			list_compiler(&(struct jw_found_file){.path = paths[i]}, misfit, result);
		}
		mem_free(paths[i]);
	}
}

/* Whatever was named of an environment, a program uses the compilers of all of it. `here`: it is
 * this machine that is asked about. */
static void check_environment(const struct jw_found *search, const struct jw_driver *driver,
							  bool here, const struct jw_cancel *cancel,
							  struct jw_check_result *result)
{
	struct jw_found *whole = NULL;

	if (search->environment && !search->whole)
		(void)jw_find(NULL, &(struct jw_find_options){.cancel = *cancel}, &whole);
	if (!check_compilers(whole ? whole : search, driver, result) && here)
		check_outside(driver, result);
	jw_found_free(whole);
}

/* ---- the result */

void jw_check_result_free(struct jw_check_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->file_count; i++) {
		mem_free(result->files[i].path);
		mem_free(result->files[i].member);
	}
	for (size_t i = 0; i < result->failing_count; i++) {
		mem_free(result->failing[i].file);
		mem_free(result->failing[i].why);
		mem_free(result->failing[i].package);
		mem_free(result->failing[i].runs);
	}
	for (size_t i = 0; i < result->package_count; i++) {
		mem_free(result->packages[i].name);
		mem_free(result->packages[i].version);
		mem_free(result->packages[i].gpus);
	}
	mem_free(result->packages);
	for (size_t i = 0; i < result->compiler_count; i++) {
		mem_free(result->compilers[i].file);
		mem_free(result->compilers[i].package);
		mem_free(result->compilers[i].version);
		mem_free(result->compilers[i].why);
	}
	mem_free(result->compilers);
	jw_lines_free(result->notes, result->note_count);
	explain_causes_free(result->causes, result->cause_count);
	mem_free(result->failing);
	mem_free(result->files);
	mem_free(result->gpus);
	mem_free(result);
}

static void count_module(struct jw_check_gpu *gpu, struct jw_check_file *file,
						 const struct plan *plan, const struct plan_module *module)
{
	switch (module->state) {
	case PLAN_LEFT_OUT: gpu->left_out++; return;
	case PLAN_REFUSED: return;
	case PLAN_WARM:
		gpu->modules++;
		gpu->warm++;
		file->warm++;
		return;
	case PLAN_COLD:
	case PLAN_RESTORED:
	case PLAN_OVER_BUDGET: break;
	}
	gpu->modules++;
	gpu->cold++;
	gpu->restored += module->state == PLAN_RESTORED;
	gpu->damaged += module->damage != CACHE_SOUND && module->damage != CACHE_DAMAGE_READ;
	gpu->unread += module->damage == CACHE_DAMAGE_READ;
	gpu->link += module->form == CACHE_KEY_LINK;
	gpu->cold_bytes += module->payload_bytes;
	forecast_add(&gpu->forecast, plan, module);
	file->cold++;
	file->seconds += module->cost_ms / 1000;
}

static struct jw_check_gpu sum_of(const struct jw_check_result *result, bool machines)
{
	struct jw_check_gpu sum = {0};

	for (size_t i = 0; i < result->gpu_count; i++) {
		const struct jw_check_gpu *gpu = &result->gpus[i];

		sum.modules += gpu->modules;
		sum.warm += gpu->warm;
		sum.cold += gpu->cold;
		sum.restored += gpu->restored;
		sum.damaged += gpu->damaged;
		sum.unread += gpu->unread;
		unplanned_add(&sum.unplanned, &gpu->unplanned);
		sum.link += gpu->link;
		sum.left_out += gpu->left_out;
		sum.cold_bytes += gpu->cold_bytes;
		forecast_join(&sum.forecast, &gpu->forecast);
	}
	forecast_share(&sum.forecast, forecast_workers(sum.cold - sum.restored));
	for (size_t i = 0; machines && i < result->gpu_count; i++)
		forecast_part(&sum.forecast, &result->gpus[i].forecast, !i);
	return sum;
}

static int by_seconds(const void *a, const void *b)
{
	const struct jw_check_file *left = a, *right = b;

	if (left->seconds < right->seconds || left->seconds > right->seconds)
		return left->seconds < right->seconds ? 1 : -1;
	return strcmp(left->path, right->path);
}

/* Names for each failing file the release of its package that runs; forgets packages of which the
 * list has none. */
static void add_cures(struct jw_check_result *result)
{
	char own[JW_PYTHON_VERSION];
	const char *python = jw_environment_python(own) ? own : NULL;

	for (size_t i = 0; i < result->failing_count; i++) {
		struct jw_check_failing *failing = &result->failing[i];
		const struct jw_check_failing *former = NULL;
		struct jw_cure cure = {.package = NULL};

		for (size_t k = 0; failing->package && k < i && !former; k++)
			if (jw_target_equal(result->failing[k].target, failing->target) &&
				text_same(result->failing[k].package, failing->package))
				former = &result->failing[k];
		if (former)
			cure.version = former->runs ? mem_string(former->runs) : NULL;
		else if (failing->refused ||
				 !jw_which_cure(failing->package, failing->file, failing->target, &result->driver,
								python, &cure)) {
			mem_free(failing->package);
			failing->package = NULL;
			continue;
		}
		if (cure.package) {
			mem_free(failing->package);
			failing->package = cure.package;
		}
		failing->runs = cure.version;
	}
}

/* Moves names and notes out of the plan. */
static struct jw_check_result *summarise(struct plan *plan, const struct jw_found *search,
										 const struct jw_cancel *cancel, bool machines, bool here)
{
	struct jw_check_result *result = mem_alloc(sizeof *result);
	char text[FATE_TEXT];
	size_t kept = 0;

	result->gpus = mem_array(plan->target_count, sizeof *result->gpus);
	result->files = mem_array(plan->file_count, sizeof *result->files);
	result->failing = mem_array(plan->fates.count, sizeof *result->failing);
	for (size_t i = 0; i < plan->fates.count; i++) {
		struct file_fate *fate = &plan->fates.items[i];
		const struct jw_target device = plan->targets[fate->target].device;

		result->failing[result->failing_count++] =
			(struct jw_check_failing){fate->file,
									  device,
									  mem_string(fate_text(text, fate, device)),
									  .refused = fate->result != 0,
									  .needs = fate->is.needs,
									  .package = fate->package};
		fate->file = NULL;
		fate->package = NULL;
	}
	result->gpu_count = plan->target_count;
	for (size_t t = 0; t < plan->target_count; t++)
		result->gpus[t] = (struct jw_check_gpu){.target = plan->targets[t].device,
												.unplanned = plan->targets[t].unplanned};
	for (size_t i = 0; i < plan->module_count; i++)
		count_module(&result->gpus[plan->modules[i].target], &result->files[plan->modules[i].file],
					 plan, &plan->modules[i]);
	for (size_t t = 0; t < plan->target_count; t++)
		forecast_add_link(&result->gpus[t].forecast, plan, t);
	for (size_t t = 0; t < plan->target_count; t++)
		forecast_share(&result->gpus[t].forecast,
					   forecast_workers(result->gpus[t].cold - result->gpus[t].restored));
	result->all = sum_of(result, machines);
	if (search) {
		check_packages(plan, search, result);
		check_environment(search, &plan->profile.driver, here, cancel, result);
	}
	for (size_t i = 0; i < plan->file_count; i++) {
		struct jw_check_file file = result->files[i];

		result->files[i] = (struct jw_check_file){0};
		if (!file.cold && !file.warm)
			continue;
		file.path = plan->files[i].path;
		file.member = plan->files[i].member;
		plan->files[i] = (struct plan_file){0};
		result->files[kept++] = file;
	}
	result->file_count = kept;
	if (kept)
		qsort(result->files, kept, sizeof *result->files, by_seconds);
	result->notes = plan->notes;
	result->note_count = plan->note_count;
	result->assumptions = plan->assumptions;
	result->troubles = plan->troubles;
	result->images = plan->images;
	plan->notes = NULL;
	plan->note_count = 0;
	return result;
}

/* Lists cold modules and their causes before the plan's names are moved. Warm ones are remembered
 * for the next time. */
static int explain_cold(struct jw_error *err, const struct jw_check_options *options,
						const struct plan_request *request, struct plan *plan,
						struct jw_check_cause **ret_causes, size_t *ret_count)
{
	struct ledger ledger;
	struct explain_request why = {
		.plan = plan, .ledger = &ledger, .limit_bytes = options->system->cache.limit_bytes};
	struct explanation *explanations = NULL;
	int result = 0;

	ledger_open(&ledger, request->state_dir, request->cache_dir);
	ledger_begin(&ledger, plan);
	for (size_t i = 0; i < plan->module_count; i++)
		plan_refuse(plan, &plan->modules[i], ledger_refused(&ledger, plan->modules[i].key));
	/* An index that cannot be read explains nothing. */
	if (!result && options->explain && !options->system->cache.not_yours) {
		result = explain_plan(err, &why, &explanations);
		if (!result)
			explain_causes(&why, explanations, ret_causes, ret_count);
		mem_free(explanations);
	}
	if (!result && !options->driver && !options->system->elsewhere)
		ledger_note(&ledger, request->state_dir, false);
	ledger_close(&ledger);
	return result;
}

/* Whether the question is about this machine, whose GPUs may be named, too. */
static bool is_here(const struct jw_check_options *options)
{
	const struct jw_system *system = options->system;
	size_t own = 0;

	for (size_t i = 0; i < options->target_count; i++)
		for (size_t k = 0; k < system->gpu_count; k++)
			if (jw_target_equal(options->targets[i], system->gpus[k].target)) {
				own++;
				break;
			}
	return !options->driver && own == options->target_count;
}

int jw_check(struct jw_error *err, const struct jw_check_options *options,
			 struct jw_check_result **ret_result)
{
	struct jw_target targets[ANALYSE_MAX_TARGETS];
	struct cache_profile profile = profile_of_system(options->system);
	struct plan_request request = {
		.targets = targets,
		.target_count = wanted_targets(options->system, options->targets, options->target_count,
									   targets, ANALYSE_MAX_TARGETS),
		.profile = &profile,
		.cache_dir = options->system->cache.path,
		.state_dir = options->system->state_dir,
		.everything = options->everything,
		.named = options->found ? options->named : options->paths,
		.named_count = options->found ? options->named_count : options->path_count,
		.cancel = options->cancel,
	};
	struct recorded_account account = {0};
	struct recorded_keys keys = {0};
	const struct jw_prime_options look = {.dry_run = true, .cancel = options->cancel};
	const bool here = is_here(options);
	struct jw_check_cause *causes = NULL;
	struct jw_check_result *checked;
	struct jw_cache_outlook cache = {0};
	struct jw_prime_reuse reuse = {0};
	struct jw_found *found = NULL;
	enum jw_verdict verdict;
	size_t cause_count = 0;
	struct plan *plan = NULL;
	int result = -1;

	if (!request.target_count)
		return error_set(err, JW_ERR_NOT_FOUND, "%s", options->system->why_none);
	if (options->driver && cache_profile_for_release(err, options->driver, &profile))
		return -1;
	for (size_t i = 0; i < options->target_count; i++)
		if (jw_driver_supports(err, &profile.driver, options->targets[i]))
			return -1;
	if (!options->found && named_paths_find(err, options->paths, options->path_count, &found))
		return -1;
	request.found = options->found ? options->found : found;
	/* Other GPUs are another machine's, of whose processor nothing is known. */
	if (here || !options->target_count)
		request.speed = speed_recall(options->system->state_dir, &profile.driver);
	cache_outlook(request.cache_dir, options->system->cache.limit_bytes, false, &cache);
	if (options->recording)
		recorded_request(options->recording, &keys, &request);
	if (plan_build(err, &request, &plan) ||
		(options->recording &&
		 recorded_narrow(err, options->recording, &request, plan, &account)) ||
		explain_cold(err, options, &request, plan, &causes, &cause_count))
		goto done;
	verdict = verdict_of(plan, request.found, &options->system->cache, !options->driver, &cache);
	if (options->recording)
		verdict = recorded_verdict(plan, &account, verdict);
	/* What `prime` would take from there. */
	if (options->store && here)
		planning_reuse_store(options->system, &look, plan, &reuse);
	checked =
		summarise(plan, options->found, &options->cancel, options->target_count && !here, here);
	checked->causes = causes;
	checked->cause_count = cause_count;
	checked->driver = profile.driver;
	add_cures(checked);
	checked->limit_bytes = options->driver && !options->system->cache.limit_set
							   ? gpu_branch_of(&profile.driver)->default_limit_bytes
							   : options->system->cache.limit_bytes;
	/* Each of the machines has one of the GPUs. */
	for (size_t i = 0; options->driver && verdict == JW_VERDICT_COLD && i < checked->gpu_count; i++)
		if (checked->gpus[i].forecast.cache_bytes > checked->limit_bytes)
			verdict = JW_VERDICT_NO_ROOM;
	checked->cache = cache;
	checked->verdict = verdict;
	checked->here = here;
	checked->names_known = profile.stamp[0] != 0;
	if (!checked->names_known) {
		const struct cache_known_driver *named = cache_known_driver_like(&profile.driver);

		checked->named = named ? named->name : NULL;
	}
	*ret_result = checked;
	result = 0;
done:
	plan_free(plan);
	jw_found_free(found);
	recorded_keys_free(&keys);
	return result;
}
