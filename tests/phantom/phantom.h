/* The phantom: a GPU that exists for NVIDIA's user-space driver only. What its files share.
 *
 * Comments name where a fact comes from:
 *   OGK   NVIDIA open-gpu-kernel-modules 535.288.01 (MIT): ioctl numbers, structures, controls,
 * classes DOC   NVIDIA open-gpu-doc (MIT): methods of the host, compute and copy classes, fields of
 * a QMD SEEN  observed: what libcuda asked, and which answer let it go on
 *
 * Locks are taken in the order rm, uvm, engine, files; fork() takes all of them, so that a child
 * finds none held by a thread that it does not have. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum fork_moment { FORK_BEFORE, FORK_IN_PARENT, FORK_IN_CHILD };

/* ---- log.c: PHANTOM_LOG=FILE ("-" is stderr) logs one line for an event; PHANTOM_LOG_METHODS adds
 * each engine method. */
extern bool log_on, log_methods;
void log_open(void);
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Logs the first 96 words of `bytes`. */
void log_hex(const char *what, const void *bytes, size_t size);
#define LOG(...)                                                                                   \
	do {                                                                                           \
		if (log_on)                                                                                \
			log_line(__VA_ARGS__);                                                                 \
	} while (0)

/* ---- gpus.c: the contents of the emulated machine */
#define GPUS_MAX 8

struct gpu_model {
	const char *key; /* as written in PHANTOM_GPU */
	const char *name, *chip;
	uint32_t arch, impl, revision; /* NV2080_CTRL_CMD_MC_GET_ARCH_INFO */
	uint32_t sm_version;           /* 0xMMmm */
	uint16_t pci_device;
	uint32_t vram_mib, ram_type, bus_width_bits, l2_kib;
	uint32_t gpcs, tpcs; /* a TPC has two multiprocessors on all of them */
	uint32_t warps_per_sm, cores_per_sm, tensor_per_sm, rt_cores_per_sm;
	uint32_t copy_engines;
	uint32_t core_khz, memory_khz;
	const uint32_t *classes;
	uint32_t class_count;
};

struct gpu {
	const struct gpu_model *model;
	uint32_t index; /* device instance, and minor number of its device file */
	uint32_t bus;   /* PCI bus; domain, slot and function are 0 */
	uint32_t id;    /* the resource manager's gpuId */
	uint8_t uuid[16];
};

#define PCI_VENDOR_NVIDIA 0x10de

extern struct gpu gpus[GPUS_MAX];
extern uint32_t gpu_count;
/* Reads a comma list of keys ("sm_86,sm_89") into gpus. Returns false if it names an unknown GPU or
 * too many; *ret_bad then points at the name, of *ret_length characters. The GPUs before it are
 * kept. */
bool gpus_parse(const char *list, const char **ret_bad, size_t *ret_length);
struct gpu *gpu_by_id(uint32_t id);
uint32_t gpu_tpc_mask(const struct gpu *gpu, uint32_t gpc);

/* ---- module_files.c: the text files of the kernel module in /proc and /sys */

/* Returns the version of the loaded libcuda, which refuses a kernel module of any other version. */
const char *driver_version(void);
const char *module_version(void);
/* Returns the content of this file if the phantom answers for it, else NULL. */
const char *module_text(const char *path);
/* Returns a descriptor that reads this text, or -1 with errno. */
int module_text_open(const char *text);

/* ---- device_files.c: /dev/nvidiactl, /dev/nvidiaN, /dev/nvidia-uvm and their open descriptors */
enum file_kind { FILE_NONE, FILE_CONTROL, FILE_UVM };

/* Returns true for each name below /dev/nvidia, whether that device exists or not. */
bool device_path(const char *path);
bool device_exists(const char *path);
/* Returns a descriptor for the device, or -1 with errno. */
int device_open(const char *path);
void device_stat(const char *path, struct stat *ret_stat);

enum file_kind file_kind(int fd);
/* Notes that the process copied or closed descriptors. */
void file_copied(int from, int to);
void file_closed(unsigned first, unsigned last);
/* The next mapping of `fd` will map that memory object. */
void file_expect_mapping(int fd, uint32_t client, uint32_t memory, uint64_t offset);
void file_mapped(int fd, void *address, size_t length);
/* Makes `fd` one of the files that event_signal (the "interrupt") makes readable. */
void event_add(int fd);
void event_signal(void);

/* ---- rm.c: the resource manager (ioctls of nvidiactl and nvidiaN) */
int rm_ioctl(uint32_t number, void *params, uint32_t size);
void rm_note_mapping(uint32_t client, uint32_t memory, uint64_t offset, void *address);
void rm_fork(enum fork_moment moment);

/* ---- uvm.c: unified memory (ioctls of nvidia-uvm), and which addresses have pages behind them */
int uvm_ioctl(uint32_t number, void *params);
void uvm_note_mapping(void *address, size_t length);
void uvm_forget_mapping(void *address, size_t length);
void uvm_fork(enum fork_moment moment);

/* ---- engine.c: channels and the thread that works them off */
struct channel;
struct channel *channel_create(uint64_t gpfifo, uint32_t entries, uint64_t userd, uint32_t handle);
void channel_destroy(struct channel *channel);
void engine_fork(enum fork_moment moment);

static inline void fork_lock(pthread_mutex_t *lock, enum fork_moment moment)
{
	if (moment == FORK_BEFORE)
		pthread_mutex_lock(lock);
	else
		pthread_mutex_unlock(lock);
}
