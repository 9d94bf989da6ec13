#include "cli/parts/prime_text.h"

#include <string.h>

#include <jitwarm/key.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/parts/next_step.h"
#include "os/file.h"

/* ---- CUDA C sources */

enum { MOST_OPTIONS = 4096, NVRTC_LOG_LINES = 60 };

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
static int split_options(struct jw_error *err, const char *text, struct nvrtc_options *options)
{
	char *to = options->text = mem_alloc(2 * strlen(text) + 2);

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

	*ret_options = (struct nvrtc_options){.how = {0}};
	for (size_t i = 0; i < cli->options.operand_count; i++)
		asked = asked || text_ends(cli->options.operands[i], ".cu");
	if (!asked && (text || options_given(&cli->options, "nvrtc")))
		return error_set(err, JW_ERR_USAGE,
						 "--nvrtc is for CUDA C sources (*.cu), and none is named");
	if (split_options(err, text ? text : "", ret_options))
		return -1;
	ret_options->how.where = options_value(&cli->options, "nvrtc");
	ret_options->how.name = options_has(&cli->options, "nvrtc-name")
								? options_value(&cli->options, "nvrtc-name")
								: NULL;
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
			output_log(&cli->out, output_error, source->made->log, NVRTC_LOG_LINES);
		return;
	}
	output_line(&cli->out, STYLE_PLAIN, "%s: compiled by NVRTC %u.%u for %s.", source->path,
				source->nvrtc->major, source->nvrtc->minor, source->made->arch);
	warn_of_isa(cli, source);
}

/* ---- a shared place */

static struct jw_share_options share_options_of(const struct cli *cli,
												const struct registry_given *given)
{
	return (struct jw_share_options){
		.place = options_value(&cli->options, "share"),
		.allow_unsigned = options_given(&cli->options, "share-unsigned"),
		.insecure = given->insecure,
		.insecure_hosts = given->hosts,
		.insecure_host_count = given->host_count,
	};
}

int prime_share_check(struct jw_error *err, const struct cli *cli)
{
	struct registry_given given = {0};
	struct jw_share_options options;
	int failed;

	static const char *const only[] = {"share-unsigned", "sign"};
	const bool share = options_given(&cli->options, "share");

	for (size_t i = 0; !share && i < sizeof only / sizeof *only; i++)
		if (options_typed(&cli->options, only[i]))
			return error_set(err, JW_ERR_USAGE, "--%s is for the place that --share names",
							 only[i]);
	if (!share)
		return 0;
	if (registry_given_read(cli, &given))
		return -1;
	options = share_options_of(cli, &given);
	failed = jw_share_check(err, &options);
	/* A setting's is taken where it is: a mount may come later. */
	if (!failed && options_typed(&cli->options, "share") && !strstr(options.place, "://") &&
		!os_exists(options.place))
		failed = error_set(err, JW_ERR_NOT_FOUND, "%s: no such folder: mkdir it, or mend --share",
						   options.place);
	registry_given_free(&given);
	return failed;
}

/* Whether what others have put there can be taken; also if that cannot be told. */
static bool trusts_a_key(const char *state_dir)
{
	struct jw_keys keys;
	size_t trusted = 0;

	if (jw_key_list(NULL, state_dir, &keys))
		return true;
	for (size_t i = 0; i < keys.count; i++)
		trusted += keys.items[i].trusted;
	jw_keys_free(&keys);
	return trusted;
}

int prime_share_read(struct jw_error *err, const struct cli *cli, struct prime_share *share)
{
	struct jw_export_options key = {0};
	const char *own = options_value(&cli->options, "key");
	bool encrypted;

	if (!options_given(&cli->options, "share"))
		return 0;
	if (registry_given_read(cli, &share->given) ||
		pack_report_key(err, cli, &key, share->passphrase))
		return -1;
	share->options = share_options_of(cli, &share->given);
	own = own ? own : PASSPHRASE_DEFAULT_KEY;
	/* Other machines take only what is signed: a key that needs no passphrase signs unasked. */
	if (!key.sign_key && !share->options.allow_unsigned &&
		!jw_key_is_encrypted(NULL, key.state_dir, own, &encrypted) && !encrypted)
		key.sign_key = own;
	/* A setting's place is no reason not to compile. */
	if (!key.sign_key && !share->options.allow_unsigned && options_typed(&cli->options, "share") &&
		!trusts_a_key(key.state_dir))
		return error_set(
			err, JW_ERR_USAGE,
			"what is there counts only if a trusted key has signed it, and no key is trusted here: "
			"“jitwarm key generate --no-passphrase” on one machine, the line that it shows on "
			"those "
			"with another home, then this command again; or --share-unsigned, which trusts whoever "
			"can write there");
	share->options.sign_key = key.sign_key;
	share->options.passphrase = key.passphrase;
	share->options.state_dir = key.state_dir;
	return 0;
}

void prime_share_print(const struct output *out, const struct prime_share *share,
					   const struct jw_prime_result *result)
{
	const struct jw_shared *shared = &result->shared;
	char time[TEXT_SHORT], bytes[TEXT_SHORT];

	if (shared->fetched)
		output_line(out, STYLE_GOOD, "%s from the shared place (%s), which saved %s of compiling.",
					TEXT_COUNT(shared->fetched, "module", "modules"),
					text_bytes(bytes, shared->fetched_bytes),
					text_duration(time, shared->saved_seconds));
	if (shared->placed)
		output_line(out, STYLE_PLAIN, "%s put there (%s).",
					TEXT_COUNT(shared->placed, "module", "modules"),
					text_bytes(bytes, shared->placed_bytes));
	if (shared->placed && !share->options.sign_key && !share->options.allow_unsigned)
		output_note(out, "they are not signed: other machines need --share-unsigned; --sign signs");
	if (shared->refused)
		output_warning(out, "%s there not taken: %s",
					   TEXT_COUNT(shared->refused, "module", "modules"), shared->refused_why);
	if (shared->unplaced)
		output_warning(out, "%s could not be put there: %s",
					   TEXT_COUNT(shared->unplaced, "module", "modules"), shared->trouble);
	else if (*shared->trouble)
		output_warning(out, "the shared place is used no further: %s", shared->trouble);
}

/* ---- another machine */

static int check_make_usage(struct jw_error *err, const struct options *options)
{
	const char *output = options_value(options, "output");

	if (!options_given(options, "target"))
		return error_set(err, JW_ERR_USAGE,
						 "--target names the other machine's GPU: jitwarm make --target rtx3070 "
						 "--driver 550.163.01 -o lab.jwpack torch");
	if (!output && !options_given(options, "dry-run"))
		return error_set(err, JW_ERR_USAGE,
						 "-o names the pack to write, or the folder of a cache to fill; -n needs "
						 "neither");
	if (output && !strcmp(output, "-"))
		return error_set(err, JW_ERR_USAGE, "-o: name a file");
	if (options_given(options, "sign") && (!output || options_name_folder(output)))
		return error_set(err, JW_ERR_USAGE, "--sign is for the pack that -o names");
	return 0;
}

int target_machine_read(struct jw_error *err, struct cli *cli, struct target_machine *ret_elsewhere,
						struct jw_system_options *how)
{
	const struct options *options = &cli->options;
	const char *output = options_value(options, "output");
	struct target_machine *elsewhere = ret_elsewhere;

	*elsewhere = (struct target_machine){.given = true, .pack = {0}};
	if (check_make_usage(err, options) || gpu_targets_read(err, cli, &elsewhere->gpus))
		return -1;
	if (elsewhere->gpus.named.profile && options_count(options, "driver") > 1)
		return error_set(err, JW_ERR_USAGE, "--driver: a profile names its driver itself");
	if (output && options_name_folder(output))
		how->cache_dir = output;
	else
		elsewhere->pack.output = output;
	how->scratch = !how->cache_dir;
	how->nameless = options_given(options, "dry-run");
	how->probe = false;
	how->targets = elsewhere->gpus.targets;
	how->target_count = elsewhere->gpus.count;
	how->driver = elsewhere->gpus.named.version;
	how->driver_library = elsewhere->gpus.named.library;
	how->driver_profile = elsewhere->gpus.named.profile;
	return 0;
}

int target_machine_lacks_driver(struct jw_error *err, const struct cli *cli)
{
	struct buf line = BUF_MAX(sizeof err->message / 2);
	const bool fetch = options_given(&cli->options, "fetch");

	buf_say(&line, "jitwarm make");
	buf_say(&line, " --driver 550.163.01%s", fetch ? "" : " --fetch");
	shell_add_words(&line, (const char *const *)cli->argv, (size_t)cli->argc);
	error_set(err, JW_ERR_USAGE,
			  "--driver names the other machine's driver, whose version nvidia-smi shows there: "
			  "“%s”",
			  line.lacking ? "--driver 550.163.01" : buf_text(&line));
	buf_free(&line);
	return -1;
}

void target_machine_warn(const struct cli *cli, const struct target_machine *elsewhere)
{
	const struct jw_driver_info *driver = &cli->system->driver;
	char text[JW_DRIVER_TEXT];

	if (elsewhere->given && !driver->stamp[0])
		output_warning(
			&cli->out,
			"the names of entries under driver %s are not known, so that it cannot be told "
			"which modules are warm; “jitwarm make” needs its library or profile (--driver FILE)",
			jw_driver_text(text, &driver->version));
}
