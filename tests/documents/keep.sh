# shellcheck shell=bash
# keep_document FILE: what a command has printed, if it is a JSON document, is kept for the test `documents`, which validates all
# that the others have seen. TEST_DOCUMENTS is the folder; without it (a test that is run by hand) nothing is kept.
keep_document() {
	local first='' second=''
	[ -n "${TEST_DOCUMENTS-}" ] && { read -r first && read -r second; } <"$1" 2>/dev/null || return 0
	case $first$second in '{"schema":'*) cp "$1" "$(mktemp "$TEST_DOCUMENTS/${case:-$(basename "$0" .sh)}-XXXXXX.json")" ;; esac
}
