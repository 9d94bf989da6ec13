/* The --json documents of prime and status (docs/json.md), and what several commands print alike.
 */
#ifndef JW_CLI_PARTS_DOCUMENTS_H
#define JW_CLI_PARTS_DOCUMENTS_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include <jitwarm/accounts.h>
#include <jitwarm/find.h>
#include <jitwarm/prime.h>
#include <jitwarm/system.h>

#include "cli/options.h"
#include "cli/output.h"

/* Each is NULL when memory is short; output_json takes it. */
/* `options`: those of the command, for the commands that reproduce its failures. */
cJSON *document_prime(const struct jw_prime_result *result, const struct options *options);
cJSON *document_status(const struct jw_system *system, size_t carried,
					   const struct jw_other_cache *others, size_t other_count);
/* The "gpus" of several documents. */
cJSON *document_gpus(const struct jw_system *system);

/* A member, or an element of an array, of whatever bytes: what is no UTF-8 becomes U+FFFD. A member
 * whose text is NULL is left out. False when memory is short. */
void document_add_count(cJSON *object, const char *name, uint64_t value);
bool document_add_text(cJSON *object, const char *name, const char *text);
bool document_append_text(cJSON *array, const char *text);

/* What jw_find had to say about names: notes, and warnings for names that led to nothing. */
void found_print_notes(const struct output *output, const struct jw_found *found);

#endif
