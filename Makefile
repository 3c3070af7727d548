# SPDX-License-Identifier: GPL-2.0-or-later
#
# AF_SHUFFLE: everything starts here; "make" alone lists what there is.

KERNEL	?= 6.12
FILES	?=
CASE	?=
PREFIX	?= /usr/local
DESTDIR	?=
PART	?=
JOBS	?=
CONTINUE ?=

VM	:= selftests/vm
OUT	:= $(CURDIR)/build/tools
# Each of these folders has a Makefile of its own.
TOOLS	:= tools/lib tools/mpi tools/examples tools/examples/mpi tools/workload tools/sim tools/topo tools/query tools/sort tools/stream tools/rperf tools/bench tools/bench/mpi tools/shufflectl tools/relay tools/saba selftests/net/shuffle selftests/mpi
# Of these, and of others, what 'make install' installs.
INSTALLED := tools/lib tools/examples tools/shufflectl tools/relay tools/workload tools/sim tools/topo tools/query tools/sort tools/stream tools/rperf tools/saba tools/wireshark tools/systemd
present	= $(patsubst %/Makefile,%,$(wildcard $(1:=/Makefile)))

help:
	@echo "AF_SHUFFLE: sockets for shuffles."
	@echo
	@echo "  make demo [KERNEL=6.12|6.1] [FILES='path ...']"
	@echo "                      shuffle real files between 12 hosts in a virtual machine"
	@echo "  make demo-sort [FILES='path ...']"
	@echo "                      sort the lines of this machine's files on 8 hosts in a virtual machine"
	@echo "  make demo-aggregate [FILES='path ...'] [SENDERS=2,5,9-11,14]"
	@echo "                      count words on 16 hosts, summed on the way and not: bytes on each link"
	@echo "  make check          what a user runs: unit tests, static checks, the selftests' core and MPI"
	@echo "                      on Debian's kernel, the demo; ends with a count"
	@echo "  make check-deep     what .ci/run runs after it: a debug kernel (built once), more selftests,"
	@echo "                      torture on 2 CPUs, the budget"
	@echo "  make torture [LANE=qemu-smp] [MINUTES=10] [SEED=n]"
	@echo "                      all system calls at once on two CPUs, seeded, with an oracle"
	@echo "  make soak [OPS=1000000] [SEED=n] [MINUTES=n] [LANE=uml-time]"
	@echo "                      random operations, loss and lifetimes in virtual time, in two guests"
	@echo "  make check-all [CONTINUE=1] [PART=1/2] [JOBS='deb unit']"
	@echo "                      everything, on all kernels: hours; jobs: make check-list"
	@echo "  make mpi, make install-mpi"
	@echo "                      the component for Open MPI (installs what it needs)"
	@echo "  make check-mpi      MPI programs over AF_SHUFFLE on 4 to 16 hosts"
	@echo "  make bench-mpi      MPI_Alltoallv beside Open MPI's TCP transport"
	@echo "  make bench [CASE=regex|list|all]"
	@echo "                      measure against TCP; report in build/bench/report.json;"
	@echo "                      CASE=cpu: what is limited by the CPU; CASE=rperf: latency; CASE=stream:"
	@echo "                      time-slices; CASE=milli: sorts and queries in 1 ms;"
	@echo "                      CASE=agg: records merged on their way; CASE=saba: shared links;"
	@echo "                      CASE=saba-controller, CASE=saba-sim: its daemon, simulated ones: no kernel;"
	@echo "                      CASE=smp: what a second CPU gives; CASE=echo: who else could answer"
	@echo "  make budget [CASE=regex] [UPDATE=1]"
	@echo "                      counted instructions of a shuffle against tools/bench/budget (minutes);"
	@echo "                      UPDATE=1: lower what costs less"
	@echo "  make budget BISECT=good..bad CASE=name BOUND=ms"
	@echo "                      the first commit at which a case costs more than BOUND, and a table"
	@echo "  make figures [RUNS=100] [QUICK=1] [SETS='core-320 beyond-spines']"
	@echo "                      simulate and redraw Documentation/evaluation.rst (hours; QUICK: minutes;"
	@echo "                      SETS: what is named below figures, and only the figures of that)"
	@echo "  make figures-module [RUNS=3] [KEEP=1]"
	@echo "                      Documentation/evaluation-module.rst again: the module beside the simulator"
	@echo "                      (an hour; KEEP: draws what has been measured)"
	@echo "  make figures-coll   Documentation/evaluation-collectives.rst again: COOL's cost tables"
	@echo "  make figures-agg    Documentation/evaluation-aggregation.rst again: in-network aggregation"
	@echo "                      (minutes)"
	@echo "  make figures-stream Documentation/evaluation-streams.rst again: time-slice building (minutes)"
	@echo "  make modules [KERNEL=6.12|6.1|um|um-debug|um-small|x86-debug|x86-kcsan]"
	@echo "                      build the module: build/KERNEL/module/net/shuffle/shuffle.ko"
	@echo "  make tools          libshuffle, examples, benchmark and test programs: build/tools"
	@echo "  make netlink        regenerate what is made from Documentation/netlink/specs/shuffle.yaml"
	@echo "  make deps           install what 'make check' and 'make check-deep' need (Debian 12 or 13, root)"
	@echo "  make install [PREFIX=/usr/local] [DESTDIR=]"
	@echo "                      library, headers, tools, dissector, and the module for the running kernel"
	@echo "  make deb            Debian packages: module (DKMS), library, tools, MPI; in build/deb"
	@echo "  make check-deb      install, use, upgrade and remove them on a plain Debian (RELEASE=12 or 13) (root)"
	@echo "  make check-newcomer [RELEASE=13|12]"
	@echo "                      the README's commands on a bare Debian, as they are written (root)"
	@echo "  make in-tree LINUX=folder [SERIES=folder]"
	@echo "                      put AF_SHUFFLE into a tree of Linux; SERIES: patches for it there instead"
	@echo "  make check-in-tree  each patch of the series builds; kernels with all of them boot and are tested"
	@echo "  make clean          remove build/; kernels stay in the cache"
	@echo
	@echo "Kernels and their sources are kept in SHUFFLE_CACHE (~/.cache/shuffle)."

deps:
	@$(VM)/deps.sh check

modules:
	@$(VM)/build-module.sh $(KERNEL)

tools:
	@set -e; for d in $(call present,$(TOOLS)); do $(MAKE) -s -C $$d OUT=$(OUT) UAPI=$(CURDIR)/uapi; done

tools-installed:
	@set -e; for d in $(call present,$(INSTALLED)); do $(MAKE) -C $$d OUT=$(OUT) UAPI=$(CURDIR)/uapi; done

demo:
	@$(VM)/deps.sh demo $(KERNEL)
	@tools/examples/demo/demo.sh qemu-$(KERNEL) $(FILES)

demo-sort:
	@$(VM)/build-kernel.sh -s um 'make demo-sort'
	@$(VM)/deps.sh check
	@$(MAKE) -s -C tools/sort OUT=$(OUT) UAPI=$(CURDIR)/uapi
	@$(VM)/build-kernel.sh um >/dev/null
	@$(VM)/run.sh uml -t 600 -o $(CURDIR)/build/out/demo-sort tools/sort/demo.sh $(FILES)

demo-aggregate:
	@$(VM)/build-kernel.sh -s um 'make demo-aggregate'
	@$(VM)/deps.sh check
	@for d in examples topo shufflectl relay; do $(MAKE) -s -C tools/$$d OUT=$(OUT) UAPI=$(CURDIR)/uapi || exit; done
	@$(VM)/build-kernel.sh um >/dev/null
	@mkdir -p build/demo
	@$(VM)/run.sh uml -t 600 -e SENDERS='$(SENDERS)' -o $(CURDIR)/build/demo/aggregate \
		tools/topo/demo/run.sh $(FILES)
	@echo "A picture: $(CURDIR)/build/demo/aggregate/aggregate.svg"

netlink:
	@tools/netlink/regen.sh

check: deps
	@$(MAKE) -s tools
	@$(VM)/check.sh check

check-deep: deps
	@$(VM)/deps.sh check-arch
	@$(MAKE) -s tools
	@$(VM)/check.sh deep

check-all: deps
	@$(VM)/deps.sh check-guests
	@$(VM)/deps.sh check-mpi
	@$(VM)/deps.sh check-deb
	@$(MAKE) -s tools
	@PART='$(PART)' JOBS='$(JOBS)' CONTINUE='$(CONTINUE)' $(VM)/check.sh all

check-list:
	@$(VM)/check.sh list

mpi:
	@$(VM)/deps.sh mpi
	@set -e; for d in tools/mpi tools/examples/mpi selftests/mpi; do \
		$(MAKE) -s -C $$d OUT=$(OUT) UAPI=$(CURDIR)/uapi; \
	done

install-mpi: mpi
	@$(MAKE) -s -C tools/mpi OUT=$(OUT) UAPI=$(CURDIR)/uapi DESTDIR=$(DESTDIR) install

check-mpi:
	@$(VM)/build-kernel.sh -s um 'make check-mpi'
	@$(VM)/deps.sh check-mpi
	@$(MAKE) -s tools
	@$(VM)/build-kernel.sh um >/dev/null
	@$(VM)/watch.py $(VM)/lane.sh $(CURDIR)/build/out/check-mpi uml selftests/mpi/run_all.sh

torture:
	@$(MAKE) -s -C selftests/net/shuffle OUT=$(OUT) UAPI=$(CURDIR)/uapi
	@$(VM)/torture.sh $(or $(LANE),qemu-smp) $(or $(MINUTES),10) $(SEED)

soak:
	@$(VM)/build-kernel.sh -s um 'make soak'
	@$(VM)/deps.sh check
	@$(MAKE) -s -C selftests/net/shuffle OUT=$(OUT) UAPI=$(CURDIR)/uapi
	@$(VM)/build-kernel.sh um >/dev/null
	@MINUTES='$(MINUTES)' $(VM)/soak.sh $(or $(OPS),1000000) $(or $(SEED),1) $(or $(LANE),uml-time)

# The first line says which kernel is missing.
bench:
	@$(if $(filter list cpu% echo smp% saba-controller saba-sim,$(CASE)),,$(VM)/build-kernel.sh -s um 'make bench')
	@$(VM)/deps.sh $(if $(filter coll%,$(CASE)),check-mpi,check)
	@$(MAKE) -s tools
	@$(if $(filter list cpu% echo smp% saba-controller saba-sim,$(CASE)),,$(VM)/build-kernel.sh um >/dev/null)
	@case '$(CASE)' in \
	cpu-profile*) tools/bench/cpu_profile.sh '$(CASE)' ;; \
	cpu*) tools/bench/cpu.sh '$(CASE)' ;; \
	echo) tools/bench/echo/echo.sh ;; \
	mpi*) tools/bench/mpi/run.sh '$(CASE)' ;; \
	smp*) tools/bench/smp.sh ;; \
	milli*) tools/bench/milli/milli.sh '$(CASE)' ;; \
	stream*) tools/bench/stream.sh '$(CASE)' ;; \
	agg*) tools/bench/agg.sh '$(CASE)' ;; \
	rperf*) tools/bench/rperf.sh '$(CASE)' ;; \
	saba*) tools/bench/saba.sh '$(CASE)' ;; \
	'') tools/bench/run.sh && tools/bench/cpu.sh ;; \
	*) tools/bench/run.sh '$(CASE)' ;; \
	esac

budget:
	@$(VM)/deps.sh check
	@$(if $(BISECT),tools/bench/budget_bisect.sh '$(BISECT)' '$(CASE)' '$(BOUND)',UPDATE='$(UPDATE)' tools/bench/budget.sh '$(CASE)')

bench-mpi:
	@$(VM)/build-kernel.sh -s um 'make bench-mpi'
	@$(VM)/deps.sh check-mpi
	@$(MAKE) -s tools
	@$(VM)/build-kernel.sh um >/dev/null
	@tools/bench/mpi/run.sh '$(CASE)'

# QUICK does not touch the document; SETS leaves figures of other sets as they are.
RUNS	?= 100
SHOWN	:= $(if $(QUICK),build/figures-quick,Documentation)
figures:
	@$(MAKE) -s -C tools/sim OUT=$(OUT)
	@mkdir -p $(SHOWN)
	@python3 -B tools/sim/figures/figures.py --sim $(OUT)/shuffle-sim --runs $(RUNS) \
		$(if $(QUICK),--quick) $(if $(KEEP),--keep) $(if $(SETS),--sets '$(SETS)') \
		$(if $(QUICK),,--medians tools/sim/test/verdicts) --figures $(SHOWN)/figures \
		--raw build/figures$(if $(QUICK),-quick/raw) --document $(SHOWN)/evaluation.rst
	@$(if $(SETS),,$(MAKE) -s figures-coll)

# The module in virtual time beside the simulator: an hour; KEEP: draws what has been measured.
figures-module:
	@$(MAKE) -s -C tools/sim OUT=$(OUT)
	@$(MAKE) -s -C tools/workload OUT=$(OUT)
ifeq ($(KEEP),)
	@RUNS=$(if $(filter command environment,$(firstword $(origin RUNS))),$(RUNS),3) tools/bench/run.sh circle
endif
	@python3 -B tools/sim/figures/module.py --sim $(OUT)/shuffle-sim \
		--workload $(OUT)/shuffle-workload $(if $(KEEP),,--raw build/bench/raw.txt) \
		--figures Documentation/figures --document Documentation/evaluation-module.rst

# AlSader's tables of collectives: seconds.
figures-coll:
	@$(MAKE) -s -C tools/sim OUT=$(OUT)
	@mkdir -p $(SHOWN)
	@python3 -B tools/sim/figures/collectives.py --sim $(OUT)/shuffle-sim \
		--figures $(SHOWN)/figures --document $(SHOWN)/evaluation-collectives.rst

# In-network aggregation on BCube: about ten minutes; QUICK: one, and not the document.
figures-agg:
	@$(MAKE) -s -C tools/topo OUT=$(OUT)
	@mkdir -p $(SHOWN)
	@python3 -B tools/topo/figures/aggregation.py --plan $(OUT)/shuffle-plan \
		$(if $(QUICK),--quick) --figures $(SHOWN)/figures \
		--document $(SHOWN)/evaluation-aggregation.rst

# Time-slice building: minutes; QUICK: less, and not the document.
figures-stream:
	@$(MAKE) -s -C tools/stream OUT=$(OUT)
	@mkdir -p $(SHOWN)
	@python3 -B tools/stream/figures/streams.py --sim $(OUT)/shuffle-stream-sim \
		$(if $(QUICK),--quick) --figures $(SHOWN)/figures \
		--document $(SHOWN)/evaluation-streams.rst

install-tools:
	@set -e; for d in $(call present,$(INSTALLED)); do \
		$(MAKE) -s -C $$d OUT=$(OUT) UAPI=$(CURDIR)/uapi PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) install; \
	done
	@install -d $(DESTDIR)$(PREFIX)/share/man/man7
	@install -m 644 Documentation/man/shuffle.7 $(DESTDIR)$(PREFIX)/share/man/man7/

install: tools install-tools
	@$(VM)/install-module.sh '$(DESTDIR)'

deb:
	@$(VM)/deps.sh deb
	@selftests/deb/build.sh build/deb

check-deb:
	@$(VM)/deps.sh check-deb
	@selftests/deb/check.sh $(or $(RELEASE),12)

in-tree:
	@[ -n "$(LINUX)" ] || { echo "usage: make in-tree LINUX=folder [SERIES=folder]" >&2; exit 2; }
	@upstream/in_tree.py '$(LINUX)' $(if $(SERIES),--series '$(SERIES)')

check-in-tree:
	@$(VM)/build-kernel.sh -s um 'make check-in-tree'
	@$(VM)/deps.sh check
	@$(VM)/watch.py upstream/check.sh

check-newcomer:
	@$(VM)/deps.sh debootstrap
	@selftests/newcomer/check.sh $(or $(RELEASE),13)

clean:
	rm -rf build

.PHONY: help deps modules tools tools-installed netlink demo demo-sort demo-aggregate check check-deep check-all \
	check-list torture soak budget mpi install-mpi check-mpi bench bench-mpi figures figures-module figures-coll \
	figures-agg figures-stream install install-tools deb check-deb check-newcomer in-tree check-in-tree clean
