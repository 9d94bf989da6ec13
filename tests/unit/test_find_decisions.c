/* Each decide(), for all combinations of its facts, is the table tests/data/decisions/NAME. A line
 * has the facts that lead to a value: those with “-” are false, and those that are not named make
 * no difference. After an intended change:
 *
 *     DECISIONS_RECORD=1 build/release/tests/unit/unit find_decisions
 */
#include "check.h"

#include "base/buf.h"
#include "base/mem.h"
#include "find/name_decisions.h"
#include "os/file.h"

enum { FACTS_MAX = 16 };

struct decision {
	const char *name;
	const char *const *facts; /* the names of the struct's members, in their order */
	size_t fact_count;
	int (*decide)(const bool *facts);
	const char *const *values; /* the names of the enum's values */
};

#define FACTS_OF(what, ...)                                                                        \
	static const char *const what##_names[] = {__VA_ARGS__};                                       \
	_Static_assert(sizeof what##_names / sizeof *what##_names == sizeof(struct what##_facts),      \
				   "a name for each fact");                                                        \
	static int what##_of(const bool *facts)                                                        \
	{                                                                                              \
		struct what##_facts all;                                                                   \
                                                                                                   \
		memcpy(&all, facts, sizeof all);                                                           \
		return (int)what##_decide(&all);                                                           \
	}
#define DECISION(what)                                                                             \
	{                                                                                              \
#what, what##_names, sizeof what##_names / sizeof *what##_names, what##_of, what##_values  \
	}
#define V(value) [value] = #value

FACTS_OF(absent, "environment", "near", "project", "others", "asks_index", "installation")
static const char *const absent_values[] = {V(ABSENT_NO_ENVIRONMENT), V(ABSENT_NEAR),
											V(ABSENT_PROJECT),        V(ABSENT_OTHERS),
											V(ABSENT_NOT_ACTIVE),     V(ABSENT)};

FACTS_OF(no_code, "unread", "code", "empty", "pack", "source", "sources", "compressed", "text",
		 "packages", "project", "python")
static const char *const no_code_values[] = {
	V(NO_CODE_IS_CODE),    V(NO_CODE_EMPTY),    V(NO_CODE_PACK),    V(NO_CODE_SOURCE),
	V(NO_CODE_COMPRESSED), V(NO_CODE_PACKAGES), V(NO_CODE_PROJECT), V(NO_CODE_PYTHON),
	V(NO_CODE_TEXT),       V(NO_CODE_OTHER)};

static const struct decision decisions[] = {
	DECISION(absent),
	DECISION(no_code),
};

/* Says whether all combinations of the facts from `first` on lead to one value. */
static bool is_settled(const struct decision *decision, const bool *facts, size_t first)
{
	const size_t free = decision->fact_count - first;
	bool all[FACTS_MAX];
	int value = 0;

	memcpy(all, facts, sizeof all);
	for (size_t row = 0; row < (size_t)1 << free; row++) {
		for (size_t i = 0; i < free; i++)
			all[first + i] = row >> i & 1;
		if (row && decision->decide(all) != value)
			return false;
		value = decision->decide(all);
	}
	return true;
}

/* Says whether the fact makes no difference, whatever the facts after it are. */
static bool is_idle(const struct decision *decision, const bool *facts, size_t fact)
{
	const size_t free = decision->fact_count - fact - 1;
	bool all[FACTS_MAX];

	memcpy(all, facts, sizeof all);
	for (size_t row = 0; row < (size_t)1 << free; row++) {
		int value;

		for (size_t i = 0; i < free; i++)
			all[fact + 1 + i] = row >> i & 1;
		all[fact] = false;
		value = decision->decide(all);
		all[fact] = true;
		if (decision->decide(all) != value)
			return false;
	}
	return true;
}

static void print_branch(struct buf *table, const struct decision *decision, bool *facts,
						 size_t fact, const char *so_far)
{
	if (is_settled(decision, facts, fact)) {
		buf_add(table, "%s:%s\n", decision->values[decision->decide(facts)], so_far);
		return;
	}
	if (is_idle(decision, facts, fact)) {
		print_branch(table, decision, facts, fact + 1, so_far);
		return;
	}
	for (int is = 0; is < 2; is++) {
		char *line = mem_printf("%s %s%s", so_far, is ? "" : "-", decision->facts[fact]);

		facts[fact] = is;
		print_branch(table, decision, facts, fact + 1, line);
		mem_free(line);
	}
	facts[fact] = false;
}

TEST(every_combination_has_the_stored_value)
{
	for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
		struct buf table = BUF_MAX(1 << 20), stored = BUF_MAX(1 << 20);
		char *path = mem_printf(JITWARM_SOURCE_DIR "/tests/data/decisions/%s", decisions[i].name);
		bool facts[FACTS_MAX] = {0};

		print_branch(&table, &decisions[i], facts, 0, "");
		if (getenv("DECISIONS_RECORD"))
			OK(os_write_atomic(why, path, table.data, table.size));
		OK(os_read_file(why, path, 1 << 20, &stored));
		assert_string_equal(buf_text(&table), buf_text(&stored));
		mem_free(path);
		buf_free(&stored);
		buf_free(&table);
	}
}

RUN_TESTS(NULL, NULL)
