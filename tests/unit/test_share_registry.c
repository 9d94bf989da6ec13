/* What strangers and files say of registries and web servers: each limit at its edge, and each form
 * that is none. */
#include <stdio.h>

#include "files.h"
/* Behind those that have parameters of its names */
#include "folder.h"

#include <jitwarm/share.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "share/carrier.h"
#include "share/layout.h"
#include "share/reference.h"
#include "share/web.h"

static char text[1 << 16];

/* `before`, so many letters, `behind` */
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

/* ---- headers */

static struct web_answer header(const char *line)
{
	struct web_answer answer;

	web_answer_clear(&answer);
	web_answer_header(&answer, line, strlen(line));
	return answer;
}

TEST(headers_have_their_forms)
{
	assert_string_equal(header("x-amz-bucket-region: eu-a-1\r\n").region, "eu-a-1");
	assert_int_equal(header("Retry-After: 1000000").wait_s, 1000000);
	assert_int_equal(header("Retry-After: 1000001").wait_s, -1);
	assert_int_equal(header("Date: Thu, 01 Jan 1970 00:01:00 GMT\r\n").date_s, 60);
	assert_int_equal(header("Age: 1").date_s, -1);
}

TEST(headers_have_their_lengths)
{
	struct web_answer answer;

	for (size_t more = 0; more < 2; more++) {
		answer = header(with_letters("Location: ", sizeof answer.location - 11 + more, "\r\n"));
		assert_int_equal(strlen(answer.location), more ? 0 : sizeof answer.location - 11);
	}
	web_answer_clear(&answer);
	web_answer_header(&answer, "Location: a\0b", 13);
	assert_string_equal(answer.location, "");
	web_answer_header(&answer, "", 0);
	web_answer_header(&answer, "\r\n", 2);
	assert_int_equal(answer.wait_s, -1);
}

static const char *said(const char *body)
{
	static struct web_answer answer;

	web_answer_clear(&answer);
	web_answer_words(&answer, body, strlen(body));
	return answer.said;
}

TEST(words_of_servers_are_cut_and_harmless)
{
	static const struct {
		const char *body, *said;
	} cases[] = {
		{"{\"errors\": [{\"code\": \"A\", \"message\": \"b\\u001bc\\u007f\"}]}", "A: b c "},
		{"{\"errors\": [{\"code\": \"A\"}]}", "A"},
		{"{\"errors\": [{\"message\": \"b\"}]}", "b"},
		{"{\"errors\": []}", ""},
		{"[]", ""},
		{"", ""},
		{"<?xml?><Error><Code>A</Code><Message>b\nc</Message></Error>", "A: b c"},
		{"<Error><Code>A</Code></Error>", "A"},
		{"<Error><Message>b</Message></Error>", ""},
		{"<Error><Code>A", ""},
		{"<Code>A</Code>", ""},
		{" <Error><Code>A</Code></Error>", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(said(cases[i].body), cases[i].said);
	assert_int_equal(strlen(said(with_letters("<Error><Code>", 60, "</Code>"))), 60);
	assert_string_equal(said(with_letters("<Error><Code>", 61, "</Code>")), "");
	assert_string_equal(said(with_letters("<Error><Code>A</Code><Message>", 181, "</Message>")),
						"A");
	assert_int_equal(
		strlen(said(with_letters("<Error><Code>A</Code><Message>", 180, "</Message>"))), 183);
	/* Of a long document its beginning counts. */
	assert_string_equal(said(with_letters("<", 4095 - 22, "<Error><Code>A</Code>")), "A");
	assert_string_equal(said(with_letters("<", 4095 - 21, "<Error><Code>A</Code>")), "A");
	assert_string_equal(said(with_letters("<", 4095 - 14, "<Error><Code>A</Code>")), "");
}

/* ---- packs */

/* What is written is read, moved both times, with and without a signature. */
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

/* An index or a manifest of a stranger's names nothing outside of the layout, and not two packs. */
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

/* ---- and what becomes of it */

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

/* As libcurl reports them with OpenSSL, Mbed TLS (old and new) and Schannel */
TEST(certificates_that_prove_nothing_are_explained)
{
	static const struct {
		const char *reason, *hint; /* NULL: none */
	} cases[] = {
		{"SSL certificate problem: certificate has expired", "clock"},
		{"SSL certificate problem: certificate is not yet valid", "clock"},
		{"Cert verify failed: BADCERT_EXPIRED", "clock"},
		{"Cert verify failed: BADCERT_FUTURE", "clock"},
		{"mbedTLS: The certificate validity starts in the future", "clock"},
		{"schannel: SEC_E_CERT_EXPIRED (0x80090328) - The certificate is out of date", "clock"},
		{"schannel: CertGetCertificateChain trust error CERT_TRUST_IS_NOT_TIME_VALID", "clock"},
		{"SSL certificate problem: unable to get local issuer certificate", "CURL_CA_BUNDLE"},
		{"SSL certificate problem: self-signed certificate in certificate chain", "CURL_CA_BUNDLE"},
		{"SSL certificate problem: self signed certificate", "CURL_CA_BUNDLE"},
		{"Cert verify failed: BADCERT_NOT_TRUSTED", "CURL_CA_BUNDLE"},
		{"mbedTLS: The certificate is not correctly signed by the trusted CA", "CURL_CA_BUNDLE"},
		{"schannel: SEC_E_UNTRUSTED_ROOT (0x80090325)", "CURL_CA_BUNDLE"},
		{"schannel: CertGetCertificateChain trust error CERT_TRUST_IS_PARTIAL_CHAIN",
		 "CURL_CA_BUNDLE"},
		{"Cert verify failed: BADCERT_CN_MISMATCH", NULL},
		{"SSL: no alternative certificate subject name matches target host name 'x'", NULL},
	};
	char hint[128];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		web_say_how_to_prove(cases[i].reason, hint, sizeof hint);
		if (cases[i].hint)
			assert_non_null(strstr(hint, cases[i].hint));
		else
			assert_string_equal(hint, "");
	}
}

RUN_TESTS(make_folder, remove_folder)
