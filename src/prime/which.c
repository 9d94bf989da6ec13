#include <jitwarm/which.h>

#include <string.h>

#include <jitwarm/version.h>

#include "base/mem.h"
#include "base/pep440.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "code/release.h"
#include "code/rules.h"
#include "code/target_names.h"
#include "find/marker.h"
#include "find/pip.h"
#include "plan/build.h"
#include "plan/estimate.h"
#include "plan/plan.h"
#include "plan/wheel_list.h"

/* A package that releases require in one version. */
struct known_pin {
	const char *name;
	bool listed;
	struct wheel_list list;
};

struct question {
	const struct jw_which_options *options;
	char package[PACKAGE_MAX_NAME];
	struct wheel_list list;
	char *text; /* the text of the list in the program */
	size_t size;
	struct known_pin *pins;
	size_t pin_count, pin_capacity;
};

/* Returns the library's name without its folder, unless the wheel has another library of that name
 * (xformers' _C.so and flash_attn_3/_C.so), and without the hash that auditwheel or delvewheel has
 * added: libx.so.0 for libx-1a2b3c4d.so.0. */
static char *library_of(const struct file_fate *fate, const struct wheel *wheel)
{
	enum { FEWEST_DIGITS = 8 };
	const char *member = strstr(fate->file, ": "), *name = member ? member + 2 : fate->file,
			   *base = os_base_name(name), *dash = strrchr(base, '-');
	const size_t digits = dash ? strspn(dash + 1, "0123456789abcdef") : 0;
	size_t alike = 0;

	for (size_t i = 0; i < wheel->library_count; i++)
		alike += !strcmp(os_base_name(wheel->libraries[i].name), base);
	if (alike > 1 && base > name) {
		for (base--; base > name && base[-1] != '/';)
			base--;
		return mem_string(base);
	}
	if (digits >= FEWEST_DIGITS && dash[1 + digits] == '.')
		return mem_printf("%.*s%s", (int)(dash - base), base, dash + 1 + digits);
	return mem_string(base);
}

static void note_fate(struct jw_which_release *release, const struct file_fate *fate,
					  const struct wheel *wheel, struct jw_target device)
{
	char text[FATE_TEXT];

	release->library = library_of(fate, wheel);
	release->why = mem_string(fate_reason(text, fate, device));
	if (fate->part == DECIDE_PART && fate_failing(fate) < fate->is.pieces) {
		release->lacking = fate_failing(fate);
		release->pieces = fate->is.pieces;
	}
	release->needs = fate->is.needs;
}

/* Returns the largest one; one only for the GPUs of a family ('a', 'f'), or one of another package
 * (cuSPARSELt in torch 2.5), only if there is no other. */
static const struct file_fate *largest_of(const struct file_fate *fates, size_t count)
{
	const struct file_fate *largest = fates;

	for (size_t i = 1; i < count; i++) {
		const struct file_fate *fate = &fates[i];

		if (fate->is.special != largest->is.special ? largest->is.special
			: fate->bundled != largest->bundled     ? largest->bundled
													: fate->is.pieces > largest->is.pieces)
			largest = fate;
	}
	return largest;
}

/* Returns the library of which the most pieces fail; NULL if there is none. One of FlashAttention
 * on a GPU for which it never has code is named only if there is no other. Variants of which
 * another one runs, and kernels for the GPUs of one family, do not count, because programs choose
 * them by the GPU. */
static const struct file_fate *worst_part(const struct fates *fates)
{
	const struct file_fate *worst = NULL;

	for (size_t i = 0; i < fates->part_count; i++) {
		const struct file_fate *part = &fates->parts[i];

		if (part->part != DECIDE_PART || (!fate_failing(part) && !part->is.host))
			continue;
		if (!worst ||
			(part->aside != worst->aside ? worst->aside : fate_failing(part) > fate_failing(worst)))
			worst = part;
	}
	return worst;
}

/* A package that compiles most of its kernels while it runs, from a release on. */
struct compiler {
	const char *package, *name, *since;
	uint16_t least;               /* the oldest GPU */
	uint32_t cuda, cuda_from_100; /* the ptxas that it brings, for GPUs before sm_100 and from it
									 on; 0: unknown */
	bool of_environment;          /* it makes PTX of the CUDA that its environment has */
	bool by_libraries;            /* machine code only for the GPUs for which its libraries have
									 some: CuPy asks NVRTC for sm_90 on an RTX 50 and gets error
									 209 */
};

/* Sources: the wheels (triton/backends/nvidia/bin/ptxas --version); triton-lang/triton, README up
 * to 3.2 and issues 161, 542 and 6087, and PyTorch's “Triton only supports devices of CUDA
 * Capability
 * >= 7.0” (from 3.3 on, Triton is tested from 8.0 on, and runs on 7.x without tensor cores: pull
 * request 5066); numba-cuda's page “Installation”, and the extras of its wheels: without cu11 from
 * 0.19 on. The newest releases come first. */
static const struct compiler compilers[] = {
	{"cupy-cuda11x", "CuPy", "0", .by_libraries = true},
	{"cupy-cuda12x", "CuPy", "0", .by_libraries = true},
	{"cupy-cuda13x", "CuPy", "0", .by_libraries = true},
	{"triton", "Triton", "3.9", .least = 70, .cuda = 12090, .cuda_from_100 = 13040},
	{"triton", "Triton", "3.8", .least = 70, .cuda = 12090, .cuda_from_100 = 13030},
	{"triton", "Triton", "3.7", .least = 70, .cuda = 12080, .cuda_from_100 = 13010},
	{"triton", "Triton", "3.6", .least = 70, .cuda = 12080, .cuda_from_100 = 12090},
	{"triton", "Triton", "3.4", .least = 70, .cuda = 12080, .cuda_from_100 = 12080},
	{"triton", "Triton", "3.3", .least = 70, .cuda = 12040, .cuda_from_100 = 12080},
	{"triton", "Triton", "3.0", .least = 70, .cuda = 12040, .cuda_from_100 = 12040},
	{"triton", "Triton", "2.2", .least = 70, .cuda = 12030, .cuda_from_100 = 12030},
	{"triton", "Triton", "2.1", .least = 70, .cuda = 12010, .cuda_from_100 = 12010},
	{"triton", "Triton", "2.0", .least = 70, .cuda = 12000, .cuda_from_100 = 12000},
	{"triton", "Triton", "0", .least = 70},
	{"triton-windows", "Triton", "0", .least = 70},
	{"pytorch-triton", "Triton", "0", .least = 70},
	{"numba-cuda", "Numba", "0.19", .least = 50, .of_environment = true},
	{"numba-cuda", "Numba", "0", .least = 35, .of_environment = true},
	{"numba-cuda-mlir", "Numba", "0", .least = 70, .of_environment = true},
};

static const struct compiler *find_compiler(const char *package, const char *version)
{
	for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
		if (!strcmp(package, compilers[i].package) &&
			!version_is_newer(compilers[i].since, version))
			return &compilers[i];
	return NULL;
}

/* Replaces the failing library of a release, with all that is known of it. `why` is taken over. */
static void replace_fate(struct jw_which_release *release, enum jw_which_answer answer,
						 const char *library, char *why, struct jw_driver needs)
{
	mem_free(release->library);
	mem_free(release->why);
	release->answer = answer;
	release->library = library ? mem_string(library) : NULL;
	release->why = why;
	release->needs = needs;
	release->lacking = release->pieces = 0;
}

/* Fails a release that makes no code for the GPU. */
static void fail_compiler(struct jw_which_release *release, const struct compiler *compiler,
						  struct jw_target target)
{
	char sm[JW_TARGET_TEXT];

	replace_fate(release, JW_WHICH_FAILS, NULL,
				 mem_printf("%s makes no code for %s", compiler->name, jw_target_sm(sm, target)),
				 (struct jw_driver){0});
}

/* Names the CUDA whose PTX the driver reads, if a release makes PTX by the one that it finds. */
static void add_condition(struct jw_which_release *release, const struct compiler *compiler,
						  struct jw_driver driver)
{
	if (release->answer == JW_WHICH_RUNS && compiler && compiler->of_environment && driver.cuda)
		release->why = mem_printf("if its environment has CUDA %u.%u or older", driver.cuda / 1000,
								  driver.cuda % 1000 / 10);
}

/* Judges a release without device code of its own, which compiles all of its kernels. */
static void judge_compiler(const struct compiler *compiler, const struct jw_which_options *options,
						   struct jw_which_release *release)
{
	enum { FIRST_12_THAT_11_REFUSES = 12020 };
	const uint32_t cuda = options->target.sm < 100 ? compiler->cuda : compiler->cuda_from_100,
				   code_cuda = cuda >= 13000                      ? 13000
							   : cuda >= FIRST_12_THAT_11_REFUSES ? 12000
																  : 0;
	const struct jw_driver needs = gpu_code_range(code_cuda, options->target).from;
	char driver[JW_DRIVER_TEXT];

	release->answer = JW_WHICH_RUNS;
	if (cuda && gpu_compiler_fits(cuda, options->target) < 0)
		fail_compiler(release, compiler, options->target);
	else if (gpu_code_is_newer(&needs, &options->driver))
		replace_fate(release, JW_WHICH_FAILS, NULL,
					 mem_printf("needs driver %s or newer", jw_driver_text(driver, &needs)), needs);
}

/* Judges the libraries of a package's wheel with a driver. The other results may be NULL: what each
 * library compiles, and how many run. */
static int judge_libraries(struct jw_error *err, const struct jw_which_options *options,
						   const struct jw_driver *driver, const char *package,
						   const struct wheel *wheel, struct fates *fates,
						   struct decide_work *works, size_t *running)
{
	const char *file = *wheel->file ? wheel->file : wheel->version;
	int result = 0;

	for (size_t i = 0; !result && i < wheel->library_count; i++) {
		const struct wheel_library *library = &wheel->libraries[i];
		struct analyse_target target = {.link_needed = NEED_NO};
		struct decide_work work, loose;

		if (fate_is_tool(library->name))
			continue;
		decide_library(&library->facts, options->target, driver, &target.is, &work, &loose);
		if (loose.ptx_bytes <= PLAN_LOOSE_LIMIT_BYTES)
			decide_add_work(&work, &loose);
		if (works && target.is.fate != DECIDE_LACKS && target.is.fate != DECIDE_REFUSED)
			works[i] = work;
		if (running)
			*running += target.is.fate == DECIDE_RUNS;
		result = fates_add(err, fates,
						   &(struct fate_file){.path = file,
											   .member = library->name,
											   .library = library->facts.library,
											   .package = package,
											   .siblings = wheel->own_libraries},
						   &options->target, &target, 1);
	}
	fates_settle(fates);
	return result;
}

/* Returns the failing library that is named: the largest one. If the package runs with the drivers
 * that some need, it is the largest one of these. */
static const struct file_fate *decisive_of(const struct jw_which_options *options,
										   const char *package, const struct wheel *wheel,
										   const struct fates *fates)
{
	const struct file_fate *largest = largest_of(fates->items, fates->count), *needy = NULL;
	struct fates with_newer = {.items = NULL};
	struct jw_driver newer = {0};

	for (size_t i = 0; i < fates->count + fates->part_count; i++) {
		const struct file_fate *fate =
			i < fates->count ? &fates->items[i] : &fates->parts[i - fates->count];

		newer = gpu_newer_driver(newer, fate->is.needs);
		if (fate->is.needs.cuda && (!needy || fate->is.pieces > needy->is.pieces))
			needy = fate;
	}
	if (needy && !largest->is.needs.cuda &&
		!judge_libraries(NULL, options, &newer, package, wheel, &with_newer, NULL, NULL) &&
		!with_newer.count)
		largest = needy;
	fates_free(&with_newer);
	return largest;
}

/* Judges all libraries of a package's wheel like an installed package. */
static int judge_wheel(struct jw_error *err, const struct question *question, const char *package,
					   const struct wheel *wheel, struct jw_which_release *release,
					   size_t *ret_running)
{
	const struct jw_which_options *options = question->options;
	const char *file = *wheel->file ? wheel->file : wheel->version;
	size_t running = 0;
	struct fates fates = {.items = NULL};
	const struct file_fate *part = NULL;
	struct decide_work start = {0};
	struct decide_work *works = mem_array(wheel->library_count, sizeof *works);
	double eager_ms = 0;
	const struct compiler *compiler;
	int result =
		judge_libraries(err, options, &options->driver, package, wheel, &fates, works, &running);

	for (size_t i = 0; !result && i < wheel->library_count; i++) {
		const struct wheel_library *library = &wheel->libraries[i];

		if (fates_spare(&fates, file, library->name, 0))
			continue;
		decide_add_work(&start, &works[i]);
		if (decide_loading(&library->facts, &options->driver) != LOADING_LAZY)
			eager_ms += works[i].cost_ms;
	}
	mem_free(works);
	if (!result) {
		const double factor = options->speed.factor,
					 seconds = start.cost_ms / 1000 * (factor > 0 ? factor : PLAN_USUAL_FACTOR);

		part = worst_part(&fates);
		release->modules = start.modules;
		release->start = plan_seconds(seconds, false);
		if (start.modules && start.cost_ms > 0) {
			release->start.low *= eager_ms / start.cost_ms;
			release->loading = (eager_ms > 0 ? JW_LOADING_EAGER : 0) |
							   (eager_ms < start.cost_ms ? JW_LOADING_LAZY : 0);
		}
		release->answer = fates.count                       ? JW_WHICH_FAILS
						  : seconds > JW_WHICH_NEGLIGIBLE_S ? JW_WHICH_COMPILES
						  : part                            ? JW_WHICH_PART
															: JW_WHICH_RUNS;
		if (fates.count)
			note_fate(release, decisive_of(options, package, wheel, &fates), wheel,
					  options->target);
		else if (part)
			note_fate(release, part, wheel, options->target);
	}
	compiler = find_compiler(package, wheel->version);
	if (!result && release->answer == JW_WHICH_COMPILES && compiler && compiler->by_libraries) {
		fail_compiler(release, compiler, options->target);
		running = 0;
	}
	fates_free(&fates);
	*ret_running = running;
	return result;
}

/* Returns the wheel of a version for the platform; NULL if there is none. */
static const struct wheel *find_wheel(const struct wheel_list *list, const char *version,
									  const char *platform)
{
	/* A list spells a version nearly always in one way, which is found without reading the others.
	 */
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->wheels[i].version, version) &&
			!strcmp(list->wheels[i].platform, platform))
			return &list->wheels[i];
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->wheels[i].platform, platform) &&
			version_is_same(list->wheels[i].version, version))
			return &list->wheels[i];
	return NULL;
}

/* Returns the version of the list that pip takes for “==REQUESTED” on the platform, the newest one
 * (“2.5.1+cu121” for “2.5.1”), or else one for another platform. NULL if there is none. */
static const char *requested_version(const struct wheel_list *list, const char *requested,
									 const char *platform)
{
	const struct wheel *found = NULL;
	bool found_fits = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct wheel *wheel = &list->wheels[i];
		const bool fits = !strcmp(wheel->platform, platform);

		if ((!version_is_same(wheel->version, requested) &&
			 !version_is_build_of(wheel->version, requested)) ||
			(found_fits && !fits))
			continue;
		if (found && found_fits == fits && !version_is_newer(wheel->version, found->version))
			continue;
		found = wheel;
		found_fits = fits;
	}
	return found ? found->version : NULL;
}

/* Finds the wheels of a pinned package, which is read from the list once. */
static int find_pin(struct jw_error *err, struct question *question, const char *name,
					const struct known_pin **ret_pin)
{
	struct known_pin pin = {.name = name};
	struct jw_error why;

	for (size_t i = 0; i < question->pin_count; i++)
		if (!strcmp(question->pins[i].name, name)) {
			*ret_pin = &question->pins[i];
			return 0;
		}
	pin.listed =
		!wheel_list_read(&why, WHEEL_LIST_OWN, question->text, question->size, name, &pin.list);
	if (!pin.listed && why.code != JW_ERR_NOT_FOUND)
		return error_copy(err, &why);
	VEC_GROW(question->pins, question->pin_capacity, question->pin_count);
	question->pins[question->pin_count] = pin;
	*ret_pin = &question->pins[question->pin_count++];
	return 0;
}

/* Returns whether nothing of a package runs without the other one: PyTorch's extensions. */
static bool is_base(const char *required)
{
	return !strcmp(required, "torch");
}

/* Returns the examined wheel for the platform next to another one: the next newer one (-1), or the
 * next older one (1); NULL if there is none. */
static const struct wheel *find_examined(const struct wheel_list *list, const struct wheel *from,
										 int step)
{
	for (size_t at = (size_t)(from - list->wheels) + (size_t)step; at < list->count;
		 at += (size_t)step)
		if (!list->wheels[at].unseen && !strcmp(list->wheels[at].platform, from->platform))
			return &list->wheels[at];
	return NULL;
}

/* Judges a required package. It fails if none of its libraries runs, because a library such as
 * cuDNN chooses among its own; torch, if it fails. A version that was not examined fails if the
 * versions before and after it fail. ret_pin has the reason. */
static int judge_pin(struct jw_error *err, struct question *question, const struct wheel_list *list,
					 const struct wheel_pin *required, struct jw_which_release *ret_pin,
					 bool *ret_fails)
{
	const struct wheel *found = find_wheel(list, required->version, question->options->platform),
					   *judged[] = {found, NULL};
	bool fails = found != NULL;

	if (found && found->unseen) {
		judged[0] = find_examined(list, found, -1);
		judged[1] = find_examined(list, found, 1);
		fails = judged[0] && judged[1];
	}
	for (size_t i = 0; fails && i < 2 && judged[i]; i++) {
		size_t running;

		jw_which_release_free(ret_pin);
		if (judge_wheel(err, question, required->name, judged[i], ret_pin, &running))
			return -1;
		fails = ret_pin->answer == JW_WHICH_FAILS && (!running || is_base(required->name));
	}
	*ret_fails = fails;
	return 0;
}

/* Judges the packages that a wheel which runs requires in one version. */
static int judge_pins(struct jw_error *err, struct question *question, const struct wheel *wheel,
					  struct jw_which_release *release)
{
	for (size_t i = 0; i < wheel->pin_count && release->answer != JW_WHICH_FAILS; i++) {
		const struct wheel_pin *required = &wheel->pins[i];
		const struct known_pin *pin;
		struct jw_which_release of_pin = {.why = NULL};
		bool fails = false;

		if (find_pin(err, question, required->name, &pin) ||
			(pin->listed && judge_pin(err, question, &pin->list, required, &of_pin, &fails)))
			return -1;
		/* The first one is named, unless nothing runs without a later one. */
		if (fails && (!release->pin || is_base(required->name))) {
			mem_free(release->pin);
			release->pin = mem_printf("%s %s", required->name, required->version);
			/* A program that uses the package fails. */
			if (release->answer == JW_WHICH_RUNS || is_base(required->name)) {
				replace_fate(release, is_base(required->name) ? JW_WHICH_FAILS : JW_WHICH_PART,
							 required->name, of_pin.why, of_pin.needs);
				of_pin.why = NULL;
			}
		}
		jw_which_release_free(&of_pin);
	}
	return 0;
}

/* Returns whether a wheel has code for GPUs, beside a profiler's. */
static bool has_code(const struct wheel *wheel)
{
	for (size_t i = 0; i < wheel->library_count; i++)
		if (!fate_is_tool(wheel->libraries[i].name))
			return true;
	return false;
}

/* Extras that bring a library of NVIDIA's in any version of a range, from a release on; in others
 * the extra names one version. Source: the wheels' METADATA. The newest releases come first. */
static const struct bringing {
	const char *package, *extra, *since, *brings, *low, *high;
} bringings[] = {
	{"jax-cuda12-plugin", "cuda", "0.11.2", "nvidia-cudnn-cu12", "9.10.2.21", "10"},
	{"jax-cuda12-plugin", "cuda", "0.6", "nvidia-cudnn-cu12", "9.8", "10"},
	{"jax-cuda12-plugin", "cuda", "0.4.31", "nvidia-cudnn-cu12", "9.1", "10"},
	{"jax-cuda12-plugin", "cuda", "0.4.30", "nvidia-cudnn-cu12", "9.0", "10"},
	{"jax-cuda13-plugin", "cuda", "0", "nvidia-cudnn-cu13", "9.12.0.46", "10"},
	{"onnxruntime-gpu", "cudnn", "1.27", "nvidia-cudnn-cu13", "9.0", "10"},
	{"onnxruntime-gpu", "cudnn", "1.21", "nvidia-cudnn-cu12", "9.0", "10"},
	{"tensorflow", "and-cuda", "2.20", "nvidia-cudnn-cu12", "9.3.0.75", "10"},
};

/* Returns whether one of the extras has this word, and does not take the library from the machine
 * (“cuda12-local”). */
static bool has_extra(const char *extras, const char *word)
{
	for (const char *at = extras; *at; at += strcspn(at, ",]"), at += *at != '\0') {
		char extra[64];

		(void)text_format(extra, sizeof extra, "%.*s", (int)strcspn(at, ",]"), at);
		for (char *letter = extra; *letter; letter++)
			if (strchr("_.", *letter))
				*letter = '-';
		if (strstr(extra, word) && !strstr(extra, "local"))
			return true;
	}
	return false;
}

static const struct bringing *find_bringing(const char *package, const char *extras,
											const char *version)
{
	for (size_t i = 0; i < sizeof bringings / sizeof *bringings; i++)
		if (!strcmp(package, bringings[i].package) && has_extra(extras, bringings[i].extra) &&
			!version_is_newer(bringings[i].since, version))
			return &bringings[i];
	return NULL;
}

/* Judges the library that an extra brings. pip takes the newest version; if this one fails, the
 * newest one that runs is required beside the release. */
static int judge_extras(struct jw_error *err, struct question *question,
						struct jw_which_release *release)
{
	const struct jw_which_options *options = question->options;
	const struct bringing *bringing =
		options->extras ? find_bringing(question->package, options->extras, release->version)
						: NULL;
	const struct known_pin *known;
	const char *newest = NULL;
	struct jw_which_release of_newest = {.why = NULL};
	bool runs = false;
	int result = 0;

	if (!bringing || find_pin(err, question, bringing->brings, &known))
		return bringing ? -1 : 0;
	for (size_t i = 0; !runs && !result && known->listed && i < known->list.count; i++) {
		const struct wheel *wheel = &known->list.wheels[i];
		struct jw_which_release of_wheel = {.why = NULL};
		size_t running;

		if (strcmp(wheel->platform, options->platform) != 0 || wheel->unseen ||
			version_is_newer(bringing->low, wheel->version) ||
			!version_is_newer(bringing->high, wheel->version))
			continue;
		result = judge_wheel(err, question, bringing->brings, wheel, &of_wheel, &running);
		runs = !result && of_wheel.answer != JW_WHICH_FAILS;
		if (runs && newest)
			release->beside = mem_printf("%s==%s", bringing->brings, wheel->version);
		if (newest) {
			jw_which_release_free(&of_wheel);
			continue;
		}
		newest = wheel->version;
		of_newest = of_wheel;
	}
	if (!result && newest && !runs && release->answer == JW_WHICH_RUNS) {
		mem_free(release->pin);
		release->pin = mem_printf("%s %s", bringing->brings, newest);
		replace_fate(release, JW_WHICH_PART, bringing->brings, of_newest.why, of_newest.needs);
		of_newest.why = NULL;
	}
	jw_which_release_free(&of_newest);
	return result;
}

/* Judges one release, from its wheels for all platforms. */
static int judge_release(struct jw_error *err, struct question *question, const char *version,
						 struct jw_which_release *release)
{
	const struct jw_which_options *options = question->options;
	const struct wheel *for_platform = find_wheel(&question->list, version, options->platform);
	const struct compiler *compiler = find_compiler(question->package, version);
	size_t running;

	*release =
		(struct jw_which_release){.version = mem_string(version), .answer = JW_WHICH_NO_WHEEL};
	if (!for_platform)
		return 0;
	release->file = mem_string(for_platform->file);
	release->inferred = for_platform->of;
	if (options->python && !wheel_fits_python(for_platform, options->python)) {
		release->answer = JW_WHICH_NO_PYTHON;
		release->why = wheel_pythons(for_platform);
		return 0;
	}
	if (compiler && options->target.sm < compiler->least) {
		fail_compiler(release, compiler, options->target);
		return 0;
	}
	if (for_platform->unseen) {
		release->answer = JW_WHICH_UNKNOWN;
		return 0;
	}
	if (!has_code(for_platform)) {
		release->answer = JW_WHICH_CPU;
		if (compiler)
			judge_compiler(compiler, options, release);
		add_condition(release, compiler, options->driver);
		return 0;
	}
	if (judge_wheel(err, question, question->package, for_platform, release, &running))
		return -1;
	add_condition(release, compiler, options->driver);
	if (release->answer != JW_WHICH_FAILS && judge_pins(err, question, for_platform, release))
		return -1;
	return release->answer == JW_WHICH_FAILS ? 0 : judge_extras(err, question, release);
}

/* Lists the versions of the list that are in the range (NULL: all), each once, newest first. */
static size_t list_versions(const struct wheel_list *list, const char *range, const char **versions)
{
	size_t count = 0;
	bool valid;

	for (size_t i = 0; i < list->count; i++) {
		const char *version = list->wheels[i].version;
		size_t at = count;

		/* A list is nearly in this order. */
		if (range && !pep440_fits(version, range, &valid))
			continue;
		while (at && version_is_newer(version, versions[at - 1]))
			at--;
		if (at && version_is_same(versions[at - 1], version))
			continue;
		memmove(versions + at + 1, versions + at, (count - at) * sizeof *versions);
		versions[at] = version;
		count++;
	}
	return count;
}

/* Finds the oldest examined release, and the older ones that jitwarm has not examined. */
static void find_unexamined(struct jw_which *which)
{
	size_t newer = 0; /* unexamined releases before the first examined one */

	for (size_t i = 0; i < which->count; i++) {
		const struct jw_which_release *release = &which->releases[i];

		/* A release for other versions of Python was examined if its wheel is known. */
		if (release->answer <= JW_WHICH_FAILS ||
			(release->answer == JW_WHICH_NO_PYTHON && (*release->file || release->inferred))) {
			newer = which->examined_from ? newer : which->unexamined;
			which->examined_from = release->version;
			which->unexamined = 0;
		}
		which->unexamined += release->answer == JW_WHICH_UNKNOWN;
	}
	which->unexamined += newer;
	if (!which->unexamined || newer)
		which->examined_from = NULL;
}

static bool is_platform(const char *platform)
{
	return !strcmp(platform, "linux") || !strcmp(platform, "linux-aarch64") ||
		   !strcmp(platform, "windows");
}

static void forget_question(struct question *question)
{
	for (size_t i = 0; i < question->pin_count; i++)
		if (question->pins[i].listed)
			wheel_list_free(&question->pins[i].list);
	mem_free(question->pins);
	wheel_list_free(&question->list);
	mem_free(question->text);
}

int jw_which(struct jw_error *err, const struct jw_which_options *options,
			 struct jw_which *ret_which)
{
	struct question question = {.options = options};
	struct jw_which which = {.target = options->target};
	const char **versions;
	bool valid;
	int result = 0;

	if (!package_normalise(options->package, strlen(options->package), question.package))
		return error_set(err, JW_ERR_USAGE, "“%.200s” is no package's name", options->package);
	if (!is_platform(options->platform))
		return error_set(err, JW_ERR_USAGE,
						 "--platform is linux, linux-aarch64 or windows, not “%s”",
						 options->platform);
	if (options->range && (pep440_fits("0", options->range, &valid), !valid))
		return error_set(err, JW_ERR_USAGE, "“%.200s” is no range of versions, such as “>=2,<2.3”",
						 options->range);
	if (jw_driver_supports(err, &options->driver, options->target) ||
		wheel_list_text(err, &question.text, &question.size))
		return -1;
	if (options->asked
			? wheel_list_read(err, "the index's list of wheels", jw_asked_text(options->asked),
							  strlen(jw_asked_text(options->asked)), question.package,
							  &question.list)
			: wheel_list_read(err, WHEEL_LIST_OWN, question.text, question.size, question.package,
							  &question.list)) {
		mem_free(question.text);
		return -1;
	}
	versions = mem_array(question.list.count + 1, sizeof *versions);
	which.package = mem_string(question.package);
	which.date = mem_string(question.list.date);
	if (options->version) {
		*versions = requested_version(&question.list, options->version, options->platform);
		which.count = *versions != NULL;
	} else {
		which.count = list_versions(&question.list, options->range, versions);
	}
	which.releases = mem_array(which.count, sizeof *which.releases);
	for (size_t i = 0; !result && i < which.count; i++) {
		struct jw_which_release *release = &which.releases[i];

		result = judge_release(err, &question, versions[i], release);
		if (release->answer <= JW_WHICH_PART && !which.newest)
			which.newest = release->version;
		if (release->answer == JW_WHICH_COMPILES && !which.newest && !which.newest_compiles)
			which.newest_compiles = release->version;
	}
	if (!options->version)
		find_unexamined(&which);
	mem_free(versions);
	forget_question(&question);
	if (result)
		jw_which_free(&which);
	else
		*ret_which = which;
	return result ? -1 : 0;
}

void jw_which_release_free(struct jw_which_release *release)
{
	mem_free(release->version);
	mem_free(release->file);
	mem_free(release->library);
	mem_free(release->why);
	mem_free(release->pin);
	mem_free(release->beside);
	*release = (struct jw_which_release){.version = NULL};
}

void jw_which_free(struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		jw_which_release_free(&which->releases[i]);
	mem_free(which->releases);
	mem_free(which->package);
	mem_free(which->date);
	*which = (struct jw_which){.package = NULL};
}

char *jw_which_nearest(const char *package)
{
	static const char start[] = "package ";
	char name[PACKAGE_MAX_NAME], *text, *result;
	struct suggest nearest;
	size_t size;

	if (!package_normalise(package, strlen(package), name) || wheel_list_text(NULL, &text, &size))
		return NULL;
	nearest = suggest_for(name, strlen(name));
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (text_starts(line, start))
			suggest_offer(&nearest, line + strlen(start));
	}
	result = nearest.best ? mem_string(nearest.best) : NULL;
	mem_free(text);
	return result;
}

const char *jw_which_own_platform(void)
{
	return text_starts(jw_platform(), "aarch64") ? "linux-aarch64"
		   : text_ends(jw_platform(), "windows") ? "windows"
												 : "linux";
}

enum { MAX_VERSION = 64 };

/* Reads the package, the version and the platform of a wheel's name, with or without ": MEMBER"
 * after it. False if the file is not a wheel. */
static bool read_wheel_name(const char *file, char package[PACKAGE_MAX_NAME],
							char version[MAX_VERSION], const char **ret_platform)
{
	static const char end[] = ".whl";
	const char *at = strstr(file, end);
	struct wheel_name name;
	char *path, platform[256];
	bool result;

	while (at && at[sizeof end - 1] && !text_starts(at + sizeof end - 1, ": "))
		at = strstr(at + 1, end);
	if (!at)
		return false;
	path = mem_string_n(file, (size_t)(at - file) + strlen(end));
	result = wheel_name_read(os_base_name(path), &name) &&
			 package_normalise(name.name.text, name.name.size, package);
	if (result) {
		(void)wheel_part_text(version, MAX_VERSION, name.version);
		(void)wheel_part_text(platform, sizeof platform, name.platform);
		*ret_platform = text_ends(platform, "_aarch64")    ? "linux-aarch64"
						: text_ends(platform, "win_amd64") ? "windows"
						: text_ends(platform, "_x86_64")   ? "linux"
														   : NULL;
	}
	mem_free(path);
	return result && *ret_platform;
}

bool jw_which_before(const char *file, struct jw_target target, const struct jw_driver *driver,
					 const struct jw_speed *speed, struct jw_which_release *ret_release)
{
	char name[PACKAGE_MAX_NAME], version[MAX_VERSION];
	struct jw_which_options options = {.target = target, .driver = *driver, .speed = *speed};
	struct jw_which which;
	bool found = false;

	if (!read_wheel_name(file, name, version, &options.platform))
		return false;
	options.package = name;
	if (jw_which(NULL, &options, &which))
		return false;
	for (size_t i = 0; !found && i < which.count; i++) {
		struct jw_which_release *release = &which.releases[i];

		if (!version_is_newer(version, release->version) || release->answer > JW_WHICH_FAILS)
			continue;
		*ret_release = *release;
		*release = (struct jw_which_release){.version = NULL};
		found = true;
	}
	jw_which_free(&which);
	return found;
}

bool jw_which_cure(const char *package, const char *file, struct jw_target target,
				   const struct jw_driver *driver, const char *python, struct jw_cure *ret_cure)
{
	char name[PACKAGE_MAX_NAME], own[MAX_VERSION];
	struct jw_which_options options = {.package = package,
									   .target = target,
									   .driver = *driver,
									   .platform = jw_which_own_platform(),
									   .python = python};
	struct jw_which which;
	const char *version;
	struct jw_error why;

	if (!package && !read_wheel_name(file, name, own, &options.platform))
		return false;
	options.package = package ? package : name;
	if (jw_which(&why, &options, &which)) {
		*ret_cure = (struct jw_cure){.package = mem_string(options.package)};
		if (why.code != JW_ERR_NOT_FOUND)
			jw_cure_free(ret_cure);
		return why.code == JW_ERR_NOT_FOUND;
	}
	version = which.newest ? which.newest : which.newest_compiles;
	*ret_cure = (struct jw_cure){mem_string(which.package), true,
								 version ? mem_string(version) : NULL, which.unexamined > 0};
	jw_which_free(&which);
	return true;
}

void jw_cure_free(struct jw_cure *cure)
{
	mem_free(cure->package);
	mem_free(cure->version);
	*cure = (struct jw_cure){.package = NULL};
}

/* Adds a line NAME[EXTRA] >= VERSION ; MARKER --hash=… without what is behind the versions, once.
 */
static void add_requirement(struct jw_which_names *names, size_t *capacity, const char *line,
							const struct marker_place *place)
{
	char *text = mem_string_n(line, strcspn(line, "\n")), *end = strstr(text, " --"), *marker;

	if (end)
		*end = '\0';
	if ((marker = strchr(text, ';')))
		*marker++ = '\0';
	for (end = text + strlen(text); end > text && text_is_blank((unsigned char)end[-1]);)
		*--end = '\0';
	for (size_t i = 0; *text && i < names->count; i++)
		if (!strcmp(names->items[i], text))
			*text = '\0';
	if (!*text || (marker && !marker_holds(marker, place))) {
		mem_free(text);
		return;
	}
	VEC_GROW(names->items, *capacity, names->count);
	names->items[names->count++] = text;
}

int jw_which_read_names(struct jw_error *err, const char *path, const char *platform,
						const char *python, struct jw_which_names *ret_names)
{
	const struct marker_place place = {.platform = platform, .python = python ? python : "3.12"};
	struct pip_lines lines;
	struct jw_which_names names = {.items = NULL};
	size_t capacity = 0;

	if (pip_lines_read_file(err, path, &lines))
		return -1;
	for (const char *at = buf_text(&lines.requirements); *at; at += *at == '\n') {
		add_requirement(&names, &capacity, at, &place);
		at += strcspn(at, "\n");
	}
	for (size_t i = 0; i < lines.packages.count; i++)
		add_requirement(&names, &capacity, lines.packages.items[i].asked, &place);
	names.left_out = lines.left_out.count;
	pip_lines_free(&lines);
	if (!names.count)
		return error_set(err, JW_ERR_FORMAT,
						 "%s: no line of it names a package; options, files, addresses and other "
						 "lists are not followed",
						 path);
	*ret_names = names;
	return 0;
}

void jw_which_names_free(struct jw_which_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		mem_free(names->items[i]);
	mem_free(names->items);
	*names = (struct jw_which_names){.items = NULL};
}
