#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A root of Debian 13 in the cache, with one of its kernels, the headers of that and the compiler that
# it is built with.  Nothing of it is installed on this machine.
#
# usage: debian-root.sh KERNEL                   make it, if it is not there; prints its path
#        debian-root.sh KERNEL run COMMAND...    run a command in it, with this project's build/ inside
#   KERNEL  7   the newest of its backports
#           rt  its own with PREEMPT_RT
#           arm64, s390x, armhf  its own for other architectures: headers only, compilers from here
#           guest-arm64, guest-s390x  no kernel: the programs of a guest of that architecture, of Debian 12
#
# The kernel's release is in the file .abi, those of the other architectures in .abi-ARCH.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
# shellcheck source=debian.sh
. "$here/debian.sh"
# shellcheck source=arch.sh
. "$here/arch.sh"

usage()
{
	sed -n 's/^# \{0,1\}//; /^usage:/,/^$/p' "$0" >&2
	exit 2
}

suite=trixie
packages="gcc make libc6-dev libelf-dev kmod"
kernel=${1-}
case $kernel in
7)
	root=$SHUFFLE_CACHE/debian-13
	from=$suite-backports headers=linux-headers-amd64 what="the newest kernel of its backports"
	;;
rt)
	root=$SHUFFLE_CACHE/debian-13-rt
	from=$suite headers=linux-headers-rt-amd64 what="its kernel with PREEMPT_RT"
	packages="$packages perl"	# of 6.12's kernel-doc
	;;
arm64 | s390x | armhf)
	root=$SHUFFLE_CACHE/debian-13-cross
	from=$suite headers='' what="the headers of its kernel for other architectures"
	packages="$packages perl sparse pahole"
	for a in arm64 s390x armhf; do
		arch_is "$a"
		packages="$packages gcc-$triplet libc6-dev-$a-cross"
	done
	;;
guest-arm64 | guest-s390x)
	"$here/deps.sh" check-guests
	root=$SHUFFLE_CACHE/debian-$kernel
	from='' headers='' what="programs for ${kernel#guest-}"
	;;
*) usage ;;
esac
shift

# fill DIR - everything, into a folder that is not there yet
fill()
{
	local dir=$1 abi uri

	debian_bootstrap $suite "$dir"
	uri=$(awk -v suite=$suite '$3 == suite { print $2; exit }' "$dir/etc/apt/sources.list")
	echo "deb $uri $suite-backports main" >>"$dir/etc/apt/sources.list"
	# shellcheck disable=SC2086 # words
	debian_install "$dir" $packages
	debian_install "$dir" -t "$from" "$headers"
	abi=$(cd "$dir/usr/src" && ls -d linux-headers-*-amd64)
	abi=${abi#linux-headers-}
	debian_in "$dir" apt-get -q -y update
	kernel_image "$dir/image" "$abi" "$dir"
	mv "$dir/image/vmlinuz" "$dir/vmlinuz"
	# headers have put links there, and lists of what is built in
	cp -r "$dir/image/lib/modules/$abi" "$dir/usr/lib/modules/"
	depmod -b "$dir" "$abi"
	rm -rf "$dir/image" "$dir"/var/lib/apt/lists/*_*
	echo "$abi" >"$dir/.abi"
}

# headers_of DIR ARCH - the newest that can be downloaded: an archive may name what it has no more
headers_of()
{
	local abi

	arch_is "$2"
	# shellcheck disable=SC2016 # for the inner shell
	debian_in "$1" apt-cache pkgnames linux-headers- | sed -n "s/^linux-headers-\([0-9][^-]*\)-$flavour\$/\1/p" |
		sort -uVr | while read -r abi; do
		! debian_in "$1" sh -c 'rm -rf /tmp/headers && mkdir /tmp/headers && cd /tmp/headers &&
			apt-get -q download -o APT::Sandbox::User=root "$1" "$2" "$3" &&
			for d in *.deb; do dpkg -x "$d" / || exit; done' sh "linux-kbuild-$abi" \
			"linux-headers-$abi-common" "linux-headers-$abi-$flavour:$2" </dev/null >&2 || { echo "$abi-$flavour"; break; }
	done | tail -1 >"$1/.abi-$2"
	[ -s "$1/.abi-$2" ]
}

# fill_cross DIR - likewise: the headers of all those architectures, by the programs of this one
fill_cross()
{
	local dir=$1 a

	debian_bootstrap $suite "$dir"
	# shellcheck disable=SC2086 # words
	debian_install "$dir" $packages
	for a in arm64 s390x armhf; do debian_in "$dir" dpkg --add-architecture "$a"; done
	debian_in "$dir" apt-get -q -y update
	for a in arm64 s390x armhf; do headers_of "$dir" "$a"; done
	rm -rf "$dir"/var/lib/apt/lists/*_* "$dir/tmp/headers"
	touch "$dir/.abi"
}

# fill_guest DIR - programs that do not run here: what packages' scripts would make is made by hand
fill_guest()
{
	local dir=$1 arch=${kernel#guest-} uri deb

	arch_is "$arch"
	uri=$(debian_sources bookworm | awk '$3 == "bookworm" { print $2; exit }')
	debootstrap --foreign --arch="$arch" --variant=minbase \
		--include=iproute2,iputils-ping,procps,kmod,python3,python3-yaml,python3-jsonschema,busybox-static,ethtool,tcpdump,libnl-3-dev,libnl-genl-3-dev,libnl-route-3-dev \
		bookworm "$dir" "$uri"
	for deb in "$dir"/var/cache/apt/archives/*.deb; do
		dpkg -x "$deb" "$dir"
		rm "$deb"
	done
	rm -rf "$dir/debootstrap"
	ln -s mawk "$dir/usr/bin/awk"
	cp "$dir"/usr/share/base-passwd/passwd.master "$dir/etc/passwd"
	cp "$dir"/usr/share/base-passwd/group.master "$dir/etc/group"
	# whom it becomes
	echo "tcpdump:x:100:65534::/nonexistent:/usr/sbin/nologin" >>"$dir/etc/passwd"
	mkdir -p "$dir"/{lib/modules,mnt}
	# without that file each program looks for its libraries in folders for each generation of processors
	"$user" "$dir/sbin/ldconfig" -r "$dir"
}

case ${1-} in
run)
	[ ! -d "$BUILD" ] || binds=$BUILD:$BUILD
	debian_in "$root" "${@:2}"
	exit
	;;
'') ;;
*) usage ;;
esac

case $kernel in
guest-*) fill=fill_guest suite=bookworm ;;
arm64 | s390x | armhf) fill=fill_cross ;;
*) fill=fill ;;
esac
debian_once "$root" "Debian ($suite) with $what" "$root.log" $fill
echo "$root"
