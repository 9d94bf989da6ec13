#include "cli/parts/doctor_text.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/parts/reproduce.h"
#include "os/env.h"
#include "os/folders.h"

/* Before a command, in a text of lines. Another one in a line is a name's, and only keeps what is
 * behind it in English: a command holds none. */
#define COMMAND_MARK "\x01"

enum { MOST_REPORT = 1 << 20, MOST_LINE = 1 << 16 };

char *doctor_text_command(struct jw_error *err, const struct doctor_words *words,
						  const struct jw_finding *finding)
{
	const bool primes = finding->word_count && !strcmp(finding->command[0], "prime");
	struct buf line = BUF_MAX(MOST_LINE);
	char *text = NULL;
	int failed = buf_printf(err, &line, "%s%sjitwarm", words->before ? words->before : "",
							words->before ? " " : "");

	for (size_t i = 0; !failed && i < finding->word_count; i++) {
		failed = reproduce_add_word(err, &line, finding->command[i]);
		if (!failed && !i && primes && words->environment)
			failed = reproduce_add_word(err, &line, "--environment") ||
					 reproduce_add_word(err, &line, words->environment);
	}
	if (!failed)
		text = mem_string(err, buf_text(&line));
	/* What follows a line break in a name would look like a line of ours. */
	for (char *at = text; at && *at; at++)
		if ((unsigned char)*at < ' ')
			*at = '?';
	buf_free(&line);
	return text;
}

static int put_finding(struct jw_error *err, struct buf *text, size_t number,
					   const struct doctor_words *words, const struct jw_finding *finding)
{
	char *command = finding->command ? doctor_text_command(err, words, finding) : NULL;
	int failed = (finding->command && !command) ||
				 buf_printf(err, text, "%2zu  %s: %s\n    %s: %s%s%s\n", number, finding->id,
							finding->evidence, finding->hopeless ? "Nothing helps here" : "Do",
							finding->fix, command ? COMMAND_MARK ": " : "", command ? command : "");

	mem_free(command);
	return failed ? -1 : 0;
}

static const char *probe_text(enum jw_probe_use use)
{
	switch (use) {
	case JW_PROBE_HIT: return "the driver stores what it compiles, and loads it from its cache";
	case JW_PROBE_REFUSED: return "the driver stores nothing";
	case JW_PROBE_UNREAD: return "the driver stores what it compiles, and does not read it";
	case JW_PROBE_FAILED: return "the driver does not load a tiny module";
	case JW_PROBE_UNSAFE:
		return "left out: another account could lead elsewhere what the driver writes to this "
			   "cache as root; “--user NAME” looks as that account";
	case JW_PROBE_NOT: break;
	}
	return "not asked";
}

/* Of a text with names from outside: a line break in them would begin a line of ours. */
static int end_line(struct jw_error *err, struct buf *text, size_t from)
{
	for (size_t i = from; i < text->size; i++)
		if (text->data[i] < ' ')
			text->data[i] = '?';
	return buf_printf(err, text, "\n");
}

static int put_replaced(struct jw_error *err, struct buf *text, const struct process_code *process)
{
	const size_t from = text->size;

	if (!process->replaced_count)
		return 0;
	return buf_printf(err, text,
					  "        %s replaced or removed since it started (%s%s): nothing is "
					  "known of what it has loaded there, start it again",
					  TEXT_COUNT(process->replaced_count, "library was", "libraries were"),
					  process->replaced[0], process->replaced_count > 1 ? ", …" : "") ||
				   end_line(err, text, from)
			   ? -1
			   : 0;
}

static int put_caches(struct jw_error *err, struct buf *text,
					  const struct jw_compiler_caches *caches)
{
	int failed = caches->count ? buf_printf(err, text, "Caches of other compilers:\n") : 0;

	for (size_t i = 0; !failed && i < caches->count; i++) {
		const struct jw_compiler_cache *cache = &caches->items[i];
		const size_t from = text->size;

		failed = buf_printf(err, text, "        %-10s  %s%s%s%s", cache->name, cache->path,
							cache->moved ? " (" : "", cache->moved ? cache->variable : "",
							cache->moved ? ")" : "") ||
				 end_line(err, text, from);
	}
	return failed;
}

static int put_process(struct jw_error *err, struct buf *text, const struct process_code *process)
{
	if (!process->pid)
		return 0;
	return buf_printf(
			   err, text, "Process %d (%s): %s%s%s\n", process->pid, process->name,
			   !process->driver    ? "it has not loaded NVIDIA's driver"
			   : process->compiler ? "the driver's compiler is loaded: it compiles or links, "
									 "or has done so"
								   : "the driver's compiler is not loaded: so far the driver "
									 "has compiled nothing for it",
			   process->others[0] ? "; other compilers that are loaded: " : "", process->others) ||
				   put_replaced(err, text, process)
			   ? -1
			   : 0;
}

static int put_findings(struct jw_error *err, struct buf *text,
						const struct doctor_document *document)
{
	const struct jw_doctor_result *result = &document->result;
	int failed = put_process(err, text, &document->process);

	if (!failed && document->words.inside)
		failed = buf_printf(err, text,
							"        its files are those of a container: run jitwarm there, with "
							"that container's own programs. A command from here would run, with "
							"your rights, what lies there\n");

	for (size_t i = 0; !failed && i < result->finding_count; i++)
		failed = put_finding(err, text, i + 1, &document->words, &result->findings[i]);
	if (!failed && !result->finding_count && result->verdict == JW_VERDICT_NOTHING)
		failed = buf_printf(err, text,
							"no file was found that may hold device code: nothing is judged\n");
	else if (!failed && !result->finding_count)
		failed = buf_printf(
			err, text,
			"%s: %s%s. Where a start is slow nevertheless, the driver's compiler is not "
			"the reason: another compiler with a cache of its own (Triton, XLA, NVRTC), the choice "
			"of algorithms or the loading of weights is\n",
			result->troubles ? "Nothing is found in what could be read" : "All is well",
			result->warm ? TEXT_COUNT(result->warm, "module", "modules") : "nothing is compiled",
			result->warm ? " in the cache, and nothing else is compiled" : "");
	if (!failed && result->probe != JW_PROBE_NOT)
		failed = buf_printf(err, text, "Probe   %s\n", probe_text(result->probe));
	if (!failed)
		failed = put_caches(err, text, &document->caches);
	return failed;
}

/* Line by line: output_line makes each harmless and fits it to the terminal. */
static void print_lines_of(const struct output *out, char *text)
{
	for (char *line = text, *end, *command; *line; line = end + 1) {
		const enum style style =
			line[0] == ' ' && text_is_digit(line[1]) ? STYLE_WARN : STYLE_PLAIN;

		end = strchr(line, '\n');
		if (!end)
			break;
		*end = '\0';
		command = strrchr(line, *COMMAND_MARK);
		if (command)
			*command = '\0';
		if (command)
			output_line_command(out, style, line, command + 1, "");
		else
			output_line(out, style, "%s", line);
	}
}

void doctor_text(const struct output *out, const struct jw_system *system,
				 const struct doctor_document *document)
{
	struct buf text = BUF_MAX(MOST_REPORT);

	(void)system;
	(void)put_findings(NULL, &text, document);
	output_expect_whole(out, &text);
	if (text.size)
		print_lines_of(out, (char *)text.data);
	for (size_t i = 0; i < document->result.note_count; i++)
		output_note(out, "%s", document->result.notes[i]);
	buf_free(&text);
}

static int put_machine(struct jw_error *err, struct buf *text, const struct jw_system *system)
{
	char driver[JW_DRIVER_TEXT], target[JW_TARGET_TEXT], size[TEXT_SHORT], limit[TEXT_SHORT];
	int failed = buf_printf(err, text, "jitwarm %s (%s)\n", jw_version(), jw_platform());

	for (size_t i = 0; !failed && i < system->gpu_count; i++)
		failed = buf_printf(err, text, "GPU     %s (%s)\n", system->gpus[i].name,
							jw_target_sm(target, system->gpus[i].target));
	if (!failed)
		failed =
			buf_printf(err, text, "Driver  %s\n", jw_driver_text(driver, &system->driver.version));
	if (!failed)
		failed = buf_printf(err, text, "Cache   %s, %s of %s%s\n",
							TEXT_COUNT(system->cache.outlook.entries, "entry", "entries"),
							text_bytes(size, system->cache.outlook.bytes),
							text_bytes(limit, system->cache.limit_bytes),
							system->cache.path ? "" : "; the driver caches nothing");
	return failed;
}

/* ---- for strangers */

/* What is hidden, and what stands there instead. */
struct hidden_name {
	char *name; /* NULL: there is none */
	const char *shown;
};

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool begins_hidden(const char *text, size_t at, const struct hidden_name *hidden)
{
	enum { SHORTEST_NAME = 2 };
	const size_t length = hidden->name ? strlen(hidden->name) : 0;

	return length >= SHORTEST_NAME && !strncmp(text + at, hidden->name, length) &&
		   !is_in_word(text[at + length]) && (!at || !is_in_word(text[at - 1]));
}

/* A copy with "~" for the account's folder, and "USER" for its name or that of sudo's caller. */
static char *hide_names(struct jw_error *err, const char *text)
{
	static const char *const variables[] = {"USER", "USERNAME", "LOGNAME", "SUDO_USER"};
	enum { HIDDEN = 1 + sizeof variables / sizeof *variables };
	struct hidden_name names[HIDDEN] = {{NULL, "~"}};
	struct buf copy = BUF_MAX(MOST_REPORT);
	char *whole = NULL;
	int failed = 0;

	(void)os_home_dir(NULL, &names[0].name);
	for (size_t i = 1; i < HIDDEN; i++)
		names[i] = (struct hidden_name){os_env(variables[i - 1]), "USER"};
	for (size_t at = 0; text[at] && !failed;) {
		size_t i = 0;

		while (i < HIDDEN && !begins_hidden(text, at, &names[i]))
			i++;
		failed = i < HIDDEN ? buf_printf(err, &copy, "%s", names[i].shown)
							: buf_append(err, &copy, text + at, 1);
		at += i < HIDDEN ? strlen(names[i].name) : 1;
	}
	if (!failed)
		whole = mem_string(err, buf_text(&copy));
	buf_free(&copy);
	for (size_t i = 0; i < HIDDEN; i++)
		mem_free(names[i].name);
	return whole;
}

int doctor_text_report(struct jw_error *err, const struct output *out,
					   const struct jw_system *system, const struct doctor_document *document)
{
	struct buf text = BUF_MAX(MOST_REPORT);
	char *hidden = NULL;
	int failed = put_machine(err, &text, system) || put_findings(err, &text, document);

	if (!failed)
		hidden = hide_names(err, buf_text(&text));
	if (hidden) {
		output_line(out, STYLE_PLAIN, "```text");
		print_lines_of(out, hidden);
		output_line(out, STYLE_PLAIN, "```");
	}
	mem_free(hidden);
	buf_free(&text);
	return hidden ? 0 : -1;
}
