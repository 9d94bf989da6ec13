/* Profiles of AWS, where settings come from, and addresses of buckets. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "files.h"
#include "folder.h"
#include "os/env.h"
#include "share/object_s3.h"

#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static int read_profile(const char *given, const char *name, bool config,
						struct aws_profile *profile)
{
	char text[512];

	(void)snprintf(text, sizeof text, "%s", given);
	return aws_profile_read(why, text, name, config, profile);
}

TEST(profiles_are_read)
{
	static const char text[] = "[default]\nregion=us-a-1\n[profile lab]\r\n"
							   "AWS_ACCESS_KEY_ID = id ; remark\r\n# aws_access_key_id = no\n"
							   "aws_secret_access_key = se;cret#x\ns3 =\n  region = no\nregion =\n"
							   "[profile my]\nregion = us-b-2";
	struct aws_profile profile = {0};

	assert_int_equal(0, read_profile(text, "lab", true, &profile));
	assert_string_equal(profile.keys.id, "id");
	assert_string_equal(profile.keys.secret, "se;cret#x");
	assert_string_equal(profile.region, "");
	/* What is known stays. */
	assert_int_equal(0, read_profile(text, "my", true, &profile));
	assert_int_equal(0, read_profile(text, "default", true, &profile));
	assert_string_equal(profile.region, "us-b-2");
	assert_string_equal(profile.keys.id, "id");
	/* In the file of credentials a section is the name itself. */
	profile = (struct aws_profile){0};
	assert_int_equal(0, read_profile(text, "my", false, &profile));
	assert_string_equal(profile.region, "");
	assert_int_equal(-1, read_profile("[x]\naws_access_key_id=i", "x", false, &profile));
}

/* What becomes a header's line has no blanks, no line ends, and no letters beyond ASCII. */
TEST(values_are_of_visible_characters)
{
	static const char *const bad[] = {"\x1f", "a\x7f", "a\xc3\xa4"};
	struct aws_profile profile = {0};
	char text[64];

	assert_int_equal(0, read_profile("[x]\nregion = !~aZ09+/=", "x", false, &profile));
	assert_string_equal(profile.region, "!~aZ09+/=");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		(void)snprintf(text, sizeof text, "[x]\nregion = %s", bad[i]);
		assert_int_equal(-1, read_profile(text, "x", false, &profile));
	}
}

TEST(buckets_have_addresses)
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

static void set(const char *name, const char *value)
{
	OK(os_env_set(why, name, value));
}

/* How an object of s3://lab is asked for; NULL: it cannot be. */
static const char *asked(const char *url)
{
	static struct object_s3_request texts;
	static char how[96];
	struct web_request request = {.method = "GET", .headers = {"A: 1"}};
	struct object_s3 *s3 = object_s3_open(NULL, "s3://lab");

	if (!s3)
		return NULL;
	OK(object_s3_sign(why, s3, "x", NOTHING, &texts, &request));
	assert_string_equal(request.url, url);
	assert_string_equal(request.sign->user, "i");
	assert_string_equal(request.sign->password, "s");
	assert_string_equal(request.headers[1], "x-amz-content-sha256: " NOTHING);
	assert_string_equal(request.headers[2], "x-amz-security-token: t");
	assert_true(request.stay);
	(void)snprintf(how, sizeof how, "%s", request.sign->how);
	object_s3_forget(&texts);
	object_s3_close(s3);
	return how;
}

/* Variables before files */
TEST(settings_have_their_places)
{
	static const char *const others[] = {
		"AWS_REGION",  "AWS_DEFAULT_REGION",          "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3",
		"AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"};
	char value[65];

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		set(others[i], NULL);
	set("HOME", folder);
	set("USERPROFILE", folder);
	set("AWS_ACCESS_KEY_ID", "i");
	set("AWS_SECRET_ACCESS_KEY", "s");
	set("AWS_SESSION_TOKEN", "t");
	assert_string_equal(asked("https://lab.s3.us-east-1.amazonaws.com/x"), "aws:amz:us-east-1:s3");
	files_put_text(folder, ".aws/config",
				   "[default]\nregion = a\nendpoint_url = http://a\n[profile x]\nregion = b\n");
	assert_string_equal(asked("http://a/lab/x"), "aws:amz:a:s3");
	set("AWS_PROFILE", "x");
	assert_string_equal(asked("https://lab.s3.b.amazonaws.com/x"), "aws:amz:b:s3");
	set("AWS_DEFAULT_REGION", "c");
	assert_string_equal(asked("https://lab.s3.c.amazonaws.com/x"), "aws:amz:c:s3");
	set("AWS_REGION", "d");
	set("AWS_ENDPOINT_URL", "http://e");
	assert_string_equal(asked("http://e/lab/x"), "aws:amz:d:s3");
	set("AWS_ENDPOINT_URL_S3", "http://f/");
	assert_string_equal(asked("http://f/lab/x"), "aws:amz:d:s3");
	set("AWS_REGION", "d d");
	assert_null(asked(""));
	/* As long as its room, and no longer */
	memset(value, 'r', sizeof value);
	value[64] = '\0';
	set("AWS_REGION", value);
	assert_null(asked(""));
	set("AWS_REGION", value + 1);
	assert_non_null(asked("http://f/lab/x"));
}

TEST(a_signature_needs_room_for_its_headers)
{
	struct object_s3_request texts = {.url = NULL};
	struct web_request request = {.headers = {"A: 1", "B: 2", "C: 3", "D: 4", "E: 5"}};
	struct object_s3 *s3 = object_s3_open(NULL, "s3://lab");

	assert_non_null(s3);
	GIVES(JW_ERR_LIMIT, object_s3_sign(why, s3, "x", NOTHING, &texts, &request));
	object_s3_forget(&texts);
	object_s3_close(s3);
}

RUN_TESTS(make_folder, remove_folder)
