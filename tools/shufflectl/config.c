// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl config: settings of the namespace and of devices. */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <linux/shuffle_netlink.h>
#include <netlink/attr.h>

#include "objects.h"
#include "parse.h"
#include "record.h"
#include "shufflectl.h"

static const char usage_head[] =
	"usage: shufflectl config [show] [dev DEV]\n"
	"       shufflectl config set [dev DEV] SETTING VALUE [SETTING VALUE]...\n"
	"       shufflectl config save [FILE]\n"
	"       shufflectl config load [FILE]\n"
	"\n"
	"  show  settings in use; those that were set here are named by own\n"
	"  set   change them, all or none; VALUE default: the namespace's again, or of a\n"
	"        namespace the kernel's (needs CAP_NET_ADMIN)\n"
	"  save  write what was set as commands for load, or for shufflectl -b\n"
	"  load  set what a file says, and what it does not say to default\n"
	"\n"
	"Settings:\n";

/* One request of "set", as the words of the command line have it. */
struct change {
	unsigned int	ifindex;
	uint64_t	value[GENL_MAX_ATTRS];
	bool		set[GENL_MAX_ATTRS];
	uint64_t	unset;
	unsigned int	n;
};

static const struct shuffle_attr_set *const set = &shuffle_attr_set_config;
static unsigned int want_ifindex;

/* The bit of a setting, or -1: not a setting. */
static int setting_bit(unsigned int attr)
{
	const struct shuffle_attr_enum *e = set->attr[SHUFFLE_A_CONFIG_OWN].names;
	unsigned int i;

	for (i = 0; set->attr[attr].name && i < e->n; i++)
		if (!strcmp(e->names[i], set->attr[attr].name))
			return i;
	return -1;
}

static int usage(void)
{
	unsigned int i;

	fputs(usage_head, stdout);
	for (i = 0; i < set->n; i++)
		if (setting_bit(i) >= 0)
			printf("  %-20s %s\n", set->attr[i].name, set->attr[i].doc);
	return CTL_OK;
}

static int parse_dev(int argc, char **argv, unsigned int *ifindex)
{
	if (argc < 2)
		return ctl_usage("\"dev\" wants the name of a device");
	*ifindex = if_nametoindex(argv[1]);
	if (!*ifindex)
		return ctl_error("there is no device \"%s\" in this namespace", argv[1]);
	return CTL_OK;
}

static int fill_show(struct nl_msg *msg, int argc, char **argv)
{
	int err;

	want_ifindex = 0;
	if (!argc)
		return CTL_OK;
	if (strcmp(argv[0], "dev"))
		return ctl_usage("\"%s\" means nothing here; use dev DEV", argv[0]);
	err = parse_dev(argc, argv, &want_ifindex);
	if (err)
		return err;
	if (argc > 2)
		return ctl_usage("\"%s\" behind the device means nothing", argv[2]);
	nla_put_u32(msg, SHUFFLE_A_CONFIG_IFINDEX, want_ifindex);
	nlmsg_hdr(msg)->nlmsg_flags &= ~NLM_F_DUMP;
	return CTL_OK;
}

static bool print_config(struct nl_msg *msg)
{
	static const unsigned int skip[] = { SHUFFLE_A_CONFIG_IFINDEX, SHUFFLE_A_CONFIG_IFNAME, 0 };
	struct nlattr *tb[GENL_MAX_ATTRS];

	if (genl_parse(msg, set, tb))
		return false;
	out_open(NULL);
	if (tb[SHUFFLE_A_CONFIG_IFNAME]) {
		out_title("ifname", "%s", nla_get_string(tb[SHUFFLE_A_CONFIG_IFNAME]));
		if (ctl.json)
			out_u64("ifindex", genl_u64(set, tb, SHUFFLE_A_CONFIG_IFINDEX), OUT_PLAIN);
	} else if (!ctl.json) {
		out_title(NULL, "%s", "namespace");
	}
	record_attrs(msg, genl_op(SHUFFLE_CMD_CONFIG_GET), tb, skip);
	out_close();
	return true;
}

static int config_show(int argc, char **argv)
{
	return record_show(SHUFFLE_CMD_CONFIG_GET, fill_show, print_config, NULL, argc, argv);
}

/* Settings as words, for ctl_match(). */
static int match_setting(const char *word)
{
	static struct ctl_command words[GENL_MAX_ATTRS + 1];
	static unsigned int attr[GENL_MAX_ATTRS];
	static unsigned int n;
	char name[64];
	unsigned int i;
	int found;

	if (!n) {
		for (i = 0; i < set->n; i++) {
			if (setting_bit(i) < 0)
				continue;
			words[n].name = set->attr[i].name;
			attr[n++] = i;
		}
	}
	/* JSON's names, too */
	found = ctl_match("setting", out_key(word, '-', name, sizeof(name)), words);
	return found < 0 ? -1 : (int)attr[found];
}

static int parse_value(const struct shuffle_attr *a, const char *word, uint64_t *value)
{
	uint64_t max = a->kind == SHUFFLE_ATTR_U64 ? UINT64_MAX :
		       a->kind == SHUFFLE_ATTR_U32 ? UINT32_MAX : 255;
	char all[128] = "";
	unsigned int i;
	int err;

	if (record_is_auto(a) && !strcasecmp(word, "auto")) {
		*value = 0;
		return CTL_OK;
	}
	for (i = 0; a->names && i < a->names->n; i++) {
		if (!strcmp(a->names->names[i], word)) {
			*value = i;
			return CTL_OK;
		}
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 a->names->names[i]);
	}
	if (a->names)
		return ctl_usage("%s: \"%s\" is none of %s", a->name, word, all);
	if (!strcmp(a->name, "control-dscp") && !strncasecmp(word, "cs", 2) &&
	    word[2] >= '0' && word[2] <= '7' && !word[3]) {
		*value = 8 * (word[2] - '0');
		return CTL_OK;
	}
	err = parse_unit(word, record_unit(a), value);
	if (err == -EINVAL)
		return ctl_usage("%s: \"%s\" is not %s", a->name, word,
				 parse_example(record_unit(a)));
	/* what fits is left to the kernel, which knows the range */
	if (err || *value > max)
		return ctl_usage("%s: %s is out of range, %" PRIu64 " to %" PRIu64, a->name, word,
				 a->min, a->max);
	return CTL_OK;
}

static int parse_change(int argc, char **argv, struct change *c)
{
	int attr, err;

	memset(c, 0, sizeof(*c));
	for (; argc; argc -= 2, argv += 2) {
		if (!strcmp(argv[0], "dev")) {
			if (c->ifindex)
				return ctl_usage("one device at a time");
			err = parse_dev(argc, argv, &c->ifindex);
			if (err)
				return err;
			continue;
		}
		attr = match_setting(argv[0]);
		if (attr < 0)
			return CTL_USAGE;
		if (argc < 2)
			return ctl_usage("\"%s\" wants a value", set->attr[attr].name);
		if (c->set[attr] || c->unset >> setting_bit(attr) & 1)
			return ctl_usage("\"%s\" is there twice", set->attr[attr].name);
		c->n++;
		if (!strcmp(argv[1], "default")) {
			c->unset |= 1ULL << setting_bit(attr);
			continue;
		}
		err = parse_value(&set->attr[attr], argv[1], &c->value[attr]);
		if (err)
			return err;
		c->set[attr] = true;
	}
	if (!c->n)
		return ctl_usage("nothing to set; shufflectl config help lists the settings");
	return CTL_OK;
}

static int send_change(const struct genl *g, const struct change *c)
{
	struct nl_msg *msg = genl_request(g, SHUFFLE_CMD_CONFIG_SET, false);
	unsigned int i;

	if (c->ifindex)
		nla_put_u32(msg, SHUFFLE_A_CONFIG_IFINDEX, c->ifindex);
	if (c->unset)
		nla_put_u64(msg, SHUFFLE_A_CONFIG_UNSET, c->unset);
	for (i = 0; i < set->n; i++) {
		if (!c->set[i])
			continue;
		if (set->attr[i].kind == SHUFFLE_ATTR_U64)
			nla_put_u64(msg, i, c->value[i]);
		else if (set->attr[i].kind == SHUFFLE_ATTR_U8)
			nla_put_u8(msg, i, c->value[i]);
		else
			nla_put_u32(msg, i, c->value[i]);
	}
	return genl_talk(g, msg, genl_op(SHUFFLE_CMD_CONFIG_SET), NULL);
}

static int config_set(int argc, char **argv)
{
	struct change c;
	struct genl g;
	int err;

	err = parse_change(argc, argv, &c);
	if (!err)
		err = genl_open(&g, false);
	if (err)
		return err;
	err = send_change(&g, &c);
	genl_close(&g);
	return err;
}

static int get_all(const struct genl *g, struct nl_reply *reply)
{
	return genl_talk(g, genl_request(g, SHUFFLE_CMD_CONFIG_GET, true),
			 genl_op(SHUFFLE_CMD_CONFIG_GET), reply);
}

static void save_one(FILE *f, struct nlattr **tb)
{
	uint64_t own = genl_u64(set, tb, SHUFFLE_A_CONFIG_OWN);
	char buf[24];
	unsigned int i;

	if (!own)
		return;
	fputs("config set", f);
	if (tb[SHUFFLE_A_CONFIG_IFNAME])
		fprintf(f, " dev %s", nla_get_string(tb[SHUFFLE_A_CONFIG_IFNAME]));
	for (i = 0; i < set->n; i++) {
		int bit = setting_bit(i);
		uint64_t v;

		if (bit < 0 || !(own >> bit & 1) || !tb[i])
			continue;
		v = genl_u64(set, tb, i);
		if (set->attr[i].names)
			fprintf(f, " %s %s", set->attr[i].name,
				record_enum(&set->attr[i], v, buf, sizeof(buf)));
		else
			fprintf(f, " %s %" PRIu64, set->attr[i].name, v);
	}
	fputc('\n', f);
}

static int config_save(int argc, char **argv)
{
	struct nlattr *tb[GENL_MAX_ATTRS];
	struct nl_reply reply;
	struct genl g;
	FILE *f = stdout;
	unsigned int i;
	int err, bad;

	if (argc > 1)
		return ctl_usage("\"%s\" behind the file means nothing", argv[1]);
	err = genl_open(&g, false);
	if (err)
		return err;
	err = get_all(&g, &reply);
	genl_close(&g);
	if (err)
		return err;
	if (argc && strcmp(argv[0], "-"))
		f = fopen(argv[0], "we");
	if (!f) {
		nl_reply_free(&reply);
		return ctl_error("%s: %s", argv[0], strerror(errno));
	}
	fputs("# shufflectl config load FILE, or shufflectl -b FILE\n", f);
	for (i = 0; i < reply.n; i++)
		if (!genl_parse(reply.msg[i], set, tb))
			save_one(f, tb);
	nl_reply_free(&reply);
	bad = fflush(f) || ferror(f);
	if (f != stdout)
		bad |= fclose(f);
	if (bad)
		return ctl_error("%s: %s", argc ? argv[0] : "standard output", strerror(errno));
	return CTL_OK;
}

/* What the file says, one element for the namespace and each device. */
static struct change *loaded;
static unsigned int n_loaded;

static int load_line(int argc, char **argv)
{
	struct change *more, c;
	unsigned int i;
	int err;

	if (argc < 2 || strcmp(argv[0], "config") || strcmp(argv[1], "set"))
		return ctl_usage("a line of a saved configuration begins with \"config set\"");
	err = parse_change(argc - 2, argv + 2, &c);
	if (err)
		return err;
	for (i = 0; i < n_loaded; i++)
		if (loaded[i].ifindex == c.ifindex)
			return ctl_usage("a second line for the same device or namespace");
	more = realloc(loaded, (n_loaded + 1) * sizeof(c));
	if (!more)
		return ctl_error("out of memory");
	loaded = more;
	loaded[n_loaded++] = c;
	return CTL_OK;
}

static int reset_others(const struct genl *g)
{
	struct nlattr *tb[GENL_MAX_ATTRS];
	struct nl_reply reply;
	unsigned int i, j, k;
	int err;

	err = get_all(g, &reply);
	for (i = 0; i < reply.n && !err; i++) {
		struct change c = { 0 }, *to = &c;

		if (genl_parse(reply.msg[i], set, tb))
			continue;
		c.ifindex = genl_u64(set, tb, SHUFFLE_A_CONFIG_IFINDEX);
		c.unset = genl_u64(set, tb, SHUFFLE_A_CONFIG_OWN);
		for (j = 0; j < n_loaded; j++)
			if (loaded[j].ifindex == c.ifindex)
				to = &loaded[j];
		if (to != &c) {
			/* in the same request, so that it takes effect at once */
			for (k = 0; k < set->n; k++)
				if (to->set[k])
					c.unset &= ~(1ULL << setting_bit(k));
			to->unset |= c.unset;
		} else if (c.unset) {
			err = send_change(g, &c);
		}
	}
	nl_reply_free(&reply);
	return err;
}

static int config_load(int argc, char **argv)
{
	struct genl g;
	unsigned int i;
	bool keep = ctl.keep_going;
	int err;

	if (argc > 1)
		return ctl_usage("\"%s\" behind the file means nothing", argv[1]);
	free(loaded);
	loaded = NULL;
	n_loaded = 0;
	/* nothing is changed before all of the file was understood */
	ctl.keep_going = false;
	err = ctl_batch(argc ? argv[0] : "-", load_line);
	ctl.keep_going = keep;
	if (!err)
		err = genl_open(&g, false);
	if (err)
		return err;
	err = reset_others(&g);
	for (i = 0; i < n_loaded && !err; i++)
		err = send_change(&g, &loaded[i]);
	genl_close(&g);
	return err;
}

int config_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = {
		{ "show", config_show },
		{ "set", config_set },
		{ "save", config_save },
		{ "load", config_load },
		{ NULL, NULL },
	};

	if ((argc && ctl_is_help(argv[0])) || (argc > 1 && ctl_is_help(argv[1])))
		return usage();
	/* "config dev eth0" */
	if (argc && !strcmp(argv[0], "dev"))
		return config_show(argc, argv);
	return ctl_dispatch("config", usage_head, cmds, argc, argv);
}
