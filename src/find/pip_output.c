#include "find/pip_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "os/platform.h"

enum {
	MAX_SHOWN_BYTES = 600, /* the most bytes of pip's output in an error */
	MAX_HOST = 256,
	MAX_WORDS = 24
};

/* ---- passwords */

/* In a word, everything between the first “://” and the last “@” may be a password. */
void pip_hide_passwords(char *text)
{
	char *to = text;

	for (const char *at = text, *end = at; *at; at = end) {
		const char *hidden = NULL, *host = NULL;

		for (; *end && !text_is_blank((unsigned char)*end); end++)
			if (!hidden && text_starts(end, "://"))
				hidden = host = end + strlen("://");
			else if (hidden && *end == '@')
				host = end + 1;
		while (text_is_blank((unsigned char)*end))
			end++;
		if (!hidden)
			hidden = host = end;
		memmove(to, at, (size_t)(hidden - at));
		to += hidden - at;
		memmove(to, host, (size_t)(end - host));
		to += end - host;
	}
	*to = 0;
}

/* Replaces each occurrence of `secret` in a text. */
static void hide_secret(char *text, const char *secret)
{
	const size_t length = strlen(secret);

	if (length > 2)
		text_replace(text, secret, length < 4 ? "***" : "****");
}

/* Decodes "%40" to "@", in place. */
static void decode_percent(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		const int high = *at == '%' ? text_hex_digit(at[1]) : -1,
				  low = high < 0 ? -1 : text_hex_digit(at[2]);

		if (low >= 0 && high + low) {
			*to++ = (char)(high * 16 + low);
			at += 2;
		} else {
			*to++ = *at;
		}
	}
	*to = 0;
}

/* Hides the passwords of the addresses in the environment (PIP_INDEX_URL, https_proxy), in
 * whichever form a program prints them. */
static void hide_known_passwords(char *text)
{
	uv_env_item_t *items;
	int count;

	if (uv_os_environ(&items, &count))
		return;
	for (int i = 0; i < count; i++)
		for (char *at = items[i].value; (at = strstr(at, "://")); at += 3) {
			char *user = mem_string_n(at + 3, strcspn(at + 3, " \t\r\n"));

			/* Each “@” may be the end of the name and password. */
			for (char *end = user; (end = strchr(end, '@')); *end++ = '@') {
				char *password, *decoded;

				*end = 0;
				password = strchr(user, ':');
				password = password ? password + 1 : user;
				hide_secret(text, password);
				decoded = mem_string(password);
				decode_percent(decoded);
				hide_secret(text, decoded);
				mem_free(decoded);
			}
			mem_free(user);
		}
	uv_os_free_environ(items, count);
}

static char *without_passwords(const char *said)
{
	char *text = mem_string(said);

	pip_hide_passwords(text);
	hide_known_passwords(text);
	return text;
}

/* ---- a program's output in an error */

/* Cuts off the line at *at; NULL at the end. A longer line is no program's own. */
static char *next_line(char **at)
{
	char *line, *end;

	do {
		line = *at;
		end = line + strcspn(line, "\r\n");
		*at = end + strspn(end, "\r\n");
	} while (end - line > PIP_MAX_LINE);
	if (!*line)
		return NULL;
	*end = 0;
	return line;
}

/* Removes the mention of our own file: “ (from -r …/asked.txt (line 1))”. */
static void hide_own_list(char *text)
{
	static const char words[] = " (from -r ";
	char *to = text;
	const char *at = text, *from, *end = NULL, *line = text, *kept;

	while ((from = strstr(at, words))) {
		if (line <= from)
			line = from + strcspn(from, "\r\n");
		if (!end || end < from)
			end = strstr(from, "))");
		if (!end)
			break;
		/* A line in which the mention does not end keeps its rest. */
		kept = end < line ? from : line;
		memmove(to, at, (size_t)(kept - at));
		to += kept - at;
		at = end < line ? end + strlen("))") : line;
	}
	memmove(to, at, strlen(at) + 1);
}

/* Shortens a list of many versions to the first two and the last two: “(from versions: 1.0, 1.1, …,
 * 2.0, 2.1)”. */
static void shorten_versions(char *text)
{
	static const char dots[] = " …";
	enum { MAX_COMMAS = 8 };
	char *at = strstr(text, "(from versions: "), *commas[2] = {NULL}, *last[2] = {NULL};
	size_t count = 0;

	for (; at && *at && !strchr(")\r\n", *at); at++)
		if (*at == ',') {
			if (count < 2)
				commas[count] = at;
			last[0] = last[1];
			last[1] = at;
			count++;
		}
	if (count <= MAX_COMMAS)
		return;
	memcpy(commas[1] + 1, dots, sizeof dots - 1);
	memmove(commas[1] + sizeof dots, last[0], strlen(last[0]) + 1);
}

/* Finds the first error of a program, with its continuation lines, and its last warning, which may
 * be the reason (a server that does not answer); if there is no error, the last line, and for a
 * traceback, the last exception: the line after the indented ones. pip prints versions that it left
 * out (for another Python, yanked) as an error, before the error that says what is missing. */
int pip_output_error(struct jw_error *err, const char *said, const char *program,
					 const char *folder, const struct os_ended *ended)
{
	char error[MAX_SHOWN_BYTES] = "", warning[MAX_SHOWN_BYTES / 2] = "", last[MAX_SHOWN_BYTES] = "",
		 *copy, *at, *line;
	bool within = false, raised = false, indented = false, full = false;

	at = copy = without_passwords(said);
	hide_own_list(copy);
	shorten_versions(copy);
	while ((line = next_line(&at))) {
		const char *words = line + strspn(line, " \t");

		if (text_starts(line, "ERROR: Ignored the following "))
			text_copy(warning, sizeof warning, line + strlen("ERROR: "));
		else if (text_starts_fold(line, "error: ") && !*error)
			text_copy(error, sizeof error, line + strlen("error: ")), within = true;
		else if (within && words > line)
			text_append(error, sizeof error, " %s", words);
		else
			within = false;
		/* An index's text is indented. */
		full =
			full || ((within || words == line) && (strstr(line, "No space left on device") ||
												   strstr(line, "not enough space on the disk")));
		if (text_starts(line, "WARNING: ") && !*error)
			text_copy(warning, sizeof warning, line + strlen("WARNING: "));
		if (!strcmp(error, "Exception:"))
			raised = true, within = false, *error = 0;
		if (*words && (!raised || (indented && words == line)))
			text_copy(last, sizeof last, words);
		indented = words > line;
	}
	mem_free(copy);
	if (full)
		return error_set(err, JW_ERR_IO,
						 "%s: no space is left for what %s downloads; free some, or name another "
						 "folder: %s=DIR",
						 folder, program, os_is_windows ? "TEMP" : "TMPDIR");
	if (!*error && !*last)
		return ended->signal
				   ? error_set(err, JW_ERR_IO, "%s was ended by signal %d", program, ended->signal)
				   : error_set(err, JW_ERR_IO, "%s exited with status %d", program, ended->status);
	return error_set(err,
					 text_starts(error, "Could not find a version") ||
							 text_starts(error, "No matching distribution")
						 ? JW_ERR_NOT_FOUND
						 : JW_ERR_IO,
					 "%s: %s%s%s%s", program, *error ? error : last, *warning ? " (" : "", warning,
					 *warning ? ")" : "");
}

uint64_t pip_output_size(const char *said)
{
	static const char words[] = "Downloading ";
	uint64_t size = 0;

	for (const char *line = said; *line; line += strspn(line, "\r\n")) {
		const char *open;
		double number;
		char *unit = NULL;

		line += strspn(line, " ");
		if (text_starts(line, words)) {
			open = line + strcspn(line, "(\r\n");
			number = *open == '(' ? strtod(open + 1, &unit) : 0;
			size = number > 0 && number < 1e5 && unit && text_starts(unit, " MB)")
					   ? (uint64_t)(number * 1e6)
					   : 0;
		}
		line += strcspn(line, "\r\n");
	}
	return size;
}

/* ---- what an index lacks */

/* A sorted list of words, each once; numbers are sorted by size. */
struct word_list {
	char items[MAX_WORDS][16];
	size_t count;
};

static int order_words(const char *a, const char *b)
{
	struct version first, second;
	const char *rest, *other;
	const int order = version_read(a, &first, &rest) && version_read(b, &second, &other)
						  ? version_order(&first, &second, VERSION_NUMBERS)
						  : 0;

	return order ? order : strcmp(a, b);
}

static void add_word(struct word_list *list, const char *word)
{
	size_t at = 0;

	while (at < list->count && order_words(list->items[at], word) < 0)
		at++;
	if (list->count == MAX_WORDS || (at < list->count && !strcmp(list->items[at], word)))
		return;
	memmove(list->items + at + 1, list->items + at, (list->count++ - at) * sizeof *list->items);
	text_copy(list->items[at], sizeof *list->items, word);
}

static void join_words(const struct word_list *list, char *text, size_t size)
{
	*text = 0;
	for (size_t i = 0; i < list->count; i++)
		text_append(text, size, "%s%s", i ? ", " : "", list->items[i]);
}

struct other_wheels {
	struct version version;
	char version_text[64];
	struct word_list pythons, platforms;
};

/* Adds the Pythons of a tag: “cp310.cp311” with “abi3” are 3.10+ and 3.11+; “py3” is 3; “cp313”
 * with “cp313t” is 3.13t. */
static void add_pythons(struct word_list *list, const char *tags, size_t length, const char *abi)
{
	const char *more = text_starts(abi, "abi3")                                      ? "+"
					   : text_starts(abi, "cp") && abi[strcspn(abi, "-") - 1] == 't' ? "t"
																					 : "";

	for (const char *at = tags, *end = tags + length; at < end;) {
		const size_t size = strcspn(at, ".-"), name = strcspn(at, "0123456789.-"),
					 digits = strspn(at + name, "0123456789");
		char word[16];

		if (digits && name + digits == size)
			(void)snprintf(word, sizeof word, "%s%c%s%.*s%s", text_starts(at, "pp") ? "PyPy " : "",
						   at[name], digits > 1 ? "." : "", (int)(digits - 1), at + name + 1,
						   digits > 1 ? more : "");
		else
			(void)snprintf(word, sizeof word, "%.*s", (int)size, at);
		add_word(list, word);
		at += size + 1;
	}
}

/* Adds platforms, with the names of --platform if it has any. */
static void add_platforms(struct word_list *list, const char *tags, size_t length)
{
	for (const char *at = tags, *end = tags + length; at < end;) {
		const size_t size = strcspn(at, ".");
		char tag[64], word[16];

		(void)snprintf(tag, sizeof tag, "%.*s",
					   (int)(size < (size_t)(end - at) ? size : (size_t)(end - at)), at);
		text_copy(word, sizeof word,
				  strstr(tag, "linux") && text_ends(tag, "x86_64")    ? "linux"
				  : strstr(tag, "linux") && text_ends(tag, "aarch64") ? "linux-aarch64"
				  : !strcmp(tag, "win_amd64")                         ? "windows"
				  : text_starts(tag, "macosx")                        ? "macos"
																	  : tag);
		add_word(list, word);
		at += size + 1;
	}
}

/* Returns whether “1.0+cu121” fits “==1.0” or “==1.*”. */
static bool is_asked(const char *version, const char *asked)
{
	const size_t length = strlen(asked);

	return text_ends(asked, ".*")
			   ? !strncmp(version, asked, length - 1)
			   : !strncmp(version, asked, length) && (!version[length] || version[length] == '+');
}

/* Adds a wheel that is not for this Python. Without `asked`, the wheels of the newest version
 * count. */
static void add_other_wheel(struct other_wheels *others, const char *file, const char *name,
							const char *asked)
{
	char own[PACKAGE_MAX_NAME], text[sizeof others->version_text];
	const char *rest;
	struct wheel_name wheel;
	struct version version;
	int order;

	if (!wheel_name_read(file, &wheel) || wheel.label.text ||
		!package_normalise(wheel.name.text, wheel.name.size, own) || strcmp(own, name) != 0)
		return;
	(void)wheel_part_text(text, sizeof text, wheel.version);
	if (!version_read(text, &version, &rest) || (asked && !is_asked(text, asked)))
		return;
	order = *others->version_text ? version_order(&version, &others->version, VERSION_NUMBERS) : 1;
	if (!asked && order < 0)
		return;
	if (!asked && order > 0)
		*others = (struct other_wheels){.version = version};
	TEXT_COPY(others->version_text, text);
	add_pythons(&others->pythons, wheel.python.text, wheel.python.size, wheel.abi.text);
	add_platforms(&others->platforms, wheel.platform.text, wheel.platform.size);
}

/* Cuts off the name of the file at an address in a line; NULL if there is none. */
static char *linked_file(char *line)
{
	char *at = strstr(line, "://"), *slash;

	if (!at)
		return NULL;
	at[strcspn(at, " \t#")] = 0;
	slash = strrchr(at, '/');
	decode_percent(slash);
	return slash + 1;
}

/* Finds the reason in “connection error: …(Caused by NewConnectionError('…: [Errno 111] Connection
 * refused'))”. */
static void find_reason(const char *words, char *reason, size_t size)
{
	const char *at;
	size_t length;

	if (strstr(words, "timed out")) {
		text_append(reason, size, "it did not answer in time");
		return;
	}
	if ((at = strstr(words, "[Errno ")))
		at += strcspn(at, "]"), at += strspn(at, "] ");
	else if ((at = strstr(words, "Tunnel connection failed: ")) ||
			 (at = strstr(words, "certificate verify failed: ")))
		at = strstr(at, ": ") + strlen(": ");
	else if (!(at = strstr(words, "too many ")))
		at = strstr(words, "Caused by ") ? strstr(words, "Caused by ") + strlen("Caused by ")
										 : words;
	length = strcspn(at, "'\"()");
	while (length && at[length - 1] == ' ')
		length--;
	(void)snprintf(reason, size, "%.*s", (int)length, at);
}

/* Explains “Could not fetch URL https://HOST/…: REASON - skipping”: pip treats an index that does
 * not answer or refuses the login like one without the package. An index that has no such package
 * (404), or does not show it (403, which some indexes return for each unknown name), is no reason
 * yet. */
static bool explain_fetch(struct jw_error *err, const char *host, char unknown[MAX_HOST],
						  char refused[MAX_HOST])
{
	const int length = (int)strcspn(host, "/");
	const char *status = strstr(host, " Error: ");
	char reason[160] = "";

	while (status && !text_starts(status, ": "))
		status = status > host ? status - 1 : NULL;
	if (status && (text_starts(status, ": 404 ") || text_starts(status, ": 403 "))) {
		(void)snprintf(status[4] == '4' ? unknown : refused, MAX_HOST, "%.*s", length, host);
		return false;
	}
	find_reason(host, reason, sizeof reason);
	if (status && text_starts(status, ": 401 "))
		error_set(err, JW_ERR_IO,
				  "%.*s: the package index refused the login (401); correct the name and password "
				  "in pip's configuration, PIP_INDEX_URL or ~/.netrc",
				  length, host);
	else if (status || text_starts(reason, "too many "))
		error_set(err, JW_ERR_IO, "%.*s: the package index failed (%.*s); try again later", length,
				  host, status ? 3 : (int)sizeof reason, status ? status + 2 : reason);
	else if (strstr(host, "confirming the ssl certificate"))
		error_set(err, JW_ERR_IO,
				  "%.*s: the certificate of the package index cannot be verified (%s); name the "
				  "file of its authority: PIP_CERT=FILE",
				  length, host, reason);
	else
		error_set(err, JW_ERR_IO,
				  "%.*s: the package index cannot be reached (%s); check the network, the proxy "
				  "(https_proxy), and pip's index (PIP_INDEX_URL)",
				  length, host, reason);
	return true;
}

/* Finds the reason if each index answers. */
static enum pip_lack explain_lack(struct jw_error *err, const char *requirement,
								  const struct other_wheels *others, const char *unknown,
								  const char *refused, bool source)
{
	const int name = (int)strcspn(requirement, "[<>=!~ ");
	char pythons[200], platforms[100];

	if (*others->version_text) {
		join_words(&others->pythons, pythons, sizeof pythons);
		join_words(&others->platforms, platforms, sizeof platforms);
		error_set(err, JW_ERR_NOT_FOUND,
				  "no wheel of %.*s %s fits; its wheels are for Python %s on %s", name, requirement,
				  others->version_text, pythons, platforms);
		return PIP_LACKS_WHEEL;
	}
	if (source) {
		error_set(err, JW_ERR_NOT_FOUND, "the package index has source code of %s, and no wheel",
				  requirement);
		return PIP_LACKS_ANY_WHEEL;
	}
	if (*refused) {
		error_set(err, JW_ERR_NOT_FOUND, "%s: the package index refused %.*s (403)", refused, name,
				  requirement);
		return PIP_LACKS_ACCESS;
	}
	if (*unknown) {
		error_set(err, JW_ERR_NOT_FOUND, "%s: the package index has no package “%.*s”", unknown,
				  name, requirement);
		return PIP_LACKS_PACKAGE;
	}
	return PIP_LACKS_VERSION;
}

/* Finds pip's line about the requirement that it misses: the last one that begins with these words,
 * behind which it is returned. What an index has pip print stands behind other words, or, if it has
 * line ends, is indented deeper than pip's own lines (*ret_indent). */
static const char *find_missed(const char *text, size_t *ret_indent)
{
	const char *found = NULL;

	for (const char *line = text; *line; line += strspn(line, "\r\n")) {
		const size_t indent = strspn(line, " ");

		if (text_starts(line + indent,
						"ERROR: Could not find a version that satisfies the requirement ") &&
			(!found || indent <= *ret_indent)) {
			found = line + indent +
					strlen("ERROR: Could not find a version that satisfies the requirement ");
			*ret_indent = indent;
		}
		line += strcspn(line, "\r\n");
	}
	return found;
}

enum pip_lack pip_output_lack(struct jw_error *err, const char *said)
{
	char *text = without_passwords(said), *at = text, *line, *requirement = NULL, *asked = NULL,
		 *end;
	char name[PACKAGE_MAX_NAME] = "", unknown[MAX_HOST] = "", refused[MAX_HOST] = "";
	size_t own_indent = 0;
	const char *missed = find_missed(text, &own_indent);
	struct other_wheels others = {.version_text = ""};
	bool none, source = false;
	enum pip_lack lack = PIP_LACKS_VERSION;

	if (!missed)
		goto done;
	requirement = mem_string_n(missed, strcspn(missed, "\r\n"));
	if (!(end = strstr(requirement, " (from ")))
		goto done;
	none = strstr(end, "(from versions: none)");
	*end = 0;
	(void)package_normalise(requirement, strcspn(requirement, "[<>=!~ "), name);
	asked = strstr(requirement, "==");
	asked = asked && !strpbrk(asked, ",<>!~") ? asked + strspn(asked, "= ") : NULL;
	while ((line = next_line(&at))) {
		const size_t indent = strspn(line, " ");
		const bool own = indent <= own_indent;
		char *from, *file;

		line += indent;
		if (own && text_starts(line, "Could not fetch URL ") && (from = strstr(line, "://")) &&
			explain_fetch(err, from + 3, unknown, refused)) {
			lack = PIP_LACKS_INDEX;
			goto done;
		}
		if (own && text_starts(line, "WARNING: The repository located at ") &&
			strstr(line, "not a trusted")) {
			from = line + strlen("WARNING: The repository located at ");
			error_set(err, JW_ERR_IO,
					  "%.*s: pip refuses a package index over plain HTTP; use the https address of "
					  "the index, or set PIP_TRUSTED_HOST=%.*s",
					  (int)strcspn(from, " "), from, (int)strcspn(from, " "), from);
			lack = PIP_LACKS_INDEX;
			goto done;
		}
		if ((!text_starts(line, "Skipping link: ") &&
			 !text_starts(line, "Link requires a different Python")) ||
			!(file = linked_file(line)))
			continue;
		if (text_ends(file, ".whl") && (asked || none))
			add_other_wheel(&others, file, name, asked);
		else if (none && strstr(line, "No sources permitted for "))
			source = true;
	}
	lack = explain_lack(err, requirement, &others, unknown, refused, source);
done:
	mem_free(requirement);
	mem_free(text);
	return lack;
}

/* ---- the wheels of an index */

enum { MAX_FILES = 1 << 14, SHA256_DIGITS = 64 };

static void note_sha256(struct pip_file *file, const char *digits)
{
	if (strspn(digits, "0123456789abcdef") == SHA256_DIGITS)
		(void)snprintf(file->sha256, sizeof file->sha256, "%.*s", SHA256_DIGITS, digits);
}

/* Returns whether the name can be a wheel's: one word, and no path. */
static bool is_wheel_name(const char *name)
{
	for (const char *at = name; *at; at++)
		if ((unsigned char)*at <= ' ' || strchr("/\\\177", *at))
			return false;
	return text_ends(name, ".whl");
}

struct reading {
	struct pip_listing *listing;
	struct set names; /* of the listing's files */
};

/* Returns the wheel of that name, which is new or has had another line; NULL if it is none, or one
 * too many. */
static struct pip_file *file_of(struct reading *reading, const char *name)
{
	struct pip_listing *listing = reading->listing;
	uint64_t key;
	size_t cursor = 0, at;

	if (!is_wheel_name(name) || listing->count == MAX_FILES)
		return NULL;
	key = fnv_update(FNV_START, name, strlen(name));
	while ((at = set_find(&reading->names, key, &cursor)) != SET_NONE)
		if (!strcmp(listing->items[at].name, name))
			return &listing->items[at];
	VEC_GROW(listing->items, listing->capacity, listing->count);
	listing->items[listing->count] =
		(struct pip_file){.name = mem_string(name), .address = mem_string("")};
	set_add(&reading->names, key, listing->count);
	return &listing->items[listing->count++];
}

/* “jitwarm-file SIZE SHA256 YANKED NAME” */
static void read_own_line(struct reading *reading, char *line)
{
	char *sha256 = strchr(line, ' '), *yanked = sha256 ? strchr(sha256 + 1, ' ') : NULL,
		 *name = yanked ? strchr(yanked + 1, ' ') : NULL;
	struct pip_file *file = name ? file_of(reading, name + 1) : NULL;

	if (!file)
		return;
	*sha256 = 0;
	(void)text_number(line, UINT64_C(1) << 40, &file->size_bytes);
	note_sha256(file, sha256 + 1);
	file->yanked = yanked[1] == '1';
}

/* “https://index.example/simple/torch/” as “index.example/simple”. */
static char *index_of_page(const char *page)
{
	const char *host = strstr(page, "://") + 3;
	size_t length = strcspn(host, " )#?");

	while (length && host[length - 1] == '/')
		length--;
	while (length && host[length - 1] != '/')
		length--;
	return mem_string_n(host, length ? length - 1 : strcspn(host, " )#?"));
}

/* “  Found link ADDRESS[#sha256=DIGITS] (from PAGE) (requires-python:>=3.9), version: 1.0”, and
 * those that it skips. */
static void read_link(struct reading *reading, char *line)
{
	struct pip_listing *listing = reading->listing;
	const char *sha256 = strstr(line, "#sha256="), *page = strstr(line, " (from "),
			   *python = strstr(line, "(requires-python:");
	const bool found = text_starts(line, "Found link ");
	char *index = page && strstr(page, "://") ? index_of_page(page) : NULL,
		 *least = python ? strstr(python, ">=") : NULL;
	char version[sizeof((struct pip_file *)NULL)->python] = "", digits[SHA256_DIGITS + 1] = "";
	char *address = strstr(line, "://") ? mem_string(line) : NULL, *name;
	struct pip_file *file;

	if (least)
		(void)snprintf(version, sizeof version, "%.*s",
					   (int)strspn(least + 2 + strspn(least + 2, " "), "0123456789."),
					   least + 2 + strspn(least + 2, " "));
	if (sha256)
		(void)snprintf(digits, sizeof digits, "%.64s", sha256 + strlen("#sha256="));
	name = linked_file(line);
	file = name ? file_of(reading, name) : NULL;
	if (file) {
		file->fits = file->fits || found;
		text_copy(file->python, sizeof file->python, version);
		if (!*file->sha256)
			note_sha256(file, digits);
		char *start = address && !*file->address ? strstr(address, "://") : NULL;

		if (start) {
			while (start > address && start[-1] != ' ')
				start--;
			start[strcspn(start, " #")] = 0;
			mem_free(file->address);
			file->address = mem_string(start);
		}
		if (!listing->index && index)
			listing->index = mem_string(index);
	}
	mem_free(address);
	mem_free(index);
}

void pip_output_files(const char *said, struct pip_listing *listing)
{
	struct reading reading = {.listing = listing};
	char *text = without_passwords(said), *at = text, *line;

	while ((line = next_line(&at))) {
		line += strspn(line, " ");
		if (text_starts(line, PIP_FILE_LINE))
			read_own_line(&reading, line + sizeof PIP_FILE_LINE - 1);
		else if (text_starts(line, "Found link ") || text_starts(line, "Skipping link: ") ||
				 text_starts(line, "Link requires a different Python"))
			read_link(&reading, line);
	}
	set_free(&reading.names);
	mem_free(text);
}
