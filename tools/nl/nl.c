// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests over netlink, and what the kernel says about them.
 *
 * libnl drops the extended acknowledgment; its callbacks give the messages as
 * they came, and the attributes behind the error are read here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <netlink/attr.h>

#include "nl.h"
#include "program.h"

#define DUMP_TRIES	20

struct talk {
	struct nlmsghdr	*request;
	struct nl_reply	*reply;
	struct nl_said	*said;
	bool		done;
	bool		intr;
};

/**
 * nl_open() - a netlink socket that asks for extended acknowledgments
 * @protocol: NETLINK_ROUTE, NETLINK_GENERIC
 *
 * Return: the socket, or NULL after a message.
 */
struct nl_sock *nl_open(int protocol)
{
	struct nl_sock *sk = nl_socket_alloc();
	int err, one = 1, fd;

	if (!sk) {
		ctl_error("out of memory");
		return NULL;
	}
	err = nl_connect(sk, protocol);
	if (err) {
		ctl_error("netlink: %s", nl_geterror(err));
		nl_socket_free(sk);
		return NULL;
	}
	fd = nl_socket_get_fd(sk);
	/* older kernels have neither: messages are plainer then */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	nl_socket_set_buffer_size(sk, 1 << 20, 0);
	nl_socket_disable_seq_check(sk);
	nl_socket_disable_auto_ack(sk);
	return sk;
}

/**
 * nl_large_request() - an empty request with room for much
 * @type: message type
 * @flags: besides NLM_F_REQUEST
 * @room: bytes
 *
 * Return: the message; ends the program when there is no memory.
 */
struct nl_msg *nl_large_request(int type, int flags, size_t room)
{
	struct nl_msg *msg = nlmsg_alloc_size(room);

	if (!msg || !nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, type, 0, NLM_F_REQUEST | flags)) {
		ctl_error("out of memory");
		exit(CTL_ENV);
	}
	return msg;
}

/**
 * nl_request() - an empty request
 * @type: message type
 * @flags: besides NLM_F_REQUEST
 *
 * Return: the message; ends the program when there is no memory.
 */
struct nl_msg *nl_request(int type, int flags)
{
	return nl_large_request(type, flags, 65536);
}

static void read_policy(struct nl_said *said, struct nlattr *policy)
{
	struct nlattr *a;
	int rem;

	nla_for_each_nested(a, policy, rem) {
		switch (nla_type(a)) {
		case NL_POLICY_TYPE_ATTR_MIN_VALUE_S:
		case NL_POLICY_TYPE_ATTR_MIN_VALUE_U:
			said->min = nla_get_u64(a);
			said->has_range = true;
			break;
		case NL_POLICY_TYPE_ATTR_MAX_VALUE_S:
		case NL_POLICY_TYPE_ATTR_MAX_VALUE_U:
			said->max = nla_get_u64(a);
			said->has_range = true;
			break;
		}
	}
}

static void read_tlvs(struct talk *t, void *start, int len)
{
	struct nl_said *said = t->said;
	struct nlattr *a;
	unsigned int off;
	int rem;

	nla_for_each_attr(a, start, len, rem) {
		switch (nla_type(a)) {
		case NLMSGERR_ATTR_MSG:
			nla_strlcpy(said->text, a, sizeof(said->text));
			break;
		case NLMSGERR_ATTR_OFFS:
			off = nla_get_u32(a);
			if (off >= NLMSG_HDRLEN && off + NLA_HDRLEN <= t->request->nlmsg_len)
				said->attr = nla_type((struct nlattr *)((char *)t->request + off));
			break;
		case NLMSGERR_ATTR_POLICY:
			read_policy(said, a);
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			said->missing = nla_get_u32(a);
			break;
		}
	}
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *h = (void *)((char *)e - NLMSG_HDRLEN);
	struct talk *t = arg;
	int skip = sizeof(*e);

	(void)from;
	t->said->error = e->error;
	t->done = true;
	if (h->nlmsg_flags & NLM_F_ACK_TLVS) {
		/* the request is quoted unless it was capped */
		if (!(h->nlmsg_flags & NLM_F_CAPPED))
			skip += e->msg.nlmsg_len - NLMSG_HDRLEN;
		skip = NLMSG_ALIGN(skip);
		if ((int)h->nlmsg_len - NLMSG_HDRLEN > skip)
			read_tlvs(t, (char *)e + skip, h->nlmsg_len - NLMSG_HDRLEN - skip);
	}
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct talk *t = arg;

	/* an extended acknowledgment may carry a warning */
	if (h->nlmsg_flags & NLM_F_ACK_TLVS)
		on_error(NULL, nlmsg_data(h), arg);
	t->done = true;
	return NL_STOP;
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct talk *t = arg;

	t->done = true;
	if (nlmsg_datalen(h) >= (int)sizeof(int)) {
		int err = *(int *)nlmsg_data(h);

		if (err < 0)
			t->said->error = err;
		if (h->nlmsg_flags & NLM_F_ACK_TLVS)
			read_tlvs(t, (char *)nlmsg_data(h) + sizeof(int),
				  nlmsg_datalen(h) - sizeof(int));
	}
	return NL_STOP;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct talk *t = arg;
	struct nl_msg **more;

	if (nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP_INTR)
		t->intr = true;
	if (!t->reply)
		return NL_OK;
	more = realloc(t->reply->msg, (t->reply->n + 1) * sizeof(*more));
	if (!more) {
		ctl_error("out of memory");
		exit(CTL_ENV);
	}
	t->reply->msg = more;
	nlmsg_get(msg);
	more[t->reply->n++] = msg;
	return NL_OK;
}

/**
 * nl_reply_free() - forget what came back
 * @reply: the messages
 */
void nl_reply_free(struct nl_reply *reply)
{
	unsigned int i;

	for (i = 0; i < reply->n; i++)
		nlmsg_free(reply->msg[i]);
	free(reply->msg);
	memset(reply, 0, sizeof(*reply));
}

static int talk_once(struct nl_sock *sk, struct nl_msg *msg, struct talk *t)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int err;

	if (!cb)
		return -ENOMEM;
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, t);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, t);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, t);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, t);
	nlmsg_hdr(msg)->nlmsg_seq = NL_AUTO_SEQ;
	nl_complete_msg(sk, msg);
	err = nl_send(sk, msg);
	while (err >= 0 && !t->done) {
		err = nl_recvmsgs(sk, cb);
		if (err == -NLE_DUMP_INTR) {
			t->intr = true;
			err = 0;
		}
	}
	nl_cb_put(cb);
	if (err < 0 && !t->said->error) {
		t->said->error = -EIO;
		snprintf(t->said->text, sizeof(t->said->text), "netlink: %s", nl_geterror(err));
	}
	return t->said->error;
}

/**
 * nl_talk() - send a request and wait for its end
 * @sk: where
 * @msg: the request, with NLM_F_DUMP or not; freed
 * @reply: messages that come back, NULL to ignore them; freed by the caller
 * @said: the answer
 *
 * A dump that was interrupted by a change is started again.
 *
 * Return: 0 or -errno, as in @said.
 */
int nl_talk(struct nl_sock *sk, struct nl_msg *msg, struct nl_reply *reply,
	    struct nl_said *said)
{
	struct talk t;
	int i;

	/* NLM_F_DUMP is two bits, one of which means NLM_F_REPLACE elsewhere */
	if ((nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_ACK;
	if (reply)
		memset(reply, 0, sizeof(*reply));
	for (i = 0; i < DUMP_TRIES; i++) {
		memset(said, 0, sizeof(*said));
		said->missing = -1;
		said->attr = -1;
		memset(&t, 0, sizeof(t));
		t.request = nlmsg_hdr(msg);
		t.reply = reply;
		t.said = said;
		talk_once(sk, msg, &t);
		if (said->error || !t.intr)
			break;
		if (reply && i < DUMP_TRIES - 1)
			nl_reply_free(reply);
	}
	if (said->error && reply)
		nl_reply_free(reply);
	nlmsg_free(msg);
	return said->error;
}

/**
 * nl_failed() - print why a request failed
 * @said: the answer
 * @what: what was to be done, NULL for nothing in front of the kernel's words
 *
 * Return: CTL_KERNEL.
 */
int nl_failed(const struct nl_said *said, const char *what)
{
	ctl_error("%s%s%s", what ? what : "", what ? ": " : "",
		  *said->text ? said->text : strerror(-said->error));
	return CTL_KERNEL;
}
