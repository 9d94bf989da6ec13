#include "cli/parts/cuda_operands.h"

#include <string.h>

#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { MOST_OPTIONS = 4096, MOST_PTX = 1 << 16, LOG_LINES = 60, MOST_TARGETS = 32 };

static bool is_source(const char *name)
{
	return text_ends(name, ".cu") && os_exists(name);
}

int cuda_operands_pick(struct jw_error *err, const struct cli *cli,
					   struct cuda_operands *ret_sources)
{
	struct cuda_operands sources = {0};
	size_t count = cli->options.operand_count;

	sources.others = mem_array(err, count + 1, sizeof *sources.others);
	if (!sources.others)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (is_source(cli->options.operands[i]))
			sources.asked++;
		else
			sources.others[sources.other_count++] = cli->options.operands[i];
	if (!sources.asked &&
		(options_given(&cli->options, "nvrtc-options") || options_given(&cli->options, "nvrtc"))) {
		mem_free(sources.others);
		return error_set(err, JW_ERR_USAGE,
						 "--nvrtc is for CUDA C sources (*.cu), and none is named");
	}
	*ret_sources = sources;
	return 0;
}

/* ---- the options, as a shell reads them */

struct words {
	char *text; /* the words one after the other, each with its NUL */
	const char **items;
	size_t count, capacity;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One word from *at, without its quotes, to `to`. False where a quote is not closed. */
static bool take_word(const char **at, char **to)
{
	char quote = 0;

	for (; **at && (quote || !is_blank(**at)); (*at)++) {
		if (quote ? **at == quote : **at == '"' || **at == '\'') {
			quote = (char)(quote ? 0 : **at);
			continue;
		}
		/* A backslash is literal where it quotes nothing, as in Windows' paths. */
		if (**at == '\\' && quote != '\'' && (*at)[1] && strchr("\"'\\ ", (*at)[1]))
			(*at)++;
		*(*to)++ = **at;
	}
	*(*to)++ = '\0';
	return !quote;
}

static int split(struct jw_error *err, const char *text, struct words *words)
{
	char *to = words->text = mem_alloc(err, 2 * strlen(text) + 2);

	if (!to)
		return -1;
	for (;;) {
		while (is_blank(*text))
			text++;
		if (!*text)
			return 0;
		if (VEC_ROOM(err, words->items, words->capacity, words->count, MOST_OPTIONS))
			return -1;
		words->items[words->count++] = to;
		if (!take_word(&text, &to))
			return error_set(err, JW_ERR_USAGE, "--nvrtc-options: a quote is not closed");
	}
}

/* The plan counts PTX that the driver cannot read; this names the reason. */
static void warn_of_isa(const struct cli *cli, const struct cuda_operands *sources,
						const char *source, const struct jw_nvrtc_result *result)
{
	char driver[JW_DRIVER_TEXT];

	if (result->too_new)
		output_warning(&cli->out,
					   "%s: NVRTC %u.%u writes PTX %u.%u, which is too new for driver %s: --nvrtc "
					   "names another one",
					   source, sources->nvrtc->major, sources->nvrtc->minor, result->isa_major,
					   result->isa_minor, jw_driver_text(driver, &cli->system->driver.version));
}

static void compile_one(struct cli *cli, struct cuda_operands *sources, const char *source,
						struct jw_target device)
{
	struct jw_nvrtc_result result;
	struct jw_error err = {0};

	if (jw_nvrtc_compile(&err, sources->nvrtc, source, device, &result)) {
		cli_end_with(cli, err.code == JW_ERR_UNSUPPORTED ? EXIT_CANNOT : exit_of(err.code));
		output_error(&cli->out, "%s", err.message);
		output_log(&cli->out, output_error, result.log ? result.log : "", LOG_LINES);
	} else {
		output_line(&cli->out, STYLE_PLAIN, "%s: compiled by NVRTC %u.%u for %s.", source,
					sources->nvrtc->major, sources->nvrtc->minor, result.arch);
		warn_of_isa(cli, sources, source, &result);
		if (VEC_ROOM(&err, sources->ptx, sources->capacity, sources->count, MOST_PTX)) {
			cli_fail(cli, &err);
		} else {
			sources->ptx[sources->count++] = result.ptx;
			result.ptx = NULL;
		}
	}
	jw_nvrtc_result_free(&result);
}

/* NVRTC with the options given, which `words` holds: it must outlive the compiling. */
static int open_nvrtc(struct jw_error *err, struct cli *cli, struct words *words,
					  struct jw_nvrtc **ret_nvrtc)
{
	const char *text = options_value(&cli->options, "nvrtc-options");
	struct jw_nvrtc_options how = {.size = sizeof how,
								   .where = options_value(&cli->options, "nvrtc"),
								   .name = options_value(&cli->options, "nvrtc-name"),
								   .driver = cli->system->driver.version,
								   .state_dir = cli->system->state_dir};

	if (split(err, text ? text : "", words) || cli_worker(err, cli, &how.worker))
		return -1;
	how.options = words->items;
	how.option_count = words->count;
	return jw_nvrtc_open(err, &how, ret_nvrtc);
}

void cuda_operands_compile(struct cli *cli, struct cuda_operands *sources)
{
	struct jw_target targets[MOST_TARGETS];
	const size_t target_count = jw_system_targets(cli->system, targets, MOST_TARGETS);
	struct words words = {0};
	struct jw_error err;

	if (!sources->asked)
		return;
	if (open_nvrtc(&err, cli, &words, &sources->nvrtc)) {
		cli_hopeless(&err, cli, JW_ERR_UNSUPPORTED);
		cli_fail(cli, &err);
	}
	for (size_t i = 0; sources->nvrtc && i < cli->options.operand_count; i++)
		for (size_t k = 0; is_source(cli->options.operands[i]) && k < target_count; k++)
			compile_one(cli, sources, cli->options.operands[i], targets[k]);
	mem_free(words.items);
	mem_free(words.text);
}

void cuda_operands_free(struct cuda_operands *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		mem_free(sources->ptx[i]);
	mem_free(sources->ptx);
	mem_free(sources->others);
	jw_nvrtc_close(sources->nvrtc);
	*sources = (struct cuda_operands){0};
}
