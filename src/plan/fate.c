#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "code/kernel_names.h"
#include "code/release.h"
#include "code/rules.h"
#include "os/file.h"

enum {
	MOST = 1 << 24,
	FIRST_ATTENTION = 80 /* the first GPU of FlashAttention 2 and 3 */
};

/* A number in a name after one of these words is the version of something that is installed, for
 * which a program loads the file, or a GPU's architecture. A smaller number than `first` counts
 * parts or kernels. */
static const struct mark {
	const char *word;
	unsigned first;
	bool inside; /* letters may come before the word */
	bool gpu;
} marks[] = {
	{"cuda", 6, true, false},    {"cudnn", 5, true, false},    {"cu", 6, false, false},
	{"torch", 1, true, false},   {"cpython", 2, false, false}, {"cp", 2, false, false},
	{"compute", 3, false, true}, {"sm", 3, false, true},       {"cc", 3, false, true},
	{"arch", 3, false, true},
};

/* Returns the mark before a number: cu12, cuda_v12.8, libcudnn9, sm_90; NULL if there is none. */
static const struct mark *mark_before(const char *name, const char *number)
{
	const char *end = number;

	if (end > name + 1 && end[-1] == 'v' && strchr("-_", end[-2]))
		end--;
	if (end > name && strchr("-_", end[-1]))
		end--;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const size_t length = strlen(marks[i].word), before = (size_t)(end - name);
		const char *start = end - (before < length ? before : length);

		if (before >= length && text_starts_fold(start, marks[i].word) &&
			(marks[i].inside || start == name || !text_is_alnum(start[-1])))
			return &marks[i];
	}
	return NULL;
}

/* Returns the place after a version or an architecture that begins at `number`: after 118, 12.8,
 * 12_8, 8_6 or 90a. NULL if the number is neither: conv_cuda_2d, x_sm_1. */
static const char *skip_version(const char *name, const char *number)
{
	const struct mark *mark = mark_before(name, number);
	const char *at = number;
	unsigned value = 0;

	for (; text_is_digit(*at) && value < 10000; at++)
		value = value * 10 + (unsigned)(*at - '0');
	if (!mark || value < mark->first || text_is_digit(*at))
		return NULL;
	/* 8_6 is an architecture, 80_64 one and a size. */
	while (
		(*at == '.' && text_is_digit(at[1])) ||
		(*at == '_' && text_is_digit(at[1]) && !text_is_digit(at[2]) && (!mark->gpu || value < 10)))
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

uint64_t fate_variants(const char *path, const char *member)
{
	const char *name = member ? member : path, *const base = os_base_name(name);
	uint64_t hash = member ? fnv_update(FNV_START, path, strlen(path) + 1) : FNV_START;

	/* A wheel for every platform holds x.dll beside libx.so. */
	const bool dll = text_ends(base, ".dll");

	for (const char *at = name; *at;) {
		const bool number = text_is_digit(*at) && (at == name || !text_is_digit(at[-1]));
		const char *after = number ? skip_version(name, at) : NULL;
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

/* Returns the hash of a file's folder, or of its archive and the member's folder. Files in
 * site-packages itself belong to different packages, so each has a folder of its own. */
static uint64_t folder_of(const char *path, const char *member)
{
	static const char packages[] = "-packages";
	const char *name = member ? member : path;
	const uint64_t start = fnv_update(FNV_START, path, member ? strlen(path) + 1 : 0);
	size_t length = (size_t)(os_base_name(name) - name);

	if (!member && length >= sizeof packages &&
		!memcmp(name + length - sizeof packages, packages, sizeof packages - 1))
		length = strlen(name);
	/* No name of variants ends like this. */
	return fnv_update(fnv_update(start, name, length), "", 1);
}

static uint64_t of_target(uint64_t hash, uint32_t target)
{
	return fnv_update(hash, &target, sizeof target);
}

/* Returns the hash of a package, or of what counts as one. No name of variants or of a folder ends
 * like this. */
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

/* Returns whether auditwheel (libx-1a2b3c4d.so.0, in NAME.libs or not) or delvewheel (x-HASH.dll)
 * has copied the library into the wheel from elsewhere. */
static bool is_bundled(const char *name)
{
	enum { FEWEST_DIGITS = 8 };
	const char *base = os_base_name(name), *dash = strrchr(base, '-');
	const size_t digits = dash ? strspn(dash + 1, "0123456789abcdef") : 0;

	return digits >= FEWEST_DIGITS && dash[1 + digits] == '.';
}

/* Returns whether the name of a library or its folder has the word. */
static bool has_word(const char *name, const char *word)
{
	const char *at = os_base_name(name);

	if (at > name)
		at--;
	while (at > name && !strchr("/\\", at[-1]))
		at--;
	for (; *at; at++)
		if (text_starts_fold(at, word))
			return true;
	return false;
}

/* Returns which FlashAttention a library is: vllm_flash_attn/_vllm_fa3_C.so,
 * _C_flashattention3.so, flash_attn_3/_C.so. */
static enum decide_attention attention_of(const char *name)
{
	return !has_word(name, "flash_attn") && !has_word(name, "flashattention") ? ATTENTION_NONE
		   : has_word(name, "_fa3") || has_word(name, "flash_attn_3") ||
				   has_word(name, "flashattention3")
			   ? ATTENTION_3
			   : ATTENTION_2;
}

/* Returns whether the library's package runs on GPUs for which the library has no code: its other
 * kernels are not in files, or it computes on the CPU then. */
static bool is_dispensable(const char *name)
{
	static const struct {
		const char *folder, *start;
	} names[] = {
		/* It loads each in a try. All else is Python and Triton. */
		{"torchao", "_C"},
		/* Only mooncake.ep and mooncake.pg load these; the transfer engine and the store do not. */
		{"mooncake", "libmooncake_ep_device"},
		{"mooncake", "libmooncake_pg_device"},
		/* Only conversions between pixel formats run on its kernel; decoding does not. */
		{"python_vali", "_python_vali"},
		/* A plug-in: Open Image Denoise then takes another device. */
		{"", "libOpenImageDenoise_device_cuda"},
		{"", "OpenImageDenoise_device_cuda"},
	};
	const char *base = os_base_name(name);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const size_t length = strlen(names[i].folder), before = (size_t)(base - name);

		if (text_starts(base, names[i].start) &&
			(!length || (before > length && !memcmp(base - length - 1, names[i].folder, length) &&
						 (before == length + 1 || strchr("/\\", base[-(ptrdiff_t)length - 2])))))
			return true;
	}
	return false;
}

/* CUPTI and the libraries that it loads. Triton's profiler, Proton, brings them (cupti/libcupti.so,
 * cupti-blackwell/libcheckpoint.so). */
bool fate_is_tool(const char *name)
{
	static const char *const starts[] = {"cupti", "nvperf_", "pcsamplingutil"};
	const char *base = os_base_name(name), *folder = base > name ? base - 1 : name;

	while (folder > name && !strchr("/\\", folder[-1]))
		folder--;
	if (base > name && text_starts_fold(folder, "cupti"))
		return true;
	base += text_starts(base, "lib") ? strlen("lib") : 0;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (text_starts(base, starts[i]))
			return true;
	return false;
}

static uint64_t file_of(const char *path, const char *member)
{
	const uint64_t hash = fnv_update(FNV_START, path, strlen(path) + 1);

	return member ? fnv_update(hash, member, strlen(member)) : hash;
}

bool fate_is_own_library(const char *name)
{
	const char *base = os_base_name(name), *folder = strstr(name, ".libs");
	bool library = text_ends(base, ".pyd") || text_ends(base, ".dll"), copied = is_bundled(name);

	for (const char *at = base; !library && (at = strstr(at, ".so")); at++)
		library = !at[3] || at[3] == '.';
	for (; folder && !copied; folder = strstr(folder + 1, ".libs"))
		copied = folder < base && os_is_separator(folder[strlen(".libs")]);
	return library && !copied;
}

/* Returns the hash of the libraries among which one without code is judged (decide_member). */
static uint64_t group_of(const struct fate_file *file)
{
	const char *name = file->package ? file->package : file->member ? file->path : "";

	/* No name of variants, a folder or a package ends like this. */
	return fnv_update(fnv_update(FNV_START, name, strlen(name) + 1), "g", 2);
}

int fates_add(struct jw_error *err, struct fates *fates, const struct fate_file *file,
			  const struct jw_target *devices, const struct analyse_target *targets,
			  size_t target_count)
{
	const char *path = file->path, *member = file->member, *name = member ? member : path;

	if ((file->package || member) && fate_is_tool(name))
		return 0;
	for (uint32_t t = 0; t < target_count; t++) {
		const struct analyse_target *target = &targets[t];
		const struct decided *is = &target->is;
		const enum decide_attention attention = attention_of(name);

		if (is->fate == DECIDE_NO_CODE && !is->host)
			continue;
		if (VEC_ROOM(err, fates->items, fates->capacity, fates->count, MOST) ||
			VEC_ROOM(err, fates->members, fates->member_capacity, fates->member_count, MOST))
			return -1;
		fates->members[fates->member_count++] = (struct decide_member){
			.decided = *is,
			.package = number_of(fates, package_of(path, file->package), t),
			.variants = number_of(fates, fate_variants(path, member), t),
			.folder = number_of(fates, folder_of(path, member), t),
			.group = number_of(fates, group_of(file), t),
			.siblings = file->siblings,
			.own = fate_is_own_library(name),
			.library = file->library,
			.bundled = is_bundled(name),
			.dispensable = is_dispensable(name),
			/* cuDNN's engines have code for other GPUs than cuDNN. */
			.aside = (attention || has_word(name, "cudnn_engines_")) &&
					 (is->fate == DECIDE_RUNS ||
					  (is->fate == DECIDE_LACKS && devices[t].sm < FIRST_ATTENTION)),
			.attention = attention,
		};
		fates->items[fates->count] =
			(struct file_fate){.target = t,
							   .bundled = is_bundled(name),
							   .aside = fates->members[fates->member_count - 1].aside,
							   .is = *is,
							   .name = of_target(file_of(path, member), t),
							   .kind = target->kind,
							   .cause = target->cause};
		if (is->fate != DECIDE_RUNS || is->lacking || is->too_new) {
			fates->items[fates->count].file = mem_printf(member ? "%s: %s" : "%s", path, member);
			fates->items[fates->count].package = file->package ? mem_string(file->package) : NULL;
			fates->items[fates->count].kernels = mem_string(target->kernels);
		}
		fates->count++;
	}
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
	char *file = mem_printf(member ? "%s: %s" : "%s", path, member);

	for (size_t i = 0; i < fates->count; i++) {
		struct file_fate *known = &fates->items[i];

		if (known->target == target && !strcmp(known->file, file)) {
			known->refused += known->result != 0;
			mem_free(file);
			return;
		}
	}
	VEC_GROW(fates->items, fates->capacity, fates->count);
	fates->items[fates->count++] = (struct file_fate){
		.file = file, .target = target, .part = DECIDE_FAILS, .refused = 1, .result = result};
}

void fates_settle(struct fates *fates)
{
	size_t kept = 0;

	decide_packages(fates->members, fates->member_count, fates->number_count);
	fates->parts = mem_array(fates->count, sizeof *fates->parts);
	for (size_t i = 0; i < fates->count; i++) {
		struct file_fate fate = fates->items[i];

		fate.part = fates->members[i].part;
		if (fate.part == DECIDE_FAILS) {
			if (fate.is.reason == REASON_UNLINKED)
				set_put(&fates->hopeless, fates->members[i].package + 1, fates->hopeless_count++);
			fates->items[kept++] = fate;
		} else if (fate.part == DECIDE_PART ||
				   (fate.part == DECIDE_VARIANT && fate.is.fate == DECIDE_REFUSED)) {
			fates->parts[fates->part_count++] = fate;
		} else {
			if (fate.part == DECIDE_SPARE)
				set_put(&fates->spare, fate.name, fates->spare_count++);
			mem_free(fate.file);
			mem_free(fate.package);
			mem_free(fate.kernels);
		}
	}
	fates->count = kept;
	mem_free(fates->members);
	fates->members = NULL;
	fates->member_count = 0;
}

void fates_free(struct fates *fates)
{
	for (size_t i = 0; i < fates->count; i++) {
		mem_free(fates->items[i].file);
		mem_free(fates->items[i].package);
		mem_free(fates->items[i].kernels);
	}
	for (size_t i = 0; i < fates->part_count; i++) {
		mem_free(fates->parts[i].file);
		mem_free(fates->parts[i].package);
		mem_free(fates->parts[i].kernels);
	}
	mem_free(fates->items);
	mem_free(fates->parts);
	mem_free(fates->members);
	set_free(&fates->numbers);
	set_free(&fates->hopeless);
	set_free(&fates->spare);
	*fates = (struct fates){0};
}

/* Returns why most pieces that a program cannot use are refused, if no newer driver helps;
 * REASON_NONE if they lack code. */
static enum plan_reason hopeless_reason(const struct decided *is)
{
	const bool tells = is->reason == REASON_TOO_NEW || is->reason == REASON_DAMAGED;

	return tells && is->too_new > is->lacking && !is->needs.cuda ? is->reason : REASON_NONE;
}

/* Writes how many of its pieces lack code, need a newer driver, or run with no driver. */
static void format_share(char text[FATE_TEXT], const struct file_fate *fate, const char *sm)
{
	const struct decided *is = &fate->is;
	const bool fails = fate->part == DECIDE_FAILS;
	const enum plan_reason hopeless = hopeless_reason(is);
	const size_t lacking =
		hopeless ? is->too_new : is->lacking + (is->needs.cuda ? 0 : is->too_new);
	char driver[JW_DRIVER_TEXT], pieces[TEXT_SHORT];

	TEXT_COPY(pieces, TEXT_COUNT(is->pieces, "piece", "pieces"));
	if (is->host)
		(void)text_format(text, FATE_TEXT,
						  "its CUDA runtime needs driver %s or newer: programs that use it fail",
						  jw_driver_text(driver, &is->needs));
	else if (is->too_new > is->lacking && is->needs.cuda)
		(void)text_format(
			text, FATE_TEXT,
			fails ? "will fail: %zu of %s need driver %s or newer"
			: is->too_new == 1
				? "%zu of %s needs driver %s or newer: programs that use this piece fail"
				: "%zu of %s need driver %s or newer: programs that use these pieces fail",
			is->too_new, pieces, jw_driver_text(driver, &is->needs));
	else if (!fails && is->too_new && is->needs.cuda)
		(void)text_format(text, FATE_TEXT,
						  is->too_new == 1
							  ? "%zu of %s have no code for %s, and %zu more needs driver %s or "
								"newer: programs that use these pieces fail"
							  : "%zu of %s have no code for %s, and %zu more need driver %s or "
								"newer: programs that use these pieces fail",
						  lacking, pieces, sm, is->too_new, jw_driver_text(driver, &is->needs));
	else if (hopeless == REASON_TOO_NEW)
		(void)text_format(
			text, FATE_TEXT,
			fails ? "will fail: %zu of %s have PTX that no known driver reads"
			: lacking == 1
				? "%zu of %s has PTX that no known driver reads: programs that use this piece fail"
				: "%zu of %s have PTX that no known driver reads: "
				  "programs that use these pieces fail",
			lacking, pieces);
	else if (hopeless == REASON_DAMAGED)
		(void)text_format(text, FATE_TEXT,
						  fails ? "will fail: %zu of %s are damaged"
						  : lacking == 1
							  ? "%zu of %s is damaged: programs that use this piece fail"
							  : "%zu of %s are damaged: programs that use these pieces fail",
						  lacking, pieces);
	else if (!fails && lacking == is->pieces)
		(void)text_format(text, FATE_TEXT, "no code for %s: a program that uses this file fails",
						  sm);
	else
		(void)text_format(
			text, FATE_TEXT,
			fails          ? "will fail: %zu of %s have no code for %s"
			: lacking == 1 ? "%zu of %s has no code for %s: programs that use this piece fail"
						   : "%zu of %s have no code for %s: programs that use these pieces fail",
			lacking, pieces, sm);
	if (fate->kernels && *fate->kernels && is->lacking + is->too_new < is->pieces)
		text_append(text, FATE_TEXT,
					kernels_are_nccl(fate->kernels, is->lacking + is->too_new)
						? " (kernels of NCCL, which only programs on several GPUs use: %s)"
						: " (kernels: %s)",
					fate->kernels);
}

const char *fate_text(char text[FATE_TEXT], const struct file_fate *fate, struct jw_target device)
{
	static const char *const reasons[REASON_COUNT] = {
		[REASON_NONE] = "no kernel image",
		[REASON_EXCLUSIVE] = "no kernel image",
		[REASON_TOO_NEW] = "PTX newer than the driver reads",
		[REASON_TILE] = "Tile IR",
		[REASON_ZSTD] = "code packed with zstd",
		[REASON_DAMAGED] = "damaged code",
		[REASON_NEWER_CODE] = "machine code that needs the driver of a newer CUDA",
		[REASON_RUNTIME] = "a CUDA runtime that needs the driver of a newer CUDA",
	};
	const struct decided *is = &fate->is;
	char sm[JW_TARGET_TEXT], driver[JW_DRIVER_TEXT], kind[128];
	const char *reason = reasons[is->reason];

	if (fate->result) {
		(void)text_format(text, FATE_TEXT, "the driver refuses %s: %s",
						  TEXT_COUNT(fate->refused, "module", "modules"),
						  refusal_name(fate->result));
		return text;
	}
	(void)jw_target_sm(sm, device);
	if (is->reason == REASON_KIND) {
		(void)text_format(kind, sizeof kind, "code of the unknown kind 0x%x", fate->kind);
		reason = kind;
	} else if (is->tile_too) {
		(void)text_format(kind, sizeof kind, "%s, and Tile IR", reason);
		reason = kind;
	} else if (is->reason == REASON_TOO_NEW && !is->needs.cuda) {
		reason = "PTX that no known driver reads";
	}
	if (fate->part == DECIDE_VARIANT && is->needs.cuda)
		(void)text_format(text, FATE_TEXT,
						  "this variant needs driver %s or newer; another variant runs",
						  jw_driver_text(driver, &is->needs));
	else if (fate->part == DECIDE_VARIANT)
		(void)text_format(text, FATE_TEXT, "this variant fails (%s for %s); another variant runs",
						  reason, sm);
	else if (fate->part == DECIDE_PART || (is->by_share && is->reason != REASON_UNLINKED &&
										   is->lacking + is->too_new < is->pieces))
		format_share(text, fate, sm);
	else if (is->reason == REASON_UNLINKED)
		(void)text_format(text, FATE_TEXT,
						  "will fail: its linked code has no machine code for %s and cannot be "
						  "linked again: a start ends with error 200",
						  sm);
	else if (is->needs.cuda)
		(void)text_format(text, FATE_TEXT, "will fail: %s for %s; it needs driver %s or newer",
						  reason, sm, jw_driver_text(driver, &is->needs));
	else
		(void)text_format(text, FATE_TEXT, "will fail: %s for %s", reason, sm);
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
		{PLAN_ERROR_NOT_FOUND, "named symbol not found (500)"},
		{PLAN_ERROR_UNKNOWN, "unknown error (999)"},
	};
	size_t at = 0;

	if (fate->result) {
		(void)snprintf(text, FATE_TEXT, "%s (%u)", refusal_name(fate->result), fate->result);
		return text;
	}
	/* A number of an inventory that was changed by hand has no text. */
	while (at + 1 < sizeof errors / sizeof *errors && errors[at].error != fate->cause.error)
		at++;
	(void)snprintf(text, FATE_TEXT, "%s", errors[at].text);
	return text;
}

const char *fate_cause(char text[FATE_TEXT], const struct file_fate *fate, struct jw_target device)
{
	const struct analyse_cause *cause = &fate->cause;
	const struct decided *is = &fate->is;
	char sm[JW_TARGET_TEXT], compute[JW_TARGET_TEXT], driver[JW_DRIVER_TEXT];

	(void)jw_driver_text(driver, &is->needs);
	if (fate->result)
		(void)text_format(text, FATE_TEXT, "the driver has refused %s of it",
						  TEXT_COUNT(fate->refused, "module", "modules"));
	else if (is->reason == REASON_ZSTD)
		(void)text_format(text, FATE_TEXT,
						  "it is compressed with zstd: drivers before %s refuse it",
						  jw_driver_text(driver, &gpu_first_zstd));
	else if (is->reason == REASON_DAMAGED)
		(void)text_format(text, FATE_TEXT, "its device code is damaged");
	else if (is->reason == REASON_UNLINKED)
		(void)text_format(text, FATE_TEXT,
						  "the linked code has no code for %s, and the file lacks its objects",
						  jw_target_sm(sm, device));
	else if (is->needs.cuda && cause->toolkit)
		(void)text_format(text, FATE_TEXT, "toolkit %u.%u requires driver %s or newer",
						  cause->toolkit / 1000, cause->toolkit % 1000 / 10, driver);
	else if (is->host)
		(void)text_format(text, FATE_TEXT, "its CUDA runtime requires driver %s or newer", driver);
	else if (is->needs.cuda && is->reason == REASON_TILE)
		(void)text_format(text, FATE_TEXT, "Tile IR requires driver %s or newer", driver);
	else if (is->needs.cuda)
		(void)text_format(text, FATE_TEXT, "its code requires driver %s or newer", driver);
	else if (is->reason == REASON_TOO_NEW)
		(void)text_format(text, FATE_TEXT, "no driver that jitwarm knows reads its PTX");
	else if (cause->exclusive.sm)
		(void)text_format(text, FATE_TEXT, "its only PTX is %s, which no other GPU accepts",
						  jw_target_compute(compute, cause->exclusive));
	else if (cause->oldest.sm > device.sm)
		(void)text_format(text, FATE_TEXT, "its oldest code is for %s",
						  jw_target_sm(sm, cause->oldest));
	else if (cause->newest.sm && cause->newest.sm < device.sm)
		(void)text_format(
			text, FATE_TEXT,
			"its newest code is for %s, and it has no PTX that newer GPUs can compile",
			jw_target_sm(sm, cause->newest));
	else
		(void)text_format(text, FATE_TEXT, "it has no code for %s", jw_target_sm(sm, device));
	return text;
}

size_t fate_failing(const struct file_fate *fate)
{
	return fate->is.lacking - fate->is.family_lacking + fate->is.too_new;
}

const char *fate_reason(char text[FATE_TEXT], const struct file_fate *fate, struct jw_target device)
{
	const struct decided *is = &fate->is;
	const bool part = fate->part == DECIDE_PART;
	char sm[JW_TARGET_TEXT], driver[JW_DRIVER_TEXT], refused[FATE_TEXT] = "";

	(void)jw_target_sm(sm, device);
	if (is->needs.cuda)
		(void)text_format(refused, sizeof refused, "needs driver %s or newer",
						  jw_driver_text(driver, &is->needs));
	else if (is->reason == REASON_DAMAGED)
		(void)text_format(refused, sizeof refused, "damaged code");
	else if (is->reason == REASON_TOO_NEW)
		(void)text_format(refused, sizeof refused, "PTX that no known driver reads");
	if (part && *refused && is->lacking > is->family_lacking)
		(void)text_format(text, FATE_TEXT, "no code for %s, or %s", sm, refused);
	else if (*refused)
		(void)text_format(text, FATE_TEXT, "%s", refused);
	else if (is->reason == REASON_UNLINKED && !part)
		(void)text_format(text, FATE_TEXT, "no linked code for %s", sm);
	else
		(void)text_format(text, FATE_TEXT, "no code for %s", sm);
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

		if (fate->target == target && fate->part != DECIDE_VARIANT && !sum.lacking++)
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
