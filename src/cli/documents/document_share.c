/* push, pull */
#include "cli/documents/documents.h"

#define PUSHED(member, ...) JSON(struct jw_pushed_pack, member, __VA_ARGS__)
#define PULLED(member, ...) JSON(struct jw_pulled_pack, member, __VA_ARGS__)

static const struct json_field pushed_fields[] = {
	PUSHED(tag, "that was set"),
	PUSHED(targets, "as in `export`"),
	PUSHED(drivers, "as in `export`"),
	PUSHED(entries, "in the pack"),
	PUSHED(pack_bytes, "of the pack"),
	PUSHED(signed_by, "id of the key, where it is signed now", .presence = JSON_IF_SET),
	PUSHED(public_key, "the argument of `key trust` on receiving machines",
		   JSON_IF(struct jw_pushed_pack, signed_by)),
	{0},
};

static const struct json_field push_fields[] = {
	JSON(struct jw_push_result, place, "`HOST/REPOSITORY`"),
	JSON_LIST_OF("packs", struct jw_push_result, packs, pack_count,
				 JSON_TABLE(struct jw_pushed_pack, pushed_fields), "one for each architecture"),
	JSON(struct jw_push_result, seconds, "wall time"),
	{0},
};
const struct json_table document_push = {
	.schema = "jitwarm.push/1", .fields = push_fields, .size = sizeof(struct jw_push_result)};

static const struct json_field pulled_fields[] = {
	PULLED(tag, "that was asked for"),
	PULLED(pack_bytes, "of the pack"),
	JSON_POINTER_OF("import", struct jw_pulled_pack, import, &document_import, NULL),
	JSON_AS("failed", struct jw_pulled_pack, failed.message, "one line, instead of `import`",
			.presence = JSON_IF_SET),
	{0},
};

static const struct json_field pull_fields[] = {
	JSON(struct jw_pull_result, place, "`HOST/REPOSITORY`"),
	JSON_LIST_OF("packs", struct jw_pull_result, packs, pack_count,
				 JSON_TABLE(struct jw_pulled_pack, pulled_fields), "in the order of their imports"),
	JSON(struct jw_pull_result, failed, "packs that were not imported"),
	JSON(struct jw_pull_result, seconds, "wall time, with the imports"),
	{0},
};
const struct json_table document_pull = {
	.schema = "jitwarm.pull/1", .fields = pull_fields, .size = sizeof(struct jw_pull_result)};
