# shellcheck shell=bash
# keep_document FILE: what a command has printed, if it is a JSON document, is kept for the test `documents`, which validates all
# that the others have seen. TEST_DOCUMENTS is the folder; without it (a test that is run by hand) nothing is kept.
keep_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
keep_document() {
	local first='' second='' name
	[ -n "${TEST_DOCUMENTS-}" ] && { read -r first && read -r second; } <"$1" 2>/dev/null || return 0
	case $first$second in '{"schema":'*) name=${case:-${0##*/}} && cp "$1" "$TEST_DOCUMENTS/${name%.sh}-$BASHPID-$EPOCHREALTIME.json" ;; esac
}

# ask FILE EXPRESSION: $answer is the value of a Python expression about the document `d` in this file, in one line, or the exception if
# there is none. is_so FILE EXPRESSION: whether it is true. One Python answers all questions of a shell, since starting one takes longer
# than most commands. A subshell has its own, since two shells could not tell whose answer comes.
ask() {
	if [ "${asker_of-}" != "$BASHPID" ]; then
		asker_of=$BASHPID
		coproc asker { exec python3 -I -S "$keep_folder/ask.py" 2>/dev/null; }
		disown "$asker_PID" # so that a script that ends its jobs prints nothing about it
		exec {asking}>&"${asker[1]}" {answers}<&"${asker[0]}"
	fi
	printf '%s\0' "$PWD" "$1" "$2" >&"$asking"
	IFS= read -r answer <&"$answers"
}
is_so() { ask "$1" "bool($2)" && [ "$answer" = True ]; }
