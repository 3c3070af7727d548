#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A root of Debian 13 in the cache, with the newest kernel of its backports, the headers of that
# and the compiler that it is built with.  Nothing of it is installed on this machine.
#
# usage: debian-root.sh [-n]              make it, if it is not there; prints its path
#        debian-root.sh run COMMAND...    run a command in it, with this project's build/ inside
#   -n  make nothing; fails when it is not there
#
# The kernel's release is in the file .abi.  Commands run in mount namespaces of their own: nothing
# stays mounted.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"

suite=trixie
packages="gcc make libc6-dev libelf-dev kmod"
root=$SHUFFLE_CACHE/debian-13

# in_root ROOT COMMAND...
in_root()
{
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --propagation private bash -c '
		set -e
		root=$1 build=$2
		shift 2
		mount -t proc proc "$root/proc"
		if [ -d "$build" ]; then
			mkdir -p "$root$build"
			mount --bind "$build" "$root$build"
		fi
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 INITRD=No \
			DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"' in_root "$1" "$BUILD" "${@:2}"
}

# archive - where this machine gets Debian from
archive()
{
	local uri

	# shellcheck disable=SC2016 # apt's variables
	uri=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' 2>/dev/null |
		awk '$2 ~ /^(bookworm|trixie)$/ && $3 == "main" { print $1; exit }')
	echo "${uri:-http://deb.debian.org/debian}"
}

# fill DIR - everything, into a folder that is not there yet
fill()
{
	local dir=$1 uri image abi

	uri=$(archive)
	debootstrap --variant=minbase "$suite" "$dir" "$uri"
	printf 'deb %s %s main\n' "$uri" $suite "$uri" $suite-backports >"$dir/etc/apt/sources.list"
	apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|http::Proxy|https::Proxy) ' \
		>"$dir/etc/apt/apt.conf.d/90archive" || true
	cp /etc/resolv.conf "$dir/etc/resolv.conf"
	in_root "$dir" apt-get -q -y update
	# shellcheck disable=SC2086 # words
	in_root "$dir" apt-get -q -y -o Dpkg::Options::=--force-unsafe-io install \
		--no-install-recommends $packages
	in_root "$dir" apt-get -q -y -o Dpkg::Options::=--force-unsafe-io install \
		--no-install-recommends -t $suite-backports linux-headers-amd64
	abi=$(cd "$dir/usr/src" && ls -d linux-headers-*-amd64)
	abi=${abi#linux-headers-}
	# The image alone: its scripts want a boot loader.  It is in two packages from Linux 7 on.
	image="linux-image-$abi"
	! in_root "$dir" apt-cache show "linux-binary-$abi" >/dev/null 2>&1 ||
		image="linux-binary-$abi linux-modules-$abi"
	# shellcheck disable=SC2086 # words
	in_root "$dir" sh -c 'mkdir /image && cd /image && apt-get download -q -o APT::Sandbox::User=root "$@"' \
		sh $image
	for deb in "$dir"/image/*.deb; do
		dpkg -x "$deb" "$dir/image"
	done
	if [ -r "$dir/image/boot/vmlinuz-$abi" ]; then
		mv "$dir/image/boot/vmlinuz-$abi" "$dir/vmlinuz"
	else
		mv "$dir/image/usr/lib/modules/$abi/vmlinuz" "$dir/vmlinuz"
	fi
	# headers have put two links there
	cp -r "$dir/image/usr/lib/modules/$abi" "$dir/usr/lib/modules/"
	depmod -b "$dir" "$abi"
	in_root "$dir" sh -c 'rm -rf /image; apt-get clean; rm -f /var/lib/apt/lists/*_*'
	echo "$abi" >"$dir/.abi"
}

case ${1-} in
run)
	shift
	exec 9>&- || true
	in_root "$root" "$@"
	exit
	;;
'') ;;
-n)
	[ -e "$root/.abi" ]
	echo "$root"
	exit
	;;
*)
	sed -n 's/^# \{0,1\}//; /^usage:/,/^  -n/p' "$0" >&2
	exit 2
	;;
esac

mkdir -p "$SHUFFLE_CACHE"
exec 9>"$SHUFFLE_CACHE/lock-debian-13"
flock 9
if [ ! -e "$root/.abi" ]; then
	[ "$(id -u)" = 0 ] || die "Debian 13's root can only be made by root"
	"$here/deps.sh" debian-13
	log=$SHUFFLE_CACHE/debian-13.log
	rm -rf "$root" "$root.tmp"
	note "Debian 13 with the newest kernel of its backports: some minutes, once; log: $log"
	(set -e; fill "$root.tmp") >"$log" 2>&1 </dev/null &
	tick_while $! "Debian 13" "$log"
	wait $! || { tail -5 "$log" >&2; die "Debian 13 cannot be made; log: $log"; }
	mv "$root.tmp" "$root"
fi
echo "$root"
