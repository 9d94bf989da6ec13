#!/bin/bash
# statics.sh LIBRARY   no object of libjitwarm keeps anything between calls that threads could meet, but for what is named here
set -euo pipefail
# What a worker's process keeps, which calls nothing else; what belongs to the process as a whole, as signals do (docs/library.md
# says which calls change it; below which folder an object worker follows no link, which folder doctor has looked at a process from); what threads share by a lock or atomically: a decoder, accounts' groups, an
# object store's keys, the age of known paths, that memory was short; what translates texts, which the program alone sets, before it starts threads.
allowed='worker.c.o:answer worker.c.o:hello worker.c.o:job worker.c.o:outcome task.c.o:module worker.c.o:logs
process.c.o:action_before process.c.o:held process.c.o:mask_before process.c.o:receiver process.c.o:first process.c.o:interrupted
container.c.o:idle_decoder object_s3.c.o:source
rights.c.o:kept at.c.o:present_age at.c.o:closed look_as.c.o:relative_cache mem.c.o:has_lacked text.c.o:text_language'
found=$(objdump -t "$1" | awk '/\.o: / { file = $1; sub(/:$/, "", file) }
	/ O \.(bss|data)[ \t]|\.data\.rel(\.local)?[ \t]/ { name = $NF; sub(/\.[0-9]+$/, "", name); print file ":" name }' | sort -u)
[ "$(wc -l <<<"$found")" -gt 10 ] || { echo "$1: hardly any statics at all: is objdump's format another one?"; exit 1; }
more=$(comm -23 <(echo "$found") <(tr ' ' '\n' <<<"$allowed" | sort -u))
gone=$(comm -13 <(echo "$found") <(tr ' ' '\n' <<<"$allowed" | sort -u))
[ -z "$more" ] || printf 'kept between calls:\n%s\n' "$more"
[ -z "$gone" ] || printf 'named in statics.sh, and not there:\n%s\n' "$gone"
[ -z "$more$gone" ]
