#!/usr/bin/env bash
# stalls.sh [-d DRIVER] [BUILD]   twenty and more staged stalls get their cause from watch or doctor; ten healthy set-ups have no finding
#
# -d DRIVER  under NVIDIA's own driver of that version, on GPUs that tests/phantom emulates, instead of the simulated one; then
#            the other stories, too, as far as the phantom has their GPU
set -euo pipefail
usage() { sed -n '2,5s/^# \{0,1\}//p' "$0"; }
driver=
while getopts hd: option; do
	case $option in
	d) driver=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 64 ;;
	esac
done
shift $((OPTIND - 1))
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
JITWARM=$(realpath "${1:-build/release}")/src/jitwarm
export JITWARM
if [ -n "$driver" ]; then
	export JITWARM_REAL_DRIVER=$driver JITWARM_DRIVERS=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
fi
JITWARM_STALLS=all JITWARM_CASES=$PWD/tests/stories/cases tests/cli/run.sh stalls
JITWARM_CASES=$PWD/tests/stories/long tests/cli/run.sh slow-every-time
tests/cli/run.sh doctor && echo "doctor: ten healthy set-ups have no finding"
[ -n "$driver" ] || exit 0
status=0
for story in tests/stories/cases/*.sh; do
	name=$(basename "$story" .sh)
	[ "$name" != stalls ] || continue
	said=0
	JITWARM_CASES=$PWD/tests/stories/cases tests/cli/run.sh "$name" || said=$?
	echo "story $name: $([ $said = 0 ] && echo holds || { [ $said = 77 ] && echo skipped || echo FAILED; })"
	[ $said = 0 ] || [ $said = 77 ] || status=1
done
exit $status
