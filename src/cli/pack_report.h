/* Reports on packs that were written or imported, as text and as documents; and how a new pack is
 * signed. */
#pragma once

#include <jitwarm/pack.h>

#include "base/json_table.h"
#include "cli/command.h"

extern const struct json_table document_import; /* struct jw_import_result */
extern const struct json_table document_export;
extern const struct json_table document_export_members; /* the same as a part of another document */
struct export_document {
	const char *file;
	struct jw_export_result result;
};

#define PACKING_SIGN_OPTIONS                                                                        \
	CLI_FLAG("sign", "Sign the pack: write the signature into FILE.minisig"),                       \
		CLI_VALUE("key", "NAME|FILE",                                                               \
				  "Sign with this key instead of “default”: one of “jitwarm key list”, or " \
				  "minisign's file",                                                                \
				  .names = NAMES_FILE_OR_NAME, .setting = true, .rare = true)

#define PACKING_DEFAULT_KEY "default"

/* Stores the state of cli->system, --sign and --key in the options. -1 if the key cannot sign. */
int pack_report_key(struct jw_error *err, const struct cli *cli, struct jw_export_options *options);
void pack_report_print(const struct output *out, const char *file,
					   const struct jw_export_result *result);
void pack_report_import(const struct output *out, const struct jw_import_result *result);
