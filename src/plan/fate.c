#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "code/release.h"
#include "code/rules.h"
#include "os/file.h"

enum { MOST = 1 << 24 };

/* A row “mark” of packages.tsv: a number in a name after this word is the version of something that
 * is installed, for which a program loads the file, or a GPU's architecture. A smaller number than
 * `first` counts parts or kernels, and one above `last` is a size. */
struct mark {
	unsigned first, last;
	bool gpu;
};

/* Finds the mark before a number: cu12, cuda_v12.8, libcudnn9, sm_90; false if there is none. */
static bool mark_before(const char *name, const char *number, struct mark *ret_mark)
{
	enum { FIRST, LAST, WHERE, GPU };
	const struct package_fact *fact;
	const char *end = number;

	if (end > name + 1 && end[-1] == 'v' && strchr("-_", end[-2]))
		end--;
	if (end > name && strchr("-_", end[-1]))
		end--;
	for (size_t at = 0; (fact = package_fact_next("mark", &at));) {
		const size_t length = strlen(fact->name), before = (size_t)(end - name);
		const char *start = end - (before < length ? before : length);

		/* Letters may come before some words. */
		if (before >= length && text_starts_fold(start, fact->name) &&
			(!strcmp(fact->values[WHERE], "inside") || start == name ||
			 !text_is_alnum(start[-1]))) {
			*ret_mark = (struct mark){package_fact_number(fact->values[FIRST]),
									  package_fact_number(fact->values[LAST]), fact->values[GPU]};
			return true;
		}
	}
	return false;
}

/* Returns the place after a version or an architecture that begins at `number`: after 118, 12.8,
 * 12_8, 8_6 or 90a. NULL if the number is neither: conv_cuda_2d, x_sm_1. */
static const char *skip_version(const char *name, const char *number)
{
	struct mark mark;
	const bool marked = mark_before(name, number, &mark);
	const char *at = number;
	unsigned value = 0;

	for (; text_is_digit(*at) && value < 10000; at++)
		value = value * 10 + (unsigned)(*at - '0');
	if (!marked || value < mark.first || value > mark.last || text_is_digit(*at))
		return NULL;
	/* 8_6 is an architecture, 80_64 one and a size. */
	while (
		(*at == '.' && text_is_digit(at[1])) ||
		(*at == '_' && text_is_digit(at[1]) && !text_is_digit(at[2]) && (!mark.gpu || value < 10)))
		for (at++; text_is_digit(*at);)
			at++;
	if (strchr("dD", *at) && *at && !text_is_alnum(at[1]))
		return NULL;
	return *at && strchr("aAfF", *at) && !text_is_alnum(at[1]) ? at + 1 : at;
}

/* Returns the place after the version of a library in its file's name: libx.so.12.4, or x64_12.dll
 * as NVIDIA names it; NULL if the number that begins there is none. */
static const char *skip_library_version(const char *base, const char *number)
{
	static const char so[] = ".so.", bits[] = "64_";
	const char *end = number + strspn(number, "0123456789._");

	if (number - base > (ptrdiff_t)strlen(so) && !*end && text_starts(number - strlen(so), so))
		return end;
	return text_starts(number, bits) && !strcmp(end - 1, ".dll") ? end - 1 : NULL;
}

/* Returns the place after a GPU's architecture in the name of a file of machine code, which needs
 * no mark: kernel_86.cubin; NULL if the number that begins there is none. */
static const char *skip_architecture(const char *base, const char *number)
{
	const char *at = number;
	unsigned sm = 0;

	if (!strstr(base, ".cubin") || (number > base && text_is_alnum(number[-1])))
		return NULL;
	for (; text_is_digit(*at) && sm < 1000; at++)
		sm = sm * 10 + (unsigned)(*at - '0');
	if (*at && strchr("aAfF", *at))
		at++;
	return text_is_alnum(*at) || !*jw_target_products((struct jw_target){(uint16_t)sm, 0}) ? NULL
																						   : at;
}

/* Returns the place after a mark with its number that ends a name before its extension, with what
 * divides it from the name: after “-cu11” in x-cu11.so, which is a variant of x.so. NULL if there
 * is none. */
static const char *skip_suffix(const char *name, const char *divider)
{
	const char *number = divider + 1, *end;
	struct mark mark;

	if (!strchr("-_", *divider))
		return NULL;
	while (*number && !text_is_digit(*number) && *number != '.')
		number++;
	end = text_is_digit(*number) ? skip_version(name, number) : NULL;
	return end && (*end == '.' || !*end || text_starts(end, "_nocu")) &&
				   mark_before(divider + 1, number, &mark)
			   ? end
			   : NULL;
}

bool fate_has_mark(const char *name)
{
	for (const char *at = name; *at; at++)
		if (text_is_digit(*at) && (at == name || !text_is_digit(at[-1])) && skip_version(name, at))
			return true;
	return false;
}

uint64_t fate_variants(const char *path, const char *member)
{
	const char *name = member ? member : path, *const base = os_base_name(name);
	uint64_t hash = member ? fnv_update(FNV_START, path, strlen(path) + 1) : FNV_START;

	/* A wheel for every platform holds x.dll beside libx.so. */
	const bool dll = text_ends(base, ".dll");

	for (const char *at = name; *at;) {
		const bool number = text_is_digit(*at) && (at == name || !text_is_digit(at[-1]));
		const char *after = number ? skip_version(name, at) : NULL, *suffix = skip_suffix(name, at);
		const char *as = at >= base && text_starts(at, "compute_") ? "sm_"
						 : at >= base && text_starts(at, ".ptx")   ? ".cubin"
																   : NULL;

		if (number && !after && at >= base)
			after = skip_library_version(base, at);
		if (number && !after && at >= base)
			after = skip_architecture(base, at);
		if (dll && at == base && !text_starts(at, "lib"))
			hash = fnv_update(hash, "lib", 3);
		if (dll && !strcmp(at, ".dll"))
			return fnv_update(hash, ".so", 3);
		if (at > base && suffix) {
			at = suffix;
			continue;
		}
		if (as) {
			hash = fnv_update(hash, as, strlen(as));
			at += *at == '.' ? strlen(".ptx") : strlen("compute_");
			continue;
		}
		/* A library of CUDA that this build does without. */
		if (at >= base && text_starts(at, "_nocu")) {
			for (at++; text_is_alnum(*at);)
				at++;
			continue;
		}
		hash = fnv_update(hash, after ? "0" : at, 1);
		at = after ? after : at + 1;
	}
	return hash;
}

static uint64_t of_target(uint64_t hash, uint32_t target)
{
	return fnv_update(hash, &target, sizeof target);
}

/* Returns the hash of a package, or of what counts as one. No name of variants ends like this. */
static uint64_t package_of(const char *path, const char *package)
{
	const char *name = package ? package : path;

	return fnv_update(fnv_update(FNV_START, name, strlen(name) + 1), package ? "p" : "f", 2);
}

static size_t number_of(struct fates *fates, uint64_t hash, uint32_t target)
{
	const uint64_t key = of_target(hash, target);
	size_t cursor = 0, at = set_find(&fates->numbers, key, &cursor);

	if (at == SET_NONE)
		set_add(&fates->numbers, key, at = fates->number_count++);
	return at;
}

bool fate_is_nvidia(const char *path, const char *member, const char *package)
{
	const char *name = package ? package : member ? os_base_name(path) : NULL;

	return package_fact_library("nvidia", name ? name : path) ||
		   (name && package_fact_begins("owner", name));
}

bool fate_is_profilers(const char *name)
{
	const char *base = os_base_name(name);
	char *folder = os_dir_name(name);
	const bool is = package_fact_library("profiler", name) ||
					(base > name && package_fact_library("profiler", folder));

	mem_free(folder);
	return is;
}

/* Returns what follows the beginning of a path, in which Windows may have written “\\” for “/”;
 * NULL if the path does not begin so. */
static const char *path_after(const char *path, const char *beginning)
{
	for (; *beginning; path++, beginning++)
		if (*path != *beginning && !(*beginning == '/' && *path == '\\'))
			return NULL;
	return path;
}

/* Returns whether the library's package runs on GPUs for which the library has no code: its other
 * kernels are not in files, or it computes on the CPU then. */
static bool is_optional(const char *name)
{
	const struct package_fact *fact;

	for (size_t at = 0; (fact = package_fact_next("optional", &at));)
		for (const char *place = name; *place; place++) {
			const char *rest = path_after(place, fact->name);

			if ((place == name || strchr("/\\", place[-1])) && rest && !strpbrk(rest, "/\\"))
				return true;
		}
	return false;
}

/* Returns the part of a path within its package: what follows the last “site-packages”, or the
 * like.
 */
static const char *below_packages(const char *name)
{
	static const char packages[] = "-packages";
	const char *below = name;

	for (const char *at = name; (at = strstr(at, packages));)
		below = at += sizeof packages - 1;
	return below;
}

static uint64_t file_of(const char *path, const char *member)
{
	const uint64_t hash = fnv_update(FNV_START, path, strlen(path) + 1);

	return member ? fnv_update(hash, member, strlen(member)) : hash;
}

/* Returns a row “library” of packages.tsv that a file needs, and whose newest release has no code
 * for the GPU: the file is linked to it, or its release of the package opens it by name (a row
 * “needs”). NULL if there is none. */
static const struct package_fact *find_lacking(const struct fate_file *file, const char *package,
											   const char *version, struct jw_target device)
{
	enum { TITLE, OLDEST, NEWEST };
	enum { SINCE, BEFORE, LIBRARY };
	const struct package_fact *library, *need;

	for (size_t at = 0; (library = package_fact_next("library", &at));) {
		bool needed = file->needs & package_fact_bit("library", library->name);

		if (device.sm >= package_fact_number(library->values[OLDEST]) &&
			device.sm <= package_fact_number(library->values[NEWEST]))
			continue;
		for (size_t k = 0; version && !needed && (need = package_fact_next("needs", &k));)
			needed = !strcmp(need->name, package) &&
					 !strcmp(need->values[LIBRARY], library->name) &&
					 !version_is_newer(need->values[SINCE], version) &&
					 version_is_newer(need->values[BEFORE], version);
		if (needed)
			return library;
	}
	return NULL;
}

/* Adds a fate of a file, whose path and member it copies. */
static int add_fate(struct jw_error *err, struct fates *fates, const char *path, const char *member,
					struct file_fate fate)
{
	if (!fates->memory)
		fates->memory = arena_open(1);
	if (ARENA_ROOM(err, fates->memory, fates->items, fates->capacity, fates->count, MOST))
		return -1;
	fate.path = arena_string(fates->memory, path);
	fate.file = arena_printf(fates->memory, member ? "%s: %s" : "%s", path, member);
	fate.member = member ? fate.file + strlen(path) + strlen(": ") : NULL;
	fates->items[fates->count++] = fate;
	return 0;
}

int fates_add(struct jw_error *err, struct fates *fates, const struct fate_file *file,
			  uint32_t target, struct jw_target device, const struct judged *is)
{
	const char *path = file->path, *member = file->member, *name = member ? member : path;
	const char *package = file->package, *version = file->version;
	const bool packed = file->package || member,
			   nvidia = packed && fate_is_nvidia(path, member, file->package);
	char archive[PACKAGE_MAX_NAME], release[PACKAGE_MAX_NAME];
	struct wheel_name wheel;

	if (is->fate == JUDGE_NOTHING && !is->host)
		return 0;
	if (add_fate(err, fates, path, member,
				 (struct file_fate){.target = target,
									.is = *is,
									.name = of_target(file_of(path, member), target),
									.toolkit = file->toolkit}) ||
		ARENA_ROOM(err, fates->memory, fates->members, fates->member_capacity, fates->member_count,
				   MOST))
		return -1;
	fates->items[fates->count - 1].package = arena_string(fates->memory, file->package);
	if (!package && member && wheel_name_read(os_base_name(path), &wheel) &&
		package_normalise(wheel.name.text, wheel.name.size, archive)) {
		package = archive;
		version = wheel_part_text(release, sizeof release, wheel.version);
	}
	fates->members[fates->member_count++] = (struct judge_member){
		.is = *is,
		.cuda = file->toolkit,
		.base = package && package_fact_of("base", package),
		.lacks = find_lacking(file, package ? package : "", version, device),
		.package = number_of(fates, package_of(path, file->package), target),
		.variants = number_of(fates, fate_variants(path, member), target),
		.library = file->library,
		.nvidia = nvidia,
		.aside =
			is_optional(name) ||
			(packed && !file->library && package_fact_inside("source", below_packages(name))) ||
			(packed && fate_is_profilers(name)) ||
			((is->host || (packed && !nvidia)) && package_fact_library("nvidia", name)),
		.side = packed && package_fact_inside("side", below_packages(name)) != NULL,
	};
	return 0;
}

bool fates_spare(const struct fates *fates, const char *path, const char *member, uint32_t target)
{
	return set_has(&fates->spare, of_target(file_of(path, member), target));
}

bool fates_hopeless(const struct fates *fates, const char *path, const char *package,
					uint32_t target)
{
	size_t cursor = 0;
	const size_t number =
		set_find(&fates->numbers, of_target(package_of(path, package), target), &cursor);

	return number != SET_NONE && set_has(&fates->hopeless, number + 1);
}

const char *refusal_name(unsigned result)
{
	static const struct {
		unsigned result;
		const char *name;
	} results[] = {
		{200, "CUDA_ERROR_INVALID_IMAGE"},  {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
		{218, "CUDA_ERROR_INVALID_PTX"},    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
		{300, "CUDA_ERROR_INVALID_SOURCE"},
	};

	for (size_t i = 0; i < sizeof results / sizeof *results; i++)
		if (results[i].result == result)
			return results[i].name;
	return NULL;
}

void fates_add_refused(struct fates *fates, const char *path, const char *member, uint32_t target,
					   unsigned result)
{
	for (size_t i = 0; i < fates->count; i++) {
		struct file_fate *known = &fates->items[i];

		if (known->target == target && !strcmp(known->path, path) &&
			text_same(known->member, member)) {
			known->refused += known->result != 0;
			return;
		}
	}
	(void)add_fate(
		NULL, fates, path, member,
		(struct file_fate){.target = target, .part = JUDGE_FAILS, .refused = 1, .result = result});
}

static void add_required(struct fates *fates, const char *path, uint32_t target,
						 const struct jw_required *required)
{
	if (add_fate(NULL, fates, path, NULL,
				 (struct file_fate){.target = target,
									.part = JUDGE_FAILS,
									.is = {.reason = REASON_REQUIRES,
										   .needs = required->needs,
										   .error = required->needs.cuda ? PLAN_ERROR_OLD_DRIVER
																		 : PLAN_ERROR_NO_BINARY}}))
		return;
	fates->items[fates->count - 1].requires = arena_string(fates->memory, required->what);
	fates->items[fates->count - 1].why = arena_string(fates->memory, required->why);
}

void plan_add_required(struct plan *plan, const char *wheel, uint32_t target,
					   const struct jw_required *required)
{
	add_required(&plan->fates, wheel, target, required);
}

int plan_judge_required(struct jw_error *err, jw_required_judge *judge, char *const *wheels,
						size_t count, const char *platform, struct plan *plan)
{
	for (size_t i = 0; judge && i < count; i++)
		for (uint32_t t = 0; t < plan->target_count; t++) {
			struct jw_required *required = NULL;

			if (judge(err, wheels[i], platform, plan->targets[t].device, &plan->profile.driver,
					  &required))
				return -1;
			if (required)
				plan_add_required(plan, wheels[i], t, required);
			jw_result_free(required);
		}
	return 0;
}

void fates_settle(struct fates *fates)
{
	size_t kept = 0;

	judge_packages(fates->members, fates->member_count, fates->number_count);
	if (fates->count)
		fates->parts = arena_array(fates->memory, fates->count, sizeof *fates->parts);
	for (size_t i = 0; i < fates->count; i++) {
		struct file_fate fate = fates->items[i];

		fate.part = fates->members[i].part;
		fate.is = fates->members[i].is;
		switch (fate.part) {
		case JUDGE_FAILS:
			if (fate.is.reason == REASON_UNLINKED)
				set_put(&fates->hopeless, fates->members[i].package + 1, fates->hopeless_count++);
			fates->items[kept++] = fate;
			break;
		case JUDGE_NEWER:
		case JUDGE_WITHOUT: fates->parts[fates->part_count++] = fate; break;
		case JUDGE_SPARE: set_put(&fates->spare, fate.name, fates->spare_count++); break;
		case JUDGE_GOOD: break;
		}
	}
	fates->count = kept;
}

void fates_free(struct fates *fates)
{
	jw_result_free(fates->memory);
	set_free(&fates->numbers);
	set_free(&fates->hopeless);
	set_free(&fates->spare);
	*fates = (struct fates){0};
}

/* Writes why the driver or the GPU cannot use the code: "no code for sm_90", "PTX newer than the
 * driver reads". */
static const char *reason_text(char text[FATE_TEXT], const struct judged *is,
							   struct jw_target device)
{
	static const char *const reasons[REASON_COUNT] = {
		[REASON_TOO_NEW] = "PTX newer than the driver reads",
		[REASON_TILE] = "Tile IR",
		[REASON_ZSTD] = "code packed with zstd",
		[REASON_DAMAGED] = "damaged code",
		[REASON_NEWER_CODE] = "machine code of a newer CUDA",
		[REASON_RUNTIME] = "a CUDA runtime that is newer than the driver",
	};
	const struct gpu_isa first = gpu_target_isa(is->early);
	char sm[JW_TARGET_TEXT];

	if (is->reason == REASON_EARLY)
		(void)text_format(text, FATE_TEXT, "%s needs PTX %u.%u or newer",
						  jw_target_sm(sm, is->early), first.major, first.minor);
	else if (is->reason == REASON_NEEDS)
		(void)text_format(text, FATE_TEXT, "it needs %s, which has no machine code for %s",
						  is->lacks->values[0], jw_target_sm(sm, device));
	else if (is->reason == REASON_KIND)
		(void)text_format(text, FATE_TEXT, "code of the unknown kind 0x%x", is->kind);
	else if (is->reason == REASON_TOO_NEW && !is->needs.cuda)
		(void)text_format(text, FATE_TEXT, "PTX that no known driver reads");
	else if (reasons[is->reason])
		(void)text_format(text, FATE_TEXT, "%s", reasons[is->reason]);
	else
		(void)text_format(text, FATE_TEXT, "no code for %s", jw_target_sm(sm, device));
	return text;
}

const char *fate_text(char text[FATE_TEXT], const struct file_fate *fate, struct jw_target device)
{
	const struct judged *is = &fate->is;
	const size_t unusable = is->lacking + is->too_new;
	char sm[JW_TARGET_TEXT], driver[JW_DRIVER_TEXT], reason[FATE_TEXT], pieces[TEXT_SHORT];

	(void)jw_target_sm(sm, device);
	(void)jw_driver_text(driver, &is->needs);
	TEXT_COPY(pieces, TEXT_COUNT(is->pieces, "piece", "pieces"));
	if (fate->result)
		(void)text_format(text, FATE_TEXT, "the driver refuses %s: %s",
						  TEXT_COUNT(fate->refused, "module", "modules"),
						  refusal_name(fate->result));
	else if (is->reason == REASON_REQUIRES)
		(void)text_format(text, FATE_TEXT, "will fail: it requires %s, which fails: %s",
						  fate->requires, fate->why);
	else if (fate->part == JUDGE_NEWER && (is->start || unusable == is->pieces))
		(void)text_format(text, FATE_TEXT, "needs driver %s or newer; the package runs without it",
						  driver);
	else if (fate->part == JUDGE_NEWER)
		(void)text_format(text, FATE_TEXT,
						  is->too_new == 1 ? "%zu of %s needs driver %s or newer"
										   : "%zu of %s need driver %s or newer",
						  is->too_new, pieces, driver);
	else if (fate->part == JUDGE_WITHOUT)
		(void)text_format(text, FATE_TEXT, "%s; the package runs without it",
						  reason_text(reason, is, device));
	else if (is->reason == REASON_NEEDS || is->reason == REASON_EARLY)
		(void)text_format(text, FATE_TEXT, "will fail: %s", reason_text(reason, is, device));
	else if (is->reason == REASON_UNLINKED)
		(void)text_format(text, FATE_TEXT,
						  "will fail: its linked code has no machine code for %s: error 200", sm);
	else if (!is->start && unusable < is->pieces && is->needs.cuda)
		(void)text_format(text, FATE_TEXT, "will fail: %zu of %s need driver %s or newer",
						  is->too_new, pieces, driver);
	else if (!is->start && unusable < is->pieces && !is->reason)
		(void)text_format(text, FATE_TEXT, "will fail: %zu of %s have no code for %s", unusable,
						  pieces, sm);
	else if (is->needs.cuda)
		(void)text_format(text, FATE_TEXT, "will fail: %s for %s; it needs driver %s or newer",
						  reason_text(reason, is, device), sm, driver);
	else if (is->reason == REASON_NONE || is->reason == REASON_EXCLUSIVE)
		(void)text_format(text, FATE_TEXT, "will fail: no kernel image for %s", sm);
	else
		(void)text_format(text, FATE_TEXT, "will fail: %s for %s", reason_text(reason, is, device),
						  sm);
	return text;
}

const char *fate_error(char text[FATE_TEXT], const struct file_fate *fate)
{
	/* cudaGetErrorString */
	static const struct {
		unsigned error;
		const char *text;
	} errors[] = {
		{PLAN_ERROR_OLD_DRIVER,
		 "CUDA driver version is insufficient for CUDA runtime version (35)"},
		{PLAN_ERROR_IMAGE, "device kernel image is invalid (200)"},
		{PLAN_ERROR_NO_BINARY, "no kernel image is available for execution on the device (209)"},
		{PLAN_ERROR_PTX, "a PTX JIT compilation failed (218)"},
		{PLAN_ERROR_PTX_VERSION,
		 "the provided PTX was compiled with an unsupported toolchain. (222)"},
		{PLAN_ERROR_SOURCE, "device kernel image is invalid (300)"},
		{PLAN_ERROR_UNKNOWN, "unknown error (999)"},
	};
	size_t at = 0;

	if (fate->result) {
		(void)snprintf(text, FATE_TEXT, "%s (%u)", refusal_name(fate->result), fate->result);
		return text;
	}
	/* A number of an inventory that was changed by hand has no text. */
	while (at + 1 < sizeof errors / sizeof *errors && errors[at].error != fate->is.error)
		at++;
	(void)snprintf(text, FATE_TEXT, "%s", errors[at].text);
	return text;
}

const char *fate_cause(char text[FATE_TEXT], const struct file_fate *fate, struct jw_target device)
{
	const struct judged *is = &fate->is;
	char sm[JW_TARGET_TEXT], compute[JW_TARGET_TEXT], driver[JW_DRIVER_TEXT];

	(void)jw_driver_text(driver, &is->needs);
	if (fate->result)
		(void)text_format(text, FATE_TEXT, "the driver has refused %s of it",
						  TEXT_COUNT(fate->refused, "module", "modules"));
	else if (is->reason == REASON_REQUIRES)
		(void)text_format(text, FATE_TEXT, "its METADATA allows no other release");
	else if (is->reason == REASON_NEEDS)
		(void)reason_text(text, is, device);
	else if (is->reason == REASON_ZSTD)
		(void)text_format(text, FATE_TEXT,
						  "it is compressed with zstd: drivers before %s refuse it",
						  jw_driver_text(driver, &gpu_first_zstd));
	else if (is->reason == REASON_DAMAGED)
		(void)text_format(text, FATE_TEXT, "its device code is damaged");
	else if (is->reason == REASON_EARLY)
		(void)text_format(text, FATE_TEXT, "no driver compiles its PTX, which is older");
	else if (is->reason == REASON_UNLINKED)
		(void)text_format(text, FATE_TEXT,
						  "the linked code has no code for %s, and the file lacks its objects",
						  jw_target_sm(sm, device));
	else if (is->needs.cuda && fate->toolkit)
		(void)text_format(text, FATE_TEXT, "toolkit %u.%u requires driver %s or newer",
						  fate->toolkit / 1000, fate->toolkit % 1000 / 10, driver);
	else if (is->host)
		(void)text_format(text, FATE_TEXT, "its CUDA runtime requires driver %s or newer", driver);
	else if (is->needs.cuda && is->reason == REASON_TILE)
		(void)text_format(text, FATE_TEXT, "Tile IR requires driver %s or newer", driver);
	else if (is->needs.cuda)
		(void)text_format(text, FATE_TEXT, "its code requires driver %s or newer", driver);
	else if (is->reason == REASON_TOO_NEW)
		(void)text_format(text, FATE_TEXT, "no driver that jitwarm knows reads its PTX");
	else if (is->exclusive.sm)
		(void)text_format(text, FATE_TEXT, "its only PTX is %s, which no other GPU accepts",
						  jw_target_compute(compute, is->exclusive));
	else if (is->oldest.sm > device.sm)
		(void)text_format(text, FATE_TEXT, "its oldest code is for %s",
						  jw_target_sm(sm, is->oldest));
	else if (is->newest.sm && is->newest.sm < device.sm)
		(void)text_format(
			text, FATE_TEXT,
			"its newest code is for %s, and it has no PTX that newer GPUs can compile",
			jw_target_sm(sm, is->newest));
	else
		(void)text_format(text, FATE_TEXT, "it has no code for %s", jw_target_sm(sm, device));
	return text;
}

const char *fate_reason(char text[FATE_TEXT], const struct judged *is, struct jw_target device)
{
	char sm[JW_TARGET_TEXT], driver[JW_DRIVER_TEXT];

	(void)jw_target_sm(sm, device);
	if (is->needs.cuda)
		(void)text_format(text, FATE_TEXT, "needs driver %s or newer",
						  jw_driver_text(driver, &is->needs));
	else if (is->reason == REASON_UNLINKED)
		(void)text_format(text, FATE_TEXT, "no linked code for %s", sm);
	else if (is->reason == REASON_NEEDS)
		(void)text_format(text, FATE_TEXT, "no machine code for %s", sm);
	else
		(void)reason_text(text, is, device);
	return text;
}

void plan_fate(const struct plan *plan, uint32_t target, size_t modules, struct jw_fate *ret_fate)
{
	const struct fates *fates = &plan->fates;
	const struct jw_unplanned *unplanned = &plan->targets[target].unplanned;
	const struct jw_target device = plan->targets[target].device;
	struct jw_fate sum = {0};
	char text[FATE_TEXT];

	for (size_t i = 0; i < fates->count; i++) {
		const struct file_fate *fate = &fates->items[i];

		if (fate->target != target)
			continue;
		if (!sum.failing++)
			(void)snprintf(sum.reason, sizeof sum.reason, "%s: %s", fate->file,
						   fate_text(text, fate, device));
		sum.refused += fate->result != 0;
		sum.needs = gpu_newer_driver(sum.needs, fate->is.needs);
	}
	for (size_t i = 0; i < fates->part_count; i++) {
		const struct file_fate *fate = &fates->parts[i];

		if (fate->target == target && !sum.lacking++)
			(void)snprintf(sum.part, sizeof sum.part, "%s: %s", fate->file,
						   fate_text(text, fate, device));
	}
	sum.verdict = sum.failing                             ? JW_RUNS_FAILS
				  : unplanned->tile || unplanned->unknown ? JW_RUNS_UNSURE
				  : modules                               ? JW_RUNS_COMPILED
				  : plan->images                          ? JW_RUNS_AS_IS
														  : JW_RUNS_ON_CPU;
	*ret_fate = sum;
}

void unplanned_add(struct jw_unplanned *sum, const struct jw_unplanned *more)
{
	sum->cannot += more->cannot;
	sum->lacking += more->lacking;
	sum->tile += more->tile;
	sum->unknown += more->unknown;
}
