/* Keys and signatures in minisign's format: a key or signature that was read is written and read
 * back unchanged. */
#include "fuzz.h"

#include <string.h>

#include "pack/minisign.h"

static void signature(const char *text, size_t size)
{
	static const uint8_t prehash[MINISIGN_PREHASH];
	static const struct minisign_public nobody;
	struct minisign_signature read, again;
	struct buf written = BUF_MAX(MINISIGN_MAX_FILE);

	if (minisign_read_signature(NULL, text, size, &read))
		return;
	MUST(memchr(read.comment, 0, sizeof read.comment) != NULL);
	(void)minisign_verify(&read, &nobody, prehash);
	minisign_write_signature(&read, &written);
	MUST(!minisign_read_signature(NULL, buf_text(&written), written.size, &again));
	MUST(!memcmp(&read, &again, sizeof read));
	buf_free(&written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct minisign_public key, again;
	struct minisign_secret secret;
	struct buf written = BUF_MAX(MINISIGN_MAX_FILE);

	signature(text, size);
	if (!minisign_read_public(NULL, text, size, &key)) {
		minisign_write_public(&key, &written);
		MUST(!minisign_read_public(NULL, buf_text(&written), written.size, &again));
		MUST(!memcmp(&key, &again, sizeof key));
	}
	buf_free(&written);
	(void)minisign_read_secret(NULL, text, size, &secret);
	return 0;
}
