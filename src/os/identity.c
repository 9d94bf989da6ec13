#include "os/identity.h"

#include "base/mem.h"

static void account_free(const struct jw_account *account)
{
	mem_free(account->name);
	mem_free(account->home);
	mem_free(account->id);
}

void jw_accounts_free(struct jw_accounts *accounts)
{
	for (size_t i = 0; i < accounts->count; i++)
		account_free(&accounts->items[i]);
	mem_free(accounts->items);
	*accounts = (struct jw_accounts){0};
}

int accounts_add(struct jw_error *err, struct jw_accounts *accounts,
				 const struct jw_account *account)
{
	if (!account->name || !account->home || !account->id ||
		VEC_ROOM(err, accounts->items, accounts->capacity, accounts->count, ACCOUNTS_MOST)) {
		account_free(account);
		return -1;
	}
	accounts->items[accounts->count++] = *account;
	return 0;
}
