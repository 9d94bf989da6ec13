#include "find/pip.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "find/requirement.h"
#include "os/file.h"

enum { MAX_PACKAGES = 4096, MAX_LINES = 16 << 20, SHA256_DIGITS = 64, TABLE_HEAD = 2 };

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

static bool has_only(const char *text, const char *letters)
{
	return !text[strspn(text, letters)];
}

/* Returns whether a text is the name of a file rather than a package, as people mean it. */
static bool ends_like_file(const char *text, size_t length)
{
	static const char *const ends[] = {".whl", ".zip", ".gz",   ".bz2",  ".xz",   ".tar",
									   ".tgz", ".tbz", ".txz",  ".tlz",  ".lz",   ".lzma",
									   ".zst", ".txt", ".toml", ".lock", ".json", ".cfg"};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const size_t end = strlen(ends[i]);

		if (length >= end && text_starts_fold(text + length - end, ends[i]))
			return true;
	}
	return false;
}

char *pip_requirement(const char *text)
{
	struct required required;
	size_t length;

	if (strlen(text) >= PACKAGE_MAX_NAME || !text_is_alnum(*text) ||
		!required_read(text, &required))
		return NULL;
	length = strlen(required.written);
	if (ends_like_file(text, length) || !has_only(text + length, LETTERS DIGITS "[]<>=!~,.*+-_ ") ||
		strstr(text, " -"))
		return NULL;
	return mem_printf("%s%s", required.is.name, text + length);
}

/* ---- lists */

struct reading {
	struct pip_lines lines;
	char *at;           /* the rest of the text */
	size_t line, count; /* the number of the current line, and of the lines read */
	size_t taken;       /* lines in `requirements` */
	size_t capacity, left_capacity;
};

static int refuse_length(struct jw_error *err)
{
	return error_set(err, JW_ERR_LIMIT,
					 "more than %d packages, or lines that name none: divide the list",
					 MAX_PACKAGES);
}

/* Adds a package and takes ownership of its texts. */
static int add_package(struct jw_error *err, struct jw_package_list *list, size_t *capacity,
					   struct jw_listed_package package)
{
	if (VEC_ROOM(NULL, list->items, *capacity, list->count, MAX_PACKAGES)) {
		mem_free(package.asked);
		mem_free(package.file);
		return refuse_length(err);
	}
	list->items[list->count++] = package;
	return 0;
}

/* Leaves a line out. Its text is not kept, since it may hold a password, or another account's
 * secret if the list is a link to it. */
static int leave_out(struct jw_error *err, struct reading *reading, const char *kind)
{
	const struct jw_listed_package package = {.asked = mem_string(kind), .line = reading->line};

	return add_package(err, &reading->lines.left_out, &reading->left_capacity, package);
}

/* Returns what a line is that is neither a requirement nor an option about indexes. */
static const char *line_kind(const char *line)
{
	static const char *const lists[] = {"-r", "-c", "--requirement", "--constraint"};
	const bool option = *line == '-';

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (text_starts(line, lists[i]))
			return "list";
	if (option && !text_starts(line, "-e") && !text_starts(line, "--editable"))
		return "option";
	if (strchr(line, '@') || strstr(line, "://"))
		return "address";
	return option || *line == '.' || strpbrk(line, "/\\") ||
				   ends_like_file(line, strcspn(line, "[; "))
			   ? "file"
			   : "other";
}

static char *behind_blanks(char *text)
{
	while (text_is_blank((unsigned char)*text))
		text++;
	return text;
}

static void cut_blanks(char *text)
{
	size_t length = strlen(text);

	while (length && text_is_blank((unsigned char)text[length - 1]))
		text[--length] = 0;
}

/* Cuts off the next line, joined with its continuations, without blanks at its ends. A comment does
 * not continue. NULL at the end. */
static char *next_line(struct reading *reading)
{
	char *line = reading->at, *end = line;
	bool comment;

	if (!*line)
		return NULL;
	reading->line = ++reading->count;
	comment = line[strspn(line, " \t")] == '#';
	for (; *end && *end != '\n'; end++) {
		char *next = end + 1 + (end[1] == '\r');

		if (*end == '\\' && *next == '\n' && !comment) {
			*end = end[1] = *next = ' ';
			comment = next[1 + strspn(next + 1, " \t")] == '#';
			end = next;
			reading->count++;
		}
	}
	reading->at = *end ? end + 1 : end;
	*end = 0;
	cut_blanks(line);
	return behind_blanks(line);
}

/* Returns whether a line names an index of the list's own. No other option is passed to pip, since
 * it could have pip build, or read other files. A variable (${NAME}) in an address would be sent to
 * the index. */
static bool is_index_option(const char *line)
{
	static const char *const alone[] = {"--no-index", "--pre", "--prefer-binary",
										"--require-hashes"};
	static const char *const valued[] = {"--index-url", "--extra-index-url", "-i"};

	for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
		if (!strcmp(line, alone[i]))
			return true;
	for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
		const char *value = line + strlen(valued[i]);

		if (text_starts(line, valued[i]) &&
			(*value == ' ' || (line[1] == '-' ? *value == '=' : *value == 'h'))) {
			value += *value != 'h';
			value += strspn(value, " ");
			return (text_starts(value, "http://") || text_starts(value, "https://")) &&
				   has_only(value, LETTERS DIGITS "-._~:/?@&()*+,=%");
		}
	}
	return false;
}

/* Returns whether a text is “ --hash=sha256:…”, repeated, and nothing else. */
static bool are_hashes(const char *text)
{
	while (*(text += strspn(text, " \t"))) {
		size_t algorithm, digits;

		if (!text_starts(text, "--hash="))
			return false;
		text += strlen("--hash=");
		algorithm = strspn(text, LETTERS DIGITS);
		digits = text[algorithm] == ':' ? strspn(text + algorithm + 1, DIGITS "abcdefABCDEF") : 0;
		if (!digits)
			return false;
		text += algorithm + 1 + digits;
		if (*text && !text_is_blank((unsigned char)*text))
			return false;
	}
	return true;
}

/* Takes a line NAME[EXTRA] >= VERSION, < VERSION ; MARKER --hash=… # COMMENT. */
static int take_line(struct jw_error *err, struct reading *reading, char *line)
{
	struct pip_lines *lines = &reading->lines;
	const char *kind;
	char *hashes, *marker, *requirement;
	int result;

	if (strlen(line) > PIP_MAX_LINE)
		return leave_out(err, reading, "other");
	for (char *at = line; (at = strchr(at, '#')); at++)
		if (at == line || text_is_blank((unsigned char)at[-1]))
			*at-- = 0;
	cut_blanks(line);
	if (is_index_option(line))
		return buf_printf(err, &lines->options, "%s\n", line);
	kind = line_kind(line);
	if ((hashes = strstr(line, " --")))
		*hashes++ = 0;
	if ((marker = strchr(line, ';')))
		*marker++ = 0;
	cut_blanks(line);
	requirement = pip_requirement(line);
	if (requirement && (!hashes || are_hashes(hashes)) &&
		(!marker || (has_only(marker, LETTERS DIGITS " ._-'\"()<>=!~,") && !strstr(marker, " -"))))
		result = reading->taken++ >= MAX_PACKAGES
					 ? refuse_length(err)
					 : buf_printf(err, &lines->requirements, "%s%s%s%s%s\n", requirement,
								  marker ? " ;" : "", marker ? marker : "", hashes ? " " : "",
								  hashes ? hashes : "");
	else
		result = leave_out(err, reading, kind);
	mem_free(requirement);
	return result;
}

struct locked {
	const char *name, *version, *marker; /* "" if there is none */
	const char *kind; /* the kind of a source other than an index; NULL for an index */
	struct buf hashes;
	size_t line;
};

/* Takes a locked package, as a line of requirements. */
static int take_locked(struct jw_error *err, struct reading *reading, struct locked *locked)
{
	char name[PACKAGE_MAX_NAME], *line;
	int result = 0;

	reading->line = locked->line;
	if (*locked->name && locked->kind) {
		result = leave_out(err, reading, locked->kind);
	} else if (*locked->name && !package_normalise(locked->name, strlen(locked->name), name)) {
		result = leave_out(err, reading, "other");
	} else if (*locked->name) {
		line = mem_printf("%s==%s%s%s%s", name, locked->version, *locked->marker ? " ; " : "",
						  locked->marker, buf_text(&locked->hashes));
		result = take_line(err, reading, line);
		mem_free(line);
	}
	buf_clear(&locked->hashes);
	return result;
}

/* Reads KEY = "VALUE", in the form of pip, uv and PDM. */
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

/* Reads each SHA-256 of a line: sha256 = "…". */
static int read_toml_hashes(struct jw_error *err, const char *line, struct buf *hashes)
{
	for (const char *at = line; (at = strstr(at, "sha256"));) {
		at += strlen("sha256");
		at += strspn(at, "\"' =");
		if (strspn(at, DIGITS "abcdefABCDEF") == SHA256_DIGITS &&
			buf_printf(err, hashes, " --hash=sha256:%.*s", SHA256_DIGITS, at))
			return -1;
	}
	return 0;
}

/* Reads tables [[packages]] with lines name, version and marker; vcs, directory and archive are in
 * them, or are tables after them. */
static int read_lock(struct jw_error *err, struct reading *reading)
{
	static const char *const places[][2] = {
		{"vcs", "address"}, {"directory", "file"}, {"archive", "address"}};
	struct locked package = {"", "", "", NULL, BUF_MAX(MAX_LINES), 0};
	bool inside = false; /* inside the table itself, not one after it */
	int result = 0;

	for (char *line; !result && (line = next_line(reading));) {
		const bool part = text_starts(line, "[packages.");

		/* Without its hashes, a package would be another. */
		if (strlen(line) > PIP_MAX_LINE) {
			result = error_set(err, JW_ERR_LIMIT, "line %zu has more than %d bytes", reading->line,
							   PIP_MAX_LINE);
			break;
		}
		result = read_toml_hashes(err, line, &package.hashes);
		inside = inside && *line != '[';
		if (!result && text_starts(line, "[[packages]]")) {
			const size_t number = reading->line;

			result = take_locked(err, reading, &package);
			package = (struct locked){"", "", "", NULL, package.hashes, number};
			inside = true;
		} else if (inside) {
			read_toml_text(line, "name", &package.name);
			read_toml_text(line, "version", &package.version);
			read_toml_text(line, "marker", &package.marker);
		}
		for (size_t i = 0; (inside || part) && i < sizeof places / sizeof *places; i++)
			if (text_starts(line + (part ? strlen("[packages.") : 0), places[i][0]))
				package.kind = places[i][1];
	}
	if (!result)
		result = take_locked(err, reading, &package);
	buf_free(&package.hashes);
	return result;
}

/* Finds the wheel's name in an address, whose “+” may be written %2B; "" if it is not a wheel. */
static char *wheel_in_address(const char *address)
{
	const bool whole = strlen(address) <= PIP_MAX_LINE;
	const char *slash = strrchr(address, '/'), *name = slash ? slash + 1 : address;
	char *text = mem_string(whole ? name : ""), *to = text;

	for (const char *at = text; *at && (*at != '%' || text_starts_fold(at, "%2b")); at++) {
		const bool plus = *at == '%';

		*to = *at;
		if (plus)
			*to = '+';
		to++;
		at += plus ? 2 : 0;
	}
	*to = 0;
	if (!(text_ends(text, ".whl") && has_only(text, LETTERS DIGITS "._+!-")))
		*text = 0;
	return text;
}

int pip_report_read(struct jw_error *err, const void *data, size_t size,
					struct jw_package_list *ret_packages)
{
	cJSON *document = json_parse(err, data, size);
	const cJSON *rows = cJSON_GetObjectItemCaseSensitive(document, "install"), *row;
	struct jw_package_list list = {.items = NULL};
	size_t capacity = 0;
	int result = document ? 0 : -1;

	if (document && !cJSON_IsArray(rows))
		result = error_set(err, JW_ERR_FORMAT, "not a report of “pip install --report”");
	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(row, "metadata"),
					*info = cJSON_GetObjectItemCaseSensitive(row, "download_info"),
					*hashes = cJSON_GetObjectItemCaseSensitive(
						cJSON_GetObjectItemCaseSensitive(info, "archive_info"), "hashes");
		const char *written = json_text(metadata, "name", ""),
				   *sha256 = json_text(hashes, "sha256", "");
		struct jw_listed_package package = {.direct = json_bool(row, "is_direct", false)};
		char name[PACKAGE_MAX_NAME], *line;

		if (result)
			break;
		if (!package_normalise(written, strlen(written), name)) {
			result = error_set(err, JW_ERR_FORMAT, "a package in it has no name");
			break;
		}
		line = mem_printf("%s==%s", name, json_text(metadata, "version", ""));
		package.asked = package.direct ? mem_string(name) : pip_requirement(line);
		mem_free(line);
		if (!package.asked) {
			result = error_set(err, JW_ERR_FORMAT, "a package in it has no version");
			break;
		}
		package.file = wheel_in_address(json_text(info, "url", ""));
		if (strlen(sha256) == SHA256_DIGITS && has_only(sha256, DIGITS "abcdefABCDEF"))
			TEXT_COPY(package.sha256, sha256);
		result = add_package(err, &list, &capacity, package);
	}
	cJSON_Delete(document);
	if (result)
		jw_package_list_free(&list);
	else
		*ret_packages = list;
	return result;
}

/* Takes a line NAME VERSION of the table that “pip list” prints; a third word is the folder of a
 * package that is not from an index. */
static int take_row(struct jw_error *err, struct reading *reading, const char *line)
{
	const size_t name = strcspn(line, " \t");
	const char *version = line + name + strspn(line + name, " \t");
	const size_t length = strcspn(version, " \t");
	char *pinned;
	int result;

	if (version[length])
		return leave_out(err, reading, "file");
	pinned = mem_printf("%.*s==%s", (int)name, line, version);
	result = take_line(err, reading, pinned);
	mem_free(pinned);
	return result;
}

/* Returns whether a text is the table that “pip list” prints. */
static bool is_table(const char *text)
{
	static const char head[] = "Package ";
	const char *second = text + strcspn(text, "\n");

	return text_starts(text, head) &&
		   text_starts(text + strlen(head) + strspn(text + strlen(head), " "), "Version") &&
		   text_starts(second, "\n---");
}

/* Returns whether a text is what conda prints, or an environment.yml. */
static bool is_of_conda(const char *text)
{
	static const char *const begins[] = {"# packages in environment at ",
										 "# This file may be used to create an environment",
										 "name:",
										 "channels:",
										 "dependencies:",
										 "prefix:"};

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (text_starts(text, begins[i]))
			return true;
	return false;
}

/* Recognises lists in other formats, of which every line would be left out. */
static int other_list(struct jw_error *err, const char *name, const char *text)
{
	static const struct {
		const char *name, *words;
	} others[] = {
		{.name = "pyproject.toml", .words = "uv pip compile pyproject.toml -o requirements.txt"},
		{.name = "uv.lock", .words = "uv export -o requirements.txt"},
		{.name = "poetry.lock", .words = "poetry export -o requirements.txt"},
		{.name = "Pipfile.lock", .words = "pipenv requirements > requirements.txt"},
		{.name = "Pipfile", .words = "pipenv requirements > requirements.txt"},
		{.name = "Dockerfile", .words = "docker run IMAGE pip freeze > requirements.txt"},
	};

	/* These programs run code of the project. */
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (text_ends(name, others[i].name))
			return error_set(err, JW_ERR_FORMAT, "not a list that pip reads: “%s” makes one",
							 others[i].words);
	return text_ends(name, ".yml") || text_ends(name, ".yaml") || is_of_conda(text)
			   ? error_set(err, JW_ERR_FORMAT,
						   "a list of conda's, whose packages are not those of pip's index: “pip "
						   "list --format=freeze > requirements.txt” in its environment makes one "
						   "that pip reads")
			   : 0;
}

int pip_lines_read(struct jw_error *err, const char *name, const void *data, size_t size,
				   struct pip_lines *ret_lines)
{
	struct reading reading = {.lines.options = BUF_MAX(MAX_LINES),
							  .lines.requirements = BUF_MAX(MAX_LINES)};
	struct pip_lines *lines = &reading.lines;
	char *text = mem_string_n(data, size);
	bool table;
	int result = 0;

	/* skip the mark that Windows' editors write */
	reading.at = text + (text_starts(text, "\xEF\xBB\xBF") ? 3 : 0);
	table = is_table(reading.at);
	if (other_list(err, name, reading.at))
		result = -1;
	else if (memchr(data, 0, size))
		result =
			error_set(err, JW_ERR_FORMAT, "contains a zero byte: save the list as text in UTF-8");
	else if (*behind_blanks(reading.at) == '{')
		result = pip_report_read(err, reading.at, strlen(reading.at), &lines->packages);
	else if (text_ends(name, ".toml"))
		result = read_lock(err, &reading);
	else
		for (char *line; !result && (line = next_line(&reading));)
			if (*line && *line != '#' && (!table || reading.line > TABLE_HEAD))
				result = table ? take_row(err, &reading, line) : take_line(err, &reading, line);
	if (!result && !lines->requirements.size && !lines->packages.count && !lines->left_out.count)
		result = error_set(err, JW_ERR_FORMAT, "it names no package");
	mem_free(text);
	if (result)
		pip_lines_free(lines);
	else
		*ret_lines = *lines;
	return result;
}

int pip_lines_read_file(struct jw_error *err, const char *path, struct pip_lines *ret_lines)
{
	static const char descriptors[] = "/dev/fd/";
	struct buf content = {0};
	uint64_t fd = 0;
	const bool open =
		!strcmp(path, "-") || !strcmp(path, "/dev/stdin") ||
		(text_starts(path, descriptors) && text_number(path + strlen(descriptors), INT32_MAX, &fd));
	int result = open ? os_read_descriptor(err, (int)fd, MAX_LINES, &content)
					  : os_read_file(err, path, MAX_LINES, &content);

	if (!result && pip_lines_read(err, path, buf_text(&content), content.size, ret_lines))
		result = error_prefix(err, "%s", path);
	buf_free(&content);
	return result;
}

void pip_lines_free(struct pip_lines *lines)
{
	buf_free(&lines->options);
	buf_free(&lines->requirements);
	jw_package_list_free(&lines->left_out);
	jw_package_list_free(&lines->packages);
}

void jw_package_list_free(struct jw_package_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		mem_free(list->items[i].asked);
		mem_free(list->items[i].file);
	}
	mem_free(list->items);
	*list = (struct jw_package_list){.items = NULL};
}
