/* The list of released wheels: its form, and that each error names its line. */
#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "which/wheel_list.h"

#define START "jitwarm-wheels 1 2026-11-27\n"
#define HASH  "55348a9a4a21bfd99cf8c7b32fe67b4030ae5c2a05738e03c1747f65fa6ec283"
#define WHEEL "wheel 2.1 linux cp38,cp310 a-2.1-cp310-cp310-linux_x86_64.whl " HASH "\n"

static int read_list(struct jw_error *err, const char *text, const char *package,
					 struct wheel_list *ret_list)
{
	return wheel_list_read(err, "list", text, strlen(text), package, ret_list);
}

/* The message names the list, the line, and what the user can do. */
TEST(too_many_wheels_are_refused)
{
	struct buf text = BUF_MAX(1 << 20);
	struct wheel_list list;

	buf_add(&text, START "package a\n");
	for (int i = 0; i < 4096; i++)
		buf_add(&text, "unseen 1.%d linux py3\n", i);
	OK(read_list(why, buf_text(&text), "a", &list));
	wheel_list_free(&list);
	buf_add(&text, "unseen 2 linux py3\n");
	GIVES(JW_ERR_FORMAT, read_list(why, buf_text(&text), "a", &list));
	assert_non_null(strstr(why->message, "list: line 4099: more wheels, libraries or pieces of "
										 "code than jitwarm reads: name one release"));
	buf_free(&text);
}

/* A build has one library and one container, and may require others. */
TEST(a_build_is_read)
{
	static const char text[] = START "package a\n" WHEEL "library library 12000 a.so\n"
									 "build 2.1+cu126 linux cp38+ 12060 sm_50 sm_90a\n"
									 "requires b==1+cu126\n"
									 "build 2.0 windows py3 0 sm_80\n"
									 "package b\nbuild 3 linux py3 0 sm_80\n";
	static const char builds[] = "build 2.1+cu126 linux cp38+ 12060 sm_50 sm_90a\n"
								 "requires b==1+cu126\n"
								 "build 2.0 windows py3 0 sm_80\n";
	struct buf lines = BUF_MAX(sizeof text);
	struct wheel_list list;
	const struct wheel *build;

	OK(read_list(why, text, "a", &list));
	assert_int_equal(list.count, 3);
	build = &list.wheels[1];
	assert_true(build->declared && !build->unseen && !build->of && !*build->sha256 &&
				!*build->file);
	assert_string_equal(build->version, "2.1+cu126");
	assert_int_equal(build->require_count, 1);
	assert_int_equal(build->library_count, 1);
	assert_true(build->libraries->facts.library && build->libraries->runtime_shared);
	assert_int_equal(build->libraries->facts.runtime_cuda, 12060);
	assert_int_equal(build->libraries->facts.piece_count, 1);
	assert_int_equal(build->libraries->facts.pieces->role, DEVCODE_REGISTERED);
	assert_int_equal(build->libraries->facts.pieces->entry_count, 2);
	assert_int_equal(build->libraries->facts.pieces->entries[1].target.sm, 90);
	assert_string_equal(wheel_label(build), "cu126");
	assert_true(list.wheels[2].libraries->facts.windows);
	assert_null(wheel_label(&list.wheels[2]));
	assert_false(list.wheels[0].declared);
	wheel_list_free(&list);

	wheel_list_builds(text, sizeof text - 1, "a", &lines);
	assert_string_equal(buf_text(&lines), builds);
	wheel_list_builds(text, sizeof text - 1, "c", &lines);
	assert_string_equal(buf_text(&lines), builds);
	buf_free(&lines);
}

TEST(a_package_is_read)
{
	static const char text[] = START
		"package a\n" WHEEL "requires nvidia-cudnn-cu12==9.1.0.70; platform_system == 'Linux'\n"
		"library library 12000 a/lib one.so\n"
		"piece 3 registered-linked sm_60 sm_90a#12080z compute_90=90a@8.6+12:33.200:5123456z\n"
		"piece 1 relocatable-linked-empty kind8:sm_0r compute_80@7.0d\n"
		"library file ~0 a/x.ptx\n"
		"piece 1 loose compute_52@6.5+1:0.002:56\n"
		"same 2.0 linux py3 2.1\n"
		"same 2.0.0.1 linux py3 2.1\n"
		"requires torch>=2\n"
		"requires triton\n"
		"same 2.0.0.2 linux py3 2.1\n"
		"requires -\n"
		"same 2.0 windows cp39+ 2.0.1\n"
		"unseen 1.9 linux py3\n"
		"wheel 2.0.1 windows cp39+ w.whl " HASH "\n"
		"package b\n";
	struct wheel_list list;
	const struct wheel_library *library;

	OK(read_list(why, text, "a", &list));
	assert_string_equal(list.date, "2026-11-27");
	assert_int_equal(list.count, 7);
	assert_true(list.wheels[5].unseen && !list.wheels[5].of && !list.wheels[0].unseen);
	assert_string_equal(list.wheels[0].version, "2.1");
	assert_string_equal(list.wheels[0].platform, "linux");
	assert_string_equal(list.wheels[0].sha256, HASH);
	assert_null(list.wheels[0].of);
	assert_int_equal(list.wheels[0].require_count, 1);
	assert_string_equal(list.wheels[0].requires[0],
						"nvidia-cudnn-cu12==9.1.0.70; platform_system == 'Linux'");
	assert_int_equal(list.wheels[0].library_count, 2);

	library = &list.wheels[0].libraries[0];
	assert_string_equal(library->name, "a/lib one.so");
	assert_true(library->facts.library && library->runtime_shared);
	assert_int_equal(library->facts.runtime_cuda, 12000);
	assert_int_equal(library->facts.piece_count, 2);
	assert_int_equal(library->facts.pieces[0].containers, 3);
	assert_true(library->facts.pieces[0].linked && !library->facts.pieces[0].empty);
	assert_true(library->facts.pieces[1].linked && library->facts.pieces[1].empty);
	assert_int_equal(library->facts.pieces[0].entry_count, 3);
	assert_int_equal(library->facts.pieces[0].entries[1].target.suffix, 'a');
	assert_int_equal(library->facts.pieces[0].entries[1].cuda, 12080);
	assert_true(library->facts.pieces[0].entries[1].zstd);
	assert_int_equal(library->facts.pieces[0].entries[2].text.suffix, 'a');
	assert_int_equal(library->facts.pieces[0].entries[2].target.suffix, 0);
	assert_int_equal(library->facts.pieces[0].entries[2].isa_minor, 6);
	assert_int_equal(library->facts.pieces[0].entries[2].modules, 12);
	assert_true(library->facts.pieces[0].entries[2].cost_ms == 33200);
	assert_int_equal(library->facts.pieces[0].entries[2].ptx_bytes, 5123456);
	assert_int_equal(library->facts.pieces[1].entries[0].kind, 8);
	assert_true(library->facts.pieces[1].entries[0].relocatable);
	assert_true(library->facts.pieces[1].entries[1].damaged);

	library = &list.wheels[0].libraries[1];
	assert_false(library->facts.library || library->runtime_shared);
	assert_int_equal(library->facts.pieces[0].role, DEVCODE_LOOSE);

	assert_string_equal(list.wheels[1].of, "2.1");
	assert_ptr_equal(list.wheels[1].libraries, list.wheels[0].libraries);
	assert_int_equal(list.wheels[1].require_count, 1);
	assert_ptr_equal(list.wheels[2].libraries, list.wheels[0].libraries);
	assert_int_equal(list.wheels[2].require_count, 2);
	assert_string_equal(list.wheels[2].requires[1], "triton");
	assert_int_equal(list.wheels[3].require_count, 0);
	assert_int_equal(list.wheels[4].library_count, 0);
	wheel_list_free(&list);

	OK(read_list(why, text, "b", &list));
	assert_int_equal(list.count, 0);
	wheel_list_free(&list);
	GIVES(JW_ERR_NOT_FOUND, read_list(why, text, "c", &list));
	GIVES(JW_ERR_NOT_FOUND, read_list(why, text, "", &list));
}

#define PIECE START "package a\n" WHEEL "library library 0 l.so\npiece "

TEST(an_error_names_its_line)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"", "list: not a list of wheels"},
		{"jitwarm-wheels 2 2026-11-27\npackage a\n", "list: not a list of wheels"},
		{"jitwarm-wheels 1 2026-11-2\npackage a\n", "list: not a list of wheels"},
		{START "package a\nwheels 1\n", "list: line 3: neither wheel, same"},
		{START "package a\nwheel 2.1 linux cp38 a.whl\n", "list: line 3: not “wheel VERSION"},
		{START "package a\nwheel 2.1 linux cp38 a.whl " HASH " more\n", "list: line 3: not “wheel"},
		{START "package a\nwheel x linux cp38 a.whl " HASH "\n", "list: line 3: not “wheel"},
		{START "package a\nsame 2.1 linux cp38\n", "list: line 3: not “same"},
		{START "package a\n" WHEEL "same 2.0 windows py3 2.1\n",
		 "list: release 2.0 is as 2.1, which the list lacks"},
		{START "package a\n" WHEEL "same 2.0 linux py3 1.9\nsame 1.9 linux py3 2.1\n",
		 "list: release 2.0 is as 1.9, which the list lacks"},
		{START "package a\nlibrary library 0 l.so\n", "list: line 3: a library without a wheel"},
		{START "package a\n" WHEEL "same 2.0 linux py3 2.1\nlibrary library 0 l.so\n",
		 "list: line 5: a library without a wheel"},
		{START "package a\nrequires b\n", "list: line 3: a requirement without a wheel"},
		{START "package a\nunseen 1 linux py3\nrequires b\n",
		 "list: line 4: a requirement without a wheel"},
		{START "package a\nunseen 2.1 linux\n", "list: line 3: not “unseen"},
		{START "package a\nunseen 2.1 linux py3 more\n", "list: line 3: not “unseen"},
		{START "package a\n" WHEEL "unseen 2.0 linux py3\nrequires b\n",
		 "list: line 5: a requirement without a wheel"},
		{START "package a\nbuild 2.1 linux py3 12060\n", "list: line 3: not “build VERSION"},
		{START "package a\nbuild 2.1 linux py3 12060 \n", "list: line 3: not “build VERSION"},
		{START "package a\nbuild 2.1 linux py3 cu126 sm_50\n", "list: line 3: not “build VERSION"},
		{START "package a\nbuild 2.1 linux py3 0 ptx\n", "list: line 3: not an entry"},
		{START "package a\nbuild 2.1 linux py3 0 sm_50\npiece 1 loose sm_80\n",
		 "list: line 4: a piece without a library"},
		{START "package a\nbuild 2.1 linux py3 0 sm_50\nlibrary library 0 l.so\n",
		 "list: line 4: a library without a wheel"},
		{START "package a\nbuild 2.1 linux py3 0 sm_50\nsame 2.0 linux py3 2.1\n",
		 "list: release 2.0 is as 2.1, which the list lacks"},
		{START "package a\nunseen 2.1 linux py3\nsame 2.0 linux py3 2.1\n",
		 "list: release 2.0 is as 2.1, which the list lacks"},
		{START "package a\n" WHEEL "requires \n", "list: line 4: not “requires"},
		{START "package a\n" WHEEL "library so 0 l.so\n", "list: line 4: not “library"},
		{START "package a\n" WHEEL "library library x l.so\n", "list: line 4: not “library"},
		{START "package a\n" WHEEL "library library 0 \n", "list: line 4: not “library"},
		{START "package a\n" WHEEL "piece 1 loose sm_80\n",
		 "list: line 4: a piece without a library"},
		{START "package a\n" WHEEL "library library 0 l.so\n" WHEEL "piece 1 loose sm_80\n",
		 "list: line 6: a piece without a library"},
		{PIECE "x loose sm_80\n", "list: line 5: not “piece"},
		{PIECE "1 loosely sm_80\n", "list: line 5: not “piece"},
		{PIECE "1 loose-empty-linked sm_80\n", "list: line 5: not “piece"},
		{PIECE "1 loose-hollow sm_80\n", "list: line 5: not “piece"},
		{PIECE "99999999999999999999 loose sm_80\n", "list: line 5: not “piece"},
		{PIECE "1 loose sm_\n", "list: line 5: not an entry"},
		{PIECE "1 loose ptx\n", "list: line 5: not an entry"},
		{PIECE "1 loose kind:sm_80\n", "list: line 5: not an entry"},
		{PIECE "1 loose kind70000:sm_80\n", "list: line 5: not an entry"},
		{PIECE "1 loose sm_80#\n", "list: line 5: not an entry"},
		{PIECE "1 loose sm_80zx\n", "list: line 5: not an entry"},
		{PIECE "1 loose sm_80=\n", "list: line 5: not an entry"},
		{PIECE "1 loose compute_80@8\n", "list: line 5: not an entry"},
		{PIECE "1 loose compute_80@8.256\n", "list: line 5: not an entry"},
		{PIECE "1 loose compute_80+1\n", "list: line 5: not an entry"},
		{PIECE "1 loose compute_80+1:2\n", "list: line 5: not an entry"},
		{PIECE "1 loose compute_80+1:2.1:3\n", "list: line 5: not an entry"},
		{PIECE "1 loose compute_80+1:2.1234:3\n", "list: line 5: not an entry"},
		{PIECE "1 loose compute_80+-1:2:3\n", "list: line 5: not an entry"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct wheel_list list;

		GIVES(JW_ERR_FORMAT, read_list(why, cases[i].text, "a", &list));
		if (!text_starts(why->message, cases[i].said))
			fail_msg("%s: “%s”, not “%s”", cases[i].text, why->message, cases[i].said);
	}
}

TEST(a_nul_ends_no_line)
{
	char text[] = START "package a\n" WHEEL "requires b==1\n";
	struct wheel_list list;

	text[sizeof text - 4] = '\0';
	GIVES(JW_ERR_FORMAT, wheel_list_read(why, "list", text, sizeof text - 1, "a", &list));
}

/* The program's own list, with every cut and with changes all over it, gives an answer or one line.
 * */
TEST(a_hostile_list_ends_in_one_line)
{
	static const char text[] =
		START "package a\n" WHEEL "requires b==1\nlibrary library ~12040 l.so\n"
			  "piece 3 registered sm_60#12000z "
			  "compute_90=90a@8.6+12:33.200:5123456z\n"
			  "same 2.0 linux py3 2.1\n"
			  "build 2.1+cu126 linux py3 12060 sm_50 sm_90\nrequires b==1\n"
			  "package b\n";
	char changed[sizeof text];
	uint32_t seed = 1;

	for (size_t size = 0; size < sizeof text; size++) {
		struct wheel_list list;

		*why = (struct jw_error){0};
		if (!wheel_list_read(why, "list", text, size, "a", &list))
			wheel_list_free(&list);
		else
			assert_true(*why->message && !strchr(why->message, '\n'));
	}
	for (size_t i = 0; i < 3000; i++) {
		struct wheel_list list;

		memcpy(changed, text, sizeof text);
		for (size_t k = 0; k < 1 + i % 3; k++) {
			seed = seed * 1664525 + 1013904223;
			changed[(seed >> 8) % (sizeof text - 1)] = " \n:@#+=.19az\xff"[(seed >> 24) % 13];
		}
		*why = (struct jw_error){0};
		if (!wheel_list_read(why, "list", changed, sizeof text - 1, "a", &list))
			wheel_list_free(&list);
		else
			assert_true(*why->message && !strchr(why->message, '\n'));
	}
}

TEST(the_versions_of_python)
{
	static const struct {
		const char *pythons, *text, *fits, *not ;
	} cases[] = {
		{"cp38,cp39,cp310", "3.8 to 3.10", "3.10", "3.11"},
		{"cp310", "3.10", "3.10", "3.1"},
		{"cp38+", "3.8 or newer", "3.14", "3.7"},
		{"cp37,cp39+", "3.7, 3.9 or newer", "3.7", "3.8"},
		{"py3", NULL, "3.14", NULL},
		{"cp310,cp313t,pp310", "3.10", "3.10", "3.6"},
		{"cp27,cp36", "2.7, 3.6", "2.7", "3.5"},
		{"cp313,cp39,cp312,cp313", "3.9, 3.12 to 3.13", "3.9", "3.11"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct wheel wheel = {.pythons = cases[i].pythons};
		char *text = keep(wheel_pythons(&wheel));

		assert_true(wheel_fits_python(&wheel, cases[i].fits));
		assert_true(!cases[i].not || !wheel_fits_python(&wheel, cases[i].not ));
		if (cases[i].text)
			assert_string_equal(text, cases[i].text);
	}
}

TEST(the_list_of_the_program)
{
	struct wheel_list list;
	char *text;
	size_t size;

	OK(wheel_list_text(why, &text, &size));
	OK(wheel_list_read(why, WHEEL_LIST_OWN, text, size, "torch", &list));
	assert_true(list.count > 20);
	wheel_list_free(&list);
	/* Each package of the list is read whole. */
	for (const char *at = text; (at = strstr(at, "\npackage "));) {
		char *package = keep(mem_string_n(at + 9, strcspn(at + 9, "\n")));

		OK(wheel_list_read(why, WHEEL_LIST_OWN, text, size, package, &list));
		assert_true(list.count > 0);
		wheel_list_free(&list);
		at += 9;
	}
	GIVES(JW_ERR_NOT_FOUND, wheel_list_read(why, WHEEL_LIST_OWN, text, size, "none", &list));
	mem_free(text);
}

RUN_TESTS(NULL, NULL)
