#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of shuffle-saba and shuffle-sabad by their command lines and files.  The daemon runs in
# a network namespace of its own where that is possible, with ports that are not there.
#
# usage: cli_test.sh FOLDER	of the programs
#
# shellcheck disable=SC2317 # functions are called by t
of=saba
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../common/cli_test.sh
. "$here/../../common/cli_test.sh"
bin=$1
saba=$bin/shuffle-saba sabad=$bin/shuffle-sabad

law()
{
	awk -v f="$2" -v name="$1" 'BEGIN { print "app", name; n = split("100 90 75 50 25 10 5", b)
		for (i = 1; i <= n; i++) printf "sample %d %.6f\n", b[i], 1 - f + 100 * f / b[i] }'
}

weights()
{
	{ law A .8; law B .133; law C .033; } >table
	"$saba" --json weights A B C --table table >out || return 1
	python3 -c '
import json
w = {r["app"]: r["weight"] for r in json.load(open("out"))}
print(w)
assert sum(w.values()) == 100 and w["A"] > w["B"] >= w["C"] >= 5' || return 1
	"$saba" weights A B --table table --degree 1 | grep -q 'weight 95' || return 1
	"$saba" weights A B --table table --capacity 50 --degree 1 | grep -q 'weight 45' || return 1
	"$saba" weights A C --table table --degree 0 | grep -q 'weight 83' || return 1
	fails 3 'no application "X"' "$saba" weights X --table table || return 1
	fails 1 'wants 1 to 25' "$saba" weights --table table || return 1
	fails 1 'degree 4' "$saba" weights A --degree 4 || return 1
	fails 1 'capacity 0' "$saba" weights A --capacity 0
}

tables()
{
	law A .5 >table
	"$saba" --json table A --table table --svg a.svg >out || return 1
	python3 -c '
import json
(r,) = json.load(open("out"))
assert abs(float(r["degree_3"]["r2"]) - .9332) < 1e-4, r
assert abs(float(r["degree_3"]["c0"]) - 11.94684) < 1e-3, r' || return 1
	python3 -c 'import xml.dom.minidom as m; m.parse("a.svg")' || return 1
	"$saba" table --table table | grep -q 'app A' || return 1
	fails 3 'No such file' "$saba" table --table nix || return 1
	fails 3 'no application "B"' "$saba" table B --table table
}

# bad LINE TEXT - a table with that second line is refused with the text and the place.
bad()
{
	printf 'app A\n%s\n' "$1" >bad
	fails 3 "bad:2: $2" "$saba" table --table bad
}

bad_tables()
{
	bad 'app A' 'a second app "A"' || return 1
	bad 'app a/b' 'a name of' || return 1
	bad 'app' 'a name of' || return 1
	bad 'app B C' 'more than a name' || return 1
	bad 'sample 0 1' 'a bandwidth above 0' || return 1
	bad 'sample 101 1' 'a bandwidth above 0' || return 1
	bad 'sample nan 1' 'a bandwidth above 0' || return 1
	bad 'sample 50' 'a sample without runs' || return 1
	bad 'sample 50 x' 'seconds are expected' || return 1
	bad 'sample 50 -1' 'seconds are expected' || return 1
	bad "sample 50 $(printf '1 %.0s' {1..17})" 'too many runs' || return 1
	bad 'what' '"app" or "sample" is expected' || return 1
	bad "$(printf 'x%.0s' {1..2000})" 'a line that is too long' || return 1
	echo 'sample 5 1' >bad
	fails 3 'bad:1: a sample before any app' "$saba" table --table bad || return 1
	{ echo app A; for i in {1..33}; do echo "sample $i 1"; done; } >bad
	fails 3 'bad:34: too many samples of "A"' "$saba" table --table bad || return 1
	{ for i in {1..4097}; do echo "app a$i"; done; } >bad
	fails 3 'bad:4097: too many applications' "$saba" table --table bad
}

# conf TEXT WORDS - a configuration that is refused with these words.
conf()
{
	printf '%s\n' "$1" >conf
	fails 3 "$2" "$sabad" --config conf --check
}

bad_configs()
{
	conf '' 'conf: no port' || return 1
	conf 'port' 'conf:1: "" is no name' || return 1
	conf 'port a-name-that-is-too-long' 'is no name of a device' || return 1
	conf 'port eth0 rate fast' '"fast" is not a rate' || return 1
	conf 'port eth0 rate' '"rate" wants a value' || return 1
	conf 'port eth0 queues 15' 'queues: 1 to 14' || return 1
	conf 'port eth0 capacity 101' 'capacity: 15 to 100' || return 1
	conf 'port eth0 limit 1' 'limit: 10000 bytes' || return 1
	conf 'port eth0 to 10.0.0.0/33' 'is no IP address or prefix' || return 1
	conf 'port eth0 to x' 'is no IP address or prefix' || return 1
	conf 'port eth0 colour red' 'rate, queues, capacity, limit or to' || return 1
	conf $'port eth0\nport eth0' 'conf:2: a second port "eth0"' || return 1
	conf 'levels 16' 'levels: 1 to 15' || return 1
	conf 'degree 4' 'degree: 0 to 3' || return 1
	conf 'control 40' 'control: "none" or a DSCP outside' || return 1
	conf 'cluster x' 'cluster: table or applications' || return 1
	conf 'grace x' 'grace: ms' || return 1
	conf 'table' '"table" wants one value' || return 1
	conf 'colour red' 'port, table, degree' || return 1
	conf "$(printf 'port p%d\n' {1..65})" 'conf:65: too many ports' || return 1
	conf "port p$(printf ' to 10.0.0.1%.0s' {1..65})" 'too many prefixes' || return 1
	conf "port $(printf 'x%.0s' {1..5000})" 'a line that is too long' || return 1
	law A .5 >table
	printf 'table %s/table\nport eth0 rate 25gbit queues 8 capacity 90 limit 1mb to 10.0.0.0/8 to fd00::/8\n' \
		"$PWD" >conf
	"$sabad" --config conf --check
}

usages()
{
	fails 1 'usage: shuffle-saba' "$saba" || return 1
	fails 1 'command "x" is unknown' "$saba" x || return 1
	fails 1 'option "-x" is unknown' "$saba" -x || return 1
	fails 1 'profile wants a name' "$saba" profile || return 1
	fails 1 'profile wants a name' "$saba" profile a/b || return 1
	fails 1 'wants a command' "$saba" profile A || return 1
	fails 1 'wants --rate' "$saba" profile A --rate 1gbit -- true || return 1
	fails 1 '--rate x' "$saba" profile A --rate x -- true || return 1
	fails 1 '--nic a:' "$saba" profile A --nic a: -- true || return 1
	fails 1 '--percent 0' "$saba" profile A --percent 0 -- true || return 1
	fails 1 '--percent 5,,6' "$saba" profile A --percent 5,,6 -- true || return 1
	fails 1 '--repeat 0' "$saba" profile A --repeat 0 -- true || return 1
	fails 1 'run wants --app' "$saba" run -- true || return 1
	fails 1 'set wants an application' "$saba" set A || return 1
	fails 1 'show wants nothing more' "$saba" show more || return 1
	SHUFFLE_SABA_SOCKET=nix fails 3 'cannot be reached' "$saba" show || return 1
	SHUFFLE_SABA_SOCKET=nix,nox fails 3 'cannot be reached at nox' "$saba" show || return 1
	SHUFFLE_SABA_SOCKET=1,2,3,4,5,6,7,8,9 fails 3 'list too long' "$saba" run --app A -- true || return 1
	SHUFFLE_SABA_SOCKET=nix fails 3 'cannot register' "$saba" run --app A -- true || return 1
	fails 1 'usage: shuffle-sabad' "$sabad" x || return 1
	"$sabad" --help | grep -q '^usage' && "$saba" --help | grep -q '^usage'
}

# A profile without any NIC of this host: a hook says what the bandwidth is.
hooks()
{
	rm -f table log
	# shellcheck disable=SC2016 # for the hook's shell
	"$saba" profile A --hook 'echo $SABA_PERCENT $SABA_RATE >>log' --rate 1gbit --table table \
		--percent 100,50,10 --repeat 2 -- true >out 2>err || { cat err; return 1; }
	[ "$(wc -l <log; sed -n 3p log)" = $'7\n10 100000000' ] || { cat log; return 1; }
	[ "$(tail -1 log)" = '100 1000000000' ] || return 1
	# nothing is left to do; more repeats are what is missing
	"$saba" profile A --hook true --rate 1gbit --table table --percent 100,50,10 --repeat 2 \
		-- false >out 2>err || return 1
	fails 3 'false has failed' "$saba" profile A --hook true --rate 1gbit --table table \
		--percent 100,50,10 --repeat 3 -- false || return 1
	fails 2 'the hook has failed' "$saba" profile A --hook false --rate 1gbit --table table \
		--repeat 3 -- true
}

talk_to_it()
{
	{
		law A .8
		law B .033
		for i in {0..299}; do printf 'app C%d\nsample 100 1\nsample 50 1.%d\nsample 20 2\nsample 10 3\n' "$i" "$i"; done
	} >table
	printf 'table %s/table\nlevels 4\nport nix0 to 10.0.0.1\nport nix1 to 10.0.0.2\n' "$PWD" >conf
	export SHUFFLE_SABA_SOCKET=$PWD/sock
	"$sabad" --config conf --socket sock 2>log &
	pid=$!
	for _ in {1..100}; do "$saba" show >/dev/null 2>&1 && break; sleep .05; done
	fails 3 'another daemon is there' "$sabad" --config conf --socket sock || return 1
	grep -q 'port nix0: there is no such device' log || { cat log; return 1; }
	python3 -B "$here/protocol.py" sock || { cat log; return 1; }
	# a refusal is the end of an answer: nothing is waited for
	fails 2 'X is not registered' "$saba" set X 5 || return 1
	! "$saba" set X 5 2>&1 | grep -v 'X is not registered' || return 1
	"$saba" run --app A -- sh -c 'exit 7'
	[ $? = 7 ] || return 1
	"$saba" run --app A -- printenv SHUFFLE_SABA_DSCP | grep -qx 33 || return 1
	law C .4 >>table
	fails 3 'no profile' "$saba" run --app C -- true || return 1
	"$saba" reload || return 1
	"$saba" run --app C -- true || return 1
	"$saba" stop || return 1
	wait "$pid" || { cat log; return 1; }
	[ ! -e sock ] || return 1
	! grep -E 'Sanitizer|runtime error' log
}

# A daemon that may have few descriptors says so, and does not spin.
few_descriptors()
{
	law A .8 >table
	printf 'table %s/table\nport nix0\n' "$PWD" >conf
	export SHUFFLE_SABA_SOCKET=$PWD/sock
	(ulimit -n 80 && exec "$sabad" --config conf --socket sock 2>log) &
	pid=$!
	for _ in {1..100}; do "$saba" show >/dev/null 2>&1 && break; sleep .05; done
	grep -q 'at most 48 clients' log || { cat log; return 1; }
	python3 -B "$here/protocol.py" sock few || { cat log; return 1; }
	"$saba" stop || return 1
	wait "$pid" || { cat log; return 1; }
	! grep -E 'Sanitizer|runtime error' log
}

# Three times, TS has 11.917 s of a link to send: 2.5 s while LR computes, and what it sends beside
# LR delays LR as much.  With equal shares TS has sent all 11.917 s before LR computes again: LR
# takes 100 + 3 * 9.417 s.  With 72 and 28 %, LR computes twice meanwhile: 100 + 3 * 6.917 s.
# With half of a port wasted where both send, TS sends 2.5 s alone and then a fourth of a link, as LR
# does: LR's rounds end at 40.75, 83, 122, 136.25 and, without TS, every 12.5 s.
simulated()
{
	"$bin/shuffle-saba-sim" --two --runs 1 --exact >out 2>err || return 1
	grep -q '"flows", "queues": 8, "slowdown": \[1.2825, 1.0000\]' out || { cat out; return 1; }
	grep -q '"saba", "queues": 8, "slowdown": \[1.2075, 1.0000\]' out || { cat out; return 1; }
	# weights of two that are never alone where both send
	"$bin/shuffle-saba-sim" --two --runs 1 --exact --stages --policies saba >out 2>err || return 1
	grep -q '"saba", "queues": 8, "slowdown": \[1.2075, 1.0000\]' out || { cat out; return 1; }
	# the default, samples, is nearly as good; cubics give 52 and 48 % and no more than flows have
	"$bin/shuffle-saba-sim" --two --runs 1 --policies saba >out 2>err || return 1
	grep -q '"saba", "queues": 8, "slowdown": \[1.20[0-9]*, 1.0000\]' out || { cat out; return 1; }
	"$bin/shuffle-saba-sim" --two --runs 1 --policies saba --degree 3 >out 2>err || return 1
	grep -q '"saba", "queues": 8, "slowdown": \[1.2825, 1.0000\]' out || { cat out; return 1; }
	"$bin/shuffle-saba-sim" --two --runs 1 --waste .5 --policies jobs >out 2>err || return 1
	grep -q '"flows", "queues": 8, "slowdown": \[1.8625, 1.0000\]' out || { cat out; return 1; }
	! grep -q homa out || return 1
	fails 2 '"x" is none of flows' "$bin/shuffle-saba-sim" --policies jobs,x || return 1
	fails 2 'core' "$bin/shuffle-saba-sim" --core 0 || return 1
	fails 2 'volume' "$bin/shuffle-saba-sim" --volume 2 || return 1
	fails 2 'jobs' "$bin/shuffle-saba-sim" --jobs 33
}

# Whatever goes wrong, the daemon does not outlive the test.
daemon()
{
	local status=0

	pid=
	"$1" || status=1
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	return "$status"
}

t "weights" weights
t "tables and curves" tables
t "bad tables are refused with file, line and word" bad_tables
t "bad configurations are refused with file, line and word" bad_configs
t "command lines" usages
t "profile with a hook" hooks
t "simulator: LR and TS as worked out by hand" simulated
if [ "$(id -u)" = 0 ]; then
	t "daemon: its protocol, and messages that are none" daemon talk_to_it
	t "daemon: few descriptors" daemon few_descriptors
else
	tap_skip "daemon: its protocol" "not root"
fi
tap_end
