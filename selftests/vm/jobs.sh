#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What check.sh runs: which jobs there are, what each does, which kernel it needs.  Sourced.
# shellcheck disable=SC2034,SC2154 # the lists are check.sh's; here: of who sources this

# shellcheck source=../../tools/common/tap.sh
. "$SHUFFLE_ROOT/tools/common/tap.sh"
# shellcheck source=arch.sh
. "$here/arch.sh"

# Long ones first: two workers take one after the other.
check_jobs=(selftests-core-qemu-6.12 static mpi-quick-qemu-6.12 sim demo unit topo stream query
	sort workload saba relay rperf)
# What .ci/run runs besides.  A kernel first: jobs without one run while it is built.
deep_jobs=(kernel-um-debug torture-qemu-smp selftests-part-uml-debug-time budget
	selftests-core-qemu-6.1 selftests-core-qemu-7 kunit-uml-debug planted-uml-debug planted-qemu-smp
	unit-arm64 unit-s390x unit-armhf unit-i386 flaky)
# Everything.
all_jobs=(kernel-um-debug kernel-x86-debug kernel-um kernel-um-small selftests-uml-debug-time selftests-qemu-6.12 selftests-compat-qemu-6.12
	selftests-qemu-6.1 selftests-qemu-7 selftests-core-qemu-rt selftests-core-qemu-arm64 selftests-core-qemu-s390x mixed-s390x selftests-uml-small-time module-um-small torture-qemu-rt-smp module-arm64 module-s390x module-armhf mpi-uml-debug mpi-programs-uml static-all sim demo demo-6.1 unit unit-arm64 unit-s390x unit-armhf unit-i386 topo
	parser stream query sort workload saba relay rperf wireshark deb deb-13 newcomer-12 newcomer-13 debian-13 debian-13-mpi mpi-unstable budget in-tree
	faults-uml-debug kunit-uml-debug planted-uml-debug planted-qemu-smp fpu-uml-debug torture-qemu-smp
	selftests-1/5-qemu-debug selftests-2/5-qemu-debug selftests-3/5-qemu-debug
	selftests-4/5-qemu-debug selftests-5/5-qemu-debug kunit-qemu-debug planted-qemu-debug
	torture-qemu-debug soak-uml soak-uml-debug kernel-x86-kcsan planted-qemu-kcsan torture-qemu-kcsan flaky)

# MPI on Debian's kernel, where starting a process takes long.
mpi_core='^(ompi_info|4 hosts, 100 kB|40 random calls|random collectives on 4|non-blocking calls)'

# Minutes of torture, and how many parts the cases beside the core have.
torture_minutes=10
# Its first seed, so that a red run means the change: others are for 'make torture'.
torture_seed=846 torture_mixes=calm,storm,dead,links,signals,early,loads
parts=6

# job_needs NAME - the test kernel that has to be built before.
job_needs()
{
	case $1 in
	kernel-*) ;;
	*uml-debug | *uml-debug-time | wireshark) echo um-debug ;;
	*-um-small | *uml-small | *uml-small-time) echo um-small ;;
	*-uml | in-tree) echo um ;;
	*qemu-debug) echo x86-debug ;;
	*qemu-kcsan) echo x86-kcsan ;;
	esac
}

# commit_number - consecutive commits have consecutive ones.
commit_number()
{
	local n

	n=$(git -c safe.directory='*' rev-list --count HEAD 2>/dev/null) || n=0
	if [ "$(git -c safe.directory='*' rev-parse --is-shallow-repository 2>/dev/null)" = true ]; then
		n=$((0x$(git -c safe.directory='*' rev-parse HEAD | cut -c1-7)))
	fi
	echo "$n"
}

# as_test NAME COMMAND... - a command without TAP is one test.
as_test()
{
	local name=$1 status
	shift

	"$@" 2>&1 | sed -u 's/^/# /'
	status=${PIPESTATUS[0]}
	if [ "$status" = 0 ]; then
		tap ok "$name"
	else
		tap "not ok" "$name: got status $status, want 0"
	fi
	return "$status"
}

# tool NAME - the tests of a folder of tools.
tool()
{
	make -s -C "tools/$1" OUT="$BUILD/$1" check
}

# cases NAME LANE [OPTIONS OF run.sh] - selftests in a lane.
cases()
{
	"$here/lane.sh" "$BUILD/out/$1" "${@:2}" selftests/net/shuffle/run_all.sh
}

# known_flaky - LANE and NAME of the cases in FLAKY.md.
known_flaky()
{
	# shellcheck disable=SC2016 # not an expansion
	sed -nE 's/^\| `([^` ]+)` \| `([^` ]+)` \|.*/\1 \2/p' selftests/FLAKY.md
}

# flaky - the cases that FLAKY.md names, ten times each.
flaky()
{
	local lane name any=0

	while read -r lane name; do
		any=1
		"$here/lane.sh" "$BUILD/out/flaky-$lane-$name" "$lane" -e "CASES=^$name\$" -e CASES_TIMES=10 \
			selftests/net/shuffle/run_all.sh
	done < <(known_flaky)
	[ $any = 1 ] || tap ok "no case is known to be flaky"
}

# run_job NAME - TAP, or whatever tally.awk counts.
run_job()
{
	local name=$1 lane

	case $name in
	module-um*) ;;
	*qemu-7 | *qemu-rt | *qemu-rt-smp | *qemu-arm64 | *qemu-s390x | mixed-* | module-*)
		if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then
			tap_skip "$name" "a root of Debian 13 needs the right to mount"
			return
		fi
		;;
	esac
	# these roots and the module: not within the time of the first case
	case $name in
	*qemu-7 | *qemu-rt | *qemu-rt-smp | *qemu-arm64 | *qemu-s390x)
		"$here/build-module.sh" "$(kernel_of "qemu-${name##*qemu-}")" >/dev/null || return
		;;
	esac
	case $name in
	kernel-*) as_test "the ${name#kernel-} kernel is built" "$here/build-kernel.sh" "${name#kernel-}" ;;
	static) "$here/static.sh" ;;
	static-all) ALL=1 "$here/static.sh" ;;
	module-*) as_test "the module for ${name#module-}: W=1 and sparse say nothing" "$here/build-module.sh" -c "${name#module-}" ;;
	unit) make -s -C net/shuffle/test OUT="$BUILD/portable" check ;;
	unit-*) arch_unit "${name#unit-}" ;;
	# 10^9 datagrams, 20 minutes
	parser) make -s -C net/shuffle/test OUT="$BUILD/portable" check-parser ;;
	sim) make -s -C tools/sim OUT="$BUILD/tools" check ;;
	workload | topo | relay | rperf | stream | saba | sort | query) tool "$name" ;;
	demo) as_test "demo: every byte of every message" tools/examples/demo/demo.sh qemu-6.12 ;;
	demo-6.1) as_test "demo on 6.1: every byte of every message" tools/examples/demo/demo.sh qemu-6.1 ;;
	deb) selftests/deb/check.sh 12 ;;
	deb-*) selftests/deb/check.sh "${name#deb-}" ;;
	mpi-unstable) selftests/mpi/unstable.sh ;;
	# this project's own checks, in a bare Debian
	debian-*) selftests/newcomer/check.sh "${name:7:2}" 'make deps' "make check${name:9}" ;;
	newcomer-*) selftests/newcomer/check.sh "${name#newcomer-}" ;;
	budget) tools/bench/budget.sh ;;
	in-tree) upstream/check.sh ;;
	flaky) flaky ;;
	mixed-*) "$here/mixed.sh" "${name#mixed-}" ;;
	wireshark) tools/wireshark/tests/check.sh uml-debug ;;
	planted-*) "$here/planted/check.sh" "${name#planted-}" ;;
	fpu-*) "$here/fpu/check.sh" "${name#fpu-}" ;;
	kunit-*) "$here/lane.sh" "$BUILD/out/$name" "${name#kunit-}" "$here/kunit.sh" ;;
	torture-*) MIXES=${MIXES-$torture_mixes} "$here/torture.sh" "${name#torture-}" "${MINUTES:-$torture_minutes}" "${SEED:-$torture_seed}" ;;
	# with a guest for each processor
	soak-uml) MINUTES=${MINUTES:-10} "$here/soak.sh" 1000000 "${SEED:-1}" uml-time ;;
	soak-*) "$here/soak.sh" 20000 "${SEED:-1}" "${name#soak-}-time" ;;
	faults-*) cases "$name" "${name#faults-}" -e CASES=^faults- -e FAULTS=1 ;;
	mpi-quick-*) "$here/lane.sh" "$BUILD/out/$name" "${name#mpi-quick-}" -L -e MPI_QUICK=1 \
		-e "CASES=$mpi_core" selftests/mpi/run_all.sh ;;
	mpi-programs-*) "$here/lane.sh" "$BUILD/out/$name" "${name#mpi-programs-}" selftests/mpi/run_all.sh ;;
	mpi-*) "$here/lane.sh" "$BUILD/out/$name" "${name#mpi-}" -L -e MPI_QUICK=1 selftests/mpi/run_all.sh ;;
	# programs for 32 bits on a kernel for 64
	selftests-compat-*)
		arch_programs i386 &&
			cases "$name" "${name#selftests-compat-}" -e CASES_CORE=1 -e "SHUFFLE_BIN=$BUILD/tools-i386"
		;;
	selftests-core-qemu-arm64 | selftests-core-qemu-s390x)
		guest_programs "${name##*-}" &&
			cases "$name" "${name#selftests-core-}" -e CASES_CORE=1 -e "SHUFFLE_BIN=$BUILD/tools-${name##*-}"
		;;
	selftests-core-*) cases "$name" "${name#selftests-core-}" -e CASES_CORE=1 ;;
	selftests-part-*)
		cases "$name" "${name#selftests-part-}" -e CASES_CORE=1 \
			-e "CASES_PART=$(($(commit_number) % parts + 1))/$parts" ;;
	selftests-[0-9]*)
		lane=${name#selftests-[0-9]*/[0-9]*-}
		name=${name#selftests-}
		cases "selftests-${name//\//-of-}" "$lane" -e "CASES_PART=${name%-"$lane"}" ;;
	selftests-*) cases "$name" "${name#selftests-}" ;;
	*) die "no job $name" ;;
	esac
}
