#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two tables of a case that cpu_profile.sh has measured: what the time is for, and events.

usage: cpu_profile_report.py CASE FOLDER OUT
"""
import collections
import os
import re
import statistics
import sys

from records import records

WAYS = ("shuffle", "tcp")

# What a function is for, by its name; the first that matches.  Functions of the module are not asked.
KINDS = [
    ("idle", r"default_idle|pv_native_safe_halt|native_safe_halt|acpi_idle|cpuidle_enter|io_idle"),
    ("copying bytes", r"rep_movs|copy_user|_copy_(to|from)_iter|copy_page_(to|from)|clear_user|memcpy"
                      r"|csum_partial|simple_copy|skb_copy_datagram|__skb_datagram_iter|copy_fraglist"),
    ("TCP's own code", r"_*tcp_|tcp\d?_|__tcp|cubictcp|bictcp|sk_stream|inet_(send|recv)msg|skb_do_copy_data_nocache"),
    ("UDP", r"_*udp|__skb_recv_udp|__skb_try_recv"),
    ("memory, skbs, zeroing", r"_*alloc_(skb|pages)|_*kfree|_*kmalloc|_*kmem_|skb_(release|page_frag|clone)|_*free_(page|unref)"
                              r"|get_page_from|clear_page|_*slab|rmqueue|__build_skb|kfree_skb|consume_skb|skb_free|__page_frag"
                              r"|_*folio|post_alloc|_*mem_cgroup|obj_cgroup|_*put_page|napi_skb|__skb_ext|prep_|sock_[rw]free"
                              r"|_*memset|free_|mod_(lruvec|memcg|node|objcg)|__mod_|try_charge|refill_|page_counter|__refill"
                              r"|memcg|charge_|uncharge|skb_release|kfree_sk"),
    ("IP, routes", r"_*ip_|ip6?_|__ip|fib|inet|ipv4|ipv6|rt_|dst_|route|neigh|nf_|xfrm|_*raw_v4|raw_local|icmp|lwt|l3mdev"),
    ("devices, bridge, softirq", r"veth|br_|__br|netif|__netif|dev_|__dev|napi|net_(rx|tx)|process_backlog|_*softirq|do_softirq"
                                 r"|handle_softirqs|eth_|gro|skb_(gso|network|segment|ensure|checksum|pull|push|forward|scrub|defer)"
                                 r"|__skb_(gso|pull|flow)|validate_xmit|sch_|__qdisc|deliver_skb|enqueue_to|rps|get_rps|fdb"
                                 r"|nbp|should_deliver|maybe_deliver|qdisc|pfifo|is_skb_forwardable|packet_rcv|tpacket|bpf|sk_filter"),
    ("wake-ups, switches, timers, work", r"sched|_*wake|try_to_wake|ttwu|schedule|pick_|enqueue_|dequeue_|update_|switch|_*hrtimer"
                                         r"|timer|tick|ktime|worker|_*queue_work|process_one_work|process_scheduled|kthread|finish_task|sock_def"
                                         r"|ep_|do_epoll|poll|select|futex|prepare_to|finish_wait|__queue|run_ksoft|smpboot|clockevents"
                                         r"|put_prev|set_next|place_entity|reweight|activate|load_|avg|vruntime|__calc|rb_|perf|insert_work"
                                         r"|pvclock|kvm_clock|read_tsc|getboottime|move_linked|get_work|pwq|mod_timer|__mod_timer|lock_timer|hpet|lapic|apic"
                                         r"|wait_woken|autoremove|_*mutex|rcu"),
    ("system calls", r"entry_SYSCALL|do_syscall|syscall|_*x64_sys|_*sys_|sock_(send|recv)|_*import_|fdget|_*fget|fput|copy_msghdr"
                     r"|_*get_user|_*put_user|move_addr|security|aa_|apparmor|sockfd|iovec|put_cmsg|_*check_object|check_stack"),
]
KINDS = [(kind, re.compile("(?:" + names + ")")) for kind, names in KINDS]

# They work for the function that calls them.
HELPERS = re.compile(r"_raw_(spin|read|write)|__raw_spin|_*rcu_read|__local_bh|local_bh|preempt_|_*cond_resched|queued_spin"
                     r"|pv_|native_queued|lock_sock|release_sock|_*asm_sysvec|sysvec|irqentry|_*sysvec|irq_exit|__irq_exit"
                     r"|ret_from_fork|common_interrupt|refcount|lockref|__x86_indirect|__fentry|retbleed|srso|zen_|entry_ibpb|_*list_(add|del)")


def read_symbols(path):
    """Functions of the module: name -> file."""
    found = {}
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            m = re.match(r"\w+ [tT] (\S+)\s+\S*net/shuffle/(\S+):\d+", line)
            if m:
                found[m[1]] = m[2]
    return found


def chains(path):
    """The functions of each sample, innermost first."""
    chain = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line[0] in "\t ":
                words = line.split()
                if len(words) > 1:
                    chain.append(words[1])
            elif line.strip():
                chain = []
            elif chain:
                yield chain
                chain = []
    if chain:
        yield chain


def kind_of(function, own):
    """What a function is for."""
    if function in own:
        return "the module's own code"
    for kind, names in KINDS:
        if names.match(function):
            return kind
    return "rest"


def charge(chain):
    """The function that a sample is charged to."""
    for function in chain:
        if not HELPERS.match(function):
            return function
    return chain[0]


class Way:
    """What one transport did."""

    def __init__(self, folder, way, own, lines):
        self.functions = collections.Counter(charge(c) for c in chains(os.path.join(folder, way + ".script")))
        times = [r["completion_ns"] / 1e6 for r in lines if r["transport"] == way]
        sampled = [r["completion_ns"] / 1e6 for r in lines if r["transport"] == way + "-sampled"]
        if not times or not sampled or not self.functions:
            sys.exit(f"cpu_profile_report.py: no samples of {way}")
        self.median = statistics.median(times)
        self.sampled = statistics.median(sampled)
        self.ms = 1 / 2.5 / len(sampled)    # a sample is so much of a round
        self.kinds, self.files = collections.Counter(), collections.Counter()
        for function, n in self.functions.items():
            self.kinds[kind_of(function, own)] += n * self.ms
            if function in own:
                self.files[own[function]] += n * self.ms
        self.events = self.read_events(os.path.join(folder, way + ".stat"))

    @staticmethod
    def read_events(path):
        """Event -> times a round."""
        counts = collections.defaultdict(dict)
        with open(path, encoding="utf-8") as f:
            for line in f:
                rounds, event, n = line.split()
                counts[event][int(rounds)] = int(n)
        return {event: (of[max(of)] - of[min(of)]) / (max(of) - min(of)) for event, of in counts.items()}


def table(title, rows, unit):
    """Rows: (name, ours, TCP's)."""
    out = [f"{title:<36}{'shuffle':>10}{'TCP':>10}"]
    for name, *values in rows:
        out.append(f"  {name:<34}" + "".join(f"{v:>10.{unit}f}" if v is not None else f"{'-':>10}" for v in values))
    return out + [""]


def main():
    """Read, count, print."""
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip().splitlines()[-1])
    case, folder, path = sys.argv[1:]
    own = read_symbols(os.path.join(folder, "symbols"))
    lines = list(records(os.path.join(folder, "raw")))
    ours, tcp = (Way(folder, way, own, lines) for way in WAYS)
    kinds = ["copying bytes", "the module's own code", *(k for k, _ in KINDS[2:]), "rest", "idle"]
    out = [f"{case}: a round, unsampled {ours.median:.1f} and {tcp.median:.1f} ms; sampled {ours.sampled:.1f} and "
           f"{tcp.sampled:.1f}", ""]
    out += table("ms a round, between rounds, too", [(k, ours.kinds[k], tcp.kinds[k]) for k in kinds]
                 + [("all", sum(ours.kinds.values()), sum(tcp.kinds.values()))], 1)
    out += table("events a round", [(e.split(":")[1], n, tcp.events.get(e)) for e, n in ours.events.items()], 0)
    print("\n".join(out))
    out += table("the module's files, ms", [(f, n, None) for f, n in ours.files.most_common()], 2)
    for name, way in (("shuffle", ours), ("TCP", tcp)):
        out.append(f"functions, {name}, ms and what for")
        out += [f"  {n * way.ms:8.2f}  {f:<44}{kind_of(f, own)}{' ' + own[f] if f in own else ''}"
                for f, n in way.functions.most_common(150)] + [""]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


main()
