#include "cli/parts/scan_text.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/text.h"
#include "cli/parts/forecast_text.h"
#include "cli/parts/gpu_targets.h"
#include "cli/parts/module_text.h"

enum { MOST_LINE = 1 << 16 };

static struct jw_seconds less_seconds(const struct jw_seconds *from, const struct jw_seconds *part)
{
	return (struct jw_seconds){from->low - part->low, from->likely - part->likely,
							   from->high - part->high};
}

/* The work without a part of it. */
static struct jw_scan_work less_work(struct jw_scan_work work, const struct jw_scan_work *part)
{
	work.modules -= part->modules;
	work.ptx_bytes -= part->ptx_bytes;
	work.start = less_seconds(&work.start, &part->start);
	return work;
}

static const char *separator(const struct buf *line)
{
	return line->size ? "; " : "";
}

static void say_work(struct buf *line, const struct jw_scan_work *work, const char *what)
{
	char ptx[TEXT_SHORT], start[TEXT_SHORT];

	(void)buf_printf(NULL, line, "%s%s to %s (%s of PTX): %s on one core", separator(line),
					 TEXT_COUNT(work->modules, "module", "modules"), what,
					 text_bytes(ptx, work->ptx_bytes),
					 text_span(start, work->start.low, work->start.high));
}

static void say_cannot(struct buf *line, const struct jw_scan_verdicts *verdicts)
{
	char driver[JW_DRIVER_TEXT], too_new[JW_DRIVER_TEXT + 64] = "newer than the driver";
	const struct {
		size_t count;
		const char *why;
	} reasons[] = {
		{verdicts->cannot_exclusive, "only for another GPU"},
		{verdicts->cannot_too_new, too_new},
		{verdicts->cannot_zstd, "compressed with zstd, which needs a driver from 550.54.14 on"},
		{verdicts->cannot_damaged, "damaged"},
	};

	if (verdicts->needs.cuda)
		(void)snprintf(too_new, sizeof too_new, "too new: it needs driver %s or newer",
					   jw_driver_text(driver, &verdicts->needs));
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].count)
			(void)buf_printf(NULL, line, "%s%zu cannot be used (%s)", separator(line),
							 reasons[i].count, reasons[i].why);
}

/* Describes one image on one GPU; returns the style. */
static enum style say_verdicts(struct buf *line, const struct jw_scan_verdicts *verdicts)
{
	struct jw_scan_work work = verdicts->work;
	bool link = verdicts->link_needed == JW_SCAN_NEED_YES && verdicts->link_work.modules;
	char bytes[TEXT_SHORT];

	if (verdicts->left_out)
		work = less_work(work, &verdicts->loose_work);
	if (work.modules)
		say_work(line, &work, "compile");
	if (link)
		say_work(line, &verdicts->link_work, "compile for linking");
	if (verdicts->left_out)
		(void)buf_printf(
			NULL, line, "%s%s (%s of PTX) compiled when used; “prime --all” includes them",
			separator(line), TEXT_COUNT(verdicts->loose_work.modules, "module", "modules"),
			text_bytes(bytes, verdicts->loose_work.ptx_bytes));
	if (!line->size && verdicts->cannot && (verdicts->native || verdicts->compatible))
		(void)buf_printf(NULL, line, "runs as it is, but for what follows");
	say_cannot(line, verdicts);
	if (line->size)
		return work.modules || link || verdicts->left_out || verdicts->native ||
					   verdicts->compatible
				   ? STYLE_WARN
				   : STYLE_BAD;
	if (verdicts->native || verdicts->compatible) {
		(void)buf_printf(NULL, line, "runs as it is");
		return STYLE_GOOD;
	}
	if (verdicts->link) {
		(void)buf_printf(NULL, line,
						 verdicts->link_needed == JW_SCAN_NEED_UNKNOWN
							 ? "relocatable code; whether it is linked at start is not "
							   "known"
							 : "relocatable code, not linked at start");
		return STYLE_FAINT;
	}
	(void)buf_printf(NULL, line, "no kernel image for this GPU");
	return STYLE_BAD;
}

static void say_counts(struct buf *line, const struct jw_scan_count *counts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void)buf_printf(NULL, line, "%s%s × %zu", line->size ? ", " : "", counts[i].name,
						 counts[i].entries);
}

static void print_content(const struct output *output, const struct jw_scan_image *image)
{
	struct buf line = BUF_MAX(MOST_LINE);

	say_counts(&line, image->cubins, image->cubin_count);
	say_counts(&line, image->ptx, image->ptx_count);
	say_counts(&line, image->other, image->other_count);
	output_expect_whole(output, &line);
	output_line(output, STYLE_PLAIN, "  %s", line.size ? buf_text(&line) : "nothing in it");
	buf_free(&line);
}

void scan_text_image(const struct output *output, const struct jw_scan_image *image)
{
	char size[TEXT_SHORT], name[GPUS_NAME];

	output_line(output, STYLE_STRONG, "%s%s%s (%s, %s%s)", image->path, image->member ? ": " : "",
				image->member ? image->member : "", text_bytes(size, image->size_bytes),
				TEXT_COUNT(image->containers, "container", "containers"),
				image->damaged ? ", some damaged" : "");
	if (!image->verdict_count)
		print_content(output, image);
	for (size_t i = 0; i < image->verdict_count; i++) {
		struct buf line = BUF_MAX(MOST_LINE);
		enum style style = say_verdicts(&line, &image->verdicts[i]);

		output_expect_whole(output, &line);
		output_line(output, style, "  %-20s %s", gpu_targets_name(name, image->verdicts[i].target),
					buf_text(&line));
		buf_free(&line);
	}
}

void scan_text_total(const struct output *output, const struct jw_scan_total *total)
{
	char name[GPUS_NAME], ptx[TEXT_SHORT], left_out[TEXT_SHORT + 16] = "";

	if (total->left_out)
		(void)snprintf(left_out, sizeof left_out, "; %zu more when used", total->left_out);
	(void)gpu_targets_name(name, total->target);
	if (!total->modules) {
		output_line(output, STYLE_STRONG, "%s, all together: nothing to compile%s", name, left_out);
		return;
	}
	output_line(output, STYLE_STRONG, "%s, all together: %s to compile (%s of PTX)%s", name,
				TEXT_COUNT(total->modules, "module", "modules"), text_bytes(ptx, total->ptx_bytes),
				left_out);
	forecast_text_line(output, "  ", &total->forecast, "");
	module_text_link(output, "  ", 0, &total->forecast, "");
}
