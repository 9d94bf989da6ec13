#include "package/conda_edit.h"

#include <string.h>

#include <sodium.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

enum { MOST_BUILD = 64, MOST_JSON_DEPTH = 64, HEX_BYTES = 64 };

/* ---- the build string */

char *conda_edit_build(struct jw_error *err, const char *build, const struct jw_target *gpus,
					   size_t gpu_count)
{
	static const char own[] = "_jitwarm";
	const char *label = strstr(build, own);
	struct buf text = BUF_MAX(4096);
	int result;

	/* As conda has them: they stand in JSON and in names. */
	if (strspn(build, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+") !=
		strlen(build)) {
		error_set(err, JW_ERR_FORMAT, "its “%.100s” is not a build string", build);
		return NULL;
	}
	result = buf_printf(err, &text, "%s%s", build, label ? "" : own);
	for (size_t i = 0; !result && i < gpu_count; i++) {
		char name[JW_TARGET_TEXT];
		char *blank = strchr(jw_target_sm(name, gpus[i]), '_');

		if (blank)
			memmove(blank, blank + 1, strlen(blank));
		if (!label || !strstr(label, name))
			result = buf_printf(err, &text, "_%s", name);
	}
	if (!result && text.size > MOST_BUILD)
		result = error_set(err, JW_ERR_LIMIT, "its build string would have more than %d characters",
						   MOST_BUILD);
	if (result) {
		buf_free(&text);
		return NULL;
	}
	return (char *)text.data;
}

/* ---- places in a document that json_parse has accepted */

struct json_place {
	const char *at;
	size_t length;
};

struct json_scan {
	const char *at, *end;
};

static void skip_json_blanks(struct json_scan *scan)
{
	while (scan->at < scan->end && strchr(" \t\r\n", *scan->at))
		scan->at++;
}

static bool next_is(struct json_scan *scan, char c)
{
	skip_json_blanks(scan);
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

/* Any value, whose parts are skipped. */
static struct json_place json_value(struct json_scan *scan)
{
	struct json_place place;
	size_t depth = 0;
	bool quoted = false;

	skip_json_blanks(scan);
	place.at = scan->at;
	for (; scan->at < scan->end; scan->at++) {
		const char c = *scan->at;

		if (quoted && c == '\\' && scan->at + 1 < scan->end)
			scan->at++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '['))
			depth++;
		else if (!quoted && (c == '}' || c == ']') && depth)
			depth--;
		else if (!quoted && !depth && strchr(",]} \t\r\n", c))
			break;
		if (!quoted && !depth && strchr("\"}]", c)) {
			scan->at++;
			break;
		}
	}
	place.length = (size_t)(scan->at - place.at);
	return place;
}

/* The next member of an object whose brace was read; false at its end. */
static bool next_json_member(struct json_scan *scan, struct json_place *ret_key,
							 struct json_place *ret_value)
{
	(void)next_is(scan, ',');
	if (next_is(scan, '}') || scan->at == scan->end)
		return false;
	*ret_key = json_value(scan);
	(void)next_is(scan, ':');
	*ret_value = json_value(scan);
	return ret_key->length && ret_value->length;
}

static bool is_json_text(struct json_place place, const char *text)
{
	cJSON *value;
	bool same;

	if (place.length == strlen(text) + 2 && !memcmp(place.at + 1, text, place.length - 2))
		return *place.at == '"';
	if (!memchr(place.at, '\\', place.length))
		return false;
	value = cJSON_ParseWithLength(place.at, place.length);
	same = cJSON_IsString(value) && !strcmp(value->valuestring, text);
	cJSON_Delete(value);
	return same;
}

/* ---- a document with other values */

struct json_splice {
	struct buf *to;
	const char *copied; /* up to here */
};

static int splice(struct jw_error *err, struct json_splice *splice, struct json_place place,
				  const char *text)
{
	if (buf_append(err, splice->to, splice->copied, (size_t)(place.at - splice->copied)) ||
		buf_append(err, splice->to, text, strlen(text)))
		return -1;
	splice->copied = place.at + place.length;
	return 0;
}

static int open_scan(struct jw_error *err, const struct buf *text, const char *what,
					 struct json_scan *ret_scan, struct json_splice *splice)
{
	cJSON *document = json_parse(err, buf_text(text), text->size);
	const bool object = cJSON_IsObject(document);

	if (!document)
		return error_prefix(err, "its %s", what);
	cJSON_Delete(document);
	*ret_scan = (struct json_scan){buf_text(text), buf_text(text) + text->size};
	splice->copied = ret_scan->at;
	if (!object || !next_is(ret_scan, '{'))
		return error_set(err, JW_ERR_FORMAT, "its %s is no object", what);
	return 0;
}

static int end_splice(struct jw_error *err, struct json_splice *splice, const struct buf *text)
{
	return buf_append(err, splice->to, splice->copied,
					  (size_t)(buf_text(text) + text->size - splice->copied));
}

int conda_edit_index(struct jw_error *err, const struct buf *index, const char *build,
					 struct buf *ret_text)
{
	struct json_splice into = {.to = ret_text};
	struct json_place key, value;
	struct json_scan scan;
	char quoted[MOST_BUILD + 3];
	bool found = false;

	if (open_scan(err, index, "index.json", &scan, &into))
		return -1;
	while (!found && next_json_member(&scan, &key, &value))
		found = is_json_text(key, "build");
	if (!found || *value.at != '"' || strlen(build) > MOST_BUILD)
		return error_set(err, JW_ERR_FORMAT, "its index.json has no build string");
	quoted[0] = '"';
	memcpy(quoted + 1, build, strlen(build));
	memcpy(quoted + 1 + strlen(build), "\"", 2);
	return splice(err, &into, value, quoted) || end_splice(err, &into, index) ? -1 : 0;
}

static struct conda_change *change_of(struct conda_change *changes, size_t count,
									  struct json_place path)
{
	for (size_t i = 0; i < count; i++)
		if (is_json_text(path, changes[i].path))
			return &changes[i];
	return NULL;
}

static int edit_path(struct jw_error *err, struct json_place hash, struct json_place size,
					 struct conda_change *change, struct json_splice *into)
{
	char before[HEX_BYTES + 1], after[HEX_BYTES + 3], number[32];
	const bool hash_first = hash.at < size.at;
	struct buf digits = BUF_MAX(sizeof number);

	(void)sodium_bin2hex(before, sizeof before, change->before, 32);
	(void)sodium_bin2hex(after + 1, HEX_BYTES + 1, change->sha256, 32);
	after[0] = after[HEX_BYTES + 1] = '"';
	after[HEX_BYTES + 2] = 0;
	if (change->listed)
		return error_set(err, JW_ERR_FORMAT, "its paths.json lists %.300s twice", change->path);
	if (!hash.at || !size.at || !is_json_text(hash, before))
		return error_set(err, JW_ERR_FORMAT, "%.300s: its SHA-256 is not the one in paths.json",
						 change->path);
	change->listed = true;
	if (buf_printf(err, &digits, "%llu", (unsigned long long)change->size_bytes))
		return -1;
	TEXT_COPY(number, buf_text(&digits));
	buf_free(&digits);
	if (hash_first)
		return splice(err, into, hash, after) || splice(err, into, size, number) ? -1 : 0;
	return splice(err, into, size, number) || splice(err, into, hash, after) ? -1 : 0;
}

/* One element of the list. */
static int edit_entry(struct jw_error *err, struct json_place entry, struct conda_change *changes,
					  size_t count, struct json_splice *into)
{
	struct json_scan scan = {entry.at, entry.at + entry.length};
	struct json_place key, value, path = {0}, hash = {0}, size = {0};
	struct conda_change *change;

	if (!next_is(&scan, '{'))
		return 0;
	while (next_json_member(&scan, &key, &value)) {
		if (is_json_text(key, "_path"))
			path = value;
		else if (is_json_text(key, "sha256"))
			hash = value;
		else if (is_json_text(key, "size_in_bytes"))
			size = value;
	}
	change = path.at ? change_of(changes, count, path) : NULL;
	return change ? edit_path(err, hash, size, change, into) : 0;
}

int conda_edit_paths(struct jw_error *err, const struct buf *paths, struct conda_change *changes,
					 size_t count, struct buf *ret_text)
{
	struct json_splice into = {.to = ret_text};
	struct json_place key, value = {0};
	struct json_scan scan;
	bool found = false;

	if (open_scan(err, paths, "paths.json", &scan, &into))
		return -1;
	while (!found && next_json_member(&scan, &key, &value))
		found = is_json_text(key, "paths");
	scan = (struct json_scan){value.at, value.at + value.length};
	if (!found || !next_is(&scan, '['))
		return error_set(err, JW_ERR_FORMAT, "its paths.json has no list of paths");
	while (!next_is(&scan, ']') && scan.at < scan.end) {
		const struct json_place entry = json_value(&scan);

		if (!entry.length)
			return error_set(err, JW_ERR_FORMAT, "its paths.json has an empty entry");
		if (edit_entry(err, entry, changes, count, &into))
			return -1;
		(void)next_is(&scan, ',');
	}
	for (size_t i = 0; i < count; i++)
		if (!changes[i].listed)
			return error_set(err, JW_ERR_FORMAT, "its paths.json does not list %.300s",
							 changes[i].path);
	return end_splice(err, &into, paths);
}
