/* A run's shared folder (work/remote.h). */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "driver/collect.h"
#include "driver/protocol.h"
#include "os/clock.h"
#include "os/file.h"
#include "work/supervisor.h"

static const uint64_t REMOTE_MS = 1000000, REMOTE_SECOND = 1000000000;

/* ---- which node compiles what, if many nodes want the same modules and nothing coordinates
 * them */

/* The wait before a claimed module is asked for again. */
enum { AGAIN_MS = 250, MAX_RETRY_MS = 5000 };

static int by_node_turn(const void *a, const void *b)
{
	const struct remote_turn *left = a, *right = b;

	if (left->dear != right->dear)
		return left->dear > right->dear ? -1 : 1;
	return left->turn < right->turn ? -1 : left->turn > right->turn;
}

void remote_order(uint64_t node, struct remote_turn *turns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		turns[i].turn = fnv_update(fnv_update(FNV_START, &node, sizeof node), &turns[i].key,
								   sizeof turns[i].key);
		turns[i].dear = 0;
		for (uint64_t ms = turns[i].cost_ms > 0 ? (uint64_t)turns[i].cost_ms : 0; ms; ms /= 2)
			turns[i].dear++;
	}
	qsort(turns, count, sizeof *turns, by_node_turn);
}

bool remote_may_claim(const struct remote_module *known, uint64_t now_ns)
{
	return !known->asked && (known->state == REMOTE_MISSING ||
							 (known->state == REMOTE_THEIRS && now_ns >= known->until_ns));
}

bool remote_may_ask(const struct remote_module *known, uint64_t now_ns)
{
	return !known->asked && (known->state == REMOTE_MISSING || known->state == REMOTE_THEIRS) &&
		   now_ns >= known->again_ns;
}

uint64_t remote_dead_claim(const struct remote_module *known, uint64_t now_ns)
{
	return known->until_ns && now_ns >= known->until_ns ? known->claim : 0;
}

void remote_see_nothing(struct remote_module *known, double cost_ms, uint64_t now_ns)
{
	uint64_t again_ms = (uint64_t)(cost_ms / 2);

	again_ms = again_ms < AGAIN_MS ? AGAIN_MS : again_ms > MAX_RETRY_MS ? MAX_RETRY_MS : again_ms;
	known->again_ns = now_ns + again_ms * REMOTE_MS;
	if (known->state == REMOTE_THEIRS && known->again_ns > known->until_ns)
		known->again_ns = known->until_ns;
}

void remote_see_claim(struct remote_module *known, double cost_ms, uint64_t now_ns, uint64_t claim)
{
	const uint64_t life_ns =
		REMOTE_CLAIM_SPARE_S * REMOTE_SECOND + REMOTE_CLAIM_TIMES * (uint64_t)cost_ms * REMOTE_MS;

	if (!known->last_ns)
		known->last_ns = now_ns + 2 * life_ns;
	if (claim != known->claim) {
		known->claim = claim;
		known->until_ns = now_ns + life_ns < known->last_ns ? now_ns + life_ns : known->last_ns;
	}
	known->state = now_ns < known->last_ns ? REMOTE_THEIRS : REMOTE_OURS;
	remote_see_nothing(known, cost_ms, now_ns);
}

/* ---- when the run stops using the folder */

/* A slow folder may cost this much time of waiting workers, and as much again as it has saved, and
 * a tenth of the work. */
enum { SLOWNESS_S = 10, SHARE_OF_WORK = 10 };

const char *remote_should_stop(const struct remote *remote, double saved_s, double work_s)
{
	if (remote->silent_ns >= REMOTE_SILENCE_S * REMOTE_SECOND)
		return "no answer within 10 seconds";
	if ((double)remote->waited_ns / 1e9 > SLOWNESS_S + saved_s + work_s / SHARE_OF_WORK)
		return "the folder costs more time than it saves";
	return NULL;
}

/* ---- requests to the folder's worker */

/* The largest pack of a module's entry, as a multiple of the predicted size. A compressed entry is
 * smaller than the entry. */
enum { PACK_TIMES = 8, PACK_SPARE = 16 << 20 };

/* The most requests to the folder that may be pending at a time, in each run. */
enum { MAX_ASKED = 8 };
/* A longer step of the clock counts as this long, because this process may have been suspended. */
enum { MAX_STEP_MS = 200 };

static const struct plan_module *planned(const struct run *run, size_t index)
{
	return &run->setup->plan->modules[index];
}

/* Stops using the folder: from now on everything is compiled here. */
static void leave_share(struct run *run, const char *why)
{
	struct remote *remote = &run->remote;

	if (remote->gone)
		return;
	remote->gone = true;
	run->result->shared.unplaced = 0;
	TEXT_COPY(run->result->shared.trouble, why);
	run_remote_end(run);
}

/* Sends a request; with `ahead`, no worker waits for the answer. */
static void send_job_to_folder(struct run *run, size_t index, enum object_what what, bool ahead)
{
	const struct plan_module *module = planned(run, index);
	struct remote *remote = &run->remote;
	struct remote_module *known = &remote->modules[index];
	struct object_job job = {
		.id = index,
		.what = what,
		.key = module->key,
		.sm = run->setup->plan->targets[module->target].device.sm,
		.most_bytes = PACK_SPARE + PACK_TIMES * (module->key_bytes + module->entry_bytes),
		.dead = remote_dead_claim(known, os_monotonic_ns()),
	};
	struct buf line = BUF_MAX(PROTOCOL_MAX_LINE);
	struct jw_error why = {0};

	(void)cache_identity_text(job.identity, &module->identity);
	known->asked = true;
	known->ahead = ahead;
	known->what = what;
	remote->asked += what != OBJECT_PUT;
	remote->ahead += ahead;
	remote->putting += what == OBJECT_PUT;
	if (object_put_job(&why, &line, &job))
		buf_free(&line);
	else if (!child_send_line(&why, remote->child, &line))
		return;
	leave_share(run, why.message);
}

/* ---- entries from the folder */

/* Inserts a fetched entry; if that fails, the module is compiled here. 1 if another module's entry
 * has its name (collect_insert). */
static int insert_fetched(struct run *run, size_t index, struct jw_error *why)
{
	const struct plan_module *module = planned(run, index);
	char *folder = object_folder(run->remote.folder, module->key);
	struct collected entry = {COLLECTED, cache_entry_path(folder, module->key), module->key};
	int64_t grown_bytes = 0;
	int result =
		collect_insert(why, run->setup->live, &entry, run->setup->plan, module, &grown_bytes);

	if (!result)
		run_inserted(run, index, grown_bytes, NULL);
	else if (result < 0 && why->code == JW_ERR_BUSY)
		result = run_defer_entry(NULL, run, index, entry.path, why);
	(void)os_remove_tree(NULL, folder);
	mem_free(entry.path);
	mem_free(folder);
	return result;
}

/* Records an object that is not sound; its module is compiled here, even if another node has
 * claimed it. */
static void refuse_object(struct run *run, struct remote_module *known, const char *why)
{
	struct jw_shared *shared = &run->result->shared;

	known->state = REMOTE_OURS;
	if (!shared->refused++)
		TEXT_COPY(shared->refused_why, why);
}

/* Inserts an object that was fetched from the folder. A damaged one is refused, and its module is
 * compiled. */
static void take_here(struct run *run, size_t index, const struct object_answer *answer)
{
	struct remote_module *known = &run->remote.modules[index];
	struct jw_shared *shared = &run->result->shared;
	struct jw_error why = {0};
	int result;

	/* The time budget may have ended in between. */
	if (!job_queue_take_this(&run->queue, index))
		return;
	known->state = REMOTE_FETCHED;
	result = insert_fetched(run, index, &why);
	if (result > 0) {
		run_module_failed(run, index, why.message, "");
		return;
	}
	if (!result) {
		shared->fetched++;
		shared->fetched_bytes += answer->bytes;
		shared->saved_seconds += planned(run, index)->cost_ms / 1000;
		return;
	}
	job_queue_return(&run->queue, index);
	if (why.code == JW_ERR_FORMAT)
		refuse_object(run, known, why.message);
	else
		run_break_off(run, &why);
}

static void take_placed(struct run *run, size_t index, const struct object_answer *answer)
{
	struct jw_shared *shared = &run->result->shared;

	run->remote.modules[index].state = REMOTE_DONE;
	if (answer->said == OBJECT_PLACED) {
		shared->placed++;
		shared->placed_bytes += answer->bytes;
		return;
	}
	/* An object that is missing after a refusal was reported with the refusal. */
	if (!*answer->why || (answer->said == OBJECT_MISSING && shared->refused))
		return;
	if (!shared->unplaced++)
		TEXT_COPY(shared->trouble, answer->why);
}

/* Records the state of a module in the folder: there, claimed by another node or by this one, or
 * missing. */
static void take_state_there(struct run *run, size_t index, const struct object_answer *answer)
{
	struct remote_module *known = &run->remote.modules[index];
	const double cost_ms = planned(run, index)->cost_ms;
	const uint64_t now = os_monotonic_ns();

	if (known->ahead || answer->said == OBJECT_HERE)
		run->remote.found = answer->said == OBJECT_HERE;
	if (answer->said == OBJECT_HERE)
		take_here(run, index, answer);
	else if (answer->said == OBJECT_THEIRS)
		remote_see_claim(known, cost_ms, now, answer->claim);
	else if (*answer->why)
		refuse_object(run, known, answer->why);
	else if (answer->said == OBJECT_OURS)
		known->state = REMOTE_OURS;
	else
		remote_see_nothing(known, cost_ms, now);
}

/* Handles an answer from the process of the shared folder. */
static void take_answer_of_folder(struct run *run, const struct object_answer *answer)
{
	const size_t index = (size_t)answer->id;
	const bool is_put = answer->what == OBJECT_PUT;
	struct remote *remote = &run->remote;
	struct remote_module *known = &remote->modules[index];

	known->asked = false;
	remote->asked -= !is_put;
	remote->ahead -= known->ahead;
	remote->putting -= is_put;
	remote->silent_ns = 0;
	if (answer->said == OBJECT_GONE)
		leave_share(run, answer->why);
	else if (is_put)
		take_placed(run, index, answer);
	else
		take_state_there(run, index, answer);
}

size_t run_remote_ready(const struct run *run)
{
	const struct job_queue *queue = &run->queue;
	size_t ready = queue->again_count;

	if (!run->remote.modules || run->remote.gone)
		return SIZE_MAX;
	for (size_t i = queue->next; i < queue->count; i++)
		ready += run->remote.modules[queue->order[i]].state == REMOTE_OURS;
	return ready;
}

bool run_remote_allows(const struct run *run, size_t module)
{
	return !run->remote.modules || run->remote.gone ||
		   run->remote.modules[module].state == REMOTE_OURS;
}

static size_t idle_workers(const struct run *run)
{
	const unsigned most = run->memory.budget.allowed < run->setup->workers
							  ? run->memory.budget.allowed
							  : run->setup->workers;
	const unsigned busy = run_busy_workers(run);

	return most > busy ? most - busy : 0;
}

/* Returns whether everything is compiled, and some entries are not yet put into the folder. */
static bool only_puts_are_left(const struct run *run)
{
	return job_queue_peek(&run->queue) == QUEUE_EMPTY && !job_queue_has_suspects(&run->queue) &&
		   !run_busy_workers(run);
}

/* Returns whether workers wait for the folder now. */
static bool is_waited_for(const struct run *run)
{
	const struct remote *remote = &run->remote;

	return idle_workers(run) && !run_remote_ready(run) &&
		   (remote->asked || (remote->putting && only_puts_are_left(run)));
}

static int on_folder_line(struct jw_error *err, void *context, const char *line, size_t size)
{
	struct run *run = context;
	struct remote *remote = &run->remote;
	struct object_answer answer;

	if (object_get_answer(err, line, size, &answer))
		return -1;
	if (run->loop.stopping || remote->gone)
		return 0;
	/* Each module has at most one pending request. */
	if (answer.id >= run->setup->plan->module_count || !remote->modules[answer.id].asked ||
		remote->modules[answer.id].what != answer.what)
		return error_set(err, JW_ERR_FORMAT, "an answer that was not asked for");
	take_answer_of_folder(run, &answer);
	run_remote_step(run);
	if (run_remote_ready(run))
		run_wake_workers(run);
	return 0;
}

static void on_folder_end(void *context, struct child *child, const struct child_end *how)
{
	struct run *run = context;
	char text[256], why[512];

	(void)child;
	run->remote.child = NULL;
	if (run->remote.gone || run->loop.stopping || how->killed)
		return;
	(void)text_format(why, sizeof why, "%s: its process %s%s%.*s", run->setup->share->folder,
					  child_end_text(text, sizeof text, how), *how->said ? ": " : "",
					  (int)strcspn(how->said, "\n"), how->said);
	leave_share(run, why);
}

/* ---- requests */

/* Sends requests of one kind for modules that `may` accepts, as long as fewer modules are pending
 * than workers are idle. */
static void ask_for_idle(struct run *run, bool (*may)(const struct remote_module *, uint64_t),
						 enum object_what what, uint64_t now)
{
	struct remote *remote = &run->remote;
	struct job_queue *queue = &run->queue;
	const size_t idle = idle_workers(run);
	size_t under_way = run_remote_ready(run) + remote->asked - remote->ahead;

	for (size_t i = queue->next;
		 i < queue->count && under_way < idle && !remote->gone && remote->asked < MAX_ASKED; i++)
		if (may(&remote->modules[queue->order[i]], now)) {
			send_job_to_folder(run, queue->order[i], what, false);
			under_way++;
		}
}

/* Sends at most `most` further requests that no worker waits for. */
static void ask_ahead(struct run *run, unsigned most, uint64_t now)
{
	struct remote *remote = &run->remote;
	struct job_queue *queue = &run->queue;

	for (size_t i = queue->next; most && i < queue->count && !remote->gone; i++)
		if (remote_may_ask(&remote->modules[queue->order[i]], now)) {
			send_job_to_folder(run, queue->order[i], OBJECT_FIND, true);
			most--;
		}
}

static void put_compiled(struct run *run)
{
	struct remote *remote = &run->remote;

	for (size_t i = 0; remote->to_put && i < run->setup->plan->module_count; i++)
		if (remote->modules[i].state == REMOTE_TO_PUT && !remote->modules[i].asked) {
			remote->to_put--;
			send_job_to_folder(run, i, OBJECT_PUT, false);
		}
}

static void check_folder_time(struct run *run, uint64_t now)
{
	struct remote *remote = &run->remote;
	const uint64_t gap_ns = now - remote->stepped_ns, most_ns = MAX_STEP_MS * REMOTE_MS;
	const uint64_t step_ns = is_waited_for(run) ? gap_ns < most_ns ? gap_ns : most_ns : 0;
	const double work_s = run->report.progress.total_weight_ms / 1000 / run->setup->workers;
	const char *words;
	char why[512];

	remote->stepped_ns = now;
	remote->waited_ns += step_ns;
	remote->silent_ns += step_ns;
	words = remote_should_stop(remote, run->result->shared.saved_seconds, work_s);
	if (!words)
		return;
	(void)text_format(why, sizeof why, "%s: %s", run->setup->share->folder, words);
	leave_share(run, why);
}

void run_remote_step(struct run *run)
{
	const uint64_t now = os_monotonic_ns();
	struct remote *remote = &run->remote;

	if (!remote->modules || remote->gone || run->loop.stopping)
		return;
	check_folder_time(run, now);
	if (remote->gone)
		return;
	put_compiled(run);
	/* Modules that nobody has claimed come first, then those that others have claimed. */
	ask_for_idle(run, remote_may_claim, OBJECT_CLAIM, now);
	ask_for_idle(run, remote_may_ask, OBJECT_FIND, now);
	if (remote->found && remote->asked < MAX_ASKED)
		ask_ahead(run, MAX_ASKED - remote->asked, now);
}

bool run_remote_is_needed(const struct run *run)
{
	return run->remote.modules && !run->remote.gone && !run->loop.stopping &&
		   (run->remote.to_put || run->remote.putting ||
			job_queue_peek(&run->queue) != QUEUE_EMPTY);
}

/* ---- begin and end */

/* Orders the modules: expensive ones first, in an order of this node's own. */
static void turn_order(struct run *run)
{
	struct job_queue *queue = &run->queue;
	struct remote_turn *turns = mem_array(queue->count, sizeof *turns);
	uint64_t node;

	randombytes_buf(&node, sizeof node);
	for (size_t i = 0; i < queue->count; i++) {
		const struct plan_module *module = planned(run, queue->order[i]);

		turns[i] = (struct remote_turn){queue->order[i], module->key, module->cost_ms, 0, 0};
	}
	remote_order(node, turns, queue->count);
	for (size_t i = 0; i < queue->count; i++)
		queue->order[i] = turns[i].module;
	mem_free(turns);
}

int run_remote_open(struct run *run)
{
	struct remote *remote = &run->remote;
	const struct run_setup *setup = run->setup;
	const struct child_events events = {
		.context = run, .line = on_folder_line, .end = on_folder_end};
	struct child_setup child = {.command = setup->worker, .task = OBJECT_TASK};
	struct object_setup known = {.system = setup->system, .options = setup->share};
	struct buf line = BUF_MAX(PROTOCOL_MAX_LINE);

	if (!setup->share || !setup->live || !run->queue.count)
		return 0;
	if (sodium_init() < 0)
		return error_set(run->err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	remote->folder = os_join(setup->folder, "share");
	remote->modules = mem_array(setup->plan->module_count, sizeof *remote->modules);
	if (os_make_dirs(run->err, remote->folder, 0700))
		return -1;
	turn_order(run);
	child.cache_dir = known.folder = remote->folder;
	if (child_start(run->err, &run->loop.uv, &child, &events, &remote->child))
		return -1;
	if (object_put_setup(run->err, &line, &known)) {
		buf_free(&line);
		return -1;
	}
	if (child_send_line(run->err, remote->child, &line))
		return -1;
	remote->found = true;
	remote->stepped_ns = os_monotonic_ns();
	run_remote_step(run);
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
