/* What prime does with the store: before it compiles, and after. */
#ifndef JW_CLI_PARTS_STORE_STEPS_H
#define JW_CLI_PARTS_STORE_STEPS_H

#include <jitwarm/store.h>
#include <jitwarm/system.h>

#include "cli/command.h"

#define STORED_OPTION                                                                              \
	{                                                                                              \
		.name = "no-store", .kind = OPTION_FLAG,                                                   \
		.help = "Neither take from the store what was compiled before nor keep there what is "     \
				"compiled now"                                                                     \
	}

/* Not with --no-store, JITWARM_STORE=0 or --cache. */
bool store_step_is_used(const struct cli *cli, const struct jw_system *system);
/* `keys`: names of the entries that are wanted; with --dry-run it is only said what would come
 * back. Both do nothing where it is not used. What goes wrong is a warning: the run itself does not
 * depend on it. */
void store_step_refill(struct cli *cli, const struct jw_system *system, const uint64_t *keys,
					   size_t count, struct jw_store_refilled *ret_refilled);
/* `from_store` of the document, where there is anything to say. */
void store_step_document(cJSON *document, const struct jw_store_refilled *refilled);
void store_step_keep(struct cli *cli, const struct jw_system *system);

#endif
