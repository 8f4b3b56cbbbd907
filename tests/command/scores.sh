#!/usr/bin/env bash
# weir report --score-table as a user runs it: scores.sh PATH-OF-WEIR FOLDER-OF-TEST-DATA.
set -uo pipefail
weir=$1
data=$2
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"
enter_empty_folder

# The tables of the paper, by the printed scores.
table() {
  "$weir" report --score-table "$data/scores/$1" | awk '/^$/ { exit } NR > 1 { print $8 }' | tr '\n' ' '
}
[ "$(table table_6_1.csv)" = '4.83 4.50 4.83 3.67 3.33 3.67 6.50 4.67 ' ] || failed "Table 6.1: $(table table_6_1.csv)"
[ "$(table table_6_2.csv)" = '4.00 4.17 2.83 2.67 3.17 4.17 ' ] || failed "Table 6.2: $(table table_6_2.csv)"
expect 0 '^configuration .*score$' "$weir" report --score-table "$data/scores/table_6_1.csv"
expect 0 'T:agg=1,rr=1,req=4 has the best score, 3.33' "$weir" report --score-table "$data/scores/table_6_1.csv"

# And by the JSON.
expect 0 best "$weir" report --score-table "$data/scores/table_6_2.csv" --json out.json
python3 - out.json <<'PYTHON' || failed 'the JSON of Table 6.2'
import json, sys
rows = json.load(open(sys.argv[1]))["scores"]
assert [row["score"] for row in rows] == [4.00, 4.17, 2.83, 2.67, 3.17, 4.17], rows
assert rows[3]["configuration"] == "T:agg=1,rr=1,req=8", rows
PYTHON

# Measured runs: ratios, intervals, chances.
cat > runs.csv <<'CSV'
configuration,req_qdepth,R_BW,throughput
original,100,0.10,1.0e9
original,110,0.11,1.1e9
original,105,0.10,1.0e9
tuned,10,0.30,3.0e9
tuned,11,0.31,3.1e9
tuned,12,0.29,3.2e9
CSV
expect 0 'tuned moved (2\.9|3\.0).*times the bytes per second of original' "$weir" report --score-table runs.csv --measured
expect 0 'Nothing moved more bytes per second than tuned' "$weir" report --score-table runs.csv --measured --baseline tuned

# What is wrong with a table is said with its place.
printf 'configuration,m\na,1\nb,x\n' > bad.csv
expect 2 "bad.csv:3.*'x' is not a number" "$weir" report --score-table bad.csv
expect 2 '0.1 is not a rank.*--measured' "$weir" report --score-table runs.csv
expect 2 "no run is of the baseline 'tnued'.*original or tuned" "$weir" report --score-table runs.csv --measured --baseline tnued
expect 1 'nowhere.csv' "$weir" report --score-table nowhere.csv
expect 1 'No such file' "$weir" report --score-table "$data/scores/table_6_1.csv" --json missing/folder/out.json
printf 'configuration,m\n\xff\xfe,1\nb,2\n' > bytes.csv
expect 0 '"score"' "$weir" report --score-table bytes.csv --json -

[ "$failures" = 0 ] || { printf '%s checks failed\n' "$failures"; exit 1; }
