/* The document of which --json. */
#include "cli/which_run.h"

#include "cli/document.h"

#define RELEASE(member, ...) JSON(struct jw_which_release, member, __VA_ARGS__)

static const char *const answer_names[] = {
	[JW_WHICH_RUNS] = "runs",         [JW_WHICH_COMPILES] = "compiles",
	[JW_WHICH_CPU] = "cpu_only",      [JW_WHICH_UNFOLLOWED] = "unfollowed",
	[JW_WHICH_FAILS] = "fails",       [JW_WHICH_NO_PYTHON] = "other_python",
	[JW_WHICH_NO_WHEEL] = "no_wheel", [JW_WHICH_SOURCE] = "source_only",
	[JW_WHICH_UNKNOWN] = "unknown",   NULL,
};

static const struct json_field release_fields[] = {
	RELEASE(version, "the version of the release"),
	RELEASE(
		answer,
		"`runs`: most of its main library runs without compiling; `compiles`: it runs after "
		"compiling; `cpu_only`: it has no code for GPUs and runs on the CPU; `unfollowed`: it has "
		"no code for GPUs itself, and requires packages that the list lacks; `fails`; "
		"`other_python`: its wheels are for other versions of Python; `no_wheel`: it has no wheel "
		"for the platform; `source_only`: the index has only its source code; `unknown`: the list "
		"has nothing of its wheel",
		.names = answer_names),
	RELEASE(why,
			"why the release, or the part `without`, fails; for a release that runs, the "
			"condition; with `other_python`, the versions of Python that the release is for",
			.presence = JSON_UNLESS_NULL),
	RELEASE(library,
			"the largest library that fails, or the library of the part `without`, or the package "
			"`pin`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(lacks, "a library that it needs and that has no machine code for the GPU: `cuBLAS 11`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(newer, "the part that needs a newer driver, if the rest runs: `FlashAttention 2`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(without, "the part that does not run on the GPU, if the rest runs: `torch.linalg`",
			.presence = JSON_UNLESS_NULL),
	JSON_FORMATTED("needs", struct jw_which_release, needs, document_needs,
				   "the first driver with which the release, or what `newer` names, runs",
				   .presence = JSON_IF_SET),
	RELEASE(modules, "modules that a start compiles, at most"),
	JSON_OBJECT_OF("start_seconds", struct jw_which_release, start, &document_span,
				   "the time that the driver takes to compile these modules, on one core"),
	JSON_FORMATTED(
		"loading", struct jw_which_release, loading, document_loading,
		"when a program compiles these modules: `eager` (all at its start), `lazy` (each at its "
		"first use) or `mixed`; absent without modules",
		.presence = JSON_IF_SET),
	RELEASE(
		inferred,
		"the release was not examined: the nearest examined releases, newer and older, have the "
		"same answer"),
	RELEASE(declared_by,
			"with a build that was not looked at: whose build script says for which GPUs it has "
			"machine code, which is all that is known of it: `PyTorch`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(options,
			"what pip needs to install it, as PyPI does not have it: `--index-url ADDRESS`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(file,
			"the examined wheel; with `inferred`, the wheel of the examined release with the same "
			"answer; absent if the release has no wheel for the platform",
			.presence = JSON_UNLESS_NULL),
	RELEASE(
		pin,
		"a package that the release requires and that fails on this GPU, with the version or the "
		"versions that the release allows",
		.presence = JSON_UNLESS_NULL),
	RELEASE(
		beside,
		"more requirements for pip, with a blank between two; without these, pip takes versions "
		"that fail on the GPU",
		.presence = JSON_UNLESS_NULL),
	RELEASE(required,
			"a package that the release requires and that fails on this GPU, and its version; the "
			"release runs without it",
			.presence = JSON_UNLESS_NULL),
	RELEASE(required_why, "why `required` fails", .presence = JSON_UNLESS_NULL),
	JSON_LINES_OF("uses", struct jw_which_release, uses, use_count,
				  "of a release without code for GPUs itself: the packages with such code that it "
				  "requires, with the versions that it allows",
				  .presence = JSON_IF_SET),
	JSON_LINES_OF("unfollowed", struct jw_which_release, unfollowed, unfollowed_count,
				  "of a release without code for GPUs itself: the required packages that the list "
				  "lacks",
				  .presence = JSON_IF_SET),
	{0},
};

const struct json_table document_release = {.fields = release_fields,
											.size = sizeof(struct jw_which_release)};

static const char *answer_newest(char room[JSON_ROOM], const void *answer)
{
	const struct jw_which_release *advised = ((const struct jw_which *)answer)->advised;

	(void)room;
	return advised ? advised->version : "";
}

static const struct json_field answer_fields[] = {
	JSON(struct jw_which, package, "the package, as indexes name it"),
	JSON(struct jw_which, index,
		 "the index that the answer holds for: `PyPI`, or another one's address without "
		 "`https://`"),
	JSON(struct jw_which, date,
		 "the day on which the list of releases was made, or on which `--ask` asked the index"),
	JSON_FORMATTED("target", struct jw_which, target, document_sm, "the GPU: `sm_86`"),
	JSON_FORMATTED_OF("newest", answer_newest,
					  "the newest release that runs; if none does, the newest that runs after "
					  "compiling, or without some of it",
					  .presence = JSON_IF_SET),
	JSON(struct jw_which, newest_on_all,
		 "with several GPUs: the newest release that runs on all of them, chosen like `newest`",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_which, examined_from,
		 "the oldest release that jitwarm has examined, if it has not examined older ones",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_which, unexamined,
		 "how many releases before `examined_from` jitwarm has not examined; without "
		 "`examined_from`: how many of all",
		 .presence = JSON_IF_SET),
	JSON_LIST_OF("releases", struct jw_which, releases, count, &document_release,
				 "the releases, the newest first; for NAME==VERSION, that one alone, and for a "
				 "range those in it"),
	{0},
};

static const struct json_table answer_table = {.fields = answer_fields,
											   .size = sizeof(struct jw_which)};

static const char *const note_names[] = {
	[JW_WHICH_NOTE_NONE] = "none",
	[JW_WHICH_NOTE_OTHER_CUDA] = "other_cuda",
	[JW_WHICH_NOTE_OTHER_NAME] = "other_name",
	[JW_WHICH_NOTE_WSL] = "wsl",
	[JW_WHICH_NOTE_USES] = "uses",
	[JW_WHICH_NOTE_UNFOLLOWED] = "unfollowed",
	[JW_WHICH_NOTE_UNEXAMINED] = "unexamined",
	[JW_WHICH_NOTE_REQUIRED] = "required",
	[JW_WHICH_NOTE_NEWER_DRIVER] = "newer_driver",
	[JW_WHICH_NOTE_BUILT] = "built",
	[JW_WHICH_NOTE_RENAMED] = "renamed",
	[JW_WHICH_NOTE_OTHERS] = "others",
	[JW_WHICH_NOTE_INDEX] = "index",
	NULL,
};

static const struct json_field note_fields[] = {
	JSON(struct jw_which_note, kind,
		 "`other_cuda`: a package that is built for another CUDA runs; `other_name`: the package "
		 "for this platform has another name; `wsl`: it runs in WSL 2; `uses`: it has no device "
		 "code of its own; `unfollowed`: jitwarm has not looked at all that it requires; "
		 "`unexamined`: nor at older releases; `required`: a package fails that pip also installs; "
		 "`newer_driver`: some of it needs a newer driver; `built`: pip compiles it for other "
		 "versions of a package; `renamed`: newer releases have another name; `others`: other "
		 "releases; `index`: another index has other builds",
		 .names = note_names),
	JSON(struct jw_which_note, text, "a line for people"),
	JSON(struct jw_which_note, command, "the command that the line is about",
		 .presence = JSON_UNLESS_NULL),
	{0},
};

static const struct json_field advice_fields[] = {
	JSON_MEMBERS_BEHIND(struct jw_which_advice, answer, &answer_table),
	JSON(struct jw_which_advice, before,
		 "the command to run before `install`, since pip builds the release with the installed "
		 "package, or takes a build of a required package without device code otherwise: `pip "
		 "install torch==2.7.1+cu128 --index-url ADDRESS`",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_which_advice, install,
		 "the command that installs the newest release that runs; for NAME==VERSION that one, if "
		 "it runs",
		 .presence = JSON_UNLESS_NULL),
	JSON_OF(JSON_OBJECT, "instead", struct jw_which_advice, instead,
			.table = JSON_TABLE(struct jw_which_note, note_fields),
			.text = "if no release runs: what to install instead",
			JSON_IF(struct jw_which_advice, instead.text)),
	JSON_LIST_OF("notes", struct jw_which_advice, notes, note_count,
				 JSON_TABLE(struct jw_which_note, note_fields), "what to know",
				 .presence = JSON_IF_SET),
	{0},
};

static const struct json_field which_fields[] = {
	JSON(struct which_run, index,
		 "the index that the answers hold for: `PyPI`; with `--ask`, another one's address without "
		 "`https://`"),
	JSON(struct which_run, date,
		 "the day on which the list of releases was made; with `--ask`: today",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct which_run, platform,
		 "the platform of the wheels: `linux`, `linux-aarch64` or `windows`"),
	JSON(struct which_run, python, "the version of Python", .presence = JSON_UNLESS_NULL),
	JSON_FORMATTED("driver", struct which_run, gpus.driver, document_needs,
				   "the driver in question; missing for the newest one", .presence = JSON_IF_SET),
	JSON_LIST_OF("answers", struct which_run, advices, advice_count,
				 JSON_TABLE(struct jw_which_advice, advice_fields),
				 "an object for each package and GPU"),
	JSON(struct which_run, constraints,
		 "for several packages, or GPUs: the command that writes a file of constraints",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct which_run, install, "the command that installs the packages with this file",
		 .presence = JSON_UNLESS_NULL),
	JSON_LINES_OF(
		"unlisted", struct which_run, unlisted, unlisted_count,
		"the packages, and releases, without an answer: the list, or the index, lacks them; with "
		"-r also the lines that jitwarm cannot read: `requirements.txt:3`"),
	{0},
};
const struct json_table document_which = {.schema = "jitwarm.which/1", .fields = which_fields};
