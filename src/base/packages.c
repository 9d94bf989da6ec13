#include "base/packages.h"

#include <string.h>

#include "base/pep440.h"
#include "base/text.h"

static const struct package_fact facts[] = {
#include "packages.inc"
};

const struct package_fact *package_fact_next(const char *kind, size_t *at)
{
	enum { COUNT = sizeof facts / sizeof *facts };

	/* The rows of a kind follow one another. */
	if (!*at)
		while (*at < COUNT && strcmp(facts[*at].kind, kind) != 0)
			++*at;
	return *at < COUNT && !strcmp(facts[*at].kind, kind) ? &facts[(*at)++] : NULL;
}

const struct package_fact *package_fact_of(const char *kind, const char *name)
{
	const struct package_fact *fact;

	for (size_t at = 0; (fact = package_fact_next(kind, &at));)
		if (!strcmp(fact->name, name))
			return fact;
	return NULL;
}

const struct package_fact *package_fact_library(const char *kind, const char *path)
{
	const char *base = path;

	for (const char *at = path; (at = strpbrk(at, "/\\"));)
		base = ++at;
	return package_fact_begins(kind, base + (text_starts(base, "lib") ? strlen("lib") : 0));
}

const struct package_fact *package_fact_begins(const char *kind, const char *text)
{
	const struct package_fact *fact;

	for (size_t at = 0; (fact = package_fact_next(kind, &at));)
		if (text_starts_fold(text, fact->name))
			return fact;
	return NULL;
}

const struct package_fact *package_fact_inside(const char *kind, const char *path)
{
	const struct package_fact *fact;

	for (size_t at = 0; (fact = package_fact_next(kind, &at));)
		for (const char *place = path; *place; place++)
			if (text_starts_fold(place, fact->name))
				return fact;
	return NULL;
}

const struct package_fact *package_fact_release(const char *kind, const char *package,
												const char *version)
{
	const struct package_fact *fact;

	for (size_t at = 0; (fact = package_fact_next(kind, &at));)
		if (!strcmp(fact->name, package) && !version_is_newer(fact->values[0], version))
			return fact;
	return NULL;
}

uint32_t package_fact_bit(const char *kind, const char *name)
{
	const struct package_fact *fact;
	uint32_t bit = 1;

	for (size_t at = 0; (fact = package_fact_next(kind, &at)); bit <<= 1)
		if (!strcmp(fact->name, name))
			return bit;
	return 0;
}

const char *package_fact_value(const struct package_fact *fact, size_t at)
{
	const char *value = fact->values[at];

	return value && strcmp(value, "-") != 0 ? value : NULL;
}

unsigned package_fact_number(const char *value)
{
	uint64_t number = 0;

	return value && text_number(value, UINT32_MAX, &number) ? (unsigned)number : 0;
}
