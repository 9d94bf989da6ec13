/* Inside of plan_build: a plan while it is put together, image by image. */
#pragma once

#include "base/set.h"
#include "plan/analyse.h"
#include "plan/plan.h"

/* Beyond this much PTX outside the registered sections of a library, for one GPU, such modules are
 * left out unless everything is asked for. */
#define PLAN_LOOSE_LIMIT_BYTES UINT64_C(32000000)

enum { PLAN_MOST_MODULES = 1 << 24, PLAN_MOST_FILES = 1 << 24, PLAN_MOST_NOTES = 1 << 16 };

struct build {
	const struct plan_request *request;
	struct plan *plan;
	struct set known[ANALYSE_MOST_TARGETS]; /* modules by key or identity */
	size_t module_capacity, file_capacity, note_capacity;
	size_t loose_texts, loose_inputs; /* files that are one PTX text, or input of a link */
};

/* The modules and sums of an image, read from the file or replayed from the inventory. */
struct build_image {
	const char *path, *member;
	bool library; /* ELF or PE, rather than a loose file */
	const struct analyse_target *targets;
	const struct analyse_module *modules;
	size_t module_count;
};

/* Begins a plan of nothing. -1: out of memory, too many targets. The caller ends with build_end in
 * any case, and frees the plan. */
int build_begin(struct jw_error *err, struct build *build, const struct plan_request *request);
void build_end(struct build *build);
struct build_image build_image_of(const struct analyse_image *image);
int build_take(struct jw_error *err, struct build *build, const struct build_image *image);

/* After the last image: how loose files are taken. */
int build_note_loose(struct jw_error *err, struct build *build);

/* What each module takes, as far as that follows from its text. */
void build_estimate(struct plan *plan);

/* A line for people; `trouble`: about a file that could not be read. */
int build_note(struct jw_error *err, struct build *build, bool trouble, const char *format, ...)
	JW_PRINTF(4, 5);
