#include "machine/compiler_gauge.h"

#include "base/mem.h"
#include "machine/driver_query.h"
#include "machine/offline_target.h"
#include "machine/speed_gauge.h"
#include "os/file.h"
#include "state/run_folder.h"
#include "worker/worker_command.h"

enum { COMPILER_LIMIT_S = 2 };

/* As a run does it: a worker starts a process for each module. */
static int ask_compiler(const struct jw_system *system, const char *ptxas, const char *folder,
						const struct jw_cancel *cancel, struct speed_time *ret_time)
{
	struct plan_target target = {.device = system->gpus[0].target};
	const struct plan plan = {
		.profile = profile_of_system(system), .targets = &target, .target_count = 1};
	struct protocol_hello hello = {0};
	struct protocol_answer answer = {0};
	struct speed_gauge gauge;
	struct driver_query ask = {.worker = system->worker,
							   .next = speed_gauge_next,
							   .context = &gauge,
							   .limit_s = COMPILER_LIMIT_S,
							   .cancel = cancel};
	char *file = os_join(NULL, folder, "gauge.fatbin");
	char *cache_dir = os_join(NULL, folder, "gauge-cache"), *task = NULL;
	int result = -1;

	if (file && cache_dir && !os_make_dirs(NULL, cache_dir, 0700) &&
		!offline_write_task(NULL, &plan, ptxas, folder, &task) &&
		!speed_gauge_make(NULL, file, 0, &gauge)) {
		ask.cache_dir = cache_dir;
		ask.task = task;
		ask.job = speed_gauge_first(&gauge);
		result = driver_query(NULL, &ask, &hello, &answer);
		*ret_time = gauge.taken.load;
	}
	mem_free(task);
	mem_free(cache_dir);
	mem_free(file);
	return result;
}

void compiler_gauge(const struct jw_system *system, const char *ptxas,
					const struct jw_cancel *cancel)
{
	const struct jw_driver compiler = {.cuda = system->driver.version.cuda};
	struct run_folder folder = {0};
	struct speed_time time = {0};

	if (!system->state_dir || speed_is_remembered(system->state_dir, &compiler) ||
		run_folder_make(NULL, system->state_dir, &folder))
		return;
	(void)ask_compiler(system, ptxas, folder.path, cancel, &time);
	run_folder_remove(&folder);
	if (!cancel_asked(cancel))
		speed_remember_gauge(system->state_dir, &compiler, &time);
}
