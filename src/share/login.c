#include "share/login.h"

#include <string.h>

#include <sodium.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/process.h"

enum {
	MOST_FILE = 1 << 20,
	MOST_ANSWER = 1 << 16,
	MOST_SECRET = 1 << 15, /* a password, a token */
	HELPER_MS = 30000,
};

/* Docker Hub's name in these files, whatever its registry is called. */
static const char hub[] = "index.docker.io";

static void wipe_text(char *text)
{
	if (text)
		sodium_memzero(text, strlen(text));
	mem_free(text);
}

static void wipe_buf(struct buf *text)
{
	if (text->data)
		sodium_memzero(text->data, text->size);
	buf_free(text);
}

void credentials_free(struct credentials *credentials)
{
	mem_free(credentials->user);
	wipe_text(credentials->password);
	wipe_text(credentials->identity);
	*credentials = (struct credentials){0};
}

void login_free(struct login *login)
{
	wipe_text(login->authorization);
	login->authorization = NULL;
	credentials_free(&login->credentials);
}

/* ---- challenges */

static struct challenge begin_challenge(const char *scheme, size_t length)
{
	return (struct challenge){
		.kind = length == 6 && text_starts_fold(scheme, "bearer")  ? CHALLENGE_BEARER
				: length == 5 && text_starts_fold(scheme, "basic") ? CHALLENGE_BASIC
																   : CHALLENGE_NONE};
}

/* Characters of a token (RFC 9110, 5.6.2). */
static size_t token_length(const char *at)
{
	return strspn(at, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* The value of the parameter `name`, which ends before the result; NULL: none, or too long */
static const char *take_parameter(const char *at, const char *name, size_t length,
								  struct challenge *challenge)
{
	const struct {
		const char *name;
		char *room;
		size_t size;
	} rooms[] = {{"realm", challenge->realm, sizeof challenge->realm},
				 {"service", challenge->service, sizeof challenge->service},
				 {"scope", challenge->scope, sizeof challenge->scope}};
	const bool quoted = *at == '"';
	char *room = NULL;
	size_t size = 0, used = 0;

	for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
		if (strlen(rooms[i].name) == length && text_starts_fold(name, rooms[i].name)) {
			room = rooms[i].room;
			size = rooms[i].size;
		}
	for (at += quoted; *at && (quoted ? *at != '"' : token_length(at) > 0); at++) {
		if (quoted && *at == '\\' && at[1])
			at++;
		if ((unsigned char)*at < ' ' || (room && used + 1 >= size))
			return NULL;
		if (room)
			room[used++] = *at;
	}
	if (room)
		room[used] = '\0';
	return quoted && *at != '"' ? NULL : at + quoted;
}

int challenge_parse(struct jw_error *err, const char *text, struct challenge *ret_challenge)
{
	struct challenge best = {.kind = CHALLENGE_NONE}, one = best;

	for (const char *at = text + strspn(text, " \t"); *at; at += strspn(at, " \t,")) {
		const size_t length = token_length(at);
		const char *next = at + length + strspn(at + length, " \t");

		/* A token without a value begins the next scheme. “abcd==” is a proof of another one. */
		if (length && *next == '=' && (next[1] == '=' || next[1] == ',' || !next[1]))
			next += strspn(next, "=");
		else if (length && *next == '=')
			next = take_parameter(next + 1 + strspn(next + 1, " \t"), at, length, &one);
		else
			one = begin_challenge(at, length);
		if (!length || !next)
			return error_set(err, JW_ERR_FORMAT, "its WWW-Authenticate cannot be read");
		if (one.kind >= best.kind)
			best = one;
		at = next;
	}
	if (best.kind == CHALLENGE_NONE || (best.kind == CHALLENGE_BEARER && !*best.realm))
		return error_set(err, JW_ERR_FORMAT,
						 "it asks for a way to log in that jitwarm does not know");
	*ret_challenge = best;
	return 0;
}

/* ---- docker's and podman's files */

/* “https://HOST/v1/” and “HOST/some/repository” speak of a host too. Returns how exactly: 0 not at
 * all, 1 the host, more for a longer part of the repository. */
static size_t name_rank(const char *name, const char *host, const char *repository)
{
	const char *start = strstr(name, "://"), *path;
	size_t length = strlen(host), rest;

	name = start ? start + 3 : name;
	if (!text_starts_fold(name, host) || (name[length] && name[length] != '/'))
		return 0;
	path = name + length + (name[length] == '/');
	rest = strlen(path);
	while (rest && path[rest - 1] == '/')
		rest--;
	/* Addresses of docker's own end with “/v1/”. */
	if (!rest || start || !strcmp(path, "v1") || !strcmp(path, "v2"))
		return 1;
	if (!strncmp(path, repository, rest) && (!repository[rest] || repository[rest] == '/'))
		return 1 + rest;
	return 0;
}

/* The member of `object` that speaks most exactly of a repository. */
static const cJSON *best_member(const cJSON *object, const char *host, const char *repository)
{
	const cJSON *best = NULL, *item;
	size_t rank = 0;

	cJSON_ArrayForEach(item, object)
	{
		const size_t now = item->string ? name_rank(item->string, host, repository) : 0;

		if (now > rank) {
			best = item;
			rank = now;
		}
	}
	return best;
}

static int set_text(struct jw_error *err, char **room, const char *text, size_t length)
{
	*room = mem_string_n(err, text, length);
	return *room ? 0 : -1;
}

static int take_auth(struct jw_error *err, const cJSON *item, struct credentials *credentials)
{
	const char *identity = json_text(item, "identitytoken", ""),
			   *auth = json_text(item, "auth", "");
	const size_t most = strlen(auth);
	char *plain, *colon;
	size_t length = 0;
	int result;

	if (strlen(*identity ? identity : auth) > MOST_SECRET)
		return error_set(err, JW_ERR_LIMIT, "an “auth” or “identitytoken” is too long");
	if (*identity)
		return set_text(err, &credentials->identity, identity, strlen(identity));
	if (!most)
		return 0;
	if (!(plain = mem_alloc(err, most + 1)))
		return -1;
	/* "user:password" in base64 */
	if (sodium_base642bin((unsigned char *)plain, most, auth, most, "\r\n ", &length, NULL,
						  sodium_base64_VARIANT_ORIGINAL) ||
		strlen(plain) != length || !(colon = strchr(plain, ':')) || strpbrk(plain, "\r\n"))
		result = error_set(err, JW_ERR_FORMAT, "an “auth” is not the base64 of NAME:PASSWORD");
	else
		result = set_text(err, &credentials->user, plain, (size_t)(colon - plain)) ||
						 set_text(err, &credentials->password, colon + 1, strlen(colon + 1))
					 ? -1
					 : 0;
	wipe_text(plain);
	return result;
}

int credentials_parse(struct jw_error *err, const char *text, size_t size, const char *host,
					  const char *repository, struct credentials_entry *ret_entry)
{
	struct credentials_entry entry = {{0}, {0}};
	cJSON *document = json_parse(err, text, size);
	const cJSON *helper, *auth;
	const char *name;
	int result = 0;

	if (!document)
		return -1;
	helper =
		best_member(cJSON_GetObjectItemCaseSensitive(document, "credHelpers"), host, repository);
	auth = best_member(cJSON_GetObjectItemCaseSensitive(document, "auths"), host, repository);
	name = helper && cJSON_IsString(helper) ? helper->valuestring
											: json_text(document, "credsStore", "");
	if (strlen(name) >= sizeof entry.helper ||
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
			strlen(name))
		result =
			error_set(err, JW_ERR_FORMAT, "“%.80s” is not the name of a credential helper", name);
	else
		TEXT_COPY(entry.helper, name);
	if (!result && auth && cJSON_IsObject(auth))
		result = take_auth(err, auth, &entry.known);
	cJSON_Delete(document);
	if (result)
		credentials_free(&entry.known);
	else
		*ret_entry = entry;
	return result;
}

int credentials_parse_answer(struct jw_error *err, const char *text, size_t size,
							 struct credentials *ret_credentials)
{
	cJSON *document = json_parse(err, text, size);
	struct credentials credentials = {0};
	const char *user = json_text(document, "Username", ""),
			   *secret = json_text(document, "Secret", "");
	int result = -1;

	if (!document)
		return -1;
	if (!*user || !*secret || strlen(user) > MOST_SECRET || strlen(secret) > MOST_SECRET ||
		strpbrk(user, "\r\n:") || strpbrk(secret, "\r\n"))
		error_set(err, JW_ERR_FORMAT, "no name and secret in its answer");
	else if (!strcmp(user, "<token>"))
		result = set_text(err, &credentials.identity, secret, strlen(secret));
	else
		result = set_text(err, &credentials.user, user, strlen(user)) ||
						 set_text(err, &credentials.password, secret, strlen(secret))
					 ? -1
					 : 0;
	cJSON_Delete(document);
	if (result)
		credentials_free(&credentials);
	else
		*ret_credentials = credentials;
	return result;
}

static int ask_helper(struct jw_error *err, const char *helper, const char *host,
					  const struct jw_cancel *cancel, struct credentials *ret_credentials)
{
	char *name = mem_printf(err, "docker-credential-%s", helper),
		 *path = name ? os_program_on_path(name) : NULL;
	const char *const arguments[] = {path, "get", NULL};
	struct buf answer = BUF_MAX(MOST_ANSWER);
	const struct os_question question = {.arguments = arguments,
										 .input = strcmp(host, hub) ? host
																	: "https://index.docker.io/v1/",
										 .timeout_ms = HELPER_MS,
										 .cancel = cancel,
										 .answer = &answer};
	int status = 0, result = -1;

	if (name && !path)
		error_set(err, JW_ERR_NOT_FOUND, "%s is not on PATH", name);
	else if (path)
		result = os_ask_found_program(err, &question, &status);
	/* Their protocol says only in words that there is nothing. */
	if (!result && status && !strstr(buf_text(&answer), "credentials not found"))
		result = error_set(err, JW_ERR_IO, "%s: ended with exit status %d", path, status);
	else if (!result && !status &&
			 credentials_parse_answer(err, buf_text(&answer), answer.size, ret_credentials))
		result = error_prefix(err, "%s", path);
	wipe_buf(&answer);
	mem_free(path);
	mem_free(name);
	return result;
}

/* `variable`, or else `folder` of the home directory; with the rest of the path. NULL: there is no
 * such place. */
static char *config_path(const char *variable, const char *folder, const char *rest)
{
	char *base = os_env(variable), *home = NULL, *path = NULL;

	if (!base && folder && !os_home_dir(NULL, &home))
		base = os_join(NULL, home, folder);
	if (base && *base)
		path = *rest ? os_join(NULL, base, rest) : mem_string(NULL, base);
	mem_free(home);
	mem_free(base);
	return path;
}

/* Zeros where nothing is known. */
static int find_credentials(struct jw_error *err, const struct reference *reference,
							const struct jw_cancel *cancel, struct credentials *ret_credentials)
{
	static const struct {
		const char *variable, *folder, *rest;
	} places[] = {{"REGISTRY_AUTH_FILE", NULL, ""},
				  {"XDG_RUNTIME_DIR", NULL, "containers/auth.json"},
				  {"XDG_CONFIG_HOME", ".config", "containers/auth.json"},
				  {"DOCKER_CONFIG", ".docker", "config.json"}};
	const char *host = reference->host;
	struct credentials found = {0};
	int result = 0;

	if (!strcmp(host, "docker.io") || !strcmp(host, "registry-1.docker.io"))
		host = hub;
	for (size_t i = 0;
		 !result && !found.user && !found.identity && i < sizeof places / sizeof *places; i++) {
		struct credentials_entry entry = {{0}, {0}};
		struct buf text = {0};
		char *path = config_path(places[i].variable, places[i].folder, places[i].rest);
		bool there = false;

		result = path && os_look(err, path, &there);
		if (there) {
			result = os_read_file(err, path, MOST_FILE, &text);
			if (!result && credentials_parse(err, buf_text(&text), text.size, host,
											 reference->repository, &entry))
				result = error_prefix(err, "%s", path);
			if (!result && *entry.helper && !entry.known.user && !entry.known.identity)
				result = ask_helper(err, entry.helper, host, cancel, &entry.known);
			found = entry.known;
		}
		wipe_buf(&text);
		mem_free(path);
	}
	if (!result)
		*ret_credentials = found;
	return result;
}

/* ---- the answer */

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
	}
	wipe_text(plain);
	wipe_text(code);
	return line;
}

int login_parse_token(struct jw_error *err, const char *text, size_t size, char **ret_token)
{
	cJSON *document = json_parse(err, text, size);
	const char *token = json_text(document, "token", "");
	size_t length = 0;
	int result = -1;

	if (!document)
		return -1;
	if (!*token)
		token = json_text(document, "access_token", "");
	while (token[length] > ' ' && token[length] < 0x7f)
		length++;
	if (!*token || strlen(token) > MOST_SECRET)
		error_set(err, JW_ERR_FORMAT, "no token in the answer");
	else if (token[length])
		error_set(err, JW_ERR_FORMAT, "a token with characters that no header can hold");
	else
		result = set_text(err, ret_token, token, length);
	cJSON_Delete(document);
	return result;
}

/* With an identity token the realm wants a form, else a query. Each scope is its own parameter. */
static int put_token_request(struct jw_error *err, const struct login *login,
							 const struct challenge *challenge, struct buf *text)
{
	const char *scopes = *login->scope ? login->scope : challenge->scope;
	int result = login->credentials.identity
					 ? buf_printf(err, text, "grant_type=refresh_token&client_id=jitwarm&") ||
						   web_query(err, text, "refresh_token", login->credentials.identity) ||
						   buf_append(err, text, "&", 1)
					 : buf_printf(err, text, "%s%s", challenge->realm,
								  strchr(challenge->realm, '?') ? "&" : "?");

	if (!result)
		result = web_query(err, text, "service", challenge->service);
	while (!result && *scopes) {
		const size_t length = strcspn(scopes, " ");
		char *one = mem_string_n(err, scopes, length);

		result = !one || buf_append(err, text, "&", 1) || web_query(err, text, "scope", one);
		mem_free(one);
		scopes += length + (scopes[length] == ' ');
	}
	return result ? -1 : 0;
}

struct token_body {
	struct buf form, answer;
};

static int give_form(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size)
{
	const struct token_body *body = context;

	(void)err;
	memcpy(data, body->form.data + offset, size);
	return 0;
}

static int take_token_body(struct jw_error *err, void *context, const void *data, size_t size)
{
	struct token_body *body = context;

	return buf_append(err, &body->answer, data, size);
}

/* `body->form` is what put_token_request wrote. */
static int ask_realm(struct jw_error *err, struct login *login, struct web *web, const char *realm,
					 struct token_body *body)
{
	const bool form = login->credentials.identity != NULL;
	char *basic = login->credentials.user ? basic_of(err, &login->credentials) : NULL;
	const struct web_request request = {
		.method = form ? "POST" : "GET",
		.url = form ? realm : buf_text(&body->form),
		.headers = {form ? "Content-Type: application/x-www-form-urlencoded" : NULL},
		.authorization = basic,
		.give = form ? give_form : NULL,
		.give_bytes = form ? body->form.size : 0,
		.take = take_token_body,
		.context = body,
		.most_bytes = MOST_ANSWER,
	};
	struct web_answer said;
	unsigned tries = 0;
	int result = -1;

	if (login->credentials.user && !basic)
		return -1;
	do {
		buf_clear(&body->answer);
		result = web_ask(err, web, &request, &said);
	} while ((result ? err->code == JW_ERR_BUSY : said.status == 429 || said.status >= 500) &&
			 web_wait(web, tries++, result ? -1 : said.wait_s));
	if (!result && said.status != 200)
		result = error_set(err, JW_ERR_IO, "answers with status %ld%s%s%s", said.status,
						   *said.said ? " (" : "", said.said, *said.said ? ")" : "");
	wipe_text(basic);
	return result;
}

static int fetch_token(struct jw_error *err, struct login *login, struct web *web,
					   const struct challenge *challenge)
{
	struct token_body body = {BUF_MAX(MOST_ANSWER), BUF_MAX(MOST_ANSWER)};
	struct web_hosts plain = *login->plain;
	struct jw_error why = {0};
	char *token = NULL;
	int result;

	/* Whoever may use plain http to a host may not mean all of its ports: each account has some. */
	plain.exact = true;
	result = ((login->credentials.user || login->credentials.identity) &&
			  !web_same_origin(challenge->realm, login->base) &&
			  web_may_ask(&why, &plain, challenge->realm)) ||
			 put_token_request(&why, login, challenge, &body.form) ||
			 ask_realm(&why, login, web, challenge->realm, &body) ||
			 login_parse_token(&why, buf_text(&body.answer), body.answer.size, &token);
	if (result) {
		error_copy(err, &why);
		error_prefix(err, "its realm %.200s", challenge->realm);
	} else {
		login->authorization = mem_printf(err, "Bearer %s", token);
		result = !login->authorization;
	}
	wipe_text(token);
	wipe_buf(&body.form);
	wipe_buf(&body.answer);
	return result ? -1 : 0;
}

int login_answer(struct jw_error *err, struct login *login, struct web *web, const char *challenge)
{
	const char *host = login->reference->host;
	struct challenge wanted;

	if (challenge_parse(err, challenge, &wanted) ||
		(wanted.kind == CHALLENGE_BEARER &&
		 web_resolve(err, login->base, wanted.realm, wanted.realm, sizeof wanted.realm)) ||
		(!login->looked &&
		 find_credentials(err, login->reference, web_cancel(web), &login->credentials)))
		return -1;
	login->looked = true;
	wipe_text(login->authorization);
	login->authorization = NULL;
	if (wanted.kind == CHALLENGE_BEARER)
		return fetch_token(err, login, web, &wanted);
	if (!login->credentials.user)
		return error_set(err, JW_ERR_IO,
						 "wants a name and password: “docker login %s” or “podman login %s” keeps "
						 "them",
						 host, host);
	login->authorization = basic_of(err, &login->credentials);
	return login->authorization ? 0 : -1;
}
