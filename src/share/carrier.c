#include "share/carrier.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/process.h"
#include "pack/reader.h"
#include "share/layout.h"

enum { MAX_WORDS = 10, MAX_WORD = 8192, MAX_TAGS_TEXT = 300, NOT_STARTED = 127 };

/* The most bytes of a pack, its signature, and the programs' own files beside them. */
#define MAX_BYTES (PACK_MAX_SIZE + (UINT64_C(1) << 30))

/* The programs and their command lines. LAYOUT, NAME, TAG and PLACE are replaced; a word after "?"
 * is only for plain HTTP. Sources: skopeo-copy(1), skopeo-list-tags(1) of 1.9; “oras cp”, “oras
 * repo tags” of 1.3. Packs have their own signatures, so skopeo's policy for images does not
 * count. */
static const struct carrier_program {
	const char *name;
	const char *push[MAX_WORDS], *pull[MAX_WORDS], *tags[MAX_WORDS];
} programs[] = {
	{"skopeo",
	 {"--insecure-policy", "copy", "--quiet", "?--dest-tls-verify=false", "oci:LAYOUT:NAME",
	  "docker://PLACE:TAG"},
	 {"--insecure-policy", "copy", "--quiet", "?--src-tls-verify=false", "docker://PLACE:TAG",
	  "oci:LAYOUT:NAME"},
	 {"list-tags", "?--tls-verify=false", "docker://PLACE"}},
	{"oras",
	 {"cp", "--from-oci-layout", "?--to-plain-http", "LAYOUT:NAME", "PLACE:TAG"},
	 {"cp", "--to-oci-layout", "?--from-plain-http", "PLACE:TAG", "LAYOUT:NAME"},
	 {"repo", "tags", "?--plain-http", "PLACE"}},
};

int carrier_open(struct jw_error *err, struct carrier *carrier)
{
	carrier->patience.grace_s = OS_GRACE_S;
	for (size_t i = 0; !carrier->path && i < sizeof programs / sizeof *programs; i++) {
		carrier->program = &programs[i];
		carrier->path = os_program_on_path(programs[i].name);
	}
	if (carrier->path)
		return 0;
	return error_set(err, JW_ERR_UNSUPPORTED,
					 "a registry needs skopeo or oras, and neither is on PATH: install one "
					 "(“apt install skopeo”), or move packs with “jitwarm export” and "
					 "“jitwarm import”");
}

void carrier_close(struct carrier *carrier)
{
	mem_free(carrier->path);
	carrier->path = NULL;
}

/* Replaces LAYOUT, NAME, TAG and PLACE in a word of the carrier's command line. */
static int fill_word(struct jw_error *err, struct buf *word, const char *form,
					 const struct carrier *carrier, const char *layout, const char *tag)
{
	const struct {
		const char *name, *value;
	} values[] = {
		{"LAYOUT", layout}, {"NAME", LAYOUT_NAME}, {"TAG", tag}, {"PLACE", carrier->place}};
	const size_t count = sizeof values / sizeof *values;

	while (*form) {
		size_t i = 0;

		while (i < count && !text_starts(form, values[i].name))
			i++;
		if (i < count ? buf_printf(err, word, "%s", values[i].value)
					  : buf_append(err, word, form, 1))
			return -1;
		form += i < count ? strlen(values[i].name) : 1;
	}
	return 0;
}

/* Returns whether the output means that something is missing: registries answer “manifest unknown”
 * or “name unknown” (OCI Distribution Specification), and oras has its own words. */
static bool is_missing(const char *words)
{
	return strstr(words, "manifest unknown") || strstr(words, "name unknown") ||
		   strstr(words, ": not found");
}

/* Returns whether the output is that of Go's TLS, in both programs, about a server that uses plain
 * HTTP. */
static bool is_plain(const char *words)
{
	return strstr(words, "HTTP response to HTTPS") ||
		   strstr(words, "first record does not look like a TLS handshake");
}

/* Sets an error with the last line of the program's output; for skopeo, its msg="…". */
static int fail_with_output(struct jw_error *err, const struct carrier *carrier,
							const struct buf *said, const struct os_ended *ended)
{
	const char *text = buf_text(said), *end = text + strlen(text), *line, *message;
	char words[600] = "", host[REFERENCE_HOST] = "";
	size_t used = 0;

	while (end > text && strchr("\r\n", end[-1]))
		end--;
	for (line = end; line > text && line[-1] != '\n'; line--)
		;
	message = strstr(line, "msg=\"");
	for (line = message ? message + 5 : line; line < end && used + 1 < sizeof words; line++) {
		if (message && *line == '"')
			break;
		/* In a message, the end of a line is “\n”. */
		const bool escaped = message && *line == '\\' && line + 1 < end;

		line += escaped;
		words[used++] = (char)(escaped && *line == 'n' ? ' ' : *line);
	}
	memcpy(host, carrier->place, strcspn(carrier->place, "/"));
	if (!used)
		(void)snprintf(words, sizeof words, "exited with %s %d",
					   ended->signal ? "signal" : "exit status",
					   ended->signal ? ended->signal : ended->status);
	return error_set(
		err, ended->status != NOT_STARTED && is_missing(words) ? JW_ERR_NOT_FOUND : JW_ERR_IO,
		"%s: %s: %s%s%s", carrier->place, carrier->program->name, words,
		is_plain(words) ? "; plain HTTP needs JITWARM_PLAIN_HTTP=" : "",
		is_plain(words) ? host : "");
}

/* Runs the program; `ret_said` is NULL if its output does not matter. */
static int carrier_run(struct jw_error *err, struct carrier *carrier, const char *const *forms,
					   const char *layout, const char *tag, struct buf *ret_said)
{
	char *output = os_join(carrier->folder, "said");
	const char *arguments[MAX_WORDS + 2] = {carrier->path};
	const struct os_helper helper = {.name = carrier->program->name,
									 .folder = carrier->folder,
									 .most_bytes = MAX_BYTES,
									 .cancel = &carrier->cancel,
									 .patience = &carrier->patience};
	struct buf words[MAX_WORDS] = {{0}}, said = {0};
	struct os_ended ended = {0};
	struct jw_error why = {0};
	size_t count = 0;
	int result = 0;

	for (size_t i = 0; !result && i < MAX_WORDS && forms[i]; i++) {
		const bool optional = *forms[i] == '?';

		if (optional && !carrier->plain)
			continue;
		words[count] = BUF_MAX(MAX_WORD);
		result = fill_word(err, &words[count], forms[i] + optional, carrier, layout, tag);
		arguments[1 + count] = buf_text(&words[count]);
		count++;
	}
	if (!result && os_run_helper(&why, arguments, output, &helper, &ended))
		result = error_set(err, why.code, "%s: %s", carrier->place, why.message);
	if (!result && (ret_said || ended.status || ended.signal))
		result = os_read_file(err, output, OS_MAX_OUTPUT, &said);
	if (!result && (ended.status || ended.signal))
		result = fail_with_output(err, carrier, &said, &ended);
	if (result || !ret_said)
		buf_free(&said);
	else
		*ret_said = said;
	for (size_t i = 0; i < count; i++)
		buf_free(&words[i]);
	mem_free(output);
	return result;
}

int carrier_push(struct jw_error *err, struct carrier *carrier, const char *layout, const char *tag)
{
	return carrier_run(err, carrier, carrier->program->push, layout, tag, NULL);
}

int carrier_pull(struct jw_error *err, struct carrier *carrier, const char *layout, const char *tag)
{
	return carrier_run(err, carrier, carrier->program->pull, layout, tag, NULL);
}

void carrier_read_tags(struct buf *output)
{
	const char *begin = strchr(buf_text(output), '{');
	struct jw_error why;
	cJSON *document = begin ? json_parse(&why, begin, strlen(begin)) : NULL;
	struct buf tags = BUF_MAX(OS_MAX_OUTPUT);
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(document, "Tags"))
	{
		if (cJSON_IsString(item) && reference_is_tag(item->valuestring))
			(void)buf_printf(NULL, &tags, "%s\n", item->valuestring);
	}
	for (const char *line = begin ? "" : buf_text(output); *line;) {
		const size_t length = strcspn(line, "\r\n");
		char tag[REFERENCE_TAG] = "";

		if (length < sizeof tag)
			memcpy(tag, line, length);
		if (reference_is_tag(tag))
			(void)buf_printf(NULL, &tags, "%s\n", tag);
		line += length + strspn(line + length, "\r\n");
	}
	cJSON_Delete(document);
	buf_free(output);
	*output = tags;
}

int carrier_tags(struct jw_error *err, struct carrier *carrier, struct buf *ret_tags)
{
	struct buf tags = {0};
	struct jw_error why = {0};
	size_t more = 0;
	int result = 0;

	/* skopeo 1.9 prints nothing more about a missing repository. */
	if (carrier_run(&why, carrier, carrier->program->tags, "", "", &tags))
		return error_set(
			err, strstr(why.message, "registry 404 (Not Found)") ? JW_ERR_NOT_FOUND : why.code,
			"%s", why.message);
	carrier_read_tags(&tags);
	*ret_tags = BUF_MAX(2 * MAX_TAGS_TEXT);
	for (const char *line = buf_text(&tags); !result && *line; line += strcspn(line, "\n") + 1) {
		const size_t length = strcspn(line, "\n");

		if (ret_tags->size + length > MAX_TAGS_TEXT)
			more++;
		else
			result =
				buf_printf(err, ret_tags, "%s%.*s", ret_tags->size ? ", " : "", (int)length, line);
	}
	if (!result && more)
		result = buf_printf(err, ret_tags, " and %zu more", more);
	buf_free(&tags);
	return result;
}
