# A key, a driver, an installed package and an environment of conda are not a file of the account's with their name in the current folder:
# keys and drivers for everybody, packages and environments for root.
. "$cases/../lib.sh"
with_simdriver sm_86
export JITWARM_STATE=$work/state CUDA_CACHE_PATH=$work/cache
chmod 755 "$home"
# Two keys: root types the one, and the account puts its own into a file of that name.
JITWARM_STATE=$work/theirs run 0 key generate theirs
run 0 key generate ours
public=$(tail -n 1 "$work/state/keys/ours.pub")
mkdir "$open/plain" && run 0 key distrust ours
as_mallory mkdir -p "$home/project" && cp "$work/theirs/keys/theirs.pub" "$open/theirs.pub" && chmod 644 "$open/theirs.pub"
as_mallory mkdir -p "$home/project/$(dirname "$public")"
as_mallory cp "$open/theirs.pub" "$home/project/$public"
cd "$home/project" || fail "no folder"
run 0 key trust "$public" lab
[[ $(tail -n 1 "$work/state/trusted/lab.pub") == "$public" ]] || fail "another key is trusted: $(cat "$work/state/trusted/lab.pub")"
# --key NAME is the key of that name.
as_mallory cp "$open/theirs.pub" ours
run 0 prime "$sample"
run 0 export --sign --key ours -o "$work/pack.jwpack" "$sample"
out_has "$public"
# --driver 550 is the version.
as_mallory sh -c 'echo "no profile" >550.163.01'
run '0|1' check --target sm_86 --driver 550.163.01 "$sample"
run 64 ahead --driver 550.163.01 "$sample"
err_has "--driver: name the libcuda.so file of driver 550.163.01"
# An installed package is the package, and ./NAME the folder.
mkdir -p "$work/venv/lib/python3.11/site-packages/"{evil,evil-1.0.dist-info,cv9}
printf 'home = /usr/bin\nversion = 3.11.2\n' >"$work/venv/pyvenv.cfg"
site=$work/venv/lib/python3.11/site-packages
cp "$sample" "$site/evil/libroots.so"
printf 'Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n' >"$site/evil-1.0.dist-info/METADATA"
printf 'evil/libroots.so,,\nevil/__init__.py,,\ncv9/__init__.py,,\n' >"$site/evil-1.0.dist-info/RECORD"
touch "$site/"{evil,cv9}/__init__.py
export VIRTUAL_ENV=$work/venv
for name in evil cv9 other; do
	as_mallory mkdir $name
	as_mallory cp "$open/build/tests/framework/libsample_framework.so" $name/libtheirs.so
done
for name in evil cv9; do
	run '0|1' scan $name
	[[ $(cat "$out" "$err") == *libroots.so* && $(cat "$out") != *libtheirs.so* ]] || fail "$name is the folder: $(cat "$out" "$err")"
	err_has "$name: the package, not the path ./$name, which another account can change"
	run '0|1' scan ./$name
	out_has libtheirs.so
done
run 0 bake -o "$work/baked" evil
[[ -n $(find "$work/baked" -name libroots.so) && -z $(find "$work/baked" -name libtheirs.so) ]] || fail "baked: $(find "$work/baked")"
run '0|1' scan other
out_has libtheirs.so
# The unit of a start means the same.
run 0 startup enable --print evil
out_lacks "$home/project/evil"
out_has '"evil"'
# In a folder of root's own, a path has priority.
mkdir -p "$work/own/evil" && cp "$sample" "$work/own/evil/libmine.so" && cd "$work/own" || fail "no folder"
run '0|1' scan evil
out_has libmine.so
# conda's environment has priority, too.
mkdir -p "$work/conda/envs/evil/conda-meta" "$HOME/.conda"
echo "$work/conda/envs/evil" >"$HOME/.conda/environments.txt"
cd "$home/project" || fail "no folder"
run '0|1|2|3' scan -e evil
[[ $(cat "$out" "$err") == *"$work/conda/envs/evil"* ]] || fail "-e: $(cat "$out" "$err")"
# A command's name is the program on PATH, not the account's library of that name.
as_mallory cp "$open/build/tests/framework/libsample_framework.so" false
with_simdriver sm_50 # no code for it
run 1 run -- false
err_lacks "$home"
with_simdriver sm_86
# Root reads no settings in the account's folder, also if the file's name comes and goes.
printf '[tool.jitwarm.lint]\ngpus = ["sm_75"]\n' >"$open/pyproject.toml" && as_mallory cp "$open/pyproject.toml" pyproject.toml
as_mallory /usr/bin/python3 -c "import os, time
end = time.time() + 30
while time.time() < end:
    os.rename('pyproject.toml', 'away')
    os.rename('away', 'pyproject.toml')" >/dev/null 2>&1 &
for _ in {1..60}; do
	run '0|1|2' lint "$sample"
	out_has sm_120
done
untouched
