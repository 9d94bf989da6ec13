/* jitwarm key: the keys that sign packs. */
#include <stdio.h>

#include <jitwarm/key.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/passphrase.h"
#include "cli/table.h"
#include "os/folders.h"

static enum exit_status print_one(struct cli *cli, struct jw_key *key, const char *what)
{
	const struct jw_keys keys = {.items = key, .count = 1};

	output_line(&cli->out, STYLE_GOOD, "%s “%s”, %s", what, key->name, key->id);
	output_line(&cli->out, STYLE_PLAIN, "  public key %s", key->public_key);
	return cli_end(cli, EXIT_DONE, &document_key, &keys);
}

/* The folder of keys; the caller frees it. */
static int begin(struct jw_error *err, const struct cli *cli, size_t least, size_t most,
				 char **ret_state)
{
	size_t count = cli->options.operand_count;

	if (count < least || count > most)
		return error_set(err, JW_ERR_USAGE,
						 count < least ? "something is missing: %s %s" : "that is too much: %s %s",
						 cli->command->name, cli->command->usage);
	return os_state_dir(err, ret_state);
}

static const char *operand(const struct cli *cli, size_t at, const char *otherwise)
{
	return at < cli->options.operand_count ? cli->options.operands[at] : otherwise;
}

/* ---- generate */

static enum exit_status generate_run(struct cli *cli)
{
	bool none = options_given(&cli->options, "no-passphrase");
	char room[PASSPHRASE_SIZE] = "";
	struct jw_error err = {0};
	char *state = NULL;
	struct jw_key key;
	enum exit_status status;

	if (begin(&err, cli, 0, 1, &state) ||
		(!none &&
		 passphrase_ask(&err, &cli->options, "Passphrase for the new key: ", true, room)) ||
		jw_key_generate(&err, state, operand(cli, 0, PASSPHRASE_DEFAULT_KEY), none ? NULL : room,
						&key))
		status = cli_fail(cli, &err);
	else
		status = print_one(cli, &key, "New key");
	passphrase_forget(room);
	mem_free(state);
	return status;
}

static const struct cli_option generate_options[] = {
	CLI_FLAG("no-passphrase",
			 "Leave the secret key unencrypted: every reader of its file can sign"),
	PASSPHRASE_OPTION,
	{0}};

const struct cli_command command_key_generate = {
	.name = "key generate",
	.summary = "Make a key that signs packs",
	.usage = "[--no-passphrase] [NAME]",
	.description = "Makes a key pair for “jitwarm export --sign”, in minisign's format, and trusts "
				   "it. The name is “default” unless one is given. The secret key is readable only "
				   "for you and encrypted with a passphrase.\n\nOther machines accept its packs "
				   "after “jitwarm key trust” with the public key that is printed here.",
	.options = generate_options,
	.run = generate_run,
};

/* ---- import */

static enum exit_status import_run(struct cli *cli)
{
	char room[PASSPHRASE_SIZE] = "";
	const char *passphrase = NULL;
	struct jw_error err = {0};
	char *state = NULL;
	struct jw_key key;
	enum exit_status status;

	if (begin(&err, cli, 1, 2, &state) ||
		passphrase_of_key(&err, &cli->options, state, operand(cli, 0, ""), room, &passphrase) ||
		jw_key_import(&err, state, operand(cli, 1, PASSPHRASE_DEFAULT_KEY), operand(cli, 0, ""),
					  passphrase, &key))
		status = cli_fail(cli, &err);
	else
		status = print_one(cli, &key, "Taken over as");
	passphrase_forget(room);
	mem_free(state);
	return status;
}

static const struct cli_option import_options[] = {PASSPHRASE_OPTION, {0}};

const struct cli_command command_key_import = {
	.name = "key import",
	.summary = "Import a secret key of minisign",
	.usage = "FILE [NAME]",
	.description = "Copies a secret key of minisign for “jitwarm export --sign” under that name "
				   "(“default” unless one is given), and trusts it. It stays encrypted; its "
				   "passphrase is asked for once, to read the public key.",
	.options = import_options,
	.run = import_run,
};

/* ---- trust, distrust */

static enum exit_status trust_run(struct cli *cli)
{
	struct jw_error err = {0};
	char *state = NULL;
	struct jw_key key;
	enum exit_status status;

	if (begin(&err, cli, 1, 2, &state) ||
		jw_key_trust(&err, state, operand(cli, 1, NULL), operand(cli, 0, ""), &key))
		status = cli_fail(cli, &err);
	else
		status = print_one(cli, &key, "Trusted from now on:");
	mem_free(state);
	return status;
}

const struct cli_command command_key_trust = {
	.name = "key trust",
	.summary = "Accept the packs that a key signs",
	.usage = "FILE|PUBLIC-KEY [NAME]",
	.description = "“jitwarm import” then accepts packs that this key signed. The key is "
				   "minisign's file of a public key (minisign.pub), or the key itself, 56 "
				   "characters; without a name its id is its name.",
	.run = trust_run,
};

static enum exit_status distrust_run(struct cli *cli)
{
	struct jw_error err = {0};
	char *state = NULL;
	enum exit_status status = EXIT_DONE;

	if (begin(&err, cli, 1, 1, &state) || jw_key_distrust(&err, state, operand(cli, 0, "")))
		status = cli_fail(cli, &err);
	else
		output_line(&cli->out, STYLE_GOOD, "“%s” is trusted no longer", operand(cli, 0, ""));
	mem_free(state);
	return status;
}

const struct cli_command command_key_distrust = {
	.name = "key distrust",
	.summary = "No longer accept the packs that a key signs",
	.usage = "NAME",
	.description = "Reverts “jitwarm key trust”. Imported entries stay.",
	.run = distrust_run,
};

/* ---- list */

static int print_list(struct jw_error *err, const struct output *out, const struct jw_keys *keys)
{
	struct table table = {0};
	int result;

	table_column(&table, "name", TABLE_LEFT);
	table_column(&table, "id", TABLE_LEFT);
	table_column(&table, "signs", TABLE_LEFT);
	table_column(&table, "trusted", TABLE_LEFT);
	table_column(&table, "public key", TABLE_LEFT);
	for (size_t i = 0; i < keys->count; i++) {
		const struct jw_key *key = &keys->items[i];

		table_cell(&table, STYLE_PLAIN, "%s", key->name);
		table_cell(&table, STYLE_PLAIN, "%s", key->id);
		table_cell(&table, STYLE_PLAIN, "%s",
				   !key->can_sign   ? "no"
				   : key->encrypted ? "with a passphrase"
									: "yes");
		table_cell(&table, key->trusted ? STYLE_GOOD : STYLE_WARN, "%s",
				   key->trusted ? "yes" : "no");
		table_cell(&table, STYLE_FAINT, "%s", key->public_key);
	}
	result = table_print(err, &table, out);
	table_free(&table);
	return result;
}

static enum exit_status list_run(struct cli *cli)
{
	struct jw_error err = {0};
	struct jw_keys keys = {0};
	enum exit_status status = EXIT_DONE;
	char *state = NULL;

	if (begin(&err, cli, 0, 0, &state) || jw_key_list(&err, state, &keys) ||
		(output_wants_text(&cli->out) && keys.count && print_list(&err, &cli->out, &keys)) ||
		document_print(&err, &cli->out, &document_key, &keys))
		status = cli_fail(cli, &err);
	else if (!keys.count)
		output_line(&cli->out, STYLE_PLAIN, "No keys: “jitwarm key generate” makes one.");
	jw_keys_free(&keys);
	mem_free(state);
	return status;
}

const struct cli_command command_key_list = {
	.name = "key list",
	.summary = "List your signing keys and the trusted ones",
	.usage = "",
	.description = "Lists your own keys, and those whose packs “jitwarm import” accepts.",
	.run = list_run,
};
