/* A run's place of objects (run/remote.h). */
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "os/clock.h"
#include "os/file.h"
#include "run/run_state.h"
#include "run/share_order.h"
#include "worker/collect.h"
#include "worker/object_protocol.h"

static const uint64_t SECOND_NS = 1000000000;

/* A silent place is given up after this time in all, a slow one after a longer one, and as much
 * again as it has saved, and a tenth of the work. That our own process begins is not its fault. */
enum { SILENCE_S = 2, SLOWNESS_S = 10, SHARE_OF_WORK = 10, BEGIN_S = 15 };
/* A compressed entry is smaller than the entry, whose size is a prediction. */
enum { PACK_TIMES = 8, PACK_SPARE = 16 << 20 };

static const struct plan_module *planned(const struct run *run, size_t index)
{
	return &run->setup->plan->modules[index];
}

/* From now on everything is compiled here. */
static void give_up_place(struct run *run, const char *why)
{
	struct remote *remote = &run->remote;

	if (remote->gone)
		return;
	remote->gone = true;
	TEXT_COPY(run->result->shared.trouble, why);
	run_remote_end(run);
}

static void send_to_place(struct run *run, size_t index, enum object_what what)
{
	const struct plan_module *module = planned(run, index);
	const struct remote_module *known = &run->remote.modules[index];
	const struct object_job job = {
		.id = index,
		.what = what,
		.key = module->key,
		.sm = run->setup->plan->targets[module->target].device.sm,
		.most_bytes = PACK_SPARE + PACK_TIMES * (module->key_bytes + module->entry_bytes),
		.seconds = share_claim_seconds(module->cost_ms),
		.dead = share_dead_claim(known, os_monotonic_ns()),
	};
	struct buf line = BUF_MAX(PROTOCOL_MOST_LINE);
	struct jw_error why = {0};

	run->remote.asked += what != OBJECT_PUT;
	run->remote.putting += what == OBJECT_PUT;
	if (object_put_job(&why, &line, &job))
		buf_free(&line);
	else if (!child_send_line(&why, run->remote.child, &line))
		return;
	give_up_place(run, why.message);
}

/* ---- what comes from there */

/* The module is compiled here if its entry cannot be inserted. */
static bool insert_fetched(struct run *run, size_t index, struct jw_error *why)
{
	const struct plan_module *module = planned(run, index);
	char *folder = object_folder(why, run->remote.folder, module->key);
	struct collected entry = {.what = COLLECTED, .key = module->key};
	int64_t grown_bytes = 0;
	bool done = false;

	entry.path = folder ? cache_entry_path(why, folder, module->key) : NULL;
	if (entry.path &&
		!collect_insert(why, run->setup->live, &entry, run->setup->plan, module, &grown_bytes)) {
		run_inserted(run, index, grown_bytes, NULL);
		done = true;
	} else if (entry.path && why->code == JW_ERR_BUSY) {
		done = !insert_backlog_add(NULL, &run->later, run->setup->plan, index, entry.path, why);
	}
	if (folder)
		(void)os_remove_tree(NULL, folder);
	mem_free(entry.path);
	mem_free(folder);
	return done;
}

/* Nobody else's claim changes that. */
static void refuse_object(struct run *run, struct remote_module *known, const char *why)
{
	struct jw_shared *shared = &run->result->shared;

	known->state = REMOTE_OURS;
	if (!shared->refused++)
		TEXT_COPY(shared->refused_why, why);
}

static void take_here(struct run *run, size_t index, const struct object_answer *answer)
{
	struct remote_module *known = &run->remote.modules[index];
	struct jw_shared *shared = &run->result->shared;
	struct jw_error why = {0};

	/* The time budget may have ended meanwhile. */
	if (!job_queue_take_this(&run->queue, index))
		return;
	known->state = REMOTE_FETCHED;
	if (insert_fetched(run, index, &why)) {
		shared->fetched++;
		shared->fetched_bytes += answer->bytes;
		shared->saved_seconds += planned(run, index)->cost_ms / 1000;
		return;
	}
	job_queue_return(&run->queue, index);
	if (why.code == JW_ERR_FORMAT)
		refuse_object(run, known, why.message);
	else
		run_break_off_with(run, &why);
}

static void take_placed(struct run *run, size_t index, const struct object_answer *answer)
{
	struct jw_shared *shared = &run->result->shared;

	run->remote.modules[index].state = REMOTE_DONE;
	shared->placed += answer->said == OBJECT_PLACED;
	shared->placed_bytes += answer->said == OBJECT_PLACED ? answer->bytes : 0;
	if (answer->said != OBJECT_PLACED && *answer->why && !*shared->trouble)
		TEXT_COPY(shared->trouble, answer->why);
}

static void take_answer_of_place(struct run *run, const struct object_answer *answer)
{
	const size_t index = (size_t)answer->id;
	struct remote_module *known = &run->remote.modules[index];

	if (answer->said == OBJECT_GONE)
		give_up_place(run, answer->why);
	else if (answer->what == OBJECT_PUT)
		take_placed(run, index, answer);
	else if (answer->said == OBJECT_HERE)
		take_here(run, index, answer);
	else if (answer->said == OBJECT_THEIRS)
		share_see_claim(known, planned(run, index)->cost_ms, os_monotonic_ns(), answer->claim,
						answer->seconds);
	else if (*answer->why)
		refuse_object(run, known, answer->why);
	else
		known->state = answer->said == OBJECT_OURS ? REMOTE_OURS : REMOTE_MISSING;
}

/* Each module has at most one request under way. */
static bool is_awaited(const struct run *run, const struct object_answer *answer)
{
	static const enum remote_state states[OBJECT_WHATS] = {REMOTE_LOOKING, REMOTE_CLAIMING,
														   REMOTE_PUTTING};

	return answer->id < run->setup->plan->module_count &&
		   run->remote.modules[answer->id].state == states[answer->what];
}

static int on_place_line(struct jw_error *err, void *context, const char *line, size_t size)
{
	struct run *run = context;
	struct remote *remote = &run->remote;
	struct object_answer answer;

	if (object_get_answer(err, line, size, &answer))
		return -1;
	remote->heard_ns = os_monotonic_ns();
	remote->greeted = true;
	if (run->stopping || remote->gone || answer.said == OBJECT_BEAT)
		return 0;
	if (!is_awaited(run, &answer))
		return error_set(err, JW_ERR_FORMAT, "an answer that was not asked for");
	if (answer.what == OBJECT_PUT)
		remote->putting--;
	else
		remote->asked--;
	take_answer_of_place(run, &answer);
	run_remote_step(run);
	return 0;
}

static void on_place_end(void *context, struct child *child, const struct child_end *how)
{
	struct run *run = context;
	char text[256], why[512];

	(void)child;
	run->remote.child = NULL;
	if (run->remote.gone || run->stopping || how->killed)
		return;
	(void)snprintf(why, sizeof why, "%s: its process %s%s%.*s", run->setup->share->place,
				   child_end_text(text, sizeof text, how), *how->said ? ": " : "",
				   (int)strcspn(how->said, "\n"), how->said);
	give_up_place(run, why);
}

/* ---- what is asked for */

static size_t idle_workers(const struct run *run)
{
	const unsigned most =
		run->memory.allowed < run->setup->workers ? run->memory.allowed : run->setup->workers;
	const unsigned busy = run_busy_workers(run);

	return most > busy ? most - busy : 0;
}

/* As many as idle workers can begin. */
static void claim_for_idle(struct run *run, uint64_t now)
{
	struct job_queue *queue = &run->queue;
	size_t under_way = run_remote_ready(run);
	const size_t idle = idle_workers(run);

	for (size_t i = queue->next; i < queue->count; i++)
		under_way += run->remote.modules[queue->order[i]].state == REMOTE_CLAIMING;
	for (size_t i = queue->next; !run->remote.gone && i < queue->count && under_way < idle; i++) {
		struct remote_module *known = &run->remote.modules[queue->order[i]];

		if (!share_may_claim(known, now))
			continue;
		known->state = REMOTE_CLAIMING;
		send_to_place(run, queue->order[i], OBJECT_CLAIM);
		under_way++;
	}
}

static void look_at_waiting(struct run *run, uint64_t now)
{
	struct remote *remote = &run->remote;
	const double allowed_s =
		SLOWNESS_S + run->result->shared.saved_seconds +
		run->progress.total_weight / 1000 / SHARE_OF_WORK / run->setup->workers;
	const int silence_s = remote->greeted ? SILENCE_S : BEGIN_S;
	char why[512] = "";

	if (remote->idle && remote->greeted)
		remote->waited_ns += now - remote->stepped_ns;
	remote->stepped_ns = now;
	remote->idle = remote->asked && idle_workers(run) && !run_remote_ready(run);
	if ((remote->idle || remote->putting) &&
		now - remote->heard_ns > (uint64_t)silence_s * SECOND_NS)
		(void)snprintf(why, sizeof why, "%s: no answer within %d seconds", run->setup->share->place,
					   SILENCE_S);
	else if ((double)remote->waited_ns / 1e9 > allowed_s)
		(void)snprintf(why, sizeof why, "%s: it costs more time than it saves",
					   run->setup->share->place);
	if (!remote->asked && !remote->putting)
		remote->heard_ns = now;
	if (*why)
		give_up_place(run, why);
}

void run_remote_step(struct run *run)
{
	const uint64_t now = os_monotonic_ns();

	if (!run->remote.modules || run->remote.gone || run->stopping)
		return;
	look_at_waiting(run, now);
	for (size_t i = 0; run->remote.to_put && i < run->setup->plan->module_count; i++)
		if (run->remote.modules[i].state == REMOTE_TO_PUT) {
			run->remote.to_put--;
			run->remote.modules[i].state = REMOTE_PUTTING;
			send_to_place(run, i, OBJECT_PUT);
		}
	if (!run->remote.gone)
		claim_for_idle(run, now);
}

bool run_remote_is_needed(const struct run *run)
{
	return run->remote.modules && !run->remote.gone && !run->stopping &&
		   (run->remote.to_put || run->remote.putting ||
			job_queue_peek(&run->queue) != QUEUE_EMPTY);
}

/* ---- begin and end */

static int turn_order(struct jw_error *err, struct run *run)
{
	struct job_queue *queue = &run->queue;
	struct share_turn *turns = mem_array(err, queue->count, sizeof *turns);
	uint64_t node;
	int result;

	if (!turns)
		return -1;
	randombytes_buf(&node, sizeof node);
	for (size_t i = 0; i < queue->count; i++) {
		const struct plan_module *module = planned(run, queue->order[i]);

		turns[i] = (struct share_turn){queue->order[i], module->key, module->cost_ms};
	}
	result = share_order(err, node, turns, queue->count);
	for (size_t i = 0; !result && i < queue->count; i++)
		queue->order[i] = turns[i].module;
	mem_free(turns);
	return result;
}

static int start_for_place(struct run *run)
{
	struct remote *remote = &run->remote;
	const struct object_setup known = {remote->folder, run->setup->system, run->setup->share};
	const struct child_setup setup = {
		.command = run->setup->worker, .cache_dir = remote->folder, .task = OBJECT_TASK};
	const struct child_events events = {.context = run, .line = on_place_line, .end = on_place_end};
	struct buf line = BUF_MAX(PROTOCOL_MOST_LINE);
	int result = child_start(run->err, &run->loop, &setup, &events, &remote->child);

	if (!result)
		result = object_put_setup(run->err, &line, &known);
	if (!result)
		result = child_send_line(run->err, remote->child, &line);
	else
		buf_free(&line);
	return result;
}

int run_remote_open(struct run *run)
{
	struct remote *remote = &run->remote;
	const struct job_queue *queue = &run->queue;

	if (!run->setup->share || !run->setup->live || !queue->count)
		return 0;
	if (sodium_init() < 0)
		return error_set(run->err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	remote->folder = os_join(run->err, run->setup->folder, "share");
	remote->modules = mem_array(run->err, run->setup->plan->module_count, sizeof *remote->modules);
	if (!remote->folder || !remote->modules || os_make_dirs(run->err, remote->folder, 0700) ||
		turn_order(run->err, run) || start_for_place(run))
		return -1;
	remote->heard_ns = remote->stepped_ns = os_monotonic_ns();
	for (size_t i = 0; i < queue->count && !remote->gone; i++)
		send_to_place(run, queue->order[i], OBJECT_LOOK);
	return 0;
}

void run_remote_end(struct run *run)
{
	if (run->remote.child)
		child_kill(run->remote.child);
}

void run_remote_free(struct run *run)
{
	mem_free(run->remote.folder);
	mem_free(run->remote.modules);
}
