#include "gpu/products.h"

#include <string.h>

#include "base/suggest.h"
#include "base/text.h"

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

/* ---- names */

enum { LONGEST = 40 };

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Reads the next word of *at in lower case; "" at the end or if it is too long. */
static void next_word(const char **at, char word[LONGEST])
{
	size_t used = 0;

	while (**at && !is_letter_or_digit(**at))
		++*at;
	for (; is_letter_or_digit(**at) && used < LONGEST - 1; ++*at)
		word[used++] = (char)(**at >= 'A' && **at <= 'Z' ? **at + ('a' - 'A') : **at);
	word[used] = '\0';
}

/* scripts/gpu-table.py drops the same words. */
static bool is_noise(const char *word)
{
	static const char *const noise[] = {
		"nvidia", "geforce", "quadro",     "tesla",     "gpu",         "laptop", "mobile", "max",
		"q",      "maxq",    "generation", "blackwell", "ac",          "hgx",    "pcie",   "nvl",
		"sxm",    "dgxs",    "fhhl",       "oem",       "workstation", "server", "edition"};
	const size_t digits = strspn(word, "0123456789");

	for (size_t i = 0; i < COUNT(noise); i++)
		if (!strcmp(word, noise[i]))
			return true;
	return (digits && (!strcmp(word + digits, "gb") || !strcmp(word + digits, "g"))) ||
		   text_starts(word, "hbm") || text_starts(word, "sxm");
}

/* Converts a name to the form of the table's names. */
static void plain_product_name(const char *text, char plain[LONGEST])
{
	char word[LONGEST];
	size_t used = 0;

	for (next_word(&text, word); *word; next_word(&text, word))
		if (!is_noise(word) && used + strlen(word) < LONGEST) {
			memcpy(plain + used, word, strlen(word));
			used += strlen(word);
		}
	plain[used] = '\0';
}

/* Whether a table's name is the typed one, which may omit the product line: "4090" is "rtx4090",
 * "a6000" "rtxa6000". */
static bool is_typed_name(const char *name, const char *typed)
{
	const bool is_number = text_is_digit(typed[0]) || (typed[0] == 'a' && text_is_digit(typed[1]));

	return !strcmp(name, typed) || ((text_starts(name, "rtx") || text_starts(name, "gtx")) &&
									is_number && !strcmp(name + 3, typed));
}

size_t gpu_named(const char *name, struct jw_target *targets, size_t most)
{
	char typed[LONGEST];
	size_t count = 0;

	plain_product_name(name, typed);
	for (size_t i = 0; *typed && i < COUNT(names); i++)
		if (is_typed_name(names[i].name, typed))
			count = jw_target_add(targets, count, most, (struct jw_target){names[i].sm, 0});
	return count;
}

const char *gpu_nearest_name(const char *name)
{
	char typed[LONGEST];
	struct suggest nearest;

	plain_product_name(name, typed);
	nearest = suggest_for(typed, strlen(typed));
	for (size_t i = 0; i < COUNT(names); i++)
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
