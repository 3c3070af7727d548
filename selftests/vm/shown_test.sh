#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# shown.py: security.rst as it is, and what must not be missing in it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
page=$here/../../Documentation/networking/security.rst
copy=$(mktemp)
trap 'rm -f "$copy"' EXIT

# refused WORDS SED... - the page so changed, which it is, is refused with these words.
refused()
{
	local words=$1 said
	shift

	sed "$@" "$page" >"$copy"
	if cmp -s "$page" "$copy"; then
		echo "sed $*: changes nothing"
		return 1
	fi
	if said=$("$here/shown.py" "$copy"); then
		echo "sed $*: got status 0, want another"
		return 1
	fi
	[[ $said = *"$words"* ]] || { echo "sed $*: got \"$said\", want \"$words\""; return 1; }
}

"$here/shown.py" "$page"
# shellcheck disable=SC2016 # sed's
refused 'there is no test msg_in__no' '/^What shows it/,$s/msg_in__not_granted/msg_in__no/'
# shellcheck disable=SC2016
refused 'there is no test no-such-case' '/^What shows it/,$s/lists-many-events/no-such-case/'
# a row of another name, and a row more of each other kind
refused '"thirteen operations" comes next' 's/^operations  *1024 for/thirteen &/'
refused '"a neighbour" comes next' 's/^another member, about/a neighbour\n    nothing\n\n&/'
refused '13: no test' 's/^12\. .*/&\n\n13. Nothing is wrong./'
# and one that shows what there is not
refused '12: shows nothing' '/^Properties/,/^What shows/s/^12\. /\* /'
