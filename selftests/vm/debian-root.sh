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
# The kernel's release is in the file .abi.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
# shellcheck source=debian.sh
. "$here/debian.sh"

suite=trixie
packages="gcc make libc6-dev libelf-dev kmod"
root=$SHUFFLE_CACHE/debian-13

# fill DIR - everything, into a folder that is not there yet
fill()
{
	local dir=$1 abi uri

	debian_bootstrap $suite "$dir"
	uri=$(awk -v suite=$suite '$3 == suite { print $2; exit }' "$dir/etc/apt/sources.list")
	echo "deb $uri $suite-backports main" >>"$dir/etc/apt/sources.list"
	# shellcheck disable=SC2086 # words
	debian_install "$dir" $packages
	debian_install "$dir" -t $suite-backports linux-headers-amd64
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

case ${1-} in
run)
	[ ! -d "$BUILD" ] || binds=$BUILD:$BUILD
	debian_in "$root" "${@:2}"
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
	"$here/deps.sh" debootstrap
	log=$SHUFFLE_CACHE/debian-13.log
	rm -rf "$root" "$root.tmp"
	note "Debian 13 with the newest kernel of its backports: some minutes, once; log: $log"
	(set -e; fill "$root.tmp") >"$log" 2>&1 </dev/null &
	tick_while $! "Debian 13" "$log"
	wait $! || { tail -5 "$log" >&2; die "Debian 13 cannot be made; log: $log"; }
	mv "$root.tmp" "$root"
fi
echo "$root"
