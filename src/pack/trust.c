#include "pack/trust.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "pack/judge.h"
#include "pack/key_files.h"

/* Begins the comment, whose fields are separated by tabs, as in minisign's comments. */
static const char lead[] = "jitwarm pack\tname:";

/* The name without characters that would end a field or a line. */
static void plain_key_name(char text[256], const char *path)
{
	const char *name = os_base_name(path);
	size_t length = 0;

	for (; *name && length < 255; name++)
		text[length++] = (char)((uint8_t)*name < ' ' ? '_' : *name);
	text[length] = '\0';
	if (!text_is_utf8(text, length))
		text_copy(text, 256, "pack");
}

int trust_sign(struct jw_error *err, const struct minisign_secret *secret,
			   const struct pack_manifest *manifest, const uint8_t prehash[MINISIGN_PREHASH],
			   const char *name, const char *path)
{
	struct minisign_signature signature;
	struct buf text = BUF_MAX(MINISIGN_MAX_FILE);
	char comment[MINISIGN_MAX_COMMENT], plain[256], hash[2 * MINISIGN_PREHASH + 1];
	char targets[PACK_TARGETS_TEXT], drivers[PACK_DRIVERS_TEXT];
	int result = -1;

	plain_key_name(plain, name);
	sodium_bin2hex(hash, sizeof hash, prehash, MINISIGN_PREHASH);
	(void)snprintf(comment, sizeof comment, "%s%s\ttargets:%s\tdrivers:%s\tblake2b-512:%s", lead,
				   plain, pack_targets_text(targets, manifest),
				   pack_drivers_text(drivers, manifest), hash);
	if (!minisign_sign(err, secret, prehash, comment, &signature)) {
		minisign_write_signature(&signature, &text);
		result = os_write_output(err, path, text.data, text.size);
	}
	buf_free(&text);
	return result;
}

static const char ask_for_key[] = "trust the key of its maker with “jitwarm key trust PUBLIC-KEY” "
								  "(“jitwarm export” prints this line), or ";

static int unsigned_pack(struct jw_error *err, const struct jw_import_options *options,
						 struct jw_import_result *result, const char *what, const char *remedy)
{
	if (!options->allow_unsigned)
		return error_set(
			err, JW_ERR_NOT_FOUND,
			"%s: %s; %sadd --allow-unsigned if you trust whoever made the pack: your GPU runs its "
			"code with your rights",
			options->path, what, remedy);
	(void)text_format(result->note, sizeof result->note,
					  "%.180s: accepted because of --allow-unsigned", what);
	return 0;
}

/* Takes the pack's former name from the comment. minisign's users choose the comment freely, so
 * only a comment of jitwarm's counts. */
static void note_former_name(const char *path, const struct minisign_signature *signature,
							 struct jw_import_result *result)
{
	const char *name = signature->comment + sizeof lead - 1;
	const size_t length = text_starts(signature->comment, lead) ? strcspn(name, "\t") : 0;
	char plain[256];

	plain_key_name(plain, path);
	if (length && (strlen(plain) != length || memcmp(plain, name, length) != 0))
		(void)text_format(result->note, sizeof result->note, "it was signed under the name “%.*s”",
						  length > 150 ? 150 : (int)length, name);
}

static int check_signature(struct jw_error *err, const struct jw_import_options *options,
						   const struct source *source, const char *path, const struct buf *text,
						   struct jw_import_result *result)
{
	struct minisign_signature signature;
	struct minisign_public key;
	struct jw_error why = {0};
	char name[64];

	if (minisign_read_signature(err, (const char *)text->data, text->size, &signature))
		return error_prefix(err, "%s", path);
	if (keys_find_trusted(&why, options->state_dir, signature.id, &key, name))
		return why.code == JW_ERR_NOT_FOUND
				   ? unsigned_pack(err, options, result, why.message, ask_for_key)
				   : error_copy(err, &why);
	if (!minisign_verify(&signature, &key, source_prehash(source)))
		return error_set(err, JW_ERR_FORMAT,
						 "%s: is not the signature of this file by the key “%s”: the file or the "
						 "signature was changed",
						 path, name);
	TEXT_COPY(result->signed_by, name);
	note_former_name(options->path, &signature, result);
	return 0;
}

int trust_check(struct jw_error *err, const struct jw_import_options *options,
				const struct source *source, struct jw_import_result *ret_result)
{
	char *path = mem_printf("%s.minisig", options->path);
	struct buf text = {0};
	char remedy[300] = "";
	bool there;
	int result = -1;

	if (os_check_exists(err, path, &there)) {
		mem_free(path);
		return -1;
	}
	(void)text_format(remedy, sizeof remedy,
					  "the signature %.200s is missing beside it: copy the signature, too, or ",
					  os_base_name(path));
	if (!there)
		result = unsigned_pack(err, options, ret_result, "is not signed", remedy);
	else if (!os_read_file(err, path, MINISIGN_MAX_FILE, &text))
		result = check_signature(err, options, source, path, &text, ret_result);
	buf_free(&text);
	mem_free(path);
	return result;
}
