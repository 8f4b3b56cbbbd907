# shellcheck shell=bash
# What the tests of the set-up share: assertions, fakes on PATH, a miniature repository. Sourced by run.sh.
# shellcheck disable=SC2154 # work and repository come from run.sh

fail() { printf 'assertion failed: %s\n' "$*" >&2; exit 1; }
is() { [[ $1 == "$2" ]] || fail "expected '$2', got '$1'"; }
has() { [[ $1 == *"$2"* ]] || fail "'$2' is not in: $1"; }
lacks() { [[ $1 != *"$2"* ]] || fail "'$2' is in: $1"; }

# wait_for SECONDS COMMAND...: until COMMAND succeeds
wait_for() {
  local tries=$(($1 * 20))
  shift
  until "$@"; do
    if (( --tries < 0 )); then fail "waited in vain for: $*"; fi
    sleep 0.05
  done
}

# load_setup: the functions under test, with a cache and a root of this test's own
load_setup() {
  weir_root=$repository
  # shellcheck source=tools/setup/all.sh
  source "$repository/tools/setup/all.sh"
  # shellcheck source=tools/setup/count.sh
  source "$repository/tools/setup/count.sh"
  weir_cache=$work/cache
  mkdir -p -- "$weir_cache"
}

# fake NAME <<'SCRIPT': a program of that name, first on PATH. Its calls are kept in calls/NAME.
fake() {
  mkdir -p -- "$work/fakes" "$work/calls"
  # shellcheck disable=SC2016 # expanded by the fake
  { printf '#!/usr/bin/env bash\nprintf "%%s\\n" "$*" >>%q\n' "$work/calls/$1"; cat; } >"$work/fakes/$1"
  chmod +x "$work/fakes/$1"
  PATH=$work/fakes:${PATH#"$work/fakes:"}
}
calls() { cat -- "$work/calls/$1" 2>/dev/null || true; }
call_count() { calls "$1" | wc -l; }

# fake_dpkg MISSING...: all packages asked for are installed, except these
# shellcheck disable=SC2119,SC2120 # there may be none
fake_dpkg() {
  printf '%s\n' "$@" >"$work/missing"
  fake dpkg-query <<SCRIPT
format=\$3; shift 3; status=0
missing=" \$(tr '\n' ' ' <"$work/missing") "
for package; do
  if [[ \$missing == *" \$package "* ]]; then status=1; continue; fi
  case \$format in
    *Status*) printf 'installed=%s\n' "\$package" ;;
    *) if [[ \$package == *adios2* ]]; then printf '%s' "\${FAKE_ADIOS2:-1.2.3}"; else printf '4:1.2.3-4'; fi ;;
  esac
done
exit \$status
SCRIPT
}

fake_user() { fake id <<<"echo $1"; }

# miniature_repository FOLDER: the scripts under test, with stand-ins for all they build with.
# The stand-in of ninja "builds" a command that prints its arguments, or fails when the sources hold a file named broken.
miniature_repository() {
  mkdir -p -- "$1/src" "$1/include" "$1/tools"
  cp -r -- "$repository/weir" "$repository/check" "$repository/.ci" "$1/"
  cp -r -- "$repository/tools/setup" "$1/tools/"
  echo 'first' >"$1/src/a.cpp"
  fake_dpkg
  fake apt-get <<<'echo "E: no network in these tests"; exit 100'
  fake npm <<<'echo "no network in these tests"; exit 1'
  fake g++ <<<'exit 0'
  fake mpicxx.openmpi <<<'exit 0'
  fake cmake <<'SCRIPT'
if [[ $1 != --preset ]]; then echo "the stand-in knows presets only"; exit 1; fi
folder=build
if [[ $2 != release ]]; then folder=build-$2; fi
mkdir -p $folder && touch $folder/build.ninja
for argument; do case $argument in -DWEIR_BUILD_TESTS=*) echo "WEIR_BUILD_TESTS:BOOL=${argument#*=}" >$folder/CMakeCache.txt ;; esac; done
SCRIPT
  fake ninja <<'SCRIPT'
echo "[1/1] compiling"
if [[ -e $2/../src/broken ]]; then echo "a.cpp:1: error: broken on purpose"; exit 1; fi
mkdir -p "$2/bin"
printf '#!/usr/bin/env bash\nprintf "<%%s>" "$@"\n' >"$2/bin/weir"
chmod +x "$2/bin/weir"
SCRIPT
  export HOME=$work/home FAKE_ADIOS2=2.10.2+dfsg1-2
  mkdir -p -- "$HOME"
}

# fake_ctest JUNIT STATUS [AGAIN]: a ctest whose result is the given file, and AGAIN when what failed is tried again
fake_ctest() {
  fake ctest <<SCRIPT
result=$1
if [[ " \$* " == *" --rerun-failed "* ]]; then result=${3:-}; fi
while (( \$# )); do if [[ \$1 == --output-junit && -n \$result ]]; then cp -- "\$result" "\$2"; fi; shift; done
exit $2
SCRIPT
}
