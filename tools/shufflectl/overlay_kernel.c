// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs of an overlay in the kernel (tools/overlay): loaded, found again, taken out.
 *
 * Nothing is pinned: the filters of tc hold the programs, these hold their maps, and all that
 * "show" and "clear" want to know is there.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <linux/shuffle_netlink.h>

#include "genl.h"
#include "overlay_table.h"
#include "shufflectl.h"
#include "tc.h"

/* "SH": where tc has our filters */
#define PRIORITY	0x5348
#define HANDLE		1

#define DEFAULT_PORT	818
#define DEFAULT_DSCP	48
#define MAPS		16
#define REASON_BYTES	400
#define LOG_BYTES	(1U << 20)
#define LOG_SHOWN	800

/* the object file, as it was compiled */
asm(".pushsection .rodata\n"
	".balign 8\n"
	"overlay_object_begin: .incbin \"" OVERLAY_OBJECT "\"\n"
	"overlay_object_end: .byte 0\n"
	".popsection\n");
extern const char object_begin[] asm("overlay_object_begin");
extern const char object_end[] asm("overlay_object_end");

/* What was the matter, in libbpf's words. */
static char reason[REASON_BYTES];
/* And in the verifier's. */
static char verifier_log[LOG_BYTES];

static int keep_reason(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_WARN)
		return 0;
	return vsnprintf(reason, sizeof(reason), fmt, ap);
}

static int failed(const char *what, int err)
{
	char *end = reason + strlen(reason);

	if (err == -EPERM)
		return ctl_error("%s: this needs CAP_NET_ADMIN, CAP_BPF and CAP_SYS_ADMIN of the machine",
				 what);
	while (end > reason && end[-1] == '\n')
		*--end = '\0';
	ctl_error("%s: %s%s%s", what, strerror(-err), *reason ? ": " : "", reason);
	if (*verifier_log) {
		size_t len = strlen(verifier_log);

		ctl_warn("the end of the verifier's log:\n%s",
			 verifier_log + (len > LOG_SHOWN ? len - LOG_SHOWN : 0));
	}
	return CTL_KERNEL;
}

/**
 * struct kernel - the programs that are there
 * @links: devices that have them
 * @n: number of these
 * @made: their clsact is ours
 * @map: file descriptors of all maps of the programs
 * @maps: number of these
 */
struct kernel {
	unsigned int	*links;
	bool		*made;
	unsigned int	n;
	int		map[MAPS];
	unsigned int	maps;
};

static void close_maps(struct kernel *k)
{
	while (k->maps)
		close(k->map[--k->maps]);
}

static void kernel_free(struct kernel *k)
{
	close_maps(k);
	free(k->links);
	free(k->made);
}

/* The file descriptor of a map, or -1. */
static int find_map(const struct kernel *k, const char *name)
{
	unsigned int i;

	for (i = 0; i < k->maps; i++) {
		struct bpf_map_info info = { .id = 0 };
		__u32 len = sizeof(info);

		if (!bpf_obj_get_info_by_fd(k->map[i], &info, &len) && !strcmp(info.name, name))
			return k->map[i];
	}
	return -1;
}

/* Put the maps of a program into @k.  0 or -errno; -ENOENT: it is none of ours. */
static int open_maps(struct kernel *k, unsigned int prog_id)
{
	__u32 ids[MAPS], len = sizeof(struct bpf_prog_info), i;
	struct bpf_prog_info info = { .nr_map_ids = MAPS, .map_ids = (unsigned long)ids };
	int fd = bpf_prog_get_fd_by_id(prog_id), err;

	if (fd < 0)
		return -errno;
	err = bpf_obj_get_info_by_fd(fd, &info, &len) ? -errno : 0;
	close(fd);
	if (!err && strncmp(info.name, "overlay_", 8))
		err = -ENOENT;
	for (i = 0; !err && i < info.nr_map_ids && i < MAPS; i++) {
		fd = bpf_map_get_fd_by_id(ids[i]);
		if (fd < 0)
			err = -errno;
		else
			k->map[k->maps++] = fd;
	}
	if (err)
		close_maps(k);
	return err;
}

static int query(unsigned int ifindex, enum bpf_tc_attach_point point, unsigned int *prog_id)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = HANDLE, .priority = PRIORITY);
	int err = bpf_tc_query(&hook, &opts);

	*prog_id = opts.prog_id;
	return err;
}

/* Look at all devices.  CTL_OK, or another status after a message. */
static int kernel_find(struct kernel *k)
{
	struct if_nameindex *all = if_nameindex(), *i;
	unsigned int id, n = 0;
	int err = 0, fd;
	__u32 made;

	libbpf_set_print(keep_reason);
	memset(k, 0, sizeof(*k));
	for (i = all; i && i->if_index; i++)
		n++;
	k->links = calloc(n + 1, sizeof(*k->links));
	k->made = calloc(n + 1, sizeof(*k->made));
	for (i = all; k->links && k->made && i && i->if_index && !err; i++) {
		if (query(i->if_index, BPF_TC_INGRESS, &id) &&
		    query(i->if_index, BPF_TC_EGRESS, &id))
			continue;
		if (!k->maps) {
			err = open_maps(k, id);
			if (err == -ENOENT) {
				err = 0;
				continue;
			}
		}
		k->links[k->n++] = i->if_index;
	}
	if_freenameindex(all);
	fd = find_map(k, "links");
	for (n = 0; n < k->n; n++)
		k->made[n] = fd >= 0 && !bpf_map_lookup_elem(fd, &k->links[n], &made) && made;
	if (!err)
		return CTL_OK;
	kernel_free(k);
	return failed("the overlay's programs", err);
}

static int made_before(const struct kernel *k, unsigned int ifindex)
{
	unsigned int i;

	for (i = 0; i < k->n; i++)
		if (k->links[i] == ifindex)
			return k->made[i];
	return 0;
}

/* ---- show ---- */

static int get_counters(struct overlay_table *t, int fd)
{
	int cpus = libbpf_num_possible_cpus(), c;
	__u64 *v = cpus > 0 ? calloc(cpus, sizeof(*v)) : NULL;
	__u32 i;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < OVERLAY_N_COUNTERS; i++) {
		if (bpf_map_lookup_elem(fd, &i, v))
			break;
		for (c = 0; c < cpus; c++)
			t->counter[i] += v[c];
	}
	free(v);
	return i < OVERLAY_N_COUNTERS ? -errno : 0;
}

static int get_table(struct overlay_table *t, const struct kernel *k)
{
	int settings = find_map(k, "settings"), neighbours = find_map(k, "neighbours");
	int ways = find_map(k, "ways"), counters = find_map(k, "counters");
	struct overlay_addr key, next;
	void *at = NULL;
	__u32 i = 0;

	if (settings < 0 || neighbours < 0 || ways < 0 || counters < 0)
		return -ENOENT;
	if (bpf_map_lookup_elem(settings, &i, &t->settings))
		return -errno;
	for (i = 0; i < t->settings.neighbours && i < OVERLAY_NEIGHBOURS; i++)
		if (bpf_map_lookup_elem(neighbours, &i, &t->neighbour[i]))
			return -errno;
	while (t->paths < OVERLAY_WAYS && !bpf_map_get_next_key(ways, at, &next)) {
		t->path[t->paths].to = next;
		if (!bpf_map_lookup_elem(ways, &next, &t->path[t->paths].way))
			t->paths++;
		key = next;
		at = &key;
	}
	return get_counters(t, counters);
}

/**
 * overlay_get() - the overlay of this namespace
 * @t: result
 * @found: becomes true if there is one
 *
 * Return: CTL_OK, or another status after a message.
 */
int overlay_get(struct overlay_table *t, bool *found)
{
	struct kernel k;
	int err;

	err = kernel_find(&k);
	if (err)
		return err;
	*found = k.n;
	if (k.n)
		err = get_table(t, &k);
	kernel_free(&k);
	return err ? failed("the overlay's maps", err) : CTL_OK;
}

/* ---- clear ---- */

static bool filters_left(struct nl_sock *sk, unsigned int ifindex)
{
	const uint32_t parent[] = {
		TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS),
	};
	struct nl_reply r;
	bool left = false;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (tc_filters_get(sk, ifindex, parent[i], &r))
			return true;
		left |= r.n;
		nl_reply_free(&r);
	}
	return left;
}

/* Take the programs off a device, and clsact if it is ours and nobody else uses it. */
static void detach(struct nl_sock *sk, unsigned int ifindex, bool made)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex);
	const enum bpf_tc_attach_point point[] = { BPF_TC_EGRESS, BPF_TC_INGRESS };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		LIBBPF_OPTS(bpf_tc_opts, opts, .handle = HANDLE, .priority = PRIORITY);

		hook.attach_point = point[i];
		bpf_tc_detach(&hook, &opts);
	}
	if (!made || filters_left(sk, ifindex))
		return;
	hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
	bpf_tc_hook_destroy(&hook);
}

static int detach_all(const struct kernel *k, const struct overlay_table *but)
{
	struct nl_sock *sk = nl_open(NETLINK_ROUTE);
	unsigned int i, n;

	if (!sk)
		return CTL_ENV;
	for (i = 0; i < k->n; i++) {
		for (n = 0; but && n < but->settings.neighbours; n++)
			if (but->neighbour[n].ifindex == k->links[i])
				break;
		if (!but || n == but->settings.neighbours)
			detach(sk, k->links[i], k->made[i]);
	}
	nl_socket_free(sk);
	return CTL_OK;
}

/**
 * overlay_remove() - no overlay any more
 *
 * Return: CTL_OK, or another status after a message.
 */
int overlay_remove(void)
{
	struct kernel k;
	int err;

	err = kernel_find(&k);
	if (err)
		return err;
	if (k.n)
		err = overlay_routes_clear() ?: detach_all(&k, NULL);
	kernel_free(&k);
	return err;
}

/* ---- load ---- */

/* The port, and the DSCP of packets that go first, as the module has them; a server that only
 * passes on need not have the module.
 */
static void read_config(struct overlay_settings *s)
{
	const struct shuffle_attr_set *set = &shuffle_attr_set_config;
	unsigned int port = DEFAULT_PORT, dscp = DEFAULT_DSCP;
	struct nlattr *tb[GENL_MAX_ATTRS];
	struct nl_reply reply = { .n = 0 };
	struct genl g;

	if (!genl_open(&g, true)) {
		if (!genl_talk(&g, genl_request(&g, SHUFFLE_CMD_CONFIG_GET, true),
			       genl_op(SHUFFLE_CMD_CONFIG_GET), &reply) &&
		    reply.n && !genl_parse(reply.msg[0], set, tb)) {
			port = genl_u64(set, tb, SHUFFLE_A_CONFIG_PORT);
			dscp = genl_u64(set, tb, SHUFFLE_A_CONFIG_CONTROL_DSCP);
		}
		nl_reply_free(&reply);
		genl_close(&g);
	}
	s->port = htons(port);
	s->control_tos = dscp << 2;
}

static bool is_address(const struct ifaddrs *i, struct overlay_addr *a)
{
	memset(a, 0, sizeof(*a));
	if (!i->ifa_addr || i->ifa_flags & IFF_LOOPBACK)
		return false;
	if (i->ifa_addr->sa_family == AF_INET) {
		memcpy(a->byte, &((const struct sockaddr_in *)i->ifa_addr)->sin_addr, 4);
		return true;
	}
	a->v6 = 1;
	if (i->ifa_addr->sa_family != AF_INET6)
		return false;
	memcpy(a->byte, &((const struct sockaddr_in6 *)i->ifa_addr)->sin6_addr, 16);
	return !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)i->ifa_addr)->sin6_addr);
}

static bool is_ethernet(const struct ifaddrs *all, const char *name)
{
	for (; all; all = all->ifa_next)
		if (all->ifa_addr && all->ifa_addr->sa_family == AF_PACKET &&
		    !strcmp(all->ifa_name, name))
			return ((const struct sockaddr_ll *)all->ifa_addr)->sll_hatype ==
			       ARPHRD_ETHER;
	return false;
}

/* The devices of the neighbours' links. */
static int find_devices(struct overlay_table *t, const struct ifaddrs *all)
{
	const struct ifaddrs *i;
	struct overlay_addr a;
	unsigned int n;

	for (n = 0; n < t->settings.neighbours; n++) {
		struct overlay_neighbour *to = &t->neighbour[n];

		for (i = all; i; i = i->ifa_next)
			if (is_address(i, &a) && overlay_same(&a, &to->local))
				break;
		if (!i)
			return ctl_error("neighbour %u: no device has our address %s", to->server,
					 overlay_text(&to->local));
		if (!is_ethernet(all, i->ifa_name))
			return ctl_error("neighbour %u: %s is no Ethernet device", to->server,
					 i->ifa_name);
		to->ifindex = if_nametoindex(i->ifa_name);
	}
	return CTL_OK;
}

static int put(const struct bpf_object *obj, const char *map, const void *key, const void *value)
{
	int fd = bpf_object__find_map_fd_by_name(obj, map);

	return fd < 0 ? fd : bpf_map_update_elem(fd, key, value, BPF_ANY) ? -errno : 0;
}

/* All but "links". */
static int fill_maps(const struct bpf_object *obj, const struct overlay_table *t,
		     const struct ifaddrs *all)
{
	__u32 zero = 0, i;
	int err = put(obj, "settings", &zero, &t->settings);
	struct overlay_addr a;

	for (i = 0; !err && i < t->settings.neighbours; i++)
		err = put(obj, "neighbours", &i, &t->neighbour[i]) ?:
		      put(obj, "by_address", &t->neighbour[i].addr, &i);
	for (i = 0; !err && i < t->paths; i++)
		err = put(obj, "ways", &t->path[i].to, &t->path[i].way);
	for (; !err && all; all = all->ifa_next)
		if (is_address(all, &a))
			err = put(obj, "own", &a, &zero);
	return err;
}

static int attach(const struct bpf_object *obj, unsigned int ifindex, const struct kernel *old)
{
	static const struct {
		const char			*name;
		enum bpf_tc_attach_point	point;
	} side[] = { { "overlay_in", BPF_TC_INGRESS }, { "overlay_out", BPF_TC_EGRESS } };
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	__u32 made = made_before(old, ifindex);
	unsigned int i;
	__u32 done;
	int err;

	/* another neighbour is there, too */
	if (!bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(obj, "links"), &ifindex, &done))
		return 0;
	err = bpf_tc_hook_create(&hook);
	if (!err)
		made = 1;
	else if (err != -EEXIST)
		return err;
	err = put(obj, "links", &ifindex, &made);
	for (i = 0; !err && i < 2; i++) {
		LIBBPF_OPTS(bpf_tc_opts, opts, .handle = HANDLE, .priority = PRIORITY,
			    .flags = BPF_TC_F_REPLACE);

		opts.prog_fd = bpf_program__fd(bpf_object__find_program_by_name(obj, side[i].name));
		hook.attach_point = side[i].point;
		err = bpf_tc_attach(&hook, &opts);
	}
	return err;
}

/* A program holds the maps that it uses; "links" is for "clear". */
static int bind_links(const struct bpf_object *obj)
{
	int fd = bpf_object__find_map_fd_by_name(obj, "links");
	struct bpf_program *prog;
	int err = 0;

	bpf_object__for_each_program(prog, obj)
		if (!err)
			err = bpf_prog_bind_map(bpf_program__fd(prog), fd, NULL);
	return err;
}

/* The programs with their maps, loaded; counters go on from those that are there. */
static struct bpf_object *load(const struct overlay_table *t, const struct kernel *old,
			       const struct ifaddrs *all, int *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "overlay",
		    .kernel_log_buf = verifier_log, .kernel_log_size = sizeof(verifier_log));
	int counters = find_map(old, "counters");
	struct bpf_object *obj;

	obj = bpf_object__open_mem(object_begin, object_end - object_begin, &opts);
	if (!obj) {
		*err = -errno;
		return NULL;
	}
	*err = counters < 0 ? 0 :
	       bpf_map__reuse_fd(bpf_object__find_map_by_name(obj, "counters"), counters);
	if (!*err)
		*err = bpf_object__load(obj);
	if (!*err)
		*err = bind_links(obj) ?: fill_maps(obj, t, all);
	if (!*err)
		return obj;
	bpf_object__close(obj);
	return NULL;
}

static int replace(struct overlay_table *t, const struct kernel *old, const struct ifaddrs *all)
{
	struct kernel now = { .n = 0 };
	struct bpf_object *obj;
	unsigned int i;
	int err;

	err = find_devices(t, all) ?: overlay_routes_check(t);
	if (err)
		return err;
	read_config(&t->settings);
	obj = load(t, old, all, &err);
	if (!obj)
		return failed("the overlay's programs", err);
	for (i = 0; !err && i < t->settings.neighbours; i++)
		err = attach(obj, t->neighbour[i].ifindex, old);
	if (err)
		err = failed("the overlay's programs", err);
	else
		err = overlay_routes_put(t) ?: detach_all(old, t);
	bpf_object__close(obj);
	/* half of one is worse than none */
	if (err && !kernel_find(&now)) {
		overlay_routes_clear();
		detach_all(&now, NULL);
		kernel_free(&now);
	}
	return err;
}

/**
 * overlay_put() - the namespace has this overlay from now on
 * @t: overlay; the devices of its neighbours are filled in
 *
 * Return: CTL_OK, or another status after a message.
 */
int overlay_put(struct overlay_table *t)
{
	struct ifaddrs *all;
	struct kernel old;
	int err;

	if (getifaddrs(&all))
		return ctl_error("addresses: %s", strerror(errno));
	err = kernel_find(&old);
	if (!err) {
		err = replace(t, &old, all);
		kernel_free(&old);
	}
	freeifaddrs(all);
	return err;
}
