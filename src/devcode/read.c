#include "devcode/leaf.h"
#include "devcode/walk.h"

const char *devcode_format_name(enum devcode_format format)
{
	static const char *const names[] = {"elf", "pe", "fatbin", "cubin", "ptx"};

	return names[format];
}

static void read_trouble(void *context, const char *member, const struct jw_error *why)
{
	const struct reading *reading = context;

	if (reading->sink->trouble && !walk_cancelled(NULL, &reading->sink->cancel))
		reading->sink->trouble(reading->sink->context, reading->path, member, why);
}

int devcode_read(struct jw_error *err, const char *path, const struct devcode_sink *sink)
{
	struct reading reading = {path, sink, false};
	struct visitor visitor = {&reading, leaf_read, read_trouble, &sink->cancel};

	return walk_file(err, &visitor, path);
}
