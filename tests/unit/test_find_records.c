/* A search reads each package's record once, has a limit for their sum, and ends when it is told
 * to: another account may have made any number of packages from a few files. */
#include "environments_posix.h"

#define SITE "venv/lib/python3.11/site-packages/"

static struct jw_error why_not;

static void put_environment(void)
{
	put("venv/pyvenv.cfg", "home = /nowhere/bin\n");
	set("VIRTUAL_ENV", "venv");
}

/* Puts a file below package number `number`. */
static void put_described(size_t number, const char *name, const char *content)
{
	put(keep(mem_printf(SITE "p%zu-1.dist-info/%s", number, name)), content);
}

static void link_packages(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *link = keep(mem_printf(SITE "p%zu-1.dist-info", i));

		link_to(link, "../../../store");
	}
}

/* A row, and a hole that is no row: read quickly, and free of cost for who made it. */
static void put_large_record(size_t number)
{
	char *file = keep(mem_printf(SITE "p%zu-1.dist-info/RECORD", number)), *path = keep(at(file));

	put(file, "p/none.so,");
	assert_int_equal(truncate(path, 63 << 20), 0);
}

static size_t notes_with(const struct jw_found *found, const char *part)
{
	size_t count = 0;

	for (size_t i = 0; i < found->note_count; i++)
		count += strstr(found->notes[i].text, part) != NULL;
	return count;
}

CASE(a_record_with_many_names_is_read_once)
{
	struct jw_found *found;

	put_environment();
	put("venv/store/RECORD", "../../../../out.so,,\n");
	link_packages(50);
	found = find_one(NULL);
	assert_int_equal(notes_with(found, "outside of"), 1);
	/* Before METADATA is read, the folder's name is the package's name. */
	assert_int_equal(notes_with(found, "package p"), 1);
	assert_int_equal(notes_with(found, "(null)"), 0);
	jw_result_free(found);
}

CASE(records_have_a_limit_together)
{
	const char *const module = "cv2";
	struct jw_found *found;

	put_environment();
	for (size_t i = 0; i < 10; i++)
		put_large_record(i);
	assert_int_equal(jw_find(&why_not, &(struct jw_find_options){0}, &found), -1);
	assert_int_equal(why_not.code, JW_ERR_LIMIT);
	assert_non_null(strstr(why_not.message, "-1.dist-info: "));
	/* The package with a module is looked for in all records. */
	assert_int_equal(jw_find(&why_not,
							 &(struct jw_find_options){.packages = &module, .package_count = 1},
							 &found),
					 -1);
	assert_int_equal(why_not.code, JW_ERR_LIMIT);
}

CASE(packages_that_require_each_other_are_taken)
{
	enum { PACKAGES = 300 }; /* their requirements are more than a search takes */
	struct buf requires = BUF_MAX(1 << 20);
	struct jw_found *found;

	put_environment();
	buf_add(&requires, "Name: p\nVersion: 1\n");
	for (size_t i = 0; i < PACKAGES; i++)
		OK(buf_printf(why, &requires, "Requires-Dist: p%zu\n", i));
	for (size_t i = 0; i < PACKAGES; i++) {
		put_described(i, "METADATA", buf_text(&requires));
		put_described(i, "RECORD", "");
	}
	buf_free(&requires);
	put(SITE "last.so", "x");
	put_described(PACKAGES - 1, "RECORD", "last.so,,\n");
	found = find_one("p0");
	expect_file(found, SITE "last.so", "p", "1");
	jw_result_free(found);
}

static bool is_cancelled(void *context)
{
	size_t *left = context;

	return !*left || !--*left;
}

CASE(a_search_of_records_can_be_cancelled)
{
	const char *const module = "cv2";
	size_t left = 3;
	struct jw_find_options options = {.cancel = {.is_cancelled = is_cancelled, .context = &left}};
	struct jw_found *found;

	put_environment();
	put_described(0, "RECORD", "p/a.so,,\np/b.so,,\np/c.so,,\np/d.so,,\n");
	assert_int_equal(jw_find(&why_not, &options, &found), -1);
	assert_int_equal(why_not.code, JW_ERR_INTERRUPTED);
	left = 1;
	options.packages = &module;
	options.package_count = 1;
	assert_int_equal(jw_find(&why_not, &options, &found), -1);
	assert_int_equal(why_not.code, JW_ERR_INTERRUPTED);
}

RUN_TESTS(NULL, NULL)
