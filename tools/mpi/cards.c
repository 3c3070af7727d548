// SPDX-License-Identifier: BSD-3-Clause
/*
 * What other processes say about themselves.  A card is written at MPI_Init and never changes, and
 * to get it from PMIx takes two switches of threads, so it is asked for once: communicators are
 * made again and again of the same processes.
 */
#include <stdlib.h>
#include <string.h>

#include "coll_shuffle.h"

#include "opal/class/opal_hash_table.h"

/* Cards that are kept, 200 bytes each; who talks to more processes asks again for the others. */
#define KEPT	4096

static opal_hash_table_t known;
static bool made;
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;

uint64_t coll_shuffle_name(const ompi_proc_t *proc)
{
	uint64_t name = 0;

	_Static_assert(sizeof(proc->super.proc_name) <= sizeof(name), "a name is a number");
	memcpy(&name, &proc->super.proc_name, sizeof(proc->super.proc_name));
	return name;
}

static bool find(uint64_t name, struct coll_shuffle_card *to)
{
	void *card = NULL;

	opal_mutex_lock(&lock);
	if (made && opal_hash_table_get_value_uint64(&known, name, &card) == OPAL_SUCCESS)
		memcpy(to, card, sizeof(*to));
	opal_mutex_unlock(&lock);
	return card;
}

/* Takes over @card, which another thread may have brought meanwhile. */
static void keep(uint64_t name, struct coll_shuffle_card *card)
{
	void *there;

	opal_mutex_lock(&lock);
	if (!made) {
		OBJ_CONSTRUCT(&known, opal_hash_table_t);
		made = opal_hash_table_init(&known, 64) == OPAL_SUCCESS;
		if (!made)
			OBJ_DESTRUCT(&known);
	}
	if (made && opal_hash_table_get_size(&known) < KEPT &&
	    opal_hash_table_get_value_uint64(&known, name, &there) != OPAL_SUCCESS &&
	    opal_hash_table_set_value_uint64(&known, name, card) == OPAL_SUCCESS)
		card = NULL;
	opal_mutex_unlock(&lock);
	free(card);
}

bool coll_shuffle_card_read(const coll_shuffle_module *m, int rank, struct coll_shuffle_card *to)
{
	ompi_proc_t *proc = ompi_comm_peer_lookup(m->comm, rank);
	struct coll_shuffle_card *card = NULL;
	uint64_t name = coll_shuffle_name(proc);
	size_t size = 0;
	int rc;

	if (find(name, to))
		return true;
	OPAL_MODEX_RECV(rc, &mca_coll_shuffle_component.super.collm_version,
			&proc->super.proc_name, (void **)&card, &size);
	if (rc != OPAL_SUCCESS || size != sizeof(*card) ||
	    card->version != mca_coll_shuffle_component.card.version ||
	    card->naddrs > COLL_SHUFFLE_ADDRS) {
		free(card);
		return false;
	}
	*to = *card;
	keep(name, card);
	return true;
}

void coll_shuffle_cards_forget(void)
{
	uint64_t name;
	void *card, *node;
	int rc;

	if (!made)
		return;
	for (rc = opal_hash_table_get_first_key_uint64(&known, &name, &card, &node);
	     rc == OPAL_SUCCESS;
	     rc = opal_hash_table_get_next_key_uint64(&known, &name, &card, node, &node))
		free(card);
	OBJ_DESTRUCT(&known);
	made = false;
}
