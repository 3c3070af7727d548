#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Plain root file systems of a Debian release.  Sourced, never run, behind common.sh.
#
#   $cache/plain      debootstrap, two of Debian's kernels, what packages of kernel
#                     modules need; never changed afterwards
#   $cache/builder    an overlay above it: what building packages needs
#   $cache/kernel-*   these kernels, as run.sh -k boots them

# shellcheck source=../vm/debian.sh
. "$SHUFFLE_ROOT/selftests/vm/debian.sh"

# What a Debian system has that minbase leaves out, then what DKMS needs, and a
# compiler's pkg-config to use libshuffle-dev.
plain_packages="ca-certificates iproute2 procps kmod dkms gcc make libc6-dev pkg-config libnl-3-200
	libnl-genl-3-200 libnl-route-3-200 systemd udev"
builder_packages="build-essential debhelper dh-dkms clang fakeroot lintian libbpf-dev libnl-3-dev libnl-genl-3-dev
	libnl-route-3-dev libopenmpi-dev libpmix-dev openmpi-bin libevent-dev libhwloc-dev libmpich-dev"

# kernels_of RELEASE SUITE DIR - install two kernels and their headers: the release's own, and the older
# or newer one of interest
kernels_of()
{
	local suite=$2 dir=$3 abi uri

	debian_in "$dir" apt-get -q -y update || return
	case $1 in
	12) debian_install "$dir" linux-headers-amd64 linux-image-amd64 linux-headers-6.12-amd64 linux-image-6.12-amd64 || return ;;
	13)
		abi=$(debian_in "$dir" apt-cache depends linux-headers-amd64 |
			sed -n 's/.*Depends: linux-headers-\([0-9].*\)/\1/p')
		uri=$(awk -v suite="$suite" '$3 == suite { print $2; exit }' "$dir/etc/apt/sources.list")
		debian_install "$dir" "linux-headers-$abi" "linux-image-$abi" || return
		echo "deb $uri $suite-backports main" >"$dir/etc/apt/sources.list.d/backports.list"
		debian_install "$dir" -t "$suite-backports" linux-headers-amd64 linux-image-amd64 || return
		rm "$dir/etc/apt/sources.list.d/backports.list"
		;;
	esac
	for abi in "$dir"/usr/src/linux-headers-*-amd64; do
		abi=${abi##*/linux-headers-}
		mkdir -p "$dir/../kernel-$abi/lib/modules"
		# packages of Linux 7 have it there
		cp -p "$dir/boot/vmlinuz-$abi" "$dir/../kernel-$abi/vmlinuz" 2>/dev/null ||
			cp -p "$dir/usr/lib/modules/$abi/vmlinuz" "$dir/../kernel-$abi/vmlinuz" || return
		ln -s "../../../plain/usr/lib/modules/$abi" "$dir/../kernel-$abi/lib/modules/"
	done
}

# debian_root RELEASE - build both roots, if they are not there; sets cache, kernels.  $work: for logs
# shellcheck disable=SC2154 # work: check.sh
debian_root()
{
	local release=$1 key suite

	suite=$(debian_suite "$release") || return
	# kernels of this month
	key=$(echo "$suite $plain_packages $builder_packages $(date +%Y-%m)" | sha256sum | cut -c1-12)
	cache=$SHUFFLE_CACHE/deb-$release-$key
	mkdir -p "$SHUFFLE_CACHE" "$work"
	# As long as this script runs: another one's next month would remove what it uses.
	exec 8>"$SHUFFLE_CACHE/lock-deb-$release"
	flock -n 8 || { note "waiting for another check of packages in Debian $release"; flock 8; }
	# the second one's name until 2026-11
	[ -e "$cache" ] || rm -rf "$SHUFFLE_CACHE/deb-$release"-* "$SHUFFLE_CACHE"/debian-12-*
	debian_once "$cache" "Debian $release with kernels, DKMS and what packages are built with" "$work/root.log" \
		fill "$release" "$suite"
	# the newest last
	# shellcheck disable=SC2034 # for check.sh
	mapfile -t kernels < <(cd "$cache" && printf '%s\n' kernel-* | sed 's/^kernel-//' | sort -V)
}

# fill RELEASE SUITE DIR
fill()
{
	local dir=$3

	mkdir "$dir"
	debian_bootstrap "$2" "$dir/plain" || return
	# shellcheck disable=SC2086 # words
	debian_install "$dir/plain" $plain_packages || return
	kernels_of "$1" "$2" "$dir/plain" || return
	# shellcheck disable=SC2086 # words
	debian_above "$dir/plain" "$dir/builder" sh -c "$debian_install_script" sh $builder_packages || return
	rm -rf "$dir"/builder.{work,root}
}
