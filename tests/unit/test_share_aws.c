/* Signatures of AWS against the examples of its documentation, profiles, and addresses of buckets.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "files.h"
#include "folder.h"
#include "os/env.h"
#include "share/aws_credentials.h"
#include "share/aws_profile.h"
#include "share/aws_sign.h"
#include "share/object_s3.h"

#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* “Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk”,
 * GET Bucket Lifecycle and GET Bucket (List Objects) */
static void signatures_are_those_of_the_documentation(void **state)
{
	static const struct {
		const char *query, *signature;
	} cases[] = {
		{"lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	};
	static const struct aws_keys keys = {.id = "AKIAIOSFODNN7EXAMPLE",
										 .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct aws_request request = {
			"GET",     "examplebucket.s3.amazonaws.com", "/", cases[i].query, "us-east-1", NOTHING,
			1369353600};
		struct aws_signature signature;

		assert_int_equal(0, aws_sign(NULL, &keys, &request, &signature));
		assert_string_equal(signature.date, "20130524T000000Z");
		assert_non_null(strstr(signature.authorization, cases[i].signature));
		assert_non_null(
			strstr(signature.authorization,
				   "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"));
	}
}

static void times_go_both_ways(void **state)
{
	static const struct {
		int64_t seconds;
		const char *text, *date;
	} cases[] = {{1369353600, "2013-05-24T00:00:00Z", "20130524T000000Z"},
				 {951782399, "2000-02-28T23:59:59Z", "20000228T235959Z"},
				 {951782400, "2000-02-29T00:00:00Z", "20000229T000000Z"},
				 {1709251199, "2024-02-29T23:59:59Z", "20240229T235959Z"},
				 {1735689599, "2024-12-31T23:59:59Z", "20241231T235959Z"},
				 {4107542400, "2100-03-01T00:00:00Z", "21000301T000000Z"}};
	static const char *const bad[] = {"",
									  "2013",
									  "2013-13-01T00:00:00Z",
									  "1969-12-31T23:59:59Z",
									  "2013-00-01T00:00:00Z",
									  "2013-05-00T00:00:00Z",
									  "2013-05-32T00:00:00Z",
									  "x"};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct aws_keys keys = {.id = "a", .secret = "b"};
		const struct aws_request request = {"GET", "h", "/", "", "r", NOTHING, cases[i].seconds};
		struct aws_signature signature;

		assert_int_equal(cases[i].seconds, aws_time(cases[i].text));
		assert_int_equal(0, aws_sign(NULL, &keys, &request, &signature));
		assert_string_equal(signature.date, cases[i].date);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(0, aws_time(bad[i]));
}

static void profiles_are_read(void **state)
{
	static const char text[] = "\xef\xbb\xbf[default]\nregion=us-a-1\n[ profile  \"my lab\" ]\r\n"
							   "AWS_ACCESS_KEY_ID = id ; remark\r\n# aws_access_key_id = no\n"
							   "aws_secret_access_key = se;cret#x\ns3 =\n  region = no\nregion =\n"
							   "[profile my]\nregion = us-b-2";
	struct aws_profile profile = {0};

	(void)state;
	assert_int_equal(0, aws_profile_parse(NULL, text, sizeof text - 1, "my lab", true, &profile));
	assert_string_equal(profile.keys.id, "id");
	assert_string_equal(profile.keys.secret, "se;cret#x");
	assert_string_equal(profile.region, "");
	/* What is known stays. */
	assert_int_equal(0, aws_profile_parse(NULL, text, sizeof text - 1, "my", true, &profile));
	assert_int_equal(0, aws_profile_parse(NULL, text, sizeof text - 1, "default", true, &profile));
	assert_string_equal(profile.region, "us-b-2");
	assert_string_equal(profile.keys.id, "id");
	/* In the file of credentials a section is the name itself. */
	profile = (struct aws_profile){0};
	assert_int_equal(0, aws_profile_parse(NULL, text, sizeof text - 1, "my", false, &profile));
	assert_string_equal(profile.region, "");
}

static void names_of_profiles_may_have_quotes(void **state)
{
	static const struct {
		const char *section, *name;
	} cases[] = {{"aba", "aba"},       {"'lab'", "lab"}, {"\"lab\"", "lab"},
				 {"'lab\"", "'lab\""}, {"\"", "\""},     {"''", ""}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct aws_profile profile = {0};
		char text[64];

		(void)snprintf(text, sizeof text, "[profile %s]\nregion = r", cases[i].section);
		assert_int_equal(
			0, aws_profile_parse(NULL, text, strlen(text), cases[i].name, true, &profile));
		assert_string_equal(profile.region, "r");
	}
}

/* What becomes a header's line has no blanks, no line ends, and no letters beyond ASCII. */
static void words_are_of_visible_characters(void **state)
{
	static const char *const bad[] = {"", " ", "a b", "a\r", "\x1f", "\x7f", "a\xc3\xa4"};

	(void)state;
	assert_true(aws_is_word("!~aZ09+/="));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(aws_is_word(bad[i]));
}

static void buckets_have_addresses(void **state)
{
	static const struct {
		const char *place, *endpoint, *region, *address, *prefix; /* address NULL: refused */
	} cases[] = {
		{"s3://lab", "", "eu-a-1", "https://lab.s3.eu-a-1.amazonaws.com", ""},
		{"s3://lab/a b/", "", "cn-a-1", "https://lab.s3.cn-a-1.amazonaws.com.cn", "/a%20b"},
		{"s3://l.ab/a", "", "eu-a-1", "https://s3.eu-a-1.amazonaws.com/l.ab", "/a"},
		{"s3://lab", "http://h:9000/", "x", "http://h:9000/lab", ""},
		{"s3://lab/a?b#c", "https://h", "x", "https://h/lab", "/a%3Fb%23c"},
		{"s3://lab", "https://u@h", "x", NULL, ""},
		{"s3://lab", "https://h/p", "x", NULL, ""},
		{"s3://lab", "file://h", "x", NULL, ""},
		{"s3://lab", "", "x.evil", NULL, ""},
		{"s3://la@b", "", "x", NULL, ""},
		{"s3:///a", "", "x", NULL, ""},
		{"s3://lab/./a", "", "x", NULL, ""},
		{"s3://lab/a/..", "", "x", NULL, ""},
	};
	char bucket[64], prefix[WEB_TEXT], address[WEB_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const int result = object_s3_parse(NULL, cases[i].place, bucket, prefix) ||
						   object_s3_address(NULL, cases[i].endpoint, cases[i].region, bucket,
											 address, sizeof address);

		assert_int_equal(!cases[i].address, result);
		if (result)
			continue;
		assert_string_equal(address, cases[i].address);
		assert_string_equal(prefix, cases[i].prefix);
	}
}

/* Variables before files; a home directory that memory lacks for is as good as none. */
static void settings_have_their_places(void **state)
{
	static const char *const others[] = {
		"AWS_REGION",  "AWS_DEFAULT_REGION",          "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3",
		"AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"};
	char region[64] = "", endpoint[AWS_TEXT] = "";

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(os_env_set(NULL, others[i], NULL), 0);
	assert_int_equal(os_env_set(NULL, "HOME", folder), 0);
	assert_int_equal(os_env_set(NULL, "USERPROFILE", folder), 0);
	assert_int_equal(aws_settings(NULL, region, endpoint), 0);
	assert_string_equal(region, "");
	files_put_text(folder, ".aws/config",
				   "[default]\nregion = a\nendpoint_url = http://a\n[profile x]\nregion = b\n");
	for (size_t n = 1; n < 10; n++) {
		*region = *endpoint = '\0';
		mem_fail_after(n);
		(void)aws_settings(NULL, region, endpoint);
		(void)mem_fail_after(0);
		assert_true(!*region || !strcmp(region, "a"));
	}
	*region = *endpoint = '\0';
	assert_int_equal(aws_settings(NULL, region, endpoint), 0);
	assert_string_equal(region, "a");
	assert_string_equal(endpoint, "http://a");
	assert_int_equal(os_env_set(NULL, "AWS_PROFILE", "x"), 0);
	*region = *endpoint = '\0';
	assert_int_equal(aws_settings(NULL, region, endpoint), 0);
	assert_string_equal(region, "b");
	assert_string_equal(endpoint, "");
	assert_int_equal(os_env_set(NULL, "AWS_DEFAULT_REGION", "c"), 0);
	assert_int_equal(aws_settings(NULL, region, endpoint), 0);
	assert_string_equal(region, "c");
	assert_int_equal(os_env_set(NULL, "AWS_REGION", "d"), 0);
	assert_int_equal(aws_settings(NULL, region, endpoint), 0);
	assert_string_equal(region, "d");
	assert_int_equal(os_env_set(NULL, "AWS_REGION", "d d"), 0);
	assert_int_equal(aws_settings(NULL, region, endpoint), -1);
}

/* As long as its room, and no longer */
static void values_fit_their_rooms(void **state)
{
	char value[128], region[64] = "", endpoint[AWS_TEXT] = "";

	(void)state;
	memset(value, 'r', sizeof value);
	value[sizeof region - 1] = '\0';
	assert_int_equal(os_env_set(NULL, "AWS_REGION", value), 0);
	assert_int_equal(aws_settings(NULL, region, endpoint), 0);
	assert_string_equal(region, value);
	value[sizeof region - 1] = 'r';
	value[sizeof region] = '\0';
	assert_int_equal(os_env_set(NULL, "AWS_REGION", value), 0);
	assert_int_equal(aws_settings(NULL, region, endpoint), -1);
	assert_int_equal(os_env_set(NULL, "AWS_REGION", NULL), 0);
}

/* Three of the signature's own, behind those that are there */
static void a_signature_needs_room_for_its_headers(void **state)
{
	struct object_s3_request texts = {.url = NULL};
	struct web_request request = {.method = "GET", .headers = {"A: 1", "B: 2", "C: 3"}};
	struct jw_error why = {0};
	struct object_s3 *s3;

	(void)state;
	assert_int_equal(os_env_set(NULL, "AWS_REGION", "eu-a-1"), 0);
	assert_int_equal(os_env_set(NULL, "AWS_ACCESS_KEY_ID", "i"), 0);
	assert_int_equal(os_env_set(NULL, "AWS_SECRET_ACCESS_KEY", "s"), 0);
	assert_int_equal(os_env_set(NULL, "AWS_SESSION_TOKEN", "t"), 0);
	s3 = object_s3_open(NULL, "s3://lab/a");
	assert_non_null(s3);
	assert_int_equal(object_s3_sign(NULL, s3, "x", NOTHING, &texts, &request), 0);
	assert_string_equal(request.url, "https://lab.s3.eu-a-1.amazonaws.com/a/x");
	assert_true(!strncmp(request.headers[3], "x-amz-content-sha256: e3b0", 26));
	assert_true(!strncmp(request.headers[4], "x-amz-date: ", 12));
	assert_string_equal(request.headers[5], "x-amz-security-token: t");
	assert_null(request.headers[6]);
	object_s3_forget(&texts);
	request = (struct web_request){.method = "GET", .headers = {"A: 1", "B: 2", "C: 3", "D: 4"}};
	assert_int_equal(object_s3_sign(&why, s3, "x", NOTHING, &texts, &request), -1);
	assert_int_equal(why.code, JW_ERR_LIMIT);
	object_s3_forget(&texts);
	object_s3_close(s3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signatures_are_those_of_the_documentation),
		cmocka_unit_test(times_go_both_ways),
		cmocka_unit_test(profiles_are_read),
		cmocka_unit_test(names_of_profiles_may_have_quotes),
		cmocka_unit_test(words_are_of_visible_characters),
		cmocka_unit_test(buckets_have_addresses),
		cmocka_unit_test(settings_have_their_places),
		cmocka_unit_test(values_fit_their_rooms),
		cmocka_unit_test(a_signature_needs_room_for_its_headers),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
