#include "compile/wheel_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The rank of a platform's tag; -1: another platform's. Nothing is refused for its glibc: ptxas
 * itself reports one that is too old. */
static int rank_platform(const char *platform, const char *tag)
{
	static const struct {
		const char *start;
		int glibc;
	} old[] = {{"manylinux1_", 205}, {"manylinux2010_", 212}, {"manylinux2014_", 217}};
	size_t machine = strcspn(platform, "-"), length = strlen(tag);
	unsigned major, minor;

	if (!strcmp(tag, "any"))
		return 0;
	if (text_ends(platform, "-windows"))
		return strcmp(tag, text_starts(platform, "x") || text_starts(platform, "amd")
							   ? "win_amd64"
							   : "win_arm64") != 0
				   ? -1
				   : 1;
	if (!(text_starts(tag, "manyl") || text_starts(tag, "linux")) || length <= machine ||
		tag[length - machine - 1] != '_' || strncmp(tag + length - machine, platform, machine) != 0)
		return -1;
	for (size_t i = 0; i < sizeof old / sizeof *old; i++)
		if (text_starts(tag, old[i].start))
			return old[i].glibc;
	/* NOLINTNEXTLINE(cert-err34-c): two digits at most cannot overflow */
	return sscanf(tag, "manylinux_%2u_%2u_", &major, &minor) == 2 ? (int)(major * 100 + minor) : 1;
}

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

bool wheel_tail_read(const char *text, struct wheel_tail *ret_tail)
{
	static const char *const stages[] = {"alpha", "a", "beta", "b", "preview", "pre", "rc", "c"};
	static const char *const posts[] = {"post", "rev", "r"}, *const devs[] = {"dev"};
	enum { FINAL_DEV = 1000000000 };
	struct wheel_tail tail = {0};
	int number;
	size_t word, used = 0;

	if (take_tail_word(&text, stages, sizeof stages / sizeof *stages, &number, &word)) {
		tail.order[0] = word < 2 ? -3 : word < 4 ? -2 : -1;
		tail.order[1] = number;
	}
	if (take_tail_word(&text, posts, sizeof posts / sizeof *posts, &number, &word))
		tail.order[2] = number + 1;
	if (take_tail_word(&text, devs, 1, &number, &word)) {
		tail.order[3] = number - FINAL_DEV;
		if (!tail.order[0] && !tail.order[2])
			tail.order[0] = -4; /* before all pre-releases */
	}
	if (*text == '+') {
		for (text++; used + 1 < WHEEL_LOCAL &&
					 (text_is_alnum(*text) || (used && *text && strchr("._-", *text)));
			 text++)
			tail.local[used++] = (char)(text_is_alnum(*text) ? tolower((unsigned char)*text) : '.');
		if (!used)
			return false;
	}
	*ret_tail = tail;
	return !*text;
}

bool wheel_is_final(const struct wheel_tail *tail)
{
	return !tail->order[0] && !tail->order[3];
}

static int order_tails(const struct wheel_tail *a, const struct wheel_tail *b)
{
	for (size_t i = 0; i < 4; i++)
		if (a->order[i] != b->order[i])
			return a->order[i] > b->order[i] ? 1 : -1;
	return 0;
}

bool wheel_version_read(const char *text, struct wheel_named *named)
{
	const char *rest;

	return version_read(text, &named->version, &rest) && wheel_tail_read(rest, &named->tail);
}

/* NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM[.PLATFORM…].whl. Nothing else gets into a path. */
bool wheel_name_read(const struct wheel_wanted *wanted, const char *name,
					 struct wheel_named *ret_named)
{
	char copy[WHEEL_MOST_NAME], package[PACKAGE_MOST_NAME], *parts[6], *at = copy;
	struct wheel_named named = {.rank = -1};
	size_t count = 0;

	if (!text_ends(name, ".whl") || strlen(name) >= sizeof copy)
		return false;
	for (const char *c = name; *c; c++)
		if (!text_is_alnum(*c) && !strchr("._+!-", *c))
			return false;
	TEXT_COPY(copy, name);
	copy[strlen(copy) - strlen(".whl")] = 0;
	for (; at && count < 6; count++) {
		parts[count] = at;
		if ((at = strchr(at, '-')))
			*at++ = 0;
	}
	if (at || count < 5 || !package_normalise(parts[0], strlen(parts[0]), package) ||
		strcmp(package, wanted->package) != 0 || !wheel_version_read(parts[1], &named))
		return false;
	for (char *tag = parts[count - 1], *dot; tag; tag = dot) {
		int rank;

		if ((dot = strchr(tag, '.')))
			*dot++ = 0;
		rank = rank_platform(wanted->platform, tag);
		named.rank = rank > named.rank ? rank : named.rank;
	}
	*ret_named = named;
	return true;
}

bool wheel_is_open(const struct wheel_wanted *wanted)
{
	return wanted->version.count < 3 && !order_tails(&wanted->tail, &(struct wheel_tail){0}) &&
		   !*wanted->tail.local;
}

/* What a bound has behind its numbers counts for < and > only where it has something. */
static bool clause_holds(const char *sign, const struct wheel_named *bound, bool prefix,
						 const struct wheel_named *named)
{
	const size_t count = bound->version.count;
	int order = version_order(&named->version, &bound->version, prefix ? count : VERSION_NUMBERS);
	const bool level = !order;

	if (level && !prefix)
		order = order_tails(&named->tail, &bound->tail);
	if (level && !sign[1] && !order_tails(&bound->tail, &(struct wheel_tail){0}))
		return false;
	if (*sign == '=' || *sign == '!')
		return (!order && (!*bound->tail.local || !strcmp(bound->tail.local, named->tail.local))) ==
			   (*sign == '=');
	if (*sign == '~')
		return order >= 0 && !version_order(&named->version, &bound->version, count - 1);
	return *sign == '<' ? order < !!sign[1] : order > -!!sign[1];
}

bool wheel_ranges_read(const char *text, const struct wheel_named *named, bool *ret_hold)
{
	static const char *const signs[] = {"==", "!=", "~=", "<=", ">=", "<", ">"};
	enum { SIGNS = sizeof signs / sizeof *signs };
	bool final = wheel_is_final(&named->tail); /* or a bound is none, and asks for others */

	*ret_hold = true;
	for (size_t length; *text; text += length + (text[length] && text[length + 1])) {
		struct wheel_named bound = {.rank = 0};
		char version[WHEEL_LOCAL * 2];
		size_t sign = 0;
		bool prefix;

		while (sign < SIGNS && !text_starts(text, signs[sign]))
			sign++;
		if (sign == SIGNS)
			return false;
		text += strlen(signs[sign]);
		length = strcspn(text, ",");
		if (length >= sizeof version)
			return false;
		(void)snprintf(version, sizeof version, "%.*s", (int)length, text);
		prefix = sign < 2 && text_ends(version, ".*");
		version[length - (prefix ? 2 : 0)] = 0;
		if (!wheel_version_read(version, &bound) ||
			(signs[sign][0] == '~' && bound.version.count < 2))
			return false;
		*ret_hold = *ret_hold && clause_holds(signs[sign], &bound, prefix, named);
		final = final || !wheel_is_final(&bound.tail);
	}
	*ret_hold = *ret_hold && final;
	return true;
}

bool wheel_is_wanted(const struct wheel_wanted *wanted, const struct wheel_named *named)
{
	bool hold = true;

	if (wanted->ranges && !(wheel_ranges_read(wanted->ranges, named, &hold) && hold))
		return false;
	if (wheel_is_open(wanted))
		return !version_order(&wanted->version, &named->version, wanted->version.count);
	return !version_order(&wanted->version, &named->version, VERSION_NUMBERS) &&
		   !order_tails(&wanted->tail, &named->tail) &&
		   (!*wanted->tail.local || !strcmp(wanted->tail.local, named->tail.local));
}

bool wheel_is_newer(const struct wheel_named *a, const struct wheel_named *b)
{
	int order = wheel_is_final(&a->tail) - wheel_is_final(&b->tail);

	if (!order)
		order = version_order(&a->version, &b->version, VERSION_NUMBERS);
	if (!order)
		order = order_tails(&a->tail, &b->tail);
	if (!order)
		order = strcmp(a->tail.local, b->tail.local);
	return order ? order > 0 : a->rank > b->rank;
}
