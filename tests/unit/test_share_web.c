/* One request and its answers: redirects, limits, what proves who we are, and waiting. */
#include <string.h>

#include "base/buf.h"
#include "files.h"
#include "folder.h"
#include "os/env.h"
#include "server_posix.h"
#include "share/web.h"

enum { MOST_HOPS = 5, MOST_DROPPED = 1 << 16, MOST_URL = 4 * WEB_TEXT };

static char home[128], other[128];
static const struct web_options options = {.plain = {.here = true}, .timeout_ms = 5000};
static struct web *web;

static int take(struct jw_error *err, void *context, const void *data, size_t size)
{
	return buf_append(err, context, data, size);
}

static int give(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size)
{
	(void)err;
	memcpy(data, (const char *)context + offset, size);
	return 0;
}

static bool was_asked(size_t n, const char *words)
{
	return strstr(server.requests[n], words) != NULL;
}

TEST(each_redirect_has_its_rule)
{
	static const struct {
		const char *method, *answer;
		bool stay, followed;
	} cases[] = {
		{"GET", "301 Moved\r\nLocation: /next\r\n\r\n", false, true},
		{"GET", "302 Found\r\nLocation: /next\r\n\r\n", false, true},
		{"GET", "303 Other\r\nLocation: /next\r\n\r\n", false, true},
		{"GET", "307 Now\r\nLocation: /next\r\n\r\n", false, true},
		{"GET", "308 For ever\r\nLocation: /next\r\n\r\n", false, true},
		{"GET", "302 Found\r\nLocation: /next\r\n\r\n", true, false},
		{"PUT", "302 Found\r\nLocation: /next\r\n\r\n", false, false},
		{"PUT", "307 Now\r\nLocation: /next\r\n\r\n", false, false},
		{"GET", "300 Many\r\nLocation: /next\r\n\r\n", false, false},
		{"GET", "304 Same\r\nLocation: /next\r\n\r\n", false, false},
		{"GET", "306 Odd\r\nLocation: /next\r\n\r\n", false, false},
		{"GET", "200 OK\r\nLocation: /next\r\n\r\n", false, false},
		{"GET", "302 Found\r\n\r\n", false, false},
	};
	char next[256];

	(void)snprintf(next, sizeof next, "http://%s/next", server.site);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct web_request request = {
			.method = cases[i].method, .url = home, .stay = cases[i].stay};
		struct web_answer answer;
		const bool has = strstr(cases[i].answer, "Location") != NULL;

		SERVER_SAYS(cases[i].answer, "204 Done\r\n\r\n");
		OK(web_ask(why, web, &request, &answer));
		if (server.asked != (cases[i].followed ? 2 : 1) ||
			(answer.status == 204) != cases[i].followed)
			fail_msg("%s %s", cases[i].method, cases[i].answer);
		/* Whole, whatever the server wrote */
		assert_string_equal(answer.location, has && !cases[i].followed ? next : "");
	}
}

TEST(redirects_end)
{
	const struct web_request request = {.method = "GET", .url = home};
	struct web_answer answer = {.status = 1};

	SERVER_SAYS("302 Found\r\nLocation: /again\r\n\r\n");
	GIVES(JW_ERR_FORMAT, web_ask(why, web, &request, &answer));
	assert_int_equal(server.asked, MOST_HOPS + 1);
	SERVER_SAYS("302 Found\r\nLocation: http://192.0.2.1/\r\n\r\n");
	*why = (struct jw_error){0};
	GIVES(JW_ERR_FORMAT, web_ask(why, web, &request, &answer));
	assert_int_equal(server.asked, 1);
	SERVER_SAYS("302 Found\r\nLocation: http://[/\r\n\r\n");
	assert_int_equal(web_ask(why, web, &request, &answer), -1);
	SERVER_SAYS("200 OK\r\nLocation: http://[/\r\n\r\n");
	assert_int_equal(web_ask(why, web, &request, &answer), -1);
	assert_int_equal(answer.status, 1);
}

/* It goes to the origin that it was given for, along redirects, too. */
TEST(what_proves_goes_nowhere_else)
{
	char here[256], there[256];
	const struct web_options with_netrc = {
		.plain = {.here = true}, .timeout_ms = 5000, .netrc = true};
	const struct web_request request = {.method = "GET", .url = home};
	struct web_answer answer;
	char *file = mem_printf("%s/netrc", folder);
	struct web *own;

	files_put_text(folder, "netrc",
				   "machine 127.0.0.1 login me password secret\n"
				   "machine localhost login me password secret\n");
	OK(os_env_set(why, "NETRC", file));
	own = web_open(NULL, &with_netrc);
	(void)snprintf(here, sizeof here, "302 Found\r\nLocation: %s\r\n\r\n", home);
	(void)snprintf(there, sizeof there, "302 Found\r\nLocation: %s\r\n\r\n", other);
	SERVER_SAYS(there, here, "200 OK\r\n\r\n");
	OK(web_ask(why, own, &request, &answer));
	assert_int_equal(server.asked, 3);
	assert_true(was_asked(0, "Authorization: Basic bWU6c2VjcmV0\r\n"));
	assert_false(was_asked(1, "Authorization"));
	assert_true(was_asked(2, "Authorization: Basic bWU6c2VjcmV0\r\n"));
	web_close(own);
	OK(os_env_set(why, "NETRC", NULL));
	SERVER_SAYS("200 OK\r\n\r\n");
	OK(web_ask(why, web, &request, &answer));
	assert_false(was_asked(0, "Authorization"));
	mem_free(file);
}

TEST(answers_have_limits)
{
	struct buf body = BUF_MAX(1 << 20);
	struct web_request request = {.method = "GET", .url = home};
	struct web_answer answer;
	char *longer = calloc(1, MOST_URL + 1);

	/* What nobody asked for */
	SERVER_SAYS("200 OK\r\n\r\n");
	server.more = MOST_DROPPED;
	OK(web_ask(why, web, &request, &answer));
	server.more++;
	GIVES(JW_ERR_LIMIT, web_ask(why, web, &request, &answer));
	SERVER_SAYS("404 None\r\n\r\n");
	server.more = 1 << 20;
	assert_int_equal(web_ask(why, web, &request, &answer), -1);
	/* What somebody did */
	SERVER_SAYS("200 OK\r\n\r\n");
	request.take = take;
	request.context = &body;
	request.most_bytes = server.more = 100000;
	OK(web_ask(why, web, &request, &answer));
	assert_int_equal(body.size, 100000);
	server.more++;
	assert_int_equal(web_ask(why, web, &request, &answer), -1);
	/* A refusal is not taken */
	SERVER_SAYS("403 No\r\n\r\n{\"errors\": [{\"code\": \"A\", \"message\": \"b\"}]}");
	buf_clear(&body);
	OK(web_ask(why, web, &request, &answer));
	assert_int_equal(body.size, 0);
	assert_string_equal(answer.said, "A: b");
	/* An address */
	(void)snprintf(longer, MOST_URL + 1, "%s", home);
	memset(longer + strlen(home), 'x', MOST_URL - strlen(home));
	request.url = longer;
	GIVES(JW_ERR_LIMIT, web_ask(why, web, &request, &answer));
	assert_int_equal(server.asked, 1);
	longer[MOST_URL - 1] = '\0';
	OK(web_ask(why, web, &request, &answer));
	free(longer);
	buf_free(&body);
}

TEST(a_body_is_sent)
{
	char text[] = "a body";
	struct web_request request = {.method = "PUT",
								  .url = home,
								  .headers = {"X-One: 1", "X-Two: 2"},
								  .give = give,
								  .give_bytes = sizeof text - 1,
								  .context = text};
	struct web_answer answer;

	SERVER_SAYS("201 Created\r\n\r\n");
	OK(web_ask(why, web, &request, &answer));
	assert_true(was_asked(0, "PUT /base HTTP/1.1\r\n"));
	assert_true(was_asked(0, "X-One: 1\r\n"));
	assert_true(was_asked(0, "X-Two: 2\r\n"));
	assert_true(was_asked(0, "Content-Length: 6\r\n"));
	assert_false(was_asked(0, "Expect:"));
	assert_true(was_asked(0, "\r\n\r\na body"));
	/* None */
	request.give = NULL;
	request.give_bytes = 0;
	SERVER_SAYS("201 Created\r\n\r\n");
	OK(web_ask(why, web, &request, &answer));
	assert_true(was_asked(0, "PUT /base HTTP/1.1\r\n"));
	assert_true(was_asked(0, "Content-Length: 0\r\n"));
}

TEST(failures_are_told_apart)
{
	const struct web_request request = {.method = "GET", .url = home};
	struct web_request nowhere = {.method = "GET", .url = "https://127.0.0.1:1/"};
	struct web_answer answer;

	SERVER_SAYS("");
	GIVES(JW_ERR_BUSY, web_ask(why, web, &request, &answer));
	assert_false(web_is_late(web));
	GIVES(JW_ERR_BUSY, web_ask(why, web, &nowhere, &answer));
	nowhere.url = "ftp://127.0.0.1/";
	GIVES(JW_ERR_FORMAT, web_ask(why, web, &nowhere, &answer));
}

/* A server that takes a connection and says nothing: a document's time, and a blob's silence */
TEST(silence_has_an_end)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct web_options hasty = options;
	socklen_t size = sizeof address;
	const int silent = socket(AF_INET, SOCK_STREAM, 0);
	char url[64];
	struct web *own;

	assert_int_equal(bind(silent, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(silent, 1), 0);
	assert_int_equal(getsockname(silent, (struct sockaddr *)&address, &size), 0);
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%u/", ntohs(address.sin_port));
	/* Silence that does not end is a failure. */
	(void)alarm(120);
	hasty.timeout_ms = 500;
	own = web_open(NULL, &hasty);
	for (int bulk = 0; bulk < 2; bulk++) {
		struct web_request request = {.method = "GET", .url = url, .bulk = bulk};
		struct web_answer answer;

		GIVES(JW_ERR_IO, web_ask(why, own, &request, &answer));
		assert_true(web_is_late(own));
		request.url = home;
		SERVER_SAYS("");
		assert_int_equal(web_ask(why, own, &request, &answer), -1);
		assert_false(web_is_late(own));
	}
	web_close(own);
	(void)close(silent);
	(void)alarm(0);
}

/* A certificate that is there and cannot be read is not none. */
TEST(certificates_are_looked_at_first)
{
	struct web *own;

	OK(os_env_set(why, "CURL_CA_BUNDLE", "/"));
	assert_null(web_open(why, &options));
	assert_true(why->code != JW_OK);
	OK(os_env_set(why, "CURL_CA_BUNDLE", "/nonexistent"));
	own = web_open(NULL, &options);
	assert_non_null(own);
	web_close(own);
	OK(os_env_set(why, "CURL_CA_BUNDLE", NULL));
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	server_begin();
	(void)os_env_set(NULL, "no_proxy", "*");
	(void)snprintf(home, sizeof home, "http://%s/base", server.site);
	(void)snprintf(other, sizeof other, "http://localhost%s/other", strchr(server.site, ':'));
	web = web_open(NULL, &options);
	return web ? 0 : -1;
}

static int tear_down(void **state)
{
	web_close(web);
	server_end();
	return remove_folder(state);
}

RUN_TESTS(set_up, tear_down)
