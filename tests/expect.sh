# shellcheck shell=bash
# For tests that run the command as a user does. Sourced; the script ends with the number of `failures` in mind.
failures=0

# enter_empty_folder: makes a folder of its own for the script, `work`, and goes there; nothing of the user's is seen or touched.
enter_empty_folder() {
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
  cd "$work" || exit 1
  mkdir tmp
  export XDG_DATA_HOME=$work/data TMPDIR=$work/tmp
}

failed() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$*"
}

# expect CODE PATTERN COMMAND...: the command ends with that code, and its output (both streams) matches the pattern.
expect() {
  local code=$1 pattern=$2 output actual
  shift 2
  output=$("$@" 2>&1 </dev/null)
  actual=$?
  if [ "$actual" != "$code" ] || ! grep -qE -- "$pattern" <<<"$output"; then
    failed "$*"
    printf '  wanted code %s and /%s/, got code %s and:\n%s\n' "$code" "$pattern" "$actual" "$output" | head -40
  fi
}
