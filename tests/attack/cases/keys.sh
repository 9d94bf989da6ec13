# Root trusts no key, and signs with none, that another account can change: in its own state after a chown, in a named folder, or named by a file.
. "$cases/../lib.sh"
with_simdriver sm_86
export JITWARM_STATE=$work/state CUDA_CACHE_PATH=$work/cache
run 0 prime --quiet "$sample"
run 0 key generate
run 0 export --quiet --sign -o "$work/lab.jwpack"
run 0 key trust "$work/state/keys/default.pub" lab
accepts() { rm -rf "$work/into" && run "$1" import --cache "$work/into" "$work/lab.jwpack"; }
rm "$work/state/trusted/default.pub" && accepts 0
chown $mallory "$work/state/trusted/lab.pub" && accepts 2
err_has "belongs to account $mallory"
chown 0 "$work/state/trusted/lab.pub" && chmod 666 "$work/state/trusted/lab.pub" && accepts 2
err_has "other accounts may write to"
chmod 644 "$work/state/trusted/lab.pub" && chown $mallory "$work/state/trusted" && accepts 2
chown 0 "$work/state/trusted" && accepts 0
mkdir -m 777 "$open/keys" && mv "$work/state/trusted/lab.pub" "$open/keys/lab.pub"
JITWARM_TRUSTED_KEYS=$open/keys run 2 import --cache "$work/into" "$work/lab.jwpack"
err_has "chmod go-w $open/keys"
chmod 755 "$open/keys"
(export JITWARM_TRUSTED_KEYS=$open/keys && accepts 0) || exit 1
signs() { run "$1" export --sign "${@:2}" -o "$work/signed.jwpack"; }
signs 0
chown $mallory "$work/state/keys/default.key" && signs '2|3'
chown 0 "$work/state/keys/default.key" && chown $mallory "$work/state/keys" && signs '2|3'
chown 0 "$work/state/keys" && cp "$work/state/keys/default.key" "$home/a.key" && signs '2|3' --key "$home/a.key"
ln -s "$home/a.key" "$work/a.key" && signs '2|3' --key "$work/a.key"
signs 0
