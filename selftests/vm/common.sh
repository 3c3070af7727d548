#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shared by the scripts that build and boot kernels: cache location, messages,
# progress.  Sourced, never run.

SHUFFLE_CACHE=${SHUFFLE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/shuffle}
export SHUFFLE_CACHE

die()
{
	printf 'error: %s\n' "$*" >&2
	exit 1
}

note()
{
	printf '   %s\n' "$*" >&2
}

# progress_while PID LOG NAME TOTAL - show lines of LOG against an expected
# TOTAL until PID ends; every 2 s on a terminal, every 60 s in a file.
progress_while()
{
	local pid=$1 log=$2 name=$3 total=$4 start=$SECONDS last=0 n pct

	while kill -0 "$pid" 2>/dev/null; do
		sleep 2
		n=$(wc -l <"$log")
		pct=$((n * 100 / total))
		[ "$pct" -lt 99 ] || pct=99
		if [ -t 2 ]; then
			printf '\r   %s: %d %%, %d s ' "$name" "$pct" $((SECONDS - start)) >&2
		elif [ $((SECONDS - last)) -ge 60 ]; then
			last=$SECONDS
			note "$name: $pct %, $((SECONDS - start)) s"
		fi
	done
	[ ! -t 2 ] || printf '\n' >&2
}

SHUFFLE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export BUILD=$SHUFFLE_ROOT/build

# kernel_of LANE - the kernel that a lane boots.
kernel_of()
{
	case $1 in
	uml | uml-time)              echo um ;;
	uml-debug | uml-debug-time)  echo um-debug ;;
	uml-small | uml-small-time)  echo um-small ;;
	qemu-6.12 | qemu-icount | qemu-smp) echo 6.12 ;;
	qemu-6.1 | qemu-icount-6.1)  echo 6.1 ;;
	qemu-7)                      echo 7 ;;
	qemu-rt | qemu-rt-smp)       echo rt ;;
	qemu-arm64 | qemu-arm64-smp) echo arm64 ;;
	qemu-s390x | qemu-s390x-smp) echo s390x ;;
	qemu-debug)                  echo x86-debug ;;
	qemu-kcsan)                  echo x86-kcsan ;;
	*) return 1 ;;
	esac
}

# lane_is_virtual LANE - time does not pass while the host is busy with something else.
lane_is_virtual()
{
	[[ $1 == *-time || $1 == qemu-icount* || $1 == qemu-6.* || $1 == qemu-7 || $1 =~ ^qemu-(rt|arm64|s390x)$ ]]
}

# debian_release - 12 or 13; nothing on other systems
debian_release()
{
	# shellcheck disable=SC1091 # the system's
	(. /etc/os-release && [ "${ID-}" = debian ] && echo "${VERSION_ID-}") 2>/dev/null || :
}

# headers_package 6.12|6.1 - the package with the newest headers of one of Debian's kernels; nothing
# where this release has no such kernel
headers_package()
{
	case $(debian_release)-$1 in
	13-6.12) echo linux-headers-amd64 ;;
	13-6.1)  ;;
	*-6.12)  echo linux-headers-6.12-amd64 ;;
	*-6.1)   echo linux-headers-amd64 ;;
	esac
}

# debian_abi 6.12|6.1|7|rt|arm64|s390x|armhf - the release of Debian's kernel whose headers are installed, or in
# a root of Debian 13, such as 6.12.117+deb12-amd64.
debian_abi()
{
	local meta abi

	case $1 in
	7 | rt)
		cat "$("$SHUFFLE_ROOT/selftests/vm/debian-root.sh" "$1")/.abi"
		return
		;;
	arm64 | s390x | armhf)
		cat "$("$SHUFFLE_ROOT/selftests/vm/debian-root.sh" "$1")/.abi-$1"
		return
		;;
	esac
	meta=$(headers_package "$1")
	[ -n "$meta" ] || die "Debian $(debian_release) has no kernel $1"
	abi=$(dpkg-query -W -f '${Depends}' "$meta" 2>/dev/null |
		sed -n 's/.*linux-headers-\([0-9][^ ,]*-amd64\).*/\1/p')
	[ -n "$abi" ] || die "$meta is not installed: run 'make deps'"
	echo "$abi"
}

# kernel_build_dir KERNEL - where 'make -C' builds modules for it.
kernel_build_dir()
{
	case $1 in
	6.12 | 6.1) echo "/usr/src/linux-headers-$(debian_abi "$1")" ;;
	7 | rt | arm64 | s390x | armhf)
		echo "$("$SHUFFLE_ROOT/selftests/vm/debian-root.sh" "$1")/usr/src/linux-headers-$(debian_abi "$1")"
		;;
	*) "$SHUFFLE_ROOT/selftests/vm/build-kernel.sh" "$1" ;;
	esac
}

# kernel_make KERNEL DIR ARGUMENT... - make in what kernel_build_dir() says, by the compiler of that
# kernel's release.
kernel_make()
{
	local root

	if [[ $1 =~ ^(7|rt|arm64|s390x|armhf)$ ]]; then
		root=$("$SHUFFLE_ROOT/selftests/vm/debian-root.sh" "$1")
		"$SHUFFLE_ROOT/selftests/vm/debian-root.sh" "$1" run make -C "${2#"$root"}" "${@:3}"
		return
	fi
	make -C "$2" "${@:3}"
}

# splats CONSOLE - print what the kernel complained about (at most 120 lines),
# fail when there is nothing.
splats()
{
	awk -f "$SHUFFLE_ROOT/selftests/vm/kcsan.awk" "$1" | awk '
	{ sub(/\r$/, "") }
	# of a slow machine: drivers that the boot waits for
	/guest: init runs/ { up = 1 }
	!up && /INFO: task .* blocked for more than|hung_task_timeout_secs/ { next }
	# of reports that are not ours: kcsan.awk
	/==========/ { next }
	# an injected fault in its own allocation
	/ref_tracker: memory allocation failure, unreliable/ { next }
	/BUG:|WARNING:|Oops|KASAN:|UBSAN:|ODEBUG:|ref_tracker:|Kernel panic|general protection/ ||
	/possible .*(locking|deadlock|recursion)|inconsistent lock state|suspicious RCU/ ||
	/INFO: (task|possible|trying|rcu|suspicious|HARDIRQ|SOFTIRQ)|rcu.*(stall|INFO)/ ||
	/(list_add|list_del) corruption|refcount_t:|scheduling while atomic|soft lockup|hung/ ||
	/sleeping function|unregister_netdevice: waiting|kmemleak: unreferenced|page_pool.*stalled/ ||
	/Kernel mode fault|Kernel tried to access user memory|segfault at/ {
		found = 1
		left = 25
	}
	left > 0 && printed < 120 { print "  | " $0; left--; printed++ }
	END { exit !found }'
}

# tick_while PID NAME LOG - say every 10 s that NAME still runs, with the last
# line of its log.
tick_while()
{
	local pid=$1 name=$2 log=$3 start=$SECONDS last=$SECONDS

	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.5
		[ $((SECONDS - last)) -ge 10 ] || continue
		last=$SECONDS
		note "$name, $((SECONDS - start)) s: $(tail -1 "$log" | tr -d '\r' | cut -c1-70)"
	done
}
