# A first start prints nothing for minutes, as if it hung. In another window, jitwarm says that the driver compiles.
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
! is_emulated || skip "an emulator shows no library of a process"
export SIMDRIVER_GATE=$place/gate SIMDRIVER_FAULT=wait:sample_network SIMDRIVER_LOG=$place/log CUDA_CACHE_PATH=$place/cache
: >"$SIMDRIVER_GATE"
# shellcheck disable=SC2086
$runner "$app" >/dev/null 2>&1 &
app_process=$!
await grep -qs ' fault wait ' "$SIMDRIVER_LOG"
run 1 doctor --pid "$(sed -n 's/ fault wait .*//p' "$SIMDRIVER_LOG")"
out_has "modules"
rm "$SIMDRIVER_GATE"
wait $app_process
