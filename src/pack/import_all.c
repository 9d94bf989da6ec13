/* jw_import_all: imports a pack into every person's account. */
#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "base/sized.h"
#include "os/accounts.h"
#include "pack/import.h"

/* A damaged folder of one account must not keep the others from their import. */
static int import_for(struct jw_error *err, const struct jw_import_options *given,
					  const struct jw_account *account, struct jw_import_all_result *all)
{
	struct jw_import_account *made = &all->accounts[all->count++];
	struct jw_import_options options = *given;
	char *dir;

	made->name = mem_string(err, account->name);
	if (!made->name)
		return -1;
	if (os_account_cache_dir(&made->failed, account, &dir)) {
		all->failed++;
		return made->failed.code == JW_ERR_UNSUPPORTED ? 0 : error_copy(err, &made->failed);
	}
	options.account = account;
	options.cache_dir = dir;
	all->failed += import_one(&made->failed, &options, NULL, &made->result) != 0;
	mem_free(dir);
	return made->failed.code == JW_ERR_INTERRUPTED || made->failed.code == JW_ERR_MEMORY
			   ? error_copy(err, &made->failed)
			   : 0;
}

static int import_for_each(struct jw_error *err, const struct jw_import_options *options,
						   const struct jw_accounts *accounts, struct jw_import_all_result *all)
{
	if (!accounts->count)
		return error_set(err, JW_ERR_NOT_FOUND, "no account of a person has a folder here");
	all->accounts = mem_array(err, accounts->count, sizeof *all->accounts);
	if (!all->accounts)
		return -1;
	for (size_t i = 0; i < accounts->count; i++)
		if (import_for(err, options, &accounts->items[i], all))
			return -1;
	return 0;
}

int jw_import_all(struct jw_error *err, const struct jw_import_options *options,
				  struct jw_import_all_result **ret_result)
{
	options = SIZED(err, options, struct jw_import_options);
	if (!options)
		return -1;
	struct jw_accounts accounts = {0};
	struct jw_import_all_result *all = NULL;
	int result = -1;

	if (!(options->system && import_needs_stamp(err, options->system)) &&
		!import_check_pack(err, options) && !jw_accounts_people(err, &accounts))
		all = mem_alloc(err, sizeof *all);
	if (all)
		result = import_for_each(err, options, &accounts, all);
	jw_accounts_free(&accounts);
	if (result)
		jw_import_all_result_free(all);
	else
		*ret_result = all;
	return result;
}

void jw_import_all_result_free(struct jw_import_all_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->count; i++) {
		mem_free(result->accounts[i].name);
		jw_import_result_free(result->accounts[i].result);
	}
	mem_free(result->accounts);
	mem_free(result);
}
