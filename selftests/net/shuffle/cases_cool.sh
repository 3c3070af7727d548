#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: what collectives cost on the links of racks and of a core, counted link by link, against
# COOL's tables (AlSader) and against shuffle-sim --plan.
# Sourced by run_all.sh.
#
#      h0 h1     h2 h3
#      p0 p1     p2 p3    a link of each host
#    --rack0--  --rack1--
#        t0         t1    a link of each rack
#      -------core--------
#
# shellcheck disable=SC2154 # work, slow: lib.sh

cool_cases()
{
	local k r

	for k in 2 4; do
		for r in 2 4; do
			run_case "cool-links-$r-racks-of-$k" cool_links $k $r
		done
		# no power of two: Bruck's pattern
		run_case "cool-links-3-racks-of-$k" cool_links $k 3
	done
	run_case cool-leaders-are-members cool_leaders
}

cool_mac()
{
	printf '02:00:00:00:00:%02x' "$1"
}

# cool_net K R - everybody knows where all others are, and nobody speaks IPv6: nothing but the
# shuffle sends.
cool_net()
{
	local k=$1 r=$2 h i bridge='forward_delay 0 stp_state 0 mcast_snooping 0'

	net_begin $((k * r))
	# without it bridges' ports and hosts tell which groups they are in
	nsx br sysctl -qew net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	each_host sysctl -qew net.ipv6.conf.all.disable_ipv6=1
	{
		echo "link add core type bridge $bridge"
		for ((i = 0; i < r; i++)); do
			echo "link add rack$i type bridge $bridge"
			echo "link set rack$i up"
			echo "link add t$i type veth peer name c$i"
			echo "link set t$i master rack$i up"
			echo "link set c$i master core up"
		done
		echo "link set core up"
		for ((h = 0; h < hosts; h++)); do
			echo "link set p$h master rack$((h / k)) up"
		done
	} | ip -n "${PFX}br" -batch - || fail "no bridges"
	for ((h = 0; h < hosts; h++)); do
		echo "fdb replace $(cool_mac "$h") dev p$h master static"
		for ((i = 0; i < r; i++)); do
			if [ $((h / k)) = "$i" ]; then
				echo "fdb replace $(cool_mac "$h") dev c$i master static"
			else
				echo "fdb replace $(cool_mac "$h") dev t$i master static"
			fi
		done
	done | bridge -n "${PFX}br" -batch - || fail "no tables of addresses"
	for ((h = 0; h < hosts; h++)); do
		echo "neigh replace 10.77.0.$((h + 1)) dev eth0 lladdr $(cool_mac "$h")"
	done >"$work/neigh"
	for ((h = 0; h < hosts; h++)); do
		ip -n "${PFX}h$h" -batch - <<-END || fail "no addresses on host $h"
			link set lo up
			link set eth0 address $(cool_mac "$h")
			link set eth0 up
			addr add 10.77.0.$((h + 1))/16 dev eth0
			$(cat "$work/neigh")
		END
	done
	want_ok "the network does not come up" wait_for 5 rack_ready
}

# cool_tables K R - COOL's tables, N = K R, ln and lr binary logarithms, rounded up; K is a power of
# two:
#
#	counted KIND PATTERN ROOT MESSAGES CROSS LINKS CORE
#	plan ... with multicast, which shuffle-sim has; copies are sent and counted
#
# The root of P-P is no leader.  The tables are those of the text, but for what is wrong there:
# reduce and gather by P-P have 2r - 2 packets on core links and not 2r - 1, and of reduce by
# Rabenseifner n lr + r - 1 messages cross.  Of a binomial tree r - 1 messages cross if neighbours
# are joined first, as they are here; in the text's order, the far half first, n - k do.
cool_tables()
{
	local k=$1 r=$2 n=$(($1 * $2)) ln=0 lr=0 kind

	while ((1 << ln < n)); do ((ln += 1)); done
	while ((1 << lr < r)); do ((lr += 1)); done
	cool_tables_any
	if ((1 << lr == r)); then
		cool_tables_power
	else
		cool_tables_bruck
	fi
}

cool_tables_any()
{
	for kind in reduce gather scatter; do
		echo counted "$kind" cool-p-p 1 "$n" $((r - 1)) $((2 * n + 2 * r - 2)) \
			$((2 * r - 2))
	done
	for kind in reduce gather scatter broadcast; do
		echo counted "$kind" tree 0 $((n - 1)) $((r - 1)) $((2 * n + 2 * r - 4)) \
			$((2 * r - 2))
	done
	for kind in all-gather reduce-scatter; do
		echo counted "$kind" ring 0 $((n * (n - 1))) $((r * (n - 1))) \
			$((2 * (n + r) * (n - 1))) $((2 * r * (n - 1)))
	done
	# a ring that scatters what is combined, and one that gathers it
	echo counted all-reduce ring 0 $((2 * n * (n - 1))) $((2 * r * (n - 1))) \
		$((4 * (n + r) * (n - 1))) $((4 * r * (n - 1)))
	# As a copy for each receiver, 2 links or 4, a broadcast is what a scatter is.
	echo plan broadcast cool-p-p 1 $((r + 2)) 1 $((n + 2 * r + 2)) "$r"
	echo counted broadcast cool-p-p 1 "$n" $((r - 1)) $((2 * n + 2 * r - 2)) $((2 * r - 2))
	for kind in all-reduce all-gather barrier; do
		echo plan "$kind" cool-p-p 0 $((n + r)) "$r" $((3 * n + 2 * r * r - 2 * r)) \
			$((r * r))
		echo counted "$kind" cool-p-p 0 $((2 * (n - r) + r * (r - 1))) $((r * (r - 1))) \
			$((4 * (n - r) + 4 * r * (r - 1))) $((2 * r * (r - 1)))
	done
}

# Where N is a power of two all-gather and barrier go in pairs, as recursive doubling does.
cool_tables_power()
{
	for kind in all-reduce all-gather barrier; do
		echo counted "$kind" doubling 0 $((n * ln)) $((n * lr)) \
			$((2 * n * ln + 2 * n * lr)) $((2 * n * lr))
	done
	echo counted reduce rabenseifner 0 $((n * ln + n - 1)) $((n * lr + r - 1)) \
		$((2 * n * ln + 2 * n * lr + 2 * n + 2 * r - 4)) $((2 * n * lr + 2 * r - 2))
	echo counted all-reduce rabenseifner 0 $((2 * n * ln)) $((2 * n * lr)) \
		$((4 * n * ln + 4 * n * lr)) $((4 * n * lr))
	for kind in all-reduce barrier; do
		echo plan "$kind" cool-b-r 0 $((n + r * lr)) $((r * lr)) \
			$((3 * n + 4 * r * lr - 2 * r)) $((2 * r * lr))
		echo counted "$kind" cool-b-r 0 $((2 * (n - r) + r * lr)) $((r * lr)) \
			$((4 * (n - r) + 4 * r * lr)) $((2 * r * lr))
	done
}

cool_tables_bruck()
{
	for kind in all-gather barrier; do
		echo counted "$kind" doubling 0 $((n * ln)) $((n * lr + n - r)) \
			$((2 * n * ln + 2 * n * lr + 2 * n - 2 * r)) $((2 * n * lr + 2 * n - 2 * r))
	done
}

# cool_plans RACKS RADIX ROOT - as "plan KIND PATTERN RADIX ROOT MESSAGES CROSS LINKS CORE".
cool_plans()
{
	local racks=$1 radix=$2 root=$3

	"$BIN/shuffle-sim" --plan all --hosts "$hosts" --racks "$racks" --radix "$radix" \
		--root "$root" |
		awk -v radix="$radix" -v root="$root" 'NF == 10 && $3 ~ /^[0-9]+$/ {
			print "plan", $1, $2, radix, root, $5, $6, $7, $8 }'
}

# The calls to make of plans: a root other than 0 where there is one, another radix where it
# matters.
cool_calls()
{
	awk -v engine="$1" '
		$5 && $2 !~ /^(broadcast|scatter|gather|reduce)$/ { next }
		$4 != 2 && $3 !~ /^(tree|doubling|gathered)$/ { next }
		{ print $2 "/" $3 "/" $4 "/" $5 "/" engine }'
}

# Compare: tables, plans, counts, in this order.
cool_compare()
{
	awk -v lane="$LANE" '
	function differ(what, has, want) {
		if (has == want)
			return
		print what ": messages, between racks, on links, on core links: " has ", not " want
		bad = 1
	}
	function in_kernel() {
		# a chain of more segments sends more than once
		return $5 == "kernel" && ($2 ~ /^(flat|tree|gathered|cool-.*)$/ ||
			$2 == "chain" && $3 <= 1 || $2 == "doubling" && $1 != "exscan")
	}
	FILENAME ~ /tables$/ {
		table[$1, $2, $3, 2, $4] = $5 " " $6 " " $7 " " $8
		next
	}
	FILENAME ~ /plans$/ {
		plan = $2 SUBSEP $3 SUBSEP $4 SUBSEP $5
		planned[plan] = $6 " " $7 " " $8 " " $9
		if (("plan", plan) in table) {
			differ("plan of " $2 " " $3, planned[plan], table["plan", plan])
			used["plan" SUBSEP plan] = 1
		}
		next
	}
	{
		plan = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
		what = $1 " " $2 " of radix " $3 ", root " $4 ", engine " $5
		has = $6 " " $7 " " $8 " " $9
		calls++
		control += $11
		both += $12
		again += $13
		if (("counted", plan) in table) {
			differ(what ", tables", has, table["counted", plan])
			used["counted" SUBSEP plan] = 1
			by_table++
		}
		if (!(plan in planned)) {
			print what ": no plan"
			bad = 1
		} else if ($2 ~ /^cool/ && $1 ~ /^(broadcast|barrier|all-)/) {
			copies++
		} else {
			differ(what ", plan", has, planned[plan])
			by_plan++
		}
		links += $8
		together += $8 + $13 - $10
		if (in_kernel() && $14 != 1) {
			print what ": " $14 " operations, not one in the kernel"
			bad = 1
		}
	}
	END {
		for (i in table) {
			if (!(i in used)) {
				gsub(SUBSEP, " ", i)
				print "not looked at: " i
				bad = 1
			}
		}
		print calls " calls: " by_table " like the tables, " by_plan " like shuffle-sim, " \
			copies " with multicast there"
		print "on links: " links " messages, " together + 0 " behind others in a packet, " \
			again + 0 " sent again; " control " other records, " both + 0 \
			" in a packet with messages"
		# where no time passes but on links, nothing is late
		if (again && lane ~ /time/)
			bad = 1
		exit bad
	}' "$@"
}

cool_links()
{
	local k=$1 r=$2 calls

	# a minute of a fast machine
	[ "$slow" -lt 20 ] || skip "too slow here"
	[ -x "$BIN/shuffle-sim" ] || skip "no $BIN/shuffle-sim"
	cool_net "$k" "$r"
	cool_tables "$k" "$r" >"$work/tables"
	{
		cool_plans "$r" 2 0
		cool_plans "$r" 2 1
		cool_plans "$r" 4 0
	} >"$work/plans"
	{
		cool_calls kernel <"$work/plans"
		# the same again but for what the kernel leaves to user space anyhow
		[ "$hosts" -ge 8 ] || cool_calls user <"$work/plans"
	} >"$work/calls"
	mapfile -t calls <"$work/calls"
	"$BIN/cool_member" "$PFX" "$hosts" "$r" "${calls[@]}" >"$work/counts" || {
		tail -3 "$work/counts"
		shuffle_failed "the collectives, or their links"
	}
	want_ok "not what it should cost" cool_compare "$work/tables" "$work/plans" "$work/counts"
}

# Three hosts in each of two racks, of which the first is no member: the second one leads.  What
# links carry tells.
cool_leaders()
{
	local h

	cool_net 3 2
	printf '10.77.0.%s\n' '[1-3] a' '[4-6] b' |
		sed 's/\(.*\) \(.\)$/SwitchName=\2 Nodes=\1/' >"$work/table"
	for ((h = 0; h < hosts; h++)); do
		hctl $h topology load "$work/table" >"$work/said" || fail "no table on host $h"
	done
	"$BIN/cool_member" -t "$PFX" 4 2 {barrier,all-reduce,all-gather}/cool-p-p/2/0/{kernel,user} \
		broadcast/cool-p-p/2/1/kernel reduce/cool-p-p/2/3/user all-reduce/cool-b-r/2/0/kernel \
		>"$work/counts" || {
		cat "$work/counts"
		shuffle_failed "the collectives, or their links"
	}
}
