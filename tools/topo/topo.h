/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A topology: BCube, by labels, or a graph.  A server is its label, or its node. */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include "bcube.h"
#include "graph.h"
#include "tree.h"

#define TOPO_MAX_TEXT	80U	/* of a server's name, and of a topology's */

/**
 * struct topo - a topology
 * @cube: if @graph is NULL
 * @graph: racks, or of a file
 * @racks: 0: not racks
 * @hosts: of a rack
 * @path: of the file, or NULL
 */
struct topo {
	struct bcube	cube;
	struct graph	*graph;
	u32		racks;
	u32		hosts;
	const char	*path;
};

/**
 * struct links - a set of links: those of a graph, or topo_cube_link(); or of servers
 * @page: which pages of 1024 links there are
 * @bit: of each link of these pages
 * @pages: how many
 * @room: for pages
 * @n: links in the set
 */
struct links {
	struct map	page;
	u64		(*bit)[16];
	u32		pages;
	u32		room;
	u64		n;
};

const char *topo_bcube(struct topo *t, const char *text);
const char *topo_racks(struct topo *t, const char *text);
void topo_file(struct topo *t, const char *path);
void topo_without(struct topo *t, const char *list);
u32 topo_servers(const struct topo *t);
u32 topo_index(const struct topo *t, u32 server);
u32 topo_server(const struct topo *t, u32 index);
u32 topo_parse(const struct topo *t, const char *word);
const char *topo_name(const struct topo *t, u32 server, char *text);
const char *topo_label(const struct topo *t, u32 server, char *text);
const char *topo_link_name(const struct topo *t, u32 server, u32 link, char *text);
const char *topo_title(const struct topo *t, char *text);
void topo_measure(struct topo *t, struct tree *tree, struct links *links);
u32 topo_hop(struct topo *t, u32 server, u32 parent, u32 *link);
void topo_free(struct topo *t);

void links_clear(struct links *l);
void links_add(struct links *l, u64 link);
void links_free(struct links *l);

static inline u64 topo_cube_link(const struct topo *t, u32 server, u32 dim)
{
	return (u64)server * t->cube.dims + dim;
}

#endif /* TOPO_TOPO_H */
