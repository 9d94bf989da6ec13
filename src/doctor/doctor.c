/* Examines everything once, then tests each row of the table of findings. */
#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/doctor.h>
#include <jitwarm/which.h>

#include "base/arena.h"
#include "base/text.h"
#include "cache/entry.h"
#include "cache/view.h"
#include "doctor/examination.h"
#include "driver/cuda_errors.h"
#include "driver/driver_probe.h"
#include "driver/driver_session.h"
#include "driver/run_folder.h"
#include "os/file.h"

enum { MAX_FINDINGS = 64 };

/* ---- shared by several findings */

void draft_word(struct finding_draft *draft, const char *word)
{
	if (draft->word_count < DRAFT_WORDS)
		draft->command[draft->word_count++] = word;
	else
		draft->dropped++;
}

void draft_finish(struct finding_draft *draft)
{
	if (draft->dropped)
		text_append(
			draft->fix, sizeof draft->fix,
			"; the command is too long for %zu more names: run it, then run “jitwarm doctor” again",
			draft->dropped);
}

void draft_prime(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_doctor_options *options = seen->options;
	bool like_option = false;

	if (options->name_count + 2 > DRAFT_WORDS) {
		FIX(draft, "compile them now, on all cores: “jitwarm prime”, with the same names");
		return;
	}
	FIX(draft, "compile them now, on all cores");
	draft_word(draft, "prime");
	for (size_t i = 0; options->process && i < seen->check->file_count; i++)
		if (seen->check->files[i].cold)
			draft_word(draft, seen->check->files[i].path);
	for (size_t i = 0; i < options->name_count; i++)
		like_option = like_option || options->names[i][0] == '-';
	if (like_option)
		draft_word(draft, "--");
	for (size_t i = 0; i < options->name_count; i++)
		draft_word(draft, options->names[i]);
}

/* ---- the table */

/* Makes a name one line: it may come from outside and hold a line break, and the text after it
 * would look like a finding. */
static char *without_breaks(char *text)
{
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = '?';
	return text;
}

/* Runs every test of the table, and copies what it found into the result. */
static void find_findings(const struct examination *seen, struct jw_doctor_result *result)
{
	result->findings = arena_alloc(result, MAX_FINDINGS * sizeof *result->findings);
	for (const struct finding_kind *kind = finding_kinds; kind->id; kind++) {
		struct finding_draft draft = {0};
		struct jw_finding *finding;

		if (result->finding_count == MAX_FINDINGS || !kind->test(seen, &draft))
			continue;
		draft_finish(&draft);
		finding = &result->findings[result->finding_count++];
		finding->id = kind->id;
		finding->hopeless = draft.hopeless;
		finding->evidence = without_breaks(arena_string(result, draft.evidence));
		finding->fix = without_breaks(arena_string(result, draft.fix));
		if (!draft.word_count)
			continue;
		finding->command = arena_alloc(result, (draft.word_count + 1) * sizeof *finding->command);
		for (size_t i = 0; i < draft.word_count; i++)
			finding->command[i] = arena_string(result, draft.command[i]);
		finding->word_count = draft.word_count;
		finding->variable = arena_string(result, draft.variable);
		finding->value = draft.value[0] ? arena_string(result, draft.value) : NULL;
	}
}

/* ---- the probe: the driver loads a tiny module twice, each time in a new process with the
 * settings that programs have, and its entry is examined */

enum { LIMIT_S = 60, LOADS = 2, LEAST_LIMIT = 1 << 16 };

/* Returns whether the probe does no harm: its entry might evict or delete others, or the driver
 * might hang. */
static bool is_worth_a_probe(const struct jw_system *system)
{
	const struct jw_cache_info *cache = &system->cache;

	return system->gpu_count && profile_is_known(system) && cache->path && !cache->disabled &&
		   cache->usable && !cache->force_ptx_jit && cache->limit_bytes >= LEAST_LIMIT &&
		   !strcmp(cache->outlook.next_insert, "adds") && !cache_is_alien(cache->path);
}

/* Returns whether the entry is unchanged: a driver that compiles a module again writes its entry
 * again. */
static bool is_as_before(const struct os_stat *before, const struct os_stat *after)
{
	return before->inode == after->inode && before->size_bytes == after->size_bytes &&
		   before->mtime_ns == after->mtime_ns && before->changed_ns == after->changed_ns;
}

static int load_probe(struct jw_error *err, const struct jw_system *system,
					  const struct protocol_job *job, const struct jw_cancel *cancel,
					  struct cache_probe *probe)
{
	const struct driver_query ask = {
		.worker = system->worker, .job = job, .limit_s = LIMIT_S, .cancel = cancel};
	struct protocol_hello hello = {0};
	struct protocol_answer answer = {0};
	struct jw_error why = {0};

	if (driver_query(&why, &ask, &hello, &answer)) {
		if (why.code != JW_ERR_DRIVER)
			return error_copy(err, &why);
		TEXT_COPY(probe->why, why.message);
	} else if (hello.result || answer.result || answer.no_context) {
		const int mode =
			job->device < (int)hello.device_count ? hello.devices[job->device].compute_mode : 0;

		(void)text_format(probe->why, sizeof probe->why, "%.500s%s",
						  hello.result ? hello.error : answer.error, device_pool_mode_text(mode));
	}
	return 0;
}

/* Loads the module, at most twice, until the entry exists before a load. */
static int load_twice(struct jw_error *err, const struct jw_system *system,
					  const struct protocol_job *job, const struct jw_cancel *cancel,
					  struct cache_probe *probe)
{
	bool there = false;

	for (unsigned load = 0; load < LOADS && !there; load++) {
		struct os_stat before, after;

		there = !os_stat(NULL, probe->entry, &before);
		if (load_probe(err, system, job, cancel, probe))
			return -1;
		if (probe->why[0])
			probe->use = JW_PROBE_FAILED;
		else if (os_stat(NULL, probe->entry, &after))
			probe->use = JW_PROBE_REFUSED;
		else if (there)
			probe->use = is_as_before(&before, &after) ? JW_PROBE_HIT : JW_PROBE_UNREAD;
		if (probe->why[0] || probe->use == JW_PROBE_REFUSED)
			return 0;
	}
	return 0;
}

/* Probes the cache. Does nothing (JW_PROBE_NOT) without a GPU, a profile or a folder for temporary
 * files, or in a cache that the next entry would harm. The caller frees `entry`. -1 if cancelled.
 */
static int cache_probe(struct jw_error *err, const struct examination *seen,
					   const struct jw_cancel *cancel, struct cache_probe *ret_probe)
{
	const struct jw_system *system = seen->system;
	const struct cache_profile profile = profile_of_system(system);
	struct run_folder folder = {0};
	struct protocol_job job = {.form = CACHE_KEY_LOAD};
	struct cache_probe probe = {.use = JW_PROBE_NOT};
	char *container = NULL;
	struct os_stat stat;
	int result = -1;

	if (!is_worth_a_probe(system)) {
		*ret_probe = probe;
		return 0;
	}
	probe.entry =
		cache_entry_path(system->cache.path, driver_probe_key(&profile, system->gpus[0].target.sm));
	if (run_folder_make(NULL, system->state_dir, &folder)) {
		mem_free(probe.entry);
		*ret_probe = (struct cache_probe){.use = JW_PROBE_NOT};
		return 0;
	}
	container = os_join(folder.path, "probe.fatbin");
	if (strlen(container) >= sizeof job.path || driver_probe_write(err, container) ||
		os_stat(err, container, &stat))
		goto done;
	job.device = system->gpus[0].ordinal;
	job.size_bytes = stat.size_bytes;
	TEXT_COPY(job.path, container);
	result = load_twice(err, system, &job, cancel, &probe);
done:
	mem_free(container);
	run_folder_remove(&folder);
	if (result)
		mem_free(probe.entry);
	else
		*ret_probe = probe;
	return result;
}

/* ---- the whole examination */

static int examine(struct jw_error *err, struct examination *seen, struct jw_doctor_result *found,
				   struct jw_check_result **ret_check)
{
	const struct jw_doctor_options *options = seen->options;
	const struct jw_check_options check = {.system = options->system,
										   .found = options->found,
										   .explain = true,
										   .cancel = options->cancel};

	if (cache_settings_read(err, found, NULL, &seen->settings) ||
		jw_settings_read(err, &seen->sources) || jw_account_doubt(err, &seen->doubt))
		return -1;
	if (options->found && options->system->gpu_count) {
		if (jw_check(err, &check, ret_check))
			return -1;
		jw_which_cures(options->system->state_dir, *ret_check);
	}
	seen->check = *ret_check;
	if (seen->settings.path && seen->settings.usable &&
		jw_tune_check_path(err, seen->settings.path,
						   seen->check ? seen->check->all.forecast.cache_bytes : 0,
						   &seen->objections, &seen->objection_count))
		return -1;
	return options->probe ? cache_probe(err, seen, &options->cancel, &seen->probe) : 0;
}

/* Moves the examination's facts to the result. */
static void keep_examined(struct examination *seen, struct jw_check_result *check,
						  struct jw_doctor_result *result)
{
	result->probe = seen->probe.use;
	result->probe_entry = arena_keep(result, seen->probe.entry);
	seen->probe.entry = NULL;
	result->troubles = seen->options->found ? seen->options->found->trouble_count : 0;
	result->verdict = !seen->system->gpu_count ? JW_VERDICT_NOTHING
					  : seen->system->cache.why_useless[0] && !seen->system->cache.reads
						  ? JW_VERDICT_USELESS
						  : JW_VERDICT_RUNS;
	if (!check)
		return;
	result->verdict = check->verdict;
	result->fate = check->all.fate;
	result->warm = check->all.warm;
	result->cold = check->all.cold;
	result->troubles = check->troubles; /* these include the troubles of the search */
	for (size_t i = 0; i < check->note_count; i++)
		arena_add_string(result, &result->notes, &result->note_count, SIZE_MAX, check->notes[i]);
	result->assumptions = check->assumptions;
}

int jw_doctor(struct jw_error *err, const struct jw_doctor_options *options,
			  struct jw_doctor_result **ret_result)
{
	struct examination seen = {.options = options, .system = options->system};
	struct jw_check_result *check = NULL;
	struct jw_doctor_result *found = arena_open(sizeof *found);
	int result = examine(err, &seen, found, &check);

	if (!result) {
		find_findings(&seen, found);
		keep_examined(&seen, check, found);
		*ret_result = found;
		found = NULL;
	}
	jw_result_free(seen.sources);
	jw_lines_free(seen.objections, seen.objection_count);
	mem_free(seen.doubt);
	mem_free(seen.probe.entry);
	jw_result_free(check);
	jw_result_free(found);
	return result;
}

int jw_doctor_text(struct jw_error *err, const char *text, struct jw_doctor_result **ret_result)
{
	struct cuda_error_found errors[CUDA_ERRORS_FOUND];
	const size_t count = cuda_errors_find(text, errors);
	struct jw_doctor_result *result;

	if (!count)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "jitwarm knows no error with these words; “jitwarm doctor” without a name "
						 "examines this machine");
	result = arena_open(sizeof *result);
	result->verdict = JW_VERDICT_NOTHING;
	result->findings = arena_alloc(result, count * sizeof *result->findings);
	for (size_t i = 0; i < count; i++) {
		const struct cuda_error *error = errors[i].error;
		struct jw_finding *finding = &result->findings[result->finding_count++];
		char evidence[DRAFT_TEXT];

		if (error->number)
			(void)text_format(evidence, sizeof evidence, "%s (%d): %s", error->name, error->number,
							  error->cause);
		else
			(void)text_format(evidence, sizeof evidence, "%s: %s", error->name, error->cause);
		if (*errors[i].meaning)
			text_append(evidence, sizeof evidence, " (%s)", errors[i].meaning);
		finding->id = "error";
		finding->evidence = arena_string(result, evidence);
		finding->fix = arena_string(result, errors[i].cure);
	}
	*ret_result = result;
	return 0;
}
