#include "share/aws_profile.h"

#include <string.h>

#include <sodium.h>

#include "base/json.h"
#include "base/text.h"

enum { MOST_LINE = 8192 };

bool aws_is_word(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

/* Days since 1970-01-01 of the proleptic Gregorian calendar. */
static int64_t aws_days(int64_t year, int64_t month, int64_t day)
{
	const int64_t y = month <= 2 ? year - 1 : year, era = y / 400, of_era = y - era * 400,
				  of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

int64_t aws_time(const char *text)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd";
	int64_t parts[6] = {0};
	size_t part = 0;

	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'd' && text_is_digit((unsigned char)text[i]))
			parts[part] = parts[part] * 10 + (text[i] - '0');
		else if (form[i] != 'd' && text[i] == form[i])
			part++;
		else
			return 0;
	if (parts[0] < 1970 || !parts[1] || parts[1] > 12 || !parts[2] || parts[2] > 31)
		return 0;
	return aws_days(parts[0], parts[1], parts[2]) * 86400 + parts[3] * 3600 + parts[4] * 60 +
		   parts[5];
}

/* ---- files of sections */

/* Without the blanks around it. */
static char *trim_aws(char *text)
{
	size_t length;

	while (text_is_blank((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length && text_is_blank((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* [NAME], [profile NAME] or [profile "NAME"] */
static bool is_aws_section(char *line, const char *name, bool config)
{
	char *end = strchr(line, ']'), *found;
	size_t length;

	if (!end)
		return false;
	*end = '\0';
	found = trim_aws(line + 1);
	if (config && text_starts(found, "profile") && text_is_blank((unsigned char)found[7]))
		found = trim_aws(found + 7);
	else if (config && strcmp(found, "default"))
		return false;
	length = strlen(found);
	if (length > 1 && (*found == '"' || *found == '\'') && found[length - 1] == *found) {
		found[length - 1] = '\0';
		found++;
	}
	return !strcmp(found, name);
}

/* A blank and # or ; begin a remark. */
static void cut_aws_remark(char *value)
{
	for (; *value; value++)
		if (text_is_blank((unsigned char)*value) && (value[1] == '#' || value[1] == ';')) {
			*value = '\0';
			return;
		}
}

static int take_aws_text(struct jw_error *err, const char *name, const char *value, char *room,
						 size_t size)
{
	if (!*value)
		return 0;
	if (!aws_is_word(value) || strlen(value) >= size)
		return error_set(err, JW_ERR_FORMAT, "%s is not such a value", name);
	text_copy(room, size, value);
	return 0;
}

static int take_aws_setting(struct jw_error *err, char *line, struct aws_profile *profile)
{
	static const char *const others[] = {"role_arn", "sso_session", "sso_start_url",
										 "credential_process", "login_session"};
	struct aws_keys *keys = &profile->keys;
	const struct {
		const char *name;
		char *room;
		size_t size;
	} known[] = {{"aws_access_key_id", keys->id, sizeof keys->id},
				 {"aws_secret_access_key", keys->secret, sizeof keys->secret},
				 {"aws_session_token", keys->token, sizeof keys->token},
				 {"region", profile->region, sizeof profile->region},
				 {"endpoint_url", profile->endpoint, sizeof profile->endpoint}};
	char *equals = strchr(line, '='), *name, *value;

	if (!equals)
		return 0;
	*equals = '\0';
	name = trim_aws(line);
	cut_aws_remark(equals + 1);
	value = trim_aws(equals + 1);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (text_equal_fold(name, known[i].name))
			return take_aws_text(err, known[i].name, value, known[i].room, known[i].size);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (text_equal_fold(name, others[i]) && *value)
			TEXT_COPY(profile->elsewhere, others[i]);
	return 0;
}

/* Indented lines belong to the setting before them. */
static int read_aws_line(struct jw_error *err, char *line, const char *name, bool config,
						 bool *inside, struct aws_profile *profile)
{
	if (!*line || *line == '#' || *line == ';' || text_is_blank((unsigned char)*line))
		return 0;
	if (*line == '[') {
		*inside = is_aws_section(line, name, config);
		return 0;
	}
	return *inside ? take_aws_setting(err, line, profile) : 0;
}

/* Id and secret come from one file. */
static int merge_aws_profile(struct jw_error *err, const struct aws_profile *found,
							 struct aws_profile *profile)
{
	if (!*found->keys.id != !*found->keys.secret)
		return error_set(err, JW_ERR_FORMAT,
						 "the profile has only one of aws_access_key_id and aws_secret_access_key");
	if (*found->keys.id && !*profile->keys.id)
		profile->keys = found->keys;
	if (!*profile->region)
		TEXT_COPY(profile->region, found->region);
	if (!*profile->endpoint)
		TEXT_COPY(profile->endpoint, found->endpoint);
	if (!*profile->elsewhere)
		TEXT_COPY(profile->elsewhere, found->elsewhere);
	return 0;
}

int aws_profile_parse(struct jw_error *err, const char *text, size_t size, const char *name,
					  bool config, struct aws_profile *profile)
{
	struct aws_profile found = {0};
	char line[MOST_LINE];
	bool inside = false;
	unsigned number = 0;
	int result = 0;

	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		size -= 3;
	}
	while (!result && size) {
		const char *end = memchr(text, '\n', size);
		const size_t length = end ? (size_t)(end - text) : size, used = end ? length + 1 : length;

		number++;
		if (length >= sizeof line || memchr(text, '\0', length)) {
			result = error_set(err, JW_ERR_FORMAT, "line %u is none of such a file", number);
			break;
		}
		if (length)
			memcpy(line, text, length);
		line[length] = '\0';
		if (read_aws_line(err, line, name, config, &inside, &found))
			result = error_prefix(err, "line %u", number);
		text += used;
		size -= used;
	}
	if (!result)
		result = merge_aws_profile(err, &found, profile);
	sodium_memzero(line, sizeof line);
	sodium_memzero(&found, sizeof found);
	return result;
}

/* ---- documents of roles */

int aws_keys_parse(struct jw_error *err, const char *text, size_t size, struct aws_keys *ret_keys)
{
	cJSON *document = json_parse(err, text, size);
	const char *id = json_text(document, "AccessKeyId", ""),
			   *secret = json_text(document, "SecretAccessKey", ""),
			   *token = json_text(document, "Token", ""),
			   *until = json_text(document, "Expiration", "");
	int result = -1;

	if (document && aws_is_word(id) && aws_is_word(secret) && aws_is_word(token) &&
		strlen(id) < AWS_TEXT && strlen(secret) < AWS_TEXT && strlen(token) < AWS_TOKEN &&
		(!*until || aws_time(until))) {
		TEXT_COPY(ret_keys->id, id);
		TEXT_COPY(ret_keys->secret, secret);
		TEXT_COPY(ret_keys->token, token);
		ret_keys->expires_s = *until ? aws_time(until) : 0;
		result = 0;
	} else if (document) {
		error_set(err, JW_ERR_FORMAT, "the answer has no keys");
	}
	cJSON_Delete(document);
	return result;
}
