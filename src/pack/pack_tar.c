#include "pack/pack_tar.h"

#include <stdio.h>
#include <string.h>

/* POSIX.1-1988 ustar. */
enum {
	AT_MODE = 100,
	AT_OWNER = 108,
	AT_GROUP = 116,
	AT_SIZE = 124,
	AT_TIME = 136,
	AT_CHECKSUM = 148,
	AT_KIND = 156,
	AT_MAGIC = 257,
	AT_DEVICE = 329,
	CHECKSUM_SIZE = 8,
	SIZE_DIGITS = 11,
};

static void put_tar_text(uint8_t *to, const char *text)
{
	memcpy(to, text, strlen(text));
}

void tar_header(uint8_t header[TAR_BLOCK], const char *name, uint64_t size_bytes)
{
	char digits[24];
	unsigned sum = 0;

	memset(header, 0, TAR_BLOCK);
	memcpy(header, name, strnlen(name, TAR_MAX_NAME));
	put_tar_text(header + AT_MODE, "0000644");
	put_tar_text(header + AT_OWNER, "0000000");
	put_tar_text(header + AT_GROUP, "0000000");
	(void)snprintf(digits, sizeof digits, "%011llo", (unsigned long long)size_bytes);
	memcpy(header + AT_SIZE, digits, SIZE_DIGITS);
	put_tar_text(header + AT_TIME, "00000000000");
	header[AT_KIND] = '0';
	memcpy(header + AT_MAGIC, "ustar\00000", 8);
	put_tar_text(header + AT_DEVICE, "0000000");
	put_tar_text(header + AT_DEVICE + 8, "0000000");
	memset(header + AT_CHECKSUM, ' ', CHECKSUM_SIZE);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += header[i];
	(void)snprintf(digits, sizeof digits, "%06o", sum);
	memcpy(header + AT_CHECKSUM, digits, 7);
}

size_t tar_padding(uint64_t size_bytes)
{
	return (size_t)(-size_bytes % TAR_BLOCK);
}

uint64_t tar_extent(uint64_t size_bytes)
{
	return TAR_BLOCK + size_bytes + tar_padding(size_bytes);
}

bool tar_read(const uint8_t header[TAR_BLOCK], const char *name, uint64_t *ret_size_bytes)
{
	uint8_t wanted[TAR_BLOCK];
	uint64_t size = 0;

	/* A character that is not a digit makes the size differ from the expected one. */
	for (size_t i = 0; i < SIZE_DIGITS; i++)
		size = size << 3 | (header[AT_SIZE + i] & 7);
	tar_header(wanted, name, size);
	if (memcmp(header, wanted, TAR_BLOCK) != 0)
		return false;
	*ret_size_bytes = size;
	return true;
}
