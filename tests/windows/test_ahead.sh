#!/bin/bash
# A driver that waits for the boot: the loaded kernel module is the former one's, the installed library is a newer one's. The file of the
# module stands in for the list of loaded modules, in which Wine has none of NVIDIA's.
. "$(dirname "$0")/lib.sh"
make_newer
newer_jitwarm() { under_newer "$build/src/jitwarm.exe" "$@"; }
loads() { cp "$1/tests/simdriver/lib/nvcuda.dll" "$work/nvlddmkm.sys"; }
entries() { find "$cache" -path '*/?/?/*' -type f | sort; }

fresh_user
jitwarm ahead
exits 2 'ahead without a kernel module of NVIDIA'
complains 'no NVIDIA kernel module'
JITWARM_KERNEL_MODULE=$(windows_path "$work/nvlddmkm.sys")
export JITWARM_KERNEL_MODULE
loads "$build"
jitwarm ahead
exits 0 'ahead without another driver'
says 'Driver 551.61 is installed and running: nothing to prepare.'
jitwarm prime --no-store --json "$sample_dll"
exits 0 prime
modules=$(json 'd["compiled"]')
before=$(entries)

newer_jitwarm ahead --dry-run --json
exits 1 'ahead --dry-run'
json_is 'd["state"], d["pending"], d["running"], d["next"]' "('noticed', True, '551.61', '560.70')"
newer_jitwarm ahead "$sample_dll" --json
exits 1 'ahead without a compiler'
json_is 'd["state"], d["modules"], d["ready"]' "('no-compiler', $modules, 0)"
[ -z "$(comm -23 <(echo "$before") <(entries))" ] || fail 'entries of the running driver are gone'
newer_jitwarm startup status
says 'Driver 560.70 is installed and starts at the next boot'
jitwarm check "$sample_dll"
exits 0 'check under the running driver'

# the boot
loads "$newer"
newer_jitwarm ahead --dry-run --json
exits 1 'ahead --dry-run after the boot, for which no compiler prepared anything'
json_is 'd["state"], d["pending"], d["ready"]' "('live', False, 0)"
