/* Compares libraries with the list of architectures that their build was given, and with the label
 * of their wheel. */
#pragma once

#include <jitwarm/lint.h>
#include <jitwarm/scan.h>

struct lint_claims;

/* Returns whether something is compared, so that the scan has to group the containers. */
bool lint_claims_needs_pieces(const struct jw_lint_options *options);
struct lint_claims *lint_claims_open(const struct jw_lint_options *options,
									 struct jw_lint_result *result);
/* Returns whether the image is exempt; the result then lists it. */
bool lint_claims_except(struct lint_claims *claims, const char *path, const char *member);
/* Adds any other image, with its pieces. */
void lint_claims_take(struct lint_claims *claims, const struct jw_scan_image *image);
/* Puts the claims into the result after the last image, and frees the rest. */
void lint_claims_close(struct lint_claims *claims);

/* Returns about how much code for an architecture in so many pieces adds to the image, by its
 * nearest code of that kind; 0 if it has none. */
uint64_t lint_neighbour_bytes(const struct jw_scan_image *image, struct jw_arch arch,
							  size_t pieces);
