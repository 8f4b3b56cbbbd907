# shellcheck shell=bash
# Which mirror: apt's two formats.
# shellcheck disable=SC2154

test_mirror_from_one_line_lists() {
  load_setup
  is "$(debian_mirrors "$here/data/apt-one-line" bookworm)" $'http://mirror.example/debian\nhttps://other-vendor.example/apt'
}

test_mirror_from_deb822_sources() {
  load_setup
  is "$(debian_mirrors "$here/data/apt-deb822" bookworm)" $'http://first.example/debian\nhttp://second.example/debian'
}

test_mirror_of_a_machine_without_lists() {
  load_setup
  mkdir -p empty/sources.list.d
  is "$(debian_mirrors "$work/empty" bookworm)" ''
}

test_mirror_list_in_a_file() {
  load_setup
  printf '# mirrors\n\nhttp://near.example/debian/ priority:1\nhttp://far.example/debian\n' >mirrors.list
  is "$(plain_mirror "mirror+file:$work/mirrors.list")" http://near.example/debian
  is "$(plain_mirror http://plain.example/debian)" http://plain.example/debian
}
