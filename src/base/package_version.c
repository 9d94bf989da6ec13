#include "base/package_version.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Takes one of the words, with a number that may be missing. */
static bool take_tail_word(const char **at, const char *const *words, size_t count, int *ret_number,
						   size_t *ret_word)
{
	const char *start = *at + (**at && strchr("._-", **at));

	for (size_t i = 0; i < count; i++) {
		const char *next = start + strlen(words[i]);
		int number = 0;

		if (!text_starts_fold(start, words[i]))
			continue;
		next += *next && strchr("._-", *next) && text_is_digit(next[1]);
		for (; text_is_digit(*next); next++) {
			if (number >= 100000000)
				return false;
			number = 10 * number + (*next - '0');
		}
		*ret_number = number;
		*ret_word = i;
		*at = next;
		return true;
	}
	return false;
}

/* What is behind the numbers; false: it is odd. */
static bool read_tail(const char *text, struct package_version *version)
{
	static const char *const stages[] = {"alpha", "a", "beta", "b", "preview", "pre", "rc", "c"};
	static const char *const posts[] = {"post", "rev", "r"}, *const devs[] = {"dev"};
	enum { FINAL_DEV = 1000000000 };
	int *order = version->order, number;
	size_t word, used = 0;

	if (take_tail_word(&text, stages, sizeof stages / sizeof *stages, &number, &word)) {
		order[0] = word < 2 ? -3 : word < 4 ? -2 : -1;
		order[1] = number;
	}
	if (take_tail_word(&text, posts, sizeof posts / sizeof *posts, &number, &word))
		order[2] = number + 1;
	if (take_tail_word(&text, devs, 1, &number, &word)) {
		order[3] = number - FINAL_DEV;
		if (!order[0] && !order[2])
			order[0] = -4; /* before all pre-releases */
	}
	if (*text == '+') {
		for (text++; used + 1 < VERSION_LABEL &&
					 (text_is_alnum(*text) || (used && *text && strchr("._-", *text)));
			 text++)
			version->label[used++] =
				(char)(text_is_alnum(*text) ? tolower((unsigned char)*text) : '.');
		if (!used)
			return false;
	}
	return !*text;
}

bool package_version_read(const char *text, size_t length, struct package_version *ret_version)
{
	struct package_version version = {.odd = false}, odd = {.odd = true};
	char whole[VERSION_TEXT];
	const char *rest;

	if (length >= sizeof whole)
		return false;
	(void)snprintf(whole, sizeof whole, "%.*s", (int)length, text);
	if (!version_read(whole, &version.numbers, &rest))
		return false;
	*ret_version = version;
	if (read_tail(rest, ret_version))
		return true;
	odd.numbers = version.numbers;
	text_copy(odd.label, sizeof odd.label, rest);
	*ret_version = odd;
	return strlen(rest) < sizeof odd.label &&
		   !rest[strspn(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
							  "._-+!")];
}

static int order_tails(const int a[4], const int b[4])
{
	for (size_t i = 0; i < 4; i++)
		if (a[i] != b[i])
			return a[i] > b[i] ? 1 : -1;
	return 0;
}

int package_version_order(const struct package_version *a, const struct package_version *b)
{
	const int order = version_order(&a->numbers, &b->numbers, VERSION_NUMBERS);

	return order ? order : order_tails(a->order, b->order);
}

bool package_version_is_final(const struct package_version *version)
{
	return !version->order[0] && !version->order[3];
}

/* ---- what is asked of them */

static const char *behind_spaces(const char *text)
{
	return text + strspn(text, " \t");
}

struct clause {
	const char *sign;
	struct package_version bound;
	bool prefix; /* the numbers of the bound are the first ones */
};

/* The next clause, and the comma behind it. */
static bool take_clause(const char **at, struct clause *ret_clause)
{
	/* Longer ones first; the last is conda's. */
	static const char *const signs[] = {"==", "!=", "~=", "<=", ">=", "<", ">", "="};
	enum { SIGNS = sizeof signs / sizeof *signs };
	const char *text = *at;
	struct clause clause = {.prefix = false};
	size_t sign = 0, length;

	while (sign < SIGNS && !text_starts(text, signs[sign]))
		sign++;
	if (sign == SIGNS)
		return false;
	clause.sign = signs[sign];
	text = behind_spaces(text + strlen(clause.sign));
	length = strcspn(text, ", \t");
	*at = behind_spaces(text + length);
	if (**at && *(*at)++ != ',')
		return false;
	*at = behind_spaces(*at);
	if (sign < 2 || sign == SIGNS - 1) {
		clause.prefix = length > 2 && !strncmp(text + length - 2, ".*", 2);
		length -= clause.prefix ? 2 : 0;
	}
	clause.prefix = clause.prefix || sign == SIGNS - 1;
	if (!package_version_read(text, length, &clause.bound) ||
		(*clause.sign == '~' && clause.bound.numbers.count < 2))
		return false;
	*ret_clause = clause;
	return true;
}

static bool clause_holds(const struct clause *clause, const struct package_version *version,
						 bool installed)
{
	const struct package_version *bound = &clause->bound;
	const size_t count = bound->numbers.count;
	const bool bare = !order_tails(bound->order, (int[4]){0}) && !*bound->label;
	int order =
		version_order(&version->numbers, &bound->numbers, clause->prefix ? count : VERSION_NUMBERS);
	const bool level = !order;

	if (level && !clause->prefix && !(bare && installed))
		order = order_tails(version->order, bound->order);
	switch (*clause->sign) {
	case '<': /* neither 2.0rc1 < 2.0 nor 1.7.post1 > 1.7 */
		return clause->sign[1] ? order <= 0 : order < 0 && !(level && bare);
	case '>': return clause->sign[1] ? order >= 0 : order > 0 && !(level && bare);
	case '~': return order >= 0 && !version_order(&version->numbers, &bound->numbers, count - 1);
	default:
		return (!order && (!*bound->label || !strcmp(bound->label, version->label))) ==
			   (*clause->sign == '=');
	}
}

/* `version` NULL: only reads the list. */
static bool list_holds(const char *text, const struct package_version *version, bool installed)
{
	struct clause clause;

	for (text = behind_spaces(text); *text;)
		if (!take_clause(&text, &clause) || (version && !clause_holds(&clause, version, installed)))
			return false;
	return true;
}

bool version_is_wanted(const char *text)
{
	return list_holds(text, NULL, false);
}

bool package_version_fits(const struct package_version *version, const char *wanted)
{
	return list_holds(wanted, version, false);
}

bool version_fits(const char *version, const char *wanted)
{
	struct package_version is;

	return !*behind_spaces(wanted) ||
		   (package_version_read(version, strlen(version), &is) && list_holds(wanted, &is, true));
}
