#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: shufflectl's command line, and shufflectl qdisc.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work: lib.sh

qdisc_cases()
{
	local c

	run_case "ctl-command-line" ctl_command_line
	run_case "ctl-batch" ctl_batch
	for c in nothing fq_codel bfifo tbf tbf-child netem-tbf prio; do
		run_case "qdisc-restores-$c" qdisc_restores "$c"
	done
	run_case "qdisc-restores-mq" qdisc_mq
	run_case "qdisc-refuses-what-it-would-destroy" qdisc_refuses
	run_case "qdisc-changed-by-somebody-else" qdisc_changed
	run_case "qdisc-tells-the-truth" qdisc_truth
	run_case "qdisc-namespaces-apart" qdisc_apart
	run_case "qdisc-counts-v4" qdisc_counts 0
	run_case "qdisc-counts-v6" qdisc_counts 1
}

# refused STATUS WORDS COMMAND... - it ends with that status and says these words.
refused()
{
	local status=$1 words=$2 rc
	shift 2

	"$@" >"$work/out" 2>"$work/err"
	rc=$?
	[ "$rc" = "$status" ] || { cat "$work/err"; fail "status $rc, not $status: $*"; }
	grep -q '^Error: ' "$work/err" || { cat "$work/err"; fail "no Error: from $*"; }
	grep -qF -- "$words" "$work/err" || { cat "$work/err"; fail "no \"$words\" from $*"; }
}

ctl_command_line()
{
	local object

	refused 1 'object "x" is unknown' ctl x
	refused 1 'ambiguous: socket, stats' ctl s
	refused 1 'qdisc command "x" is unknown' ctl qdisc x
	refused 1 'option "-x" is unknown' ctl -x
	refused 1 'wants an argument' ctl -n
	refused 1 'on which device' ctl qdisc install
	refused 1 '--rate wants' ctl qdisc install lo --rate fast
	refused 1 '--rate wants' ctl qdisc install lo --rate -1
	refused 1 'kind "fifo" is unknown' ctl qdisc install lo --kind fifo
	refused 1 'means nothing' ctl qdisc install lo lo
	refused 1 'option "--rate" is unknown' ctl qdisc remove lo --rate 1gbit
	refused 3 'no device "nix"' ctl qdisc show nix
	refused 3 'no device "nix"' ctl qdisc install nix
	refused 3 'network namespace "nix"' ctl -n nix qdisc
	refused 3 'No such file' ctl -b "$work/nix"
	refused 1 'no operation id' ctl op cancel x
	refused 1 'which operation' ctl op cancel
	refused 1 'setting "x" is unknown' ctl config set x 1
	refused 1 'wants a value' ctl config set overcommit
	refused 1 'is there twice' ctl config set overcommit 1 overc 2
	refused 1 'is none of fair' ctl config set op-order best
	refused 1 'is not a rate' ctl config set link-rate fast
	refused 1 '-i wants seconds' ctl stats -i 0
	refused 1 'no IP address' ctl peer show 1.2.3
	refused 1 'event "x" is unknown' ctl monitor x
	ctl >"$work/out" 2>&1
	want_eq "no object, and no complaint" $? 1
	for object in op peer socket config stats qdisc monitor; do
		want_grep "no help about $object" \
			"$(ctl "$object" help)" "^usage: shufflectl $object"
	done
	want_grep "no help" "$(ctl --help)" '^usage: shufflectl'
	want_grep "no version" "$(ctl -V)" '^shufflectl [0-9]'
}

ctl_batch()
{
	rack 1
	printf '%s\n' '# a comment' '' 'qdisc show  "eth0"' 'qdisc show nix' 'qdisc install eth0' >"$work/batch"
	refused 3 'no device "nix"' hctl 0 -b "$work/batch"
	want_grep "it does not say which line has failed" "$(<"$work/err")" 'batch:4$'
	want_eq "the first line was not run" "$(grep -c ^eth0 "$work/out")" 1
	want_grep "it went on" "$(tc -n shf-h0 qdisc show dev eth0)" noqueue
	hctl 0 -k -b - <"$work/batch" 2>/dev/null
	want_eq "the status of -k is not that of the failed line" $? 3
	want_grep "it did not go on" "$(tc -n shf-h0 qdisc show dev eth0)" 'prio 5348:'
	want_ok "remove" hctl 0 qdisc remove eth0
}

# The qdiscs of host 0, without counts.
qdiscs()
{
	tc -n shf-h0 qdisc show dev eth0 | sed 's/refcnt [0-9]*//'
}

# Somebody's qdiscs.
qdisc_former()
{
	case $1 in
	nothing) ;;
	fq_codel) tc -n shf-h0 qdisc add dev eth0 root handle 7: fq_codel limit 77 target 3ms ;;
	bfifo) tc -n shf-h0 qdisc add dev eth0 root handle 7: bfifo limit 123456 ;;
	tbf) tc -n shf-h0 qdisc add dev eth0 root handle 7: tbf rate 50mbit burst 9100 limit 100000 ;;
	tbf-child)
		tc -n shf-h0 qdisc add dev eth0 root handle 7: tbf rate 50mbit burst 9100 limit 100000 &&
			tc -n shf-h0 qdisc add dev eth0 parent 7:1 handle 8: pfifo limit 55
		;;
	netem-tbf)
		tc -n shf-h0 qdisc add dev eth0 root handle 6: netem delay 1ms limit 5000 &&
			tc -n shf-h0 qdisc add dev eth0 parent 6:1 handle 7: tbf rate 50mbit burst 9100 limit 100000 &&
			tc -n shf-h0 qdisc add dev eth0 parent 7:1 handle 8: bfifo limit 54321
		;;
	prio)
		tc -n shf-h0 qdisc add dev eth0 root handle 7: prio bands 3 \
			priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 &&
			tc -n shf-h0 qdisc add dev eth0 parent 7:2 handle 8: bfifo limit 54321
		;;
	esac
}

host0_talks()
{
	nsx h0 ping -nq -c 2 -i 0.2 -W 5 10.77.0.2 >/dev/null || fail "$1: no packet comes through"
}

qdisc_restores()
{
	local before installed kind kinds=auto

	case $1 in
	nothing | tbf-child) kinds='auto ets' ;;
	esac
	modprobe -aq sch_fq_codel sch_tbf sch_netem sch_prio sch_ets cls_u32 2>/dev/null
	rack 2
	qdisc_former "$1" || skip "tc does not take it"
	before=$(qdiscs)
	for kind in $kinds; do
		hctl 0 qdisc install eth0 --kind "$kind" 2>"$work/err" || {
			grep -q 'qdisc ets: Specified qdisc' "$work/err" && continue
			cat "$work/err"
			fail "install --kind $kind"
		}
		installed=$(qdiscs)
		want_ne "$kind: nothing was installed" "$installed" "$before"
		want_grep "$kind: not first" "$(hctl 0 -j qdisc show eth0)" '"control_first":true'
		host0_talks "$kind installed"
		want_ok "install again" hctl 0 qdisc install eth0 --kind "$kind" 2>/dev/null
		want_eq "$kind: not idempotent" "$(qdiscs)" "$installed"
		want_ok "remove" hctl 0 qdisc remove eth0
		want_eq "$kind: the same as before" "$(qdiscs)" "$before"
		host0_talks "$kind removed"
	done
	want_ok "remove again" hctl 0 qdisc remove eth0
	want_eq "removed twice" "$(qdiscs)" "$before"
	# with a rate: where there is one, it is not ours to change
	case $1 in
	bfifo | fq_codel | prio) ;;
	*tbf*)
		refused 4 'tbf with a rate of its own' hctl 0 qdisc install eth0 --rate 10mbit
		;;
	*)
		want_ok "install --rate" hctl 0 qdisc install eth0 --rate 10mbit
		want_grep "no rate" "$(qdiscs)" 'rate 10Mbit'
		host0_talks "rate"
		# another one replaces the first, and the first state of all is kept
		want_ok "install --rate again" hctl 0 qdisc install eth0 --rate 20mbit --kind prio
		want_grep "the rate did not change" "$(qdiscs)" 'rate 20Mbit'
		want_ok "remove" hctl 0 qdisc remove eth0
		;;
	esac
	want_eq "the same as before" "$(qdiscs)" "$before"
	want_eq "state was left behind" "$(find /run/shufflectl -type f ! -name lock)" ""
}

qdisc_mq()
{
	local before kind

	net_begin 2
	ip -n shf-br link add br0 type bridge
	ip -n shf-h0 link add m0 numtxqueues 4 numrxqueues 4 type veth peer name m0 \
		numtxqueues 4 numrxqueues 4 netns shf-h1 || skip "no veth with queues"
	ip -n shf-h0 link set m0 up
	ip -n shf-h1 link set m0 up
	ip -n shf-h0 addr add 10.79.0.1/24 dev m0
	ip -n shf-h1 addr add 10.79.0.2/24 dev m0
	tc -n shf-h0 qdisc replace dev m0 root handle 7: mq || skip "no mq"
	tc -n shf-h0 qdisc replace dev m0 parent 7:2 handle 8: bfifo limit 77777
	before=$(tc -n shf-h0 qdisc show dev m0 | grep -v ' 0: ' | sort)
	for kind in auto mqprio; do
		modprobe -q sch_mqprio 2>/dev/null
		hctl 0 qdisc install m0 --kind $kind ${force:+--force} || {
			[ $kind = mqprio ] && break
			fail "install"
		}
		hctl 0 -j qdisc show m0 | grep -q '"control_first":true' || {
			hctl 0 qdisc show m0
			fail "$kind: not first"
		}
		nsx h0 ping -nq -c 2 -i 0.2 -W 5 10.79.0.2 >/dev/null || fail "$kind: no packet comes through"
		want_ok "remove" hctl 0 qdisc remove m0
		want_eq "the same as before" \
			"$(tc -n shf-h0 qdisc show dev m0 | grep -v ' 0: ' | sort)" "$before"
		# what mqprio has no place for
		if [ $kind = auto ]; then
			refused 4 'qdiscs of its own' hctl 0 qdisc install m0 --kind mqprio
			tc -n shf-h0 qdisc del dev m0 root
			before=$(tc -n shf-h0 qdisc show dev m0 | grep -v ' 0: ' | sort)
		fi
	done
	rack 2
	# one queue, or one in use
	want_fail "mqprio on one queue" hctl 0 qdisc install eth0 --kind mqprio 2>"$work/err"
	want_grep "err" "$(<"$work/err")" '^Error: .*mqprio'
	want_grep "not as it was" "$(qdiscs)" noqueue
}

qdisc_refuses()
{
	local before

	rack 2
	modprobe -aq sch_htb sch_netem 2>/dev/null
	tc -n shf-h0 qdisc add dev eth0 root handle 1: htb default 1 || skip "no htb"
	tc -n shf-h0 class add dev eth0 parent 1: classid 1:1 htb rate 5mbit
	before=$(qdiscs)
	refused 4 'qdisc htb' hctl 0 qdisc install eth0
	want_eq "it was touched" "$(qdiscs)" "$before"
	want_ok "--force" hctl 0 qdisc install eth0 --force 2>"$work/err"
	want_grep "not a word about what is lost" "$(<"$work/err")" '^Warning: .*lost'
	want_ok "remove" hctl 0 qdisc remove eth0 2>"$work/err"
	want_grep "not a word about what cannot be restored" "$(<"$work/err")" '^Warning: '
	want_grep "not the default" "$(qdiscs)" noqueue

	tc -n shf-h0 qdisc add dev eth0 root handle 1: prio
	tc -n shf-h0 filter add dev eth0 parent 1: protocol ip u32 match ip dport 80 0xffff flowid 1:3
	refused 4 'prio with filters' hctl 0 qdisc install eth0 --kind prio
	# pfifo_fast's priomap, which prio has by default, sends control packets first
	want_grep "auto does not see that" "$(hctl 0 qdisc install eth0)" 'first already'
	tc -n shf-h0 qdisc replace dev eth0 root handle 2: netem delay 1ms rate 10mbit
	refused 4 'netem with a rate' hctl 0 qdisc install eth0
}

qdisc_changed()
{
	rack 2
	want_ok "install" hctl 0 qdisc install eth0 2>/dev/null
	tc -n shf-h0 qdisc replace dev eth0 root handle 9: bfifo limit 99999
	refused 4 'somebody else' hctl 0 qdisc remove eth0
	want_grep "it was touched" "$(qdiscs)" 'bfifo 9:'
	want_ok "--force" hctl 0 qdisc remove eth0 --force
	want_grep "--force touched it" "$(qdiscs)" 'bfifo 9:'
	# installed again, that is what was there
	want_ok "install again" hctl 0 qdisc install eth0
	want_ok "remove" hctl 0 qdisc remove eth0
	want_grep "not restored" "$(qdiscs)" 'bfifo 9:.*99999'

	# what is remembered gets lost
	want_ok "install" hctl 0 qdisc install eth0
	rm -rf /run/shufflectl
	refused 4 'no state is known' hctl 0 qdisc install eth0
	want_ok "remove without state" hctl 0 qdisc remove eth0 2>"$work/err"
	want_grep "not a word about that" "$(<"$work/err")" '^Warning: '
	want_grep "not the default" "$(qdiscs)" noqueue

	# only root
	setpriv --reuid 65534 --regid 65534 --clear-groups "$BIN/shufflectl" qdisc show >/dev/null ||
		fail "not everybody may look: got status $?, want 0"
	refused 3 'only root' setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$BIN/shufflectl" qdisc install lo
}

# says HOST-OR-br DEV WORDS... - all in the JSON of qdisc show.
says()
{
	local ns=$1 dev=$2 said word
	shift 2

	said=$(ctl -n "$PFX$ns" -j qdisc show "$dev")
	for word; do
		grep -qF -- "$word" <<<"$said" || fail "$dev: no $word in $said"
	done
}

qdisc_truth()
{
	local one='priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1' both=''

	rack 2
	says h0 eth0 '"control_first":false' '"qdisc":"noqueue"' '"forwards":false' 'makes them wait here'
	tc -n shf-h0 qdisc replace dev eth0 root handle 1: bfifo limit 100000
	says h0 eth0 '"control_first":false' 'bfifo 1: does not look at priorities'
	# shellcheck disable=SC2086 # words
	tc -n shf-h0 qdisc replace dev eth0 root handle 2: prio bands 3 $one
	says h0 eth0 '"control_first":false' 'into one band'
	# shellcheck disable=SC2086 # words
	tc -n shf-h0 qdisc replace dev eth0 root handle 3: prio bands 3 ${one%1} 0
	says h0 eth0 '"control_first":false' 'into one band'
	tc -n shf-h0 qdisc replace dev eth0 root handle 4: prio bands 3 \
		priomap 0 1 1 1 1 1 1 2 1 1 1 1 1 1 1 1
	says h0 eth0 '"control_first":false' 'behind data'
	tc -n shf-h0 qdisc replace dev eth0 root handle 5: prio bands 3 \
		priomap 1 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1
	says h0 eth0 '"control_first":true' 'by priority"' '"first_forwarded":false'
	# a filter that sends data there, too
	tc -n shf-h0 filter add dev eth0 parent 5: protocol ip u32 match ip dport 818 0xffff flowid 5:1
	says h0 eth0 '"control_first":false'
	# somebody's own filter on the DSCP is as good as ours
	tc -n shf-br qdisc replace dev p0 root handle 5: prio bands 3 \
		priomap 1 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1
	says br p0 '"control_first":false' '"forwards":true' '"first_local":true' 'lost their priority'
	tc -n shf-br filter add dev p0 parent 5: protocol ip prio 1 u32 match ip tos 0xc0 0xc0 flowid 5:1
	says br p0 '"control_first":false' '"first_local":true' '"first_forwarded":false'
	tc -n shf-br filter add dev p0 parent 5: protocol ipv6 prio 2 u32 match ip6 priority 0xc0 0xc0 flowid 5:1
	says br p0 '"control_first":true' '"first_forwarded":true'
	want_ok "install" ctl -n shf-br qdisc install p1 2>/dev/null
	says br p1 '"control_first":true' '"first_forwarded":true' '"installed":true' '"former":"noqueue"'
	both=$(hctl 0 qdisc show eth0)
	grep -q WARNING <<<"$both" || fail "text has no warning: $both"
}

qdisc_apart()
{
	rack 2
	want_ok "install" hctl 0 qdisc install eth0 2>/dev/null
	says h1 eth0 '"installed":false'
	want_ok "remove where nothing is installed" hctl 1 qdisc remove eth0
	says h0 eth0 '"installed":true'
	# a namespace that is made anew under the same name knows nothing of it
	rack_down
	rack 2
	says h0 eth0 '"installed":false'
	want_grep "a state of another namespace" \
		"$(hctl 0 qdisc remove eth0)" 'nothing is installed'
}

# band HOST-OR-br DEV control|data KEY
band()
{
	ctl -n "$PFX$1" -j -s qdisc show "$2" |
		sed -n "s/.*\"$3\":{[^}]*\"$4\":\([0-9]*\).*/\1/p"
}

# Every control packet in its band and nothing else: on the host that makes it,
# and on the bridge port, where only the DSCP is left.  A filter of the receiver
# counts those that arrive.
qdisc_counts()
{
	local before data ns proto='ip' tos='ip tos 0xc0 0xfc' port='ip dport 818 0xffff'

	rack 2
	modprobe -aq sch_ingress act_gact 2>/dev/null
	if [ "$1" = 1 ]; then
		proto=ipv6 tos='ip6 priority 0xc0 0xfc' port='ip6 dport 818 0xffff'
	else
		# its MLD reports have the same priority
		for ns in br h0 h1; do
			nsx "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null
		done
	fi
	rate 50
	tc -n shf-h0 qdisc add dev eth0 clsact || skip "no clsact"
	# shellcheck disable=SC2086 # words
	tc -n shf-h0 filter add dev eth0 ingress protocol $proto u32 match $tos match $port action pass ||
		skip "no filter"
	want_ok "install on the host" hctl 0 qdisc install eth0
	want_ok "install on the host" hctl 1 qdisc install eth0
	want_ok "install on the port" ctl -n shf-br qdisc install p0
	before=$(band br p0 data packets)
	peer n=2 v6="$1" ops=4 matrix="others:$(sz 500000 100000)" || shuffle_failed
	wait_for 3 bands_agree "$1"
	diag "$(cat "$work/bands")"
	want_ok "they do not agree" bands_agree "$1"
	want_gt "hardly any control packets" "$(control_came)" 4
	data=$(band h1 eth0 data packets)
	want_gt "data is not in the band of data" "$data" "$(band h1 eth0 control packets)"
	want_gt "data is not in the port's band of data" \
		"$(band br p0 data packets)" $((before + 50))
	want_ok "remove" hctl 0 qdisc remove eth0
	want_grep "clsact is gone" "$(tc -n shf-h0 qdisc show dev eth0)" clsact
}

control_came()
{
	tc -n shf-h0 -s filter show dev eth0 ingress | sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p'
}

# The last of them may still be on its way.
bands_agree()
{
	local ctrl port came

	came=$(control_came)
	ctrl=$(band h1 eth0 control packets)
	port=$(band br p0 control packets)
	echo "control packets that came: $came, of the host's band: $ctrl, of the port's band: $port" >"$work/bands"
	if [ "$1" = 0 ]; then
		[ "$port" = "$came" ] && [ "$ctrl" = "$came" ]
	else
		[ "$port" -ge "$came" ] && [ "$ctrl" -ge "$came" ]
	fi
}
