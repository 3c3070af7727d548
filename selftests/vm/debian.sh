#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian in folders: roots that debootstrap makes, commands in them, images of its kernels.  Sourced,
# after common.sh.
#
# Commands run in mount namespaces of their own: nothing stays mounted.

# debian_suite RELEASE - the name of Debian 12 or 13
debian_suite()
{
	case $1 in
	12) echo bookworm ;;
	13) echo trixie ;;
	*) die "Debian 12 and 13 are known, and not '$1'" ;;
	esac
}

# debian_archives - where this machine gets Debian from: address, suite
debian_archives()
{
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' 2>/dev/null |
		awk '$2 ~ /^(bookworm|trixie)/ && $3 == "main" && !seen[$0]++ { print $1, $2 }'
}

# debian_sources SUITE - where to get that suite from, in the form of sources.list: all that this
# machine knows of it, or its archive alone, where this machine's own suite is
debian_sources()
{
	debian_archives | awk -v suite="$1" '
		index($2, suite) == 1 { own = own "deb " $1 " " $2 " main\n" }
		$2 == "bookworm" || $2 == "trixie" { uri = uri ? uri : $1 }
		$2 ~ /-security$/ { security = $1 }
		END {
			if (!uri)
				uri = "http://deb.debian.org/debian"
			printf "%s", own ? own : "deb " uri " " suite " main\n"
			# 6.12 of Debian 12 is only there
			if (!own && security && suite == "bookworm")
				print "deb " security " " suite "-security main"
		}'
}

# debian_bootstrap SUITE DIR - the least that is a Debian, which gets packages as this machine does
debian_bootstrap()
{
	local uri

	uri=$(debian_sources "$1" | awk -v suite="$1" '$3 == suite { print $2; exit }')
	debootstrap --variant=minbase "$1" "$2" "$uri" || return
	debian_sources "$1" >"$2/etc/apt/sources.list"
	# Snapshots of archives are older than their dates allow.
	apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|http::Proxy|https::Proxy) ' \
		>"$2/etc/apt/apt.conf.d/90archive" || true
	cp /etc/resolv.conf "$2/etc/resolv.conf"
}

# debian_once FOLDER WHAT LOG COMMAND... - make FOLDER, if it is not there, and wait where another makes
# it.  COMMAND makes what its last argument names, which is renamed when all went well: what is there is
# whole.  COMMAND runs under set -e, which bash leaves without effect where debian_once is called in a
# condition (if, ||): a function that can be called so has its own "|| return".
debian_once()
{
	local dir=$1 what=$2 log=$3 lock

	[ ! -e "$dir" ] || return 0
	[ "$(id -u)" = 0 ] || die "$what can only be made by root"
	"$SHUFFLE_ROOT/selftests/vm/deps.sh" debootstrap || exit 1
	mkdir -p "$(dirname "$dir")" "$(dirname "$log")"
	exec {lock}>"$dir.lock"
	flock -n "$lock" || { note "waiting for another that makes $what"; flock "$lock"; }
	if [ ! -e "$dir" ]; then
		note "making $what: some minutes, once; log: $log"
		rm -rf "$dir.tmp"
		(set -e; "${@:4}" "$dir.tmp") >"$log" 2>&1 </dev/null &
		tick_while $! "$what" "$log"
		wait $! || { tail -5 "$log" >&2; die "$what cannot be made; log: $log"; }
		mv "$dir.tmp" "$dir"
	fi
	exec {lock}>&-
}

# debian_in ROOT COMMAND... - run a command in a root.  $overlay: options of an overlay that is mounted
# there before; $binds: folders of this machine in it, "HOST:GUEST ..."
debian_in()
{
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --propagation private bash -c '
		set -e
		root=$1 overlay=$2 binds=$3
		shift 3
		[ -z "$overlay" ] || mount -t overlay -o "$overlay" overlay "$root"
		mount -t proc proc "$root/proc"
		for b in $binds; do
			mkdir -p "$root${b#*:}"
			mount --bind "${b%%:*}" "$root${b#*:}"
		done
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 INITRD=No \
			DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"' \
		debian_in "$1" "${overlay-}" "${binds-}" "${@:2}"
}

# debian_above LAYERS UPPER COMMAND... - the same with an overlay as root: LAYERS (a:b, the first on
# top) below, changes go to UPPER
debian_above()
{
	local overlay="lowerdir=$1,upperdir=$2,workdir=$2.work"

	mkdir -p "$2.work" "$2.root" "$2"
	debian_in "$2.root" "${@:3}"
}

# what debian_install runs in a root
debian_install_script='apt-get -q -y update &&
	apt-get -q -y -o Dpkg::Options::=--force-unsafe-io install --no-install-recommends "$@" &&
	apt-get clean && rm -f /var/lib/apt/lists/*_*'

# debian_install ROOT PACKAGE...
debian_install()
{
	debian_in "$1" sh -c "$debian_install_script" sh "${@:2}"
}

# kernel_image DIR ABI[:ARCH] [ROOT] - download one of Debian's kernels as this machine gets packages, or ROOT
# does: DIR/vmlinuz, DIR/lib/modules/ABI, for depmod.  Its packages' scripts want a boot loader, and do
# not run.
kernel_image()
{
	local dir=$1 abi=${2%:*} in=() pkg=linux-image-$2 deb

	[ -z "${3-}" ] || in=(debian_in "$3")
	# two packages from Linux 7 on
	! "${in[@]}" apt-cache show "linux-binary-$2" >/dev/null 2>&1 ||
		pkg="linux-binary-$2 linux-modules-$2"
	rm -rf "$dir"
	mkdir -p "$dir"
	# shellcheck disable=SC2016,SC2086 # for the inner shell; words
	"${in[@]}" sh -c 'cd "$1" && shift && apt-get download -q -o APT::Sandbox::User=root "$@"' \
		sh "${dir#"${3-}"}" $pkg || return
	for deb in "$dir"/linux-*.deb; do
		dpkg -x "$deb" "$dir" || return
		rm "$deb"
	done
	[ -d "$dir/lib" ] || ln -s usr/lib "$dir/lib"
	mv "$dir/boot/vmlinuz-$abi" "$dir/vmlinuz" 2>/dev/null ||
		mv "$dir/lib/modules/$abi/vmlinuz" "$dir/vmlinuz"
}
