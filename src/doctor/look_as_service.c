/* The process of a systemd unit or a container, as the programs tell that manage them. They are run
 * with our own environment, before another's is taken. What they answer is not trusted: a number of
 * a process says no more than one that is typed. */
#include <jitwarm/doctor.h>

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "doctor/look_as.h"
#include "os/ask_program.h"

enum {
	MOST_ANSWER = 1 << 20,
	MOST_PID = 1 << 22, /* Linux's own limit */
	MOST_NAME = 255,
	MOST_VARIABLES = 512,
	ANSWER_MS = 10000
};

/* What `systemctl show` says of a unit. */
struct unit_answer {
	int pid;
	bool missing;
	char account[MOST_NAME + 1]; /* "": root */
	char *variables[2 * MOST_VARIABLES];
	size_t count;
};

/* A name that is no option, no path and no pattern. */
static bool is_manageable_name(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
								  "0123456789_.:@\\-";

	return *name && *name != '-' && strlen(name) <= MOST_NAME && !name[strspn(name, allowed)];
}

/* *ret_asked: it is installed, and has answered well. */
static int ask_service_manager(struct jw_error *err, const char *const *arguments,
							   struct buf *answer, bool *ret_asked)
{
	struct os_question question = {
		.arguments = arguments, .input = "", .timeout_ms = ANSWER_MS, .answer = answer};
	struct jw_error why = {0};
	int status = -1;

	question.mute = true;
	buf_clear(answer);
	*ret_asked = false;
	if (os_ask_program(&why, &question, &status)) {
		if (why.code == JW_ERR_IO) /* not installed */
			return 0;
		(void)error_copy(err, &why);
		return error_prefix(err, "%s", arguments[0]);
	}
	/* A NUL would hide what follows it. */
	if (buf_append(err, answer, "", 1))
		return -1;
	*ret_asked = !status && strlen((const char *)answer->data) + 1 == answer->size;
	return 0;
}

static bool read_pid(const char *text, int *ret_pid)
{
	char digits[16];
	const size_t length = strcspn(text, "\n");
	uint64_t pid;

	if (length >= sizeof digits || (text[length] && text[length + 1]))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (!text_number(digits, MOST_PID, &pid))
		return false;
	*ret_pid = (int)pid;
	return true;
}

/* ---- containers */

int jw_container_process(struct jw_error *err, const char *id, int *ret_pid, const char **ret_tool)
{
	static const char *const tools[] = {"docker", "podman", "nerdctl"};
	struct buf answer = BUF_MAX(MOST_ANSWER);
	bool asked = false;
	int pid = 0, result = 0;

	if (!is_manageable_name(id))
		return error_set(err, JW_ERR_USAGE, "“%.100s” is no name or id of a container", id);
	for (size_t i = 0; !result && !asked && i < sizeof tools / sizeof *tools; i++) {
		const char *const arguments[] = {
			tools[i], "inspect", "--type=container", "--format={{.State.Pid}}", id, NULL};

		result = ask_service_manager(err, arguments, &answer, &asked);
		if (!result && asked) {
			*ret_tool = tools[i];
			if (!read_pid((const char *)answer.data, &pid))
				result =
					error_set(err, JW_ERR_FORMAT, "%s does not answer with a process", tools[i]);
		}
	}
	buf_free(&answer);
	if (result)
		return -1;
	if (!asked)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "%s: neither docker, podman nor nerdctl knows such a container, or this "
						 "account may not ask them",
						 id);
	if (!pid)
		return error_set(err, JW_ERR_NOT_FOUND, "%s: the container does not run: start it first",
						 id);
	*ret_pid = pid;
	return 0;
}

/* ---- units */

static char escaped_of(char c)
{
	return (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c);
}

/* The next word of a list of systemctl's: bare, "in quotes", or $'in quotes', with backslashes.
 * NULL: there is none, or it does not end. Writes over the text. */
static char *next_shown_word(char **at)
{
	char *from = *at + strspn(*at, " "), *to = from, *word = from, quote = '\0';

	if (!*from)
		return NULL;
	if (from[0] == '$' && from[1] == '\'')
		from++;
	if (*from == '"' || *from == '\'')
		quote = *from++;
	while (*from && *from != (quote ? quote : ' ')) {
		if (*from == '\\' && from[1])
			*to++ = escaped_of(*++from);
		else
			*to++ = *from;
		from++;
	}
	if (quote && *from != quote)
		return NULL;
	*at = from + (*from != '\0');
	*to = '\0';
	return word;
}

static void read_unit_variables(char *list, struct unit_answer *unit)
{
	char *word;

	while (unit->count + 2 <= 2 * MOST_VARIABLES && (word = next_shown_word(&list))) {
		char *equals = strchr(word, '=');

		if (!equals || equals == word)
			continue;
		*equals = '\0';
		unit->variables[unit->count++] = word;
		unit->variables[unit->count++] = equals + 1;
	}
}

/* "MainPID=1234", a property in each line. */
static int read_unit(struct jw_error *err, char *text, struct unit_answer *unit)
{
	for (char *line = text, *end; *line; line = end) {
		char *value = strchr(line, '=');

		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (!value || value >= end)
			continue;
		*value++ = '\0';
		if (!strcmp(line, "LoadState"))
			unit->missing = !strcmp(value, "not-found");
		else if (!strcmp(line, "MainPID") && !read_pid(value, &unit->pid))
			return error_set(err, JW_ERR_FORMAT, "systemctl does not answer with a process");
		else if (!strcmp(line, "User") && strlen(value) <= MOST_NAME)
			memcpy(unit->account, value, strlen(value) + 1);
		else if (!strcmp(line, "Environment"))
			read_unit_variables(value, unit);
	}
	return 0;
}

/* Where it does not run: as it would start. Source: systemd.exec(5): a unit of the system without
 * User= is root's, and has no HOME. */
static int look_as_stopped(struct jw_error *err, const struct unit_answer *unit)
{
	const char *const *variables = (const char *const *)unit->variables;
	uint64_t number = 0;
	const bool named = unit->account[0] && !text_number(unit->account, UINT32_MAX, &number);

	return look_as_account(err, named ? unit->account : NULL, (uint32_t)number, unit->account[0],
						   variables, unit->count);
}

int jw_look_as_unit(struct jw_error *err, const char *name, int *ret_pid)
{
	const char *const arguments[] = {
		"systemctl", "show", "--no-pager", "--property=LoadState,MainPID,User,Environment",
		"--",        name,   NULL};
	struct buf answer = BUF_MAX(MOST_ANSWER);
	struct unit_answer unit = {0};
	bool asked;
	int result = -1;

	if (!is_manageable_name(name))
		return error_set(err, JW_ERR_USAGE, "“%.100s” is no name of a unit", name);
	if (ask_service_manager(err, arguments, &answer, &asked))
		goto done;
	if (!asked) {
		error_set(err, JW_ERR_UNSUPPORTED, "systemctl does not tell of %s: is systemd running?",
				  name);
		goto done;
	}
	if (read_unit(err, (char *)answer.data, &unit))
		goto done;
	if (unit.missing)
		error_set(err, JW_ERR_NOT_FOUND, "%s: systemd has no such unit", name);
	else
		result = unit.pid ? 0 : look_as_stopped(err, &unit);
	if (!result)
		*ret_pid = unit.pid;
done:
	buf_free(&answer);
	return result;
}
