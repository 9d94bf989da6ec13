#include "prime/toolchains.h"

#include <string.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/packages.h"
#include "base/text.h"
#include "code/release.h"
#include "code/reread.h"
#include "code/sections.h"
#include "code/target_names.h"
#include "code/zip_directory.h"
#include "driver/installed_compilers.h"
#include "find/libraries.h"
#include "os/file.h"
#include "os/process.h"

enum {
	MAX_COMPILERS = 64,
	MAX_READ =
		1 << 17, /* the most bytes of a section: ptxas has its version in the first 16 KB of one */
	MACHINE_CODE = 12020, /* from this version on a compiler's machine code needs a driver of its
							 CUDA's major version (tests/conformance, compiler_cases) */
};

static const char *const compiler_names[] = {"NVRTC", "NVVM", "nvJitLink", "ptxas"};
enum compiler_kind { COMPILER_NVRTC, COMPILER_NVVM, COMPILER_NVJITLINK, COMPILER_PTXAS };

/* Returns the version of a package that has CUDA's own version. */
static uint32_t cuda_of_package(const struct jw_found_file *file)
{
	return file->package && package_fact_inside("cuda", file->package)
			   ? compiler_cuda_of_text(file->version)
			   : 0;
}

/* Finds a program's own version: “Cuda compilation tools, release 12.8, V12.8.93”. */
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

/* Returns whether a file's name, without its folder, is that of the library of NVRTC whose name has
 * the version. */
static bool is_builtins(const char *name)
{
	return text_starts(name, "libnvrtc-builtins") || text_starts(name, "nvrtc-builtins64_");
}

static bool is_linker(const char *name)
{
	return text_starts(name, "libnvJitLink.so") || text_starts(name, "nvJitLink_");
}

/* Finds the CUDA version of a compiler, by its name, its package, or its bytes; 0 if it is not a
 * compiler. */
static uint32_t cuda_of_compiler(const struct jw_found_file *file, enum compiler_kind *ret_kind)
{
	const char *name = os_base_name(file->path);

	if (is_builtins(name)) {
		*ret_kind = COMPILER_NVRTC;
		return compiler_nvrtc_cuda(file->path);
	}
	if (text_starts(name, "libnvvm.so") || text_starts(name, "nvvm64_")) {
		*ret_kind = COMPILER_NVVM;
		return cuda_of_package(file);
	}
	if (is_linker(name)) {
		*ret_kind = COMPILER_NVJITLINK;
		return cuda_of_package(file);
	}
	*ret_kind = COMPILER_PTXAS;
	return !strcmp(name, "ptxas") || !strcmp(name, "ptxas-blackwell") ? cuda_of_program(file->path)
																	  : 0;
}

/* Returns whether a compiler is not used: Triton uses another ptxas on GPUs from sm_100 on, if it
 * has one. */
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

/* Returns why a program with this compiler fails; NULL if the compiler fits. A compiler that does
 * not know the GPU does not learn it from a newer driver. */
static char *misfit_text(enum compiler_kind kind, uint32_t cuda, const struct jw_driver *driver,
						 struct jw_target device, struct jw_check_compiler *misfit)
{
	const bool writes_ptx = kind == COMPILER_NVRTC || kind == COMPILER_NVVM;
	const unsigned major = cuda / 1000, minor = cuda % 1000 / 10;
	const char *compiler = compiler_names[kind];
	char name[JW_DRIVER_TEXT], sm[JW_TARGET_TEXT], *refused;

	(void)jw_target_sm(sm, device);
	if (gpu_compiler_fits(cuda, device) > 0) {
		misfit->last = gpu_last_compiler(device);
		return mem_printf("%s %u.%u makes no code for %s, and programs that compile with it fail; "
						  "the last that does is %u.%u",
						  compiler, major, minor, sm, misfit->last / 1000,
						  misfit->last % 1000 / 10);
	}
	if (writes_ptx && (refused = compiler_refused_ptx(compiler, cuda, driver)))
		return refused;
	if (!writes_ptx && driver->cuda && cuda >= MACHINE_CODE && cuda / 1000 > driver->cuda / 1000)
		return mem_printf(
			"%s %u.%u writes machine code that driver %s does not load: programs fail", compiler,
			major, minor, jw_driver_number(name, driver));
	if (!gpu_compiler_fits(cuda, device))
		return NULL;
	misfit->needs = gpu_first_compiler(device);
	return mem_printf("%s %u.%u does not know %s: programs that compile with it fail", compiler,
					  major, minor, sm);
}

/* Writes what people call the packages of a kind that have one of the files, or of which a package
 * whose name begins so has: “JAX and TensorFlow”. False if there is none. */
static bool name_packages(const struct jw_found *found, const char *kind, char text[TEXT_SHORT])
{
	const struct package_fact *fact;

	*text = '\0';
	for (size_t at = 0; (fact = package_fact_next(kind, &at));)
		for (size_t i = 0; i < found->file_count; i++)
			if (found->files[i].package && text_starts(found->files[i].package, fact->name)) {
				text_append(text, TEXT_SHORT, *text ? " and %s" : "%s", fact->values[0]);
				break;
			}
	return *text;
}

/* Returns why the programs of XLA's packages (rows “xla” of packages.tsv) compile more slowly. XLA
 * has ptxas compile, and does not use NVVM, which comes with it. With a ptxas that is newer than
 * the driver it compiles on one core. Source: XLA's gpu_executable, jax#19821. */
static char *slower_text(enum compiler_kind kind, uint32_t cuda, const char *packages,
						 const struct jw_driver *driver)
{
	char name[JW_DRIVER_TEXT];

	if (kind != COMPILER_PTXAS || !driver->cuda || cuda <= driver->cuda)
		return NULL;
	return mem_printf(
		"ptxas %u.%u is newer than driver %s: %s compiles more slowly, and nothing fails",
		cuda / 1000, cuda % 1000 / 10, jw_driver_number(name, driver), packages);
}

/* Returns why XLA fails: it starts the ptxas on PATH rather than that of the package, for which it
 * writes its PTX. NULL if PATH has none, this one, or one that reads that PTX. Source: jax#25344,
 * #25718, #25853. */
static char *path_ptxas_text(const struct jw_found_file *file, uint32_t cuda, const char *packages,
							 struct jw_check_compiler *misfit)
{
	char *program = os_program_on_path("ptxas"), *why = NULL;
	const uint32_t its = program ? cuda_of_program(program) : 0;
	const struct gpu_isa reads = gpu_driver_isa(&(struct jw_driver){.cuda = its}),
						 written = gpu_driver_isa(&(struct jw_driver){.cuda = cuda});

	if (its && strcmp(program, file->path) != 0 && gpu_isa_compare(reads, written) < 0) {
		why = mem_printf("%s starts the ptxas on PATH (%s), which reads PTX up to %u.%u, not "
						 "%u.%u: “Unsupported .version”",
						 packages, program, reads.major, reads.minor, written.major, written.minor);
		misfit->needs = cuda;
	}
	mem_free(program);
	return why;
}

/* Returns why programs fail that link the plan's code for a GPU: the environment's newest
 * nvJitLink, which this one is, is older than the PTX, whatever the driver. NULL if it reads the
 * PTX. Source: rapidsai/deployment#729. */
static char *linker_text(uint32_t cuda, const struct plan_target *target,
						 struct jw_check_compiler *misfit)
{
	const struct gpu_isa reads = gpu_driver_isa(&(struct jw_driver){.cuda = cuda}),
						 *has = &target->link_isa;

	if (gpu_isa_compare(*has, reads) <= 0)
		return NULL;
	misfit->needs = gpu_isa_driver(*has).cuda;
	return mem_printf(
		"nvJitLink %u.%u reads PTX up to %u.%u, and cannot link %s, which has PTX %u.%u",
		cuda / 1000, cuda % 1000 / 10, reads.major, reads.minor, target->linked, has->major,
		has->minor);
}

/* Returns the CUDA version of the newest nvJitLink: of several, programs take one for their CUDA.
 */
static uint32_t newest_linker(const struct jw_found *found)
{
	uint32_t newest = 0;

	for (size_t i = 0; i < found->file_count; i++) {
		const struct jw_found_file *file = &found->files[i];
		const uint32_t cuda = is_linker(os_base_name(file->path)) ? cuda_of_package(file) : 0;

		newest = cuda > newest ? cuda : newest;
	}
	return newest;
}

/* Lists a misfit; the same text for several compilers is listed once. The result takes ownership of
 * `misfit.why`. */
static void list_compiler(const struct jw_found_file *file, struct jw_check_compiler misfit,
						  struct jw_check_result *result)
{
	size_t same = 0;

	if (!misfit.why)
		return;
	(void)arena_keep(result, misfit.why);
	while (same < result->compiler_count && strcmp(result->compilers[same].why, misfit.why) != 0)
		same++;
	if (same < result->compiler_count || same == MAX_COMPILERS)
		return;
	misfit.file = arena_string(result, file->path);
	misfit.package = arena_string(result, file->package);
	misfit.version = arena_string(result, file->version);
	result->compilers[result->compiler_count++] = misfit;
}

static const char nvrtc_name[] = "nvrtc";
enum { NVRTC_LENGTH = sizeof nvrtc_name - 1 };

static bool has_nvrtc_name(const uint8_t *at, size_t size)
{
	const uint8_t *const end = at + size;

	while ((at = memchr(at, *nvrtc_name, (size_t)(end - at))) && end - at >= NVRTC_LENGTH) {
		if (!memcmp(at, nvrtc_name, NVRTC_LENGTH))
			return true;
		at++;
	}
	return false;
}

/* Returns whether the bytes name NVRTC, whose library programs that bring none load by name. */
static bool names_nvrtc(const struct os_map *map, const struct jw_cancel *cancel)
{
	enum { STEP = 1 << 26 }; /* bytes between two questions whether to end */

	for (size_t at = 0; at < map->size && !cancel_asked(cancel); at += STEP) {
		const size_t left = map->size - at, most = STEP + NVRTC_LENGTH - 1;

		if (has_nvrtc_name(map->data + at, left < most ? left : most))
			return true;
	}
	return false;
}

/* Adds the compilers inside the wheels, as files “WHEEL: MEMBER”, to a copy of the list, which
 * `owner` keeps. */
static struct jw_found with_members(void *owner, const struct jw_found *found)
{
	struct jw_found all = *found;
	size_t capacity = 0;

	all.files = NULL;
	all.file_count = 0;
	for (size_t i = 0; i < found->file_count; i++) {
		VEC_GROW(all.files, capacity, all.file_count);
		all.files[all.file_count++] = found->files[i];
	}
	for (size_t i = 0; i < found->file_count; i++) {
		struct zip_directory directory;
		struct os_map map;

		if (!text_ends(found->files[i].path, ".whl") ||
			os_map_open(NULL, found->files[i].path, &map))
			continue;
		if (!zip_directory_read(NULL, &map, &directory)) {
			for (size_t k = 0; k < directory.count; k++) {
				const char *name = os_base_name(directory.members[k].name);

				if (!is_builtins(name))
					continue;
				VEC_GROW(all.files, capacity, all.file_count);
				all.files[all.file_count++] = (struct jw_found_file){
					.path = arena_printf(owner, "%s: %s", found->files[i].path,
										 directory.members[k].name)};
			}
			zip_directory_free(&directory);
		}
		os_map_close(&map);
	}
	(void)arena_keep(owner, all.files);
	return all;
}

static bool is_nvrtc(const struct jw_found_file *file)
{
	enum compiler_kind kind;

	return cuda_of_compiler(file, &kind) && kind == COMPILER_NVRTC;
}

static bool has_nvrtc(const struct jw_found *found)
{
	for (size_t i = 0; i < found->file_count; i++)
		if (is_nvrtc(&found->files[i]))
			return true;
	return false;
}

/* Returns whether the file is an NVRTC, brings it or names it. */
static bool loads_nvrtc(const char *path, const struct jw_cancel *cancel)
{
	bool loads = strstr(path, "nvrtc") != NULL;
	struct os_map map;

	if (!loads && !os_map_open(NULL, path, &map)) {
		loads = names_nvrtc(&map, cancel);
		os_map_close(&map);
	}
	return loads;
}

/* Forgets the listed compilers from `first` on that have this name; NULL: all. */
static void drop_listed(struct jw_check_result *result, size_t first, const char *name)
{
	struct jw_check_compiler *const all = result->compilers;
	const size_t count = result->compiler_count;

	result->compiler_count = first;
	for (size_t i = first; i < count; i++)
		if (name && all[i].name != name)
			all[result->compiler_count++] = all[i];
}

/* Checks the compilers by names, versions, and, for ptxas, a few kilobytes; starts nothing and
 * loads no library. */
static void check_compilers(const struct jw_found *found, const struct plan *plan,
							struct jw_check_result *result)
{
	const struct jw_driver *driver = &result->driver;
	const uint32_t linker = newest_linker(found);
	char xla[TEXT_SHORT], nvvm[TEXT_SHORT];
	const bool has_xla = name_packages(found, "xla", xla),
			   has_nvvm = name_packages(found, "nvvm", nvvm);

	result->compilers = arena_array(result, MAX_COMPILERS, sizeof *result->compilers);
	for (size_t i = 0; i < found->file_count; i++) {
		const struct jw_found_file *file = &found->files[i];
		enum compiler_kind kind;
		const uint32_t cuda = cuda_of_compiler(file, &kind);

		for (size_t t = 0; cuda && t < result->gpu_count; t++) {
			const struct jw_target device = result->gpus[t].target;
			struct jw_check_compiler misfit = {.name = compiler_names[kind], .cuda = cuda};
			const bool used = !(kind == COMPILER_PTXAS && is_passed_over(found, file, device)) &&
							  !(kind == COMPILER_NVVM && has_xla && !has_nvvm);

			if (used && has_xla && kind == COMPILER_PTXAS && cuda_of_package(file))
				misfit.why = path_ptxas_text(file, cuda, xla, &misfit);
			if (kind == COMPILER_NVJITLINK && cuda == linker)
				misfit.why = linker_text(cuda, &plan->targets[t], &misfit);
			if (used && !misfit.why)
				misfit.why = misfit_text(kind, cuda, driver, device, &misfit);
			misfit.fails = misfit.why != NULL;
			if (used && !misfit.why && has_xla)
				misfit.why = slower_text(kind, cuda, xla, driver);
			list_compiler(file, misfit, result);
		}
	}
}

static void check_nvrtc(const struct jw_found_file *file, const struct jw_driver *driver,
						struct jw_check_result *result)
{
	const uint32_t cuda = compiler_nvrtc_cuda(file->path);

	for (size_t t = 0; cuda && t < result->gpu_count; t++) {
		struct jw_check_compiler misfit = {.name = compiler_names[COMPILER_NVRTC], .cuda = cuda};

		misfit.why = misfit_text(COMPILER_NVRTC, cuda, driver, result->gpus[t].target, &misfit);
		misfit.fails = misfit.why != NULL;
		list_compiler(file, misfit, result);
	}
}

/* The folder of the last file, and the NVRTC beside it (NULL: none). */
struct beside {
	const char *folder;
	char *nvrtc;
};

/* Checks the NVRTC of the environment to which a named file belongs, which its programs load before
 * any other, as CuPy does; false if it has none. `active` is the active environment, for wheels. */
static bool check_inside(const char *path, struct beside *beside, const struct jw_found *active,
						 const struct jw_driver *driver, struct jw_check_result *result)
{
	const char *folder;

	if (text_ends(path, ".whl") && active) {
		for (size_t i = 0; i < active->file_count; i++)
			if (is_nvrtc(&active->files[i]))
				check_nvrtc(&active->files[i], driver, result);
		return has_nvrtc(active);
	}
	folder = arena_keep(result, os_dir_name(path));
	if (!beside->folder || strcmp(beside->folder, folder) != 0) {
		*beside = (struct beside){folder, find_nvrtc_beside(result, path)};
	}
	if (beside->nvrtc)
		check_nvrtc(&(struct jw_found_file){.path = beside->nvrtc}, driver, result);
	return beside->nvrtc;
}

/* Checks the compiler in CUDA_HOME, /usr/local/cuda or the linker's cache, which programs load that
 * bring none (hashcat, CuPy without its wheel). */
static void check_outside(const struct jw_driver *driver, struct jw_check_result *result)
{
	char *paths[NVRTC_OUTSIDE];
	const size_t count = find_nvrtc_outside(result, paths);

	for (size_t i = 0; i < count; i++)
		check_nvrtc(&(struct jw_found_file){.path = paths[i]}, driver, result);
}

/* Checks the NVRTCs of files that were named without their environment: that of the environment in
 * which a file lies, else those outside. Bytes are searched only if one of these is a misfit. */
static void check_unlisted(const struct jw_found *search, const struct jw_found *active,
						   const struct jw_driver *driver, bool here,
						   const struct jw_cancel *cancel, struct jw_check_result *result)
{
	/* Packages that compile with NVVM are in Python, so no file shows that they load a compiler. */
	char nvvm[TEXT_SHORT];
	bool used = search->whole || name_packages(search, "nvvm", nvvm);
	struct beside beside = {0};
	size_t first;

	for (size_t i = 0; i < search->file_count && !search->whole; i++) {
		first = result->compiler_count;
		if (check_inside(search->files[i].path, &beside, active, driver, result) &&
			result->compiler_count > first && !loads_nvrtc(search->files[i].path, cancel))
			drop_listed(result, first, NULL);
	}
	if (!here)
		return;
	first = result->compiler_count;
	check_outside(driver, result);
	for (size_t i = 0; i < search->file_count && result->compiler_count > first && !used; i++)
		used = loads_nvrtc(search->files[i].path, cancel) &&
			   !check_inside(search->files[i].path, &beside, active, driver, result);
	if (!used)
		drop_listed(result, first, NULL);
}

/* A program may load any NVRTC of a whole environment; otherwise NVRTC counts only if a file brings
 * it or names it. */
void toolchains_check(const struct jw_found *search, const struct plan *plan, bool here,
					  const struct jw_cancel *cancel, struct jw_check_result *result)
{
	const struct jw_driver *const driver = &result->driver;
	const char *const nvrtc = compiler_names[COMPILER_NVRTC];
	struct jw_found *whole = NULL, members = with_members(result, search);
	bool wanted = search->environment && !search->whole, listed = false, loads = search->whole;

	for (size_t i = 0; i < search->file_count; i++)
		wanted = wanted || text_ends(search->files[i].path, ".whl");
	if (wanted)
		(void)jw_find(NULL, &(struct jw_find_options){.cancel = *cancel}, &whole);
	check_compilers(whole && search->environment ? whole : &members, plan, result);
	if (!has_nvrtc(whole && search->environment ? whole : &members)) {
		check_unlisted(search, whole, driver, here, cancel, result);
	} else {
		for (size_t i = 0; i < result->compiler_count; i++)
			listed = listed || result->compilers[i].name == nvrtc;
		for (size_t i = 0; i < search->file_count && listed && !loads; i++)
			loads = loads_nvrtc(search->files[i].path, cancel);
		if (!loads)
			drop_listed(result, 0, nvrtc);
	}
	jw_result_free(whole);
}
