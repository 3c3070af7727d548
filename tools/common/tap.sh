# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# TAP for all test scripts.  Sourced; for bash.
#
#   t NAME COMMAND...    a test: the command, in a subshell, succeeds
#   tap ok|"not ok" NAME its line, for scripts that run their tests in a way of their own
#   tap_skip NAME WHY
#   tap_end              the plan; the status says whether all went well
#   diag TEXT            lines that begin with "# ".  A test's stand before its own line
#
# Inside a test, which ends where one of these is not met:
#
#   fail TEXT                   it ends here
#   want_eq WHAT GOT WANT       the same text; want_ne: another one
#   want_lt WHAT GOT THAN       integers; also want_le, want_gt, want_ge
#   want_between WHAT GOT LEAST MOST
#   want_near WHAT GOT WANT OFF decimal numbers, OFF is absolute
#   want_grep WHAT TEXT ARGS... grep finds it in the text; want_no_grep: it does not
#   want_ok WHAT COMMAND...     status 0; want_status WHAT N COMMAND...: status N
#   want_fail WHAT COMMAND...   any other status than 0
#
# want_eq to want_ge: one argument more is shown when the test fails, as what a program has said.
# WHAT says in a few words what the value is, or what is wrong without it.

tap_prefix=${tap_prefix-}	# whose tests these are: before each name
tap_only=${tap_only-}		# t runs only tests whose name matches
tap_lines=60			# of the output of a failed test, at most
tap_count=0
tap_failed=0

diag()
{
	local line

	while IFS= read -r line; do
		case $line in
		'# '*) printf '%s\n' "$line" ;;
		*) printf '# %s\n' "$line" ;;
		esac
	done <<<"$*"
}

tap()
{
	tap_count=$((tap_count + 1))
	[ "$1" = ok ] || tap_failed=$((tap_failed + 1))
	printf '%s %d - %s%s\n' "$1" "$tap_count" "${tap_prefix:+$tap_prefix: }" "$2"
}

tap_skip()
{
	tap ok "$1 # SKIP $2"
}

tap_end()
{
	echo "1..$tap_count"
	[ "$tap_failed" = 0 ]
}

t()
{
	local tap_name=$1 tap_said
	shift

	[[ $tap_name =~ $tap_only ]] || return 0
	if tap_said=$("$@" 2>&1); then
		tap ok "$tap_name"
		return 0
	fi
	diag "$(tail -n "$tap_lines" <<<"$tap_said")"
	tap "not ok" "$tap_name"
	return 1
}

# Ends a test; called inside its subshell.
fail()
{
	diag "$*"
	exit 1
}

# tap_want WHAT GOT WANT [MORE] - got in a line, or in lines of its own.
tap_want()
{
	[ -z "${4-}" ] || diag "$4"
	case $2 in
	*$'\n'*) fail "$1: got:
$2
$1: want $3" ;;
	*) fail "$1: got '$2', want $3" ;;
	esac
}

want_eq()
{
	[ "$2" = "$3" ] || tap_want "$1" "$2" "'$3'" "${4-}"
}

want_ne()
{
	[ "$2" != "$3" ] || tap_want "$1" "$2" "anything else" "${4-}"
}

want_lt()
{
	[ "$2" -lt "$3" ] || tap_want "$1" "$2" "less than $3" "${4-}"
}

want_le()
{
	[ "$2" -le "$3" ] || tap_want "$1" "$2" "$3 at most" "${4-}"
}

want_gt()
{
	[ "$2" -gt "$3" ] || tap_want "$1" "$2" "more than $3" "${4-}"
}

want_ge()
{
	[ "$2" -ge "$3" ] || tap_want "$1" "$2" "$3 at least" "${4-}"
}

want_between()
{
	{ [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; } || tap_want "$1" "$2" "$3 to $4"
}

want_near()
{
	awk -v got="$2" -v want="$3" -v off="$4" \
		'BEGIN { exit !(got != "" && got >= want - off && got <= want + off) }' ||
		tap_want "$1" "$2" "$3 +- $4"
}

want_grep()
{
	grep -q "${@:3}" <<<"$2" || tap_want "$1" "$2" "what this finds: grep ${*:3}"
}

want_no_grep()
{
	! grep -q "${@:3}" <<<"$2" || tap_want "$1" "$2" "nothing that this finds: grep ${*:3}"
}

want_ok()
{
	"${@:2}" || fail "$1: got status $?, want 0: ${*:2}"
}

want_status()
{
	local tap_status=0

	"${@:3}" || tap_status=$?
	[ "$tap_status" = "$2" ] || fail "$1: got status $tap_status, want $2: ${*:3}"
}

want_fail()
{
	! "${@:2}" || fail "$1: got status 0, want another: ${*:2}"
}
