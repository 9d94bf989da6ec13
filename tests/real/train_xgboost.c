/* train_xgboost LIBRARY [ROUNDS]: a real third-party program, used as its users use it: XGBoost
 * through its C interface, loaded from the path of its library, trains on a small matrix with
 * tree_method=gpu_hist.
 *
 * XGBoost 1.x was built with CUDA runtimes that load eagerly: the first call of the runtime, in the
 * first round, hands every module of the library to the driver. One round is therefore a whole
 * first start. On the phantom GPU it then ends with "NCCL failure: unhandled system error"
 * (measured with 1.0.2 and 1.3.3; NCCL finds no PCI devices in /sys), and each further round fails
 * at once.
 *
 * Exit status: 0 trained; 2 XGBoost gave up in a round (its reason is printed; expected on the
 * phantom); 1 it failed earlier; 64 wrong usage. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROWS    20000
#define COLUMNS 20ul

/* The part of xgboost/c_api.h in use; each returns 0, or -1 with a text for XGBGetLastError. */
struct xgboost {
	const char *(*last_error)(void);
	int (*matrix_create)(const float *data, uint64_t rows, uint64_t columns, float missing,
						 void **ret_matrix);
	int (*matrix_set)(void *matrix, const char *field, const float *values, uint64_t count);
	int (*booster_create)(void *const *matrices, uint64_t count, void **ret_booster);
	int (*booster_set)(void *booster, const char *name, const char *value);
	int (*booster_update)(void *booster, int round, void *matrix);
	int (*booster_eval)(void *booster, int round, void **matrices, const char **names,
						uint64_t count, const char **ret_text);
};

static int xgboost_open(struct xgboost *ret_xgboost, const char *path)
{
	struct xgboost xgboost;
	const struct {
		const char *name;
		void *function;
	} names[] = {
		{"XGBGetLastError", &xgboost.last_error},
		{"XGDMatrixCreateFromMat", &xgboost.matrix_create},
		{"XGDMatrixSetFloatInfo", &xgboost.matrix_set},
		{"XGBoosterCreate", &xgboost.booster_create},
		{"XGBoosterSetParam", &xgboost.booster_set},
		{"XGBoosterUpdateOneIter", &xgboost.booster_update},
		{"XGBoosterEvalOneIter", &xgboost.booster_eval},
	};
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "train_xgboost: %s\n", dlerror());
		return -1;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *found = dlsym(library, names[i].name);
		if (!found) {
			fprintf(stderr, "train_xgboost: %s: no %s\n", path, names[i].name);
			return -1;
		}
		memcpy(names[i].function, &found, sizeof found);
	}
	*ret_xgboost = xgboost;
	return 0;
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Makes the same numbers between 0 and 1 each time, from a linear congruential generator. */
static void *matrix_make(const struct xgboost *xgboost)
{
	static float data[ROWS * COLUMNS], label[ROWS];
	uint32_t state = 1;
	void *matrix = NULL;
	for (size_t i = 0; i < ROWS * COLUMNS; i++) {
		state = state * 1664525 + 1013904223;
		data[i] = (float)(state >> 8) / (float)(1 << 24);
	}
	for (size_t i = 0; i < ROWS; i++)
		label[i] = data[i * COLUMNS] * 2 + data[i * COLUMNS + 1];
	if (xgboost->matrix_create(data, ROWS, COLUMNS, -1, &matrix) ||
		xgboost->matrix_set(matrix, "label", label, ROWS))
		return NULL;
	return matrix;
}

static void *booster_make(const struct xgboost *xgboost, void *matrix)
{
	static const char *const settings[][2] = {
		{"tree_method", "gpu_hist"}, {"max_depth", "4"}, {"verbosity", "1"}, {"seed", "1"}};
	void *booster = NULL;
	if (xgboost->booster_create(&matrix, 1, &booster))
		return NULL;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (xgboost->booster_set(booster, settings[i][0], settings[i][1]))
			return NULL;
	return booster;
}

/* Prints the first line of the reason; a stack trace follows it. */
static void give_reason(const struct xgboost *xgboost, const char *where)
{
	const char *reason = xgboost->last_error();
	fprintf(stderr, "train_xgboost: %s: %.*s\n", where, (int)strcspn(reason, "\n"), reason);
}

static int train(const struct xgboost *xgboost, int rounds)
{
	static const char name[] = "train";
	const char *names[] = {name}, *text = "";
	double start_s = seconds();
	void *matrix = matrix_make(xgboost);
	void *booster = matrix ? booster_make(xgboost, matrix) : NULL;
	if (!booster) {
		give_reason(xgboost, "set-up");
		return 1;
	}
	for (int i = 0; i < rounds; i++) {
		int result = xgboost->booster_update(booster, i, matrix);
		printf("round %d after %.1f s\n", i, seconds() - start_s);
		if (result) {
			give_reason(xgboost, "training");
			return 2;
		}
	}
	if (xgboost->booster_eval(booster, rounds, &matrix, names, 1, &text)) {
		give_reason(xgboost, "evaluation");
		return 2;
	}
	printf("%s\n", text);
	return 0;
}

int main(int argc, char **argv)
{
	struct xgboost xgboost;
	int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
	if (argc < 2 || rounds < 1) {
		fputs("usage: train_xgboost LIBRARY [ROUNDS]\n", stderr);
		return 64;
	}
	if (xgboost_open(&xgboost, argv[1]))
		return 1;
	int result = train(&xgboost, rounds);
	/* Does not call exit(): after an error XGBoost's destructors run into "driver shutting down"
	 * and abort. Python's interpreter, its usual host, frees boosters before that. */
	fflush(stdout);
	_exit(result);
}
