#include <jitwarm/lint.h>

#include <stdlib.h>
#include <string.h>

#include <jitwarm/scan.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/set.h"
#include "base/text.h"
#include "code/rules.h"
#include "code/target_names.h"
#include "prime/lint_claims.h"

enum { MAX_FINDINGS = 1 << 20, MAX_TROUBLES = 10000 };

struct lint {
	struct lint_claims *claims;
	const struct jw_lint_options *options;
	struct jw_lint_result *result;
	size_t capacity;
	uint64_t *neighbour_bytes; /* for each GPU: about what lacks code, by the code that is there */
	struct jw_target *plain;   /* for each GPU: PTX that it could compile but for the suffix */
	char **files; /* the files with device code, in their order; a wheel is listed once */
	size_t file_count;
	struct set order; /* the places of files, and of members, in the order in which they are read */
	size_t read;
	uint32_t lacks_code; /* a bit for each GPU on which a file fails that code for it would mend */
	uint32_t exclusive;  /* a bit for each GPU for which PTX is compiled that only it runs */
};

/* Adds a finding, whose texts the result owns. */
static int note_finding(struct jw_error *err, struct lint *lint,
						const struct jw_lint_finding *finding)
{
	struct jw_lint_result *result = lint->result;

	if (ARENA_ROOM(err, result, result->findings, lint->capacity, result->finding_count,
				   MAX_FINDINGS))
		return -1;
	result->findings[result->finding_count++] = *finding;
	return 0;
}

/* Adds a finding about the image that is being read. */
static int note_image(struct jw_error *err, struct lint *lint, const struct jw_scan_image *image,
					  struct jw_lint_finding finding, const char *why)
{
	finding.path = lint->files[lint->file_count - 1];
	finding.member = arena_string(lint->result, image->member);
	finding.why = arena_string(lint->result, why);
	return note_finding(err, lint, &finding);
}

/* Returns whether the image contains PTX for that GPU alone (compute_90a), whose features no plain
 * -gencode has. */
static bool has_exclusive(const struct jw_scan_image *image, struct jw_target gpu)
{
	gpu.suffix = 'a';
	for (size_t i = 0; i < image->ptx_count; i++)
		if (jw_target_equal(image->ptx[i].target, gpu))
			return true;
	return false;
}

static void lint_trouble(void *context, const char *path, const struct jw_error *why)
{
	struct lint *lint = context;
	struct jw_lint_result *result = lint->result;

	(void)path;
	arena_add_string(result, &result->troubles, &result->trouble_count, MAX_TROUBLES, why->message);
}

static int note_unsure(struct jw_error *err, struct lint *lint, const struct jw_scan_image *image,
					   const struct jw_scan_verdicts *verdicts)
{
	const struct jw_lint_finding finding = {.kind = JW_LINT_UNSURE, .target = verdicts->target};
	char why[JW_SCAN_UNKNOWN_TEXT];

	if (verdicts->tile)
		(void)text_format(why, sizeof why, "%s of Tile IR, compiled by the driver at first load",
						  TEXT_COUNT(verdicts->tile, "piece", "pieces"));
	else if (verdicts->unknown)
		(void)jw_scan_unknown_text(why, verdicts->unknown, verdicts->unknown_kind);
	else
		return 0;
	return note_image(err, lint, image, finding, why);
}

/* Notes the pieces of a library that runs without them: those that programs choose by the GPU, and
 * those that no driver reads. */
static int note_lacking(struct jw_error *err, struct lint *lint, const struct jw_scan_image *image,
						const struct jw_scan_verdicts *verdicts)
{
	struct jw_lint_finding finding = {.kind = JW_LINT_LACKS, .target = verdicts->target};
	char text[JW_SCAN_UNKNOWN_TEXT];

	if (!verdicts->runs || !verdicts->lacking)
		return 0;
	if (verdicts->cannot_damaged) {
		finding.level = JW_LINT_WARNING;
		TEXT_COPY(text,
				  TEXT_COUNT(verdicts->cannot_damaged, "piece is damaged", "pieces are damaged"));
	} else if (verdicts->cannot_early) {
		finding.level = JW_LINT_WARNING;
		(void)jw_scan_early_text(text, verdicts->cannot_early);
	} else if (verdicts->cannot_too_new && !verdicts->needs.cuda && !verdicts->kind_needs.cuda) {
		finding.level = JW_LINT_WARNING;
		(void)text_format(text, sizeof text, "%s of a version that no known driver reads",
						  TEXT_COUNT(verdicts->cannot_too_new, "piece", "pieces"));
	} else {
		(void)jw_scan_lacking_text(text, verdicts->lacking, verdicts->pieces, verdicts->target);
	}
	return note_image(err, lint, image, finding, text);
}

static uint64_t place_key(const char *path, const char *member)
{
	const uint64_t key = fnv_update(FNV_START, path, strlen(path) + 1);

	return member ? fnv_update(key, member, strlen(member) + 1) : key;
}

static void note_place(struct lint *lint, const char *path, const char *member)
{
	const uint64_t key = place_key(path, member);

	if (!set_has(&lint->order, key))
		set_put(&lint->order, key, lint->read++);
}

struct placed {
	size_t place, gpu, at;
	struct jw_lint_finding finding;
};

/* For qsort: by file, then in the order of the GPUs. */
static int order_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Brings all findings about a file together, whichever step has found them. */
static void order_findings(const struct lint *lint)
{
	struct jw_lint_result *result = lint->result;
	struct placed *placed = mem_array(result->finding_count + 1, sizeof *placed);

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct jw_lint_finding *finding = &result->findings[i];
		size_t cursor = 0, gpu = 0;

		while (gpu < result->gpu_count &&
			   !jw_target_equal(result->gpus[gpu].total.target, finding->target))
			gpu++;
		placed[i] = (struct placed){
			set_find(&lint->order, place_key(finding->path, finding->member), &cursor), gpu, i,
			*finding};
	}
	qsort(placed, result->finding_count, sizeof *placed, order_placed);
	for (size_t i = 0; i < result->finding_count; i++)
		result->findings[i] = placed[i].finding;
	mem_free(placed);
}

static bool lint_except(void *context, const char *path, const char *member)
{
	struct lint *lint = context;

	return lint_claims_except(lint->claims, path, member);
}

static int lint_image(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	struct lint *lint = context;
	const size_t count = lint->file_count;
	struct jw_error why;

	if (!count || strcmp(lint->files[count - 1], image->path) != 0)
		arena_add_string(lint->result, &lint->files, &lint->file_count, MAX_FINDINGS, image->path);
	note_place(lint, image->path, NULL);
	if (image->member)
		note_place(lint, image->path, image->member);
	lint->result->images++;
	lint->result->kernels |= image->empty < image->containers || image->damaged;
	lint->result->damaged += image->damaged;
	if (image->damaged) {
		error_set(&why, JW_ERR_FORMAT, "%s%s%s: damaged device code", image->path,
				  image->member ? ": " : "", image->member ? image->member : "");
		lint_trouble(lint, image->path, &why);
	}
	lint_claims_take(lint->claims, image);
	for (size_t i = 0; i < image->verdict_count; i++) {
		const struct jw_scan_verdicts *verdicts = &image->verdicts[i];
		const struct jw_lint_finding finding = {
			.kind = JW_LINT_COMPILES, .target = verdicts->target, .work = verdicts->first_start};

		lint->neighbour_bytes[i] += lint_neighbour_bytes(
			image, (struct jw_arch){verdicts->target, false},
			verdicts->jit + verdicts->link + verdicts->nothing + verdicts->cannot);
		if (note_unsure(err, lint, image, verdicts) || note_lacking(err, lint, image, verdicts))
			return -1;
		if (!finding.work.modules)
			continue;
		if (note_image(err, lint, image, finding, NULL))
			return -1;
		lint->exclusive |= (uint32_t)has_exclusive(image, finding.target) << i;
	}
	return 0;
}

/* Takes what scan says of each GPU, and of the files that fail or lack something. */
static int take_scanned(struct jw_error *err, struct lint *lint,
						const struct jw_scan_result *scanned)
{
	struct jw_lint_result *result = lint->result;

	for (size_t i = 0; i < scanned->total_count; i++) {
		struct jw_lint_gpu *gpu = &result->gpus[result->gpu_count++];
		const struct jw_forecast *forecast = &scanned->totals[i].forecast;

		/* One of two wheels may run as it is; links are a part of the modules that compile. */
		gpu->total = scanned->totals[i];
		gpu->start.low = gpu->total.at_most ? 0 : forecast->start.low + forecast->link.low;
		gpu->start.likely = forecast->start.likely + forecast->link.likely;
		gpu->start.high = forecast->start.high + forecast->link.high;
	}
	for (size_t i = 0; i < scanned->fate_count; i++) {
		const struct jw_scan_fate *fate = &scanned->fates[i];
		const bool fails = fate->part == JW_SCAN_FAILS;
		const struct jw_lint_finding finding = {
			.kind = fails ? JW_LINT_FAILS : JW_LINT_LACKS,
			.level = fate->part == JW_SCAN_WITHOUT ? JW_LINT_WARNING : JW_LINT_NOTE,
			.target = fate->target,
			.path = fate->path,
			.member = fate->member,
			.why = fate->why,
			.cause = fate->cause,
			.driver_alone = fate->driver_alone};

		if (note_finding(err, lint, &finding))
			return -1;
		result->kernels |= fails;
		for (size_t k = 0; fails && k < result->gpu_count; k++)
			if (jw_target_equal(result->gpus[k].total.target, fate->target)) {
				lint->lacks_code |= (uint32_t)fate->lacks_code << k;
				if (fate->exclusive.sm)
					lint->plain[k] = fate->exclusive;
			}
	}
	return 0;
}

static struct jw_lint_gpu *linted_gpu(const struct jw_lint_result *result, struct jw_target target)
{
	for (size_t i = 0; i < result->gpu_count; i++)
		if (jw_target_equal(result->gpus[i].total.target, target))
			return &result->gpus[i];
	return NULL;
}

/* Returns whether a file fails without code for the GPU, or a user notices that it is missing. */
static bool wants_code(const struct lint *lint, size_t at)
{
	const struct jw_lint_gpu *gpu = &lint->result->gpus[at];

	return lint->lacks_code >> at & 1 ||
		   (gpu->total.modules &&
			(gpu->level == JW_LINT_ERROR || gpu->start.likely > JW_WHICH_NEGLIGIBLE_S));
}

/* Advises code for the oldest requested GPU that lacks code and whose code this one also runs, so
 * that one more -gencode serves them all. */
static void advise_code(const struct lint *lint, size_t at)
{
	struct jw_lint_result *result = lint->result;
	struct jw_lint_gpu *gpu = &result->gpus[at];
	struct jw_lint_code *code = result->codes;
	const uint64_t entries = gpu->total.forecast.cache_bytes;
	uint64_t bytes;

	if (!wants_code(lint, at) || !result->kernels)
		return;
	gpu->code = gpu->total.target;
	if (lint->exclusive >> at & 1)
		gpu->code.suffix = 'a';
	for (size_t i = 0; !gpu->code.suffix && i < result->gpu_count; i++) {
		const struct jw_target other = result->gpus[i].total.target;

		if (wants_code(lint, i) && other.sm < gpu->code.sm &&
			gpu_sass_fit(other, gpu->total.target) != GPU_FIT_NONE)
			gpu->code = other;
	}
	while (code < result->codes + result->code_count &&
		   (code->ptx || !jw_target_equal(code->target, gpu->code)))
		code++;
	if (code == result->codes + result->code_count)
		result->code_count++;
	code->target = gpu->code;
	code->cuda = gpu_first_compiler(gpu->code);
	code->last_cuda = gpu_last_compiler(gpu->code);
	code->measured = lint->neighbour_bytes[at] != 0;
	/* An entry is the PTX and the machine code that it becomes. */
	bytes = code->measured                   ? lint->neighbour_bytes[at]
			: entries > gpu->total.ptx_bytes ? entries - gpu->total.ptx_bytes
											 : 0;
	code->bytes = bytes > code->bytes ? bytes : code->bytes;
	if (gpu->start.likely > code->saves.likely)
		code->saves = gpu->start;
}

/* PTX without its suffix, which costs nothing and serves all newer GPUs. */
static void advise_plain(const struct lint *lint, size_t at)
{
	struct jw_lint_result *result = lint->result;
	const struct jw_target plain = lint->plain[at];

	if (!plain.sm)
		return;
	for (size_t i = 0; i < result->code_count; i++)
		if (result->codes[i].ptx && jw_target_equal(result->codes[i].target, plain))
			return;
	result->codes[result->code_count++] = (struct jw_lint_code){
		.target = plain,
		.ptx = true,
		.cuda = gpu_first_compiler((struct jw_target){plain.sm, 0}),
	};
}

/* Sets the level of each GPU and finding, and adds the advice. */
static void set_levels(const struct lint *lint)
{
	const struct jw_lint_options *options = lint->options;
	struct jw_lint_result *result = lint->result;

	for (size_t i = 0; i < result->gpu_count; i++) {
		struct jw_lint_gpu *gpu = &result->gpus[i];
		const bool unsure = gpu->total.tile || gpu->total.unknown;

		if (gpu->total.fate.failing ||
			(options->bounded && (unsure || gpu->start.likely > options->most_start_s)))
			gpu->level = JW_LINT_ERROR;
		else if (!options->bounded && result->kernels && (gpu->total.modules || unsure))
			gpu->level = JW_LINT_WARNING;
	}
	for (size_t i = 0; i < result->gpu_count; i++)
		advise_plain(lint, i);
	for (size_t i = 0; i < result->gpu_count; i++)
		advise_code(lint, i);
	for (size_t i = 0; i < result->finding_count; i++) {
		struct jw_lint_finding *finding = &result->findings[i];
		struct jw_lint_gpu *gpu = linted_gpu(result, finding->target);

		if (gpu && finding->kind != JW_LINT_LACKS)
			finding->level = gpu->level;
		else if (gpu)
			gpu->lacking++, gpu->parts += finding->level == JW_LINT_WARNING;
	}
}

/* Returns the wheel's worst effect on a GPU; false if it has none. */
static bool worst_of_wheel(const struct jw_lint_result *result, const char *path,
						   struct jw_target target, enum jw_lint_kind *ret_kind)
{
	double seconds = 0;
	bool fails = false, lacks = false;

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct jw_lint_finding *finding = &result->findings[i];

		if (!jw_target_equal(finding->target, target) || strcmp(finding->path, path) != 0)
			continue;
		fails = fails || finding->kind == JW_LINT_FAILS;
		lacks = lacks || (finding->kind == JW_LINT_LACKS && finding->level == JW_LINT_WARNING);
		seconds += finding->work.start.likely;
	}
	*ret_kind = fails ? JW_LINT_FAILS : lacks ? JW_LINT_LACKS : JW_LINT_COMPILES;
	return fails || lacks || seconds > JW_WHICH_NEGLIGIBLE_S;
}

/* Returns whether the wheel does worse than a release: one of which some variant, or optional part,
 * has modules to compile did no better than a wheel with such modules. */
static bool is_worse(enum jw_lint_kind kind, const struct jw_which_release *release)
{
	if (kind == JW_LINT_COMPILES)
		return release->answer == JW_WHICH_RUNS && release->whole.likely <= JW_WHICH_NEGLIGIBLE_S;
	return release->answer <= JW_WHICH_COMPILES && (kind == JW_LINT_FAILS || !release->without);
}

/* Compares each wheel with the release before it. */
static void compare_with_before(const struct lint *lint)
{
	const struct jw_lint_options *options = lint->options;
	struct jw_lint_result *result = lint->result;
	size_t capacity = 0;

	for (size_t i = 0; i < result->gpu_count; i++)
		for (size_t k = 0; k < lint->file_count; k++) {
			const struct jw_target target = result->gpus[i].total.target;
			const struct jw_which_release *release;
			struct jw_which *which;
			enum jw_lint_kind kind;

			if (!worst_of_wheel(result, lint->files[k], target, &kind) ||
				!(which = jw_which_before(lint->files[k], target, &options->driver, &options->speed,
										  &release)))
				continue;
			if (!is_worse(kind, release)) {
				jw_result_free(which);
				continue;
			}
			arena_join(result, which);
			(void)ARENA_ROOM(NULL, result, result->before, capacity, result->before_count,
							 SIZE_MAX);
			result->before[result->before_count++] = (struct jw_lint_before){
				arena_string(result, lint->files[k]), target, kind, *release};
		}
}

int jw_lint(struct jw_error *err, const struct jw_lint_options *options,
			struct jw_lint_result **ret_result)
{
	const size_t count = options->target_count;
	struct lint lint = {.options = options};
	const struct jw_scan_options scan = {
		.paths = options->paths,
		.path_count = options->path_count,
		.found = options->found,
		.targets = options->targets,
		.target_count = count,
		.driver = options->driver,
		.speed = options->speed,
		.required = options->required,
		.state_dir = options->state_dir,
		.cancel = options->cancel,
		.kernels = lint_claims_needs_pieces(options),
		.context = &lint,
		.except = lint_except,
		.image = lint_image,
		.trouble = lint_trouble,
	};
	struct jw_scan_result *scanned = NULL;
	int result;

	if (!count)
		return error_set(err, JW_ERR_USAGE, "no GPU is named");
	lint.result = arena_open(sizeof *lint.result);
	lint.result->gpus = arena_alloc(lint.result, count * sizeof *lint.result->gpus);
	lint.result->codes = arena_alloc(lint.result, 2 * count * sizeof *lint.result->codes);
	lint.neighbour_bytes = arena_array(lint.result, count, sizeof *lint.neighbour_bytes);
	lint.plain = arena_array(lint.result, count, sizeof *lint.plain);
	lint.claims = lint_claims_open(options, lint.result);
	result = jw_scan(err, &scan, &scanned);
	lint_claims_close(lint.claims);
	if (!result) {
		arena_join(lint.result, scanned);
		result = take_scanned(err, &lint, scanned);
	}
	if (!result) {
		order_findings(&lint);
		set_levels(&lint);
		compare_with_before(&lint);
		*ret_result = lint.result;
		lint.result = NULL;
	}
	set_free(&lint.order);
	jw_result_free(lint.result);
	return result;
}
