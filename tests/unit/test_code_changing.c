/* Files whose bytes another process changes while they are read through a mapping: whatever the
 * reader makes of them, it reads nothing outside of the file, and returns nothing unchecked.
 *
 * The file is in pages that may not be read, so that each read is a signal, after which the
 * processor runs one instruction. So a word changes exactly between two of its reads, and each
 * such pair has its turn. */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ucontext.h>

#include "make_archive.h"

#include "cache/stamp.h"
#include "code/code_reader.h"
#include "code/container.h"
#include "code/kernel_names.h"
#include "code/ptx_text.h"
#include "code/search.h"
#include "code/zip_directory.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define STEPS_ONE_INSTRUCTION 1
#else
#define STEPS_ONE_INSTRUCTION 0
#endif

enum {
	PAGES = 1 << 14,
	WORD = 8,
	WIDEST = 64, /* the most bytes that one instruction reads */
	MAX_READS = 1 << 16,
	TRAP_FLAG = 0x100,
};
/* So much around the file may not be read, so that wrong 32-bit offsets do not hit other memory. */
#define AROUND ((size_t)5 << 30)

static struct {
	const char *name;
	uint8_t *pages, *start; /* the file ends where its pages end */
	size_t size;
	/* The addresses of all reads, if they are counted. */
	bool count;
	size_t reads, at[MAX_READS];
	/* The bytes that change before their read number `turn`, and the reads of them so far. An
	 * instruction may begin to read before the file. */
	size_t place, length, turn, touched;
	const char *from, *to;
	bool changed;
	size_t changes; /* of all reads of this file */
	struct sigaction before;
} watched;

static bool touches(size_t at)
{
	return at < watched.place + watched.length && at + WIDEST > watched.place;
}

static void protect(int access)
{
	if (mprotect(watched.pages, PAGES, access))
		_exit(1);
}

#if STEPS_ONE_INSTRUCTION
static void change(void)
{
	protect(PROT_READ | PROT_WRITE);
	if (!watched.from)
		memcpy(watched.pages + watched.place, watched.to, watched.length);
	for (size_t i = 0; watched.from && i + watched.length <= watched.size; i++)
		if (!memcmp(watched.start + i, watched.from, watched.length))
			memcpy(watched.start + i, watched.to, watched.length);
	watched.changed = true;
}

static void on_read(int number, siginfo_t *info, void *context)
{
	ucontext_t *registers = context;
	const uint8_t *address = info->si_addr;
	const size_t at = (size_t)(address - watched.pages);

	(void)number;
	/* This is a read outside of the file, or a mistake of the test. */
	if (watched.changed || address < watched.pages || address >= watched.pages + PAGES) {
		char line[256];
		const int length = snprintf(
			line, sizeof line,
			"%s: something outside is read after byte %zu changed before read %zu\n", watched.name,
			watched.place - (size_t)(watched.start - watched.pages), watched.turn);

		if (write(STDERR_FILENO, line, (size_t)length) != length)
			_exit(1);
		(void)sigaction(SIGSEGV, &watched.before, NULL);
		return;
	}
	if (watched.count && watched.reads < MAX_READS)
		watched.at[watched.reads++] = at;
	if (!watched.count && touches(at) && watched.touched++ == watched.turn) {
		change();
		return;
	}
	protect(PROT_READ);
	registers->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *registers = context;

	(void)number;
	(void)info;
	protect(PROT_NONE);
	registers->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void watch_signals(void)
{
	struct sigaction action = {.sa_sigaction = on_read, .sa_flags = SA_SIGINFO};

	(void)sigemptyset(&action.sa_mask);
	assert_int_equal(sigaction(SIGSEGV, &action, &watched.before), 0);
	action.sa_sigaction = on_step;
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
}
#else
static void watch_signals(void)
{
}
#endif

/* A file, its reader, and what changes in the file. */
struct changing {
	const char *name;
	void (*make)(struct buf *file);
	void (*read)(const struct os_map *map);
	size_t most_turns; /* of one place; 0: all */
	/* The bytes that change, wherever they are, and what they become; if there are none, each word
	 * becomes a large number, one after the other. */
	size_t length;
	const char *from, *to;
	bool back; /* they are `to` first, and become `from` */
};

static void replace(uint8_t *bytes, size_t size, size_t length, const char *from, const char *to)
{
	for (size_t i = 0; i + length <= size; i++)
		if (!memcmp(bytes + i, from, length))
			memcpy(bytes + i, to, length);
}

static void read_once(const struct changing *changing, const struct buf *file)
{
	const struct os_map map = {.data = watched.start, .size = watched.size};

	protect(PROT_READ | PROT_WRITE);
	memcpy(watched.start, file->data, file->size);
	watched.changed = false;
	watched.touched = 0;
	protect(PROT_NONE);
	changing->read(&map);
}

/* Changes the bytes at `place` before each of their reads. A change before the first one is just
 * another file. */
static void try_place(const struct changing *changing, const struct buf *file, size_t place)
{
	size_t turns = 0, step = 1;

	watched.place = (size_t)(watched.start - watched.pages) + place;
	for (size_t i = 0; i < watched.reads; i++)
		turns += touches(watched.at[i]);
	if (changing->most_turns && turns > changing->most_turns)
		step = turns / changing->most_turns;
	for (watched.turn = 1; watched.turn < turns; watched.turn += step) {
		read_once(changing, file);
		watched.changes += watched.changed;
	}
}

static void try_changes(const struct changing *changing)
{
	struct buf file = make_buf();

	changing->make(&file);
	assert_true(file.size >= WORD && file.size <= PAGES);
	watched.name = changing->name;
	watched.size = file.size;
	watched.start = watched.pages + PAGES - file.size;
	watched.length = changing->length ? changing->length : WORD;
	watched.from = changing->back ? changing->to : changing->from;
	watched.to = changing->back ? changing->from : changing->from ? changing->to : "@AAAAAAA";
	if (changing->back)
		replace(file.data, file.size, changing->length, changing->from, changing->to);
	watched.count = true;
	watched.reads = watched.changes = 0;
	read_once(changing, &file);
	assert_in_range(watched.reads, 1, MAX_READS - 1);
	watched.count = false;
	for (size_t at = 0; at + watched.length <= file.size; at += changing->length ? 1 : WORD)
		if (!changing->length || !memcmp(file.data + at, watched.from, watched.length))
			try_place(changing, &file, at);
	assert_true(watched.changes > 0);
	buf_free(&file);
}

/* ---- containers, libraries, texts */

static void make_fatbin(struct buf *file)
{
	struct buf second = make_buf();

	make_container(file, DEVCODE_LZ4, "-lineinfo");
	make_container(&second, DEVCODE_RAW, "");
	make_bytes(file, second.data + 16, second.size - 16);
	store_u64(file->data + 8, file->size - 16);
	buf_free(&second);
}

/* Makes a container with one cubin, which has options: its .nv.compat. */
static void make_cubins(struct buf *file)
{
	uint8_t cubin[64 + 3 * 64 + 16 + 24 * 2 + 8] = "\x7f"
												   "ELF\2\1\1\x41\x8";
	const size_t compat = 64 + 3 * 64, symbols = compat + 16, names = symbols + 48;
	static const uint8_t header[16];

	store_u16(cubin + 16, 2);
	store_u16(cubin + 18, 190);
	store_u32(cubin + 20, 1);
	store_u64(cubin + 40, 64);
	store_u32(cubin + 48, 100 << 8);
	store_u16(cubin + 58, 64);
	store_u16(cubin + 60, 3);
	store_u32(cubin + 64 + 4, 0x70000086);
	store_u64(cubin + 64 + 24, compat);
	store_u64(cubin + 64 + 32, 16);
	store_u32(cubin + 128 + 4, 2);
	store_u64(cubin + 128 + 24, symbols);
	store_u64(cubin + 128 + 32, 48);
	store_u32(cubin + 128 + 40, 2);
	store_u32(cubin + 192 + 4, 3);
	store_u64(cubin + 192 + 24, names);
	store_u64(cubin + 192 + 32, 8);
	memcpy(cubin + compat, "\2\x9\1\0\2\x8\0\0\2\x7\0\0\2\x6\0\0", 16);
	store_u32(cubin + symbols + 24, 1);
	cubin[symbols + 24 + 4] = 0x12;
	cubin[symbols + 24 + 5] = 0x10;
	memcpy(cubin + names, "\0kernel", 8);
	make_bytes(file, header, sizeof header);
	make_cubin_entry(file, (struct devcode_view){cubin, sizeof cubin}, 100);
	memcpy(file->data, "\x50\xed\x55\xba\1\0\x10", 8);
	store_u64(file->data + 8, file->size - 16);
}

static void make_cubin_file(struct buf *file)
{
	struct buf container = make_buf();

	make_cubins(&container);
	make_bytes(file, container.data + 16 + load_u32(container.data + 20),
			   container.size - 16 - load_u32(container.data + 20));
	buf_free(&container);
}

static void make_linked_library(struct buf *file)
{
	struct buf fatbin = make_buf();
	uint8_t wrapper[24], rela[24];

	make_empty_container(&fatbin);
	make_container(&fatbin, DEVCODE_RAW, "-g");
	store_u64(wrapper, WRAPPER_LINKED);
	store_u64(wrapper + 8, 0x1000);
	store_u64(wrapper + 16, 0);
	store_u64(rela, 0x5008);
	store_u64(rela + 8, 8);
	store_u64(rela + 16, 0x1000);
	{
		const struct make_section sections[] = {
			{".rela.dyn", rela, sizeof rela, 4, 2, 0x200},
			{".nv_fatbin", fatbin.data, fatbin.size, 1, 2, 0x1000},
			{".nvFatBinSegment", wrapper, sizeof wrapper, 1, 3, 0x5000},
			{"__nv_module_id", "def _a\0_a", 10, 1, 2, 0x6000},
		};

		make_elf(file, MAKE_ELF_X86_64, sections, 4);
	}
	buf_free(&fatbin);
}

/* The names of the libraries that it needs are its last bytes. */
static void make_needing(struct buf *file)
{
	struct buf library = make_buf();
	static const char names[] = "\0libcudart.so.12\0libx";
	const struct make_section sections[] = {
		{".nv_fatbin", "\x50\xed\x55\xba\1\0\x10\0\0\0\0\0\0\0\0\0", 16, 1, 2, 0x1000},
		{".dynstr", names, sizeof names, 3, 2, 0x2000},
	};

	make_elf(file, MAKE_ELF_X86_64, sections, 2);
	/* Its section header is the third. */
	store_u64(file->data + load_u64(file->data + 40) + 2 * 64 + 24, file->size);
	make_bytes(file, names, sizeof names);
	buf_free(&library);
}

static void make_windows(struct buf *file)
{
	enum { HEADERS = 0x40, OPTIONAL = 0xf0, SECTIONS = HEADERS + 24 + OPTIONAL };
	struct buf fatbin = make_buf();

	make_container(&fatbin, DEVCODE_RAW, "");
	make_zeros(file, SECTIONS + 40);
	make_pad(file, 16);
	memcpy(file->data, "MZ", 2);
	store_u32(file->data + 0x3c, HEADERS);
	memcpy(file->data + HEADERS, "PE", 2);
	store_u16(file->data + HEADERS + 4, 0x8664);
	store_u16(file->data + HEADERS + 6, 1);
	store_u16(file->data + HEADERS + 20, OPTIONAL);
	store_u16(file->data + HEADERS + 24, 0x20b);
	store_u64(file->data + HEADERS + 48, 0x10000);
	store_u32(file->data + HEADERS + 24 + 120, 0x1000); /* imports: its own first bytes */
	memcpy(file->data + SECTIONS, ".nv_fatb", 8);
	store_u32(file->data + SECTIONS + 12, 0x1000);
	store_u32(file->data + SECTIONS + 16, (uint32_t)fatbin.size);
	store_u32(file->data + SECTIONS + 20, (uint32_t)file->size);
	store_u32(file->data + SECTIONS + 36, 0x40);
	make_bytes(file, fatbin.data, fatbin.size);
	buf_free(&fatbin);
}

static void make_text(struct buf *file)
{
	make_bytes(file, MAKE_PTX, sizeof MAKE_PTX - 1);
}

static void make_program_with_text(struct buf *file)
{
	static const char text[] = "//\n.version 7.8\n.target sm_80a\n.address_size 64\n\"\\\"\" /**/ "
							   "\n.entry k(){ret;}\n";
	struct buf named = make_buf();
	const struct make_section section = {".rodata", text, sizeof text - 1, 1, 2, 0x1000};

	make_elf(&named, MAKE_ELF_X86_64, &section, 1);
	make_bytes(file, named.data, named.size);
	/* The text is at the file's end, without a NUL. */
	store_u64(file->data + load_u64(file->data + 40) + 64 + 24, file->size);
	make_bytes(file, text, sizeof text - 1);
	buf_free(&named);
}

static void read_container(const struct devcode_container *container)
{
	struct buf scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD);
	char names[KERNELS_TEXT] = "";

	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];
		struct devcode_ptx_header header;
		struct devcode_view view;

		assert_true(
			range_fits(entry->options_offset, entry->options_length, container->size_bytes));
		(void)devcode_ptx_header(NULL, container, entry, &header);
		if (devcode_payload(NULL, container, entry, &scratch, &view))
			continue;
		/* A payload stays as it is, wherever the container's bytes are. */
		assert_true(view.data + view.size <= watched.start ||
					view.data >= watched.start + watched.size);
	}
	kernels_add(names, container, &scratch);
	buf_free(&scratch);
}

static void read_leaf(const struct os_map *map, enum kind kind)
{
	struct stream stream;
	struct leaf leaf;
	struct code_found found = {0};
	enum code_step step;

	stream_of_memory(&stream, map->data, map->size, map);
	leaf_open(&leaf, (struct origin){.path = "file"}, kind, &stream);
	while ((step = leaf_next(why, &leaf, &found)) == CODE_CONTAINER)
		read_container(found.container);
	leaf_close(&leaf);
	stream_free(&stream);
}

static void read_fatbin(const struct os_map *map)
{
	read_leaf(map, KIND_FATBIN);
}

static void read_elf(const struct os_map *map)
{
	read_leaf(map, KIND_ELF);
}

static void read_pe(const struct os_map *map)
{
	read_leaf(map, KIND_PE);
}

static void read_cubin_file(const struct os_map *map)
{
	read_leaf(map, KIND_CUBIN);
}

static void read_ptx_file(const struct os_map *map)
{
	read_leaf(map, KIND_PTX);
}

static void make_open_string(struct buf *file)
{
	make_bytes(file, ".version \"", 10);
}

static void read_length(const struct os_map *map)
{
	size_t read;

	assert_int_equal(ptx_text_length(map->data, map->size, &read), 0);
}

/* ---- archives, drivers */

static void make_stored_wheel(struct buf *file)
{
	struct buf text = make_buf();

	make_bytes(&text, MAKE_PTX, 40);
	make_archive(file, false, "zip:compression=store", &(struct packed_file){"a/b.ptx", &text}, 1);
	buf_free(&text);
}

static void make_packed_wheel(struct buf *file)
{
	struct buf text = make_buf();

	make_bytes(&text, MAKE_PTX, 40);
	make_archive(file, false, "zip:compression=deflate", &(struct packed_file){"a/b.ptx", &text},
				 1);
	buf_free(&text);
}

static void read_zip(const struct os_map *map)
{
	struct zip_directory directory = {0};

	(void)zip_has_end(map);
	if (zip_directory_read(NULL, map, &directory))
		return;
	for (size_t i = 0; i < directory.count; i++) {
		const struct zip_member *member = &directory.members[i];
		struct buf content = {0};

		assert_true(zip_name_is_safe(member->name, strlen(member->name)));
		(void)zip_member_read(NULL, map, member, 1 << 20, &content);
		buf_free(&content);
	}
	zip_directory_free(&directory);
}

static void make_driver(struct buf *file)
{
	make_zeros(file, 64 + 56);
	memcpy(file->data,
		   "\x7f"
		   "ELF\2\1\1",
		   7);
	store_u64(file->data + 32, 64);
	store_u16(file->data + 54, 56);
	store_u16(file->data + 56, 1);
	store_u32(file->data + 64, 4);
	store_u64(file->data + 64 + 8, 64 + 56);
	store_u64(file->data + 64 + 32, 36);
	make_bytes(file, "\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0abcdefghijklmnopqrst", 36);
	make_bytes(file, ":48\0Jun 25 202401:14", 20);
}

static void read_driver(const struct os_map *map)
{
	char stamp[CACHE_STAMP_SIZE + 1], id[STAMP_BUILD_ID_SIZE];

	if (!stamp_find(NULL, map, stamp))
		assert_true(jw_stamp_is(stamp));
	assert_true(strlen(stamp_build_id(map->data, map->size, id)) < sizeof id);
}

/* Decoders of other libraries read a copy. */
TEST(a_copy_of_mapped_bytes_does_not_change)
{
	uint8_t bytes[] = "content";
	const struct os_map map = {.data = bytes, .size = sizeof bytes};
	struct stream stream;
	const uint8_t *data;
	size_t size;

	stream_of_memory(&stream, bytes, sizeof bytes, &map);
	OK(stream_skip(why, &stream, 3));
	OK(stream_peek_copy(why, &stream, 1, 4, &data, &size));
	bytes[3] = '!';
	assert_int_equal(size, 4);
	assert_memory_equal(data, "tent", 4);
	stream_free(&stream);
}

TEST(nothing_outside_of_a_changing_file_is_read)
{
	static const struct changing all[] = {
		{"a fat binary", make_fatbin, read_fatbin, .most_turns = 6},
		{"cubins", make_cubins, read_fatbin, .most_turns = 4},
		{"a cubin", make_cubin_file, read_cubin_file, .most_turns = 6},
		{"an ELF library", make_linked_library, read_elf, .most_turns = 2},
		{"the libraries that one needs", make_needing, read_elf, .length = 2, "x", "xA"},
		{"a PE library", make_windows, read_pe, .most_turns = 2},
		{"a PTX file", make_text, read_ptx_file, .most_turns = 4},
		{"PTX in a program", make_program_with_text, read_elf, .most_turns = 3},
		{"the end of a string", make_open_string, read_length, .length = 1, "\"", "/"},
		{"a wheel", make_stored_wheel, read_zip, .most_turns = 4},
		{"a wheel with another name", make_stored_wheel, read_zip, .length = 4, "a/b.", "/../"},
		{"a wheel with a bad name", make_stored_wheel, read_zip, .length = 4, "a/b.", "/../",
		 .back = true},
		{"a deflated wheel", make_packed_wheel, read_zip, .most_turns = 4},
		{"a driver", make_driver, read_driver, .most_turns = 0},
		{"a driver with a bad stamp", make_driver, read_driver, .length = 4, " 25 ", "\0AA ",
		 .back = true},
	};
	uint8_t *all_pages =
		mmap(NULL, 2 * AROUND, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!STEPS_ONE_INSTRUCTION)
		skip();
	assert_true(all_pages != MAP_FAILED);
	watched.pages = all_pages + AROUND;
	watch_signals();
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		try_changes(&all[i]);
	assert_int_equal(munmap(all_pages, 2 * AROUND), 0);
}

RUN_TESTS(NULL, NULL)
