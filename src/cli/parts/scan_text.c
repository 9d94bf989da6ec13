#include "cli/parts/scan_text.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/text.h"
#include "cli/parts/gpu_targets.h"

enum { MOST_LINE = 1 << 16 };

static void add_work(struct jw_scan_work *sum, const struct jw_scan_work *work)
{
	sum->modules += work->modules;
	sum->ptx_bytes += work->ptx_bytes;
	sum->seconds += work->seconds;
	sum->longest = work->longest > sum->longest ? work->longest : sum->longest;
	sum->cache_bytes += work->cache_bytes;
}

/* The work without a part of it. Which of its modules is the dearest is then not known, but it is
 * not dearer than before. */
static struct jw_scan_work less_work(struct jw_scan_work work, const struct jw_scan_work *part)
{
	work.modules -= part->modules;
	work.ptx_bytes -= part->ptx_bytes;
	work.seconds -= part->seconds;
	work.cache_bytes -= part->cache_bytes;
	if (work.seconds < work.longest)
		work.longest = work.seconds;
	return work;
}

static const char *separator(const struct buf *line)
{
	return line->size ? "; " : "";
}

static void say_work(struct buf *line, const struct jw_scan_work *work,
					 const struct scan_machine *machine, const char *what)
{
	char ptx[TEXT_SHORT], wall[TEXT_SHORT], cache[TEXT_SHORT];

	(void)buf_printf(
		NULL, line, "%s%s to %s (%s of PTX): about %s on %s, %s of cache", separator(line),
		TEXT_COUNT(work->modules, "module", "modules"), what, text_bytes(ptx, work->ptx_bytes),
		text_duration(wall, jw_scan_wall_seconds(work, machine->capacity)),
		TEXT_COUNT(machine->cores, "core", "cores"), text_bytes(cache, work->cache_bytes));
}

static void say_cannot(struct buf *line, const struct jw_scan_verdicts *verdicts)
{
	char driver[JW_DRIVER_TEXT], too_new[JW_DRIVER_TEXT + 64] = "newer than the driver";
	const struct {
		size_t count;
		const char *why;
	} reasons[] = {
		{verdicts->cannot_exclusive, "for another GPU alone"},
		{verdicts->cannot_too_new, too_new},
		{verdicts->cannot_zstd, "compressed with zstd, which needs a driver from 550.54.14 on"},
		{verdicts->cannot_damaged, "damaged"},
	};

	if (verdicts->needs.cuda)
		(void)snprintf(too_new, sizeof too_new, "too new: it takes driver %s or newer",
					   jw_driver_text(driver, &verdicts->needs));
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].count)
			(void)buf_printf(NULL, line, "%s%zu cannot be used (%s)", separator(line),
							 reasons[i].count, reasons[i].why);
}

/* One image on one GPU, in words; returns the style. */
static enum style say_verdicts(struct buf *line, const struct jw_scan_verdicts *verdicts,
							   const struct scan_machine *machine)
{
	struct jw_scan_work work = verdicts->work;
	bool link = verdicts->link_needed == JW_SCAN_NEED_YES && verdicts->link_work.modules;
	char bytes[TEXT_SHORT];

	if (verdicts->left_out)
		work = less_work(work, &verdicts->loose_work);
	if (work.modules)
		say_work(line, &work, machine, "compile");
	if (link)
		say_work(line, &verdicts->link_work, machine, "compile for linking");
	if (verdicts->left_out)
		(void)buf_printf(
			NULL, line, "%s%s (%s of PTX) compiled when used; “prime --all” includes them",
			separator(line), TEXT_COUNT(verdicts->loose_work.modules, "module", "modules"),
			text_bytes(bytes, verdicts->loose_work.ptx_bytes));
	say_cannot(line, verdicts);
	if (line->size)
		return work.modules || link || verdicts->left_out ? STYLE_WARN : STYLE_BAD;
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
	output_line(output, STYLE_PLAIN, "  %s", line.size ? buf_text(&line) : "nothing in it");
	buf_free(&line);
}

static void add_total(struct scan_total *total, const struct jw_scan_verdicts *verdicts)
{
	struct jw_scan_work work = verdicts->work;

	if (verdicts->left_out) {
		work = less_work(work, &verdicts->loose_work);
		total->left_out += verdicts->loose_work.modules;
	}
	add_work(&total->work, &work);
	if (verdicts->link_needed == JW_SCAN_NEED_YES)
		add_work(&total->work, &verdicts->link_work);
	total->images++;
}

void scan_text_image(const struct output *output, const struct jw_scan_image *image,
					 const struct scan_machine *machine, struct scan_total *totals)
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
		enum style style = say_verdicts(&line, &image->verdicts[i], machine);

		output_line(output, style, "  %-20s %s", gpu_targets_name(name, image->verdicts[i].target),
					buf_text(&line));
		buf_free(&line);
		add_total(&totals[i], &image->verdicts[i]);
	}
}

void scan_text_total(const struct output *output, struct jw_target target,
					 const struct scan_total *total, const struct scan_machine *machine)
{
	char name[GPUS_NAME];
	struct buf line = BUF_MAX(MOST_LINE);

	if (total->work.modules)
		say_work(&line, &total->work, machine, "compile");
	else
		(void)buf_printf(NULL, &line, "nothing to compile");
	if (total->left_out)
		(void)buf_printf(NULL, &line, "; %zu more when used", total->left_out);
	output_line(output, STYLE_STRONG, "%s, all together: %s", gpu_targets_name(name, target),
				buf_text(&line));
	buf_free(&line);
}
