# A package of which one library lacks code for the GPU gets one answer from check and prime: the package runs, and a part of it fails.
with_simdriver sm_86
export CUDA_CACHE_PATH=$work/cache
empty_environment "$work/env"
export VIRTUAL_ENV=$work/env
site=$(site_of "$VIRTUAL_ENV")
dist_info "$site" pair 1.0 pair/main.so pair/extra.so
PYTHONPATH=$cases/../../framework python3 - "$site/pair" <<'PYTHON'
import sys
import fatbin

def cubin(sm):
    return fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "k", 64))

def write(name, *containers):
    open(sys.argv[1] + "/" + name, "wb").write(fatbin.library(*map(fatbin.container, containers)))

write("main.so", cubin(86), cubin(86))
write("extra.so", cubin(90))
PYTHON

# The same files without their package are two libraries, of which one fails.
for what in pair ""; do
	run 0 check $what
	err_has "extra.so: no code for sm_86: a program that uses this file fails"
	run 0 check --json $what
	json 'd["verdict"] == "runs" and d["failing"] == []'
	for dry in -n ""; do
		run 0 prime $dry $what
		out_lacks "can run on these GPUs"
		err_has "extra.so: no code for sm_86: a program that uses this file fails"
		run 0 prime $dry --json $what
		json '"verdict" not in d or d["verdict"] == "runs"'
	done
done
run 0 make --target sm_86 --driver 550.163.01 -n pair
out_lacks "can run on these GPUs"
for command in check prime "prime -n"; do
	run 2 $command "$site/pair/extra.so"
done
