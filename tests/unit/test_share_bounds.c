/* What strangers and files say of registries: each limit at its edge, and each form that is none.
 * Which of several credentials count: test_changed_documents.c. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/share.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "check.h"
#include "net/web.h"
#include "pack/reader.h"
#include "share/artifact.h"
#include "share/login.h"
#include "share/oci_registry.h"
#include "share/plan_tag.h"

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
		{"oci://h/", "", REFERENCE_REPOSITORY - 1},
		{"oci://h/a:", "", REFERENCE_TAG - 1},
		{"oci://", "/a", REFERENCE_HOST - 1},
	};
	struct reference reference;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (size_t more = 0; more < 2; more++) {
			with_letters(cases[i].before, cases[i].most + more, cases[i].behind);
			assert_int_equal(reference_parse(NULL, text, &reference), more ? -1 : 0);
		}
	with_letters("oci://h/a@sha256:", 64, "");
	assert_int_equal(reference_parse(NULL, text, &reference), 0);
	assert_string_equal(reference.digest, text + 10);
	assert_int_equal(reference_parse(NULL, with_letters("oci://h/a@sha256:", 63, ""), &reference),
					 -1);
	assert_int_equal(reference_parse(NULL, with_letters("oci://h/a@sha256:", 63, "g"), &reference),
					 -1);
	assert_int_equal(reference_parse(NULL, with_letters("oci://h/a@sha512:", 64, ""), &reference),
					 -1);
	assert_int_equal(reference_parse(NULL, with_letters("oci://h/a:b@sha256:", 64, ""), &reference),
					 -1);
	assert_int_equal(reference_parse(NULL, with_letters("oci://h/a", 2000, ""), &reference), -1);
}

TEST(hosts_have_their_forms)
{
	static const struct {
		const char *host;
		bool sound;
	} cases[] = {
		{"h", true},       {"h:1", true},  {"h:65535", true}, {"h:65536", false},
		{"h:0", false},    {"h:", false},  {"h:x", false},    {"-h", false},
		{".h", false},     {":1", false},  {"[::1]", true},   {"[::]:1", true},
		{"[:]", false},    {"[]", false},  {"[::1", false},   {"[::1]x", false},
		{"[g::1]", false}, {"h_h", false}, {"h.h-h", true},
	};
	struct reference reference;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		(void)snprintf(text, sizeof text, "oci://%s/a", cases[i].host);
		if (!reference_parse(NULL, text, &reference) != cases[i].sound)
			fail_msg("%s", text);
	}
	assert_int_equal(reference_parse(NULL, "oci://INDEX.docker.io/a", &reference), 0);
	assert_string_equal(reference_server(&reference), "registry-1.docker.io");
	assert_int_equal(reference_parse(NULL, "oci://quay.io/a", &reference), 0);
	assert_string_equal(reference_server(&reference), "quay.io");
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

TEST(challenges_have_their_forms)
{
	static const struct {
		const char *text;
		enum challenge_kind kind; /* CHALLENGE_NONE: refused */
		const char *realm, *service;
	} cases[] = {
		{"Bearer realm=a", CHALLENGE_BEARER, "a", ""},
		{" \tBEARER\trealm =\t\"a\" ,, service=\"b\\\"c\", ", CHALLENGE_BEARER, "a", "b\"c"},
		{"Bearer realm=a, Basic realm=b", CHALLENGE_BEARER, "a", ""},
		{"Basic realm=b, Bearer realm=a,service=c", CHALLENGE_BEARER, "a", "c"},
		{"Basic, Bearer realm=a", CHALLENGE_BEARER, "a", ""},
		{"Bearer x=1, realm=a", CHALLENGE_BEARER, "a", ""},
		{"Bearer realmx=1, xrealm=2, realm=a", CHALLENGE_BEARER, "a", ""},
		{"Bearer x==, realm=a", CHALLENGE_BEARER, "a", ""},
		{"Bearer x=, realm=a", CHALLENGE_BEARER, "a", ""},
		{"Bearer realm=a, x=", CHALLENGE_BEARER, "a", ""},
		{"Bearer realm=\"a\\\\\"", CHALLENGE_BEARER, "a\\", ""},
		{"Bearer realm=\"a\\", CHALLENGE_NONE, NULL, NULL},
		{"Bearer realm=\"a\x1f\"", CHALLENGE_NONE, NULL, NULL},
		{"Bearer realm=\"a\xc3\xa4\"", CHALLENGE_BEARER, "a\xc3\xa4", ""},
		{"Bearer =a", CHALLENGE_NONE, NULL, NULL},
		{"Bearers realm=a", CHALLENGE_NONE, NULL, NULL},
		{"Bear realm=a", CHALLENGE_NONE, NULL, NULL},
		{"Basics", CHALLENGE_NONE, NULL, NULL},
		{"Basi", CHALLENGE_NONE, NULL, NULL},
		{"\"", CHALLENGE_NONE, NULL, NULL},
		{"Basic @", CHALLENGE_NONE, NULL, NULL},
		{"Basic", CHALLENGE_BASIC, "", ""},
		{"basic a", CHALLENGE_BASIC, "", ""},
	};
	struct challenge challenge;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const int result = challenge_parse(NULL, cases[i].text, &challenge);

		if (result != (cases[i].kind ? 0 : -1) || (!result && challenge.kind != cases[i].kind))
			fail_msg("%s", cases[i].text);
		if (!cases[i].kind)
			continue;
		assert_string_equal(challenge.realm, cases[i].realm);
		assert_string_equal(challenge.service, cases[i].service);
	}
	for (size_t more = 0; more < 2; more++) {
		with_letters("Bearer realm=", CHALLENGE_REALM - 1 + more, "");
		assert_int_equal(challenge_parse(NULL, text, &challenge), more ? -1 : 0);
		with_letters("Bearer realm=a,service=\"", CHALLENGE_SERVICE - 1 + more, "\"");
		assert_int_equal(challenge_parse(NULL, text, &challenge), more ? -1 : 0);
	}
	/* What nobody asks for has no room to leave. */
	assert_int_equal(challenge_parse(NULL, with_letters("Bearer x=", 4000, ",realm=a"), &challenge),
					 0);
}

TEST(the_best_challenge_counts)
{
	struct challenge challenge;

	assert_int_equal(0, challenge_parse(NULL,
										"Negotiate abcd==, Basic realm=\"x, y\", bearer "
										"Realm=\"https://a/\\\"t\" , service = s,scope=\"a b\"",
										&challenge));
	assert_int_equal(challenge.kind, CHALLENGE_BEARER);
	assert_string_equal(challenge.realm, "https://a/\"t");
	assert_string_equal(challenge.service, "s");
	assert_string_equal(challenge.scope, "a b");
	assert_int_equal(0, challenge_parse(NULL, "Basic", &challenge));
	assert_int_equal(challenge.kind, CHALLENGE_BASIC);
	assert_int_equal(-1, challenge_parse(NULL, "Digest realm=x", &challenge));
	assert_int_equal(-1, challenge_parse(NULL, "Bearer service=x", &challenge));
	assert_int_equal(-1, challenge_parse(NULL, "Bearer realm=\"x", &challenge));
	assert_int_equal(-1, challenge_parse(NULL, "", &challenge));
}

static struct web_answer header(const char *line)
{
	struct web_answer answer;

	web_answer_clear(&answer);
	web_answer_header(&answer, line, strlen(line));
	return answer;
}

TEST(headers_have_their_forms)
{
	static const struct {
		const char *line, *type;
		bool has_start;
		uint64_t start;
	} cases[] = {
		{"content-type: Application/JSON; charset=x\r\n", "application/json", false, 0},
		{"Content-Type: AZ[@/az\t\r\n", "az[@/az", false, 0},
		{"Content-Range: bytes 0-9/10\r\n", "", true, 0},
		{"Content-Range: BYTES 12-19/*  \n", "", true, 12},
		{"Content-Range: bytes -9/10\r\n", "", false, 0},
		{"Content-Range: bytes 5/10\r\n", "", false, 0},
		{"Content-Range: lines 0-9/10\r\n", "", false, 0},
		{"Content-Range: bytes 99999999999999999999-1/2\r\n", "", false, 0},
		{"Content-Range: bytes 00000000000000000000007-9/9\r\n", "", true, 7},
		{"Content-Range: bytes 000000000000000000000007-9/9\r\n", "", false, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct web_answer answer = header(cases[i].line);

		assert_string_equal(answer.type, cases[i].type);
		if (answer.has_start != cases[i].has_start || answer.start != cases[i].start)
			fail_msg("%s", cases[i].line);
	}
	assert_string_equal(header("Docker-Content-Digest: sha256:a").digest, "sha256:a");
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
		answer =
			header(with_letters("Docker-Content-Digest: ", sizeof answer.digest - 1 + more, ""));
		assert_int_equal(strlen(answer.digest), more ? 0 : sizeof answer.digest - 1);
		answer = header(with_letters("Location: ", sizeof answer.location - 11 + more, "\r\n"));
		assert_int_equal(strlen(answer.location), more ? 0 : sizeof answer.location - 11);
		answer = header(with_letters("Content-Type: ", sizeof answer.type - 1 + more, ""));
		assert_int_equal(strlen(answer.type), sizeof answer.type - 1);
		/* Two of them, with a comma */
		web_answer_clear(&answer);
		web_answer_header(&answer, "WWW-Authenticate: Basic", 23);
		with_letters("WWW-Authenticate: ", sizeof answer.challenge / 2, "");
		web_answer_header(&answer, text, strlen(text));
		assert_int_equal(strlen(answer.challenge), 7 + sizeof answer.challenge / 2);
		with_letters("WWW-Authenticate: ", sizeof answer.challenge / 2 - 7 - 3 + more, "");
		web_answer_header(&answer, text, strlen(text));
		assert_int_equal(strlen(answer.challenge),
						 more ? 7 + sizeof answer.challenge / 2 : sizeof answer.challenge - 1);
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

/* ---- documents */

#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PART(type, size)                                                                           \
	"{\"mediaType\": \"" type "\", \"digest\": \"" DIGEST "\", \"size\": " size "}"
#define MANIFEST(config, layers) "{\"config\": " config ", \"layers\": [" layers "]}"

static int read_artifact(const char *document, struct artifact_list *list)
{
	return artifact_read(NULL, document, strlen(document), list);
}

TEST(manifests_have_their_parts)
{
	static const struct {
		const char *document;
		bool sound;
	} cases[] = {
		{MANIFEST(PART(ARTIFACT_CONFIG_TYPE, "1"), PART(ARTIFACT_PACK_TYPE, "2")), true},
		{MANIFEST(PART(ARTIFACT_CONFIG_TYPE, "1048576"), PART(ARTIFACT_PACK_TYPE, "18253611008")),
		 true},
		{MANIFEST(PART(ARTIFACT_CONFIG_TYPE, "1048577"), PART(ARTIFACT_PACK_TYPE, "2")), false},
		{MANIFEST(PART(ARTIFACT_CONFIG_TYPE, "1"), PART(ARTIFACT_PACK_TYPE, "18253611009")), false},
		{MANIFEST(PART("a", "1"), PART(ARTIFACT_PACK_TYPE, "2")), false},
		{MANIFEST(PART(ARTIFACT_CONFIG_TYPE, "1"), ""), false},
		{MANIFEST(PART(ARTIFACT_CONFIG_TYPE, "1"),
				  PART("a", "1") "," PART(ARTIFACT_PACK_TYPE, "2") "," PART(ARTIFACT_SIGNATURE_TYPE,
																			"16384")),
		 true},
		{MANIFEST(PART(ARTIFACT_CONFIG_TYPE, "1"),
				  PART(ARTIFACT_PACK_TYPE, "2") "," PART(ARTIFACT_SIGNATURE_TYPE, "16385")),
		 false},
		{MANIFEST(PART(ARTIFACT_CONFIG_TYPE, "1"), PART(ARTIFACT_SIGNATURE_TYPE, "2")), false},
		{MANIFEST(PART(ARTIFACT_CONFIG_TYPE, "1"),
				  PART(ARTIFACT_PACK_TYPE, "2") "," PART(ARTIFACT_PACK_TYPE, "2")),
		 false},
		{MANIFEST("{\"mediaType\": \"" ARTIFACT_CONFIG_TYPE "\"}", PART(ARTIFACT_PACK_TYPE, "2")),
		 false},
		{"{\"manifests\": []}", true},
		{"{\"manifests\": [" PART(REGISTRY_MANIFEST, "1") "]}", false},
		{"[]", false},
		{"{", false},
	};
	struct artifact_list list;

	assert_int_equal(PACK_MOST_SIZE, UINT64_C(18253611008));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (!read_artifact(cases[i].document, &list) != cases[i].sound)
			fail_msg("%s", cases[i].document);
		if (cases[i].sound)
			artifact_list_free(&list);
	}
}

/* A push replaces the pack for the same GPUs and drivers, and no other. */
TEST(packs_of_other_drivers_are_of_another_kind)
{
	const struct artifact one = {.targets = "sm_86", .stamps = "Jun 25 202401:14:48"};
	struct artifact other = one;

	assert_true(artifact_same_kind(&one, &other));
	TEXT_COPY(other.stamps, "Apr  8 202512:10:18");
	assert_false(artifact_same_kind(&one, &other));
	other = one;
	TEXT_COPY(other.targets, "sm_89");
	assert_false(artifact_same_kind(&one, &other));
}

TEST(a_title_is_harmless)
{
	static const struct {
		const char *title;
		bool sound;
	} cases[] = {
		{"a.jwpack", true},     {"a.tar", false},       {".jwpack", false},
		{"../a.jwpack", false}, {"nul.jwpack", false},  {"AUX.jwpack", false},
		{"null.jwpack", true},  {"com1.jwpack", false}, {"LPT9.jwpack", false},
		{"coma.jwpack", true},  {"com.jwpack", true},   {"com10.jwpack", true},
		{"a b.jwpack", false},
	};
	static const char form[] = "{\"config\": " PART(
		ARTIFACT_CONFIG_TYPE, "1") ", \"layers\": [{\"mediaType\": "
								   "\"" ARTIFACT_PACK_TYPE "\", \"digest\": \"" DIGEST
								   "\", \"size\": 1, \"annotations\": "
								   "{\"org.opencontainers.image.title\": \"%s\"}}]}";
	struct artifact_list list;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		(void)snprintf(text, sizeof text, form, cases[i].title);
		assert_int_equal(read_artifact(text, &list), 0);
		assert_string_equal(list.items->title, cases[i].sound ? cases[i].title : "");
		artifact_list_free(&list);
	}
}

/* ---- credentials */

TEST(entries_speak_of_hosts)
{
	static const struct {
		const char *name;
		bool counts;
	} cases[] = {
		{"h:5", true},
		{"H:5/", true},
		{"https://h:5/v2/", true},
		{"h:5/v1", true},
		{"h:5/lab", true},
		{"h:5/lab/", true},
		{"h:5/lab/cache/x", false},
		{"h:5/la", false},
		{"http://h:5/x", true},
		{"h:50", false},
		{"https://h:50/v1/", false},
		{"h", false},
		{"xh:5", false},
		{"h:5/lab/cache", true},
		{"h:5/other", false},
	};
	static const char form[] = "{\"auths\": {\"%s\": {\"auth\": \"eDp5\"}}}";
	struct credentials_entry entry;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		(void)snprintf(text, sizeof text, form, cases[i].name);
		assert_int_equal(credentials_parse(NULL, text, strlen(text), "h:5", "lab/cache", &entry),
						 0);
		if ((entry.known.user != NULL) != cases[i].counts)
			fail_msg("%s", cases[i].name);
		credentials_free(&entry.known);
	}
}

TEST(entries_have_their_forms)
{
	static const struct {
		const char *entry;
		int result;
		const char *user, *identity;
	} cases[] = {
		{"{\"auth\": \"eDp5\"}", 0, "x", NULL},
		{"{\"auth\": \"eDp5\", \"identitytoken\": \"t\"}", 0, NULL, "t"},
		{"{\"auth\": \"\"}", 0, NULL, NULL},
		{"{}", 0, NULL, NULL},
		{"1", 0, NULL, NULL},
		{"{\"auth\": \"eHk=\"}", -1, NULL, NULL},     /* xy */
		{"{\"auth\": \"eDp5Cg==\"}", -1, NULL, NULL}, /* with a line's end */
		{"{\"auth\": \"eDp5!\"}", -1, NULL, NULL},
		{"{\"auth\": \"eDp5AHo=\"}", -1, NULL, NULL}, /* with a NUL */
	};
	struct credentials_entry entry;
	char *token = NULL;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		(void)snprintf(text, sizeof text, "{\"auths\": {\"h\": %s}}", cases[i].entry);
		assert_int_equal(credentials_parse(NULL, text, strlen(text), "h", "a", &entry),
						 cases[i].result);
		if (cases[i].result)
			continue;
		assert_int_equal(!entry.known.user, !cases[i].user);
		assert_int_equal(!entry.known.identity, !cases[i].identity);
		credentials_free(&entry.known);
	}
	for (size_t more = 0; more < 2; more++) {
		with_letters("{\"auths\": {\"h\": {\"identitytoken\": \"", (1 << 15) + more, "\"}}}");
		assert_int_equal(credentials_parse(NULL, text, strlen(text), "h", "a", &entry),
						 more ? -1 : 0);
		if (!more)
			credentials_free(&entry.known);
		with_letters("{\"token\": \"", (1 << 15) + more, "\"}");
		assert_int_equal(login_parse_token(NULL, text, strlen(text), &token), more ? -1 : 0);
		with_letters("{\"credsStore\": \"", 63 + more, "\"}");
		assert_int_equal(credentials_parse(NULL, text, strlen(text), "h", "a", &entry),
						 more ? -1 : 0);
	}
	mem_free(token);
}

TEST(programs_answer_with_names_and_secrets)
{
	static const struct {
		const char *answer;
		int result;
		bool identity;
	} cases[] = {
		{"{\"Username\": \"u\", \"Secret\": \"s:t\"}", 0, false},
		{"{\"Username\": \"<token>\", \"Secret\": \"s\"}", 0, true},
		{"{\"Username\": \"\", \"Secret\": \"s\"}", -1, false},
		{"{\"Username\": \"u\", \"Secret\": \"\"}", -1, false},
		{"{\"Username\": \"u:v\", \"Secret\": \"s\"}", -1, false},
		{"{\"Username\": \"u\\n\", \"Secret\": \"s\"}", -1, false},
		{"{\"Username\": \"u\", \"Secret\": \"s\\r\"}", -1, false},
		{"{", -1, false},
	};
	struct credentials got;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		got = (struct credentials){0};
		assert_int_equal(
			credentials_parse_answer(NULL, cases[i].answer, strlen(cases[i].answer), &got),
			cases[i].result);
		assert_int_equal(got.identity != NULL, cases[i].identity);
		assert_int_equal(got.user != NULL, !cases[i].result && !cases[i].identity);
		credentials_free(&got);
	}
	for (size_t more = 0; more < 2; more++) {
		with_letters("{\"Username\": \"u\", \"Secret\": \"", (1 << 15) + more, "\"}");
		assert_int_equal(credentials_parse_answer(NULL, text, strlen(text), &got), more ? -1 : 0);
		credentials_free(&got);
		with_letters("{\"Secret\": \"u\", \"Username\": \"", (1 << 15) + more, "\"}");
		assert_int_equal(credentials_parse_answer(NULL, text, strlen(text), &got), more ? -1 : 0);
		if (!more)
			credentials_free(&got);
	}
}

/* ---- and what becomes of it */

TEST(a_pull_needs_a_name_and_a_system)
{
	static const struct {
		const char *from;
		bool how, system;
	} cases[] = {{"oci://h", true, true}, {"oci://h/a", false, false}, {"oci://h/a", true, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_system machine = {.gpu_count = 0};
		struct jw_import_options how = JW_IMPORT_OPTIONS_INIT;
		struct jw_pull_options options = JW_PULL_OPTIONS_INIT;
		struct jw_pull_result *result = NULL;
		struct jw_error why = {0};

		how.system = cases[i].system ? &machine : NULL;
		options.from = cases[i].from;
		options.how = cases[i].how ? &how : NULL;
		assert_int_equal(jw_pull(&why, &options, &result), -1);
		assert_int_equal(why.code, JW_ERR_USAGE);
		assert_null(result);
	}
}

TEST(what_fits_is_by_gpu_and_driver)
{
	struct jw_gpu gpu = {.target = {.sm = 86}};
	struct jw_system system = {.gpus = &gpu, .gpu_count = 1};
	struct artifact item = {.targets = "sm_70 sm_86", .stamps = "a,b", .cuda = "12.4,11.8"};

	system.driver.version.cuda = 12020;
	(void)snprintf(system.driver.stamp, sizeof system.driver.stamp, "b");
	assert_true(artifact_fits(&item, &system));
	(void)snprintf(system.driver.stamp, sizeof system.driver.stamp, "c");
	assert_false(artifact_fits(&item, &system));
	system.driver.version.cuda = 11080;
	assert_true(artifact_fits(&item, &system));
	gpu.target.sm = 8;
	assert_false(artifact_fits(&item, &system));
}

TEST(a_tag_is_of_sorted_names)
{
	uint64_t a[] = {3, 1, 2, 3}, b[] = {1, 2, 3}, c[] = {1, 2};
	size_t a_count = 4, b_count = 3, c_count = 2;
	char first[JW_PLAN_TAG], second[JW_PLAN_TAG], third[JW_PLAN_TAG];

	assert_int_equal(0, share_plan_tag(NULL, a, &a_count, first));
	assert_int_equal(0, share_plan_tag(NULL, b, &b_count, second));
	assert_int_equal(0, share_plan_tag(NULL, c, &c_count, third));
	assert_int_equal(a_count, 3);
	assert_string_equal(first, second);
	assert_string_not_equal(first, third);
	/* b2sum -l 256 of "0000000000000001\n0000000000000002\n0000000000000003\n" */
	assert_string_equal(first, "p-7433179f02325e3eb5ed24ce94b1fb1fbf5a5ea1");
	assert_true(reference_is_tag(first));
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

/* However many it has, the last one's machines find it. */
TEST(a_pack_names_all_of_its_drivers)
{
	static struct pack_driver drivers[PACK_MOST_DRIVERS];
	const struct pack_manifest manifest = {.drivers = drivers, .driver_count = PACK_MOST_DRIVERS};
	static struct artifact artifact;
	struct jw_system machine = {.gpu_count = 0};

	for (unsigned i = 0; i < PACK_MOST_DRIVERS; i++) {
		drivers[i].cuda = 100000 + 10 * i;
		(void)snprintf(drivers[i].stamp, sizeof drivers[i].stamp, "Apr  8 202512:%02u:%02u", i / 60,
					   i % 60);
	}
	artifact_describe(&artifact, &manifest);
	TEXT_COPY(machine.driver.stamp, drivers[PACK_MOST_DRIVERS - 1].stamp);
	assert_true(artifact_fits(&artifact, &machine));
	TEXT_COPY(machine.driver.stamp, "");
	machine.driver.version.cuda = drivers[PACK_MOST_DRIVERS - 1].cuda;
	assert_true(artifact_fits(&artifact, &machine));
}

RUN_TESTS(NULL, NULL)
