/* Finds the files of the recorded modules: computes the names of the files' entries, as for a plan,
 * and looks them up. */
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/text.h"
#include "driver/driver_probe.h"
#include "find/named_paths.h"
#include "plan/plan.h"
#include "prime/record_entries.h"
#include "prime/recording.h"

/* Returns the driver's own stamp: the profile's if an entry has it, else the stamp of most modules.
 * libnvJitLink's entries have another one. */
static const char *stamp_of(const struct recorder *recorder)
{
	const struct jw_recording *recording = recorder->result->recording;
	const char *best = "";
	size_t most = 0;

	for (size_t i = 0; i < recording->module_count; i++) {
		const char *stamp = recorder->entries[i].stamp;
		size_t count = 0;

		if (recording->modules[i].kind > JW_RECORDED_LINK || !strcmp(stamp, best))
			continue;
		if (!strcmp(stamp, recorder->system->driver.stamp))
			return stamp;
		for (size_t k = i; k < recording->module_count; k++)
			count += !strcmp(recorder->entries[k].stamp, stamp);
		if (count > most) {
			most = count;
			best = stamp;
		}
	}
	return best;
}

static size_t targets_of_owners(const struct jw_recording *recording, struct jw_target *targets)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_target target = {.sm = recording->modules[i].target.sm};

		if (target.sm && recording->modules[i].kind <= JW_RECORDED_LINK)
			count = jw_target_add(targets, count, PLAN_MAX_TARGETS, target);
	}
	return count;
}

struct matching {
	struct jw_recording *recording;
	struct plan *plan;
	uint32_t *files; /* for each of the plan's files its index in the recording, or NO_FILE */
	size_t capacity, left_out;
};

static uint32_t add_planned_file(struct matching *matching, uint32_t planned)
{
	struct jw_recording *recording = matching->recording;
	const struct plan_file *from = &matching->plan->files[planned];
	struct jw_recorded_file file = {0};
	struct os_stat stat;

	/* If the recording has no place for another file, the module is recorded without one. */
	if (matching->files[planned] != JW_RECORDED_NO_FILE ||
		ARENA_ROOM(NULL, recording, recording->files, matching->capacity, recording->file_count,
				   RECORDING_MAX_FILES))
		return matching->files[planned];
	file.path = arena_string(recording, from->path);
	file.member = arena_string(recording, from->member);
	if (!os_stat(NULL, from->path, &stat))
		file.size_bytes = stat.size_bytes;
	recording->files[recording->file_count] = file;
	matching->files[planned] = (uint32_t)recording->file_count++;
	return matching->files[planned];
}

/* Finds the planned module with this key, and records its file and place in `module`. False if no
 * file has it. */
static bool match(struct matching *matching, const struct set *names, uint64_t key,
				  const struct jw_identity *identity, struct jw_recorded_module *module)
{
	size_t cursor = 0, at;

	while ((at = set_find(names, key, &cursor)) != SET_NONE) {
		struct plan_module *planned = &matching->plan->modules[at];

		if (!cache_identity_equal(&planned->identity, identity))
			continue;
		module->file = add_planned_file(matching, planned->file);
		module->container_offset = planned->container_offset;
		module->entry_offset = planned->entry_offset;
		matching->left_out += planned->state == PLAN_LEFT_OUT;
		planned->used = true;
		return module->file != JW_RECORDED_NO_FILE;
	}
	return false;
}

/* Finds the file of each recorded module by its key, or by the key of its text without options. */
static void match_all(const struct recorder *recorder)
{
	struct plan *plan = recorder->plan;
	struct jw_record_result *result = recorder->result;
	struct matching matching = {.recording = result->recording, .plan = plan};
	struct set names = {0};
	size_t texts = 0;
	char line[320];

	matching.files = mem_array(plan->file_count, sizeof *matching.files);
	for (size_t i = 0; i < plan->file_count; i++)
		matching.files[i] = JW_RECORDED_NO_FILE;
	for (size_t i = 0; i < plan->module_count; i++)
		set_add(&names, plan->modules[i].key, i);
	for (size_t i = 0; i < result->recording->module_count; i++) {
		struct jw_recorded_module *module = &result->recording->modules[i];
		struct record_entry *entry = &recorder->entries[i];

		if (module->kind > JW_RECORDED_LINK)
			continue;
		/* Compares by name, or as a text that is loaded with options or linked, which has other
		 * names. */
		entry->in_file = match(&matching, &names, module->key, &entry->identity, module);
		texts += !entry->in_file &&
				 match(&matching, &names, entry->text_key, &entry->text_identity, module);
		result->found += module->file != JW_RECORDED_NO_FILE;
	}
	result->not_by_prime = matching.left_out + texts;
	if (texts) {
		(void)text_format(
			line, sizeof line,
			"the program loads %s with options (MAX_REGISTERS, OPTIMIZATION_LEVEL, …) or passes "
			"them to a linker: priming the file makes other entries; prime a recording of this "
			"run instead",
			TEXT_COUNT(texts, "PTX source", "PTX sources"));
		record_note(result, line);
	}
	mem_free(matching.files);
	set_free(&names);
}

static bool is_cancelled(void *context)
{
	return record_is_stopped(context);
}

/* Notes that the search was cancelled; returns -1 if it has failed for another reason. */
static int note_cancelled(struct jw_error *err, struct recorder *recorder,
						  const struct jw_error *why)
{
	if (why->code != JW_ERR_INTERRUPTED)
		return error_copy(err, why);
	record_note(recorder->result,
				"interrupted while searching for the modules' files: the recording names no files");
	return 0;
}

/* Builds the plan of the files; if they cannot be read, the recording is not lost. */
static int build(struct jw_error *err, struct recorder *recorder,
				 const struct plan_request *request)
{
	struct jw_error why;

	if (plan_build(&why, request, &recorder->plan))
		return note_cancelled(err, recorder, &why);
	match_all(recorder);
	/* Notes about files that a process only mapped are dropped. */
	for (size_t i = 0; recorder->options->path_count && i < recorder->plan->note_count; i++)
		record_note(recorder->result, recorder->plan->notes[i]);
	return 0;
}

int record_find_owners(struct jw_error *err, struct recorder *recorder)
{
	struct jw_recording *recording = recorder->result->recording;
	struct cache_profile profile = profile_of_system(recorder->system);
	struct jw_target targets[PLAN_MAX_TARGETS];
	struct plan_request request = {
		.targets = targets,
		.target_count = targets_of_owners(recording, targets),
		.profile = &profile,
		.cache_dir = recorder->system->cache.path,
		.state_dir = recorder->system->state_dir,
		.link_inputs = true,
		.cancel = {recorder, is_cancelled},
	};
	struct jw_found *found;
	struct jw_error why;
	int result;

	TEXT_COPY(profile.stamp, stamp_of(recorder));
	recording->driver = profile.driver;
	TEXT_COPY(recording->stamp, profile.stamp);
	if (!request.target_count || !profile.stamp[0])
		return 0;
	if (named_paths_find(&why, (const char *const *)recorder->paths, recorder->path_count, false,
						 request.cancel, &found))
		return note_cancelled(err, recorder, &why);
	request.found = found;
	result = build(err, recorder, &request);
	jw_result_free(found);
	return result;
}
