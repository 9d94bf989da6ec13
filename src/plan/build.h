/* Internals of plan_build: a plan under construction, image by image. */
#pragma once

#include "base/set.h"
#include "plan/analyse.h"
#include "plan/plan.h"

/* The most memory for what a command keeps of all files with device code. An environment with
 * 100,000 modules, for 32 GPUs, needs less than a third of it. */
#define BUILD_MAX_HELD (UINT64_C(2) << 30)

/* Modules of libraries that one line mentions: a package of CUDA's has a dozen such libraries. */
struct build_mention {
	char first[1024]; /* the name of the first library */
	size_t images, modules;
	uint64_t bytes;
};

struct build {
	const struct plan_request *request;
	struct plan *plan;
	struct set known[PLAN_MAX_TARGETS]; /* modules by identity */
	uint32_t found;                     /* the index of the current file in the request's search */
	const struct jw_found_file *from;   /* the current file; NULL if the search has it not */
	/* The driver that judges, and its bit in plan_module.drivers. */
	struct jw_driver driver;
	unsigned driver_bit;
	enum loading_setting setting; /* CUDA_MODULE_LOADING of the programs */
	uint64_t held_bytes;          /* the memory for what the command keeps of the images so far */
	size_t module_capacity, file_capacity;
	size_t tests; /* the number of loose files with PTX that packages' own tests read */
	size_t loose_texts, loose_inputs;     /* files that are one PTX text, or an input of a link */
	struct build_mention left_out, texts; /* texts are PTX in the data of libraries */
	size_t superseded;                    /* copies of such texts for older GPUs */
	/* The modules of files of which no program may load some, until the fates are settled. */
	struct build_later {
		struct plan_module module;
		bool loose; /* of a file that is no library */
	} * later;
	size_t later_count, later_capacity;
	bool settled;
};

/* Begins an empty plan. -1 if there are too many targets. In any case the caller ends with
 * build_end, and frees the plan. */
int build_begin(struct jw_error *err, struct build *build, const struct plan_request *request);
void build_end(struct build *build);
/* Returns whether the image is loose code below a tests folder of a package, installed or an
 * archive, so that the package's users do not wait for it. */
bool build_is_of_tests(const struct plan_request *request, const struct analyse_image *image);
/* Counts memory that the command keeps of a file or member until its end. JW_ERR_LIMIT, with that
 * name, if all images need more than BUILD_MAX_HELD. */
int build_hold(struct jw_error *err, struct build *build, const char *path, const char *member,
			   uint64_t bytes);
/* Returns the package of the current file; NULL if there is none. */
static inline const char *build_package(const struct build *build)
{
	return build->from ? build->from->package : NULL;
}
/* Returns how judging.h sees the image. */
struct judge_facts build_facts(const struct build *build, const struct analyse_image *image);
/* Adds the modules and facts of an image to the plan. JW_ERR_LIMIT as for build_hold. */
int build_add_image(struct jw_error *err, struct build *build, const struct analyse_image *image);

/* Settles the fates after the last image, and adds the modules of files that programs load. */
int build_settle(struct jw_error *err, struct build *build);

/* Adds the modules that the request's `of_stamp` asks for. */
int build_add_cached(struct jw_error *err, struct build *build);

/* Returns whether the CUDA runtime links the image's relocatable code when a program starts. */
enum jw_scan_need build_link_needed(const struct analyse_image *image, const struct judged *is);
/* Notes the files of which some is left out, once the fates are settled. */
void build_note_parts(struct build *build);

/* Adds the last notes: on left-out files, and on the treatment of PTX texts and loose files. */
void build_note_assumptions(struct build *build);

/* Estimates each module from its text. */
void build_estimate(struct plan *plan);
