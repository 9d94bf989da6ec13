/* jitwarm key: the keys that sign packs. */
#include <stdio.h>

#include <jitwarm/key.h>

#include "cli/command.h"
#include "cli/document.h"
#include "cli/next_step.h"
#include "cli/output.h"
#include "cli/pack_report.h"

static const struct json_field key_fields[] = {
	JSON(struct jw_key, name, "the name of the key on this machine"),
	JSON(struct jw_key, id, "the id of the key, as minisign writes it"),
	JSON(struct jw_key, public_key, "the text that `minisign -P` takes"),
	JSON(struct jw_key, can_sign, "true: this account has the secret key, so it can sign"),
	JSON(struct jw_key, trusted, "true: `import` accepts packs that the key has signed"),
	JSON(struct jw_key, refused,
		 "why a file of the key is not used: it is damaged, cannot be read, or another account can "
		 "change it; absent if the key is used",
		 .presence = JSON_IF_SET),
	{0},
};

static const struct json_field keys_fields[] = {
	JSON_LIST_OF("keys", struct jw_keys, items, count, JSON_TABLE(struct jw_key, key_fields),
				 "the signing keys and trusted keys, in the order of their names"),
	{0},
};
const struct json_table document_key = {
	.schema = "jitwarm.key/1",
	.text = "Of every `key` command but `distrust`.",
	.fields = keys_fields,
};

static int print_one(struct cli *cli, struct jw_key *key, bool made)
{
	const struct jw_keys keys = {.items = key, .count = 1};
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	output_line(&cli->out, STYLE_GOOD, made ? "New key “%s”, %s" : "Trusted from now on: “%s”, %s",
				key->name, key->id);
	if (made) {
		buf_add(&line, "jitwarm key trust");
		shell_add_word(&line, key->public_key);
		next_step(&cli->out, STYLE_PLAIN, "  on other machines: ", &line);
	}
	return document_print(&cli->out, &document_key, &keys);
}

/* Returns the folder of keys if the number of operands is right. */
static const char *begin_key_command(struct jw_error *err, struct cli *cli, size_t least,
									 size_t most)
{
	size_t count = cli->options.operand_count;

	if (count >= least && count <= most)
		return cli_state(err, cli);
	error_set(err, JW_ERR_USAGE,
			  count < least ? "too few arguments; usage: jitwarm %s %s"
							: "too many arguments; usage: jitwarm %s %s",
			  cli->command->name, cli->command->usage);
	return NULL;
}

static const char *operand(const struct cli *cli, size_t at, const char *otherwise)
{
	return at < cli->options.operand_count ? cli->options.operands[at] : otherwise;
}

static int key_generate_run(struct jw_error *err, struct cli *cli)
{
	const char *state = begin_key_command(err, cli, 0, 1);
	struct jw_key key;

	if (!state || jw_key_generate(err, state, operand(cli, 0, PACKING_DEFAULT_KEY), &key))
		return -1;
	return print_one(cli, &key, true);
}

const struct cli_command command_key_generate = {
	.name = "key generate",
	.summary = "Make a key that signs packs",
	.usage = "[NAME]",
	.description = "Makes a key that signs packs (“jitwarm export --sign”), and trusts it on this "
				   "machine.\n\nThe key has minisign's format. Its name is “default” unless NAME "
				   "is given. Only this account can read the file of the secret key. Keep the file "
				   "secret: everybody who can read it can sign. Other machines accept the packs "
				   "after “jitwarm key trust” with the public key that this command prints.",
	.examples = "jitwarm key generate\njitwarm key generate lab\n",
	.run = key_generate_run,
};

static int key_trust_run(struct jw_error *err, struct cli *cli)
{
	const char *state = begin_key_command(err, cli, 1, 2);
	struct jw_key key;

	if (!state || jw_key_trust(err, state, operand(cli, 1, NULL), operand(cli, 0, ""), &key))
		return -1;
	return print_one(cli, &key, false);
}

const struct cli_command command_key_trust = {
	.name = "key trust",
	.summary = "Accept the packs that a key signs",
	.usage = "FILE|PUBLIC-KEY [NAME]",
	.description =
		"Makes “jitwarm import” accept the packs that this key has signed.\n\nThe argument is "
		"minisign's file of a public key (minisign.pub), or the key itself, 56 characters. Without "
		"a name the key is named by its id. The trusted keys are files NAME.pub in a folder; the "
		"setting “trusted-keys” names another folder, for all accounts of a machine.",
	.examples = "jitwarm key trust lab.pub lab\n",
	.run = key_trust_run,
};

static int key_distrust_run(struct jw_error *err, struct cli *cli)
{
	const char *state = begin_key_command(err, cli, 1, 1), *name = operand(cli, 0, "");

	if (!state || jw_key_distrust(err, state, name))
		return -1;
	output_line(&cli->out, STYLE_GOOD, "“%s” is no longer trusted", name);
	return 0;
}

const struct cli_command command_key_distrust = {
	.name = "key distrust",
	.summary = "Refuse the packs that a key signs",
	.usage = "NAME",
	.description = "Makes “jitwarm import” refuse the packs that this key has signed.\n\nThe key "
				   "is removed under all its names. Imported entries stay in the cache.",
	.examples = "jitwarm key distrust lab\n",
	.run = key_distrust_run,
};

static int print_key_list(struct jw_error *err, const struct output *out,
						  const struct jw_keys *keys)
{
	struct table table = {.columns = 5, .titles = {"name", "id", "signs", "trusted", "public key"}};
	int result;

	for (size_t i = 0; i < keys->count; i++) {
		const struct jw_key *key = &keys->items[i];

		table_name(&table, STYLE_PLAIN, key->name);
		table_name(&table, STYLE_PLAIN, key->id);
		table_cell(&table, STYLE_PLAIN, "%s", key->can_sign ? "yes" : "no");
		table_cell(&table, key->trusted ? STYLE_GOOD : STYLE_WARN, "%s",
				   key->trusted    ? "yes"
				   : *key->refused ? "refused"
								   : "no");
		table_name(&table, STYLE_FAINT, key->public_key);
	}
	result = table_print(err, &table, out);
	for (size_t i = 0; i < keys->count; i++)
		if (*keys->items[i].refused)
			output_note(out, "“%s” is not used: %s", keys->items[i].name, keys->items[i].refused);
	table_free(&table);
	return result;
}

static int key_list_run(struct jw_error *err, struct cli *cli)
{
	const char *state = begin_key_command(err, cli, 0, 0);
	const struct jw_keys none = {0};
	struct jw_keys *found = NULL;
	const struct jw_keys *keys;
	int result = 0;

	if (!cli->stateless && (!state || jw_key_list(err, state, &found)))
		return -1;
	keys = found ? found : &none;
	if ((output_wants_text(&cli->out) && keys->count && print_key_list(err, &cli->out, keys)) ||
		document_print(&cli->out, &document_key, keys))
		result = -1;
	else if (!keys->count && !cli->stateless)
		output_line(&cli->out, STYLE_PLAIN, "No keys: “jitwarm key generate” makes one.");
	jw_result_free(found);
	return result;
}

const struct cli_command command_key_list = {
	.name = "key list",
	.summary = "List your signing keys and the trusted keys",
	.usage = "",
	.description =
		"Lists your own signing keys, and the keys whose packs “jitwarm import” accepts.",
	.examples = "jitwarm key list\n",
	.no_operands = "key list shows every key",
	.reads = true,
	.run = key_list_run,
};
