#!/usr/bin/env bash
# catalogue.sh FOLDER   the catalogues of po/: formats, by our rules and, if it is installed, by msgfmt's
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d -p "${1:-/tmp}")
trap 'rm -rf "$work"' EXIT

python3 -B scripts/make-catalogue.py --check
for po in po/*.po; do
	! command -v msgfmt >/dev/null || msgfmt -c -o "$work/checked.mo" "$po"
	# The Korean catalogue may have Hangul, ASCII and quotation marks.
	! grep -nP '^(msgstr|")' "$po" | grep -P '[^\x00-\x7f\x{AC00}-\x{D7A3}“”…·→×½]' || { echo "$po: letters of another script"; exit 1; }
done

# refuses WHAT SED-SCRIPT: the rules notice this mistake
refuses() {
	sed -E "$2" po/ko.po >"$work/ko.po"
	! cmp -s po/ko.po "$work/ko.po" || { echo "$1: nothing was changed"; exit 1; }
	! python3 -B scripts/make-catalogue.py --formats "$work/ko.po" >"$work/said" 2>&1 || { echo "accepted: $1"; cat "$work/said"; exit 1; }
}
refuses "another conversion" 's/^msgstr "%u초"$/msgstr "%s초"/'
refuses "a conversion too many" 's/^msgstr "%u초"$/msgstr "%u%n초"/'
refuses "a missing conversion" 's/^msgstr "%u초"$/msgstr "초"/'
refuses "a missing translation" 's/^msgstr "%u초"$/msgstr ""/'
refuses "a fuzzy entry" '0,/^#, c-format$/s//#, fuzzy, c-format/'
refuses "an entry that is there twice" 's/^msgid "about %s"$/msgid "%u s"/'
refuses "a command that a narrow terminal would break" 's/“(docker run -v%s)”/\1/'
