#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shared by the AF_SHUFFLE selftests: TAP, network namespaces, waits.  Sourced.
#
#   rack N [CONFIG...]  hosts shf-h0 ... on one bridge in the namespace shf-br
#
#      shf-h0           shf-h1                  host h: 10.77.0.h+1/16
#      [eth0]           [eth0]                          fd77::h+1/64
#        |                |
#     ---[p0]------------[p1]---  br0, namespace shf-br
#
#   routed N       hosts shf-h0 ... behind a router, the namespace shf-br
#
#      shf-h0           shf-h1                  host h: 10.78.h.2/24
#      [eth0]           [eth0]                          fd78:h::2/64
#        |                |
#       [p0]             [p1]    10.78.h.1, fd78:h::1, namespace shf-br

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../../../tools/common/tap.sh
. "$here/../../../tools/common/tap.sh"
KCSAN_OURS=$(cd "$here/../../vm" && pwd)/kcsan.awk
BIN=${SHUFFLE_BIN:-$(cd "$here/../../.." && pwd)/build/tools}
LANE=${SHUFFLE_LANE:-uml-debug}
CASES=${CASES:-.}
CASES_PART=${CASES_PART-}
CASES_ALWAYS=${CASES_ALWAYS:-^$}
CASES_LIST=${CASES_LIST-}
CASES_TIMES=${CASES_TIMES:-1}
declare -A cases_done=()
[ -z "${CASES_DONE-}" ] || while IFS= read -r name; do
	cases_done[$name]=1
done <"$CASES_DONE"
case_number=0
heartbeat_pid=
case_group=		# of the case that runs
splats=0		# that the kernel has printed so far
PFX=shf-
KEEP=			# set: cases leave their rack for the next one of that size
work=
state=			# outlives a case
hosts=0
peer_calls=0
# A kernel may have no IPv6.  Cases go without it then: v6=$ipv6 is IPv6 where there is one, and
# $no6 in front of a line for ip -batch makes a comment of it where there is none.
ipv6=1 no6=
[ -e /proc/sys/net/ipv6 ] || ipv6=0 no6='# '

# ---- cases ----

# Ends a case early; called inside a case's subshell.
skip()
{
	echo "$*" >"$work/skip"
	exit 4
}

need_ipv6()
{
	[ "$ipv6" = 1 ] || skip "no IPv6 in this kernel"
}

# is_for_ipv6 NAME - the case, and nothing of it is left without IPv6
is_for_ipv6()
{
	[[ $1 =~ (^|-)(ip)?v6(-|,|$) ]]
}

splat_count()
{
	dmesg 2>/dev/null | awk -f "$KCSAN_OURS" | grep -cE \
		'BUG:|WARNING:|Oops|KASAN:|UBSAN:|ODEBUG:|possible (recursive|circular|irq)|suspicious RCU|inconsistent lock|refcount_t:|unregister_netdevice: waiting' || true
}

uptime_s()
{
	local s

	read -r s _ </proc/uptime
	echo "${s%.*}"
}

# A host that is busy or asleep can stop a virtual machine for long.  Tell
# run_case() when it did: deadlines that passed meanwhile prove nothing.  Virtual
# time does not pass meanwhile.
heartbeat()
{
	local now last

	last=$(uptime_s)
	while sleep 1; do
		now=$(uptime_s)
		[ $((now - last)) -lt 15 ] || echo "$((now - last))" >"$state/stopped"
		last=$now
	done
}

# A case's function in a subshell, output in $work/log.  The subshell has a process group of its
# own: what it leaves behind, children of children included, is killed.
try_case()
{
	local rc

	rm -f "$work"/* "$state/stopped"
	set -m
	(
		set +m
		"$@"
	) >"$work/log" 2>&1 &
	case_group=$!
	set +m
	wait "$case_group"
	rc=$?
	case_cleanup
	return $rc
}

# chosen NAME - by CASES, and by CASES_PART=K/N: of N cases in a row the K-th, so
# that a part has some of all kinds.
chosen()
{
	[[ $1 =~ $CASES ]] || return 1
	[ -z "${cases_done[$1]-}" ] || return 1
	[ -n "$CASES_PART" ] || return 0
	! [[ $1 =~ $CASES_ALWAYS ]] || return 0
	case_number=$((case_number + 1))
	[ $((case_number % ${CASES_PART#*/})) = $((${CASES_PART%/*} % ${CASES_PART#*/})) ]
}

# run_case NAME FUNCTION [ARGS...] - one line of TAP for each time that it runs.
run_case()
{
	local i

	chosen "$1" || return 0
	if [ -n "$CASES_LIST" ]; then
		echo "$1"
		return 0
	fi
	if [ "$CASES_TIMES" = 1 ]; then
		run_once "$@"
		return
	fi
	for ((i = 1; i <= CASES_TIMES; i++)); do
		run_once "$1, $i of $CASES_TIMES" "${@:2}"
	done
}

# run_once NAME FUNCTION [ARGS...] - the function runs in a subshell; everything that it has set
# up is gone afterwards.
run_once()
{
	local name=$1 rc before start=$SECONDS
	shift

	if is_for_ipv6 "$name" && [ "$ipv6" = 0 ]; then
		tap_skip "$name" "no IPv6 in this kernel"
		return 0
	fi
	before=$splats
	try_case "$@"
	rc=$?
	if [ "$rc" != 0 ] && [ "$rc" != 4 ] && [ -s "$state/stopped" ]; then
		diag "$name: again, the machine stood still for $(cat "$state/stopped") s"
		try_case "$@"
		rc=$?
	fi
	splats=$(splat_count)
	if [ "$rc" = 4 ] && [ -s "$work/skip" ]; then
		tap_skip "$name" "$(cat "$work/skip")"
		return 0
	fi
	if [ "$splats" -gt "$before" ]; then
		rc=1
		dmesg | grep -E -A 12 'BUG:|WARNING:|KASAN:|possible|suspicious|ODEBUG' |
			tail -40 >>"$work/log"
		echo "the kernel complained" >>"$work/log"
	fi
	if [ "$rc" = 0 ]; then
		[ -z "${SHUFFLE_VERBOSE-}" ] || sed 's/^/# /' "$work/log"
		tap ok "$name"
	else
		diag "$(tail -n "$tap_lines" "$work/log")"
		tap "not ok" "$name"
	fi
	[ -z "${SHUFFLE_TIMES-}" ] || echo "# $((SECONDS - start)) s"
}

case_cleanup()
{
	[ -z "$CASES_LIST" ] || return 0
	[ -z "$case_group" ] || kill -9 -- "-$case_group" 2>/dev/null
	case_group=
	[ -n "$KEEP" ] || rack_down
}

# A background job that ends with the case.
background()
{
	"$@" &
}

# ---- lanes ----

# How much slower than a plain machine, for waits and sizes.
case $LANE in
uml-debug*)	slow=3  size_pct=100 ;;
uml*)		slow=1  size_pct=100 ;;
qemu-debug | qemu-kcsan)	slow=20 size_pct=10 ;;
qemu*)		slow=4  size_pct=50 ;;
*)		slow=1  size_pct=100 ;;
esac

# sz BYTES [LEAST] - a size as large as the lane can bear.
sz()
{
	local n=$(($1 * size_pct / 100)) least=${2:-1}

	echo $((n > least ? n : least))
}

# tmo SECONDS - a limit for a wait, in seconds of a fast machine.
tmo()
{
	echo $(($1 * slow + 20))
}

# wait_for SECONDS COMMAND... - until it succeeds.  More and more rarely: in virtual time waiting
# is free, and asking costs what its processes cost.  Once more after the end: virtual time can
# pass while a program of the command is loaded.
wait_for()
{
	local end=$((SECONDS + $(tmo "$1"))) pauses=(0.05 0.05 0.1 0.1 0.2 0.2 0.4) i=0
	shift

	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || {
			"$@"
			return
		}
		sleep "${pauses[i]}"
		i=$((i < ${#pauses[@]} - 1 ? i + 1 : i))
	done
}

# ---- namespaces ----

nsx()
{
	local ns=$PFX$1
	shift
	ip netns exec "$ns" "$@"
}

rack_down()
{
	local ns pid

	[ -z "$CASES_LIST" ] || return 0
	# daemons that a plan has started are in no case's process group
	for pid in $(pgrep -x shuffle-relayd); do
		[[ $(ip netns identify "$pid" 2>/dev/null) != "$PFX"* ]] || kill -9 "$pid"
	done
	rm -f "$state/rack"
	for ns in /run/netns/"$PFX"*; do
		[ ! -e "$ns" ] || echo "netns del ${ns##*/}"
	done >"$state/netns"
	[ ! -s "$state/netns" ] || ip -force -batch "$state/netns" 2>/dev/null
	return 0
}

# Names, pairs of devices: common to both networks.
net_begin()
{
	local h

	rack_down
	hosts=$1
	{
		echo "netns add ${PFX}br"
		for ((h = 0; h < hosts; h++)); do
			echo "netns add ${PFX}h$h"
		done
	} | ip -batch - || fail "no namespaces"
	for ((h = 0; h < hosts; h++)); do
		# its number: other interfaces may come in front of it
		echo "link add p$h type veth peer name eth0 netns ${PFX}h$h index 99"
	done | ip -n "${PFX}br" -batch - || fail "no veth"
}

# rack HOSTS [CONFIG...] - with KEEP, the one that the case before has left, if it is the same.
rack()
{
	local h kept=''

	[ ! -e "$state/rack" ] || read -r kept <"$state/rack"
	if [ "$kept" = "$*" ]; then
		hosts=$1
		return 0
	fi
	net_begin "$1"
	{
		echo "link set lo up"
		echo "link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0"
		echo "${no6}link set br0 addrgenmode none"
		echo "link set br0 up"
		for ((h = 0; h < hosts; h++)); do
			echo "${no6}link set p$h addrgenmode none"
			echo "link set p$h master br0 up"
		done
	} | ip -n "${PFX}br" -batch - || fail "no bridge"
	for ((h = 0; h < hosts; h++)); do
		ip -n "${PFX}h$h" -batch - <<-END || fail "no addresses on host $h"
			link set lo up
			link set eth0 up
			addr add 10.77.0.$((h + 1))/16 dev eth0
			${no6}addr add fd77::$(printf %x $((h + 1)))/64 dev eth0 nodad
		END
	done
	wait_for 5 rack_ready || fail "the rack does not come up"
	[ $# = 1 ] || config_all "${@:2}"
	[ -z "$KEEP" ] || echo "$*" >"$state/rack"
}

# new_rack HOSTS - one whose counters and settings are nobody else's.
new_rack()
{
	rack_down
	rack "$1"
}

rack_ready()
{
	ip -n "${PFX}h0" -o link show dev eth0 | grep -q 'state UP'
}

routed()
{
	local h x

	net_begin "$1"
	{
		echo "link set lo up"
		for ((h = 0; h < hosts; h++)); do
			x=$(printf %x "$h")
			echo "link set p$h up"
			echo "addr add 10.78.$h.1/24 dev p$h"
			echo "${no6}addr add fd78:$x::1/64 dev p$h nodad"
		done
	} | ip -n "${PFX}br" -batch - || fail "no router"
	nsx br sysctl -qw net.ipv4.ip_forward=1
	[ "$ipv6" = 0 ] || nsx br sysctl -qw net.ipv6.conf.all.forwarding=1
	for ((h = 0; h < hosts; h++)); do
		x=$(printf %x "$h")
		ip -n "${PFX}h$h" -batch - <<-END || fail "no addresses on host $h"
			link set lo up
			link set eth0 up
			addr add 10.78.$h.2/24 dev eth0
			${no6}addr add fd78:$x::2/64 dev eth0 nodad
			route add default via 10.78.$h.1
		END
		[ "$ipv6" = 0 ] || ip -6 -n "${PFX}h$h" route add default via "fd78:$x::1" ||
			fail "no route on host $h"
	done
	wait_for 5 rack_ready || fail "the network does not come up"
}

# each_host COMMAND... - in every host; tc and ip take -n themselves.
each_host()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		nsx "h$h" "$@" || return 1
	done
}

# netem ARGS... - on the way to every host.  Anew: replacing a netem by a netem keeps what the
# new one does not name.
netem()
{
	local h

	modprobe -q sch_netem 2>/dev/null
	for ((h = 0; h < hosts; h++)); do
		echo "qdisc replace dev p$h root pfifo"
		echo "qdisc replace dev p$h root netem $* limit 20000"
	done | tc -n "${PFX}br" -batch - || skip "no netem"
}

# rate MBIT - of every link, both ways; a small burst makes tbf segment
# super-packets.
rate()
{
	local h

	modprobe -q sch_tbf 2>/dev/null
	for ((h = 0; h < hosts; h++)); do
		tc -n "${PFX}h$h" qdisc replace dev eth0 root handle 1: \
			tbf rate "$1mbit" burst 9100 limit 2000000 || skip "no tbf"
	done
	for ((h = 0; h < hosts; h++)); do
		echo "qdisc replace dev p$h root tbf rate $1mbit burst 9100 limit 2000000"
	done | tc -n "${PFX}br" -batch - || skip "no tbf"
}

# ---- shufflectl ----

# ctl ARGS... - in this namespace; hctl HOST ARGS... - in a host's.
ctl()
{
	"$BIN/shufflectl" "$@"
}

hctl()
{
	local h=$1
	shift
	ctl -n "${PFX}h$h" "$@"
}

# config_all SETTING VALUE... - on all hosts of the rack.
config_all()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		hctl "$h" config set "$@" || fail "config set $* on host $h"
	done
}

# ---- members ----

# peer [ARGS...] - run a shuffle; its lines of JSON are the log.  Operations have
# other numbers than those before on the same rack.
peer()
{
	peer_calls=$((peer_calls + 1))
	"$BIN/shuffle_peer" prefix="$PFX" timeout=$(($(tmo 30) * 1000)) \
		op=$((tap_count * 1000 + peer_calls * 50)) "$@"
}

# patiently MS ARGS... - a shuffle with a deadline: MS, and once more eight times that if it
# did not end as expected.  For cases whose members must have done their part before the
# deadline, on a machine of any speed.
patiently()
{
	peer "${@:2}" deadline="$1" || peer "${@:2}" deadline=$((8 * $1))
}

# counter HOST NAME - of /proc/net/shuffle/netstat.
counter()
{
	"$BIN/host_counter" "$PFX" "$2" "h$1"
}

# has_counted HOST NAME LEAST - for wait_for.
has_counted()
{
	[ "$(counter "$1" "$2")" -ge "$3" ]
}

# A shuffle has failed: show what the hosts have counted.
shuffle_failed()
{
	local h

	for ((h = 0; h < hosts && h < 4; h++)); do
		# shellcheck disable=SC2016 # for awk
		nsx "h$h" awk -v h="$h" 'NR == 1 { split($0, n); next }
			{ printf "host %d:", h; for (i = 2; i <= NF; i++) if ($i) printf " %s %s", n[i], $i; print "" }' \
			/proc/net/shuffle/netstat
	done
	fail "the shuffle failed${1+: $1}"
}

# counters NAME - summed over all hosts.
counters()
{
	local h names=()

	for ((h = 0; h < hosts; h++)); do
		names+=("h$h")
	done
	"$BIN/host_counter" "$PFX" "$1" "${names[@]}"
}

module_loaded()
{
	grep -q '^shuffle ' /proc/modules
}

module_load()
{
	# a kernel may have it built in
	module_loaded || [ -e /proc/net/shuffle/family ] && return 0
	if [ -n "${SHUFFLE_KO-}" ]; then
		# shellcheck disable=SC2086 # parameters are words
		insmod "$SHUFFLE_KO" ${SHUFFLE_KO_ARGS-}
	else
		modprobe shuffle
	fi
}

# setup_all / finish_all - around all cases of a script.
setup_all()
{
	[ -z "$CASES_LIST" ] || return 0
	[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP not root"; exit 0; }
	[[ $CASES_PART =~ ^([1-9][0-9]*/[1-9][0-9]*)?$ ]] || { echo "Bail out! CASES_PART=$CASES_PART"; exit 1; }
	[ -x "$BIN/shuffle_peer" ] || { echo "Bail out! no $BIN/shuffle_peer: run make here"; exit 1; }
	module_load || { echo "Bail out! the module cannot be loaded"; exit 1; }
	mkdir -p /run/netns
	state=$(mktemp -d)
	work=$state/case
	mkdir "$work"
	trap 'exit 1' INT TERM
	trap 'all_cleanup' EXIT
	case $LANE in
	uml | uml-debug | uml-small | qemu-debug | qemu-kcsan)
		heartbeat &
		heartbeat_pid=$!
		;;
	esac
	sysctl -qw net.ipv4.neigh.default.gc_thresh1=8192 \
		net.ipv4.neigh.default.gc_thresh2=16384 \
		net.ipv4.neigh.default.gc_thresh3=32768 2>/dev/null
	[ "$ipv6" = 0 ] || sysctl -qw net.ipv6.neigh.default.gc_thresh1=8192 \
		net.ipv6.neigh.default.gc_thresh2=16384 \
		net.ipv6.neigh.default.gc_thresh3=32768 2>/dev/null
	splats=$(splat_count)
	echo "TAP version 13"
}

all_cleanup()
{
	KEEP=
	case_cleanup
	[ -z "$heartbeat_pid" ] || kill "$heartbeat_pid"
	rm -rf "$state"
}

finish_all()
{
	[ -z "$CASES_LIST" ] || return 0
	tap_end
}
