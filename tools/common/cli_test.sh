# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Tests of a program by its command line, as TAP; to be sourced by a script that has set "of", what
# tests are named after.  It is then in an empty folder, which goes with it; n and failed count.

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
n=0 failed=0

# t NAME COMMAND... - one test: the command succeeds.
t()
{
	local name=$1 said
	shift
	n=$((n + 1))
	if said=$("$@" 2>&1); then
		echo "ok $n - ${of:?}: $name"
	else
		echo "not ok $n - ${of:?}: $name"
		printf '%s\n' "$said" | head -20 | sed 's/^/# /'
		# shellcheck disable=SC2034 # for the script
		failed=1
	fi
}

# fails STATUS TEXT COMMAND... - it ends with the status and says the text; all it says is in said.
fails()
{
	local status=$1 text=$2 got
	shift 2
	said=$("$@" 2>&1 >/dev/null)
	got=$?
	[ "$got" = "$status" ] || { echo "status $got, not $status: $* ($said)"; return 1; }
	case $said in
	*Sanitizer* | *'runtime error'*) echo "$said"; return 1 ;;
	*"$text"*) ;;
	*) echo "'$text' is not in: $said"; return 1 ;;
	esac
}
