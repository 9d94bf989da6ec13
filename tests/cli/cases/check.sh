# check: cold modules, remembered contents of files, and GPUs and drivers that are not here.
mkdir "$work/lib"
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' >"$work/lib/a.ptx"
sed 's/entry k/entry other/' "$work/lib/a.ptx" >"$work/lib/b.ptx"
cp "$work/lib/a.ptx" "$work/lib/c.ptx" # the same module once more
touch -d '2020-01-01 00:00:00' "$work"/lib/*.ptx
gpu=(--target sm_86 --driver 550.163.01 --cache cache)

run 64 check --target sm_86a --driver 550.163.01 lib
err_one_line
err_has "a GPU has no suffix"
run 64 check --target sm_68 lib
err_one_line
run 64 check --target sm_86 --driver 12 lib
err_one_line

run 1 check "${gpu[@]}" --json lib
json 'd["schema"] == "jitwarm.check/1" and d["modules"] == d["cold"] == 2 and d["warm"] == 0 and d["names_known"]'
json '[g["target"] for g in d["gpus"]] == ["sm_86"] and d["link"] == d["left_out"] == d["cannot"] == 0'
run 1 check "${gpu[@]}" --target sm_120 --json lib
json 'd["modules"] == 4 and len(d["gpus"]) == 2'
run 1 check "${gpu[@]}" lib
out_has "sm_86 (RTX 30): 2 of 2 modules are cold"
run 1 check "${gpu[@]}" --quiet lib
out_empty
err_empty
[[ ! -e cache/index ]] || fail "check wrote into the cache"

# Files that look the same are not read again; one that looks different is.
printf '%s' "$(tr 'a-z' 'x' <lib/b.ptx)" >"$work/garbage"
printf '\n' >>"$work/garbage"
cp "$work/garbage" lib/b.ptx
touch -d '2020-01-01 00:00:00' lib/b.ptx
run 1 check "${gpu[@]}" --json lib
json 'd["modules"] == 2'
touch -d '2020-01-01 00:00:01' lib/b.ptx
run "0|1" check "${gpu[@]}" --json lib
json 'd["modules"] == 1'

# A damaged inventory is ignored and rewritten.
inventory=$(echo "$work"/state/inventory-*)
printf 'JWINV\0\1\0garbage' >"$inventory"
run 1 check "${gpu[@]}" --json lib/a.ptx
json 'd["modules"] == 1'
run 1 check "${gpu[@]}" --json lib/a.ptx
json 'd["modules"] == 1'
rm "$inventory" && mkdir "$inventory"
run 1 check "${gpu[@]}" --json lib/a.ptx
json 'd["modules"] == 1'
rmdir "$inventory"

# PTX that the driver is too old for: nothing can be compiled beforehand.
sed 's/version 7.0/version 8.4/' lib/a.ptx >lib/new.ptx
run 2 check --target sm_86 --driver 535.309.01 --json lib/new.ptx
json 'd["modules"] == 0 and d["cannot"] == 1'
run 1 check --target sm_86 --driver 550.163.01 --json lib/new.ptx
json 'd["modules"] == 1 and d["cannot"] == 0'
# Without a driver's stamp nothing can be said to be warm.
run 1 check --target sm_86 --driver 12.4 --json lib/a.ptx
json 'not d["names_known"] and d["cold"] == 1'
err_has "are unknown, so every module counts as cold"
# Nothing for this GPU at all is no failure of jitwarm's.
sed 's/sm_70/sm_90/' lib/a.ptx >lib/newer.ptx
run 0 check "${gpu[@]}" --json lib/newer.ptx
json 'd["modules"] == 0 and d["cannot"] == 0'

# What is remembered of the GPUs names the library that the driver was loaded from. Where that is not there, they are asked again.
with_simdriver sm_86
run 0 status --json
run 0 status --json
json 'd["remembered"]'
sed -i 's|"library":"[^"]*"|"library":"'"$(is_wine && echo Z:)$work/absent"'/libcuda.so.1"|' "$work/state/devices.json"
run 1 check --json lib/a.ptx
json 'd["names_known"] and d["cold"] == 1'
run 0 status --json
json 'd["driver"]["library"].lower().endswith(("/libcuda.so.550.200.01", "nvcuda.dll"))'
