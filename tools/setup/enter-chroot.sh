#!/usr/bin/env bash
# enter-chroot.sh ROOT COMMAND...: mounts what programs expect, then runs COMMAND in ROOT.
# REQUIRES: to be process 1 of new mount and process namespaces (debian13.sh); never call it outside of them.
set -euo pipefail

root=$1
shift
if [[ $$ != 1 ]]; then echo "enter-chroot.sh must run in its own namespaces" >&2; exit 1; fi
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"

# Not exec: process 1 has to stay a shell, which collects the orphans that tests leave.
status=0
chroot "$root" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  CI="${CI:-}" WEIR_CACHE=/var/cache/weir "$@" || status=$?
exit "$status"
