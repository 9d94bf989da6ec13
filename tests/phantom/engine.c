/* The engine: one thread that polls the channels' GP_PUT, reads pushbuffers, and executes their
 * methods. It does what other parts of the driver wait for: semaphore releases, copies, fills and
 * inline writes. It executes no kernels.
 *
 * Format of a pushbuffer: DOC classes/host/clc76f.h. */
#include "engine.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CHANNELS_MAX 1024
#define IDLE_ROUNDS  400

static struct channel *channels[CHANNELS_MAX];
static uint32_t channel_count;
static bool running;
static pid_t self;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- memory. Addresses come from pushbuffers. The kernel does the access, so a bad address gives
 * an error instead of a crash. */

bool gpu_read(uint64_t from, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)from, size};
	return process_vm_readv(self, &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool gpu_write(uint64_t to, const void *from, size_t size)
{
	struct iovec here = {(void *)(uintptr_t)from, size}, there = {(void *)to, size};
	return process_vm_writev(self, &here, 1, &there, 1, 0) == (ssize_t)size;
}

void release(const char *who, uint64_t address, uint64_t payload, enum release_size size)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t words[2] = {payload, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec};
	bool ok = gpu_write(address, words, size);
	LOG("  release by %s: %lx = %lx, %u bytes%s", who, address, payload, size, ok ? "" : " FAILED");
}

/* ---- pushbuffers */

/* SEEN: libcuda binds no objects (SET_OBJECT 0); subchannel 1 is compute, 4 is copy. Inline writes
 * are the same methods in all the other classes. */
enum { COPY_SUBCHANNEL = 4 };

static void run_method(struct channel *channel, uint32_t subchannel, uint32_t method,
					   uint32_t value)
{
	uint32_t *methods = channel->methods[subchannel];
	if (log_methods)
		log_line("    method %u %04x = %x", subchannel, method, value);
	if (method < HOST_METHODS) {
		channel->host[method / 4] = value;
		host_method(channel, method, value);
	} else if (method < METHODS_END) {
		methods[method / 4] = value;
		if (subchannel == COPY_SUBCHANNEL)
			copy_method(methods, method, value);
		else
			compute_method(channel, methods, method, value);
	}
}

/* Runs one header with its data; returns the number of its data words. */
static uint32_t run_header(struct channel *channel, const uint32_t *words, uint32_t room)
{
	enum { INC_METHOD = 1, NON_INC_METHOD = 3, IMMD_DATA_METHOD = 4, ONE_INC = 5, END_SEGMENT = 7 };
	uint32_t head = *words++, operation = bits(head, 31, 29), count = bits(head, 28, 16);
	uint32_t subchannel = bits(head, 15, 13), method = bits(head, 11, 0) << 2;
	if (operation == IMMD_DATA_METHOD) {
		run_method(channel, subchannel, method, count);
		return 0;
	}
	if (operation == END_SEGMENT)
		return room;
	if (operation != INC_METHOD && operation != NON_INC_METHOD && operation != ONE_INC)
		return 0;
	if (count > room)
		count = room;
	if (operation == NON_INC_METHOD && method == LOAD_INLINE_DATA &&
		subchannel != COPY_SUBCHANNEL) {
		inline_data(channel, words, count); /* the whole code of a module arrives this way */
		return count;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t step = operation == INC_METHOD ? i : operation == ONE_INC && i ? 1 : 0;
		run_method(channel, subchannel, method + 4 * step, words[i]);
	}
	return count;
}

static void run_pushbuffer(struct channel *channel, uint64_t address, uint32_t count)
{
	uint32_t *words = malloc(4 * (size_t)count);
	if (words && gpu_read(address, words, 4 * (size_t)count)) {
		for (uint32_t i = 0; i < count;)
			i += 1 + run_header(channel, words + i, count - i - 1);
	} else {
		LOG("  cannot read pushbuffer %lx", address);
	}
	free(words);
}

/* Returns whether there was work. */
static bool run_channel(struct channel *channel, uint32_t put)
{
	enum { USERD_GP_GET = 0x88 }; /* Nvc56fControl, OGK class/clc56f.h */
	uint32_t entry[2];
	bool worked = false;
	if (put >= channel->entries)
		return false;
	while (channel->get != put &&
		   gpu_read(channel->gpfifo + 8ull * channel->get, entry, sizeof entry)) {
		uint64_t address = pair(bits(entry[1], 7, 0), entry[0] & ~3u);
		uint32_t count = bits(entry[1], 30, 10);
		LOG("channel %x entry %u: pushbuffer %lx, %u words", channel->handle, channel->get, address,
			count);
		if (count)
			run_pushbuffer(channel, address, count);
		channel->get = (channel->get + 1) % channel->entries;
		gpu_write(channel->userd + USERD_GP_GET, &channel->get, sizeof channel->get);
		worked = true;
	}
	return worked;
}

/* Reads the GP_PUT of every channel, in one call if all can be read, so that an idle round costs
 * little more than its pause. A channel that cannot be read counts as idle. */
static void read_puts(uint32_t *puts)
{
	enum { USERD_GP_PUT = 0x8c };
	static struct iovec there[CHANNELS_MAX];
	struct iovec here = {puts, channel_count * sizeof *puts};
	for (uint32_t i = 0; i < channel_count; i++)
		there[i] = (struct iovec){(void *)(channels[i]->userd + USERD_GP_PUT), sizeof *puts};
	if (process_vm_readv(self, &here, 1, there, channel_count, 0) == (ssize_t)here.iov_len)
		return;
	for (uint32_t i = 0; i < channel_count; i++)
		if (!gpu_read((uint64_t)(uintptr_t)there[i].iov_base, &puts[i], sizeof puts[i]))
			puts[i] = channels[i]->get;
}

static bool run_channels(void)
{
	static uint32_t puts[CHANNELS_MAX];
	bool worked = false;
	read_puts(puts);
	for (uint32_t i = 0; i < channel_count; i++)
		worked |= run_channel(channels[i], puts[i]);
	return worked;
}

/* ---- the thread */

/* After work, the engine polls at once for a moment, each 50 us for a millisecond, each 200 us for
 * four, each millisecond for a third of a second, and then each 5 ms. A wake-up costs some 20 us of
 * a core. A driver that compiles between two loads needs that core, and its first answer comes half
 * a millisecond later. */
static void pause_after(uint32_t idle_rounds)
{
	if (idle_rounds < 30)
		sched_yield();
	else
		usleep(idle_rounds < 40            ? 50
			   : idle_rounds < 56          ? 200
			   : idle_rounds < IDLE_ROUNDS ? 1000
										   : 5000);
}

static void *engine(void *unused)
{
	for (uint32_t idle = 0;;) {
		pthread_mutex_lock(&lock);
		bool worked = run_channels();
		pthread_mutex_unlock(&lock);
		idle = worked ? 0 : idle < IDLE_ROUNDS ? idle + 1 : idle;
		pause_after(idle);
	}
	return unused;
}

/* The engine blocks all signals: the program's own threads take them. */
static bool engine_start(void)
{
	sigset_t all, before;
	pthread_t thread;
	self = getpid();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = !pthread_create(&thread, NULL, engine, NULL) && !pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

/* fork() does not copy the thread. A child starts without channels, and starts the thread again
 * when it makes one. */
void engine_fork(enum fork_moment moment)
{
	if (moment == FORK_IN_CHILD) {
		channel_count = 0;
		running = false;
	}
	fork_lock(&lock, moment);
}

/* ---- channels */

struct channel *channel_create(uint64_t gpfifo, uint32_t entries, uint64_t userd, uint32_t handle)
{
	struct channel *channel = calloc(1, sizeof *channel);
	if (!channel)
		return NULL;
	channel->gpfifo = gpfifo;
	channel->entries = entries;
	channel->userd = userd;
	channel->handle = handle;
	pthread_mutex_lock(&lock);
	if (channel_count < CHANNELS_MAX)
		channels[channel_count++] = channel;
	if (!running)
		running = engine_start();
	pthread_mutex_unlock(&lock);
	return channel;
}

void channel_destroy(struct channel *channel)
{
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < channel_count; i++)
		if (channels[i] == channel) {
			channels[i] = channels[--channel_count];
			break;
		}
	pthread_mutex_unlock(&lock);
	free(channel);
}
