// SPDX-License-Identifier: GPL-2.0-or-later
/* The steps of net.h between threads of one process, see fake_net.h. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fake_net.h"

/* A message that nobody has taken. */
struct letter {
	struct letter *next;
	uint64_t id;
	unsigned int from;
	size_t len;
	char data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER;
static struct letter **box;		/* by receiver */

void net_begin(struct net *net, struct net_op *op, unsigned int step)
{
	unsigned int i, n = net->group.count;

	memset(op, 0, sizeof(*op));
	op->net = net;
	op->id = step;
	op->out = memory(n, sizeof(*op->out));
	op->out_len = memory(n, sizeof(*op->out_len));
	op->no_in = memory(n, sizeof(*op->no_in));
	op->in = memory(n, sizeof(*op->in));
	op->in_len = memory(n, sizeof(*op->in_len));
	for (i = 0; i < n; i++) {
		op->out_len[i] = SHUFFLE_ABSENT;
		op->no_in[i] = 1;
	}
}

void net_send(struct net_op *op, unsigned int to, const void *buf, uint64_t len)
{
	op->out[to] = buf;
	op->out_len[to] = len;
}

void net_expect(struct net_op *op, unsigned int from)
{
	op->no_in[from] = 0;
	op->expected++;
}

static void take(struct net_op *op)
{
	struct letter **at = &box[op->net->rank], *l;

	while ((l = *at)) {
		if (l->id != op->id) {
			at = &l->next;
			continue;
		}
		if (op->no_in[l->from])
			die("host %u: nothing is expected of %u", op->net->rank, l->from);
		op->no_in[l->from] = 1;
		op->in[l->from] = memory(l->len, 1);
		memcpy(op->in[l->from], l->data, l->len);
		op->in_len[l->from] = l->len;
		op->expected--;
		*at = l->next;
		free(l);
	}
}

void net_run(struct net_op *op)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < op->net->group.count; i++) {
		struct letter *l;

		if (op->out_len[i] == SHUFFLE_ABSENT)
			continue;
		l = memory(1, sizeof(*l) + op->out_len[i]);
		l->id = op->id;
		l->from = op->net->rank;
		l->len = op->out_len[i];
		if (l->len)
			memcpy(l->data, op->out[i], l->len);
		l->next = box[i];
		box[i] = l;
	}
	pthread_cond_broadcast(&posted);
	for (take(op); op->expected; take(op))
		pthread_cond_wait(&posted, &lock);
	pthread_mutex_unlock(&lock);
}

void net_end(struct net_op *op)
{
	unsigned int i;

	for (i = 0; i < op->net->group.count; i++)
		free(op->in[i]);
	free(op->out);
	free(op->out_len);
	free(op->no_in);
	free(op->in);
	free(op->in_len);
}

struct start {
	struct net net;
	void (*host)(struct net *net, void *arg);
	void *arg;
};

static void *run(void *arg)
{
	struct start *s = arg;

	s->host(&s->net, s->arg);
	return NULL;
}

/**
 * fake_run() - run hosts, each as a thread
 * @hosts: their number
 * @host: what each of them does; it may call dist_splitters()
 * @arg: for @host
 *
 * Ends the program if a message is left that nobody has expected.
 */
void fake_run(unsigned int hosts, void (*host)(struct net *net, void *arg), void *arg)
{
	struct start *s = memory(hosts, sizeof(*s));
	pthread_t *thread = memory(hosts, sizeof(*thread));
	unsigned int i;

	box = memory(hosts, sizeof(*box));
	for (i = 0; i < hosts; i++) {
		s[i] = (struct start){ .host = host, .arg = arg };
		s[i].net.group.count = hosts;
		s[i].net.rank = i;
		if (pthread_create(&thread[i], NULL, run, &s[i]))
			die("no thread for host %u", i);
	}
	for (i = 0; i < hosts; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < hosts; i++)
		if (box[i])
			die("host %u: nobody has taken a message of %u", i, box[i]->from);
	free(box);
	free(thread);
	free(s);
}
