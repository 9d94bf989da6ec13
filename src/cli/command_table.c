#include "cli/command_table.h"

/* One line a command, in the order of help. */
/* clang-format off */
#define COMMANDS(X) \
	X(status) \
	X(scan) \
	X(find) \
	X(check) \
	X(prime) \
	X(bake) \
	X(bake_list) \
	X(bake_verify) \
	X(lint) \
	X(doctor) \
	X(watch) \
	X(report) \
	X(run) \
	X(record) \
	X(export) \
	X(import) \
	X(push) \
	X(pull) \
	X(store_list) \
	X(store_verify) \
	X(store_gc) \
	X(store_remove) \
	X(key_generate) \
	X(key_import) \
	X(key_trust) \
	X(key_distrust) \
	X(key_list) \
	X(cache_list) \
	X(cache_verify) \
	X(tune) \
	X(cache_prune) \
	X(startup_enable) \
	X(startup_disable) \
	X(startup_status) \
	X(uninstall) \
	X(compiler_fetch) \
	X(completion) \
	X(complete) \
	X(worker) \
	X(help)
/* clang-format on */

#define DECLARE(name) extern const struct cli_command command_##name;
#define REFER(name)   &command_##name,

COMMANDS(DECLARE)

const struct cli_command *const command_table[] = {COMMANDS(REFER) NULL};
