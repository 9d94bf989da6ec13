#include "find/package_version.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

enum { MOST_NUMBERS = 8, MOST_TEXT = 64 };

/* Stages in their order; a release without a letter comes after its candidates. */
enum stage { STAGE_DEV, STAGE_ALPHA, STAGE_BETA, STAGE_CANDIDATE, STAGE_RELEASE };

struct version {
	uint64_t epoch, numbers[MOST_NUMBERS];
	size_t count; /* of the numbers, as they are written */
	enum stage stage;
	uint64_t stage_number;
	uint64_t post, dev; /* post: 0 for none, else its number + 1; dev: UINT64_MAX for none */
	char local[MOST_TEXT];
};

/* ---- reading */

static bool read_version_number(const char **at, uint64_t *ret_value)
{
	enum { MOST_DIGITS = 18 };
	uint64_t value = 0;
	size_t digits = 0;

	for (; text_is_digit((*at)[digits]) && digits < MOST_DIGITS; digits++)
		value = value * 10 + (uint64_t)((*at)[digits] - '0');
	if (!digits || text_is_digit((*at)[digits]))
		return false;
	*at += digits;
	*ret_value = value;
	return true;
}

static bool is_version_separator(char c)
{
	return c == '.' || c == '-' || c == '_';
}

/* A word and its number, each behind a separator or none: "rc1", ".post2", "-dev". The number that
 * is left out is 0. */
static bool take_word(const char **at, const char *word, uint64_t *ret_number)
{
	const char *next = *at + is_version_separator(**at);

	if (!text_starts_fold(next, word))
		return false;
	next += strlen(word);
	*ret_number = 0;
	if (text_is_digit(next[is_version_separator(*next)])) {
		next += is_version_separator(*next);
		if (!read_version_number(&next, ret_number))
			return false;
	}
	*at = next;
	return true;
}

static void take_stage(const char **at, struct version *version)
{
	static const struct {
		const char *word;
		enum stage stage;
	} words[] = {{"alpha", STAGE_ALPHA},       {"a", STAGE_ALPHA},
				 {"beta", STAGE_BETA},         {"b", STAGE_BETA},
				 {"rc", STAGE_CANDIDATE},      {"c", STAGE_CANDIDATE},
				 {"preview", STAGE_CANDIDATE}, {"pre", STAGE_CANDIDATE}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (take_word(at, words[i].word, &version->stage_number)) {
			version->stage = words[i].stage;
			return;
		}
}

static void take_post(const char **at, struct version *version)
{
	const char *next = *at + 1;

	if (take_word(at, "post", &version->post) || take_word(at, "rev", &version->post) ||
		take_word(at, "r", &version->post))
		version->post++;
	else if (**at == '-' && read_version_number(&next, &version->post)) {
		version->post++;
		*at = next;
	}
}

/* Reads a version up to the first character that cannot belong to it. */
static bool read_version_text(const char **at, struct version *ret_version)
{
	struct version version = {.stage = STAGE_RELEASE, .dev = UINT64_MAX};
	const char *next = *at + (**at == 'v' || **at == 'V');
	uint64_t number;

	if (!read_version_number(&next, &number))
		return false;
	if (*next == '!') {
		version.epoch = number;
		next++;
		if (!read_version_number(&next, &number))
			return false;
	}
	version.numbers[version.count++] = number;
	while (*next == '.' && text_is_digit(next[1])) {
		next++;
		if (version.count == MOST_NUMBERS ||
			!read_version_number(&next, &version.numbers[version.count++]))
			return false;
	}
	take_stage(&next, &version);
	take_post(&next, &version);
	(void)take_word(&next, "dev", &version.dev);
	if (*next == '+') {
		const size_t length = strspn(next + 1, "abcdefghijklmnopqrstuvwxyz"
											   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

		if (!length || length >= sizeof version.local)
			return false;
		text_copy(version.local, length + 1, next + 1);
		next += length + 1;
	}
	*at = next;
	*ret_version = version;
	return true;
}

/* ---- order */

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Of the first `count` numbers; those that are missing are 0. */
static int order_of_numbers(const struct version *a, const struct version *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a->numbers[i] != b->numbers[i])
			return order(a->numbers[i], b->numbers[i]);
	return 0;
}

/* A release that has only a ".dev" part comes before its alphas. */
static enum stage stage_of(const struct version *version)
{
	return version->stage == STAGE_RELEASE && !version->post && version->dev != UINT64_MAX
			   ? STAGE_DEV
			   : version->stage;
}

static int order_of(const struct version *a, const struct version *b)
{
	int result = order(a->epoch, b->epoch);

	result = result ? result : order_of_numbers(a, b, MOST_NUMBERS);
	result = result ? result : order(stage_of(a), stage_of(b));
	result = result ? result : order(a->stage_number, b->stage_number);
	result = result ? result : order(a->post, b->post);
	return result ? result : order(a->dev, b->dev);
}

/* Before the release that its numbers name. */
static bool is_candidate(const struct version *version)
{
	return version->stage != STAGE_RELEASE || version->dev != UINT64_MAX;
}

static bool has_same_release(const struct version *a, const struct version *b)
{
	return a->epoch == b->epoch && !order_of_numbers(a, b, MOST_NUMBERS);
}

/* ---- clauses */

enum relation { EQUAL, UNEQUAL, LIKE, LESS, MOST, GREATER, LEAST, SAME };

struct clause {
	enum relation relation;
	struct version version;
	bool any_rest; /* ".*" */
	const char *text;
	size_t length;
};

static bool take_relation(const char **at, enum relation *ret_relation)
{
	/* Longer ones first. "=" is conda's, which any rest may follow. */
	static const struct {
		const char *sign;
		enum relation relation;
	} signs[] = {{"===", SAME}, {"==", EQUAL}, {"!=", UNEQUAL}, {"~=", LIKE},
				 {"<=", MOST},  {">=", LEAST}, {"<", LESS},     {">", GREATER}};

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (text_starts(*at, signs[i].sign)) {
			*at += strlen(signs[i].sign);
			*ret_relation = signs[i].relation;
			return true;
		}
	return false;
}

static const char *skip_version_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

static bool take_clause(const char **at, struct clause *ret_clause)
{
	struct clause clause = {.relation = EQUAL};
	const char *next = skip_version_blanks(*at);

	if (!take_relation(&next, &clause.relation)) {
		if (*next++ != '=')
			return false;
		clause.any_rest = true;
	}
	next = skip_version_blanks(next);
	clause.text = next;
	clause.length = strcspn(next, ", \t");
	if (clause.relation == SAME)
		next += clause.length;
	else if (!read_version_text(&next, &clause.version))
		return false;
	if (text_starts(next, ".*") && (clause.relation == EQUAL || clause.relation == UNEQUAL)) {
		clause.any_rest = true;
		next += 2;
	}
	if (!clause.length || (clause.relation == LIKE && clause.version.count < 2))
		return false;
	next = skip_version_blanks(next);
	if (*next && *next != ',')
		return false;
	*at = next + (*next == ',');
	*ret_clause = clause;
	return true;
}

bool version_is_wanted(const char *text)
{
	struct clause clause;

	while (*skip_version_blanks(text))
		if (!take_clause(&text, &clause))
			return false;
	return true;
}

static bool equals(const struct version *version, const struct clause *clause)
{
	const struct version *wanted = &clause->version;

	if (clause->any_rest)
		return version->epoch == wanted->epoch && !order_of_numbers(version, wanted, wanted->count);
	return !order_of(version, wanted) &&
		   (!*wanted->local || text_equal_fold(version->local, wanted->local));
}

static bool satisfies(const struct version *version, const struct clause *clause)
{
	const struct version *wanted = &clause->version;
	const int at = order_of(version, wanted);

	switch (clause->relation) {
	case EQUAL: return equals(version, clause);
	case UNEQUAL: return !equals(version, clause);
	case LIKE:
		return at >= 0 && version->epoch == wanted->epoch &&
			   !order_of_numbers(version, wanted, wanted->count - 1);
	case MOST: return at <= 0;
	case LEAST: return at >= 0;
	/* Neither candidates of the version below it nor its ".post1" above it */
	case LESS:
		return at < 0 && (is_candidate(wanted) || !is_candidate(version) ||
						  (wanted->post &&
						   (version->post != wanted->post || version->stage != wanted->stage)) ||
						  !has_same_release(version, wanted));
	case GREATER:
		return at > 0 &&
			   (wanted->post || wanted->dev != UINT64_MAX || !version->post ||
				version->stage != wanted->stage || version->stage_number != wanted->stage_number ||
				!has_same_release(version, wanted));
	case SAME: break;
	}
	return false;
}

bool version_fits(const char *version, const char *wanted)
{
	struct version is;
	const char *end = version;
	const bool known = read_version_text(&end, &is) && !*end;
	struct clause clause;

	while (*skip_version_blanks(wanted)) {
		if (!take_clause(&wanted, &clause))
			return false;
		if (strlen(version) == clause.length && !strncmp(version, clause.text, clause.length) &&
			(clause.relation == SAME || !known)) {
			if (clause.relation == SAME || clause.relation == EQUAL)
				continue;
			return false;
		}
		if (!known || !satisfies(&is, &clause))
			return false;
	}
	return true;
}
