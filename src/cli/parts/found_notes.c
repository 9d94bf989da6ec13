#include "cli/parts/found_notes.h"

void found_print_notes(const struct output *output, const struct jw_found *found)
{
	for (size_t i = 0; i < found->note_count; i++) {
		if (found->notes[i].is_trouble)
			output_warning(output, "%s", found->notes[i].text);
		else
			output_note(output, "%s", found->notes[i].text);
	}
}
