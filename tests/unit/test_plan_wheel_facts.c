/* A scan of a wheel becomes the lines that a list of wheels has for it, and is found again by its
 * hash. */
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "code/devcode.h"
#include "plan/wheel_facts.h"

static const char list[] = "jitwarm-wheels 1 2026-11-27\n"
						   "package a\n"
						   "wheel 2.0 linux cp310 a-2.0.whl aaaa\n"
						   "pin b 1.0\n"
						   "library library 12040 a/lib.so\n"
						   "piece 1 registered sm_80\n"
						   "same 1.9 linux cp310 2.0\n"
						   "wheel 1.0 linux cp310 a-1.0.whl bbbb\n"
						   "package b\n"
						   "wheel 1.0 linux py3 b-1.0.whl cccc\n"
						   "library library ~0 b.so\n";

static void found_is(const char *sha256, const char *lines)
{
	char *found = wheel_facts_find(list, sha256);

	if (lines)
		assert_string_equal(found, lines);
	else
		assert_true(!found);
	mem_free(found);
}

TEST(facts_are_found_by_their_hash)
{
	found_is("aaaa", "pin b 1.0\nlibrary library 12040 a/lib.so\npiece 1 registered sm_80\n");
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
		{"pin x 1.0\nlibrary library 12040 a/lib.3.so\npiece 4 registered sm_80#12000 "
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

RUN_TESTS(NULL, NULL)
