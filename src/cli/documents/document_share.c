/* push, pull */
#include "cli/documents/documents.h"

#define PUSHED(member, ...) JSON(struct jw_pushed_pack, member, __VA_ARGS__)
#define PULLED(member, ...) JSON(struct jw_pulled_pack, member, __VA_ARGS__)

static const struct json_field traffic_fields[] = {
	JSON(struct jw_traffic, requests, "to the registry, its realm and its storage"),
	JSON(struct jw_traffic, sent_bytes, "of bodies"),
	JSON(struct jw_traffic, received_bytes, "of bodies"),
	JSON(struct jw_traffic, blobs_sent, "uploaded"),
	JSON(struct jw_traffic, blobs_there, "not uploaded: the repository has them"),
	JSON(struct jw_traffic, resumed, "transfers that were continued after they broke off"),
	{0},
};

static const struct json_field pushed_fields[] = {
	PUSHED(plan, "the tag that follows from its entries: `p-` and 40 hex digits"),
	PUSHED(digest, "of its manifest"),
	PUSHED(targets, "as in `export`"),
	PUSHED(drivers, "as in `export`"),
	PUSHED(entries, "in the pack"),
	PUSHED(missing, "of the plan, not in the cache"),
	PUSHED(pack_bytes, "of the pack"),
	PUSHED(signed_by, "id of the key, where it is signed now", .presence = JSON_IF_SET),
	PUSHED(public_key, "the argument of `key trust` on receiving machines",
		   JSON_IF(struct jw_pushed_pack, signed_by)),
	PUSHED(there, "the registry had exactly this pack"),
	PUSHED(fuller, "the registry has a pack of this plan with more entries, which stays"),
	{0},
};

static const struct json_field push_fields[] = {
	JSON(struct jw_push_result, place, "`HOST/REPOSITORY`"),
	JSON(struct jw_push_result, tag, "that was set beside the plans'", .presence = JSON_IF_SET),
	JSON_LIST_OF("packs", struct jw_push_result, packs, pack_count,
				 JSON_TABLE(struct jw_pushed_pack, pushed_fields), "one for each architecture"),
	JSON_OBJECT_OF("traffic", struct jw_push_result, traffic,
				   JSON_TABLE(struct jw_traffic, traffic_fields), "what went to and fro"),
	JSON(struct jw_push_result, seconds, "wall time"),
	{0},
};
const struct json_table document_push = {
	.schema = "jitwarm.push/1", .fields = push_fields, .size = sizeof(struct jw_push_result)};

static const struct json_field pulled_fields[] = {
	PULLED(plan, "the tag of its plan, as its manifest says", .presence = JSON_IF_SET),
	PULLED(digest, "of its manifest"),
	PULLED(targets, "as its manifest says"),
	PULLED(drivers, "as its manifest says"),
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
	JSON(struct jw_pull_result, missed, "plans of the named files without a pack there"),
	JSON(struct jw_pull_result, failed, "packs that were not imported"),
	JSON_OBJECT_OF("traffic", struct jw_pull_result, traffic,
				   JSON_TABLE(struct jw_traffic, traffic_fields), "what went to and fro"),
	JSON(struct jw_pull_result, seconds, "wall time, with the imports"),
	{0},
};
const struct json_table document_pull = {
	.schema = "jitwarm.pull/1", .fields = pull_fields, .size = sizeof(struct jw_pull_result)};
