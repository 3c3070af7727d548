#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run a script inside a test kernel.
#
# usage: run.sh LANE [OPTIONS] SCRIPT [ARGS...]
#
#   LANE  uml          User-Mode Linux 6.12, native speed, one CPU
#         uml-time     the same in virtual time, infinitely fast CPU
#         uml-debug    UML with KASAN, lockdep, kmemleak, UBSAN, ...
#         uml-debug-time  the same in virtual time
#         uml-small    UML without IPv6, multicast, BPF, netfilter, cgroups and others
#         uml-small-time  the same in virtual time
#         qemu-6.12    Debian's 6.12 kernel, emulated, 2 CPUs, virtual time per instruction
#         qemu-6.1     the same with the 6.1 kernel
#         qemu-7       the same with the newest kernel of Debian 13's backports
#         qemu-rt      the same with Debian 13's kernel that has PREEMPT_RT
#         qemu-arm64, qemu-s390x  the same with Debian 13's kernel for that architecture, and programs
#                      of Debian 12 for it
#         qemu-icount  Debian's 6.12 kernel, emulated, 1 CPU, virtual time per instruction
#         qemu-icount-6.1  the same with the 6.1 kernel
#         qemu-smp     Debian's 6.12 kernel, emulated, 2 CPUs that run at once, real time
#         qemu-rt-smp  the same with Debian 13's kernel that has PREEMPT_RT
#         qemu-arm64-smp, qemu-s390x-smp  as qemu-smp, of that architecture
#         qemu-debug   x86 6.12, SMP, PREEMPT, KASAN, lockdep, RCU, kmemleak
#         qemu-kcsan   the same with KCSAN instead
#
# In virtual time a guest does not notice how slow or busy the host is, and waiting costs
# nothing.
#
#   -p 'PARAM=VALUE ...'  parameters of the shuffle module: family=NUMBER
#   -N                    do not build or load the shuffle module
#   -k DIR                boot the kernel of DIR, which need not be one of the lanes', and as -N: UML in
#                         its build folder; for QEMU DIR has vmlinuz and lib/modules/RELEASE
#   -t SECONDS            time limit (default 600); 0: none, for callers that watch its
#                         progress (watch.py)
#   -m MEGABYTES          memory (default 2048)
#   -e NAME=VALUE         put into the script's environment (repeatable)
#   -o DIR                output directory (default build/out/LANE)
#   -b PATH               keep PATH of the host visible (below /tmp, /mnt, ...)
#   -w MINE,OTHER         QEMU: a network device, whose frames go from the socket MINE to the socket
#                         OTHER (new names, not longer than 100 characters): to another guest
#   -a 'ARGUMENT ...'     more kernel arguments
#   -L                    no search for leaks at the end of a debug lane (5 s)
#   -W                    allow splats (for scripts that provoke them)
#
# The guest's root is the host's (of another architecture: a root of its own in the cache, with the
# project in it), read-only, with tmpfs on /tmp, /run, /mnt and
# /var/tmp; the host's own /tmp is at $SHUFFLE_HOST/tmp.  The script is run by
# bash in the project's root and finds SHUFFLE_LANE, SHUFFLE_ROOT, SHUFFLE_KO,
# SHUFFLE_OUT, a directory that it shares with the host (-o), and, in virtual time,
# SHUFFLE_VIRTUAL=1.  The kernel's console ends up in SHUFFLE_OUT/console.log.  A QEMU
# guest that dies before its first program runs is booted again, twice at most; the
# consoles of such boots are SHUFFLE_OUT/console-died-?.log.
#
# Exit status: the script's; 70 when the kernel complained (a splat or a leak),
# 71 when the guest died or did not start, 124 when time ran out.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
# shellcheck source=qemu.sh
. "$here/qemu.sh"

usage()
{
	sed -n '/^# usage:/,/^# 71/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

lane=${1-}
kernel=$(kernel_of "$lane") || usage
shift
params='' load=1 own_kernel='' limit=600 mem=2048 out=$BUILD/out/$lane extra='' allow=0 leaks=1 exports=() visible=() wire=''
while getopts 'p:Nk:t:m:e:o:a:b:w:LW' opt; do
	case $opt in
	p) params=$OPTARG ;;
	N) load=0 ;;
	k) own_kernel=$OPTARG load=0 ;;
	t) limit=$OPTARG ;;
	m) mem=$OPTARG ;;
	e) exports+=("$OPTARG") ;;
	o) out=$OPTARG ;;
	a) extra=$OPTARG ;;
	w) wire=$OPTARG ;;
	b) visible+=("$(readlink -f "$OPTARG")") ;;
	L) leaks=0 ;;
	W) allow=1 ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || usage
script=$(readlink -f "$1") || script=
[ -f "$script" ] || die "no script '$1'"
shift

# What tests need of Debian's kernels before the kernel would load it by itself.
modules=''
case $kernel in
7 | rt | 6.12 | 6.1 | arm64 | s390x) modules="veth bridge ipv6 sch_prio sch_netem sch_tbf cls_u32 sch_ingress cls_bpf" ;;
esac
case $lane in
*-debug*) extra="kasan_multi_shot $extra" ;;
*) leaks=0 ;;
esac

# Files that only this run uses; a run of the same lane may go on beside it.
mkdir -p "$out"
out=$(cd "$out" && pwd)
run=$(mktemp -d "$out/.run.XXXXXX")
console=$run/console
vmpid=
# shellcheck disable=SC2317 # a trap
cleanup()
{
	trap - EXIT INT TERM
	[ -z "$vmpid" ] || kill -TERM "$vmpid" 2>/dev/null || true
	mv -f "$console" "$out/console.log" 2>/dev/null || true
	rm -rf "$run"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

ko=$BUILD/$kernel/module/net/shuffle/shuffle.ko
if [ "$load" = 1 ]; then
	"$here/build-module.sh" "$kernel" >/dev/null
	[ -e "$ko" ] || die "no $ko"
fi
rm -f "$out"/console-died-?.log
# Time is not the guest's own in some lanes: only the host watches it there.
guest_limit=$limit host_limit=$((limit ? limit + 60 : 0))
if lane_is_virtual "$lane"; then
	guest_limit=0 host_limit=$limit
	exports+=(SHUFFLE_VIRTUAL=1)
fi
kmoddir='' use9p=0 port=auto
cmdline="quiet loglevel=5 panic=-1 shuffle_run=$run $extra"
case $lane in
uml*)
	kdir=${own_kernel:-$(kernel_build_dir "$kernel")}
	port=/dev/tty1
	# shellcheck disable=SC2054 # commas of UML's own
	# The first console is the kernel's, the second the script's output.
	vm=("$kdir/linux" "mem=${mem}M" root=/dev/root rootfstype=hostfs ro
		"init=$here/guest-init.sh" con=null con0=null,fd:2 con1=null,fd:1)
	[[ $lane == uml-debug* ]] || vm+=(ssl=null)
	if [[ $lane == *-time ]]; then
		vm+=(time-travel=inf-cpu)
		# The jitter RNG, in some of the kernels, waits for jitter, and an infinitely fast CPU has
		# none.  UML's kallsyms does not know init.text: the address is the function's name there.
		jitter=$(nm "$kdir/linux" | awk '$3 == "jent_mod_init" { sub(/^0+/, "0x", $1); print $1 }')
		[ -z "$jitter" ] || vm+=("initcall_blacklist=$jitter")
	fi
	# shellcheck disable=SC2054,SC2206 # words
	vm+=($cmdline)
	# It maps its memory from a file; a container's /dev/shm may be small.
	if [ "$(df -m --output=avail /dev/shm 2>/dev/null | tail -1)" -lt "$mem" ]; then
		export TMPDIR=$run
	fi
	;;
qemu*)
	use9p=1
	[ -z "$own_kernel" ] || [ -e "$own_kernel/vmlinuz" ] || die "-k: $own_kernel has no vmlinuz"
	[[ -z $own_kernel || $kernel != x86-* ]] || die "-k: $lane has a kernel of its own"
	qemu_prepare "$lane" "$kernel" "$own_kernel"
	kmoddir=$qemu_kmoddir
	qemu_command "$lane" "$mem" "$console" "$out" "$run/pipe" "$cmdline"
	[ -z "$wire" ] || qemu_wire "$wire"
	[ "$qemu_root" = / ] || qemu_inside "$SHUFFLE_ROOT" "$SHUFFLE_CACHE" "$out" "${visible[@]}"
	vm=("${qemu_cmd[@]}")
	;;
esac

{
	declare -p exports | sed 's/^declare -a exports/declare -a RUN_EXPORT/'
	argv=("$script" "$@")
	declare -p argv | sed 's/^declare -a argv/declare -a RUN_ARGV/'
	keep=("$SHUFFLE_ROOT" "$SHUFFLE_CACHE" "${visible[@]}")
	declare -p keep | sed 's/^declare -a keep/declare -a RUN_KEEP/'
	printf 'RUN_%s=%q\n' LANE "$lane" ROOT "$SHUFFLE_ROOT" CACHE "$SHUFFLE_CACHE" KO "$ko" PARAMS "$params" \
		OUT "$out" PORT "$port" TIMEOUT "$guest_limit" MODULES "$modules" \
		KMODDIR "$kmoddir" LOAD "$load" LEAKS "$leaks" 9P "$use9p"
} >"$run/env"

# The guest watches the limit itself and can tell what hangs; this is for a
# guest that cannot.  UML cannot poll a file and would make a terminal
# non-blocking: everything goes through pipes.
boot()
{
	local readers

	: >"$console"
	cat <"$run/pipe" &
	readers=$!
	cat <"$run/pipe2" >>"$console" &
	readers="$readers $!"
	timeout -k 10 "$host_limit" "${vm[@]}" </dev/null >"$run/pipe" 2>"$run/pipe2" &
	vmpid=$!
	wait "$vmpid"
	vmstatus=$?
	# shellcheck disable=SC2086 # process ids
	wait $readers
	vmpid=
}

# Under emulation with two CPUs a kernel sometimes dies in its own text patching
# (int3), in the first seconds.  A guest that dies before its first program runs
# has run nothing of this project and is booted again; no other death is.
died_early()
{
	[[ $lane == qemu* ]] && [ ! -e "$run/started" ] &&
		[ "$vmstatus" != 124 ] && [ "$vmstatus" != 137 ]
}

mkfifo "$run/pipe" "$run/pipe2"
set +e
for again in 1 2 last; do
	boot
	if [ "$again" = last ] || ! died_early; then
		break
	fi
	printf '# lane %s: the guest died before its first program ran (%s); booting again (%s of 2); its console ended:\n' \
		"$lane" "$vmstatus" "$again"
	tail -5 "$console" | sed 's/^/#   /'
	cp "$console" "$out/console-died-$again.log"
done
set -e

if [ -s "$run/status" ]; then
	status=$(cat "$run/status")
elif [ "$vmstatus" = 124 ] || [ "$vmstatus" = 137 ]; then
	printf 'lane %s: the guest did not end within %s s; its console ends:\n' "$lane" "$host_limit"
	tail -40 "$console"
	status=124
	# UML frees its consoles' interrupts in the handler of the signal that ends it, and complains.
	ended=$(awk '/WARNING:|BUG:/ { head = NR } /last_ditch_exit/ { print head; exit }' "$console")
	[ -z "$ended" ] || sed -i "$ended,\$d" "$console"
else
	printf 'lane %s: the guest died (%s); its console ends:\n' "$lane" "$vmstatus"
	tail -40 "$console"
	status=71
fi
if [ -s "$run/kmemleak" ]; then
	sed 's/^unreferenced/kmemleak: unreferenced/' "$run/kmemleak" >>"$console"
fi
if [ "$allow" = 0 ] && splats "$console" >"$run/splats"; then
	printf 'lane %s: the kernel complained (%s):\n' "$lane" "$out/console.log"
	cat "$run/splats"
	status=70
fi
exit "$status"
