/* An application whose functions have the names of libjitwarm's internal ones: application and
 * library each call their own. */
#include <jitwarm.h>

#include <stdio.h>
#include <string.h>

static int calls;

int buf_free(int a);
int set_add(int a);
int walk_file(int a);

int buf_free(int a)
{
	calls++;
	return a;
}

int set_add(int a)
{
	calls++;
	return a;
}

int walk_file(int a)
{
	calls++;
	return a;
}

static int count_image(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	(void)err;
	*(size_t *)context += image->containers;
	return 0;
}

/* clash FILE: a library with device code */
int main(int argc, char **argv)
{
	const char *const *paths = (const char *const *)(argv + 1);
	size_t containers = 0;
	const struct jw_scan_options options = {.size = sizeof options,
											.paths = paths,
											.path_count = 1,
											.context = &containers,
											.image = count_image};
	struct jw_error err;

	if (argc != 2 || buf_free(0) || set_add(0) || walk_file(0))
		return 64;
	if (jw_scan(&err, &options)) {
		(void)fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	if (jw_version_number() != JW_VERSION_NUMBER || strlen(jw_version()) < 5)
		return 2;
	(void)printf("%zu containers, %d calls\n", containers, calls);
	return containers && calls == 3 ? 0 : 3;
}
