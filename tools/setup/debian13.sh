# shellcheck shell=bash
# The Debian 13 leg of ./check --full: a chroot, made once and kept in the cache folder, in which ./check itself is run.
# Its mounts and processes live in namespaces of their own, so that they are gone when this script is, however it ends.
# shellcheck disable=SC2154 # variables of ./check and choose_cache

# namespaced COMMAND...: in new mount and process namespaces. unshare passes no TERM on, hence --kill.
namespaced() { mortal --kill unshare --mount --pid --fork --kill-child=KILL -- "$@"; }

why_not_debian13() {
  if [[ $(id -u) != 0 ]]; then echo "making a chroot needs root"
  elif ! command -v debootstrap >/dev/null; then echo "debootstrap is not installed"
  elif ! unshare --mount --pid --fork true 2>/dev/null; then echo "this system allows no namespaces"
  elif [[ -z $(machine_mirrors) && ! -d $weir_cache/debian13 ]]; then echo "no Debian mirror in apt's configuration"
  fi
}

# make_chroot FOLDER: aside and then renamed, so that a chroot that exists is whole
make_chroot() {
  local folder=$1 new=$1.new mirror
  rm -rf --one-file-system -- "$new"
  mirror=$(plain_mirror "$(machine_mirrors | head -n 1)")
  eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
  export http_proxy=${http_proxy:-}
  namespaced debootstrap --variant=minbase --include=ca-certificates trixie "$new" "$mirror" || return 1
  # apt's ways to the network, no services started, and no waiting for the disk: it can be made anew
  apt-config dump | grep -E '^Acquire::([a-z]+::Proxy|Check-Valid-Until) ' >"$new/etc/apt/apt.conf.d/50weir" || true
  printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d"
  chmod +x "$new/usr/sbin/policy-rc.d"
  echo force-unsafe-io >"$new/etc/dpkg/dpkg.cfg.d/weir"
  mv -T -- "$new" "$folder"
}

# copy_tree TO: the sources as they are now, committed or not. TO keeps its own build folders for the next time, and what did not change its
# times: all else is newer than anything that was built, whenever it was edited.
copy_tree() {
  local to=$1 new=$1.new file
  rm -rf --one-file-system -- "$new"
  mkdir -p -- "$to" "$new"
  tar -C "$weir_root" --exclude=./.git --exclude=./.cache --exclude=./build --exclude='./build-*' -cf - . | tar -C "$new" -xmf - || return 1
  while IFS= read -r -d '' file; do
    if cmp -s -- "$to/$file" "$new/$file"; then touch -r "$to/$file" -- "$new/$file"; fi
  done < <(cd -- "$new" && find . -type f -print0)
  find "$to" -mindepth 1 -maxdepth 1 \( -name 'build' -o -name 'build-*' \) -exec mv -t "$new" -- {} +
  rm -rf --one-file-system -- "$to"
  mv -T -- "$new" "$to"
}

check_in_chroot() {
  local root=$1 file arguments=(-j "$jobs")
  if [[ -n $filter ]]; then arguments+=(--filter "$filter"); fi
  for file in resolv.conf hosts; do
    if [[ -r /etc/$file ]]; then cp --remove-destination -L -- "/etc/$file" "$root/etc/$file"; fi
  done
  copy_tree "$root/weir" || return 1
  namespaced bash "$setup_folder/enter-chroot.sh" "$root" /weir/check "${arguments[@]}"
}

debian13_locked() {
  local root=$weir_cache/debian13 log=$weir_cache/logs/debian13.log
  if [[ ! -d $root ]]; then
    stage "making a Debian 13 chroot (once; about 1.4 GB in the end)" "$weir_cache/logs/debootstrap.log" make_chroot "$root" || return 1
  fi
  stage "building and testing in Debian 13" "$log" check_in_chroot "$root"
}

# The inner ./check counts; its last line is taken over.
debian13_leg() {
  local start=$SECONDS status=0 log=$weir_cache/logs/debian13.log last passed failed skipped
  rm -f -- "$log"
  with_lock "$weir_cache/debian13.lock" debian13_locked || status=$?
  last=$(tail -n 1 -- "$log" 2>/dev/null || true)
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
    passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[4]:-0}
    grep -E '^check: (skipped|failed|only) ' "$log" || true
    if (( status != 0 && failed == 0 )); then failed=1; fi
    leg_result debian13 "$passed" "$failed" "$skipped" $((SECONDS - start)) "log in $log"
  else leg_result debian13 0 1 0 $((SECONDS - start)) "ended with status $status; see $log"
  fi
}
