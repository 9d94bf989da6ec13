#include "share/aws_sign.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/buf.h"
#include "base/text.h"

enum { DIGEST = crypto_auth_hmacsha256_BYTES, MOST_CANONICAL = 16 << 10 };

#define SIGN_SERVICE "s3"

/* YYYYMMDDTHHMMSSZ */
static void write_sign_date(char date[20], int64_t now_s)
{
	char text[TEXT_UTC];
	size_t used = 0;

	(void)text_utc(text, now_s);
	for (size_t i = 0; text[i]; i++)
		if (text[i] != '-' && text[i] != ':')
			date[used++] = text[i];
	date[used] = '\0';
}

static void sign_step(uint8_t key[DIGEST], size_t key_size, const uint8_t *from, const char *text)
{
	crypto_auth_hmacsha256_state state;

	crypto_auth_hmacsha256_init(&state, from, key_size);
	crypto_auth_hmacsha256_update(&state, (const uint8_t *)text, strlen(text));
	crypto_auth_hmacsha256_final(&state, key);
	sodium_memzero(&state, sizeof state);
}

/* What both sides hash. */
static int put_canonical(struct jw_error *err, struct buf *text, const struct aws_keys *keys,
						 const struct aws_request *request, const char *date, const char *headers)
{
	return buf_printf(err, text, "%s\n%s\n%s\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n",
					  request->method, request->path, request->query, request->host, request->body,
					  date) ||
		   (*keys->token && buf_printf(err, text, "x-amz-security-token:%s\n", keys->token)) ||
		   buf_printf(err, text, "\n%s\n%s", headers, request->body);
}

static void sign_canonical(const struct aws_keys *keys, const struct aws_request *request,
						   const char *date, const struct buf *canonical, char hex[AWS_SHA256])
{
	uint8_t key[DIGEST], hash[crypto_hash_sha256_BYTES];
	char digits[AWS_SHA256], first[AWS_TEXT + 8], day[9], text[512];

	(void)crypto_hash_sha256(hash, canonical->data, canonical->size);
	(void)sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
	text_copy(day, sizeof day, date);
	(void)snprintf(text, sizeof text,
				   "AWS4-HMAC-SHA256\n%s\n%s/%.63s/" SIGN_SERVICE "/aws4_request\n%s", date, day,
				   request->region, digits);
	(void)snprintf(first, sizeof first, "AWS4%s", keys->secret);
	sign_step(key, strlen(first), (const uint8_t *)first, day);
	sign_step(key, sizeof key, key, request->region);
	sign_step(key, sizeof key, key, SIGN_SERVICE);
	sign_step(key, sizeof key, key, "aws4_request");
	sign_step(key, sizeof key, key, text);
	(void)sodium_bin2hex(hex, AWS_SHA256, key, sizeof key);
	sodium_memzero(key, sizeof key);
	sodium_memzero(first, sizeof first);
}

int aws_sign(struct jw_error *err, const struct aws_keys *keys, const struct aws_request *request,
			 struct aws_signature *ret_signature)
{
	struct buf canonical = BUF_MAX(MOST_CANONICAL);
	char date[20], hex[AWS_SHA256];
	const char *headers = *keys->token ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
									   : "host;x-amz-content-sha256;x-amz-date";
	int result = -1;

	if (strlen(request->region) > 63)
		return error_set(err, JW_ERR_LIMIT, "a region has a name that is too long");
	write_sign_date(date, request->now_s);
	if (!put_canonical(err, &canonical, keys, request, date, headers)) {
		sign_canonical(keys, request, date, &canonical, hex);
		text_copy(ret_signature->date, sizeof ret_signature->date, date);
		(void)snprintf(ret_signature->authorization, sizeof ret_signature->authorization,
					   "AWS4-HMAC-SHA256 Credential=%s/%.8s/%s/" SIGN_SERVICE
					   "/aws4_request,SignedHeaders=%s,Signature=%s",
					   keys->id, date, request->region, headers, hex);
		result = 0;
	}
	buf_free(&canonical);
	return result;
}
