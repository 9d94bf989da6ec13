#include "share/reference.h"

#include <string.h>

#include <jitwarm/share.h>

#include "base/text.h"

static const char lower[] = "abcdefghijklmnopqrstuvwxyz0123456789",
				  host_characters[] =
					  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-",
				  tag_characters[] =
					  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

/* Returns the length of “.”, “_”, “__” or dashes between two parts of a name; 0 for anything
 * else. */
static size_t separator_length(const char *at)
{
	if (*at == '-')
		return strspn(at, "-");
	if (*at == '_')
		return at[1] == '_' ? 2 : 1;
	return *at == '.';
}

bool reference_is_repository(const char *text)
{
	const size_t length = strlen(text);

	if (!length || length >= REFERENCE_REPOSITORY)
		return false;
	for (;;) {
		const size_t word = strspn(text, lower);

		if (!word)
			return false;
		text += word;
		if (!*text)
			return true;
		text += *text == '/' ? 1 : separator_length(text);
	}
}

bool reference_is_tag(const char *text)
{
	const size_t length = strlen(text);

	return length && length < REFERENCE_TAG && *text != '.' && *text != '-' &&
		   strspn(text, tag_characters) == length;
}

/* Returns whether the text is a host, like "example.org", "127.0.0.1:5000" or "[::1]:5000". */
static bool is_host(const char *text)
{
	size_t length;
	uint64_t port;

	if (*text == '[') {
		length = strspn(text + 1, "0123456789abcdefABCDEF:.");
		if (length < 2 || text[length + 1] != ']')
			return false;
		length += 2;
	} else {
		length = strspn(text, host_characters);
	}
	if (!length || *text == '-' || *text == '.')
		return false;
	return !text[length] ||
		   (text[length] == ':' && text_number(text + length + 1, 65535, &port) && port);
}

static int wrong_name(struct jw_error *err, const char *text, const char *why)
{
	char said[300];

	return error_set(err, JW_ERR_USAGE, "“%s”: %s; a name is oci://HOST/REPOSITORY[:TAG]",
					 text_address(said, sizeof said, text), why);
}

int reference_parse(struct jw_error *err, const char *text, struct reference *ret_reference)
{
	static const char scheme[] = "oci://";
	char copy[REFERENCE_HOST + REFERENCE_REPOSITORY + REFERENCE_TAG];
	struct reference reference = {{0}, {0}, {0}};
	char *slash, *colon;

	if (!text_starts(text, scheme))
		return wrong_name(err, text, "does not begin with oci://");
	if (strlen(text) >= sizeof copy)
		return wrong_name(err, text, "too long");
	TEXT_COPY(copy, text + sizeof scheme - 1);
	if (!(slash = strchr(copy, '/')))
		return wrong_name(err, text, "no repository");
	*slash++ = '\0';
	if (strlen(copy) >= sizeof reference.host || !is_host(copy))
		return wrong_name(err, text, "not a host, with or without a port");
	/* skopeo would take this for a name at docker.io. */
	if (!strpbrk(copy, ".:") && strcmp(copy, "localhost") != 0)
		return wrong_name(err, text, "a host without a dot needs its port, such as :443");
	if ((colon = strrchr(slash, ':')))
		*colon++ = '\0';
	if (!reference_is_repository(slash))
		return wrong_name(err, text, "not a repository: small letters, digits, “.”, “_”, “-”, “/”");
	if (colon && !reference_is_tag(colon))
		return wrong_name(err, text, "not a tag");
	TEXT_COPY(reference.host, copy);
	TEXT_COPY(reference.repository, slash);
	TEXT_COPY(reference.tag, colon ? colon : "");
	*ret_reference = reference;
	return 0;
}

int jw_registry_name_check(struct jw_error *err, const char *name)
{
	struct reference reference;

	return reference_parse(err, name, &reference);
}

static bool is_this_machine(const char *bare)
{
	return text_equal_fold(bare, "localhost") || !strcmp(bare, "[::1]") ||
		   (text_starts(bare, "127.") && strspn(bare, "0123456789.") == strlen(bare));
}

bool reference_host_is(const char *host, const char *plain)
{
	char bare[REFERENCE_HOST];
	char *colon;

	text_copy(bare, sizeof bare, host);
	colon = strrchr(bare, ':');
	if (colon && !strchr(colon, ']'))
		*colon = '\0';
	return text_equal_fold(plain, bare) || text_equal_fold(plain, host) ||
		   ((!strcmp(plain, "localhost") || !strcmp(plain, "127.0.0.1")) && is_this_machine(bare));
}
