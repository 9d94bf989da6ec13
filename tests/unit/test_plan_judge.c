/* The rule of docs/internals/compat.md, sentence by sentence, on packages in the form of the list
 * of wheels; and its score against facts from support matrices, release notes and public threads.
 */
#include "check.h"

#include <stdio.h>

#include <jitwarm/which.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "plan/plan.h"
#include "which/wheel_list.h"

/* Judges the libraries of package `name`: "runs", "fails: LIBRARY…", with what needs a newer driver
 * and what it runs without, and the number of modules that count. Libraries below “torch” are
 * torch's. */
static void judge_text(char answer[512], const char *name, const char *lines, unsigned sm,
					   unsigned cuda)
{
	const struct jw_driver driver = {.cuda = cuda};
	const struct jw_target device = {(uint16_t)sm, 0};
	char *text = keep(mem_printf("jitwarm-wheels 1 2026-11-27\npackage p\nwheel 1 linux py3 p.whl "
								 "%064d\n%s",
								 0, lines));
	struct fates fates = {.items = NULL};
	struct wheel_list list;
	size_t modules = 0;

	OK(wheel_list_read(why, "list", text, strlen(text), "p", &list));
	for (size_t i = 0; i < list.wheels->library_count; i++) {
		const struct wheel_library *library = &list.wheels->libraries[i];
		struct judge_facts facts = library->facts;
		struct judged is;

		facts.nvidia = fate_is_nvidia("p.whl", library->name, name);
		judge_library(&facts, device, &driver, &is);
		OK(fates_add(
			why, &fates,
			&(struct fate_file){.path = "p.whl",
								.member = library->name,
								.library = facts.library,
								.package = text_starts(library->name, "torch/") ? "torch" : name,
								.version = "1",
								.toolkit = facts.runtime_cuda,
								.needs = library->needs},
			0, device, &is));
	}
	fates_settle(&fates);
	(void)snprintf(answer, 512, fates.count ? "fails" : "runs");
	for (size_t i = 0; i < fates.count; i++)
		text_append(answer, 512, " %s", strstr(fates.items[i].file, ": ") + 2);
	for (size_t i = 0; i < fates.part_count; i++) {
		const struct file_fate *part = &fates.parts[i];
		const char *file = strstr(part->file, ": ") + 2;

		if (part->part == JUDGE_NEWER)
			text_append(answer, 512, "; %s needs %u", file, part->is.needs.release[0]);
		else
			text_append(answer, 512, "; without %s", file);
	}
	for (size_t i = 0; i < fates.member_count; i++)
		if (fates.members[i].chosen && !fates.members[i].aside)
			modules += fates.members[i].is.work.modules;
	if (modules)
		text_append(answer, 512, "; %zu modules", modules);
	fates_free(&fates);
	wheel_list_free(&list);
}

#define A    "library library ~12040 p/a.so\n"
#define B    "library library ~12040 p/b.so\n"
#define OLD  "library library ~11070 p/a.so\n"
#define MANY "piece 20 registered sm_75 sm_80 sm_86\n"
#define VARIANTS                                                                                   \
	"library library 12040 b/x_cuda124.so\npiece 2 registered compute_50@7.5+5:1.000:9\n"          \
	"library library 12060 b/x_cuda126.so\npiece 1 registered compute_50@7.5+3:1.000:9\n"
#define FEW_REST "piece 3 registered sm_80 sm_86\n"

/* The numbers are those of the sentences. */
static const struct {
	const char *name, *lines;
	unsigned sm, cuda;
	const char *answer;
} cases[] = {
	/* 1: a container runs, is compiled, needs a newer driver, or has no code */
	{"p", A "piece 1 registered sm_80 sm_86\n", 86, 12040, "runs"},
	{"p", A "piece 1 registered compute_75@7.5+1:1.000:9 sm_80\n", 75, 12040, "runs; 1 modules"},
	{"p", A "piece 1 registered compute_75@8.8 sm_80\n", 75, 12040, "fails p/a.so"},
	{"p", A "piece 1 registered sm_80 sm_86\n", 75, 12040, "fails p/a.so"},
	{"p", A "piece 1 registered compute_89@7.4 compute_90@8.0\n", 89, 12040, "fails p/a.so"},
	/* 1: one that declares nothing is no piece, but it is a module if it is registered */
	{"p", A MANY "piece 40 registered-empty sm_90\n", 75, 12040, "runs"},
	{"p", A "piece 1 registered-empty compute_75@7.5+1:0.002:9\n", 75, 12040, "runs; 1 modules"},
	{"p", A MANY "piece 1 registered-empty compute_75@7.5+1:0.002:9\n", 75, 12040,
	 "runs; 1 modules"},
	{"p", A MANY "piece 1 loose-empty compute_75@7.5+1:0.002:9\n", 75, 12040, "runs"},
	/* 2: a linked container without code is as good as its inputs */
	{"p",
	 A "piece 1 registered-linked sm_80 sm_86\n"
	   "piece 4 relocatable compute_70@7.5+4:1.000:9r sm_80\n",
	 75, 12040, "runs; 4 modules"},
	{"p", A "piece 1 registered-linked sm_80 sm_86\npiece 4 relocatable sm_80 sm_86\n", 75, 12040,
	 "fails p/a.so"},
	{"p", A "piece 1 registered-linked sm_80 sm_86\npiece 4 relocatable compute_70@8.8r sm_80\n",
	 75, 12040, "fails p/a.so"},
	{"p", A MANY "piece 1 registered-linked sm_80 sm_86\n", 75, 12040, "runs"},
	{"p", OLD MANY "piece 1 registered-linked sm_80 sm_86\n", 75, 12040, "fails p/a.so"},
	{"p", OLD MANY "piece 1 registered-linked sm_75 sm_86\n", 75, 12040, "runs"},
	/* 3: containers for one architecture or family alone do not count beside others */
	{"p", A MANY "piece 60 registered sm_90\npiece 60 registered sm_90a\n", 75, 12040, "runs"},
	{"p", A "piece 1 registered sm_75 sm_80\npiece 60 registered sm_80\n", 75, 12040,
	 "fails p/a.so"},
	{"p", A "piece 7 registered sm_75 sm_80\npiece 60 registered sm_80\n", 75, 12040, "runs"},
	{"p", A "piece 9 registered sm_90a\n", 90, 12040, "runs"},
	{"p", A "piece 9 registered sm_90a\n", 86, 12040, "fails p/a.so"},
	/* 3: those for several GPUs are a set, of which programs use some */
	{"p", A "piece 1 registered sm_75\npiece 30 registered sm_80\npiece 30 registered sm_90\n", 75,
	 12040, "runs"},
	{"p", A "piece 30 registered sm_80\npiece 30 registered sm_90\n", 75, 12040, "fails p/a.so"},
	/* 4: a majority decides, and of a minority nothing is said */
	{"p", A "piece 3 registered sm_75 sm_80\npiece 3 registered sm_80 sm_86\n", 75, 12040, "runs"},
	{"p", A "piece 3 registered sm_75 sm_80\npiece 4 registered sm_80 sm_86\n", 75, 12040,
	 "fails p/a.so"},
	/* 5: the runtime refuses the driver */
	{"p", A MANY, 75, 11040, "fails p/a.so"},
	{"p", OLD MANY, 75, 11040, "runs"},
	{"p", "library library 12000 p/a.so\n", 75, 11040, "fails p/a.so"},
	{"p", A MANY "library library 13000 p/b.so\n", 75, 12040, "runs"},
	/* 6: one of the variants is enough, and one counts */
	{"p",
	 "library library ~12040 p/x_cuda12.so\npiece 1 registered sm_75 sm_80\n"
	 "library library ~13000 p/x_cuda13.so\npiece 2 registered sm_75 sm_80\n",
	 75, 12040, "runs"},
	{"p",
	 "library library ~12040 p/x-cu12.so\npiece 1 registered compute_50@7.5+3:1.000:9 sm_80\n"
	 "library library ~12040 p/x.so\npiece 2 registered compute_50@7.5+5:1.000:9 sm_80\n",
	 75, 12040, "runs; 5 modules"},
	{"p",
	 "library file ~0 p/k_sm_86.cubin\npiece 1 registered sm_86\n"
	 "library file ~0 p/k_compute_75.ptx\npiece 1 registered compute_75@7.5+1:1.000:9\n",
	 86, 12040, "runs"},
	/* 6: the one for the CUDA of the torch beside it counts */
	{"bitsandbytes", VARIANTS, 75, 12060, "runs; 5 modules"},
	{"bitsandbytes",
	 VARIANTS "library library ~12060 torch/lib/libtorch_cuda.so\npiece 9 registered sm_75 sm_80\n",
	 75, 12060, "runs; 3 modules"},
	{"bitsandbytes",
	 VARIANTS "library library ~12080 torch/lib/libtorch_cuda.so\npiece 9 registered sm_75 sm_80\n",
	 75, 12060, "runs; 5 modules"},
	/* 7: the library with the most containers is what the package is for */
	{"p", A MANY B FEW_REST, 75, 12040, "runs; without p/b.so"},
	{"p", A FEW_REST B "piece 2 registered sm_75 sm_86\n", 75, 12040, "fails p/a.so"},
	{"p", A MANY "library library ~13000 p/b.so\npiece 2 registered sm_75 sm_86\n", 75, 12040,
	 "fails p/b.so"},
	/* 8: unless it is for families alone, or FlashAttention */
	{"p", A FEW_REST B "piece 90 registered sm_90a\n", 86, 12040, "runs"},
	{"p", "library library ~12040 p/flash_attn/x.so\npiece 90 registered sm_80 sm_86\n" A MANY, 75,
	 12040, "runs"},
	{"p", "library library ~12040 p/flash_attn/x.so\npiece 90 registered sm_80 sm_86\n", 75, 12040,
	 "fails p/flash_attn/x.so"},
	/* 9: NVIDIA's libraries count in NVIDIA's packages, and run with some machine code */
	{"p", "library library ~12040 p/libcudnn_ops.so.9\npiece 90 registered sm_80 sm_86\n" A MANY,
	 75, 12040, "runs"},
	{"nvidia-x", A "piece 90 registered sm_80 sm_86\npiece 1 registered sm_75\n", 75, 12040,
	 "runs"},
	{"nvidia-x", A "piece 90 registered compute_50@7.5 sm_80\n", 75, 12040, "fails p/a.so"},
	{"nvidia-x", A "piece 1 registered compute_50@7.5+1:1:99 sm_80\n", 75, 12040,
	 "runs; 1 modules"},
	{"nvidia-x", A "piece 1 registered compute_80@7.5 sm_80\n", 75, 12040, "fails p/a.so"},
	{"nvidia-x", A FEW_REST B MANY, 75, 12040, "runs"},
	{"nvidia-x", A FEW_REST B MANY "library library ~12040 p/c.so\n" FEW_REST, 75, 12040,
	 "fails p/a.so p/c.so"},
	{"p", A MANY "library library ~12040 p/cupti/libx.so\n" FEW_REST, 75, 12040, "runs"},
	{"torchao", "library library ~12040 torchao/_C.so\npiece 9 registered sm_90a\n", 86, 12040,
	 "runs"},
	/* 9: what needs a library of NVIDIA's fails if that has no code for the GPU */
	{"p", A "needs libcublas.so.11\n" MANY, 75, 12040, "runs"},
	{"p", A "needs libcublas.so.11\npiece 20 registered sm_80 sm_120\n", 120, 12080,
	 "fails p/a.so"},
	{"p",
	 A "piece 20 registered sm_80 sm_120\n" B "needs libcublas.so.11\npiece 2 registered sm_120\n",
	 120, 12080, "runs"},
	{"nvidia-x", A "needs libcublas.so.11\npiece 20 registered sm_80 sm_120\n", 120, 12080, "runs"},
	/* 12: code that needs a newer driver is named */
	{"p", A MANY "piece 2 registered compute_50@8.8 sm_90\n", 75, 12040, "runs; p/a.so needs 575"},
	{"p", A MANY B "piece 2 registered compute_50@8.8 sm_90\n", 75, 12040,
	 "runs; p/b.so needs 575"},
	/* A relocatable file is linked by nvJitLink, whose version decides. */
	{"p", "library file ~0 p/shim.fatbin\npiece 1 registered compute_75@8.8r\n", 86, 12020, "runs"},
};

TEST(each_sentence_holds)
{
	size_t wrong = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char answer[512];

		judge_text(answer, cases[i].name, cases[i].lines, cases[i].sm, cases[i].cuda);
		if (!strcmp(answer, cases[i].answer))
			continue;
		wrong++;
		check_wrong("case %zu: %s on sm_%u with CUDA %u: “%s”, not “%s”\n%s", i, cases[i].name,
					cases[i].sm, cases[i].cuda, answer, cases[i].answer, cases[i].lines);
	}
	assert_int_equal(wrong, 0);
}

/* Returns the next cell of a line. */
static char *next_cell(char **line)
{
	char *cell = *line, *end = cell + strcspn(cell, "\t\n");

	*line = end + (*end != 0);
	*end = '\0';
	return cell;
}

static bool is_right(const struct jw_which_release *release, const char *wanted)
{
	const bool runs = release->answer <= JW_WHICH_COMPILES;

	return !strcmp(wanted, "fails")  ? release->answer == JW_WHICH_FAILS
		   : !strcmp(wanted, "part") ? runs && release->newer
									 : runs && !release->newer;
}

/* The list of wheels has the code, and tests/data/facts.tsv what is known of it from elsewhere. */
TEST(the_rule_agrees_with_what_is_known)
{
	enum { FACTS = 135, RIGHT = 133 };
	static const char path[] = JITWARM_SOURCE_DIR "/tests/data/facts.tsv";
	struct buf content = {0};
	size_t facts = 0, right = 0;
	char *line;

	OK(os_read_file(why, path, 1 << 20, &content));
	line = keep(mem_string(buf_text(&content)));
	for (char *at = line + strcspn(line, "\n") + 1, *next; *at; at = next) {
		const char *name, *version, *platform, *gpu, *driver, *outcome;
		struct jw_which_options options = {.package = NULL};
		struct jw_which *which;
		size_t i = 0;

		next = at + strcspn(at, "\n");
		next += *next != 0;
		name = next_cell(&at);
		version = next_cell(&at);
		platform = next_cell(&at);
		gpu = next_cell(&at);
		driver = next_cell(&at);
		outcome = next_cell(&at);
		options.package = name;
		options.platform = platform;
		assert_true(jw_target_parse(gpu, &options.target));
		if (strcmp(driver, "none") != 0)
			OK(jw_driver_parse(why, driver, &options.driver));
		OK(jw_which(why, &options, &which));
		while (i < which->count && strcmp(which->releases[i].version, version) != 0)
			i++;
		assert_true(i < which->count);
		facts++;
		if (is_right(&which->releases[i], outcome))
			right++;
		else
			print_message("%s %s on %s, driver %s: not “%s”\n", name, version, gpu, driver,
						  outcome);
		jw_result_free(which);
	}
	assert_int_equal(facts, FACTS);
	assert_in_range(right, RIGHT, FACTS);
	buf_free(&content);
}

RUN_TESTS(NULL, NULL)
