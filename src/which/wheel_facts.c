#include "which/wheel_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/text.h"
#include "code/devcode.h"
#include "find/requirement.h"

enum { MAX_FACTS = 16 << 20, MAX_LIBRARIES = 1 << 14, CUDA_12 = 12000, CUDA_12_2 = 12020 };

/* ---- a scan's pieces as lines */

/* The words of an entry before and after its work, which is added up over several pieces. */
struct entry_words {
	char *before, *after;
	size_t modules;
	uint64_t cost_ms, ptx_bytes;
};

struct piece_words {
	char role[32];
	size_t containers, count;
	struct entry_words *entries;
};

static char *target_word(void *owner, const struct jw_piece_entry *entry)
{
	char name[JW_TARGET_TEXT] = "sm_0";
	const bool ptx = devcode_kind_is_ptx(entry->kind);

	if (ptx)
		(void)jw_target_compute(name, entry->target);
	else if (entry->target.sm)
		(void)jw_target_sm(name, entry->target);
	return entry->kind == DEVCODE_KIND_PTX || entry->kind == DEVCODE_KIND_CUBIN
			   ? arena_string(owner, name)
			   : arena_printf(owner, "kind%u:%s", entry->kind, name);
}

/* Returns the first CUDA version whose drivers load machine code: those of CUDA 11 load the code of
 * 12.0 and 12.1. */
static uint32_t first_cuda(const struct jw_piece_entry *entry, uint32_t compiler)
{
	const uint32_t toolkit = entry->toolkit ? entry->toolkit : compiler;

	if (entry->isa_major == 1 && entry->isa_minor == 7 && toolkit >= CUDA_12_2 && toolkit < 13000)
		return entry->cuda > CUDA_12 ? entry->cuda : CUDA_12;
	return entry->cuda == CUDA_12 ? 0 : entry->cuda;
}

static struct entry_words entry_words(void *owner, const struct jw_piece_entry *entry,
									  uint32_t compiler)
{
	struct buf before = BUF_MAX(128);
	char name[JW_TARGET_TEXT];
	const uint32_t first = entry->kind == DEVCODE_KIND_CUBIN ? first_cuda(entry, compiler) : 0;
	struct entry_words words;

	(void)buf_printf(NULL, &before, "%s", target_word(owner, entry));
	if (devcode_kind_is_ptx(entry->kind) && entry->text.sm &&
		!jw_target_equal(entry->text, entry->target))
		(void)buf_printf(NULL, &before, "=%s",
						 jw_target_compute(name, entry->text) + strlen("compute_"));
	if (devcode_kind_is_ptx(entry->kind))
		(void)buf_printf(NULL, &before, "@%u.%u", entry->isa_major, entry->isa_minor);
	if (first)
		(void)buf_printf(NULL, &before, "#%u", first);
	words = (struct entry_words){.before = arena_string(owner, buf_text(&before)),
								 .after = arena_printf(owner, "%s%s%s", entry->zstd ? "z" : "",
													   entry->relocatable ? "r" : "",
													   entry->damaged ? "d" : "")};
	buf_free(&before);
	return words;
}

static int order_pieces(const void *a, const void *b)
{
	const struct piece_words *left = a, *right = b;
	int order = strcmp(left->role, right->role);

	for (size_t i = 0; !order && i < left->count && i < right->count; i++) {
		order = strcmp(left->entries[i].before, right->entries[i].before);
		order = order ? order : strcmp(left->entries[i].after, right->entries[i].after);
	}
	return order ? order : (left->count > right->count) - (left->count < right->count);
}

static struct piece_words piece_words(void *owner, const struct jw_piece *piece, uint32_t compiler)
{
	static const char *const roles[] = {[DEVCODE_REGISTERED] = "registered",
										[DEVCODE_RELOCATABLE] = "relocatable",
										[DEVCODE_LOOSE] = "loose"};
	struct piece_words words = {.containers = piece->containers,
								.count = piece->entry_count,
								.entries =
									arena_array(owner, piece->entry_count, sizeof *words.entries)};

	(void)snprintf(words.role, sizeof words.role, "%s%s%s", roles[piece->role],
				   piece->linked ? "-linked" : "",
				   piece->empty    ? "-empty"
				   : piece->edited ? "-edited"
								   : "");
	for (size_t i = 0; i < piece->entry_count; i++) {
		const struct jw_piece_entry *entry = &piece->entries[i];

		words.entries[i] = entry_words(owner, entry, compiler);
		words.entries[i].modules = entry->modules;
		/* as “scan --json” rounds seconds */
		words.entries[i].cost_ms = (uint64_t)(entry->cost_ms + 0.5);
		words.entries[i].ptx_bytes = entry->ptx_bytes;
	}
	return words;
}

static void add_piece(struct piece_words *sum, const struct piece_words *piece)
{
	sum->containers += piece->containers;
	for (size_t i = 0; i < sum->count; i++) {
		sum->entries[i].modules += piece->entries[i].modules;
		sum->entries[i].cost_ms += piece->entries[i].cost_ms;
		sum->entries[i].ptx_bytes += piece->entries[i].ptx_bytes;
	}
}

static int print_piece(struct jw_error *err, struct buf *lines, const struct piece_words *piece)
{
	int result = buf_printf(err, lines, "piece %zu %s", piece->containers, piece->role);

	for (size_t i = 0; !result && i < piece->count; i++) {
		const struct entry_words *words = &piece->entries[i];

		result = buf_printf(err, lines, " %s", words->before);
		if (!result && words->modules)
			result = buf_printf(err, lines, "+%zu:%llu.%03llu:%llu", words->modules,
								(unsigned long long)(words->cost_ms / 1000),
								(unsigned long long)(words->cost_ms % 1000),
								(unsigned long long)words->ptx_bytes);
		result = result || buf_printf(err, lines, "%s", words->after) ? -1 : 0;
	}
	return result || buf_printf(err, lines, "\n") ? -1 : 0;
}

/* Returns the newest compiler of its machine code. */
static uint32_t compiler_of(const struct jw_scan_image *image)
{
	uint32_t compiler = 0;

	for (size_t i = 0; i < image->piece_count; i++)
		for (size_t k = 0; k < image->pieces[i].entry_count; k++) {
			const struct jw_piece_entry *entry = &image->pieces[i].entries[k];

			if (entry->kind == DEVCODE_KIND_CUBIN && entry->toolkit > compiler)
				compiler = entry->toolkit;
		}
	return compiler;
}

int wheel_facts_add(struct jw_error *err, struct wheel_facts *facts,
					const struct jw_scan_image *image)
{
	const uint32_t compiler = compiler_of(image);
	const char *member = image->member ? image->member : "";
	uint32_t runtime = image->runtime_cuda ? image->runtime_cuda : compiler;
	struct piece_words *pieces = arena_open((image->piece_count + 1) * sizeof *pieces);
	struct wheel_facts_library added = {.lines = BUF_MAX(MAX_FACTS)};
	const struct package_fact *library;
	int result;

	/* The name of a shared runtime has only the major version. */
	if (compiler / 1000 == runtime / 1000 && compiler > runtime)
		runtime = compiler;
	for (size_t i = 0; i < image->piece_count; i++)
		pieces[i] = piece_words(pieces, &image->pieces[i], compiler);
	if (image->piece_count)
		qsort(pieces, image->piece_count, sizeof *pieces, order_pieces);
	result = strpbrk(member, "\n\r")
				 ? error_set(err, JW_ERR_FORMAT, "the name of a member has a line break")
				 : buf_printf(err, &added.lines, "library %s %s%u %s\n",
							  image->library ? "library" : "file", image->runtime_shared ? "" : "~",
							  runtime, member);
	for (size_t at = 0; !result && (library = package_fact_next("library", &at));)
		if (image->needs & package_fact_bit("library", library->name))
			result = buf_printf(err, &added.lines, "needs %s\n", library->name);
	for (size_t i = 0, next; !result && i < image->piece_count; i = next) {
		for (next = i + 1; next < image->piece_count && !order_pieces(&pieces[i], &pieces[next]);
			 next++)
			add_piece(&pieces[i], &pieces[next]);
		result = print_piece(err, &added.lines, &pieces[i]);
	}
	jw_result_free(pieces);
	if (!result)
		result = VEC_ROOM(err, facts->items, facts->capacity, facts->count, MAX_LIBRARIES);
	if (result) {
		buf_free(&added.lines);
		return -1;
	}
	added.name = mem_string(member);
	facts->items[facts->count++] = added;
	return 0;
}

void wheel_facts_free(struct wheel_facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		mem_free(facts->items[i].name);
		buf_free(&facts->items[i].lines);
	}
	mem_free(facts->items);
	*facts = (struct wheel_facts){.items = NULL};
}

/* ---- the packages that a wheel requires */

static bool list_has(const char *list, const char *package)
{
	char *line = mem_printf("\npackage %s\n", package);
	const bool has = strstr(list, line) != NULL;

	mem_free(line);
	return has;
}

static int order_libraries(const void *a, const void *b)
{
	return strcmp(((const struct wheel_facts_library *)a)->name,
				  ((const struct wheel_facts_library *)b)->name);
}

int wheel_facts_requires(struct jw_error *err, const char *package, char *const *required,
						 size_t required_count, const char *list, struct buf *lines)
{
	int result = 0;

	for (size_t i = 0; !result && i < required_count; i++) {
		struct required is;

		if (required_read(required[i], &is) && strcmp(is.is.name, package) != 0 &&
			(!list || list_has(list, is.is.name)))
			result = buf_printf(err, lines, "requires %s\n", required[i]);
	}
	return result;
}

int wheel_facts_text(struct jw_error *err, struct wheel_facts *facts, const char *package,
					 char *const *required, size_t required_count, const char *list,
					 char **ret_text)
{
	struct buf text = BUF_MAX(MAX_FACTS);
	int result = wheel_facts_requires(err, package, required, required_count,
									  facts->count ? list : NULL, &text);

	if (facts->count)
		qsort(facts->items, facts->count, sizeof *facts->items, order_libraries);
	for (size_t i = 0; !result && i < facts->count; i++)
		result = buf_append(err, &text, facts->items[i].lines.data, facts->items[i].lines.size);
	if (!result)
		*ret_text = mem_string(buf_text(&text));
	buf_free(&text);
	return result ? -1 : 0;
}

/* ---- lines of a list */

/* Returns whether the line belongs to the wheel above it. */
static bool is_fact(const char *line)
{
	return text_starts(line, "library ") || text_starts(line, "piece ") ||
		   text_starts(line, "requires ") || text_starts(line, "needs ");
}

static const char *next_line(const char *line)
{
	const char *end = line + strcspn(line, "\n");

	return end + (*end != 0);
}

char *wheel_facts_find(const char *list, const char *sha256)
{
	char *last = mem_printf(" %s\n", sha256);
	const char *at = *sha256 ? list : NULL, *line = NULL, *start, *end;

	/* A library's name may end with any word. */
	while (at && (at = strstr(at, last))) {
		for (line = at; line > list && line[-1] != '\n';)
			line--;
		if (text_starts(line, "wheel "))
			break;
		at++;
	}
	mem_free(last);
	if (!at)
		return NULL;
	start = end = next_line(at);
	while (is_fact(end))
		end = next_line(end);
	return mem_string_n(start, (size_t)(end - start));
}

/* Returns whether a library has code, behind its needs. */
static bool has_piece(const char *library)
{
	const char *line = next_line(library);

	while (text_starts(line, "needs "))
		line = next_line(line);
	return text_starts(line, "piece ");
}

/* Returns the lines without parts in which similar releases may differ: requirements, libraries
 * without code, digits of the libraries' names, the numbers of pieces and modules. */
static char *likeness(const char *lines)
{
	char *text = mem_alloc(strlen(lines) + 1), *to = text;

	for (const char *line = lines, *end; *line; line = next_line(line)) {
		const bool library = text_starts(line, "library ");
		size_t words = 0;

		end = line + strcspn(line, "\n");
		/* A library without code only says which driver its runtime needs. */
		if (text_starts(line, "requires ") || (library && !has_piece(line)))
			continue;
		if (!library)
			line += strcspn(line, " ") + 1 + strspn(strchr(line, ' ') + 1, "0123456789");
		while (line < end) {
			const char letter = *line++;

			words += letter == ' ';
			if (letter == '+' && !library)
				line += strcspn(line, "zrd \n");
			else if (!library || words < 3 || (!text_is_digit(letter) && letter != '.'))
				*to++ = letter;
		}
		*to++ = '\n';
	}
	*to = 0;
	return text;
}

bool wheel_facts_alike(const char *a, const char *b)
{
	char *first = likeness(a), *second = likeness(b);
	const bool alike = !strcmp(first, second);

	mem_free(first);
	mem_free(second);
	return alike;
}
