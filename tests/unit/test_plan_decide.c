/* A library or package fails, fails in part, or runs, as real ones do. */
#include "check.h"

#include <string.h>

#include "plan/decide.h"

/* Groups of containers in short: their number, their places, and the entries of each. */
struct brief {
	size_t count;
	char where; /* 'r' registered, 'e' registered and empty, 'l' linked, 'i' an input of a link, 'd'
				   in the data */
	struct {
		char kind; /* 'c' cubin, 'p' PTX */
		struct jw_target target;
		uint16_t isa[2];
	} entries[6];
};

#define CUBIN_OF(sm, suffix)                                                                       \
	{                                                                                              \
		'c', {sm, suffix},                                                                         \
		{                                                                                          \
			0                                                                                      \
		}                                                                                          \
	}
#define CUBIN(sm) CUBIN_OF(sm, 0)
#define PTX(sm, suffix, major, minor)                                                              \
	{                                                                                              \
		'p', {sm, suffix},                                                                         \
		{                                                                                          \
			major, minor                                                                           \
		}                                                                                          \
	}

enum { MAX_GROUPS = 4, MAX_ENTRIES = 6 };

/* Facts about real packages, from scans of their wheels. */
static const struct {
	const char *name;
	struct jw_target device;
	struct jw_driver driver;
	struct brief groups[MAX_GROUPS];
	enum decide_fate fate;
	enum plan_reason reason;
	size_t pieces, lacking, too_new;
	uint32_t needs;
} libraries[] = {
	{"XGBoost 1.7.6 on an H100: NCCL's linked code is skipped",
	 {90, 0},
	 {12040, {550, 163, 1}},
	 {{41, 'r', {CUBIN(50), CUBIN(60), CUBIN(70), CUBIN(80), PTX(80, 0, 7, 8)}},
	  {1, 'l', {CUBIN(50), CUBIN(60), CUBIN(70), CUBIN(80)}},
	  {181, 'i', {CUBIN(50), CUBIN(60), CUBIN(70), CUBIN(80)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 42,
	 1,
	 0,
	 0},
	{"TensorFlow 2.3.1 for Linux on an RTX 30: a link without its inputs",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{240, 'r', {CUBIN(35), CUBIN(70), PTX(70, 0, 6, 4)}}, {1, 'l', {CUBIN(35), CUBIN(70)}}},
	 DECIDE_REFUSED,
	 REASON_UNLINKED,
	 241,
	 1,
	 0,
	 0},
	{"and on an RTX 20, whose code it has",
	 {75, 0},
	 {12040, {550, 163, 1}},
	 {{240, 'r', {CUBIN(35), CUBIN(70), PTX(70, 0, 6, 4)}}, {1, 'l', {CUBIN(35), CUBIN(70)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 241,
	 0,
	 0,
	 0},
	{"TensorFlow 2.3.1 for Windows: nothing is linked",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{242, 'r', {CUBIN(35), CUBIN(70), PTX(70, 0, 6, 4)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 242,
	 0,
	 0,
	 0},
	{"TensorFlow 2.20.0 on an RTX 50: most of the data",
	 {120, 0},
	 {13000, {580, 65, 6}},
	 {{248, 'r', {CUBIN(60), CUBIN(70), CUBIN(80), CUBIN(89), CUBIN(90), PTX(90, 0, 8, 5)}},
	  {1149, 'd', {CUBIN(60), CUBIN(70), CUBIN(80), CUBIN(89), PTX(90, 'a', 8, 5)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 1397,
	 1149,
	 0,
	 0},
	{"TensorFlow 2.21.0 on an H100 with an older driver",
	 {90, 0},
	 {12040, {550, 163, 1}},
	 {{248, 'r', {CUBIN(60), CUBIN(80), CUBIN(90), PTX(90, 0, 8, 4)}},
	  {1149, 'd', {CUBIN(60), CUBIN(80), PTX(90, 0, 8, 7)}}},
	 DECIDE_REFUSED,
	 REASON_TOO_NEW,
	 1397,
	 0,
	 1149,
	 12080},
	{"the smallest case: one good piece, and one in the data for one GPU",
	 {120, 0},
	 {13000, {580, 65, 6}},
	 {{1, 'r', {CUBIN(120)}}, {1, 'd', {CUBIN(80)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 2,
	 1,
	 0,
	 0},
	{"or for several",
	 {120, 0},
	 {13000, {580, 65, 6}},
	 {{1, 'r', {CUBIN(120)}}, {1, 'd', {CUBIN(80), PTX(90, 'a', 8, 0)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 2,
	 1,
	 0,
	 0},
	{"torch 2.15 on an RTX 40: sets in the data for GPUs of other architectures",
	 {89, 0},
	 {13000, {580, 65, 6}},
	 {{476, 'r', {CUBIN(75), CUBIN(86), CUBIN(90)}},
	  {29, 'd', {CUBIN(90)}},
	  {29, 'd', {CUBIN(100)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 476,
	 0,
	 0,
	 0},
	{"such sets, and nothing else",
	 {75, 0},
	 {13000, {580, 65, 6}},
	 {{29, 'd', {CUBIN(90)}}, {29, 'd', {CUBIN(100)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 58,
	 58,
	 0,
	 0},
	{"PTX for newer GPUs in the data, and nothing else",
	 {61, 0},
	 {12040, {550, 163, 1}},
	 {{2, 'd', {PTX(75, 0, 6, 3)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 2,
	 2,
	 0,
	 0},
	{"PTX for a family of other GPUs in the data, and nothing else",
	 {100, 0},
	 {13000, {580, 65, 6}},
	 {{2, 'd', {PTX(90, 'a', 8, 0)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 2,
	 2,
	 0,
	 0},
	{"candle's kernels are PTX in the data, for which the driver is too old",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{20, 'r', {CUBIN(80)}}, {33, 'd', {PTX(80, 0, 8, 5)}}},
	 DECIDE_REFUSED,
	 REASON_TOO_NEW,
	 53,
	 0,
	 33,
	 12050},
	{"fewer of them are a part that fails",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{20, 'r', {CUBIN(80)}}, {3, 'd', {PTX(80, 0, 8, 5)}}},
	 DECIDE_RUNS,
	 REASON_TOO_NEW,
	 23,
	 0,
	 3,
	 12050},
	{"and no part if others in the data run",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{1, 'r', {CUBIN(80)}}, {3, 'd', {PTX(80, 0, 8, 5)}}, {1, 'd', {PTX(80, 0, 8, 4)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 1,
	 0,
	 0,
	 0},
	{"embed-anything 0.7.2 on an H100: most of the kernels that it needs are PTX in the data",
	 {90, 0},
	 {12040, {550, 163, 1}},
	 {{15, 'r', {CUBIN(80)}}, {16, 'd', {PTX(80, 0, 8, 4)}}, {1, 'd', {PTX(75, 0, 8, 4)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 32,
	 15,
	 0,
	 0},
	{"libtorch_cpu.so of torch 1.10.2 on an RTX 30: one PTX of the profiler is not what it needs",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{1, 'd', {CUBIN(35), CUBIN(50), CUBIN(70), CUBIN(72)}}, {1, 'd', {PTX(35, 0, 3, 2)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 1,
	 1,
	 0,
	 0},
	{"TensorFlow 2.17.1 for an RTX 50: PTX of the profiler is not what it needs",
	 {120, 0},
	 {13000, {580, 65, 6}},
	 {{273, 'r', {CUBIN(60), CUBIN(89), PTX(90, 'a', 8, 1)}}, {8, 'd', {PTX(50, 0, 4, 0)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 273,
	 273,
	 0,
	 0},
	{"cuDNN's engines: registered containers for one GPU each",
	 {120, 0},
	 {13000, {580, 65, 6}},
	 {{4, 'r', {CUBIN(80)}}, {9, 'r', {CUBIN(90)}}, {2, 'r', {CUBIN(120)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 2,
	 0,
	 0,
	 0},
	{"vLLM's Marlin kernels on an RTX 40: registered ones for two GPUs",
	 {89, 0},
	 {13000, {580, 65, 6}},
	 {{7, 'r', {CUBIN(75)}}, {14, 'r', {CUBIN(80)}}, {13, 'r', {CUBIN(89), CUBIN(120)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 27,
	 0,
	 0,
	 0},
	{"symmetrix 0.1.1 on an RTX 30: files without kernels, built for another GPU, are no set",
	 {86, 0},
	 {13000, {580, 65, 6}},
	 {{47, 'r', {CUBIN(120), PTX(120, 0, 9, 3)}},
	  {39, 'e', {CUBIN(120)}},
	  {3, 'e', {CUBIN(80), PTX(80, 0, 9, 3)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 47,
	 47,
	 0,
	 0},
	{"two pieces are no set",
	 {86, 0},
	 {13000, {580, 65, 6}},
	 {{1, 'r', {CUBIN(75)}}, {1, 'r', {CUBIN(86)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 2,
	 1,
	 0,
	 0},
	{"cuSPARSELt of torch 2.5 on an A100: kernels in the data for other GPUs",
	 {80, 0},
	 {12040, {550, 163, 1}},
	 {{5, 'r', {CUBIN(80), CUBIN(86), CUBIN(87), CUBIN_OF(90, 'a')}},
	  {138, 'd', {CUBIN(80), CUBIN(87), CUBIN_OF(90, 'a')}},
	  {136, 'd', {CUBIN(86), CUBIN(87), CUBIN_OF(90, 'a')}},
	  {2220, 'd', {CUBIN_OF(90, 'a')}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 143,
	 0,
	 0,
	 0},
	{"also kernels for several families of other GPUs, beside others that it lacks",
	 {80, 0},
	 {12040, {550, 163, 1}},
	 {{3, 'd', {CUBIN(80), CUBIN(90)}},
	  {9, 'd', {CUBIN_OF(90, 'a'), CUBIN_OF(100, 'a')}},
	  {2, 'r', {CUBIN(86), CUBIN(90)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 5,
	 2,
	 0,
	 0},
	{"unless most of the rest lacks code",
	 {80, 0},
	 {12040, {550, 163, 1}},
	 {{3, 'd', {CUBIN(80), CUBIN(90)}},
	  {9, 'd', {CUBIN_OF(90, 'a'), CUBIN_OF(100, 'a')}},
	  {4, 'r', {CUBIN(86), CUBIN(90)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 7,
	 4,
	 0,
	 0},
	{"two kernels for this GPU are no set",
	 {80, 0},
	 {12040, {550, 163, 1}},
	 {{2, 'd', {CUBIN(80), CUBIN(90)}}, {9, 'd', {CUBIN(86), CUBIN(90)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 11,
	 9,
	 0,
	 0},
	{"nor are kernels for the same GPUs, some of which are for one family",
	 {121, 0},
	 {13000, {580, 65, 6}},
	 {{3, 'd', {CUBIN(80), CUBIN(120)}}, {9, 'd', {CUBIN(80), CUBIN_OF(120, 'a')}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 12,
	 9,
	 0,
	 0},
	{"the same on an RTX 20, which none is for",
	 {75, 0},
	 {12040, {550, 163, 1}},
	 {{5, 'r', {CUBIN(75), CUBIN(86)}},
	  {138, 'd', {CUBIN(80), CUBIN(87), CUBIN_OF(90, 'a')}},
	  {136, 'd', {CUBIN(86), CUBIN(87), CUBIN_OF(90, 'a')}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 279,
	 274,
	 0,
	 0},
	{"TensorFlow 2.20.0 on an RTX 50, with the profiler's PTX",
	 {120, 0},
	 {13000, {580, 65, 6}},
	 {{248, 'r', {CUBIN(60), CUBIN(70), CUBIN(80), CUBIN(89), CUBIN(90), PTX(90, 0, 8, 5)}},
	  {1149, 'd', {CUBIN(60), CUBIN(70), CUBIN(80), CUBIN(89), PTX(90, 'a', 8, 5)}},
	  {5, 'd', {PTX(50, 0, 6, 0), PTX(52, 0, 6, 0)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 1402,
	 1149,
	 0,
	 0},
	{"the same, none of which runs",
	 {75, 0},
	 {13000, {580, 65, 6}},
	 {{4, 'r', {CUBIN(80)}}, {9, 'r', {CUBIN(90)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 13,
	 13,
	 0,
	 0},
	{"a set in the data from which the library chooses",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{1, 'r', {CUBIN(86)}}, {9, 'd', {CUBIN(80)}}, {9, 'd', {CUBIN(90)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 1,
	 0,
	 0,
	 0},
	{"a set without this GPU is never more than a part",
	 {75, 0},
	 {12040, {550, 163, 1}},
	 {{1, 'r', {CUBIN(75)}}, {9, 'd', {CUBIN(80)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 10,
	 9,
	 0,
	 0},
	{"faiss-gpu-cu12 on an H100: neither code nor PTX",
	 {90, 0},
	 {12040, {550, 163, 1}},
	 {{178, 'r', {CUBIN(70), CUBIN(80)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 178,
	 178,
	 0,
	 0},
	{"torch 1.0.1 on an A100: most pieces have no PTX",
	 {80, 0},
	 {12040, {550, 163, 1}},
	 {{309, 'r', {CUBIN(35), CUBIN(70), PTX(50, 0, 6, 0)}}, {453, 'r', {CUBIN(35), CUBIN(70)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 762,
	 453,
	 0,
	 0},
	{"half of the pieces is not most of them",
	 {80, 0},
	 {12040, {550, 163, 1}},
	 {{2, 'r', {CUBIN(80)}}, {2, 'r', {CUBIN(60), CUBIN(70)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 4,
	 2,
	 0,
	 0},
	{"code for a family of other GPUs has no share",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{1, 'r', {CUBIN(86)}}, {9, 'r', {CUBIN_OF(90, 'a')}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 10,
	 9,
	 0,
	 0},
	{"unless there is no other",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{9, 'r', {CUBIN_OF(90, 'a')}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 9,
	 9,
	 0,
	 0},
	{"faiss-gpu 1.7.2 on a V100: cuBLAS has sets for Maxwell and Pascal, and for Volta",
	 {70, 0},
	 {13000, {580, 65, 6}},
	 {{44, 'r', {CUBIN(50), CUBIN(60), CUBIN(70), PTX(75, 0, 6, 3)}},
	  {9, 'r', {CUBIN(50), CUBIN(60), CUBIN(61)}},
	  {11, 'r', {CUBIN(70)}},
	  {4, 'r', {CUBIN(75)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 55,
	 0,
	 0,
	 0},
	{"on an A100, for which it has no set, cuBLAS ends with error 13",
	 {80, 0},
	 {13000, {580, 65, 6}},
	 {{44, 'r', {CUBIN(50), CUBIN(60), CUBIN(70), PTX(75, 0, 6, 3)}},
	  {9, 'r', {CUBIN(50), CUBIN(60), CUBIN(61)}},
	  {11, 'r', {CUBIN(70)}},
	  {4, 'r', {CUBIN(75)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 68,
	 24,
	 0,
	 0},
	{"more kernels for Pascal than cuBLAS has for Volta are the library's own",
	 {70, 0},
	 {13000, {580, 65, 6}},
	 {{44, 'r', {CUBIN(50), CUBIN(60), CUBIN(70), PTX(75, 0, 6, 3)}},
	  {12, 'r', {CUBIN(60), CUBIN(61)}},
	  {11, 'r', {CUBIN(70)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 67,
	 12,
	 0,
	 0},
	{"so are kernels for Pascal and Turing, beside those of cuBLAS for Ampere",
	 {80, 0},
	 {13000, {580, 65, 6}},
	 {{44, 'r', {CUBIN(50), CUBIN(60), CUBIN(70), PTX(75, 0, 6, 3)}},
	  {9, 'r', {CUBIN(60), CUBIN(61), CUBIN(75)}},
	  {30, 'r', {CUBIN(80)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 83,
	 9,
	 0,
	 0},
	{"a set for Volta saves no library whose own kernels lack it",
	 {70, 0},
	 {13000, {580, 65, 6}},
	 {{9, 'r', {CUBIN(50), CUBIN(60)}}, {9, 'r', {CUBIN(80), CUBIN(90)}}, {9, 'r', {CUBIN(70)}}},
	 DECIDE_LACKS,
	 REASON_NONE,
	 27,
	 18,
	 0,
	 0},
	{"TensorFlow 2.19.1 on an RTX 40: the inputs lost their machine code after the link",
	 {89, 0},
	 {13000, {580, 65, 6}},
	 {{277, 'r', {CUBIN(60), CUBIN(80), CUBIN(89), PTX(90, 0, 8, 3)}},
	  {1, 'l', {CUBIN(60), CUBIN(80), CUBIN(89), CUBIN(90)}},
	  {113, 'i', {PTX(90, 0, 8, 3)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 278,
	 0,
	 0,
	 0},
	{"inputs without code for a GPU for which the build links",
	 {75, 0},
	 {13000, {580, 65, 6}},
	 {{10, 'r', {CUBIN(75), CUBIN(80)}},
	  {1, 'l', {CUBIN(75), CUBIN(80)}},
	  {3, 'i', {CUBIN(80), PTX(80, 0, 8, 0)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 14,
	 4,
	 0,
	 0},
	{"the driver is named that also reads the newer PTX in the data",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{9, 'r', {CUBIN(86)}},
	  {1, 'd', {PTX(80, 0, 8, 8), PTX(86, 0, 8, 8)}},
	  {2, 'd', {PTX(80, 0, 8, 7)}}},
	 DECIDE_RUNS,
	 REASON_TOO_NEW,
	 12,
	 0,
	 3,
	 12090},
	{"a library that chooses in its data does without PTX there that is too new",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{10, 'd', {CUBIN(80), CUBIN(86)}},
	  {5, 'd', {CUBIN(70), CUBIN(75)}},
	  {2, 'd', {PTX(80, 0, 8, 7)}}},
	 DECIDE_RUNS,
	 REASON_NONE,
	 10,
	 0,
	 0,
	 0},
	{"PTX in the data alone is no piece of a share",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{3, 'd', {PTX(80, 0, 8, 7)}}},
	 DECIDE_REFUSED,
	 REASON_TOO_NEW,
	 0,
	 0,
	 0,
	 12080},
	{"nor does it count where the driver refuses most of the other code",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{1, 'r', {CUBIN(86)}},
	  {3, 'd', {PTX(80, 0, 8, 7), PTX(86, 0, 8, 7)}},
	  {2, 'd', {PTX(80, 0, 8, 7)}}},
	 DECIDE_REFUSED,
	 REASON_TOO_NEW,
	 4,
	 0,
	 3,
	 12080},
	{"what the runtime registers must load at the start",
	 {86, 0},
	 {12040, {550, 163, 1}},
	 {{9, 'r', {CUBIN(86)}}, {1, 'r', {PTX(80, 0, 8, 7)}}},
	 DECIDE_REFUSED,
	 REASON_TOO_NEW,
	 10,
	 0,
	 1,
	 12080},
};

static size_t fill(const struct brief *briefs, struct jw_piece *groups,
				   struct jw_piece_entry entries[][MAX_ENTRIES])
{
	size_t count = 0;

	for (; count < MAX_GROUPS && briefs[count].count; count++) {
		const struct brief *brief = &briefs[count];
		struct jw_piece *group = &groups[count];

		*group = (struct jw_piece){
			.entries = entries[count],
			.containers = brief->count,
			.linked = brief->where == 'l',
			.empty = brief->where == 'e',
			.role = brief->where == 'd'   ? DEVCODE_LOOSE
					: brief->where == 'i' ? DEVCODE_RELOCATABLE
										  : DEVCODE_REGISTERED,
		};
		for (; group->entry_count < MAX_ENTRIES && brief->entries[group->entry_count].kind;
			 group->entry_count++)
			entries[count][group->entry_count] = (struct jw_piece_entry){
				.kind = brief->entries[group->entry_count].kind == 'c' ? DEVCODE_KIND_CUBIN
																	   : DEVCODE_KIND_PTX,
				.target = brief->entries[group->entry_count].target,
				.isa_major = brief->entries[group->entry_count].isa[0],
				.isa_minor = brief->entries[group->entry_count].isa[1],
			};
	}
	return count;
}

TEST(what_runs_of_a_library)
{
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		struct jw_piece_entry entries[MAX_GROUPS][MAX_ENTRIES];
		struct jw_piece groups[MAX_GROUPS];
		const struct decide_facts facts = {
			.pieces = groups,
			.piece_count = fill(libraries[i].groups, groups, entries),
			.library = true,
		};
		struct decided got;

		decide_library(&facts, libraries[i].device, &libraries[i].driver, &got, NULL, NULL);
		if (got.fate != libraries[i].fate || got.reason != libraries[i].reason ||
			got.pieces != libraries[i].pieces || got.lacking != libraries[i].lacking ||
			got.too_new != libraries[i].too_new || got.needs.cuda != libraries[i].needs)
			fail_msg("%s: fate %d, reason %d, %zu pieces, %zu lacking, %zu too new, needs %u",
					 libraries[i].name, (int)got.fate, (int)got.reason, got.pieces, got.lacking,
					 got.too_new, (unsigned)got.needs.cuda);
	}
}

/* Facts about NVIDIA's libraries, which have kernels for each generation of GPUs. */
static const struct {
	const char *path;
	struct jw_target device;
	struct brief groups[MAX_GROUPS];
	enum decide_fate fate;
	size_t pieces, lacking;
} of_nvidia[] = {
/* cuTENSOR 2.8.1: on an A100, sets for other GPUs do not count; a GTX 10 has none. */
#define CUTENSOR                                                                                   \
	{                                                                                              \
		{74, 'r', {CUBIN(75), PTX(100, 0, 8, 8)}}, {88, 'r', {CUBIN(80)}},                         \
			{245, 'r', {CUBIN(90)}},                                                               \
		{                                                                                          \
			90, 'r',                                                                               \
			{                                                                                      \
				CUBIN_OF(90, 'a')                                                                  \
			}                                                                                      \
		}                                                                                          \
	}
	{"cutensor/lib/libcutensor.so.2", {75, 0}, CUTENSOR, DECIDE_RUNS, 74, 0},
	{"cutensor/lib/libcutensor.so.2", {80, 0}, CUTENSOR, DECIDE_RUNS, 88, 0},
	{"cutensor/bin/cutensor.dll", {80, 0}, CUTENSOR, DECIDE_RUNS, 88, 0},
	{"cutensor/lib/libcutensor.so.2", {61, 0}, CUTENSOR, DECIDE_LACKS, 497, 497},
	{"own/cutensor.so", {75, 0}, CUTENSOR, DECIDE_LACKS, 497, 423},
/* cuBLAS 12.9.3: most is for a B200. */
#define CUBLASLT                                                                                   \
	{                                                                                              \
		{1154, 'r', {CUBIN(100)}}, {868, 'r', {CUBIN_OF(90, 'a'), CUBIN_OF(120, 'f')}},            \
			{35, 'r', {CUBIN(70), CUBIN(75), CUBIN(80), CUBIN(90), CUBIN(100), CUBIN(120)}},       \
		{                                                                                          \
			14, 'r',                                                                               \
			{                                                                                      \
				CUBIN(70), CUBIN(75)                                                               \
			}                                                                                      \
		}                                                                                          \
	}
	{"libcublasLt.so.12", {75, 0}, CUBLASLT, DECIDE_RUNS, 49, 0},
	{"libcublasLt-1a2b3c4d.so.12", {75, 0}, CUBLASLT, DECIDE_RUNS, 49, 0},
	{"cublasLt64_12.dll", {90, 0}, CUBLASLT, DECIDE_RUNS, 903, 0},
	{"libown.so", {75, 0}, CUBLASLT, DECIDE_LACKS, 2071, 2022},
	/* cuDNN 8.8.1 has most convolutions for later GPUs alone, and others for a GTX 10. */
	{"libcudnn_cnn_infer.so.8",
	 {61, 0},
	 {{80, 'r', {CUBIN(50), CUBIN(60), CUBIN(61), CUBIN(70), CUBIN(80)}},
	  {1, 'r', {CUBIN(61)}},
	  {304, 'r', {CUBIN(70)}},
	  {806, 'r', {CUBIN(80), CUBIN(90)}}},
	 DECIDE_RUNS,
	 81,
	 0},
	/* TensorRT 11.4 has kernels for later GPUs alone, and its own for an RTX 30. */
	{"libnvinfer_lean.so.11",
	 {86, 0},
	 {{106, 'r', {CUBIN(100), CUBIN(103), CUBIN(120)}}, {105, 'r', {CUBIN(86), CUBIN(89)}}},
	 DECIDE_RUNS,
	 105,
	 0},
	/* cuDNN 9.28 dropped the V100, for which it has kernels that are for all GPUs. */
	{"libcudnn_engines_precompiled.so.9",
	 {70, 0},
	 {{438, 'r', {CUBIN(75), CUBIN(80)}},
	  {320, 'r', {CUBIN(50), CUBIN(61), CUBIN(70), CUBIN(75), CUBIN(80)}},
	  {2, 'r', {CUBIN(70), CUBIN(75)}}},
	 DECIDE_LACKS,
	 760,
	 438},
	/* On a GPU that is newer than the library, only PTX runs: what has none is missing. */
	{"libcublas.so.11",
	 {90, 0},
	 {{180, 'r', {CUBIN(50), CUBIN(80), PTX(80, 0, 7, 7)}}, {19, 'r', {CUBIN(50)}}},
	 DECIDE_RUNS,
	 199,
	 19},
};

TEST(libraries_of_nvidia_choose_by_the_gpu)
{
	for (size_t i = 0; i < sizeof of_nvidia / sizeof *of_nvidia; i++) {
		struct jw_piece_entry entries[MAX_GROUPS][MAX_ENTRIES];
		struct jw_piece groups[MAX_GROUPS];
		const struct decide_facts facts = {
			.pieces = groups,
			.piece_count = fill(of_nvidia[i].groups, groups, entries),
			.library = true,
			.path = of_nvidia[i].path,
		};
		struct decided got;

		decide_library(&facts, of_nvidia[i].device, &(struct jw_driver){13000, {580, 65, 6}}, &got,
					   NULL, NULL);
		if (got.fate != of_nvidia[i].fate || got.pieces != of_nvidia[i].pieces ||
			got.lacking != of_nvidia[i].lacking)
			fail_msg("%s on sm_%u: fate %d, %zu pieces, %zu lacking", of_nvidia[i].path,
					 of_nvidia[i].device.sm, (int)got.fate, got.pieces, got.lacking);
	}
}

TEST(a_runtime_newer_than_the_driver_fails)
{
	const struct jw_piece_entry other = {.kind = DEVCODE_KIND_CUBIN, .target = {52, 0}};
	const struct jw_piece empty = {.containers = 1,
								   .role = DEVCODE_REGISTERED,
								   .empty = true,
								   .entries = &other,
								   .entry_count = 1};
	struct decide_facts host = {
		.pieces = &empty, .piece_count = 1, .library = true, .runtime_cuda = 12000};

	const struct jw_piece_entry entry = {.kind = DEVCODE_KIND_CUBIN, .target = {86, 0}};
	const struct jw_piece piece = {
		.containers = 3, .role = DEVCODE_REGISTERED, .entries = &entry, .entry_count = 1};
	const struct decide_facts facts = {
		.pieces = &piece, .piece_count = 1, .library = true, .runtime_cuda = 12000};
	struct decided got;

	decide_library(&facts, entry.target, &(struct jw_driver){11040, {470, 0, 0}}, &got, NULL, NULL);
	assert_int_equal(got.fate, DECIDE_REFUSED);
	assert_int_equal(got.reason, REASON_RUNTIME);
	assert_int_equal(got.needs.release[0], 525);
	decide_library(&facts, entry.target, &(struct jw_driver){12000, {525, 0, 0}}, &got, NULL, NULL);
	assert_int_equal(got.fate, DECIDE_RUNS);
	/* The runtime refuses a program without kernels of its own, too. */
	decide_library(&host, entry.target, &(struct jw_driver){11040, {470, 0, 0}}, &got, NULL, NULL);
	assert_int_equal(got.fate, DECIDE_REFUSED);
	assert_int_equal(got.reason, REASON_RUNTIME);
	assert_true(got.host);
	decide_library(&host, entry.target, &(struct jw_driver){12000, {525, 0, 0}}, &got, NULL, NULL);
	assert_int_equal(got.fate, DECIDE_NO_CODE);
	host.piece_count = 0;
	decide_library(&host, entry.target, &(struct jw_driver){12000, {525, 0, 0}}, &got, NULL, NULL);
	assert_int_equal(got.fate, DECIDE_NO_CODE);
	assert_true(got.host);
	decide_library(&host, entry.target, &(struct jw_driver){11080, {520, 0, 0}}, &got, NULL, NULL);
	assert_int_equal(got.fate, DECIDE_REFUSED);
	assert_int_equal(got.reason, REASON_RUNTIME);
	assert_true(got.host);
	assert_int_equal(got.needs.release[0], 525);
}

/* TensorFlow 2.18.1 on an H100: the start needs driver 525, and most kernels in the data have PTX
 * 8.3. */
TEST(a_start_that_fails_names_the_driver_that_runs_the_library)
{
	static const struct {
		size_t late; /* the pieces with PTX 8.3, of 278 others */
		uint32_t needs;
	} rows[] = {{1149, 545}, {279, 545}, {278, 525}, {0, 525}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct brief briefs[MAX_GROUPS] = {
			{278, 'r', {CUBIN(60), CUBIN(90), PTX(90, 0, 8, 3)}},
			{rows[i].late, 'd', {CUBIN(60), CUBIN(80), PTX(90, 0, 8, 3)}}};
		struct jw_piece_entry entries[MAX_GROUPS][MAX_ENTRIES];
		struct jw_piece groups[MAX_GROUPS];
		const struct decide_facts facts = {
			.pieces = groups,
			.piece_count = fill(briefs, groups, entries),
			.library = true,
			.runtime_cuda = 12050,
		};
		struct decided got, then;

		decide_library(&facts, (struct jw_target){90, 0}, &(struct jw_driver){11080, {520, 0, 0}},
					   &got, NULL, NULL);
		assert_int_equal(got.fate, DECIDE_REFUSED);
		assert_int_equal(got.reason, REASON_RUNTIME);
		assert_int_equal(got.needs.release[0], rows[i].needs);
		decide_library(&facts, (struct jw_target){90, 0}, &got.needs, &then, NULL, NULL);
		assert_int_equal(then.fate, DECIDE_RUNS);
	}
}

/* nordlys-core-cu13 0.3.2: a runtime of CUDA 13.0, and inputs of the link of PTX 9.2. */
TEST(the_inputs_of_a_link_matter_only_to_a_link)
{
	static const struct {
		uint16_t device;
		uint32_t needs;
	} cases[] = {{75, 13000}, {120, 13020}};
	const struct jw_piece_entry
		kernels[] = {{.kind = DEVCODE_KIND_CUBIN, .target = {75, 0}, .cuda = 13000},
					 {.kind = DEVCODE_KIND_CUBIN, .target = {120, 0}, .cuda = 13000}},
		inputs[] = {{.kind = DEVCODE_KIND_LTOIR, .target = {75, 0}},
					{.kind = DEVCODE_KIND_PTX, .target = {75, 0}, .isa_major = 9, .isa_minor = 2}};
	const struct jw_piece pieces[] = {
		{.containers = 1,
		 .role = DEVCODE_REGISTERED,
		 .linked = true,
		 .entries = kernels,
		 .entry_count = 1},
		{.containers = 1, .role = DEVCODE_REGISTERED, .entries = kernels, .entry_count = 2},
		{.containers = 65, .role = DEVCODE_RELOCATABLE, .entries = inputs, .entry_count = 2}};
	const struct decide_facts facts = {
		.pieces = pieces, .piece_count = 3, .library = true, .runtime_cuda = 13000};
	struct decided got;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		decide_library(&facts, (struct jw_target){cases[i].device, 0},
					   &(struct jw_driver){12080, {570, 0, 0}}, &got, NULL, NULL);
		assert_int_equal(got.fate, DECIDE_REFUSED);
		assert_int_equal(got.reason, REASON_RUNTIME);
		assert_int_equal(got.needs.cuda, cases[i].needs);
	}
	decide_library(&facts, (struct jw_target){75, 0}, &(struct jw_driver){13000, {580, 0, 0}}, &got,
				   NULL, NULL);
	assert_int_equal(got.fate, DECIDE_RUNS);
	assert_int_equal(got.too_new, 0);
}

/* A container without anything in it, beside a kernel that runs. tests/driver/loading.sh and
 * linked.sh have the drivers' answers. */
TEST(what_an_empty_container_asks)
{
	enum { READABLE = 75, NEW = 80, OTHER = 90 };
	static const struct {
		uint32_t runtime;
		enum devcode_role role;
		bool in_file;
		int text;
		enum decide_fate fate;
		size_t too_new, modules;
	} rows[] = {
		{11070, DEVCODE_REGISTERED, false, READABLE, DECIDE_RUNS, 0, 1},
		{11070, DEVCODE_REGISTERED, false, NEW, DECIDE_REFUSED, 1, 0},
		{11070, DEVCODE_REGISTERED, false, OTHER, DECIDE_RUNS, 0, 0},
		{12000, DEVCODE_REGISTERED, false, READABLE, DECIDE_RUNS, 0, 1},
		{12000, DEVCODE_REGISTERED, false, NEW, DECIDE_RUNS, 0, 0},
		{12000, DEVCODE_RELOCATABLE, false, READABLE, DECIDE_RUNS, 0, 1},
		{12000, DEVCODE_RELOCATABLE, false, NEW, DECIDE_RUNS, 1, 0},
		{11070, DEVCODE_RELOCATABLE, false, NEW, DECIDE_REFUSED, 1, 0},
		{11070, DEVCODE_RELOCATABLE, false, OTHER, DECIDE_RUNS, 0, 0},
		{11070, DEVCODE_LOOSE, false, READABLE, DECIDE_RUNS, 0, 0},
		{11070, DEVCODE_LOOSE, false, NEW, DECIDE_RUNS, 0, 0},
		{11070, DEVCODE_LOOSE, true, READABLE, DECIDE_RUNS, 0, 1},
		{11070, DEVCODE_LOOSE, true, NEW, DECIDE_RUNS, 0, 0},
	};
	const struct jw_target device = {86, 0};
	/* Driver 525 loads the code of both runtimes at a start. */
	const struct jw_driver driver = {12000, {525, 0, 0}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const bool link = rows[i].role == DEVCODE_RELOCATABLE;
		const struct jw_piece_entry kernel = {.kind = DEVCODE_KIND_CUBIN, .target = {80, 0}},
									linked = {.kind = DEVCODE_KIND_CUBIN, .target = {90, 0}},
									text = {.kind = DEVCODE_KIND_PTX,
											.target = {(uint16_t)rows[i].text, 0},
											.isa_major = rows[i].text == NEW ? 9 : 6,
											.isa_minor = 3,
											.modules = 1};
		const struct jw_piece pieces[] = {
			{.containers = 1, .role = DEVCODE_REGISTERED, .entries = &kernel, .entry_count = 1},
			{.containers = 1,
			 .role = rows[i].role,
			 .empty = true,
			 .entries = &text,
			 .entry_count = 1},
			{.containers = 1,
			 .role = DEVCODE_REGISTERED,
			 .linked = true,
			 .entries = &linked,
			 .entry_count = 1},
			{.containers = 1, .role = DEVCODE_RELOCATABLE, .entries = &kernel, .entry_count = 1},
		};
		const struct decide_facts facts = {.pieces = pieces,
										   .piece_count = link ? 4 : 2,
										   .library = !rows[i].in_file,
										   .runtime_cuda = rows[i].runtime};
		struct decided got;
		struct decide_work work, loose;

		decide_library(&facts, device, &driver, &got, &work, &loose);
		if (got.fate != rows[i].fate || got.too_new != rows[i].too_new ||
			work.modules + loose.modules != rows[i].modules)
			fail_msg("row %zu: fate %d, %zu too new, %zu modules", i, (int)got.fate, got.too_new,
					 work.modules + loose.modules);
		/* Under a driver that loads lazily, nobody has a registered one loaded. */
		decide_library(&facts, device,
					   &(struct jw_driver){rows[i].text == NEW ? 13050 : 12040, {550, 0, 0}}, &got,
					   &work, &loose);
		if (rows[i].runtime >= 12000 && !link && work.modules + loose.modules)
			fail_msg("row %zu: a module with lazy loading", i);
	}
}

/* Code without a kernel, while other code of its container has some. Beside it is a kernel that
 * runs. The drivers' answers: tests/driver/loading.sh, and “choice/a cubin without kernels” of
 * tests/conformance. */
TEST(what_runs_of_hollow_code)
{
#define MACHINE(sm, is_hollow)                                                                     \
	{                                                                                              \
		.kind = DEVCODE_KIND_CUBIN, .target = {sm, 0}, .hollow = (is_hollow)                       \
	}
#define PTX_OF(sm, is_hollow)                                                                      \
	{                                                                                              \
		.kind = DEVCODE_KIND_PTX, .target = {sm, 0}, .isa_major = 8, .modules = 1,                 \
		.hollow = (is_hollow)                                                                      \
	}
	static const struct {
		const char *name;
		struct jw_piece_entry entries[3];
		size_t count;
		enum devcode_role role;
		bool linked;
		uint16_t gpu;
		size_t pieces, lacking, modules;
	} rows[] = {
		{"machine code for the GPU",
		 {MACHINE(75, true), MACHINE(80, false)},
		 2,
		 0,
		 false,
		 75,
		 2,
		 1,
		 0},
		{"another GPU", {MACHINE(75, true), MACHINE(80, false)}, 2, 0, false, 80, 2, 0, 0},
		{"a newer GPU of its own",
		 {MACHINE(80, true), MACHINE(90, false)},
		 2,
		 0,
		 false,
		 86,
		 2,
		 1,
		 0},
		{"the driver takes no PTX",
		 {MACHINE(75, true), PTX_OF(70, false)},
		 2,
		 0,
		 false,
		 75,
		 2,
		 1,
		 0},
		{"hollow PTX", {MACHINE(80, false), PTX_OF(90, true)}, 2, 0, false, 120, 2, 1, 0},
		{"hollow PTX, not taken", {MACHINE(80, false), PTX_OF(86, true)}, 2, 0, false, 86, 2, 0, 0},
		{"hollow machine code, not taken",
		 {MACHINE(75, true), PTX_OF(80, false)},
		 2,
		 0,
		 false,
		 86,
		 2,
		 0,
		 1},
		{"in the data",
		 {MACHINE(75, true), MACHINE(80, false), MACHINE(90, false)},
		 3,
		 DEVCODE_LOOSE,
		 false,
		 75,
		 2,
		 1,
		 0},
		{"a linked one has its own rule",
		 {MACHINE(75, true), MACHINE(80, false)},
		 2,
		 0,
		 true,
		 75,
		 2,
		 0,
		 0},
	};
#undef MACHINE
#undef PTX_OF

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct jw_piece_entry kernel = {
			.kind = DEVCODE_KIND_PTX, .target = {52, 0}, .isa_major = 6, .isa_minor = 3};
		const struct jw_piece pieces[] = {
			{.containers = 1, .role = DEVCODE_REGISTERED, .entries = &kernel, .entry_count = 1},
			{.containers = 1,
			 .role = rows[i].role,
			 .linked = rows[i].linked,
			 .entries = rows[i].entries,
			 .entry_count = rows[i].count},
		};
		const struct decide_facts facts = {
			.pieces = pieces, .piece_count = 2, .library = true, .runtime_cuda = 12040};
		struct decided got;
		struct decide_work work;

		decide_library(&facts, (struct jw_target){rows[i].gpu, 0},
					   &(struct jw_driver){13000, {580, 0, 0}}, &got, &work, NULL);
		if (got.fate != DECIDE_RUNS || got.pieces != rows[i].pieces ||
			got.lacking != rows[i].lacking || work.modules != rows[i].modules)
			fail_msg("%s: fate %d, %zu of %zu lack code, %zu modules", rows[i].name, (int)got.fate,
					 got.lacking, got.pieces, work.modules);
	}
}

/* Two kinds of containers that are hollow for each other's GPU, as sources with __CUDA_ARCH__
 * become: the library has a set, and chooses by the GPU. */
TEST(hollow_code_is_of_no_architecture)
{
	static const struct jw_piece_entry
		older[] = {{.kind = DEVCODE_KIND_CUBIN, .target = {80, 0}},
				   {.kind = DEVCODE_KIND_CUBIN, .target = {90, 0}, .hollow = true}},
		newer[] = {{.kind = DEVCODE_KIND_CUBIN, .target = {80, 0}, .hollow = true},
				   {.kind = DEVCODE_KIND_CUBIN, .target = {90, 0}}};
	const struct jw_piece pieces[] = {
		{.containers = 3, .role = DEVCODE_REGISTERED, .entries = older, .entry_count = 2},
		{.containers = 3, .role = DEVCODE_REGISTERED, .entries = newer, .entry_count = 2},
	};
	const struct decide_facts facts = {
		.pieces = pieces, .piece_count = 2, .library = true, .runtime_cuda = 12040};

	for (uint16_t gpu = 80; gpu <= 90; gpu += 10) {
		struct decided got;

		decide_library(&facts, (struct jw_target){gpu, 0}, &(struct jw_driver){13000, {580, 0, 0}},
					   &got, NULL, NULL);
		assert_int_equal(got.fate, DECIDE_RUNS);
		assert_int_equal(got.pieces, 3);
		assert_int_equal(got.lacking, 0);
	}
}

/* A linked container and the input of its link, neither of which declares anything, as in
 * eigh-cuda128 0.4.1, whose PTX is of 8.7. tests/driver/linked.sh has the drivers' answers. */
TEST(what_a_link_of_nothing_asks)
{
	enum { OTHER_GPU = 52, OWN = 86 };
	static const struct {
		const char *name;
		uint32_t runtime, driver;
		struct jw_piece_entry linked;
		/* The other pieces: 'r' a registered kernel, 'l' one in the linked container, 'i'
		 * another input with one; 's': there is no input */
		const char *besides;
		enum decide_fate fate;
		enum plan_reason reason;
		size_t too_new, modules;
		uint32_t needs;
	} rows[] = {
#define LINKED(sm, first_cuda) {.kind = DEVCODE_KIND_CUBIN, .target = {sm, 0}, .cuda = first_cuda}
		{"PTX that the driver does not read, lazily", 12080, 12020, LINKED(OTHER_GPU, 0), "",
		 DECIDE_NO_CODE, REASON_NONE, 0, 0, 0},
		{"PTX that it reads, lazily", 12080, 12080, LINKED(OTHER_GPU, 0), "", DECIDE_NO_CODE,
		 REASON_NONE, 0, 0, 0},
		{"PTX that it does not read, at the start", 12080, 12000, LINKED(OTHER_GPU, 0), "",
		 DECIDE_NO_CODE, REASON_NONE, 0, 0, 0},
		{"the runtime refuses the driver", 12080, 11020, LINKED(OTHER_GPU, 0), "", DECIDE_REFUSED,
		 REASON_RUNTIME, 0, 0, 12000},
		{"the start of an older runtime reads the input", 11070, 12020, LINKED(OTHER_GPU, 0), "",
		 DECIDE_REFUSED, REASON_TOO_NEW, 0, 0, 12080},
		{"and makes a module of it", 11070, 12080, LINKED(OTHER_GPU, 0), "", DECIDE_NO_CODE,
		 REASON_NONE, 0, 1, 0},
		{"beside kernels", 12080, 12020, LINKED(OTHER_GPU, 0), "r", DECIDE_RUNS, REASON_NONE, 0, 0,
		 0},
		{"machine code for the GPU", 12080, 12020, LINKED(OWN, 0), "", DECIDE_NO_CODE, REASON_NONE,
		 0, 0, 0},
		{"machine code of a newer CUDA, lazily", 12080, 12020, LINKED(OWN, 13000), "",
		 DECIDE_NO_CODE, REASON_NONE, 0, 0, 0},
		{"machine code of a newer CUDA, at the start", 12080, 12000, LINKED(OWN, 13000), "",
		 DECIDE_REFUSED, REASON_NEWER_CODE, 1, 0, 13000},
		{"there is no input", 12080, 12020, LINKED(OWN, 0), "s", DECIDE_NO_CODE, REASON_NONE, 0, 0,
		 0},
		{"there is no input, for another GPU", 12080, 12020, LINKED(OTHER_GPU, 0), "s",
		 DECIDE_NO_CODE, REASON_NONE, 0, 0, 0},
		{"there is no input, machine code of a newer CUDA at the start", 12080, 12000,
		 LINKED(OWN, 13000), "s", DECIDE_REFUSED, REASON_NEWER_CODE, 1, 0, 13000},
		{"the linked container has a kernel", 12080, 12020, LINKED(OTHER_GPU, 0), "l",
		 DECIDE_REFUSED, REASON_TOO_NEW, 1, 0, 12080},
		{"another input has a kernel", 12080, 12020, LINKED(OTHER_GPU, 0), "ri", DECIDE_RUNS,
		 REASON_NONE, 0, 0, 12080},
	};
	const struct jw_piece_entry kernel = {.kind = DEVCODE_KIND_CUBIN, .target = {80, 0}},
								text = {.kind = DEVCODE_KIND_PTX,
										.target = {52, 0},
										.isa_major = 8,
										.isa_minor = 7,
										.modules = 1};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct jw_piece pieces[4] = {
			{.containers = 1,
			 .role = DEVCODE_REGISTERED,
			 .linked = true,
			 .empty = !strchr(rows[i].besides, 'l'),
			 .entries = &rows[i].linked,
			 .entry_count = 1},
			{.containers = 1,
			 .role = DEVCODE_RELOCATABLE,
			 .empty = true,
			 .entries = &text,
			 .entry_count = 1},
		};
		struct decide_facts facts = {.pieces = pieces,
									 .piece_count = strchr(rows[i].besides, 's') ? 1 : 2,
									 .library = true,
									 .runtime_cuda = rows[i].runtime};
		struct decided got;
		struct decide_work work;

		if (strchr(rows[i].besides, 'r'))
			pieces[facts.piece_count++] = (struct jw_piece){
				.containers = 1, .role = DEVCODE_REGISTERED, .entries = &kernel, .entry_count = 1};
		if (strchr(rows[i].besides, 'i'))
			pieces[facts.piece_count++] = (struct jw_piece){
				.containers = 1, .role = DEVCODE_RELOCATABLE, .entries = &kernel, .entry_count = 1};
		decide_library(&facts, (struct jw_target){OWN, 0}, &(struct jw_driver){rows[i].driver, {0}},
					   &got, &work, NULL);
		if (got.fate != rows[i].fate || got.reason != rows[i].reason ||
			got.too_new != rows[i].too_new || got.needs.cuda != rows[i].needs ||
			work.modules != rows[i].modules)
			fail_msg("%s: fate %d, reason %d, %zu too new, needs %u, %zu modules", rows[i].name,
					 (int)got.fate, (int)got.reason, got.too_new, (unsigned)got.needs.cuda,
					 work.modules);
	}
}

/* The fates of two libraries of one package: 'g' good, 'v' a variant, 'p' a part fails, 'f' fails.
 * */
static const struct {
	const char *name;
	struct {
		enum decide_fate fate;
		size_t pieces, lacking;
		bool special, same_variant, other_package, bundled, for_family, chosen, aside, dispensable;
	} libraries[2];
	const char *parts;
} packages[] = {
	{"both run",
	 {{DECIDE_RUNS, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {DECIDE_RUNS, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "gg"},
	{"torch 2.11 on an RTX 20: linalg is optional",
	 {{DECIDE_RUNS, 300, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	  {DECIDE_LACKS, 33, 33, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "gp"},
	{"the core lacks code",
	 {{DECIDE_LACKS, 300, 290, 0, 0, 0, 0, 0, 0, 0, 0},
	  {DECIDE_RUNS, 33, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "fg"},
	{"nothing runs",
	 {{DECIDE_LACKS, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0}, {DECIDE_LACKS, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "ff"},
	{"of two packages",
	 {{DECIDE_RUNS, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {DECIDE_LACKS, 3, 3, 0, 0, 1, 0, 0, 0, 0, 0}},
	 "gf"},
	{"a variant",
	 {{DECIDE_RUNS, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}, {DECIDE_LACKS, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0}},
	 "gv"},
	{"a variant that needs a newer driver",
	 {{DECIDE_RUNS, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}, {DECIDE_REFUSED, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}},
	 "gv"},
	{"a start that fails",
	 {{DECIDE_RUNS, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {DECIDE_REFUSED, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "gf"},
	{"FlashAttention 3, with more pieces than the core",
	 {{DECIDE_RUNS, 118, 56, 0, 0, 0, 0, 0, 0, 0, 0},
	  {DECIDE_LACKS, 192, 192, 1, 0, 0, 0, 0, 0, 0, 0}},
	 "pp"},
	{"torch 2.5 on a GTX 10: libcusparseLt is another package's",
	 {{DECIDE_RUNS, 340, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	  {DECIDE_REFUSED, 2513, 0, 0, 0, 0, 1, 0, 0, 0, 0}},
	 "gp"},
	{"nothing but another package's library",
	 {{DECIDE_REFUSED, 9, 0, 0, 0, 0, 1, 0, 0, 0, 0},
	  {DECIDE_NO_CODE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "fg"},
	{"sglang-kernel on an RTX 50: FlashAttention 3 is for other GPUs, and the rest for this one",
	 {{DECIDE_RUNS, 35, 0, 0, 0, 0, 0, 1, 0, 0, 0},
	  {DECIDE_LACKS, 372, 372, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "gp"},
	{"another package's library for this GPU saves no library of the package",
	 {{DECIDE_RUNS, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0},
	  {DECIDE_LACKS, 372, 372, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "gf"},
	{"a library for this GPU that fails saves no other",
	 {{DECIDE_LACKS, 35, 30, 0, 0, 0, 0, 1, 0, 0, 0},
	  {DECIDE_LACKS, 372, 372, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "ff"},
	{"nor does one that runs save a library that the driver refuses",
	 {{DECIDE_RUNS, 35, 0, 0, 0, 0, 0, 1, 0, 0, 0},
	  {DECIDE_REFUSED, 372, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "gf"},
	{"a set for other GPUs, with more pieces than the core",
	 {{DECIDE_RUNS, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {DECIDE_LACKS, 58, 58, 0, 0, 0, 0, 0, 1, 0, 0}},
	 "gp"},
	{"vLLM 0.8.5 on a V100: its largest library is FlashAttention",
	 {{DECIDE_RUNS, 38, 10, 0, 0, 0, 0, 0, 0, 0, 0},
	  {DECIDE_LACKS, 172, 172, 0, 0, 0, 0, 0, 0, 1, 0}},
	 "pp"},
	{"FlashAttention runs, but not the core",
	 {{DECIDE_LACKS, 38, 30, 0, 0, 0, 0, 0, 0, 0, 0},
	  {DECIDE_RUNS, 172, 0, 0, 0, 0, 0, 0, 0, 1, 0}},
	 "fg"},
	{"nothing but FlashAttention",
	 {{DECIDE_LACKS, 172, 172, 0, 0, 0, 0, 0, 0, 1, 0},
	  {DECIDE_NO_CODE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "fg"},
	{"torchao on an A100: it runs without its libraries",
	 {{DECIDE_LACKS, 6, 6, 1, 0, 0, 0, 0, 0, 0, 1}, {DECIDE_LACKS, 3, 3, 0, 0, 0, 0, 0, 0, 0, 1}},
	 "pp"},
	{"the same under a driver that is too old for them",
	 {{DECIDE_REFUSED, 6, 0, 0, 0, 0, 0, 0, 0, 0, 1}, {DECIDE_RUNS, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "pg"},
	{"a library that the package does not need says nothing about the others",
	 {{DECIDE_RUNS, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1}, {DECIDE_LACKS, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "gf"},
	{"sapien on an RTX 50: Open Image Denoise has the most pieces",
	 {{DECIDE_RUNS, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {DECIDE_LACKS, 5, 5, 0, 0, 0, 0, 0, 0, 0, 1}},
	 "gp"},
	{"kernels for a family alone, and nothing else",
	 {{DECIDE_LACKS, 5, 5, 1, 0, 0, 0, 0, 0, 0, 0}, {DECIDE_NO_CODE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	 "fg"},
};

TEST(what_runs_of_a_package)
{
	for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
		struct decide_member members[2];
		char got[3] = "";

		for (size_t k = 0; k < 2; k++)
			members[k] = (struct decide_member){
				.decided = {.fate = packages[i].libraries[k].fate,
							.pieces = packages[i].libraries[k].pieces,
							.lacking = packages[i].libraries[k].lacking,
							.special = packages[i].libraries[k].special,
							.for_family = packages[i].libraries[k].for_family,
							.chosen = packages[i].libraries[k].chosen},
				.package = packages[i].libraries[k].other_package,
				.variants = packages[i].libraries[k].same_variant ? 0 : 2 + k,
				.folder = packages[i].libraries[k].other_package,
				.bundled = packages[i].libraries[k].bundled,
				.aside = packages[i].libraries[k].aside,
				.dispensable = packages[i].libraries[k].dispensable,
				.library = true,
			};
		decide_packages(members, 2, 4);
		for (size_t k = 0; k < 2; k++)
			got[k] = "gslvpf"[members[k].part];
		if (strcmp(got, packages[i].parts) != 0)
			fail_msg("%s: %s, not %s", packages[i].name, got, packages[i].parts);
	}
}

/* FlashAttention 2 and 3 of one package, beside its core (vLLM): programs choose version 3 by the
 * GPU, and use version 2 on its GPUs, too. */
TEST(flashattention_3_is_replaced_by_flashattention_2_alone)
{
	static const struct decided core = {.fate = DECIDE_RUNS, .pieces = 88},
								runs = {.fate = DECIDE_RUNS, .pieces = 60},
								lacks = {.fate = DECIDE_LACKS, .pieces = 332, .lacking = 332},
								too_new = {.fate = DECIDE_REFUSED,
										   .by_share = true,
										   .pieces = 60,
										   .too_new = 60,
										   .reason = REASON_TOO_NEW,
										   .needs = {12080, {570, 0, 0}}};
	const struct {
		struct decided two, three;
		enum decide_attention first;
		const char *parts;
	} cases[] = {
		{runs, lacks, ATTENTION_2, "ggv"},   /* on an RTX 50 */
		{too_new, runs, ATTENTION_2, "gpg"}, /* on an H100 with driver 550 */
		{runs, too_new, ATTENTION_2, "ggp"}, /* nothing chooses by the driver */
		{lacks, runs, ATTENTION_2, "gfg"},   /* version 3 is no substitute */
		{too_new, lacks, ATTENTION_2, "gff"}, {runs, lacks, ATTENTION_NONE, "ggf"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct decide_member members[3] = {
			{.decided = core, .variants = 0, .library = true},
			{.decided = cases[i].two, .variants = 1, .attention = cases[i].first, .library = true},
			{.decided = cases[i].three, .variants = 2, .attention = ATTENTION_3, .library = true}};
		char got[4] = "";

		decide_packages(members, 3, 3);
		for (size_t k = 0; k < 3; k++)
			got[k] = "gslvpf"[members[k].part];
		if (strcmp(got, cases[i].parts) != 0)
			fail_msg("%zu: %s, not %s", i, got, cases[i].parts);
	}
}

/* Libraries without code of their own that need a CUDA runtime. */
TEST(a_runtime_refuses_a_package_without_code)
{
	static const struct decided refused = {.fate = DECIDE_REFUSED,
										   .reason = REASON_RUNTIME,
										   .host = true,
										   .needs = {12000, {525, 0, 0}}},
								taken = {.fate = DECIDE_NO_CODE, .host = true},
								runs = {.fate = DECIDE_RUNS, .pieces = 1},
								lacks = {.fate = DECIDE_LACKS, .pieces = 1, .lacking = 1};
	const struct {
		const char *name;
		struct decided first, second;
		size_t siblings;
		bool bundled, variants, other_group;
		const char *parts;
	} cases[] = {
		{"pyclesperanto-cuda: the runtime was copied", refused, refused, 1, true, 0, 0, "gf"},
		{"mooncake: libraries with code are two of six needy ones", lacks, refused, 4, 0, 0, 0,
		 "ff"},
		{"one of two", refused, taken, 2, 0, 0, 0, "fg"},
		{"libucx: one plug-in of many", refused, taken, 3, 0, 0, 0, "pg"},
		{"two of four", refused, refused, 4, 0, 0, 0, "ff"},
		{"two of five", refused, refused, 5, 0, 0, 0, "pp"},
		{"as many as are known", refused, refused, 0, 0, 0, 0, "ff"},
		{"other code of the package runs", runs, refused, 2, 0, 0, 0, "gp"},
		{"code of another package runs", runs, refused, 1, 0, 0, true, "gf"},
		{"a copied library runs", runs, refused, 1, true, 0, 0, "gf"},
		{"the variant for an older CUDA runs", taken, refused, 2, 0, true, 0, "gv"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct decide_member members[2];
		char got[3] = "";

		for (size_t k = 0; k < 2; k++)
			members[k] = (struct decide_member){.decided = k ? cases[i].second : cases[i].first,
												.variants = cases[i].variants ? 0 : k,
												.group = cases[i].other_group ? k : 0,
												.package = cases[i].other_group ? k : 0,
												.siblings = cases[i].siblings,
												.bundled = !k && cases[i].bundled,
												.own = k || !cases[i].bundled,
												.library = true};
		decide_packages(members, 2, 2);
		for (size_t k = 0; k < 2; k++)
			got[k] = "gslvpf"[members[k].part];
		if (strcmp(got, cases[i].parts) != 0)
			fail_msg("%s: %s, not %s", cases[i].name, got, cases[i].parts);
	}
}

/* Files of which a program loads the one for its GPU (Cycles). */
TEST(one_of_several_files_that_are_variants_counts)
{
	static const struct decided own = {.fate = DECIDE_RUNS, .pieces = 1, .own = true},
								text = {.fate = DECIDE_RUNS, .pieces = 1, .text = true},
								older = {.fate = DECIDE_RUNS, .pieces = 1},
								other = {.fate = DECIDE_LACKS, .pieces = 1, .lacking = 1},
								too_new = {.fate = DECIDE_REFUSED,
										   .pieces = 1,
										   .too_new = 1,
										   .text = true,
										   .reason = REASON_TOO_NEW,
										   .needs = {12010, {530, 0, 0}}};
	const struct {
		struct decided files[3];
		bool apart, libraries;
		const char *parts;
	} families[] = {
		{{text, own, other}, false, false, "sgv"},
		{{too_new, own, other}, false, false, "sgv"},
		{{text, older, other}, false, false, "ggv"},
		{{text, own, other}, true, false, "ggp"},
		{{text, own, other}, false, true, "ggv"},
		{{other, other, too_new}, false, false, "llf"},
		{{too_new, other, other}, false, false, "fll"},
		{{other, other, other}, false, false, "fll"},
		{{other, other, too_new}, true, false, "fff"},
		{{other, other, too_new}, false, true, "fff"},
	};

	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		struct decide_member members[3];
		char got[4] = "";

		for (size_t k = 0; k < 3; k++)
			members[k] = (struct decide_member){.decided = families[i].files[k],
												.variants = families[i].apart ? k : 0,
												.library = families[i].libraries};
		decide_packages(members, 3, 4);
		for (size_t k = 0; k < 3; k++)
			got[k] = "gslvpf"[members[k].part];
		if (strcmp(got, families[i].parts) != 0)
			fail_msg("%zu: %s, not %s", i, got, families[i].parts);
	}
}

/* sm_120a runs on an RTX 50 alone, sm_120 on others of its family, too. */
TEST(code_for_the_familys_gpus_alone_is_known)
{
	static const struct {
		struct jw_target target;
		bool for_family;
	} cases[] = {{{120, 'a'}, true}, {{120, 'f'}, true}, {{120, 0}, false}, {{90, 'a'}, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_piece_entry entries[] = {
			{.kind = DEVCODE_KIND_CUBIN, .target = {80, 0}},
			{.kind = DEVCODE_KIND_CUBIN, .target = cases[i].target}};
		const struct jw_piece piece = {
			.containers = 1, .role = DEVCODE_REGISTERED, .entries = entries, .entry_count = 2};
		const struct decide_facts facts = {.pieces = &piece, .piece_count = 1, .library = true};
		struct decided got;

		decide_library(&facts, (struct jw_target){120, 0}, &(struct jw_driver){13000, {580, 0, 0}},
					   &got, NULL, NULL);
		assert_int_equal(got.for_family, cases[i].for_family);
	}
}

/* PTX in the data is for the GPU, so such a library counts in its package. */
TEST(a_library_is_not_for_a_family_alone_if_the_driver_refuses_its_data)
{
	static const struct brief briefs[MAX_GROUPS] = {{2, 'r', {CUBIN_OF(90, 'a')}},
													{100, 'd', {PTX(80, 0, 8, 7)}}};
	struct jw_piece_entry entries[MAX_GROUPS][MAX_ENTRIES];
	struct jw_piece groups[MAX_GROUPS];
	const struct decide_facts facts = {
		.pieces = groups, .piece_count = fill(briefs, groups, entries), .library = true};
	struct decided got;

	decide_library(&facts, (struct jw_target){90, 0}, &(struct jw_driver){12040, {550, 163, 1}},
				   &got, NULL, NULL);
	assert_int_equal(got.fate, DECIDE_REFUSED);
	assert_int_equal(got.too_new, 100);
	assert_false(got.special);
}

RUN_TESTS(NULL, NULL)
