#include "code/target_names.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <jitwarm/target.h>

#include "base/error.h"
#include "base/text.h"
#include "code/release.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define GPU_IDS(first, last, sm)
#define GPU_NAME(name, sm) {name, sm},
static const struct {
	const char *name;
	uint16_t sm;
} names[] = {
#include "gpus.inc"
};
#undef GPU_IDS
#undef GPU_NAME
#define GPU_IDS(first, last, sm) {first, last, sm},
#define GPU_NAME(name, sm)
static const struct {
	uint16_t first, last, sm;
} ids[] = {
#include "gpus.inc"
};

/* The GPUs of Jetson and DRIVE. They share no machine code with other GPUs of their major
 * version. */
static const uint16_t tegra[] = {53, 62, 72, 87, 101, 110};

bool gpu_is_tegra(uint16_t sm)
{
	for (size_t i = 0; i < COUNT(tegra); i++)
		if (tegra[i] == sm)
			return true;
	return false;
}

/* ---- names */

enum { LONGEST = 40 };

/* Reads the next word of *at in lower case, "" at the end; a longer word is truncated. */
static void next_name_word(const char **at, char word[LONGEST])
{
	size_t used = 0;

	while (**at && !text_is_alnum(**at))
		++*at;
	for (; text_is_alnum(**at) && used < LONGEST - 1; ++*at)
		word[used++] = (char)(**at >= 'A' && **at <= 'Z' ? **at + ('a' - 'A') : **at);
	word[used] = '\0';
}

/* Words of product names that are ignored, first those of the maker; scripts/gpu-table.py drops the
 * same words. */
enum { MAKER_WORDS = 4 };
static const char *const noise[] = {
	"nvidia", "geforce", "quadro", "tesla",      "gpu",       "laptop",    "mobile",
	"max",    "q",       "maxq",   "generation", "blackwell", "ac",        "hgx",
	"pcie",   "nvl",     "sxm",    "dgxs",       "fhhl",      "oem",       "workstation",
	"server", "edition", "pascal", "agx",        "mig",       "developer", "kit",
	"nvgpu",  "lhr",     "series", "with",       "design"};

static bool is_noise(const char *word)
{
	const size_t digits = strspn(word, "0123456789");

	for (size_t i = 0; i < COUNT(noise); i++)
		if (!strcmp(word, noise[i]))
			return true;
	return (digits && (!strcmp(word + digits, "gb") || !strcmp(word + digits, "g"))) ||
		   text_starts(word, "hbm") || text_starts(word, "sxm");
}

/* Drops a number of GPUs before or after a name: 2x3090, rtx3090x2; false if there is none. */
static bool drop_count(char typed[LONGEST])
{
	enum { MOST_DIGITS = 2 };
	const size_t length = strlen(typed), digits = strspn(typed, "0123456789");
	size_t end = length;

	if (digits && digits <= MOST_DIGITS && typed[digits] == 'x' && typed[digits + 1] != 'x') {
		memmove(typed, typed + digits + 1, length - digits);
		return true;
	}
	while (end && text_is_digit(typed[end - 1]))
		end--;
	if (end == length || length - end > MOST_DIGITS || !end || typed[end - 1] != 'x')
		return false;
	typed[end - 1] = '\0';
	return true;
}

/* Drops an ignored word that is joined to an unknown name (rtx3080laptop, teslat4, v100sxm2,
 * 4060ti16gb), or the letter of a variant (rtx2070m, 1660s); false if there is none. From the GTX
 * 10 on, variants have the architecture of their name, which has four digits; a GTX 780M is no GTX
 * 780. */
static bool drop_joined(char typed[LONGEST])
{
	enum { FEWEST_LETTERS = 3, FEWEST_DIGITS = 4 };
	const size_t length = strlen(typed);
	size_t end = length, digits = 0;

	for (size_t i = 0; i < COUNT(noise); i++) {
		const size_t word = strlen(noise[i]);

		if (word < FEWEST_LETTERS || word >= length)
			continue;
		if (text_ends(typed, noise[i]))
			end = length - word;
		else if (i < MAKER_WORDS && text_starts(typed, noise[i]))
			memmove(typed, typed + word, length - word + 1);
		else
			continue;
		typed[end] = '\0';
		return true;
	}
	while (end && text_is_digit(typed[end - 1]))
		end--;
	if (end > FEWEST_LETTERS && !strncmp(typed + end - FEWEST_LETTERS, "sxm", FEWEST_LETTERS)) {
		typed[end - FEWEST_LETTERS] = '\0';
		return true;
	}
	if (text_ends(typed, "xx")) { /* a series: 50xx */
		typed[length - 2] = '\0';
		return true;
	}
	if (text_ends(typed, "gb")) {
		for (end = length - 2; end && text_is_digit(typed[end - 1]);)
			end--;
		typed[end] = '\0';
		return end;
	}
	if (end < length || !end || !strchr("ms", typed[--end]))
		return false;
	typed[end] = '\0';
	end -= text_ends(typed, "ti") ? 2 : 0;
	while (digits < end && text_is_digit(typed[end - digits - 1]))
		digits++;
	return digits >= FEWEST_DIGITS;
}

/* Converts a product name to the form of the table; "" if it is longer than any name there. */
static void plain_product_name(const char *text, char plain[LONGEST])
{
	char word[LONGEST];
	size_t used = 0;

	for (next_name_word(&text, word); *word && used < LONGEST; next_name_word(&text, word))
		if (!is_noise(word)) {
			text_copy(plain + used, LONGEST - used, word);
			used += strlen(word);
		}
	plain[used < LONGEST ? used : 0] = '\0';
}

/* Returns whether a table's name is the typed one, of which one may omit the product line: "4090"
 * is "rtx4090", "a6000" "rtxa6000", "gtx940mx" "940mx". */
static bool is_typed_name(const char *name, const char *typed)
{
	const bool is_number = text_is_digit(typed[0]) ||
						   (typed[0] == 'a' && text_is_digit(typed[1])) ||
						   text_starts(typed, "pro");

	if (text_is_digit(name[0]) && text_starts(typed, "gt"))
		return !strcmp(name, typed + strspn(typed, "gtx"));
	return !strcmp(name, typed) || ((text_starts(name, "rtx") || text_starts(name, "gtx")) &&
									is_number && !strcmp(name + 3, typed));
}

enum { MAX_FAMILY = 5 };

/* The chips and families, by the beginnings of their names. Source: NVIDIA's list of CUDA GPUs. */
static const struct {
	const char *name;
	uint16_t sm[MAX_FAMILY]; /* 0 after the last one */
} families[] = {
	{"gm10", {50}},
	{"gm20", {52}},
	{"gp100", {60}},
	{"gp10", {61}},
	{"gv10", {70}},
	{"tu1", {75}},
	{"ga100", {80}},
	{"ga10", {86}},
	{"ad10", {89}},
	{"gh100", {90}},
	{"gb100", {100}},
	{"gb20", {120}},
	{"maxwell", {50, 52}},
	{"pascal", {60, 61}},
	{"volta", {70}},
	{"turing", {75}},
	{"ampere", {80, 86}},
	{"ada", {89}},
	{"lovelace", {89}},
	{"adalovelace", {89}},
	{"hopper", {90}},
	{"blackwell", {100, 120}},
	{"jetson", {53, 62, 72, 87, 110}},
};

/* Adds the architectures of a family; returns false if the name is not a family's. */
static bool add_family(const char *name, struct jw_target targets[MAX_FAMILY], size_t *ret_count)
{
	char typed[LONGEST] = "", word[LONGEST];

	for (next_name_word(&name, word); *word; next_name_word(&name, word))
		(void)snprintf(typed + strlen(typed), sizeof typed - strlen(typed), "%s", word);
	for (size_t i = 0; i < COUNT(families); i++) {
		const size_t length = strlen(families[i].name);
		const bool is_chip = text_is_digit(families[i].name[length - 1]);

		if (strncmp(typed, families[i].name, length) != 0 ||
			(is_chip ? !text_is_digit(typed[3]) || strlen(typed) != 5 : typed[length]))
			continue;
		for (*ret_count = 0; *ret_count < MAX_FAMILY && families[i].sm[*ret_count]; ++*ret_count)
			targets[*ret_count] = (struct jw_target){families[i].sm[*ret_count], 0};
		return true;
	}
	return false;
}

/* Returns the length of the first part of a virtual GPU's name; 0 if it is none. “A40-48Q” and
 * “A100-1-5CME” consist of the GPU's name, perhaps with letters of its own (“V100DX”), and the
 * share of that GPU. */
static size_t length_before_share(const char *name)
{
	size_t length = strlen(name), digits;

	if (length > 2 && text_equal_fold(name + length - 2, "me"))
		length -= 2;
	if (!length || !strchr("qbcavQBCAV", name[--length]))
		return 0;
	digits = length;
	while (digits && text_is_digit(name[digits - 1]))
		digits--;
	if (digits == length || !digits || name[digits - 1] != '-')
		return 0;
	length = digits - 1;
	if (length > 2 && text_is_digit(name[length - 1]) && name[length - 2] == '-')
		length -= 2;
	return length;
}

/* Finds the GPU of a name without its last letter, if several names add one letter to it, and all
 * of them have the same capability: "k40" for "k40m" and "k40c". Returns whether there is one. */
static bool gpu_with_letter(const char *typed, struct jw_target *ret_target)
{
	const size_t length = strlen(typed);
	char shorter[LONGEST];
	uint16_t sm = 0;
	size_t count = 0;

	for (size_t i = 0; length && text_is_digit(typed[length - 1]) && i < COUNT(names); i++) {
		const size_t last = strlen(names[i].name) - 1;

		text_copy(shorter, sizeof shorter, names[i].name);
		shorter[last] = '\0';
		if (text_is_digit(names[i].name[last]) || !is_typed_name(shorter, typed))
			continue;
		if (sm && sm != names[i].sm)
			return false;
		sm = names[i].sm;
		count++;
	}
	*ret_target = (struct jw_target){sm, 0};
	return count > 1;
}

/* Finds the GPUs of a name, each capability once ("gtx 750" has two); words such as GeForce and
 * Laptop, and memory sizes, are ignored. Returns their number, 0 if the name is unknown. */
static size_t gpu_named(const char *name, struct jw_target *targets, size_t most)
{
	char typed[LONGEST], whole[LONGEST * 3];
	const size_t share = length_before_share(name);
	struct jw_target target;
	size_t count = 0;

	text_copy(whole, share && share < sizeof whole ? share + 1 : sizeof whole, name);
	plain_product_name(whole, typed);
	for (;;) {
		const size_t length = strlen(typed);

		for (size_t i = 0; length && i < COUNT(names); i++)
			if (is_typed_name(names[i].name, typed))
				count = jw_target_add(targets, count, most, (struct jw_target){names[i].sm, 0});
		if (!count && gpu_with_letter(typed, &target))
			count = jw_target_add(targets, count, most, target);
		if (count || !length)
			return count;
		if (text_starts(typed, "grid"))
			memmove(typed, typed + 4, length - 3);
		else if (share && !text_is_digit(typed[length - 1]))
			typed[length - 1] = '\0';
		else if (!drop_count(typed) && !drop_joined(typed))
			return 0;
	}
}

/* Source: NVIDIA's pages on Grace Hopper, Grace Blackwell and DGX Spark. */
bool jw_target_named_arm(const char *name)
{
	static const char *const beside_grace[] = {"gh200", "gb200", "gb300"};
	enum { GB10 = 121 };
	struct jw_target target = {0}, family[MAX_FAMILY];
	char typed[LONGEST];
	size_t count;

	plain_product_name(name, typed);
	(void)drop_count(typed);
	for (size_t i = 0; i < COUNT(beside_grace); i++)
		if (text_starts(typed, beside_grace[i]))
			return true;
	if (add_family(name, family, &count))
		return gpu_is_tegra(family[0].sm);
	return (jw_target_parse(name, &target) || gpu_named(name, &target, 1) == 1) &&
		   (target.sm == GB10 || gpu_is_tegra(target.sm));
}

/* Returns whether both numbers have the same digits, in any order. */
static bool has_digits_of(const char *a, const char *b)
{
	int left[10] = {0};

	for (; text_is_digit(*a); a++)
		left[*a - '0']++;
	for (; text_is_digit(*b); b++)
		if (!left[*b - '0']--)
			return false;
	for (size_t i = 0; i < COUNT(left); i++)
		if (left[i])
			return false;
	return true;
}

/* Returns whether a similar name is of another family: RTX 4091 or RTX 4900 may be RTX 4090, but
 * RTX 6070 would be of another family than RTX 6000. */
static bool is_of_other_family(const char *typed, const char *name)
{
	const char *a = typed + strcspn(typed, "0123456789"), *b = name + strcspn(name, "0123456789");

	return text_is_digit(*a) && text_is_digit(*b) && !has_digits_of(a, b) &&
		   (strncmp(a, b, 2) != 0 || text_starts(a + 1, "000") != text_starts(b + 1, "000"));
}

/* Returns the most similar known name; NULL if none is similar. */
static const char *gpu_nearest_name(const char *name)
{
	char typed[LONGEST], with_line[LONGEST + 3];
	struct suggest nearest = {0};
	size_t longest = 0;

	plain_product_name(name, typed);
	if (!typed[strcspn(typed, "0123456789")])
		return NULL; /* only a product line, to which all its GPUs are equally near */
	(void)snprintf(with_line, sizeof with_line, "%s%s", text_is_digit(*typed) ? "rtx" : "", typed);
	/* An RTX 4090 Ti is an RTX 4090 rather than an RTX 4070 Ti. */
	for (size_t i = 0; i < COUNT(names); i++) {
		const size_t length = strlen(names[i].name);

		if (length > longest && text_starts(with_line, names[i].name) &&
			names[i].name[strcspn(names[i].name, "0123456789")] &&
			!text_is_digit(with_line[length])) {
			longest = length;
			nearest.best = names[i].name;
		}
	}
	if (nearest.best)
		return nearest.best;
	nearest = suggest_for(typed, strlen(typed));
	for (size_t i = 0; i < COUNT(names); i++)
		if (!is_of_other_family(typed, names[i].name))
			suggest_offer(&nearest, names[i].name);
	return nearest.best;
}

/* ---- device ids */

bool gpu_of_pci_device(uint32_t device, struct jw_target *ret_target)
{
	for (size_t i = 0; i < COUNT(ids); i++)
		if (ids[i].first <= device && device <= ids[i].last) {
			*ret_target = (struct jw_target){ids[i].sm, 0};
			return true;
		}
	return false;
}

/* For each GPU: the first and the last CUDA version whose drivers run it, and the last one whose
 * compilers make code for it (the first one is that of the drivers: CUDA 12.7 was only a driver); 0
 * for older or newer than known. Source: NVIDIA's list of CUDA GPUs, the release notes of CUDA and
 * of the PTX ISA; each ptxas of CUDA 11.7 to 13.5 was asked; docs/internals/compat.md. */
static const struct {
	uint16_t sm;
	const char *names;
	uint32_t first, last, last_compiler;
} capabilities[] = {
	{35, "K20, K40, GTX 780", 0, 11040, 11080},
	{37, "K80", 0, 11040, 11080},
	{50, "GTX 750, Quadro K2200", 0, 13000, 12090},
	{52, "GTX 9, M40, M60", 0, 13000, 12090},
	{53, "Jetson TX1, Jetson Nano", 0, 13000, 12090},
	{60, "P100", 0, 13000, 12090},
	{61, "GTX 10, P4, P40", 0, 13000, 12090},
	{62, "Jetson TX2", 0, 13000, 12090},
	{70, "V100, Titan V", 9000, 13000, 12090},
	{72, "Jetson Xavier", 9010, 13000, 12090},
	{75, "RTX 20, GTX 16, T4", 10000, 0, 0},
	{80, "A100, A30", 11000, 0, 0},
	{86, "RTX 30, A10, A40, A4000, A6000", 11010, 0, 0},
	{87, "Jetson Orin", 11040, 0, 0},
	{88, "", 13000, 0, 0},
	{89, "RTX 40, L4, L40", 11080, 0, 0},
	{90, "H100, H200, GH200", 11080, 0, 0},
	{100, "B200, B100", 12070, 0, 0},
	{101, "Jetson Thor", 12070, 0, 12090},
	{103, "B300", 12090, 0, 0},
	{107, "", 13040, 0, 0},
	{110, "Jetson Thor", 13000, 0, 0},
	{120, "RTX 50, RTX PRO 6000 Blackwell", 12080, 0, 0},
	{121, "GB10", 12090, 0, 0},
};

/* The first CUDA version with names that have a suffix: sm_90a came later than sm_90 itself. */
enum { FIRST_SUFFIX_CUDA = 12000 };

/* Returns the row of a GPU; SIZE_MAX if unknown. */
static size_t row_of(struct jw_target target)
{
	for (size_t i = 0; i < COUNT(capabilities); i++)
		if (capabilities[i].sm == target.sm)
			return i;
	return SIZE_MAX;
}

const char *jw_target_products(struct jw_target target)
{
	const size_t row = row_of(target);

	return row == SIZE_MAX ? "" : capabilities[row].names;
}

uint32_t gpu_first_cuda(struct jw_target target)
{
	const size_t row = row_of(target);

	if (target.sm == 90 && target.suffix)
		return FIRST_SUFFIX_CUDA;
	return row == SIZE_MAX ? 0 : capabilities[row].first;
}

uint32_t gpu_last_cuda(struct jw_target target)
{
	const size_t row = row_of(target);

	return row == SIZE_MAX ? 0 : capabilities[row].last;
}

uint32_t gpu_first_compiler(struct jw_target target)
{
	const uint32_t first = gpu_first_cuda(target);

	return first == 12070 ? 12080 : first;
}

uint32_t gpu_last_compiler(struct jw_target target)
{
	const size_t row = row_of(target);

	return row == SIZE_MAX ? 0 : capabilities[row].last_compiler;
}

int gpu_compiler_fits(uint32_t cuda, struct jw_target target)
{
	const uint32_t last = gpu_last_compiler(target);

	return cuda < gpu_first_compiler(target) ? -1 : last && cuda > last ? 1 : 0;
}

struct jw_target gpu_jit_target(struct jw_target device, uint32_t cuda)
{
	if (device.sm >= 90 && (!cuda || cuda >= FIRST_SUFFIX_CUDA))
		device.suffix = 'a';
	return device;
}

bool jw_target_plausible(struct jw_target target)
{
	enum { BEYOND_ALL_PLANS = 200 };

	return row_of(target) != SIZE_MAX ||
		   (target.sm > capabilities[COUNT(capabilities) - 1].sm && target.sm < BEYOND_ALL_PLANS);
}

struct jw_driver jw_driver_first(struct jw_target target)
{
	const size_t row = row_of(target);

	return row == SIZE_MAX ? (struct jw_driver){0} : gpu_cuda_driver(capabilities[row].first);
}

int jw_driver_supports(struct jw_error *err, const struct jw_driver *driver,
					   struct jw_target target)
{
	const size_t row = row_of(target);
	char sm[JW_TARGET_TEXT], text[JW_DRIVER_TEXT];
	uint32_t first, last;

	if (!driver || !driver->cuda)
		return 0;
	(void)jw_target_sm(sm, target);
	(void)jw_driver_text(text, driver);
	if (row == SIZE_MAX)
		return gpu_newest_cuda() < driver->cuda
				   ? 0
				   : error_set(
						 err, JW_ERR_UNSUPPORTED,
						 "%s: no driver up to CUDA %u.%u runs such a GPU, so %s does not run it",
						 sm, gpu_newest_cuda() / 1000, gpu_newest_cuda() % 1000 / 10, text);
	first = capabilities[row].first;
	last = capabilities[row].last;
	if (driver->cuda < first)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "driver %s does not run %s, which needs driver %u (CUDA %u.%u) or newer",
						 text, sm, gpu_branch_number(first), first / 1000, first % 1000 / 10);
	if (last && driver->cuda > last)
		return error_set(
			err, JW_ERR_UNSUPPORTED,
			"driver %s no longer runs %s: driver %u (CUDA %u.%u) was the last that did", text, sm,
			gpu_branch_number(last), last / 1000, last % 1000 / 10);
	return 0;
}

/* ---- reading GPUs from the command line */

struct target_list {
	struct jw_target *targets;
	size_t most, count;
};

static int add_listed_target(struct jw_error *err, struct target_list *list,
							 struct jw_target target)
{
	list->count = jw_target_add(list->targets, list->count, list->most, target);
	for (size_t i = 0; i < list->count; i++)
		if (jw_target_equal(list->targets[i], target))
			return 0;
	return error_set(err, JW_ERR_USAGE, "more than %zu GPU architectures at once", list->most);
}

static int add_all(struct jw_error *err, const struct jw_driver *driver, struct target_list *list)
{
	for (size_t i = 0; i < COUNT(capabilities); i++) {
		const struct jw_target target = {capabilities[i].sm, 0};

		if (*capabilities[i].names && !gpu_is_tegra(target.sm) &&
			!jw_driver_supports(NULL, driver, target) && add_listed_target(err, list, target))
			return -1;
	}
	return 0;
}

/* Returns whether a name is that of a GeForce which the table lacks because the GPU has a compute
 * capability of 3.0 or less: GT 650M, GTX 680, GTX 780M. */
static bool is_older_name(const char *name)
{
	char typed[LONGEST];
	const char *number;

	plain_product_name(name, typed);
	number = typed + strcspn(typed, "0123456789");
	return text_starts(typed, "gt") && number - typed <= 3 && *number < '9' &&
		   strspn(number, "0123456789") == 3;
}

/* Returns who makes a GPU that is none of NVIDIA's; NULL if the name shows nobody. */
static const char *other_maker(const char *name)
{
	static const struct {
		const char *line, *maker;
		bool number; /* only a number follows */
	} lines[] = {{"amd", "AMD", false},     {"radeon", "AMD", false},  {"instinct", "AMD", false},
				 {"rx", "AMD", true},       {"mi", "AMD", true},       {"gfx", "AMD", true},
				 {"intel", "Intel", false}, {"arc", "Intel", true},    {"arca", "Intel", true},
				 {"arcb", "Intel", true},   {"arcpro", "Intel", false}};
	char typed[LONGEST] = "";

	plain_product_name(name, typed);
	for (size_t i = 0; i < COUNT(lines); i++) {
		const size_t length = strlen(lines[i].line);

		if (text_starts(typed, lines[i].line) &&
			(!lines[i].number || !typed[length] || text_is_digit(typed[length])))
			return lines[i].maker;
	}
	/* RX 9070 XT, without its line */
	return strspn(typed, "0123456789") == 4 && text_starts(typed + 4, "xt") ? "AMD" : NULL;
}

static int not_a_gpu(struct jw_error *err, const char *name)
{
	const char *nearest = gpu_nearest_name(name), *maker = other_maker(name);

	if (maker)
		return error_set(err, JW_ERR_USAGE,
						 "“%.40s” is a GPU from %s; jitwarm is for GPUs from NVIDIA", name, maker);
	if (is_older_name(name))
		return error_set(err, JW_ERR_USAGE,
						 "“%.40s” is a GPU with a compute capability below 3.5, the lowest one "
						 "that jitwarm knows",
						 name);
	return error_set(err, JW_ERR_USAGE,
					 "“%.40s” is not a known GPU: name its compute capability (sm_86) "
					 "or its product (rtx3070)%s%s%s",
					 name, nearest ? " (did you mean " : "", nearest ? nearest : "",
					 nearest ? "?)" : "");
}

static int add_product(struct jw_error *err, const char *name, struct target_list *list)
{
	char sm[2][JW_TARGET_TEXT];
	struct jw_target named[MAX_FAMILY];
	size_t count = gpu_named(name, named, 2);

	if (!count && add_family(name, named, &count)) {
		for (size_t i = 0; i < count; i++)
			if (add_listed_target(err, list, named[i]))
				return -1;
		return 0;
	}
	if (count == 2)
		return error_set(err, JW_ERR_USAGE, "“%.40s” is sold with %s and with %s: name one of them",
						 name, jw_target_sm(sm[0], named[0]), jw_target_sm(sm[1], named[1]));
	return count ? add_listed_target(err, list, named[0]) : not_a_gpu(err, name);
}

static int add_named_target(struct jw_error *err, const char *name, const struct jw_driver *driver,
							struct target_list *list)
{
	const char *bare = name + (text_starts_fold(name, "sm_")  ? 3
							   : text_starts_fold(name, "sm") ? 2
															  : 0);
	struct jw_target target, product;
	const bool capability = jw_target_parse(name, &target) || jw_target_parse(bare, &target);

	if (text_equal_fold(name, "all"))
		return add_all(err, driver, list);
	if (!capability ||
		(bare == name && !jw_target_plausible(target) && gpu_named(name, &product, 1)))
		return add_product(err, name, list);
	if (target.suffix)
		return error_set(err, JW_ERR_USAGE,
						 "“%.40s” names a kind of code; a GPU has no suffix: sm_%u", name,
						 target.sm);
	if (!jw_target_plausible(target))
		return error_set(err, JW_ERR_USAGE, "no GPU has the compute capability “%.40s”", name);
	return add_listed_target(err, list, target);
}

/* The size of the buffer for the first name of a range. */
enum { MAX_RANGE_END = 64 };

/* Returns 20 for “rtx20” or “RTX 20”; 0 if it is no such name. */
static unsigned generation_of(const char *name)
{
	uint64_t number;

	if (!text_starts_fold(name, "rtx") || !text_number(name + 3 + (name[3] == ' '), 90, &number) ||
		number % 10)
		return 0;
	return (unsigned)number;
}

/* Adds each capability of “all” that lies in a range: sm_80..sm_90, a100..h100. */
static int add_between(struct jw_error *err, const char *range, const char *first, const char *last,
					   const struct jw_driver *driver, struct target_list *list)
{
	struct jw_target ends[2][COUNT(capabilities)], all[COUNT(capabilities)];
	struct target_list from = {ends[0], COUNT(all), 0}, to = {ends[1], COUNT(all), 0};
	struct target_list every = {all, COUNT(all), 0};

	if (add_named_target(err, first, driver, &from) || add_named_target(err, last, driver, &to) ||
		add_all(err, driver, &every))
		return -1;
	if (from.count != 1 || to.count != 1)
		return error_set(err, JW_ERR_USAGE,
						 "“%.40s”: “%.40s” is several GPUs; a range begins and ends with one",
						 range, from.count != 1 ? first : last);
	if (ends[0]->sm > ends[1]->sm)
		return error_set(err, JW_ERR_USAGE, "“%.40s” ends before it begins", range);
	for (size_t i = 0; i < every.count; i++)
		if (all[i].sm >= ends[0]->sm && all[i].sm <= ends[1]->sm &&
			add_listed_target(err, list, all[i]))
			return -1;
	return 0;
}

static int add_named_or_range(struct jw_error *err, const char *name,
							  const struct jw_driver *driver, struct target_list *list)
{
	const char *dots = strstr(name, "..");
	char first[MAX_RANGE_END];
	unsigned generation, last;

	if (!dots)
		return add_named_target(err, name, driver, list);
	if ((size_t)(dots - name) >= sizeof first || dots[2] == '.')
		return not_a_gpu(err, name);
	memcpy(first, name, (size_t)(dots - name));
	first[dots - name] = '\0';
	generation = generation_of(first);
	last = generation_of(dots + 2);
	if (!generation || generation > last)
		return add_between(err, name, first, dots + 2, driver, list);
	/* Adds each generation of that name: rtx20..rtx50. */
	for (; generation <= last; generation += 10) {
		(void)snprintf(first, sizeof first, "rtx%u", generation);
		if (add_product(err, first, list))
			return -1;
	}
	return 0;
}

int jw_targets_read(struct jw_error *err, const char *text, const struct jw_driver *driver,
					struct jw_target *targets, size_t most, size_t *count)
{
	struct target_list list = {targets, most, *count};
	char name[128];

	for (;;) {
		size_t length, end;

		text += strspn(text, " ");
		length = end = strcspn(text, ",");
		while (length && text[length - 1] == ' ')
			length--;
		if (length >= sizeof name)
			return error_set(err, JW_ERR_USAGE, "“%.40s…” is too long for a GPU's name", text);
		if (!length && list.count > *count)
			return error_set(err, JW_ERR_USAGE, "the list of GPUs has a comma without a name");
		memcpy(name, text, length);
		name[length] = '\0';
		if (add_named_or_range(err, name, driver, &list))
			return -1;
		if (!text[end])
			break;
		text += end + 1;
	}
	*count = list.count;
	return 0;
}
