# If a pack lacks some of the entries, export ends with status 1, and tells unreadable files from damaged ones.
differs_for WINDOWS
. "$cases/../pack-entries.sh"
built="Apr  8 202512:10:18"
for number in 1 2 3; do pack_entry "$work/cache" $number "$built" 86; done
pack_entry "$work/cache" 4 "$built" 75
dir=$(native "$work/cache") pack=$(native "$work/a.jwpack")
export_all() { run "$1" export --all --cache "$dir" -o "$pack" "${@:2}"; }
file() { find "$work/cache" -path "$work/cache/?/?/*" -type f | sort | sed -n "$1p"; }
export_all 0 --json
json 'd["entries"] == 4 and d["damaged"] == d["unreadable"] == 0'
# Entries are left out by the user's choice.
export_all 0 --arch sm_75 --json
json 'd["entries"] == 1 and d["other_targets"] == 3'

# The module with which doctor examines the driver is nobody's.
pack_entry "$work/probe" 1 "$built" 86 "$cases/../../../ptx/probe.ptx"
run 3 export --all --cache "$(native "$work/probe")" -o "$(native "$work/none.jwpack")"
err_has "holds no module of a program"
[[ ! -e $work/none.jwpack ]] || fail "a pack with doctor's module"
pack_entry "$work/probe" 1 "$built" 86
run 0 export --all --cache "$(native "$work/probe")" -o "$pack" --json
json 'd["entries"] == 1 and d["unsuited"] == d["not_cuda"] == 0'

damaged=$(file 1) last=$(($(stat -c %s "$(file 1)") - 1))
printf '\377' | dd of="$damaged" bs=1 seek=$last conv=notrunc status=none
snapshot export_all 1 --json
snapshot export_all 1

# Nobody can read a folder in the place of an entry.
unreadable=$(file 2)
rm "$unreadable" && mkdir "$unreadable"
export_all 1 --json
json 'd["entries"] == 2 and d["damaged"] == 1 and d["unreadable"] == 1'
rm "$damaged"
export_all 1 --json
json 'd["entries"] == 2 and d["damaged"] == 0 and d["unreadable"] == 1'
snapshot export_all 1
rmdir "$unreadable"

# This account may not read an entry.
if ! is_wine && ((EUID)); then
	chmod 000 "$(file 2)"
	export_all 1 --json
	json 'd["damaged"] == 0 and d["unreadable"] == 1'
fi
