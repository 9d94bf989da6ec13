#include "cli/parts/fetching.h"

#include "cli/exit.h"

static size_t megabytes(uint64_t bytes)
{
	return (size_t)(bytes / 1000000 + (bytes % 1000000 != 0));
}

static void on_fetch_progress(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
	struct fetching *fetching = context;

	if (total_bytes < 1000000) /* too small to show */
		return;
	if (fetching->total_bytes != total_bytes)
		fetching_end(fetching);
	if (!fetching->progress.output) {
		fetching->total_bytes = total_bytes;
		progress_start(&fetching->progress, fetching->output, megabytes(total_bytes),
					   (double)total_bytes, fetching->label);
		fetching->progress.unit = "MB";
	}
	progress_update(&fetching->progress,
					done_bytes < total_bytes ? (size_t)(done_bytes / 1000000)
											 : megabytes(total_bytes),
					(double)done_bytes, 0);
}

struct jw_compiler_fetch_options fetching_options(struct fetching *fetching)
{
	return (struct jw_compiler_fetch_options){.size = sizeof(struct jw_compiler_fetch_options),
											  .context = fetching,
											  .progress = on_fetch_progress,
											  .cancel = cli_cancel};
}

void fetching_end(struct fetching *fetching)
{
	if (fetching->progress.output)
		progress_finish(&fetching->progress);
	fetching->progress = (struct progress){0};
}
