# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for those who source this
#
# Other architectures: Debian's cross compilers (deps.sh check-arch), and qemu-user to run what they
# make.  Sourced.

architectures="arm64 s390x armhf i386"

# arch_is ARCH - sets triplet, and user: the program of qemu-user; the kernel's name of it, and of its
# image in Debian; system: the program of QEMU that is such a machine.
arch_is()
{
	case $1 in
	arm64) triplet=aarch64-linux-gnu user=qemu-aarch64 karch=arm64 flavour=arm64 system=qemu-system-aarch64 ;;
	s390x) triplet=s390x-linux-gnu user=qemu-s390x karch=s390 flavour=s390x system=qemu-system-s390x ;;
	armhf) triplet=arm-linux-gnueabihf user=qemu-arm karch=arm flavour=armmp ;;
	i386) triplet=i686-linux-gnu user=qemu-i386 karch='' flavour='' ;;
	*) die "no architecture $1: there are $architectures" ;;
	esac
}

# arch_packages - what all of that is installed by.
arch_packages()
{
	local a

	echo qemu-user
	for a in $architectures; do
		arch_is "$a"
		echo "gcc-$triplet libc6-dev-$a-cross"
	done
}

# arch_programs ARCH - the selftests' programs for it, beside this machine's own tools, in
# $BUILD/tools-ARCH.
arch_programs()
{
	local out=$BUILD/tools-$1 f

	arch_is "$1"
	make -s -C selftests/net/shuffle OUT="$out" UAPI="$PWD/uapi" CC="$triplet-gcc" AR="$triplet-ar" || return
	for f in "$BUILD"/tools/*; do
		[ -e "$out/${f##*/}" ] || ln -s "../tools/${f##*/}" "$out/"
	done
}

# guest_programs ARCH - programs for a guest of that architecture, in $BUILD/tools-ARCH.  Static: what is
# linked by this machine's compiler needs this machine's C library.
guest_programs()
{
	local root out=$BUILD/tools-$1 dir

	arch_is "$1"
	root=$("$SHUFFLE_ROOT/selftests/vm/debian-root.sh" "guest-$1") || return
	for dir in selftests/net/shuffle tools/{shufflectl,sort,relay,examples,rperf,query,sim}; do
		PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
			make -s -C "$SHUFFLE_ROOT/$dir" OUT="$out" UAPI="$SHUFFLE_ROOT/uapi" CC="$triplet-gcc" AR="$triplet-ar" \
			OVERLAY= LDFLAGS="-static -Wl,--no-warnings -L$root/lib/$triplet" || return
	done
}

# arch_unit ARCH - the portable tests, by qemu-user.  TAP.
#
# Without ASan, which does not run there, and with fewer inputs: what depends on the order of bytes,
# the size of a long or alignment shows early.
arch_unit()
{
	arch_is "$1"
	make -s -C net/shuffle/test OUT="$BUILD/portable-$1" CC="$triplet-gcc" CLANG=false \
		SAN='-fsanitize=undefined -fno-sanitize-recover=all' RUN="$user -L /usr/$triplet" \
		RUNS=20000 PARSER_RUNS=200000 check
}
