#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Plain Debian 12 root file systems, and commands in them.  Sourced, never run.
#
#   $cache/plain      debootstrap, Debian's kernels 6.12 and 6.1, what packages
#                     of kernel modules need; never changed afterwards
#   $cache/builder    an overlay above it: what building packages needs
#
# Commands run in mount namespaces of their own: nothing stays mounted.

SUITE=bookworm
# What a Debian system has that minbase leaves out, then what DKMS needs, and a
# compiler's pkg-config to use libshuffle-dev.
plain_packages="ca-certificates iproute2 procps kmod dkms gcc make libc6-dev pkg-config libnl-3-200
	libnl-genl-3-200 libnl-route-3-200"
builder_packages="build-essential debhelper dh-dkms clang fakeroot lintian libbpf-dev libnl-3-dev libnl-genl-3-dev
	libnl-route-3-dev libopenmpi-dev openmpi-bin libevent-dev libhwloc-dev libmpich-dev"

# in_root LAYERS UPPER COMMAND... - run a command with an overlay as its root:
# LAYERS (a:b, the first on top) below, changes go to UPPER.  $binds: "HOST:GUEST ..."
in_root()
{
	local layers=$1 upper=$2
	shift 2

	mkdir -p "$upper.work" "$upper.root" "$upper"
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --propagation private bash -c '
		set -e
		layers=$1 upper=$2 binds=$3
		shift 3
		mount -t overlay -o "lowerdir=$layers,upperdir=$upper,workdir=$upper.work" overlay "$upper.root"
		mount -t proc proc "$upper.root/proc"
		for b in $binds; do
			mkdir -p "$upper.root${b#*:}"
			mount --bind "${b%%:*}" "$upper.root${b#*:}"
		done
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 INITRD=No \
			DEBIAN_FRONTEND=noninteractive chroot "$upper.root" "$@"' \
		in_root "$layers" "$upper" "${binds-}" "$@"
}

# sources - this machine's Debian archives, in the form of sources.list.
sources()
{
	local key=/usr/share/keyrings/debian-archive-keyring.gpg

	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
		awk -v suite=$SUITE -v key="$key" 'index($2, suite) == 1 && $3 == "main" && !seen[$0]++ {
			print "deb [signed-by=" key "] " $0 }'
}

# debian_root - build both roots, if they are not there; sets cache.
debian_root()
{
	local key abi uri log dir

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
	uri=$(sources | awk -v suite=$SUITE '$4 == suite { print $3; exit }')
	[ -n "$uri" ] || die "apt knows no archive of Debian 12 (bookworm): has 'apt-get update' been run?"
	note "Debian 12: debootstrap (once)"
	debootstrap --variant=minbase "$SUITE" "$dir/plain" "$uri" >"$log" 2>&1 &
	tick_while $! debootstrap "$log"
	wait $! || { tail -5 "$log" >&2; die "debootstrap failed; log: $log"; }
	sources >"$dir/plain/etc/apt/sources.list"
	# Snapshots of archives are older than their dates allow.
	apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|http::Proxy|https::Proxy) ' \
		>"$dir/plain/etc/apt/apt.conf.d/90archive" || true
	cp /etc/resolv.conf "$dir/plain/etc/resolv.conf"
	note "Debian 12: kernels, DKMS, compiler (once)"
	install_in "$dir" plain "$plain_packages $abi" >>"$log" 2>&1 &
	tick_while $! "Debian 12" "$log"
	wait $! || { tail -5 "$log" >&2; die "apt-get failed; log: $log"; }
	note "Debian 12: what packages are built with (once)"
	install_in "$dir" builder "$builder_packages" >>"$log" 2>&1 &
	tick_while $! "Debian 12" "$log"
	wait $! || { tail -5 "$log" >&2; die "apt-get failed; log: $log"; }
	touch "$dir/.done"
	mv "$dir" "$cache"
}

# install_in FOLDER plain|builder PACKAGES
install_in()
{
	local script

	script="apt-get -q -y update && apt-get -q -y -o Dpkg::Options::=--force-unsafe-io install --no-install-recommends $(echo "$3" | xargs) &&
		apt-get clean && rm -f /var/lib/apt/lists/*_*"

	if [ "$2" = builder ]; then
		in_root "$1/plain" "$1/builder" sh -c "$script"
		rm -rf "$1/builder.work" "$1/builder.root"
		return
	fi
	# the lowest layer itself
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --propagation private bash -c '
		mount -t proc proc "$1/proc"
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 INITRD=No \
			DEBIAN_FRONTEND=noninteractive chroot "$1" sh -c "$2"' in_plain "$1/plain" "$script"
}
