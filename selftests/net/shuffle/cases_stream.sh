# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # KEEP and others: lib.sh
#
# shuffle-stream, time-slices over AF_SHUFFLE sockets; to be sourced by run_all.sh.  Hosts 0 to
# I - 1 are inputs, the next ones builders.

stream_cases()
{
	KEEP=1
	run_case stream-verified-2x2 stream_verified 2 2 8
	run_case stream-sources-2x2 stream_sources
	run_case stream-builder-restarted-2x2 stream_restarted
	# what is the program's alone need not be seen on emulated processors
	case $LANE in
	qemu*) ;;
	*) stream_more_cases ;;
	esac
	KEEP=
}

stream_more_cases()
{
	run_case stream-builder-killed-2x3 stream_builder_killed
	run_case stream-input-killed-3x2 stream_input_killed
	run_case stream-builder-stopped-2x2 stream_builder_stopped
	run_case stream-clocks-3x3 stream_clocks
	run_case stream-defaults-2x2 stream_defaults
	run_case stream-refused stream_refused
	run_case stream-ten-thousand-8x8 stream_many 8 8 180
	run_case stream-packets-2x2 stream_packets
	[ "$LANE" != uml-time ] || run_case stream-slow-3x3 stream_slow
	KEEP=
	run_case stream-loss-3x3 stream_loss
}

# stream_begin INPUTS BUILDERS - a rack and the members' file.
stream_begin()
{
	local h

	inputs=$1 builders=$2
	rack $((inputs + builders))
	for ((h = 0; h < inputs + builders; h++)); do
		echo "$([ $h -lt "$inputs" ] && echo input || echo builder) 10.77.0.$((h + 1)):7100"
	done >"$work/members"
	stream_pid=()
	# cases and tries are subshells
	stream_id=$(($(cat "$state/stream-id" 2>/dev/null || echo 0) + 1))
	echo $stream_id >"$state/stream-id"
}

# With times, but in stream_defaults
stream_as=(--schedule dfs --tickets 16)

# stream_start HOST ARGS... - one member in the background; what it says in $work/out.HOST and
# $work/err.HOST, its log in $work/log.HOST.
stream_start()
{
	local h=$1 kind=input rank=$1
	shift

	[ "$h" -lt "$inputs" ] || kind=builder
	[ "$h" -lt "$inputs" ] || rank=$((h - inputs))
	ip netns exec "${PFX}h$h" "$BIN/shuffle-stream" $kind --members "$work/members" \
		--rank "$rank" --stream "$stream_id" --json --log "$work/log.$h" \
		--timeout "$(($(tmo 3) * 1000))" --slices 60 --piece 5000 \
		"${stream_as[@]}" "$@" \
		>"$work/out.$h" 2>"$work/err.$h" &
	stream_pid[h]=$!
}

# stream_all ARGS... - all members; "--builder" ends the arguments of inputs.
stream_all()
{
	local h all=() build=()

	while [ $# -gt 0 ] && [ "$1" != --builder ]; do
		all+=("$1")
		shift
	done
	[ $# = 0 ] || shift
	build=("$@")
	for ((h = 0; h < inputs; h++)); do
		stream_start $h "${all[@]}"
	done
	for ((h = inputs; h < inputs + builders; h++)); do
		stream_start $h "${build[@]}"
	done
}

# stream_wait HOST... - fails unless all of these succeed.
stream_wait()
{
	local h rc=0

	for h; do
		wait "${stream_pid[h]}" || rc=1
	done
	[ $rc = 0 ] || diag "$(head -v -n 5 "$work"/err.*)"
	return $rc
}

# stream_value HOST NAME - of a member's last line.
stream_value()
{
	sed -n "s/.*\"end\": true.*\"$2\": \([0-9.]*\).*/\1/p" "$work/out.$1"
}

# stream_built SLICES FIRST... - builders FIRST... have built so many, and no byte is wrong.
stream_built()
{
	local h want=$1 sum=0 n
	shift

	for h; do
		n=$(stream_value "$h" slices)
		sum=$((sum + ${n:-0}))
		want_eq "builder $h" "$(stream_value "$h" wrong)" 0 "$(cat "$work/out.$h")"
	done
	[ "$sum" = "$want" ] || fail "$sum time-slices, $want expected"
}

# Without options pieces leave whenever there is a ticket, and there are four.
stream_defaults()
{
	local stream_as=()

	stream_verified 2 2 6
	want_grep "no log of intervals" "$(<"$work/log.0")" '"proposed_ns": 0,'
	want_no_grep "pieces have had times" "$(<"$work/log.0")" '"proposed_ns": [1-9]'
	# members find each other if their tickets are the same
	stream_begin 2 2
	stream_all --intervals 2 --builder --schedule none --tickets 4
	want_ok "4 tickets are not the default" stream_wait 0 1 2 3
}

# stream_verified INPUTS BUILDERS INTERVALS ARGS... - every byte, of every time-slice.
stream_verified()
{
	local n i b
	i=$1 b=$2 n=$3
	shift 3

	stream_begin "$i" "$b"
	stream_all --intervals "$n" "$@" --builder --verify
	want_ok "a member failed" stream_wait "${!stream_pid[@]}"
	# rounds are whole
	stream_built $((n * (60 / b * b))) $(seq "$i" $((i + b - 1)))
}

# stream_many INPUTS BUILDERS INTERVALS - every byte; every time-slice once, in order, at its builder.
stream_many()
{
	local h n=$(($3 * (60 / $2 * $2)))

	stream_begin "$1" "$2"
	for ((h = 0; h < inputs; h++)); do
		stream_start $h --intervals "$3" --piece 600
	done
	for ((h = inputs; h < hosts; h++)); do
		: >"$work/built.$((h - inputs))"
		stream_start $h --verify --piece 600 --sink "$work/built.$((h - inputs))"
	done
	want_ok "a member failed" stream_wait "${!stream_pid[@]}"
	stream_built "$n" $(seq "$inputs" $((hosts - 1)))
	python3 - "$work" "$inputs" "$builders" "$n" <<-'END' || fail "time-slices are wrong"
		import struct, sys
		inputs, builders, n = map(int, sys.argv[2:])
		seen = set()
		for b in range(builders):
		    data, at, last = open(f"{sys.argv[1]}/built.{b}", "rb").read(), 0, -1
		    while at < len(data):
		        head = struct.unpack_from(f">QI{inputs}I", data, at)
		        assert head[0] > last and head[0] % builders == b, (b, last, head)
		        assert head[1] == inputs and set(head[2:]) == {600}, head
		        last = head[0]
		        seen.add(last)
		        at += 12 + inputs * 604
		assert len(seen) == n and max(seen) == n - 1, len(seen)
	END
}

# An operation for each time-slice costs no packet of its own: the first packet of a piece is its
# announcement, and rows in which all is absent, those of builders, are not announced.  So what is
# sent beside data is an ACK for each piece, and what a slow machine asks for once more.
stream_packets()
{
	local more

	rack_down
	stream_begin 2 2
	stream_all --intervals 20 --builder --verify
	want_ok "a member failed" stream_wait "${!stream_pid[@]}"
	stream_built 1200 2 3
	[ "$(counters OpsStarted)" -gt 2400 ] || shuffle_failed "not an operation for each time-slice"
	# but for those that a slow machine asks for
	[ "$(counters AnnounceOut)" -le "$(counters ResendIn)" ] ||
		shuffle_failed "there are packets that announce only"
	more=$(counters 'AnnounceOut|ResendOut|ProbeOut|ReAck')
	[ "$(counters CtrlPktsOut)" -le $((2400 + more)) ] ||
		shuffle_failed "more than an ACK for each piece"
}

# All inputs are slower by a quarter in intervals 15 to 25: they are followed, and three intervals
# later all is as before.  Virtual time is nobody's but the stream's.
stream_slow()
{
	local h

	stream_begin 3 3
	rate 100
	for ((h = 0; h < 3; h++)); do
		stream_start $h --intervals 45 --slow 15-25,25
	done
	for ((h = 3; h < 6; h++)); do
		stream_start $h --verify
	done
	want_ok "a member failed" stream_wait "${!stream_pid[@]}"
	stream_built 2700 3 4 5
	python3 - "$work" <<-'END' || fail "it does not recover"
		import json, statistics, sys
		took = {}
		for i in range(3):
		    for line in open(f"{sys.argv[1]}/log.{i}"):
		        v = json.loads(line)
		        if "actual_ns" in v:
		            took.setdefault(v["interval"], []).append(v["actual_ns"])
		took = [statistics.median(took[j]) for j in sorted(took)]
		print([round(v / 1e6, 3) for v in took])
		before = statistics.median(took[10:15])
		assert min(took[15:26]) > 1.1 * before, "not slower"
		assert max(took[28:43]) <= 1.05 * before, "not as before"
	END
}

# stream_intervals HOST NUMBER - wait until a member has written so many lines of intervals.
stream_intervals()
{
	local end=$((SECONDS + $(tmo 60)))

	until [ "$(grep -c '"interval"' "$work/log.$1" 2>/dev/null)" -ge "$2" ] 2>/dev/null; do
		want_lt "member $1: no interval $2" $SECONDS $end "$(tail -n 3 "$work"/err.*)"
		kill -0 "${stream_pid[$1]}" 2>/dev/null || fail "member $1 has ended: $(head -n 3 "$work"/err.*)"
		sleep 0.01
	done
}

# Files, a FIFO and UDP in; a folder and a pipe out.
stream_sources()
{
	local h

	stream_begin 2 2
	head -c 1003000 /dev/urandom >"$work/in.0"
	mkfifo "$work/fifo"
	head -c 700001 "$work/in.0" >"$work/in.1"
	mkdir "$state/slices.$stream_id"
	stream_start 0 --source "$work/in.0"
	stream_start 1 --source "$work/fifo"
	stream_start 2 --sink "$state/slices.$stream_id"
	cat "$work/in.1" >"$work/fifo" &
	ip netns exec "${PFX}h3" "$BIN/shuffle-stream" builder --members "$work/members" --rank 1 \
		--stream "$stream_id" --json --timeout "$(($(tmo 3) * 1000))" --slices 60 \
		--piece 5000 "${stream_as[@]}" --sink - 2>"$work/err.3" | cat >"$work/pipe" &
	want_ok "a member failed" stream_wait 0 1 2
	wait
	python3 - "$work" "$state/slices.$stream_id" <<-'END' || fail "slices differ"
		import os, struct, sys
		work, folder = sys.argv[1:]
		built = {int(n): open(f"{folder}/{n}", "rb").read() for n in os.listdir(folder)}
		pipe, at = open(work + "/pipe", "rb").read(), 0
		while pipe[at:at + 1] != b"{":
		    n, inputs, a, b = struct.unpack_from(">QIII", pipe, at)
		    assert inputs == 2 and n not in built, n
		    built[n] = pipe[at + 20:at + 20 + a + b]
		    at += 20 + a + b
		src = [open(f"{work}/in.{i}", "rb").read() for i in range(2)]
		assert sorted(built) == list(range(240)), len(built)
		for n, data in built.items():
		    assert data == b"".join(s[n * 5000:n * 5000 + 5000] for s in src), n
	END
	rm -r "$state/slices.$stream_id"
}

# A builder is started again at once: it goes on where it was, and nobody else notices.
stream_restarted()
{
	stream_begin 2 2
	stream_all --intervals 24 --builder --verify --process 1000
	stream_intervals 3 5
	kill -9 "${stream_pid[3]}"
	wait "${stream_pid[3]}" 2>/dev/null
	# it says nothing more of what it had built
	mv "$work/log.3" "$work/before"
	stream_start 3 --verify --process 1000
	want_ok "a member failed" stream_wait 0 1 2 3
	stream_built 720 2
	want_eq "wrong" "$(stream_value 3 wrong)" 0 "$(cat "$work/out.3")"
	want_grep "input 0 has not seen it" "$(<"$work/err.0")" 'builder-restarted: 1'
	# what was released before is not built again, but what nobody had heard of
	want_lt "it began anew" "$(stream_value 3 slices)" 600 "$(cat "$work/out.3")"
	want_gt "slices are missing" "$(stream_value 3 slices)" 100 "$(cat "$work/out.3")"
}

# A builder dies: its share goes to the others.
stream_builder_killed()
{
	local sum before

	stream_begin 2 3
	stream_all --intervals 30 --builder --verify --process 1000
	stream_intervals 3 8
	kill -9 "${stream_pid[3]}"
	wait "${stream_pid[3]}" 2>/dev/null
	want_ok "a member failed" stream_wait 0 1 2 4
	want_grep "input 0 has not seen it" "$(<"$work/err.0")" 'builder-failed: 1'
	before=$(($(grep -c '"interval"' "$work/log.3") * 20))
	sum=$(($(stream_value 2 slices) + $(stream_value 4 slices)))
	# all but what it had built before; of its last interval nobody counts
	want_le "$sum built by others, $before by it: some twice" "$sum" $((1800 - before + 1))
	want_ge "$sum, $before: some are missing" "$sum" $((1800 - before - 20 - 32))
	want_eq "wrong bytes" "$(stream_value 2 wrong)$(stream_value 4 wrong)" 00
}

# An input dies: time-slices are whole without it.
stream_input_killed()
{
	stream_begin 3 2
	stream_all --intervals 30 --builder --verify --process 1000
	stream_intervals 3 8
	kill -9 "${stream_pid[1]}"
	wait "${stream_pid[1]}" 2>/dev/null
	want_ok "a member failed" stream_wait 0 2 3 4
	want_grep "builder 0 has not seen it" "$(<"$work/err.3")" 'input-failed: 1'
	want_grep "builder 1: no event" "$(<"$work/log.4")" '"event": "input-failed", "member": 1'
	stream_built 1800 3 4
	want_eq "inputs" "$(stream_value 3 inputs)" 2 "$(cat "$work/out.3")"
}

# A builder stands still for a second: no input holds more than its tickets, nothing is lost.
stream_builder_stopped()
{
	local held

	stream_begin 2 2
	for h in 0 1; do
		stream_start $h --intervals 30 --metrics "10.77.0.$((h + 1)):9100"
	done
	for h in 2 3; do
		stream_start $h --verify --process 1000
	done
	stream_intervals 2 3
	kill -STOP "${stream_pid[3]}"
	sleep 1
	held=$(ip netns exec "${PFX}h0" "$BIN/shuffle-stream" monitor --once --json 10.77.0.1:9100)
	kill -CONT "${stream_pid[3]}"
	held=$(sed -n 's/.*"held": \([0-9]*\).*/\1/p' <<<"$held")
	want_le "$held pieces held, with 2 x 16 tickets" "${held:-99}" 32
	want_ge "$held pieces held: the builder did not stop" "$held" 16
	want_ok "a member failed" stream_wait 0 1 2 3
	stream_built 1800 2 3
}

# Clocks that are wrong by 10 s, and drift by 100 ppm: proposals are kept all the same.
stream_clocks()
{
	local h wrong=('10,100' '-10,-100' '3,-50' '-10,100' '10,-100' '0,0')

	stream_begin 3 3
	for ((h = 0; h < 6; h++)); do
		if [ $h -lt 3 ]; then
			stream_start $h --intervals 30 --clock "${wrong[h]}"
		else
			stream_start $h --verify --clock "${wrong[h]}"
		fi
	done
	want_ok "a member failed" stream_wait "${!stream_pid[@]}"
	stream_built 1800 3 4 5
	for h in 0 1 2; do
		want_eq "refused" "$(stream_value $h absurd)" 0 "$(cat "$work/out.$h")"
		want_gt "none" "$(stream_value $h proposals)" 20 "$(cat "$work/out.$h")"
	done
}

# One packet in a hundred is lost.
stream_loss()
{
	stream_begin 3 3
	netem loss 1%
	stream_all --intervals 15 --builder --verify
	want_ok "a member failed" stream_wait "${!stream_pid[@]}"
	stream_built 900 3 4 5
}

# What is wrong is said.
stream_refused()
{
	local f=$work/bad

	stream_begin 1 1
	printf 'input 10.77.0.1:7000\nbulider 10.77.0.2:7000\n' >"$f"
	want_fail "a kind" "$BIN/shuffle-stream" input --members "$f" --rank 0 2>"$work/says"
	want_grep "no place" "$(<"$work/says")" "$f:2: "
	want_fail "rank 7" \
		"$BIN/shuffle-stream" input --members "$work/members" --rank 7 2>"$work/says"
	! "$BIN/shuffle-stream" input --members "$work/members" --rank 0 --source /nowhere \
		2>"$work/says" || fail "no file"
	grep -q "/nowhere" "$work/says" || grep -q "10.77" "$work/says" ||
		fail "no name: $(cat "$work/says")"
}
