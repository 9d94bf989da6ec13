#include "base/mem.h"
#include "share/web.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "os/library.h"

static char *url_part(CURLU *parts, CURLUPart part)
{
	char *text = NULL;

	(void)curl_url_get(parts, part, &text, part == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0);
	return text;
}

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
	char *first = url_part(a, part), *second = url_part(b, part);
	const bool same = first && second && text_equal_fold(first, second);

	curl_free(first);
	curl_free(second);
	return same;
}

bool web_same_origin(const char *a, const char *b)
{
	CURLU *first = curl_url(), *second = curl_url();
	const bool same =
		first && second && !curl_url_set(first, CURLUPART_URL, a, 0) &&
		!curl_url_set(second, CURLUPART_URL, b, 0) && same_part(first, second, CURLUPART_SCHEME) &&
		same_part(first, second, CURLUPART_HOST) && same_part(first, second, CURLUPART_PORT);

	curl_url_cleanup(first);
	curl_url_cleanup(second);
	return same;
}

int web_check_address(struct jw_error *err, const char *url)
{
	CURLU *parts = curl_url();
	CURLUcode code = parts ? curl_url_set(parts, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
	char *host = NULL, name[300];

	if (os_late_library(err, "curl_url"))
		return -1;
	if (!code)
		code = curl_url_get(parts, CURLUPART_HOST, &host, 0);
	if (!code && (!*host || strpbrk(url, "?#")))
		code = CURLUE_BAD_HOSTNAME;
	curl_free(host);
	curl_url_cleanup(parts);
	if (code == CURLUE_OUT_OF_MEMORY)
		mem_ended(0);
	if (code)
		return error_set(err, JW_ERR_USAGE,
						 "“%s”: not https://HOST/PATH, the address of a shared place",
						 text_address(name, sizeof name, url));
	return 0;
}

int web_resolve(struct jw_error *err, const char *page, const char *link, char *ret_url,
				size_t size)
{
	CURLU *parts = curl_url();
	char *whole = NULL;
	CURLUcode code = curl_url_set(parts, CURLUPART_URL, page, 0);
	int result = -1;

	if (!code)
		code = curl_url_set(parts, CURLUPART_URL, link, CURLU_URLENCODE);
	/* Nobody is named in an address that a server gives. */
	if (!code) {
		(void)curl_url_set(parts, CURLUPART_USER, NULL, 0);
		(void)curl_url_set(parts, CURLUPART_PASSWORD, NULL, 0);
		(void)curl_url_set(parts, CURLUPART_FRAGMENT, NULL, 0);
		code = curl_url_get(parts, CURLUPART_URL, &whole, 0);
	}
	curl_url_cleanup(parts);
	if (code)
		error_set(err, JW_ERR_FORMAT, "gives an invalid address: %s", curl_url_strerror(code));
	else if (strlen(whole) >= size)
		error_set(err, JW_ERR_LIMIT, "gives an address that is too long");
	else {
		text_copy(ret_url, size, whole);
		result = 0;
	}
	curl_free(whole);
	return result;
}

static bool is_this_machine(const char *host)
{
	return text_equal_fold(host, "localhost") || !strcmp(host, "[::1]") ||
		   (text_starts(host, "127.") && strspn(host, "0123456789.") == strlen(host));
}

/* `host` without and with its port */
static bool may_be_plain(const struct web_hosts *plain, const char *host, const char *with_port)
{
	for (size_t i = 0; i < plain->host_count; i++)
		if (text_equal_fold(plain->hosts[i], host) || text_equal_fold(plain->hosts[i], with_port))
			return true;
	return plain->here && is_this_machine(host);
}

const char *web_scheme(const struct web_hosts *plain, const char *host)
{
	char bare[512];
	char *colon;

	text_copy(bare, sizeof bare, host);
	colon = strrchr(bare, ':');
	if (colon && !strchr(colon, ']'))
		*colon = '\0';
	return may_be_plain(plain, bare, host) ? "http" : "https";
}

struct web_place {
	char *scheme, *host, *port; /* NULL: not an address */
	char both[512];             /* HOST:PORT */
};

static struct web_place web_place_of(const char *url)
{
	CURLU *parts = curl_url();
	struct web_place place = {0};

	if (parts && !curl_url_set(parts, CURLUPART_URL, url, 0)) {
		place.scheme = url_part(parts, CURLUPART_SCHEME);
		place.host = url_part(parts, CURLUPART_HOST);
		place.port = url_part(parts, CURLUPART_PORT);
	}
	if (place.host && place.port && strlen(place.host) < 256)
		(void)snprintf(place.both, sizeof place.both, "%.255s:%.8s", place.host, place.port);
	curl_url_cleanup(parts);
	return place;
}

static void free_place(struct web_place *place)
{
	curl_free(place->scheme);
	curl_free(place->host);
	curl_free(place->port);
}

void web_say_how_to_be_plain(const char *url, char *text, size_t size)
{
	struct web_place place = web_place_of(url);

	if (*place.both)
		(void)text_format(
			text, size,
			"; if it speaks plain http, JITWARM_PLAIN_HTTP=%s allows that, but "
			"others can then read and change what is sent (an address of a shared place "
			"then begins with http:)",
			place.both);
	free_place(&place);
}

/* A message has no more of an address than its host: the rest may be a signature that opens it. */
int web_may_ask(struct jw_error *err, const struct web_hosts *plain, const char *url)
{
	struct web_place place = web_place_of(url);
	char shown[512];
	int result = -1;

	if (!place.scheme || !*place.both)
		error_set(err, JW_ERR_FORMAT, "%s: not an address", text_address(shown, sizeof shown, url));
	else if (!strcmp(place.scheme, "https") ||
			 (!strcmp(place.scheme, "http") && may_be_plain(plain, place.host, place.both)))
		result = 0;
	else if (strcmp(place.scheme, "http") != 0)
		error_set(err, JW_ERR_FORMAT, "%.20s://%s: only https is allowed", place.scheme,
				  place.both);
	else
		error_set(err, JW_ERR_FORMAT,
				  "%.20s://%s: only https is allowed; JITWARM_PLAIN_HTTP=%s allows plain "
				  "http, which others can read and change on its way",
				  place.scheme, place.both, place.both);
	free_place(&place);
	return result;
}
