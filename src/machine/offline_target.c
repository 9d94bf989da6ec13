#include "machine/offline_target.h"

#include "os/file.h"
#include "os/identity.h"
#include "worker/task.h"

int offline_write_task(struct jw_error *err, const struct plan *plan, const char *ptxas,
					   const char *folder, char **ret_task)
{
	cJSON *object = cJSON_CreateObject(), *targets;
	bool complete = cJSON_AddStringToObject(object, "compiler", "ptxas") &&
					cJSON_AddStringToObject(object, "program", ptxas) &&
					cJSON_AddStringToObject(object, "stamp", plan->profile.stamp) &&
					(targets = cJSON_AddArrayToObject(object, "targets"));

	for (size_t i = 0; complete && i < plan->target_count; i++)
		complete = cJSON_AddItemToArray(targets, cJSON_CreateNumber(plan->targets[i].device.sm));
	if (!complete) {
		cJSON_Delete(object);
		object = NULL;
	}
	return task_write(err, folder, object, ret_task);
}

int offline_make_cache(struct jw_error *err, const char *cache_dir)
{
	struct os_account account;
	bool superuser;

	if (os_exists(cache_dir) || os_account(NULL, &account))
		return 0;
	superuser = account.superuser;
	os_account_free(&account);
	if (!superuser)
		return 0;
	return os_make_shared_dirs(err, cache_dir, 0755);
}
