#!/bin/bash
# follow.sh   each command that a case has printed as the next step is run whole on the case's own machine (steps.sh): all cases of cli, of stories
# and of attack. Prints how many were followed, and which were left out, with the reasons. JITWARM is the command to test, JITWARM_ON_DISK the
# cases that need a folder on a disk. Exit status 1: a case fails.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
unset SNAPSHOT # which holds what the case does by itself
logs=$(mktemp -d) || exit
trap 'rm -rf "$logs"' EXIT
export JITWARM_FOLLOW=$logs
one() { # FOLDER CASE
	local name status=0
	name=$JITWARM_FOLLOW/$(basename "$(dirname "$1")")-$2
	[[ " ${JITWARM_ON_DISK-} " != *" $2 "* ]] || export TMPDIR=/var/tmp
	[[ $1 == */cli/cases ]] || export JITWARM_CASES=$1
	JITWARM_FOLLOW=$name.followed "$1/../../cli/run.sh" "$2" >"$name.said" 2>&1 || status=$?
	[[ $status == 0 || $status == 77 ]] || { echo "FAILED: $1/$2.sh"; tail -40 "$name.said"; return 1; }
}
export -f one
for case in "$here"/cases/*.sh "$here"/../stories/cases/*.sh "$here"/../attack/cases/*.sh; do
	[[ $case != *-windows.sh ]] || continue
	printf '%s\0%s\0' "$(dirname "$case")" "$(basename "$case" .sh)"
done | xargs -0 -n 2 -P "$(nproc)" bash -c 'one "$@"' _
failed=$?
cat "$logs"/*.followed >"$logs/all"
echo "$(cut -f 1 "$logs/all" | sort -u | wc -l) cases print $(wc -l <"$logs/all") such commands; $(grep -c $'\tfollowed\t' "$logs/all") are run. Left out:"
grep -v $'\tfollowed\t' "$logs/all" | sort | sed 's/\t/: /; s/\t/: /'
exit $((failed != 0))
