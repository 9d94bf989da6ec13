#include "compile/wheel_name.h"

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
		strcmp(package, wanted->package) != 0 ||
		!package_version_read(parts[1], strlen(parts[1]), &named.version) || named.version.odd)
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

bool wheel_is_newer(const struct wheel_named *a, const struct wheel_named *b)
{
	int order = package_version_is_final(&a->version) - package_version_is_final(&b->version);

	if (!order)
		order = package_version_order(&a->version, &b->version);
	if (!order)
		order = strcmp(a->version.label, b->version.label);
	return order ? order > 0 : a->rank > b->rank;
}
