/* What `lint` prints: for people, and as commands of GitHub's workflows. */
#pragma once

#include <jitwarm/find.h>
#include <jitwarm/lint.h>

#include "cli/output.h"

struct lint_bound {
	bool set;
	double most_start_s;
};

int lint_text_print(struct jw_error *err, const struct output *out,
					const struct jw_lint_result *result, const struct lint_bound *bound);
/* ::error file=…,title=…::… for each GPU on which something is the matter, and for each file that
 * was not judged. */
void lint_github_print(const struct output *out, const struct jw_found *found,
					   const struct jw_lint_result *result, const struct lint_bound *bound);
