// SPDX-License-Identifier: BSD-3-Clause
/*
 * One communicator.  The first call decides, from the cards of all members, whether
 * AF_SHUFFLE is used; every rank finds the same.  Then the members' ports are
 * gathered: by the allgather of the module before or, when the call must not block,
 * by its iallgather, behind which calls are queued.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "coll_shuffle.h"

#include "opal/mca/pmix/pmix.h"
#include "opal/util/proc.h"

static void module_construct(coll_shuffle_module *m)
{
	m->comm = NULL;
	m->state = COLL_SHUFFLE_NEW;
	m->fd = -1;
	m->calls = 0;
	m->hellos = NULL;
	m->gather = NULL;
	m->ops = NULL;
	m->queue = NULL;
	m->queue_end = &m->queue;
	m->spare = NULL;
	m->in_kernel = 0;
	m->unread = 0;
	m->background = 0;
	m->event_added = false;
	memset(&m->rx, 0, sizeof(m->rx));
	memset(&m->before, 0, sizeof(m->before));
	OBJ_CONSTRUCT(&m->lock, opal_mutex_t);
}

static void release(mca_coll_base_module_t *module)
{
	if (module)
		OBJ_RELEASE(module);
}

static void module_destruct(coll_shuffle_module *m)
{
	if (m->fd >= 0) {
		coll_shuffle_progress_drain(m);
		coll_shuffle_progress_end(m);
		close(m->fd);
	}
	shuffle_rx_free(&m->rx);
	free(m->hellos);
	free(m->spare);
	release(m->before.coll_allgather_module);
	release(m->before.coll_iallgather_module);
	release(m->before.coll_alltoall_module);
	release(m->before.coll_alltoallv_module);
	release(m->before.coll_alltoallw_module);
	release(m->before.coll_ialltoall_module);
	release(m->before.coll_ialltoallv_module);
	release(m->before.coll_ialltoallw_module);
	OBJ_DESTRUCT(&m->lock);
}

OBJ_CLASS_INSTANCE(coll_shuffle_module, mca_coll_base_module_t, module_construct,
		   module_destruct);

const char *coll_shuffle_comm_name(ompi_communicator_t *comm)
{
	return comm->c_name[0] ? comm->c_name : "a communicator";
}

const char *coll_shuffle_host(coll_shuffle_module *m, int rank)
{
	char *name = opal_get_proc_hostname(&ompi_comm_peer_lookup(m->comm, rank)->super);

	return name ? name : "unknown host";
}

static int module_enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;

#define KEEP(f) ({							\
	m->before.coll_##f = comm->c_coll->coll_##f;			\
	m->before.coll_##f##_module = comm->c_coll->coll_##f##_module;	\
	if (m->before.coll_##f##_module)				\
		OBJ_RETAIN(m->before.coll_##f##_module);		\
	m->before.coll_##f ? 1 : 0;					\
})
	/* without all of them there is nothing to fall back to */
	if (KEEP(allgather) + KEEP(iallgather) + KEEP(alltoall) + KEEP(alltoallv) +
	    KEEP(alltoallw) + KEEP(ialltoall) + KEEP(ialltoallv) + KEEP(ialltoallw) < 8)
		return OMPI_ERR_NOT_FOUND;
	return OMPI_SUCCESS;
}

/* What is known here only (the kernel, addresses) must not matter yet. */
mca_coll_base_module_t *coll_shuffle_comm_query(ompi_communicator_t *comm, int *priority)
{
	coll_shuffle_module *m;

	*priority = mca_coll_shuffle_component.priority;
	if (*priority <= 0 || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 ||
	    ompi_comm_size(comm) > SHUFFLE_MAX_MEMBERS)
		return NULL;

	m = OBJ_NEW(coll_shuffle_module);
	if (!m)
		return NULL;
	m->comm = comm;
	m->size = ompi_comm_size(comm);
	m->rank = ompi_comm_rank(comm);
	m->super.coll_module_enable = module_enable;
	coll_shuffle_alltoall_functions(m);
	return &m->super;
}

/* ip_family, or 0 with *why and *who. */
static int decide(coll_shuffle_module *m, const char **why, int *who)
{
	const struct coll_shuffle_card *mine = &mca_coll_shuffle_component.card;
	bool ipv4 = true, ipv6 = true, remote = false, loopback = false;
	struct coll_shuffle_card *card;
	ompi_proc_t *proc;
	size_t size;
	int i, rc;

	for (i = 0; i < m->size; i++) {
		proc = ompi_comm_peer_lookup(m->comm, i);
		*who = i;
		card = NULL;
		size = 0;
		OPAL_MODEX_RECV(rc, &mca_coll_shuffle_component.super.collm_version,
				&proc->super.proc_name, (void **)&card, &size);
		if (rc != OPAL_SUCCESS || size != sizeof(*card) || card->version != mine->version) {
			free(card);
			*why = "it has no such component";
			return 0;
		}
		if (card->arch != mine->arch)
			*why = "its data representation differs";
		else if (!card->ipv4 && !card->ipv6)
			*why = "AF_SHUFFLE is not available there";
		ipv4 = ipv4 && card->ipv4;
		ipv6 = ipv6 && card->ipv6;
		loopback = loopback || card->loopback;
		remote = remote || !OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags);
		if (!i)
			m->threshold = card->threshold;
		free(card);
		if (*why)
			return 0;
		if (!ipv4 && !ipv6) {
			*why = "some have IPv4 only, others IPv6 only";
			return 0;
		}
		if (remote && loopback) {
			*why = "several hosts, and one has a loopback device only";
			return 0;
		}
	}
	return ipv4 ? AF_INET : AF_INET6;
}

/* A socket with a port of its own.  Its address, or family 0, is the hello. */
static void open_socket(coll_shuffle_module *m, int ip_family, struct coll_shuffle_hello *hello)
{
	struct coll_shuffle_component *c = &mca_coll_shuffle_component;
	__u32 idle = c->timeout > 0 ? (__u32)c->timeout * 1000 : 0;

	memset(hello, 0, sizeof(*hello));
	if (getrandom(&hello->op_base, sizeof(hello->op_base), 0) != sizeof(hello->op_base))
		hello->op_base = (uint64_t)getpid() << 32;
	if (shuffle_rx_init(&m->rx, coll_shuffle_op_record, coll_shuffle_op_place, m))
		return;
	/* a column, the ends of the operations before, and some */
	m->rx.records = 2 * m->size + 8;
	hello->addr = ip_family == AF_INET ? c->ipv4 : c->ipv6;
	m->fd = shuffle_bind(&hello->addr, SOCK_CLOEXEC);
	if (m->fd < 0) {
		coll_shuffle_complain("rank %d of %s: no AF_SHUFFLE socket: %s", m->rank,
				      coll_shuffle_comm_name(m->comm), strerror(errno));
		hello->addr.shs_family = 0;
		return;
	}
	setsockopt(m->fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, sizeof(idle));
	if (c->sndbuf > 0)
		setsockopt(m->fd, SOL_SOCKET, SO_SNDBUF, &c->sndbuf, sizeof(c->sndbuf));
	if (c->rcvbuf > 0)
		setsockopt(m->fd, SOL_SOCKET, SO_RCVBUF, &c->rcvbuf, sizeof(c->rcvbuf));
}

/* All hellos are there: join the group.  Who has no socket is seen by all. */
static int join_group(coll_shuffle_module *m)
{
	struct sockaddr_shuffle *members;
	char text[80];
	int i, rc;

	for (i = 0; i < m->size; i++)
		if (!m->hellos[i].addr.shs_family)
			break;
	if (i < m->size) {
		coll_shuffle_say("%s: declined: rank %d (%s) has no socket",
				 coll_shuffle_comm_name(m->comm), i, coll_shuffle_host(m, i));
		return OMPI_ERR_NOT_AVAILABLE;
	}

	members = malloc(m->size * sizeof(*members));
	if (!members)
		return OMPI_ERR_OUT_OF_RESOURCE;
	for (i = 0; i < m->size; i++)
		members[i] = m->hellos[i].addr;
	m->op_base = m->hellos[0].op_base;
	rc = shuffle_join(m->fd, members, m->size, m->rank);
	shuffle_addr_str(&members[m->rank], text, sizeof(text));
	free(members);
	free(m->hellos);
	m->hellos = NULL;
	if (rc) {
		coll_shuffle_complain("rank %d of %s: joining the group at %s: %s", m->rank,
				      coll_shuffle_comm_name(m->comm), text, strerror(errno));
		return OMPI_ERROR;
	}
	if (!m->rank)
		coll_shuffle_say("%s: %d ranks over AF_SHUFFLE, rank 0 is at %s",
				 coll_shuffle_comm_name(m->comm), m->size, text);
	coll_shuffle_progress_begin(m);
	return OMPI_SUCCESS;
}

void coll_shuffle_module_gathered(coll_shuffle_module *m)
{
	int rc = m->gather->req_status.MPI_ERROR;

	ompi_request_free(&m->gather);
	if (!rc)
		rc = join_group(m);
	opal_mutex_lock(&m->lock);
	m->state = COLL_SHUFFLE_READY;
	if (rc)
		coll_shuffle_op_fail_all(m, EHOSTUNREACH);
	else
		coll_shuffle_op_start_queued(m);
	opal_mutex_unlock(&m->lock);
	if (rc)
		coll_shuffle_progress(m);
}

int coll_shuffle_module_agree(coll_shuffle_module *m, bool wait)
{
	struct coll_shuffle_hello hello;
	const char *why = NULL;
	int family, rc, who;

	if (m->state == COLL_SHUFFLE_READY || m->state == COLL_SHUFFLE_DECLINED)
		return OMPI_SUCCESS;
	if (m->state == COLL_SHUFFLE_AGREEING)
		goto agreeing;

	family = decide(m, &why, &who);
	if (!family) {
		if (!m->rank || who == m->rank)
			coll_shuffle_say("%s: declined: rank %d (%s): %s%s%s",
					 coll_shuffle_comm_name(m->comm), who,
					 coll_shuffle_host(m, who), why,
					 who == m->rank && mca_coll_shuffle_component.why ? ": " : "",
					 who == m->rank && mca_coll_shuffle_component.why ?
					 mca_coll_shuffle_component.why : "");
		m->state = COLL_SHUFFLE_DECLINED;
		return OMPI_SUCCESS;
	}

	/* the buffers must outlive a background gathering */
	m->hellos = calloc(m->size, sizeof(*m->hellos));
	if (!m->hellos)
		return OMPI_ERR_OUT_OF_RESOURCE;
	open_socket(m, family, &hello);
	if (wait) {
		rc = m->before.coll_allgather(&hello, sizeof(hello), MPI_BYTE, m->hellos,
					      sizeof(hello), MPI_BYTE, m->comm,
					      m->before.coll_allgather_module);
		if (rc)
			return rc;
		rc = join_group(m);
		if (rc == OMPI_ERR_NOT_AVAILABLE) {
			m->state = COLL_SHUFFLE_DECLINED;
			return OMPI_SUCCESS;
		}
		m->state = COLL_SHUFFLE_READY;
		return rc;
	}

	m->hellos[m->rank] = hello;
	m->state = COLL_SHUFFLE_AGREEING;
	rc = m->before.coll_iallgather(MPI_IN_PLACE, sizeof(hello), MPI_BYTE, m->hellos,
				       sizeof(hello), MPI_BYTE, m->comm, &m->gather,
				       m->before.coll_iallgather_module);
	if (rc)
		return rc;
	coll_shuffle_progress_watch(m);

agreeing:
	while (wait && m->state == COLL_SHUFFLE_AGREEING)
		opal_progress();
	return OMPI_SUCCESS;
}
