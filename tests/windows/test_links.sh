#!/bin/bash
# Links that another account may have made lead an administrator nowhere: in a path that is named, in a cache, in place of a
# file, and in what is removed. Wine makes no junctions, but shows the links of the system below, and a folder that everybody
# may write to is another account's for jitwarm.
. "$(dirname "$0")/lib.sh"
has_command import || exit 77
fresh_user
drive=$build/wine/$user/drive_c
open=$drive/open closed=$drive/closed pack=$(windows_path "$work/모두.jwpack")
clean() { rm -rf "$open" "$closed"; }
clean
trap clean EXIT
lesser() { under "$gpus" "$build/tests/windows/lesser.exe" "$(windows_path "$build/src/jitwarm.exe")" "$@"; }

# plant: an empty folder of administrators with one file, and a folder for everybody
plant() {
	clean
	mkdir "$closed" "$open"
	echo theirs > "$closed/kept"
	chmod 755 "$drive" "$closed"
	chmod 777 "$open"
}
# untouched WHAT: nothing has changed in the folder of administrators
untouched() {
	[ "$(ls -A "$closed")" = kept ] && [ "$(cat "$closed/kept")" = theirs ] || fail "$1: changed the folder of administrators: $(ls -A "$closed")"
}
refused() {
	exits 3 "$1"
	complains 'is a link that is not followed with administrator'
	untouched "$1"
}

jitwarm prime --quiet "$sample_dll"
exits 0 prime
jitwarm export -o "$pack"
exits 0 export

# Without links the same folder does
plant
jitwarm import --allow-unsigned --cache 'C:\open\cache' "$pack"
exits 0 'import into a folder of another account'

# The folder itself, and one above it
plant
ln -s ../closed "$open/cache"
jitwarm import --allow-unsigned --cache 'C:\open\cache' "$pack"
refused 'import through a link'
jitwarm import --allow-unsigned --cache 'C:\open\cache\below' "$pack"
refused 'import below a link'
jitwarm prime --quiet --cache 'C:\open\cache' "$sample_dll"
refused 'prime through a link'
jitwarm cache clear --yes --cache 'C:\open\cache'
untouched 'cache clear'

# A name below a device: no walk can tell who has made what is on its way
for place in '\\.\pipe\cache' '\\?\GLOBALROOT\DosDevices\C:\open\cache'; do
	jitwarm import --allow-unsigned --cache "$place" "$pack"
	# Of the first it is already seen that it is no folder.
	if [[ $place == '\\.\pipe'* ]]; then
		exits 64 "import into $place"
		complains 'not a directory'
	else
		exits 3 "import into $place"
		complains 'is on a device'
	fi
	untouched "import into $place"
done

# A folder in the cache, and a file
plant
cp -r "$cache" "$open/cache"
chmod -R a+w "$open/cache"
rm -rf "$open/cache"/?
for first in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do ln -s ../../closed "$open/cache/$first"; done
rm "$open/cache/index"
jitwarm import --allow-unsigned --cache 'C:\open\cache' "$pack"
[ "$status" != 0 ] || fail 'import into a cache of links'
untouched 'import into a cache of links'
plant
mkdir -m 777 "$open/cache"
ln -s ../../closed/kept "$open/cache/index"
jitwarm import --allow-unsigned --cache 'C:\open\cache' "$pack"
[ "$status" != 0 ] || fail 'import over a link in place of the index'
untouched 'import over a link in place of the index'

# An output
plant
ln -s ../closed/kept "$open/out.jwpack"
ln -s ../closed "$open/folder"
jitwarm export -o 'C:\open\out.jwpack'
untouched 'export over a link'
jitwarm export -o 'C:\open\folder\new.jwpack'
refused 'export through a link'

# What is removed
plant
state=$home/AppData/Local/jitwarm
mkdir -p "$state/runs"
ln -s "$closed" "$state/work"
ln -s "$closed" "$state/runs/planted"
ln -s "$closed/kept" "$state/runs/file"
jitwarm uninstall
untouched uninstall
rm -rf "$state"

# A link of administrators in a folder of theirs is followed, and so is any link for whoever is no administrator
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
