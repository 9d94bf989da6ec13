/* Compares libraries with the list of architectures that their build was given. */
#pragma once

#include <jitwarm/lint.h>
#include <jitwarm/scan.h>

struct lint_claims;

struct lint_claims *lint_claims_open(const struct jw_lint_options *options);
/* Whether the image is exempt, which the result says. */
bool lint_claims_except(struct lint_claims *claims, const char *path, const char *member);
/* Any other image, with its pieces. */
void lint_claims_take(struct lint_claims *claims, const struct jw_scan_image *image);
/* After the last one: the result gets the claims. Frees. */
void lint_claims_close(struct lint_claims *claims, struct jw_lint_result *result);

/* About how much so many pieces' code for an architecture adds to the image, by the nearest code of
 * that kind in it; 0: it has none. */
uint64_t lint_neighbour_bytes(const struct jw_scan_image *image, struct jw_arch arch,
							  size_t pieces);
