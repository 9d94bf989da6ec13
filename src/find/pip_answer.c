#include "find/pip_answer.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/pep440.h"
#include "base/text.h"
#include "os/platform.h"

enum { MAX_FILES = 1 << 16, MAX_WORD = 512, MAX_LINE = 4096, MAX_REQUIRED = 4096 };

/* Returns whether a text can be a word in a line of a list. */
static bool is_word(const char *text)
{
	size_t length = 0;

	while (text[length] > ' ' && text[length] < 0x7f)
		length++;
	return length && length < MAX_WORD && !text[length];
}

static bool is_sha256(const char *text)
{
	return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

static char *join_systems(void *owner, const cJSON *systems)
{
	struct buf text = BUF_MAX(4096);
	const cJSON *one;
	char *joined;

	cJSON_ArrayForEach(one, systems)
	{
		const char *word = cJSON_IsString(one) ? one->valuestring : "";

		if (is_word(word) && !strchr(word, ','))
			(void)buf_printf(NULL, &text, "%s%s", text.size ? "," : "", word);
	}
	joined = arena_string(owner, buf_text(&text));
	buf_free(&text);
	return joined;
}

/* Returns whether a text can be the rest of a line. */
static bool is_line(const char *text)
{
	size_t length = 0;

	while ((unsigned char)text[length] >= ' ' && text[length] != 0x7f)
		length++;
	return length && length < MAX_LINE && !text[length];
}

static void read_required(void *owner, const cJSON *rows, struct pip_file *file)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		if (cJSON_IsString(row) && is_line(row->valuestring))
			arena_add_string(owner, &file->required, &file->required_count, MAX_REQUIRED,
							 row->valuestring);
	}
}

static int read_file(struct jw_error *err, struct pip_answer *answer, const cJSON *object)
{
	struct pip_listing *listing = &answer->listing;
	void *owner = listing->owner;
	const char *name = json_text(object, "file", ""), *version = json_text(object, "version", ""),
			   *address = json_text(object, "address", ""),
			   *sha256 = json_text(object, "sha256", ""),
			   *pythons = json_text(object, "pythons", "");
	const cJSON *requires = cJSON_GetObjectItemCaseSensitive(object, "requires");
	struct pip_file *file;
	struct pep440 numbers;

	if (!is_word(name) || strpbrk(name, "/\\") || !text_ends(name, ".whl") || !is_word(version) ||
		!pep440_read(version, &numbers) || !is_word(pythons) || (*sha256 && !is_sha256(sha256)))
		return error_set(err, JW_ERR_FORMAT, "index.py named a wheel of another form: %.200s",
						 name);
	if (ARENA_ROOM(NULL, owner, listing->items, listing->capacity, listing->count, MAX_FILES))
		return error_set(err, JW_ERR_LIMIT, "the package index lists more than %d wheels",
						 MAX_FILES);
	file = &listing->items[listing->count++];
	*file = (struct pip_file){
		.name = arena_string(owner, name),
		.version = arena_string(owner, version),
		.address = arena_string(owner, address),
		.pythons = arena_string(owner, pythons),
		.systems = join_systems(owner, cJSON_GetObjectItemCaseSensitive(object, "systems")),
		.size_bytes = json_count(object, "size"),
		.best = json_bool(object, "best", false),
		.pre = json_bool(object, "pre", false),
		.yanked = json_bool(object, "yanked", false)};
	TEXT_COPY(file->sha256, sha256);
	file->requires_known = requires != NULL;
	read_required(owner, requires, file);
	return 0;
}

/* Fills in the size or the requirements of a wheel that the listing has. */
static void read_more(struct pip_answer *answer, const cJSON *object)
{
	const char *name = json_text(object, "file", "");
	const cJSON *requires = cJSON_GetObjectItemCaseSensitive(object, "requires");

	for (size_t i = 0; i < answer->listing.count; i++) {
		struct pip_file *file = &answer->listing.items[i];

		if (strcmp(file->name, name) != 0)
			continue;
		if (!requires)
			file->size_bytes = json_count(object, "size");
		else if (!file->requires_known) {
			file->requires_known = true;
			read_required(answer->listing.owner, requires, file);
		}
	}
}

static void read_source(struct pip_listing *listing, const char *version)
{
	struct pep440 numbers;

	if (is_word(version) && pep440_read(version, &numbers))
		arena_add_string(listing->owner, &listing->sources, &listing->source_count, MAX_FILES,
						 version);
}

/* ---- failures */

/* Explains that an index does not answer as one. Returns false if that is not the reason. */
static bool explain_index(struct jw_error *err, const cJSON *object, const char *kind,
						  const char *host)
{
	const uint64_t status = json_count(object, "status"), wait_s = json_count(object, "wait");
	const char *reason = json_text(object, "reason", "");
	char number[24];

	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)status);
	if (!strcmp(kind, "login"))
		error_set(err, JW_ERR_IO,
				  "%s: the package index refused the login (401); correct the name and password in "
				  "pip's configuration, PIP_INDEX_URL or ~/.netrc",
				  host);
	else if (!strcmp(kind, "certificate"))
		error_set(err, JW_ERR_IO,
				  "%s: the certificate of the package index cannot be verified (%.200s); name the "
				  "file of its authority: PIP_CERT=FILE",
				  host, reason);
	else if (!strcmp(kind, "insecure"))
		error_set(err, JW_ERR_IO,
				  "%s: pip refuses a package index over plain HTTP; use the https address of the "
				  "index, or set PIP_TRUSTED_HOST=%s",
				  host, host);
	else if (!strcmp(kind, "reach"))
		error_set(err, JW_ERR_IO,
				  "%s: the package index cannot be reached (%.200s); check the network, the proxy "
				  "(https_proxy), and pip's index (PIP_INDEX_URL)",
				  host, !strcmp(reason, "timeout") ? "it did not answer in time" : reason);
	else if (!strcmp(kind, "failed") && wait_s)
		error_set(err, JW_ERR_IO, "%s: the package index is busy (%s); try again in %llu seconds",
				  host, number, (unsigned long long)wait_s);
	else if (!strcmp(kind, "failed"))
		error_set(err, JW_ERR_IO, "%s: the package index failed (%.200s); try again later", host,
				  status && !*reason ? number : reason);
	else
		return false;
	return true;
}

/* Explains that an index has no wheel that fits. */
static enum pip_lack explain_lack(struct jw_error *err, const cJSON *object, const char *kind,
								  const char *host)
{
	const char *name = json_text(object, "name", ""), *asked = json_text(object, "asked", "");
	const char *versions = json_text(object, "versions", "");

	if (!strcmp(kind, "wheel")) {
		error_set(err, JW_ERR_NOT_FOUND,
				  "no wheel of %s %s fits; its wheels are for Python %.200s on %.100s", name,
				  json_text(object, "version", ""), json_text(object, "pythons", ""),
				  json_text(object, "systems", ""));
		return PIP_LACKS_WHEEL;
	}
	if (!strcmp(kind, "source")) {
		error_set(err, JW_ERR_NOT_FOUND,
				  "the package index has source code of %.200s, and no wheel: pip builds one when "
				  "it installs the package",
				  asked);
		return PIP_LACKS_ANY_WHEEL;
	}
	if (!strcmp(kind, "refused")) {
		error_set(err, JW_ERR_NOT_FOUND, "%s: the package index refused %s (403)", host, name);
		return PIP_LACKS_ACCESS;
	}
	if (!strcmp(kind, "unknown")) {
		error_set(err, JW_ERR_NOT_FOUND, "%s: the package index has no package “%s”", host, name);
		return PIP_LACKS_PACKAGE;
	}
	if (!strcmp(kind, "version") && *versions) {
		error_set(err, JW_ERR_NOT_FOUND,
				  "the package index has no wheel of %.200s; it has wheels of %.300s", asked,
				  versions);
		return PIP_LACKS_VERSION;
	}
	if (!strcmp(kind, "version")) {
		error_set(err, JW_ERR_NOT_FOUND, "the package index has no wheel of %.200s", asked);
		return PIP_LACKS_VERSION;
	}
	return PIP_LACKS_NOTHING;
}

static void read_failure(struct pip_answer *answer, const cJSON *object, const char *folder)
{
	const char *kind = json_text(object, "error", ""), *reason = json_text(object, "reason", ""),
			   *file = json_text(object, "file", "");
	struct jw_error *err = &answer->failure;
	char host[256];

	TEXT_COPY(host, json_text(object, "host", ""));
	answer->lack = explain_lack(err, object, kind, host);
	if (answer->lack != PIP_LACKS_NOTHING)
		return;
	if (explain_index(err, object, kind, host)) {
		answer->lack = PIP_LACKS_INDEX;
	} else if (!strcmp(kind, "none")) {
		error_set(err, JW_ERR_UNSUPPORTED, "no pip");
	} else if (!strcmp(kind, "old")) {
		error_set(err, JW_ERR_UNSUPPORTED, "pip %.40s is older than 20.0",
				  json_text(object, "version", ""));
	} else if (!strcmp(kind, "many")) {
		error_set(err, JW_ERR_LIMIT, "the package index lists too many files of %.200s",
				  json_text(object, "name", ""));
	} else if (!strcmp(kind, "hash")) {
		error_set(err, JW_ERR_FORMAT, "%.300s: its hash differs from the one in the index or list",
				  file);
	} else if (!strcmp(kind, "short")) {
		error_set(err, JW_ERR_IO, "%.300s: the download ended early; try again", file);
	} else if (!strcmp(kind, "zip")) {
		error_set(err, JW_ERR_FORMAT, "%.300s: no sound wheel (%.200s)", file, reason);
	} else if (!strcmp(kind, "space")) {
		error_set(err, JW_ERR_IO,
				  "%s: no space is left for what pip downloads; free some, or name another "
				  "folder: %s=DIR",
				  folder, os_is_windows ? "TEMP" : "TMPDIR");
	} else {
		error_set(err, JW_ERR_IO, "pip: %.600s", *reason ? reason : kind);
	}
}

int pip_answer_read(struct jw_error *err, struct pip_answer *answer, const char *line,
					const char *folder)
{
	cJSON *object = json_parse(err, line, strlen(line));
	const cJSON *total = cJSON_GetObjectItemCaseSensitive(object, "total");
	int result = 0;

	if (!object)
		return error_prefix(err, "an answer of index.py");
	if (!answer->listing.owner)
		answer->listing.owner = arena_open(0);
	if (json_bool(object, "end", false)) {
		result = 1;
	} else if (cJSON_GetObjectItemCaseSensitive(object, "error")) {
		read_failure(answer, object, folder);
		result = 1;
	} else if (total) {
		answer->total_bytes += json_count(object, "total");
	} else if (cJSON_GetObjectItemCaseSensitive(object, "index")) {
		answer->listing.index = arena_string(answer->listing.owner, json_text(object, "index", ""));
	} else if (cJSON_GetObjectItemCaseSensitive(object, "version")) {
		result = read_file(err, answer, object);
	} else if (cJSON_GetObjectItemCaseSensitive(object, "source")) {
		read_source(&answer->listing, json_text(object, "source", ""));
	} else {
		read_more(answer, object);
	}
	cJSON_Delete(object);
	return result;
}

void pip_listing_free(struct pip_listing *listing)
{
	jw_result_free(listing->owner);
	*listing = (struct pip_listing){.index = NULL};
}

void pip_answer_free(struct pip_answer *answer)
{
	pip_listing_free(&answer->listing);
	*answer = (struct pip_answer){.total_bytes = 0};
}
