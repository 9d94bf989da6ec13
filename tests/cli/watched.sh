# For watch*.sh: a process that is watched, whose number is in victim.
program=$JITWARM
varies json '^(entries|bytes)$' # depends on how far another program has come
varies text '^TIME: ' # whether a new program still waits
end_victim() { kill -9 "$victim" 2>/dev/null || true; wait "$victim" 2>/dev/null || true; }
end_all() { jobs -p | xargs -r kill -9 2>/dev/null || true; } # ctest waits until each program with its pipe has ended
trap end_all EXIT
ready() { grep -q "^$1" "/proc/$victim/comm" 2>/dev/null; }
