#include "share/aws_role.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/env.h"
#include "os/file.h"
#include "share/web.h"

enum { MOST_ROLE_MS = 1000, MOST_ROLE_BYTES = 16 << 10 };

#define ROLE_TOKEN_PATH "/latest/api/token"
#define ROLE_PATH       "/latest/meta-data/iam/security-credentials/"

/* One service, spoken to without a proxy and without redirects: whoever answers at its address is
 * this machine's own. */
struct role_service {
	struct web *web;
	struct web_options how;
	struct jw_traffic traffic;
	const char *host; /* plain http is allowed */
	uint64_t until_ns;
};

static int take_role_bytes(struct jw_error *err, void *context, const void *data, size_t size)
{
	return buf_append(err, context, data, size);
}

static int ask_role_service(struct jw_error *err, struct role_service *service,
							const struct web_request *what, struct buf *answer)
{
	struct web_request request = *what;
	const uint64_t now = os_monotonic_ns();
	struct web_answer head;

	if (now >= service->until_ns)
		return error_set(err, JW_ERR_IO, "no answer within a second");
	/* A request takes at most twice that. */
	service->how.timeout_ms = (service->until_ns - now) / 2000000 + 1;
	request.take = take_role_bytes;
	request.context = answer;
	request.most_bytes = MOST_ROLE_BYTES;
	request.stay = true;
	buf_clear(answer);
	if (web_ask(err, service->web, &request, &head))
		return -1;
	if (head.status == 200)
		return 0;
	return error_set(err, head.status == 404 ? JW_ERR_NOT_FOUND : JW_ERR_IO,
					 "it answers with status %ld", head.status);
}

static int open_role_service(struct jw_error *err, struct role_service *service,
							 const char *const *hosts, size_t host_count, bool insecure)
{
	*service =
		(struct role_service){.until_ns = os_monotonic_ns() + MOST_ROLE_MS * UINT64_C(1000000)};
	service->how = (struct web_options){.plain = {insecure, hosts, host_count, false},
										.timeout_ms = MOST_ROLE_MS / 2,
										.traffic = &service->traffic,
										.direct = true};
	service->web = web_open(err, &service->how);
	return service->web ? 0 : -1;
}

static void free_role_secret(struct buf *text)
{
	if (text->data)
		sodium_memzero(text->data, text->size);
	buf_free(text);
}

static char *role_variable(const char *name)
{
	char *value = os_env(name);

	if (value && *value)
		return value;
	mem_free(value);
	return NULL;
}

/* ---- containers */

/* The value of a variable, or the content of the file that another one names. */
static int read_role_authorization(struct jw_error *err, struct buf *text)
{
	char *path = role_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
		 *value = path ? NULL : role_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
	int result = 0;

	if (path)
		result = os_read_file(err, path, MOST_ROLE_BYTES, text);
	else if (value)
		result = buf_append(err, text, value, strlen(value));
	while (!result && text->size && text_is_blank(text->data[text->size - 1]))
		text->data[--text->size] = '\0';
	for (size_t i = 0; !result && i < text->size; i++)
		if (text->data[i] < ' ' || text->data[i] > '~')
			result = error_set(err, JW_ERR_FORMAT,
							   "AWS_CONTAINER_AUTHORIZATION_TOKEN is none of a header");
	if (value)
		sodium_memzero(value, strlen(value));
	mem_free(path);
	mem_free(value);
	return result;
}

static int ask_container(struct jw_error *err, const char *url, struct aws_keys *ret_keys)
{
	/* Those of ECS and of EKS */
	static const char *const hosts[] = {"169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
	struct role_service service;
	struct buf authorization = BUF_MAX(MOST_ROLE_BYTES), answer = BUF_MAX(MOST_ROLE_BYTES);
	struct web_request request = {.method = "GET", .url = url};
	int result = -1;

	if (!open_role_service(err, &service, hosts, sizeof hosts / sizeof *hosts, true) &&
		!read_role_authorization(err, &authorization)) {
		request.authorization = authorization.size ? buf_text(&authorization) : NULL;
		result = ask_role_service(err, &service, &request, &answer) ||
						 aws_keys_parse(err, buf_text(&answer), answer.size, ret_keys)
					 ? -1
					 : 0;
	}
	if (result)
		error_prefix(err, "the keys of this container");
	web_close(service.web);
	free_role_secret(&authorization);
	free_role_secret(&answer);
	return result;
}

/* ---- instances */

/* [A-Za-z0-9+=,.@_-], at most 64 */
static bool is_role_name(const char *name)
{
	const size_t length = strlen(name);

	return length && length <= 64 &&
		   strspn(name, "abcdefghijklmnopqrstuvwxyz"
						"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
						"0123456789+=,.@_-") == length;
}

static int ask_instance_role(struct jw_error *err, struct role_service *service, const char *base,
							 const char *header, struct buf *answer, struct aws_keys *ret_keys)
{
	char url[2 * AWS_TEXT + 128];
	char role[72] = "";
	struct web_request request = {.method = "GET", .url = url, .headers = {header}};

	(void)snprintf(url, sizeof url, "%.256s" ROLE_PATH, base);
	if (ask_role_service(err, service, &request, answer))
		return -1;
	text_copy(role, sizeof role, buf_text(answer));
	role[strcspn(role, "\r\n")] = '\0';
	if (!is_role_name(role))
		return error_set(err, JW_ERR_NOT_FOUND, "it has no role");
	(void)snprintf(url, sizeof url, "%.256s" ROLE_PATH "%s", base, role);
	return ask_role_service(err, service, &request, answer) ||
				   aws_keys_parse(err, buf_text(answer), answer->size, ret_keys)
			   ? -1
			   : 0;
}

static int ask_instance_with(struct jw_error *err, struct role_service *service, const char *base,
							 struct aws_keys *ret_keys)
{
	struct buf answer = BUF_MAX(MOST_ROLE_BYTES);
	char url[AWS_TEXT + 128], header[AWS_TOKEN + 64];
	const struct web_request request = {
		.method = "PUT",
		.url = url,
		.headers = {"X-aws-ec2-metadata-token-ttl-seconds: 300"},
	};
	int result;

	(void)snprintf(url, sizeof url, "%.256s" ROLE_TOKEN_PATH, base);
	result = ask_role_service(err, service, &request, &answer);
	if (!result && (!aws_is_word(buf_text(&answer)) || answer.size >= AWS_TOKEN))
		result = error_set(err, JW_ERR_FORMAT, "it answers without a token");
	if (!result) {
		(void)snprintf(header, sizeof header, "X-aws-ec2-metadata-token: %s", buf_text(&answer));
		result = ask_instance_role(err, service, base, header, &answer, ret_keys);
		sodium_memzero(header, sizeof header);
	}
	free_role_secret(&answer);
	return result;
}

static int ask_instance(struct jw_error *err, struct aws_keys *ret_keys)
{
	char *given = role_variable("AWS_EC2_METADATA_SERVICE_ENDPOINT"), base[AWS_TEXT];
	const char *host;
	struct role_service service;
	int result = -1;

	text_copy(base, sizeof base, given ? given : "http://169.254.169.254");
	mem_free(given);
	for (size_t length = strlen(base); length && base[length - 1] == '/'; length--)
		base[length - 1] = '\0';
	host = strstr(base, "://");
	host = host ? host + 3 : base;
	if (!open_role_service(err, &service, &host, 1, false))
		result = ask_instance_with(err, &service, base, ret_keys);
	web_close(service.web);
	return result ? error_prefix(err, "the role of this instance (%s)", base) : 0;
}

static bool is_role_disabled(void)
{
	char *value = os_env("AWS_EC2_METADATA_DISABLED");
	const bool is = value && text_equal_fold(value, "true");

	mem_free(value);
	return is;
}

int aws_role_keys(struct jw_error *err, struct aws_keys *ret_keys)
{
	char *relative = role_variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
		 *full = relative ? NULL : role_variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
	char *url = relative ? mem_printf(err, "http://169.254.170.2%s", relative) : full;
	int result = -1;

	if (relative && *relative != '/')
		error_set(err, JW_ERR_FORMAT, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is no path");
	else if (url)
		result = ask_container(err, url, ret_keys);
	else if (relative)
		result = -1;
	else if (is_role_disabled())
		error_set(err, JW_ERR_NOT_FOUND, "AWS_EC2_METADATA_DISABLED is set");
	else
		result = ask_instance(err, ret_keys);
	mem_free(relative);
	if (url != full)
		mem_free(url);
	mem_free(full);
	return result;
}
