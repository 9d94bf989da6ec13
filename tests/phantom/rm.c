/* The resource manager: ioctls of /dev/nvidiactl and /dev/nvidiaN.
 *
 * Numbers and structures: OGK nv_escape.h, nv-ioctl-numbers.h, nv-ioctl.h, nvos.h, class/cl*.h. */
#include <string.h>

#include "controls.h"
#include "objects.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rm_fork(enum fork_moment moment)
{
	fork_lock(&lock, moment);
}

/* The process mapped a memory object: NV_ESC_RM_MAP_MEMORY, then mmap() of the same file. */
void rm_note_mapping(uint32_t client, uint32_t memory, uint64_t offset, void *address)
{
	pthread_mutex_lock(&lock);
	struct object *object = object_find(client, memory);
	if (!object)
		object = object_create(client, client, memory, 0);
	if (object)
		object->address = (uintptr_t)address - offset;
	pthread_mutex_unlock(&lock);
}

/* ---- allocation of objects */

enum {
	NV01_EVENT_OS_EVENT = 0x79,
	NV01_DEVICE_0 = 0x80,
	NV20_SUBDEVICE_0 = 0x2080,
	VOLTA_CHANNEL_GPFIFO_A = 0xc36f, /* this and each later one ends in 6f */
};

/* NV0080_ALLOC_PARAMETERS: deviceId first */
static uint32_t device_alloc(struct object *object, const void *params)
{
	uint32_t device = params ? *(const uint32_t *)params : 0;
	if (device >= gpu_count)
		return NV_ERR_INVALID_ARGUMENT;
	object->gpu = &gpus[device];
	return NV_OK;
}

/* NV0005_ALLOC_PARAMETERS: client, source, class, index, u64 file. Only completion events may ever
 * fire: NV2080_NOTIFIERS_GRAPHICS of a subdevice. Those of the compute object report exceptions
 * (SEEN: after a wake-up there libcuda calls RESET_CHANNEL and gives up, LAUNCH_FAILED). */
static void event_alloc(const struct object *object, const void *params)
{
	enum { NV2080_NOTIFIERS_GRAPHICS = 12 };
	const uint32_t *words = params;
	const struct object *source = object_find(object->client, object->parent);
	log_hex("event", params, 24);
	if (source && source->class == NV20_SUBDEVICE_0 &&
		(words[3] & 0xffff) == NV2080_NOTIFIERS_GRAPHICS)
		event_add((int)words[4]);
}

/* NV_CHANNEL_ALLOC_PARAMS (OGK alloc/alloc_channel.h); what is used is the same in 535, 550, 555 */
struct channel_params {
	uint32_t error_memory, buffer_memory;
	uint64_t gpfifo;
	uint32_t entries, flags, context_share, va_space;
	uint32_t userd_memory[8];
	uint64_t userd_offset[8];
	uint32_t engine;
};

static void channel_alloc(struct object *object, const void *params)
{
	const struct channel_params *channel = params;
	const struct object *memory = object_find(object->client, channel->userd_memory[0]);
	/* USERD follows the ring in the same memory; its mapping says the same, if known (SEEN). */
	uint64_t userd = channel->gpfifo + 8ull * channel->entries;
	if (memory && memory->address)
		userd = memory->address + channel->userd_offset[0];
	LOG("  gpfifo %lx, %u entries, userd %x+%lx = %lx", channel->gpfifo, channel->entries,
		channel->userd_memory[0], channel->userd_offset[0], userd);
	object->channel = channel_create(channel->gpfifo, channel->entries, userd, object->handle);
}

static bool is_channel(uint32_t class)
{
	return (class & 0xff) == 0x6f && class >= VOLTA_CHANNEL_GPFIFO_A;
}

/* A handle of 0 requests a new number; an object without a client is a client. */
static uint32_t object_alloc(uint32_t client, uint32_t parent, uint32_t *handle, uint32_t class,
							 void *params)
{
	static uint32_t next_client = 0xc1d00000, next_handle = 0xcaf00000;
	if (!*handle)
		*handle = client ? next_handle++ : next_client++;
	LOG("alloc client %x parent %x handle %x class %04x", client, parent, *handle, class);
	struct object *object = object_create(client ? client : *handle, parent, *handle, class);
	if (!object)
		return NV_ERR_INVALID_ARGUMENT;
	if (class == NV01_DEVICE_0)
		return device_alloc(object, params);
	if (class == NV01_EVENT_OS_EVENT && params)
		event_alloc(object, params);
	else if (is_channel(class) && params)
		channel_alloc(object, params);
	return NV_OK;
}

/* ---- ioctls */

/* nv_ioctl_card_info_t[] */
static void card_info(void *params, uint32_t size)
{
	struct {
		uint8_t valid;
		struct {
			uint32_t domain;
			uint8_t bus, slot, function;
			uint16_t vendor, device;
		} pci;
		uint32_t gpu_id;
		uint16_t interrupt;
		uint64_t registers, registers_size, memory, memory_size;
		uint32_t minor;
		uint8_t name[10];
	} *card = params;
	memset(params, 0, size);
	for (uint32_t i = 0; i < gpu_count && (i + 1) * sizeof *card <= size; i++) {
		card[i].valid = 1;
		card[i].pci.bus = (uint8_t)gpus[i].bus;
		card[i].pci.vendor = PCI_VENDOR_NVIDIA;
		card[i].pci.device = gpus[i].model->pci_device;
		card[i].gpu_id = gpus[i].id;
		card[i].registers = 0xf6000000 + ((uint64_t)i << 25);
		card[i].registers_size = 16 << 20;
		card[i].memory = 0x1000000000 * (i + 1ull);
		card[i].memory_size = 256 << 20;
		card[i].minor = i;
	}
}

/* NVOS02: client, parent, handle, class, flags, p64 address, u64 limit; status */
static void memory_alloc(void *params)
{
	const uint32_t *words = params;
	uint64_t address = *(uint64_t *)at(params, 24);
	struct object *object = object_create(words[0], words[1], words[2], words[3]);
	LOG("alloc memory %x class %x at %lx", words[2], words[3], address);
	if (object)
		object->address = address;
}

/* NVOS33: client, device, memory, u64 offset, length, p64 address; status, flags; then the file */
static void memory_map(void *params)
{
	const uint32_t *words = params;
	uint64_t offset = *(uint64_t *)at(params, 16), length = *(uint64_t *)at(params, 24);
	LOG("map memory %x offset %lx length %lx fd %d", words[2], offset, length, (int)words[12]);
	file_expect_mapping((int)words[12], words[0], words[2], offset);
}

static void locked_ioctl(uint32_t number, void *params, uint32_t size)
{
	enum {
		NV_ESC_RM_ALLOC_MEMORY = 0x27,
		NV_ESC_RM_FREE = 0x29,
		NV_ESC_RM_CONTROL = 0x2a,
		NV_ESC_RM_ALLOC = 0x2b,
		NV_ESC_RM_MAP_MEMORY = 0x4e,
		NV_ESC_CARD_INFO = 200,
		NV_ESC_ALLOC_OS_EVENT = 206,
		NV_ESC_FREE_OS_EVENT = 207,
		NV_ESC_CHECK_VERSION_STR = 210,
		NV_ESC_SYS_PARAMS = 214,
	};
	uint32_t *words = params;
	switch (number) {
	case NV_ESC_CARD_INFO: card_info(params, size); break;
	case NV_ESC_CHECK_VERSION_STR: /* { cmd, reply; version[64] }: known, where it is the module's
									*/
		words[1] = !strcmp(module_version(), driver_version());
		break;
	case NV_ESC_SYS_PARAMS: *(uint64_t *)params = 128 << 20; break; /* size of a memory block */
	case NV_ESC_ALLOC_OS_EVENT: /* { client, device, fd; status } */
	case NV_ESC_FREE_OS_EVENT: words[3] = NV_OK; break;
	case NV_ESC_RM_CONTROL: /* NVOS54: client, object, command, flags, p64 params, size; status */
		words[7] = control_run(object_find(words[0], words[1]), words[2], pointer_at(params, 16),
							   words[6]);
		break;
	case NV_ESC_RM_ALLOC: /* NVOS21 (32 bytes), NVOS64 (48): client, parent, handle, class, p64 */
		words[size >= 48 ? 10 : 7] =
			object_alloc(words[0], words[1], words + 2, words[3], pointer_at(params, 16));
		break;
	case NV_ESC_RM_FREE: /* NVOS00: client, parent, object; status */
		LOG("free %x %x", words[0], words[2]);
		object_free(words[0], words[2]);
		words[3] = NV_OK;
		break;
	case NV_ESC_RM_ALLOC_MEMORY: memory_alloc(params); break;
	case NV_ESC_RM_MAP_MEMORY: memory_map(params); break;
	default: /* NV_ESC_RM_VID_HEAP_CONTROL: its handles are chosen by the caller */
		LOG("ioctl %u (0x%x), %u bytes", number, number, size);
		log_hex("in", params, size);
	}
}

int rm_ioctl(uint32_t number, void *params, uint32_t size)
{
	pthread_mutex_lock(&lock);
	locked_ioctl(number, params, size);
	pthread_mutex_unlock(&lock);
	return 0;
}
