# shellcheck shell=bash
# All of the set-up, for ./weir and ./check to source. REQUIRES: weir_root.
# shellcheck disable=SC2154

setup_folder=$weir_root/tools/setup
# shellcheck source=tools/setup/common.sh
source "$setup_folder/common.sh"
# shellcheck source=tools/setup/mirror.sh
source "$setup_folder/mirror.sh"
# shellcheck source=tools/setup/packages.sh
source "$setup_folder/packages.sh"
# shellcheck source=tools/setup/adios2.sh
source "$setup_folder/adios2.sh"
# shellcheck source=tools/setup/echarts.sh
source "$setup_folder/echarts.sh"
# shellcheck source=tools/setup/uptodate.sh
source "$setup_folder/uptodate.sh"
# shellcheck source=tools/setup/build.sh
source "$setup_folder/build.sh"

# set_up_command: all that ./weir needs before it can run the command
set_up_command() {
  handle_signals
  choose_cache
  ensure_packages build
  build_preset release OFF weir-cli || exit 1
  trap - EXIT INT TERM HUP
}
