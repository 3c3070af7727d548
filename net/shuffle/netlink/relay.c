// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: relays. */
#include "netlink.h"
#include "../relay.h"

/* What a relay has if nobody says so: buffers, and records of its table */
#define DEFAULT_BYTES	(4U << 20)
#define DEFAULT_RECORDS	4096

/* A member of the group.  0 or -EINVAL, with extack. */
static int read_member(const struct nlattr *nest, struct shuffle_edge *edge,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SHUFFLE_A_RELAY_MEMBER_MAX + 1], *v4, *v6, *local4, *local6;
	struct sockaddr_shuffle *a = &edge->member;
	int err;

	err = nla_parse_nested(tb, SHUFFLE_A_RELAY_MEMBER_MAX, nest,
			       shuffle_relay_member_nl_policy, extack);
	if (err)
		return err;
	v4 = tb[SHUFFLE_A_RELAY_MEMBER_IPV4];
	v6 = tb[SHUFFLE_A_RELAY_MEMBER_IPV6];
	if (!v4 == !v6 || !tb[SHUFFLE_A_RELAY_MEMBER_PORT]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "member: ipv4 or ipv6, and port, are needed");
		return -EINVAL;
	}
	local4 = tb[SHUFFLE_A_RELAY_MEMBER_LOCAL_IPV4];
	local6 = tb[SHUFFLE_A_RELAY_MEMBER_LOCAL_IPV6];
	if (v6 ? local4 : local6) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "member: both ends have one family");
		return -EINVAL;
	}
	*a = (struct sockaddr_shuffle) {
		.shs_family = shuffle_params.family,
		.shs_ip_family = v6 ? AF_INET6 : AF_INET,
		.shs_port = htons(nla_get_u32(tb[SHUFFLE_A_RELAY_MEMBER_PORT])),
	};
	memcpy(a->shs_addr, nla_data(v6 ?: v4), v6 ? 16 : 4);
	if (local4)
		memcpy(edge->local, nla_data(local4), 4);
	if (local6)
		memcpy(edge->local, nla_data(local6), 16);
	return 0;
}

/* All members, in order.  The group, to be freed, or an ERR_PTR. */
static struct shuffle_group *read_group(struct genl_info *info, size_t *bytes)
{
	struct shuffle_group *group;
	const struct nlattr *nest;
	struct shuffle_edge *edges;
	u32 n = 0, i = 0;
	int rem, err;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem)
		n += nla_type(nest) == SHUFFLE_A_RELAY_MEMBER;
	if (!n || n > SHUFFLE_MAX_MEMBERS) {
		NL_SET_ERR_MSG(info->extack, "member: none, or more than 4096");
		return ERR_PTR(-EINVAL);
	}
	*bytes = sizeof(*group) + n * sizeof(*edges);
	group = kvzalloc(*bytes, GFP_KERNEL);
	if (!group)
		return ERR_PTR(-ENOMEM);
	group->size = sizeof(*group);
	group->member_size = sizeof(*edges);
	group->count = n;
	edges = shuffle_relay_edges(group);
	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(nest) != SHUFFLE_A_RELAY_MEMBER)
			continue;
		err = read_member(nest, &edges[i++], info->extack);
		if (err) {
			kvfree(group);
			return ERR_PTR(err);
		}
	}
	return group;
}

/* Members that get the result; new->merge.to becomes the first one.  0 or -EINVAL, with extack. */
static int read_to(struct genl_info *info, struct shuffle_relay_new *new, unsigned long *to)
{
	const struct nlattr *a;
	int rem, n = 0;
	u32 rank;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(a) != SHUFFLE_A_RELAY_TO)
			continue;
		rank = nla_get_u32(a);
		if (rank >= new->group->count || rank == new->group->rank ||
		    __test_and_set_bit(rank, to)) {
			NL_SET_ERR_MSG_ATTR(info->extack, a,
					    "to: no such rank, our own, or twice");
			return -EINVAL;
		}
		n++;
	}
	if (n > 1 && new->group->count > SHUFFLE_SAME_MEMBERS) {
		NL_SET_ERR_MSG(info->extack, "to: several, and more than 256 members");
		return -EINVAL;
	}
	if (n > 1)
		new->merge.flags |= SHUFFLE_MERGE_SAME;
	new->merge.to = find_first_bit(to, SHUFFLE_MAX_MEMBERS);
	return 0;
}

/* Members that send us something.  0 or -EINVAL, with extack. */
static int read_from(struct genl_info *info, const struct shuffle_relay_new *new,
		     unsigned long *from)
{
	const struct nlattr *a;
	int rem, n = 0;
	u32 rank;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(a) != SHUFFLE_A_RELAY_FROM)
			continue;
		rank = nla_get_u32(a);
		if (rank >= new->group->count || rank == new->group->rank ||
		    (!(new->merge.flags & SHUFFLE_MERGE_SAME) && rank == new->merge.to) ||
		    __test_and_set_bit(rank, from)) {
			NL_SET_ERR_MSG_ATTR(info->extack, a,
					    "from: no such rank, our own, the only receiver's, or twice");
			return -EINVAL;
		}
		n++;
	}
	if (!n || n > SHUFFLE_SAME_MEMBERS) {
		NL_SET_ERR_MSG(info->extack, "from: none, or more than 256");
		return -EINVAL;
	}
	return 0;
}

static u32 number(const struct nlattr *a, u32 otherwise)
{
	return a ? nla_get_u32(a) : otherwise;
}

/* A namespace's owner may not have more of the machine's memory than the machine's own gives. */
static u32 bytes_max(const struct sk_buff *skb)
{
	const struct shuffle_config *cfg = &shuffle_net(&init_net)->dev0.cfg;

	if (shuffle_netlink_init_admin(skb))
		return U32_MAX;
	return min(READ_ONCE(cfg->rcvbuf), READ_ONCE(cfg->sndbuf));
}

/* How records are merged.  0, -EINVAL or -EPERM, with extack. */
static int read_merge(const struct sk_buff *skb, struct genl_info *info,
		      struct shuffle_relay_new *new)
{
	struct nlattr **a = info->attrs;
	struct shuffle_merge *m = &new->merge;

	new->group->rank = nla_get_u32(a[SHUFFLE_A_RELAY_RANK]);
	if (new->group->rank >= new->group->count) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[SHUFFLE_A_RELAY_RANK],
				    "rank: there is no such member");
		return -EINVAL;
	}
	BUILD_BUG_ON((int)SHUFFLE_NL_MERGE_OPER_AND != (int)SHUFFLE_MERGE_AND);
	m->oper = number(a[SHUFFLE_A_RELAY_OPER], SHUFFLE_MERGE_SUM);
	m->senders = number(a[SHUFFLE_A_RELAY_SENDERS], 0);
	if (a[SHUFFLE_A_RELAY_SORTED] && nla_get_u8(a[SHUFFLE_A_RELAY_SORTED])) {
		m->flags = SHUFFLE_MERGE_SORTED;
		if (a[SHUFFLE_A_RELAY_RECORDS] || a[SHUFFLE_A_RELAY_FLUSH]) {
			NL_SET_ERR_MSG(info->extack, "records, flush: sorted ones need no table");
			return -EINVAL;
		}
	} else {
		m->records = number(a[SHUFFLE_A_RELAY_RECORDS], DEFAULT_RECORDS);
		m->flush_us = number(a[SHUFFLE_A_RELAY_FLUSH], 0);
	}
	new->bytes = number(a[SHUFFLE_A_RELAY_BYTES], DEFAULT_BYTES);
	if (new->bytes > bytes_max(skb)) {
		NL_SET_ERR_MSG(info->extack, "bytes: more than the machine's own rcvbuf or sndbuf");
		return -EPERM;
	}
	new->key = a[SHUFFLE_A_RELAY_KEY] ? nla_data(a[SHUFFLE_A_RELAY_KEY]) : NULL;
	return 0;
}

int shuffle_nl_relay_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct shuffle_relay_new new = {};
	unsigned long *from, *to;
	int err = -ENOMEM;

	if (GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_RELAY_NAME) ||
	    GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_RELAY_RANK) ||
	    GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_RELAY_TO)) {
		NL_SET_ERR_MSG(info->extack, "name, rank and to are needed");
		return -EINVAL;
	}
	new.name = nla_data(info->attrs[SHUFFLE_A_RELAY_NAME]);
	if (!*new.name) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[SHUFFLE_A_RELAY_NAME],
				    "name: it is empty");
		return -EINVAL;
	}
	new.group = read_group(info, &new.group_bytes);
	if (IS_ERR(new.group))
		return PTR_ERR(new.group);
	from = bitmap_zalloc(SHUFFLE_MAX_MEMBERS, GFP_KERNEL);
	to = bitmap_zalloc(SHUFFLE_MAX_MEMBERS, GFP_KERNEL);
	new.from = from;
	new.to = to;
	if (from && to)
		err = read_merge(skb, info, &new) ?: read_to(info, &new, to) ?:
		      read_from(info, &new, from);
	if (!err)
		err = shuffle_relay_add(shuffle_net(genl_info_net(info)), &new, info->extack);
	bitmap_free(to);
	bitmap_free(from);
	kvfree(new.group);
	return err;
}

/* The name of a request, or NULL, with extack. */
static const char *name_of(struct genl_info *info)
{
	if (shuffle_netlink_once(info->nlhdr, info->extack))
		return NULL;
	if (GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_RELAY_NAME)) {
		NL_SET_ERR_MSG(info->extack, "name is missing");
		return NULL;
	}
	return nla_data(info->attrs[SHUFFLE_A_RELAY_NAME]);
}

int shuffle_nl_relay_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	const char *name = name_of(info);
	int err = -EINVAL;

	if (name)
		err = shuffle_relay_del(shuffle_net(genl_info_net(info)), name);
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[SHUFFLE_A_RELAY_NAME],
				    "name: no such relay here");
	return err;
}

/* sn->relay_mutex held. */
static int fill_relay(struct sk_buff *skb, const void *arg)
{
	const struct shuffle_relay *r = arg;
	const struct shuffle_sock *ssk = shuffle_sk(r->sock->sk);
	const struct shuffle_merge *m = &r->merge;
	u32 i;

	if (nla_put_string(skb, SHUFFLE_A_RELAY_NAME, r->name) ||
	    nla_put_u32(skb, SHUFFLE_A_RELAY_RANK, ssk->group->rank) ||
	    nla_put_u32(skb, SHUFFLE_A_RELAY_OPER, m->oper) ||
	    nla_put_u8(skb, SHUFFLE_A_RELAY_SORTED, m->flags & SHUFFLE_MERGE_SORTED) ||
	    nla_put_u32(skb, SHUFFLE_A_RELAY_SENDERS, m->senders) ||
	    (m->records && nla_put_u32(skb, SHUFFLE_A_RELAY_RECORDS, m->records)) ||
	    (m->records && nla_put_u32(skb, SHUFFLE_A_RELAY_FLUSH, m->flush_us)) ||
	    nla_put_u32(skb, SHUFFLE_A_RELAY_BYTES, r->bytes) ||
	    shuffle_put_u64(skb, SHUFFLE_A_RELAY_SOCKET, ssk->cookie) ||
	    nla_put_u32(skb, SHUFFLE_A_RELAY_RUNNING, READ_ONCE(ssk->nr_ops)) ||
	    shuffle_put_u64(skb, SHUFFLE_A_RELAY_DONE, atomic64_read(&r->done)) ||
	    shuffle_put_u64(skb, SHUFFLE_A_RELAY_FAILED, atomic64_read(&r->failed)) ||
	    shuffle_put_u64(skb, SHUFFLE_A_RELAY_REFUSED, atomic64_read(&r->refused)))
		return -EMSGSIZE;
	for (i = 0; i < r->row->count; i++)
		if ((!shuffle_absent_from(r->absent, i) &&
		     nla_put_u32(skb, SHUFFLE_A_RELAY_FROM, i)) ||
		    (r->row->lens[i] != SHUFFLE_ABSENT &&
		     nla_put_u32(skb, SHUFFLE_A_RELAY_TO, i)))
			return -EMSGSIZE;
	return 0;
}

int shuffle_nl_relay_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct shuffle_net *sn = shuffle_net(genl_info_net(info));
	const char *name = name_of(info);
	struct shuffle_relay *r;
	int err = -ENOENT;

	if (!name)
		return -EINVAL;
	mutex_lock(&sn->relay_mutex);
	r = shuffle_relay_find(sn, name);
	if (r)
		err = shuffle_netlink_reply(info, SHUFFLE_CMD_RELAY_GET, fill_relay, r);
	else
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[SHUFFLE_A_RELAY_NAME],
				    "name: no such relay here");
	mutex_unlock(&sn->relay_mutex);
	return err;
}

/* cb->args[0]: relays that have been told of */
int shuffle_nl_relay_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct shuffle_net *sn = shuffle_net(sock_net(skb->sk));
	struct nlattr *tb[SHUFFLE_A_RELAY_NAME + 1];
	struct shuffle_relay *r;
	long i = 0;
	int err;

	err = shuffle_netlink_dump_parse(cb, tb, SHUFFLE_A_RELAY_NAME, shuffle_relay_get_nl_policy);
	if (err)
		return err;
	mutex_lock(&sn->relay_mutex);
	cb->seq = sn->relay_gen;
	list_for_each_entry(r, &sn->relays, node) {
		if (i++ < cb->args[0])
			continue;
		err = shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_RELAY_GET, fill_relay, r);
		if (err)
			break;
		cb->args[0]++;
	}
	mutex_unlock(&sn->relay_mutex);
	return skb->len ?: err;
}
