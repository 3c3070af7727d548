#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs that know nothing of AF_SHUFFLE: Debian's own, and some as their users
# would write them.  Sourced by run_all.sh.

work=${work-} mpi_here=${mpi_here-}

# have PACKAGE FILE
have()
{
	[ -e "$2" ] || skip "$1 is not installed"
}

# said_ok COMMAND... - its output has a line that begins with ok.
said_ok()
{
	"$@" >"$work/said" 2>&1 || fail "status $?: $(tail -20 "$work/said")"
	cat "$work/said"
	want_grep "the program says no" "$(<"$work/said")" '^ok'
}

# HPC Challenge: PTRANS, MPIFFT, RandomAccess and the others; it checks itself.
hpcc_program()
{
	local ranks=$1 p=$2 q=$3

	have hpcc /usr/bin/hpcc
	rack "$ranks"
	mkdir -p /tmp/hpcc
	cd /tmp/hpcc || fail "no folder"
	rm -f hpccoutf.txt
	awk -v p="$p" -v q="$q" 'NR == 6 { print "200 Ns"; next } NR == 8 { print "40 NBs"; next }
		NR == 11 { print p " Ps"; next } NR == 12 { print q " Qs"; next } 1' \
		/usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
	carried 100000 mpi 300 "$ranks" "$ranks" hpcc
	grep -E '^(Success|PTRANS_|MPIFFT_|MPIRandomAccess_)' hpccoutf.txt
	grep -q '^Success=1' hpccoutf.txt || fail "$(tail -30 hpccoutf.txt)"
	want_grep "MPIFFT is wrong" "$(grep -E 'MPIFFT_maxErr' hpccoutf.txt)" 'e-1[4-9]'
}

fftw_program()
{
	have libfftw3-mpi-dev "$BIN/mpi_fftw"
	rack "$1"
	carried 1000 said_ok mpi 120 "$1" "$1" "$BIN/mpi_fftw"
}

fortran_program()
{
	have gfortran "$BIN/mpi_fortran"
	rack 8
	carried 10000 said_ok mpi 60 8 8 "$BIN/mpi_fortran"
}

python_program()
{
	have python3-mpi4py /usr/lib/python3/dist-packages/mpi4py
	rack 4
	carried 50000 said_ok mpi 120 4 4 /usr/bin/python3 "$mpi_here/programs/mpi_python.py"
}

# PT-Scotch orders a mesh; its sequential tool reads the result.
scotch_program()
{
	have ptscotch /usr/bin/dgord
	rack 4
	cd /tmp || fail "no /tmp"
	want_ok "no mesh" gmk_m2 60 50 mesh.grf
	carried 1000 mpi 60 4 4 dgord mesh.grf mesh.ord -vt
	want_ok "not an ordering" gotst mesh.grf mesh.ord
	want_eq "not all vertices" "$(head -1 mesh.ord)" 3000
}

# 100-byte records of our own; the parts, one behind the other, must be sorted and
# hold every record once.
sort_program()
{
	local ranks=$1 records=$2 least

	have libopenmpi-dev "$BIN/mpi_sort"
	rack "$ranks"
	cd /tmp || fail "no /tmp"
	rm -f sorted.*
	want_ok "no records" "$BIN/mpi_sort" -g "$records" unsorted
	least=$((records * 100 / ranks / 8))
	carried "$least" mpi 120 "$ranks" "$ranks" "$BIN/mpi_sort" unsorted sorted
	for ((r = 0; r < ranks; r++)); do cat "sorted.$r"; done >sorted
	want_eq "records are missing" "$(stat -c %s sorted)" $((records * 100))
	/usr/bin/python3 - <<-'END' || fail "not sorted"
		def records(name):
		    data = open(name, "rb").read()
		    return [data[i:i + 100] for i in range(0, len(data), 100)]
		after, before = records("sorted"), records("unsorted")
		assert all(a[:10] <= b[:10] for a, b in zip(after, after[1:]))
		assert sorted(after) == sorted(before)
	END
	rm -f sorted* unsorted
}

# shuffle-sort is no MPI program; mpirun starts it, and tells each process its rank.
shuffle_sort_by_mpirun()
{
	local h

	rack 4
	for ((h = 1; h <= 4; h++)); do echo "10.77.0.$h:7000"; done >"$work/hosts"
	carried 50000 mpi 60 4 4 "$BIN/shuffle-sort" -g "$work/hosts" -o 1 -d "$work/out" \
		--generate 2000 --deadline "$(($(tmo 30) * 1000))"
	want_ok "not sorted" "$BIN/shuffle-sort" verify --records 8000 "$work/out"
	# one process too few: all say so
	mpi 60 3 3 "$BIN/shuffle-sort" -g "$work/hosts" -o 2 -d "$work/out" --generate 10 \
		2>"$work/said" && fail "three hosts of four sort"
	want_grep "said" "$(<"$work/said")" 'OMPI_COMM_WORLD_SIZE is 3, but the group has 4 members'
}

programs_cases()
{
	run_case "shuffle-sort by mpirun" shuffle_sort_by_mpirun
	run_case "a distributed sort on 8 hosts" sort_program 8 20000
	run_case "a distributed sort on 16 hosts" sort_program 16 40000
	run_case "Fortran: MPI_ALLTOALLV" fortran_program
	run_case "Python: mpi4py" python_program
	run_case "FFTW's MPI library on 4 hosts" fftw_program 4
	run_case "FFTW's MPI library on 8 hosts" fftw_program 8
	run_case "PT-Scotch: dgord" scotch_program
	run_case "hpcc on 4 hosts" hpcc_program 4 2 2
	run_case "hpcc on 8 hosts" hpcc_program 8 2 4
}
