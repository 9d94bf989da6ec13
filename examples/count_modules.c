/* What would the driver compile out of these files, on a GPU that need not be here?
 *
 *     count_modules sm_86 FILE|FOLDER...
 */
#include <jitwarm.h>

#include <stdio.h>

static int show_image(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	(void)err;
	(void)context;
	printf("%s%s%s: %zu modules to compile\n", image->path, image->member ? ": " : "",
		   image->member ? image->member : "", image->verdicts[0].work.modules);
	return 0;
}

static void show_trouble(void *context, const char *path, const struct jw_error *why)
{
	(void)context;
	fprintf(stderr, "%s: %s\n", path, why->message);
}

int main(int argc, char **argv)
{
	struct jw_target gpu;
	struct jw_scan_options options = {.size = sizeof options,
									  .targets = &gpu,
									  .target_count = 1,
									  .image = show_image,
									  .trouble = show_trouble};
	struct jw_error err;

	if (argc < 3 || !jw_target_parse(argv[1], &gpu)) {
		fprintf(stderr, "usage: count_modules sm_86 FILE...\n");
		return 64;
	}
	options.paths = (const char *const *)(argv + 2);
	options.path_count = (size_t)argc - 2;
	if (jw_scan(&err, &options)) {
		fprintf(stderr, "count_modules: %s\n", err.message);
		return 1;
	}
	return 0;
}
