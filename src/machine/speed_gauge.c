#include "machine/speed_gauge.h"

#include <string.h>

#include "devcode/container.h"
#include "devcode/write.h"
#include "gauge_ptx.h"
#include "os/file.h"

/* Repetitions of the part between the marks: about 730 statements, 40 ms by the model. */
enum { REPEATS = 24, MOST_TEXT = 256 << 10 };

/* A comment at the end gives each module another cache entry. Restores the dot of .version
 * (cmake/EmbedText.cmake). */
static int add_gauge_text(struct jw_error *err, struct buf *text, unsigned number)
{
	const char *version = strchr(gauge_ptx, '@');
	static const char begin[] = "// begin\n", end[] = "// end\n";
	const char *block = strstr(gauge_ptx, begin) + sizeof begin - 1, *rest = strstr(block, end);

	if (buf_append(err, text, gauge_ptx, (size_t)(block - gauge_ptx)))
		return -1;
	text->data[version - gauge_ptx] = '.';
	for (unsigned i = 0; i < REPEATS; i++)
		if (buf_append(err, text, block, (size_t)(rest - block)))
			return -1;
	return buf_printf(err, text, "%s// %u\n", rest, number);
}

static int add_gauge_module(struct jw_error *err, struct buf *file, unsigned number,
							struct plan_module *ret_module)
{
	struct buf text = BUF_MAX(MOST_TEXT);
	struct write_ptx ptx = {.isa_major = 6, .target = {.sm = 52}, .compression = DEVCODE_RAW};
	int result = add_gauge_text(err, &text, number);

	if (!result) {
		ptx.payload = buf_text(&text);
		ptx.payload_size = text.size + 1;
		*ret_module = (struct plan_module){.form = CACHE_KEY_LOAD,
										   .payload_bytes = ptx.payload_size,
										   .features = plan_features_of(ptx.payload, text.size)};
		result = write_container(err, &ptx, file);
	}
	buf_free(&text);
	return result;
}

int speed_gauge_make(struct jw_error *err, const char *path, int device,
					 struct speed_gauge *ret_gauge)
{
	struct speed_gauge gauge = {
		.job = {.device = device, .form = CACHE_KEY_LOAD, .entry_offset = CONTAINER_HEADER}};
	struct buf file = BUF_MAX(GAUGE_MODULES * MOST_TEXT);
	int result = -1;

	if (strlen(path) >= sizeof gauge.job.path) {
		error_set(err, JW_ERR_USAGE, "%s: too long a path", path);
		goto done;
	}
	memcpy(gauge.job.path, path, strlen(path) + 1);
	for (unsigned i = 0; i < GAUGE_MODULES; i++) {
		if (add_gauge_module(err, &file, i, &gauge.module))
			goto done;
		gauge.ends[i + 1] = file.size;
	}
	if (os_write_atomic(err, path, file.data, file.size))
		goto done;
	*ret_gauge = gauge;
	result = 0;
done:
	buf_free(&file);
	return result;
}

static bool has_time(const struct speed_gauge *gauge)
{
	return gauge->taken.load.wall_ms + gauge->longest_ms <= GAUGE_LIMIT_MS;
}

static const struct protocol_job *next_gauge_job(struct speed_gauge *gauge)
{
	struct protocol_job *job = &gauge->job;

	job->id = gauge->sent + 1;
	job->offset = gauge->ends[gauge->sent];
	job->size_bytes = gauge->ends[gauge->sent + 1] - job->offset;
	gauge->sent++;
	return job;
}

const struct protocol_job *speed_gauge_first(struct speed_gauge *gauge)
{
	return next_gauge_job(gauge);
}

const struct protocol_job *speed_gauge_next(void *context, const struct protocol_answer *answer)
{
	struct speed_gauge *gauge = context;

	if (answer->result || answer->sticky || answer->no_context)
		return NULL;
	if (gauge->sent) {
		speed_take(&gauge->taken, &gauge->module, answer->cpu_ms, answer->wall_ms);
		gauge->longest_ms =
			answer->wall_ms > gauge->longest_ms ? answer->wall_ms : gauge->longest_ms;
	}
	return gauge->sent == GAUGE_MODULES || !has_time(gauge) ? NULL : next_gauge_job(gauge);
}
