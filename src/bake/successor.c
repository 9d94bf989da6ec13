#include "bake/successor.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/requirement.h"
#include "os/file.h"
#include "package/package_row.h"

enum { LEAST_HASH = 8 };

/* The length of "-0a1b2c3d" before a dot or another dash; 0: there is none. */
static size_t hash_length(const char *text)
{
	const size_t digits = *text == '-' ? strspn(text + 1, "0123456789abcdef") : 0;

	return digits >= LEAST_HASH && (text[digits + 1] == '.' || text[digits + 1] == '-') ? digits + 1
																						: 0;
}

/* Behind what may differ. */
static const char *skip_varying(const char *text)
{
	const size_t hash = hash_length(text);

	return text + (hash ? hash : strspn(text, "0123456789"));
}

bool successor_is_alike(const char *a, const char *b)
{
	while (*a || *b) {
		const char *after_a = skip_varying(a), *after_b = skip_varying(b);

		if ((after_a == a) != (after_b == b) || (after_a == a && *a != *b))
			return false;
		a = after_a == a ? a + 1 : after_a;
		b = after_b == b ? b + 1 : after_b;
	}
	return true;
}

/* The folder that the package is in, and its name: "…/site-packages/a_b-1.0.dist-info/RECORD". */
static bool package_of_record(const char *record, size_t *ret_base,
							  char name[REQUIREMENT_MOST_NAME])
{
	const char *file = os_base_name(record), *folder = file;

	while (folder > record && !(folder < file - 1 && os_is_separator(folder[-1])))
		folder--;
	*ret_base = (size_t)(folder - record);
	return requirement_normalise(folder, strcspn(folder, "-"), name);
}

static bool is_same_package(const char *record, const char *other)
{
	char name[REQUIREMENT_MOST_NAME], other_name[REQUIREMENT_MOST_NAME];
	size_t base, other_base;

	return package_of_record(record, &base, name) &&
		   package_of_record(other, &other_base, other_name) && base == other_base &&
		   !memcmp(record, other, base) && !strcmp(name, other_name);
}

static int was_baked_itself(struct jw_error *err, const char *state_dir, const char *path,
							bool *ret_was)
{
	char *file = journal_file(err, state_dir, path),
		 *next = file ? mem_printf(err, "%s.next", file) : NULL;
	bool there = false, there_next = false;
	int result = !next || os_look(err, file, &there) || os_look(err, next, &there_next);

	mem_free(next);
	mem_free(file);
	*ret_was = there || there_next;
	return result ? -1 : 0;
}

/* Takes `path` over. */
static int judge_successor(struct jw_error *err, const char *state_dir,
						   const struct journal *journal, char *path, struct successors *found)
{
	struct package_row row = {0};
	bool was;
	int result = was_baked_itself(err, state_dir, path, &was);

	if (!result && !was)
		result = package_row_find(err, path, &row);
	if (!result && row.record && is_same_package(journal->record, row.record)) {
		found->count++;
		if (!found->first) {
			found->first = path;
			path = NULL;
		}
	}
	package_row_free(&row);
	mem_free(path);
	return result;
}

static int look_for_successors(struct jw_error *err, const char *state_dir, const char *folder,
							   const struct journal *journal, struct successors *found)
{
	const char *name = os_base_name(journal->path);
	struct jw_error why = {0};
	struct os_names names;
	int result = 0;

	if (os_list(&why, folder, &names))
		return os_holds_nothing(err, folder, &why);
	for (size_t i = 0; !result && i < names.count; i++) {
		char *path = NULL;

		if (names.kinds[i] != OS_REGULAR || !successor_is_alike(name, names.items[i]))
			continue;
		path = os_join(err, folder, names.items[i]);
		result = path ? judge_successor(err, state_dir, journal, path, found) : -1;
	}
	os_names_free(&names);
	return result;
}

int successors_find(struct jw_error *err, const char *state_dir, const struct journal *journal,
					struct successors *ret_successors)
{
	struct successors found = {0};
	char *folder = journal->record ? os_dir_name(err, journal->path) : NULL;
	int result = journal->record && !folder ? -1 : 0;

	if (folder)
		result = look_for_successors(err, state_dir, folder, journal, &found);
	mem_free(folder);
	if (result)
		mem_free(found.first);
	else
		*ret_successors = found;
	return result ? -1 : 0;
}
