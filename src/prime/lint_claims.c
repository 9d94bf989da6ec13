#include "prime/lint_claims.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "code/devcode.h"
#include "code/kernel_names.h"
#include "code/release.h"
#include "os/file.h"
#include "plan/plan.h"

enum { MAX_WHY = 512 };

/* A library, or loose files that are variants of each other. */
struct subject {
	char *path, *member;
	uint64_t variants; /* the loose files' hash of variants; 0 for a library */
	size_t pieces;
	bool newer; /* PTX that any newer GPU can compile */
	struct jw_arch_list list;
	size_t listed;              /* the first ones of `list`, which --arch-list names; the label
								   names the others */
	struct jw_lint_label label; /* its text is "" without one */
	uint32_t cuda;              /* the newest CUDA version of its code; 0 if unknown */
	uint32_t shared_runtime;    /* the CUDA version of its shared runtime; 0 if there is none */
	struct wanted {
		size_t having;
		size_t exempt; /* the number of pieces that need not have it */
		uint64_t size_bytes;
		char kernels[KERNELS_TEXT]; /* names of kernels in pieces that lack it */
	} * wanted;                     /* one for each architecture of `list` */
};

struct lint_claims {
	const struct jw_lint_options *options;
	struct jw_lint_result *result; /* which owns all texts */
	struct subject *subjects;
	size_t count, capacity;
	struct jw_lint_claim *exempt;
	size_t exempt_count, exempt_capacity, claim_capacity;
};

/* Reads cu129, cu12.9, cuda12, sm90a, or the 90 of sm_90. False if the word is none of these. */
static bool read_label_word(const char *word, const char *before, struct jw_lint_label *label)
{
	const char *number = text_starts(word, "sm") ? word + 2 : !strcmp(before, "sm") ? word : NULL;
	uint64_t major, minor = 0;
	struct jw_target target;
	char digits[8];
	size_t length;

	if (number && text_is_digit(*number) && !strchr(number, '.') &&
		jw_target_parse(number, &target) && label->arch.count < JW_ARCH_MAX) {
		label->arch.items[label->arch.count++] = (struct jw_arch){target, false};
		return true;
	}
	if (!text_starts(word, "cu"))
		return false;
	TEXT_COPY(digits, word + (text_starts(word, "cuda") ? 4 : 2));
	length = strcspn(digits, ".");
	if (digits[length]) {
		digits[length] = '\0';
		if (!text_number(digits + length + 1, 99, &minor))
			return false;
		length = 3;
	} else if (length == 3) {
		minor = (uint64_t)(digits[2] - '0');
		digits[2] = '\0';
	}
	if (minor > 99 || !text_number(digits, 99, &major) || !major)
		return false;
	label->cuda_from = (uint32_t)(major * 1000 + minor * 10);
	label->cuda_to = length == 3 ? label->cuda_from : (uint32_t)(major * 1000 + 990);
	return true;
}

bool jw_lint_label(const char *path, struct jw_lint_label *ret_label)
{
	struct jw_lint_label label = {.cuda_to = 0};
	struct wheel_name name;
	char words[sizeof label.text];
	const char *before = "";
	bool means = false;

	if (!wheel_name_read(os_base_name(path), &name) || !name.label.text)
		return false;
	(void)wheel_part_text(label.text, sizeof label.text, name.label);
	TEXT_COPY(words, label.text);
	for (char *word = words, *end; word; word = end) {
		end = strchr(word, '_');
		if (end)
			*end++ = '\0';
		means = read_label_word(word, before, &label) || means;
		before = word;
	}
	if (means)
		*ret_label = label;
	return means;
}

bool lint_claims_needs_pieces(const struct jw_lint_options *options)
{
	struct jw_lint_label label;

	for (size_t i = 0; i < options->path_count; i++)
		if (jw_lint_label(options->paths[i], &label))
			return true;
	return options->arch.count;
}

struct lint_claims *lint_claims_open(const struct jw_lint_options *options,
									 struct jw_lint_result *result)
{
	struct lint_claims *claims = mem_alloc(sizeof *claims);

	claims->options = options;
	claims->result = result;
	return claims;
}

static unsigned sm_distance(struct jw_target a, struct jw_target b)
{
	return a.sm > b.sm ? a.sm - b.sm : b.sm - a.sm;
}

uint64_t lint_neighbour_bytes(const struct jw_scan_image *image, struct jw_arch arch, size_t pieces)
{
	const struct jw_scan_count *counts = arch.ptx ? image->ptx : image->cubins, *nearest = NULL;
	const size_t count = arch.ptx ? image->ptx_count : image->cubin_count;
	unsigned least = 0;
	size_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = counts[i].entries > most ? counts[i].entries : most;
	/* If only few pieces are built for an architecture, their sizes say little. */
	for (size_t i = 0; i < count; i++) {
		const unsigned far = sm_distance(counts[i].target, arch.target);

		if (!counts[i].entries || counts[i].entries * 2 < most || (nearest && far >= least))
			continue;
		nearest = &counts[i];
		least = far;
	}
	return nearest ? nearest->stored_bytes / nearest->entries * pieces : 0;
}

/* Returns whether the pattern fits the whole path, the member's path, or the name of either. */
static bool is_except(const char *path, const char *member, const char *pattern)
{
	const char *name = member ? member : path;

	return text_fits(path, pattern) || text_fits(os_base_name(path), pattern) ||
		   text_fits(name, pattern) || text_fits(os_base_name(name), pattern);
}

static bool has_arch(const struct jw_piece *piece, struct jw_arch arch)
{
	for (size_t i = 0; i < piece->entry_count; i++) {
		const struct jw_piece_entry *entry = &piece->entries[i];
		const bool ptx = devcode_kind_is_ptx(entry->kind);

		if (!entry->damaged && (ptx || entry->kind == DEVCODE_KIND_CUBIN) && ptx == arch.ptx &&
			jw_target_equal(ptx && entry->text.sm ? entry->text : entry->target, arch.target))
			return true;
	}
	return false;
}

static bool has_newer(const struct jw_piece *piece)
{
	for (size_t i = 0; i < piece->entry_count; i++) {
		const struct jw_piece_entry *entry = &piece->entries[i];

		if (!entry->damaged && devcode_kind_is_ptx(entry->kind) && !entry->target.suffix &&
			!entry->text.suffix)
			return true;
	}
	return false;
}

/* Returns whether a piece has code other than LTO-IR, of which the linker of the build leaves
 * nothing but copies. */
static bool has_code(const struct jw_piece *piece)
{
	for (size_t i = 0; !piece->empty && i < piece->entry_count; i++)
		if (piece->entries[i].kind != DEVCODE_KIND_LTOIR)
			return true;
	return false;
}

static void add_label_arch(struct jw_arch_list *list, struct jw_arch arch)
{
	for (size_t i = 0; i < list->count; i++)
		if (jw_target_equal(list->items[i].target, arch.target) && list->items[i].ptx == arch.ptx)
			return;
	if (list->count < JW_ARCH_MAX)
		list->items[list->count++] = arch;
}

/* Returns the newest CUDA version whose compiler has made code of the piece; 0 if unknown. */
static uint32_t newest_cuda(const struct jw_piece *piece)
{
	uint32_t newest = 0;

	for (size_t i = 0; i < piece->entry_count; i++) {
		const struct jw_piece_entry *entry = &piece->entries[i];
		const struct gpu_isa isa = {entry->isa_major, entry->isa_minor};
		const uint32_t cuda = entry->damaged                     ? 0
							  : devcode_kind_is_ptx(entry->kind) ? gpu_isa_driver(isa).cuda
																 : entry->toolkit;

		newest = cuda > newest ? cuda : newest;
	}
	return newest;
}

static struct subject *subject_of(struct lint_claims *claims, const struct jw_scan_image *image)
{
	const uint64_t variants = image->library ? 0 : fate_variants(image->path, image->member);
	struct subject *subject;

	for (size_t i = 0; variants && i < claims->count; i++)
		if (claims->subjects[i].variants == variants)
			return &claims->subjects[i];
	VEC_GROW(claims->subjects, claims->capacity, claims->count);
	subject = &claims->subjects[claims->count++];
	*subject = (struct subject){
		.path = arena_string(claims->result, image->path),
		.member = arena_string(claims->result, image->member),
		.variants = variants,
		.list = claims->options->arch,
		.listed = claims->options->arch.count,
	};
	if (jw_lint_label(image->path, &subject->label))
		for (size_t i = 0; i < subject->label.arch.count; i++)
			add_label_arch(&subject->list, subject->label.arch.items[i]);
	subject->wanted =
		arena_alloc(claims->result, (subject->list.count + 1) * sizeof *subject->wanted);
	return subject;
}

bool lint_claims_except(struct lint_claims *claims, const char *path, const char *member)
{
	const struct jw_lint_claim *last =
		claims->exempt_count ? &claims->exempt[claims->exempt_count - 1] : NULL;
	size_t at = 0;

	while (at < claims->options->except_count &&
		   !is_except(path, member, claims->options->except[at]))
		at++;
	if (at == claims->options->except_count)
		return false;
	if (last && !strcmp(last->path, path) && text_same(last->member, member))
		return true;
	VEC_GROW(claims->exempt, claims->exempt_capacity, claims->exempt_count);
	claims->exempt[claims->exempt_count++] = (struct jw_lint_claim){
		.kind = JW_LINT_EXEMPT,
		.path = arena_string(claims->result, path),
		.member = arena_string(claims->result, member),
		.why = arena_printf(claims->result, "exempt by --except %s", claims->options->except[at]),
	};
	return true;
}

void lint_claims_take(struct lint_claims *claims, const struct jw_scan_image *image)
{
	const struct jw_arch_list *list = NULL;
	struct subject *subject = NULL;

	if (!lint_claims_needs_pieces(claims->options))
		return;
	for (size_t i = 0; i < image->piece_count; i++) {
		const struct jw_piece *piece = &image->pieces[i];

		if (!has_code(piece))
			continue;
		if (!subject)
			subject = subject_of(claims, image);
		list = &subject->list;
		subject->cuda = newest_cuda(piece) > subject->cuda ? newest_cuda(piece) : subject->cuda;
		subject->pieces += piece->containers;
		subject->newer = subject->newer || has_newer(piece);
		for (size_t k = 0; k < list->count; k++) {
			struct wanted *wanted = &subject->wanted[k];

			if (has_arch(piece, list->items[k]))
				wanted->having += piece->containers;
			else if (list->items[k].ptx && piece->linked)
				wanted->exempt += piece->containers; /* nvlink makes only machine code */
			else if (piece->kernels)
				kernels_join(wanted->kernels, piece->kernels);
		}
	}
	if (subject && image->runtime_shared)
		subject->shared_runtime = image->runtime_cuda;
	for (size_t k = 0; subject && k < list->count; k++) {
		struct wanted *wanted = &subject->wanted[k];

		wanted->size_bytes = lint_neighbour_bytes(
			image, list->items[k], subject->pieces - wanted->having - wanted->exempt);
	}
}

static void add_claim(struct lint_claims *claims, struct jw_lint_claim claim,
					  const struct subject *subject, const char *why)
{
	struct jw_lint_result *result = claims->result;

	claim.path = subject->path;
	claim.member = subject->member;
	claim.label = arena_string(result, claim.label);
	claim.pieces = subject->pieces;
	claim.why = arena_string(result, why);
	(void)ARENA_ROOM(NULL, result, result->claims, claims->claim_capacity, result->claim_count,
					 SIZE_MAX);
	result->claims[result->claim_count++] = claim;
}

static void write_missing(char why[MAX_WHY], const struct jw_lint_claim *claim,
						  const struct subject *subject, const struct wanted *wanted)
{
	char name[JW_TARGET_TEXT], compute[JW_TARGET_TEXT], size[TEXT_SHORT];

	(void)jw_arch_name(name, claim->arch);
	*why = '\0';
	if (claim->label)
		(void)text_format(why, MAX_WHY, "the wheel's label is “%s”, but ", claim->label);
	if (claim->kind == JW_LINT_MISSING)
		text_append(why, MAX_WHY,
					subject->pieces == 1 ? "it lacks %s"
										 : "it lacks %s: none of its %zu pieces has it",
					name, subject->pieces);
	else
		text_append(why, MAX_WHY, claim->lacking == 1 ? "%zu of %s lacks %s" : "%zu of %s lack %s",
					claim->lacking, TEXT_COUNT(subject->pieces, "piece", "pieces"), name);
	if (claim->kind == JW_LINT_SOME && *wanted->kernels)
		text_append(why, MAX_WHY, " (kernels: %s)", wanted->kernels);
	text_append(why, MAX_WHY, "; build it with -gencode arch=%s,code=%s",
				jw_target_compute(compute, claim->arch.target), name);
	if (claim->size_bytes)
		text_append(why, MAX_WHY, ", which adds about %s", text_bytes(size, claim->size_bytes));
}

/* Compares the library's CUDA version with the label's: a newer compiler's code needs a newer
 * driver, and a shared runtime has to be installed beside the wheel. */
static void judge_cuda(struct lint_claims *claims, struct subject *subject)
{
	struct jw_lint_label *label = &subject->label;
	const struct jw_lint_claim claim = {
		.kind = JW_LINT_CUDA, .level = JW_LINT_ERROR, .label = label->text};
	const uint32_t major = label->cuda_to / 1000, runtime = subject->shared_runtime / 1000;
	char why[MAX_WHY];

	if (runtime && major && runtime != major)
		(void)text_format(why, sizeof why,
						  "the wheel's label is “%s”, but it links the CUDA runtime %u, which is "
						  "not installed with CUDA %u; build it with CUDA %u, or change the label",
						  label->text, runtime, major, major);
	else if (label->cuda_to && subject->cuda > label->cuda_to)
		(void)text_format(why, sizeof why,
						  "the wheel's label is “%s”, but CUDA %u.%u compiled it, so it may need "
						  "a newer driver; build it with CUDA %u.%u, or change the label",
						  label->text, subject->cuda / 1000, subject->cuda % 1000 / 10, major,
						  label->cuda_from % 1000 / 10);
	else
		return;
	add_claim(claims, claim, subject, why);
}

/* Compares a library's pieces with the architectures of its list and label, and adds the claims
 * that do not hold. */
static void judge_subject(struct lint_claims *claims, struct subject *subject)
{
	const struct jw_arch_list *list = &subject->list;
	struct jw_target newest = {0};
	char why[MAX_WHY], sm[JW_TARGET_TEXT];

	for (size_t k = 0; k < list->count; k++) {
		const struct wanted *wanted = &subject->wanted[k];
		const struct jw_lint_claim claim = {
			.kind = wanted->having ? JW_LINT_SOME : JW_LINT_MISSING,
			.level = JW_LINT_ERROR,
			.label = k < subject->listed ? NULL : subject->label.text,
			.arch = list->items[k],
			.lacking = subject->pieces - wanted->having - wanted->exempt,
			.size_bytes = wanted->size_bytes,
		};

		if (k < subject->listed && list->items[k].target.sm > newest.sm)
			newest = (struct jw_target){list->items[k].target.sm, 0};
		/* Variants have one architecture each. */
		if (!claim.lacking || (wanted->having && (!claims->options->each || subject->variants)))
			continue;
		write_missing(why, &claim, subject, wanted);
		add_claim(claims, claim, subject, why);
	}
	judge_cuda(claims, subject);
	if (subject->newer || !subject->listed)
		return;
	(void)text_format(why, sizeof why,
					  "GPUs newer than %s have no code in it: it has no PTX that they can compile",
					  jw_target_sm(sm, newest));
	add_claim(claims, (struct jw_lint_claim){.kind = JW_LINT_NO_NEWER, .level = JW_LINT_WARNING},
			  subject, why);
}

void lint_claims_close(struct lint_claims *claims)
{
	struct jw_lint_result *result = claims->result;

	for (size_t i = 0; i < claims->count; i++) {
		struct subject *subject = &claims->subjects[i];

		result->compared += subject->listed > 0;
		result->labelled += *subject->label.text != '\0';
		judge_subject(claims, subject);
	}
	for (size_t i = 0; i < claims->exempt_count; i++) {
		(void)ARENA_ROOM(NULL, result, result->claims, claims->claim_capacity, result->claim_count,
						 SIZE_MAX);
		result->claims[result->claim_count++] = claims->exempt[i];
	}
	mem_free(claims->exempt);
	mem_free(claims->subjects);
	mem_free(claims);
}
