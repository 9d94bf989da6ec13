# What has no code for a GPU is named by its kernels, in scan, check and lint alike; check knows them from its inventory, too.
export JITWARM_STATE=$work/state
PYTHONPATH=$cases/../../framework python3 - "$work/libpart.so" <<'PYTHON'
import sys
import fatbin

def container(kernel, *capabilities):
    return fatbin.container(*(fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, kernel, 64)) for sm in capabilities))

whole = [container(f"k{i}", 80, 90) for i in range(4)]
open(sys.argv[1], "wb").write(fatbin.library(*whole, container("_ZN2at6native4copyIfEEvPT_", 80), container("gemm", 80, 86)))
PYTHON
lacking='(kernels: gemm, at::native::copy)'
run 0 scan --target h100 "$work/libpart.so"
out_has "2 of 6 pieces have no code for this GPU: a program that uses one fails $lacking"
run 1 lint --gpus h100 "$work/libpart.so"
out_has "2 of 6 pieces have no code for sm_90: a program that uses one fails $lacking"
for time in first second; do
	run 0 check --target h100 --driver 550.163.01 "$work/libpart.so"
	err_has "2 of 6 pieces have no code for sm_90: a program that uses one fails $lacking"
done
# All of them run, and none is named
run 0 scan --target a100 "$work/libpart.so"
out_lacks "kernels"
