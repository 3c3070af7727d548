// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages that sendmsg() copies into, and those that come back: when the last packet
 * that holds one of them has gone, it is filled again.  Allocating pages, and clearing them
 * where the kernel is built to, took a sixth of what a long message costs.
 *
 * Nobody says that a page has become free.  It is seen by its reference count when the next
 * one is wanted; packets leave in about the order in which they were filled.
 *
 * ssk->pages.lock guards all of it.  What is kept is charged to the socket, whether a packet
 * holds it, too, or not.  It is given back when no page has been wanted for a second or
 * two, and when memory is scarce.
 */
#include <linux/slab.h>

#include "../mem.h"
#include "../mib.h"
#include "../netns.h"
#include "../sock.h"
#include "pages.h"

/* What skb_page_frag_refill() allocates, unless memory is in pieces: those are not kept. */
#define SHUFFLE_PAGE_BYTES	max(32768UL, PAGE_SIZE)
#define SHUFFLE_PAGES_MAX	512
#define SHUFFLE_PAGES_IDLE	HZ
/* of those that have waited longest, in case that one of them hangs in a queue */
#define SHUFFLE_PAGES_LOOK	4

/* For one more than have ever been kept since the last were given back: those that are
 * filled again meanwhile stay charged.  pages.lock held.
 */
static bool charge_page(struct shuffle_sock *ssk)
{
	struct shuffle_pages *p = &ssk->pages;
	bool ok;

	lockdep_assert_held(&p->lock);
	if (p->n < p->charged)
		return true;
	spin_lock_bh(&ssk->lock);
	ok = sk_wmem_schedule(&ssk->sk, SHUFFLE_PAGE_BYTES);
	if (ok)
		sk_mem_charge(&ssk->sk, SHUFFLE_PAGE_BYTES);
	spin_unlock_bh(&ssk->lock);
	p->charged += ok;
	return ok;
}

static struct page *ring_pop(struct shuffle_sock *ssk)
{
	struct shuffle_pages *p = &ssk->pages;
	struct page *page = p->used[p->first];

	lockdep_assert_held(&p->lock);
	p->first = (p->first + 1) % SHUFFLE_PAGES_MAX;
	p->n--;
	return page;
}

static void ring_push(struct shuffle_sock *ssk, struct page *page)
{
	struct shuffle_pages *p = &ssk->pages;

	lockdep_assert_held(&p->lock);
	p->used[(p->first + p->n++) % SHUFFLE_PAGES_MAX] = page;
}

static void drop_pages(struct shuffle_sock *ssk)
{
	struct shuffle_pages *p = &ssk->pages;

	lockdep_assert_held(&p->lock);
	while (p->n)
		put_page(ring_pop(ssk));
	spin_lock_bh(&ssk->lock);
	sk_mem_uncharge(&ssk->sk, p->charged * SHUFFLE_PAGE_BYTES);
	spin_unlock_bh(&ssk->lock);
	p->charged = 0;
}

/* A full page: keep it in sight, if the socket may have so many. */
static void keep_page(struct shuffle_sock *ssk, struct page *page)
{
	struct shuffle_pages *p = &ssk->pages;
	u32 most = min_t(u32, SHUFFLE_PAGES_MAX,
			 2 * (u32)READ_ONCE(ssk->sk.sk_sndbuf) / SHUFFLE_PAGE_BYTES);

	/* what others need for data goes first */
	if (shuffle_mem_scarce())
		most = 0;
	/* also when SO_SNDBUF is less than it was */
	if (p->charged > most)
		drop_pages(ssk);
	if (!p->used)
		p->used = kmalloc_array(SHUFFLE_PAGES_MAX, sizeof(*p->used),
					GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!p->used || p->n >= most || page_is_pfmemalloc(page) ||
	    page_size(page) != SHUFFLE_PAGE_BYTES || !charge_page(ssk)) {
		put_page(page);
		return;
	}
	ring_push(ssk, page);
	schedule_delayed_work(&p->idle_work, SHUFFLE_PAGES_IDLE);
}

/* One that nobody else holds any more, or NULL. */
static struct page *reuse_page(struct shuffle_sock *ssk)
{
	u32 n = min_t(u32, ssk->pages.n, SHUFFLE_PAGES_LOOK);
	struct page *page;

	for (; n; n--) {
		page = ring_pop(ssk);
		if (page_ref_count(page) == 1) {
			SHUFFLE_INC(ssk->sn, PageReuse);
			return page;
		}
		ring_push(ssk, page);
	}
	return NULL;
}

/**
 * shuffle_pages_room() - see to it that there is room in ssk->pages.frag
 * @ssk: socket
 * @bytes: so many at least, fewer than a page
 *
 * Context: process, ssk->pages.lock held, may sleep.
 * Return: false if there is no memory.
 */
bool shuffle_pages_room(struct shuffle_sock *ssk, unsigned int bytes)
{
	struct page_frag *frag = &ssk->pages.frag;
	struct page *page;

	lockdep_assert_held(&ssk->pages.lock);
	WRITE_ONCE(ssk->pages.used_at, jiffies);
	if (frag->page) {
		if (page_ref_count(frag->page) == 1)
			frag->offset = 0;
		if (frag->offset + bytes <= frag->size)
			return true;
		keep_page(ssk, frag->page);
		frag->page = NULL;
	}
	page = reuse_page(ssk);
	if (!page)
		return skb_page_frag_refill(bytes, frag, GFP_KERNEL);
	frag->page = page;
	frag->offset = 0;
	frag->size = SHUFFLE_PAGE_BYTES;
	return true;
}

static void idle(struct work_struct *work)
{
	struct shuffle_sock *ssk = container_of(to_delayed_work(work), struct shuffle_sock,
						pages.idle_work);
	struct shuffle_pages *p = &ssk->pages;

	/* its holder may be waiting for the user's memory, for ever */
	if (!mutex_trylock(&p->lock)) {
		schedule_delayed_work(&p->idle_work, SHUFFLE_PAGES_IDLE);
		return;
	}
	if (time_after_eq(jiffies, READ_ONCE(p->used_at) + SHUFFLE_PAGES_IDLE))
		drop_pages(ssk);
	if (p->charged)
		schedule_delayed_work(&p->idle_work, SHUFFLE_PAGES_IDLE);
	mutex_unlock(&p->lock);
}

/**
 * shuffle_pages_drop() - give back what is kept: there is no memory for data
 * @ssk: socket
 *
 * Context: process, without ssk->pages.lock.  Nothing happens if somebody fills a page.
 */
void shuffle_pages_drop(struct shuffle_sock *ssk)
{
	if (!mutex_trylock(&ssk->pages.lock))
		return;
	drop_pages(ssk);
	mutex_unlock(&ssk->pages.lock);
}

/**
 * shuffle_pages_init() - of a new socket
 * @ssk: socket
 */
void shuffle_pages_init(struct shuffle_sock *ssk)
{
	mutex_init(&ssk->pages.lock);
	INIT_DELAYED_WORK(&ssk->pages.idle_work, idle);
}

/**
 * shuffle_pages_exit() - give all back
 * @ssk: socket that is being closed: no sendmsg() runs
 *
 * Context: process.
 */
void shuffle_pages_exit(struct shuffle_sock *ssk)
{
	struct shuffle_pages *p = &ssk->pages;

	cancel_delayed_work_sync(&p->idle_work);
	mutex_lock(&p->lock);
	drop_pages(ssk);
	mutex_unlock(&p->lock);
	kfree(p->used);
	if (p->frag.page)
		put_page(p->frag.page);
}
