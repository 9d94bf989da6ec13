#include "os/cores.h"

#include <stdint.h>

#include "base/mem.h"
#include "os/win32/win32.h"

/* Share of the machine that a job object (a container) grants, in 1/10000; 0 without a limit. */
static DWORD job_share(void)
{
	JOBOBJECT_CPU_RATE_CONTROL_INFORMATION info = {0};
	const DWORD hard = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;

	if (!QueryInformationJobObject(NULL, JobObjectCpuRateControlInformation, &info, sizeof info,
								   NULL) ||
		(info.ControlFlags & hard) != hard)
		return 0;
	return info.CpuRate;
}

unsigned os_cores(void)
{
	DWORD_PTR ours = 0, machine = 0;
	DWORD all = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS), share = job_share();
	unsigned cores = 0;

	if (GetProcessAffinityMask(GetCurrentProcess(), &ours, &machine))
		for (DWORD_PTR mask = ours; mask; mask &= mask - 1)
			cores++;
	/* A mask covers one group of at most 64; new processes may use all groups. */
	if (ours == machine && all > cores)
		cores = all;
	if (share && all && (all * share + 9999) / 10000 < cores)
		cores = (all * share + 9999) / 10000;
	return cores ? cores : 1;
}

/* Counts the cores of the first group that have a thread in the mask. */
static unsigned count_cores(const uint8_t *records, DWORD size, DWORD_PTR ours)
{
	unsigned cores = 0;

	for (DWORD at = 0; at < size;) {
		const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *record = (const void *)(records + at);

		if (size - at < sizeof *record || record->Size < sizeof *record || record->Size > size - at)
			break;
		cores += !ours || (record->Processor.GroupMask[0].Group == 0 &&
						   (record->Processor.GroupMask[0].Mask & ours));
		at += record->Size;
	}
	return cores;
}

unsigned os_physical_cores(void)
{
	DWORD_PTR ours = 0, machine = 0;
	DWORD size = 0;
	unsigned threads = os_cores(), cores = 0;
	uint8_t *records;

	(void)GetLogicalProcessorInformationEx(RelationProcessorCore, NULL, &size);
	records = size ? mem_alloc(NULL, size) : NULL;
	/* If all of the first group may be used, so may the other groups, as in os_cores. */
	if (records && GetProcessAffinityMask(GetCurrentProcess(), &ours, &machine) &&
		GetLogicalProcessorInformationEx(RelationProcessorCore, (void *)records, &size))
		cores = count_cores(records, size, ours == machine ? 0 : ours);
	mem_free(records);
	return cores && cores < threads ? cores : threads;
}
