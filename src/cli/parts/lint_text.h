/* What `lint` prints: for people, as commands of GitHub's workflows, as SARIF. */
#pragma once

#include <jitwarm/find.h>
#include <jitwarm/lint.h>

#include "cli/output.h"

struct lint_bound {
	bool set;
	double most_start_s;
};

/* The -gencode that spares what a GPU lacks; returns `text`. */
#define LINT_GENCODE 64
const char *lint_gencode(char text[LINT_GENCODE], struct jw_target code);
/* What is the matter on a GPU, in one line; `text` is empty where nothing is. */
void lint_say_gpu(struct buf *text, const struct jw_lint_gpu *gpu, const struct lint_bound *bound);
/* The same of one finding, without the file's name. */
void lint_say_finding(struct buf *text, const struct jw_lint_finding *finding);

int lint_text_print(struct jw_error *err, const struct output *out,
					const struct jw_lint_result *result, const struct lint_bound *bound);
/* ::error file=…,title=…::… for each GPU on which something is the matter, and for each file that
 * was not judged. */
void lint_github_print(const struct output *out, const struct jw_found *found,
					   const struct jw_lint_result *result, const struct lint_bound *bound);
/* SARIF 2.1.0, a result for each finding; what was not judged is a notification. */
int lint_sarif_print(struct jw_error *err, struct output *out, const struct jw_found *found,
					 const struct jw_lint_result *result, const struct lint_bound *bound);
/* Why the next file was not judged; NULL after the last one. *cursor begins at 0. */
const char *lint_trouble_next(const struct jw_found *found, const struct jw_lint_result *result,
							  size_t *cursor);
