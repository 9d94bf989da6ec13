#!/bin/bash
# pack.sh BUILD-FOLDER DRIVER-VERSION PART   packs, and a real driver on the phantom GPU
#
# exact    the driver finds the entries that a pack brings into another cache: nothing is compiled
# shared   a directory that root has filled serves another account, which may not write there
# carried  an older driver's pack (535.216.03) is refused, field by field; for 535.309.01, of the same CUDA version, it is accepted
# Exit status: 0; 1 if something does not hold; 77 if a driver is not at hand, or root is needed.
set -uo pipefail

[ $# = 3 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
# shellcheck source=tests/driver/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" "$2"
part=$3 older=535.216.03 jitwarm=$build/src/jitwarm open=
store=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
need_driver "$version"
[ "$part" != carried ] || need_driver $older
trap 'rm -rf "$scratch" ${open:+"$open"}' EXIT
export JITWARM_STATE=$scratch/state

fail() { cat "$scratch/out" 2>/dev/null; echo "FAILED: $*"; exit 1; }
# compiles VERSION DIR [COMMAND...]: loads 20 modules with this cache, and prints how many the driver compiled
compiles()
{
	local files=() i v=$1 dir=$2
	shift 2
	make_modules 1 20
	for ((i = 1; i <= 20; i++)); do files+=("$scratch/$i.fatbin"); done
	CUDA_CACHE_PATH=$dir under "$v" sm_86 "$@" "$probe" load 0 "${files[@]}" >"$scratch/out" 2>&1 || return 1
	[ "$(grep -c 'result 0' "$scratch/out")" = 20 ] || return 1
	grep -c 'ptxas ran' "$scratch/out" || true
}
pack_of()
{
	compiled=$(compiles "$1" "$scratch/made-$1") || fail "loading under $1"
	[ "$compiled" = 20 ] || fail "$compiled of 20 compiled under $1"
	"$jitwarm" export -q --all --cache "$scratch/made-$1" -o "$scratch/$1.jwpack" || fail "export"
}
import() { under "$version" sm_86 "$jitwarm" import --allow-unsigned "$@" >"$scratch/out" 2>&1; }

case $part in
exact)
	pack_of "$version"
	import --cache "$scratch/there" "$scratch/$version.jwpack" || fail "import"
	grep -q '20 entries added' "$scratch/out" || fail "not all were added"
	compiled=$(compiles "$version" "$scratch/there") || fail "loading"
	[ "$compiled" = 0 ] || fail "$compiled of 20 compiled though they were imported"
	[[ -z $(cd "$scratch/made-$version" && find . -type f ! -name index -exec cmp {} "$scratch/there/{}" \;) ]] || fail "entries differ"
	;;
shared)
	. "$root/tests/accounts.sh"
	open=$(folder_for_all) || { echo "this needs root, setpriv and a folder that other accounts get into"; exit 77; }
	pack_of "$version"
	umask 077
	"$jitwarm" import -q --allow-unsigned --as-is --cache "$scratch/new/image" "$scratch/$version.jwpack" || fail "import"
	[ "$(stat -c %a "$scratch/new")" = 755 ] || fail "nobody else gets into $scratch/new"
	image=$open/image
	mv "$scratch/new/image" "$image" || fail "moving"
	[ "$(stat -c %a "$image" "$image/index" | tr '\n' ' ')" = "755 666 " ] || fail "modes: $(stat -c '%a %n' "$image"/*)"
	[ -z "$(find "$image" -mindepth 1 -type d ! -perm 755 -o -type f ! -name index ! -perm 644)" ] || fail "$(ls -lR "$image")"
	mkdir "$open/build" "$open/drivers" "$open/scratch"
	copy_for_all "$build" "$open/build" tests/phantom/phantom{.so,-probe} && copy_for_all "$scratch" "$open/scratch" {1..20}.fatbin &&
		copy_for_all "$store" "$open/drivers" "$version" || fail "copying for another account"
	chmod 755 "$open"/*/
	build=$open/build probe=$build/tests/phantom/phantom-probe
	rm -rf "$scratch" && scratch=$open/scratch
	export JITWARM_DRIVERS=$open/drivers
	compiled=$(compiles "$version" "$image" "${as_other[@]}") || fail "loading as another account"
	[ "$compiled" = 0 ] || fail "$compiled of 20 compiled by another account"
	;;
carried)
	pack_of $older
	if [[ $version != 535.* ]]; then
		import --cache "$scratch/there" "$scratch/$older.jwpack"
		[ $? = 2 ] || fail "an older driver's pack was not refused"
		grep -q "by driver $older (CUDA 12.2): that driver has another CUDA version than this machine's, $version" "$scratch/out" || fail "the driver is not named"
		[ ! -e "$scratch/there" ] || [ -z "$(find "$scratch/there" -type f)" ] || fail "something was written"
		echo "$part holds under $version"
		exit
	fi
	import --cache "$scratch/there" "$scratch/$older.jwpack" || fail "import"
	compiled=$(compiles "$version" "$scratch/there") || fail "loading what was carried over"
	[ "$compiled" = 0 ] || fail "$compiled of 20 compiled though they were carried over"
	;;
*) exit 64 ;;
esac
echo "$part holds under $version"
