with_simdriver sm_86
for n in 25000 50000 100000; do
rm -rf "$work/cache"; mkdir "$work/cache"
python3 - $n "$work/cache/index" <<'E'
import struct,sys
n=int(sys.argv[1])
open(sys.argv[2],'wb').write(struct.pack('<IIQ',0x41,n,0)+struct.pack('<QQ',7,0)*n)
E
s=$(date +%s.%N)
run 0 prime "$sample"
echo $n $(python3 -c "import time;print(time.time()-$s)")
done
