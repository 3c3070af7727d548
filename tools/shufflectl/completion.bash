# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# bash completion of shufflectl: words, and what is there now (operations,
# sockets, peers, counters, devices, namespaces).

# Values of a key in the objects that shufflectl lists, one a line.
_shufflectl_live()
{
	"${_shufflectl_cmd[@]}" -j "$1" 2>/dev/null |
		tr '{,' '\n' | sed -n "s/^[[:space:]]*\"$2\":\"\{0,1\}\([^\"}]*\).*/\1/p"
}

_shufflectl_devices()
{
	local dev

	if [ -n "$_shufflectl_netns" ]; then
		ip -n "$_shufflectl_netns" -o link 2>/dev/null |
			sed 's/^[0-9]*: \([^:@]*\).*/\1/'
	else
		for dev in /sys/class/net/*; do
			[ ! -d "$dev" ] || echo "${dev##*/}"
		done
	fi
}

_shufflectl_settings()
{
	"${_shufflectl_cmd[0]}" config help 2>/dev/null |
		sed -n '/^Settings:/,$s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# Lines to COMPREPLY.
_shufflectl_reply()
{
	local line

	COMPREPLY=()
	while IFS= read -r line; do
		[ -z "$line" ] || COMPREPLY+=("$line")
	done <<<"$1"
}

_shufflectl()
{
	local cur prev objects words='' i object='' command='' first=0
	local -a _shufflectl_cmd
	local _shufflectl_netns=''

	COMPREPLY=()
	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	objects='op peer socket config stats qdisc monitor topology relay overlay'
	_shufflectl_cmd=("${COMP_WORDS[0]}")

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-n | --netns | -netns)
			i=$((i + 1))
			_shufflectl_netns=${COMP_WORDS[i]}
			_shufflectl_cmd+=(-n "$_shufflectl_netns")
			;;
		-b | --batch | -batch)
			i=$((i + 1))
			;;
		-*) ;;
		*)
			if [ -z "$object" ]; then
				object=${COMP_WORDS[i]}
				first=$((i + 1))
			elif [ -z "$command" ]; then
				command=${COMP_WORDS[i]}
			fi
			;;
		esac
	done

	if [ -z "$object" ]; then
		case $prev in
		-n | --netns | -netns)
			words=$(ip netns list 2>/dev/null | cut -d' ' -f1)
			;;
		-b | --batch | -batch)
			_shufflectl_reply "$(compgen -f -- "$cur")"
			return
			;;
		*)
			words="$objects help"
			[[ $cur != -* ]] || words='-j -p -s -n -k -b -V -h --json --pretty --statistics
				--netns --keep-going --batch --version --help'
			;;
		esac
		_shufflectl_reply "$(compgen -W "$words" -- "$cur")"
		return
	fi

	# An object may be shortened.
	for i in $objects; do
		[[ $i != "$object"* ]] || { object=$i; break; }
	done
	[ "$COMP_CWORD" -ne "$first" ] || command=''

	case $object/$command/$prev in
	op//*)
		words="show messages cancel watch help $(_shufflectl_live op op_id)"
		;;
	op/*/socket)
		words=$(_shufflectl_live op socket)
		;;
	op/watch/* | op/w*/*)
		words='-i -c'
		;;
	op/*/show | op/*/messages | op/*/cancel)
		words=$(_shufflectl_live op op_id)
		;;
	op/*/*)
		words='socket to from'
		;;
	peer/*/*)
		words="show ping help $(_shufflectl_live peer ipv4) $(_shufflectl_live peer ipv6)"
		;;
	socket/*/*)
		words="show help $(_shufflectl_live socket socket)"
		;;
	config//*)
		words='show set save load help dev'
		;;
	config/*/dev | qdisc/install/install | qdisc/remove/remove | qdisc/show/show)
		words=$(_shufflectl_devices)
		;;
	config/save/* | config/load/* | config/sa*/* | config/l*/*)
		_shufflectl_reply "$(compgen -f -- "$cur")"
		return
		;;
	config/show/*)
		words=dev
		;;
	config/*/policy)
		words='grpf srpt grpt hadoop default'
		;;
	config/*/window-mode)
		words='pro-rata constant scale-back default'
		;;
	config/*/op-order)
		words='fair smallest deadline default'
		;;
	config/set/* | config/se*/*)
		words="dev $(_shufflectl_settings)"
		if [[ " ${words//$'\n'/ } " == *" $prev "* && $prev != dev ]]; then
			words='auto default'
		fi
		;;
	stats/*/*)
		words="show help -i -c -z $(_shufflectl_live stats name)"
		;;
	qdisc//*)
		words='show install remove help'
		;;
	qdisc/*/--kind)
		words='auto prio ets mqprio'
		;;
	qdisc/install/* | qdisc/i*/*)
		words="--rate --kind --force $(_shufflectl_devices)"
		;;
	qdisc/remove/* | qdisc/r*/*)
		words="--force $(_shufflectl_devices)"
		;;
	qdisc/*/*)
		words=$(_shufflectl_devices)
		;;
	topology//*)
		words='show load check clear install remove help'
		;;
	topology/i*/--bridge | topology/r*/--bridge | topology/i*/--route | topology/i*/port)
		words=$(_shufflectl_devices)
		;;
	topology/i*/file)
		_shufflectl_reply "$(compgen -f -- "$cur")"
		return
		;;
	topology/i*/members)
		words=$("${_shufflectl_cmd[@]}" topology show 2>/dev/null | cut -d' ' -f1)
		;;
	topology/i*/*)
		words='file members port --bridge --vlan --route --no-wait --dry-run'
		;;
	topology/r*/*)
		words='--bridge --dry-run'
		;;
	topology/load/* | topology/check/* | topology/l*/* | topology/ch*/*)
		_shufflectl_reply "$(compgen -f -- "$cur")"
		return
		;;
	overlay//*)
		words='show load clear help'
		;;
	overlay/l*/*)
		_shufflectl_reply "$(compgen -f -- "$cur")"
		return
		;;
	monitor/*/*)
		words='-c ops memory config help'
		;;
	esac
	_shufflectl_reply "$(compgen -W "$words" -- "$cur")"
}

complete -F _shufflectl shufflectl
