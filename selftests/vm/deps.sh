#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Install what is missing, and nothing else.
#
# usage: deps.sh demo|check|check-arch|check-guests|profile|mpi|check-mpi|deb|check-deb|debootstrap [6.12|6.1]
#   demo       what 'make demo' needs for one of Debian's kernels
#   check      that, for both, and what 'make check' and 'make bench' need
#   check-arch  beside that: compilers for other architectures, and what runs their programs
#   check-guests  what emulates other architectures, and fills a root for a guest
#   profile    what 'make bench CASE=cpu-profile' needs beside 'check'
#   mpi        what the component for Open MPI is built with
#   check-mpi  that, what 'make check' needs, and the MPI programs of 'make check-mpi'
#   deb        what packages are built with
#   check-deb  what 'make check-deb' needs
#   debootstrap  what a Debian in a folder is made with
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
# shellcheck source=arch.sh
. "$here/arch.sh"

demo="python3 gcc libc6-dev make iproute2 iputils-ping procps busybox-static cpio kmod rsync
	xz-utils zstd qemu-system-x86 coreutils util-linux perl pkg-config libnl-3-dev libnl-genl-3-dev libnl-route-3-dev"
check="linux-source-6.12 flex bison bc libelf-dev libssl-dev python3-yaml python3-jsonschema pahole
	patch bzip2 lz4 ccache sparse shellcheck clang libclang-rt-dev ethtool tcpdump tshark iperf3 nftables
	wireguard-tools libbpf-dev man-db sqlite3"
# as debian/control has it
deb="build-essential clang debhelper dh-dkms fakeroot rsync pkgconf libbpf-dev libnl-3-dev libnl-genl-3-dev libnl-route-3-dev
	libopenmpi-dev libpmix-dev libevent-dev libhwloc-dev libmpich-dev"
mpi="gcc libc6-dev make openmpi-bin libopenmpi-dev libpmix-dev libevent-dev libhwloc-dev"
mpi_programs="hpcc libfftw3-dev libfftw3-mpi-dev gfortran ptscotch scotch python3-mpi4py python3-numpy mpich libmpich-dev"

# What this needs is known by Debian's names.
release=$(debian_release)
case $release in
12 | 13) ;;
*)
	# shellcheck disable=SC1091 # the system's
	system=$(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME-}") || system=
	# shellcheck disable=SC2086,SC2116 # one line
	die "this is ${system:-no Debian}; packages are known by name for Debian 12 and 13.  These are needed, or what
they are called here: $(echo $demo $check $mpi)"
	;;
esac
headers_612=$(headers_package 6.12) headers_61=$(headers_package 6.1)

case ${1-} in
demo)
	want=$demo
	case ${2:-6.12} in
	6.12) want="$want $headers_612" ;;
	6.1)
		[ -n "$headers_61" ] || die "KERNEL=6.1: Debian $release has no such kernel"
		want="$want $headers_61"
		;;
	*) die "KERNEL=$2: there are 6.12 and 6.1" ;;
	esac
	;;
check) want="$demo $check $mpi $headers_612 $headers_61" ;;
check-arch) want=$(arch_packages) ;;
check-guests) want="$(arch_packages) qemu-system-arm qemu-system-misc busybox-static cpio pkg-config debootstrap" ;;
profile) want="linux-perf binutils" ;;
mpi) want=$mpi ;;
check-mpi) want="$demo $check $mpi $mpi_programs $headers_612 $headers_61" ;;
deb) want=$deb ;;
check-deb) want="$demo debootstrap dpkg-dev $headers_612 $headers_61" ;;
debootstrap) want="debootstrap kmod dpkg util-linux" ;;
*) die "usage: deps.sh demo|check|check-arch|check-guests|profile|mpi|check-mpi|deb|check-deb|debootstrap [6.12|6.1]" ;;
esac

missing=()
for p in $want; do
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

[ "$(id -u)" = 0 ] || die "these packages are missing, and only root can install them:
  ${missing[*]}
Run 'make deps' as root."

mkdir -p "$BUILD"
log=$BUILD/apt.log
: >"$log"

# apt COMMAND... - run apt-get, saying now and then that it still runs.
apt()
{
	local pid

	# INITRD=No: a kernel image that headers pull in needs no initramfs here.
	INITRD=No DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o Dpkg::Options::=--force-confold -o Acquire::Retries=3 "$@" \
		>>"$log" 2>&1 </dev/null &
	pid=$!
	tick_while "$pid" "apt-get $1" "$log"
	wait "$pid"
}

# apt refuses while an installation that was cut off has not been ended.
if [ -n "$(dpkg --audit)" ]; then
	note "an installation was cut off: dpkg --configure -a"
	DEBIAN_FRONTEND=noninteractive dpkg --force-confold --configure -a >>"$log" 2>&1 </dev/null ||
		die "dpkg --configure -a failed; log: $log"
fi

note "installing ${#missing[@]} packages: ${missing[*]}"
apt update || { tail -5 "$log" >&2; die "apt-get update failed: is there a network? log: $log"; }
# apt-get update succeeds without a network, with a warning.
for p in "${missing[@]}"; do
	apt-cache show "$p" >/dev/null 2>&1 || die "apt knows no package $p: is there a network, and does
/etc/apt/sources.list hold Debian $release's main and security archives? log: $log"
done
apt install --no-install-recommends "${missing[@]}" || {
	grep -E '^E:|^W:|Err:' "$log" | tail -8 >&2
	die "apt-get install failed: is there a network? log: $log"
}
note "packages installed"
