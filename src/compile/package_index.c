#include "compile/package_index.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/web.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/process.h"

enum {
	MOST_ANSWER = 1 << 20, /* of pip */
	ANSWER_MS = 60000,
	MOST_WORDS = 64,
	MOST_URL = 4 * WEB_TEXT,
	MOST_PAGE = 16 << 20, /* twenty thousand files */
	TIMEOUT_S = 15,       /* pip's own */
	RETRIES = 5,
	MOST_SHOWN = 400,
};

#define MOST_WHEEL (UINT64_C(8) << 30) /* where the index lists no size */

enum pip_option {
	INDEX_URL,
	EXTRA_INDEX_URL,
	NO_INDEX,
	FIND_LINKS,
	TRUSTED_HOST,
	CERT,
	CLIENT_CERT,
	PROXY,
	TIMEOUT,
	DEFAULT_TIMEOUT,
	RETRY,
	PIP_OPTIONS
};

static const char *const option_names[PIP_OPTIONS] = {
	"index-url",   "extra-index-url", "no-index", "find-links",      "trusted-host", "cert",
	"client-cert", "proxy",           "timeout",  "default-timeout", "retries"};

struct package_index {
	char *values[PIP_OPTIONS];                                                 /* NULL: not set */
	const char *hosts[MOST_WORDS], *folders[MOST_WORDS], *indexes[MOST_WORDS]; /* in them */
	size_t host_count, folder_count, index_count;
	char *certificates;
	struct web_options how;
	struct web *web;
};

/* ---- what pip is configured to */

/* Takes `value` over. An empty one counts as none. */
static int set_option(struct package_index *index, size_t option, char *value)
{
	if (value && *value) {
		mem_free(index->values[option]);
		index->values[option] = value;
	} else {
		mem_free(value);
	}
	return value ? 0 : -1;
}

/* Python's way to write a text, in place: 'a', "it's", '\na\nb' (several values). */
static void read_python_text(char *text)
{
	const size_t length = strlen(text);
	char *to = text;

	if (length < 2)
		return;
	text[length - 1] = '\0';
	for (const char *at = text + 1; *at; at++) {
		const bool escaped = *at == '\\' && at[1];

		at += escaped;
		*to++ = (char)(escaped && strchr("nrt", *at) ? ' ' : *at);
	}
	*to = '\0';
}

/* Lines SECTION.NAME='VALUE'. A later section counts before an earlier one. */
static int read_pip_list(struct jw_error *err, struct package_index *index, const char *line)
{
	static const char *const sections[] = {"global", "install", "download"};
	size_t ranks[PIP_OPTIONS] = {0};
	int result = 0;

	for (size_t length; !result && *line; line += length + strspn(line + length, "\r\n")) {
		length = strcspn(line, "\r\n");
		for (size_t i = 0; !result && i < PIP_OPTIONS * 3; i++) {
			const size_t option = i / 3, rank = i % 3;
			char key[64], *value;
			const int used =
				snprintf(key, sizeof key, "%s.%s=", sections[rank], option_names[option]);

			if (!text_starts(line, key) || rank < ranks[option])
				continue;
			ranks[option] = rank;
			value = mem_string_n(err, line + used, length - (size_t)used);
			if (value)
				read_python_text(value);
			result = set_option(index, option, value);
		}
	}
	return result;
}

static int ask_pip(struct jw_error *err, struct package_index *index)
{
	char *file = os_env("PIP_CONFIG_FILE"), *pip = NULL;
	const char *null = os_separator == '\\' ? "nul" : "/dev/null";
	const bool none = file && !strcmp(file, null);
	struct buf answer = BUF_MAX(MOST_ANSWER);
	const char *arguments[] = {NULL, "config", "list", NULL};
	const struct os_question question = {.arguments = arguments,
										 .input = "",
										 .timeout_ms = ANSWER_MS,
										 .cancel = index->how.cancel,
										 .answer = &answer,
										 .mute = true};
	int status = 0, result;

	mem_free(file);
	if (none || (!(pip = os_program_on_path("pip")) && !(pip = os_program_on_path("pip3"))))
		return 0;
	arguments[0] = pip;
	result = os_ask_found_program(err, &question, &status);
	if (!result && status)
		result =
			error_set(err, JW_ERR_IO, "“%s config list” ends with exit status %d", pip, status);
	if (!result)
		result = read_pip_list(err, index, buf_text(&answer));
	if (result)
		error_prefix(err, "pip's configuration (PIP_CONFIG_FILE=%s leaves it out)", null);
	buf_free(&answer);
	mem_free(pip);
	return result;
}

/* PIP_INDEX_URL */
static int read_pip_variables(struct jw_error *err, struct package_index *index)
{
	int result = 0;

	for (size_t i = 0; !result && i < PIP_OPTIONS; i++) {
		char name[32] = "PIP_", *value = NULL;

		for (const char *at = option_names[i]; *at; at++)
			name[4 + (at - option_names[i])] =
				(char)(*at == '-' ? '_' : toupper((unsigned char)*at));
		result = os_env_read(err, name, &value) || (value && set_option(index, i, value)) ? -1 : 0;
	}
	return result;
}

static bool is_option_on(const struct package_index *index, enum pip_option option)
{
	static const char *const yes[] = {"y", "yes", "t", "true", "on", "1"};

	for (size_t i = 0; index->values[option] && i < sizeof yes / sizeof *yes; i++)
		if (text_equal_fold(index->values[option], yes[i]))
			return true;
	return false;
}

static unsigned option_number(const struct package_index *index, enum pip_option option,
							  unsigned otherwise)
{
	uint64_t number;

	return index->values[option] && text_number(index->values[option], 3600, &number)
			   ? (unsigned)number
			   : otherwise;
}

/* “~/…” is in the home folder. */
static int expand_option(struct jw_error *err, struct package_index *index, enum pip_option option)
{
	const char *value = index->values[option];
	char *home = NULL;
	int result = 0;

	if (value && text_starts(value, "~/") && !os_home_dir(NULL, &home))
		result = set_option(index, option, mem_printf(err, "%s%s", home, value + 1));
	mem_free(home);
	return result;
}

/* Cuts `text` into its words. */
static void split_words(char *text, const char *words[MOST_WORDS], size_t *count)
{
	for (char *at = text; at && *at && *count < MOST_WORDS;) {
		while (text_is_blank((unsigned char)*at))
			*at++ = '\0';
		if (*at)
			words[(*count)++] = at;
		while (*at && !text_is_blank((unsigned char)*at))
			at++;
	}
}

static int configure(struct jw_error *err, struct package_index *index)
{
	if (ask_pip(err, index) || read_pip_variables(err, index) ||
		(!index->values[INDEX_URL] &&
		 set_option(index, INDEX_URL, mem_string(err, JITWARM_PACKAGE_INDEX))) ||
		expand_option(err, index, CERT) || expand_option(err, index, CLIENT_CERT) ||
		expand_option(err, index, FIND_LINKS))
		return -1;
	split_words(index->values[TRUSTED_HOST], index->hosts, &index->host_count);
	split_words(index->values[FIND_LINKS], index->folders, &index->folder_count);
	if (!is_option_on(index, NO_INDEX)) {
		split_words(index->values[INDEX_URL], index->indexes, &index->index_count);
		split_words(index->values[EXTRA_INDEX_URL], index->indexes, &index->index_count);
	}
	if (!index->values[CERT])
		index->certificates = os_env("REQUESTS_CA_BUNDLE");
	index->how = (struct web_options){
		.plain = {true, index->hosts, index->host_count, false, "PIP_TRUSTED_HOST="},
		.unproven = true,
		.timeout_ms =
			UINT64_C(1000) *
			option_number(index, TIMEOUT, option_number(index, DEFAULT_TIMEOUT, TIMEOUT_S)),
		.cancel = index->how.cancel,
		.netrc = true,
		.places = index->indexes,
		.place_count = index->index_count,
		.proxy = index->values[PROXY],
		.certificates = index->values[CERT] ? index->values[CERT] : index->certificates,
		.client_certificate = index->values[CLIENT_CERT],
	};
	return 0;
}

struct package_index *package_index_open(struct jw_error *err, const struct jw_cancel *cancel)
{
	struct package_index *index;

	if (sodium_init() < 0) {
		error_set(err, JW_ERR_IO, "libsodium cannot start");
		return NULL;
	}
	if (!(index = mem_alloc(err, sizeof *index)))
		return NULL;
	*index = (struct package_index){.how.cancel = cancel};
	if (!configure(err, index))
		index->web = web_open(err, &index->how);
	if (index->web)
		return index;
	package_index_close(index);
	return NULL;
}

void package_index_close(struct package_index *index)
{
	if (!index)
		return;
	web_close(index->web);
	for (size_t i = 0; i < PIP_OPTIONS; i++)
		mem_free(index->values[i]);
	mem_free(index->certificates);
	mem_free(index);
}

/* ---- which wheel */

/* Whether a file is better than the best so far. */
static bool is_better_wheel(struct wheel_choice *choice, const char *name, bool withdrawn,
							struct wheel_named *named)
{
	const bool read = wheel_name_read(choice->wanted, name, named),
			   wanted = read && package_version_fits(&named->version, choice->wanted->versions);
	const char *version = strrchr(name, '-');

	if (read && named->rank >= 0 && !withdrawn && package_version_is_final(&named->version) &&
		(!choice->newest.count ||
		 version_order(&named->version.numbers, &choice->newest, VERSION_NUMBERS) > 0))
		choice->newest = named->version.numbers;
	if (wanted && named->rank >= 0 && !withdrawn)
		return !choice->best.place || wheel_is_newer(named, &choice->best.named);
	choice->withdrawn = choice->withdrawn || (wanted && named->rank >= 0);
	choice->foreign = choice->foreign || (wanted && named->rank < 0);
	if (!read && version && text_ends(name, ".tar.gz") &&
		package_version_read(version + 1, strlen(version) - sizeof "-.tar.gz" + 1, &named->version))
		choice->source =
			choice->source || package_version_fits(&named->version, choice->wanted->versions);
	return false;
}

/* Takes `place` over; NULL: no memory. */
static int choose_wheel(struct wheel_choice *choice, char *place, const char *name,
						const struct wheel_found *found)
{
	if (!place)
		return -1;
	mem_free(choice->best.place);
	choice->best = *found;
	choice->best.place = place;
	TEXT_COPY(choice->best.name, name);
	return 0;
}

static int read_file_row(struct jw_error *err, const char *page, const cJSON *row,
						 struct wheel_choice *choice)
{
	const char *sha256 = json_text(cJSON_GetObjectItemCaseSensitive(row, "hashes"), "sha256", ""),
			   *name = json_text(row, "filename", "");
	const cJSON *size = cJSON_GetObjectItemCaseSensitive(row, "size");
	struct wheel_found found = {.place = NULL};
	const char *hashes = choice->wanted->hashes;
	char url[MOST_URL];

	/* Withdrawn by its author: false, true or the reason */
	if (!is_better_wheel(choice, name,
						 json_bool(row, "yanked", false) || *json_text(row, "yanked", ""),
						 &found.named))
		return 0;
	if (hashes && (strlen(sha256) != 64 || !strstr(hashes, sha256))) {
		choice->other = true;
		return 0;
	}
	if (strlen(sha256) == 64 && strspn(sha256, "0123456789abcdefABCDEF") == 64)
		TEXT_COPY(found.sha256, sha256);
	if (cJSON_IsNumber(size) && size->valuedouble >= 1 && size->valuedouble <= (double)MOST_WHEEL)
		found.size_bytes = (uint64_t)size->valuedouble;
	return web_resolve(err, page, json_text(row, "url", ""), url, sizeof url)
			   ? -1
			   : choose_wheel(choice, mem_string(err, url), name, &found);
}

int package_index_read(struct jw_error *err, const char *page, const char *text, size_t size,
					   struct wheel_choice *choice)
{
	cJSON *document = json_parse(err, text, size);
	const cJSON *files = cJSON_GetObjectItemCaseSensitive(document, "files"), *row,
				*meta = cJSON_GetObjectItemCaseSensitive(document, "meta");
	int result = 0;

	if (!document)
		return -1;
	if (!cJSON_IsArray(files) || !text_starts(json_text(meta, "api-version", ""), "1."))
		result = error_set(err, JW_ERR_FORMAT, "not a project's page of API version 1 (PEP 691)");
	else
		cJSON_ArrayForEach(row, files) if ((result = read_file_row(err, page, row, choice))) break;
	cJSON_Delete(document);
	return result;
}

/* ---- where they are */

/* As often as pip would. Only 200 is 0. */
static int ask_server(struct jw_error *err, struct package_index *index,
					  const struct web_request *request, struct web_answer *ret_answer)
{
	const unsigned retries = option_number(index, RETRY, RETRIES);
	struct jw_error why;
	unsigned tries = 0;
	bool passing;
	int result;

	do {
		why = (struct jw_error){0};
		result = web_ask(&why, index->web, request, ret_answer);
		passing = result ? why.code == JW_ERR_BUSY
						 : ret_answer->status == 429 || ret_answer->status >= 500;
	} while (passing && tries < retries &&
			 web_wait(index->web, tries++, result ? -1 : ret_answer->wait_s));
	if (result)
		return error_set(err, why.code == JW_ERR_BUSY ? JW_ERR_IO : why.code, "%s", why.message);
	if (ret_answer->status == 200)
		return 0;
	return error_set(
		err, ret_answer->status == 404 || ret_answer->status == 410 ? JW_ERR_NOT_FOUND : JW_ERR_IO,
		"the server answers with status %ld%s", ret_answer->status,
		ret_answer->status == 401 ? "; write the name and password into the index-url of pip's "
									"configuration, or into ~/.netrc"
								  : "");
}

static int begin_page(struct jw_error *err, void *context, const struct web_answer *answer)
{
	buf_clear(context);
	return text_ends(answer->type, "json")
			   ? 0
			   : error_set(err, JW_ERR_FORMAT,
						   "the content type “%s” is not the JSON of an index (PEP 691); check "
						   "index-url",
						   answer->type);
}

static int take_page(struct jw_error *err, void *context, const void *data, size_t size)
{
	return buf_append(err, context, data, size);
}

static int ask_index(struct jw_error *err, struct package_index *index, const char *place,
					 struct wheel_choice *choice)
{
	size_t length = strlen(place);
	char url[MOST_URL] = "", shown[MOST_SHOWN], *whole;
	struct buf text = BUF_MAX(MOST_PAGE);
	struct web_answer answer;
	const struct web_request request = {
		.method = "GET",
		.url = url,
		.headers = {"Accept: application/vnd.pypi.simple.v1+json"},
		.begin = begin_page,
		.take = take_page,
		.context = &text,
		.most_bytes = MOST_PAGE,
		.bulk = true,
	};
	int result;

	while (length && place[length - 1] == '/')
		length--;
	whole = mem_printf(err, "%.*s/%s/", (int)length, place, choice->wanted->package);
	result = !whole || web_resolve(err, whole, whole, url, sizeof url) ||
					 ask_server(err, index, &request, &answer) ||
					 package_index_read(err, answer.url, buf_text(&text), text.size, choice)
				 ? -1
				 : 0;
	if (result)
		error_prefix(err, "%s", text_address(shown, sizeof shown, *url ? url : place));
	buf_free(&text);
	mem_free(whole);
	return result;
}

static int look_in_folder(struct jw_error *err, const char *folder, struct wheel_choice *choice)
{
	struct wheel_found found = {.local = true};
	struct os_names names;
	char shown[MOST_SHOWN];
	int result = 0;

	if (strstr(folder, "://"))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: of find-links, folders alone are searched: give its path",
						 text_address(shown, sizeof shown, folder));
	if (os_list(err, folder, &names))
		return -1;
	for (size_t i = 0; !result && i < names.count; i++) {
		const char *name = names.items[i];

		if (names.kinds[i] != OS_REGULAR || !is_better_wheel(choice, name, false, &found.named))
			continue;
		if (choice->wanted->hashes)
			choice->linked = true;
		else
			result = choose_wheel(choice, os_join(err, folder, name), name, &found);
	}
	os_names_free(&names);
	return result;
}

static const char *write_version(char text[128], const struct version *version)
{
	size_t used = 0;

	*text = 0;
	for (size_t i = 0; i < version->count; i++)
		used +=
			(size_t)snprintf(text + used, 128 - used, "%s%u", i ? "." : "", version->numbers[i]);
	return text;
}

static int report_missing(struct jw_error *err, const struct package_index *index,
						  const struct wheel_choice *choice)
{
	const struct wheel_wanted *wanted = choice->wanted;
	struct buf asked = BUF_MAX(4096);
	char newest[128], also[160] = "", shown[MOST_SHOWN];
	int result;

	for (size_t i = 0; i < index->folder_count + index->index_count; i++)
		(void)buf_printf(NULL, &asked, "%s%s", i ? ", " : "",
						 text_address(shown, sizeof shown,
									  i < index->folder_count
										  ? index->folders[i]
										  : index->indexes[i - index->folder_count]));
	if (!asked.size)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "no package index is known: name one in PIP_INDEX_URL, or unset no-index");
	if (choice->withdrawn)
		TEXT_COPY(also, "; its author has withdrawn (yanked) it");
	else if (choice->other)
		TEXT_COPY(also, "; none of its files has a SHA-256 that the list names");
	else if (choice->linked)
		TEXT_COPY(also, "; wheels of find-links have no hash that a list names");
	else if (choice->foreign)
		TEXT_COPY(also, "; it has wheels for other platforms");
	else if (choice->source)
		TEXT_COPY(also, "; it has only its source (sdist)");
	else if (choice->newest.count)
		(void)text_format(also, sizeof also, "; the newest is %s",
						  write_version(newest, &choice->newest));
	result = error_set(err, JW_ERR_NOT_FOUND, "%.500s: no wheel %s%.100s for %s%s",
					   buf_text(&asked), wanted->package, wanted->versions, wanted->platform, also);
	buf_free(&asked);
	return result;
}

int package_index_find(struct jw_error *err, struct package_index *index,
					   const struct wheel_wanted *wanted, struct wheel_found *ret_found)
{
	struct wheel_choice choice = {.wanted = wanted};
	struct jw_error missed = {0}, why = {0};
	const size_t folders = index->folder_count;

	for (size_t i = 0; i < folders + index->index_count; i++) {
		why = (struct jw_error){0};
		/* A project that an index lacks is not an error. */
		if (!(i < folders ? look_in_folder(&why, index->folders[i], &choice)
						  : ask_index(&why, index, index->indexes[i - folders], &choice)) ||
			why.code == JW_ERR_NOT_FOUND)
			continue;
		if (!missed.code || why.code == JW_ERR_INTERRUPTED || why.code == JW_ERR_MEMORY)
			missed = why;
		if (missed.code == JW_ERR_INTERRUPTED || missed.code == JW_ERR_MEMORY)
			break;
	}
	if (choice.best.place && missed.code != JW_ERR_INTERRUPTED && missed.code != JW_ERR_MEMORY) {
		*ret_found = choice.best;
		return 0;
	}
	mem_free(choice.best.place);
	return missed.code ? error_copy(err, &missed) : report_missing(err, index, &choice);
}

/* ---- a wheel */

struct wheel_download {
	struct os_file *file;
	uint64_t size, total;
	crypto_hash_sha256_state hash;
	void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
};

static int begin_wheel_file(struct jw_error *err, void *context, const struct web_answer *answer)
{
	struct wheel_download *download = context;

	download->size = 0;
	download->total = answer->size_bytes;
	(void)crypto_hash_sha256_init(&download->hash);
	return os_file_truncate(err, download->file, 0);
}

static int take_wheel(struct jw_error *err, void *context, const void *data, size_t size)
{
	struct wheel_download *download = context;

	if (os_file_write(err, download->file, download->size, data, size))
		return -1;
	(void)crypto_hash_sha256_update(&download->hash, data, size);
	download->size += size;
	if (download->progress && download->total)
		download->progress(download->context, download->size, download->total);
	return 0;
}

static int check_wheel(struct jw_error *err, struct wheel_download *download,
					   const struct wheel_found *found)
{
	uint8_t hash[crypto_hash_sha256_BYTES];
	char text[2 * sizeof hash + 1];

	if (!*found->sha256)
		return error_set(err, JW_ERR_FORMAT, "the index lists no SHA-256 of it");
	(void)crypto_hash_sha256_final(&download->hash, hash);
	(void)sodium_bin2hex(text, sizeof text, hash, sizeof hash);
	if (!text_equal_fold(text, found->sha256))
		return error_set(err, JW_ERR_FORMAT, "its SHA-256 is %s, but the index lists %s", text,
						 found->sha256);
	return 0;
}

int package_index_download(struct jw_error *err, struct package_index *index,
						   const struct wheel_found *found, const char *path,
						   void (*progress)(void *context, uint64_t done_bytes,
											uint64_t total_bytes),
						   void *context)
{
	struct wheel_download download = {.progress = progress, .context = context};
	const struct web_request request = {.method = "GET",
										.url = found->place,
										.begin = begin_wheel_file,
										.take = take_wheel,
										.context = &download,
										.most_bytes =
											found->size_bytes ? found->size_bytes : MOST_WHEEL,
										.bulk = true};
	struct web_answer answer;
	int result;

	if (os_file_open(err, path, OS_OPEN_CREATE, &download.file))
		return -1;
	(void)crypto_hash_sha256_init(&download.hash); /* where the body is empty */
	result =
		ask_server(err, index, &request, &answer) || check_wheel(err, &download, found) ? -1 : 0;
	os_file_close(download.file);
	return result;
}
