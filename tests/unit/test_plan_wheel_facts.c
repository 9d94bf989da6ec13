/* A scan of a wheel becomes the lines that a list of wheels has for it, and is found again by its
 * hash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/scan.h>

#include "base/mem.h"
#include "base/pep440.h"
#include "check.h"
#include "code/devcode.h"
#include "find/marker.h"
#include "find/requirement.h"
#include "make_archive.h"
#include "os/file.h"
#include "plan/plan.h"
#include "which/wheel_facts.h"
#include "which/wheel_list.h"

static const char list[] = "jitwarm-wheels 1 2026-11-27\n"
						   "package a\n"
						   "wheel 2.0 linux cp310 a-2.0.whl aaaa\n"
						   "requires b==1.0\n"
						   "library library 12040 a/lib.so\n"
						   "piece 1 registered sm_80\n"
						   "same 1.9 linux cp310 2.0\n"
						   "wheel 1.0 linux cp310 a-1.0.whl bbbb\n"
						   "package b\n"
						   "wheel 1.0 linux py3 b-1.0.whl cccc\n"
						   "library library ~0 b.so\n";

static void found_is(const char *sha256, const char *lines)
{
	char *found = keep(wheel_facts_find(list, sha256));

	if (lines)
		assert_string_equal(found, lines);
	else
		assert_true(!found);
}

TEST(facts_are_found_by_their_hash)
{
	found_is("aaaa", "requires b==1.0\nlibrary library 12040 a/lib.so\npiece 1 registered sm_80\n");
	found_is("bbbb", "");
	found_is("cccc", "library library ~0 b.so\n");
	found_is("dddd", NULL);
	found_is("", NULL);
}

TEST(numbers_of_pieces_and_modules_may_differ)
{
	static const char one[] = "library library 12040 a/lib.1.2.so\n"
							  "piece 3 registered sm_80#12000 compute_80=90a@8.4+3:0.120:4000zr\n";
	static const struct {
		const char *lines;
		bool alike;
	} others[] = {
		{"requires x==1.0\nlibrary library 12040 a/lib.3.so\npiece 4 registered sm_80#12000 "
		 "compute_80=90a@8.4+5:1.000:9zr\n",
		 true},
		{"library library 12040 a/lib.1.2.so\npiece 3 registered sm_80#12000 "
		 "compute_80=90a@8.4zr\n",
		 true},
		{"library library 12050 a/lib.1.2.so\npiece 3 registered sm_80#12000 "
		 "compute_80=90a@8.4zr\n",
		 false},
		{"library library 12040 a/lib.1.2.so\npiece 3 registered sm_86#12000 "
		 "compute_80=90a@8.4zr\n",
		 false},
		{"library library 12040 a/lib.1.2.so\npiece 3 registered sm_80#12000 "
		 "compute_80=90a@8.5zr\n",
		 false},
		{"library library 12040 a/lib.1.2.so\npiece 3 registered sm_80#12000 "
		 "compute_80=90a@8.4r\n",
		 false},
		{"library library 12040 a/lib.1.2.so\npiece 3 loose sm_80#12000 compute_80=90a@8.4zr\n",
		 false},
		{"library library 12040 b/lib.1.2.so\npiece 3 registered sm_80#12000 "
		 "compute_80=90a@8.4zr\n",
		 false},
		{"library library 12040 a/lib.1.2.so\nneeds cublas-11\npiece 3 registered sm_80#12000 "
		 "compute_80=90a@8.4+3:0.120:4000zr\n",
		 false},
		{"", false},
	};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (wheel_facts_alike(one, others[i].lines) != others[i].alike)
			fail_msg("%s", others[i].lines);
}

/* As in scripts/list-wheels.py, pieces that are alike come together, in the order of their words,
 * with the sum of their costs. */
TEST(a_scan_becomes_lines)
{
	const struct jw_target sm_80 = {.sm = 80}, sm_90 = {.sm = 90};
	const struct jw_piece_entry ptx = {.kind = DEVCODE_KIND_PTX,
									   .target = sm_90,
									   .text = sm_90,
									   .isa_major = 8,
									   .isa_minor = 4,
									   .modules = 2,
									   .cost_ms = 1200.4,
									   .ptx_bytes = 500},
								code = {.kind = DEVCODE_KIND_CUBIN,
										.target = sm_80,
										.isa_major = 1,
										.isa_minor = 7,
										.toolkit = 12040,
										.zstd = true},
								old = {.kind = DEVCODE_KIND_CUBIN,
									   .target = sm_80,
									   .isa_major = 1,
									   .isa_minor = 7,
									   .toolkit = 12040,
									   .cuda = 12000,
									   .zstd = true};
	const struct jw_piece pieces[] = {
		{.containers = 2, .role = DEVCODE_REGISTERED, .entries = &ptx, .entry_count = 1},
		{.containers = 1, .role = DEVCODE_LOOSE, .entries = &code, .entry_count = 1},
		{.containers = 3, .role = DEVCODE_REGISTERED, .entries = &ptx, .entry_count = 1},
		{.containers = 1, .role = DEVCODE_LOOSE, .entries = &old, .entry_count = 1},
	};
	const struct jw_scan_image image = {.path = "a.whl",
										.member = "a/lib.so",
										.library = true,
										.runtime_cuda = 12000,
										.runtime_shared = true,
										.pieces = pieces,
										.piece_count = 4};
	struct wheel_facts facts = {.items = NULL};

	OK(wheel_facts_add(why, &facts, &image));
	assert_string_equal(buf_text(&facts.items[0].lines),
						"library library 12040 a/lib.so\n"
						"piece 2 loose sm_80#12000z\n"
						"piece 5 registered compute_90@8.4+4:2.400:1000\n");
	wheel_facts_free(&facts);
}

/* A library without code only needs a driver that its CUDA runtime takes. */
TEST(a_library_without_code_is_a_line)
{
	static const char wheel_text[] = "jitwarm-wheels 1 2026-11-27\npackage a\n"
									 "wheel 2.0 linux cp310 a-2.0.whl aaaa\n"
									 "library library 12000 a/_c.so\n"
									 "same 1.9 linux cp310 2.0\n";
	static const char code[] = "library library ~0 a/b.so\npiece 1 registered sm_80\n",
					  both[] = "library library 12000 a/_c.so\n"
							   "library library ~0 a/b.so\npiece 1 registered sm_80\n";
	const struct jw_scan_image image = {.path = "a.whl",
										.member = "a/_c.so",
										.library = true,
										.runtime_cuda = 12000,
										.runtime_shared = true};
	struct wheel_facts facts = {.items = NULL};
	char *lines = keep(wheel_facts_find(wheel_text, "aaaa"));
	struct wheel_list read;

	OK(wheel_facts_add(why, &facts, &image));
	assert_string_equal(buf_text(&facts.items[0].lines), "library library 12000 a/_c.so\n");
	wheel_facts_free(&facts);
	assert_string_equal(lines, "library library 12000 a/_c.so\n");
	assert_true(wheel_facts_alike(code, both) && wheel_facts_alike(both, code));
	OK(wheel_list_read(why, "list", wheel_text, strlen(wheel_text), "a", &read));
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(read.wheels[i].library_count, 1);
		assert_int_equal(read.wheels[i].libraries[0].facts.piece_count, 0);
		assert_int_equal(read.wheels[i].libraries[0].facts.runtime_cuda, 12000);
	}
	wheel_list_free(&read);
}

/* Cuts off the next word of a line with tabs. */
static char *next_cell(char **line)
{
	char *cell = *line, *end = strchr(cell, '\t');

	*line = end ? end + 1 : cell + strlen(cell);
	if (end)
		*end = '\0';
	return cell;
}

static void check_order(char *rest)
{
	const char *left = next_cell(&rest), *sign = next_cell(&rest), *right = next_cell(&rest);

	if (*sign == '=' ? !version_is_same(left, right)
					 : !version_is_newer(right, left) || version_is_newer(left, right))
		fail_msg("not %s %s %s", left, sign, right);
}

static void check_marker(char *rest)
{
	const struct marker_place place = {.platform = next_cell(&rest), .python = next_cell(&rest)};
	const char *marker = next_cell(&rest);

	if (marker_holds(marker, &place) != !strcmp(rest, "yes"))
		fail_msg("%s, Python %s: %s: not %s", place.platform, place.python, marker, rest);
}

/* Calls `check` with each line of tests/data/requirements.tsv of this kind. */
static size_t each_line(const char *kind, void (*check)(char *rest))
{
	char *path = keep(os_join(JITWARM_SOURCE_DIR, "tests/data/requirements.tsv")), *text;
	struct buf content = {0};
	size_t tried = 0;

	OK(os_read_file(why, path, 1 << 20, &content));
	text = keep(mem_string(buf_text(&content)));
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (*line == '#' || strcmp(next_cell(&line), kind) != 0)
			continue;
		check(line);
		tried++;
	}
	buf_free(&content);
	return tried;
}

/* A requirement counts on the platform, with the Python and the extras, or it does not. */
static void check_requires(char *rest)
{
	const struct marker_place place = {
		.platform = next_cell(&rest), .python = next_cell(&rest), .extras = next_cell(&rest)};
	const char *text = next_cell(&rest);
	struct required required;
	char found[2 * PACKAGE_MAX_NAME] = "-";

	if (required_read(text, &required) &&
		(!*required.marker || marker_holds(required.marker, &place)))
		(void)text_format(found, sizeof found, "%s %s", required.is.name,
						  *required.versions ? required.versions : "any");
	if (strcmp(found, rest) != 0)
		fail_msg("%s: “%s”, not “%s”", text, found, rest);
}

/* tests/python/list_wheels.py reads the same file. */
TEST(versions_and_markers_are_read_as_by_packaging)
{
	assert_in_range(each_line("order", check_order), 20, 1000);
	assert_in_range(each_line("marker", check_marker), 30, 1000);
	assert_in_range(each_line("requires", check_requires), 30, 1000);
}

TEST(one_version_is_told_from_several)
{
	static const struct {
		const char *text, *version;
	} cases[] = {
		{"a==1.0", "1.0"},     {"a (== 1.0.post1)", "1.0.post1"},
		{"a>=1,==1.5", "1.5"}, {"a==1.*", ""},
		{"a>=1", ""},          {"a", ""},
		{"a!=1.0,==2", "2"},   {"a<=1.0", ""},
		{"a~=1.0", ""},        {"a==2.0+cu126", "2.0+cu126"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct required required;

		assert_true(required_read(cases[i].text, &required));
		assert_string_equal(required.version, cases[i].version);
	}
}

/* Without code, everything that a wheel requires may matter. */
TEST(requirements_of_listed_packages_are_facts)
{
	static char texts[][40] = {"a", "b==1.0; extra == 'x'", "C>=2", "b @ file:///x", "self[b]"};
	char *const required[] = {texts[0], texts[1], texts[2], texts[3], texts[4]};
	const struct jw_scan_image image = {.path = "a.whl", .member = "a/_c.so", .library = true};
	struct wheel_facts facts = {.items = NULL};
	char *text;

	OK(wheel_facts_text(why, &facts, "self", required, 5, list, &text));
	assert_string_equal(text, "requires a\nrequires b==1.0; extra == 'x'\nrequires C>=2\n");
	mem_free(text);
	OK(wheel_facts_add(why, &facts, &image));
	OK(wheel_facts_text(why, &facts, "self", required, 5, list, &text));
	assert_string_equal(text,
						"requires a\nrequires b==1.0; extra == 'x'\nlibrary library ~0 a/_c.so\n");
	mem_free(text);
	wheel_facts_free(&facts);
}

/* The same numbers in another epoch are another release. */
TEST(an_epoch_is_part_of_a_release)
{
	static const struct {
		const char *version, *clause;
		bool agrees;
	} cases[] = {
		{"1!1.0.post1", ">1.0", true},     {"1.0.post1", ">1.0", false},
		{"1.0.post1", ">1.0.post0", true}, {"1.0rc1", "<1!1.0", true},
		{"1.0rc1", "<1.0", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct pep440 version;
		bool valid;

		assert_true(pep440_read(cases[i].version, &version));
		if (pep440_agrees(&version, cases[i].clause, &valid) != cases[i].agrees || !valid)
			fail_msg("%s %s", cases[i].version, cases[i].clause);
	}
}

static struct buf facts_now = {.most = 1 << 20};

static int add_image(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	(void)context;
	return wheel_facts_add(err, context, image);
}

/* Reads the facts of a file for all GPUs. */
static void scan_file(const char *path, struct wheel_facts *facts)
{
	struct jw_target targets[32];
	size_t count = 0;

	OK(jw_targets_read(why, "all", NULL, targets, 32, &count));
	OK(jw_scan(why,
			   &(struct jw_scan_options){.paths = &path,
										 .path_count = 1,
										 .targets = targets,
										 .target_count = count,
										 .context = facts,
										 .image = add_image},
			   NULL));
}

/* A module that stands in two libraries is compiled once, but a program loads one of two variants.
 */
TEST(a_module_of_two_libraries_is_work_for_the_first)
{
	static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
							   ".visible .entry k()\n{\n\tret;\n}\n",
					  other[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
								".visible .entry another()\n{\n\tret;\n}\n";
	static const struct {
		const char *name;
		bool other, works;
	} members[] = {{"a/k.ptx", false, true},
				   {"b/k.ptx", false, false},
				   {"c/v_cu11.ptx", true, true},
				   {"c/v_cu12.ptx", true, true},
				   {"d/v.ptx", true, false}};
	enum { COUNT = sizeof members / sizeof *members };
	struct packed_file files[COUNT];
	struct buf one = make_buf(), two = make_buf(), wheel = make_buf();
	struct wheel_facts facts = {.items = NULL};
	char *path;

	make_bytes(&one, text, strlen(text));
	make_bytes(&two, other, strlen(other));
	for (size_t i = 0; i < COUNT; i++)
		files[i] = (struct packed_file){members[i].name, members[i].other ? &two : &one};
	make_archive(&wheel, false, "zip:compression=store", files, COUNT);
	path = keep(write_file("p-1.0-py3-none-any.whl", &wheel));
	scan_file(path, &facts);
	assert_int_equal(facts.count, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		if (!strstr(buf_text(&facts.items[i].lines), "+1:") == members[i].works)
			fail_msg("%s: %s", members[i].name, buf_text(&facts.items[i].lines));
	wheel_facts_free(&facts);
	buf_free(&one);
	buf_free(&two);
	buf_free(&wheel);
}

/* Adds the facts of a PTX file, which depend on the rules of a scan and on the model of costs. */
static void add_scan(void)
{
	static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
							  ".visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %r<3>;\n"
							  "\tadd.s32 %r1, %r1, 1;\n\tadd.s32 %r2, %r1, 1;\n\tret;\n}\n";
	char *path = keep(os_join(folder, "k.ptx"));
	struct wheel_facts facts = {.items = NULL};

	OK(os_write_atomic(why, path, ptx, strlen(ptx)));
	scan_file(path, &facts);
	assert_int_equal(facts.count, 1);
	OK(buf_printf(why, &facts_now, "%s", strchr(buf_text(&facts.items[0].lines), '\n') + 1));
	wheel_facts_free(&facts);
}

/* Kept facts of another form are found again (which/asked.c), so each change of the rules that make
 * facts has to raise the form. FACTS_RECORD=1 writes the file, but not for a form that it has. */
TEST(other_facts_have_another_form)
{
	char *path = keep(os_join(JITWARM_SOURCE_DIR, "tests/data/wheel-facts")), form[32];
	struct buf known = {0};

	(void)snprintf(form, sizeof form, "facts %d\n", WHEEL_FACTS_FORM);
	OK(buf_printf(why, &facts_now, "%s", form));
	add_scan();
	if (os_exists(path))
		OK(os_read_file(why, path, 1 << 20, &known));
	if (getenv("FACTS_RECORD") && strncmp(buf_text(&known), form, strlen(form)) != 0)
		OK(os_write_atomic(why, path, facts_now.data, facts_now.size));
	else if (strcmp(buf_text(&known), buf_text(&facts_now)) != 0)
		fail_msg("facts that differ from those in %s: raise WHEEL_FACTS_FORM, then run "
				 "“FACTS_RECORD=1 unit plan_wheel_facts”; now:\n%s",
				 path, buf_text(&facts_now));
	buf_free(&known);
	buf_free(&facts_now);
}

RUN_TESTS(make_folder, remove_folder)
