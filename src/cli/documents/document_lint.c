#include "cli/documents/documents.h"

const char *const lint_level_names[] = {
	[JW_LINT_NOTE] = "note",
	[JW_LINT_WARNING] = "warning",
	[JW_LINT_ERROR] = "error",
	[JW_LINT_ERROR + 1] = NULL,
};
static const char *const kind_names[] = {
	[JW_LINT_COMPILES] = "compiles",
	[JW_LINT_FAILS] = "fails",
	[JW_LINT_FAILS + 1] = NULL,
};

#define LINT_GPU(member, ...) JSON(struct jw_lint_gpu, member, __VA_ARGS__)

static const struct json_field lint_gpu_fields[] = {
	JSON_SAID("target", struct jw_lint_gpu, target, document_sm, NULL),
	LINT_GPU(level,
			 "`error`: beyond the bound, or a program fails; `warning`: something is compiled, and "
			 "there is no bound",
			 .names = lint_level_names),
	LINT_GPU(modules, "that the first start compiles, each once"),
	LINT_GPU(failing, "files with which a program fails on this GPU"),
	LINT_GPU(ptx_bytes, "of these modules, decompressed"),
	JSON_OBJECT_OF("start_seconds", struct jw_lint_gpu, start, &document_span,
				   "the first start on one core, with run-time linking"),
	JSON_SAID("code", struct jw_lint_gpu, code, document_sm,
			  "one of `codes`: it spares that; empty: none is missing"),
	{0},
};

#define LINT_CODE(member, ...) JSON(struct jw_lint_code, member, __VA_ARGS__)

static const struct json_field code_fields[] = {
	JSON_SAID("target", struct jw_lint_code, target, document_sm, "of `-gencode`"),
	LINT_CODE(
		cuda,
		"the first CUDA version whose compiler makes it, 12080 for 12.8; 0: older than known"),
	LINT_CODE(bytes, "its size as predicted, uncompressed; 0: unknown, since there is no PTX"),
	{0},
};

#define FINDING(member, ...) JSON(struct jw_lint_finding, member, __VA_ARGS__)

static const struct json_field finding_fields[] = {
	FINDING(kind, NULL, .names = kind_names),
	FINDING(level, "that of the GPU", .names = lint_level_names),
	JSON_SAID("target", struct jw_lint_finding, target, document_sm, NULL),
	FINDING(path, NULL),
	FINDING(member, "inside an archive", .presence = JSON_UNLESS_NULL),
	FINDING(why, "with `fails`", .presence = JSON_UNLESS_NULL),
	FINDING(modules, "of this library; one that several libraries hold counts in each"),
	FINDING(ptx_bytes, "of these modules, decompressed"),
	JSON_OBJECT_OF("start_seconds", struct jw_lint_finding, start, &document_span,
				   "they take, on one core"),
	{0},
};

static const struct json_field lint_fields[] = {
	JSON_LIST_OF("gpus", struct jw_lint_result, gpus, gpu_count,
				 JSON_TABLE(struct jw_lint_gpu, lint_gpu_fields), "in the order of `--gpus`"),
	JSON_LIST_OF("codes", struct jw_lint_result, codes, code_count,
				 JSON_TABLE(struct jw_lint_code, code_fields),
				 "missing machine code: `-gencode arch=compute_90,code=sm_90` for `sm_90`"),
	JSON_LIST_OF("findings", struct jw_lint_result, findings, finding_count,
				 JSON_TABLE(struct jw_lint_finding, finding_fields), "of one library on one GPU"),
	JSON_LINES_OF("troubles", struct jw_lint_result, troubles, trouble_count,
				  "files that could not be read, or hold damaged device code, with the reason"),
	JSON(struct jw_lint_result, images, "files and members of archives with device code"),
	JSON(struct jw_lint_result, damaged,
		 "places in them that look like device code but are unsound"),
	{0},
};

const struct json_table document_lint = {.schema = "jitwarm.lint/1", .fields = lint_fields};
