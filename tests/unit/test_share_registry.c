/* Names of registries and layouts are accepted up to each limit, and every wrong form is refused.
 * */
#include <stdio.h>

#include "files.h"
/* This header must follow those that have parameters with its names. */
#include "folder.h"

#include <jitwarm/share.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "share/carrier.h"
#include "share/layout.h"
#include "share/reference.h"

static char text[1 << 16];

/* Returns `before`, so many letters, and `behind`. */
static const char *with_letters(const char *before, size_t count, const char *behind)
{
	const size_t at = strlen(before);

	assert_true(at + count + strlen(behind) < sizeof text);
	memcpy(text, before, at);
	memset(text + at, 'a', count);
	text_copy(text + at + count, sizeof text - at - count, behind);
	return text;
}

/* ---- names */

TEST(names_have_their_lengths)
{
	static const struct {
		const char *before, *behind;
		size_t most;
	} cases[] = {
		{"oci://h.x/", "", REFERENCE_REPOSITORY - 1},
		{"oci://h.x/a:", "", REFERENCE_TAG - 1},
		{"oci://x.", "/a", REFERENCE_HOST - 3},
	};
	struct reference reference;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (size_t more = 0; more < 2; more++) {
			with_letters(cases[i].before, cases[i].most + more, cases[i].behind);
			assert_int_equal(reference_parse(NULL, text, &reference), more ? -1 : 0);
		}
	assert_int_equal(reference_parse(NULL, with_letters("oci://h.x/a", 2000, ""), &reference), -1);
}

TEST(hosts_have_their_forms)
{
	static const struct {
		const char *host;
		bool sound;
	} cases[] = {
		{"h", false},      {"localhost", true}, {"h.x", true},     {"h:1", true},
		{"h:65535", true}, {"h:65536", false},  {"h:0", false},    {"h:", false},
		{"h:x", false},    {"-h", false},       {".h", false},     {":1", false},
		{"[::1]", true},   {"[::]:1", true},    {"[:]", false},    {"[]", false},
		{"[::1", false},   {"[::1]x", false},   {"[g::1]", false}, {"h_h", false},
		{"h.h-h", true},
	};
	struct reference reference;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		(void)snprintf(text, sizeof text, "oci://%s/a", cases[i].host);
		if (!reference_parse(NULL, text, &reference) != cases[i].sound)
			fail_msg("%s", text);
	}
}

TEST(tags_have_their_letters)
{
	static const struct {
		const char *name;
		bool tag, repository;
	} cases[] = {{"", false, false},     {"a", true, true},     {"A", true, false},
				 {".a", false, false},   {"-a", false, false},  {"_a", true, false},
				 {"a.-_b", true, false}, {"a/b", false, true},  {"a_b", true, true},
				 {"a.b", true, true},    {"a..b", true, false}, {"a.", true, false},
				 {"a--b", true, true},   {"a__b", true, true},  {"a b", false, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (reference_is_tag(cases[i].name) != cases[i].tag ||
			reference_is_repository(cases[i].name) != cases[i].repository)
			fail_msg("“%s”", cases[i].name);
}

TEST(plain_hosts_have_their_names)
{
	static const struct {
		const char *host, *plain;
		bool is;
	} cases[] = {
		{"host.x", "host.x", true},
		{"HOST.x:5000", "host.X", true},
		{"host.x:5000", "host.x:5000", true},
		{"host.x:5001", "host.x:5000", false},
		{"host.x", "host.x:80", false},
		{"host.xx", "host.x", false},
		{"localhost:5000", "localhost", true},
		{"127.0.0.1:5000", "localhost", true},
		{"127.1.2.3", "localhost", true},
		{"[::1]:5000", "localhost", true},
		{"localhost", "127.0.0.1", true},
		{"127.0.0.1", "localhost:5000", false},
		{"127.x.y", "localhost", false},
		{"[::2]", "localhost", false},
		{"localhost.x", "localhost", false},
		{"[::1]", "127.0.0.2", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (reference_host_is(cases[i].host, cases[i].plain) != cases[i].is)
			fail_msg("%s, %s", cases[i].host, cases[i].plain);
}

/* ---- packs */

/* A pack that was written is read back, moved both times, with and without a signature. */
TEST(a_layout_holds_a_pack)
{
	char *layout = os_join(folder, "layout"), *pack = os_join(folder, "pack"),
		 *signature = os_join(folder, "pack.minisig"), *out = os_join(folder, "out"),
		 *out_signature = os_join(folder, "out.minisig");

	for (int is_signed = 0; is_signed < 2; is_signed++) {
		struct buf got;

		files_put_text(folder, "pack", "the pack");
		files_put_text(folder, "pack.minisig", "its signature");
		OK(layout_write(why, layout, pack, is_signed ? signature : NULL));
		assert_false(os_exists(pack));
		OK(layout_read(why, layout, out));
		OK(os_read_file(why, out, 100, &got));
		assert_string_equal(buf_text(&got), "the pack");
		buf_free(&got);
		assert_int_equal(os_exists(out_signature), is_signed);
		OK(os_remove_tree(why, layout));
	}
	mem_free(out_signature);
	mem_free(out);
	mem_free(signature);
	mem_free(pack);
	mem_free(layout);
}

/* A stranger's index or manifest cannot name files outside of the layout, or two packs. */
#define BLOB "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ONE  "{\"digest\":\"sha256:" BLOB "\"}"
#define PART(of)                                                                                   \
	"{\"mediaType\":\"application/vnd.jitwarm.pack." of "\",\"digest\":\"sha256:" BLOB "\"}"

TEST(a_strange_layout_is_refused)
{
	static const char *const manifests[] = {
		"{}",
		("{\"layers\":[" PART("v1.tar+zstd") "," PART("v1.tar+zstd") "]}"),
		("{\"layers\":[" PART("v1.tar+zstd") "," PART("minisig.v1") "]}"),
		("{\"layers\":[" PART("minisig.v1") "]}"),
		("{\"layers\":[" PART("v1.tar+zstd") ",{}]}"),
		"{\"layers\":[{\"mediaType\":\"application/"
		"vnd.jitwarm.pack.v1.tar+zstd\",\"digest\":\"sha256:..\"}]}"};
	static const char *const indexes[] = {
		"",
		"{}",
		"[]",
		"{\"manifests\":[]}",
		"{\"manifests\":[{\"digest\":\"sha256:../../out\"}]}",
		"{\"manifests\":[{\"digest\":5}]}",
		("{\"manifests\":[" ONE "," ONE "]}"),
		("{\"manifests\":[{\"digest\":\"sha256:"
		 "0000000000000000000000000000000000000000000000000000000000000000\"}]}")};
	char *layout = os_join(folder, "strange"), *out = os_join(folder, "strange-out");

	for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
		files_put_text(folder, "strange/index.json", indexes[i]);
		*why = (struct jw_error){0};
		if (!layout_read(why, layout, out) || !why->code)
			fail_msg("%s", indexes[i]);
		assert_false(os_exists(out));
	}
	files_put_text(folder, "strange/index.json", "{\"manifests\":[" ONE "]}");
	for (size_t i = 0; i < sizeof manifests / sizeof *manifests; i++) {
		files_put_text(folder, "strange/blobs/sha256/" BLOB, manifests[i]);
		GIVES(JW_ERR_FORMAT, layout_read(why, layout, out));
		assert_false(os_exists(out));
	}
	mem_free(out);
	mem_free(layout);
}

/* ---- pulls */

TEST(a_pull_needs_a_name_and_a_system)
{
	static const struct {
		const char *from;
		bool how, system;
	} cases[] = {
		{"oci://h.x", true, true}, {"oci://h.x/a", false, false}, {"oci://h.x/a", true, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_system machine = {.gpu_count = 0};
		struct jw_import_options how = {0};
		struct jw_pull_options options = {0};
		struct jw_pull_result *result = NULL;

		how.system = cases[i].system ? &machine : NULL;
		options.from = cases[i].from;
		options.how = cases[i].how ? &how : NULL;
		GIVES(JW_ERR_USAGE, jw_pull(why, &options, &result));
		assert_null(result);
	}
}

RUN_TESTS(make_folder, remove_folder)
