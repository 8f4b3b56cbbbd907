# shellcheck shell=bash
# For tests that run the command as a user does. Sourced; the script ends with the number of `failures` in mind.
failures=0

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
