#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# First process inside a test kernel (every lane): mounts what tests need over
# the host's read-only root, loads the module, runs the script named in the run
# directory, looks for leaks and powers off.
#
# The kernel command line carries shuffle_run=DIR; DIR/env was written by run.sh:
#   RUN_LANE RUN_ROOT RUN_CACHE RUN_KO RUN_PARAMS RUN_OUT RUN_PORT RUN_TIMEOUT RUN_MODULES
#   RUN_KMODDIR RUN_LOAD RUN_LEAKS RUN_9P, arrays RUN_EXPORT RUN_ARGV RUN_KEEP
# and DIR/started and DIR/status are read by it afterwards.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/tmp LANG=C.UTF-8 TERM=dumb

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mountpoint -q /dev || mount -t devtmpfs devtmpfs /dev
read -r cmdline </proc/cmdline
run=${cmdline##*shuffle_run=}
run=${run%% *}

# shellcheck source=/dev/null
. "$run/env"

# The host's root stays visible below /run/host where a tmpfs hides part of it.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/host /run/netns /run/lock
mount --bind / /run/host
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
# for splats() in common.sh
echo "guest: init runs" >/dev/kmsg
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
mount -t bpf bpf /sys/fs/bpf 2>/dev/null
for dir in /tmp /mnt /var/tmp; do
	mount -t tmpfs -o mode=1777 tmpfs "$dir"
	for keep in "${RUN_KEEP[@]}"; do
		case $keep in
		"$dir"/*) ;;
		*) continue ;;
		esac
		if [ -d "/run/host$keep" ]; then
			mkdir -p "$keep"
		else
			mkdir -p "$(dirname "$keep")"
			touch "$keep"
		fi
		mount --bind "/run/host$keep" "$keep"
	done
done
mkdir -p "$RUN_OUT"	# it may be below one of these
if [ "$RUN_9P" = 1 ]; then
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=mmap out "$RUN_OUT"
else
	# mount(8) of Debian 13 passes names and values only; the folder is neither
	busybox mount -t hostfs -o "$RUN_OUT" none "$RUN_OUT"
fi
# From here on run.sh does not boot again: nothing of the project has run before.
: >"$run/started"
if [ -n "$RUN_KMODDIR" ]; then
	mount --bind "${RUN_KMODDIR%/*}" /lib/modules
fi

case $RUN_PORT in
auto) # QEMU: the one virtio-serial port
	port=/dev/vport0p1
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ ! -e /sys/class/virtio-ports ] || break
		sleep 0.1
	done
	for p in /dev/vport*; do port=$p; done
	;;
*)
	port=$RUN_PORT
	;;
esac
exec >"$port" 2>&1 </dev/null
[ ! -t 1 ] || stty raw -echo -opost <"$port"

finish()
{
	echo "$1" >"$run/status"
	dmesg >"$RUN_OUT/dmesg.txt" 2>/dev/null
	sync
	umount "$RUN_OUT" 2>/dev/null
	busybox poweroff -f
	sleep 60
}

fail()
{
	echo "guest: $*"
	finish 71
}

ip link set lo up
sysctl -q -w net.ipv4.neigh.default.gc_thresh1=65536 \
	net.ipv4.neigh.default.gc_thresh2=131072 net.ipv4.neigh.default.gc_thresh3=262144 \
	net.ipv6.neigh.default.gc_thresh1=65536 \
	net.ipv6.neigh.default.gc_thresh2=131072 net.ipv6.neigh.default.gc_thresh3=262144 \
	net.core.netdev_max_backlog=10000000 kernel.panic_on_oops=0 2>/dev/null
# shellcheck disable=SC2086 # words
[ -z "$RUN_MODULES" ] || modprobe -aq $RUN_MODULES

if [ "$RUN_LEAKS" = 1 ] && [ -w /sys/kernel/debug/kmemleak ]; then
	echo scan=off >/sys/kernel/debug/kmemleak
	echo clear >/sys/kernel/debug/kmemleak
fi

if [ "$RUN_LOAD" = 1 ]; then
	depends=$(modinfo -F depends "$RUN_KO")
	# shellcheck disable=SC2086 # words
	[ -z "$depends" ] || modprobe -aq ${depends//,/ }
	# shellcheck disable=SC2086 # words
	insmod "$RUN_KO" $RUN_PARAMS || fail "insmod $RUN_KO $RUN_PARAMS failed"
fi

export SHUFFLE_LANE=$RUN_LANE SHUFFLE_ROOT=$RUN_ROOT SHUFFLE_CACHE=$RUN_CACHE SHUFFLE_KO=$RUN_KO
export SHUFFLE_OUT=$RUN_OUT SHUFFLE_HOST=/run/host
[ "${#RUN_EXPORT[@]}" -eq 0 ] || export "${RUN_EXPORT[@]}"
# Where waiting costs nothing, minutes pass while a busy host reads a file for the guest.
if [ -n "${SHUFFLE_VIRTUAL-}" ]; then
	sysctl -q -w kernel.hung_task_timeout_secs=0 2>/dev/null
fi
# A process that dies in the kernel may leave others waiting, and no limit ends them soon.
[ "$RUN_9P" != 1 ] || sysctl -q -w kernel.panic_on_oops=1
cd "$RUN_ROOT" || fail "no $RUN_ROOT"

[ -e "${RUN_ARGV[0]}" ] || RUN_ARGV[0]=/run/host${RUN_ARGV[0]}
timeout -k 10 "$RUN_TIMEOUT" bash "${RUN_ARGV[@]}"
status=$?
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
	echo "guest: the script did not end within $RUN_TIMEOUT s"
	echo w >/proc/sysrq-trigger
	status=124
fi

# Leaks: what the module leaves behind when it is gone.
if [ "$RUN_LEAKS" = 1 ] && [ -w /sys/kernel/debug/kmemleak ]; then
	cd /
	ip -all netns delete 2>/dev/null
	for m in shuffle_test shuffle; do
		grep -q "^$m " /proc/modules || continue
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			rmmod "$m" 2>/dev/null && break
			sleep 0.5
		done
	done
	# An object is reported when it is older than 5 s and was the same,
	# and unreferenced, in two scans.  Builtins only: what the end of a
	# process (sleep, say) leaves to RCU is found by no scan, and where the
	# CPU takes no time, its 5 s would be over before RCU has freed it.
	mkfifo /run/never
	read -r -t 5.5 <>/run/never
	echo scan >/sys/kernel/debug/kmemleak
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak >"$run/kmemleak"
fi
finish "$status"
