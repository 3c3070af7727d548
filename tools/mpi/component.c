// SPDX-License-Identifier: BSD-3-Clause
/*
 * The component: its parameters, and its card, which every process publishes at
 * MPI_Init.  With the cards of all members at hand, a communicator's ranks come to
 * the same decision without a message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll_shuffle.h"

#include "opal/mca/base/mca_base_var.h"
#include "opal/util/arch.h"
#include "opal/util/proc.h"

/* Ranks whose cards have another one decline: they would not make the same decisions, or not
 * understand each other's messages.  It is that of all of these, not of the card alone: the card,
 * coll_shuffle_hello and coll_shuffle_verdict, which calls are carried, and which of them by the
 * kernel.  The last ones since 4: the least or greatest of real numbers is combined by the kernel;
 * operators that do not commute and the program's for derived types are carried; a verdict names
 * racks.  Since 5: whether a multicast address is to be used.  Since 8: a key in the hello.
 * Since 9: hellos go by messages, for one network after the other; a verdict counts what it misses;
 * calls of neighbours are carried.  Since 10: all sizes go by rank 0's card; a hello has the number
 * of a trial.
 */
#define CARD_VERSION	10

static int component_register(void);
static int component_open(void);
static int component_close(void);

static int init_query(bool progress_threads, bool mpi_threads)
{
	(void)progress_threads;
	(void)mpi_threads;
	return OMPI_SUCCESS;
}

struct coll_shuffle_component mca_coll_shuffle_component = {
	.super = {
		.collm_version = {
			COLL_SHUFFLE_MCA_VERSION,
			.mca_component_name = "shuffle",
			MCA_BASE_MAKE_VERSION(component, 0, 1, 0),
			.mca_open_component = component_open,
			.mca_close_component = component_close,
			.mca_register_component_params = component_register,
		},
		.collm_data = { MCA_BASE_METADATA_PARAM_CHECKPOINT },
		.collm_init_query = init_query,
		.collm_comm_query = coll_shuffle_comm_query,
	},
};

static void parameter(const char *name, const char *help, int type, void *where)
{
	mca_base_component_var_register(&mca_coll_shuffle_component.super.collm_version, name,
					help, type, NULL, 0, 0, OPAL_INFO_LVL_4,
					MCA_BASE_VAR_SCOPE_READONLY, where);
}

static int component_register(void)
{
	struct coll_shuffle_component *c = &mca_coll_shuffle_component;

	c->priority = 90;
	parameter("priority", "Priority of the component; 0 or less turns it off",
		  MCA_BASE_VAR_TYPE_INT, &c->priority);
	c->verbose = 0;
	parameter("verbose", "1: one line for each communicator: used, or why not",
		  MCA_BASE_VAR_TYPE_INT, &c->verbose);
	c->sizes = "all";
	parameter("sizes", "Sizes of messages that go over AF_SHUFFLE: all, or LEAST-MOST in bytes; the value at rank 0 counts",
		  MCA_BASE_VAR_TYPE_STRING, &c->sizes);
	c->collectives = "none";
	parameter("collectives", "Collectives beside all-to-all that go over AF_SHUFFLE where each rank has a host of its own: all, none, or names such as barrier,bcast,allreduce; those that all ranks name. neighbor, which is not one of all: calls of neighbours, on any hosts",
		  MCA_BASE_VAR_TYPE_STRING, &c->collectives);
	c->multicast = NULL;
	parameter("multicast", "IP multicast address, the same at all ranks, for broadcasts of more than 1 KiB over AF_SHUFFLE; whether it reaches all ranks is tried",
		  MCA_BASE_VAR_TYPE_STRING, &c->multicast);
	c->saba = NULL;
	parameter("saba", "Profile by which shuffle-sabad shares links, see shuffle-sabad(8): sockets are registered with the daemon and marked with its level. Without it as SHUFFLE_SABA in the environment says",
		  MCA_BASE_VAR_TYPE_STRING, &c->saba);
	c->key = "none";
	parameter("key", "Group key, without which no packet is believed: none, or auto (rank 0 of each communicator draws one and tells the others over MPI); the value at rank 0 counts",
		  MCA_BASE_VAR_TYPE_STRING, &c->key);
	c->timeout = 0;
	parameter("timeout", "Seconds without any progress after which a call fails and names the ranks that are missing; 0: never, mpirun notices processes that die. A rank that enters the call later than that counts as dead",
		  MCA_BASE_VAR_TYPE_INT, &c->timeout);
	c->sndbuf = 0;
	parameter("sndbuf", "SO_SNDBUF of the sockets in bytes; 0: the kernel's default",
		  MCA_BASE_VAR_TYPE_INT, &c->sndbuf);
	c->rcvbuf = 0;
	parameter("rcvbuf", "SO_RCVBUF of the sockets in bytes; 0: the kernel's default",
		  MCA_BASE_VAR_TYPE_INT, &c->rcvbuf);
	c->if_include = NULL;
	parameter("if_include", "Interfaces and subnets whose addresses may be used, such as eth0,192.0.2.0/24; if neither this nor if_exclude is set: as btl_tcp_if_include and btl_tcp_if_exclude say",
		  MCA_BASE_VAR_TYPE_STRING, &c->if_include);
	c->if_exclude = NULL;
	parameter("if_exclude", "Interfaces and subnets whose addresses must not be used",
		  MCA_BASE_VAR_TYPE_STRING, &c->if_exclude);
	return OMPI_SUCCESS;
}

/* A parameter of another component, which need not be there; what the environment says, then. */
static const char *foreign_parameter(const char *name)
{
	const char *const *value = NULL;
	char env[64];
	int index;

	if (mca_base_var_find_by_name(name, &index) == OPAL_SUCCESS &&
	    mca_base_var_get_value(index, &value, NULL, NULL) == OPAL_SUCCESS && value)
		return *value;
	snprintf(env, sizeof(env), "OMPI_MCA_%s", name);
	return getenv(env);
}

static bool is_set(const char *list)
{
	return list && *list;
}

/* Does AF_SHUFFLE take these addresses?  Binding one loads the module, if it can be. */
static bool try_bind(const struct coll_shuffle_addr *a)
{
	struct coll_shuffle_component *c = &mca_coll_shuffle_component;
	struct sockaddr_shuffle bound;
	int fd;

	coll_shuffle_addr_of(a, &bound);
	fd = shuffle_bind(&bound, SOCK_CLOEXEC);
	if (fd < 0) {
		c->why = errno == EAFNOSUPPORT ? shuffle_family_str() : strerror(errno);
		return false;
	}
	close(fd);
	return true;
}

/* Once for each host.  Of what is to be left out some hosts may well have nothing. */
static void name_unknown(const char *list)
{
	char word[64];

	if (is_set(list) && coll_shuffle_addr_unknown(list, word, sizeof(word)) &&
	    !opal_process_info.my_local_rank)
		coll_shuffle_complain("coll_shuffle_if_include: no interface or address of %s is %s",
				      opal_process_info.nodename, word);
}

static void list_addresses(struct coll_shuffle_card *card)
{
	struct coll_shuffle_component *c = &mca_coll_shuffle_component;
	const char *include = c->if_include, *exclude = c->if_exclude;
	static const int families[] = { AF_INET, AF_INET6 };
	unsigned int i, n, found = 0;

	name_unknown(include);
	if (!is_set(include) && !is_set(exclude)) {
		include = foreign_parameter("btl_tcp_if_include");
		exclude = is_set(include) ? NULL : foreign_parameter("btl_tcp_if_exclude");
	}
	for (i = 0; i < 2; i++) {
		n = coll_shuffle_addr_list(families[i], include, exclude, card->addr + card->naddrs,
					   COLL_SHUFFLE_ADDRS / 2);
		found += n;
		if (n && try_bind(card->addr + card->naddrs))
			card->naddrs += n;
	}
	if (!found)
		c->why = "no interface has an address that may be used";
}

/* The same for all processes of a host, and for no others: what Open MPI calls a node. */
static uint64_t host_number(void)
{
	const char *name = opal_process_info.nodename;

	return coll_shuffle_hash(name ? name : "", name ? strlen(name) : 0);
}

static int component_open(void)
{
	struct coll_shuffle_component *c = &mca_coll_shuffle_component;
	struct coll_shuffle_card *card = &c->card;
	int rc = OMPI_SUCCESS;

	c->output = opal_output_open(NULL);
	opal_output_set_verbosity(c->output, c->verbose);

	memset(card, 0, sizeof(*card));
	card->version = CARD_VERSION;
	card->arch = opal_local_arch;
	if (!coll_shuffle_sizes_parse(c->sizes, &card->sizes))
		coll_shuffle_complain("coll_shuffle_sizes is not all or LEAST-MOST: %s",
				      c->sizes);
	if (!coll_shuffle_collectives_parse(c->collectives, &card->collectives))
		coll_shuffle_complain("coll_shuffle_collectives is not all, none or names of collectives: %s",
				      c->collectives);
	c->keyed = is_set(c->key) && strcmp(c->key, "none");
	if (c->keyed && strcmp(c->key, "auto"))
		/* who asks for one must not go without */
		coll_shuffle_complain("coll_shuffle_key is not none or auto, which is taken: %s",
				      c->key);
	if (!is_set(c->saba))
		c->saba = NULL;
	if (is_set(c->multicast))
		card->collectives |= COLL_SHUFFLE_MULTICAST_BIT;
	card->host = host_number();
	card->off = c->priority <= 0;
	if (!card->off)
		list_addresses(card);

	if (COLL_SHUFFLE_HAS_MODEX)
		OPAL_MODEX_SEND(rc, COLL_SHUFFLE_GLOBAL, &c->super.collm_version, card,
				sizeof(*card));
	return rc;
}

static int component_close(void)
{
	coll_shuffle_progress_close();
	coll_shuffle_persistent_close();
	coll_shuffle_cards_forget();
	coll_shuffle_disprove();
	opal_output_close(mca_coll_shuffle_component.output);
	return OMPI_SUCCESS;
}
