/* Advice on the settings, and objections to a directory. */
#include <string.h>

#include <jitwarm/check.h>
#include <jitwarm/find.h>
#include <jitwarm/tune.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"
#include "cache/settings.h"
#include "os/env.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/shell.h"
#include "setup/jit_caches.h"

/* Each entry is a file, in one of 272 folders; large frameworks have thousands. */
enum { MAX_LINES = 16, LITTLE_FILES = 4096 };

struct lines {
	char **items;
	size_t count;
};

/* Adds a line and takes ownership of it. */
static void add_advice(struct lines *lines, char *line)
{
	mem_add_string(&lines->items, &lines->count, MAX_LINES, line);
	mem_free(line);
}

/* Returns whether a path names a folder that a cloud's program copies to other machines. */
static bool is_synchronised(const char *path)
{
	static const char *const names[] = {"OneDrive", "Dropbox", "iCloudDrive"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strstr(path, names[i]))
			return true;
	return false;
}

/* The path's own loss, or that of the nearest folder above it that exists. */
static enum os_loss loss_of(const char *path)
{
	char *there = os_nearest(path);
	enum os_loss loss = os_loss(path);

	if (loss == OS_STAYS)
		loss = os_loss(there);
	mem_free(there);
	return loss;
}

static bool is_in_image(const char *path)
{
	char *there = os_nearest(path);
	const bool is = os_is_read_only(there);

	mem_free(there);
	return is;
}

static char *volume_advice(const char *path)
{
	char *volume = mem_printf("compute-cache:%s", path), *advice;
	struct buf line = BUF_MAX(1 << 16);

	shell_quote(&line, volume, false);
	advice = mem_printf("keep the cache in a volume: “docker run -v%s”", buf_text(&line));
	buf_free(&line);
	mem_free(volume);
	return advice;
}

bool jw_tune_loss(const char *path, char **ret_what, char **ret_cure)
{
	char *kubernetes = os_env("KUBERNETES_SERVICE_HOST");
	const bool pod = kubernetes && *kubernetes, image = is_in_image(path);
	const enum os_loss loss = loss_of(path);

	mem_free(kubernetes);
	if (!image && (loss == OS_STAYS || loss == OS_LOST_AT_RESTART))
		return false;
	*ret_what = image                            ? mem_printf("%s is in a read-only image", path)
				: loss == OS_LOST_WITH_CONTAINER ? mem_printf("%s is lost with the container", path)
				: loss == OS_LOST_WITH_POD
					? mem_printf("%s is in an emptyDir, and is lost with the pod", path)
					: mem_printf("%s is lost with the job", path);
	*ret_cure = loss == OS_LOST_WITH_JOB
					? mem_string("set CUDA_CACHE_PATH to a folder that stays on the node; a script "
								 "for all accounts: “jitwarm tune --print slurm”")
				: pod || loss == OS_LOST_WITH_POD
					? mem_printf("mount a volume that stays at %s; to print the lines: “jitwarm "
								 "tune --print k8s --path DIR”",
								 path)
					: volume_advice(path);
	return true;
}

char *jw_tune_lost_caches(void)
{
	struct buf line = BUF_MAX(1 << 14);
	char *text = NULL;

	for (size_t i = 0; i < jit_cache_count; i++) {
		char *path = jit_cache_path(&jit_caches[i]), size[TEXT_SHORT];
		const uint64_t bytes = path ? jit_cache_bytes(path) : 0;
		const enum os_loss loss = bytes ? loss_of(path) : OS_STAYS;

		if (loss != OS_STAYS && loss != OS_LOST_AT_RESTART)
			buf_add(&line, "%s%s (%s, %s)", line.size ? ", " : "", path, jit_caches[i].package,
					text_bytes(size, bytes));
		mem_free(path);
	}
	if (line.size && !line.overflowed)
		text = mem_string(buf_text(&line));
	buf_free(&line);
	return text;
}

static void check_cache_place(const char *path, const char *there, uint64_t more_bytes,
							  struct lines *lines)
{
	struct os_space space = {0};
	char free_text[TEXT_SHORT], more[TEXT_SHORT];
	const bool has_space = !os_space(NULL, there, &space);
	char *what, *cure;

	if (jw_tune_loss(path, &what, &cure)) {
		add_advice(lines, what);
		mem_free(cure);
	} else if (loss_of(path) == OS_LOST_AT_RESTART) {
		add_advice(lines,
				   mem_printf("%s is lost at a restart: then everything is compiled again", path));
	}
	if (os_is_roaming(path))
		add_advice(lines, mem_printf("%s is in a roaming profile, which every logon copies; set "
									 "CUDA_CACHE_PATH to a folder below %%LOCALAPPDATA%%",
									 path));
	if (is_synchronised(path))
		add_advice(lines, mem_printf("%s is in a folder that is copied to other machines; a cache "
									 "belongs on a local disk",
									 path));
	/* This line and that about little space equal the settings' warnings, so that each is printed
	 * once. */
	if (has_space && space.network)
		add_advice(
			lines,
			mem_printf(
				"%s: on a network file system, which is slow, and useless without file locks",
				path));
	if (!has_space)
		return;
	(void)text_bytes(free_text, space.free_bytes);
	if (space.free_bytes < CACHE_LITTLE_ROOM)
		add_advice(lines, mem_printf("%s: only %s are free", path, free_text));
	else if (space.free_bytes < more_bytes)
		add_advice(lines, mem_printf("%s: only %s are free, and the results take about %s", path,
									 free_text, text_bytes(more, more_bytes)));
	if (space.free_files < LITTLE_FILES)
		add_advice(lines,
				   mem_printf("%s: the file system has room for only %s; each entry is a file",
							  path, TEXT_COUNT(space.free_files, "more file", "more files")));
}

int jw_tune_check_path(struct jw_error *err, const char *path, uint64_t more_bytes,
					   char ***ret_lines, size_t *ret_count)
{
	struct lines lines = {0};
	char *there = os_nearest(path);

	(void)err;
	if (!strcmp(path, there)) {
		struct os_stat stat;

		if (!os_stat(NULL, there, &stat) && stat.owner != os_own_account())
			add_advice(&lines,
					   mem_printf("%s: belongs to another account (number %u; this one is %u), "
								  "whose programs may use this cache, too",
								  there, stat.owner, os_own_account()));
	}
	check_cache_place(path, there, more_bytes, &lines);
	mem_free(there);
	*ret_lines = lines.items;
	*ret_count = lines.count;
	return 0;
}

/* ---- advice on the settings of the driver's cache, and on the limit that files need */

enum { MAX_WARNINGS = 10000 };

/* Predicts by how many bytes the system's cache will grow with the results of these files (`count`
 * may be 0); 0 if no GPU is known, or nothing is cold. */
static int predict_growth(struct jw_error *err, const struct jw_system *system,
						  const char *const *paths, size_t count, uint64_t *ret_bytes)
{
	const struct jw_check_options options = {.paths = paths, .path_count = count, .system = system};
	struct jw_check_result *result;
	uint64_t bytes = 0;

	if (count && system->gpu_count) {
		if (jw_check(err, &options, &result))
			return -1;
		bytes = result->all.forecast.cache_bytes;
		jw_result_free(result);
	}
	*ret_bytes = bytes;
	return 0;
}

int jw_tune_for_files(struct jw_error *err, struct jw_system *system, const char *const *paths,
					  size_t count, struct jw_tune_result **ret_result)
{
	struct jw_tune_request request = {
		.scope = JW_SCOPE_USER,
		/* A directory named for this run does not apply to every program. */
		.path = system->cache.named ? NULL : system->cache.path,
	};
	uint64_t predicted_bytes;

	if (predict_growth(err, system, paths, count, &predicted_bytes))
		return -1;
	request.limit_bytes = jw_cache_limit(&system->cache, predicted_bytes);
	/* A limit that holds all of it is left alone. */
	if (jw_cache_holds(&system->cache, predicted_bytes) ||
		system->cache.limit_bytes >= request.limit_bytes) {
		*ret_result = NULL;
		return 0;
	}
	if (jw_tune_apply(err, &request, ret_result))
		return -1;
	system->cache.limit_bytes = request.limit_bytes;
	return 0;
}

static int predict(struct jw_error *err, const struct jw_system *system,
				   const struct jw_tune_question *question, uint64_t *ret_bytes)
{
	const struct jw_find_options find = {
		.names = question->names, .name_count = question->name_count, .cancel = question->cancel};
	struct jw_error why = {0};
	struct jw_found *found;
	const char **paths;
	int result;

	/* Without names or an environment there is no prediction. */
	if (jw_find(&why, &find, &found))
		return question->name_count ? error_copy(err, &why) : 0;
	paths = mem_array(found->file_count, sizeof *paths);
	for (size_t i = 0; i < found->file_count; i++)
		paths[i] = found->files[i].path;
	result = predict_growth(err, system, paths, found->file_count, ret_bytes);
	mem_free(paths);
	jw_result_free(found);
	return result;
}

/* Adds warnings, each once. */
static void add_warnings(struct jw_tune_advice *advice, char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		while (at < advice->warning_count && strcmp(advice->warnings[at], lines[i]) != 0)
			at++;
		if (at == advice->warning_count)
			arena_add_string(advice, &advice->warnings, &advice->warning_count, MAX_WARNINGS,
							 lines[i]);
	}
}

/* Fills in the path of the advice: the named directory, else the cache's, whether the driver can
 * use it, and the objections to it. */
static int advise_path(struct jw_error *err, const struct jw_cache_info *cache,
					   const struct jw_tune_question *question, struct jw_tune_advice *advice)
{
	struct jw_cache_info settings = {.usable = cache->usable};
	const char *path = question->path ? question->path : cache->path;
	char **lines = NULL;
	size_t count = 0;
	int result = 0;

	advice->path_named = question->path != NULL;
	if (!path)
		return 0;
	advice->path = arena_string(advice, path);
	if (question->path && cache_settings_read(err, advice, path, &settings))
		return -1;
	advice->path_usable = settings.usable;
	advice->path_in_force =
		!question->path || (cache->path && settings.path && !strcmp(settings.path, cache->path));
	if (settings.usable)
		result = jw_tune_check_path(err, path, advice->predicted_bytes, &lines, &count);
	/* The cache's warnings among these lines are about the directory, not about a value. */
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < cache->warning_count; k++)
			advice->value_warnings -= !strcmp(lines[i], cache->warnings[k]);
	add_warnings(advice, settings.warnings, settings.warning_count);
	add_warnings(advice, lines, count);
	jw_lines_free(lines, count);
	return result;
}

/* Warns if a limit that somebody has set does not hold the present and the predicted entries. */
static void warn_of_limit(const struct jw_cache_info *cache, struct jw_tune_advice *advice)
{
	const uint64_t both = cache->outlook.bytes + advice->predicted_bytes,
				   needed = both < CACHE_LEAST_LIMIT ? CACHE_LEAST_LIMIT : both;
	char limit[TEXT_SHORT], size[TEXT_SHORT], *line;

	if (advice->limit_bytes > CACHE_MAX_LIMIT) {
		line = mem_printf("--max-size: a cache limit is at most 4 GiB; the limit is %llu",
						  (unsigned long long)CACHE_MAX_LIMIT);
		add_warnings(advice, &line, 1);
		mem_free(line);
		advice->limit_bytes = CACHE_MAX_LIMIT;
	}
	if (advice->limit_bytes >= needed)
		return;
	line = mem_printf("a limit of %s is too small: the cache needs %s (%llu bytes) or more",
					  text_bytes(limit, advice->limit_bytes), text_bytes(size, needed),
					  (unsigned long long)needed);
	add_warnings(advice, &line, 1);
	mem_free(line);
}

int jw_tune_advise(struct jw_error *err, const struct jw_system *system,
				   const struct jw_tune_question *question, struct jw_tune_advice **ret_advice)
{
	const struct jw_cache_info *cache = &system->cache;
	struct jw_tune_advice *advice = arena_open(sizeof *advice);

	if (jw_settings_read(err, &advice->settings))
		goto fail;
	arena_join(advice, advice->settings);
	if (predict(err, system, question, &advice->predicted_bytes))
		goto fail;
	if (question->limit_bytes) {
		advice->limit_bytes = question->limit_bytes;
		warn_of_limit(cache, advice);
	} else if (jw_cache_holds(cache, advice->predicted_bytes)) { /* a limit that holds all stays */
		advice->limit_bytes =
			cache->limit_bytes > cache->kept_bytes ? cache->limit_bytes : cache->kept_bytes;
	} else {
		advice->limit_bytes = jw_cache_limit(cache, advice->predicted_bytes);
	}
	advice->limit_warnings = advice->warning_count;
	advice->value_warnings = cache->warning_count;
	add_warnings(advice, cache->warnings, cache->warning_count);
	if (advise_path(err, cache, question, advice))
		goto fail;
	*ret_advice = advice;
	return 0;
fail:
	jw_result_free(advice);
	return -1;
}

const char *jw_tune_path(const struct jw_tune_advice *advice, enum jw_scope scope)
{
	return scope == JW_SCOPE_SYSTEM && !advice->path_named ? NULL : advice->path;
}
