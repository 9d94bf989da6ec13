#include "base/packages.h"

#include <string.h>

#include "base/pep440.h"
#include "base/text.h"

static const struct package_fact facts[] = {
#include "packages.inc"
};

const struct package_fact *package_fact_next(const char *kind, size_t *at)
{
	while (*at < sizeof facts / sizeof *facts)
		if (!strcmp(facts[(*at)++].kind, kind))
			return &facts[*at - 1];
	return NULL;
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
	const struct package_fact *fact;
	const char *base = path;

	for (const char *at = path; (at = strpbrk(at, "/\\"));)
		base = ++at;
	base += text_starts(base, "lib") ? strlen("lib") : 0;
	for (size_t at = 0; (fact = package_fact_next(kind, &at));)
		if (text_starts_fold(base, fact->name))
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

unsigned package_fact_number(const char *value)
{
	uint64_t number = 0;

	return value && text_number(value, UINT32_MAX, &number) ? (unsigned)number : 0;
}
