#!/usr/bin/env bash
# wild.sh WEIR LIBRARY CHECKER PROGRAM: calls without order, by the library alone: the recording has them as they came, and
# whoever loads it works them out. Then the same where ranks do not see rank 0's file, and where there is no room for it. Needs $MPIEXEC.
set -uo pipefail
weir=$1 library=$2 checker=$3 program=$4
work=$(mktemp -d)
trap 'mountpoint -q "$work/full" && umount "$work/full"; rm -rf "$work"' EXIT
mkdir "$work/data" "$work/out" "$work/full"
fail() { printf '%s\n' "$*" >&2; exit 1; }

version() { od -An -tu8 -j8 -N8 "$1" | tr -d ' '; }
checked() { # RECORDING
  [ "$(version "$1")" = 3 ] || fail "the calls of $1 were worked out by the job"
  "$checker" "$1" || fail "$1 is wrong"
  "$weir" record --show "$1" --json | grep -q '"pieces"' || fail "weir record --show $1"
  "$weir" plan --pattern "$1" --platform 2x4 --algorithms byslot,joint >"$work/plan" 2>&1 || fail "weir plan: $(cat "$work/plan")"
}
recorded() { # RECORDING RANKS WRAPPER...
  local recording=$1 ranks=$2
  shift 2
  env WEIR_RECORD="$recording" "$MPIEXEC" -n "$ranks" "$@" env LD_PRELOAD="$library" "$program" "$work/data"
}

for ranks in 1 4; do
  rm -f "$work"/data/*
  recorded "$work/out/wild" $ranks || fail "the program failed"
  checked "$work/out/wild"
  [ "$(ls "$work/out")" = wild ] || fail "left behind: $(ls "$work/out")"
done

head -c 200000 "$work/out/wild" >"$work/short"
"$checker" "$work/short" >"$work/said" 2>&1 && fail "a truncated recording was accepted"
cat "$work/said"
cp "$work/out/wild" "$work/damaged"
printf '\377\377\377' | dd of="$work/damaged" bs=1 seek=5000 conv=notrunc 2>/dev/null
"$checker" "$work/damaged" >"$work/said" 2>&1 && fail "a damaged recording was accepted"
cat "$work/said"
grep -q 'calls of rank 0' "$work/said" || fail "it does not say whose calls are damaged"

unshare -m true 2>/dev/null || { echo "skipped the rest: no mount namespaces here"; exit 0; }
cat >"$work/elsewhere" <<TEXT
#!/usr/bin/env bash
# Rank 0 and the others see different folders.
[ "\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-0}}" = 0 ] && exec "\$@"
exec unshare -m bash -c 'mount -t tmpfs none "$work/out" && exec "\$@"' _ "\$@"
TEXT
chmod +x "$work/elsewhere"
rm -f "$work"/data/*
recorded "$work/out/apart" 4 "$work/elsewhere" || fail "the program failed where ranks see different folders"
checked "$work/out/apart"

mount -t tmpfs -o size=256k none "$work/full" 2>/dev/null || { echo "skipped the rest: no tmpfs here"; exit 0; }
rm -f "$work"/data/*
recorded "$work/full/wild" 4 2>"$work/said" || fail "a full disk made the program fail: $(cat "$work/said")"
cat "$work/said"
grep -qiE 'no space|room' "$work/said" || fail "no word about the full disk"
[ -z "$(ls "$work/full")" ] || fail "left behind on the full disk: $(ls "$work/full")"
