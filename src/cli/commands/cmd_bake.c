/* jitwarm bake: machine code in copies of libraries, and in wheels. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/bake.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/found_files.h"
#include "cli/gpu_targets.h"
#include "cli/index_wheel.h"
#include "cli/next_step.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "os/interrupt.h"

/* ---- the document */

struct bake_document {
	struct jw_bake_result result;
	bool dry_run;
};

#define FILE_MEMBER(member, ...) JSON(struct jw_bake_file, member, __VA_ARGS__)

static const char *format_range_end(char room[JSON_ROOM], const void *driver)
{
	return ((const struct jw_driver *)driver)->cuda ? document_driver(room, driver) : "";
}

static const struct json_field baked_drivers_fields[] = {
	DOCUMENT_TARGET(struct jw_bake_drivers, target),
	JSON_FORMATTED(
		"from", struct jw_bake_drivers, from, format_range_end,
		"the first driver that loads the code in the copy; with an older driver programs fail",
		.presence = JSON_IF_SET),
	JSON_FORMATTED("to", struct jw_bake_drivers, to, format_range_end,
				   "the newest driver with which such code was measured; newer drivers are "
				   "expected to load it, too",
				   .presence = JSON_IF_SET),
	{0},
};

static const struct json_field baked_file_fields[] = {
	FILE_MEMBER(path, "the library, or the package that it is a member of"),
	FILE_MEMBER(member, "for a library inside a wheel: its name in the wheel",
				.presence = JSON_UNLESS_NULL),
	FILE_MEMBER(output, "the copy that was written; for a member of a wheel, the new wheel",
				.presence = JSON_UNLESS_NULL),
	FILE_MEMBER(
		modules,
		"pieces of code that the driver would compile or the CUDA runtime link, once for each "
		"GPU: `baked` + `no_room` + `uncompiled` + `unknown` + `unlinked`, unless "
		"`dry_run`"),
	FILE_MEMBER(baked, "pieces of code that have machine code for the GPU in the copy"),
	FILE_MEMBER(no_room, "pieces of code that are too small for the code and cannot move"),
	FILE_MEMBER(uncompiled, "pieces of code whose machine code is not in the cache"),
	FILE_MEMBER(unknown, "pieces whose code has a form that bake does not write or the "
						 "driver does not load"),
	FILE_MEMBER(texts, "PTX texts in the program's data, which cannot be replaced"),
	FILE_MEMBER(
		linked,
		"pieces among `baked` that hold the result of a link, which no start has to repeat"),
	FILE_MEMBER(unlinked,
				"results of device linking that could not be made: a start may still link them"),
	FILE_MEMBER(moved,
				"pieces of code that moved to the end of the copy because they did not fit into "
				"their own space"),
	FILE_MEMBER(size_before_bytes, "the size of the library"),
	FILE_MEMBER(size_after_bytes, "the size of the copy"),
	JSON_INSIDE_OF("drivers", struct jw_bake_file, drivers, driver_count,
				   "for each GPU, the drivers that load the copy; empty if there is no copy",
				   .table = JSON_TABLE(struct jw_bake_drivers, baked_drivers_fields)),
	JSON_AS("failed", struct jw_bake_file, failed.message, "why there is no copy, in one line",
			.presence = JSON_IF_SET),
	{0},
};

static const struct json_field bake_fields[] = {
	JSON(struct bake_document, dry_run, "nothing was compiled or written"),
	JSON_FORMATTED("driver", struct bake_document, result.driver, document_driver,
				   "the driver or compiler that made the machine code"),
	JSON(struct bake_document, result.uncompiled, "modules that could not be compiled"),
	JSON_AS("uncompiled_why", struct bake_document, result.uncompiled_why.message,
			"the first piece of code that was not compiled, and why, in one line",
			.presence = JSON_IF_SET),
	JSON(struct bake_document, result.interrupted, "the run was ended by Ctrl-C"),
	JSON_LIST_OF("files", struct bake_document, result.files, result.file_count,
				 JSON_TABLE(struct jw_bake_file, baked_file_fields),
				 "the libraries with something to bake"),
	{0},
};
const struct json_table document_bake = {.schema = "jitwarm.bake/1", .fields = bake_fields};

/* ---- the report */

static void print_baked(const struct cli *cli, const struct jw_bake_file *file, bool dry_run)
{
	const struct output *out = &cli->out;
	const char *colon = file->member ? ": " : "", *member = file->member ? file->member : "";
	char sm[JW_TARGET_TEXT], from[JW_DRIVER_TEXT], to[JW_DRIVER_TEXT];

	if (file->failed.code && out->quiet) {
		output_error(out, "%s%s%s: not baked: %s", file->path, colon, member, file->failed.message);
		return;
	}
	if (file->failed.code) {
		output_line(out, STYLE_BAD, "%s%s%s: not baked: %s", file->path, colon, member,
					file->failed.message);
		return;
	}
	if (dry_run) {
		output_line(out, STYLE_PLAIN, "%s%s%s: %s to bake", file->path, colon, member,
					TEXT_COUNT(file->modules, "piece of code", "pieces of code"));
		return;
	}
	output_line(out, file->baked == file->modules ? STYLE_GOOD : STYLE_WARN,
				"%s%s%s: %zu of %s baked", file->path, colon, member, file->baked,
				TEXT_COUNT(file->modules, "piece of code", "pieces of code"));
	if (file->output)
		output_line(out, STYLE_PLAIN, "  → %s", file->output);
	for (size_t i = 0; i < file->driver_count; i++) {
		const struct jw_bake_drivers *drivers = &file->drivers[i];

		(void)jw_target_sm(sm, drivers->target);
		(void)jw_driver_text(from, &drivers->from);
		if (drivers->to.cuda)
			output_line(out, STYLE_PLAIN,
						"  %s: for driver %s or newer, measured up to %s; programs fail with an "
						"older driver",
						sm, from, jw_driver_text(to, &drivers->to));
		else
			output_line(out, STYLE_PLAIN,
						"  %s: for driver %s or newer; programs fail with an older driver", sm,
						from);
	}
	if (file->no_room)
		output_line(out, STYLE_WARN,
					"  %s not baked: the library has no space for the machine code, and the code "
					"cannot be moved: %s",
					TEXT_COUNT(file->no_room, "piece of code", "pieces of code"),
					file->no_room_why.message);
	if (file->uncompiled)
		output_line(out, STYLE_WARN, "  %s not baked: not compiled",
					TEXT_COUNT(file->uncompiled, "piece of code", "pieces of code"));
	if (file->unknown)
		output_line(out, STYLE_WARN, "  %s not baked: jitwarm does not write code in this form",
					TEXT_COUNT(file->unknown, "piece of code", "pieces of code"));
	if (file->texts)
		output_line(out, STYLE_WARN,
					"  %s in the program's data not baked: such data has no space for machine code",
					TEXT_COUNT(file->texts, "PTX source", "PTX sources"));
	if (file->unlinked)
		output_line(out, STYLE_WARN,
					file->unlinked_why.code == JW_ERR_NOT_FOUND
						? "  %s not linked, and no start can link such code: %s"
						: "  %s not linked, so each start may link such code: %s",
					TEXT_COUNT(file->unlinked, "piece of code", "pieces of code"),
					file->unlinked_why.message);
	if (file->moved)
		output_line(
			out, STYLE_PLAIN, "  %s moved to make space: the copy is longer by %s",
			TEXT_COUNT(file->moved, "piece of code", "pieces of code"),
			text_bytes((char[TEXT_SHORT]){0}, file->size_after_bytes - file->size_before_bytes));
}

static void print_bake_summary(const struct cli *cli, const struct jw_bake_result *result,
							   const struct jw_found *found)
{
	const struct output *out = &cli->out;
	static const char *const kept[] = {"output",    "target", "driver", "ptxas",
									   "nvjitlink", "fetch",  "cache",  NULL};
	size_t copies = 0, wheels = 0, installed = 0;

	for (size_t i = 0; i < result->file_count; i++) {
		wheels += result->files[i].output && result->files[i].member;
		copies += result->files[i].output && !result->files[i].member;
	}
	if (wheels)
		next_step(out, STYLE_PLAIN,
				  "Next: install the new package (“pip install FILE”) instead of the old one.",
				  NULL);
	/* An installed package is replaced as a whole, by pip, which can also restore it. Files of a
	 * package mostly follow one another. */
	for (size_t k = 0; k < found->file_count; k++) {
		const struct jw_found_file *file = &found->files[k];
		bool baked = false, before = false;
		struct buf line = BUF_MAX(NEXT_STEP_MAX);
		char name[512];

		for (size_t i = 0; file->package && file->version && i < result->file_count; i++)
			baked = baked || (result->files[i].output && !result->files[i].member &&
							  !strcmp(result->files[i].path, file->path));
		for (size_t i = 0; baked && !before && i < k; i++)
			before = text_same(found->files[i].package, file->package);
		if (!baked || before)
			continue;
		installed++;
		(void)snprintf(name, sizeof name, "%s==%s", file->package, file->version);
		buf_add(&line, "jitwarm bake --index");
		next_step_keep(&line, &cli->options, kept);
		shell_add_word(&line, name);
		next_step(out, STYLE_PLAIN,
				  cli->system->scratch
					  ? "Next: make a wheel of the package, which compiles everything again, and "
						"install it with pip: "
					  : "Next: make a wheel of the package, and install it with pip: ",
				  &line);
	}
	if (copies && !installed)
		next_step(out, STYLE_PLAIN, "Next: put the copies where the program looks for them.", NULL);
}

static int report_baked(struct cli *cli, const struct jw_bake_result *result,
						const struct jw_found *found, bool dry_run)
{
	if (!result->file_count &&
		(result->images || !found_files_print_cpu_builds(&cli->out, found, NULL)))
		output_line(&cli->out, STYLE_GOOD,
					"nothing to bake: the driver compiles nothing in these files");
	for (size_t i = 0; i < result->file_count; i++) {
		const struct jw_bake_file *file = &result->files[i];

		print_baked(cli, file, dry_run);
		if (file->failed.code)
			cli_end_with(cli, file->failed.code == JW_ERR_UNSUPPORTED ? EXIT_CANNOT : EXIT_FAILED);
		else if (!dry_run && (file->baked != file->modules || file->texts))
			cli_end_with(cli, EXIT_COLD);
	}
	if (result->interrupted || result->uncompiled)
		cli_end_with(cli, EXIT_COLD);
	if (result->uncompiled && result->uncompiled_why.code)
		output_line(&cli->out, STYLE_WARN, "%s not compiled; the reason for the first: %s",
					TEXT_COUNT(result->uncompiled, "module", "modules"),
					result->uncompiled_why.message);
	if ((result->interrupted || result->uncompiled) && cli->system->scratch)
		output_line(&cli->out, STYLE_PLAIN,
					"The compiled code was not kept. With --cache DIR, the next run continues "
					"where this run stopped.");
	print_bake_summary(cli, result, found);
	return document_print(&cli->out, &document_bake,
						  &(struct bake_document){.result = *result, .dry_run = dry_run});
}

/* ---- the run */

/* Returns whether the copies are for other machines; “--target native” alone equals no --target. */
static bool bakes_for_others(const struct options *options)
{
	return options_count(options, "target") > 1 ||
		   (options_given(options, "target") &&
			strcmp(options_item(options, "target", 0), "native") != 0);
}

static int open_bake_system(struct jw_error *err, struct cli *cli, struct gpu_targets *gpus)
{
	const struct options *options = &cli->options;
	const bool others = bakes_for_others(options);
	struct jw_system_options how = {
		.probe = !others,
		.cache_dir = options_value(options, "cache"),
		.nameless = others,
	};

	if (others && gpu_targets_read(err, cli, gpus))
		return -1;
	how.driver = gpus->named.version;
	how.driver_library = gpus->named.library;
	how.driver_profile = gpus->named.profile;
	how.targets = gpus->targets;
	how.target_count = gpus->count;
	how.scratch = gpus->count && !how.cache_dir;
	/* The driver that happens to be installed does not count. */
	if (others && !how.driver && !how.driver_library && !how.driver_profile)
		how.driver = "";
	return cli_open(err, cli, &how);
}

static int bake_now(struct jw_error *err, struct cli *cli, const struct found_files *files,
					const struct jw_index_wheel *wheel)
{
	struct prime_bar bar = {.output = &cli->out};
	struct fetching fetching = {.output = &cli->out, .label = "compiler"};
	struct fetching packing = {.output = &cli->out, .label = "packing", .phase = "packing"};
	const struct jw_compiler_fetch_options fetch = fetching_options(&fetching);
	const struct jw_prime_options how = {
		.compile.jobs = (unsigned)options_number(&cli->options, "jobs"),
		.compile.max_memory_bytes = options_number(&cli->options, "max-mem"),
		.plan.budget_ms = options_number(&cli->options, "budget-time"),
		.compile.module_timeout_ms = options_number(&cli->options, "module-timeout"),
		.compile.ptxas = options_value(&cli->options, "ptxas"),
		.context = &bar,
		.progress = prime_bar_report,
		.message = prime_bar_message,
		.compile.fetch = options_given(&cli->options, "fetch") ? &fetch : NULL,
		.reuse.no_store = !cli->uses_store,
	};
	const struct jw_bake_options options = {
		.system = cli->system,
		.found = files->found,
		.output = options_value(&cli->options, "output"),
		.prime = &how,
		.dry_run = options_given(&cli->options, "dry-run"),
		.any_owner = options_given(&cli->options, "i-may"),
		.nvjitlink = options_value(&cli->options, "nvjitlink"),
		.cancel = cli_cancel,
		.packing = fetching_report,
		.packing_context = &packing,
	};
	struct jw_bake_result *result;
	int failed;

	os_catch_interrupts();
	failed = jw_bake(err, &options, &result);
	prime_bar_end(&bar);
	fetching_end(&fetching);
	fetching_end(&packing);
	if (failed)
		return cli_hopeless(err, cli,
							err->code == JW_ERR_NOT_FOUND ? JW_ERR_NOT_FOUND : JW_ERR_UNSUPPORTED);
	for (size_t i = 0; i < result->file_count; i++)
		(void)index_wheel_hide_folder(wheel, result->files[i].path);
	failed = report_baked(cli, result, files->found, options.dry_run);
	jw_result_free(result);
	return failed;
}

static int bake_run(struct jw_error *err, struct cli *cli)
{
	static const char *const only[] = {"driver", "ptxas", "nvjitlink", "fetch"};
	const struct options *options = &cli->options;
	struct found_files files = {0};
	struct gpu_targets gpus = {0};
	struct index_wheel asked = {.index = NULL};
	int result;

	for (size_t i = 0; i < sizeof only / sizeof *only; i++)
		if (options_given(options, only[i]) && !bakes_for_others(options))
			return error_set(
				err, JW_ERR_USAGE,
				"--%s is for another machine: name the GPU of that machine with --target", only[i]);
	if (!options_given(options, "output") && !options_given(options, "dry-run"))
		return error_set(err, JW_ERR_USAGE,
						 "name the folder for the copies with -o DIR, or add -n, which only "
						 "reports what would be baked");
	if (open_bake_system(err, cli, &gpus))
		return cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
	/* Checked before anything is fetched. */
	if (jw_bake_check(err,
					  &(struct jw_bake_options){.system = cli->system,
												.output = options_value(options, "output"),
												.dry_run = options_given(options, "dry-run"),
												.nvjitlink = options_value(options, "nvjitlink")}))
		return cli_hopeless(err, cli,
							err->code == JW_ERR_NOT_FOUND ? JW_ERR_NOT_FOUND : JW_ERR_UNSUPPORTED);
	result = index_wheel_get(err, cli, &gpus, &asked);
	if (!result) {
		const char *const path = asked.wheel ? asked.wheel->path : NULL;

		result = found_files_find(err, &cli->out, path ? &path : options->operands,
								  options->operand_count, false, &files);
	}
	if (!result)
		result = bake_now(err, cli, &files, asked.wheel);
	if (!result)
		found_files_end(cli, &files);
	found_files_free(&files);
	jw_index_close(asked.index);
	return result;
}

static const struct cli_option bake_options[] = {
	CLI_VALUE("output", "DIR", "Write the copies into DIR, which is created if it is missing",
			  .letter = 'o', .names = NAMES_FOLDER),
	CLI_LIST("target", "GPU",
			 "Bake for this GPU (sm_86, rtx3070) instead of the GPUs of this machine, without a "
			 "GPU or driver; may be repeated"),
	CLI_LIST("driver", "VERSION|FILE",
			 "With --target: the oldest driver that has to load the code (570, 550.163.01, or CUDA "
			 "12.8), or the library or profile of this driver, as for “jitwarm make”. Without this "
			 "option, the oldest suitable compiler decides",
			 .names = NAMES_FILE_OR_NAME, .rare = true),
	CLI_VALUE("ptxas", "FILE",
			  "With --target: compile with this ptxas instead of the oldest suitable one",
			  .names = NAMES_FILE, .rare = true),
	CLI_VALUE("nvjitlink", "FILE|PACKAGE",
			  "With --target: link relocatable code with this nvJitLink instead of the oldest "
			  "suitable one",
			  .names = NAMES_FILE_OR_NAME, .rare = true),
	FETCH_OPTION("With --target: fetch a missing compiler first, as “jitwarm compiler fetch” does"),
	CLI_JOBS(.rare = true),
	CLI_WORKER_SETTINGS,
	CLI_DURATION("budget-time", "TIME",
				 "Compile for at most TIME (5m, 1h30m), the most valuable modules first",
				 .least = 1, .rare = true),
	CLI_FLAG("dry-run", "Report how many pieces of code would be baked, and write nothing",
			 .letter = 'n'),
	PROGRESS_OPTION,
	INDEX_OPTIONS,
	CLI_FLAG("i-may",
			 "On your own machine: also bake NVIDIA's libraries, whose licence forbids changes",
			 .rare = true),
	CLI_ENVIRONMENT,
	CLI_CACHE,
	{0}};

const struct cli_command command_bake = {
	.name = "bake",
	.summary = "Put machine code into libraries, so that no cache is needed",
	.usage = "-o DIR [OPTION]… [PATH|PACKAGE]…",
	.description =
		"Puts machine code into copies of libraries, so that the driver compiles nothing and no "
		"cache is needed.\n\nThe copies contain the machine code that “jitwarm prime --all” would "
		"put into the cache. Programs that load the copies compile nothing, even on read-only "
		"media, for any account, with CUDA_CACHE_DISABLE=1, and with newer drivers.\n\nA copy "
		"keeps all PTX, and all machine code for other GPUs. If the "
		"new code does not fit into its place in the library, even after compression, bake appends "
		"the code to the copy, and the file grows. Relocatable code, which the CUDA runtime would "
		"link at each start, is linked once by the driver.\n\nFrom a wheel (X.whl), bake makes a "
		"new wheel in DIR, with the changed libraries, their hashes in RECORD, and the GPUs in its "
		"version (1.0.2+jitwarm.sm86). pip and uv install the new wheel instead of the old "
		"one.\n\nWindows libraries (DLL, PYD), other archives, and PTX in a program's data stay "
		"unchanged. With --target no driver is needed: NVIDIA's ptxas compiles and nvJitLink links "
		"(“jitwarm compiler fetch” or --fetch gets both), and the output says which drivers load "
		"the code.\n\nExit status: 0 if everything is baked, 1 if a part is left unbaked or a name "
		"matches no file, 2 if jitwarm cannot help, 3 on failure.",
	.examples = "jitwarm bake -o baked ./libmodel.so\n"
				"jitwarm bake --index -o . --target rtx3070 --fetch xgboost==1.5.2\n",
	.options = bake_options,
	.run = bake_run,
};

/* jitwarm bake verify: whether the driver compiles anything from baked libraries. */

#define VERIFIED(member, ...) JSON(struct jw_bake_verified, member, __VA_ARGS__)

static const struct json_field verified_bake_fields[] = {
	VERIFIED(path, "the library, or the wheel that it is a member of"),
	VERIFIED(member, "for a library inside a wheel: its name in the wheel",
			 .presence = JSON_UNLESS_NULL),
	VERIFIED(containers,
			 "pieces of code that a start loads, counted once for each GPU architecture"),
	VERIFIED(refused, "pieces of code that the driver did not load"),
	VERIFIED(
		too_old,
		"pieces whose code is too new for the driver, so that a program that loads them fails"),
	VERIFIED(entries, "entries that loading the pieces added to an empty cache"),
	VERIFIED(compiler_opened, "the driver opened its compiler library, which links too"),
	JSON_AS("failed", struct jw_bake_verified, failed.message,
			"why the library could not be verified, in one line", .presence = JSON_IF_SET),
	{0},
};

static const struct json_field bake_verify_fields[] = {
	JSON_LIST_OF("files", struct jw_bake_verify_result, items, count,
				 JSON_TABLE(struct jw_bake_verified, verified_bake_fields), "the libraries"),
	{0},
};
const struct json_table document_bake_verify = {
	.schema = "jitwarm.bake-verify/1",
	.fields = bake_verify_fields,
};

static void print_verified(struct cli *cli, const struct jw_bake_verified *file)
{
	const bool good = !file->entries && !file->compiler_opened && !file->refused && !file->too_old;
	char driver[JW_DRIVER_TEXT];

	output_line(&cli->out, good ? STYLE_GOOD : STYLE_WARN, "%s%s%s: %s loaded, %s made%s",
				file->path, file->member ? ": " : "", file->member ? file->member : "",
				TEXT_COUNT(file->containers - file->too_old, "piece of code", "pieces of code"),
				TEXT_COUNT(file->entries, "entry", "entries"),
				file->compiler_opened ? ", the compiler library opened"
									  : ", the compiler library not opened");
	if (file->refused)
		output_line(&cli->out, STYLE_BAD, "  %s: the driver refuses this code",
					TEXT_COUNT(file->refused, "piece of code", "pieces of code"));
	if (file->too_old)
		output_line(&cli->out, STYLE_BAD,
					"  %s: too new for driver %s: programs that load this code fail",
					TEXT_COUNT(file->too_old, "piece of code", "pieces of code"),
					jw_driver_text(driver, &cli->system->driver.version));
	if (!good)
		cli_end_with(cli, EXIT_COLD);
}

static int verify_paths(struct jw_error *err, struct cli *cli, const char *const *paths,
						size_t count)
{
	struct jw_system_options how = {.probe = true};
	struct jw_bake_verify_options options = {
		.paths = paths, .path_count = count, .cancel = cli_cancel};
	struct jw_bake_verify_result *result;
	size_t troubles = 0;
	int failed;

	if (cli_open(err, cli, &how))
		return -1;
	options.system = cli->system;
	os_catch_interrupts();
	if (jw_bake_verify(err, &options, &result))
		return cli_hopeless(err, cli, JW_ERR_NOT_FOUND);
	for (size_t i = 0; i < result->count; i++)
		if (!result->items[i].failed.code) {
			print_verified(cli, &result->items[i]);
		} else {
			output_warning(&cli->out, "%s", result->items[i].failed.message);
			troubles++;
		}
	cli_end_with(cli, exit_of_troubles(troubles, result->count - troubles));
	failed = document_print(&cli->out, &document_bake_verify, result);
	jw_result_free(result);
	return failed;
}

static int bake_verify_run(struct jw_error *err, struct cli *cli)
{
	const struct options *options = &cli->options;
	struct found_files files = {0};
	int result;

	result = found_files_find(err, &cli->out, options->operands, options->operand_count, false,
							  &files) ||
					 verify_paths(err, cli, files.paths, files.count)
				 ? -1
				 : 0;
	if (!result)
		found_files_end(cli, &files);
	found_files_free(&files);
	return result;
}

static const struct cli_option bake_verify_options[] = {CLI_ENVIRONMENT, {0}};

const struct cli_command command_bake_verify = {
	.name = "bake verify",
	.summary = "Show whether baked libraries start without compiling",
	.usage = "[PATH|PACKAGE]…",
	.description =
		"Shows whether libraries start without compiling: the driver loads their code, and bake "
		"verify counts the compiles.\n\nEach library is loaded in a process of its own with an "
		"empty cache; each new entry in that cache is a compile. The output also says whether the "
		"driver opened its compiler library, which it does to compile and to link. Only the device "
		"code is loaded, not the libraries themselves. The libraries of a wheel (X.whl) are "
		"unpacked for this.\n\nExit status: 1 if something is compiled, linked or refused, the "
		"driver is too old for the code, a library cannot be read, or a name matches no file.",
	.examples = "jitwarm bake verify torch\n",
	.options = bake_verify_options,
	.reads = true,
	.run = bake_verify_run,
};
