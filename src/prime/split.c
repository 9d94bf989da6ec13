#include "prime/split.h"

unsigned split_threads(double cost_ms, double others_ms, unsigned cores)
{
	const unsigned most = cores < SPLIT_MOST_THREADS ? cores : SPLIT_MOST_THREADS;
	double share;

	if (most < 2 || !(cost_ms >= SPLIT_LEAST_MS))
		return 1;
	share = (double)cores * cost_ms / (cost_ms + (others_ms > 0 ? others_ms : 0)) + 0.5;
	return share >= most ? most : share < 1 ? 1 : (unsigned)share;
}
