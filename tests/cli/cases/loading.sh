# All commands say the same of a library that is loaded lazily, and of one that is loaded whole: how many modules, and whether a start
# compiles all of them. The note on lazy loading is said once for each answer.
with_simdriver sm_86
environment "$work/venv" 1.0
site=$(site_of "$work/venv")
export VIRTUAL_ENV=$work/venv
PYTHONPATH=$cases/../../framework python3 - "$site" <<'PYTHON'
import os, shutil, sys
import fatbin
site = sys.argv[1]
shutil.rmtree(site + "/frame")
shutil.rmtree(site + "/frame-1.0.dist-info")
# A runtime inside the library is its compiler's: 12.0 loads lazily, 11.0 does not.
for name, isa in ("lazy", (8, 0)), ("eager", (7, 0)):
    def ptx(kernel):
        body = "".join(f"\tadd.u32 %r{i % 8}, %r{i % 8}, {i};\n" for i in range(3000))
        text = f".version {isa[0]}.{isa[1]}\n.target sm_70\n.address_size 64\n.visible .entry {name}{kernel}()\n{{\n\t.reg .u32 %r<8>;\n{body}\tret;\n}}\n"
        return fatbin.entry(fatbin.PTX, 70, fatbin.ptx_payload(text.encode()), isa=isa)
    os.makedirs(f"{site}/{name}/lib")
    open(f"{site}/{name}/lib/lib{name}.so", "wb").write(fatbin.library(*[fatbin.container(ptx(i)) for i in range(3)]))
    os.makedirs(f"{site}/{name}-1.0.dist-info")
    open(f"{site}/{name}-1.0.dist-info/METADATA", "w").write(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    open(f"{site}/{name}-1.0.dist-info/RECORD", "w").write(f"{name}/lib/lib{name}.so,,\n")
PYTHON
note="when first used"

# STATUS, what the command says of the lazy library, what of the eager one, how often it explains lazy loading; the command
while IFS='|' read -r status lazy eager notes command; do
	for package in lazy eager; do
		text=$lazy times=$notes
		[[ $package == lazy ]] || text=$eager times=0
		compared=(snapshot)
		[[ $command != doctor* ]] || compared=(differs_for WINDOWS snapshot) # which names the lost cache on Linux only
		# shellcheck disable=SC2086
		"${compared[@]}" run "$status" ${command//PACKAGE/$package}
		out_has "$text"
		[[ $(grep -c "$note" "$out") == "$times" ]] || fail "not $times times: $note"
	done
done <<TABLE
0|up to 3 modules (|3 modules to compile (|1|scan PACKAGE
0|up to 3 modules (|3 modules to compile (|1|scan --target sm_86 PACKAGE
1|up to 3 of 3 modules, up to|3 of 3 modules to compile: first start|1|check PACKAGE
1|up to 3 of 3 modules, up to|3 of 3 modules to compile: first start|1|check --target sm_86 PACKAGE
1|up to 3 of 3 modules, up to|3 of 3 modules to compile: first start|1|check --target sm_86 --driver 550.163.01 PACKAGE
2|up to 3 modules, if not in the cache (|3 modules to compile, if not in the cache (|1|check --target sm_89 --driver 580 PACKAGE
1|up to 3 modules, up to|a start compiles 3 modules|1|doctor --no-probe PACKAGE
0|up to 3 modules (|3 modules to compile (|1|lint --gpus rtx30 PACKAGE
1|3 of 3 modules to compile (|3 of 3 modules to compile (|1|prime -n PACKAGE
0|3 of 3 modules to compile (|3 of 3 modules to compile (|1|prime --no-store PACKAGE
0|warm, all 3 modules|warm, all 3 modules|0|check PACKAGE
TABLE
rm -rf "$work/cache"
snapshot run 1 status
out_has "lazy 1.0: up to 3 modules, up to"

# With a setting that declines lazy loading, all of this machine's commands say the whole.
CUDA_MODULE_LOADING=EAGER snapshot run 1 check lazy
CUDA_MODULE_LOADING=EAGER run 1 prime -n lazy
out_lacks "$note"
