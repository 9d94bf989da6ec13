/* What `doctor` prints. */
#pragma once

#include "cli/documents/documents.h"

/* "sudo -u ollama jitwarm prime torch"; the caller frees it. */
char *doctor_text_command(struct jw_error *err, const struct doctor_words *words,
						  const struct jw_finding *finding);

void doctor_text(const struct output *out, const struct jw_system *system,
				 const struct doctor_document *document);
/* One block to paste, with the machine, and without folders and the account's name. */
int doctor_text_report(struct jw_error *err, const struct output *out,
					   const struct jw_system *system, const struct doctor_document *document);
