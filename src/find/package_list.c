#include "find/requirement.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { PACKAGE_LIST_MOST = 4096, PACKAGE_LIST_BYTES = 16 << 20 };

struct package_lines {
	struct jw_package_list list;
	struct buf hashes; /* of the package at hand, as they are written */
	size_t capacity;
	char *at;           /* the rest of the text */
	size_t line, lines; /* the number of the line at hand; of the lines read */
};

/* Takes `asked` over; NULL: no memory. */
static int add_listed(struct jw_error *err, struct package_lines *listing, char *asked,
					  bool conditional)
{
	struct jw_package_list *list = &listing->list;
	const bool hashed = listing->hashes.size;
	char *hashes = hashed ? mem_string(err, buf_text(&listing->hashes)) : NULL;

	buf_clear(&listing->hashes);
	if (!asked || (hashed && !hashes) ||
		VEC_ROOM(err, list->items, listing->capacity, list->count, PACKAGE_LIST_MOST)) {
		mem_free(asked);
		mem_free(hashes);
		return -1;
	}
	list->items[list->count++] =
		(struct jw_listed_package){asked, hashes, listing->line, conditional};
	return 0;
}

static char *behind_blanks(char *text)
{
	while (text_is_blank((unsigned char)*text))
		text++;
	return text;
}

/* The next line, cut off there, with those in which it goes on, without blanks at its start. NULL
 * at the end. */
static char *next_package_line(struct package_lines *listing)
{
	char *line = listing->at, *end = line;

	if (!*line)
		return NULL;
	listing->line = ++listing->lines;
	for (; *end && *end != '\n'; end++) {
		char *next = end + 1 + (end[1] == '\r');

		if (*end == '\\' && *next == '\n' && *line != '#') {
			*end = end[1] = *next = ' ';
			listing->lines++;
		}
	}
	listing->at = *end ? end + 1 : end;
	while (end > line && text_is_blank((unsigned char)end[-1]))
		end--;
	*end = 0;
	return behind_blanks(line);
}

/* NAME[EXTRA] >= VERSION, < VERSION ; MARKER --hash=… # COMMENT. What is no such thing stays as it
 * is, but for an address or an option's value, which may hold a password. */
static int list_requirement(struct jw_error *err, struct package_lines *listing, char *line)
{
	struct typed_package typed;
	const char *address = strstr(line, "://");
	char *options, *marker, *to;

	if (*line == '-')
		return add_listed(err, listing,
						  address || strchr(line, '@')
							  ? mem_printf(err, "%.*s …", (int)strcspn(line, " ="), line)
							  : mem_string(err, line),
						  false);
	line[strcspn(line, "#")] = 0;
	if ((options = strstr(line, "--"))) {
		if (strstr(options, "--hash") &&
			buf_append(err, &listing->hashes, options, strlen(options)))
			return -1;
		*options = 0;
	}
	if ((marker = strchr(line, ';')))
		*marker = 0;
	if (!requirement_typed(line, &typed)) {
		address = strstr(line, "://");
		return add_listed(err, listing,
						  address ? mem_printf(err, "%.*s://…", (int)(address - line), line)
								  : mem_string(err, line),
						  false);
	}
	to = line + (typed.versions - line);
	for (const char *from = to; (*to = *from); from++)
		to += !text_is_blank((unsigned char)*from);
	return add_listed(err, listing, mem_printf(err, "%s%s", typed.written, typed.versions),
					  marker != NULL);
}

static int read_requirements(struct jw_error *err, struct package_lines *listing)
{
	int result = 0;

	for (char *line; !result && (line = next_package_line(listing));)
		if (*line && *line != '#')
			result = list_requirement(err, listing, line);
	return result;
}

struct resolved {
	const char *name, *version, *marker; /* "": none */
	const char *place;                   /* other than an index; NULL: an index */
	size_t line;
};

static int add_resolved(struct jw_error *err, struct package_lines *listing,
						const struct resolved *from)
{
	listing->line = from->line;
	if (!*from->name)
		return 0;
	return add_listed(err, listing,
					  from->place ? mem_printf(err, "%s @ %s", from->name, from->place)
								  : mem_printf(err, "%s==%s", from->name, from->version),
					  *from->marker);
}

/* KEY = "VALUE", as pip, uv and PDM write it. */
static void read_toml_text(char *line, const char *key, const char **ret_value)
{
	char *value = text_starts(line, key) ? behind_blanks(line + strlen(key)) : line;

	if (value == line || *value != '=')
		return;
	value = behind_blanks(value + 1);
	if (*value != '"' && *value != '\'')
		return;
	*ret_value = value + 1;
	value[1 + strcspn(value + 1, *value == '"' ? "\"" : "'")] = 0;
}

/* Tables [[packages]] with lines name, version and marker; vcs, directory and archive are in them,
 * or tables behind them. */
static int read_lock(struct jw_error *err, struct package_lines *listing)
{
	static const char *const places[] = {"vcs", "directory", "archive"};
	struct resolved package = {"", "", "", NULL, 0};
	bool inside = false; /* the table itself, not one behind it */
	int result = 0;

	for (char *line; !result && (line = next_package_line(listing));) {
		const bool part = text_starts(line, "[packages.");

		if (strstr(line, "sha256") && buf_append(err, &listing->hashes, line, strlen(line)))
			return -1;
		inside = inside && *line != '[';
		if (text_starts(line, "[[packages]]")) {
			const struct resolved next = {"", "", "", NULL, listing->line};

			result = add_resolved(err, listing, &package);
			package = next;
			inside = true;
		} else if (inside) {
			read_toml_text(line, "name", &package.name);
			read_toml_text(line, "version", &package.version);
			read_toml_text(line, "marker", &package.marker);
		}
		for (size_t i = 0; (inside || part) && i < sizeof places / sizeof *places; i++)
			if (text_starts(line + (part ? strlen("[packages.") : 0), places[i]))
				package.place = places[i];
	}
	return result ? -1 : add_resolved(err, listing, &package);
}

static int read_pip_report(struct jw_error *err, struct package_lines *listing)
{
	cJSON *document = json_parse(err, listing->at, strlen(listing->at));
	const cJSON *rows = cJSON_GetObjectItemCaseSensitive(document, "install"), *row;
	int result = document ? 0 : -1;

	if (document && !cJSON_IsArray(rows))
		result = error_set(err, JW_ERR_FORMAT, "not a report of “pip install --report”");
	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(row, "metadata");
		const struct resolved package = {json_text(metadata, "name", ""),
										 json_text(metadata, "version", ""), "",
										 json_bool(row, "is_direct", false) ? "url" : NULL, 0};
		const cJSON *archive = cJSON_GetObjectItemCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(row, "download_info"), "archive_info");
		const char *sha256 =
			json_text(cJSON_GetObjectItemCaseSensitive(archive, "hashes"), "sha256", "");

		if (!result && !(result = buf_append(err, &listing->hashes, sha256, strlen(sha256))))
			result = add_resolved(err, listing, &package);
	}
	cJSON_Delete(document);
	return result;
}

int package_list_parse(struct jw_error *err, const char *name, const void *data, size_t size,
					   struct jw_package_list *ret_list)
{
	struct package_lines listing = {.hashes = BUF_MAX(PACKAGE_LIST_BYTES)};
	char *text = mem_string_n(err, data, size);
	int result;

	if (!text)
		return -1;
	listing.at = text + (text_starts(text, "\xEF\xBB\xBF") ? 3 : 0); /* of Windows' editors */
	if (memchr(data, 0, size))
		result = error_set(err, JW_ERR_FORMAT, "a zero byte: no text, or not in UTF-8");
	else if (*behind_blanks(listing.at) == '{')
		result = read_pip_report(err, &listing);
	else
		result =
			text_ends(name, ".toml") ? read_lock(err, &listing) : read_requirements(err, &listing);
	if (!result && !listing.list.count)
		result = error_set(err, JW_ERR_FORMAT, "it names no package");
	if (result)
		jw_package_list_free(&listing.list);
	else
		*ret_list = listing.list;
	buf_free(&listing.hashes);
	mem_free(text);
	return result;
}

int jw_package_list_read(struct jw_error *err, const char *path, struct jw_package_list *ret_list)
{
	struct buf content = BUF_MAX(PACKAGE_LIST_BYTES);
	int result = os_read_file(err, path, PACKAGE_LIST_BYTES, &content);

	if (!result && package_list_parse(err, path, buf_text(&content), content.size, ret_list))
		result = error_prefix(err, "%s", path);
	buf_free(&content);
	return result;
}

void jw_package_list_free(struct jw_package_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		mem_free(list->items[i].asked), mem_free(list->items[i].hashes);
	mem_free(list->items);
	*list = (struct jw_package_list){.items = NULL};
}
