/* export, import, import-all, store, key */
#include "cli/documents/documents.h"

#define EXPORT(member, ...) JSON(struct export_document, result.member, __VA_ARGS__)
#define IMPORT(member, ...) JSON(struct jw_import_result, member, __VA_ARGS__)

static const struct json_field export_fields[] = {
	JSON(struct export_document, file, "the pack"),
	EXPORT(targets, "the GPUs of its entries: `sm_70 sm_86`"),
	EXPORT(drivers, "the drivers of its entries: `550.163.01`"),
	EXPORT(blake2b_512, "of the file, as `b2sum` prints it"),
	EXPORT(signed_by, "id of the key, where the pack is signed", .presence = JSON_IF_SET),
	EXPORT(public_key, "the argument of `key trust` on receiving machines",
		   JSON_IF(struct export_document, result.signed_by)),
	EXPORT(entries, "in the pack"),
	EXPORT(modules, "the distinct PTX modules that they were compiled from"),
	EXPORT(cubins, "the distinct cubins"),
	EXPORT(entry_bytes, "of the entries' files"),
	EXPORT(content_bytes, "of distinct modules and cubins"),
	EXPORT(pack_bytes, "of the pack"),
	EXPORT(other_drivers, "left out: entries of other drivers"),
	EXPORT(other_targets, "left out: for other GPUs than `--arch` names"),
	EXPORT(not_cuda, "left out: of OpenCL, or of an unknown form"),
	EXPORT(unsuited, "left out: kinds of entries that a pack cannot hold"),
	EXPORT(carried, "left out: carried over from an older driver"),
	EXPORT(damaged, "left out: damaged"),
	EXPORT(unreadable, "left out: files that this account may not read, or the disk cannot"),
	EXPORT(seconds, "wall time"),
	{0},
};
const struct json_table document_export_members = {.fields = export_fields};
const struct json_table document_export = {.schema = "jitwarm.export/1", .fields = export_fields};

static const char *const verdict_names[] = {
	[JW_IMPORT_NEW] = "accepted",
	[JW_IMPORT_THERE] = "there",
	[JW_IMPORT_REFUSED] = "refused",
	[JW_IMPORT_REFUSED + 1] = NULL,
};

static const struct json_field group_fields[] = {
	JSON(struct jw_import_group, verdict, "`accepted`, `there`, `refused`", .names = verdict_names),
	JSON(struct jw_import_group, target, "`sm_86`"),
	JSON(struct jw_import_group, driver, "that compiled them: `550.163.01 (CUDA 12.4)`"),
	JSON(struct jw_import_group, carried, "inserted under this driver's stamp"),
	JSON(struct jw_import_group, entries, "their number"),
	JSON(struct jw_import_group, why, "of refused ones: each field that does not fit",
		 .presence = JSON_IF_SET),
	{0},
};

static const struct json_field import_fields[] = {
	IMPORT(path, "the cache directory"),
	IMPORT(signed_by, "name of the trusted key, where one signed it", .presence = JSON_IF_SET),
	IMPORT(dry_run, "nothing was written"),
	IMPORT(entries, "in the pack: `accepted` + `there` + `refused`"),
	IMPORT(accepted, "new to the cache"),
	IMPORT(there, "in it already"),
	IMPORT(refused, "not for this machine"),
	IMPORT(added, "new entries that were written"),
	IMPORT(replaced, "entries that replaced others of the same name"),
	IMPORT(evicted, "with `dry_run`: old entries of others that would have to be evicted for them, "
					"so that nothing is imported"),
	IMPORT(evicted_bytes, "the size of these entries"),
	IMPORT(added_bytes, "growth of the cache"),
	IMPORT(content_bytes, "of modules and cubins"),
	IMPORT(pack_bytes, "of the file"),
	IMPORT(seconds, "wall time"),
	JSON_LIST_OF("groups", struct jw_import_result, groups, group_count,
				 JSON_TABLE(struct jw_import_group, group_fields),
				 "entries by verdict, GPU, driver and reason",
				 JSON_EACH_IF(struct jw_import_group, entries)),
	{0},
};
const struct json_table document_import = {.schema = "jitwarm.import/1", .fields = import_fields};

static const struct json_field account_fields[] = {
	JSON_AS("account", struct jw_import_account, name, "its name"),
	JSON_POINTER_OF("import", struct jw_import_account, result, &document_import, NULL),
	JSON_AS("failed", struct jw_import_account, failed.message, "one line, instead of `import`",
			.presence = JSON_IF_SET),
	{0},
};

static const struct json_field all_fields[] = {
	JSON_LIST_OF("accounts", struct jw_import_all_result, accounts, count,
				 JSON_TABLE(struct jw_import_account, account_fields), NULL),
	{0},
};
const struct json_table document_import_all = {
	.schema = "jitwarm.import-all/1",
	.text = "`import --all-users`.",
	.fields = all_fields,
};

static const struct json_field pack_fields[] = {
	JSON(struct jw_store_pack, name, "the file in the store"),
	JSON(struct jw_store_pack, targets, "as in `export`"),
	JSON(struct jw_store_pack, drivers, "as in `export`"),
	JSON(struct jw_store_pack, entries, "as in `export`"),
	JSON(struct jw_store_pack, content_bytes, "as in `export`"),
	JSON_AS("pack_bytes", struct jw_store_pack, bytes, "of the file"),
	JSON_NUMBERED("mtime_s", struct jw_store_pack, mtime_ns, document_whole_seconds,
				  "seconds since 1970"),
	JSON(struct jw_store_pack, damage, "a line, where it cannot be read", .presence = JSON_IF_SET),
	{0},
};

static const struct json_field store_fields[] = {
	JSON(struct jw_store, path, "the folder"),
	JSON(struct jw_store, bytes, "of all packs"),
	JSON_LIST_OF("packs", struct jw_store, packs, count,
				 JSON_TABLE(struct jw_store_pack, pack_fields), "the oldest first"),
	{0},
};
const struct json_table document_store = {.schema = "jitwarm.store/1", .fields = store_fields};

static const struct json_field key_fields[] = {
	JSON(struct jw_key, name, "its name here"),
	JSON(struct jw_key, id, "as minisign writes it"),
	JSON(struct jw_key, public_key, "the text that `minisign -P` takes"),
	JSON(struct jw_key, can_sign, "there is a secret key"),
	JSON(struct jw_key, encrypted, "the secret key has a passphrase"),
	JSON(struct jw_key, trusted, "`import` takes packs that it signed"),
	{0},
};

static const struct json_field keys_fields[] = {
	JSON_LIST_OF("keys", struct jw_keys, items, count, JSON_TABLE(struct jw_key, key_fields),
				 "in the order of their names"),
	{0},
};
const struct json_table document_key = {
	.schema = "jitwarm.key/1",
	.text = "Of every `key` command but `distrust`.",
	.fields = keys_fields,
};
