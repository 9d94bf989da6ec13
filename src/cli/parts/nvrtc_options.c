#include "cli/parts/nvrtc_options.h"

#include <string.h>

#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"

enum { MOST_OPTIONS = 4096, LOG_LINES = 60 };

/* Copies one word from *at to `to` without its quotes. False if a quote is not closed. */
static bool take_option_word(const char **at, char **to)
{
	char quote = 0;

	for (; **at && (quote || !text_is_blank(**at)); (*at)++) {
		if (quote ? **at == quote : **at == '"' || **at == '\'') {
			quote = (char)(quote ? 0 : **at);
			continue;
		}
		/* A backslash that quotes nothing is literal, as in Windows paths. */
		if (**at == '\\' && quote != '\'' && (*at)[1] && strchr("\"'\\ ", (*at)[1]))
			(*at)++;
		*(*to)++ = **at;
	}
	*(*to)++ = '\0';
	return !quote;
}

/* Splits the options as a shell does. */
static int split(struct jw_error *err, const char *text, struct nvrtc_options *options)
{
	char *to = options->text = mem_alloc(err, 2 * strlen(text) + 2);

	if (!to)
		return -1;
	for (;;) {
		while (text_is_blank(*text))
			text++;
		if (!*text)
			return 0;
		if (VEC_ROOM(err, options->words, options->capacity, options->how.option_count,
					 MOST_OPTIONS))
			return -1;
		options->words[options->how.option_count++] = to;
		if (!take_option_word(&text, &to))
			return error_set(err, JW_ERR_USAGE, "--nvrtc-options: a quote is not closed");
	}
}

int nvrtc_options_read(struct jw_error *err, const struct cli *cli,
					   struct nvrtc_options *ret_options)
{
	const char *text = options_value(&cli->options, "nvrtc-options");
	bool asked = false;

	*ret_options = (struct nvrtc_options){.how = JW_NVRTC_OPTIONS_INIT};
	for (size_t i = 0; i < cli->options.operand_count; i++)
		asked = asked || text_ends(cli->options.operands[i], ".cu");
	if (!asked && (text || options_given(&cli->options, "nvrtc")))
		return error_set(err, JW_ERR_USAGE,
						 "--nvrtc is for CUDA C sources (*.cu), and none is named");
	if (split(err, text ? text : "", ret_options))
		return -1;
	ret_options->how.where = options_value(&cli->options, "nvrtc");
	ret_options->how.name = options_value(&cli->options, "nvrtc-name");
	ret_options->how.options = ret_options->words;
	return 0;
}

/* The plan only counts PTX that the driver cannot read; this warning gives the reason. */
static void warn_of_isa(const struct cli *cli, const struct jw_prime_source *source)
{
	const struct jw_nvrtc *nvrtc = source->nvrtc;
	char driver[JW_DRIVER_TEXT];

	if (source->made->too_new)
		output_warning(&cli->out,
					   "%s: NVRTC %u.%u writes PTX %u.%u, which is too new for driver %s: --nvrtc "
					   "names another one",
					   source->path, nvrtc->major, nvrtc->minor, source->made->isa_major,
					   source->made->isa_minor,
					   jw_driver_text(driver, &cli->system->driver.version));
}

void nvrtc_options_print(struct cli *cli, const struct jw_prime_source *source)
{
	const struct jw_error *failed = &source->failed;

	if (failed->code) {
		cli_end_with(cli, failed->code == JW_ERR_UNSUPPORTED ? EXIT_CANNOT : exit_of(failed->code));
		output_error(&cli->out, "%s", failed->message);
		if (source->made && source->made->log)
			output_log(&cli->out, output_error, source->made->log, LOG_LINES);
		return;
	}
	output_line(&cli->out, STYLE_PLAIN, "%s: compiled by NVRTC %u.%u for %s.", source->path,
				source->nvrtc->major, source->nvrtc->minor, source->made->arch);
	warn_of_isa(cli, source);
}

void nvrtc_options_free(struct nvrtc_options *options)
{
	mem_free(options->words);
	mem_free(options->text);
}
