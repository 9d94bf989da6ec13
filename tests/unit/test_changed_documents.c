/* Every document and file that is read and checked, with one change at a time: each value of JSON,
 * each byte of others. Sums and signatures around it are made right again, so that the inner check
 * is reached. The outcome of each change is compared with tests/data/changed/NAME, as a whole: a
 * missing check changes it.
 *
 * $CHANGED_RECORD: writes these files anew; $CHANGED: only the one of this name. */
#include <string.h>

#include <sodium.h>

#include "cache/index.h"
#include "cache/profile.h"
#include "cache/verified.h"
#include "changed.h"
#include "driver/known_gpus.h"
#include "driver/protocol.h"
#include "entries.h"
#include "os/platform.h"
#include "pack/ledger.h"
#include "pack/trust.h"
#include "packs.h"
#include "prime/recording.h"

/* ---- the documents */

static void put(struct buf *facts, const void *data, size_t size)
{
	OK(buf_append(why, facts, data, size));
}

static int reads_manifest(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	struct pack_manifest manifest;

	if (manifest_parse(err, data, size, &manifest))
		return -1;
	OK(manifest_format(why, &manifest, facts));
	manifest_free(&manifest);
	return 0;
}

static int reads_recording(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	struct jw_recording *recording;

	struct buf text = BUF_MAX(1 << 20), key = BUF_MAX(1 << 20);
	int result = 0;

	if (jw_recording_parse(err, data, size, &recording))
		return -1;
	for (size_t i = 0; !result && i < recording->module_count; i++) {
		const struct jw_recorded_module *module = &recording->modules[i];

		if (module->has_text)
			result = recording_unpack_text(err, &recording->texts[module->text], &text) ||
							 recording_key(err, recording, module, text.data, text.size, &key)
						 ? -1
						 : 0;
	}
	OK(recording_format(why, recording, facts));
	jw_result_free(recording);
	buf_free(&text);
	buf_free(&key);
	return result;
}

static int reads_profile(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	static struct cache_profile profile;

	memset(&profile, 0, sizeof profile);
	if (cache_profile_parse(err, data, size, &profile))
		return -1;
	OK(buf_printf(why, facts, "%s %d %u %u %u %s %llu %lld %s", profile.stamp, (int)profile.trust,
				  profile.driver.cuda, profile.driver.release[0], profile.driver.release[2],
				  profile.library, (unsigned long long)profile.library_size,
				  (long long)profile.library_mtime_ns, profile.build_id));
	return 0;
}

/* Reads a structure without pointers. */
#define READS(name, type, get)                                                                     \
	static int name(struct jw_error *err, const char *data, size_t size, struct buf *facts)        \
	{                                                                                              \
		static type one;                                                                           \
                                                                                                   \
		memset(&one, 0, sizeof one);                                                               \
		if (get(err, data, size, &one))                                                            \
			return -1;                                                                             \
		put(facts, &one, sizeof one);                                                              \
		return 0;                                                                                  \
	}

READS(reads_hello, struct protocol_hello, protocol_get_hello)
READS(reads_answer, struct protocol_answer, protocol_get_answer)
READS(reads_job, struct protocol_job, protocol_get_job)
READS(reads_key, struct minisign_public, minisign_read_public)

static int reads_devices(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	static struct protocol_hello hello;
	cJSON *kept = json_parse(NULL, data, size);
	bool taken;

	memset(&hello, 0, sizeof hello);
	taken = known_gpus_take(kept, "x", &hello);
	cJSON_Delete(kept);
	if (!taken)
		return error_set(err, JW_ERR_FORMAT, "not taken");
	put(facts, &hello, sizeof hello);
	return 0;
}

/* ---- documents with a sum after them */

static void add_sum(struct buf *bytes, const char *data, size_t size)
{
	uint8_t sum[8];

	*bytes = BUF_MAX(MAX_SIZE);
	store_u64(sum, fnv_update(FNV_START, data, size));
	put(bytes, data, size);
	put(bytes, sum, sizeof sum);
}

static int reads_ledger(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	struct ledger ledger = {0};
	struct buf bytes;

	add_sum(&bytes, data, size);
	ledger_parse(&ledger, bytes.data, bytes.size);
	buf_free(&bytes);
	if (!ledger.marks.count)
		error_set(err, JW_ERR_FORMAT, "nothing");
	OK(ledger_format(why, &ledger, facts));
	ledger_close(&ledger);
	return err->code ? -1 : 0;
}

static int reads_verified(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	struct cache_verified verified;
	struct buf bytes;

	add_sum(&bytes, data, size);
	cache_verified_parse(bytes.data, bytes.size, 0, &verified);
	buf_free(&bytes);
	if (!verified.count)
		error_set(err, JW_ERR_FORMAT, "nothing");
	put(facts, verified.records, verified.count * sizeof *verified.records);
	cache_verified_free(&verified);
	return err->code ? -1 : 0;
}

static int reads_index(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	struct cache_index index;

	cache_index_parse(data, size, &index);
	OK(buf_printf(why, facts, "%d %llu", (int)index.state, (unsigned long long)index.total_bytes));
	put(facts, index.rows, index.count * sizeof *index.rows);
	for (uint64_t limit = 1; limit; limit <<= 9)
		OK(buf_printf(why, facts, " %d", (int)cache_index_next(&index, limit)));
	if (index.state)
		error_set(err, JW_ERR_FORMAT, "state %d", (int)index.state);
	cache_index_free(&index);
	return err->code ? -1 : 0;
}

static int reads_entry(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	struct cache_entry entry, header;
	struct entries_entry sound;
	enum cache_damage damage;

	entries_make(&sound, 0, 8);
	damage = cache_entry_verify(data, size, sound.key, &entry);
	if (cache_entry_header_read(data, size, size, &header) != cache_entry_parse(data, size, &entry))
		return error_set(err, JW_ERR_FORMAT, "the header says otherwise");
	if (damage)
		return error_set(err, JW_ERR_FORMAT, "%s", cache_damage_text(damage));
	return buf_printf(err, facts, "%llu", (unsigned long long)entry.extra_bytes);
}

static struct buf makes_entry(void)
{
	struct buf bytes = BUF_MAX(MAX_SIZE);
	struct entries_entry entry;

	entries_make(&entry, 0, 8);
	put(&bytes, entry.bytes, entry.size);
	return bytes;
}

/* ---- minisign */

static const uint8_t prehash[MINISIGN_PREHASH] = {1, 2, 3};
static struct minisign_secret signer;
static struct minisign_public signers_key;

static void make_signer(void)
{
	static const uint8_t seed[crypto_sign_SEEDBYTES] = {7};

	(void)crypto_sign_seed_keypair(signers_key.key, signer.key, seed);
	memset(signer.id, 'i', sizeof signer.id);
	memset(signers_key.id, 'i', sizeof signers_key.id);
}

static struct buf makes_key(void)
{
	struct buf text = BUF_MAX(MINISIGN_MAX_FILE);

	minisign_write_public(&signers_key, &text);
	return text;
}

static struct buf makes_secret(void)
{
	struct buf text = BUF_MAX(MINISIGN_MAX_FILE);

	minisign_write_secret(&signer, &text);
	return text;
}

static struct buf makes_signature(void)
{
	struct buf text = BUF_MAX(MINISIGN_MAX_FILE);
	struct minisign_signature signature;

	OK(minisign_sign(why, &signer, prehash, "what it is", &signature));
	minisign_write_signature(&signature, &text);
	return text;
}

static int reads_secret(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	struct minisign_secret secret;

	if (minisign_read_secret(err, data, size, &secret))
		return -1;
	put(facts, &secret, sizeof secret);
	return 0;
}

static int reads_signature(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	struct minisign_signature signature;

	if (minisign_read_signature(err, data, size, &signature))
		return -1;
	put(facts, &signature, sizeof signature);
	return minisign_verify(&signature, &signers_key, prehash)
			   ? 0
			   : error_set(err, JW_ERR_FORMAT, "not of this key");
}

/* Makes the bytes under the base64 of a secret key, whose sum stays right. */
static struct buf makes_bare_secret(void)
{
	struct buf text = makes_secret(), bytes = BUF_MAX(MINISIGN_MAX_FILE);
	const char *line = strchr(buf_text(&text), '\n') + 1;
	uint8_t decoded[256];
	size_t size;

	assert_int_equal(sodium_base642bin(decoded, sizeof decoded, line, strcspn(line, "\n"), NULL,
									   &size, NULL, sodium_base64_VARIANT_ORIGINAL),
					 0);
	put(&bytes, decoded, size);
	buf_free(&text);
	return bytes;
}

/* Makes the sum of a key without passphrase as minisign leaves it. */
static struct buf makes_empty_secret(void)
{
	struct buf bytes = makes_bare_secret();

	memset(bytes.data + bytes.size - 32, 0, 32);
	return bytes;
}

static int reads_bare_secret(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	char line[512] = "", text[1024];

	(void)sodium_bin2base64(line, sizeof line, (const uint8_t *)data, size,
							sodium_base64_VARIANT_ORIGINAL);
	(void)snprintf(text, sizeof text, "untrusted comment: x\n%s\n", line);
	return reads_secret(err, text, strlen(text), facts);
}

/* ---- a pack, from its manifest to the cache */

static struct packs_parts parts;
static char *pack_file, *pack_cache;

static struct jw_system machine_of(unsigned cuda)
{
	struct jw_system system = packs_machine(folder);

	system.cache.path = pack_cache;
	system.cache.limit_bytes = 1 << 20;
	system.driver.version.cuda = cuda;
	return system;
}

static int import_pack(struct jw_error *err, struct jw_import_options options, struct buf *facts)
{
	struct jw_import_result *result;

	options.path = pack_file;
	options.cache_dir = pack_cache;
	options.dry_run = true;
	if (jw_import(err, &options, &result))
		return -1;
	OK(buf_printf(why, facts, "%zu %zu %zu %zu %llu %d %s %s", result->entries, result->accepted,
				  result->refused, result->there, (unsigned long long)result->accepted_bytes,
				  result->as_is, result->note, result->signed_by));
	for (size_t i = 0; i < result->group_count; i++) {
		const struct jw_import_group *group = &result->groups[i];

		OK(buf_printf(why, facts, "; %d %d %s %s %s", (int)group->verdict, group->carried,
					  group->target, group->driver, group->why));
	}
	/* A document that is refused says why. */
	if (result->refused)
		error_set(err, JW_ERR_UNSUPPORTED, "left out: %s", result->groups[0].why);
	jw_result_free(result);
	return err->code ? -1 : 0;
}

static int import_manifest(struct jw_error *err, const char *manifest,
						   const struct jw_system *system, struct buf *facts)
{
	const struct packs_member members[] = {{parts.ptx_name, parts.ptx, sizeof parts.ptx},
										   {parts.cubin_name, parts.cubin, sizeof parts.cubin}};
	struct buf pack;

	packs_make(&pack, manifest, members, 2);
	OK(os_write_atomic(why, pack_file, pack.data, pack.size));
	buf_free(&pack);
	return import_pack(err, (struct jw_import_options){.allow_unsigned = true, .system = system},
					   facts);
}

static char *packed_manifest(const char *stamp, unsigned cuda)
{
	char *entry = keep(packs_entry_text(&parts, "sm_86", "load", 0, 1)), *text;

	text = mem_printf("{\"format\":\"jitwarm.pack/"
					  "1\",\"requires\":[],\"os\":\"%s\",\"pointer_bits\":64,\"drivers\":[{"
					  "\"stamp\":\"%s\",\"release\":"
					  "\"555.58.02\",\"cuda\":%u}],\"members\":[{\"name\":\"%s\",\"bytes\":8},{"
					  "\"name\":\"%s\",\"bytes\":64}],\"entries\":[%s]}",
					  os_name, stamp, cuda, parts.ptx_name, parts.cubin_name, entry);
	return text;
}

static struct buf makes_packed_of(const char *stamp, unsigned cuda)
{
	struct buf bytes = BUF_MAX(MAX_SIZE);
	char *text;

	packs_parts_make(&parts);
	text = keep(packed_manifest(stamp, cuda));
	put(&bytes, text, strlen(text));
	return bytes;
}

static struct buf makes_packed(void)
{
	return makes_packed_of("Jun 25 202401:14:48", 12050);
}

/* Makes an entry of another driver of the machine's CUDA version. */
static struct buf makes_carried(void)
{
	return makes_packed_of("Apr  8 202512:10:18", 12050);
}

/* Gives the entries the names in the manifest. */
static void right_names(char *text)
{
	struct pack_manifest manifest;
	char *at = text, start[CACHE_KEY_MAX_START + 1], tail[CACHE_KEY_MAX_TAIL], key[17];

	if (manifest_parse(NULL, text, strlen(text), &manifest))
		return;
	for (size_t i = 0; i < manifest.entry_count && (at = strstr(at, "\"key\":\"")); i++) {
		const struct pack_entry *entry = &manifest.entries[i];
		const size_t length =
			cache_key_write_start(start, manifest.drivers[entry->driver].stamp, entry->target);
		uint64_t sum = fnv_update(FNV_START, start, length);

		sum = fnv_update(sum, parts.ptx, sizeof parts.ptx);
		sum = fnv_update(sum, tail, pack_key_tail(tail, entry));
		(void)snprintf(key, sizeof key, "%016llx", (unsigned long long)sum);
		memcpy(at += 7, key, 16);
	}
	manifest_free(&manifest);
}

static int reads_packed(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	const struct jw_system system = machine_of(12050);
	char *text = keep(mem_string_n(data, size));
	int result;

	if (document->makes == makes_carried)
		right_names(text);
	result = import_manifest(err, text, &system, facts);
	return result;
}

/* Makes the cubin's header, under right digests. */
static struct buf makes_cubin(void)
{
	struct buf bytes = BUF_MAX(MAX_SIZE);

	packs_parts_make(&parts);
	put(&bytes, parts.cubin, sizeof parts.cubin);
	return bytes;
}

static int reads_cubin(struct jw_error *err, const char *data, size_t size, struct buf *facts)
{
	const struct jw_system system = machine_of(12050);
	char *text;
	int result;

	memset(parts.cubin, 0, sizeof parts.cubin);
	memcpy(parts.cubin, data, size < sizeof parts.cubin ? size : sizeof parts.cubin);
	packs_parts_name(&parts);
	text = keep(packed_manifest("Jun 25 202401:14:48", 12050));
	result = import_manifest(err, text, &system, facts);
	return result;
}

/* ---- the table of documents */

static const struct document documents[] = {
	{"manifest", "fuzz/corpus/manifest/forms", reads_manifest, NULL, false},
	{"recording", "fuzz/corpus/recording/whole", reads_recording, NULL, false},
	{"recording-texts", "fuzz/corpus/recording/texts", reads_recording, NULL, false},
	{"profile", "fuzz/corpus/profile/sound", reads_profile, NULL, false},
	{"hello", "fuzz/corpus/protocol/hello", reads_hello, NULL, false},
	{"answer", "fuzz/corpus/protocol/answer", reads_answer, NULL, false},
	{"job", "fuzz/corpus/protocol/job", reads_job, NULL, false},
	{"devices", "data/changed/devices.json", reads_devices, NULL, false},
	{"job-hex", "data/changed/job-hex.json", reads_job, NULL, false},
	{"ledger", "fuzz/corpus/ledger/both-kinds", reads_ledger, NULL, true},
	{"verified", "fuzz/corpus/verified/whole", reads_verified, NULL, true},
	{"index", "fuzz/corpus/index/twice", reads_index, NULL, true},
	{"entry", NULL, reads_entry, makes_entry, true},
	{"key", NULL, reads_key, makes_key, true},
	{"secret", NULL, reads_secret, makes_secret, true},
	{"secret-bare", NULL, reads_bare_secret, makes_bare_secret, true},
	{"secret-empty", NULL, reads_bare_secret, makes_empty_secret, true},
	{"signature", NULL, reads_signature, makes_signature, true},
	{"packed", NULL, reads_packed, makes_packed, false},
	{"packed-carried", NULL, reads_packed, makes_carried, false},
	{"cubin", NULL, reads_cubin, makes_cubin, true},
};

TEST(each_change_has_its_outcome)
{
	const char *wanted = getenv("CHANGED");

	for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
		char *path = keep(mem_printf(DATA "%s", documents[i].name));
		struct buf sample = {0}, golden = {0};

		document = &documents[i];
		if ((wanted && strcmp(wanted, document->name) != 0) ||
			/* A pack names its system. */
			(os_is_windows && text_starts(document->name, "packed"))) {
			continue;
		}
		if (document->makes) {
			sample = document->makes();
		} else {
			char *from = keep(mem_printf(JITWARM_SOURCE_DIR "/tests/%s", document->sample));

			OK(os_read_file(why, from, MAX_SIZE, &sample));
		}
		change(&sample);
		if (getenv("CHANGED_RECORD"))
			OK(os_write_atomic(why, path, told.data, told.size));
		OK(os_read_file(why, path, 1 << 26, &golden));
		if (strcmp(buf_text(&golden), buf_text(&told)) != 0)
			first_difference(buf_text(&golden));
		buf_free(&golden);
		buf_free(&told);
		buf_free(&sample);
	}
}

static int set_up(void **state)
{
	if (sodium_init() < 0 || make_folder(state))
		return -1;
	pack_file = keep(os_join(folder, "a.jwpack"));
	pack_cache = keep(os_join(folder, "cache"));
	make_signer();
	return 0;
}

RUN_TESTS(set_up, remove_folder)
