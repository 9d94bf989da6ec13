#include "prime/source_paths.h"

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "os/file.h"
#include "run/prime_result.h"

static bool is_source(const char *path)
{
	struct os_stat stat;

	return text_ends(path, ".cu") && !os_stat(NULL, path, &stat) && stat.kind == OS_REGULAR;
}

static int open_nvrtc(struct jw_error *err, const struct jw_system *system,
					  const struct jw_prime_options *options, struct jw_nvrtc **ret_nvrtc)
{
	const struct jw_nvrtc_options none = JW_NVRTC_OPTIONS_INIT,
								  *given = options->nvrtc ? options->nvrtc : &none;
	struct jw_nvrtc_options how;

	given = SIZED(err, given, struct jw_nvrtc_options);
	if (!given)
		return -1;
	how = *given;
	how.driver = system->driver.version;
	how.state_dir = system->state_dir;
	how.worker = system->worker;
	how.cancel = options->cancel;
	return jw_nvrtc_open(err, &how, ret_nvrtc);
}

/* -1 if the run cannot go on after this source. */
static int tell_source(struct jw_error *err, const struct jw_prime_options *options,
					   const struct jw_prime_source *source, struct jw_prime_result *result)
{
	const struct jw_error *failed = &source->failed;

	if (failed->code == JW_ERR_MEMORY || failed->code == JW_ERR_INTERRUPTED)
		return error_copy(err, failed);
	result->sources_failed += failed->code != JW_OK;
	if (options->source)
		options->source(options->context, source);
	else if (failed->code)
		return prime_result_add_note(err, result, "%s", failed->message);
	return 0;
}

static int compile_source(struct jw_error *err, const struct jw_prime_options *options,
						  const char *path, struct jw_target device, struct source_paths *sources,
						  struct jw_prime_result *result)
{
	struct jw_nvrtc_result made;
	struct jw_prime_source source = {.path = path, .nvrtc = sources->nvrtc, .made = &made};
	int failed;

	if (!jw_nvrtc_compile(&source.failed, sources->nvrtc, path, device, &made))
		source.failed.code = JW_OK;
	failed = tell_source(err, options, &source, result);
	if (made.ptx)
		sources->paths[sources->count++] = sources->ptx[sources->ptx_count++] = made.ptx;
	made.ptx = NULL;
	jw_nvrtc_result_free(&made);
	return failed;
}

int source_paths_compile(struct jw_error *err, const struct jw_system *system,
						 const struct jw_prime_options *options, const struct jw_target *targets,
						 size_t target_count, struct source_paths *sources,
						 struct jw_prime_result *result)
{
	struct jw_prime_source none = {0};
	size_t asked = 0;
	int failed = 0;

	for (size_t i = 0; i < options->path_count; i++)
		asked += is_source(options->paths[i]);
	sources->ptx = mem_array(err, asked * target_count, sizeof *sources->ptx);
	sources->paths =
		mem_array(err, options->path_count + asked * target_count, sizeof *sources->paths);
	if (!sources->ptx || !sources->paths)
		return -1;
	for (size_t i = 0; i < options->path_count; i++)
		if (!asked || !is_source(options->paths[i]))
			sources->paths[sources->count++] = options->paths[i];
	if (asked && open_nvrtc(&none.failed, system, options, &sources->nvrtc))
		return tell_source(err, options, &none, result);
	for (size_t i = 0; sources->nvrtc && i < options->path_count; i++)
		for (size_t k = 0; !failed && is_source(options->paths[i]) && k < target_count; k++)
			failed = compile_source(err, options, options->paths[i], targets[k], sources, result);
	return failed;
}

void source_paths_free(struct source_paths *sources)
{
	for (size_t i = 0; i < sources->ptx_count; i++)
		mem_free(sources->ptx[i]);
	mem_free(sources->ptx);
	mem_free(sources->paths);
	jw_nvrtc_close(sources->nvrtc);
	*sources = (struct source_paths){0};
}
