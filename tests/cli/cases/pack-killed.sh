# If import is killed at any moment, each entry is whole, and a second run completes it; the next export removes what a killed export has
# left.
. "$cases/../pack-entries.sh"

for n in $(seq 1 60); do pack_entry "$work/cache" "$n" "Apr  8 202512:10:18" 86; done
run 0 export --all --cache "$work/cache" -o "$work/a.jwpack"
varies run . && varies tree . # killed at any moment
for round in $(rounds 25); do
	[[ $((round % 5)) != 0 ]] || rm -rf "$work/copy"
	begin import -q --allow-unsigned --as-is --cache "$work/copy" "$work/a.jwpack"
	sleep "$(moment 50)"
	kill_begun
	[[ ! -d $work/copy ]] || run 0 cache verify --cache "$work/copy"
done
snapshot run 0 import --allow-unsigned --as-is --cache "$work/copy" "$work/a.jwpack"
fixed run . && fixed tree .
run 0 cache verify --cache "$work/copy" --json
json 'd["sound"] == 60 and d["rows"] == 60 and d["damaged"] == 0'

# Only a file with a name that nobody else gives, and that no running export has locked, is removed.
left=$work/.a.jwpack.jitwarm-0123abcd
own=("$work/.a.jwpack.jitwarm-notes" "$work/.b.jwpack.jitwarm-0123abcd" "$work/a.jwpack.0123abcd.part")
touch "$left" "${own[@]}"
if ! is_wine; then
	python3 - "$left" "$work/held" <<'PYTHON' &
import fcntl, os, sys, time
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(60)
PYTHON
	holder=$!
	await test -e "$work/held"
	touch -d "1 minute ago" "$left"
	run 0 export --all --cache "$work/cache" -o "$work/a.jwpack"
	[[ -e $left ]] || fail "what another export is writing was removed"
	kill "$holder" && wait "$holder" || :
fi
touch -d "1 minute ago" "$left" "${own[@]}"
run 0 export --all --cache "$work/cache" -o "$work/a.jwpack"
[[ ! -e $left ]] || fail "what a killed export has left stays"
for file in "${own[@]}"; do [[ -e $file ]] || fail "$file was removed"; done
