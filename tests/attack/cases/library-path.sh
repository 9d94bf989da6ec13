# The limit that docs/security.md names: the system loads libraries from LD_LIBRARY_PATH into root's process before jitwarm begins, whoever
# owns the folder.
. "$cases/../lib.sh"
with_simdriver sm_86
mkdir "$home/lib"
library=$(ldd "${JITWARM##* }" | sed -n 's/^\t\([a-z]*json[^ ]*\|libzstd[^ ]*\) => \(\/[^ ]*\).*/\2/p' | head -n 1)
[[ -n $library ]] || skip "a program without shared libraries"
cp "$library" "$home/lib/" && chown -R $mallory "$home"
export LD_LIBRARY_PATH=$home/lib:$LD_LIBRARY_PATH
LD_DEBUG=libs LD_DEBUG_OUTPUT=$work/loaded run 0 --version
grep -qF "calling init: $home/lib/${library##*/}" "$work"/loaded.* || fail "root is protected from LD_LIBRARY_PATH: docs/security.md says that it is not"
