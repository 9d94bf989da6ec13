#!/bin/bash
# The main job: prime, and what the application then has compiled; again, interrupted by a fault, checked and damaged.
. "$(dirname "$0")/lib.sh"
has_command prime || exit 77
fresh_user
dll=$(windows_path "$sample_dll")

# What a first start costs without jitwarm
[ "$(app)" = 8 ] || fail 'the application does not have its eight modules compiled'
[ "$(app)" = 0 ] || fail "the driver's own cache does not work"
fresh_user

jitwarm status --json
exits 2 'status without a Python'
json_is 'd["gpus"][0]["target"]' sm_86
json_is 'd["driver"]["library"].lower()' 'c:\windows\system32\nvcuda.dll'
json_is 'd["driver"]["version"]' 551.61
json_is 'd["cache"]["path"]' "C:\\users\\$user\\AppData\\Roaming\\NVIDIA\\ComputeCache"
json_is 'd["state"]' "C:\\users\\$user\\AppData\\Local\\jitwarm"

jitwarm prime --json "$dll"
exits 0 prime
json_is 'd["compiled"], d["failed"], d["undone"], d["opaque"]' '(8, 0, 0, False)'
[ -f "$cache/index" ] || fail "no index in $cache"
[ "$(app)" = 0 ] || fail 'the application has modules compiled after prime'

# The second time nothing is left to do
export SIMDRIVER_LOG=$work/driver.log
jitwarm prime --json "$dll"
exits 0 'prime again'
json_is 'd["compiled"], d["cold"], d["warm"]' '(0, 0, 8)'
! grep -q ' compile ' "$SIMDRIVER_LOG" 2> /dev/null || fail 'the second prime compiles'
unset SIMDRIVER_LOG

# One entry damaged: it alone is compiled again
entry=$(find "$cache" -type f ! -name index | sort | head -1)
printf 'damage' | dd of="$entry" bs=1 seek=0 conv=notrunc 2> /dev/null
jitwarm prime --json "$dll"
exits 0 'prime after damage'
json_is 'd["compiled"]' 1
[ "$(app)" = 0 ] || fail 'the application has modules compiled after the repair'

# Nothing is left behind in the state folder
[ -z "$(find "$home/AppData/Local/jitwarm/runs" -mindepth 1 2> /dev/null)" ] || fail 'folders of runs are left behind'
