#include <jitwarm/version.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/documents/documents.h"
#include "cli/parts/lint_text.h"
#include "os/file.h"

/* SARIF 2.1.0 (OASIS). cJSON's functions accept and return NULL where memory has ended: one look at
 * the end tells whether all is there. */
struct sarif {
	cJSON *document;
	bool lacking;
};

enum { MOST_SARIF_TEXT = 1 << 16 };

static cJSON *sarif_object(struct sarif *sarif, cJSON *object, const char *name)
{
	cJSON *made = cJSON_AddObjectToObject(object, name);

	sarif->lacking |= !made;
	return made;
}

static cJSON *sarif_array(struct sarif *sarif, cJSON *object, const char *name)
{
	cJSON *made = cJSON_AddArrayToObject(object, name);

	sarif->lacking |= !made;
	return made;
}

static cJSON *sarif_element(struct sarif *sarif, cJSON *array)
{
	cJSON *made = cJSON_CreateObject();

	if (made && cJSON_AddItemToArray(array, made))
		return made;
	cJSON_Delete(made);
	sarif->lacking = true;
	return NULL;
}

static void sarif_text(struct sarif *sarif, cJSON *object, const char *name, const char *text)
{
	sarif->lacking |= !object || json_add_text(NULL, object, name, text);
}

static void sarif_number(struct sarif *sarif, cJSON *object, const char *name, double number)
{
	sarif->lacking |= !cJSON_AddNumberToObject(object, name, number);
}

static bool stays_in_uri(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
		   c == '-' || c == '.' || c == '_' || c == '~';
}

/* RFC 3986: a relative reference, or file:///… */
static void sarif_uri(struct sarif *sarif, cJSON *object, const char *path)
{
	struct buf uri = BUF_MAX(MOST_SARIF_TEXT);
	const bool absolute = os_is_absolute(path);

	if (absolute)
		(void)buf_printf(NULL, &uri, *path == '/' || *path == '\\' ? "file://" : "file:///");
	for (size_t i = 0; path[i]; i++) {
		char c = path[i];

		if (c == '\\' && os_separator == '\\')
			c = '/';
		if (stays_in_uri(c) || (absolute && i == 1 && c == ':' && os_separator == '\\'))
			(void)buf_append(NULL, &uri, &c, 1);
		else
			(void)buf_printf(NULL, &uri, "%%%02X", (unsigned)(unsigned char)c);
	}
	sarif->lacking |= uri.lacking;
	sarif_text(sarif, object, "uri", buf_text(&uri));
	buf_free(&uri);
}

static void sarif_rules(struct sarif *sarif, cJSON *driver)
{
	static const struct {
		const char *id, *text;
	} rules[] = {
		[JW_LINT_COMPILES] = {"first-start-compiles",
							  "The driver compiles PTX at the first start: there is no machine "
							  "code for this GPU"},
		[JW_LINT_FAILS] = {"no-code-for-gpu", "A program fails: no code runs on this GPU"},
	};
	cJSON *list = sarif_array(sarif, driver, "rules");

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		cJSON *rule = sarif_element(sarif, list);

		sarif_text(sarif, rule, "id", rules[i].id);
		sarif_text(sarif, sarif_object(sarif, rule, "shortDescription"), "text", rules[i].text);
	}
}

static void sarif_place(struct sarif *sarif, cJSON *result, const struct jw_lint_finding *finding)
{
	cJSON *location = sarif_element(sarif, sarif_array(sarif, result, "locations"));
	cJSON *physical = sarif_object(sarif, location, "physicalLocation");
	cJSON *logical;

	sarif_uri(sarif, sarif_object(sarif, physical, "artifactLocation"), finding->path);
	/* Services that show results by line want one, though a package has none. */
	sarif_number(sarif, sarif_object(sarif, physical, "region"), "startLine", 1);
	if (!finding->member)
		return;
	logical = sarif_element(sarif, sarif_array(sarif, location, "logicalLocations"));
	sarif_text(sarif, logical, "fullyQualifiedName", finding->member);
	sarif_text(sarif, logical, "kind", "member");
}

static void sarif_result(struct sarif *sarif, cJSON *results, const struct jw_lint_finding *finding,
						 const struct jw_lint_gpu *gpu, const struct lint_bound *bound)
{
	cJSON *result = sarif_element(sarif, results);
	struct buf text = BUF_MAX(MOST_SARIF_TEXT);

	if (finding->member)
		(void)buf_printf(NULL, &text, "%s: ", finding->member);
	lint_say_finding(&text, finding);
	(void)buf_printf(NULL, &text, ". All together: ");
	lint_say_gpu(&text, gpu, bound);
	sarif->lacking |= text.lacking;
	sarif_text(sarif, result, "ruleId",
			   finding->kind == JW_LINT_FAILS ? "no-code-for-gpu" : "first-start-compiles");
	sarif_number(sarif, result, "ruleIndex", finding->kind);
	sarif_text(sarif, result, "level", lint_level_names[finding->level]);
	sarif_text(sarif, sarif_object(sarif, result, "message"), "text", buf_text(&text));
	sarif_place(sarif, result, finding);
	buf_free(&text);
}

static void sarif_results(struct sarif *sarif, cJSON *run, const struct jw_lint_result *from,
						  const struct lint_bound *bound)
{
	cJSON *results = sarif_array(sarif, run, "results");

	for (size_t i = 0; i < from->finding_count; i++)
		for (size_t k = 0; k < from->gpu_count; k++)
			if (jw_target_equal(from->gpus[k].target, from->findings[i].target))
				sarif_result(sarif, results, &from->findings[i], &from->gpus[k], bound);
}

static void sarif_invocation(struct sarif *sarif, cJSON *run, const struct jw_found *found,
							 const struct jw_lint_result *result)
{
	cJSON *made = sarif_element(sarif, sarif_array(sarif, run, "invocations"));
	size_t cursor = 0;
	const char *trouble = lint_trouble_next(found, result, &cursor);
	cJSON *list;

	sarif->lacking |= !cJSON_AddBoolToObject(made, "executionSuccessful", !trouble);
	if (!trouble)
		return;
	list = sarif_array(sarif, made, "toolExecutionNotifications");
	for (; trouble; trouble = lint_trouble_next(found, result, &cursor)) {
		cJSON *note = sarif_element(sarif, list);

		sarif_text(sarif, note, "level", "error");
		sarif_text(sarif, sarif_object(sarif, note, "message"), "text", trouble);
	}
}

int lint_sarif_print(struct jw_error *err, struct output *out, const struct jw_found *found,
					 const struct jw_lint_result *result, const struct lint_bound *bound)
{
	struct sarif sarif = {cJSON_CreateObject(), false};
	cJSON *run, *driver;
	int failed;

	sarif_text(&sarif, sarif.document, "version", "2.1.0");
	run = sarif_element(&sarif, sarif_array(&sarif, sarif.document, "runs"));
	driver = sarif_object(&sarif, sarif_object(&sarif, run, "tool"), "driver");
	sarif_text(&sarif, driver, "name", "jitwarm lint");
	sarif_text(&sarif, driver, "version", jw_version());
	sarif_rules(&sarif, driver);
	sarif_invocation(&sarif, run, found, result);
	sarif_results(&sarif, run, result, bound);
	failed = sarif.lacking ? error_set(err, JW_ERR_MEMORY, "out of memory")
						   : output_json(err, out, sarif.document);
	cJSON_Delete(sarif.document);
	return failed;
}
