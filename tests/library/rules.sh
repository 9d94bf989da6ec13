#!/bin/bash
# rules.sh LIBRARY SOURCE...   what is remembered of files was decided by these sources alone (JITWARM_RULES), beside what is named here
set -euo pipefail
library=$1
shift
# Functions about the cache's present contents, those that free lists, and those for the list of wheels remember nothing.
allowed='cache_file_key cache_files_free cache_files_scan cache_presence cache_sound cache_verified_judge jw_lines_free marker_holds metadata_line required_read requirement_parse'
# Only these sources may call the functions that remember.
remembering='inventory_begin inventory_end inventory_image'
found=$(nm "$library" | awk -v sources="$*" -v allowed="$allowed" -v remembering="$remembering" '
	BEGIN {
		count = split(sources, all, " ")
		for (i = 1; i <= count; i++) { sub(/.*\//, "", all[i]); rule[all[i] ".o"] = 1 }
		count = split(allowed, all, /[ \n]/); for (i = 1; i <= count; i++) may[all[i]] = 1
		count = split(remembering, all, " "); for (i = 1; i <= count; i++) notes[all[i]] = 1
	}
	/\.o:$/ { file = $1; sub(/:$/, "", file); files += file in rule }
	$1 == "U" { calls[$2] = calls[$2] " " file }
	NF == 3 && $2 ~ /[TDRBC]/ { home[$3] = file }
	END {
		if (files < 30) print "hardly any of the sources is in the library: " files
		for (name in notes)
			if (!(name in home)) print name " is not there: rename it here, too"
		for (name in may)
			if (!(name in home)) print name " is named in rules.sh, and not there"
		for (name in calls) {
			count = split(calls[name], callers, " ")
			for (i = 1; i <= count; i++) {
				if (name in notes && !(callers[i] in rule)) print callers[i] " calls " name ", and is not among the sources"
				if (callers[i] in rule && name in home && !(home[name] in rule) && !(name in may))
					print callers[i] " calls " name " of " home[name]
			}
		}
	}' | sort -u)
# Any file may call functions of the floor below.
floor=$(cd "$(dirname "$0")/../../src" && printf '%s\n' base/*.c os/*.c os/*/*.c | sed 's|.*/||; s|$|.o|' | paste -sd'|' | sed 's/\./\\./g')
found=$(grep -vE " of ($floor)\$" <<<"$found" || true)
[ -z "$found" ] || { printf 'neither in JITWARM_RULES (src/CMakeLists.txt) nor named in rules.sh, if it does not matter to what is remembered:\n%s\n' "$found"; exit 1; }
