/* Addresses: which are the same server's, which may be asked without TLS, and where a link leads */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "share/web.h"

TEST(an_origin_is_scheme_host_and_port)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{"https://h/a", "https://h/b?c", true}, {"https://h", "https://H:443/", true},
		{"http://h", "http://h:80", true},      {"https://u:p@h/", "https://h/", true},
		{"https://h", "http://h", false},       {"https://h", "http://h:443", false},
		{"https://h", "https://i", false},      {"https://h", "https://h:444", false},
		{"https://h", "no address", false},     {"no address", "https://h", false},
		{"https://h", "https://h.", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (web_same_origin(cases[i].a, cases[i].b) != cases[i].same)
			fail_msg("%s, %s", cases[i].a, cases[i].b);
}

TEST(a_place_has_a_host_and_no_question)
{
	static const struct {
		const char *url;
		bool sound;
	} cases[] = {
		{"https://h", true},      {"https://h/a/b", true}, {"http://u:p@h:1/a", true},
		{"https://h/?a", false},  {"https://h/#a", false}, {"https://", false},
		{"https://h:a/b", false}, {"https://[::1", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		GIVES(cases[i].sound ? JW_OK : JW_ERR_USAGE, web_check_address(why, cases[i].url));
	}
}

TEST(links_lead_somewhere)
{
	static const struct {
		const char *page, *link, *url; /* NULL: nowhere */
	} cases[] = {
		{"https://h/a/b", "c", "https://h/a/c"},
		{"https://h/a/b", "/c?d", "https://h/c?d"},
		{"https://h/a/b", "//i/c", "https://i/c"},
		{"https://h/a/b", "http://i/c#d", "http://i/c"},
		{"https://u:p@h/a", "b", "https://h/b"},
		{"https://h/a", "https://u:p@i/b c", "https://i/b%20c"},
		{"https://h/a", "http://[", NULL},
		{"no address", "a", NULL},
	};
	char url[64];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		strcpy(url, "before");
		assert_int_equal(web_resolve(why, cases[i].page, cases[i].link, url, sizeof url),
						 cases[i].url ? 0 : -1);
		assert_string_equal(url, cases[i].url ? cases[i].url : "before");
	}
	assert_int_equal(why->code, JW_ERR_FORMAT);
	OK(web_resolve(why, "https://h/", "ab", url, sizeof "https://h/ab"));
	GIVES(JW_ERR_LIMIT, web_resolve(why, "https://h/", "abc", url, sizeof "https://h/ab"));
	assert_string_equal(url, "https://h/ab");
}

/* Who may be spoken to in plain text: named hosts, and this machine where that is allowed. */
TEST(plain_text_is_for_few)
{
	static const char *const named[] = {"lab", "other:5000"};
	static const struct {
		const char *host;
		bool here, plain;
	} cases[] = {
		{"lab", false, true},         {"LAB:80", false, true},     {"lab:5000", false, true},
		{"other:5000", false, true},  {"OTHER:5000", false, true}, {"other", false, false},
		{"other:80", false, false},   {"localhost", true, true},   {"localhost:1", true, true},
		{"localhost", false, false},  {"127.0.0.1", true, true},   {"127.1.2.3:9", true, true},
		{"127.0.0.1.x", true, false}, {"[::1]", true, true},       {"[::1]:80", true, true},
		{"[::2]", true, false},       {"far", true, false},        {"localhost.far", true, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct web_hosts hosts = {cases[i].here, named, sizeof named / sizeof *named};
		char url[64];

		assert_string_equal(web_scheme(&hosts, cases[i].host), cases[i].plain ? "http" : "https");
		(void)snprintf(url, sizeof url, "http://%s/a", cases[i].host);
		GIVES(cases[i].plain ? JW_OK : JW_ERR_FORMAT, web_may_ask(why, &hosts, url));
		(void)snprintf(url, sizeof url, "https://%s/a", cases[i].host);
		OK(web_may_ask(why, &hosts, url));
	}
}

TEST(what_is_no_address_is_not_asked)
{
	static const struct web_hosts hosts = {.here = true};
	char longest[320] = "https://";

	assert_int_equal(web_may_ask(NULL, &hosts, "ftp://localhost/"), -1);
	assert_int_equal(web_may_ask(NULL, &hosts, "file:///etc/passwd"), -1);
	assert_int_equal(web_may_ask(why, &hosts, "nothing at all?geheim"), -1);
	assert_null(strstr(why->message, "geheim"));
	memset(longest + 8, 'h', 256);
	assert_int_equal(web_may_ask(NULL, &hosts, longest), -1);
	longest[8 + 255] = '\0';
	OK(web_may_ask(why, &hosts, longest));
}

RUN_TESTS(NULL, NULL)
