/* From the command line to a command. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/compiler.h>
#include <jitwarm/find.h>
#include <jitwarm/key.h>
#include <jitwarm/tune.h>
#include <jitwarm/version.h>

#include "base/mem.h"
#include "base/packages.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/gpu_targets.h"
#include "cli/help.h"
#include "cli/language.h"
#include "cli/next_step.h"
#include "cli/places.h"
#include "os/console.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/shell.h"

/* One line for each command, in the order of help, whose groups begin in help.c. */
/* clang-format off */
#define COMMANDS(X) \
	X(status) \
	X(check) \
	X(prime) \
	X(doctor) \
	X(tune) \
	X(scan) \
	X(find) \
	X(which) \
	X(watch) \
	X(run) \
	X(make) \
	X(lint) \
	X(compiler_fetch) \
	X(export) \
	X(import) \
	X(key_generate) \
	X(key_trust) \
	X(key_distrust) \
	X(key_list) \
	X(cache_list) \
	X(cache_verify) \
	X(cache_clear) \
	X(store_list) \
	X(store_clear) \
	X(startup_enable) \
	X(startup_disable) \
	X(startup_status) \
	X(config) \
	X(completion) \
	X(uninstall) \
	X(help) \
	X(complete) \
	X(worker)
/* clang-format on */

#define DECLARE(name) extern const struct cli_command command_##name;
#define REFER(name)   &command_##name,

COMMANDS(DECLARE)

static const struct cli_command *const command_table[] = {COMMANDS(REFER) NULL};

/* “--help --all” shows all options of every command. */
static int show_help(const struct cli *cli)
{
	struct buf text = BUF_MAX(1 << 20);
	const unsigned columns = output_columns(1);
	bool all = false;

	for (int i = 0; i < cli->argc && strcmp(cli->argv[i], "--") != 0; i++)
		all = all || !strcmp(cli->argv[i], "--all");
	if (cli->command)
		help_command(&text, cli->command, columns, all);
	else
		help_commands(&text, cli->commands, cli->group, columns, all);
	help_print(&text, true);
	return 0;
}

struct version_document {
	const char *version, *platform, *compiler, *build_type;
	const struct jw_component *libraries;
	size_t library_count;
};

static const struct json_field library_fields[] = {
	JSON_AS("zstd", struct jw_component, name, NULL),
	JSON(struct jw_component, version, NULL),
	{0},
};

static const struct json_field version_fields[] = {
	JSON(struct version_document, version, "the version of jitwarm"),
	JSON(struct version_document, platform,
		 "the platform that jitwarm was built for: `x86_64-linux`"),
	JSON(struct version_document, compiler, "the compiler that built jitwarm: `gcc 12.2.0`"),
	JSON(struct version_document, build_type,
		 "the build type, with the sanitizers if there are any"),
	JSON_MAP_OF("libraries", struct version_document, libraries, library_count,
				JSON_TABLE(struct jw_component, library_fields),
				"the versions of the libraries in jitwarm, by name"),
	{0},
};
const struct json_table document_version = {
	.schema = "jitwarm.version/1",
	.text = "`jitwarm --version --json`.",
	.fields = version_fields,
};

static int show_version(struct cli *cli)
{
	enum { MOST = 32 };
	struct jw_component libraries[MOST];
	struct version_document built = {.version = jw_version(),
									 .platform = jw_platform(),
									 .compiler = jw_build_compiler(),
									 .build_type = jw_build_type(),
									 .libraries = libraries};

	while (built.library_count < MOST &&
		   jw_component_at(built.library_count, &libraries[built.library_count]))
		built.library_count++;
	output_line(&cli->out, STYLE_PLAIN, "jitwarm %s (%s)", built.version, built.platform);
	output_line(&cli->out, STYLE_PLAIN, "built with %s, %s", built.compiler, built.build_type);
	for (size_t i = 0; i < built.library_count; i++)
		output_line(&cli->out, STYLE_PLAIN, "%-11s %s", libraries[i].name, libraries[i].version);
	return document_print(&cli->out, &document_version, &built);
}

/* Returns the word without the punctuation of a sentence behind it; the caller frees it. */
static char *plain_word(const char *word)
{
	size_t length = strlen(word);

	while (length > 1 && strchr("?!,;:.", word[length - 1]))
		length--;
	return mem_string_n(word, length);
}

/* Returns the number of leading words that are one GPU (“rtx 5090”, “RTX 3070 Ti”), and its name as
 * one word; 0 if there is none. A file is never taken for a GPU. */
static size_t words_of_gpu(const char *const *words, size_t count, char **ret_name)
{
	enum { MOST_WORDS = 5 };

	if (os_exists(*words))
		return 0;
	for (size_t used = count < MOST_WORDS ? count : MOST_WORDS; used; used--) {
		struct buf name = BUF_MAX(200);
		bool found;

		for (size_t i = 0; i < used; i++) {
			char *word = plain_word(words[i]);

			buf_add(&name, "%s", word);
			mem_free(word);
		}
		found = !name.overflowed && !text_equal_fold(words[used - 1], "with") &&
				gpu_targets_is_gpu(buf_text(&name));
		if (found)
			*ret_name = mem_string(buf_text(&name));
		buf_free(&name);
		if (found)
			return used;
	}
	return 0;
}

/* Returns whether a word can only be a driver: “cu128”, “nvidia-driver-550”, “550.163.01”. */
static bool is_driver(const char *word)
{
	struct jw_driver driver;
	const char *dot = strchr(word, '.');

	return !jw_driver_parse(NULL, word, &driver) && !os_exists(word) &&
		   (!text_is_digit(*word) || (driver.release[0] && dot && strchr(dot + 1, '.')));
}

/* Returns how many words name a driver: 1 for “cu128”, 2 for “cuda 11.8” and “driver 550”, else 0.
 * `ret_driver` is valid if it is not 0. */
static size_t count_driver_words(const char *const *words, size_t count, const char **ret_driver)
{
	struct jw_driver driver;

	*ret_driver = words[0];
	if (is_driver(words[0]))
		return 1;
	*ret_driver = count > 1 ? words[1] : NULL;
	return count > 1 && text_is_digit(*words[1]) && !os_exists(words[0]) &&
				   (text_equal_fold(words[0], "cuda") || text_equal_fold(words[0], "driver")) &&
				   !jw_driver_parse(NULL, words[1], &driver)
			   ? 2
			   : 0;
}

static bool is_version(const char *word)
{
	return text_is_digit(*word) && strchr(word, '.') && !word[strspn(word, "0123456789.")];
}

/* Appends the packages of the words that “which” knows, with a version behind a name: “torch 2.8”
 * is torch==2.8. Returns their number. */
static size_t add_known_packages(struct buf *line, const char *const *words, size_t count)
{
	size_t packages = 0;

	for (size_t i = 0; i < count; i++) {
		char *word = plain_word(words[i]),
			 *next = i + 1 < count ? plain_word(words[i + 1]) : mem_string("");
		const struct package_fact *called = package_fact_of("called", word);
		struct buf package = BUF_MAX(NEXT_STEP_MAX);

		if (command_which.knows(word) && !os_exists(word)) {
			buf_add(&package, "%s%s%s", called ? called->values[0] : word,
					is_version(next) && !strpbrk(word, "<=>!~") ? "==" : "",
					is_version(next) && !strpbrk(word, "<=>!~") ? next : "");
			shell_add_word(line, buf_text(&package));
			packages++;
		}
		buf_free(&package);
		mem_free(word);
		mem_free(next);
	}
	return packages;
}

/* Returns the line of a command that is meant if some of the names are GPUs: with an option for
 * them, and the other names; those that the command knows, if it knows some. The caller frees it.
 * `ret_gpus` gets the value of the option: only the first GPU if the option takes one. */
static char *line_with_gpus(const struct cli *cli, const struct cli_command *answers,
							const char *option, const char *const *names, size_t count,
							struct buf *ret_gpus)
{
	static const char *const kept[] = {"driver", "environment", "platform",
									   "python", "index",       NULL};
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	const bool takes_list = !strcmp(option, "gpus") || !strcmp(option, "target");
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	const char **others = mem_array(count, sizeof *others);
	size_t other_count = 0;
	bool knows = false;

	for (size_t i = 0, used; i < count; i += used ? used : 1) {
		char *gpu = NULL;

		used = takes_list || !ret_gpus->size ? words_of_gpu(names + i, count - i, &gpu) : 0;
		if (used)
			buf_add(ret_gpus, "%s%s", ret_gpus->size ? "," : "", gpu);
		else
			others[other_count++] = names[i];
		mem_free(gpu);
	}
	buf_add(&command, "jitwarm %s --%s", answers->name, option);
	shell_add_word(&command, buf_text(ret_gpus));
	next_step_keep(&command, &cli->options, kept);
	for (size_t i = 0; i < other_count; i++)
		knows = knows || (answers->knows && answers->knows(others[i]));
	if (knows)
		(void)add_known_packages(&command, others, other_count);
	for (size_t i = 0; !knows && i < other_count; i++)
		shell_add_word(&command, others[i]);
	mem_free(others);
	return next_step_take(&command);
}

/* Refuses a GPU, or a driver, among the names of files and packages. */
static int refuse_gpus(struct jw_error *err, const struct cli *cli, const char *const *names,
					   size_t count)
{
	static const char *const options[] = {"gpus", "target", "gpu", "arch"};
	const char *option = NULL, *driver;

	for (size_t i = 0; !option && i < sizeof options / sizeof *options; i++)
		if (options_has(&cli->options, options[i]))
			option = options[i];
	for (size_t i = 0; i < count; i++) {
		char *gpu = NULL, *line;
		const size_t used = words_of_gpu(names + i, count - i, &gpu);
		int result = -1;

		if (used) {
			if (!option) {
				struct buf gpus = BUF_MAX(NEXT_STEP_MAX);

				line = line_with_gpus(cli, &command_check, "target", names, count, &gpus);
				error_set(err, JW_ERR_USAGE,
						  strchr(buf_text(&gpus), ',') ? "“%.100s”: GPUs: “%s” answers for them"
													   : "“%.100s”: a GPU: “%s” answers for it",
						  buf_text(&gpus), line);
				mem_free(line);
				buf_free(&gpus);
			} else if (options_typed(&cli->options, option) &&
					   !gpu_targets_is_gpu(options_value(&cli->options, option)))
				result = 0; /* “--target rtx 5090” has an error of its own */
			else {
				struct buf gpus = BUF_MAX(NEXT_STEP_MAX);

				line = line_with_gpus(cli, cli->command, option, names, count, &gpus);
				error_set(err, JW_ERR_USAGE,
						  strchr(buf_text(&gpus), ',') ? "“%.100s”: GPUs, which --%s names: “%s”"
													   : "“%.100s”: a GPU, which --%s names: “%s”",
						  buf_text(&gpus), option, line);
				mem_free(line);
				buf_free(&gpus);
			}
			mem_free(gpu);
			return result;
		}
		if (options_has(&cli->options, "driver") &&
			count_driver_words(names + i, count - i, &driver))
			return error_set(err, JW_ERR_USAGE,
							 "“%.100s”: a driver, which --driver names: “--driver %s”", driver,
							 driver);
	}
	return 0;
}

/* Returns whether a word before a command may belong to its line: an option, its value, a file or a
 * package. */
static bool belongs_to_line(const char *const *words, size_t at)
{
	return words[at][0] == '-' || (at && words[at - 1][0] == '-') || os_exists(words[at]) ||
		   command_which.knows(words[at]);
}

/* The parts of a line without a command: “does torch 2.8 work on rtx 5090 with cuda 11.8”. */
struct sentence {
	struct buf gpus, packages; /* “rtx5090”, for --target; “ torch==2.8” */
	const char *driver, *platform;
	size_t package_count, foreign; /* foreign: words that are neither, behind the first one */
};

static struct sentence read_sentence(const char *const *words, size_t count)
{
	struct sentence is = {.gpus = BUF_MAX(NEXT_STEP_MAX), .packages = BUF_MAX(NEXT_STEP_MAX)};
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	const char **others = mem_array(count, sizeof *others);
	size_t other_count = 0;

	for (size_t i = 0, used; i < count; i += used ? used : 1) {
		const char *driver;
		char *gpu = NULL;

		used = words_of_gpu(words + i, count - i, &gpu);
		if (used)
			buf_add(&is.gpus, "%s%s", is.gpus.size ? "," : "", gpu);
		else if ((used = count_driver_words(words + i, count - i, &driver)))
			is.driver = driver;
		else if (text_equal_fold(words[i], "windows") || text_equal_fold(words[i], "linux"))
			is.platform = words[i];
		else
			others[other_count++] = words[i];
		mem_free(gpu);
	}
	is.package_count = add_known_packages(&is.packages, others, other_count);
	for (size_t i = 0; i < other_count; i++)
		is.foreign += others[i] != words[0] && !belongs_to_line(others, i);
	mem_free(others);
	return is;
}

/* Returns the line of “which”, or of check without a package, that answers a sentence; with the
 * options behind it. The caller frees it. */
static char *line_of_sentence(const struct cli *cli, const struct sentence *is, const char *command,
							  const char *packages, size_t words)
{
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&line, "jitwarm %s", command);
	if (is->gpus.size)
		buf_add(&line, " --target %s", buf_text(&is->gpus));
	if (is->driver)
		buf_add(&line, " --driver %s", is->driver);
	if (is->platform && !strcmp(command, command_which.name))
		buf_add(&line, " --platform %s",
				*is->platform == 'w' || *is->platform == 'W' ? "windows" : "linux");
	buf_add(&line, "%s", packages);
	if ((size_t)cli->argc > words)
		shell_add_words(&line, (const char *const *)cli->argv + words, (size_t)cli->argc - words);
	return next_step_take(&line);
}

/* Answers a line without a command with the lines that may be meant. */
static int refuse_sentence(struct jw_error *err, const struct cli *cli, const struct sentence *is,
						   const char *first, size_t used)
{
	const char *const packages = is->package_count ? buf_text(&is->packages) : " torch";
	const bool several = strchr(buf_text(&is->gpus), ',');
	char *which = line_of_sentence(cli, is, command_which.name, packages, used),
		 *check =
			 line_of_sentence(cli, is, command_check.name, is->package_count ? packages : "", used);

	if (is->gpus.size && is->package_count)
		error_set(err, JW_ERR_USAGE,
				  several ? "“%.100s”: GPUs: “%s” answers for them"
						  : "“%.100s”: a GPU: “%s” answers for it",
				  buf_text(&is->gpus), which);
	else if (is->gpus.size)
		error_set(err, JW_ERR_USAGE,
				  several ? "“%.100s”: GPUs: “%s” shows which releases of a package run on them, "
							"“%s” answers for what is installed here"
						  : "“%.100s”: a GPU: “%s” shows which releases of a package run on it, "
							"“%s” answers for what is installed here",
				  buf_text(&is->gpus), which, check);
	else
		error_set(err, JW_ERR_USAGE,
				  "no command is called “%.100s”; “%s” shows which releases run on your GPU, “%s” "
				  "answers for what is installed here",
				  first, which, check);
	mem_free(which);
	mem_free(check);
	return -1;
}

/* Returns the words of a line in quotes; the caller frees the list and its one text. */
static const char **split_words(const char *line, char **ret_text, size_t *ret_count)
{
	char *text = mem_string(line);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	const char **words = mem_array(strlen(line) + 1, sizeof *words);
	size_t count = 0;

	for (char *at = text; *(at += strspn(at, " \t\n"));) {
		const size_t length = strcspn(at, " \t\n");
		const bool last = !at[length];

		words[count++] = at;
		at[length] = '\0';
		at += length + !last;
	}
	*ret_text = text;
	*ret_count = count;
	return words;
}

/* Suggests what the words may have meant. */
static int no_command(struct jw_error *err, struct cli *cli, char **words, size_t count)
{
	/* Words that other programs use for a command: the first word, and the second one if there are
	 * two. */
	static const struct {
		const char *words[2], *name;
	} called[] = {{{"install"}, "prime"},
				  {{"compile"}, "prime"},
				  {{"warm"}, "prime"},
				  {{"warmup"}, "prime"},
				  {{"nvidia-smi"}, .name = "status"},
				  {{"list"}, .name = "cache list"},
				  {{"clear"}, .name = "cache clear"},
				  {{"clean"}, .name = "cache clear"},
				  {{"empty"}, .name = "cache clear"},
				  {{"undo"}, .name = "tune --undo"},
				  {{"fix"}, .name = "doctor --fix"},
				  {{"diagnose"}, .name = "doctor"},
				  {{"gpu"}, .name = "status"},
				  {{"gpus"}, .name = "status"},
				  {{"info"}, .name = "status"},
				  {{"fetch"}, .name = "compiler fetch"},
				  {{"cache", "size"}, .name = "cache list"},
				  {{"cache", "show"}, .name = "cache list"},
				  {{"cache", "empty"}, .name = "cache clear"},
				  {{"key", "add"}, .name = "key trust"},
				  {{"key", "remove"}, .name = "key distrust"},
				  {{"key", "create"}, .name = "key generate"},
				  {{"startup", "start"}, .name = "startup enable"},
				  {{"startup", "stop"}, .name = "startup disable"},
				  {{"cache", "ls"}, .name = "cache list"},
				  {{"cache", "clean"}, .name = "cache clear"},
				  {{"cache", "purge"}, .name = "cache clear"},
				  {{"cache", "reset"}, .name = "cache clear"}};
	const bool group = commands_is_group(cli->commands, words[0]);
	const char *const *said = (const char *const *)words;
	const char *nearest = NULL, **split = NULL;
	struct buf text = BUF_MAX(NEXT_STEP_MAX), print = BUF_MAX(100);
	char *quoted = NULL, *gpu = NULL;
	size_t said_count = count;
	struct sentence is;
	bool about;

	/* A whole line may be in quotes. */
	if (strchr(words[0], ' ') && !os_exists(words[0]))
		said = split = split_words(words[0], &quoted, &said_count);
	is = read_sentence(said, said_count);
	about = is.gpus.size || is.package_count;
	for (size_t i = 0; !nearest && i < sizeof called / sizeof *called; i++)
		if (!strcmp(called[i].words[0], words[0]) &&
			(!called[i].words[1] || (count > 1 && !strcmp(called[i].words[1], words[1]))))
			nearest = called[i].name;
	if (!nearest && text_same(options_with_choice(command_tune.options, words[0]), "print")) {
		buf_add(&print, "tune --print %s", words[0]);
		nearest = buf_text(&print);
	}
	/* “can” in a sentence is no typing error of “scan”. */
	if (!nearest && !group && !(about && is.foreign))
		nearest = commands_suggest(cli->commands, words[0]);
	if ((said_count && words_of_gpu(said, said_count, &gpu)) ||
		(is.gpus.size && is.package_count && is.foreign))
		nearest = NULL;
	mem_free(gpu);
	if (nearest) {
		const bool both = strchr(nearest, ' ') && count > 1;

		error_set(err, JW_ERR_USAGE, "no command is called “%.100s%s%.100s” (did you mean “%s”?)",
				  words[0], both ? " " : "", both ? words[1] : "", nearest);
	} else if (!group && about) {
		(void)refuse_sentence(err, cli, &is, words[0], count);
	} else if (!group && said_count > 1 && !os_exists(words[0])) {
		shell_add_words(&text, (const char *const *)words, count);
		error_set(err, JW_ERR_USAGE,
				  "no command is called “%.100s”; “jitwarm doctor%s” answers for the text of an "
				  "error",
				  words[0], buf_text(&text));
	} else if (!group) {
		shell_add_word(&text, words[0]);
		error_set(err, JW_ERR_USAGE,
				  "no command is called “%.100s”; “jitwarm check%s” answers for a file or a "
				  "package, “jitwarm doctor%s” for the text of an error",
				  words[0], buf_text(&text), buf_text(&text));
	} else {
		cli->group = words[0];
		commands_list_second(&text, cli->commands, words[0], strlen(words[0]));
		if (count > 1)
			error_set(err, JW_ERR_USAGE,
					  "no command is called “%.100s %.100s”; the second word is one of: %s",
					  words[0], words[1], buf_text(&text));
		else
			error_set(err, JW_ERR_USAGE, "“%.100s” needs a second word: %s", words[0],
					  buf_text(&text));
	}
	buf_free(&is.gpus);
	buf_free(&is.packages);
	buf_free(&print);
	buf_free(&text);
	mem_free(split);
	mem_free(quoted);
	return -1;
}

/* Appends the words before a command to its line, without those of another program's line (“whl
 * lint FILE”), while other names follow the command. */
static void add_words_before(struct buf *line, const char *const *words, size_t count, bool others)
{
	for (size_t i = 0; i < count; i++)
		if (!others || belongs_to_line(words, i))
			shell_add_word(line, words[i]);
}

/* Finds a command after other words: “-n prime torch”, “torch check”. */
static int command_later(struct jw_error *err, const struct cli *cli, int argc, char **argv)
{
	const char *const *words = (const char *const *)argv;
	struct buf line = BUF_MAX(300);
	size_t used = 0, foreign = 0;
	int at = 0;

	if (!strcmp(argv[0], "-v"))
		return error_set(err, JW_ERR_USAGE, "unknown option -v (did you mean --version?)");
	if (text_starts(argv[0], "--")) {
		const char *const name = argv[0] + 2;

		if (commands_find(cli->commands, &name, 1, &used))
			return error_set(err, JW_ERR_USAGE, "a command has no dashes: “jitwarm %s”", name);
	}
	while (at < argc && strcmp(argv[at], "--") != 0 &&
		   !commands_find(cli->commands, words + at, (size_t)(argc - at), &used))
		at++;
	for (int i = 0; i < at; i++)
		foreign += !belongs_to_line(words, (size_t)i);
	/* Several other words are a sentence: “how do I make it start faster”. */
	if (!used || foreign > 1)
		return 0;
	buf_add(&line, "jitwarm");
	shell_add_words(&line, words + at, used);
	add_words_before(&line, words, (size_t)at, (size_t)argc > (size_t)at + used);
	shell_add_words(&line, words + at + used, (size_t)argc - (size_t)at - used);
	error_set(err, JW_ERR_USAGE, "the command comes first: %s",
			  line.overflowed ? argv[at] : buf_text(&line));
	buf_free(&line);
	return -1;
}

/* Returns the line of check for the GPU that was named with --target to a command that has no
 * --target; with the options and names that check takes, too. The caller frees it. */
static char *line_of_check(const struct cli *cli, const char *gpu)
{
	const struct options *given = &cli->options;
	struct buf command = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&command, "jitwarm check --target");
	shell_add_word(&command, gpu);
	for (const struct cli_option *option = command_check.options; option->name; option++)
		if (!option->hidden && options_has(given, option->name))
			next_step_keep(&command, given, (const char *const[]){option->name, NULL});
	for (size_t i = 0; i < (cli->command->takes_command ? given->divided_at : given->operand_count);
		 i++)
		if (given->operands[i] != given->unknown_value)
			shell_add_word(&command, given->operands[i]);
	return next_step_take(&command);
}

/* Refuses an option that the command does not have, with the command that has it. */
static int refuse_option(struct jw_error *err, struct cli *cli, const struct jw_error *wrong)
{
	enum { MOST_NAMES = 3 };
	/* Files that are here say these themselves. */
	static const char *const of_files[] = {"platform", "python"};
	const struct options *given = &cli->options;
	const char *const name = given->unknown;
	const size_t length = strcspn(name, "=");
	const char *const dashes = length > 1 ? "--" : "-";
	struct buf names = BUF_MAX(NEXT_STEP_MAX);
	size_t count = 0;

	if (length > 1 && options_means_target(given)) {
		const char *gpu = given->unknown_value;
		char *line = line_of_check(cli, gpu && *gpu && *gpu != '-' ? gpu : "GPU");

		error_set(err, JW_ERR_USAGE,
				  cli->command->reads ? "this command has no --target: “%s” answers for another GPU"
									  : "this command has no --target: “%s” answers for another "
										"GPU, “jitwarm make” compiles for it",
				  line);
		mem_free(line);
		return -1;
	}
	for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
		if (strlen(of_files[i]) == length && !memcmp(of_files[i], name, length) &&
			options_has(given, "environment"))
			return error_set(err, JW_ERR_USAGE,
							 "unknown option --%s: the files themselves are for one platform and "
							 "Python; leave out --%s",
							 of_files[i], of_files[i]);
	for (size_t i = 0; cli->commands[i]; i++)
		if (!cli->commands[i]->hidden && cli->commands[i] != cli->command &&
			options_in_table(cli->commands[i]->options, name, length) && ++count <= MOST_NAMES)
			buf_add(&names, "%s“jitwarm %s”", names.size ? ", " : "", cli->commands[i]->name);
	if (count)
		error_set(err, JW_ERR_USAGE,
				  count > MOST_NAMES ? "unknown option %s%.*s, which is an option of %s and others"
									 : "unknown option %s%.*s, which is an option of %s",
				  dashes, (int)length, name, buf_text(&names));
	else
		error_copy(err, wrong);
	buf_free(&names);
	return -1;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "/?");
}

/* Moves the command's words to the front: “--json check torch”, “-e VENV check torch”. */
static void put_command_first(const struct cli *cli, int argc, char **argv)
{
	const int lead = options_leading(argc, argv);
	size_t used = 1;

	if (!lead || lead == argc || argv[lead][0] == '-')
		return;
	if (!commands_find(cli->commands, (const char *const *)argv + lead, (size_t)(argc - lead),
					   &used))
		used += commands_is_group(cli->commands, argv[lead]) && lead + 1 < argc &&
				argv[lead + 1][0] != '-';
	for (size_t i = 0; i < used; i++) {
		char *word = argv[(size_t)lead + i];

		memmove(argv + i + 1, argv + i, (size_t)lead * sizeof *argv);
		argv[i] = word;
	}
}

/* Refuses names that a shell has split or joined otherwise than intended, and options without their
 * dashes (“tune undo”). */
static int check_operands(struct jw_error *err, const struct cli *cli)
{
	const struct options *options = &cli->options;

	if ((cli->command->for_operands || options_has(options, "environment") ||
		 options_has(options, "target")) &&
		!(cli->command->reads_text && options->operand_count > 2) &&
		refuse_gpus(err, cli, options->operands, options->operand_count))
		return -1;
	/* Two words that are one path with a blank, typed without quotes. */
	for (size_t i = 0; i + 1 < options->operand_count; i++) {
		char *path = mem_printf("%s %s", options->operands[i], options->operands[i + 1]);
		const bool one = os_exists(path) && !os_exists(options->operands[i]);

		if (one)
			error_set(err, JW_ERR_USAGE, "a path with a blank needs quotes: \"%s\"", path);
		mem_free(path);
		if (one)
			return -1;
	}
	for (size_t i = 0; i < options->operand_count; i++)
		if (!cli->command->hidden && cli->command != &command_help &&
			options_is_flag(options, options->operands[i]) && !os_exists(options->operands[i]))
			return error_set(err, JW_ERR_USAGE, "“%.100s”: an option begins with dashes: --%.100s",
							 options->operands[i], options->operands[i]);
	/* On Windows a quoted word does not end at a backslash and a quote: from "C:\t\" --json a
	 * program gets one word, C:\t" --json. No file there can have that name. */
	for (size_t i = 0; i < options->operand_count; i++)
		if (os_is_separator('\\') && strchr(options->operands[i], '"'))
			return error_set(err, JW_ERR_USAGE,
							 "%s: no file can have a quote in its name: drop the last backslash "
							 "before the quote",
							 options->operands[i]);
	return 0;
}

/* ---- the five steps of a run */

static const char *setting_of(const struct cli *cli, const char *name)
{
	const struct config_value *setting = config_find(&cli->config, name);

	return setting ? setting->value : NULL;
}

/* Reads the settings; a language in them applies to every text from here on. */
static void read_settings(struct cli *cli)
{
	const struct config_value *store;
	const char *language;

	config_read(&cli->config, places_lift);
	store = config_find(&cli->config, "store");
	cli->store_folder = config_store_folder(&cli->config);
	cli->uses_store = !store || config_is_on(store) || cli->store_folder;
	language = setting_of(cli, "language");
	if (language && os_prints_utf8() && language_is_known(language))
		(void)language_choose(language);
	jw_use_trusted_keys(setting_of(cli, "trusted-keys"));
	jw_use_compilers(setting_of(cli, "compilers"));
}

/* Finds the command, and reads its options. A request for help is always answered, whatever is
 * wrong with the rest of the line. */
static int parse_line(struct jw_error *err, struct cli *cli, int argc, char **argv)
{
	size_t words = 0, used = 0; /* the leading arguments that are not options: "cache", "list" */
	const struct cli_command *command = &command_status;
	struct jw_error wrong = {0};
	bool group;

	put_command_first(cli, argc, argv);
	while (words < (size_t)argc && argv[words][0] != '-')
		words++;
	if (words)
		command = commands_find(cli->commands, (const char *const *)argv, words, &used);
	group = words && commands_is_group(cli->commands, argv[0]);
	cli->argc = argc - (int)used;
	cli->argv = argv + used;
	/* No language changes names and values. */
	for (int i = 0; i < cli->argc; i++) {
		const char *equals = cli->argv[i][0] == '-' ? strchr(cli->argv[i], '=') : NULL;

		language_keep(equals ? equals + 1 : cli->argv[i]);
	}
	(void)options_read(&wrong, command ? command->options : NULL, command && command->takes_command,
					   cli->argc, cli->argv, &cli->options);
	cli->out =
		output_open(options_given(&cli->options, "json"), options_given(&cli->options, "quiet"));

	if (argc && (is_help(argv[0]) || (group && words == 1 && argc > 1 && is_help(argv[1])))) {
		cli->asks = ASKS_HELP;
		cli->group = group ? argv[0] : NULL;
		return 0;
	}
	if (argc &&
		(!strcmp(argv[0], "--version") || !strcmp(argv[0], "-V") || !strcmp(argv[0], "version"))) {
		cli->asks = ASKS_VERSION;
		return 0;
	}
	if (argc && (!words || (!command && words > 1 && !group)) &&
		command_later(err, cli, argc, argv))
		return -1;
	if (!command)
		return no_command(err, cli, argv, words);

	cli->command = command;
	/* Windows' commands are asked for help by “/?”; elsewhere that may be a file. */
	if (options_given(&cli->options, "help") ||
		(cli->argc && os_is_separator('\\') && !strcmp(cli->argv[0], "/?")))
		cli->asks = ASKS_HELP;
	else if (wrong.code)
		return cli->options.unknown ? refuse_option(err, cli, &wrong) : error_copy(err, &wrong);
	else if (options_has_given(&cli->options, "driver") &&
			 text_same(options_value(&cli->options, "driver"), "list"))
		cli->asks = ASKS_DRIVERS;
	return 0;
}

/* Completes the options from the settings, and checks them. */
static int apply_settings(struct jw_error *err, struct cli *cli)
{
	const struct cli_command *command = cli->command;
	struct options *options = &cli->options;
	/* The command that changes settings runs even if the present ones are wrong. */
	const bool mends = command == &command_config &&
					   (options->operand_count > 1 || options_given(options, "unset"));

	if (!command->hidden && config_check(err, &cli->out, &cli->config) && !mends)
		return -1;
	if (!command->hidden && !mends && options_settle(err, options, &cli->config))
		return -1;
	/* Output for a program, or for an issue that others read, is in English. */
	if (options_has_given(options, "report") || options_has_given(options, "format"))
		language_close();
	if (options_check(err, options) || (!command->takes_command && check_operands(err, cli)))
		return -1;
	cli->out.progress_json = options_has_given(options, "progress");
	/* The terminal is that of the command that “jitwarm run” starts. */
	if (!command->hidden && !command->runs_anyway)
		output_watch_silence(&cli->out);
	if (command->no_operands && options->operand_count && command->for_operands) {
		struct buf line = BUF_MAX(NEXT_STEP_MAX);
		char *text;

		buf_add(&line, "jitwarm %s", command->for_operands);
		next_step_names(&line, options);
		text = next_step_take(&line);
		error_set(err, JW_ERR_USAGE, "“%.100s”: %s; “%s” answers for files and packages",
				  options->operands[0], command->no_operands, text);
		mem_free(text);
		return -1;
	}
	if (command->no_operands && options->operand_count)
		return error_set(err, JW_ERR_USAGE, "“%.100s”: %s", options->operands[0],
						 command->no_operands);
	return 0;
}

/* Adopts what a login of this account would set, and checks root's places. */
static int enter_account(struct jw_error *err, struct cli *cli)
{
	const struct options *options = &cli->options;

	if (options_has_given(options, "environment") &&
		jw_use_environment(err, options_value(options, "environment")))
		return -1;
	/* Workers inherit their parent's settings. */
	if (cli->command->hidden)
		return 0;
	return jw_settings_adopt(err) || places_check(err, cli) ? -1 : 0;
}

/* Prints the known drivers, one in a line. */
static int show_drivers(const struct cli *cli)
{
	char names[JW_DRIVER_NAMES];
	size_t length;

	for (const char *at = jw_driver_names(names, NULL); *at; at += length, at += strspn(at, ", ")) {
		length = strcspn(at, ",");
		output_line(&cli->out, STYLE_PLAIN, "%.*s", (int)length, at);
	}
	return 0;
}

static int run_command(struct jw_error *err, struct cli *cli)
{
	switch (cli->asks) {
	case ASKS_HELP: return show_help(cli);
	case ASKS_VERSION: return show_version(cli);
	case ASKS_DRIVERS: return show_drivers(cli);
	case ASKS_COMMAND: break;
	}
	if (cli->command->columns)
		output_set_columns(cli->command->columns);
	return cli->command->run(err, cli);
}

static struct cli *running;

/* Ends the program, whose other threads may be anywhere. */
static void end_of_cut_file(const char *path)
{
	struct jw_error err = {0};

	error_set(&err, JW_ERR_IO,
			  "%s: cannot be read to its end: its disk failed, or another process shortened the "
			  "file meanwhile; run the command again when nothing writes to the file",
			  path);
	cli_fail(running, &err);
	output_flush();
	os_end_now((int)running->status);
}

enum exit_status cli_run(int argc, char **argv)
{
	struct cli cli = {.commands = command_table, .run_other = cli_run};
	struct cli *const outer = running; /* doctor --fix runs other commands inside its own */
	struct jw_error err = {0};

	running = &cli;
	os_on_cut_file(end_of_cut_file);
	cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = mem_alloc, .free_fn = mem_free});
	places_open(&cli);
	read_settings(&cli);
	if (os_prepare_limits(&err) ||
		parse_line(&err, &cli, argc > 0 ? argc - 1 : 0, argv + (argc > 0)) ||
		(cli.asks == ASKS_COMMAND && (apply_settings(&err, &cli) || enter_account(&err, &cli))) ||
		run_command(&err, &cli))
		cli_fail(&cli, &err);
	if (output_close(&err))
		cli_fail(&cli, &err);
	/* Scripts end together with an interrupted command, however far it came. */
	if (os_interrupted() && !cli.status_of_command)
		cli.status = (enum exit_status)os_interrupt_status();
	options_free(&cli.options);
	config_free(&cli.config);
	jw_system_free(cli.system);
	mem_free(cli.state);
	places_close();
	mem_free(cli.gpu_names);
	jw_text_free(cli.program);
	places_open(outer);
	running = outer;
	return cli.status;
}
