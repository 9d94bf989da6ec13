#include "share/aws_credentials.h"

#include <string.h>

#include <sodium.h>
#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "share/aws_role.h"

enum { MOST_PROFILES = 1 << 20, EARLY_S = 300 };

/* Of the process. */
static struct {
	uv_once_t once;
	uv_mutex_t mutex; /* of all below */
	bool open;        /* the mutex is there */
	bool asked;
	struct aws_keys keys;
	struct jw_error failed;
} source = {.once = UV_ONCE_INIT};

static void open_aws_source(void)
{
	source.open = !uv_mutex_init(&source.mutex);
}

/* ---- the environment */

static int aws_variable(struct jw_error *err, const char *name, char *room, size_t size)
{
	char *value = NULL;
	int result = os_env_read(err, name, &value);

	if (!result && value && *value && (!aws_is_word(value) || strlen(value) >= size))
		result = error_set(err, JW_ERR_FORMAT, "%s is not such a value", name);
	else if (!result && value && *value)
		text_copy(room, size, value);
	if (value)
		sodium_memzero(value, strlen(value));
	mem_free(value);
	return result;
}

static int read_aws_environment(struct jw_error *err, struct aws_keys *keys)
{
	if (aws_variable(err, "AWS_ACCESS_KEY_ID", keys->id, sizeof keys->id) ||
		aws_variable(err, "AWS_SECRET_ACCESS_KEY", keys->secret, sizeof keys->secret) ||
		aws_variable(err, "AWS_SESSION_TOKEN", keys->token, sizeof keys->token))
		return -1;
	if (!*keys->id != !*keys->secret)
		return error_set(err, JW_ERR_FORMAT,
						 "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set");
	return 0;
}

/* ---- files */

/* NULL: there is no such place. */
static char *aws_file(const char *variable, const char *name)
{
	char *given = os_env(variable), *home = NULL, *path = NULL;

	if (given && *given)
		return given;
	mem_free(given);
	if (!os_home_dir(NULL, &home) && *home)
		path = os_join(NULL, home, name);
	mem_free(home);
	return path;
}

static int read_aws_file(struct jw_error *err, const char *path, const char *name, bool config,
						 struct aws_profile *profile)
{
	struct buf text = {0};
	int result = os_read_file(err, path, MOST_PROFILES, &text);

	if (!result && aws_profile_parse(err, buf_text(&text), text.size, name, config, profile))
		result = error_prefix(err, "%s", path);
	if (text.data)
		sodium_memzero(text.data, text.size);
	buf_free(&text);
	return result;
}

static int read_aws_profile(struct jw_error *err, char name[AWS_TEXT], struct aws_profile *profile)
{
	static const struct {
		const char *variable, *file;
	} files[] = {{"AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"},
				 {"AWS_CONFIG_FILE", ".aws/config"}};
	int result;

	text_copy(name, AWS_TEXT, "default");
	result = aws_variable(err, "AWS_PROFILE", name, AWS_TEXT);
	for (size_t i = 0; !result && i < sizeof files / sizeof *files; i++) {
		char *path = aws_file(files[i].variable, files[i].file);

		if (path && os_exists(path))
			result = read_aws_file(err, path, name, i == 1, profile);
		mem_free(path);
	}
	return result;
}

int aws_settings(struct jw_error *err, char region[64], char endpoint[AWS_TEXT])
{
	struct aws_profile profile = {0};
	char name[AWS_TEXT];
	int result = aws_variable(err, "AWS_DEFAULT_REGION", region, 64) ||
				 aws_variable(err, "AWS_REGION", region, 64) ||
				 aws_variable(err, "AWS_ENDPOINT_URL", endpoint, AWS_TEXT) ||
				 aws_variable(err, "AWS_ENDPOINT_URL_S3", endpoint, AWS_TEXT) ||
				 read_aws_profile(err, name, &profile);

	if (!result && !*region)
		text_copy(region, 64, profile.region);
	if (!result && !*endpoint)
		text_copy(endpoint, AWS_TEXT, profile.endpoint);
	sodium_memzero(&profile, sizeof profile);
	return result ? -1 : 0;
}

/* ---- in order */

static int find_aws_keys(struct jw_error *err, struct aws_keys *ret_keys)
{
	struct aws_profile profile = {0};
	struct jw_error why = {0};
	char name[AWS_TEXT];
	int result = read_aws_environment(err, &profile.keys);

	if (!result && !*profile.keys.id) {
		result = read_aws_profile(err, name, &profile);
		if (!result && !*profile.keys.id && *profile.elsewhere)
			result =
				error_set(err, JW_ERR_UNSUPPORTED,
						  "the profile %.64s of AWS has its keys by %s, which jitwarm does not "
						  "follow; “aws configure export-credentials --format env” does",
						  name, profile.elsewhere);
		else if (!result && !*profile.keys.id && aws_role_keys(&why, &profile.keys))
			result = error_set(err, JW_ERR_NOT_FOUND,
							   "no keys of AWS in the environment, nor in the profile %.64s of "
							   "~/.aws; %.300s",
							   name, why.message);
	}
	if (!result)
		*ret_keys = profile.keys;
	sodium_memzero(&profile, sizeof profile);
	return result;
}

int aws_keys_now(struct jw_error *err, struct aws_keys *ret_keys)
{
	int result;

	uv_once(&source.once, open_aws_source);
	if (!source.open)
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	uv_mutex_lock(&source.mutex);
	if (!source.asked || (!source.failed.code && source.keys.expires_s &&
						  source.keys.expires_s - EARLY_S < os_now_s())) {
		source.asked = true;
		(void)find_aws_keys(&source.failed, &source.keys);
	}
	result = source.failed.code ? error_copy(err, &source.failed) : 0;
	if (!result)
		*ret_keys = source.keys;
	uv_mutex_unlock(&source.mutex);
	return result;
}
