#!/bin/sh
# Makes the recorded machines of this folder again, from hwloc's synthetic descriptions (lstopo is in Debian's hwloc-nox):
#   tests/data/platform/regenerate.sh
# vm-2core.xml is a real machine, saved with `lstopo --no-io --of xml` and stripped of its name and serial numbers; it is kept as it is.
#
# The drawings (*.txt) are made again, to be looked at and committed, by the tests that compare them:
#   WEIR_UPDATE_GOLDEN=1 ctest -R Drawing
set -eu
cd "$(dirname "$0")"

# make FILE SYNTHETIC MODEL [LSTOPO-ARGUMENT ...]: without what lstopo says of the machine that it runs on
make() {
  file=$1 synthetic=$2 model=$3
  shift 3
  lstopo-no-graphics -i "$synthetic" --of xml "$@" - |
    sed -e '/<info /d' -e "s|\(<object type=\"Package\"[^>]*>\)|\1\n      <info name=\"CPUModel\" value=\"$model\"/>|" > "$file"
}

make archer2.xml 'pack:2 numa:4(memory=34359738368) l3:4(size=16777216) l2:4(size=524288) l1d:1(size=32768) core:1 pu:2(indexes=2*128:1*2)' \
  'AMD EPYC 7742'
make fulhame.xml 'pack:2 [numa(memory=137438953472)] l3:1(size=33554432) l2:32(size=262144) l1d:1(size=32768) core:1 pu:4(indexes=4*32:1*4:128*2)' \
  'Marvell ThunderX2'
make k.xml 'pack:1 [numa(memory=17179869184)] l2:1(size=6291456) l1d:8(size=32768) core:1 pu:1' 'SPARC64 VIIIfx'
# The format of hwloc 1, with memory above the cores instead of beside them.
make hwloc1.xml 'node:2(memory=1073741824) sock:1 l2:2(size=1048576) core:1 pu:2' '' --export-xml-flags v1
