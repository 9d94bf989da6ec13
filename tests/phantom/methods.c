/* Methods of the channel and of the compute class. Semaphore acquires do not wait: the phantom
 * computes no results that could be read too early.
 *
 * Host: DOC classes/host (each class from VOLTA_CHANNEL_GPFIFO_A on). Compute: DOC
 * classes/compute/clc5c0.h ... clcbc0.h and their qmd.h. */
#include "engine.h"

void host_method(struct channel *channel, uint32_t method, uint32_t value)
{
	enum {
		SEMAPHOREA = 0x10,
		SEMAPHOREB = 0x14,
		SEMAPHOREC = 0x18,
		SEMAPHORED = 0x1c,
		NON_STALL_INTERRUPT = 0x20,
		SEM_ADDR_LO = 0x5c,
		SEM_ADDR_HI = 0x60,
		SEM_PAYLOAD_LO = 0x64,
		SEM_PAYLOAD_HI = 0x68,
		SEM_EXECUTE = 0x6c
	};
	const uint32_t *m = channel->host;
	switch (method) {
	case SEMAPHORED: /* OPERATION 4:0, 2 = release; RELEASE_SIZE 24 */
		if (bits(value, 4, 0) == 2)
			release("host", pair(m[SEMAPHOREA / 4], m[SEMAPHOREB / 4]), m[SEMAPHOREC / 4],
					bits(value, 24, 24) ? ONE_WORD : FOUR_WORDS);
		break;
	case SEM_EXECUTE: /* OPERATION 2:0, 1 = release; PAYLOAD_SIZE 24, RELEASE_TIMESTAMP 25 */
		if (bits(value, 2, 0) == 1)
			release("host", pair(m[SEM_ADDR_HI / 4], m[SEM_ADDR_LO / 4]),
					pair(m[SEM_PAYLOAD_HI / 4], m[SEM_PAYLOAD_LO / 4]),
					bits(value, 25, 25)   ? FOUR_WORDS
					: bits(value, 24, 24) ? TWO_WORDS
										  : ONE_WORD);
		break;
	case NON_STALL_INTERRUPT: event_signal(); break;
	default: break;
	}
}

/* ---- launches: a QMD describes one. The phantom only writes the semaphores that the hardware
 * writes when the grid has finished. Bits are counted as in DOC ("MW(high:low)"); layout 2.x:
 * Turing, GA100; 3.0: GA10x, Ada; 4.0: Hopper. */

enum { QMD_WORDS = 64, QMD_MINOR = 576, QMD_MAJOR = 580 };

struct qmd_release {
	uint32_t version;
	uint32_t enable;
	uint32_t size, size_bits; /* STRUCTURE_SIZE and its width */
	uint32_t wide;            /* PAYLOAD64B; 0 if the layout has none */
	uint32_t address, payload;
};

static const struct qmd_release qmd_releases[] = {
	{2, 138, 799, 1, 0, 736, 800},        {2, 139, 895, 1, 0, 832, 896},
	{3, 823, 830, 2, 829, 768, 832},      {3, 951, 958, 2, 957, 896, 960},
	{3, 1719, 1726, 2, 1725, 1664, 1728}, {4, 320, 321, 2, 332, 640, 704},
	{4, 336, 337, 2, 348, 768, 832},      {4, 352, 353, 2, 364, 896, 960},
};

static uint32_t qmd_bits(const uint32_t *qmd, uint32_t first, uint32_t width)
{
	return bits(qmd[first / 32], first % 32 + width - 1, first % 32);
}

static void qmd_release(const uint32_t *qmd, const struct qmd_release *r)
{
	static const enum release_size sizes[] = {FOUR_WORDS, ONE_WORD, TWO_WORDS, ONE_WORD};
	const uint32_t *address = qmd + r->address / 32, *payload = qmd + r->payload / 32;
	bool wide = r->wide && qmd_bits(qmd, r->wide, 1);
	release("QMD", pair(bits(address[1], r->version == 4 ? 24 : 7, 0), address[0]),
			pair(wide ? payload[1] : 0, payload[0]), sizes[qmd_bits(qmd, r->size, r->size_bits)]);
}

static void launch(const uint32_t *qmd)
{
	uint32_t version = qmd_bits(qmd, QMD_MAJOR, 4);
	LOG("  launch, QMD version %u.%u", version, qmd_bits(qmd, QMD_MINOR, 4));
	for (size_t i = 0; i < COUNT(qmd_releases); i++)
		if (qmd_releases[i].version == version && qmd_bits(qmd, qmd_releases[i].enable, 1))
			qmd_release(qmd, &qmd_releases[i]);
	event_signal();
}

/* The QMD is in memory, aligned to 256 bytes. */
static void launch_from(uint64_t address)
{
	uint32_t qmd[QMD_WORDS];
	if (gpu_read(address, qmd, sizeof qmd))
		launch(qmd);
}

/* ---- the compute class */

enum {
	SEM_PAYLOAD_LO = 0x158,
	SEM_PAYLOAD_HI = 0x15c,
	SEM_ADDR_LO = 0x160,
	SEM_ADDR_HI = 0x164,
	SEM_EXECUTE = 0x168,
	LINE_LENGTH_IN = 0x180,
	LINE_COUNT = 0x184,
	OFFSET_OUT_UPPER = 0x188,
	OFFSET_OUT = 0x18c,
	LAUNCH_DMA = 0x1b0,
	SEND_PCAS_A = 0x2b4,
	INLINE_QMD = 0x320,
	INLINE_QMD_LAST = INLINE_QMD + (QMD_WORDS - 1) * 4,
	REPORT_A = 0x1b00,
	REPORT_B = 0x1b04,
	REPORT_C = 0x1b08,
	REPORT_D = 0x1b0c
};

void inline_data(struct channel *channel, const uint32_t *values, uint32_t count)
{
	uint64_t most = 4 * (uint64_t)count;
	uint64_t size = channel->inline_left < most ? channel->inline_left : most;
	if (!size)
		return;
	gpu_write(channel->inline_to, values, size);
	channel->inline_to += size;
	channel->inline_left -= size;
}

/* OPERATION 1:0, 0 = release; AWAKEN_ENABLE 20; STRUCTURE_SIZE 28 */
static void report(const uint32_t *m, uint32_t value)
{
	if (bits(value, 1, 0) == 0)
		release("compute", pair(m[REPORT_A / 4], m[REPORT_B / 4]), m[REPORT_C / 4],
				bits(value, 28, 28) ? ONE_WORD : FOUR_WORDS);
	if (bits(value, 20, 20))
		event_signal();
}

/* Hopper's: OPERATION 1:0, 0 = release; AWAKEN 2; STRUCTURE_SIZE 4:3; PAYLOAD_SIZE64 12 */
static void semaphore(const uint32_t *m, uint32_t value)
{
	static const enum release_size sizes[] = {FOUR_WORDS, ONE_WORD, TWO_WORDS, TWO_WORDS};
	uint32_t high = bits(value, 12, 12) ? m[SEM_PAYLOAD_HI / 4] : 0;
	if (bits(value, 1, 0) == 0)
		release("compute", pair(m[SEM_ADDR_HI / 4], m[SEM_ADDR_LO / 4]),
				pair(high, m[SEM_PAYLOAD_LO / 4]), sizes[bits(value, 4, 3)]);
	if (bits(value, 2, 2))
		event_signal();
}

void compute_method(struct channel *channel, const uint32_t *m, uint32_t method, uint32_t value)
{
	switch (method) {
	case LAUNCH_DMA:
		channel->inline_to = pair(m[OFFSET_OUT_UPPER / 4], m[OFFSET_OUT / 4]);
		channel->inline_left = (uint64_t)m[LINE_LENGTH_IN / 4] * m[LINE_COUNT / 4];
		break;
	case LOAD_INLINE_DATA: inline_data(channel, &value, 1); break;
	case REPORT_D: report(m, value); break;
	case SEM_EXECUTE: semaphore(m, value); break;
	case INLINE_QMD_LAST: launch(m + INLINE_QMD / 4); break; /* the last word completes it */
	case SEND_PCAS_A: launch_from((uint64_t)value << 8); break;
	default: break;
	}
}
