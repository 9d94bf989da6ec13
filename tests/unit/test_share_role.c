/* Keys of a role: what the services of containers and instances are asked, and what is taken of
 * their answers. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "files.h"
#include "folder.h"
#include "os/env.h"
#include "server_posix.h"
#include "share/aws_profile.h"
#include "share/aws_role.h"

#define KEYS  "200 OK\r\n\r\n{\"AccessKeyId\": \"i\", \"SecretAccessKey\": \"s\", \"Token\": \"t\"}"
#define TOKEN "200 OK\r\n\r\ntoken"

static char container[64], instance[64], text[AWS_TOKEN + 64];
static struct jw_error why;

static void set(const char *name, const char *value)
{
	assert_int_equal(os_env_set(NULL, name, value), 0);
}

/* A busy machine may not answer itself within a second: once more then. */
static int ask(void)
{
	struct aws_keys keys = {.expires_s = -1};
	int result = -1;

	for (int tries = 0; result && tries < 50; tries++) {
		why = (struct jw_error){0};
		server.asked = 0;
		result = aws_role_keys(&why, &keys);
		if (!strstr(why.message, "within a second") && !strstr(why.message, "timed out"))
			break;
	}
	if (!result) {
		assert_string_equal(keys.id, "i");
		assert_string_equal(keys.secret, "s");
		assert_string_equal(keys.token, "t");
	}
	return result;
}

static bool was_asked(size_t n, const char *words)
{
	return strstr(server.requests[n], words) != NULL;
}

static void a_container_has_keys(void **state)
{
	static const struct {
		const char *answer;
		enum jw_code code;
	} cases[] = {{KEYS, JW_OK},
				 {"404 None\r\n\r\n", JW_ERR_NOT_FOUND},
				 {"500 Failed\r\n\r\n", JW_ERR_IO},
				 {"201 Created\r\n\r\n{}", JW_ERR_IO},
				 {"302 Found\r\nLocation: /other\r\n\r\n", JW_ERR_IO},
				 {"200 OK\r\n\r\n{}", JW_ERR_FORMAT},
				 {"200 OK\r\n\r\n", JW_ERR_FORMAT}};

	(void)state;
	set("AWS_CONTAINER_CREDENTIALS_FULL_URI", container);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		SERVER_SAYS(cases[i].answer);
		assert_int_equal(ask(), cases[i].code ? -1 : 0);
		if (why.code != cases[i].code || server.asked != 1)
			fail_msg("%s: %s", cases[i].answer, why.message);
		assert_true(was_asked(0, "GET /creds HTTP/1.1\r\n"));
		assert_false(was_asked(0, "Authorization"));
		assert_true(!why.code || strstr(why.message, "the keys of this container"));
	}
	SERVER_SAYS("200 OK\r\n\r\n");
	server.more = (16 << 10) + 1;
	assert_int_equal(ask(), -1);
	assert_int_equal(why.code, JW_ERR_LIMIT);
}

static void a_container_shows_who_asks(void **state)
{
	static const struct {
		const char *file, *value, *header; /* NULL: refused */
	} cases[] = {
		{NULL, "value", "\r\nAuthorization: value\r\n"},
		{NULL, "~! \t", "\r\nAuthorization: ~!\r\n"},
		{"of a file\r\n", "value", "\r\nAuthorization: of a file\r\n"},
		{NULL, "a\x1f", NULL},
		{NULL, "a\x7f", NULL},
		{"a\nb", NULL, NULL},
	};
	char *path = os_join(NULL, folder, "token");

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		SERVER_SAYS(KEYS);
		set("AWS_CONTAINER_AUTHORIZATION_TOKEN", cases[i].value);
		set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", cases[i].file ? path : NULL);
		files_put_text(folder, "token", cases[i].file ? cases[i].file : "");
		assert_int_equal(ask(), cases[i].header ? 0 : -1);
		if (cases[i].header ? !was_asked(0, cases[i].header) : why.code != JW_ERR_FORMAT)
			fail_msg("%zu: %s", i, why.message);
		assert_int_equal(server.asked, cases[i].header ? 1 : 0);
	}
	assert_int_equal(os_remove(NULL, path), 0);
	set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", path);
	assert_int_equal(ask(), -1);
	assert_int_equal(why.code, JW_ERR_NOT_FOUND);
	assert_int_equal(server.asked, 0);
	set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", NULL);
	set("AWS_CONTAINER_AUTHORIZATION_TOKEN", NULL);
	set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "no path");
	assert_int_equal(ask(), -1);
	assert_int_equal(why.code, JW_ERR_FORMAT);
	assert_int_equal(server.asked, 0);
	set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "");
	assert_int_equal(ask(), 0);
	mem_free(path);
}

static void an_instance_has_a_role(void **state)
{
	static const struct {
		const char *token, *role, *keys;
		enum jw_code code;
		size_t asked;
	} cases[] = {
		{TOKEN, "200 OK\r\n\r\nlab+=,.@_-9\r\nother", KEYS, JW_OK, 3},
		{TOKEN, "200 OK\r\n\r\na/b", KEYS, JW_ERR_NOT_FOUND, 2},
		{TOKEN, "200 OK\r\n\r\n", KEYS, JW_ERR_NOT_FOUND, 2},
		{TOKEN, "404 None\r\n\r\n", KEYS, JW_ERR_NOT_FOUND, 2},
		{TOKEN, "200 OK\r\n\r\nlab+=,.@_-9", "404 None\r\n\r\n", JW_ERR_NOT_FOUND, 3},
		{TOKEN, "200 OK\r\n\r\nlab+=,.@_-9", "200 OK\r\n\r\n{}", JW_ERR_FORMAT, 3},
		{"200 OK\r\n\r\n", "", "", JW_ERR_FORMAT, 1},
		{"200 OK\r\n\r\na b", "", "", JW_ERR_FORMAT, 1},
		{"403 No\r\n\r\n", "", "", JW_ERR_IO, 1},
	};

	(void)state;
	set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "");
	set("AWS_EC2_METADATA_SERVICE_ENDPOINT", instance);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		SERVER_SAYS(cases[i].token, cases[i].role, cases[i].keys);
		assert_int_equal(ask(), cases[i].code ? -1 : 0);
		if (why.code != cases[i].code || server.asked != cases[i].asked)
			fail_msg("%zu: %s", i, why.message);
		assert_true(!why.code || strstr(why.message, "the role of this instance (http://127"));
		assert_true(was_asked(0, "PUT /latest/api/token HTTP/1.1\r\n"));
		assert_true(was_asked(0, "X-aws-ec2-metadata-token-ttl-seconds: 300\r\n"));
		if (cases[i].asked < 3)
			continue;
		assert_true(was_asked(1, "GET /latest/meta-data/iam/security-credentials/ HTTP/1.1\r\n"));
		assert_true(was_asked(1, "X-aws-ec2-metadata-token: token\r\n"));
		assert_true(was_asked(2, "GET /latest/meta-data/iam/security-credentials/lab+=,.@_-9 "));
		assert_true(was_asked(2, "X-aws-ec2-metadata-token: token\r\n"));
	}
}

static void an_instances_words_have_limits(void **state)
{
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		strcpy(text, "200 OK\r\n\r\n");
		memset(text + 10, 'r', 64 + more);
		text[10 + 64 + more] = '\0';
		SERVER_SAYS(TOKEN, text, KEYS);
		assert_int_equal(ask(), more ? -1 : 0);
		memset(text + 10, 't', AWS_TOKEN - 1 + more);
		text[10 + AWS_TOKEN - 1 + more] = '\0';
		SERVER_SAYS(text, "200 OK\r\n\r\nlab", KEYS);
		assert_int_equal(ask(), more ? -1 : 0);
		assert_int_equal(server.asked, more ? 1 : 3);
	}
	SERVER_SAYS(TOKEN, "200 OK\r\n\r\nlab", KEYS);
	set("AWS_EC2_METADATA_DISABLED", "True");
	assert_int_equal(ask(), -1);
	assert_int_equal(why.code, JW_ERR_NOT_FOUND);
	assert_int_equal(server.asked, 0);
	set("AWS_EC2_METADATA_DISABLED", "false");
	assert_int_equal(ask(), 0);
}

static int set_up(void **state)
{
	static const char *const others[] = {
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_EC2_METADATA_DISABLED"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		set(others[i], NULL);
	server_begin();
	(void)snprintf(container, sizeof container, "http://%s/creds", server.site);
	(void)snprintf(instance, sizeof instance, "http://%s//", server.site);
	return make_folder(state);
}

static int tear_down(void **state)
{
	server_end();
	return remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_container_has_keys),
		cmocka_unit_test(a_container_shows_who_asks),
		cmocka_unit_test(an_instance_has_a_role),
		cmocka_unit_test(an_instances_words_have_limits),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
