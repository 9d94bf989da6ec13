/* /dev/nvidia-uvm. Ioctl numbers and structures: OGK kernel-open/nvidia-uvm/uvm_ioctl.h.
 *
 * libcuda has one address space for processor and GPU, so GPU memory can be memory of the process
 * at the same address: an external range that the process has not mapped gets anonymous pages. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "phantom.h"

enum {
	UVM_FREE = 34,
	UVM_PAGEABLE_MEM_ACCESS = 39,
	UVM_CREATE_EXTERNAL_RANGE = 73,
	UVM_INITIALIZE = 0x30000001,
};

struct range {
	uint64_t base, length;
	bool ours; /* pages that external_create() made */
	struct range *next;
};

static struct range *ranges;
static atomic_bool used; /* a range has existed; until then munmap() takes no lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void uvm_fork(enum fork_moment moment)
{
	fork_lock(&lock, moment);
}

/* A direct system call: mmap() would come back here. */
static uint64_t raw_mmap(uint64_t address, uint64_t length, int protection)
{
	return (uint64_t)syscall(SYS_mmap, address, length, protection,
							 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static bool overlaps(const struct range *range, uint64_t base, uint64_t length)
{
	return base < range->base + range->length && range->base < base + length;
}

static bool any_overlaps(uint64_t base, uint64_t length)
{
	for (const struct range *range = ranges; range; range = range->next)
		if (overlaps(range, base, length))
			return true;
	return false;
}

static void push(struct range *range)
{
	range->next = ranges;
	ranges = range;
	used = true;
}

static struct range *range_new(uint64_t base, uint64_t length, bool ours)
{
	struct range *range = malloc(sizeof *range);
	if (range)
		*range = (struct range){.base = base, .length = length, .ours = ours};
	return range;
}

void uvm_note_mapping(void *address, size_t length)
{
	struct range *range = range_new((uintptr_t)address, length, false);
	pthread_mutex_lock(&lock);
	if (range)
		push(range);
	pthread_mutex_unlock(&lock);
}

/* Frees after unlocking: the program's allocator may call munmap(), which comes here. */
void uvm_forget_mapping(void *address, size_t length)
{
	struct range *gone = NULL;
	if (!used)
		return;
	pthread_mutex_lock(&lock);
	for (struct range **link = &ranges; *link;) {
		struct range *range = *link;
		if (!overlaps(range, (uintptr_t)address, length)) {
			link = &range->next;
			continue;
		}
		*link = range->next;
		range->next = gone;
		gone = range;
	}
	pthread_mutex_unlock(&lock);
	while (gone) {
		struct range *next = gone->next;
		free(gone);
		gone = next;
	}
}

static void external_create(uint64_t base, uint64_t length)
{
	struct range *range = range_new(base, length, true);
	bool taken = false;
	pthread_mutex_lock(&lock);
	if (range && !any_overlaps(base, length)) {
		uint64_t at = raw_mmap(base, length, PROT_READ | PROT_WRITE);
		LOG("uvm external range %lx+%lx -> %lx", base, length, at);
		taken = at == base;
		if (taken)
			push(range);
	}
	pthread_mutex_unlock(&lock);
	if (!taken)
		free(range);
}

/* Returns the pages; the addresses stay reserved, as libcuda had them. */
static void external_free(uint64_t base)
{
	struct range **link, *range;
	pthread_mutex_lock(&lock);
	for (link = &ranges; (range = *link); link = &range->next) {
		if (!range->ours || range->base != base)
			continue;
		raw_mmap(range->base, range->length, PROT_NONE);
		*link = range->next;
		break;
	}
	pthread_mutex_unlock(&lock);
	free(range);
}

int uvm_ioctl(uint32_t number, void *params)
{
	struct {
		uint64_t base, length;
		uint32_t status;
	} *range = params;
	LOG("uvm %u (0x%x)", number, number);
	if (!params)
		return 0;
	log_hex("uvm", params, 40);
	switch (number) {
	case UVM_INITIALIZE: /* { u64 flags; u32 status } */ memset((uint8_t *)params + 8, 0, 4); break;
	case UVM_PAGEABLE_MEM_ACCESS: /* { u8 yes; u32 status }: the GPU sees no pageable memory */
		memset(params, 0, 8);
		break;
	case UVM_CREATE_EXTERNAL_RANGE: external_create(range->base, range->length); break;
	case UVM_FREE: external_free(range->base); break;
	default: break; /* done: the status came in as 0 */
	}
	return 0;
}
