#include "share/object_s3.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"

struct object_s3 {
	char bucket[64], prefix[WEB_TEXT];
	char region[64], endpoint[AWS_TEXT];
	char address[WEB_TEXT]; /* SCHEME://HOST/PATH of the bucket */
	int64_t ahead_s;        /* the server's clock, of this machine's */
	bool timed;             /* that is known */
};

/* ---- names */

static bool is_s3_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || text_is_digit((unsigned char)c);
}

static bool is_s3_name(const char *name, const char *besides)
{
	if (!*name)
		return false;
	for (; *name; name++)
		if (!is_s3_letter(*name) && !strchr(besides, *name))
			return false;
	return true;
}

/* A segment of dots would be another address. */
static bool has_dots(const char *path)
{
	while (*path) {
		const size_t length = strcspn(path, "/");

		if ((length == 1 && *path == '.') || (length == 2 && !memcmp(path, "..", 2)))
			return true;
		path += length + (path[length] == '/');
	}
	return false;
}

int object_s3_parse(struct jw_error *err, const char *place, char ret_bucket[64],
					char ret_prefix[WEB_TEXT])
{
	const char *bucket = place + strlen("s3://"), *prefix;
	size_t length, used = 0;
	char name[64], path[WEB_TEXT], said[300];

	place = text_address(said, sizeof said, place);
	prefix = bucket + strcspn(bucket, "/");
	(void)snprintf(name, sizeof name, "%.*s", (int)(prefix - bucket), bucket);
	if (prefix - bucket > 63 || !is_s3_name(name, "._-") || *name == '.')
		return error_set(err, JW_ERR_USAGE, "%s: not s3://BUCKET or s3://BUCKET/PREFIX", place);
	for (length = strlen(prefix); length && prefix[length - 1] == '/';)
		length--;
	if (has_dots(prefix))
		return error_set(err, JW_ERR_USAGE, "%s: the prefix goes through “.” or “..”", place);
	for (size_t i = 0; i < length; i++) {
		if (used + 4 > sizeof path)
			return error_set(err, JW_ERR_LIMIT, "%s: the prefix is too long", place);
		if (is_s3_letter(prefix[i]) || strchr("-._~/", prefix[i]))
			path[used++] = prefix[i];
		else
			used += (size_t)snprintf(path + used, 4, "%%%02X", (unsigned char)prefix[i]);
	}
	path[used] = '\0';
	text_copy(ret_bucket, 64, name);
	text_copy(ret_prefix, WEB_TEXT, path);
	return 0;
}

/* SCHEME://HOST[:PORT], as AWS_ENDPOINT_URL has it. Nobody is named in it, so that it can be said.
 */
static bool is_s3_endpoint(const char *text)
{
	const char *host = strstr(text, "://");

	return host && (text_starts(text, "https://") || text_starts(text, "http://")) &&
		   is_s3_name(host + 3, ".-_:[]");
}

int object_s3_address(struct jw_error *err, const char *endpoint, const char *region,
					  const char *bucket, char *ret_address, size_t size)
{
	const char *china = text_starts(region, "cn-") ? ".cn" : "";
	char bare[AWS_TEXT];
	int length;

	text_copy(bare, sizeof bare, endpoint);
	for (size_t at = strlen(bare); at && bare[at - 1] == '/'; at--)
		bare[at - 1] = '\0';
	if (!is_s3_name(region, "-"))
		return error_set(err, JW_ERR_USAGE, "“%s” is no region of AWS", region);
	if (*bare && !is_s3_endpoint(bare))
		return error_set(err, JW_ERR_USAGE, "AWS_ENDPOINT_URL is not https://HOST[:PORT]");
	/* The certificate of *.s3.… is for one name before it. Servers of others seldom have names for
	 * their buckets. */
	if (*bare)
		length = snprintf(ret_address, size, "%s/%s", bare, bucket);
	else if (strpbrk(bucket, "._ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		length =
			snprintf(ret_address, size, "https://s3.%s.amazonaws.com%s/%s", region, china, bucket);
	else
		length =
			snprintf(ret_address, size, "https://%s.s3.%s.amazonaws.com%s", bucket, region, china);
	return length > 0 && (size_t)length < size
			   ? 0
			   : error_set(err, JW_ERR_LIMIT, "the address of the bucket is too long");
}

/* ---- one request */

/* HOST as libcurl writes it: without the port that the scheme has anyway. */
static void write_s3_host(const char *address, char *host, size_t size, const char **ret_path)
{
	const char *start = strstr(address, "://") + 3;
	const size_t length = strcspn(start, "/");
	const char *usual = text_starts(address, "https:") ? ":443" : ":80";

	(void)snprintf(host, size, "%.*s", (int)length, start);
	if (text_ends(host, usual))
		host[strlen(host) - strlen(usual)] = '\0';
	*ret_path = start + length;
}

static int add_s3_headers(struct jw_error *err, const struct aws_keys *keys, const char *body,
						  struct object_s3_request *texts, struct web_request *request)
{
	size_t count = 0;

	while (request->headers[count])
		count++;
	if (count + 3 > WEB_MOST_HEADERS)
		return error_set(err, JW_ERR_LIMIT, "too many headers");
	(void)snprintf(texts->body, sizeof texts->body, "x-amz-content-sha256: %.64s", body);
	(void)snprintf(texts->date, sizeof texts->date, "x-amz-date: %s", texts->signature.date);
	request->headers[count++] = texts->body;
	request->headers[count++] = texts->date;
	if (*keys->token) {
		texts->token = mem_printf(err, "x-amz-security-token: %s", keys->token);
		if (!texts->token)
			return -1;
		request->headers[count++] = texts->token;
	}
	return 0;
}

int object_s3_sign(struct jw_error *err, const struct object_s3 *s3, const char *name,
				   const char *body, struct object_s3_request *texts, struct web_request *request)
{
	struct aws_request what = {.method = request->method,
							   .query = "",
							   .region = s3->region,
							   .body = body,
							   .now_s = os_now_s() + s3->ahead_s};
	struct aws_keys keys = {0};
	char host[AWS_TEXT];
	int result = -1;

	texts->url = mem_printf(err, "%s%s/%s", s3->address, s3->prefix, name);
	if (texts->url && !aws_keys_now(err, &keys)) {
		write_s3_host(texts->url, host, sizeof host, &what.path);
		what.host = host;
		request->url = texts->url;
		request->stay = true;
		request->authorization = texts->signature.authorization;
		result = aws_sign(err, &keys, &what, &texts->signature) ||
						 add_s3_headers(err, &keys, body, texts, request)
					 ? -1
					 : 0;
	}
	sodium_memzero(&keys, sizeof keys);
	return result;
}

void object_s3_forget(struct object_s3_request *texts)
{
	if (texts->token)
		sodium_memzero(texts->token, strlen(texts->token));
	mem_free(texts->token);
	mem_free(texts->url);
	sodium_memzero(texts, sizeof *texts);
}

/* Only Amazon's own hosts, or the one that the user named, ever get a request. */
static bool is_moved(struct object_s3 *s3, const struct web_answer *answer)
{
	char address[WEB_TEXT];

	if (answer->status < 300 || !is_s3_name(answer->region, "-") ||
		!strcmp(answer->region, s3->region) ||
		object_s3_address(NULL, s3->endpoint, answer->region, s3->bucket, address, sizeof address))
		return false;
	TEXT_COPY(s3->region, answer->region);
	TEXT_COPY(s3->address, address);
	return true;
}

static bool is_skewed(const struct web_answer *answer)
{
	return answer->status >= 400 && answer->date_s >= 0 &&
		   text_starts(answer->said, "RequestTimeTooSkewed");
}

bool object_s3_learns(struct object_s3 *s3, const struct web_answer *answer)
{
	if (!s3->timed && is_skewed(answer)) {
		s3->timed = true;
		s3->ahead_s = answer->date_s - os_now_s();
		return true;
	}
	return is_moved(s3, answer);
}

const char *object_s3_said(const struct web_answer *answer, char *room, size_t size)
{
	const int64_t behind_s = answer->date_s - os_now_s();
	char time[TEXT_SHORT], clock[128] = "";

	if (is_skewed(answer) && behind_s > 0)
		(void)snprintf(clock, sizeof clock, " (this machine's clock is %s behind the server's)",
					   text_duration(time, (double)behind_s));
	else if (is_skewed(answer))
		(void)snprintf(clock, sizeof clock, " (this machine's clock is %s ahead of the server's)",
					   text_duration(time, (double)-behind_s));
	(void)snprintf(room, size, "%s%s", answer->said, clock);
	return room;
}

struct object_s3 *object_s3_open(struct jw_error *err, const char *place)
{
	struct object_s3 *s3 = mem_alloc(err, sizeof *s3);

	if (!s3)
		return NULL;
	*s3 = (struct object_s3){0};
	if (!object_s3_parse(err, place, s3->bucket, s3->prefix) &&
		!aws_settings(err, s3->region, s3->endpoint)) {
		if (!*s3->region)
			TEXT_COPY(s3->region, "us-east-1");
		if (!object_s3_address(err, s3->endpoint, s3->region, s3->bucket, s3->address,
							   sizeof s3->address))
			return s3;
	}
	object_s3_close(s3);
	return NULL;
}

void object_s3_close(struct object_s3 *s3)
{
	mem_free(s3);
}
