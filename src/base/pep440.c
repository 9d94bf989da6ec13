#include "base/pep440.h"

#include <stdio.h>
#include <string.h>

/* Skips one of the separators that spellings may have. */
static const char *skip_mark(const char *at)
{
	return at + (*at == '.' || *at == '-' || *at == '_');
}

/* Reads a number; a missing one is 0. NULL if it is too large. */
static const char *read_number(const char *at, uint64_t *ret_number)
{
	enum { MAX_DIGITS = 18 };
	const size_t digits = strspn(at, "0123456789");

	*ret_number = 0;
	for (size_t i = 0; i < digits && i < MAX_DIGITS; i++)
		*ret_number = *ret_number * 10 + (uint64_t)(at[i] - '0');
	return digits > MAX_DIGITS ? NULL : at + digits;
}

/* Reads one of these words, with separators and a number. Returns the rest, `at` if there is no
 * such word, or NULL. */
static const char *read_part(const char *at, const char *const *words, size_t *ret_word,
							 uint64_t *ret_number)
{
	const char *word = skip_mark(at);

	for (*ret_word = 0; words[*ret_word]; ++*ret_word)
		if (text_starts_fold(word, words[*ret_word])) {
			const char *number = word + strlen(words[*ret_word]);
			const char *marked = skip_mark(number);

			return read_number(text_is_digit(*marked) ? marked : number, ret_number);
		}
	return at;
}

/* Reads "+cu12.6". NULL if it is malformed. */
static const char *read_local_version(const char *at, char local[PEP440_MOST_LOCAL])
{
	size_t length = 0;

	for (at++; text_is_alnum(*at) || *at == '.' || *at == '-' || *at == '_'; at++) {
		const bool mark = !text_is_alnum(*at);

		if (length + 1 == PEP440_MOST_LOCAL || (mark && (!length || !text_is_alnum(at[1]))))
			return NULL;
		local[length++] = (char)(mark ? '.' : *at >= 'A' && *at <= 'Z' ? *at + 'a' - 'A' : *at);
	}
	local[length] = '\0';
	return length ? at : NULL;
}

/* Reads a version up to its end, or up to ".*" if `ret_prefix` is not NULL. */
static bool read_version(const char *text, struct pep440 *ret_version, bool *ret_prefix)
{
	static const char
		*const phases[] = {"alpha", "a", "beta", "b", "preview", "pre", "rc", "c", NULL},
			   *const posts[] = {"post", "rev", "r", NULL}, *const devs[] = {"dev", NULL};
	struct pep440 version = {.epoch = 0};
	const char *at = text + (*text == 'v' || *text == 'V'), *next;
	size_t word;

	next = at + strspn(at, "0123456789");
	if (*next == '!' && (next == at || !read_number(at, &version.epoch)))
		return false;
	if (!version_read(*next == '!' ? next + 1 : at, &version.release, &at))
		return false;
	next = read_part(at, phases, &word, &version.pre);
	if (!next)
		return false;
	if (next != at)
		version.phase = "aabbrrrr"[word];
	at = next;
	if (*at == '-' && text_is_digit(at[1])) {
		version.is_post = true;
		at = read_number(at + 1, &version.post);
	} else {
		next = read_part(at, posts, &word, &version.post);
		version.is_post = next && next != at;
		at = next;
	}
	next = at ? read_part(at, devs, &word, &version.dev) : NULL;
	version.is_dev = next && next != at;
	at = next;
	if (at && *at == '+')
		at = read_local_version(at, version.local);
	if (!at)
		return false;
	if (ret_prefix) {
		*ret_prefix = !strcmp(at, ".*");
		at += *ret_prefix ? 2 : 0;
	}
	if (*at)
		return false;
	*ret_version = version;
	return true;
}

bool pep440_read(const char *text, struct pep440 *ret_version)
{
	return read_version(text, ret_version, NULL);
}

static int order_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* A development release is before all others of its kind; without a pre-release and a post-release
 * it is also before all pre-releases. */
static unsigned phase_rank(const struct pep440 *version)
{
	return version->phase                         ? (unsigned)version->phase
		   : version->is_dev && !version->is_post ? 0
												  : UINT8_MAX;
}

/* Compares two numbers with any count of digits. */
static int order_digits(const char *a, size_t left, const char *b, size_t right)
{
	for (; left && *a == '0'; left--)
		a++;
	for (; right && *b == '0'; right--)
		b++;
	return left != right ? order_numbers(left, right) : strncmp(a, b, left);
}

/* Compares part by part: numbers are above words, and a longer label is above its beginning. */
static int order_locals(const char *a, const char *b)
{
	int order = 0;

	while (!order && *a && *b) {
		const size_t left = strcspn(a, "."), right = strcspn(b, ".");
		const bool left_number = strspn(a, "0123456789") == left,
				   right_number = strspn(b, "0123456789") == right;

		if (left_number != right_number)
			order = left_number ? 1 : -1;
		else if (left_number)
			order = order_digits(a, left, b, right);
		else
			order = strncmp(a, b, left > right ? left : right);
		a += left + (a[left] == '.');
		b += right + (b[right] == '.');
	}
	return order ? order : (*a != 0) - (*b != 0);
}

/* Compares without the local labels. */
static int order_public(const struct pep440 *a, const struct pep440 *b)
{
	int order = order_numbers(a->epoch, b->epoch);

	order = order ? order : version_order(&a->release, &b->release, VERSION_NUMBERS);
	order = order ? order : order_numbers(phase_rank(a), phase_rank(b));
	order = order ? order : order_numbers(a->pre, b->pre);
	order = order ? order
				  : order_numbers(a->is_post ? a->post + UINT64_C(1) : 0,
								  b->is_post ? b->post + UINT64_C(1) : 0);
	return order ? order
				 : order_numbers(a->is_dev ? a->dev : UINT64_MAX, b->is_dev ? b->dev : UINT64_MAX);
}

/* Returns a negative number, 0 or a positive one. */
int pep440_order(const struct pep440 *a, const struct pep440 *b)
{
	const int order = order_public(a, b);

	return order ? order : order_locals(a->local, b->local);
}

/* Returns whether a version begins with the numbers of "2.1.*". */
static bool has_prefix(const struct pep440 *version, const struct pep440 *prefix, size_t count)
{
	return version->epoch == prefix->epoch &&
		   !version_order(&version->release, &prefix->release, count);
}

/* Returns whether two versions differ only in what follows their numbers. */
static bool is_same_release(const struct pep440 *a, const struct pep440 *b)
{
	return has_prefix(a, b, VERSION_NUMBERS);
}

bool pep440_agrees(const struct pep440 *version, const char *clause, bool *ret_valid)
{
	static const char *const operators[] = {"~=", "==", "!=", "<=", ">=", "<", ">", NULL};
	size_t which = 0;
	struct pep440 than;
	bool prefix = false;
	int order;

	while (operators[which] && !text_starts(clause, operators[which]))
		which++;
	*ret_valid = operators[which] != NULL;
	if (*ret_valid) {
		clause += strlen(operators[which]);
		clause += strspn(clause, " \t");
		*ret_valid = read_version(clause, &than, which == 1 || which == 2 ? &prefix : NULL) &&
					 !(prefix && (than.is_dev || *than.local)) &&
					 (which == 1 || which == 2 || !*than.local) &&
					 (which || than.release.count > 1);
	}
	if (!*ret_valid)
		return false;
	order = *than.local ? pep440_order(version, &than) : order_public(version, &than);
	switch (which) {
	case 0: return order >= 0 && has_prefix(version, &than, than.release.count - 1);
	case 1: return prefix ? has_prefix(version, &than, than.release.count) : !order;
	case 2: return prefix ? !has_prefix(version, &than, than.release.count) : order != 0;
	case 3: return order <= 0;
	case 4: return order >= 0;
	/* The pre-releases of a version are not below it, and its post-releases are not above it. */
	case 5:
		return order < 0 && (than.phase || than.is_dev || !(version->phase || version->is_dev) ||
							 !is_same_release(version, &than));
	default:
		return order > 0 && (than.is_post || !version->is_post || !is_same_release(version, &than));
	}
}

bool pep440_fits(const char *version, const char *specifier, bool *ret_valid)
{
	struct pep440 read;
	bool fits = pep440_read(version, &read);

	*ret_valid = true;
	while (*ret_valid && *(specifier += strspn(specifier, ", \t"))) {
		char clause[128];
		const size_t length = strcspn(specifier, ",");

		(void)snprintf(clause, sizeof clause, "%.*s", (int)length, specifier);
		if (length >= sizeof clause)
			*ret_valid = false;
		else if (!pep440_agrees(&read, clause, ret_valid))
			fits = false;
		specifier += length;
	}
	return fits && *ret_valid;
}

static int order_texts(const char *a, const char *b)
{
	struct pep440 left, right;
	const bool is_left = pep440_read(a, &left), is_right = pep440_read(b, &right);

	return is_left && is_right   ? pep440_order(&left, &right)
		   : is_left != is_right ? is_left - is_right
								 : strcmp(a, b);
}

bool version_is_newer(const char *a, const char *b)
{
	return order_texts(a, b) > 0;
}

bool version_is_same(const char *a, const char *b)
{
	return !order_texts(a, b);
}

bool version_is_build_of(const char *labelled, const char *version)
{
	struct pep440 build, of;

	if (!pep440_read(labelled, &build) || !pep440_read(version, &of) || !*build.local || *of.local)
		return false;
	*build.local = '\0';
	return !pep440_order(&build, &of);
}
