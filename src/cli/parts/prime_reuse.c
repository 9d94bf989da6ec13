#include "cli/parts/prime_reuse.h"

#include "base/text.h"

static void print_refilled(const struct output *out, const struct jw_store_refilled *refilled,
						   bool dry_run)
{
	char size[TEXT_SHORT];

	for (size_t i = 0; i < refilled->note_count; i++)
		output_warning(out, "from the store: %s", refilled->notes[i]);
	if (refilled->more_notes)
		output_warning(out, "from the store: %zu more (“jitwarm store verify” checks all of it)",
					   refilled->more_notes);
	if (refilled->entries)
		output_line(out, STYLE_GOOD, "%s (%s) that %s compiled before %s",
					TEXT_COUNT(refilled->entries, "entry", "entries"),
					text_bytes(size, refilled->bytes), refilled->entries == 1 ? "was" : "were",
					dry_run ? "would come back from the store; the following counts include them."
							: "came back from the store.");
}

static void print_groups(const struct output *out, const struct jw_carry_result *result,
						 bool dry_run)
{
	for (size_t i = 0; i < result->group_count; i++) {
		const struct jw_carry_group *group = &result->groups[i];
		const char *modules = TEXT_COUNT(group->modules, "module", "modules");

		if (group->refused)
			output_line(out, STYLE_PLAIN,
						"%s for %s that driver %s has compiled cannot be carried over: "
						"%s.",
						modules, group->target, group->driver, group->why);
		else
			output_line(out, STYLE_GOOD, "%s for %s %s carried over from driver %s%s%s.", modules,
						group->target,
						dry_run               ? "would be"
						: group->modules == 1 ? "was"
											  : "were",
						group->driver, group->in_store ? ", out of the store" : "",
						group->older ? "" : ", whose compiler is this driver's");
	}
}

static void print_carried(const struct output *out, const struct jw_carry_result *result,
						  bool dry_run)
{
	char bytes[TEXT_SHORT], time[TEXT_SHORT];

	print_groups(out, result, dry_run);
	if (result->carried && !dry_run)
		output_line(out, STYLE_PLAIN, "That took %s; the cache grew by %s.",
					text_duration(time, result->seconds), text_bytes(bytes, result->bytes));
	if (result->evicted)
		output_warning(out, "%s evicted for them: the cache is at its limit (CUDA_CACHE_MAXSIZE)",
					   TEXT_COUNT(result->evicted, "old entry", "old entries"));
	if (*result->note)
		output_warning(out, "%s", result->note);
}

void prime_reuse_print(const struct output *out, const struct jw_prime_reuse *reuse, bool dry_run)
{
	if (reuse->not_refilled.code)
		output_warning(out, "the store is not used: %s", reuse->not_refilled.message);
	print_refilled(out, &reuse->refilled, dry_run);
	if (reuse->not_carried.code)
		output_warning(out, "nothing is carried over: %s", reuse->not_carried.message);
	if (reuse->carried)
		print_carried(out, reuse->carried, dry_run);
}
