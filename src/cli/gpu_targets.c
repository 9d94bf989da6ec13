#include "cli/gpu_targets.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { MAX_GPU_LINE = 1 << 16 };

/* A GPU that the user named as a product is headed by that name: “sm_75 (T4)”. */
enum { TYPED_MAX = GPUS_NAME - JW_TARGET_TEXT };
struct gpu_names {
	struct typed_gpu {
		struct jw_target target;
		char names[TYPED_MAX];
		bool other; /* one of the names is not the heading */
	} items[GPUS_MAX];
	size_t count;
};

static const char *typed_as(const struct output *out, struct jw_target target)
{
	for (size_t i = 0; out->gpu_names && i < out->gpu_names->count; i++)
		if (jw_target_equal(out->gpu_names->items[i].target, target))
			return out->gpu_names->items[i].other ? out->gpu_names->items[i].names : NULL;
	return NULL;
}

/* Returns whether a name equals the heading anyway, apart from letter case and spaces. */
static bool is_heading(const char *name, struct jw_target target)
{
	const char *heading = jw_target_products(target);

	for (;; name++, heading++) {
		name += strspn(name, " -");
		heading += strspn(heading, " ");
		if (!*name || *heading == ',' ||
			tolower((unsigned char)*name) != tolower((unsigned char)*heading))
			return !*name && (!*heading || *heading == ',');
	}
}

static void remember_typed(struct cli *cli, const char *text)
{
	struct gpu_names *typed = cli->gpu_names;

	if (!typed)
		cli->out.gpu_names = cli->gpu_names = typed = mem_alloc(sizeof *typed);
	for (size_t length; *(text += strspn(text, " ,")); text += length) {
		char name[TYPED_MAX];
		struct jw_target targets[2];
		struct typed_gpu *gpu;
		size_t count = 0, used, at = 0;

		length = strcspn(text, ",");
		if (length >= sizeof name)
			continue;
		(void)snprintf(name, sizeof name, "%.*s", (int)length, text);
		if (jw_target_parse(name + 2 * text_starts_fold(name, "sm"), &targets[0]) ||
			jw_target_parse(name, &targets[0]) ||
			jw_targets_read(NULL, name, NULL, targets, 2, &count) || count != 1)
			continue;
		while (at < typed->count && !jw_target_equal(typed->items[at].target, targets[0]))
			at++;
		if (at == GPUS_MAX)
			continue;
		gpu = &typed->items[at];
		gpu->target = targets[0];
		gpu->other = gpu->other || !is_heading(name, targets[0]);
		used = at < typed->count ? strlen(gpu->names) : 0;
		typed->count += at == typed->count;
		if (!used) {
			TEXT_COPY(gpu->names, name);
		} else if (!strstr(gpu->names, name) &&
				   used + sizeof ", " + strlen(name) <= sizeof gpu->names) {
			text_copy(gpu->names + used, sizeof ", ", ", ");
			text_copy(gpu->names + used + 2, strlen(name) + 1, name);
		}
	}
}

int gpu_targets_add_own(struct jw_error *err, struct gpu_targets *gpus,
						const struct jw_system *system)
{
	for (size_t i = 0; i < system->gpu_count; i++) {
		char sm[JW_TARGET_TEXT];

		if (jw_targets_read(err, jw_target_sm(sm, system->gpus[i].target), NULL, gpus->targets,
							GPUS_MAX, &gpus->count))
			return -1;
	}
	return 0;
}

/* Adds the GPUs of one value of --target or --arch. `driver` is NULL if it does not matter. */
static int add_named(struct jw_error *err, struct cli *cli, const char *option, const char *text,
					 const struct jw_driver *driver, struct gpu_targets *gpus)
{
	struct jw_system_options how = {.asleep = true, .ask = JW_ASK_UNKNOWN};
	struct jw_system *here;
	int result = -1;

	if (!text_equal_fold(text, "native"))
		return jw_targets_read(err, text, driver, gpus->targets, GPUS_MAX, &gpus->count);
	if (cli_worker(err, cli, &how.worker) || jw_system_open(err, &how, &here))
		return -1;
	if (here->gpu_count)
		result = gpu_targets_add_own(err, gpus, here);
	else
		error_set(err, JW_ERR_USAGE, "--%s native: %s; name a GPU (%s)", option, here->why_none,
				  here->example);
	jw_system_free(here);
	return result;
}

/* Takes a driver; a file's first bytes show whether it is a library. */
static void take_named_driver(const char *text, struct named_driver *named)
{
	struct jw_driver driver;
	char head[4] = "";

	if (!jw_driver_parse(NULL, text, &driver) || (!os_exists(text) && !strpbrk(text, "/\\")))
		named->version = text;
	else if (os_read_head(text, head, sizeof head) == sizeof head &&
			 (!memcmp(head, "\177ELF", 4) || !memcmp(head, "MZ", 2)))
		named->library = text;
	else
		named->profile = text;
}

/* Returns whether all of these names are those of Arm machines. */
static bool all_arm(const char *text)
{
	bool arm = true;

	for (size_t length; arm && *(text += strspn(text, " ,")); text += length) {
		char name[GPUS_NAME];

		length = strcspn(text, ",");
		(void)snprintf(name, sizeof name, "%.*s", (int)length, text);
		arm = jw_target_named_arm(name);
	}
	return arm;
}

void gpu_targets_warn(const struct cli *cli, const struct jw_driver *driver)
{
	char text[JW_DRIVER_TEXT], last[JW_DRIVER_TEXT];
	struct jw_driver newest;

	if (jw_driver_is_beyond(driver, &newest))
		output_warning(
			&cli->out,
			"driver %s is newer than %s, the newest driver that jitwarm knows: jitwarm assumes "
			"that the newer driver also loads all code that the older driver loads",
			jw_driver_text(text, driver), jw_driver_text(last, &newest));
}

bool gpu_targets_is_gpu(const char *word)
{
	struct jw_target targets[GPUS_MAX], number;
	size_t count = 0;

	return word[strcspn(word, "0123456789")] &&
		   !jw_targets_read(NULL, word, NULL, targets, GPUS_MAX, &count) &&
		   (!text_is_digit(*word) || !jw_target_parse(word, &number) ||
			!jw_target_plausible(number));
}

/* Adds to an error about “rtx” that another word, “4090”, belongs to the name. */
static void explain_two_words(struct jw_error *err, const struct options *options,
							  const char *option, const char *first)
{
	struct jw_target targets[GPUS_MAX];

	for (size_t i = 0; i < options->operand_count; i++) {
		char *whole = mem_printf("%s%s", first, options->operands[i]);
		size_t count = 0;

		if (!jw_targets_read(NULL, whole, NULL, targets, GPUS_MAX, &count))
			error_set(err, JW_ERR_USAGE, "--%s takes one word: “--%s %s”", option, option, whole);
		mem_free(whole);
	}
}

int gpu_targets_read(struct jw_error *err, struct cli *cli, struct gpu_targets *ret_gpus)
{
	const struct options *options = &cli->options;
	struct gpu_targets gpus = {.arm = options_given(options, "target")};
	const char *text;

	for (size_t i = 0; (text = options_item(options, "driver", i)); i++)
		take_named_driver(text, &gpus.named);
	if (gpus.named.version && jw_driver_parse(err, gpus.named.version, &gpus.driver))
		return -1;
	gpu_targets_warn(cli, &gpus.driver);
	for (size_t i = 0; (text = options_item(options, "target", i)); i++) {
		if (add_named(err, cli, "target", text, &gpus.driver, &gpus)) {
			explain_two_words(err, options, "target", text);
			return -1;
		}
		remember_typed(cli, text);
		gpus.arm = gpus.arm && all_arm(text);
	}
	*ret_gpus = gpus;
	return 0;
}

void gpu_targets_drop_unnamed(struct gpu_targets *gpus)
{
	size_t run = 0;

	for (size_t i = 0; i < gpus->count; i++)
		if (!jw_driver_supports(NULL, &gpus->driver, gpus->targets[i]))
			gpus->targets[run++] = gpus->targets[i];
	gpus->count = run ? run : gpus->count;
}

/* Returns whether a name is spelled as it is marketed: "NVIDIA GeForce RTX 4060 Laptop GPU", "Tesla
 * T4". */
static bool is_marketed(const char *name)
{
	while (*name && !(isupper((unsigned char)*name) && islower((unsigned char)name[1])))
		name++;
	return *name;
}

/* Writes "RTX 3070 Ti" for "rtx3070ti", "H100" for "h100", "RTX 3090x2" for "rtx3090x2". */
static void write_marketed(char *ret_text, size_t size, const char *typed)
{
	static const struct {
		const char *typed, *marketed;
	} words[] = {{"super", " SUPER"}, {"titan", "TITAN "}, {"max-q", " Max-Q"}, {"maxq", " Max-Q"},
				 {"gtx", "GTX "},     {"rtx", "RTX "},     {"ti", " Ti"},       {"gt", "GT "}};
	size_t used = 0;

	for (const char *at = typed; *at && used + 8 < size;) {
		size_t i = 0;

		while (i < sizeof words / sizeof *words && !text_starts_fold(at, words[i].typed))
			i++;
		if (i < sizeof words / sizeof *words && strpbrk(typed, "0123456789")) {
			const char *marketed = words[i].marketed;

			at += strlen(words[i].typed);
			/* Writes one blank, however many were typed. */
			marketed += *marketed == ' ' && used && ret_text[used - 1] == ' ';
			while (*marketed && !(*marketed == ' ' && !marketed[1] && (!*at || *at == ' ')))
				ret_text[used++] = *marketed++;
		} else {
			/* The sign of a number of GPUs, 2x3090, stays in lower case. */
			const bool times = *at == 'x' && at > typed && (text_is_digit(at[-1]) || at[-1] == ' '),
					   lower = *at >= 'a' && *at <= 'z' && !times;

			ret_text[used] = *at++;
			if (lower)
				ret_text[used] = (char)(ret_text[used] - 'a' + 'A');
			used++;
		}
	}
	ret_text[used] = '\0';
}

/* Writes the name of a GPU as a product, “RTX 3070”: the typed one, else the first of its
 * architecture, else none. */
static void product_name(char text[GPUS_NAME], const struct output *out, struct jw_target target)
{
	const char *typed = typed_as(out, target), *names = jw_target_products(target);

	if (!typed)
		(void)snprintf(text, GPUS_NAME, "%.*s", (int)strcspn(names, ","), names);
	else if (is_marketed(typed))
		(void)text_copy(text, GPUS_NAME, typed);
	else
		write_marketed(text, GPUS_NAME, typed);
}

int gpu_targets_keep_run(struct jw_error *err, struct cli *cli, struct gpu_targets *gpus)
{
	struct jw_error whys[GPUS_MAX];
	size_t kept = 0, left = 0;

	for (size_t i = 0; i < gpus->count; i++) {
		char name[GPUS_NAME];

		if (!jw_driver_supports(&whys[left], &gpus->driver, gpus->targets[i]))
			gpus->targets[kept++] = gpus->targets[i];
		else {
			struct gpu_refused *refused = &gpus->refused[gpus->refused_count++];

			*refused = (struct gpu_refused){.target = gpus->targets[i]};
			text_copy(refused->why, sizeof refused->why, whys[left].message);
			refused->needs = jw_driver_first(gpus->targets[i]);
			if (refused->needs.cuda <= gpus->driver.cuda)
				refused->needs = (struct jw_driver){0};
			product_name(name, &cli->out, gpus->targets[i]);
			if (*name && (gpus->count > 1 || typed_as(&cli->out, gpus->targets[i])))
				error_prefix(&whys[left], "%s", name);
			left++;
		}
	}
	for (size_t i = 0; i < left; i++)
		if (kept || i + 1 < left)
			output_error(&cli->out, "%s", whys[i].message);
		else {
			cli->failure = EXIT_CANNOT;
			return error_copy(err, &whys[i]);
		}
	if (left)
		cli_end_with(cli, EXIT_CANNOT);
	gpus->count = kept;
	return 0;
}

int gpu_targets_list(struct jw_error *err, struct cli *cli, const char *option,
					 struct gpu_targets *ret_gpus)
{
	const struct options *options = &cli->options;
	struct gpu_targets gpus = {.arm = options_given(options, option)};
	const char *text;

	for (size_t i = 0; (text = options_item(options, option, i)); i++) {
		if (jw_targets_read(err, text, NULL, gpus.targets, GPUS_MAX, &gpus.count)) {
			error_prefix(err, "--%s", option);
			explain_two_words(err, options, option, text);
			return -1;
		}
		remember_typed(cli, text);
		gpus.arm = gpus.arm && all_arm(text);
	}
	*ret_gpus = gpus;
	return 0;
}

int gpu_targets_arch(struct jw_error *err, struct cli *cli, struct gpu_targets *gpus)
{
	const struct options *options = &cli->options;

	for (size_t i = 0; i < options_count(options, "arch"); i++) {
		const char *text = options_item(options, "arch", i);
		struct jw_target code;

		if (jw_target_parse(text, &code) && code.suffix)
			gpus->count = jw_target_add(gpus->targets, gpus->count, GPUS_MAX, code);
		else if (add_named(err, cli, "arch", text, NULL, gpus))
			return strcmp(text, "native") ? error_prefix(err, "--arch") : -1;
	}
	return 0;
}

const char *gpu_targets_name(char text[GPUS_NAME], const struct output *out,
							 struct jw_target target)
{
	const char *typed = typed_as(out, target), *names = typed ? typed : jw_target_products(target);
	const int length = (int)(typed ? strlen(names) : strcspn(names, ","));
	char sm[JW_TARGET_TEXT];

	if (length)
		(void)snprintf(text, GPUS_NAME, "%s (%.*s)", jw_target_sm(sm, target), length, names);
	else
		(void)snprintf(text, GPUS_NAME, "%s", jw_target_sm(sm, target));
	return text;
}

const char *gpu_targets_marketed(char text[GPUS_MARKETED], const struct output *out,
								 struct jw_target target, const struct jw_system *system)
{
	const char *typed = typed_as(out, target);
	char sm[JW_TARGET_TEXT], name[GPUS_NAME];

	(void)jw_target_sm(sm, target);
	for (size_t i = 0; system && i < system->gpu_count; i++)
		if (system->gpus[i].target.sm == target.sm && *system->gpus[i].name) {
			(void)snprintf(text, GPUS_MARKETED, "%s (%s)", system->gpus[i].name, sm);
			return text;
		}
	if (!typed) {
		(void)text_copy(text, GPUS_MARKETED, gpu_targets_name(name, out, target));
		return text;
	}
	product_name(name, out, target);
	(void)snprintf(text, GPUS_MARKETED, "%s (%s)", name, sm);
	return text;
}

struct buf *gpu_lines_add(struct gpu_lines *lines, struct jw_target target)
{
	lines->items[lines->count] = (struct gpu_line){target, STYLE_PLAIN, BUF_MAX(MAX_GPU_LINE)};
	return &lines->items[lines->count++].text;
}

void gpu_lines_print(const struct output *out, struct gpu_lines *lines, const char *head,
					 bool column)
{
	const bool many = lines->count > GPUS_FEW;
	uint32_t said = 0; /* a bit for each, by its place */

	for (size_t i = 0; i < lines->count; i++) {
		const struct jw_target first = lines->items[i].target;
		struct jw_target low = first, high = first;
		char name[GPUS_MAX * JW_TARGET_TEXT], list[GPUS_MAX * JW_TARGET_TEXT], sm[JW_TARGET_TEXT];
		uint32_t alike = 0;
		size_t count = 0;
		bool between = false; /* another GPU between them has another text */

		if (said >> i & 1 || !lines->items[i].text.size)
			continue;
		for (size_t k = i; k < lines->count; k++) {
			const struct jw_target target = lines->items[k].target;

			if (k > i && !(many && !strcmp(buf_text(&lines->items[k].text),
										   buf_text(&lines->items[i].text))))
				continue;
			alike |= UINT32_C(1) << k;
			low = target.sm < low.sm ? target : low;
			high = target.sm > high.sm ? target : high;
			(void)jw_target_sm(sm, target);
			(void)snprintf(list + (count ? strlen(list) : 0),
						   sizeof list - (count ? strlen(list) : 0), "%s%s", count ? ", " : "", sm);
			count++;
		}
		said |= alike;
		for (size_t k = 0; k < lines->count; k++)
			between = between || (!(alike >> k & 1) && lines->items[k].target.sm > low.sm &&
								  lines->items[k].target.sm < high.sm);
		if (count == 1)
			(void)gpu_targets_name(name, out, first);
		else if (count > 2 && !between)
			(void)text_format(name, sizeof name, "%s to %s", jw_target_sm(sm, low),
							  jw_target_sm((char[JW_TARGET_TEXT]){0}, high));
		else
			TEXT_COPY(name, list);
		output_line(out, lines->items[i].style, column ? "%s%-20s %s" : "%s%s: %s", head, name,
					buf_text(&lines->items[i].text));
	}
	for (size_t i = 0; i < lines->count; i++)
		buf_free(&lines->items[i].text);
	lines->count = 0;
}
