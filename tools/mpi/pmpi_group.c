// SPDX-License-Identifier: BSD-3-Clause
/*
 * A communicator.  MPICH has no place where a process could say something about itself before it is
 * asked, so the first call that the library sees gathers what all want.  Sockets are opened when a
 * call needs them; all ranks make the same calls, and come to the same decisions.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "addr.h"
#include "pmpi.h"

#define TICK_MS		1

/* What a rank wants; other libraries have another version, also if they decide differently. */
struct card {
	uint32_t version;
	uint32_t collectives;
	uint64_t host;
};

#define CARD_VERSION	3

/* How to reach it; family 0: not at all. */
struct hello {
	struct sockaddr_shuffle addr;
	uint64_t op_base;
};

static pthread_mutex_t keyval_lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;

static void say(const struct pmpi_group *g, const char *what, const char *text, int n)
{
	if (getenv("SHUFFLE_PMPI_VERBOSE") && !g->rank)
		fprintf(stderr, "libshuffle_pmpi: %s: %s %d\n", what, text, n);
}

int pmpi_group_wait(void *group, int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	struct pmpi_group *g = group;
	int flag;

	if (poll(&pfd, 1, TICK_MS) > 0)
		return 0;
	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, g->comm, &flag, MPI_STATUS_IGNORE);
	return 0;
}

static int group_delete(MPI_Comm comm, int key, void *value, void *extra)
{
	struct pmpi_group *g = value;

	(void)comm;
	(void)key;
	(void)extra;
	if (g->fd >= 0)
		close(g->fd);
	coll_shuffle_members_close(&g->members);
	free(g);
	return MPI_SUCCESS;
}

/* ---- what all want ---- */

static uint32_t collectives_wanted(void)
{
	const char *names = getenv("SHUFFLE_PMPI_COLLECTIVES");
	uint32_t bits;

	if (!coll_shuffle_names_parse(names, &bits))
		fprintf(stderr, "libshuffle_pmpi: SHUFFLE_PMPI_COLLECTIVES is not all, none or names of collectives: %s\n",
			names);
	if (getenv("SHUFFLE_PMPI_MULTICAST"))
		bits |= COLL_SHUFFLE_MULTICAST_BIT;
	return bits;
}

static int compare_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Has each rank a host of its own?  Between those of a host shared memory is faster. */
static bool apart(const struct card *all, int n)
{
	uint64_t *hosts = malloc(n * sizeof(*hosts));
	bool found = hosts;
	int i;

	for (i = 0; i < n && found; i++)
		hosts[i] = all[i].host;
	if (found)
		qsort(hosts, n, sizeof(*hosts), compare_number);
	for (i = 1; i < n && found; i++)
		found = hosts[i] != hosts[i - 1];
	free(hosts);
	return found;
}

static int gather_cards(struct pmpi_group *g)
{
	struct card mine = { CARD_VERSION, collectives_wanted(), 0 }, *all;
	char name[256] = "";
	int i, rc;

	all = calloc(g->size, sizeof(*all));
	if (!all)
		return MPI_ERR_NO_MEM;
	gethostname(name, sizeof(name) - 1);
	mine.host = coll_shuffle_hash(name, strlen(name));
	rc = PMPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, g->comm);
	g->collectives = UINT32_MAX;
	for (i = 0; i < g->size && !rc; i++) {
		g->collectives &= all[i].collectives;
		if (all[i].version == CARD_VERSION)
			continue;
		g->state = PMPI_DECLINED;
		g->collectives = 0;
		say(g, "declined", "another version at rank", i);
		break;
	}
	if (!apart(all, g->size))
		g->collectives = 0;
	free(all);
	return rc;
}

struct pmpi_group *pmpi_group_of(MPI_Comm comm, int *rc)
{
	struct pmpi_group *g;
	int found, inter;

	*rc = MPI_SUCCESS;
	pthread_mutex_lock(&keyval_lock);
	if (keyval == MPI_KEYVAL_INVALID)
		PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, group_delete, &keyval, NULL);
	pthread_mutex_unlock(&keyval_lock);

	PMPI_Comm_test_inter(comm, &inter);
	if (inter)
		return NULL;
	PMPI_Comm_get_attr(comm, keyval, &g, &found);
	if (found)
		return g->size > 1 ? g : NULL;
	g = calloc(1, sizeof(*g));
	if (!g) {
		*rc = MPI_ERR_NO_MEM;
		return NULL;
	}
	g->comm = comm;
	g->fd = -1;
	PMPI_Comm_rank(comm, &g->rank);
	PMPI_Comm_size(comm, &g->size);
	coll_shuffle_members_init(&g->members, g->rank, g->size);
	if (g->size > SHUFFLE_MAX_MEMBERS)
		g->state = PMPI_DECLINED;
	else if (g->size > 1)
		*rc = gather_cards(g);
	PMPI_Comm_set_attr(comm, keyval, g);
	return g->size > 1 && !*rc ? g : NULL;
}

/* ---- sockets ---- */

static bool own_addr(struct sockaddr_shuffle *addr)
{
	struct coll_shuffle_addr first;

	if (!coll_shuffle_addr_list(AF_INET, NULL, NULL, &first, 1) &&
	    !coll_shuffle_addr_list(AF_INET6, NULL, NULL, &first, 1))
		return false;
	coll_shuffle_addr_of(&first, addr);
	return true;
}

static void set_timeout(int fd)
{
	const char *seconds = getenv("SHUFFLE_PMPI_TIMEOUT");
	__u32 idle = (seconds ? atoi(seconds) : 600) * 1000;

	setsockopt(fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, sizeof(idle));
}

/* The addresses of all; *members NULL: not all have a socket.  0, or an error. */
static int gather_addrs(struct pmpi_group *g, const struct sockaddr_shuffle *own,
			struct sockaddr_shuffle **members, uint64_t *op_base)
{
	struct hello mine = { .addr = *own }, *all = calloc(g->size, sizeof(*all));
	int i, rc = MPI_ERR_NO_MEM;

	*members = calloc(g->size, sizeof(**members));
	if (!all || !*members)
		goto out;
	if (getrandom(&mine.op_base, sizeof(mine.op_base), 0) < 0)
		mine.op_base = (uint64_t)getpid() << 32;
	rc = PMPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, g->comm);
	if (rc)
		goto out;
	*op_base = all[0].op_base;
	for (i = 0; i < g->size; i++) {
		if (!all[i].addr.shs_family ||
		    all[i].addr.shs_ip_family != all[0].addr.shs_ip_family)
			break;
		(*members)[i] = all[i].addr;
	}
	if (i < g->size)
		say(g, "declined", "no socket at rank", i);
out:
	free(all);
	if (rc || i < g->size) {
		free(*members);
		*members = NULL;
	}
	return rc;
}

/* Have all joined, and do they know the same racks? */
static int all_joined(struct pmpi_group *g, bool joined, uint64_t racks, bool *all, bool *same)
{
	uint64_t mine[] = { joined, racks, ~racks }, least[3];
	int rc;

	if (!joined)
		fprintf(stderr, "libshuffle_pmpi: rank %d: joining the group: %s\n", g->rank,
			strerror(errno));
	rc = PMPI_Allreduce(mine, least, 3, MPI_UINT64_T, MPI_MIN, g->comm);
	*all = !rc && least[0];
	*same = !rc && least[1] == ~least[2];
	if (!rc && !*all)
		say(g, "declined", "not all could join, of ranks", g->size);
	return rc;
}

int pmpi_group_agree(struct pmpi_group *g)
{
	struct sockaddr_shuffle own = { 0 }, *members;
	bool all = false, same;
	int rc;

	if (g->state != PMPI_NEW)
		return MPI_SUCCESS;
	if (own_addr(&own))
		g->fd = shuffle_bind(&own, SOCK_CLOEXEC);
	if (g->fd < 0)
		own.shs_family = 0;
	else
		set_timeout(g->fd);
	rc = gather_addrs(g, &own, &members, &g->next_id);
	if (!rc && members)
		rc = all_joined(g, !shuffle_join(g->fd, members, g->size, g->rank), 0, &all,
				&same);
	free(members);
	g->state = all ? PMPI_READY : PMPI_DECLINED;
	if (all)
		say(g, "over AF_SHUFFLE", "all-to-all of ranks", g->size);
	else if (g->fd >= 0)
		close(g->fd);
	if (!all)
		g->fd = -1;
	return rc;
}

int pmpi_group_agree_members(struct pmpi_group *g)
{
	struct coll_shuffle_members *m = &g->members;
	struct sockaddr_shuffle own = { 0 }, *members;
	bool all = false, same = true;
	uint64_t first_op;
	int rc, err;

	if (g->members_state != PMPI_NEW)
		return MPI_SUCCESS;
	if (g->collectives & COLL_SHUFFLE_MULTICAST_BIT)
		m->multicast = getenv("SHUFFLE_PMPI_MULTICAST");
	if (own_addr(&own))
		coll_shuffle_members_open(m, &own);
	if (m->fd >= 0)
		set_timeout(m->fd);
	rc = gather_addrs(g, &own, &members, &first_op);
	if (!rc && members) {
		err = coll_shuffle_members_join(m, members, first_op, pmpi_group_wait, g);
		rc = all_joined(g, !err, m->racks, &all, &same);
	}
	free(members);
	g->members_state = all ? PMPI_READY : PMPI_DECLINED;
	if (!all)
		coll_shuffle_members_close(m);
	else
		say(g, "over AF_SHUFFLE", "collectives of ranks", g->size);
	if (all && !same) {
		say(g, "no racks", "different ones are known to ranks, of", g->size);
		coll_shuffle_members_no_racks(m);
	}
	return rc;
}
