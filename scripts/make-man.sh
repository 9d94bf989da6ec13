#!/bin/bash
# make-man.sh JITWARM FOLDER [LANGUAGE]: writes jitwarm-COMMAND.1 for each command of the program into FOLDER; LANGUAGE is en or ko.
set -euo pipefail
jitwarm=$1 folder=$2 language=${3-en}
mkdir -p "$folder"
rm -f "$folder"/jitwarm-*.1
LC_ALL=C.UTF-8 "$jitwarm" --help | sed -n '/^Commands:/,/^$/p' | grep -oE '^  [a-z]+( [a-z]+)?' | sed 's/^ *//' | while read -r command; do
	# shellcheck disable=SC2086
	LC_ALL=C.UTF-8 "$jitwarm" help --man --language "$language" $command >"$folder/jitwarm-${command// /-}.1"
done
