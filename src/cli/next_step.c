#include "cli/next_step.h"

#include <jitwarm/tune.h>

#include "base/mem.h"

void next_step(const struct output *output, enum style style, const char *text, struct buf *command)
{
	if (!command) {
		output_line(output, style, "%s", text);
		return;
	}
	if (!command->overflowed)
		output_line_command(output, style, text, buf_text(command));
	buf_free(command);
}

void next_step_fixed(const struct output *output, const char *text, const char *command)
{
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&line, "%s", command);
	next_step(output, STYLE_FAINT, text, &line);
}

void next_step_below(const struct output *output, const char *text, struct buf *command)
{
	if (!command->overflowed)
		output_command(output, text, buf_text(command));
	buf_free(command);
}

void next_step_keep(struct buf *command, const struct options *options, const char *const *names)
{
	const char *value;

	for (; *names; names++) {
		if (options_is_flag(options, *names) && options_given(options, *names))
			buf_add(command, " --%s", *names);
		for (size_t i = 0; (value = options_item(options, *names, i)); i++) {
			buf_add(command, " --%s", *names);
			shell_add_word(command, value);
		}
	}
}

void next_step_names(struct buf *command, const struct options *options)
{
	bool like_option = false;

	for (size_t i = 0; i < options->operand_count; i++)
		like_option = like_option || options->operands[i][0] == '-';
	buf_add(command, "%s", like_option ? " --" : "");
	shell_add_words(command, options->operands, options->operand_count);
}

char *next_step_take(struct buf *command)
{
	const char *begin = buf_text(command);
	char *text = mem_string(begin + (*begin == ' '));

	buf_free(command);
	return text;
}

void next_step_cache(const struct output *output, const struct jw_cache_info *cache)
{
	struct buf line = BUF_MAX(NEXT_STEP_MAX);
	const char *text = "to name another directory where your programs are started";

	/* The warning above already says what to do. */
	if (cache->no_compiler)
		return;
	if (cache->disabled || cache->force_ptx_jit) {
		text = "to see where it is set";
		buf_add(&line, "jitwarm tune");
	} else if (jw_tune_can_apply(JW_SCOPE_USER)) {
		text = "to name another directory";
		buf_add(&line, "jitwarm tune --path DIR --apply");
	} else {
		buf_add(&line, "jitwarm tune --print sh --path DIR");
	}
	next_step_below(output, text, &line);
}
