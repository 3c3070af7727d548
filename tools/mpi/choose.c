// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which addresses the members of a communicator use, and whether they use AF_SHUFFLE at all.  Every
 * rank has the cards of all members and comes to the same decision without a message.
 *
 * Addresses are looked for in two ways:
 *
 * 1. networks in which every member has one, in the order of rank 0's: the next one is tried if
 *    somebody does not reach all others by the one before (agree.c);
 * 2. else, where hosts are routed to each other, each member's first address of one IP version.
 *
 * An address that two hosts have (docker0, say) is nobody's.
 */
#include <stdlib.h>
#include <string.h>

#include "coll_shuffle.h"

/* The address of a host: to find those that several hosts have. */
struct held {
	struct coll_shuffle_addr addr;
	uint64_t host;
};

static int compare_addr(const void *a, const void *b)
{
	const struct coll_shuffle_addr *x = a, *y = b;

	if (x->ip_family != y->ip_family)
		return x->ip_family < y->ip_family ? -1 : 1;
	return memcmp(x->bytes, y->bytes, sizeof(x->bytes));
}

static int compare_held(const void *a, const void *b)
{
	const struct held *x = a, *y = b;
	int order = compare_addr(&x->addr, &y->addr);

	if (order)
		return order;
	return x->host < y->host ? -1 : x->host > y->host;
}

/* All addresses of all members, sorted; returns their number. */
static size_t list_held(const struct coll_shuffle_card *cards, int n, struct held *held)
{
	size_t count = 0;
	int i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < cards[i].naddrs; k++)
			held[count++] = (struct held){ cards[i].addr[k], cards[i].host };
	qsort(held, count, sizeof(*held), compare_held);
	return count;
}

/* Does another host have the address, too? */
static bool shared(const struct held *held, size_t count, const struct coll_shuffle_addr *addr)
{
	size_t low = 0, high = count, mid, i;

	while (low < high) {
		mid = (low + high) / 2;
		if (compare_addr(&held[mid].addr, addr) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	/* those that are equal are sorted by host */
	for (i = low + 1; i < count && !compare_addr(&held[i].addr, addr); i++)
		if (held[i].host != held[low].host)
			return true;
	return false;
}

/* A member's first address that only its host has: in @net, or of an IP version. */
static const struct coll_shuffle_addr *pick(const struct coll_shuffle_card *card,
					    const struct coll_shuffle_addr *net, int ip_family,
					    const struct held *held, size_t count)
{
	int k;

	for (k = 0; k < card->naddrs; k++) {
		const struct coll_shuffle_addr *a = &card->addr[k];

		if (net ? !coll_shuffle_addr_same_net(net, a) : a->ip_family != ip_family)
			continue;
		if (!shared(held, count, a))
			return a;
	}
	return NULL;
}

/* Our address, if all members have one; else NULL, and *who has none. */
static const struct coll_shuffle_addr *pick_all(const struct coll_shuffle_card *cards, int n,
						int self, const struct coll_shuffle_addr *net,
						int ip_family, const struct held *held,
						size_t count, int *who)
{
	const struct coll_shuffle_addr *a, *mine = NULL;
	int i;

	for (i = 0; i < n; i++) {
		a = pick(&cards[i], net, ip_family, held, count);
		if (!a) {
			*who = i;
			return NULL;
		}
		if (i == self)
			mine = a;
	}
	return mine;
}

static bool in_net_before(const struct coll_shuffle_card *card, int k)
{
	int i;

	for (i = 0; i < k; i++)
		if (card->addr[i].bits <= card->addr[k].bits &&
		    coll_shuffle_addr_same_net(&card->addr[i], &card->addr[k]))
			return true;
	return false;
}

/* Ours in each network, into @found; returns how many, or 0 and *who has none. */
static int pick_addrs(const struct coll_shuffle_card *cards, int n, int self, int *who,
		      const struct coll_shuffle_addr **found)
{
	struct held *held = malloc((size_t)n * COLL_SHUFFLE_ADDRS * sizeof(*held));
	const struct coll_shuffle_addr *a = NULL;
	int k, nets = 0;
	size_t count;

	*who = 0;
	if (!held)
		return 0;
	count = list_held(cards, n, held);
	for (k = 0; k < cards[0].naddrs; k++) {
		if (in_net_before(&cards[0], k))
			continue;
		a = pick_all(cards, n, self, &cards[0].addr[k], 0, held, count, who);
		if (a)
			found[nets++] = a;
	}
	a = NULL;
	if (!nets)
		a = pick_all(cards, n, self, NULL, AF_INET, held, count, who);
	if (!nets && !a)
		a = pick_all(cards, n, self, NULL, AF_INET6, held, count, who);
	if (a)
		found[nets++] = a;
	free(held);
	return nets;
}

/* Why a member cannot take part, or NULL. */
static const char *unfit(const struct coll_shuffle_card *card)
{
	if (card->arch != mca_coll_shuffle_component.card.arch)
		return "its data representation differs";
	if (card->off)
		return "it is switched off there";
	if (!card->naddrs)
		return "AF_SHUFFLE is not available there";
	return NULL;
}

int coll_shuffle_compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int count_hosts(const struct coll_shuffle_card *cards, int n)
{
	uint64_t *hosts = malloc(n * sizeof(*hosts));
	int i, count = 1;

	if (!hosts)
		return 0;
	for (i = 0; i < n; i++)
		hosts[i] = cards[i].host;
	qsort(hosts, n, sizeof(*hosts), coll_shuffle_compare_numbers);
	for (i = 1; i < n; i++)
		count += hosts[i] != hosts[i - 1];
	free(hosts);
	return count;
}

/* From the cards of all. */
static void choose(coll_shuffle_module *m, struct coll_shuffle_card *cards)
{
	uint32_t collectives = UINT32_MAX;
	bool several = false;
	int i, hosts;

	for (i = 0; i < m->size; i++) {
		m->who = i;
		m->why = coll_shuffle_card_read(m, i, &cards[i]) ? unfit(&cards[i]) :
			 "it has no such component";
		if (m->why)
			return;
		m->local[i] = cards[i].host == mca_coll_shuffle_component.card.host;
		several |= cards[i].host != cards[0].host;
		collectives &= cards[i].collectives;
	}
	hosts = count_hosts(cards, m->size);
	m->who = 0;
	m->why = "all ranks are on this host";
	if (!several)
		return;
	m->sizes = cards[0].sizes;
	m->why = "none of its addresses is the host's alone and of the others' kind";
	m->naddrs = pick_addrs(cards, m->size, m->rank, &m->who, m->addr);
	/* between ranks of a host shared memory is faster, which only all-to-alls use beside us */
	if (m->naddrs)
		m->collectives = hosts == m->size ? collectives :
						    collectives & COLL_SHUFFLE_NEIGHBOR_BIT;
	/* ours are on our own card, which stays */
	for (i = 0; i < m->naddrs; i++)
		m->addr[i] = mca_coll_shuffle_component.card.addr +
			     (m->addr[i] - cards[m->rank].addr);
}

void coll_shuffle_choose(coll_shuffle_module *m)
{
	struct coll_shuffle_card *cards;

	if (m->chosen)
		return;
	m->chosen = true;
	m->who = m->rank;
	m->why = "out of memory";
	cards = calloc(m->size, sizeof(*cards));
	if (cards)
		choose(m, cards);
	free(cards);
}
