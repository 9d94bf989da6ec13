#include "cli/documents/documents.h"

#include <stdio.h>

#define ROW(member, ...)              JSON(struct scan_image_document, image.member, __VA_ARGS__)
#define VERDICT(member, ...)          JSON(struct jw_scan_verdicts, member, __VA_ARGS__)
#define VERDICT_AS(name, member, ...) JSON_AS(name, struct jw_scan_verdicts, member, __VA_ARGS__)

static const struct json_field reason_fields[] = {
	VERDICT_AS("exclusive", cannot_exclusive, "an `a` or `f` target"),
	VERDICT_AS("too_new", cannot_too_new,
			   "a PTX version, a kind of entry or machine code that the driver does not know"),
	VERDICT_AS("zstd", cannot_zstd, "compressed in a way that this driver cannot read"),
	VERDICT_AS("damaged", cannot_damaged, NULL),
	{0},
};

/* Rounds to milliseconds; estimates are no more precise. */
static double rounded(double seconds)
{
	return (double)(uint64_t)(seconds * 1000 + 0.5) / 1000;
}

/* The inputs of a link, if there is one. */
static struct jw_scan_work linked(const struct jw_scan_verdicts *verdicts)
{
	return verdicts->link_needed == JW_SCAN_NEED_YES ? verdicts->link_work
													 : (struct jw_scan_work){0};
}

static double start_seconds(const void *values)
{
	const struct jw_scan_verdicts *verdicts = values;

	return rounded(verdicts->work.start.likely + linked(verdicts).start.likely);
}

static double low_seconds(const void *values)
{
	const struct jw_scan_verdicts *verdicts = values;

	return rounded(verdicts->work.start.low + linked(verdicts).start.low);
}

static double high_seconds(const void *values)
{
	const struct jw_scan_verdicts *verdicts = values;

	return rounded(verdicts->work.start.high + linked(verdicts).start.high);
}

static double longest_seconds(const void *values)
{
	const struct jw_scan_verdicts *verdicts = values;
	const double longest = linked(verdicts).longest_seconds;

	return rounded(longest > verdicts->work.longest_seconds ? longest
															: verdicts->work.longest_seconds);
}

static double cache_bytes(const void *values)
{
	const struct jw_scan_verdicts *verdicts = values;

	return (double)(verdicts->work.cache_bytes + linked(verdicts).cache_bytes);
}

static const struct json_field estimate_fields[] = {
	JSON_NUMBER_OF("cpu_seconds", start_seconds, "on one core"),
	JSON_NUMBER_OF("low_seconds", low_seconds, "it takes less in one case of twenty"),
	JSON_NUMBER_OF("high_seconds", high_seconds, "it takes more in one case of twenty"),
	JSON_NUMBER_OF("longest_seconds", longest_seconds, "of the longest module"),
	JSON_NUMBER_OF("cache_bytes", cache_bytes, "growth of the driver's cache"),
	{0},
};

static const struct json_field verdict_fields[] = {
	VERDICT(native, "machine code of exactly this architecture"),
	VERDICT(compatible, "other machine code that runs"),
	VERDICT(link, "relocatable, with usable PTX"),
	VERDICT(jit, "PTX that the driver compiles"),
	VERDICT(cannot, "the code that the driver takes is unusable"),
	VERDICT(nothing, "code for other or newer architectures"),
	VERDICT_AS("jit_modules", work.modules,
			   "distinct pairs of payload and option string that would be compiled"),
	VERDICT_AS("jit_bytes", work.ptx_bytes, "their PTX, decompressed"),
	JSON_OF(
		JSON_MAYBE, "link_needed", struct jw_scan_verdicts, link_needed,
		.text =
			"whether the CUDA runtime links at start for this GPU; `null`: the file does not tell"),
	VERDICT_AS("link_modules", link_work.modules, "as `jit_modules`, of inputs of that link"),
	VERDICT_AS("link_bytes", link_work.ptx_bytes, "their PTX, decompressed"),
	VERDICT_AS("loose_modules", loose_work.modules,
			   "of `jit_modules`: outside the sections that the CUDA runtime registers"),
	VERDICT_AS("loose_bytes", loose_work.ptx_bytes, "their PTX, decompressed"),
	VERDICT(left_out, "`prime` leaves that part out without `--all`"),
	JSON_PART("cannot_reasons", JSON_TABLE(struct jw_scan_verdicts, reason_fields),
			  "the same containers as `cannot`, by reason"),
	JSON_PART("estimate", JSON_TABLE(struct jw_scan_verdicts, estimate_fields),
			  "of compiling `jit_modules` and a link that is needed"),
	{0},
};

static const struct json_field verdict_pair[] = {
	JSON_SAID("sm_120", struct jw_scan_verdicts, target, document_sm, NULL),
	JSON_PART("verdict", JSON_TABLE(struct jw_scan_verdicts, verdict_fields), NULL),
	{0},
};

static const struct json_field count_pair[] = {
	JSON_AS("target", struct jw_scan_count, name, NULL),
	JSON(struct jw_scan_count, entries, NULL),
	{0},
};

static const char *say_compute(char room[JSON_ROOM], const void *target)
{
	return jw_target_compute(room, *(const struct jw_target *)target);
}

static const char *say_isa(char room[JSON_ROOM], const void *values)
{
	const struct jw_scan_module *module = values;

	(void)snprintf(room, JSON_ROOM, "%u.%u", module->isa_major, module->isa_minor);
	return room;
}

static const struct json_field module_fields[] = {
	JSON(struct jw_scan_module, offset, "of its header, in the file or member"),
	JSON(struct jw_scan_module, section, "`\"\"` in loose files"),
	JSON(struct jw_scan_module, kind,
		 "`ptx`, `relocatable-ptx`, `ptx-text`: PTX text in a program's data"),
	JSON_SAID("target", struct jw_scan_module, target, say_compute, "`compute_75`"),
	JSON_SAID_OF("isa", say_isa, "its PTX version, `8.4`"),
	JSON(struct jw_scan_module, options, "`\"\"` where there are none"),
	JSON(struct jw_scan_module, compression, "`none`, `lz4`, `zstd`, `unknown`"),
	JSON(struct jw_scan_module, size_bytes, "decompressed"),
	JSON_AS("blake2b_256", struct jw_scan_module, digest,
			"BLAKE2b-256 of that PTX in hex, as `b2sum -l 256` prints it; `null` where it cannot "
			"be decompressed",
			.presence = JSON_OR_NULL),
	{0},
};

static const struct json_field image_fields[] = {
	ROW(path, "the file"),
	ROW(member, "inside an archive: its name there", .presence = JSON_UNLESS_NULL),
	ROW(size_bytes, "of the file or member"),
	ROW(format, "`elf`, `pe`, `fatbin`, `cubin` or `ptx`"),
	ROW(containers, "fat binaries; a loose cubin or PTX counts as one, as does each PTX text in a "
					"program's data"),
	JSON_MAP_OF("cubins", struct scan_image_document, image.cubins, image.cubin_count,
				JSON_TABLE(struct jw_scan_count, count_pair),
				"entries of machine code by target: `{\"sm_75\": 190, \"sm_90a\": 1376}`"),
	JSON_MAP_OF("ptx", struct scan_image_document, image.ptx, image.ptx_count,
				JSON_TABLE(struct jw_scan_count, count_pair),
				"entries of PTX by target: `{\"compute_120\": 188}`"),
	ROW(ptx_bytes, "all of them, decompressed"),
	JSON_MAP_OF("other", struct scan_image_document, image.other, image.other_count,
				JSON_TABLE(struct jw_scan_count, count_pair),
				"entries of other kinds by name: `lto-ir`, `kind 0x80`"),
	ROW(damaged, "places that look like a container but are not sound"),
	JSON_MAP_OF("verdicts", struct scan_image_document, image.verdicts, image.verdict_count,
				JSON_TABLE(struct jw_scan_verdicts, verdict_pair), "by GPU; `{}` without a GPU"),
	JSON_LIST_OF("modules", struct scan_image_document, image.modules, image.module_count,
				 JSON_TABLE(struct jw_scan_module, module_fields),
				 "with `--modules`: the PTX entries, in the order of the file",
				 JSON_IF(struct scan_image_document, with_modules)),
	{0},
};
const struct json_table document_scan_image = {.fields = image_fields};

#define TOTAL(member, ...) JSON(struct jw_scan_total, member, __VA_ARGS__)

static const struct json_field total_fields[] = {
	JSON_SAID("target", struct jw_scan_total, target, document_sm, "`sm_86`"),
	TOTAL(modules, "that `prime` would compile, each once, whichever files hold it"),
	TOTAL(ptx_bytes, "their PTX, decompressed"),
	TOTAL(left_out, "modules that `prime` leaves out without `--all`"),
	JSON_OBJECT_OF("forecast", struct jw_scan_total, forecast, &document_forecast,
				   "what compiling them takes on this machine"),
	{0},
};

static const struct json_field scan_fields[] = {
	JSON_READY_OF("files", struct scan_document, files, &document_scan_image,
				  "each file, and each member of an archive, that holds device code"),
	JSON_LIST_OF("totals", struct scan_document, totals, total_count,
				 JSON_TABLE(struct jw_scan_total, total_fields),
				 "all files together, an object for each GPU; `[]` without a GPU"),
	{0},
};
const struct json_table document_scan = {
	.schema = "jitwarm.scan/1",
	.fields = scan_fields,
	.end = "A verdict counts containers, each under the first that holds of `native` to `nothing`.",
};
