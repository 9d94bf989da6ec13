#include "prime/elsewhere.h"

#include <stdio.h>

#include <jitwarm/key.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "compile/compiler_find.h"
#include "machine/compiler_gauge.h"

/* Source: docs/compiler-twin.md, [1]. */
static bool has_one_attribute_more(const struct jw_system *system)
{
	for (size_t i = 0; i < system->gpu_count; i++)
		if (system->driver.version.release[0] == 535 && system->gpus[i].target.sm == 90)
			return true;
	return false;
}

static void tell_difference(const struct jw_system *system, const struct jw_compiler *compiler,
							struct jw_prime_result *result)
{
	char driver[JW_DRIVER_TEXT];

	(void)jw_driver_text(driver, &system->driver.version);
	if (!compiler->exact)
		(void)snprintf(
			result->inexact, sizeof result->inexact,
			"%.700s is of CUDA %u.%u, older than driver %s: its code works there, but is "
			"not the driver's own",
			compiler->path, compiler->cuda / 1000, compiler->cuda % 1000 / 10, driver);
	else if (has_one_attribute_more(system))
		(void)snprintf(result->inexact, sizeof result->inexact,
					   "on sm_90 driver %s writes one attribute more into its results than ptxas "
					   "does: they are not the driver's own to the last byte",
					   driver);
}

int elsewhere_prepare(struct jw_error *err, const struct jw_system *system,
					  const struct jw_prime_options *options, struct jw_prime_result *result,
					  struct jw_compiler *ret_compiler)
{
	const struct jw_export_options *pack = options->pack;

	if (options->dry_run)
		return 0;
	if (system->elsewhere) {
		if (compiler_find(err, &system->driver.version, options->ptxas, options->fetch,
						  ret_compiler))
			return -1;
		tell_difference(system, ret_compiler, result);
		compiler_gauge(system, ret_compiler->path, &options->cancel);
	}
	return pack && pack->sign_key
			   ? jw_key_check(err, system->state_dir, pack->sign_key, pack->passphrase)
			   : 0;
}

static int write_target_pack(struct jw_error *err, const struct jw_system *system,
							 const struct jw_prime_options *options,
							 struct jw_export_result *ret_result)
{
	const struct jw_export_options *given = SIZED(err, options->pack, struct jw_export_options);
	struct jw_target *targets = mem_array(err, system->gpu_count, sizeof *targets);
	struct jw_export_options how;
	struct jw_error why = {0};
	int failed = -1;

	if (given && targets) {
		how = *given;
		how.system = system;
		how.targets = targets;
		how.target_count = jw_system_targets(system, targets, system->gpu_count);
		how.state_dir = system->state_dir;
		how.cancel = options->cancel;
		failed = jw_export(&why, &how, ret_result);
		if (failed && why.code == JW_ERR_NOT_FOUND)
			error_set(err, JW_ERR_UNSUPPORTED, "%s is not written: no entry is left to put into it",
					  how.output);
		else if (failed)
			error_copy(err, &why);
	}
	mem_free(targets);
	return failed;
}

void elsewhere_write_pack(const struct jw_system *system, const struct jw_prime_options *options,
						  struct jw_prime_result *result)
{
	struct jw_error *err = &result->not_packed;
	struct jw_export_result *pack;

	if (!options->pack || options->dry_run)
		return;
	if (result->interrupted || cancel_asked(&options->cancel)) {
		error_set(err, JW_ERR_INTERRUPTED, "%s is not written%s", options->pack->output,
				  system->scratch ? ", and what was compiled is gone: with --cache DIR an "
									"interrupted run can continue"
								  : "");
		return;
	}
	pack = mem_alloc(err, sizeof *pack);
	if (!pack)
		return;
	pack->size = sizeof *pack;
	if (write_target_pack(err, system, options, pack))
		mem_free(pack);
	else
		result->pack = pack;
}
