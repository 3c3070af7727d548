/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shuffle-sabad: what its files share.  One thread, no locks. */
#ifndef SABAD_H
#define SABAD_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nl.h"
#include "saba.h"
#include "table.h"

#define SABAD_PORTS	64	/* the most */
#define SABAD_PREFIXES	64	/* of a port, the most */
#define SABAD_CLIENTS	4096
#define SABAD_PER_USER	512	/* clients of a user without privilege */
#define SABAD_CONNS	4096	/* connections of a client */
#define SABAD_LEVELS	15	/* the most: 0 of the 16 is everything else */
#define SABAD_MAX_QUEUES 14	/* ETS has 16 bands; two are not Saba's */
#define SABAD_DSCP(level) (33 + (level))	/* level from 0 */

/**
 * struct prefix - addresses that are reached through a port
 * @addr: IPv6, or IPv4 as ::ffff:a.b.c.d
 * @bits: that count, of 128
 */
struct prefix {
	struct in6_addr	addr;
	unsigned int	bits;
};

/**
 * enum port_state - can a port be programmed
 * @PORT_NONE: nothing is installed
 * @PORT_OURS: it does what it is told
 * @PORT_FOREIGN: somebody else has put or changed a qdisc: left alone
 * @PORT_GONE: there is no such device
 * @PORT_FAILED: the kernel refused; tried again
 */
enum port_state {
	PORT_NONE,
	PORT_OURS,
	PORT_FOREIGN,
	PORT_GONE,
	PORT_FAILED,
};

/**
 * struct port - an output port
 * @name: device
 * @rate: bit/s, 0 if the device itself is the limit
 * @queues: for applications
 * @capacity: percent of the link that applications share
 * @limit: bytes that each queue holds
 * @prefix: what is reached through it; none is everything
 * @prefixes: their number
 * @ifindex: of the device, 0 if there is none
 * @state: see enum port_state
 * @control: DSCP of the strict band, -1 for none
 * @now: what is programmed
 * @bank: of each level, which of two places its filters have
 * @dirty: what it should do may have changed
 * @look: the kernel has said that something has changed
 * @adopted: installed by a daemon before this one, weights of its applications
 * @programmed: how often it was
 */
struct port {
	char		name[IFNAMSIZ];
	uint64_t	rate;
	unsigned int	queues;
	unsigned int	capacity;
	unsigned int	limit;
	struct prefix	prefix[SABAD_PREFIXES];
	unsigned int	prefixes;

	int		ifindex;
	enum port_state	state;
	int		control;
	struct saba_allocation now;
	uint8_t		bank[SABA_LEVELS];
	bool		dirty;
	bool		look;
	bool		adopted;
	uint64_t	programmed;
};

/**
 * struct config - of the daemon
 * @table: file of the sensitivity table
 * @degree: of the polynomials
 * @levels: priority levels
 * @by_table: levels are those of the whole table, not of the applications that are there:
 *	daemons with the same table have the same
 * @grace_ms: after a start, how long weights in place are left to applications that
 *	come back
 * @control: DSCP of the strict band, -1 for none
 * @port: ports
 * @ports: their number
 */
struct config {
	char		table[256];
	unsigned int	degree;
	unsigned int	levels;
	bool		by_table;
	unsigned int	grace_ms;
	int		control;
	struct port	port[SABAD_PORTS];
	unsigned int	ports;
};

/**
 * struct app - an application: a profile in use by a user
 * @name: of the profile
 * @uid: user
 * @model: its sensitivity
 * @costs: the same on the grid, or what keeps a weight that was set
 * @level: priority level, 0xff before the first clustering
 * @fixed: weight that was set, percent, 0 for none
 * @clients: that have registered
 * @on: connections through each port
 */
struct app {
	char		name[TABLE_NAME];
	uid_t		uid;
	struct saba_model model;
	struct saba_costs costs;
	uint8_t		level;
	unsigned int	fixed;
	unsigned int	clients;
	uint32_t	on[SABAD_PORTS];
};

/**
 * struct conn - a connection of a client
 * @id: number, of the client's own
 * @ports: bits of the ports that it leaves through
 */
struct conn {
	uint32_t	id;
	uint64_t	ports;
};

/**
 * struct client - a process that is connected
 * @fd: its socket
 * @uid: of the process when it connected
 * @pid: of it
 * @app: number of the application, -1 before it registers
 * @told: level that it knows
 * @conn: connections
 * @conns: their number
 * @next: number of the next one
 * @show: of a list that it has asked for, what comes next; 0 for none
 * @waits: until it has read something
 */
struct client {
	int		fd;
	uid_t		uid;
	pid_t		pid;
	int		app;
	uint8_t		told;
	struct conn	*conn;
	unsigned int	conns;
	uint32_t	next;
	unsigned int	show;
	bool		waits;
};

/* config.c */
int config_read(const char *file, struct config *c);
bool config_prefix(const char *word, struct prefix *p);
bool config_matches(const struct port *p, const struct in6_addr *addr);

/* port_qdisc.c */
const char *port_state_name(enum port_state state);
void port_open(struct nl_sock *sk, struct port *p, int control, bool again);
bool port_program(struct nl_sock *sk, struct port *p, const struct saba_allocation *a);
void port_look(struct nl_sock *sk, struct port *p);
bool port_close(struct nl_sock *sk, struct port *p);

/* apps.c */
extern struct config cfg;
extern struct table table;
extern struct app *apps[SABA_APPS];
extern unsigned int n_apps;
void apps_changed(void);
bool apps_level_of(unsigned int app, unsigned int *level);
int apps_join(const char *name, uid_t uid, const char **why);
void apps_leave(int app);
void apps_use(int app, uint64_t ports, int by);
bool apps_fix(const char *name, unsigned int percent);
void apps_retable(void);
void apps_allocate(unsigned int port, struct saba_allocation *a);

/* client.c */
void client_limit(void);
void client_hello(int fd);
void client_input(struct client *c);
void client_levels(void);
struct client *client_of(int fd);
unsigned int client_count(void);

/* sabad.c */
void sabad_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sabad_watch(int fd);
void sabad_watch_room(int fd, bool room);
void sabad_stop(void);
int sabad_reload(void);
bool sabad_in_grace(void);

#endif /* SABAD_H */
