#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Debian packages from source to purge: built in a plain Debian, installed in
# another, used in virtual machines with its kernels, upgraded, removed.
# TAP, then the count.
#
# usage: check.sh [12|13]
#   SHUFFLE_CACHE keeps the plain Debian of each release (1.4 GB), with its kernels of the month.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../vm/common.sh
. "$here/../vm/common.sh"
# shellcheck source=lib.sh
. "$here/lib.sh"
# shellcheck source=../../tools/common/tap.sh
. "$here/../../tools/common/tap.sh"

release=${1:-12}
work=$BUILD/deb-check-$release
packages="shuffle-dkms shuffle-tools libshuffle-dev libshuffle0"
begin=$SECONDS
[ "$(id -u)" = 0 ] || die "this needs root (chroot, mount)"
debian_root "$release" || exit 1

exec 9>"$work/lock"
flock -n 9 || die "another check-deb of this folder runs"
rm -f "$work/total"
rm -rf "$work"/{build,builder,builder.work,sources,system,system.work,vm-*}
mkdir -p "$work/build"
"$here/copy-sources.sh" "$work/sources" || exit 1
v1=$(cd "$SHUFFLE_ROOT" && dpkg-parsechangelog -S Version)
v2=$v1.1

# timed NAME COMMAND... - one test, and how long it took
timed()
{
	local start=$SECONDS

	t "$@"
	diag "$((SECONDS - start)) s"
}

builder()
{
	binds="$work/build:/build" debian_above "$cache/builder:$cache/plain" "$work/builder" "$@"
}

# in_system COMMAND... - in the Debian that gets the packages; they are in /packages.
in_system()
{
	binds="$work/build:/packages" debian_above "$cache/plain" "$work/system" "$@"
}

# build VERSION - packages of that version into build/VERSION.  The modules know
# their version, so that tests see which one is loaded.
build()
{
	local dir=$work/build/$1
	local copy=$dir/shuffle-$1

	mkdir -p "$dir"
	cp -a "$work/sources" "$copy" || return 1
	sed -i "1s/(.*)/($1)/" "$copy/debian/changelog"
	echo "MODULE_VERSION(\"$1\");" >>"$copy/net/shuffle/main.c"
	builder sh -c "cd /build/$1/shuffle-$1 && DEB_BUILD_OPTIONS='noautodbgsym parallel=2' dpkg-buildpackage -us -uc" ||
		return 1
	rm -rf "$copy"
	ls "$dir"/shuffle-dkms_*.deb "$dir"/libshuffle0_*.deb "$dir"/libshuffle-dev_*.deb "$dir"/shuffle-tools_*.deb \
		"$dir"/shuffle-mpi_*.deb
}

# The project has no mail address; nothing is uploaded to Debian.
lint()
{
	local said

	said=$(builder sh -c "cd /build/$1 && lintian --allow-root --fail-on none --suppress-tags \
		bogus-mail-host,bogus-mail-host-in-debian-changelog ./*.changes" 2>&1) || { echo "$said"; return 1; }
	printf '%s\n' "$said"
	! printf '%s\n' "$said" | grep -E '^[EW]:'
}

# Everything on the system that packages, DKMS or depmod could have changed.
snapshot()
{
	in_system sh -c "
		find / -xdev \( -path /proc -o -path /packages -o -path /tmp -o -path /var/log -o -path /var/cache \
			-o -path /var/lib/apt -o -name '*-old' -o -path '/var/lib/dkms/mok.*' \) -prune \
			-o -printf '%y %m %u %g %p %l\n' | sort
		grep -l -i shuffle /lib/modules/*/modules.* /etc -r 2>/dev/null
		grep -s -A 3 '^Package: .*shuffle' /var/lib/dpkg/status
		dkms status 2>/dev/null"
}

install_packages()
{
	# Open MPI is not part of the plain system: see mpi_component
	in_system sh -c "apt-get -q -y --no-install-recommends install \$(ls /packages/$1/*.deb | grep -v /shuffle-mpi_)"
}

# Where packages are built there is an Open MPI: it finds the component.
mpi_component()
{
	# shellcheck disable=SC2016 # for the inner shell
	builder sh -c "cd /build/$1 && dpkg -i shuffle-mpi_*.deb"' && ompi_info --param coll shuffle --level 9 | grep coll_shuffle_timeout &&
		LD_PRELOAD=$(dpkg -L shuffle-mpi | grep pmpi.so) /bin/true 2>/tmp/preload && ! grep . /tmp/preload &&
		dpkg --purge shuffle-mpi && ! find /usr/lib -name "*coll_shuffle*" | grep .'
}

# dkms_has VERSION - that and nothing else is installed for both kernels.
dkms_has()
{
	local k status

	status=$(in_system dkms status 2>/dev/null) || return 1
	printf '%s\n' "$status"
	for k in "${kernels[@]}"; do
		printf '%s\n' "$status" | grep -qxF "shuffle/$1, $k, x86_64: installed" || return 1
		[ "$(in_system modinfo -k "$k" -F version shuffle)" = "$1" ] || return 1
		in_system modinfo -k "$k" -F alias shuffle | grep -qx net-pf-18 || return 1
	done
	[ "$(printf '%s\n' "$status" | wc -l)" = 2 ]
}

# Programs that use the libraries as installed.  guest.sh uses hello, purge_packages() removes it.
compile()
{
	cp "$SHUFFLE_ROOT/tools/saba/test/link_test.c" "$work/build/" || return 1
	# shellcheck disable=SC2016 # for the inner shell
	in_system sh -c 'cd "$(mktemp -d)" && gcc -Wall -Werror -o link_test /packages/link_test.c \
		$(pkg-config --cflags --libs libsaba) && SHUFFLE_SABA_SOCKET=/nix ./link_test &&
		[ -e /usr/share/man/man3/saba_client.3.gz ]' || return 1
	# shellcheck disable=SC2016 # for the inner shell
	in_system sh -c 'cd /root && gcc -Wall -Werror -o hello /usr/share/doc/libshuffle-dev/examples/hello.c \
		$(pkg-config --cflags --libs libshuffle) && ldd ./hello | grep "libshuffle.so.0 => /lib/" &&
		gcc -o hello-static /usr/share/doc/libshuffle-dev/examples/hello.c -l:libshuffle.a -lpthread &&
		printf "#include <linux/shuffle.h>\nint x = SHUFFLE_MAX_MEMBERS;" | gcc -c -o /dev/null -xc -'
}

# Every program has a manual page and tells how it is used.
programs()
{
	# shellcheck disable=SC2016 # for the inner shell
	in_system sh -c 'for p in $(dpkg -L shuffle-tools | grep -E "/s?bin/."); do
		dpkg -L shuffle-tools | grep -q "/man[18]/${p##*/}\.[18]\.gz$" || { echo "no page: $p"; exit 1; }
		$p --help >/tmp/help 2>&1 || { echo "$p --help fails"; cat /tmp/help; exit 1; }
		grep -qi usage /tmp/help || { echo "$p --help does not tell"; exit 1; }
	done
	dpkg -L shuffle-dkms | grep -q /man7/shuffle.7'
}

# in_vm ABI VERSION [purge] - boot it and use what is installed.
in_vm()
{
	local out=$work/vm-$1 lane=qemu-6.12

	# see qemu_command()
	[[ $1 != 6.1.* ]] || lane=qemu-6.1
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --propagation private bash -c '
		mount -t overlay -o "lowerdir=$1,upperdir=$2,workdir=$2.work" overlay "$2.root" || exit 1
		shift 2
		exec "$@"' in_vm "$cache/plain" "$work/system" \
		"$here/../vm/run.sh" "$lane" -k "$cache/kernel-$1" -m 3072 -t 0 -o "$out" -e "VERSION=$2" -e "STEP=${3-}" \
		-b "$work/system.root" "$here/guest.sh" "$work/system.root"
}

remove_packages()
{
	in_system sh -c "apt-get -q -y remove $packages && ! ls -d /usr/src/shuffle-* /var/lib/dkms/shuffle"
}

purge_packages()
{
	in_system sh -c "dpkg --purge $packages && rm -f /root/hello /root/hello-static"
}

nothing_left()
{
	snapshot >"$work/after" && diff "$work/before" "$work/after"
}

echo "TAP version 13"
# DKMS upgrades the newest kernel only when the running one is not installed,
# as in a chroot; this is its own setting for all.
in_system sh -c 'echo autoinstall_all_kernels=yes >>/etc/dkms/framework.conf'
snapshot >"$work/before"
timed "packages $v1 are built in a plain Debian $release" build "$v1"
timed "packages $v2 are built" build "$v2"
timed "lintian has no error and no warning" lint "$v1"
timed "Open MPI finds the component of shuffle-mpi" mpi_component "$v1"
timed "install: DKMS builds for ${kernels[*]}" install_packages "$v1"
timed "DKMS has installed $v1 for both kernels" dkms_has "$v1"
timed "programs compile with libshuffle-dev" compile
timed "programs have manual pages and --help" programs
timed "use on ${kernels[0]}: autoload, shuffles on IPv4 and IPv6, unload" in_vm "${kernels[0]}" "$v1"
timed "settings, qdiscs, racks, relays are there after a boot of systemd" in_vm "${kernels[1]}" "$v1" stays
timed "use on ${kernels[1]}" in_vm "${kernels[1]}" "$v1"
timed "upgrade to $v2" install_packages "$v2"
timed "DKMS has installed $v2 for both kernels, and nothing else" dkms_has "$v2"
timed "use on ${kernels[1]} after the upgrade, purge while the module is in use" in_vm "${kernels[1]}" "$v2" purge
timed "remove: nothing of DKMS is left" remove_packages
timed "purge" purge_packages
timed "nothing is left" nothing_left
tap_end
rm -rf "$work"/{sources,system,system.work,builder,builder.work}
echo
echo "took $(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s"
echo "$((tap_count - tap_failed)) passed, $tap_failed failed, 0 skipped" | tee "$work/total"
[ "$tap_failed" = 0 ]
