#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Plain Debian 12 root file systems.  Sourced, never run, behind common.sh.
#
#   $cache/plain      debootstrap, Debian's kernels 6.12 and 6.1, what packages
#                     of kernel modules need; never changed afterwards
#   $cache/builder    an overlay above it: what building packages needs

# shellcheck source=../vm/debian.sh
. "$SHUFFLE_ROOT/selftests/vm/debian.sh"

SUITE=bookworm
# What a Debian system has that minbase leaves out, then what DKMS needs, and a
# compiler's pkg-config to use libshuffle-dev.
plain_packages="ca-certificates iproute2 procps kmod dkms gcc make libc6-dev pkg-config libnl-3-200
	libnl-genl-3-200 libnl-route-3-200 systemd udev"
builder_packages="build-essential debhelper dh-dkms clang fakeroot lintian libbpf-dev libnl-3-dev libnl-genl-3-dev
	libnl-route-3-dev libopenmpi-dev libpmix-dev openmpi-bin libevent-dev libhwloc-dev libmpich-dev"

# debian_root - build both roots, if they are not there; sets cache.
debian_root()
{
	local key abi log dir

	abi="linux-headers-$(debian_abi 6.12) linux-image-$(debian_abi 6.12)
		linux-headers-$(debian_abi 6.1) linux-image-$(debian_abi 6.1)"
	key=$(echo "$SUITE $plain_packages $builder_packages $abi" | sha256sum | cut -c1-12)
	cache=$SHUFFLE_CACHE/debian-12-$key
	mkdir -p "$SHUFFLE_CACHE" "$BUILD/deb-check"
	exec 8>"$SHUFFLE_CACHE/lock-debian-12"
	flock 8
	[ ! -e "$cache/.done" ] || return 0
	rm -rf "$SHUFFLE_CACHE"/debian-12-*
	log=$BUILD/deb-check/root.log
	dir=$cache.tmp
	rm -rf "$dir"
	mkdir -p "$dir"
	note "Debian 12: debootstrap (once)"
	debian_bootstrap $SUITE "$dir/plain" >"$log" 2>&1 &
	tick_while $! debootstrap "$log"
	wait $! || { tail -5 "$log" >&2; die "debootstrap failed; log: $log"; }
	note "Debian 12: kernels, DKMS, compiler (once)"
	# shellcheck disable=SC2086 # words
	debian_install "$dir/plain" $plain_packages $abi >>"$log" 2>&1 &
	tick_while $! "Debian 12" "$log"
	wait $! || { tail -5 "$log" >&2; die "apt-get failed; log: $log"; }
	note "Debian 12: what packages are built with (once)"
	# shellcheck disable=SC2086 # words
	debian_above "$dir/plain" "$dir/builder" sh -c "$debian_install_script" sh $builder_packages \
		>>"$log" 2>&1 &
	tick_while $! "Debian 12" "$log"
	wait $! || { tail -5 "$log" >&2; die "apt-get failed; log: $log"; }
	rm -rf "$dir"/builder.{work,root}
	touch "$dir/.done"
	mv "$dir" "$cache"
}
