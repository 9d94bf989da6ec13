#!/bin/bash
# follow.sh   every case of cases/ with JITWARM_FOLLOW: each printed command is run whole on the case's own machine (steps.sh). JITWARM is the
# command to test. Exit status 1: a case fails.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
failed=0
unset SNAPSHOT # which holds what the case does by itself
export JITWARM_FOLLOW=1
for case in "$here"/cases/*.sh; do
	"$here/run.sh" "$(basename "$case" .sh)"
	status=$?
	[ $status = 0 ] || [ $status = 77 ] || { echo "FAILED: $case"; failed=1; }
done
exit $failed
