/* `scan --json`: one object per image, schema jitwarm.scan/1 (docs/json.md). */
#ifndef JW_CLI_PARTS_SCAN_JSON_H
#define JW_CLI_PARTS_SCAN_JSON_H

#include <cjson/cJSON.h>

#include <jitwarm/scan.h>

/* NULL when out of memory. The caller owns it. */
cJSON *scan_json_image(const struct jw_scan_image *image, bool modules);

#endif
