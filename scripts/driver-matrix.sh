#!/bin/bash
# driver-matrix.sh [--from DIR] [--json FILE] [--more-gpus] [-o FILE] [-B BUILD-FOLDER] [VERSION...]
#
# Runs the conformance suite (tests/conformance) on the simulated driver and on NVIDIA's of these versions, on the GPUs that
# tests/phantom emulates, and writes a table of drivers by facts. Missing drivers are fetched (get.sh drivers). The table
# includes the reports of gpu-check.py on real GPUs (data/gpu-checks).
#
#   VERSION       default: the versions that Debian offers and those that were fetched
#   --from DIR    takes the libraries below DIR (another distribution's, or those of a .run file: sh FILE.run -x)
#                 instead; several versions may lie there
#   --json FILE   the outcomes as JSON
#   --more-gpus   also the cases about keys, values and choice on each other GPU that the phantom has and the driver knows
#   -o FILE       the table (default: docs/contributing/driver-behaviour.md)
#   -B FOLDER     the build (default: build/release): targets conformance, phantom, phantom-probe, simdriver
#
# A difference between a driver and the suite is a finding, not a failure. BUILD-FOLDER/driver-matrix keeps the answers until the table is
# written: after an interruption, the same command asks only the drivers that are left, unless the suite or the phantom is newer. Exit
# status: 0; 64 for wrong usage; 2 if nothing could be run; 3 if a file cannot be written.
set -euo pipefail

self=$(basename "$0")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage() { echo "usage: $(sed -n '2s/^# //p' "$0")    ($self --help says more)" >&2; exit 64; }
fail() { echo "$self: $2" >&2; exit "$1"; }

from='' json='' more='' out=$root/docs/contributing/driver-behaviour.md build=$root/build/release versions=()
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
	--from | --json | -o | -B)
		[ $# -ge 2 ] || usage
		case $1 in --from) from=$2 ;; --json) json=$2 ;; -o) out=$2 ;; -B) build=$2 ;; esac
		shift ;;
	--more-gpus) more=1 ;;
	*[!0-9.]* | '') usage ;;
	*) versions+=("$1") ;;
	esac
	shift
done
for file in conformance/conformance phantom/phantom.so phantom/phantom-probe; do
	[ -e "$build/tests/$file" ] || fail 2 "$build/tests/$file is not there: build conformance, phantom, phantom-probe, simdriver"
done
build=$(cd "$build" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CUDA_CACHE_PATH CUDA_CACHE_DISABLE CUDA_CACHE_MAXSIZE CUDA_VISIBLE_DEVICES

# ---- which drivers

# take_from: makes a store of links like that of get.sh drivers; the names that the driver looks for end in .1
take_from()
{
	local library version other name
	export JITWARM_DRIVERS=$scratch/drivers
	while read -r library; do
		version=${library##*/libcuda.so.}
		mkdir -p "$JITWARM_DRIVERS/$version"
		for other in "${library%/*}"/lib*.so."$version" "${library%/*}"/libnvidia-nvvm.so.*; do
			[ -e "$other" ] || continue
			name=${other##*/}
			ln -sf "$(realpath "$other")" "$JITWARM_DRIVERS/$version/$name"
			ln -sf "$name" "$JITWARM_DRIVERS/$version/${name%%.so.*}.so.1"
		done
	done < <(find "$(realpath "$1")" -type f -name 'libcuda.so.[1-9]*.*')
}
at_hand() { find "${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}" -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' 2>/dev/null; }

if [ -n "$from" ]; then
	[ -d "$from" ] || fail 2 "$from: no such folder"
	take_from "$from"
fi
if [ ${#versions[@]} -eq 0 ]; then
	mapfile -t versions < <({ at_hand; [ -n "$from" ] || "$root/scripts/get.sh" drivers --list | grep -oE '[0-9]+(\.[0-9]+)+' || true; } |
		grep -E '^[0-9]{3}(\.[0-9]+)+$' | sort -Vu)
fi

# ---- the runs: the suite leaves a document $scratch/NAME.json, one case a line; a copy in $kept says that it ended

# gpus_for VERSION: prints two GPUs that the driver knows, neither of which runs the other's cubins
gpus_for() { if [ "${1%%.*}" -ge 520 ]; then echo sm_86,sm_89; elif [ "${1%%.*}" -ge 455 ]; then echo sm_86,sm_75; else echo sm_75; fi; }

cases=() most_seconds=1200 late=0 kept=$build/driver-matrix
[ -z "$from" ] || kept=$scratch/kept
mkdir -p "$kept"
run() # NAME COMMAND...
{
	local name=$1 suite=$build/tests/conformance/conformance status=0
	shift
	if [ "$kept/$name.json" -nt "$suite" ] && [ "$kept/$name.json" -nt "$build/tests/phantom/phantom.so" ]; then
		echo "$name: asked before" >&2
		cp "$kept/$name.json" "$scratch"
		return
	fi
	echo "$name" >&2
	timeout $most_seconds "$@" -- "$suite" --json "$scratch/$name.json" ${cases[@]+"${cases[@]}"} >"$scratch/$name.txt" 2>&1 || status=$?
	late=$((status == 124))
	if [[ $(tail -1 "$scratch/$name.txt") == *" passed, "* ]]; then
		cp "$scratch/$name.json" "$kept"
		return
	fi
	rm -f "$scratch/$name.json"
	return 1
}

# more_for VERSION: prints the phantom's other GPUs; run_more uses one at a time
more_for() { if [ "${1%%.*}" -ge 520 ]; then echo sm_75 sm_80 sm_89 sm_90; elif [ "${1%%.*}" -ge 450 ]; then echo sm_75 sm_80; fi; }
run_more() # VERSION
{
	local gpu cases=(key value choice relocatable)
	for gpu in $(more_for "$1"); do
		! run "$1-$gpu" "$root/scripts/with-driver.sh" -B "$build" -d "$1" "$gpu" || more_names+=("$1-$gpu")
	done
}

done_names=() missing=() more_names=()
for version in ${versions[@]+"${versions[@]}"}; do
	if ! "$root/scripts/get.sh" drivers --quiet "$version" 2>"$scratch/get.err"; then
		missing+=("$version: not to be had ($(head -1 "$scratch/get.err"))")
	elif run "$version" "$root/scripts/with-driver.sh" -B "$build" -d "$version" "$(gpus_for "$version")"; then
		done_names+=("$version")
		[ -z "$more" ] || run_more "$version"
	elif [ $late = 1 ]; then
		missing+=("$version: the suite did not end within $most_seconds s")
	else
		said=$("$root/scripts/with-driver.sh" -B "$build" -d "$version" "$(gpus_for "$version")" -- \
			env PHANTOM_LOG="$scratch/log" "$build/tests/phantom/phantom-probe" devices 2>&1 | tail -1) || true
		last=$(grep -E '^(control|ioctl|alloc) ' "$scratch/log" 2>/dev/null | tail -1) || true
		missing+=("$version: the phantom does not carry it (it says \"$said\"; its last question: \"$last\")")
	fi
done
if [ -z "$from" ] && run simulated "$root/scripts/with-simdriver.sh" -B "$build" sm_86,sm_89; then
	done_names+=(simulated)
fi
reports=()
for report in "$root"/data/gpu-checks/*.json; do
	[ -z "$from" ] && [ -f "$report" ] || continue
	name=$(basename "$report" .json)
	"$root/scripts/gpu-check.py" cases "$report" >"$scratch/$name.json" || exit 3
	done_names+=("$name") reports+=("$report")
done
[ ${#done_names[@]} -gt 0 ] || fail 2 "no driver could be run: ${missing[*]-none was named}"

# ---- the table

field() { sed -nE "1s/.*\"$2\": \"([^\"]*)\".*/\1/p" "$scratch/$1.json"; }
gpus_of() { sed -nE '1s/.*"gpus": \[([^]]*)\].*/\1/p' "$scratch/$1.json" | tr -d '" ' | sed 's/,/, /g'; }
count_of() { grep -c "\"outcome\": \"$2\"" "$scratch/$1.json" || true; }

drivers_table()
{
	local name
	echo '| driver | CUDA | stamp | GPUs | as the suite says | differs | does not apply |'
	echo '|---|---|---|---|---|---|---|'
	for name in "${done_names[@]}" ${more_names[@]+"${more_names[@]}"}; do
		echo "| ${name%-sm_*} | $(field "$name" cuda) | $(field "$name" date) $(field "$name" time) | $(gpus_of "$name") |" \
			"$(count_of "$name" ok) | $(count_of "$name" FAIL) | $(count_of "$name" skip) |"
	done
}

# facts rows|why FILE...: prints a row for each case of the suite, or with "why" a line for each difference
facts()
{
	"$build/tests/conformance/conformance" --list >"$scratch/list"
	awk -v names="${done_names[*]}" -v what="$1" -v list="$scratch/list" '
		function unescape(text) { gsub(/\\"/, "\"", text); gsub(/\\\\/, "\\", text); return text }
		BEGIN {
			count = split(names, name, " ")
			while ((getline fact <list) > 0) order[++facts] = fact
		}
		/^  [{]"name": / {
			split($0, half, /", "outcome": "/)
			fact = substr(half[1], 13)
			outcome = half[2]; sub(/".*/, "", outcome)
			why = half[2]; sub(/^[^"]*", "why": "/, "", why); sub(/"},?$/, "", why); sub(/^cases_[a-z]*[.]c:[0-9]*: /, "", why)
			driver = FILENAME; sub(/.*\//, "", driver); sub(/[.]json$/, "", driver)
			cell[fact, driver] = outcome == "ok" ? "yes" : outcome == "FAIL" ? "**no**" : "–"
			if (outcome == "FAIL") {
				line = "- " fact ": `" unescape(why) "`"
				if (!(line in who)) lines[++differences] = line
				who[line] = who[line] (who[line] == "" ? "" : ", ") driver
			}
		}
		END {
			for (i = 1; i <= differences && what == "why"; i++) print lines[i] " (" who[lines[i]] ")"
			for (i = 1; i <= facts && what != "why"; i++) {
				printf "| %s |", order[i]
				for (j = 1; j <= count; j++) printf " %s |", (order[i], name[j]) in cell ? cell[order[i], name[j]] : "not asked"
				printf "\n"
			}
		}' "${@:2}"
}

document()
{
	local differences
	cat <<EOF
# How each driver behaves

Written by \`scripts/driver-matrix.sh\` on $(date +%F); do not edit. The same command, after \`cmake --build --preset release --target
conformance phantom phantom-probe simdriver\`, regenerates it; \`--from DIR\` takes libraries from a folder. NVIDIA's user-space
drivers ran on the GPUs that \`tests/phantom\` emulates. A column that names a GPU is of a real one. Each fact is a case of the suite in
\`tests/conformance\`; the case shows the steps and the expected result. \`docs/internals/driver-cache.md\` explains what the facts are for.

EOF
	drivers_table
	if [ ${#missing[@]} -gt 0 ]; then
		printf '\nNot run:\n\n'
		printf -- '- %s\n' "${missing[@]}"
	fi
	differences=$(facts why "${done_names[@]/%/.json}" ${more_names[@]+"${more_names[@]/%/.json}"})
	printf '\n## Differences\n\n'
	[ -z "$differences" ] || printf 'The result that the suite found, where it expects another:\n\n'
	echo "${differences:-None.}"
	printf '\n## Facts\n\nyes: as expected; **no**: differs; –: does not apply to this driver or these GPUs; not asked: the suite had no such case when the driver ran.\n\n| fact |'
	printf ' %s |' "${done_names[@]}"
	printf '\n|---|'
	for _ in "${done_names[@]}"; do printf -- '---|'; done
	printf '\n'
	facts rows "${done_names[@]/%/.json}"
	if [ ${#reports[@]} -gt 0 ]; then
		printf '\n## On real GPUs\n'
		"$root/scripts/gpu-check.py" text "${reports[@]}"
	fi
}

document_json()
{
	local name comma=''
	printf '{"format": 1, "date": "%s", "drivers": [' "$(date +%F)"
	for name in "${done_names[@]}" ${more_names[@]+"${more_names[@]}"}; do
		printf '%s\n{"driver": "%s", "result": ' "$comma" "${name%-sm_*}"
		cat "$scratch/$name.json"
		printf '}'
		comma=,
	done
	printf '],\n "not_run": ['
	comma=''
	for name in ${missing[@]+"${missing[@]}"}; do
		name=${name//\\/\\\\}
		printf '%s\n  "%s"' "$comma" "${name//\"/\\\"}"
		comma=,
	done
	printf ']}\n'
}

cd "$scratch"
document >"$scratch/document"
[ -z "$json" ] || document_json >"$scratch/document.json"
cd "$OLDPWD"
cp "$scratch/document" "$out" || exit 3
[ -z "$json" ] || cp "$scratch/document.json" "$json" || exit 3
rm -r "$kept"
