/* The findings: a row for each, and its test. docs/troubleshooting.md lists them. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/scan.h>

#include "base/mem.h"
#include "base/text.h"
#include "code/release.h"
#include "code/rules.h"
#include "doctor/examination.h"
#include "driver/cuda_errors.h"
#include "driver/targets.h"
#include "os/env.h"
#include "os/file.h"
#include "os/platform.h"
#include "os/shell.h"

/* A shorter link at each start is not worth a changed library. */
#define LEAST_LINK_S 1.0

/* The time for looking whether an environment has code, which only chooses the advice. */
enum { MOST_MS = 200 };

/* ---- the machine */

static bool has_no_gpu(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_system *system = seen->system;
	const struct cuda_error *error = cuda_error_of(system->start_error);
	const char *environment = seen->options->environment;
	struct jw_code_packages code = {.count = 0};
	char word[SHELL_WORD], operand[SHELL_WORD + 16] = "", *visible;
	bool has_code;

	if (system->gpu_count)
		return false;
	visible = os_env("CUDA_VISIBLE_DEVICES");
	if (seen->options->name_count)
		(void)snprintf(operand, sizeof operand, " %s", shell_word(word, seen->options->names[0]));
	else if (environment)
		(void)snprintf(operand, sizeof operand, " --environment %s", shell_word(word, environment));
	EVIDENCE(draft, "%s", system->why_none);
	draft->hopeless = !system->pci_count && !os_has_gpu_file() && !os_is_wsl();
	if (!seen->options->name_count && seen->options->found)
		jw_code_packages(seen->options->found, MOST_MS, seen->options->cancel, &code);
	has_code = seen->options->name_count || code.any || code.cut;
	if (draft->hopeless && !has_code)
		FIX(draft,
			"run jitwarm on the machine with the GPU; here, “jitwarm which --target %s torch” "
			"names versions that run",
			system->example);
	else if (draft->hopeless)
		FIX(draft,
			"run jitwarm on the machine with the GPU; here, “jitwarm scan --target %s%s” shows "
			"what it would compile, and “jitwarm make --target %s --driver %s --fetch -o "
			"FILE.jwpack%s” compiles it",
			system->example, operand, system->example, system->example_driver, operand);
	else if (!system->driver.library[0] && !has_code)
		FIX(draft, "install NVIDIA's driver; in a container use --gpus all");
	else if (!system->driver.library[0])
		FIX(draft,
			"install NVIDIA's driver (in a container: --gpus all); “jitwarm scan --target %s%s” "
			"shows what it would compile",
			system->example, operand);
	else if (targets_unfit_driver(NULL, &system->driver.version))
		FIX(draft, "install a driver that runs this GPU");
	/* If the driver fails for another reason, it would fail without that variable, too. */
	else if (visible && strstr(system->why_none, "CUDA_VISIBLE_DEVICES"))
		FIX(draft, "unset CUDA_VISIBLE_DEVICES (it is “%.100s”)", visible);
	else if (error)
		FIX(draft, "%s", error->cure);
	else
		FIX(draft, "restart the machine or the container: after a driver update the driver's parts "
				   "have different versions until then");
	mem_free(visible);
	return true;
}

/* Returns whether the driver's compiler is missing: its file is, or the driver has reported so
 * itself. */
static bool has_no_compiler(const struct examination *seen, struct finding_draft *draft)
{
	const bool shown = seen->system->cache.no_compiler;

	if (!seen->system->gpu_count ||
		(!shown && !strstr(seen->probe.why, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND")))
		return false;
	EVIDENCE(draft,
			 shown
				 ? "the driver's compiler is missing (libnvidia-ptxjitcompiler.so.1): modules that "
				   "are not in the cache fail with error 221"
				 : "the driver's compiler is missing: modules that are not in the cache fail with "
				   "error 221");
	if (os_is_separator('\\') || os_is_wsl())
		FIX(draft, "install NVIDIA's driver for Windows again");
	else
		FIX(draft, "in a container set NVIDIA_DRIVER_CAPABILITIES=compute,utility; on Debian "
				   "install libnvidia-ptxjitcompiler1, else the driver again");
	return true;
}

static bool is_other_account(const struct examination *seen, struct finding_draft *draft)
{
	if (!seen->doubt)
		return false;
	/* The part after the colon says what to do for `jitwarm prime`, and is left out. */
	EVIDENCE(draft, "%.*s", (int)strcspn(seen->doubt, ":"), seen->doubt);
	FIX(draft, "examine the account whose programs are slow: “sudo -u NAME -H jitwarm doctor”");
	return true;
}

/* ---- settings */

/* Returns the setting of a variable in the process; NULL if the process does not have it. */
static const struct jw_setting *setting_in_process(const struct examination *seen, const char *name)
{
	for (size_t i = 0; i < seen->sources->count; i++)
		if (!strcmp(seen->sources->items[i].source, "process") &&
			!strcmp(seen->sources->items[i].name, name))
			return &seen->sources->items[i];
	return NULL;
}

/* Returns the last place that sets a variable to the process's value; NULL if it is none that
 * jitwarm reads. */
static const struct jw_setting *source_of(const struct examination *seen, const char *name)
{
	const struct jw_setting *last = NULL, *in_process = setting_in_process(seen, name);

	for (size_t i = 0; i < seen->sources->count; i++) {
		const struct jw_setting *setting = &seen->sources->items[i];

		if (!strcmp(setting->name, name) && *setting->where &&
			(!in_process || !strcmp(in_process->value, setting->value)))
			last = setting;
	}
	return last;
}

static const char *value_in_process(const struct examination *seen, const char *name)
{
	const struct jw_setting *setting = setting_in_process(seen, name);

	/* An adopted value comes from a file. */
	setting = setting ? setting : source_of(seen, name);
	return setting ? setting->value : "";
}

/* Returns how programs get another directory: no login reads a file that nobody can write. */
static const char *directory_command(void)
{
	return jw_tune_can_apply(JW_SCOPE_USER)
			   ? "“jitwarm tune --path DIR --apply”"
			   : "CUDA_CACHE_PATH=DIR where your programs are started (“docker run -e "
				 "CUDA_CACHE_PATH=DIR”; “jitwarm tune --print sh --path DIR” prints the lines)";
}

/* Drafts a new login if jitwarm has set another value of the variable for the next one. */
static bool draft_login(const struct examination *seen, struct finding_draft *draft,
						const char *name)
{
	const struct jw_setting *ours;

	if (jw_tune_state(seen->sources, name, &ours) != JW_TUNE_PENDING)
		return false;
	FIX(draft, "log out and in again: %s has %s, and here it is still %.100s", ours->where,
		ours->value, setting_in_process(seen, name) ? value_in_process(seen, name) : "not set");
	return true;
}

/* Drafts the fix for a variable that must not be set. */
static void draft_unset(const struct examination *seen, struct finding_draft *draft,
						const char *name, const char *effect)
{
	const struct jw_setting *source = source_of(seen, name);
	char *grep = jw_tune_grep(name);

	if (source) {
		EVIDENCE(draft, "%s=%.300s, set in %s: %s", name, value_in_process(seen, name),
				 source->where, effect);
		FIX(draft, "remove %s there; then log in again, and start the programs", name);
	} else {
		EVIDENCE(draft, "%s=%.300s, set in this process: %s", name, value_in_process(seen, name),
				 effect);
		FIX(draft, "remove the variable, and log in again; this command finds it: “%s”", grep);
	}
	jw_text_free(grep);
}

/* Returns whether programs with device code compile nothing, so that the settings do not matter to
 * them. */
static bool compiles_nothing(const struct examination *seen)
{
	return seen->check && seen->check->images && seen->check->verdict == JW_VERDICT_RUNS;
}

static bool is_cache_disabled(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_check_gpu *all = seen->check ? &seen->check->all : NULL;
	const size_t compiled = all ? all->warm + all->cold : 0;
	char effect[160], modules[64];

	if (!seen->settings.disabled || compiles_nothing(seen))
		return false;
	if (compiled)
		(void)text_format(modules, sizeof modules, "%s at every start",
						  TEXT_COUNT(compiled, "module", "modules"));
	(void)text_format(effect, sizeof effect, "the driver compiles %s",
					  compiled ? modules : "everything without machine code at every start");
	draft_unset(seen, draft, "CUDA_CACHE_DISABLE", effect);
	return true;
}

static bool is_jit_forced(const struct examination *seen, struct finding_draft *draft)
{
	if (!seen->system->cache.force_ptx_jit)
		return false;
	draft_unset(seen, draft, seen->settings.force_jit ? "CUDA_FORCE_JIT" : "CUDA_FORCE_PTX_JIT",
				"the driver compiles everything at every start");
	return true;
}

static bool is_jit_disabled(const struct examination *seen, struct finding_draft *draft)
{
	if (!seen->settings.disable_ptx_jit)
		return false;
	draft_unset(seen, draft,
				*value_in_process(seen, "CUDA_DISABLE_PTX_JIT") ? "CUDA_DISABLE_PTX_JIT"
																: "CUDA_DISABLE_JIT",
				"modules that are not in the cache fail to load");
	return true;
}

/* Returns whether a variable is set that no driver reads, and that was meant for another one. */
static bool is_misnamed(const struct examination *seen, struct finding_draft *draft)
{
	for (size_t i = 0; i < seen->sources->count; i++) {
		const struct jw_setting *setting = &seen->sources->items[i];
		const char *right = cache_lookalike_of(setting->name);

		if (!right || strcmp(setting->source, "process") != 0)
			continue;
		EVIDENCE(draft, "%s=%.300s is set, and no driver reads it", setting->name, setting->value);
		FIX(draft, "the driver reads %s: rename the variable where it is set", right);
		return true;
	}
	return false;
}

static bool has_no_cache_path(const struct examination *seen, struct finding_draft *draft)
{
	if (seen->settings.path || compiles_nothing(seen))
		return false;
	EVIDENCE(draft, "%s",
			 seen->settings.warning_count ? seen->settings.warnings[0]
										  : "the driver has no directory for its cache");
	FIX(draft, seen->settings.path_set ? "unset CUDA_CACHE_PATH, or set it to a directory"
									   : "set HOME, or set CUDA_CACHE_PATH to a directory");
	return true;
}

static bool is_cache_unwritable(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_cache_info *settings = &seen->settings;

	if (!settings->path || settings->usable || compiles_nothing(seen) ||
		(settings->reads && !(seen->check && seen->check->all.cold)))
		return false;
	/* The directory's warning is the last one. */
	EVIDENCE(draft, "%s",
			 settings->warning_count ? settings->warnings[settings->warning_count - 1]
									 : settings->path);
	if (!draft_login(seen, draft, "CUDA_CACHE_PATH"))
		FIX(draft, "make the directory writable, or name another one: %s", directory_command());
	return true;
}

static bool is_state_unwritable(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_system *system = seen->options->system;

	if (!system->why_forgets[0])
		return false;
	EVIDENCE(draft, "%s", system->why_forgets);
	FIX(draft,
		"make the folder and its files this account's own, or name another one: JITWARM_STATE=DIR");
	return true;
}

static bool is_path_relative(const struct examination *seen, struct finding_draft *draft)
{
	const char *value = examine_relative_cache();

	value = value ? value : value_in_process(seen, "CUDA_CACHE_PATH");
	if (!seen->settings.path_set || !*value || os_is_absolute(value))
		return false;
	EVIDENCE(draft,
			 "CUDA_CACHE_PATH=%.300s is relative: programs have a cache in each directory in which "
			 "they start",
			 value);
	if (!draft_login(seen, draft, "CUDA_CACHE_PATH"))
		FIX(draft, "set CUDA_CACHE_PATH to an absolute path: %s", directory_command());
	return true;
}

static bool has_bad_place(const struct examination *seen, struct finding_draft *draft)
{
	const char *path = seen->settings.path;
	char *what, *cure, *lost = jw_tune_lost_caches();
	bool found = seen->objection_count != 0;

	for (size_t i = 0; i < seen->objection_count; i++)
		text_append(draft->evidence, sizeof draft->evidence, "%s%.900s", i ? "; " : "",
					seen->objections[i]);
	if (!draft_login(seen, draft, "CUDA_CACHE_PATH"))
		FIX(draft, "name a lasting local directory with free space: %s", directory_command());
	if (path && jw_tune_loss(path, &what, &cure)) {
		if (!found)
			EVIDENCE(draft, "%.900s", what);
		FIX(draft, "%s", cure);
		found = true;
		jw_text_free(what);
		jw_text_free(cure);
	}
	if (lost) {
		text_append(draft->evidence, sizeof draft->evidence,
					"%scaches of other compilers are lost: %.900s", found ? "; " : "", lost);
		if (found)
			text_append(draft->fix, sizeof draft->fix, "; ");
		else
			draft->fix[0] = 0;
		text_append(draft->fix, sizeof draft->fix,
					"“jitwarm tune --print docker --all-caches DIR” (k8s, slurm) prints the lines "
					"that keep all caches");
		found = true;
	}
	jw_text_free(lost);
	return found;
}

/* ---- the limit */

static const char *const tuned_names[] = {"CUDA_CACHE_MAXSIZE", "CUDA_CACHE_PATH"};

static bool is_overridden(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_setting *ours;

	for (size_t i = 0; i < 2; i++) {
		const char *name = tuned_names[i];
		char *grep;

		if (jw_tune_state(seen->sources, name, &ours) != JW_TUNE_OVERRIDDEN)
			continue;
		grep = jw_tune_grep(name);
		if (setting_in_process(seen, name))
			EVIDENCE(draft, "%s is %.300s in this process, although %s sets it to %.300s", name,
					 value_in_process(seen, name), ours->where, ours->value);
		else
			EVIDENCE(draft, "%s is not set in this process, although %s sets it to %.300s", name,
					 ours->where, ours->value);
		FIX(draft,
			"remove the line that overrides it, and log in again; this command finds it: “%s”",
			grep);
		jw_text_free(grep);
		return true;
	}
	return false;
}

static const char *limit_text(char text[TEXT_SHORT], uint64_t bytes)
{
	if (bytes < CACHE_MAX_LIMIT)
		return text_bytes(text, bytes);
	text_copy(text, TEXT_SHORT, "4 GiB, the most that a driver keeps");
	return text;
}

/* Drafts a larger CUDA_CACHE_MAXSIZE. */
static void draft_limit(const struct examination *seen, struct finding_draft *draft, uint64_t bytes)
{
	const struct jw_setting *ours;
	const enum jw_tune_state state = jw_tune_state(seen->sources, "CUDA_CACHE_MAXSIZE", &ours);
	uint64_t number;
	char size[TEXT_SHORT];

	if (state == JW_TUNE_OVERRIDDEN) {
		FIX(draft, "first remove the line that overrides %s", ours->where);
		return;
	}
	if (ours && text_number(ours->value, UINT64_MAX, &number) && number >= bytes &&
		draft_login(seen, draft, "CUDA_CACHE_MAXSIZE"))
		return;
	if (!jw_tune_can_apply(JW_SCOPE_USER)) {
		FIX(draft, "set CUDA_CACHE_MAXSIZE=%llu (%s) where your programs are started",
			(unsigned long long)bytes, limit_text(size, bytes));
		return;
	}
	FIX(draft, "raise the limit to %s (undo: “jitwarm tune --undo”)", limit_text(size, bytes));
	(void)snprintf(draft->word, sizeof draft->word, "--max-size=%llu", (unsigned long long)bytes);
	draft_word(draft, "tune");
	draft_word(draft, "--apply");
	draft_word(draft, draft->word);
	draft->variable = "CUDA_CACHE_MAXSIZE";
	(void)snprintf(draft->value, sizeof draft->value, "%llu", (unsigned long long)bytes);
}

static uint64_t bytes_to_come(const struct examination *seen)
{
	return seen->check ? seen->check->all.forecast.cache_bytes : 0;
}

/* ---- variables that the next login has, and this one does not */

static bool is_before_login(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_cache_info *cache = &seen->system->cache;
	char now[TEXT_SHORT], then[TEXT_SHORT];

	if (jw_cache_serves_now(cache, cache->outlook.bytes + bytes_to_come(seen)) ||
		compiles_nothing(seen))
		return false;
	if (!text_same(cache->path, cache->now.path))
		EVIDENCE(draft, "this login uses %.900s, and the next one %.900s",
				 cache->now.path ? cache->now.path : "no cache",
				 cache->path ? cache->path : "none");
	else if (cache->disabled)
		EVIDENCE(draft, "programs will use no cache from the next login on");
	else
		EVIDENCE(draft, "the cache limit is %s in this login, and %s in the next one",
				 text_bytes(now, cache->now.limit_bytes), text_bytes(then, cache->limit_bytes));
	FIX(draft, "log out and in again, and restart services that start programs");
	return true;
}

static bool is_limit_misread(const struct examination *seen, struct finding_draft *draft)
{
	char *line = seen->settings.limit_set
					 ? cache_explain_limit(value_in_process(seen, "CUDA_CACHE_MAXSIZE"))
					 : NULL;
	/* The driver reads a number that is too large as its maximum, so nothing is lost. */
	const bool found = line != NULL && seen->settings.limit_bytes < CACHE_MAX_LIMIT;

	if (found) {
		/* The part after the semicolon says what to write; the fix knows it better, so it is left
		 * out. */
		EVIDENCE(draft, "%.*s", (int)strcspn(line, ";"), line);
		draft_limit(seen, draft, jw_cache_limit(&seen->system->cache, bytes_to_come(seen)));
	}
	mem_free(line);
	return found;
}

static bool is_limit_small(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_cache_info *cache = &seen->system->cache;
	const uint64_t present = cache->outlook.bytes, more = bytes_to_come(seen);
	struct finding_draft other = {0};
	char limit[TEXT_SHORT], has[TEXT_SHORT], comes[TEXT_SHORT];

	if (jw_cache_holds(cache, more) || is_limit_misread(seen, &other))
		return false;
	(void)text_bytes(limit, cache->limit_bytes);
	(void)text_bytes(has, present);
	if (more)
		EVIDENCE(draft,
				 "the cache limit is %s%s, and %s are needed: the driver will delete old entries",
				 limit, cache->limit_set ? "" : " by default", text_bytes(comes, present + more));
	else
		EVIDENCE(
			draft,
			"the cache limit is %s%s, and the cache holds %s: the driver will delete old entries",
			limit, cache->limit_set ? "" : " by default", has);
	if (present + more <= CACHE_MAX_LIMIT)
		draft_limit(seen, draft, jw_cache_limit(cache, more));
	else
		FIX(draft,
			"the limit is at most 4 GiB: start each program with a CUDA_CACHE_PATH of its own");
	return true;
}

/* ---- the cache */

static void draft_repair(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_cache_info *cache = &seen->system->cache;

	if (cache->outlook.unknown_version) {
		FIX(draft, "delete %s%cindex unless a newer driver uses it", cache->path, os_separator);
		return;
	}
	FIX(draft, "repair the cache; sound entries stay");
	draft_word(draft, "cache");
	draft_word(draft, "verify");
	draft_word(draft, "--repair");
}

static bool is_index_harmful(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_cache_outlook *outlook = &seen->system->cache.outlook;

	if (!outlook->harmful)
		return false;
	EVIDENCE(draft, "%s", outlook->text);
	draft_repair(seen, draft);
	return true;
}

static bool is_cache_damaged(const struct examination *seen, struct finding_draft *draft)
{
	if (!seen->check || !seen->check->all.damaged)
		return false;
	EVIDENCE(draft, "%s in the cache: the driver compiles again, or programs fail",
			 TEXT_COUNT(seen->check->all.damaged, "damaged entry", "damaged entries"));
	draft_repair(seen, draft);
	return true;
}

static bool is_probe_refused(const struct examination *seen, struct finding_draft *draft)
{
	const struct cache_probe *probe = &seen->probe;

	if (probe->use != JW_PROBE_REFUSED && probe->use != JW_PROBE_UNREAD)
		return false;
	EVIDENCE(draft, "the driver compiled a tiny module and %s %s",
			 probe->use == JW_PROBE_REFUSED
				 ? "stored no entry at"
				 : "compiled the module again although it had stored the entry",
			 probe->entry);
	FIX(draft,
		"free the disk, or end the program that locks the cache's index; if neither helps, name "
		"another directory: %s",
		directory_command());
	return true;
}

static bool is_probe_failed(const struct examination *seen, struct finding_draft *draft)
{
	/* jit-disabled names the variable to unset, and no-compiler the package to install. */
	if (seen->probe.use != JW_PROBE_FAILED || seen->settings.disable_ptx_jit ||
		has_no_compiler(seen, &(struct finding_draft){0}))
		return false;
	EVIDENCE(draft, "the driver does not load a tiny module: %s", seen->probe.why);
	FIX(draft, "free the GPU's memory, set its compute mode to default (nvidia-smi -c 0), or "
			   "restart the machine");
	return true;
}

/* ---- the programs */

/* Drafts the first failing file among those that a newer driver helps, or does not help. */
static bool draft_failing(const struct examination *seen, struct finding_draft *draft,
						  bool with_newer, struct jw_driver *ret_needs)
{
	size_t count = 0;

	for (size_t i = 0; seen->check && i < seen->check->failing_count; i++) {
		const struct jw_check_failing *failing = &seen->check->failing[i];
		const struct jw_driver *needs = &failing->needs;

		if (failing->refused || (needs->cuda || needs->release[0]) != with_newer)
			continue;
		*ret_needs = count ? gpu_newer_driver(*ret_needs, *needs) : *needs;
		if (count++)
			continue;
		EVIDENCE(draft, "%.900s: %.600s", failing->file, failing->why);
	}
	if (count > 1)
		text_append(draft->evidence, sizeof draft->evidence, ", and %s",
					TEXT_COUNT(count - 1, "more file", "more files"));
	return count != 0;
}

/* Describes how to replace one of the failing packages that a newer driver helps, or does not help:
 * by a release that runs, by one that an index may have, or by another package. */
static bool describe_cure(const struct examination *seen, bool with_newer, char *text, size_t size)
{
	const struct jw_check_failing *cured = NULL;

	for (size_t i = 0; i < seen->check->failing_count; i++) {
		const struct jw_check_failing *failing = &seen->check->failing[i];

		if (failing->package && (failing->needs.cuda || failing->needs.release[0]) == with_newer &&
			(!cured || (failing->runs && !cured->runs)))
			cured = failing;
	}
	if (!cured || (with_newer && cured->listed && !cured->runs))
		return false;
	if (cured->runs)
		(void)text_format(text, size, "install the newest %s that runs: “%s”", cured->package,
						  cured->install);
	else if (cured->listed && !cured->unexamined)
		(void)text_format(text, size,
						  "no release of %s runs on this GPU; “jitwarm which %s” says why",
						  cured->package, cured->package);
	else
		(void)text_format(text, size, "find a release of %s that runs: “jitwarm which %s --ask”",
						  cured->package, cured->package);
	return true;
}

/* Returns whether NVIDIA offers its forward compatibility package for this GPU: a data-centre GPU
 * ("Tesla T4", "NVIDIA A100-SXM4-40GB", "NVIDIA L4") or a professional RTX card ("NVIDIA RTX
 * A6000"); no GeForce, TITAN, T400 or laptop. Jetson boards have a package of JetPack. Source:
 * NVIDIA, "CUDA Compatibility", "Forward Compatibility". */
static bool is_for_compat(const char *name)
{
	size_t letters;

	name += text_starts(name, "NVIDIA ") ? strlen("NVIDIA ") : 0;
	letters = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return !strstr(name, "Laptop") &&
		   (text_starts(name, "Tesla ") || text_starts(name, "Quadro RTX ") ||
			text_starts(name, "RTX ") ||
			(letters >= 1 && letters <= 2 && text_is_digit(name[letters]) &&
			 !text_starts(name, "GB10") &&
			 (*name != 'T' || strspn(name + 1, "0123456789") < strlen("400"))));
}

/* Returns whether that package of a CUDA version works with the driver installed here. Of the
 * branches that it works with, the oldest ones are in NVIDIA's container images of that CUDA
 * version (NVIDIA_REQUIRE_CUDA): 470 up to 12.8, then 535. */
static bool takes_compat(const struct jw_system *system, uint32_t cuda)
{
	bool takes = !os_is_windows && !os_is_wsl() && cuda > system->driver.version.cuda &&
				 system->driver.version.release[0] >= (cuda <= 12080 ? 470u : 535u);

	for (size_t i = 0; i < system->gpu_count; i++)
		takes = takes && is_for_compat(system->gpus[i].name);
	return takes;
}

static bool is_driver_old(const struct examination *seen, struct finding_draft *draft)
{
	struct jw_driver needs;
	char text[JW_DRIVER_TEXT], cure[512];

	if (!draft_failing(seen, draft, true, &needs))
		return false;
	(void)jw_driver_text(text, &needs);
	if (takes_compat(seen->system, needs.cuda))
		FIX(draft, "install driver %s or newer, or keep this one and install cuda-compat-%u-%u",
			text, (unsigned)needs.cuda / 1000, (unsigned)needs.cuda % 1000 / 10);
	else
		FIX(draft, "install driver %s, or a newer one", text);
	if (describe_cure(seen, true, cure, sizeof cure))
		text_append(draft->fix, sizeof draft->fix, "; or %s", cure);
	return true;
}

/* Returns whether the list of releases has a failing package, so that constraints refuse it. */
static bool lists_failing(const struct examination *seen)
{
	bool listed = false;

	for (size_t i = 0; i < seen->check->failing_count; i++)
		listed = listed || (seen->check->failing[i].package && seen->check->failing[i].listed);
	return listed;
}

static bool has_no_code(const struct examination *seen, struct finding_draft *draft)
{
	struct jw_driver needs;
	char cure[512];

	if (!draft_failing(seen, draft, false, &needs))
		return false;
	draft->hopeless = true;
	if (describe_cure(seen, false, cure, sizeof cure))
		FIX(draft,
			lists_failing(seen) ? "%s; to keep pip from installing what fails: “jitwarm which "
								  "--constraints -o gpu.txt”"
								: "%s",
			cure);
	else
		FIX(draft, "install a version of that package that is built for this GPU");
	return true;
}

/* Returns whether the driver refuses modules because of their content, whatever jitwarm does. */
static bool are_modules_refused(const struct examination *seen, struct finding_draft *draft)
{
	size_t count = 0;

	for (size_t i = 0; seen->check && i < seen->check->failing_count; i++) {
		const struct jw_check_failing *failing = &seen->check->failing[i];

		if (!failing->refused || count++)
			continue;
		EVIDENCE(draft, "%.900s: %.600s", failing->file, failing->why);
		draft->hopeless = true;
		FIX(draft, "install another version of the package, if a program needs the module");
	}
	if (count > 1)
		text_append(draft->evidence, sizeof draft->evidence, ", and %s",
					TEXT_COUNT(count - 1, "more file", "more files"));
	return count != 0;
}

/* Returns whether there are modules that jitwarm cannot look up in the cache. */
static bool is_unsure(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_check_gpu *all = seen->check ? &seen->check->all : NULL;

	if (!all || !(all->unplanned.tile || all->unplanned.unknown))
		return false;
	if (all->unplanned.tile)
		EVIDENCE(draft, "%s of Tile IR, of which jitwarm cannot tell whether the cache has it",
				 TEXT_COUNT(all->unplanned.tile, "piece", "pieces"));
	else
		EVIDENCE(draft, "%s of code whose cache entries jitwarm does not know",
				 TEXT_COUNT(all->unplanned.unknown, "piece", "pieces"));
	FIX(draft, "start the program once: “jitwarm run -- PROGRAM” says what its start compiles");
	return true;
}

static bool is_cold(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_check_result *check = seen->check;
	const struct jw_seconds *start;
	char time[TEXT_SHORT];

	if (!check || !check->all.cold || !check->file_count)
		return false;
	start = &check->all.forecast.start;
	EVIDENCE(draft,
			 check->all.forecast.loading == JW_LOADING_LAZY || jw_may_need_none(start)
				 ? "up to %s, %s, when first used, mostly for %.600s%s%s: %.300s"
				 : "a start compiles %s in %s, mostly for %.600s%s%s: %.300s",
			 TEXT_COUNT(check->all.cold, "module", "modules"),
			 text_span(time, start->low, start->high), check->files[0].path,
			 check->files[0].member ? ": " : "",
			 check->files[0].member ? check->files[0].member : "",
			 check->why ? check->why : "they are not in the cache");
	if (seen->system->cache.why_useless[0]) {
		FIX(draft, "first fix the findings above");
		return true;
	}
	/* `prime` refuses such a cache. */
	if (seen->system->cache.outlook.unknown_version) {
		draft_repair(seen, draft);
		return true;
	}
	draft_prime(seen, draft);
	/* `prime` refuses modules that the driver would evict again. */
	if (draft->word_count && check->all.forecast.cache_bytes > seen->system->cache.free_bytes)
		FIX(draft, "first free some space where the cache is, then");
	else if (draft->word_count && check->all.forecast.cache_bytes > seen->system->cache.limit_bytes)
		FIX(draft, "first fix the findings above, then compile");
	return true;
}

/* Programs that compile nothing while they run do not notice. */
static bool is_compiler_unfit(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_check_compiler *first = NULL;
	const struct jw_driver *driver;
	struct jw_driver needs;
	char text[JW_DRIVER_TEXT], cure[512];
	size_t failing = 0;

	/* The requirement of the newest compiler covers the others. */
	for (size_t i = 0; seen->check && i < seen->check->compiler_count; i++) {
		const struct jw_check_compiler *compiler = &seen->check->compilers[i];

		failing += compiler->fails;
		if (compiler->fails && (!first || compiler->cuda > first->cuda))
			first = compiler;
	}
	if (!first)
		return false;
	driver = &seen->check->driver;
	EVIDENCE(draft, "%.900s (%.900s)", first->why, first->file);
	if (failing > 1)
		text_append(draft->evidence, sizeof draft->evidence, "; “jitwarm check” names %zu more",
					failing - 1);
	if (first->last) {
		FIX(draft, "install %s of CUDA %u.%u or an older one", first->name, first->last / 1000,
			first->last % 1000 / 10);
		return true;
	}
	if (first->needs) {
		FIX(draft, "install %s of CUDA %u.%u or a newer one", first->name, first->needs / 1000,
			first->needs % 1000 / 10);
		return true;
	}
	needs = gpu_cuda_driver(first->cuda);
	FIX(draft, "install driver %s or a newer one, or %s of CUDA %u.%u",
		jw_driver_text(text, &needs), first->name, driver->cuda / 1000, driver->cuda % 1000 / 10);
	/* A package that requires this compiler is as new as it is. */
	if (describe_cure(seen, true, cure, sizeof cure))
		text_append(draft->fix, sizeof draft->fix, "; or install %s", cure);
	return true;
}

static bool is_linking(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_seconds *link;
	char time[TEXT_SHORT];

	if (!seen->check || seen->check->all.forecast.link.likely < LEAST_LINK_S)
		return false;
	link = &seen->check->all.forecast.link;
	EVIDENCE(draft, "the driver links device code at every start, for %s, and caches no result",
			 text_span(time, link->low, link->high));
	FIX(draft,
		"no setting avoids this; a build without -rdc=true, or one with machine code for this "
		"GPU, links nothing");
	return true;
}

const struct finding_kind finding_kinds[] = {
	{"no-compiler", has_no_compiler},
	{"no-gpu", has_no_gpu},
	{"cache-disabled", is_cache_disabled},
	{"jit-forced", is_jit_forced},
	{"jit-disabled", is_jit_disabled},
	{"no-cache-path", has_no_cache_path},
	{"cache-unwritable", is_cache_unwritable},
	{"state-unwritable", is_state_unwritable},
	{"path-relative", is_path_relative},
	{"other-account", is_other_account},
	{"index", is_index_harmful},
	{"damaged", is_cache_damaged},
	{"overridden", is_overridden},
	{"limit-misread", is_limit_misread},
	{"limit-small", is_limit_small},
	{"before-login", is_before_login},
	{"driver-old", is_driver_old},
	{"no-code", has_no_code},
	{"refused", are_modules_refused},
	{"unsure", is_unsure},
	{"cold", is_cold},
	{"compiler", is_compiler_unfit},
	{"linking", is_linking},
	{"probe-failed", is_probe_failed},
	{"probe-refused", is_probe_refused},
	{"bad-place", has_bad_place},
	{"misnamed", is_misnamed},
	{NULL, NULL},
};
