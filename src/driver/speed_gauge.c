#include "driver/speed_gauge.h"

#include <string.h>

#include "base/mem.h"
#include "code/container.h"
#include "code/write.h"
#include "driver/driver_session.h"
#include "driver/environment.h"
#include "driver/run_folder.h"
#include "driver/task.h"
#include "gauge_ptx.h"
#include "os/file.h"

/* Repetitions of the part between the marks, of 30 statements: 21 and 5 ms by the model. */
enum { LARGE = 24, SMALL = 3, MOST_TEXT = 256 << 10 };

/* A comment at the end gives each module another cache entry. Restores the dot of .version
 * (cmake/EmbedText.cmake). */
static int add_gauge_module(struct jw_error *err, struct buf *file, unsigned number,
							struct plan_module *ret_module)
{
	static const char begin[] = "// begin\n", end[] = "// end\n";
	const char *block = strstr(gauge_ptx, begin) + sizeof begin - 1, *rest = strstr(block, end);
	struct buf text = BUF_MAX(MOST_TEXT);
	struct write_ptx ptx = {.isa_major = 6, .target = {.sm = 52}, .compression = DEVCODE_RAW};
	int result;

	(void)buf_append(NULL, &text, gauge_ptx, (size_t)(block - gauge_ptx));
	text.data[strchr(gauge_ptx, '@') - gauge_ptx] = '.';
	for (unsigned i = 0; i < (number % 2 ? SMALL : LARGE); i++)
		(void)buf_append(NULL, &text, block, (size_t)(rest - block));
	(void)buf_printf(NULL, &text, "%s// %u\n", rest, number);
	ptx.payload = buf_text(&text);
	ptx.payload_size = text.size + 1;
	*ret_module = (struct plan_module){.form = CACHE_KEY_LOAD,
									   .payload_bytes = ptx.payload_size,
									   .features = plan_features_of(ptx.payload, text.size)};
	result = write_container(err, &ptx, file);
	buf_free(&text);
	return result;
}

int speed_gauge_make(struct jw_error *err, const char *path, int device,
					 struct speed_gauge *ret_gauge)
{
	struct speed_gauge gauge = {
		.job = {.device = device, .form = CACHE_KEY_LOAD, .entry_offset = CONTAINER_HEADER}};
	struct buf file = BUF_MAX(GAUGE_MODULES * MOST_TEXT);
	int result = -1;

	if (strlen(path) >= sizeof gauge.job.path) {
		error_set(err, JW_ERR_USAGE, "%s: the path is too long", path);
		goto done;
	}
	memcpy(gauge.job.path, path, strlen(path) + 1);
	for (unsigned i = 0; i < GAUGE_MODULES; i++) {
		if (add_gauge_module(err, &file, i, &gauge.modules[i % 2]))
			goto done;
		gauge.ends[i + 1] = file.size;
	}
	if (os_write_atomic(err, path, file.data, file.size))
		goto done;
	*ret_gauge = gauge;
	result = 0;
done:
	buf_free(&file);
	return result;
}

static bool has_time(const struct speed_gauge *gauge)
{
	return gauge->taken.small.wall_ms + gauge->taken.large.wall_ms + gauge->longest_ms <=
		   GAUGE_LIMIT_MS;
}

static const struct protocol_job *next_gauge_job(struct speed_gauge *gauge)
{
	struct protocol_job *job = &gauge->job;

	job->id = gauge->sent + 1;
	job->offset = gauge->ends[gauge->sent];
	job->size_bytes = gauge->ends[gauge->sent + 1] - job->offset;
	gauge->sent++;
	return job;
}

const struct protocol_job *speed_gauge_next(void *context, const struct protocol_answer *answer)
{
	struct speed_gauge *gauge = context;

	if (answer->result || answer->sticky || answer->no_context)
		return NULL;
	if (gauge->sent) {
		const unsigned small = (gauge->sent - 1) % 2;

		speed_take(small ? &gauge->taken.small : &gauge->taken.large, &gauge->modules[small],
				   answer->cpu_ms, answer->wall_ms);
		gauge->longest_ms =
			answer->wall_ms > gauge->longest_ms ? answer->wall_ms : gauge->longest_ms;
	}
	return gauge->sent == GAUGE_MODULES || !has_time(gauge) ? NULL : next_gauge_job(gauge);
}

enum { COMPILER_LIMIT_S = 2 };

/* As a run does it: a worker starts a process for each module. */
static int ask_compiler(const struct jw_system *system, const char *ptxas, const char *folder,
						const struct jw_cancel *cancel, struct speed_sizes *ret_sizes)
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
	char *file = os_join(folder, "gauge.fatbin");
	char *cache_dir = os_join(folder, "gauge-cache"), *task = NULL;
	int result = -1;

	if (!os_make_dirs(NULL, cache_dir, 0700) &&
		!task_write_ptxas(NULL, &plan, ptxas, folder, &task) &&
		!speed_gauge_make(NULL, file, 0, &gauge)) {
		ask.cache_dir = cache_dir;
		ask.task = task;
		ask.job = next_gauge_job(&gauge);
		result = driver_query(NULL, &ask, &hello, &answer);
		*ret_sizes = gauge.taken;
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
	struct speed_sizes sizes = {0};

	if (!system->state_dir || speed_is_remembered(system->state_dir, &compiler) ||
		run_folder_make(NULL, system->state_dir, &folder))
		return;
	(void)ask_compiler(system, ptxas, folder.path, cancel, &sizes);
	run_folder_remove(&folder);
	if (!cancel_asked(cancel))
		(void)speed_remember_gauge(system->state_dir, &compiler, &sizes);
}
