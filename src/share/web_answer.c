/* The headers of an answer, and a server's words about a failure. */
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "os/clock.h"
#include "share/web.h"

void web_answer_clear(struct web_answer *answer)
{
	*answer = (struct web_answer){.wait_s = -1, .date_s = -1};
}

/* The value, if the header has this name. */
static const char *header_value(const char *line, const char *name)
{
	const size_t length = strlen(name);

	if (!text_starts_fold(line, name) || line[length] != ':')
		return NULL;
	return line + length + 1 + strspn(line + length + 1, " \t");
}

static void copy_whole(char *room, size_t size, const char *value)
{
	if (strlen(value) < size)
		text_copy(room, size, value);
}

void web_answer_header(struct web_answer *answer, const char *line, size_t size)
{
	char text[4 * WEB_TEXT] = "";
	const char *value;
	uint64_t number;

	while (size && (line[size - 1] == '\r' || line[size - 1] == '\n' || line[size - 1] == ' '))
		size--;
	if (size >= sizeof text || memchr(line, '\0', size))
		return;
	memcpy(text, line, size);
	text[size] = '\0';
	if ((value = header_value(text, "location")))
		copy_whole(answer->location, sizeof answer->location, value);
	else if ((value = header_value(text, "retry-after")))
		answer->wait_s = text_number(value, 1000000, &number) ? (int64_t)number : -1;
	else if ((value = header_value(text, "x-amz-bucket-region")))
		copy_whole(answer->region, sizeof answer->region, value);
	else if ((value = header_value(text, "date")))
		answer->date_s = curl_getdate(value, NULL);
}

/* <Error>…<NAME>the text</NAME>, which nobody needs a parser of XML for. */
static void take_xml_text(const char *body, const char *name, char *room, size_t size)
{
	char tag[32];
	const char *start, *end;

	*room = '\0';
	(void)snprintf(tag, sizeof tag, "<%.20s>", name);
	start = strstr(body, tag);
	if (!start)
		return;
	start += strlen(tag);
	end = strchr(start, '<');
	if (end && (size_t)(end - start) < size) {
		memcpy(room, start, (size_t)(end - start));
		room[end - start] = '\0';
	}
}

/* An object store's document of an error */
static void take_xml_words(struct web_answer *answer, const char *body, size_t size)
{
	char text[4096], code[61], message[181];
	const char *error;

	size = size < sizeof text ? size : sizeof text - 1;
	memcpy(text, body, size);
	text[size] = '\0';
	error = strstr(text, "<Error>");

	if (!error)
		return;
	take_xml_text(error, "Code", code, sizeof code);
	take_xml_text(error, "Message", message, sizeof message);
	if (*code)
		(void)snprintf(answer->said, sizeof answer->said, "%s%s%s", code, *message ? ": " : "",
					   message);
}

void web_answer_words(struct web_answer *answer, const char *body, size_t size)
{
	cJSON *document = size && *body == '{' ? json_parse(NULL, body, size) : NULL;
	const cJSON *first =
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(document, "errors"), 0);
	const char *code = json_text(first, "code", ""), *message = json_text(first, "message", "");

	if (*code || *message)
		(void)snprintf(answer->said, sizeof answer->said, "%.60s%s%.180s", code,
					   *code && *message ? ": " : "", message);
	if (size && *body == '<')
		take_xml_words(answer, body, size);
	for (char *at = answer->said; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	cJSON_Delete(document);
}

/* What does not prove a server at one time, or to one list of issuers, does at another. The words
 * are those of OpenSSL, Mbed TLS and Schannel. */
static bool blames_time(const char *reason)
{
	return strstr(reason, "expired") || strstr(reason, "not yet valid") ||
		   strstr(reason, "not activated") || strstr(reason, "EXPIRED") ||
		   strstr(reason, "FUTURE") || strstr(reason, "in the future") ||
		   strstr(reason, "NOT_TIME_VALID");
}

/* Bytes that are no TLS come again, so that another try is in vain. */
bool web_speaks_no_tls(const char *reason)
{
	return strstr(reason, "wrong version number") || strstr(reason, "packet length too long") ||
		   strstr(reason, "invalid SSL record") || strstr(reason, "SEC_E_INVALID_TOKEN");
}

static bool blames_issuer(const char *reason)
{
	return strstr(reason, "issuer certificate") || strstr(reason, "self-signed") ||
		   strstr(reason, "self signed") || strstr(reason, "NOT_TRUSTED") ||
		   strstr(reason, "trusted CA") || strstr(reason, "UNTRUSTED") ||
		   strstr(reason, "PARTIAL_CHAIN");
}

void web_say_how_to_prove(const char *reason, char *room, size_t size)
{
	char now[TEXT_UTC];

	*room = '\0';
	if (blames_time(reason))
		(void)text_format(room, size, " (this machine's clock says %s)", text_utc(now, os_now_s()));
	else if (blames_issuer(reason))
		(void)text_format(
			room, size, "; CURL_CA_BUNDLE or SSL_CERT_FILE names a file of certificates to trust");
}
