/* A registry's answers, one by one: what each status means, what is tried again, how blobs go up
 * and come down, and how to log in. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "files.h"
#include "folder.h"
#include "os/env.h"
#include "server_posix.h"
#include "share/login.h"
#include "share/oci_registry.h"

#define BUSY "503 Busy\r\nRetry-After: 0\r\n\r\n"

static struct jw_traffic traffic;
static struct reference reference = {.repository = "lab/cache"};
static struct registry_options options = {
	.reference = &reference,
	.web = {.plain = {.here = true}, .timeout_ms = 5000, .traffic = &traffic, .proxy = ""}};
static struct registry *registry;
static struct jw_error why;
static char digest[REFERENCE_DIGEST], other[REFERENCE_DIGEST];

static int begin(void **state)
{
	(void)state;
	why = (struct jw_error){0};
	options.push = false;
	options.web.cancel = NULL;
	registry = registry_open(NULL, &options);
	return registry ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	registry_close(registry);
	return 0;
}

static void again(bool push)
{
	(void)end(NULL);
	assert_int_equal(begin(NULL), 0);
	options.push = push;
	registry_close(registry);
	registry = registry_open(NULL, &options);
}

#define CASE(name) TEST_WITH(name, begin, end)

static bool was_asked(size_t n, const char *words)
{
	return strstr(server.requests[n], words) != NULL;
}

/* ---- manifests */

CASE(each_status_of_a_manifest_means_something)
{
	static const struct {
		const char *status;
		enum jw_code head, get, put;
		size_t asked;
	} cases[] = {
		{"200 OK", JW_OK, JW_OK, JW_OK, 1},
		{"201 Created", JW_ERR_IO, JW_ERR_IO, JW_OK, 1},
		{"202 Accepted", JW_ERR_IO, JW_ERR_IO, JW_ERR_IO, 1},
		{"204 Done", JW_ERR_IO, JW_ERR_IO, JW_ERR_IO, 1},
		{"403 No", JW_ERR_IO, JW_ERR_IO, JW_ERR_IO, 1},
		{"404 None", JW_OK, JW_ERR_NOT_FOUND, JW_ERR_NOT_FOUND, 1},
		{"429 Busy\r\nRetry-After: 0", JW_ERR_IO, JW_ERR_IO, JW_ERR_IO, 5},
		{"500 Failed\r\nRetry-After: 0", JW_ERR_IO, JW_ERR_IO, JW_ERR_IO, 5},
		{"599 Odd\r\nRetry-After: 0", JW_ERR_IO, JW_ERR_IO, JW_ERR_IO, 5},
	};
	uint8_t document[] = {'{', '}'};
	const struct buf sent = {.data = document, .size = sizeof document};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int call = 0; call < 3; call++) {
			const enum jw_code wanted = call == 0   ? cases[i].head
										: call == 1 ? cases[i].get
													: cases[i].put;
			char answer[128], got[REFERENCE_DIGEST] = "-";
			struct buf text = {0};

			why = (struct jw_error){0};
			(void)snprintf(answer, sizeof answer, "%s\r\n\r\n", cases[i].status);
			SERVER_SAYS(answer);
			(void)(call == 0   ? registry_head(&why, registry, "v1", got)
				   : call == 1 ? registry_manifest(&why, registry, "v1", &text, got)
							   : registry_put(&why, registry, "v1", REGISTRY_MANIFEST, &sent));
			if (why.code != wanted || server.asked != cases[i].asked)
				fail_msg("%d %s: %s", call, cases[i].status, why.message);
			/* Not there, or there with a digest that is not told */
			if (call == 0 && !wanted)
				assert_string_equal(got, *cases[i].status == '4' ? "" : "?");
			buf_free(&text);
		}
}

CASE(a_manifest_has_its_digest)
{
	static const struct {
		bool named, named_right, told, told_right;
		enum jw_code code;
	} cases[] = {{.code = JW_OK},
				 {true, true, true, true, JW_OK},
				 {true, false, true, true, JW_ERR_FORMAT},
				 {true, false, false, false, JW_ERR_FORMAT},
				 {true, true, true, false, JW_ERR_FORMAT},
				 {false, false, true, false, JW_ERR_FORMAT}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char answer[256], got[REFERENCE_DIGEST] = "";
		struct buf text = {0};

		why = (struct jw_error){0};
		(void)snprintf(answer, sizeof answer, "200 OK\r\n%s%s%s\r\ntext",
					   cases[i].told ? "Docker-Content-Digest: " : "",
					   !cases[i].told        ? ""
					   : cases[i].told_right ? digest
											 : other,
					   cases[i].told ? "\r\n" : "");
		SERVER_SAYS(BUSY, answer);
		(void)registry_manifest(&why, registry,
								!cases[i].named        ? "v1"
								: cases[i].named_right ? digest
													   : other,
								&text, got);
		if (why.code != cases[i].code)
			fail_msg("%zu: %s", i, why.message);
		assert_int_equal(server.asked, 2);
		if (!why.code)
			assert_string_equal(got, digest);
		buf_free(&text);
	}
}

/* ---- blobs */

/* “text”, unless the registry has it */
CASE(a_blob_goes_up)
{
	static const char session[] = "202 OK\r\nLocation: /up?x=1\r\n\r\n";
	static const struct {
		const char *answers[5];
		size_t asked;
		enum jw_code code;
	} cases[] = {
		{{"200 OK\r\n\r\n"}, 1, JW_OK},
		{{"403 No\r\n\r\n"}, 1, JW_ERR_IO},
		{{"404 None\r\n\r\n", session, "201 Created\r\n\r\n"}, 3, JW_OK},
		{{"404 None\r\n\r\n", session, "204 Done\r\n\r\n"}, 3, JW_OK},
		{{"404 None\r\n\r\n", session, "200 OK\r\n\r\n"}, 3, JW_ERR_IO},
		{{"404 None\r\n\r\n", session, "400 Bad\r\n\r\n"}, 3, JW_ERR_IO},
		{{"404 None\r\n\r\n", "202 OK\r\n\r\n"}, 2, JW_ERR_FORMAT},
		{{"404 None\r\n\r\n", "200 OK\r\nLocation: /up\r\n\r\n"}, 2, JW_ERR_IO},
		/* What broke off begins again, in another session. */
		{{"404 None\r\n\r\n", session, BUSY, session, "201 Created\r\n\r\n"}, 5, JW_OK},
		{{"404 None\r\n\r\n", session, "", session, "201 Created\r\n\r\n"}, 5, JW_OK},
		{{BUSY, "404 None\r\n\r\n", BUSY, session, "201 Created\r\n\r\n"}, 5, JW_OK},
	};
	struct blob blob = {.data = "text", .size_bytes = 4};

	assert_int_equal(blob_measure(NULL, &blob, NULL), 0);
	assert_string_equal(blob.digest, digest);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t count = 0;

		while (count < 5 && cases[i].answers[count])
			count++;
		why = (struct jw_error){0};
		traffic = (struct jw_traffic){0};
		server_says(cases[i].answers, count);
		(void)blob_push(&why, registry, &blob);
		if (why.code != cases[i].code || server.asked != cases[i].asked)
			fail_msg("%zu: %zu times: %s", i, (size_t)server.asked, why.message);
		assert_int_equal(traffic.blobs_sent, !why.code && count > 1);
		assert_int_equal(traffic.blobs_there, count == 1 && !why.code);
	}
	assert_true(was_asked(4, "PUT /up?x=1&digest=sha256%3A"));
	assert_true(was_asked(4, "\r\n\r\ntext"));
}

CASE(a_blob_comes_down)
{
	static const struct {
		const char *answers[2];
		enum jw_code code;
		size_t asked;
		uint64_t size;
	} cases[] = {
		{{"200 OK\r\n\r\ntext"}, JW_OK, 1, 4},
		{{"200 OK\r\n\r\ntexts"}, JW_ERR_FORMAT, 1, 4},
		{{"200 OK\r\n\r\ntexT"}, JW_ERR_FORMAT, 1, 4},
		{{"206 Part\r\nContent-Range: bytes 1-3/4\r\n\r\next"}, JW_ERR_FORMAT, 1, 4},
		{{"404 None\r\n\r\n"}, JW_ERR_NOT_FOUND, 1, 4},
		{{"204 Done\r\n\r\n"}, JW_ERR_IO, 1, 4},
		{{BUSY, "200 OK\r\n\r\ntext"}, JW_OK, 2, 4},
		/* It goes on where it broke off, or begins again. */
		{{"200 OK\r\nContent-Length: 4\r\n\r\nte",
		  "206 Part\r\nContent-Range: bytes 2-3/4\r\n\r\nxt"},
		 JW_OK,
		 2,
		 4},
		{{"200 OK\r\nContent-Length: 4\r\n\r\nte", "200 OK\r\n\r\ntext"}, JW_OK, 2, 4},
		{{"200 OK\r\nContent-Length: 4\r\n\r\nte", "206 Part\r\n\r\nxt"}, JW_ERR_FORMAT, 2, 4},
		{{"200 OK\r\nContent-Length: 4\r\n\r\nte",
		  "206 Part\r\nContent-Range: bytes 1-3/4\r\n\r\next"},
		 JW_ERR_FORMAT,
		 2,
		 4},
		/* Too few: the rest is asked for. */
		{{"200 OK\r\n\r\nte", "404 None\r\n\r\n"}, JW_ERR_NOT_FOUND, 2, 4},
		{{"200 OK\r\n\r\ntext", "404 None\r\n\r\n"}, JW_ERR_NOT_FOUND, 2, 5},
	};
	char *path = os_join(NULL, folder, "blob");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct os_file *file;

		why = (struct jw_error){0};
		traffic = (struct jw_traffic){0};
		server_says(cases[i].answers, cases[i].answers[1] ? 2 : 1);
		assert_int_equal(os_file_open(NULL, path, OS_OPEN_CREATE, &file), 0);
		(void)blob_pull(&why, registry, digest, cases[i].size, file, NULL);
		os_file_close(file);
		if (why.code != cases[i].code || server.asked != cases[i].asked)
			fail_msg("%zu: %zu times: %s", i, (size_t)server.asked, why.message);
		if (!why.code) {
			struct buf text;

			assert_int_equal(os_read_file(NULL, path, 100, &text), 0);
			assert_string_equal(buf_text(&text), "text");
			buf_free(&text);
		}
		if (server.asked == 2 && cases[i].answers[0][0] == '2')
			assert_true(was_asked(1, cases[i].size == 5 ? "Range: bytes=4-" : "Range: bytes=2-"));
		assert_int_equal(os_remove(NULL, path), 0);
	}
	mem_free(path);
}

static bool is_cancelled(void *context)
{
	(void)context;
	return true;
}

CASE(a_file_is_measured_until_somebody_interrupts)
{
	const struct jw_cancel cancel = {.is_cancelled = is_cancelled};
	char *path = os_join(NULL, folder, "measured");
	struct blob blob = {.path = path};

	files_put_text(folder, "measured", "text");
	assert_int_equal(os_file_open(NULL, path, OS_OPEN_READ, &blob.file), 0);
	assert_int_equal(blob_measure(&why, &blob, &cancel), -1);
	assert_int_equal(why.code, JW_ERR_INTERRUPTED);
	assert_int_equal(blob_measure(&why, &blob, NULL), 0);
	assert_int_equal(blob.size_bytes, 4);
	assert_string_equal(blob.digest, digest);
	os_file_close(blob.file);
	mem_free(path);
}

/* ---- logging in */

static char basic[] = "401 Who\r\nWWW-Authenticate: Basic realm=x\r\n\r\n", bearer[256];

/* @ is the registry's host. */
static void knows(const char *file, const char *form)
{
	const char *at = strchr(form, '@');
	char text[512];

	(void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at ? at - form : 0), form,
				   at ? reference.host : "", at ? at + 1 : form);
	files_put_text(folder, file, text);
}

static int head(void)
{
	char got[REFERENCE_DIGEST];

	why = (struct jw_error){0};
	return registry_head(&why, registry, "v1", got);
}

CASE(a_password_is_shown_from_then_on)
{
	knows("config.json", "{\"auths\": {\"@\": {\"auth\": \"eDp5\"}}}");
	SERVER_SAYS(basic, "404 None\r\n\r\n");
	assert_int_equal(head(), 0);
	assert_false(was_asked(0, "Authorization"));
	assert_true(was_asked(1, "Authorization: Basic eDp5\r\n"));
	SERVER_SAYS("404 None\r\n\r\n");
	assert_int_equal(head(), 0);
	assert_true(was_asked(0, "Authorization: Basic eDp5\r\n"));
	/* Once is enough. */
	SERVER_SAYS(basic);
	assert_int_equal(head(), -1);
	assert_int_equal(server.asked, 2);
	SERVER_SAYS("401 Who\r\n\r\n");
	assert_int_equal(head(), -1);
	assert_int_equal(why.code, JW_ERR_FORMAT);
}

CASE(a_token_is_asked_for_and_again_when_it_is_old)
{
	static const struct {
		const char *said, *token; /* NULL: none */
		enum jw_code code;
	} cases[] = {{"200 OK\r\n\r\n{\"token\": \"abc\"}", "abc", JW_OK},
				 {"200 OK\r\n\r\n{\"access_token\": \"abd\"}", "abd", JW_OK},
				 {"200 OK\r\n\r\n{\"token\": \"abe\", \"access_token\": \"no\"}", "abe", JW_OK},
				 {"200 OK\r\n\r\n{\"token\": \"a c\"}", NULL, JW_ERR_FORMAT},
				 {"200 OK\r\n\r\n{\"token\": \"\"}", NULL, JW_ERR_FORMAT},
				 {"203 Odd\r\n\r\n{\"token\": \"abc\"}", NULL, JW_ERR_IO},
				 {"403 No\r\n\r\n{\"token\": \"abc\"}", NULL, JW_ERR_IO}};

	knows("config.json", "{\"auths\": {\"@\": {\"auth\": \"eDp5\"}}}");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char line[64];

		again(i == 1);
		SERVER_SAYS(bearer, "200 OK\r\nContent-Length: 99\r\n\r\n{\"tok", BUSY, cases[i].said,
					"404 None\r\n\r\n", bearer, "200 OK\r\n\r\n{\"token\": \"new\"}",
					"404 None\r\n\r\n");
		assert_int_equal(head(), cases[i].token ? 0 : -1);
		assert_int_equal(why.code, cases[i].code);
		assert_true(was_asked(3, i == 1 ? "GET /token?service=s&scope=repository%3Alab%2Fcache%3A"
										  "pull%2Cpush HTTP/1.1\r\n"
										: "GET /token?service=s&scope=repository%3Alab%2Fcache%3A"
										  "pull HTTP/1.1\r\n"));
		assert_true(was_asked(3, "Authorization: Basic eDp5\r\n"));
		if (!cases[i].token)
			continue;
		(void)snprintf(line, sizeof line, "Authorization: Bearer %s\r\n", cases[i].token);
		assert_true(was_asked(4, line));
		/* What is looked for once may be gone afterwards. */
		knows("config.json", "{}");
		assert_int_equal(head(), 0);
		assert_true(was_asked(5, line));
		assert_true(was_asked(6, "Authorization: Basic eDp5\r\n"));
		assert_true(was_asked(7, "Authorization: Bearer new\r\n"));
		knows("config.json", "{\"auths\": {\"@\": {\"auth\": \"eDp5\"}}}");
	}
}

CASE(an_identity_is_exchanged_for_a_token)
{
	char *first = os_join(NULL, folder, "first.json");

	/* Of the first file that knows the host */
	knows("first.json",
		  "{\"auths\": {\"@\": {\"identitytoken\": \"i&d\"}}, \"credsStore\": \"x\"}");
	knows("config.json", "{\"auths\": {\"@\": {\"auth\": \"eDp5\"}}}");
	assert_int_equal(os_env_set(NULL, "REGISTRY_AUTH_FILE", first), 0);
	SERVER_SAYS(bearer, "200 OK\r\n\r\n{\"token\": \"abc\"}", "404 None\r\n\r\n");
	assert_int_equal(head(), 0);
	assert_true(was_asked(1, "POST /token HTTP/1.1\r\n"));
	assert_true(was_asked(1, "\r\n\r\ngrant_type=refresh_token&client_id=jitwarm&refresh_token="
							 "i%26d&service=s&scope=repository%3Alab%2Fcache%3Apull"));
	assert_false(was_asked(1, "Authorization"));
	assert_true(was_asked(2, "Authorization: Bearer abc\r\n"));
	assert_int_equal(os_env_set(NULL, "REGISTRY_AUTH_FILE", NULL), 0);
	mem_free(first);
}

/* What docker-credential-x does, and what follows */
CASE(helpers_are_asked)
{
	static const struct {
		const char *script, *config;
		enum jw_code code;
		const char *said; /* of the second request, or of the message */
	} cases[] = {
		{"echo '{\"Username\": \"x\", \"Secret\": \"y\"}'", "{\"credsStore\": \"x\"}", JW_OK,
		 "Authorization: Basic eDp5\r\n"},
		{"echo '{\"Username\": \"x\", \"Secret\": \"y\"}'", "{\"credHelpers\": {\"@\": \"x\"}}",
		 JW_OK, "Authorization: Basic eDp5\r\n"},
		{"exit 9", "{\"credsStore\": \"x\", \"auths\": {\"@\": {\"auth\": \"eDp5\"}}}", JW_OK,
		 "Authorization: Basic eDp5\r\n"},
		{"echo credentials not found; exit 1", "{\"credsStore\": \"x\"}", JW_ERR_IO,
		 "wants a name and password"},
		{"echo no keyring; exit 1", "{\"credsStore\": \"x\"}", JW_ERR_IO,
		 "ended with exit status 1"},
		{"echo nonsense", "{\"credsStore\": \"x\"}", JW_ERR_FORMAT, "docker-credential-x"},
		{"", "{\"credsStore\": \"gone\"}", JW_ERR_IO, "docker-credential-gone is not on PATH"},
	};
	char *script = os_join(NULL, folder, "docker-credential-x");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256];

		again(false);
		(void)snprintf(text, sizeof text, "#!/bin/sh\n%s\n", cases[i].script);
		files_put_text(folder, "docker-credential-x", text);
		assert_int_equal(chmod(script, 0755), 0);
		knows("config.json", cases[i].config);
		SERVER_SAYS(basic, "404 None\r\n\r\n");
		(void)head();
		if (why.code != cases[i].code ||
			!strstr(why.code ? why.message : server.requests[1], cases[i].said))
			fail_msg("%s: %s", cases[i].script, why.message);
	}
	mem_free(script);
}

static bool helper_is_asked(void *context)
{
	return os_exists(context);
}

CASE(who_interrupts_does_not_wait_for_a_helper)
{
	char *script = os_join(NULL, folder, "docker-credential-x"),
		 *asked = os_join(NULL, folder, "asked");
	const struct jw_cancel cancel = {asked, helper_is_asked};

	files_put_text(folder, "docker-credential-x",
				   "#!/bin/sh\n: >\"${0%/*}/asked\"; exec sleep 1000\n");
	assert_int_equal(chmod(script, 0755), 0);
	knows("config.json", "{\"credsStore\": \"x\"}");
	options.web.cancel = &cancel;
	SERVER_SAYS(basic);
	assert_int_equal(head(), -1);
	assert_int_equal(why.code, JW_ERR_INTERRUPTED);
	mem_free(script);
	mem_free(asked);
}

/* Docker Hub has one name in these files. */
CASE(the_hub_has_one_name)
{
	static const char *const hosts[] = {"docker.io", "registry-1.docker.io", "index.docker.io"};

	knows("config.json", "{\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": \"eDp5\"}}}");
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
		struct reference hub = {.repository = "a/b"};
		struct login login = {.reference = &hub, .base = "https://h/", .scope = ""};
		struct web *web = web_open(NULL, &options.web);

		(void)snprintf(hub.host, sizeof hub.host, "%s", hosts[i]);
		assert_int_equal(login_answer(NULL, &login, web, "Basic realm=x"), 0);
		assert_string_equal(login.authorization, "Basic eDp5");
		login_free(&login);
		web_close(web);
	}
}

static int set_up(void **state)
{
	static const char *const gone[] = {"http_proxy", "REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR"};
	char *path, *was = os_env("PATH");

	if (make_folder(state) || os_env_set(NULL, "DOCKER_CONFIG", folder) ||
		os_env_set(NULL, "XDG_CONFIG_HOME", folder))
		return -1;
	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		if (os_env_set(NULL, gone[i], NULL))
			return -1;
	path = mem_printf(NULL, "%s:%s", folder, was ? was : "");
	if (os_env_set(NULL, "PATH", path))
		return -1;
	mem_free(path);
	mem_free(was);
	server_begin();
	(void)snprintf(reference.host, sizeof reference.host, "%s", server.site);
	(void)snprintf(
		bearer, sizeof bearer,
		"401 Who\r\nWWW-Authenticate: Bearer realm=\"http://%s/token\",service=\"s\"\r\n\r\n",
		server.site);
	registry_digest(digest, "text", 4);
	registry_digest(other, "other", 5);
	return 0;
}

static int tear_down(void **state)
{
	server_end();
	return remove_folder(state);
}

RUN_TESTS(set_up, tear_down)
