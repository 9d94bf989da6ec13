#include "cli/documents/documents.h"

static const struct json_field finding_fields[] = {
	JSON(struct jw_finding, id, "what it is: the table in `doctor.md`"),
	JSON(struct jw_finding, hopeless, "nothing that jitwarm or this account can do helps"),
	JSON(struct jw_finding, evidence, "a line: what is wrong, and where that is seen"),
	JSON(struct jw_finding, fix, "a line: what to do"),
	JSON_LINES_OF(
		"command", struct jw_finding, command, word_count,
		"the arguments with which `--fix` calls jitwarm; empty where a user has to do it"),
	{0},
};

static const char *const probe_names[] = {
	[JW_PROBE_NOT] = "not asked", [JW_PROBE_HIT] = "hit",       [JW_PROBE_REFUSED] = "refused",
	[JW_PROBE_UNREAD] = "unread", [JW_PROBE_FAILED] = "failed", [JW_PROBE_FAILED + 1] = NULL,
};

static const struct json_field process_fields[] = {
	JSON(struct doctor_document, process.pid, "its number"),
	JSON(struct doctor_document, process.name, "its program"),
	JSON(struct doctor_document, process.driver, "it has loaded NVIDIA's driver"),
	JSON(struct doctor_document, process.compiler,
		 "it has loaded the driver's compiler: it has compiled or linked something"),
	JSON(struct doctor_document, process.others, "compilers with results of their own"),
	{0},
};

static const struct json_field doctor_fields[] = {
	JSON_LIST_OF("findings", struct doctor_document, result.findings, result.finding_count,
				 JSON_TABLE(struct jw_finding, finding_fields),
				 "the likeliest cause first; empty where all is well"),
	JSON_AS("probe", struct doctor_document, result.probe,
			"what the driver did with a tiny module that it was given twice: `hit`, `refused` (it "
			"stored no entry), `unread` (it compiled it again), `failed` or `not asked`",
			.names = probe_names),
	JSON(struct doctor_document, result.probe_entry, "the file of that module's entry",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct doctor_document, result.warm, "modules in the cache"),
	JSON(struct doctor_document, result.cold, "modules that a start compiles"),
	JSON_ROW("process", JSON_OBJECT, .table = JSON_TABLE(struct doctor_document, process_fields),
			 .text = "with `--pid`", JSON_IF(struct doctor_document, process.pid)),
	JSON_LINES_OF("fixed", struct doctor_document, fixed, fixed_count,
				  "with `--fix`: the commands that were run"),
	{0},
};
const struct json_table document_doctor = {.schema = "jitwarm.doctor/1", .fields = doctor_fields};
