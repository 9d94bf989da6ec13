#include "doctor/examination.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "gpu/rules.h"
#include "os/file.h"

/* ---- for which GPUs */

static bool is_gpu_here(const struct jw_system *system, const char *name, size_t length)
{
	for (size_t i = 0; i < system->gpu_count; i++) {
		char text[JW_TARGET_TEXT];

		(void)jw_target_sm(text, system->gpus[i].target);
		if (strlen(text) == length && !strncmp(text, name, length))
			return true;
	}
	return false;
}

/* Of the GPUs that it was baked for ("sm_86 sm_90"), how many are here. */
static size_t count_gpus_here(const struct examination *seen, const struct jw_baked *baked,
							  size_t *ret_all)
{
	size_t here = 0;

	*ret_all = 0;
	for (const char *at = baked->targets; *at; at += *at == ' ') {
		const size_t length = strcspn(at, " ");

		here += is_gpu_here(seen->system, at, length);
		*ret_all += length != 0;
		at += length;
	}
	return here;
}

/* ---- the driver */

static bool is_for_newer(const struct examination *seen, const struct jw_baked *baked)
{
	size_t all;

	return !baked->failed.code && baked->state == JW_BAKED_SOUND &&
		   gpu_code_is_newer(&baked->from, &seen->system->driver.version) &&
		   count_gpus_here(seen, baked, &all);
}

bool is_baked_for_newer(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_baked *first = NULL;
	char from[JW_DRIVER_TEXT], here[JW_DRIVER_TEXT];
	size_t count = 0;

	for (size_t i = 0; seen->baked && i < seen->baked->count; i++) {
		const struct jw_baked *baked = &seen->baked->items[i];

		if (!is_for_newer(seen, baked))
			continue;
		first = first ? first : baked;
		count++;
		draft_word(draft, count == 1 ? "bake" : baked->path);
		if (count == 1) {
			draft_word(draft, "--undo");
			draft_word(draft, baked->path);
		}
	}
	if (!first)
		return false;
	(void)jw_driver_text(from, &first->from);
	(void)jw_driver_text(here, &seen->system->driver.version);
	DRAFT_EVIDENCE(
		draft,
		"%.900s was baked for drivers from %s on, and this is %s: programs that load %s fail",
		first->path, from, here,
		count > 1 ? TEXT_COUNT(count, "such library", "such libraries") : "it");
	if (count + 2 > DRAFT_WORDS)
		draft->word_count = 0;
	DRAFT_FIX(draft,
			  "restore the originals%s, or install driver %s or a newer one; if the oldest driver "
			  "is named (--target GPU --driver VERSION), bake takes an older compiler",
			  draft->word_count ? "" : " (“jitwarm bake --undo”)", from);
	return true;
}

/* ---- what was replaced */

/* All GPUs that it was baked for are here. */
static bool is_replaced(const struct examination *seen, const struct jw_baked *baked)
{
	size_t all;

	return !baked->failed.code && baked->state == JW_BAKED_REPLACED &&
		   count_gpus_here(seen, baked, &all) == all && all;
}

bool is_baked_replaced(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_baked *first = NULL;
	size_t count = 0;

	for (size_t i = 0; seen->baked && i < seen->baked->count; i++) {
		const struct jw_baked *baked = &seen->baked->items[i];

		if (!is_replaced(seen, baked))
			continue;
		if (!count++) {
			first = baked;
			draft_word(draft, "bake");
			draft_word(draft, "--in-place");
			if (first->any_owner)
				draft_word(draft, "--i-may");
		}
		if (first->any_owner == baked->any_owner)
			draft_word(draft, baked->path);
		else
			draft->dropped++;
	}
	if (!first)
		return false;
	DRAFT_EVIDENCE(draft, "%.900s was baked for %.200s, and its package has replaced %s",
				   first->path, first->targets,
				   count > 1 ? TEXT_COUNT(count, "such library", "such libraries") : "it");
	DRAFT_FIX(draft, "bake again what was replaced");
	return true;
}

/* ---- what is cold */

static const struct jw_baked *baked_of(const struct examination *seen, const char *path)
{
	char *real;
	const struct jw_baked *found = NULL;

	if (!seen->baked || os_real_path(NULL, path, &real))
		return NULL;
	for (size_t i = 0; !found && i < seen->baked->count; i++) {
		const struct jw_baked *baked = &seen->baked->items[i];

		if (!baked->failed.code && !strcmp(baked->path, real))
			found = baked;
	}
	mem_free(real);
	return found;
}

bool are_cold_replaced(const struct examination *seen)
{
	size_t cold = 0;

	for (size_t i = 0; i < seen->check->file_count; i++) {
		const struct jw_baked *baked;

		if (!seen->check->files[i].cold)
			continue;
		baked = baked_of(seen, seen->check->files[i].path);
		if (!baked || !is_replaced(seen, baked))
			return false;
		cold++;
	}
	return cold != 0;
}

const struct jw_baked *baked_for_others(const struct examination *seen)
{
	for (size_t i = 0; i < seen->check->file_count; i++) {
		const struct jw_baked *baked =
			seen->check->files[i].cold ? baked_of(seen, seen->check->files[i].path) : NULL;
		size_t all;

		if (baked && baked->state == JW_BAKED_SOUND && !count_gpus_here(seen, baked, &all))
			return baked;
	}
	return NULL;
}
