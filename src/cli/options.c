#include "cli/options.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <jitwarm/constraints.h>
#include <jitwarm/target.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/config.h"
#include "cli/words.h"
#include "os/file.h"
#include "os/shell.h"

enum { MAX_GIVEN = 65536, MAX_LIST = 300 };

struct option_given {
	const struct cli_option *option;
	const char *value;
	uint64_t number;
	const char *origin; /* from a setting; NULL for the command line */
};

const struct cli_option options_common[] = {
	CLI_FLAG("json", "Print one JSON document on standard output"),
	CLI_FLAG("quiet", "Print only errors; the exit status has the result", .letter = 'q'),
	CLI_FLAG("help", "Show this help", .letter = 'h'),
	{0}};

const char options_common_title[] = "As with every command";

bool options_grouped(const struct cli_option *table)
{
	return table && table->title;
}

/* Returns the command's options in order, then the common ones; NULL at the end. */
static const struct cli_option *table_at(const struct cli_option *table, size_t at)
{
	size_t own = 0;

	while (table && table[own].name)
		own++;
	if (at < own)
		return &table[at];
	return options_common[at - own].name ? &options_common[at - own] : NULL;
}

static bool is_named(const char *known, const char *name, size_t length)
{
	return known && strlen(known) == length && !memcmp(known, name, length);
}

/* Finds an option by its name, or by its letter if the name is NULL. */
static const struct cli_option *find_own(const struct cli_option *table, const char *name,
										 size_t length, char letter)
{
	const struct cli_option *option;

	for (size_t i = 0; (option = table_at(table, i)); i++)
		if (!option->title &&
			(name ? is_named(option->name, name, length) : option->letter == letter))
			return option;
	return NULL;
}

/* As find_own, or by a name that other tools have for an option, which help does not show. If
 * several rows have the name, the first one of which the command has the option counts. */
static const struct cli_option *find_in_table(const struct cli_option *table, const char *name,
											  size_t length, char letter)
{
	const struct cli_option *option = find_own(table, name, length, letter);
	const struct word *row;

	for (size_t at = 0; name && !option && (row = words_typed("option", name, length, &at));)
		option = find_own(table, row->means[0], strlen(row->means[0]), 0);
	return option;
}

bool options_in_table(const struct cli_option *table, const char *name, size_t length)
{
	const struct cli_option *option =
		find_in_table(table, length == 1 ? NULL : name, length, *name);

	return option && !option->hidden && !option->only_setting;
}

/* Writes "--a, --b" if the command has few options. */
static const char *few_options(char *text, size_t size, const struct cli_option *table)
{
	enum { FEW = 12 };
	const struct cli_option *option;
	size_t used = 0, count = 0;

	*text = '\0';
	for (size_t i = 0; (option = table_at(table, i)) && used < size; i++)
		if (!option->hidden && ++count <= FEW)
			used += (size_t)snprintf(text + used, size - used, "%s--%s", used ? ", " : "",
									 option->name);
	if (count > FEW || used >= size)
		*text = '\0';
	return text;
}

/* The arguments that remain to be read. */
struct arguments {
	char **at;
	char **end;
};

/* Returns the option of which the text is a possible value: --print for “docker”. */
static const struct cli_option *find_choice(const struct cli_option *table, const char *text,
											size_t length)
{
	const struct cli_option *option;

	for (size_t i = 0; (option = table_at(table, i)); i++)
		for (const char *at = option->hidden ? NULL : option->choices; at && *at;
			 at += strcspn(at, "|"), at += *at == '|')
			if (strcspn(at, "|") == length && !memcmp(at, text, length))
				return option;
	return NULL;
}

/* Refuses an option of pip, for a command that asks an index; 0 if it is none. */
static int refuse_of_pip(struct jw_error *err, const struct cli_option *table, const char *name,
						 size_t length)
{
	const char *const dashes = length > 1 ? "--" : "-";
	const bool asks = find_own(table, "ask", strlen("ask"), 0);
	size_t at = 0;
	const struct word *row = words_typed("pip", name, length, &at);

	if (!row || (!asks && !find_own(table, "index", strlen("index"), 0)))
		return 0;
	if (!row->means[0])
		return error_set(err, JW_ERR_USAGE,
						 "%s%s is an option of pip; jitwarm installs nothing: leave it out", dashes,
						 row->typed);
	return error_set(err, JW_ERR_USAGE,
					 asks ? "%s%s is an option of pip: set the variable %s instead, and add --ask"
						  : "%s%s is an option of pip: set the variable %s instead, and add "
							"--index",
					 dashes, row->typed, row->means[0]);
}

/* Refuses an option that the command does not have. `value` is the word that may be its value. */
static int unknown_name(struct jw_error *err, struct options *options, const char *name,
						size_t length, const char *value)
{
	const struct cli_option *const table = options->table;
	struct suggest nearest = suggest_for(name, length);
	const struct cli_option *option = find_choice(table, name, length);
	const struct word *row;
	char list[MAX_LIST];

	if (refuse_of_pip(err, table, name, length))
		return -1;
	if (option)
		return error_set(err, JW_ERR_USAGE, "unknown option --%.*s (did you mean --%s %.*s?)",
						 (int)length, name, option->name, (int)length, name);
	/* “--format json” */
	option = value ? find_own(table, value, strlen(value), 0) : NULL;
	if (option && option->kind == OPTION_FLAG && !option->hidden)
		return error_set(err, JW_ERR_USAGE, "unknown option --%.*s (did you mean --%s?)",
						 (int)(length < 200 ? length : 200), name, value);

	for (size_t i = 0; (option = table_at(table, i)); i++)
		if (!option->hidden)
			suggest_offer(&nearest, option->name);
	for (size_t at = 0; (row = words_next("option", &at));)
		if (find_own(table, row->means[0], strlen(row->means[0]), 0))
			suggest_offer(&nearest, row->typed);
	length = length < 200 ? length : 200;
	if (nearest.best)
		return error_set(err, JW_ERR_USAGE, "unknown option --%.*s (did you mean --%s?)",
						 (int)length, name, nearest.best);
	if (err)
		options->unknown = name;
	if (!*few_options(list, sizeof list, table))
		return error_set(err, JW_ERR_USAGE, "unknown option --%.*s", (int)length, name);
	return error_set(err, JW_ERR_USAGE, "unknown option --%.*s; this command takes %s", (int)length,
					 name, list);
}

bool options_parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char letters[] = "KMGT";
	size_t digits = strspn(text, "0123456789"), power = 0;
	const char *unit = text + digits, *letter;
	uint64_t value = 0, step;

	if (!digits || digits > 19)
		return false;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	unit += *unit == ' ';
	if (*unit && (letter = strchr(letters, *unit >= 'a' ? *unit - ('a' - 'A') : *unit))) {
		power = (size_t)(letter - letters) + 1;
		unit++;
	}
	/* As in GNU tools, "1G" and "1GiB" are 2^30, and "1GB" is 10^9. */
	step = text_equal_fold(unit, "b") ? 1000 : 1024;
	unit += power && *unit == 'i';
	if (*unit && !text_equal_fold(unit, "b"))
		return false;
	for (; power > 0; power--) {
		if (value > UINT64_MAX / step)
			return false;
		value *= step;
	}
	*ret_bytes = value;
	return true;
}

/* Returns the milliseconds of a unit of time; 0 if it is unknown. */
static uint64_t unit_ms(const char *unit, size_t length)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {{"", 1000},     {"ms", 1},      {"s", 1000},    {"m", 60000},
				 {"min", 60000}, {"h", 3600000}, {"d", 86400000}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i].name) == length && !memcmp(units[i].name, unit, length))
			return units[i].ms;
	return 0;
}

bool options_parse_duration(const char *text, uint64_t *ret_ms)
{
	enum { MAX_DIGITS = 9 };
	uint64_t sum_ms = 0, above_ms = UINT64_MAX;

	do {
		size_t digits = strspn(text, "0123456789"), letters = strcspn(text + digits, "0123456789");
		uint64_t value = 0, step_ms = unit_ms(text + digits, letters);

		/* Units must become smaller; "1h30" is ambiguous. */
		if (!digits || digits > MAX_DIGITS || step_ms >= above_ms ||
			(!letters && above_ms != UINT64_MAX))
			return false;
		if (!step_ms)
			return false;
		for (size_t i = 0; i < digits; i++)
			value = value * 10 + (uint64_t)(text[i] - '0');
		sum_ms += value * step_ms;
		above_ms = step_ms;
		text += digits + letters;
	} while (*text);
	*ret_ms = sum_ms;
	return true;
}

enum { MAX_OPTION_NAME = 200 };

/* Writes "--jobs", or "jobs (/etc/jitwarm/config, line 3)". */
static const char *called(char text[MAX_OPTION_NAME], const struct option_given *given)
{
	if (given->origin)
		(void)snprintf(text, MAX_OPTION_NAME, "%s (%s)", given->option->name, given->origin);
	else
		(void)snprintf(text, MAX_OPTION_NAME, "--%s", given->option->name);
	return text;
}

static int read_option_number(struct jw_error *err, struct option_given *given)
{
	const struct cli_option *option = given->option;
	uint64_t most = option->most ? option->most : UINT64_MAX;
	char name[MAX_OPTION_NAME], least[TEXT_SHORT], size[TEXT_SHORT];

	if (option->kind == OPTION_NUMBER && !text_number(given->value, most, &given->number)) {
		if (option->most)
			return error_set(err, JW_ERR_USAGE, "%s takes a whole number up to %llu, not “%.200s”",
							 called(name, given), (unsigned long long)option->most, given->value);
		return error_set(err, JW_ERR_USAGE, "%s takes a whole number, not “%.200s”",
						 called(name, given), given->value);
	}
	if (option->kind == OPTION_SIZE && !options_parse_size(given->value, &given->number))
		return error_set(err, JW_ERR_USAGE, "%s takes a size such as 512M or 2G, not “%.200s”",
						 called(name, given), given->value);
	if (option->kind == OPTION_DURATION && !options_parse_duration(given->value, &given->number))
		return error_set(err, JW_ERR_USAGE, "%s takes a time such as 90s or 5m, not “%.200s”",
						 called(name, given), given->value);
	if (given->number < option->least && option->least > 1)
		return error_set(err, JW_ERR_USAGE, "%s must be at least %s: “%.200s” is %s",
						 called(name, given), text_bytes(least, option->least), given->value,
						 text_bytes(size, given->number));
	if (given->number < option->least)
		return error_set(err, JW_ERR_USAGE, "%s must be more than 0", called(name, given));
	return 0;
}

static int add_given(struct jw_error *err, struct options *options, struct option_given given)
{
	char name[MAX_OPTION_NAME];

	if (given.option->kind != OPTION_FLAG && !*given.value)
		return error_set(err, JW_ERR_USAGE, "%s needs a value that is not empty",
						 called(name, &given));
	if (read_option_number(err, &given))
		return -1;
	if (VEC_ROOM(err, options->given, options->given_capacity, options->given_count, MAX_GIVEN))
		return -1;
	options->given[options->given_count++] = given;
	return 0;
}

/* Takes an option's value: after '=' or in the next argument. An option of the same table is not a
 * value, but NVRTC's own options are. */
static int take_option_value(struct jw_error *err, const struct cli_option *table,
							 const struct cli_option *option, const char *attached,
							 struct arguments *rest, const char **ret_value)
{
	const char *next = rest->at < rest->end ? *rest->at : NULL;

	if (option->kind == OPTION_FLAG) {
		if (attached)
			return error_set(err, JW_ERR_USAGE, "--%s takes no value", option->name);
		return 0;
	}
	if (!attached && !next)
		return error_set(err, JW_ERR_USAGE, "--%s needs a value (%s)", option->name, option->value);
	if (!attached && text_starts(next, "--") &&
		find_in_table(table, next + 2, strcspn(next + 2, "="), 0))
		return error_set(err, JW_ERR_USAGE, "--%s needs a value (%s), not the option “%.40s”",
						 option->name, option->value, next);
	rest->at += !attached;
	*ret_value = attached ? attached : next;
	return 0;
}

/* Refuses the unit of a time or a size in a word of its own: “--budget-time 5 min”. */
static int refuse_lone_unit(struct jw_error *err, const struct option_given *given,
							const char *next)
{
	const size_t length = next ? strlen(next) : 0;
	char joined[64];
	uint64_t number;

	if ((given->option->kind != OPTION_DURATION && given->option->kind != OPTION_SIZE) || !length ||
		length > 8 || text_is_digit(*next) || given->value[strspn(given->value, "0123456789")])
		return 0;
	(void)text_format(joined, sizeof joined, "%.40s%s", given->value, next);
	if (given->option->kind == OPTION_DURATION ? !options_parse_duration(joined, &number)
											   : !options_parse_size(joined, &number))
		return 0;
	return error_set(err, JW_ERR_USAGE,
					 "--%s %s %s: write the number and its unit as one word: --%s %s",
					 given->option->name, given->value, next, given->option->name, joined);
}

static int read_long(struct jw_error *err, struct options *options, const char *text,
					 struct arguments *rest)
{
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : strlen(text);
	struct option_given given = {.option = find_in_table(options->table, text, length, 0)};

	if (given.option && given.option->only_setting)
		return error_set(err, JW_ERR_USAGE, "--%s is a setting: “jitwarm config %s VALUE” sets it",
						 given.option->name, given.option->name);
	if (!given.option)
		return unknown_name(err, options, text, length,
							equals                 ? equals + 1
							: rest->at < rest->end ? *rest->at
												   : NULL);
	if (take_option_value(err, options->table, given.option, equals ? equals + 1 : NULL, rest,
						  &given.value) ||
		(!equals && refuse_lone_unit(err, &given, rest->at < rest->end ? *rest->at : NULL)))
		return -1;
	return add_given(err, options, given);
}

static int unknown_letter(struct jw_error *err, struct options *options, const char *text)
{
	char list[MAX_LIST];

	if (refuse_of_pip(err, options->table, text, 1))
		return -1;
	if (err && !text[1])
		options->unknown = text;
	if (!*few_options(list, sizeof list, options->table))
		return error_set(err, JW_ERR_USAGE, "unknown option -%.20s", text);
	return error_set(err, JW_ERR_USAGE, "unknown option -%.20s; this command takes %s", text, list);
}

/* Reads "-q", "-qh", "-j4", "-j 4", "-j=4". */
static int read_short(struct jw_error *err, struct options *options, const char *text,
					  struct arguments *rest)
{
	while (*text) {
		struct option_given given = {.option = find_in_table(options->table, NULL, 0, *text)};
		const char *attached = NULL;

		if (!given.option)
			return unknown_letter(err, options, text);
		text++;
		if (given.option->kind != OPTION_FLAG && *text) {
			attached = text + (*text == '=');
			text += strlen(text);
		}
		if (take_option_value(err, options->table, given.option, attached, rest, &given.value) ||
			add_given(err, options, given))
			return -1;
	}
	return 0;
}

/* Returns whether an argument is meant as an option: a text such as “-> CUDA error” is none. */
static bool is_option(const char *text)
{
	return text[0] == '-' && text[1] &&
		   (text_is_alnum(text[1]) || (text[1] == '-' && text[2] != ' ') || !strpbrk(text, " \n"));
}

int options_read(struct jw_error *err, const struct cli_option *table, bool takes_command, int argc,
				 char **argv, struct options *ret_options)
{
	struct arguments rest = {argv, argv + argc};
	bool only_operands = false, failed = false;

	*ret_options = (struct options){.table = table};
	ret_options->operands = mem_array((size_t)argc + 1, sizeof *ret_options->operands);
	/* With a “--” the command begins after it. */
	for (char **at = argv; takes_command && at < rest.end; at++)
		takes_command = strcmp(*at, "--") != 0;
	while (rest.at < rest.end) {
		char *text = *rest.at++;
		const bool dashes = !strcmp(text, "--");
		int result = 0;

		if (!only_operands && (dashes || (takes_command && text[0] != '-'))) {
			only_operands = ret_options->divided = true;
			ret_options->divided_at = ret_options->operand_count;
			if (dashes)
				continue;
		}
		if (only_operands || !is_option(text))
			ret_options->operands[ret_options->operand_count++] = text;
		else if (text[1] == '-')
			result = read_long(failed ? NULL : err, ret_options, text + 2, &rest);
		else
			result = read_short(failed ? NULL : err, ret_options, text + 1, &rest);
		failed = failed || result;
	}
	return failed ? -1 : 0;
}

void options_free(struct options *options)
{
	mem_free(options->given);
	mem_free(options->operands);
	*options = (struct options){0};
}

int options_add(struct jw_error *err, struct options *options, const char *name, const char *value,
				const char *origin)
{
	const struct cli_option *option = find_in_table(options->table, name, strlen(name), '\0');

	if (!option)
		return error_set(err, JW_ERR_USAGE, "%s: “%.60s” is no option of this command", origin,
						 name);
	for (size_t i = 0; i < options->given_count; i++)
		if (options->given[i].option == option && options->given[i].origin != origin)
			return 0;
	return add_given(err, options,
					 (struct option_given){.option = option, .value = value, .origin = origin});
}

int options_settle(struct jw_error *err, struct options *options, const struct config *config)
{
	const size_t count = options->given_count;
	const struct cli_option *option;

	for (size_t i = 0; (option = table_at(options->table, i)); i++) {
		const struct config_value *setting =
			option->setting ? config_find(config, option->name) : NULL;
		const char *value = setting ? setting->value : option->otherwise;
		bool given = !value || (option->kind == OPTION_FLAG && !config_is_on(setting));

		for (size_t k = 0; k < count && !given; k++)
			given = options->given[k].option == option;
		if (!given &&
			add_given(err, options,
					  (struct option_given){.option = option,
											.value = value,
											.origin = setting ? setting->origin : "the default"}))
			return -1;
	}
	return 0;
}

int options_leading(int count, char **words)
{
	static const struct cli_option table[] = {CLI_ENVIRONMENT, {0}};
	int at = 0;

	while (at < count && words[at][0] == '-' && words[at][1]) {
		const char *word = words[at];
		const bool whole = word[1] == '-';
		const struct cli_option *option =
			find_in_table(table, whole ? word + 2 : NULL, strcspn(word + 2 * whole, "="), word[1]);

		if (!option || (option->kind == OPTION_FLAG && word[2] && !whole))
			break;
		at += 1 + (option->kind != OPTION_FLAG &&
				   !(whole ? strchr(word, '=') != NULL : word[2] != '\0'));
	}
	return at < count ? at : count;
}

static bool has_separator(const char *text)
{
	while (*text && !os_is_separator(*text))
		text++;
	return *text;
}

int options_refuse_address(struct jw_error *err, const char *value)
{
	struct buf command = BUF_MAX(sizeof err->message / 2);

	if (!text_starts(value, "http://") && !text_starts(value, "https://"))
		return 0;
	buf_add(&command, "curl -LO");
	shell_add_word(&command, value);
	error_set(err, JW_ERR_USAGE, "jitwarm reads no address; download the file first: “%s”",
			  buf_text(&command));
	buf_free(&command);
	return -1;
}

static int check_value_file(struct jw_error *err, const char *path, bool or_folder)
{
	struct jw_error why = {0};
	struct os_stat stat;

	if (options_refuse_address(err, path))
		return -1;
	if (os_stat(&why, path, &stat))
		return why.code == JW_ERR_NOT_FOUND ? error_copy(err, &why) : 0;
	if (stat.kind == OS_DIRECTORY && !or_folder)
		return error_set(err, JW_ERR_USAGE, "%s: Is a directory", path);
	return os_is_denied(path) ? error_set(err, JW_ERR_USAGE, "%s: Permission denied", path) : 0;
}

/* Checks that the folder of `path` exists. */
static int check_output_parent(struct jw_error *err, const char *path)
{
	char *folder = os_dir_name(path);
	struct jw_error why = {0};
	struct os_stat stat;
	int result = 0;

	if (!os_stat(&why, folder, &stat)) {
		if (stat.kind != OS_DIRECTORY)
			result = error_set(err, JW_ERR_USAGE, "%s: not a directory", folder);
	} else if (why.code == JW_ERR_NOT_FOUND) {
		result = error_copy(err, &why);
	}
	mem_free(folder);
	return result;
}

/* Returns whether the file is a pack, a document or constraints of jitwarm, or empty, so that a
 * command that is run again replaces its own output; a damaged pack has a pack's name. */
static bool may_replace(const char *path)
{
	static const char pack[4] = "\x28\xb5\x2f\xfd", document[] = "{\"schema\":\"jitwarm.";
	char head[64], dense[sizeof head + 1] = "";
	const size_t size = os_read_head(path, head, sizeof head);
	size_t used = 0;

	if (size >= sizeof pack && !memcmp(head, pack, sizeof pack))
		return true;
	for (size_t i = 0; i < size; i++)
		if (!strchr(" \t\r\n", head[i]))
			dense[used++] = head[i];
	return !size || text_starts(dense, document) || text_ends(path, ".jwpack") ||
		   (size >= strlen(JW_CONSTRAINTS_HEAD) &&
			!memcmp(head, JW_CONSTRAINTS_HEAD, strlen(JW_CONSTRAINTS_HEAD)));
}

static int check_output(struct jw_error *err, const char *path, bool extended)
{
	struct os_stat stat;

	if (os_stat(NULL, path, &stat))
		return check_output_parent(err, path);
	if (stat.kind == OS_DIRECTORY)
		return error_set(err, JW_ERR_USAGE, "%s: Is a directory", path);
	if (stat.kind != OS_REGULAR)
		return error_set(err, JW_ERR_USAGE, "%s: is not a regular file: not replaced", path);
	return extended || may_replace(path)
			   ? 0
			   : error_set(err, JW_ERR_USAGE,
						   "%s: exists, and jitwarm has not written this file: name another file, "
						   "or remove this file first",
						   path);
}

bool options_name_folder(const char *path)
{
	const size_t length = strlen(path);
	struct os_stat stat;

	return (length && os_is_separator(path[length - 1])) ||
		   (!os_stat(NULL, path, &stat) && stat.kind == OS_DIRECTORY);
}

/* Returns the choice that is meant by a word of other tools and systems; NULL if none is. */
static const char *meant_choice(const char *choices, const char *typed)
{
	const struct word *row;

	for (size_t at = 0; (row = words_typed("choice", typed, strlen(typed), &at));)
		if (strstr(choices, row->means[0]))
			return row->means[0];
	return NULL;
}

/* Checks that the value is one of “user|system|shell”, and writes it as there: “Windows” is
 * “windows”. */
static int check_choice(struct jw_error *err, const struct cli_option *table,
						const struct option_given *given)
{
	const char *meant = meant_choice(given->option->choices, given->value);
	struct buf list = BUF_MAX(MAX_LIST);
	const char *choice = given->option->choices;
	const struct cli_option *flag;

	while (choice) {
		const size_t length = strcspn(choice, "|");
		const bool last = !choice[length];

		if (strlen(given->value) == length && text_starts_fold(choice, given->value)) {
			/* The value is a word of the command line or of the settings. */
			if (!is_named(given->value, choice, length))
				memcpy((char *)(uintptr_t)given->value, choice, length);
			buf_free(&list);
			return 0;
		}
		buf_add(&list, "%s%.*s", !list.size ? "" : last ? " or " : ", ", (int)length, choice);
		choice = last ? NULL : choice + length + 1;
	}
	flag = find_own(table, given->value, strlen(given->value), 0);
	if (flag && flag->kind == OPTION_FLAG)
		error_set(err, JW_ERR_USAGE, "it takes %s, not “%.100s” (did you mean --%s?)",
				  buf_text(&list), given->value, flag->name);
	else if (meant)
		error_set(err, JW_ERR_USAGE, "it takes %s, not “%.100s” (did you mean %s?)",
				  buf_text(&list), given->value, meant);
	else
		error_set(err, JW_ERR_USAGE, "it takes %s, not “%.100s”", buf_text(&list), given->value);
	buf_free(&list);
	return -1;
}

static int check_value(struct jw_error *err, const struct cli_option *table,
					   const struct option_given *given)
{
	const char *value = given->value;
	struct jw_driver driver;

	if (given->option->choices && check_choice(err, table, given))
		return -1;
	switch (given->option->names) {
	case NAMES_OTHER: return 0;
	case NAMES_FILE: return strcmp(value, "-") != 0 ? check_value_file(err, value, false) : 0;
	case NAMES_FILE_OR_NAME: return has_separator(value) ? check_value_file(err, value, true) : 0;
	case NAMES_FOLDER:
	case NAMES_FOLDER_LATER: return os_may_be_folder(err, value);
	case NAMES_OUTPUT: return check_output(err, value, false);
	case NAMES_LOG: return check_output(err, value, true);
	case NAMES_OUTPUT_OR_FOLDER:
		return options_name_folder(value) ? os_may_be_folder(err, value)
										  : check_output(err, value, false);
	case NAMES_DRIVER:
		return has_separator(value) || (os_exists(value) && jw_driver_parse(NULL, value, &driver))
				   ? error_set(err, JW_ERR_USAGE,
							   "%s: this command reads no file of a driver: name a driver's "
							   "version (550.163.01) or a CUDA version (12.2)",
							   value)
				   : 0;
	}
	return 0;
}

int options_check(struct jw_error *err, const struct options *options)
{
	char name[MAX_OPTION_NAME];

	for (size_t i = 0; i < options->given_count; i++)
		if (check_value(err, options->table, &options->given[i]))
			return error_prefix(err, "%s", called(name, &options->given[i]));
	return 0;
}

static const struct option_given *last_given(const struct options *options, const char *name)
{
	assert(find_in_table(options->table, name, strlen(name), 0));
	for (size_t i = options->given_count; i-- > 0;)
		if (!strcmp(options->given[i].option->name, name))
			return &options->given[i];
	return NULL;
}

bool options_has(const struct options *options, const char *name)
{
	const struct cli_option *option = find_in_table(options->table, name, strlen(name), 0);

	return option && !strcmp(option->name, name);
}

bool options_fill_folder(const struct options *options, const char *name, const char *value)
{
	const enum option_names names = find_in_table(options->table, name, strlen(name), 0)->names;

	return names == NAMES_FOLDER || (names == NAMES_OUTPUT_OR_FOLDER && options_name_folder(value));
}

bool options_is_flag(const struct options *options, const char *name)
{
	const struct cli_option *option = find_in_table(options->table, name, strlen(name), 0);

	return option && option->kind == OPTION_FLAG && !option->hidden;
}

bool options_take_value(const struct options *options, const char *name)
{
	const struct cli_option *option = find_in_table(options->table, name, strlen(name), 0);

	return option && option->kind != OPTION_FLAG && !option->hidden;
}

bool options_given(const struct options *options, const char *name)
{
	return last_given(options, name) != NULL;
}

bool options_has_given(const struct options *options, const char *name)
{
	return options_has(options, name) && options_given(options, name);
}

bool options_typed(const struct options *options, const char *name)
{
	const struct option_given *given = last_given(options, name);

	return given && !given->origin;
}

const char *options_value(const struct options *options, const char *name)
{
	const struct option_given *given = last_given(options, name);

	return given ? given->value : NULL;
}

size_t options_count(const struct options *options, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < options->given_count; i++)
		count += !strcmp(options->given[i].option->name, name);
	return count;
}

const char *options_item(const struct options *options, const char *name, size_t at)
{
	for (size_t i = 0; i < options->given_count; i++)
		if (!strcmp(options->given[i].option->name, name) && at-- == 0)
			return options->given[i].value;
	return NULL;
}

uint64_t options_number(const struct options *options, const char *name)
{
	const struct option_given *given = last_given(options, name);

	return given ? given->number : 0;
}
