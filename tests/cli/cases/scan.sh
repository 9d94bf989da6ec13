# scan's options, and where names come from.
run 64 scan --target sm_ninety x.so
err_one_line
run 64 scan --driver abc x.so
err_one_line
program_path=$work/bin
run 3 scan --target sm_86 --driver 12.4
err_has "VIRTUAL_ENV"

# A package of a made-up environment, with one container that holds PTX.
empty_environment "$work/env"
site=$(site_of "$work/env")
mkdir -p "$site/frame-2.0.dist-info" "$site/frame"
printf 'Name: Frame\nVersion: 2.0\n' >"$site/frame-2.0.dist-info/METADATA"
printf 'frame/kernel.ptx,,\nframe/part.o,,\n../../../../../outside.ptx,,\n' >"$site/frame-2.0.dist-info/RECORD"
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n' >"$site/frame/kernel.ptx"
cp "$site/frame/kernel.ptx" "$work/outside.ptx"
# No program loads an object file, whatever is in it; by its name it is read.
framework=$(dirname "$(dirname "${JITWARM##* }")")/tests/framework
sample=$framework/libsample_framework.so
! is_wine || sample=$framework/sample_framework.dll
cp "$sample" "$site/frame/part.o"
run 0 scan --target sm_86 --driver 12.4 "$site/frame/part.o"
out_has "part.o"
export VIRTUAL_ENV=$work/env
run 0 scan --target sm_86 --driver 12.4 --json frame
json 'len(d["files"]) == 1 and posix(d["files"][0]["path"]).endswith("frame/kernel.ptx")'
json 'd["files"][0]["verdicts"]["sm_86"]["jit"] == 1'
err_has "outside of"
run 0 scan --json frame
json 'd["files"][0]["verdicts"].keys() <= {"sm_86"}'
run 0 scan --target sm_86 --driver 12.4
err_has "looking into the virtual environment"
out_has "kernel.ptx"
out_lacks "part.o"
run 0 scan --target sm_86 --quiet frame
out_empty
err_empty
run 3 scan --target sm_86 fraem
err_one_line
err_has "did you mean frame?"
run 3 scan --target sm_86 --json fraem
json 'd["schema"] == "jitwarm.error/1" and d["code"] == "not_found"'
