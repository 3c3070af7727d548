#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The component and the library for MPICH with the MPI libraries of Debian's unstable, which this
# machine does not have: built in a Debian in a folder, and used in the lane uml with that as its root.
# TAP, then the count.
#
# usage: unstable.sh
#   SHUFFLE_CACHE keeps that Debian (1.2 GB); remove its folder "unstable" for a newer one.
#   CASES         a pattern, as of run_all.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../vm/common.sh
. "$here/../vm/common.sh"
# shellcheck source=../vm/debian.sh
. "$here/../vm/debian.sh"
# shellcheck source=../../tools/common/tap.sh
. "$here/../../tools/common/tap.sh"

packages="gcc make libc6-dev pkg-config libnl-3-dev libnl-genl-3-dev libnl-route-3-dev openmpi-bin libopenmpi-dev
	libpmix-dev libevent-dev libhwloc-dev mpich libmpich-dev python3 busybox-static kmod iproute2 procps util-linux"
root=$SHUFFLE_CACHE/unstable
work=$BUILD/mpi-unstable
log=$work/log
project=/root/af_shuffle
begin=$SECONDS
# "interfaces ..." must not have the parameter that is set below, "links ..." wants shuffle-sabad
cases=${CASES-'^(an address|one host|no data|MPICH: random|ompi_info|4 hosts, 100|40 random|sizes|random coll|collectives|operators|hosts that|short|broadcasts|non-blocking|2000|persistent|MPI_THREAD|who|a group|a rank that stops|the module)'}

[ "$(id -u)" = 0 ] || die "this needs root (chroot, mount)"
mkdir -p "$SHUFFLE_CACHE" "$work"
exec 9>"$work/lock"
flock 9

# fill DIR
fill()
{
	debian_bootstrap sid "$1"
	# shellcheck disable=SC2086 # words
	debian_install "$1" $packages
}

debian_once "$root" "Debian unstable with MPI" "$log" fill
# The kernel and the module are this machine's.
kernel=$("$here/../vm/build-kernel.sh" um) || exit 1
ko=$("$here/../vm/build-module.sh" um) || exit 1

rm -rf "$work"/system "$work"/system.*
"$here/../deb/copy-sources.sh" "$work/system$project" || exit 1
mkdir -p "$work/system$project/build/um/module/net/shuffle"
cp "$ko" "$work/system$project/build/um/module/net/shuffle/shuffle.ko"
binds="/dev:/dev /sys:/sys $kernel:/kernel"

in_system()
{
	debian_above "$root" "$work/system" sh -c "cd $project && $1" </dev/null
}

# shellcheck disable=SC2016,SC2317 # for the inner shell; tap.sh calls it
build()
{
	in_system 'for d in tools/lib tools/mpi tools/shufflectl selftests/mpi selftests/net/shuffle; do
		make -s -C $d OUT=$PWD/build/tools UAPI=$PWD/uapi || exit 1
	done && ls build/tools/openmpi/mca_coll_shuffle.so build/tools/libshuffle_pmpi.so' >"$log" 2>&1 ||
		{ tail -20 "$log"; fail "it does not build"; return; }
	want_no_grep "warnings" "$(<"$log")" -E 'warning: .*(tools/mpi|\[-W)'
}

versions=$(in_system 'ompi_info --version | head -1; mpichversion | sed -n "s/^MPICH Version: */MPICH /p"' | paste -sd, | sed 's/,/, /')
t "$versions: the component and the library are built" build
# Its TCP transport finds no way between hosts of several addresses, unless it is told which.
in_system "selftests/vm/run.sh uml -t 1500 -k /kernel -e MPI_QUICK=1 -e OMPI_MCA_btl_tcp_if_include=10.77.0.0/16 \
	-e 'CASES=$cases' selftests/mpi/run_all.sh" >"$work/output" 2>&1
status=$?
grep -aE '^(ok|not ok|# )|^lane' "$work/output"
passed=$(grep -ac '^ok ' "$work/output") failed=$(grep -ac '^not ok ' "$work/output")
[ "$status" = 0 ] || [ "$failed" -gt 0 ] || { tail -5 "$work/output"; failed=1; }
rm -rf "$work"/system "$work"/system.*
echo
echo "took $(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s"
echo "$((tap_count - tap_failed + passed)) passed, $((tap_failed + failed)) failed, 0 skipped"
[ $((tap_failed + failed)) = 0 ]
