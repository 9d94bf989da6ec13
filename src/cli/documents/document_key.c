#include <jitwarm/key.h>

#include "cli/documents/documents.h"

static const struct json_field key_fields[] = {
	JSON(struct jw_key, name, "its name here"),
	JSON(struct jw_key, id, "as minisign writes it"),
	JSON(struct jw_key, public_key, "the text that `minisign -P` takes"),
	JSON(struct jw_key, can_sign, "there is a secret key"),
	JSON(struct jw_key, encrypted, "the secret key has a passphrase"),
	JSON(struct jw_key, trusted, "`import` takes packs that it signed"),
	{0},
};
static const struct json_table key_table = JSON_TABLE(struct jw_key, key_fields);

static const struct json_field fields[] = {
	JSON_LIST_OF("keys", struct jw_keys, items, count, &key_table, "in the order of their names"),
	{0},
};
const struct json_table document_key = {
	.schema = "jitwarm.key/1",
	.text = "Of every `key` command but `distrust`.",
	.fields = fields,
};
