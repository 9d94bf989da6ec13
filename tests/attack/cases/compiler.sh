# Root runs no compiler that another account may replace: neither a ptxas that is named or found, nor NVRTC and its second library.
. "$cases/../lib.sh"
with_simdriver sm_86
marks=$open/marks
mkdir -m 777 "$marks"
# fake_ptxas FILE: writes a program that claims to be CUDA 12.4's ptxas, leaves a mark, and compiles nothing
fake_ptxas() {
	mkdir -p "$(dirname "$1")"
	printf '#!/bin/sh\n: >%s/ran\necho "ptxas: NVIDIA (R) Ptx optimizing assembler"\necho "Cuda compilation tools, release 12.4, V12.4.131"\n[ "$1" = --version ]\n' "$marks" >"$1"
	chmod 755 "$1"
}
elsewhere=(make --target sm_86 --driver 550.163.01 -o "$open/made/" "$sample")
# refused WORD…: the last message has these words, and the fake compiler left no mark
refused() {
	local word
	for word in "$@" "is not run as root; run jitwarm as the account that it belongs to"; do err_has "$word"; done
	[[ ! -e $marks/ran ]] || fail "it was run"
}
ran() { [[ -e $marks/ran ]] || fail "it was not run: $(cat "$err")"; rm "$marks/ran"; }

fake_ptxas "$open/root's/ptxas"
run '0|1|2|3' "${elsewhere[@]}" --ptxas "$open/root's/ptxas"
ran
# The path leads through a symlink of root's.
ln -s "root's/ptxas" "$open/link"
run '0|1|2|3' "${elsewhere[@]}" --ptxas "$open/link"
ran

fake_ptxas "$home/cuda/bin/ptxas" && chown -R $mallory "$home/cuda"
# named PATH WORD: root refuses a compiler of that name with that word
named() {
	run 2 "${elsewhere[@]}" --ptxas "$1"
	err_has "$2"
	[[ ! -e $marks/ran ]] || fail "it was run"
}
named "$home/cuda/bin/ptxas" "$home belongs to"
fake_ptxas "$open/shared/ptxas" && chmod 757 "$open/shared"
named "$open/shared/ptxas" "other accounts may write to $open/shared"
chmod 755 "$open/shared" && chmod 666 "$open/shared/ptxas"
named "$open/shared/ptxas" "other accounts may write to $open/shared/ptxas"
# A symlink of the account leads to a folder of root's.
mkdir -m 1777 "$open/sticky"
as_mallory ln -s "$open/root's" "$open/sticky/cuda"
CUDA_HOME=$open/sticky JITWARM_PTXAS=$open/none run '2|3' "${elsewhere[@]}"
[[ ! -e $marks/ran ]] || fail "it was run"
ln -s "$open/sticky/cuda" "$open/root's/bin"
(PATH=$open/sticky/cuda:$PATH CUDA_HOME=$open/none JITWARM_PTXAS=$open/none run '2|3' "${elsewhere[@]}" && refused "$open/sticky/cuda belongs to") || exit 1
rm "$open/root's/bin"

# A found compiler that root must not run is passed over for the next one; if there is no other, the message says why.
(PATH=$home/cuda/bin:$PATH CUDA_HOME=$open/none JITWARM_PTXAS=$open/none run '2|3' "${elsewhere[@]}" && refused "$home belongs to" "needs ptxas 12.4") || exit 1
(PATH="$home/cuda/bin:$open/root's:$PATH" CUDA_HOME=$open/none JITWARM_PTXAS=$open/none run '0|1|2|3' "${elsewhere[@]}") || exit 1
ran

# NVRTC
fake=$build/tests/nvrtc/libnvrtc.so.12
[[ -e $fake ]] || skip "no library that looks like NVRTC"
echo "__global__ void k() {}" >"$open/good.cu"
cp "$fake" "$home/cuda/" && chown $mallory "$home/cuda/libnvrtc.so.12"
run 2 prime "$open/good.cu" --no-store --nvrtc "$home/cuda/libnvrtc.so.12"
err_has "$home belongs to"
mkdir "$open/nvrtc" && cp "$fake" "$open/nvrtc/"
run 0 prime "$open/good.cu" --no-store --nvrtc "$open/nvrtc/libnvrtc.so.12"
out_has "compiled by NVRTC 12.0"
# The library of NVRTC's builtins lies beside it.
as_mallory sh -c ": >'$marks/builtins'"
ln -s "$marks/builtins" "$open/nvrtc/libnvrtc-builtins.so.12.0"
echo "__global__ void other() {}" >"$open/good.cu"
run '2|3' prime "$open/good.cu" --no-store --nvrtc "$open/nvrtc/libnvrtc.so.12"
err_has "libnvrtc-builtins.so.12.0 is not run as root"

# NVRTC opens whatever a source or a header includes, and writes what options name. For root it gets nothing that an account can change: the
# source, a folder of headers, an output, and the current folder.
rm "$open/nvrtc/libnvrtc-builtins.so.12.0"
cuda() { run 2 prime --no-store --nvrtc "$open/nvrtc/libnvrtc.so.12" "$@" && err_has "gives NVRTC no source and no path that another account can change"; }
echo "__global__ void theirs() {}" >"$home/k.cu" && chown $mallory "$home/k.cu"
cuda "$home/k.cu"
err_has "$home/k.cu: $home belongs to"
mkdir -m 1777 "$open/everyones"
for option in -I= --include-path= -include= --pre-include= -I "-I " "--pre-include " --time= -time= --fdevice-time-trace= --create-pch= --use-pch= "--pch-dir "; do
	cuda "$open/good.cu" --nvrtc-options "-DN=1 $option$home"
	cuda "$open/good.cu" --nvrtc-options "$option$open/everyones"
done
err_has "other accounts may write to $open/everyones"
cuda "$open/good.cu" --nvrtc-name "$home/good.cu"
(cd "$open/everyones" && cuda "$open/good.cu") || exit 1
run 0 prime --no-store --nvrtc "$open/nvrtc/libnvrtc.so.12" "$open/good.cu" --nvrtc-options "-I $open/nvrtc -I$open/none"
