#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# MPICH with libshuffle_pmpi.so.  Sourced by run_all.sh.

work=${work-} mpi_here=${mpi_here-}

mpich_there()
{
	command -v mpiexec.mpich >/dev/null && [ -e "$BIN/libshuffle_pmpi.so" ]
}

have_mpich()
{
	mpich_there || skip "mpich or libmpich-dev is not installed"
}

# mpich SECONDS HOSTS [-genv NAME VALUE] PROGRAM... - one rank on each host.  MPICH polls without
# giving the processor away, which all hosts share here, and may hang in MPI_Finalize by itself: the
# second library mends both.
mpich()
{
	local seconds=$1 n=$2 list
	list=$(host_list "$n")
	shift 2

	on_host0 "$seconds" env UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 mpiexec.mpich -launcher rsh \
		-launcher-exec "$mpi_here/ns_agent.sh" -iface eth0 -hosts "${list//:1/}" -n "$n" \
		-genv LD_PRELOAD "$BIN/libshuffle_pmpi.so:$BIN/mpi_blocking.so" -genv MPI_IDLE yield \
		-genv SHUFFLE_PMPI_VERBOSE 1 -genv SHUFFLE_PMPI_TIMEOUT 20 "$@"
}

# mpich_said LINE COMMAND... - run it; it must say that line.
mpich_said()
{
	local line=$1
	shift

	"$@" >"$work/said" 2>&1 || fail "status $?: $(tail -20 "$work/said")"
	cat "$work/said"
	want_grep "not said: $line" "$(<"$work/said")" "^$line"
}

mpich_alltoall()
{
	have_mpich
	rack 4
	carried $(($1 * 3 * 3)) mpich_said ok mpich 120 4 "$BIN/mpi_calls_mpich" all "$1" 3
}

# mpich_collectives HOSTS CALLS SEED LEAST NAMES [WORDS...] - random calls, those of the named kinds
# over AF_SHUFFLE; blocking ones are compared with what MPICH's own functions do.
mpich_collectives()
{
	local before

	have_mpich
	rack "$1"
	before=$(counters Collectives)
	carried "$4" mpich_said "$2 calls" mpich 400 "$1" -genv SHUFFLE_PMPI_COLLECTIVES "$5" \
		"$BIN/mpi_collectives_mpich" "$2" "$3" by_pmpi "${@:6}"
	[ "$4" = 0 ] || [ "$(counters Collectives)" -gt "$before" ] ||
		fail "the kernel has carried none out"
}

# A command of one rank: rank 1 names broadcasts only.
mpich_rank1_differs()
{
	[ "$PMI_RANK" != 1 ] || export SHUFFLE_PMPI_COLLECTIVES=bcast
	exec "$@"
}

# Ranks that do not name the same: only what all name goes over AF_SHUFFLE.
mpich_differ()
{
	local differs

	have_mpich
	rack 3
	differs="$(declare -f mpich_rank1_differs); mpich_rank1_differs \"\$@\""
	carried 0 mpich_said '200 calls' mpich 60 3 bash -c "$differs" - \
		"$BIN/mpi_collectives_mpich" 200 4
	carried 1 mpich_said '200 calls' mpich 60 3 -genv SHUFFLE_PMPI_COLLECTIVES all \
		bash -c "$differs" - "$BIN/mpi_collectives_mpich" 200 5
	carried 0 mpich_said 'libshuffle_pmpi: SHUFFLE_PMPI_COLLECTIVES is not all, none or names' \
		mpich 60 3 -genv SHUFFLE_PMPI_COLLECTIVES bcast,gossip \
		"$BIN/mpi_collectives_mpich" 20 6
}

# Tables of racks that differ between hosts.
mpich_racks()
{
	local run=(mpich 60 2 -genv SHUFFLE_PMPI_COLLECTIVES all "$BIN/mpi_collectives_mpich" 60 9)

	have_mpich
	rack 2
	printf '10.77.0.1 a\n10.77.0.2 b\n' >"$work/table"
	want_ok "no table" hctl 0 topology load "$work/table"
	carried 1000 mpich_said 'libshuffle_pmpi: no racks' "${run[@]}"
	want_ok "no table" hctl 1 topology load "$work/table"
	carried 1000 mpich_said '60 calls' "${run[@]}"
	want_no_grep "the same racks" "$(<"$work/said")" 'no racks'
	rack_down
}

# Short MPI_Alltoall over racks: the same bytes come packed, by more operations.
mpich_packed()
{
	local run=("$BIN/mpi_random_mpich" 60 6) begun rows

	have_mpich
	two_racks
	begun=$(counters OpsStarted)
	carried 1000 mpich 200 4 "${run[@]}" >"$work/rows" || fail "$(tail -5 "$work/rows")"
	rows=$(($(counters OpsStarted) - begun))
	begun=$(counters OpsStarted)
	carried 1000 mpich 200 4 -genv SHUFFLE_PMPI_COLLECTIVES alltoall "${run[@]}" \
		>"$work/packed" || fail "$(tail -5 "$work/packed")"
	want_gt "nothing was packed" $(($(counters OpsStarted) - begun)) "$rows"
	grep -v '^host' "$work/rows" >"$work/rows.sums"
	want_eq "no sums" "$(tail -1 "$work/rows.sums" | cut -d' ' -f1)" 60
	grep -v '^host' "$work/packed" | diff "$work/rows.sums" - || fail "buffers differ"
	rack_down
}

mpich_cases()
{
	run_case "MPICH: random collectives on 4 hosts" mpich_collectives 4 200 1 10000 all
	[ -z "${MPI_QUICK-}" ] || return 0
	run_case "MPICH: random collectives as PMPI_ functions make them" mpich_collectives 5 1500 2 \
		100000 all
	run_case "MPICH: some kinds only" mpich_collectives 4 300 3 1000 barrier,allreduce,bcast
	run_case "MPICH: none unless asked for" mpich_collectives 3 100 4 0 none
	run_case "MPICH: operators that do not commute" mpich_collectives 5 300 5 5000 all in_order \
		barrier reduce allreduce reduce_scatter_block scan exscan reduce_scatter
	run_case "MPICH: collectives that not all ranks name" mpich_differ
	run_case "MPICH: hosts that know different racks" mpich_racks
	run_case "MPICH: short all-to-all packed over racks" mpich_packed
	run_case "MPICH: all-to-all" mpich_alltoall 100000
	run_case "MPICH: rows larger than the send buffer" mpich_alltoall 4000000
}
