/* The parts of a finding's command that several findings share. */
#include <stdio.h>
#include <string.h>

#include "doctor/examination.h"

void draft_word(struct finding_draft *draft, const char *word)
{
	if (draft->word_count < DRAFT_WORDS)
		draft->command[draft->word_count++] = word;
	else
		draft->dropped++;
}

void draft_finish(struct finding_draft *draft)
{
	const size_t length = strlen(draft->fix);

	if (draft->dropped)
		(void)snprintf(draft->fix + length, sizeof draft->fix - length,
					   "; the command leaves out %zu more: then ask doctor again", draft->dropped);
}

void draft_prime(const struct examination *seen, struct finding_draft *draft)
{
	const struct jw_doctor_options *options = seen->options;
	bool like_option = false;

	if (options->name_count + 2 > DRAFT_WORDS) {
		DRAFT_FIX(draft, "compile them now, on all cores: “jitwarm prime”, with the same names");
		return;
	}
	DRAFT_FIX(draft, "compile them now, on all cores");
	draft_word(draft, "prime");
	for (size_t i = 0; options->process && i < seen->check->file_count; i++)
		if (seen->check->files[i].cold)
			draft_word(draft, seen->check->files[i].path);
	for (size_t i = 0; i < options->name_count; i++)
		like_option = like_option || options->names[i][0] == '-';
	if (like_option)
		draft_word(draft, "--");
	for (size_t i = 0; i < options->name_count; i++)
		draft_word(draft, options->names[i]);
}
