/* Korean particles depend on the last sound of the word before them. Translations have both forms
 * behind an argument, “을(를)”, “이(가)”, “은(는)”, “(으)로”; where that sound is known, of
 * Hangul, digits and units of size, one of them stays. */
#pragma once

#include "base/buf.h"

/* A text without these stays as it is; so does one without memory. */
void particles_settle(struct buf *text);
