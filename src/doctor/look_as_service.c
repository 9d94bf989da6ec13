/* The process of a systemd unit or a container, as the programs tell that manage them. They are run
 * with our own environment, before another's is taken. What they answer is not trusted: a number of
 * a process says no more than one that is typed. */
#include <jitwarm/doctor.h>

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "doctor/environment_file.h"
#include "doctor/look_as.h"
#include "os/ask_program.h"
#include "os/file.h"
#include "os/identity.h"

enum {
	MOST_ANSWER = 1 << 20,
	MOST_PID = 1 << 22, /* Linux's own limit */
	MOST_NAME = 255,
	MOST_VARIABLES = 512,
	MOST_FILES = 32,
	MOST_FILE = 1 << 20,
	ANSWER_MS = 10000
};

/* What `systemctl show` says of a unit. */
struct unit_answer {
	int pid;
	bool missing;
	bool of_user;                /* of this account's own manager */
	char account[MOST_NAME + 1]; /* "": root, or this account */
	char *variables[2 * MOST_VARIABLES];
	size_t count;
	char *files[MOST_FILES]; /* EnvironmentFile= */
	size_t file_count;
	struct buf texts[MOST_FILES + 1]; /* theirs, and the manager's own variables */
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

/* "/etc/default/model (ignore_errors=no)": a file for each line. systemd expands patterns, and says
 * what it made of them only of a unit that runs. */
static void read_unit_file(char *value, struct unit_answer *unit)
{
	char *end = strstr(value, " (ignore_errors=");

	if (end)
		*end = '\0';
	if (os_is_absolute(value) && !value[strcspn(value, "*?[")] && unit->file_count < MOST_FILES)
		unit->files[unit->file_count++] = value;
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
		else if (!strcmp(line, "EnvironmentFiles"))
			read_unit_file(value, unit);
	}
	return 0;
}

static int add_unit_variable(void *context, char *name, char *value)
{
	struct unit_answer *unit = context;

	if (unit->count + 2 <= 2 * MOST_VARIABLES) {
		unit->variables[unit->count++] = name;
		unit->variables[unit->count++] = value;
	}
	return 0;
}

/* What stands in files counts after what stands in the unit. A file that is missing, or not to be
 * read, sets nothing: systemd would not start the unit, or leave it out. */
static int read_unit_files(struct jw_error *err, struct unit_answer *unit)
{
	for (size_t i = 0; i < unit->file_count; i++) {
		struct jw_error why = {0};
		struct buf *text = &unit->texts[i];

		if (os_read_file(&why, unit->files[i], MOST_FILE, text)) {
			if (error_if_memory(err, &why))
				return -1;
			continue;
		}
		/* A NUL would hide what follows it. */
		if (text->size && !memchr(text->data, 0, text->size))
			(void)environment_file_each((char *)text->data, add_unit_variable, unit);
	}
	return 0;
}

/* The variables of this account's own manager, which its units start with: NAME=VALUE in each line,
 * the value in quotes where it needs some. */
static int read_manager_variables(struct jw_error *err, struct unit_answer *unit)
{
	static const char *const arguments[] = {"systemctl", "--user", "show-environment", NULL};
	struct buf *text = &unit->texts[MOST_FILES];
	bool asked;

	*text = BUF_MAX(MOST_ANSWER);
	if (ask_service_manager(err, arguments, text, &asked))
		return -1;
	for (char *line = asked ? (char *)text->data : NULL, *end; line && *line; line = end) {
		char *value = strchr(line, '=');

		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (!value || value >= end)
			continue;
		*value++ = '\0';
		if (*value == '$' || *value == '"' || *value == '\'')
			value = next_shown_word(&value);
		if (value)
			(void)add_unit_variable(unit, line, value);
	}
	return 0;
}

static int look_as_own(struct jw_error *err, const struct unit_answer *unit)
{
	struct os_account own;
	int result;

	if (os_account(err, &own))
		return -1;
	result = look_as_account(err, NULL, own.owner, true, (const char *const *)unit->variables,
							 unit->count);
	os_account_free(&own);
	return result;
}

/* Where it does not run: as it would start. Source: systemd.exec(5): a unit of the system without
 * User= is root's, and has no HOME. */
static int look_as_stopped(struct jw_error *err, const struct unit_answer *unit)
{
	const char *const *variables = (const char *const *)unit->variables;
	uint64_t number = 0;
	const bool named = unit->account[0] && !text_number(unit->account, UINT32_MAX, &number);

	if (unit->of_user)
		return look_as_own(err, unit);
	return look_as_account(err, named ? unit->account : NULL, (uint32_t)number, unit->account[0],
						   variables, unit->count);
}

/* Asks the system's manager, or this account's own. *ret_asked: it has answered. */
static int ask_about_unit(struct jw_error *err, const char *name, bool of_user, struct buf *answer,
						  struct unit_answer *ret_unit, bool *ret_asked)
{
	const char *const arguments[] = {
		"systemctl",
		of_user ? "--user" : "--system",
		"show",
		"--no-pager",
		"--property=LoadState,MainPID,User,Environment,EnvironmentFiles",
		"--",
		name,
		NULL};

	*ret_unit = (struct unit_answer){.of_user = of_user};
	if (ask_service_manager(err, arguments, answer, ret_asked))
		return -1;
	if (!*ret_asked)
		return 0;
	/* Its variables come before those of the unit. */
	return (of_user && read_manager_variables(err, ret_unit)) ||
				   read_unit(err, (char *)answer->data, ret_unit)
			   ? -1
			   : 0;
}

static void free_unit(struct unit_answer *unit)
{
	for (size_t i = 0; i <= MOST_FILES; i++)
		buf_free(&unit->texts[i]);
	mem_free(unit);
}

/* Unless the system has such a unit, one of the account's own is meant. */
static int find_unit(struct jw_error *err, const char *name, struct buf *answer,
					 struct unit_answer *unit)
{
	bool asked, asked_own;

	if (ask_about_unit(err, name, false, answer, unit, &asked))
		return -1;
	if (asked && !unit->missing)
		return 0;
	if (ask_about_unit(err, name, true, answer, unit, &asked_own))
		return -1;
	if (asked_own && !unit->missing)
		return 0;
	return asked || asked_own
			   ? error_set(err, JW_ERR_NOT_FOUND, "%s: systemd has no such unit", name)
			   : error_set(err, JW_ERR_UNSUPPORTED,
						   "systemctl does not tell of %s: is systemd running?", name);
}

int jw_look_as_unit(struct jw_error *err, const char *name, int *ret_pid)
{
	struct buf answer = BUF_MAX(MOST_ANSWER);
	struct unit_answer *unit;
	int result;

	if (!is_manageable_name(name))
		return error_set(err, JW_ERR_USAGE, "“%.100s” is no name of a unit", name);
	unit = mem_alloc(err, sizeof *unit);
	if (!unit)
		return -1;
	result = find_unit(err, name, &answer, unit);
	if (!result && !unit->pid)
		result = read_unit_files(err, unit) || look_as_stopped(err, unit) ? -1 : 0;
	if (!result)
		*ret_pid = unit->pid;
	buf_free(&answer);
	free_unit(unit);
	return result;
}
