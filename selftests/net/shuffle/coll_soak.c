// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A soak of collectives: random groups, racks, kinds, patterns, operators and lengths, two groups
 * at once and beside shuffles, with members that are killed, stopped or give up.  Every byte of
 * every result is compared with a reference.
 *
 *	coll_soak [NAME=VALUE...]
 *
 *	seed=1		all that is random depends on it and on the number of the round
 *	first=0		the first round, to repeat one: first=N ops=1
 *	ops=100		end after the round in which so many collectives have been made
 *	seconds=0	or after so many seconds, if not 0
 *	members=64	of the largest group
 *	least=1		of the smallest one
 *	most=262144	bytes of a member's result
 *	long=0		N: once the first N of 8 long kinds, with @most bytes
 *	v6=2		0, 1, or 2: either
 *	faults=0	percent of the rounds in which a member is killed or gives up
 *	stops=0		percent of those in which one is stopped for a while
 *	prefix=		hosts are the namespaces PREFIXh0 ...; without, all are on one loopback
 *	hosts=1		their number; member m is on host m % hosts
 *	timeout=60000	milliseconds for each step; three times that for a shuffle
 *	fault_timeout=3000	where a member is killed
 *	key=0		of the groups, if not 0
 *	any=0		1: calls may fail, as in the middle of faults of the kernel
 *
 * It prints the seed, what was done, and for each round that fails how to repeat it.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll_call.h"

#define MOST_MEMBERS	64
#define AT_ONCE		4		/* calls of a group that are not waited for */
#define GROUPS		2
#define CALLS		48		/* of a group in a round, at most */
#define SHUFFLES	4		/* beside them */
#define STOP_MS		300

static struct {
	unsigned long seed, first, ops, seconds, members, least, most, longest, v6, faults, stops;
	unsigned long hosts, timeout, fault_timeout, any, key;
	const char *prefix;
} opt = {
	.seed = 1, .ops = 100, .members = MOST_MEMBERS, .least = 1, .most = 256 << 10, .v6 = 2,
	.hosts = 1, .timeout = 60000, .fault_timeout = 3000, .prefix = "",
};

enum fault { NO_FAULT, KILLED, GIVES_UP, STOPPED };

/**
 * struct round - what all members know of one
 * @number: of the round
 * @count: members
 * @v6: addresses
 * @groups: at once, with the same members
 * @calls: of each group
 * @beside: there are shuffles beside them
 * @fault: of @victim
 * @victim: a member
 * @when: waits of the victim before that
 * @buffer: SO_RCVBUF and SO_SNDBUF; 0: as they are
 * @rng: for what follows
 */
struct round {
	unsigned long number;
	unsigned int count;
	bool v6;
	unsigned int groups, calls;
	bool beside;
	enum fault fault;
	unsigned int victim, when;
	int buffer;
	uint64_t rng;
};

/* Small groups mostly: large ones take longest and are not that different. */
static unsigned int draw_count(uint64_t *rng)
{
	unsigned int most = opt.members, n;

	n = coll_random(rng, 16);
	if (n && most > 20)
		most = 20;
	if (n > 3 && most > 6)
		most = 6;
	n = opt.least + coll_random(rng, most);
	return n > most ? most : n;
}

static void draw_round(struct round *r, unsigned long number)
{
	uint64_t rng = sht_mix(opt.seed * 1000003 + number);
	unsigned int x;

	memset(r, 0, sizeof(*r));
	r->number = number;
	r->count = draw_count(&rng);
	r->v6 = opt.v6 == 2 ? coll_random(&rng, 2) && sht_has_ipv6() : opt.v6;
	r->groups = 1 + !coll_random(&rng, 3);
	r->calls = 1 + coll_random(&rng, CALLS);
	if (r->count > 20) {
		r->groups = 1;
		r->calls = 1 + r->calls / 4;
	}
	r->beside = !coll_random(&rng, 4);
	r->buffer = coll_random(&rng, 3) ? 0 : 1 << (12 + coll_random(&rng, 5));
	/* a round trip for each packet */
	if (opt.longest)
		r->buffer = 0;
	x = coll_random(&rng, 100);
	if (x < opt.faults)
		r->fault = KILLED + coll_random(&rng, 2);
	else if (x < opt.faults + opt.stops)
		r->fault = STOPPED;
	r->victim = coll_random(&rng, r->count);
	r->when = 1 + coll_random(&rng, 3 * r->calls);
	r->rng = rng;
}

/* ---- a member ---- */

/**
 * struct job - one group at a member
 * @r: round
 * @rank: ours
 * @number: of the group in the round
 * @fd: socket
 * @c: group
 * @made: calls whose result was right
 * @error: of the call that has failed
 * @why: wrong data
 * @text: the call that failed or was wrong
 */
struct job {
	const struct round *r;
	unsigned int rank, number;
	int fd;
	struct shuffle_coll *c;
	unsigned int made;
	int error;
	const char *why;
	char text[200];
};

/* What a member tells of a round. */
struct told {
	uint32_t rank, made, error, wrong;
	char text[256];
};

static unsigned int waits;
static uint64_t first_op;	/* others have been used on these hosts before */

static void member_addr(struct sockaddr_shuffle *m, const struct round *r, unsigned int member,
			unsigned int socket)
{
	enum sht_net net = opt.prefix[0] ? SHT_RACK : SHT_LO;
	unsigned int slot = (r->number * (GROUPS + 1) + socket) % 900;
	unsigned int port = 1024 + slot * MOST_MEMBERS + member;

	sht_addr(m, net, r->v6, member % opt.hosts, port);
}

static int open_socket(const struct round *r, unsigned int rank, unsigned int socket)
{
	const struct sht_before before = { .device = "", .key = opt.key };
	struct sockaddr_shuffle m[MOST_MEMBERS];
	unsigned int i;
	int fd;

	for (i = 0; i < r->count; i++)
		member_addr(&m[i], r, i, socket);
	fd = sht_open_with(&before, m, r->count, rank, 0);
	if (fd >= 0 && r->buffer) {
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &r->buffer, sizeof(r->buffer));
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &r->buffer, sizeof(r->buffer));
	}
	return fd;
}

/* The victim's time has come, or not yet. */
static int wait_or_fail(void *arg, int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	struct job *j = arg;

	if (j->r->fault && j->rank == j->r->victim &&
	    __atomic_add_fetch(&waits, 1, __ATOMIC_RELAXED) == j->r->when) {
		switch (j->r->fault) {
		case KILLED:
			raise(SIGKILL);
			break;
		case STOPPED:
			raise(SIGSTOP);
			break;
		default:
			errno = ECANCELED;
			return -1;
		}
	}
	return poll(&pfd, 1, -1) < 0 && errno != EINTR ? -1 : 0;
}

static bool set_racks(struct job *j, uint64_t *rng)
{
	unsigned int size[MOST_MEMBERS], racks = coll_random(rng, j->r->count + 1), i, n;

	if (coll_random(rng, 2))
		racks = 0;
	for (i = 0; i < racks; i++)
		size[i] = 1;
	for (n = racks; racks && n < j->r->count; n++)
		size[coll_random(rng, racks)]++;
	return !shuffle_coll_racks(j->c, size, racks);
}

/* A pattern and an engine for the calls to come. */
static bool set_pattern(struct job *j, struct coll_call *k, uint64_t *rng)
{
	static const char *const engines[] = { "auto", "kernel", "user" };
	const char *engine = engines[coll_random(rng, 3)];

	k->pattern = (int)coll_random(rng, SHUFFLE_COLL_PATTERNS + 2) - 2;
	k->radix = coll_random(rng, 6);
	if (k->pattern < 0)
		k->pattern = -1;
	/* very many steps, which are many operations each */
	if (j->r->count > 16 && coll_random(rng, 6) &&
	    (k->pattern == SHUFFLE_COLL_RING || k->pattern == SHUFFLE_COLL_CHAIN))
		k->pattern = SHUFFLE_COLL_TREE;
	return !shuffle_coll_engine(j->c, engine) &&
	       !shuffle_coll_pattern(j->c, k->pattern < 0 ? "auto" :
				     shuffle_coll_pattern_name(k->pattern), k->radix);
}

static void call_failed(struct job *j, const struct coll_call *k, int error, const char *why)
{
	if (j->error || j->why)
		return;
	j->error = error;
	j->why = why;
	coll_call_print(j->text, sizeof(j->text), k);
}

/* Some calls, each begun before the first of them is waited for; or just one. */
static void make_calls(struct job *j, struct coll_member *m, unsigned int n, bool later)
{
	const char *why;
	unsigned int i;
	int rc;

	for (i = 0; i < n; i++) {
		coll_call_prepare(&m[i]);
		if (!later)
			continue;
		m[i].request = shuffle_coll_begin(j->c, coll_call_make, &m[i]);
		if (!m[i].request)
			call_failed(j, &m[i].call, errno, NULL);
	}
	for (i = 0; i < n; i++) {
		if (later && !m[i].request)
			continue;
		rc = later ? shuffle_coll_finish(m[i].request) : coll_call_make(j->c, &m[i]);
		why = rc ? NULL : coll_call_check(&m[i]);
		if (rc || why)
			call_failed(j, &m[i].call, rc ? errno : 0, why);
		else
			j->made++;
	}
	for (i = 0; i < n; i++)
		coll_call_free(&m[i]);
}

static void all_calls(struct job *j)
{
	uint64_t rng = sht_mix(j->r->rng + j->number);
	struct coll_member m[AT_ONCE];
	struct coll_call k = { 0 };
	unsigned int i, done, n;
	size_t most = opt.most;
	bool later;

	if (!set_racks(j, &rng)) {
		call_failed(j, &k, errno, NULL);
		return;
	}
	if (j->r->count > 16 && most > 64 << 10)
		most = 64 << 10;
	for (done = 0; done < j->r->calls && !j->error && !j->why; done += n) {
		later = !coll_random(&rng, 3);
		n = later ? 1 + coll_random(&rng, AT_ONCE) : 1;
		if (!set_pattern(j, &k, &rng)) {
			call_failed(j, &k, errno, NULL);
			return;
		}
		for (i = 0; i < n; i++) {
			m[i] = (struct coll_member){ .rank = j->rank, .count = j->r->count };
			coll_call_draw(&k, &rng, j->r->count, most);
			m[i].call = k;
		}
		make_calls(j, m, n, later);
	}
}

/* Kinds that may be long, once each, and no other. */
static void long_calls(struct job *j)
{
	static const uint8_t kinds[] = {
		SHUFFLE_COLL_BROADCAST, SHUFFLE_COLL_REDUCE, SHUFFLE_COLL_ALLGATHER,
		SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_REDUCE_SCATTER, SHUFFLE_COLL_GATHER,
		SHUFFLE_COLL_SCATTER, SHUFFLE_COLL_SCAN,
	};
	struct coll_member m;
	unsigned int i;

	for (i = 0; i < sizeof(kinds) && i < opt.longest && !j->error && !j->why; i++) {
		m = (struct coll_member){
			.rank = j->rank, .count = j->r->count,
			.call = { .kind = kinds[i], .pattern = -1, .salt = i, .size = opt.most },
		};
		if (kinds[i] != SHUFFLE_COLL_BROADCAST)
			m.call.oper = SHUFFLE_COLL_SUM;
		m.call.type = SHUFFLE_COLL_U64;
		if (shuffle_coll_by_member(kinds[i], SHUFFLE_COLL_FLAT))
			m.call.size = opt.most / j->r->count & ~7UL;
		make_calls(j, &m, 1, false);
	}
}

static void *run_job(void *arg)
{
	struct job *j = arg;
	bool ended;

	if (opt.longest)
		long_calls(j);
	else
		all_calls(j);
	ended = !shuffle_coll_free(j->c);
	if (!ended && !j->error && !j->why) {
		j->error = errno;
		snprintf(j->text, sizeof(j->text), "the end of the group");
	}
	close(j->fd);
	return NULL;
}

/* Shuffles of the same members on a third socket: NULL or what is wrong. */
static void *run_shuffles(void *arg)
{
	struct job *j = arg;
	const struct round *r = j->r;
	const void *bufs[MOST_MEMBERS];
	uint64_t lens[MOST_MEMBERS], len, op;
	struct shuffle_column *col;
	unsigned char *row[MOST_MEMBERS];
	unsigned int i;

	for (op = first_op; op < first_op + SHUFFLES && !j->error && !j->why; op++) {
		for (i = 0; i < r->count; i++) {
			lens[i] = sht_key(r->number, op, j->rank, i) % 5000;
			row[i] = malloc(lens[i] + 1);
			sht_fill(row[i], lens[i], sht_key(r->number, op, j->rank, i), 0);
			bufs[i] = row[i];
		}
		col = shuffle_column_new(op, r->count);
		if (shuffle_exchange(j->fd, op, bufs, lens, r->count,
				     r->fault && r->fault != STOPPED ? opt.fault_timeout :
				     3 * opt.timeout, col))
			j->error = errno;
		for (i = 0; i < r->count && !j->error; i++) {
			len = sht_key(r->number, op, i, j->rank) % 5000;
			if (col->lens[i] != len ||
			    sht_check(col->bufs[i], len, sht_key(r->number, op, i, j->rank), 0) !=
				    len)
				j->why = "wrong data";
		}
		shuffle_column_free(col);
		for (i = 0; i < r->count; i++)
			free(row[i]);
	}
	snprintf(j->text, sizeof(j->text), "a shuffle beside");
	close(j->fd);
	return NULL;
}

static bool open_group(struct job *j)
{
	bool breaks = j->r->fault && j->r->fault != STOPPED;

	j->fd = open_socket(j->r, j->rank, j->number);
	if (j->fd < 0)
		return false;
	j->c = shuffle_coll_new(j->fd, j->rank, j->r->count,
				first_op);
	if (!j->c)
		return false;
	shuffle_coll_timeout(j->c, breaks ? opt.fault_timeout : opt.timeout);
	if (breaks || j->r->fault == STOPPED || j->rank % 3 == 0)
		shuffle_coll_wait(j->c, wait_or_fail, j);
	return true;
}

static void run_round(const struct round *r, unsigned int rank, struct told *t)
{
	struct job job[GROUPS + 1] = { 0 };
	pthread_t thread[GROUPS + 1];
	unsigned int i, jobs = r->groups;

	waits = 0;
	memset(t, 0, sizeof(*t));
	t->rank = rank;
	for (i = 0; i < r->groups + r->beside; i++) {
		job[i].r = r;
		job[i].rank = rank;
		job[i].number = i;
		if (i >= r->groups)
			job[i].fd = open_socket(r, rank, GROUPS);
		if (i < r->groups ? !open_group(&job[i]) : job[i].fd < 0) {
			snprintf(t->text, sizeof(t->text), "no socket: %s", strerror(errno));
			t->error = errno;
			/* what is open already is closed with the process */
			return;
		}
		jobs = i + 1;
	}
	for (i = 0; i < jobs; i++)
		if (pthread_create(&thread[i], NULL, i < r->groups ? run_job : run_shuffles,
				   &job[i]))
			errx(1, "no thread");
	for (i = 0; i < jobs; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < jobs; i++) {
		t->made += job[i].made;
		if (t->wrong || (!job[i].why && (!job[i].error || t->error)))
			continue;
		t->error = job[i].error;
		t->wrong = !!job[i].why;
		snprintf(t->text, sizeof(t->text), "group %u, call %u, %s: %s", i, job[i].made,
			 job[i].text, job[i].why ? job[i].why : strerror(job[i].error));
	}
}

/* ---- all members ---- */

static struct {
	pid_t pid;
	int to, from;
} member[MOST_MEMBERS];

__attribute__((noreturn))
static void member_main(unsigned int rank, int in, int out)
{
	struct round r;
	struct told t;
	unsigned long number;
	char name[64];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	snprintf(name, sizeof(name), "%sh%lu", opt.prefix, rank % opt.hosts);
	if (opt.prefix[0] && sht_enter_netns(name))
		err(1, "namespace %s", name);
	while (read(in, &number, sizeof(number)) == sizeof(number)) {
		draw_round(&r, number);
		run_round(&r, rank, &t);
		if (write(out, &t, sizeof(t)) != sizeof(t))
			break;
	}
	_exit(0);
}

static void begin_member(unsigned int rank)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		err(1, "pipe");
	fflush(NULL);
	member[rank].pid = fork();
	if (member[rank].pid < 0)
		err(1, "fork");
	if (!member[rank].pid) {
		close(to[1]);
		close(from[0]);
		member_main(rank, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	member[rank].to = to[1];
	member[rank].from = from[0];
}

static void end_member(unsigned int rank)
{
	if (!member[rank].pid)
		return;
	kill(member[rank].pid, SIGKILL);
	waitpid(member[rank].pid, NULL, 0);
	close(member[rank].to);
	close(member[rank].from);
	member[rank].pid = 0;
}

static struct {
	unsigned long rounds, ops, killed, gave_up, stopped, members;
	unsigned long ended[200];	/* by errno: members that were told so */
} sum;

/* May this member end so? */
static bool is_expected(const struct round *r, const struct told *t)
{
	if (t->wrong)
		return false;
	if (!t->error || opt.any)
		return true;
	switch (r->fault) {
	case NO_FAULT:
	case STOPPED:
		return false;
	default:
		return t->error == ETIMEDOUT || t->error == EPIPE ||
		       (t->rank == r->victim && t->error == ECANCELED);
	}
}

/* Wake up who is stopped, after a while. */
static void look_after(const struct round *r)
{
	int status;

	if (r->fault != STOPPED ||
	    waitpid(member[r->victim].pid, &status, WNOHANG | WUNTRACED) <= 0 ||
	    !WIFSTOPPED(status))
		return;
	usleep(STOP_MS * 1000);
	kill(member[r->victim].pid, SIGCONT);
	sum.stopped++;
}

static unsigned int said;	/* of this round: one member's trouble is all members' */

static void say_wrong(const struct round *r, unsigned int rank, const char *what)
{
	if (said++ > 2)
		return;
	printf("# member %u of %u: %s\n# again: seed=%lu first=%lu ops=1\n", rank, r->count, what,
	       opt.seed, r->number);
	fflush(stdout);
}

/* What all members tell.  Returns how many of them are wrong. */
static unsigned int hear(const struct round *r, uint64_t until, unsigned int *made)
{
	unsigned int i, left = r->count, wrong = 0;
	bool heard[MOST_MEMBERS] = { false };
	struct pollfd pfd[MOST_MEMBERS];
	struct told t;

	for (i = 0; i < r->count; i++)
		pfd[i] = (struct pollfd){ .fd = member[i].from, .events = POLLIN };
	while (left && sht_now_ms() < until) {
		look_after(r);
		if (poll(pfd, r->count, 200) <= 0)
			continue;
		for (i = 0; i < r->count; i++) {
			if (heard[i] || !pfd[i].revents)
				continue;
			heard[i] = true;
			left--;
			pfd[i].fd = -1;
			if (read(member[i].from, &t, sizeof(t)) != sizeof(t)) {
				if (r->fault != KILLED || i != r->victim) {
					say_wrong(r, i, "has died");
					wrong++;
				}
				sum.killed++;
				end_member(i);
				continue;
			}
			*made = t.made > *made ? t.made : *made;
			sum.ended[t.error < 200 ? t.error : 0] += t.error > 0;
			sum.gave_up += t.error == ECANCELED;
			if (!is_expected(r, &t)) {
				say_wrong(r, i, t.text);
				wrong++;
			}
		}
	}
	for (i = 0; i < r->count; i++) {
		if (heard[i])
			continue;
		say_wrong(r, i, "does not end");
		end_member(i);
		wrong++;
	}
	return wrong;
}

static unsigned int one_round(unsigned long number)
{
	unsigned int i, wrong, made = 0;
	struct round r;

	draw_round(&r, number);
	said = 0;
	for (i = 0; i < r.count; i++) {
		if (!member[i].pid)
			begin_member(i);
		if (write(member[i].to, &number, sizeof(number)) != sizeof(number))
			err(1, "member %u", i);
	}
	/* several steps may have to time out, one behind the other */
	wrong = hear(&r, sht_now_ms() + 5 * opt.timeout, &made);
	sum.rounds++;
	sum.members += r.count;
	sum.ops += made;
	if (wrong)
		printf("# round %lu: %u members%s, %u groups of %u calls%s, fault %d of %u, buffer %d\n",
		       number, r.count, r.v6 ? " by IPv6" : "", r.groups, r.calls,
		       r.beside ? ", beside shuffles" : "", r.fault, r.victim, r.buffer);
	return wrong;
}

static void report(unsigned long failed)
{
	unsigned int i;

	printf("# seed %lu: %lu collectives in %lu rounds of %.1f members; %lu killed, %lu gave up, %lu stopped",
	       opt.seed, sum.ops, sum.rounds, sum.rounds ? (double)sum.members / sum.rounds : 0,
	       sum.killed, sum.gave_up, sum.stopped);
	for (i = 1; i < 200; i++)
		if (sum.ended[i])
			printf(", %lu %s", sum.ended[i], strerrorname_np(i));
	printf("; %lu rounds failed\n", failed);
}

static bool take_option(const char *text)
{
	const struct {
		const char *name;
		unsigned long *value;
	} options[] = {
		{ "seed=", &opt.seed }, { "first=", &opt.first }, { "ops=", &opt.ops },
		{ "seconds=", &opt.seconds }, { "members=", &opt.members },
		{ "least=", &opt.least }, { "most=", &opt.most }, { "long=", &opt.longest },
		{ "v6=", &opt.v6 }, { "faults=", &opt.faults }, { "stops=", &opt.stops },
		{ "hosts=", &opt.hosts }, { "timeout=", &opt.timeout },
		{ "fault_timeout=", &opt.fault_timeout }, { "any=", &opt.any },
		{ "key=", &opt.key },
	};
	unsigned int i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		size_t len = strlen(options[i].name);

		if (!strncmp(text, options[i].name, len)) {
			*options[i].value = strtoul(text + len, NULL, 0);
			return true;
		}
	}
	if (strncmp(text, "prefix=", 7))
		return false;
	opt.prefix = text + 7;
	return true;
}

int main(int argc, char **argv)
{
	unsigned long number, failed = 0;
	uint64_t until;
	int i;

	for (i = 1; i < argc; i++)
		if (!take_option(argv[i]))
			errx(2, "what is '%s'?", argv[i]);
	if (!opt.least || opt.members < opt.least || opt.members > MOST_MEMBERS || !opt.hosts ||
	    !opt.most)
		errx(2, "1 to %d members", MOST_MEMBERS);
	signal(SIGPIPE, SIG_IGN);
	if (!opt.prefix[0] && sht_new_netns())
		err(1, "no network namespace");
	first_op = (1 + sht_now_ms() % (1 << 24)) << 32;
	until = sht_now_ms() + opt.seconds * 1000;
	for (number = opt.first; sum.ops < opt.ops && failed < 5; number++) {
		failed += !!one_round(number);
		if ((opt.seconds && sht_now_ms() > until) || opt.longest)
			break;
	}
	for (i = 0; i < MOST_MEMBERS; i++)
		end_member(i);
	report(failed);
	return failed ? 1 : 0;
}
