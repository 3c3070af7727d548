#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lane.sh with a QEMU that is a shell script: after a fault of the emulator only cases without
# a result are run, and other deaths are none of it.  No kernel runs.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A guest with the cases a, b and c.  Its N-th start does the N-th word of FAKE: fault dies in b
# of flags that no processor has, oops dies there, too; end runs the rest.  Cases whose names are
# in CASES_DONE are left out.
mkdir "$dir/bin"
cat >"$dir/bin/qemu-system-x86_64" <<'END2'
#!/bin/bash
for arg; do
	case $arg in
	*shuffle_run=*) run=${arg##*shuffle_run=} run=${run%% *} ;;
	file:*) console=${arg#file:} ;;
	file,id=out,path=*) out=${arg#file,id=out,path=} ;;
	esac
done
. "$run/env"
: >"$run/started"
for e in "${RUN_EXPORT[@]}"; do
	[[ $e != CASES_DONE=* ]] || done=${e#CASES_DONE=}
done
echo boot >>"$FAKE_DIR/boots"
n=$(wc -l <"$FAKE_DIR/boots")
read -ra acts <<<"$FAKE"
{
	i=0
	for c in a b c; do
		! grep -qx "$c" "$done" || continue
		if [ "$c" = b ]; then
			case ${acts[n - 1]} in
			fault) echo 'RSP: 0018:ffffc9 EFLAGS: 04f48666' >>"$console"; exit ;;
			oops) echo 'Oops: RSP: 0018:ffffc9 EFLAGS: 00010246' >>"$console"; exit ;;
			esac
		fi
		echo "ok $((++i)) - $c"
	done
	echo "1..$i"
	echo 0 >"$run/status"
} >"$out"
END2
chmod +x "$dir/bin/qemu-system-x86_64"

# expect STATUS BOOTS CASES ACTS - lane.sh ends so, after so many boots, with these results.
expect()
{
	local status=0 boots cases

	rm -f "$dir/boots"
	PATH=$dir/bin:$PATH FAKE=$4 FAKE_DIR=$dir "$here/lane.sh" "$dir/out" qemu-6.12 -N \
		"$here/lane_test.sh" >"$dir/said" 2>&1 </dev/null || status=$?
	boots=$(wc -l <"$dir/boots")
	cases=$(sed -n 's/^ok [0-9]* - //p' "$dir/said" | paste -sd ' ')
	if [ "$status" != "$1" ] || [ "$boots" != "$2" ] || [ "$cases" != "$3" ]; then
		echo "guest '$4': got status $status, $boots boots, cases '$cases'; want $1, $2, '$3'; said:"
		cat "$dir/said"
		exit 1
	fi
}

expect 0 1 'a b c' end
expect 0 2 'a b c' 'fault end'
expect 0 4 'a b c' 'fault fault fault end'
expect 70 1 'a' oops
expect 70 2 'a' 'fault oops'
[ "$(grep -c '^# the emulator has failed' "$dir/out/emulator-faults")" = 1 ] ||
	{ echo "emulator-faults: got '$(cat "$dir/out/emulator-faults")', want one line"; exit 1; }
