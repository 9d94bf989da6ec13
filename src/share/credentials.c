#include "share/credentials.h"

#include <string.h>

#include <sodium.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/ask_program.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/private.h"
#include "os/programs.h"

enum { MOST_FILE = 1 << 20, MOST_ANSWER = 1 << 16, MOST_SECRET = 1 << 15 };

/* Docker Hub's name in these files, whatever its registry is called. */
static const char hub[] = "index.docker.io";

static void wipe_text(char *text)
{
	if (text)
		sodium_memzero(text, strlen(text));
	mem_free(text);
}

void credentials_free(struct credentials *credentials)
{
	mem_free(credentials->user);
	wipe_text(credentials->password);
	wipe_text(credentials->identity);
	*credentials = (struct credentials){0};
}

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

/* "user:password" in base64 */
static int decode_auth(struct jw_error *err, const char *auth, struct credentials *credentials)
{
	const size_t most = strlen(auth);
	char *plain = NULL, *colon;
	size_t length = 0;
	int result = -1;

	if (!most)
		return 0;
	if (most > MOST_SECRET)
		return error_set(err, JW_ERR_LIMIT, "an “auth” is too long");
	plain = mem_alloc(err, most + 1);
	if (!plain)
		return -1;
	if (sodium_base642bin((unsigned char *)plain, most, auth, most, "\r\n ", &length, NULL,
						  sodium_base64_VARIANT_ORIGINAL) ||
		strlen(plain) != length || !(colon = strchr(plain, ':')) || strpbrk(plain, "\r\n")) {
		error_set(err, JW_ERR_FORMAT, "an “auth” is not the base64 of NAME:PASSWORD");
	} else {
		credentials->user = mem_string_n(err, plain, (size_t)(colon - plain));
		credentials->password = mem_string(err, colon + 1);
		result = credentials->user && credentials->password ? 0 : -1;
	}
	wipe_text(plain);
	return result;
}

static int take_auth(struct jw_error *err, const cJSON *item, struct credentials *credentials)
{
	const char *identity = json_text(item, "identitytoken", "");

	if (strlen(identity) > MOST_SECRET)
		return error_set(err, JW_ERR_LIMIT, "an identity token is too long");
	if (*identity) {
		credentials->identity = mem_string(err, identity);
		return credentials->identity ? 0 : -1;
	}
	return decode_auth(err, json_text(item, "auth", ""), credentials);
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

static int take_helper(struct jw_error *err, const char *name, char helper[64])
{
	const size_t length = strlen(name);

	if (length >= 64 || strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
									 "0123456789_-") != length)
		return error_set(err, JW_ERR_FORMAT, "“%.80s” is not the name of a credential helper",
						 name);
	text_copy(helper, 64, name);
	return 0;
}

int credentials_parse(struct jw_error *err, const char *text, size_t size, const char *host,
					  const char *repository, struct credentials_entry *ret_entry)
{
	struct credentials_entry entry = {{0}, {0}};
	cJSON *document = json_parse(err, text, size);
	const cJSON *helper, *auth;
	int result = 0;

	if (!document)
		return -1;
	helper =
		best_member(cJSON_GetObjectItemCaseSensitive(document, "credHelpers"), host, repository);
	auth = best_member(cJSON_GetObjectItemCaseSensitive(document, "auths"), host, repository);
	if (helper && cJSON_IsString(helper))
		result = take_helper(err, helper->valuestring, entry.helper);
	else if (*json_text(document, "credsStore", ""))
		result = take_helper(err, json_text(document, "credsStore", ""), entry.helper);
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
	const char *user, *secret;
	int result = -1;

	if (!document)
		return -1;
	user = json_text(document, "Username", "");
	secret = json_text(document, "Secret", "");
	if (!*user || !*secret || strlen(user) > MOST_SECRET || strlen(secret) > MOST_SECRET ||
		strpbrk(user, "\r\n:") || strpbrk(secret, "\r\n")) {
		error_set(err, JW_ERR_FORMAT, "no name and secret in its answer");
	} else if (!strcmp(user, "<token>")) {
		credentials.identity = mem_string(err, secret);
		result = credentials.identity ? 0 : -1;
	} else {
		credentials.user = mem_string(err, user);
		credentials.password = mem_string(err, secret);
		result = credentials.user && credentials.password ? 0 : -1;
	}
	cJSON_Delete(document);
	if (result)
		credentials_free(&credentials);
	else
		*ret_credentials = credentials;
	return result;
}

/* ---- programs */

/* The file of a program on PATH; NULL if there is none. */
static char *find_on_path(struct jw_error *err, const char *name)
{
	char *list = os_env("PATH"), *at = list, *found = NULL;

	while (at && !found) {
		char *end = strchr(at, os_list_separator), *path;

		if (end)
			*end = '\0';
		path = os_is_whole_path(at) ? os_join(err, at, name) : NULL;
		if (path && os_exists(path))
			found = path;
		else
			mem_free(path);
		at = end ? end + 1 : NULL;
	}
	mem_free(list);
	return found;
}

/* Root runs none that another account may replace. */
static int check_helper(struct jw_error *err, const char *path)
{
	struct os_account account;
	bool superuser;

	if (os_account(err, &account))
		return -1;
	superuser = account.superuser;
	os_account_free(&account);
	if (!superuser || !os_check_private(err, path, 0, false))
		return 0;
	return error_prefix(err, "%s is not run as root", path);
}

static int run_helper(struct jw_error *err, const char *path, const char *server,
					  unsigned timeout_ms, const struct jw_cancel *cancel,
					  struct credentials *ret_credentials)
{
	const char *const arguments[] = {path, "get", NULL};
	struct buf answer = BUF_MAX(MOST_ANSWER);
	const struct os_question question = {.arguments = arguments,
										 .input = server,
										 .timeout_ms = timeout_ms,
										 .cancel = cancel,
										 .answer = &answer};
	int status, result;

	result = check_helper(err, path) || os_ask_program(err, &question, &status) ? -1 : 0;
	/* Their protocol says only in words that there is nothing. */
	if (!result && status && strstr(buf_text(&answer), "credentials not found"))
		*ret_credentials = (struct credentials){0};
	else if (!result && status)
		result = error_set(err, JW_ERR_IO, "%s: ended with exit status %d", path, status);
	else if (!result &&
			 credentials_parse_answer(err, buf_text(&answer), answer.size, ret_credentials))
		result = error_prefix(err, "%s", path);
	if (answer.data)
		sodium_memzero(answer.data, answer.size);
	buf_free(&answer);
	return result;
}

static int ask_helper(struct jw_error *err, const char *helper, const char *host,
					  unsigned timeout_ms, const struct jw_cancel *cancel,
					  struct credentials *ret_credentials)
{
	const char *ending = os_separator == '\\' ? ".exe" : "";
	char *name = mem_printf(err, "docker-credential-%s%s", helper, ending), *path;
	int result = -1;

	if (!name)
		return -1;
	path = find_on_path(err, name);
	if (path)
		result = run_helper(err, path, strcmp(host, hub) ? host : "https://index.docker.io/v1/",
							timeout_ms, cancel, ret_credentials);
	else
		error_set(err, JW_ERR_NOT_FOUND, "%s is not on PATH", name);
	mem_free(path);
	mem_free(name);
	return result;
}

/* ---- files */

/* `variable`, or else `folder` of the home directory; with the rest of the path. NULL: there is no
 * such place. */
static char *config_path(const char *variable, const char *folder, const char *rest)
{
	char *base = variable ? os_env(variable) : NULL, *home = NULL, *path = NULL;

	if (!base && folder && !os_home_dir(NULL, &home))
		base = os_join(NULL, home, folder);
	if (base && *base)
		path = *rest ? os_join(NULL, base, rest) : mem_string(NULL, base);
	mem_free(home);
	mem_free(base);
	return path;
}

static int read_credentials_file(struct jw_error *err, const char *path, const char *host,
								 const char *repository, struct credentials_entry *ret_entry)
{
	struct buf text = {0};
	int result = os_read_file(err, path, MOST_FILE, &text);

	if (!result && credentials_parse(err, buf_text(&text), text.size, host, repository, ret_entry))
		result = error_prefix(err, "%s", path);
	if (text.data)
		sodium_memzero(text.data, text.size);
	buf_free(&text);
	return result;
}

static bool has_credentials(const struct credentials *credentials)
{
	return credentials->user || credentials->identity;
}

int credentials_find(struct jw_error *err, const char *host, const char *repository,
					 unsigned timeout_ms, const struct jw_cancel *cancel,
					 struct credentials *ret_credentials)
{
	static const struct {
		const char *variable, *folder, *rest;
	} places[] = {{"REGISTRY_AUTH_FILE", NULL, ""},
				  {"XDG_RUNTIME_DIR", NULL, "containers/auth.json"},
				  {"XDG_CONFIG_HOME", ".config", "containers/auth.json"},
				  {"DOCKER_CONFIG", ".docker", "config.json"}};
	struct credentials found = {0};
	int result = 0;

	if (!strcmp(host, "docker.io") || !strcmp(host, "registry-1.docker.io"))
		host = hub;
	for (size_t i = 0; !result && !has_credentials(&found) && i < sizeof places / sizeof *places;
		 i++) {
		struct credentials_entry entry = {{0}, {0}};
		char *path = config_path(places[i].variable, places[i].folder, places[i].rest);

		if (path && os_exists(path)) {
			result = read_credentials_file(err, path, host, repository, &entry);
			if (!result && *entry.helper && !has_credentials(&entry.known))
				result = ask_helper(err, entry.helper, host, timeout_ms, cancel, &entry.known);
			found = entry.known;
		}
		mem_free(path);
	}
	if (!result)
		*ret_credentials = found;
	return result;
}
