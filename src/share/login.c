#include "share/login.h"

#include <string.h>

#include <sodium.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "share/challenge.h"

enum { MOST_TOKEN_ANSWER = 1 << 16, MOST_TOKEN = 1 << 15, HELPER_MS = 30000 };

static void forget_authorization(struct login *login)
{
	if (login->authorization)
		sodium_memzero(login->authorization, strlen(login->authorization));
	mem_free(login->authorization);
	login->authorization = NULL;
}

void login_free(struct login *login)
{
	forget_authorization(login);
	credentials_free(&login->credentials);
}

/* "Basic …"; NULL and err set. */
static char *basic_of(struct jw_error *err, const struct credentials *credentials)
{
	char *plain = mem_printf(err, "%s:%s", credentials->user, credentials->password), *code = NULL,
		 *line = NULL;
	const size_t length = plain ? strlen(plain) : 0,
				 room = sodium_base64_ENCODED_LEN(length, sodium_base64_VARIANT_ORIGINAL);

	if (plain && (code = mem_alloc(err, room))) {
		(void)sodium_bin2base64(code, room, (const unsigned char *)plain, length,
								sodium_base64_VARIANT_ORIGINAL);
		line = mem_printf(err, "Basic %s", code);
		sodium_memzero(code, room);
	}
	if (plain)
		sodium_memzero(plain, length);
	mem_free(plain);
	mem_free(code);
	return line;
}

int login_parse_token(struct jw_error *err, const char *text, size_t size, char **ret_token)
{
	cJSON *document = json_parse(err, text, size);
	const char *token;
	char *copy = NULL;

	if (!document)
		return -1;
	token = json_text(document, "token", "");
	if (!*token)
		token = json_text(document, "access_token", "");
	if (!*token || strlen(token) > MOST_TOKEN)
		error_set(err, JW_ERR_FORMAT, "no token in the answer");
	else {
		size_t length = 0;

		while (token[length] > ' ' && token[length] < 0x7f)
			length++;
		if (token[length])
			error_set(err, JW_ERR_FORMAT, "a token with characters that no header can hold");
		else
			copy = mem_string(err, token);
	}
	cJSON_Delete(document);
	if (!copy)
		return -1;
	*ret_token = copy;
	return 0;
}

/* Each scope is a parameter of its own. */
static int put_scopes(struct jw_error *err, struct buf *text, const char *scopes)
{
	int result = 0;

	while (!result && *scopes) {
		const size_t length = strcspn(scopes, " ");
		char *one = mem_string_n(err, scopes, length);

		result =
			!one || buf_append(err, text, "&", 1) || web_query(err, text, "scope", one) ? -1 : 0;
		mem_free(one);
		scopes += length + (scopes[length] == ' ');
	}
	return result;
}

struct token_body {
	struct buf *form, answer;
};

static int give_form(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size)
{
	const struct token_body *body = context;

	(void)err;
	memcpy(data, body->form->data + offset, size);
	return 0;
}

static int take_token_body(struct jw_error *err, void *context, const void *data, size_t size)
{
	struct token_body *body = context;

	return buf_append(err, &body->answer, data, size);
}

/* With an identity token the realm wants a form, otherwise a query. */
static int ask_realm(struct jw_error *err, struct login *login, struct web *web,
					 const struct challenge *challenge, struct buf *text, struct buf *answer)
{
	const bool form = login->credentials.identity != NULL;
	struct token_body body = {.form = text, .answer = BUF_MAX(MOST_TOKEN_ANSWER)};
	char *basic = login->credentials.user ? basic_of(err, &login->credentials) : NULL;
	struct web_request request = {
		.method = form ? "POST" : "GET",
		.url = form ? challenge->realm : buf_text(text),
		.headers = {form ? "Content-Type: application/x-www-form-urlencoded" : NULL},
		.authorization = basic,
		.give = form ? give_form : NULL,
		.give_bytes = form ? text->size : 0,
		.take = take_token_body,
		.context = &body,
		.most_bytes = MOST_TOKEN_ANSWER,
	};
	struct web_answer said;
	unsigned tries = 0;
	int result = -1;

	if (login->credentials.user && !basic)
		return -1;
	do {
		buf_clear(&body.answer);
		result = web_ask(err, web, &request, &said);
	} while ((result ? err->code == JW_ERR_BUSY : said.status == 429 || said.status >= 500) &&
			 web_wait(web, tries++, result ? -1 : said.wait_s));
	if (!result && said.status != 200)
		result = error_set(err, JW_ERR_IO, "answers with status %ld%s%s%s", said.status,
						   *said.said ? " (" : "", said.said, *said.said ? ")" : "");
	*answer = body.answer;
	if (basic)
		sodium_memzero(basic, strlen(basic));
	mem_free(basic);
	return result;
}

static int put_token_request(struct jw_error *err, const struct login *login,
							 const struct challenge *challenge, struct buf *text)
{
	const char *scope = *login->scope ? login->scope : challenge->scope;

	if (login->credentials.identity) {
		if (buf_printf(err, text, "grant_type=refresh_token&client_id=jitwarm&") ||
			web_query(err, text, "refresh_token", login->credentials.identity) ||
			buf_append(err, text, "&", 1))
			return -1;
	} else if (buf_printf(err, text, "%s%s", challenge->realm,
						  strchr(challenge->realm, '?') ? "&" : "?")) {
		return -1;
	}
	return web_query(err, text, "service", challenge->service) || put_scopes(err, text, scope) ? -1
																							   : 0;
}

/* Whoever may use plain http to a host may not mean all of its ports: each account has some. */
static int check_realm(struct jw_error *err, const struct login *login, const char *realm)
{
	struct web_hosts plain = *login->plain;

	plain.exact = true;
	return (!login->credentials.user && !login->credentials.identity) ||
				   web_same_origin(realm, login->base)
			   ? 0
			   : web_may_ask(err, &plain, realm);
}

static int fetch_token(struct jw_error *err, struct login *login, struct web *web,
					   const struct challenge *challenge)
{
	struct buf text = BUF_MAX(MOST_TOKEN_ANSWER), answer = {0};
	struct jw_error why = {0};
	char *token = NULL;
	int result = check_realm(&why, login, challenge->realm) ||
				 put_token_request(&why, login, challenge, &text) ||
				 ask_realm(&why, login, web, challenge, &text, &answer) ||
				 login_parse_token(&why, buf_text(&answer), answer.size, &token);

	if (result) {
		error_copy(err, &why);
		error_prefix(err, "its realm %.200s", challenge->realm);
	} else {
		login->authorization = mem_printf(err, "Bearer %s", token);
		result = !login->authorization;
		sodium_memzero(token, strlen(token));
	}
	if (text.data)
		sodium_memzero(text.data, text.size);
	if (answer.data)
		sodium_memzero(answer.data, answer.size);
	mem_free(token);
	buf_free(&text);
	buf_free(&answer);
	return result ? -1 : 0;
}

int login_answer(struct jw_error *err, struct login *login, struct web *web,
				 const char *challenge_text)
{
	const struct reference *reference = login->reference;
	struct challenge challenge;

	if (challenge_parse(err, challenge_text, &challenge) ||
		(challenge.kind == CHALLENGE_BEARER &&
		 web_resolve(err, login->base, challenge.realm, challenge.realm, sizeof challenge.realm)))
		return -1;
	if (!login->looked && credentials_find(err, reference->host, reference->repository, HELPER_MS,
										   web_cancel(web), &login->credentials))
		return -1;
	login->looked = true;
	forget_authorization(login);
	if (challenge.kind == CHALLENGE_BEARER)
		return fetch_token(err, login, web, &challenge);
	if (!login->credentials.user)
		return error_set(err, JW_ERR_IO,
						 "wants a name and password: “docker login %s” or “podman login %s” keeps "
						 "them",
						 reference->host, reference->host);
	login->authorization = basic_of(err, &login->credentials);
	return login->authorization ? 0 : -1;
}
