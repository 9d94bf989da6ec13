#include "worker/thread_share.h"

unsigned thread_share(double cost_ms, double others_ms, unsigned cores)
{
	const unsigned most = cores < THREAD_SHARE_MOST ? cores : THREAD_SHARE_MOST;
	double share;

	if (most < 2 || !(cost_ms >= THREAD_SHARE_LEAST_MS))
		return 1;
	share = (double)cores * cost_ms / (cost_ms + (others_ms > 0 ? others_ms : 0)) + 0.5;
	return share >= most ? most : share < 1 ? 1 : (unsigned)share;
}
