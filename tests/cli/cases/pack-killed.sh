# import killed at any moment: each entry is whole, and a rerun completes
. "$cases/../pack-entries.sh"

for n in $(seq 1 60); do pack_entry "$work/cache" "$n" "Apr  8 202512:10:18" 86; done
run 0 export --all --cache "$work/cache" -o "$work/a.jwpack"
for round in $(rounds 25); do
	[[ $((round % 5)) != 0 ]] || rm -rf "$work/copy"
	begin import -q --allow-unsigned --as-is --cache "$work/copy" "$work/a.jwpack"
	sleep "$(moment 50)"
	kill_begun
	[[ ! -d $work/copy ]] || run 0 cache verify --cache "$work/copy"
done
run 0 import --allow-unsigned --as-is --cache "$work/copy" "$work/a.jwpack"
run 0 cache verify --cache "$work/copy" --json
json 'd["sound"] == 60 and d["rows"] == 60 and d["damaged"] == 0'
