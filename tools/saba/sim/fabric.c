// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Networks of the simulator and of the controller's benchmark.
 *
 * The source names 54 spine, 102 leaf and 108 rack switches of 18 servers each, and
 * not their links.  Here a pod has 18 racks and 17 leaves, each rack has a link to
 * each leaf of its pod, and each leaf to the 18 spines of one of three planes.
 */
#include "fabric.h"

#define RACKS		(FABRIC_PODS * FABRIC_RACKS)
#define LEAVES		(FABRIC_PODS * FABRIC_LEAVES)
#define SPINES		(FABRIC_PLANES * FABRIC_SPINES)
#define PER_PLANE	((FABRIC_LEAVES + FABRIC_PLANES - 1) / FABRIC_PLANES)

/* first port of each kind */
#define UP		0U
#define DOWN		(UP + FABRIC_SERVERS)
#define RACK_UP		(DOWN + FABRIC_SERVERS)
#define LEAF_DOWN	(RACK_UP + RACKS * FABRIC_LEAVES)
#define LEAF_UP		(LEAF_DOWN + LEAVES * FABRIC_RACKS)
#define SPINE_DOWN	(LEAF_UP + LEAVES * FABRIC_SPINES)
#define PORTS		(SPINE_DOWN + SPINES * FABRIC_PODS * PER_PLANE)

/**
 * fabric_switch() - hosts on one switch
 * @servers: their number
 *
 * Return: the network.
 */
struct fabric fabric_switch(unsigned int servers)
{
	return (struct fabric){ .servers = servers, .ports = 2 * servers };
}

/**
 * fabric_spine_leaf() - the source's network of 1944 servers
 *
 * Return: the network.
 */
struct fabric fabric_spine_leaf(void)
{
	return (struct fabric){ .servers = FABRIC_SERVERS, .racks = RACKS, .ports = PORTS };
}

static unsigned int take(uint64_t *hash, unsigned int n)
{
	unsigned int r = *hash % n;

	*hash /= n;
	return r;
}

/**
 * fabric_path() - the output ports on the way of a flow
 * @f: network
 * @from: server
 * @to: another one
 * @hash: of the flow: which of equal ways it takes
 * @port: result, room for FABRIC_HOPS
 *
 * Return: number of ports.
 */
unsigned int fabric_path(const struct fabric *f, unsigned int from, unsigned int to,
			 uint64_t hash, uint32_t *port)
{
	unsigned int rack = from / FABRIC_RACK, there = to / FABRIC_RACK, n = 0;
	unsigned int pod = rack / FABRIC_RACKS, far = there / FABRIC_RACKS, l, leaf;

	port[n++] = UP + from;
	if (!f->racks) {
		port[n++] = f->servers + to;
		return n;
	}
	if (rack != there) {
		l = take(&hash, FABRIC_LEAVES);
		leaf = pod * FABRIC_LEAVES + l;
		port[n++] = RACK_UP + rack * FABRIC_LEAVES + l;
		if (pod != far) {
			unsigned int plane = l % FABRIC_PLANES, s = take(&hash, FABRIC_SPINES);
			unsigned int in_plane = (FABRIC_LEAVES - plane + FABRIC_PLANES - 1) /
						FABRIC_PLANES;
			unsigned int i = take(&hash, in_plane);

			port[n++] = LEAF_UP + leaf * FABRIC_SPINES + s;
			port[n++] = SPINE_DOWN + ((plane * FABRIC_SPINES + s) * FABRIC_PODS + far) *
						 PER_PLANE + i;
			leaf = far * FABRIC_LEAVES + i * FABRIC_PLANES + plane;
		}
		port[n++] = LEAF_DOWN + leaf * FABRIC_RACKS + there % FABRIC_RACKS;
	}
	port[n++] = DOWN + to;
	return n;
}
