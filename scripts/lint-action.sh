#!/usr/bin/env bash
# lint-action.sh   what action.yml runs: its inputs are in LINT_…
# The annotations go to standard output, where GitHub's runner reads them; the summary page gets the table.
set -uo pipefail

jitwarm=${LINT_JITWARM:-jitwarm} given=${LINT_PATHS:-}
paths=()
# A pattern without a match stays as it is, and jitwarm reports it. A name may contain a newline.
add_matches() {
	local IFS= LC_ALL=C
	# shellcheck disable=SC2206
	paths+=($1)
}
# White space at a line's ends, from YAML or an editor, is not part of a name.
while IFS=$' \t' read -r line; do
	[ -n "$line" ] || continue
	if [ -e "$line" ]; then
		paths+=("$line")
		continue
	fi
	add_matches "$line"
done <<<"${given//$'\r'/}"
options=()
[ -z "${LINT_GPUS:-}" ] || options+=(--gpus "$LINT_GPUS")
[ -z "${LINT_ARCH_LIST:-}" ] || options+=(--arch-list "$LINT_ARCH_LIST")
[ -z "${LINT_MAX_START:-}" ] || options+=(--max-start "$LINT_MAX_START")
[ -z "${LINT_DRIVER:-}" ] || options+=(--driver "$LINT_DRIVER")

# The runner takes “##[” anywhere in a line for a command, and a name in a wheel may contain it.
{
	"$jitwarm" lint --format github "${options[@]}" -- "${paths[@]}" 2>&1 >&3 | sed 's/##\[/## [/g' >&2
	status=${PIPESTATUS[0]}
} 3>&1
[ $status -lt 3 ] || exit $status
# In the summary, a name is on a line of its own, and could end a block of Markdown.
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
	table=$("$jitwarm" lint "${options[@]}" -- "${paths[@]}" 2>/dev/null)
	# Without a table, because the driver runs none of the GPUs, the summary has the reason.
	[ -n "$table" ] || table=$("$jitwarm" lint "${options[@]}" -- "${paths[@]}" 2>&1)
	{
		echo '<pre>'
		printf '%s\n' "$table" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'
		echo '</pre>'
	} >>"$GITHUB_STEP_SUMMARY"
fi
exit $status
