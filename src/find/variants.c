#include "find/variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"

enum { MOST_VERSION_FILE = 64 << 10, MOST_VARIANTS = 1 << 20 };

/* ---- names */

static bool is_version_character(char c)
{
	return text_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t digits_at(const char *text)
{
	size_t count = 0;

	while (text_is_digit(text[count]))
		count++;
	return count;
}

/* "118", "92": the last digit is the minor version. "12" has none, "12.4" and "12_4" have one. */
static size_t read_version(const char *at, struct variant_name *variant)
{
	const size_t length = digits_at(at);
	const unsigned value = length == 2 || length == 3 ? (unsigned)strtoul(at, NULL, 10) : 0;

	if (value < 10)
		return 0;
	variant->has_minor = length == 3 || value >= 50;
	variant->major = variant->has_minor ? value / 10 : value;
	variant->minor = variant->has_minor ? value % 10 : 0;
	if (!variant->has_minor && (at[2] == '.' || at[2] == '_') && digits_at(at + 3) == 1 &&
		!is_version_character(at[4])) {
		variant->has_minor = true;
		variant->minor = (unsigned)(at[3] - '0');
		return 4;
	}
	return is_version_character(at[length]) ? 0 : length;
}

bool variant_of_name(const char *name, struct variant_name *ret_variant)
{
	for (const char *at = name; *at; at++) {
		struct variant_name variant = {.start = (size_t)(at - name)};
		size_t word, length;

		if ((at > name && is_version_character(at[-1])) || !text_starts_fold(at, "cu"))
			continue;
		word = text_starts_fold(at, "cuda") ? 4 : 2;
		word += at[word] == '_' || at[word] == '-';
		length = read_version(at + word, &variant);
		if (!length)
			continue;
		variant.end = variant.start + word + length;
		*ret_variant = variant;
		return true;
	}
	return false;
}

/* ---- which CUDA */

/* "12.4" or "124" */
static bool parse_cuda(const char *text, unsigned *ret_major, unsigned *ret_minor)
{
	uint32_t numbers[2];
	struct variant_name variant = {0};
	const size_t count = text_numbers(text, 2, numbers, 2);

	if (count == 2) {
		*ret_major = numbers[0];
		*ret_minor = numbers[1];
		return true;
	}
	if (!read_version(text, &variant) || !variant.has_minor)
		return false;
	*ret_major = variant.major;
	*ret_minor = variant.minor;
	return true;
}

/* cuda: Optional[str] = '12.4' */
bool variant_torch_cuda(const char *text, unsigned *ret_major, unsigned *ret_minor)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *value;
		char version[16];
		size_t length;

		line += *line == '\n';
		length = strcspn(line, "\n");
		if (!text_starts(line, "cuda") || is_version_character(line[4]) || line[4] == '_')
			continue;
		value = memchr(line, '=', length);
		if (!value)
			continue;
		value += 1 + strspn(value + 1, " ");
		if (*value != '\'' && *value != '"')
			continue;
		length = strcspn(value + 1, "'\"\n");
		(void)snprintf(version, sizeof version, "%.*s", length < 15 ? (int)length : 0, value + 1);
		return parse_cuda(version, ret_major, ret_minor);
	}
	return false;
}

/* The source that decides which variant is loaded. */
struct teller {
	const char *name; /* NULL: none */
	unsigned major, minor;
};

static bool ask_torch(const char *folder, unsigned *ret_major, unsigned *ret_minor)
{
	char *path = os_join(NULL, folder, "torch/version.py");
	struct buf text = {0};
	bool known = path && !os_read_file(NULL, path, MOST_VERSION_FILE, &text) &&
				 variant_torch_cuda(buf_text(&text), ret_major, ret_minor);

	buf_free(&text);
	mem_free(path);
	return known;
}

/* The PyTorch in the same folder of packages: one or two levels above the library's own. */
static struct teller ask_cuda_version(const char *path)
{
	struct teller teller = {0};
	char *set = strstr(os_base_name(path), "bitsandbytes") ? os_env("BNB_CUDA_VERSION") : NULL;
	char *folder = mem_string(NULL, path);

	if (set && parse_cuda(set, &teller.major, &teller.minor))
		teller.name = "BNB_CUDA_VERSION";
	for (int level = 0; folder && !teller.name && level < 3; level++) {
		char *end = folder + (os_base_name(folder) - folder);

		if (end == folder)
			break;
		end[-1] = '\0';
		if (level && ask_torch(folder, &teller.major, &teller.minor))
			teller.name = "PyTorch";
	}
	mem_free(folder);
	mem_free(set);
	return teller;
}

/* ---- groups */

struct variant {
	size_t file; /* index in the list */
	uint64_t group;
	struct variant_name name;
	bool named, left_out;
};

/* Windows paths may have either separator. */
static bool is_same_path(const char *a, const char *b)
{
	while (*a && (*a == *b || (strchr("/\\", *a) && *b && strchr("/\\", *b)))) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool is_any_named(const char *path, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_path(path, names[i]))
			return true;
	return false;
}

/* The path without the version. */
static uint64_t group_of(const char *path, const struct variant_name *name)
{
	const size_t folder = (size_t)(os_base_name(path) - path);
	const uint64_t start = fnv_update(FNV_START, path, folder + name->start);

	return fnv_update(start, path + folder + name->end, strlen(path + folder + name->end) + 1);
}

static int by_group(const void *a, const void *b)
{
	const struct variant *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	return (left->file > right->file) - (left->file < right->file);
}

/* How well a variant fits: 2 for the whole version, 1 for its major number. */
static int fit(const struct variant *variant, const struct teller *teller)
{
	if (!teller->name || variant->name.major != teller->major)
		return 0;
	return !variant->name.has_minor ? 1 : variant->name.minor == teller->minor ? 2 : 0;
}

/* "…/libx_cuda*.so" */
static char *shape_of_group(struct jw_error *err, const struct found_list *list,
							const struct variant *first)
{
	const char *path = list->found->files[first->file].path;
	const size_t folder = (size_t)(os_base_name(path) - path);

	return mem_printf(err, "%.*s*%s", (int)(folder + first->name.start), path,
					  path + folder + first->name.end);
}

/* "…: 5 of 6 are for other CUDA versions than PyTorch's 12.4, and are left out" */
static int note_group(struct jw_error *err, struct found_list *list, const char *shape,
					  size_t count, size_t left_out, const struct teller *teller)
{
	if (left_out)
		return found_note(err, list,
						  "%s: %zu of %zu variants are left out: they are for other CUDA "
						  "versions than %s's, %u.%u",
						  shape, left_out, count, teller->name, teller->major, teller->minor);
	if (teller->name)
		return found_note(err, list,
						  "%s: %zu variants for different CUDA versions, of which a program "
						  "loads one; all count, since none is for %s's, %u.%u",
						  shape, count, teller->name, teller->major, teller->minor);
	return found_note(err, list,
					  "%s: %zu variants for different CUDA versions, of which a program "
					  "loads one; all count, since no PyTorch beside them tells which",
					  shape, count);
}

/* bitsandbytes up to 0.43 has each of them twice. */
static int note_older_gpus(struct jw_error *err, struct found_list *list, const char *shape)
{
	return strstr(shape, "*_nocublaslt")
			   ? found_note(err, list,
							"%s: a program loads these on GPUs before sm_75 alone, and there none "
							"without “_nocublaslt”; both count",
							shape)
			   : 0;
}

static int settle_group(struct jw_error *err, struct found_list *list, struct variant *variants,
						size_t count)
{
	const struct teller teller = ask_cuda_version(list->found->files[variants->file].path);
	size_t left_out = 0, others = 0;
	int best = 0, result;
	char *shape;

	for (size_t i = 0; i < count; i++) {
		best = fit(&variants[i], &teller) > best ? fit(&variants[i], &teller) : best;
		others += !variants[i].named;
	}
	if (!others)
		return 0;
	for (size_t i = 0; best && i < count; i++) {
		variants[i].left_out = !variants[i].named && fit(&variants[i], &teller) < best;
		left_out += variants[i].left_out;
	}
	shape = shape_of_group(err, list, variants);
	result =
		!shape ||
				(!(best && !left_out) && note_group(err, list, shape, count, left_out, &teller)) ||
				note_older_gpus(err, list, shape)
			? -1
			: 0;
	mem_free(shape);
	return result;
}

static void drop(struct jw_found *found, const struct variant *variants, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!variants[i].left_out)
			continue;
		mem_free(found->files[variants[i].file].path);
		found->files[variants[i].file].path = NULL;
	}
	for (size_t i = 0; i < found->file_count; i++)
		if (found->files[i].path)
			found->files[kept++] = found->files[i];
	found->file_count = kept;
}

static int collect_variants(struct jw_error *err, const struct found_list *list,
							const char *const *names, size_t count, struct variant **ret_variants,
							size_t *ret_count)
{
	struct variant *variants = NULL;
	size_t capacity = 0, used = 0;

	for (size_t i = 0; i < list->found->file_count; i++) {
		const char *path = list->found->files[i].path;
		struct variant variant = {.file = i};

		if (!variant_of_name(os_base_name(path), &variant.name) || used == MOST_VARIANTS)
			continue;
		variant.group = group_of(path, &variant.name);
		variant.named = is_any_named(path, names, count);
		if (VEC_ROOM(err, variants, capacity, used, MOST_VARIANTS)) {
			mem_free(variants);
			return -1;
		}
		variants[used++] = variant;
	}
	*ret_variants = variants;
	*ret_count = used;
	return 0;
}

int variants_settle(struct jw_error *err, struct found_list *list, const char *const *names,
					size_t count)
{
	struct variant *variants;
	size_t variant_count, end;
	int result = 0;

	if (collect_variants(err, list, names, count, &variants, &variant_count))
		return -1;
	if (variant_count)
		qsort(variants, variant_count, sizeof *variants, by_group);
	for (size_t i = 0; !result && i < variant_count; i = end) {
		for (end = i + 1; end < variant_count && variants[end].group == variants[i].group;)
			end++;
		if (end - i > 1)
			result = settle_group(err, list, variants + i, end - i);
	}
	drop(list->found, variants, variant_count);
	mem_free(variants);
	return result;
}
