#!/bin/bash
# check and cache verify: cold, warm, damaged.
. "$(dirname "$0")/lib.sh"
has_command check || exit 77
has_command cache verify || exit 77
fresh_user
dll=$(windows_path "$sample_dll")

jitwarm prime --quiet "$dll"
exits 0 prime
[ ! -s "$out" ] || fail 'prime --quiet says something'

jitwarm check --json "$dll"
exits 0 'check after prime'
json_is 'd["schema"], d["modules"], d["warm"], d["cold"]' "('jitwarm.check/1', 8, 8, 0)"

jitwarm cache verify --json
exits 0 'cache verify'
json_is 'd["schema"], d["entries"], d["sound"], d["damaged"], d["rows"]' "('jitwarm.cache-verify/1', 8, 8, 0, 8)"
json_is 'd["rows_without_file"], d["files_without_row"], d["foreign"]' '(0, 0, 0)'
jitwarm cache verify --json --cache "$(windows_path "$cache")"
exits 0 'cache verify --cache'
jitwarm cache list --json
exits 0 'cache list'

# A row without a file, a file without sense
entry=$(find "$cache" -type f ! -name index | sort | head -1)
head -c 100 "$entry" > "$entry.short"
mv "$entry.short" "$entry"
jitwarm cache verify --json
exits 1 'cache verify of a damaged entry'
json_is 'd["damaged"], d["sound"]' '(1, 7)'
jitwarm check --json "$dll"
exits 1 'check of a damaged cache'
json_is 'd["cold"]' 1

rm -rf "$home/AppData/Roaming/NVIDIA"
jitwarm check --json "$dll"
exits 1 'check without a cache'
json_is 'd["warm"]' 0
jitwarm cache verify --json
[ "$status" != 1 ] || fail 'a cache that is not there has no damage'
