# An account holds a lease on its own file, which root opens: root does not wait for it, and says why the file cannot be read.
. "$cases/../lib.sh"
with_simdriver sm_86
chmod 755 "$home" && cp "$sample" "$home/lib.so" && chown $mallory "$home/lib.so"
hold_lease "$home/lib.so"
for command in check scan prime lint import; do
	limit=20 run 3 $command "$home/lib.so"
	err_one_line
	err_has "$home/lib.so: another program holds a lease on this file: end that program, or wait a minute"
done
