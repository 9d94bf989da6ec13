#include "compile/package_index.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { MOST_NAME = 512 };

/* Source: pip's own header, PEP 691. */
static const char accept_pages[] = "Accept: application/vnd.pypi.simple.v1+json, "
								   "application/vnd.pypi.simple.v1+html;q=0.1, text/html;q=0.01";

/* Ignores the glibc of a manylinux tag: ptxas itself reports one that is too old. */
static bool is_platform(const char *platform, const char *tag)
{
	size_t machine = strcspn(platform, "-"), length = strlen(tag);

	if (text_ends(platform, "-windows"))
		return !strcmp(tag, text_starts(platform, "x") || text_starts(platform, "amd")
								? "win_amd64"
								: "win_arm64");
	return (text_starts(tag, "manyl") || text_starts(tag, "linux")) && length > machine &&
		   tag[length - machine - 1] == '_' && !strncmp(tag + length - machine, platform, machine);
}

/* NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM[.PLATFORM…].whl */
bool wheel_name_fits(const struct wheel_wanted *wanted, const char *name,
					 char version[VERSION_TEXT])
{
	char copy[MOST_NAME], package[PACKAGE_MOST_NAME], *parts[6], *at = copy;
	struct version numbers;
	const char *rest;
	size_t count = 0;
	bool fits = false;

	if (!text_ends(name, ".whl") || strlen(name) >= sizeof copy)
		return false;
	TEXT_COPY(copy, name);
	copy[strlen(copy) - strlen(".whl")] = 0;
	for (; at && count < 6; count++) {
		parts[count] = at;
		if ((at = strchr(at, '-')))
			*at++ = 0;
	}
	if (at || count < 5 || !package_normalise(parts[0], strlen(parts[0]), package) ||
		strcmp(package, wanted->package) != 0 || strlen(parts[1]) >= VERSION_TEXT ||
		!version_read(parts[1], &numbers, &rest) || *rest)
		return false;
	for (char *tag = parts[count - 1], *dot; !fits && tag; tag = dot) {
		if ((dot = strchr(tag, '.')))
			*dot++ = 0;
		fits = is_platform(wanted->platform, tag);
	}
	if (fits)
		text_copy(version, VERSION_TEXT, parts[1]);
	return fits;
}

struct choice {
	const struct wheel_wanted *wanted;
	struct wheel_found best;
	struct version version, newest; /* newest: of the platform, regardless of the request */
	char newest_text[VERSION_TEXT];
	const char *page;       /* the address of the page that is being read */
	struct jw_error missed; /* the error of the first place that failed */
	struct buf asked;
};

static bool is_version_wanted(const struct version *wanted, const struct version *version)
{
	return !version_order(wanted, version, wanted->count < 3 ? wanted->count : VERSION_NUMBERS);
}

/* Whether a file is better than the best so far. */
static bool is_better_wheel(struct choice *choice, const char *name, char text[VERSION_TEXT],
							struct version *version)
{
	const char *rest;

	if (!wheel_name_fits(choice->wanted, name, text) || !version_read(text, version, &rest))
		return false;
	if (version_order(version, &choice->newest, VERSION_NUMBERS) > 0) {
		choice->newest = *version;
		memcpy(choice->newest_text, text, VERSION_TEXT);
	}
	return is_version_wanted(&choice->wanted->version, version) &&
		   (!choice->best.place || version_order(version, &choice->version, VERSION_NUMBERS) > 0);
}

static void take_listed_wheel(struct choice *choice, char *place, bool local, const char *sha256,
							  const char *text, const struct version *version)
{
	mem_free(choice->best.place);
	choice->best.place = place;
	choice->best.local = local;
	text_copy(choice->best.sha256, sizeof choice->best.sha256, sha256 ? sha256 : "");
	TEXT_COPY(choice->best.version, text);
	choice->version = *version;
}

static int on_file(struct jw_error *err, void *context, const struct index_file *file)
{
	struct choice *choice = context;
	struct version version;
	char text[VERSION_TEXT], *base = NULL, *url;
	int result;

	if (file->yanked || !is_better_wheel(choice, file->name, text, &version))
		return 0;
	if (*file->base && http_resolve(err, choice->page, file->base, &base))
		return -1;
	result = http_resolve(err, base ? base : choice->page, file->url, &url);
	mem_free(base);
	if (!result)
		take_listed_wheel(choice, url, false, file->sha256, text, &version);
	return result;
}

static int take_page(struct jw_error *err, void *context, const void *data, size_t size)
{
	if (!data)
		buf_clear(context);
	return buf_append(err, context, data, size);
}

static int read_page(struct jw_error *err, struct choice *choice, const struct http_answer *answer,
					 const struct buf *text)
{
	const struct index_reader reader = {choice, on_file};
	int result;

	choice->page = answer->url;
	if (text_ends(answer->type, "json"))
		result = index_page_read_json(err, buf_text(text), text->size, &reader);
	else if (text_ends(answer->type, "html"))
		result = index_page_read_html(err, buf_text(text), text->size, &reader);
	else
		return error_set(err, JW_ERR_FORMAT,
						 "%.500s: the content type “%s” is neither HTML nor JSON; check index-url",
						 answer->url, answer->type);
	return result ? error_prefix(err, "%.500s", answer->url) : 0;
}

static int ask_page(struct jw_error *err, struct http *http, struct choice *choice, const char *url)
{
	struct buf text = BUF_MAX(INDEX_PAGE_MOST_BYTES);
	struct http_request request = {.url = url,
								   .accept = accept_pages,
								   .most_bytes = INDEX_PAGE_MOST_BYTES,
								   .take = take_page,
								   .context = &text};
	struct http_answer answer;
	int result = http_get(err, http, &request, &answer);

	if (!result) {
		result = read_page(err, choice, &answer, &text);
		mem_free(answer.url);
	}
	buf_free(&text);
	return result;
}

/* Wheels in a folder. */
static int ask_folder(struct jw_error *err, struct choice *choice, const char *folder)
{
	struct version version;
	struct os_names names;
	char text[VERSION_TEXT], *path;
	int result = 0;

	if (os_list(err, folder, &names))
		return -1;
	for (size_t i = 0; !result && i < names.count; i++) {
		if (names.kinds[i] != OS_REGULAR ||
			!is_better_wheel(choice, names.items[i], text, &version))
			continue;
		if ((path = os_join(err, folder, names.items[i])))
			take_listed_wheel(choice, path, true, NULL, text, &version);
		else
			result = -1;
	}
	os_names_free(&names);
	return result;
}

/* "file:///srv/my%20wheels", "file://localhost/srv/wheels" */
static char *file_of_address(struct jw_error *err, const char *address)
{
	const char *path = address + strlen("file://");
	char *decoded, *copy;

	path += text_starts(path, "localhost/") ? strlen("localhost") : 0;
	decoded = curl_easy_unescape(NULL, path + (os_separator == '\\'), 0, NULL);
	copy = mem_string(err, decoded ? decoded : path);
	curl_free(decoded);
	return copy;
}

/* find-links: "~/wheels", "file:///srv/wheels" */
static int ask_local(struct jw_error *err, struct choice *choice, const char *place)
{
	char *folder =
		text_starts(place, "file://") ? file_of_address(err, place) : pip_config_path(err, place);
	int result = folder ? ask_folder(err, choice, folder) : -1;

	if (folder)
		(void)buf_printf(NULL, &choice->asked, "%s%.300s", choice->asked.size ? ", " : "", folder);
	mem_free(folder);
	return result;
}

/* `project`: of an index; NULL: the page or folder itself. */
static int ask_place(struct jw_error *err, struct http *http, struct choice *choice,
					 const char *place, const char *project)
{
	char *clean, *url;
	size_t length;
	int result;

	if (!project && (text_starts(place, "file://") || !strstr(place, "://")))
		return ask_local(err, choice, place);
	if (http_login(err, http, place, &clean))
		return -1;
	(void)buf_printf(NULL, &choice->asked, "%s%.300s", choice->asked.size ? ", " : "", clean);
	for (length = strlen(clean); project && length && clean[length - 1] == '/';)
		length--;
	url = mem_printf(err, "%.*s%s%s%s", (int)length, clean, project ? "/" : "",
					 project ? project : "", project ? "/" : "");
	result = url ? ask_page(err, http, choice, url) : -1;
	mem_free(url);
	mem_free(clean);
	return result;
}

/* A project that an index lacks is not an error. */
static int ask_places(struct jw_error *err, struct http *http, struct choice *choice,
					  const char *places, const char *project)
{
	struct jw_error why;
	char *place;

	while ((place = pip_config_next(err, &places))) {
		why = (struct jw_error){0};
		if (ask_place(&why, http, choice, place, project) && why.code != JW_ERR_NOT_FOUND &&
			!choice->missed.code)
			choice->missed = why;
		mem_free(place);
		if (why.code == JW_ERR_INTERRUPTED || why.code == JW_ERR_MEMORY)
			return error_copy(err, &why);
	}
	return 0;
}

static int report_missing(struct jw_error *err, const struct choice *choice)
{
	const struct wheel_wanted *wanted = choice->wanted;
	char version[VERSION_TEXT] = "", newest[VERSION_TEXT + 24] = "";
	size_t used = 0;

	if (choice->missed.code)
		return error_copy(err, &choice->missed);
	for (size_t i = 0; i < wanted->version.count; i++)
		used += (size_t)snprintf(version + used, sizeof version - used, "%s%u", i ? "." : "",
								 wanted->version.numbers[i]);
	if (*choice->newest_text)
		(void)snprintf(newest, sizeof newest, "; the newest is %s", choice->newest_text);
	if (!choice->asked.size)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "no package index is known: name one in PIP_INDEX_URL, or unset no-index");
	return error_set(err, JW_ERR_NOT_FOUND, "%.500s: no wheel %s==%s%s for %s%s",
					 buf_text(&choice->asked), wanted->package, version,
					 wanted->version.count < 3 ? ".*" : "", wanted->platform, newest);
}

int package_index_find(struct jw_error *err, struct http *http, const struct pip_config *config,
					   const struct wheel_wanted *wanted, struct wheel_found *ret_found)
{
	struct choice choice = {.wanted = wanted, .asked = BUF_MAX(4096)};
	const char *index = config->values[PIP_INDEX_URL];
	int result = ask_places(err, http, &choice, config->values[PIP_FIND_LINKS], NULL);

	if (!result && !pip_config_bool(config, PIP_NO_INDEX))
		result = ask_places(err, http, &choice, index ? index : JITWARM_PACKAGE_INDEX,
							wanted->package) ||
						 ask_places(err, http, &choice, config->values[PIP_EXTRA_INDEX_URL],
									wanted->package)
					 ? -1
					 : 0;
	if (!result && !choice.best.place)
		result = report_missing(err, &choice);
	buf_free(&choice.asked);
	if (result)
		mem_free(choice.best.place);
	else
		*ret_found = choice.best;
	return result;
}
