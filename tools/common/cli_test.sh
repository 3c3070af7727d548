# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Tests of a program by its command line, as TAP (tap.sh); to be sourced by a script that has set
# "of", what tests are named after.  It is then in an empty folder, which goes with it.

# shellcheck source=tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck disable=SC2034 # for tap()
tap_prefix=${of:?}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# fails STATUS TEXT COMMAND... - it ends with the status and says the text; all it says is in said.
fails()
{
	local status=$1 text=$2 got
	shift 2
	said=$("$@" 2>&1 >/dev/null)
	got=$?
	[ "$got" = "$status" ] || fail "got status $got, want $status: $* ($said)"
	case $said in
	*Sanitizer* | *'runtime error'*) fail "got '$said', want '$text': $*" ;;
	*"$text"*) ;;
	*) fail "got '$said', want '$text': $*" ;;
	esac
}
