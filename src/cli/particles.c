#include "cli/particles.h"

#include <string.h>

#include "base/text.h"

enum sound { SOUND_UNKNOWN, SOUND_VOWEL, SOUND_CONSONANT, SOUND_L };

static const struct particle {
	const char *both, *after_consonant, *after_vowel;
	bool l_as_vowel;
} particles[] = {{"을(를)", "을", "를", false},
				 {"이(가)", "이", "가", false},
				 {"은(는)", "은", "는", false},
				 {"(으)로", "으로", "로", true}};

/* Of the last character. Hangul syllables are in the order of their 28 endings; digits are read in
 * Chinese numbers. */
static enum sound last_sound(const uint8_t *text, size_t size)
{
	enum { LONGEST_REMARK = 80 };
	static const enum sound digits[] = {
		SOUND_CONSONANT, SOUND_L,         SOUND_VOWEL, SOUND_CONSONANT, SOUND_VOWEL,
		SOUND_VOWEL,     SOUND_CONSONANT, SOUND_L,     SOUND_L,         SOUND_VOWEL};
	uint32_t point = 0;
	unsigned ending;

	/* "항목 9개(533 KB)": what stands before a remark is the word. */
	for (size_t i = 1; size && text[size - 1] == ')' && i < size && i < LONGEST_REMARK; i++)
		if (text[size - 1 - i] == '(')
			return last_sound(text, size - 1 - i - (i + 1 < size && text[size - 2 - i] == ' '));
	/* Units are read as words that end in -바이트. */
	if (size > 2 && text[size - 1] == 'B' &&
		(text[size - 2] == ' ' || (strchr("KMGTi", text[size - 2]) && text[size - 2])))
		return SOUND_VOWEL;
	if (size && text[size - 1] >= '0' && text[size - 1] <= '9')
		return digits[text[size - 1] - '0'];
	if (size < 3 || text_utf8_next(text + size - 3, 3, &point) != 3 || point < 0xac00 ||
		point > 0xd7a3)
		return SOUND_UNKNOWN;
	ending = (point - 0xac00) % 28;
	return !ending ? SOUND_VOWEL : ending == 8 ? SOUND_L : SOUND_CONSONANT;
}

void particles_settle(struct buf *text)
{
	struct buf settled = BUF_MAX(text->most);
	size_t at = 0;

	while (at < text->size) {
		const struct particle *found = NULL;
		const enum sound sound = last_sound(settled.data, settled.size);

		for (size_t i = 0; i < sizeof particles / sizeof *particles && sound && !found; i++)
			if (text_starts((const char *)text->data + at, particles[i].both))
				found = &particles[i];
		if (found)
			(void)buf_printf(NULL, &settled, "%s",
							 sound == SOUND_VOWEL || (sound == SOUND_L && found->l_as_vowel)
								 ? found->after_vowel
								 : found->after_consonant);
		else
			(void)buf_append(NULL, &settled, text->data + at, 1);
		at += found ? strlen(found->both) : 1;
	}
	if (settled.lacking) {
		buf_free(&settled);
		return;
	}
	buf_free(text);
	*text = settled;
}
