#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In the guest: load the KUnit suites and print every case as one line of TAP.
set -u

# shellcheck source=../../tools/common/tap.sh
. "$(dirname "$0")/../../tools/common/tap.sh"

for suites in shuffle_test shuffle_fake_test; do
	insmod "$(dirname "$SHUFFLE_KO")/test/$suites.ko" || exit 1
done
for results in /sys/kernel/debug/kunit/*/results; do
	suite=$(basename "$(dirname "$results")")
	# KTAP nests: four blanks for a case, more for its parameters.
	while IFS= read -r line; do
		case $line in
		'    ok '* | '    not ok '*)
			line=${line#    }
			verdict=${line%% [0-9]*}
			line=${line#"$verdict "}
			tap "$verdict" "kunit $suite: ${line#* }"
			;;
		*' # Subtest:'* | *'KTAP version'* | *'1..'* | *' # module:'*) ;;
		'    #'* | '        #'* | '        not ok'*)
			echo "#${line#*#}"
			;;
		esac
	done <"$results"
done
tap_end
want_gt "tests of KUnit" "$tap_count" 0
