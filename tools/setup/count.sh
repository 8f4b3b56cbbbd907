# shellcheck shell=bash
# Counts the tests in the JUnit file that ctest wrote, and decides whether they suffice. Sourced; pure but for reading the file.

# read_junit FILE: first "PASSED FAILED SKIPPED", then a line "skipped NAME: REASON" or "failed NAME: REASON" for each such test.
# Each test case is judged by itself: ctest's own totals count a test whose program is missing as merely skipped.
# Not there, cut short or not JUnit: status 1.
read_junit() {
  awk '
    function attribute(name,   text) {
      if (!match($0, " " name "=\"[^\"]*\"")) return ""
      text = substr($0, RSTART, RLENGTH); sub(/^[^"]*"/, "", text); sub(/"$/, "", text)
      return text
    }
    function plain(text) {
      gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text); gsub(/&apos;/, "\x27", text); gsub(/&amp;/, "\\&", text)
      return text
    }
    # The reason a test gave: below "file:12: Skipped" (GoogleTest), else a line that speaks of skipping, else the last line.
    function hear(line) {
      sub(/^.*<system-out>/, "", line); sub(/<\/system-out>.*$/, "", line)
      if (line ~ /^[ \t]*$/) return
      if (gtest_next) { reason = line; gtest_next = 0; settled = 1; return }
      if (line ~ /: Skipped$/) { gtest_next = 1; return }
      if (settled || line ~ /^\[ *[A-Z=-]+ *\]/) return
      reason = line
      if (tolower(line) ~ /skip/) settled = 1
    }
    function judge() {
      if (status == "run") passed++
      else if (status == "disabled") note("skipped", "disabled")
      else if (status == "notrun" && message ~ /^SKIP_/) note("skipped", reason)
      else if (status == "notrun") note("failed", "did not run: " message)
      else note("failed", "")
    }
    function note(kind, why) {
      count[kind]++
      notes[++n] = kind " " plain(name) (why == "" ? "" : ": " plain(why))
    }
    /^<testsuite / { suite = 1 }
    /^<testsuite /, />/ { if (/\/>[ \t]*$/) whole = 1 }
    /^\t<testcase / { name = attribute("name"); status = attribute("status"); message = reason = ""; settled = gtest_next = inside = 0; next }
    /^\t\t<skipped / { message = attribute("message"); next }
    /<system-out>/ { inside = 1 }
    inside { hear($0) }
    /<\/system-out>/ { inside = 0 }
    /^\t<\/testcase>/ { judge() }
    /^<\/testsuite>/ { whole = 1 }
    END {
      if (!suite || !whole) exit 1
      printf "%d %d %d\n", passed, count["failed"], count["skipped"]
      for (i = 1; i <= n; i++) print notes[i]
    }' "$1" 2>/dev/null
}

# count_text PASSED FAILED SKIPPED: "N passed, N failed", and the skipped if any
count_text() {
  printf '%d passed, %d failed' "$1" "$2"
  if (( $3 > 0 )); then printf ', %d skipped' "$3"; fi
}

# enough_tests RAN MINIMUM: says so when too few tests ran: tests that silently no longer run must not look like success
enough_tests() {
  if (( $1 >= $2 )); then return 0; fi
  printf 'check: only %d tests ran, at least %d must (minimum_tests in ./check)\n' "$1" "$2"
  return 1
}
