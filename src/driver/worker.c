/* The worker process: reads jobs on stdin, has the driver compile them, answers. See protocol.h.
 * NVIDIA's driver compiles a module as it would for the application: it loads the container's
 * original bytes with log options only, so that the driver writes the entry of the CUDA runtime
 * (measured on 535, 550, 555; docs/internals/driver-cache.md). */

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <jitwarm/worker.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/key.h"
#include "code/container.h"
#include "code/cuda.h"
#include "code/devcode.h"
#include "code/image.h"
#include "driver/cuda_errors.h"
#include "driver/protocol.h"
#include "driver/ptxas.h"
#include "driver/task.h"
#include "os/clock.h"
#include "os/console.h"
#include "os/env.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/library.h"
#include "os/platform.h"
#include "os/process.h"

enum { DRIVER_MAX_DEVICES = 64, DRIVER_LOG_BYTES = 16 << 10, MAX_OPTION = 100 };

struct driver {
	struct cuda cuda;
	void *contexts[DRIVER_MAX_DEVICES]; /* the primary context of each used device */
};

struct driver_outcome {
	int result;      /* CUresult */
	bool sticky;     /* the context is unusable, so this process cannot continue */
	bool no_context; /* no context: `result` is the reason (full, exclusive to another process); 0
						if less than spare_bytes was free */
	uint64_t free_bytes; /* if no context: the free memory of the device */
	double cpu_ms; /* processor time of the compile alone, since a device's first job also makes its
					  context */
	char log[DRIVER_LOG_BYTES]; /* the compiler's messages, or "" */
};

struct driver_input {
	int device;
	uint64_t spare_bytes; /* GPU memory that must be free beside a context made for this job; 0 for
							 any */
	enum cache_key_form form;
	void *image; /* a container, or PTX text that ends in a NUL; for linking, containers one after
					the other */
	size_t size;
	/* If not NULL, links all containers, in their order and without options, as the CUDA runtime
	 * does at a start (docs/internals/driver-cache.md, "Link-time"), and appends the linked machine
	 * code; `form` is ignored. */
	struct buf *linked;
};

/* Makes the device's context the current one. On failure outcome->result is the reason. */
static void use_device(struct driver *driver, int ordinal, uint64_t spare_bytes,
					   struct driver_outcome *outcome)
{
	const struct cuda *cuda = &driver->cuda;
	const bool is_new = !driver->contexts[ordinal];
	size_t free_bytes, total_bytes;
	void *context = NULL;
	int device;

	if (is_new) {
		outcome->result = cuda->cuDeviceGet(&device, ordinal);
		if (!outcome->result)
			outcome->result = cuda->cuDevicePrimaryCtxRetain(&context, device);
		if (!outcome->result)
			driver->contexts[ordinal] = context;
	}
	if (!outcome->result)
		outcome->result = cuda->cuCtxSetCurrent(driver->contexts[ordinal]);
	outcome->no_context = outcome->result != CUDA_SUCCESS;
	if (outcome->no_context || !is_new || !spare_bytes || !cuda->cuMemGetInfo_v2 ||
		cuda->cuMemGetInfo_v2(&free_bytes, &total_bytes))
		return;
	outcome->free_bytes = free_bytes;
	outcome->no_context = free_bytes < spare_bytes;
}

/* The log buffers, and the options that pass them. */
struct logs {
	char info[DRIVER_LOG_BYTES], errors[DRIVER_LOG_BYTES];
	int options[4];
	void *values[4];
};

static void logs_prepare(struct logs *logs)
{
	static const int options[4] = {CUDA_JIT_INFO_LOG_BUFFER, CUDA_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
								   CUDA_JIT_ERROR_LOG_BUFFER, CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};

	memset(logs->info, 0, sizeof logs->info);
	memset(logs->errors, 0, sizeof logs->errors);
	memcpy(logs->options, options, sizeof options);
	/* The driver takes the size as the value of the pointer itself. */
	logs->values[0] = logs->info;
	logs->values[1] = (void *)(uintptr_t)sizeof logs->info; /* NOLINT(performance-no-int-to-ptr) */
	logs->values[2] = logs->errors;
	logs->values[3] =
		(void *)(uintptr_t)sizeof logs->errors; /* NOLINT(performance-no-int-to-ptr) */
}

/* Loads the module and unloads it. For CACHE_KEY_LINK the module is compiled when it is added to a
 * link, which is never completed, since its result is not cached (measured). Returns a CUresult. */
static int compile_module(const struct cuda *cuda, const struct driver_input *input,
						  struct logs *logs)
{
	void *made = NULL;
	int result;

	if (input->form == CACHE_KEY_LINK) {
		result = cuda->cuLinkCreate_v2(4, logs->options, logs->values, &made);
		if (!result) {
			result = cuda->cuLinkAddData_v2(made, CUDA_JIT_INPUT_FATBINARY, input->image,
											input->size, "jitwarm", 0, NULL, NULL);
			(void)cuda->cuLinkDestroy(made);
		}
		return result;
	}
	result = cuda->cuModuleLoadDataEx(&made, input->image, 4, logs->options, logs->values);
	if (!result)
		(void)cuda->cuModuleUnload(made);
	return result;
}

/* Links the containers. The linked code belongs to the link and is copied before the link is
 * destroyed. -1 if it is too large. */
static int link_containers(struct jw_error *err, const struct cuda *cuda,
						   const struct driver_input *input, struct logs *logs, int *ret_result)
{
	uint8_t *image = input->image;
	void *state = NULL, *linked = NULL;
	size_t linked_bytes = 0;
	int called = cuda->cuLinkCreate_v2(4, logs->options, logs->values, &state), result = 0;

	if (called) {
		*ret_result = called;
		return 0;
	}
	for (size_t at = 0; !called && at < input->size;) {
		struct container_walk walk = {0};

		if (container_check(&walk, image + at, input->size - at, input->size - at) !=
			CONTAINER_SOUND) {
			called = CUDA_ERROR_INVALID_IMAGE;
			break;
		}
		called = cuda->cuLinkAddData_v2(state, CUDA_JIT_INPUT_FATBINARY, image + at,
										(size_t)walk.size_bytes, "jitwarm", 0, NULL, NULL);
		at += (size_t)walk.size_bytes;
	}
	if (!called)
		called = cuda->cuLinkComplete(state, &linked, &linked_bytes);
	if (!called)
		result = buf_append(err, input->linked, linked, linked_bytes);
	(void)cuda->cuLinkDestroy(state);
	*ret_result = called;
	return result;
}

/* Loads one module (for CACHE_KEY_LINK, adds it to a link) and unloads it; or links. -1 if it was
 * not tried, or the linked code is too large; *ret_outcome has the driver's result. */
static int driver_compile(struct jw_error *err, struct driver *driver,
						  const struct driver_input *input, struct driver_outcome *ret_outcome)
{
	/* A worker has one thread; 32 KiB of stack would be too much on Windows. */
	static struct logs logs;
	const struct cuda *cuda = &driver->cuda;
	const bool links = input->form == CACHE_KEY_LINK || input->linked;
	uint64_t used_ns;
	int result = 0;

	if (input->device < 0 || input->device >= DRIVER_MAX_DEVICES)
		return error_set(err, JW_ERR_USAGE, "no device %d", input->device);
	if (links && (!cuda->cuLinkCreate_v2 || !cuda->cuLinkAddData_v2 || !cuda->cuLinkDestroy ||
				  (input->linked && !cuda->cuLinkComplete)))
		return error_set(
			err, JW_ERR_DRIVER,
			"the driver is too old, because it lacks cuLinkAddData: upgrade the driver");
	memset(ret_outcome, 0, sizeof *ret_outcome);
	use_device(driver, input->device, input->spare_bytes, ret_outcome);
	if (ret_outcome->no_context)
		return 0;
	logs_prepare(&logs);
	used_ns = os_cpu_ns();
	if (input->linked)
		result = link_containers(err, cuda, input, &logs, &ret_outcome->result);
	else
		ret_outcome->result = compile_module(cuda, input, &logs);
	ret_outcome->cpu_ms = (double)(os_cpu_ns() - used_ns) / 1e6;
	memcpy(ret_outcome->log, logs.errors[0] ? logs.errors : logs.info, sizeof ret_outcome->log);
	ret_outcome->log[sizeof ret_outcome->log - 1] = '\0';
	ret_outcome->sticky = ret_outcome->result && cuda->cuCtxSynchronize() != CUDA_SUCCESS;
	return result;
}

enum { STDIN = 0 };

/* The freed memory that is kept: a compile allocates 25 MiB or more (plan/estimate.h) and frees it,
 * again and again. */
static const uint64_t KEEP_BYTES = UINT64_C(64) << 20;
/* A few bytes of PTX make ptxas write gigabytes; the machine code of large libraries has less. */
static const uint64_t MOST_FILE_BYTES = UINT64_C(1) << 30;

struct worker {
	int out; /* where answers go; the driver cannot write to the real stdout */
	struct driver driver;
	struct task task; /* another compiler; {0} for the driver's own */
	struct buf in;    /* bytes that were read and not yet processed */
	struct buf line;  /* the answer under construction */
	struct buf image;
};

static int send_line(struct jw_error *err, struct worker *worker)
{
	int result = os_fd_write(err, worker->out, worker->line.data, worker->line.size);

	buf_clear(&worker->line);
	return result;
}

static int describe_device(const struct cuda *cuda, int ordinal, struct protocol_device *ret_device)
{
	struct protocol_device d = {.ordinal = ordinal};
	uint8_t uuid[16];
	size_t memory = 0, used;
	int device, major, minor, result;

	if ((result = cuda->cuDeviceGet(&device, ordinal)) ||
		(result = cuda->cuDeviceGetAttribute(&major, CUDA_ATTRIBUTE_CAPABILITY_MAJOR, device)) ||
		(result = cuda->cuDeviceGetAttribute(&minor, CUDA_ATTRIBUTE_CAPABILITY_MINOR, device)))
		return result;
	d.target.sm = (uint16_t)(major * 10 + minor);
	(void)cuda->cuDeviceGetName(d.name, sizeof d.name, device);
	(void)cuda->cuDeviceGetPCIBusId(d.bus, sizeof d.bus, device);
	(void)cuda->cuDeviceGetAttribute(&d.compute_mode, CUDA_ATTRIBUTE_COMPUTE_MODE, device);
	for (char *c = d.bus; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (!cuda->cuDeviceTotalMem_v2(&memory, device))
		d.memory_bytes = memory;
	/* For a slice (MIG) the second version returns the slice's own id, the first version that of
	 * the whole GPU. Source: CUDA Driver API, cuDeviceGetUuid_v2. */
	if (cuda->cuDeviceGetUuid_v2)
		result = cuda->cuDeviceGetUuid_v2(uuid, device);
	else
		result = cuda->cuDeviceGetUuid ? cuda->cuDeviceGetUuid(uuid, device) : -1;
	if (!result) {
		used = (size_t)snprintf(d.uuid, sizeof d.uuid, "%s",
								strstr(d.name, " MIG ") ? "MIG-" : "GPU-");
		for (size_t i = 0; i < 16; i++)
			used +=
				(size_t)snprintf(d.uuid + used, sizeof d.uuid - used,
								 i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
	}
	*ret_device = d;
	return 0;
}

/* Describes the driver and its GPUs. The hello also has a failure, which the supervisor reports. */
static void driver_greet(struct worker *worker, struct protocol_hello *hello)
{
	struct cuda *cuda = &worker->driver.cuda;
	const struct cuda_error *known;
	struct jw_error why = {0};
	char *path = NULL;
	int count = 0, version = 0;

	memset(hello, 0, sizeof *hello);
	hello->result = -1;
	if (cuda_open(&why, cuda)) {
		TEXT_COPY(hello->error, why.message);
		return;
	}
	if (!os_library_path(NULL, cuda->library, "cuInit", &path))
		TEXT_COPY(hello->library, path);
	mem_free(path);
	if (!cuda->cuDriverGetVersion(&version))
		hello->cuda = (uint32_t)version;
	hello->result = cuda->cuInit(0);
	if (!hello->result)
		hello->result = cuda->cuDeviceGetCount(&count);
	for (int i = 0; !hello->result && i < count && i < PROTOCOL_MAX_DEVICES; i++) {
		hello->result = describe_device(cuda, i, &hello->devices[i]);
		hello->device_count += !hello->result;
	}
	if (!hello->result)
		return;
	known = cuda_error_of(hello->result);
	if (known)
		(void)text_format(hello->error, sizeof hello->error, "%s (%s)",
						  cuda_error_name(cuda, hello->result), known->cause);
	else
		TEXT_COPY(hello->error, cuda_error_name(cuda, hello->result));
}

/* Reads the bytes of a job's container, followed by a NUL. */
static int read_job_image(struct jw_error *err, struct worker *worker,
						  const struct protocol_job *job)
{
	struct os_file *file;
	size_t got = 0, size = (size_t)job->size_bytes;
	int result = -1;

	if (os_file_open(err, job->path, OS_OPEN_READ, &file))
		return -1;
	buf_clear(&worker->image);
	if (buf_reserve(err, &worker->image, size) ||
		os_file_read(err, file, job->offset, worker->image.data, size, &got))
		goto done;
	if (got != size) {
		error_set(err, JW_ERR_FORMAT, "%s: ends within a module", job->path);
		goto done;
	}
	worker->image.size = got;
	worker->image.data[got] = 0;
	result = 0;
done:
	os_file_close(file);
	return result;
}

/* Returns whether the driver may read the bytes as a fat binary, or as the wrapper that points to
 * one: the file may have changed since its containers were found. */
static bool is_container(const uint8_t *bytes, size_t size)
{
	const uint32_t magic = size < sizeof magic ? 0 : load_u32(bytes);

	return magic == (uint32_t)container_start() || magic == WRAPPER_MAGIC;
}

/* Refuses a module that makes its compiler read or write files: the driver takes the options of
 * each entry of a container like ptxas (measured: -optf, --compiler-stats-file), also those of an
 * entry that jitwarm would not choose. An image is one container or several, or has no options. */
static int check_options(struct jw_error *err, const struct buf *image)
{
	struct buf options = BUF_MAX(CONTAINER_MAX_ENTRY_HEADER + 1);
	int result = 0;

	for (size_t at = 0; !result && is_container(image->data + at, image->size - at);) {
		const uint8_t *bytes = image->data + at;
		struct container_walk walk = {0};
		struct devcode_entry *entries;

		if (container_check(&walk, bytes, image->size - at, image->size - at) != CONTAINER_SOUND)
			return error_set(err, JW_ERR_FORMAT, "not a sound container");
		entries = mem_array(walk.entries, sizeof *entries);
		container_entries(bytes, walk.size_bytes, 0, entries, walk.entries);
		for (size_t i = 0; !result && i < walk.entries; i++) {
			const char *with_file;
			size_t length = 0;

			buf_clear(&options);
			result = entries[i].options_lost
						 ? error_set(err, JW_ERR_FORMAT, "the module's options are damaged")
						 : buf_append(err, &options, bytes + entries[i].options_offset,
									  entries[i].options_length);
			with_file = result ? NULL : ptxas_option_with_file(buf_text(&options), &length);
			if (with_file)
				result =
					error_set(err, JW_ERR_UNSUPPORTED, "the module's options may name files: %.*s",
							  (int)(length < MAX_OPTION ? length : MAX_OPTION), with_file);
		}
		mem_free(entries);
		at += (size_t)walk.size_bytes;
	}
	buf_free(&options);
	return result;
}

static void compile_job(struct worker *worker, const struct protocol_job *job,
						struct protocol_answer *answer)
{
	static struct driver_outcome outcome;
	struct buf linked = BUF_MAX(DEVCODE_MAX_PAYLOAD);
	const struct driver_input input = {.device = job->device,
									   .spare_bytes = job->spare_bytes,
									   .form = job->form,
									   .image = worker->image.data,
									   .size = worker->image.size,
									   .linked = job->output[0] ? &linked : NULL};
	struct jw_error why = {0};
	int result = driver_compile(&why, &worker->driver, &input, &outcome);

	if (!result && linked.size)
		result = os_write_atomic(&why, job->output, linked.data, linked.size);
	buf_free(&linked);
	if (result) {
		TEXT_COPY(answer->error, why.message);
		return;
	}
	answer->result = outcome.result;
	answer->sticky = outcome.sticky;
	answer->no_context = outcome.no_context;
	answer->cpu_ms = outcome.cpu_ms;
	if (outcome.no_context && !outcome.result)
		(void)text_format(answer->error, sizeof answer->error, "%s of the GPU's memory are left",
						  text_bytes((char[TEXT_SHORT]){0}, outcome.free_bytes));
	else if (outcome.result)
		(void)snprintf(answer->error, sizeof answer->error, "%s",
					   cuda_error_name(&worker->driver.cuda, outcome.result));
	memcpy(answer->log, outcome.log, sizeof answer->log);
}

static void do_job(struct worker *worker, const struct protocol_job *job,
				   struct protocol_answer *answer)
{
	struct jw_error why = {0};
	uint64_t start = os_monotonic_ns(), peak_bytes;

	memset(answer, 0, sizeof *answer);
	answer->id = job->id;
	answer->result = -1;
	if (read_job_image(&why, worker, job) || check_options(&why, &worker->image))
		TEXT_COPY(answer->error, why.message);
	else if (worker->task.work)
		worker->task.work(worker->task.state, job, &worker->image, answer);
	else
		compile_job(worker, job, answer);
	answer->wall_ms = (double)(os_monotonic_ns() - start) / 1e6;
	peak_bytes = os_peak_resident_bytes();
	if (peak_bytes > answer->peak_bytes)
		answer->peak_bytes = peak_bytes;
}

static int serve(struct jw_error *err, struct worker *worker)
{
	static struct protocol_answer answer;
	static struct protocol_job job;
	struct buf *in = &worker->in;
	uint8_t fresh[4096];
	size_t got;

	while (!os_fd_read_some(NULL, STDIN, fresh, sizeof fresh, &got) && got) {
		const uint8_t *end;
		size_t used = 0;

		if (buf_append(NULL, in, fresh, got))
			return 0;
		while ((end = memchr(in->data + used, '\n', in->size - used))) {
			const char *line = (const char *)in->data + used;

			if (protocol_get_job(err, line, (size_t)(end - in->data) - used, &job))
				return -1;
			used = (size_t)(end - in->data) + 1;
			do_job(worker, &job, &answer);
			if (protocol_put_answer(err, &worker->line, &answer) || send_line(err, worker))
				return -1;
			if (answer.sticky || answer.no_context)
				return 0;
		}
		memmove(in->data, in->data + used, in->size - used);
		in->size -= used;
	}
	return 0;
}

static bool is_in_background(void)
{
	char *value = os_env(WORKER_BACKGROUND);
	const bool is = value && !strcmp(value, "1");

	mem_free(value);
	return is;
}

int jw_worker_main(void)
{
	static struct protocol_hello hello;
	struct worker worker = {
		.in = BUF_MAX(PROTOCOL_MAX_LINE),
		.line = BUF_MAX(PROTOCOL_MAX_LINE),
		.image = BUF_MAX(INT32_MAX),
	};
	struct jw_error err = {0};
	int status = 3;

	os_die_with_parent();
	os_ignore_interrupts();
	os_crash_quietly();
	os_guard_new_files();
	os_prefer_for_oom_kill();
	os_keep_memory(KEEP_BYTES);
	if (is_in_background())
		os_work_in_background();
	if (os_take_stdout(&err, &worker.out))
		goto done;
	if (task_open(&err, &worker.task))
		goto done;
	if (worker.task.greet)
		worker.task.greet(worker.task.state, &hello);
	else
		driver_greet(&worker, &hello);
	if (protocol_put_hello(&err, &worker.line, &hello) || send_line(&err, &worker))
		goto done;
	if (worker.task.greet) /* not the driver, whose other files are not known */
		os_limit_file_size(MOST_FILE_BYTES);
	if (hello.result || !serve(&err, &worker))
		status = hello.result ? 2 : 0;
done:
	if (err.code)
		(void)fprintf(stderr, "jitwarm worker: %s\n", err.message);
	if (worker.task.close)
		worker.task.close(worker.task.state);
	buf_free(&worker.in);
	buf_free(&worker.line);
	buf_free(&worker.image);
	return status;
}
