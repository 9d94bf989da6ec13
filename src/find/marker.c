#include "find/marker.h"

#include <stdio.h>
#include <string.h>

#include "base/pep440.h"

enum { MAX_VALUE = 256, MAX_DEPTH = 32 };

struct marker {
	const char *at;
	const struct marker_place *place;
	char extra[PACKAGE_MAX_NAME]; /* normalised; "" for none */
	unsigned depth;
	bool malformed, is_extra; /* the comparison is of extras, whose spelling varies (PEP 685) */
};

static void skip_space(struct marker *marker)
{
	marker->at += strspn(marker->at, " \t");
}

static bool take(struct marker *marker, const char *word)
{
	const size_t length = strlen(word);

	skip_space(marker);
	if (!text_starts(marker->at, word) ||
		(text_is_alnum(*word) && (text_is_alnum(marker->at[length]) || marker->at[length] == '_')))
		return false;
	marker->at += length;
	return true;
}

/* Reads a string or a variable, whose value is that of the place. */
static void read_value(struct marker *marker, char value[MAX_VALUE])
{
	const bool windows = !strcmp(marker->place->platform, "windows"),
			   arm = !strcmp(marker->place->platform, "linux-aarch64");
	char full[MAX_VALUE];
	const struct {
		const char *name, *value;
	} variables[] = {
		{"python_full_version", full},
		{"python_version", marker->place->python},
		{"implementation_version", full},
		{"implementation_name", "cpython"},
		{"platform_python_implementation", "CPython"},
		{"platform.python_implementation", "CPython"},
		{"python_implementation", "CPython"},
		{"platform_system", windows ? "Windows" : "Linux"},
		{"platform_machine", windows ? "AMD64"
							 : arm   ? "aarch64"
									 : "x86_64"},
		{"platform.machine", windows ? "AMD64"
							 : arm   ? "aarch64"
									 : "x86_64"},
		{"platform_release", ""},
		{"platform_version", ""},
		{"platform.version", ""},
		{"sys_platform", windows ? "win32" : "linux"},
		{"sys.platform", windows ? "win32" : "linux"},
		{"os_name", windows ? "nt" : "posix"},
		{"os.name", windows ? "nt" : "posix"},
		{"extra", marker->extra},
	};

	(void)snprintf(full, sizeof full, "%.64s.0", marker->place->python);
	*value = '\0';
	skip_space(marker);
	if (*marker->at == '\'' || *marker->at == '"') {
		const char quote = *marker->at++, *end = strchr(marker->at, quote);

		marker->malformed = marker->malformed || !end || end - marker->at >= MAX_VALUE;
		if (marker->malformed)
			return;
		memcpy(value, marker->at, (size_t)(end - marker->at));
		value[end - marker->at] = '\0';
		marker->at = end + 1;
		return;
	}
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (take(marker, variables[i].name)) {
			text_copy(value, MAX_VALUE, variables[i].value);
			marker->is_extra = marker->is_extra || !strcmp(variables[i].name, "extra");
			return;
		}
	marker->malformed = true;
}

/* Compares as versions if the right side is one, else as texts. A left side that is no version, as
 * an empty variable, does not compare with one. */
static bool compare(const char *left, const char *operation, const char *right)
{
	char clause[MAX_VALUE + 8];
	struct pep440 version = {.epoch = 0};
	const bool is_version = pep440_read(left, &version);
	bool valid, agrees;
	const int order = strcmp(left, right);

	if (!strcmp(operation, "in"))
		return strstr(right, left) != NULL;
	(void)snprintf(clause, sizeof clause, "%s%s", operation, right);
	agrees = pep440_agrees(&version, clause, &valid);
	if (valid)
		return is_version && agrees;
	return !strcmp(operation, "!=")   ? order != 0
		   : !strcmp(operation, "<=") ? order <= 0
		   : !strcmp(operation, ">=") ? order >= 0
		   : !strcmp(operation, "<")  ? order < 0
		   : !strcmp(operation, ">")  ? order > 0
									  : strcmp(operation, "~=") != 0 && !order;
}

static bool read_either(struct marker *marker);

/* Reads a comparison, or a marker in parentheses. */
static bool read_one(struct marker *marker)
{
	/* The longer ones come first. */
	static const char *const operations[] = {
		"===", "~=", "==", "!=", "<=", ">=", "<", ">", "in", NULL};
	char left[MAX_VALUE], right[MAX_VALUE];
	const char *operation = NULL;
	bool holds, negated;

	if (take(marker, "(")) {
		marker->malformed = marker->malformed || marker->depth++ == MAX_DEPTH;
		holds = !marker->malformed && read_either(marker);
		marker->malformed = marker->malformed || !take(marker, ")");
		marker->depth--;
		return holds;
	}
	marker->is_extra = false;
	read_value(marker, left);
	negated = take(marker, "not");
	if (negated)
		operation = take(marker, "in") ? "in" : NULL;
	else
		for (size_t i = 0; operations[i] && !operation; i++)
			operation = take(marker, operations[i]) ? operations[i] : NULL;
	read_value(marker, right);
	marker->malformed = marker->malformed || !operation;
	if (!marker->malformed && marker->is_extra && strchr("=!", *operation)) {
		char one[PACKAGE_MAX_NAME] = "", other[PACKAGE_MAX_NAME] = "";

		(void)package_normalise(left, strlen(left), one);
		(void)package_normalise(right, strlen(right), other);
		return !strcmp(one, other) == (*operation == '=');
	}
	return !marker->malformed && compare(left, operation, right) != negated;
}

static bool read_both(struct marker *marker)
{
	bool holds = read_one(marker);

	while (!marker->malformed && take(marker, "and"))
		holds = read_one(marker) && holds;
	return holds;
}

static bool read_either(struct marker *marker)
{
	bool holds = read_both(marker);

	while (!marker->malformed && take(marker, "or"))
		holds = read_both(marker) || holds;
	return holds;
}

static bool holds_with(const char *text, const struct marker_place *place, const char *extra,
					   size_t length)
{
	struct marker marker = {.at = text, .place = place};
	bool holds;

	if (length && !package_normalise(extra, length, marker.extra))
		return false;
	holds = read_either(&marker);
	skip_space(&marker);
	return holds && !marker.malformed && !*marker.at;
}

bool marker_holds(const char *text, const struct marker_place *place)
{
	static const char between[] = "[], ";
	bool holds = holds_with(text, place, "", 0);

	for (const char *at = place->extras ? place->extras : ""; *at && !holds;) {
		const size_t length = strcspn(at += strspn(at, between), between);

		holds = length && holds_with(text, place, at, length);
		at += length;
	}
	return holds;
}
