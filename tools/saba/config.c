// SPDX-License-Identifier: GPL-2.0-or-later
/* The daemon's configuration file. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "program.h"
#include "sabad.h"

#define LINE	4096

static int bad(const char *file, unsigned int line, const char *fmt, const char *word)
{
	char text[200];

	snprintf(text, sizeof(text), fmt, word);
	ctl_error("%s:%u: %s", file, line, text);
	return -EINVAL;
}

static bool whole(const char *word, unsigned int lo, unsigned int hi, unsigned int *v)
{
	char *end;
	unsigned long n;

	if (!word || *word < '0' || *word > '9')
		return false;
	errno = 0;
	n = strtoul(word, &end, 10);
	if (errno || *end || n < lo || n > hi)
		return false;
	*v = n;
	return true;
}

/**
 * config_prefix() - read an address with or without a length
 * @word: "10.0.0.0/8", "fd00::1"
 * @p: result
 *
 * Return: true if it is one.
 */
bool config_prefix(const char *word, struct prefix *p)
{
	char addr[INET6_ADDRSTRLEN + 8];
	unsigned int most = 128, bits;
	struct in_addr v4;
	char *slash;

	if (strlen(word) >= sizeof(addr))
		return false;
	strcpy(addr, word);
	slash = strchr(addr, '/');
	if (slash)
		*slash++ = '\0';
	memset(p, 0, sizeof(*p));
	if (inet_pton(AF_INET, addr, &v4) == 1) {
		most = 32;
		p->addr.s6_addr[10] = 0xff;
		p->addr.s6_addr[11] = 0xff;
		memcpy(&p->addr.s6_addr[12], &v4, 4);
	} else if (inet_pton(AF_INET6, addr, &p->addr) != 1) {
		return false;
	}
	bits = most;
	if (slash && !whole(slash, 0, most, &bits))
		return false;
	p->bits = bits + 128 - most;
	return true;
}

/**
 * config_matches() - an address is reached through a port
 * @p: port
 * @addr: IPv6, or IPv4 as ::ffff:a.b.c.d
 *
 * Return: true if so.
 */
bool config_matches(const struct port *p, const struct in6_addr *addr)
{
	unsigned int i;

	for (i = 0; i < p->prefixes; i++) {
		unsigned int bytes = p->prefix[i].bits / 8, rest = p->prefix[i].bits % 8;
		const uint8_t *a = p->prefix[i].addr.s6_addr, *b = addr->s6_addr;

		if (!memcmp(a, b, bytes) &&
		    (!rest || !((a[bytes] ^ b[bytes]) >> (8 - rest))))
			return true;
	}
	return !p->prefixes;
}

static int port_word(const char *file, unsigned int line, struct port *p, const char *word,
		     const char *arg)
{
	uint64_t v;

	if (!arg)
		return bad(file, line, "\"%s\" wants a value", word);
	if (!strcmp(word, "rate")) {
		if (parse_unit(arg, OUT_BPS, &p->rate) || p->rate < 8000)
			return bad(file, line, "\"%s\" is not a rate, as 25gbit", arg);
	} else if (!strcmp(word, "queues")) {
		if (!whole(arg, 1, SABAD_MAX_QUEUES, &p->queues))
			return bad(file, line, "queues: 1 to 14 are expected, not \"%s\"", arg);
	} else if (!strcmp(word, "capacity")) {
		if (!whole(arg, SABAD_LEVELS, 100, &p->capacity))
			return bad(file, line, "capacity: 15 to 100 percent are expected, not \"%s\"",
				   arg);
	} else if (!strcmp(word, "limit")) {
		if (parse_unit(arg, OUT_BYTES, &v) || v < 10000 || v > 1 << 30)
			return bad(file, line, "limit: 10000 bytes to 1 GiB are expected, not \"%s\"",
				   arg);
		p->limit = v;
	} else if (!strcmp(word, "to")) {
		if (p->prefixes == SABAD_PREFIXES)
			return bad(file, line, "too many prefixes: \"%s\"", arg);
		if (!config_prefix(arg, &p->prefix[p->prefixes++]))
			return bad(file, line, "\"%s\" is no IP address or prefix", arg);
	} else {
		return bad(file, line, "rate, queues, capacity, limit or to is expected, not \"%s\"",
			   word);
	}
	return 0;
}

static int port_line(const char *file, unsigned int line, struct config *c, char **save)
{
	char *word = strtok_r(NULL, " \t", save);
	struct port *p = &c->port[c->ports];
	unsigned int i;

	if (!word || strlen(word) >= IFNAMSIZ)
		return bad(file, line, "\"%s\" is no name of a device", word ? word : "");
	if (c->ports == SABAD_PORTS)
		return bad(file, line, "too many ports: \"%s\"", word);
	for (i = 0; i < c->ports; i++)
		if (!strcmp(c->port[i].name, word))
			return bad(file, line, "a second port \"%s\"", word);
	strcpy(p->name, word);
	p->queues = 8;
	p->capacity = 100;
	p->limit = 1 << 20;
	while ((word = strtok_r(NULL, " \t", save))) {
		int err = port_word(file, line, p, word, strtok_r(NULL, " \t", save));

		if (err)
			return err;
	}
	c->ports++;
	return 0;
}

static int one_line(const char *file, unsigned int line, char *text, struct config *c)
{
	char *save = NULL, *word = strtok_r(text, " \t\n", &save), *arg;
	unsigned int v;

	if (!word || *word == '#')
		return 0;
	if (!strcmp(word, "port"))
		return port_line(file, line, c, &save);
	arg = strtok_r(NULL, " \t", &save);
	if (!arg || strtok_r(NULL, " \t", &save))
		return bad(file, line, "\"%s\" wants one value", word);
	if (!strcmp(word, "table")) {
		if (strlen(arg) >= sizeof(c->table))
			return bad(file, line, "%s: the name is too long", word);
		strcpy(c->table, arg);
	} else if (!strcmp(word, "degree")) {
		if (!whole(arg, 0, SABA_DEGREE, &c->degree))
			return bad(file, line, "degree: 0 to 3 is expected, not \"%s\"", arg);
	} else if (!strcmp(word, "levels")) {
		if (!whole(arg, 1, SABAD_LEVELS, &c->levels))
			return bad(file, line, "levels: 1 to 15 are expected, not \"%s\"", arg);
	} else if (!strcmp(word, "cluster")) {
		if (strcmp(arg, "table") && strcmp(arg, "applications"))
			return bad(file, line, "cluster: table or applications is expected, not \"%s\"",
				   arg);
		c->by_table = !strcmp(arg, "table");
	} else if (!strcmp(word, "grace")) {
		if (!whole(arg, 0, 3600000, &c->grace_ms))
			return bad(file, line, "grace: ms up to an hour, not \"%s\"", arg);
	} else if (!strcmp(word, "control")) {
		if (!strcmp(arg, "none"))
			c->control = -1;
		else if (whole(arg, 1, 63, &v) && (v < SABAD_DSCP(0) || v > 47))
			c->control = v;
		else
			return bad(file, line, "control: \"none\" or a DSCP outside 33 to 47 is "
				   "expected, not \"%s\"", arg);
	} else {
		return bad(file, line, "port, table, degree, levels, cluster, grace or control is "
			   "expected, not \"%s\"", word);
	}
	return 0;
}

/**
 * config_read() - read the configuration
 * @file: its name
 * @c: result
 *
 * Return: 0, or -errno after a message.
 */
int config_read(const char *file, struct config *c)
{
	unsigned int line = 0;
	char text[LINE];
	int err = 0;
	FILE *f;

	memset(c, 0, sizeof(*c));
	strcpy(c->table, "/var/lib/shuffle/saba.table");
	c->degree = SABA_DEFAULT;
	c->levels = 8;
	c->grace_ms = 10000;
	c->control = 48;
	f = fopen(file, "re");
	if (!f) {
		err = -errno;
		ctl_error("%s: %s", file, strerror(-err));
		return err;
	}
	while (!err && fgets(text, sizeof(text), f)) {
		line++;
		if (!strchr(text, '\n') && !feof(f))
			err = bad(file, line, "a line that is too long%s", "");
		else
			text[strcspn(text, "\n")] = '\0';
		if (!err)
			err = one_line(file, line, text, c);
	}
	fclose(f);
	if (!err && !c->ports) {
		ctl_error("%s: no port", file);
		err = -EINVAL;
	}
	return err;
}
