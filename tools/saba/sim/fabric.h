/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Networks: ports, and which of them are on a path. */
#ifndef SABA_SIM_FABRIC_H
#define SABA_SIM_FABRIC_H

#include <stdint.h>

#define FABRIC_HOPS	6

/* The source's network (thesis, 4.6.1): 6 pods of 18 racks and 17 leaves, 54 spines. */
#define FABRIC_PODS	6
#define FABRIC_RACKS	18	/* of a pod */
#define FABRIC_RACK	18	/* servers of a rack */
#define FABRIC_LEAVES	17	/* of a pod */
#define FABRIC_PLANES	3	/* leaf l has links to the spines of plane l % 3 */
#define FABRIC_SPINES	18	/* of a plane */
#define FABRIC_MOST_PORTS 16384
#define FABRIC_SERVERS	(FABRIC_PODS * FABRIC_RACKS * FABRIC_RACK)

/**
 * struct fabric - a network
 * @servers: hosts
 * @racks: 0 if all hosts are on one switch
 * @ports: output ports of hosts and switches
 */
struct fabric {
	unsigned int	servers;
	unsigned int	racks;
	unsigned int	ports;
};

struct fabric fabric_switch(unsigned int servers);
struct fabric fabric_spine_leaf(void);
unsigned int fabric_path(const struct fabric *f, unsigned int from, unsigned int to,
			 uint64_t hash, uint32_t *port);

#endif /* SABA_SIM_FABRIC_H */
