#include "cli/index_wheel.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "os/interrupt.h"

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
