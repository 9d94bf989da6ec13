/* bake */
#include "cli/documents/documents.h"

#define FILE_MEMBER(member, ...) JSON(struct jw_bake_file, member, __VA_ARGS__)

static const char *say_range_end(char room[JSON_ROOM], const void *driver)
{
	return ((const struct jw_driver *)driver)->cuda ? document_driver(room, driver) : "";
}

static const struct json_field baked_drivers_fields[] = {
	JSON_SAID("from", struct jw_bake_file, from, say_range_end,
			  "the first driver that loads the code in the copy; with an older one programs fail",
			  .presence = JSON_IF_SET),
	JSON_SAID(
		"to", struct jw_bake_file, to, say_range_end,
		"the newest with which such code was measured; newer ones are expected to load it too",
		.presence = JSON_IF_SET),
	{0},
};

static const struct json_field baked_file_fields[] = {
	FILE_MEMBER(path, "the library, or the package that it is a member of"),
	FILE_MEMBER(member, "of a wheel", .presence = JSON_UNLESS_NULL),
	FILE_MEMBER(output, "its copy; of a member the new package", .presence = JSON_UNLESS_NULL),
	FILE_MEMBER(modules,
				"containers that the driver would compile or the CUDA runtime link, once for each "
				"GPU: `baked` + `no_room` + `uncompiled` + `unknown` + `unlinked`, unless "
				"`dry_run`"),
	FILE_MEMBER(baked, "have machine code in the copy"),
	FILE_MEMBER(no_room, "too small for it, and cannot move"),
	FILE_MEMBER(uncompiled, "their machine code is not in the cache"),
	FILE_MEMBER(unknown, "of a form that is not written, or that the driver does not load"),
	FILE_MEMBER(texts, "PTX texts in the program's data, which cannot be replaced"),
	FILE_MEMBER(linked, "of `baked`: results of device linking, which no start links again"),
	FILE_MEMBER(unlinked,
				"results of device linking that could not be made: a start may still link them"),
	FILE_MEMBER(
		moved,
		"containers that got another place at the end of the copy, since their own had no room"),
	FILE_MEMBER(size_before_bytes, "of the library"),
	FILE_MEMBER(size_after_bytes, "of the copy"),
	JSON_PART("drivers", JSON_TABLE(struct jw_bake_file, baked_drivers_fields),
			  "the drivers that the copy is for; empty without one"),
	JSON_AS("failed", struct jw_bake_file, failed.message, "one line: why there is no copy",
			.presence = JSON_IF_SET),
	{0},
};

static const struct json_field bake_fields[] = {
	JSON(struct bake_document, dry_run, "nothing was compiled or written"),
	JSON_SAID("driver", struct bake_document, result.driver, document_driver,
			  "whose compiler's code this is"),
	JSON(struct bake_document, result.uncompiled, "modules that could not be compiled"),
	JSON_AS("uncompiled_why", struct bake_document, result.uncompiled_why.message,
			"one line: the first of them, and why", .presence = JSON_IF_SET),
	JSON(struct bake_document, result.interrupted, "by Ctrl-C"),
	JSON_LIST_OF("files", struct bake_document, result.files, result.file_count,
				 JSON_TABLE(struct jw_bake_file, baked_file_fields),
				 "the libraries with something to bake"),
	{0},
};
const struct json_table document_bake = {.schema = "jitwarm.bake/1", .fields = bake_fields};

#define VERIFIED(member, ...) JSON(struct jw_bake_verified, member, __VA_ARGS__)

static const struct json_field verified_bake_fields[] = {
	VERIFIED(path, "the library"),
	VERIFIED(containers, "that a start loads, once for each GPU architecture"),
	VERIFIED(refused, "of these: the driver did not load them"),
	VERIFIED(too_old,
			 "of these: the driver is too old for their code, and a program that loads them fails"),
	VERIFIED(entries, "that loading them added to an empty cache"),
	VERIFIED(compiler_opened, "the driver opened its compiler library, which links too"),
	JSON_AS("failed", struct jw_bake_verified, failed.message,
			"one line: why nothing can be said of it", .presence = JSON_IF_SET),
	{0},
};

static const struct json_field bake_verify_fields[] = {
	JSON_LIST_OF("files", struct jw_bake_verify_result, items, count,
				 JSON_TABLE(struct jw_bake_verified, verified_bake_fields), "the libraries"),
	{0},
};
const struct json_table document_bake_verify = {
	.schema = "jitwarm.bake-verify/1",
	.fields = bake_verify_fields,
};
