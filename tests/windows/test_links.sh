#!/bin/bash
# An administrator writes through no link at a path's end, whoever has made it: in place of the index, of an output, and in what is
# removed. Wine makes no junctions, but shows the links of the system below.
. "$(dirname "$0")/lib.sh"
has_command import || exit 77
fresh_user
drive=$build/wine/$user/drive_c
open=$drive/open closed=$drive/closed pack=$(windows_path "$work/모두.jwpack")
clean() { rm -rf "$open" "$closed"; }
clean
trap clean EXIT
lesser() { under "$gpus" "$build/tests/windows/lesser.exe" "$(windows_path "$build/src/jitwarm.exe")" "$@"; }

# plant: makes an empty folder of administrators with one file, and a folder for everybody
plant() {
	clean
	mkdir "$closed" "$open"
	echo theirs > "$closed/kept"
	chmod 755 "$drive" "$closed"
	chmod 777 "$open"
}
# untouched WHAT: nothing has changed in the administrators' folder
untouched() {
	[ "$(ls -A "$closed")" = kept ] && [ "$(cat "$closed/kept")" = theirs ] || fail "$1: changed the folder of administrators: $(ls -A "$closed")"
}
jitwarm prime --quiet "$sample_dll"
exits 0 prime
jitwarm export -o "$pack"
exits 0 export

# Without links, the command works in the same folder.
plant
jitwarm import --allow-unsigned --cache 'C:\open\cache' "$pack"
exits 0 'import into a folder of another account'

# a link in the index's place
plant
mkdir -m 777 "$open/cache"
ln -s ../../closed/kept "$open/cache/index"
jitwarm import --allow-unsigned --cache 'C:\open\cache' "$pack"
[ "$status" != 0 ] || fail 'import over a link in place of the index'
untouched 'import over a link in place of the index'

# a link in the place of an output
plant
ln -s ../closed/kept "$open/out.jwpack"
jitwarm export -o 'C:\open\out.jwpack'
untouched 'export over a link'
[ "$status" != 0 ] || fail 'export over a link'

# links among the files that are removed
plant
state=$home/AppData/Local/jitwarm
mkdir -p "$state/runs"
ln -s "$closed" "$state/work"
ln -s "$closed" "$state/runs/planted"
ln -s "$closed/kept" "$state/runs/file"
jitwarm uninstall
untouched uninstall
rm -rf "$state"

# A link in the middle of a path is followed, as Windows does.
plant
mkdir -m 755 "$closed/inner"
ln -s inner "$closed/link"
jitwarm import --allow-unsigned --cache 'C:\closed\link\cache' "$pack"
exits 0 "import through an administrator's link"
[ -e "$closed/inner/cache/index" ] || fail 'it went elsewhere'
plant
chmod 777 "$closed"
ln -s ../closed "$open/cache"
lesser import --allow-unsigned --cache 'C:\open\cache' "$pack"
exits 0 'import through a link without elevation'
[ -e "$closed/index" ] || fail 'it went elsewhere'
