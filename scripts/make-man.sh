#!/bin/bash
# make-man.sh JITWARM FOLDER: writes jitwarm-COMMAND.1 for each command of the program into FOLDER.
set -euo pipefail
jitwarm=$1 folder=$2
mkdir -p "$folder"
rm -f "$folder"/jitwarm-*.1
"$jitwarm" --help | sed -n '/^Commands:/,/^$/p' | grep -oE '^  [a-z]+( [a-z]+)?' | sed 's/^ *//' | while read -r command; do
	# shellcheck disable=SC2086
	"$jitwarm" help --man $command >"$folder/jitwarm-${command// /-}.1"
done
