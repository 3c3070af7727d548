#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The calls themselves, against the plain component, and when something is wrong.
# Sourced by run_all.sh.

# shellcheck disable=SC2154 # loud: cases_cluster.sh
work=${work-}
calls=$BIN/mpi_calls
# what Open MPI 5 says when it ends a program because a connection is closed
socket_closed='An error occurred in Socket closed'
# a blocking one settles the communicator
not_waited_for=barrier,ibarrier,ibcast,igather,iscatter,iallgather,ireduce,iallreduce
not_waited_for+=,ireduce_scatter_block,iscan,iexscan,igatherv,iscatterv,iallgatherv,ireduce_scatter

# all HOSTS RANKS BYTES REPEATS [ARGS...]
all()
{
	local n=$1 ranks=$2 bytes=$3 repeats=$4
	shift 4
	rack "$n"
	carried $((bytes * (ranks - 1) * repeats)) mpi 60 "$n" "$ranks" "$@" \
		"$calls" all "$bytes" "$repeats"
}

# The same random calls over AF_SHUFFLE and without it.  coll/tuned stays out: with 12
# ranks and more it exchanges small messages by an algorithm that writes into the gaps
# of the receive buffer, so its buffers differ from those of coll/basic too.
random_calls()
{
	local n=$1 count=$2 seed=$3 least=${4-100000}

	rack "$n"
	carried "$least" mpi 400 "$n" "$n" "$BIN/mpi_random" "$count" "$seed" >"$work/shuffle" ||
		fail "over AF_SHUFFLE: $(tail -5 "$work/shuffle")"
	carried 0 mpi 400 "$n" "$n" --mca coll ^shuffle,tuned "$BIN/mpi_random" "$count" \
		"$seed" >"$work/plain" || fail "plain: $(tail -5 "$work/plain")"
	grep -v '^host' "$work/plain" >"$work/plain.sums"
	want_eq "no sums" "$(tail -1 "$work/plain.sums" | cut -d' ' -f1)" "$count"
	grep -v '^host' "$work/shuffle" | diff "$work/plain.sums" - || fail "buffers differ"
}

# Sizes that are given: of MPI_Alltoall all or nothing, of the other calls message by message.
sizes_given()
{
	rack 4
	carried 6000 mpi 60 4 4 --mca coll_shuffle_sizes 1000-1000 "$calls" all 1000 3
	carried 0 mpi 60 4 4 --mca coll_shuffle_sizes 1001- "$calls" all 1000 3
	carried 0 mpi 60 4 4 --mca coll_shuffle_sizes 0-999 "$calls" all 1000 3
	carried 6000 said mpi 60 4 4 --mca coll_shuffle_sizes 5-4 "$calls" all 1000 3
	want_grep "nonsense is not refused" \
		"$(<"$work/said")" 'coll_shuffle_sizes is not all or LEAST-MOST: 5-4'
	OMPI_MCA_coll_shuffle_sizes=200-3000 random_calls 4 60 4 1000
}

# collectives HOSTS CALLS SEED LEAST NAMES [WORDS...] - random calls, those of the named kinds over
# AF_SHUFFLE; the program's words.
collectives()
{
	rack "$1"
	carried "$4" mpi 400 "$1" "$1" --mca coll_shuffle_collectives "$5" "$BIN/mpi_collectives" \
		"$2" "$3" "${@:6}"
	want_gt "the kernel has carried none out" "$(counters Collectives)" 0
}

# Broadcasts by multicast, or not where it reaches nobody; the bytes are right in any case.
collectives_multicast()
{
	local mca=(--mca coll_shuffle_collectives all --mca coll_shuffle_multicast 239.77.0.3)

	rack 4
	carried 5000 mpi 100 4 4 "${mca[@]}" "$BIN/mpi_collectives" 300 14 bcast
	want_gt "nothing has gone to all" "$(counters SameOut)" 0
	bridge -n "${PFX}br" link set dev p2 mcast_flood off
	carried 5000 mpi 100 4 4 "${mca[@]}" "$BIN/mpi_collectives" 300 14 bcast
	bridge -n "${PFX}br" link set dev p2 mcast_flood on
}

# A command of one rank: rank 1 names broadcasts only.
rank1_differs()
{
	[ "$OMPI_COMM_WORLD_RANK" != 1 ] || export OMPI_MCA_coll_shuffle_collectives=bcast
	exec "$@"
}

# Ranks that do not name the same: only what all name goes over AF_SHUFFLE.
collectives_differ()
{
	local differs

	rack 3
	differs="$(declare -f rank1_differs); rank1_differs \"\$@\""
	carried 0 mpi 60 3 3 bash -c "$differs" - "$BIN/mpi_collectives" 200 4
	carried 1 mpi 60 3 3 --mca coll_shuffle_collectives all bash -c "$differs" - \
		"$BIN/mpi_collectives" 200 5
	carried 0 said mpi 60 3 3 --mca coll_shuffle_collectives bcast,gossip \
		"$BIN/mpi_collectives" 20 6
	want_grep "nonsense is not refused" \
		"$(<"$work/said")" 'coll_shuffle_collectives is not all, none or names'
}

# Tables of racks that differ between hosts: no racks are used, and a line says so.
racks_differ()
{
	local run=(mpi 60 2 2 "${loud[@]}" --mca coll_shuffle_timeout 5
		--mca coll_shuffle_collectives all "$BIN/mpi_collectives" 60 9)

	rack 2
	printf '10.77.0.1 a\n10.77.0.2 b\n' >"$work/table"
	want_ok "no table" hctl 0 topology load "$work/table"
	carried 1000 said "${run[@]}"
	want_grep "no line" "$(<"$work/said")" 'MPI_COMM_WORLD: its ranks know different racks'
	want_ok "no table" hctl 1 topology load "$work/table"
	carried 1000 said "${run[@]}"
	want_no_grep "the same racks" "$(<"$work/said")" 'different racks'
	rack_down
}

# Two racks of two hosts, of which all of them know.
two_racks()
{
	local h

	rack 4
	printf '10.77.0.%d %s\n' 1 a 2 a 3 b 4 b >"$work/table"
	for ((h = 0; h < 4; h++)); do
		want_ok "no table" hctl "$h" topology load "$work/table"
	done
}

# Short MPI_Alltoall over racks, packed by libshuffle: two operations instead of one.
packed()
{
	local begun plain

	two_racks
	begun=$(counters OpsStarted)
	random_calls 4 60 6 1000
	plain=$(($(counters OpsStarted) - begun))
	begun=$(counters OpsStarted)
	OMPI_MCA_coll_shuffle_collectives=alltoall random_calls 4 60 6 1000
	want_gt "nothing was packed" $(($(counters OpsStarted) - begun)) "$plain"
	rack_down
}

order()
{
	rack 4
	carried 2000000 mpi 60 4 4 "$calls" order
}

# More at once than the component starts at once, over AF_SHUFFLE and past it.
outstanding()
{
	rack 4
	carried 60000 mpi 120 4 4 "$calls" outstanding 2000 10
	carried 0 mpi 120 4 4 --mca coll_shuffle_sizes 11- "$calls" outstanding 2000 10
}

# Persistent calls, all-to-all and the others; not carried, they are the component's before.
again()
{
	rack 4
	carried 852000 mpi 60 4 4 "$calls" again early
	carried 10000 mpi 200 4 4 --mca coll_shuffle_collectives "$not_waited_for" \
		"$BIN/mpi_collectives" 200 10 again
	carried 0 mpi 200 4 4 "$BIN/mpi_collectives" 200 10 again
	# Open MPI 6.0.0rc2 crashes in its own MPI_Alltoallw_init
	ompi_is 6.0.0rc ||
		carried 0 mpi 60 4 4 --mca coll_shuffle_priority 0 "$calls" again
}

# Collectives of all kinds while the first all-to-all of their communicator is open: with each
# number of ranks, a host each, and two to a host.
first_open()
{
	local n

	rack 8
	for n in 2 3 5 8; do
		want_ok "$n ranks" mpi 120 "$n" "$n" "$BIN/mpi_overlap" first
	done
	want_ok "8 ranks on 4 hosts" mpi 120 4 8 "$BIN/mpi_overlap" first
	want_ok "not carried" mpi 120 4 8 --mca coll_shuffle_sizes 100000- "$BIN/mpi_overlap" first
	rack_down
}

# neighbours HOSTS CALLS SEED - random calls of neighbours, a rank on each host: what comes from others
# comes over AF_SHUFFLE, to the byte.
neighbours()
{
	rack "$1"
	(carried 1 said mpi 300 "$1" "$1" --mca coll_shuffle_collectives neighbor \
		"$BIN/mpi_neighbour" "$2" "$3") >"$work/carried" || fail "$(<"$work/carried")"
	cat "$work/carried"
	want_grep "not all ranks are content" "$(<"$work/said")" '^ok'
	sed -n 's/^rank \(.*\): \(.*\) bytes from others/host \1 received \2 bytes over AF_SHUFFLE/p' \
		"$work/said" | sort >"$work/wanted"
	grep '^host' "$work/carried" | sort | diff "$work/wanted" - ||
		fail "some of it came another way"
}

# Nothing of it where it is not asked for, or not by all; some where two ranks share a host, or by size.
neighbours_else()
{
	local some=(mpi 120 4 8 --mca coll_shuffle_collectives neighbor)

	rack 4
	carried 0 mpi 120 4 4 "$BIN/mpi_neighbour" 60 2 blocking
	carried 0 mpi 120 4 4 bash -c "[ \$OMPI_COMM_WORLD_RANK = 1 ] ||
		export OMPI_MCA_coll_shuffle_collectives=neighbor; exec \"\$@\"" - \
		"$BIN/mpi_neighbour" 60 3 blocking
	carried 1000 "${some[@]}" "$BIN/mpi_neighbour" 50 4
	carried 1000 "${some[@]}" --mca coll_shuffle_sizes 501- "$BIN/mpi_neighbour" 50 5
	rack_down
}

# Persistent all-to-alls that each rank starts in another order, blocking ones between.
start_orders()
{
	rack 4
	carried 10000 mpi 120 4 4 "$BIN/mpi_overlap" orders 1
	want_ok "8 ranks on 4 hosts" mpi 120 4 8 "$BIN/mpi_overlap" orders 2
	want_ok "some by messages" mpi 120 4 8 --mca coll_shuffle_sizes 501- "$BIN/mpi_overlap" \
		orders 3
	carried 30000 mpi 120 4 4 "$BIN/mpi_overlap" many 1100
}

threads()
{
	rack 3
	carried 400000 mpi 90 3 3 "$calls" threads
}

lossy()
{
	rack 4
	netem loss 1% delay 100us
	carried 3000000 mpi 120 4 4 "$calls" all 200000 10
	want_gt "nothing was lost" "$(counters RetransBytes)" 0
	rack_down
}

late()
{
	rack 4
	carried 6000 mpi 60 4 4 "$calls" late
}

# Every member has the key that rank 0 has drawn: with another one, or none, nothing would arrive.
group_key()
{
	local key=("${loud[@]}" --mca coll_shuffle_key)

	rack 3
	carried 6000 said mpi 60 3 3 "${key[@]}" auto "$calls" all 1000 3
	want_grep "no key" "$(<"$work/said")" 'MPI_COMM_WORLD: 3 ranks over AF_SHUFFLE.*, with a key'
	carried 1000 said mpi 60 3 3 "${key[@]}" auto --mca coll_shuffle_collectives all \
		"$BIN/mpi_collectives" 60 15
	want_eq "records with another tag" "$(counters DropTag)" 0
	carried 6000 said mpi 60 3 3 "${key[@]}" none "$calls" all 1000 3
	want_no_grep "a key" "$(<"$work/said")" 'with a key'
	carried 6000 said mpi 60 3 3 "${key[@]}" gold "$calls" all 1000 3
	want_grep "nonsense is not refused" \
		"$(<"$work/said")" 'coll_shuffle_key is not none or auto, which is taken: gold'
	want_grep "no key instead" "$(<"$work/said")" ', with a key'
}

# known_as RANK - what ranks call its host, as a pattern: the address that mpirun was given (Open MPI
# 4.1), or its name
known_as()
{
	echo "\\((10\\.77\\.0\\.$(($1 + 1))|h$1)\\)"
}

# Pull the plug of a host when it has received something.
cut_off()
{
	local before

	before=$(counter "$1" DataBytesIn)
	while [ "$(counter "$1" DataBytesIn)" -le "$before" ]; do sleep 0.1; done
	ip -n "${PFX}h$1" link set eth0 down
}

# The last rank stops, or its host is cut off: an error class and its name, in time.
silent()
{
	local status

	rack 3
	[ "$1" = stops ] || background cut_off 2
	mpi 30 3 3 --mca coll_shuffle_timeout 3 "$calls" silent >"$work/said" 2>&1
	status=$?
	cat "$work/said"
	if [ "$1" = stops ]; then
		want_eq "status $status is not that of MPI_Abort" "$status" 3
	else
		# mpirun waits for its daemon there
		rack_down
	fi
	want_eq "the class is not MPI_ERR_OTHER" "$(grep -c '^rank [01]: class 1,' "$work/said")" 2
	want_grep "the rank is not named" "$(<"$work/said")" \
		-E "rank 0 of MPI_COMM_WORLD, MPI_Alltoallv: rank 2 $(known_as 2) has not sent"
}

# The last rank is killed in its call, and the launcher watches its parent, not it: each of the
# others' calls ends, without any timeout.  Rank 1 comes later and says who has left; rank 0 may
# have all that it needs in the first call, and learns of it in the next one.
dead()
{
	local status of="of MPI_COMM_WORLD, MPI_Alltoallv: rank"

	rack 3
	# shellcheck disable=SC2016 # expanded by the shell of the rank
	mpi 40 3 3 sh -c '"$@"; exec sleep 100' - "$calls" dies >"$work/said" 2>&1
	status=$?
	cat "$work/said"
	if ! ompi_is 4. && grep -q "$socket_closed" "$work/said"; then
		want_lt "it had to be killed" "$status" 124
		return
	fi
	want_eq "status $status is not that of MPI_Abort" "$status" 3
	want_eq "not all calls have ended" "$(grep -c '^rank [01]: call [012]: class' "$work/said")" 6
	want_eq "without an error" "$(grep -c '^rank [01]: call [12]: class 1$' "$work/said")" 4
	want_grep "rank 1 does not name it" "$(<"$work/said")" \
		-E "rank 1 $of 2 $(known_as 2) has closed its socket, or its process is gone"
	want_eq "rank 1 does not name it in later calls" \
		"$(grep -cE "rank 1 $of 2 $(known_as 2) has left before" "$work/said")" 2
	want_grep "rank 0 names nobody" "$(<"$work/said")" \
		-E "rank 0 $of (1 $(known_as 1)|2 $(known_as 2)) has"
}

killed()
{
	local named='rank 2 .*(signal 9|Killed)'

	ompi_is 4. || named="$named|$socket_closed"
	rack 3
	mpi 30 3 3 "$calls" kill >"$work/said" 2>&1 && fail "no error"
	cat "$work/said"
	want_grep "the rank is not named" "$(<"$work/said")" -E "$named"
}

too_long()
{
	rack 3
	carried 1 mpi 30 3 3 "$calls" short
}

# Declines: the call is made by the component before, and one line says why.
declines()
{
	rack 3
	carried 0 mpi 30 3 3 --mca coll_shuffle_verbose 1 --mca coll_shuffle_if_include none0 \
		"$calls" all 1000 2 >"$work/said" 2>&1
	cat "$work/said"
	grep -q 'declined: rank 0 (h0): AF_SHUFFLE is not available there: no interface' \
		"$work/said" || fail "no reason given"
	want_eq "lines that name the word" \
		"$(grep -c 'coll_shuffle_if_include: no interface or address of h[012] is none0' "$work/said")" 3
	carried 0 mpi 30 3 3 --mca coll_shuffle_priority 0 "$calls" all 1000 2
	carried 6000 mpi 30 3 3 --mca coll_shuffle_verbose 1 "$calls" all 1000 3 >"$work/said" 2>&1
	want_grep "no line" "$(<"$work/said")" 'MPI_COMM_WORLD: 3 ranks over AF_SHUFFLE'
}

# drop_datagrams HOST FAMILY... - AF_SHUFFLE's, that come to it by this version of IP
drop_datagrams()
{
	local host=$1 family
	shift

	tc -n "shf-h$host" qdisc add dev eth0 clsact || skip "no clsact"
	for family; do
		if [ "$family" = 4 ]; then
			tc -n "shf-h$host" filter add dev eth0 ingress protocol ip u32 \
				match ip protocol 17 0xff match ip dport 818 0xffff action drop
		else
			tc -n "shf-h$host" filter add dev eth0 ingress protocol ipv6 u32 \
				match ip6 protocol 17 0xff match ip6 dport 818 0xffff action drop
		fi || skip "no u32"
	done
}

# One of the networks that all have does not let AF_SHUFFLE through: the other one is used.
another_network()
{
	rack 3
	drop_datagrams 1 4
	carried 6000 mpi 30 3 3 --mca coll_shuffle_verbose 1 "$calls" all 1000 3 >"$work/said" 2>&1
	cat "$work/said"
	want_grep "not said" "$(<"$work/said")" -E \
		"not in the network of 10[^:]*:0: rank 1 \\(.*\\): it does not reach all others: rank [02]"
	want_grep "not by IPv6" "$(<"$work/said")" '3 ranks over AF_SHUFFLE, rank 0 is at \[fd77::'
	# a call that must not wait for others agrees in the background
	carried 3000 mpi 30 3 3 "$calls" order
}

# None of them does.  Later communicators do not try again.
no_network()
{
	rack 3
	drop_datagrams 1 4 6
	carried 0 mpi 30 3 3 --mca coll_shuffle_verbose 1 "$calls" all 1000 3 >"$work/said" 2>&1
	cat "$work/said"
	want_grep "not said" "$(<"$work/said")" 'declined: rank . (h.): it does not reach all others'
	carried 0 mpi 30 3 3 --mca coll_shuffle_verbose 1 "$calls" many 3 >"$work/said" 2>&1
	want_grep "tried again at once" "$(<"$work/said")" 'declined: .*it has not reached all others before'
}

parameters()
{
	local p

	ompi_info --param coll shuffle --level 9 >"$work/params" 2>&1
	for p in priority verbose sizes collectives multicast key timeout sndbuf rcvbuf if_include \
		if_exclude; do
		want_grep "no parameter $p" "$(<"$work/params")" "\"coll_shuffle_$p\""
	done
}

# Last: without the module every call is the plain component's.
unloaded()
{
	rack 3
	# nobody else can end a rank on a host that was cut off
	pkill -9 -f "^$calls "
	want_ok "the module is in use" wait_for 20 rmmod shuffle
	mpi 30 3 3 --mca coll_shuffle_verbose 1 "$calls" all 1000 2 >"$work/said" 2>&1 ||
		fail "$(cat "$work/said")"
	want_grep "no reason given" "$(<"$work/said")" 'declined: .*load the module shuffle'
	if mpich_there; then
		mpich_said 'libshuffle_pmpi: declined: no socket at rank 0' mpich 60 3 \
			-genv SHUFFLE_PMPI_COLLECTIVES all "$BIN/mpi_collectives_mpich" 40 7
		mpich_said ok mpich 60 3 "$BIN/mpi_calls_mpich" all 1000 2
	fi
	rack_down
	module_load
}

calls_cases()
{
	run_case "ompi_info shows the parameters" parameters
	run_case "4 hosts, 100 kB" all 4 4 100000 5
	run_case "40 random calls on 4 hosts as without AF_SHUFFLE" random_calls 4 40 1
	run_case "sizes that are given" sizes_given
	run_case "random collectives on 4 hosts" collectives 4 300 1 10000 all
	run_case "collectives that are not waited for only" collectives 4 200 7 10000 \
		"$not_waited_for"
	run_case "operators that do not commute" collectives 5 400 8 100000 all in_order barrier \
		reduce allreduce reduce_scatter_block scan exscan reduce_scatter
	run_case "collectives that not all ranks name" collectives_differ
	run_case "hosts that know different racks" racks_differ
	run_case "short all-to-all packed over racks" packed
	run_case "broadcasts by multicast" collectives_multicast
	run_case "non-blocking calls, out of order" order
	run_case "2000 calls at once" outstanding
	run_case "persistent calls" again
	run_case "collectives while the first call is open" first_open
	run_case "persistent calls started in different orders" start_orders
	run_case "random calls of neighbours on 4 hosts" neighbours 4 300 1
	run_case "calls of neighbours that go another way" neighbours_else
	run_case "MPI_THREAD_MULTIPLE" threads
	run_case "who waits sleeps" late
	run_case "a group key" group_key
	run_case "a rank that stops" silent stops
	run_case "a rank that dies unseen" dead
	if [ -z "${MPI_QUICK-}" ]; then
		run_case "4 hosts, rows larger than the send buffer" all 4 4 4000000 2
		run_case "8 hosts, 1 MB" all 8 8 1000000 2
		run_case "16 hosts, 8 B" all 16 16 8 100
		run_case "16 hosts, 64 kB" all 16 16 65536 3
		run_case "1000 random calls on 8 hosts as without AF_SHUFFLE" random_calls 8 1000 2
		run_case "100 random calls on 16 hosts as without AF_SHUFFLE" random_calls 16 100 3
		run_case "5000 random collectives on 7 hosts" collectives 7 5000 2 100000 all
		run_case "500 random collectives on 16 hosts, some kinds" collectives 16 500 3 10000 \
			barrier,allreduce,bcast,scan
		run_case "5000 random calls of neighbours on 7 hosts" neighbours 7 5000 2
		run_case "a message that is too long" too_long
		run_case "declines" declines
		run_case "a network that lets nothing through" another_network
		run_case "no network that lets anything through" no_network
		run_case "1 % loss" lossy
		run_case "a host that is cut off" silent cut
		run_case "a rank that dies" killed
	fi
	run_case "the module is not loaded" unloaded
}
