#include "cli/index_wheel.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "os/interrupt.h"
#include "os/process.h"

static void warn_of(void *context, const char *variable, const char *indexes)
{
	const struct cli *cli = context;
	char room[1024];
	const char *text = text_address(room, sizeof room, indexes);

	if (os_lists_indexes(variable))
		output_warning(
			&cli->out,
			"%s: root does not ask %s, because another account can change the folder, so "
			"the answer is for pip's other indexes, or PyPI; let only root change the "
			"folder, or run jitwarm as the folder's owner",
			variable, text);
	else
		output_warning(&cli->out,
					   "%s: root's pip does not get %s, because the file or folder is missing, or "
					   "another account can change it; let only root change the path, or unset %s",
					   variable, text, variable);
}

void index_wheel_warn(struct cli *cli)
{
	jw_index_left_out(warn_of, cli);
}

int index_wheel_python(struct jw_error *err, const char *text, char version[JW_PYTHON_VERSION])
{
	static const char *const heads[] = {"python", "cpython", "cp", "py"};
	const char *major = text, *minor, *rest;
	size_t digits;

	for (size_t i = 0; i < sizeof heads / sizeof *heads && major == text; i++)
		if (text_starts_fold(text, heads[i]))
			major += strlen(heads[i]);
	major += *major == ' ' || *major == '-';
	minor = major + text_is_digit(*major);
	minor += minor > major && *minor == '.';
	digits = strspn(minor, "0123456789");
	rest = minor + digits;
	rest += *rest == '.' && text_is_digit(rest[1]) ? 1 + strspn(rest + 1, "0123456789") : 0;
	if (minor == major || !digits || digits > 2 || *rest)
		return error_set(err, JW_ERR_USAGE, "--python is a version such as 3.11, not “%.40s”",
						 text);
	(void)snprintf(version, JW_PYTHON_VERSION, "%c.%.*s", *major, (int)digits, minor);
	return 0;
}

int index_wheel_open(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
					 struct index_wheel *asked)
{
	const char *python = options_value(&cli->options, "python");
	struct jw_index_options options = {.platform = options_value(&cli->options, "platform"),
									   .targets = gpus->targets,
									   .target_count = gpus->count,
									   .arm = gpus->arm};

	if (python && index_wheel_python(err, python, asked->python))
		return -1;
	options.python = python ? asked->python : NULL;
	asked->fetching.output = &cli->out;
	options.fetch = fetching_options(&asked->fetching);
	os_catch_interrupts();
	index_wheel_warn(cli);
	return jw_index_open(err, &options, &asked->index);
}

int index_wheel_get(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
					struct index_wheel *asked)
{
	static const char *const only[] = {"platform", "python"};
	const struct options *options = &cli->options;
	char size[TEXT_SHORT] = "";
	int result;

	*asked = (struct index_wheel){.index = NULL};
	for (size_t i = 0; !options_given(options, "index") && i < sizeof only / sizeof *only; i++)
		if (options_given(options, only[i]))
			return error_set(err, JW_ERR_USAGE, "--%s needs --index, too", only[i]);
	if (!options_given(options, "index"))
		return 0;
	if (options->operand_count != 1)
		return error_set(err, JW_ERR_USAGE,
						 options->operand_count
							 ? "%s --index takes one package; scan --index takes several"
							 : "%s --index needs the name of a package: NAME or NAME==VERSION",
						 cli->command->name);
	asked->fetching.label = options->operands[0];
	if (index_wheel_open(err, cli, gpus, asked))
		return -1;
	result = jw_index_wheel_get(err, asked->index, options->operands[0], &asked->wheel);
	fetching_end(&asked->fetching);
	if (result) {
		jw_index_close(asked->index);
		asked->index = NULL;
		return -1;
	}
	if (asked->wheel->size_bytes)
		(void)text_bytes(size, asked->wheel->size_bytes);
	output_line(&cli->out, STYLE_PLAIN,
				*size ? "%s (%s), for %s; extras and dependencies are not looked at"
					  : "%s%s, for %s; extras and dependencies are not looked at",
				asked->wheel->name, size, asked->wheel->platform);
	return 0;
}

char *index_wheel_hide_folder(const struct jw_index_wheel *wheel, char *text)
{
	const size_t length = wheel && wheel->folder ? strlen(wheel->folder) : 0;

	for (char *at = text; length && at && (at = strstr(at, wheel->folder));) {
		const char *rest = at + length + (at[length] != 0); /* after the separator */

		memmove(at, rest, strlen(rest) + 1);
	}
	return text;
}
