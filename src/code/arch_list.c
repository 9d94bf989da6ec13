/* Reads the lists of architectures that builds are given. Source: torch/utils/cpp_extension.py
 * (TORCH_CUDA_ARCH_LIST), CMake's CUDA_ARCHITECTURES, and nvcc's manual, "Options for Steering GPU
 * Code Generation". */
#include <jitwarm/target.h>

#include <string.h>

#include "base/error.h"

enum { MAX_WORD = 64 };

static const char separators[] = "; ,\t\r\n\"'";

const char *jw_arch_name(char name[JW_TARGET_TEXT], struct jw_arch arch)
{
	return arch.ptx ? jw_target_compute(name, arch.target) : jw_target_sm(name, arch.target);
}

static int add_arch(struct jw_error *err, struct jw_arch_list *list, struct jw_target target,
					bool ptx)
{
	for (size_t i = 0; i < list->count; i++)
		if (jw_target_equal(list->items[i].target, target) && list->items[i].ptx == ptx)
			return 0;
	if (list->count == JW_ARCH_MAX)
		return error_set(err, JW_ERR_USAGE, "--arch-list: more than %u architectures", JW_ARCH_MAX);
	list->items[list->count++] = (struct jw_arch){target, ptx};
	return 0;
}

/* Refuses the words of PyTorch and CMake that stand for the GPUs of a machine or a compiler. */
static int refuse_word(struct jw_error *err, const char *word)
{
	if (text_equal_fold(word, "native"))
		return error_set(err, JW_ERR_USAGE,
						 "--arch-list: “native” means the GPU of the machine that builds, which "
						 "jitwarm does not know; name the architectures");
	if (!strcmp(word, "all") || !strcmp(word, "all-major"))
		return error_set(err, JW_ERR_USAGE,
						 "--arch-list: “%s” depends on the version of nvcc; name the architectures",
						 word);
	return error_set(
		err, JW_ERR_USAGE,
		"--arch-list: “%s” is no architecture; write them as for TORCH_CUDA_ARCH_LIST "
		"(“8.6;12.0+PTX”), CMAKE_CUDA_ARCHITECTURES (“86-real;120”) or nvcc (“-gencode "
		"arch=compute_86,code=sm_86”)",
		word);
}

/* Adds sm_90, compute_90, or lto_90, which the linker of the build turns into other code. */
static int add_code(struct jw_error *err, const char *word, struct jw_arch_list *list)
{
	const char *number = text_starts(word, "sm_")        ? word + strlen("sm_")
						 : text_starts(word, "compute_") ? word + strlen("compute_")
						 : text_starts(word, "lto_")     ? word + strlen("lto_")
														 : NULL;
	struct jw_target target;

	if (!number || strchr(number, '.') || !jw_target_parse(number, &target))
		return refuse_word(err, word);
	return *word == 'l' ? 0 : add_arch(err, list, target, *word == 'c');
}

/* PyTorch's names for generations. */
static const struct {
	const char *name, *means;
} generations[] = {
	{"Kepler", "3.5+PTX"},
	{"Kepler+Tesla", "3.7"},
	{"Maxwell", "5.0;5.2+PTX"},
	{"Maxwell+Tegra", "5.3"},
	{"Pascal", "6.0;6.1+PTX"},
	{"Volta", "7.0+PTX"},
	{"Volta+Tegra", "7.2"},
	{"Turing", "7.5+PTX"},
	{"Ampere", "8.0;8.6+PTX"},
	{"Ampere+Tegra", "8.7"},
	{"Ada", "8.9+PTX"},
	{"Hopper", "9.0+PTX"},
	{"Blackwell", "10.0;10.3;12.0;12.1+PTX"},
	{"Blackwell+Tegra", "11.0"},
};

static int add_list(struct jw_error *err, const char *text, struct jw_arch_list *list);

/* Adds a word such as 8.6, 12.0+PTX, 80, 75-real, 90-virtual, sm_90 or Ampere. */
static int add_word(struct jw_error *err, const char *word, struct jw_arch_list *list)
{
	static const struct {
		const char *end;
		bool real, virtual_code;
	} kinds[] = {
		{"+PTX", true, true}, {"-real", true, false}, {"-virtual", false, true}, {"", true, false}};
	char number[MAX_WORD];
	struct jw_target target;
	size_t kind = 0;

	for (size_t i = 0; i < sizeof generations / sizeof *generations; i++)
		if (!strcmp(word, generations[i].name))
			return add_list(err, generations[i].means, list);
	if (strchr(word, '_'))
		return add_code(err, word, list);
	while (!text_ends(word, kinds[kind].end))
		kind++;
	TEXT_COPY(number, word);
	number[strlen(word) - strlen(kinds[kind].end)] = '\0';
	/* PyTorch's numbers have a dot; CMake's have none, and only CMake's stand for both kinds of
	 * code. */
	if (!jw_target_parse(number, &target) ||
		(*kinds[kind].end && (strchr(number, '.') != NULL) != (*kinds[kind].end == '+')))
		return refuse_word(err, word);
	if (kinds[kind].real && add_arch(err, list, target, false))
		return -1;
	return kinds[kind].virtual_code || (!*kinds[kind].end && !strchr(number, '.'))
			   ? add_arch(err, list, target, true)
			   : 0;
}

/* Reads the next word of *at, which ends at one of `ends`; "" at the end of the text. */
static int next_list_word(struct jw_error *err, const char **at, const char *ends,
						  char word[MAX_WORD])
{
	size_t length;

	*at += strspn(*at, ends);
	length = strcspn(*at, ends);
	if (length >= MAX_WORD)
		return error_set(err, JW_ERR_USAGE, "--arch-list: “%.40s…” is no architecture", *at);
	memcpy(word, *at, length);
	word[length] = '\0';
	*at += length;
	return 0;
}

static int add_list(struct jw_error *err, const char *text, struct jw_arch_list *list)
{
	char word[MAX_WORD];

	for (;;) {
		if (next_list_word(err, &text, separators, word))
			return -1;
		if (!*word)
			return 0;
		if (add_word(err, word, list))
			return -1;
	}
}

/* Reads nvcc's words: -gencode arch=compute_90,code=[sm_90,compute_90], -arch=sm_90. Other options
 * of nvcc are skipped. */
static int add_nvcc(struct jw_error *err, const char *text, struct jw_arch_list *list)
{
	static const char ends[] = " \t\r\n\"'[]{}(),;=";
	enum { SKIP, ARCH, CODE } key = SKIP;
	struct jw_arch_list arch = {.count = 0}; /* the value of -arch */
	bool coded = false;                      /* there is a -code, which belongs to -arch */
	char word[MAX_WORD];

	for (;;) {
		if (next_list_word(err, &text, ends, word))
			return -1;
		if (!*word)
			break;
		if (!strcmp(word, "-arch") || !strcmp(word, "--gpu-architecture")) {
			key = ARCH;
		} else if (!strcmp(word, "code")) {
			key = CODE;
		} else if (!strcmp(word, "-code") || !strcmp(word, "--gpu-code")) {
			key = CODE;
			coded = true;
		} else if (*word == '-' || !strcmp(word, "arch")) {
			key = SKIP;
		} else if (key != SKIP && add_code(err, word, key == ARCH ? &arch : list)) {
			return -1;
		}
	}
	/* -arch=sm_90 without -code stands for code=[sm_90,compute_90]; with -code it adds no code. */
	for (size_t i = 0; !coded && i < arch.count; i++)
		if (add_arch(err, list, arch.items[i].target, arch.items[i].ptx) ||
			add_arch(err, list, arch.items[i].target, true))
			return -1;
	return 0;
}

int jw_arch_list_read(struct jw_error *err, const char *text, struct jw_arch_list *list)
{
	struct jw_arch_list read = *list;

	if (strchr(text, '=') || strstr(text, "-arch") ? add_nvcc(err, text, &read)
												   : add_list(err, text, &read))
		return -1;
	if (!read.count)
		return error_set(err, JW_ERR_USAGE, "--arch-list names no architecture");
	*list = read;
	return 0;
}
