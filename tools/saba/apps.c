// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Applications that are registered, and what they mean for each port.
 *
 * An application is a profile in use by a user: a user who registers a profile often,
 * or from many hosts, has one share of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sabad.h"

struct app *apps[SABA_APPS];
unsigned int n_apps;

static struct saba_levels levels;

static void all_dirty(void)
{
	unsigned int i;

	for (i = 0; i < cfg.ports; i++)
		cfg.port[i].dirty = true;
}

static unsigned int fewest_queues(void)
{
	unsigned int i, least = SABAD_MAX_QUEUES;

	for (i = 0; i < cfg.ports; i++)
		if (cfg.port[i].queues < least)
			least = cfg.port[i].queues;
	return least;
}

/* Of all profiles of the table, whoever is there: what other daemons with that table have, too. */
static struct {
	struct saba_model model[SABA_APPS];
	uint8_t		level[SABA_APPS];
	unsigned int	n;
	bool		known;
} by_table;

static void cluster_table(void)
{
	unsigned int i;

	by_table.known = true;
	by_table.n = 0;
	for (i = 0; i < table.n && by_table.n < SABA_APPS; i++)
		by_table.n += !table_model(&table.app[i], cfg.degree, &by_table.model[by_table.n]);
	if (by_table.n)
		saba_levels_make(by_table.model, by_table.n, cfg.levels, fewest_queues(), NULL,
				 by_table.level, &levels);
}

/* That of the closest profile: an application may be there whose own has vanished. */
static unsigned int level_by_table(const struct app *a)
{
	double least = INFINITY, d;
	unsigned int i, best = 0;

	for (i = 0; i < by_table.n; i++) {
		d = saba_apart(&a->model, &by_table.model[i]);
		if (d < least) {
			least = d;
			best = by_table.level[i];
		}
	}
	return best;
}

static void levels_by_table(void)
{
	unsigned int i;

	if (!by_table.known)
		cluster_table();
	/* a table without any profile: whoever is there keeps what it has */
	for (i = 0; i < n_apps && by_table.n; i++)
		if (apps[i]->clients)
			apps[i]->level = level_by_table(apps[i]);
	all_dirty();
	client_levels();
}

/**
 * apps_changed() - put applications into levels again, and tell those who have moved
 */
void apps_changed(void)
{
	static struct saba_model model[SABA_APPS];
	static uint8_t former[SABA_APPS], level[SABA_APPS];
	unsigned int at[SABA_APPS], n = 0, i;

	if (cfg.by_table) {
		levels_by_table();
		return;
	}
	for (i = 0; i < n_apps; i++) {
		if (!apps[i]->clients)
			continue;
		model[n] = apps[i]->model;
		former[n] = apps[i]->level;
		at[n++] = i;
	}
	if (!n)
		return;
	saba_levels_make(model, n, cfg.levels, fewest_queues(), former, level, &levels);
	for (i = 0; i < n; i++)
		apps[at[i]]->level = level[i];
	all_dirty();
	client_levels();
}

static void costs_of(struct app *a)
{
	unsigned int w;

	saba_costs(&a->model, &a->costs);
	/* a weight that was set: every other one is far worse */
	for (w = 0; a->fixed && w <= SABA_GRID; w++)
		a->costs.at[w] = 1e6 * ((double)w - a->fixed) * ((double)w - a->fixed);
}

static struct app *app_new(unsigned int *slot)
{
	unsigned int i;

	for (i = 0; i < n_apps; i++)
		if (!apps[i]->clients) {
			*slot = i;
			memset(apps[i], 0, sizeof(**apps));
			return apps[i];
		}
	if (n_apps == SABA_APPS)
		return NULL;
	apps[n_apps] = calloc(1, sizeof(**apps));
	*slot = n_apps;
	return apps[n_apps] ? apps[n_apps++] : NULL;
}

/**
 * apps_join() - a client registers
 * @name: of a profile
 * @uid: user
 * @why: set to what is wrong
 *
 * Return: number of the application, or -1.
 */
int apps_join(const char *name, uid_t uid, const char **why)
{
	const struct table_app *t;
	struct saba_model m;
	unsigned int i;
	struct app *a;

	for (i = 0; i < n_apps; i++)
		if (apps[i]->clients && apps[i]->uid == uid && !strcmp(apps[i]->name, name)) {
			apps[i]->clients++;
			return i;
		}
	t = table_find(&table, name);
	if (!t) {
		*why = "no profile of that name";
		return -1;
	}
	if (table_model(t, cfg.degree, &m)) {
		*why = "its profile has too few samples, or none with 100 %";
		return -1;
	}
	a = app_new(&i);
	if (!a) {
		*why = "too many applications";
		return -1;
	}
	strcpy(a->name, name);
	a->uid = uid;
	a->level = 0xff;
	a->clients = 1;
	a->model = m;
	costs_of(a);
	apps_changed();
	return i;
}

/**
 * apps_leave() - a client has deregistered
 * @app: number of its application
 */
void apps_leave(int app)
{
	if (!--apps[app]->clients)
		apps_changed();
}

/**
 * apps_use() - connections come and go
 * @app: number of the application
 * @ports: bits of the ports that they leave through
 * @by: 1 or -1
 */
void apps_use(int app, uint64_t ports, int by)
{
	unsigned int i;

	for (i = 0; i < cfg.ports; i++) {
		if (!(ports >> i & 1))
			continue;
		apps[app]->on[i] += by;
		/* others of the application have been there already, or still are */
		if (apps[app]->on[i] == (by > 0))
			cfg.port[i].dirty = true;
	}
}

/**
 * apps_fix() - set a weight
 * @name: of a profile: all users' applications with it
 * @percent: weight, 0 to have it computed again
 *
 * Return: true if there is such an application.
 */
bool apps_fix(const char *name, unsigned int percent)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < n_apps; i++) {
		if (!apps[i]->clients || strcmp(apps[i]->name, name))
			continue;
		apps[i]->fixed = percent;
		costs_of(apps[i]);
		any = true;
	}
	all_dirty();
	return any;
}

/**
 * apps_retable() - the table has been read again
 *
 * An application whose profile has vanished keeps its model.
 */
void apps_retable(void)
{
	const struct table_app *t;
	struct saba_model m;
	unsigned int i;

	by_table.known = false;
	for (i = 0; i < n_apps; i++) {
		t = apps[i]->clients ? table_find(&table, apps[i]->name) : NULL;
		if (!t || table_model(t, cfg.degree, &m))
			continue;
		apps[i]->model = m;
		costs_of(apps[i]);
	}
	apps_changed();
}

/**
 * apps_allocate() - what a port should do
 * @port: its number
 * @a: result
 */
void apps_allocate(unsigned int port, struct saba_allocation *a)
{
	static struct saba_present app[SABA_APPS];
	const struct port *p = &cfg.port[port];
	unsigned int n = 0, i;

	for (i = 0; i < n_apps; i++)
		if (apps[i]->clients && apps[i]->on[port])
			app[n++] = (struct saba_present){ &apps[i]->costs, apps[i]->level };
	saba_allocate(&levels, app, n, p->capacity, p->queues, a);
	saba_keep_queues(&p->now, p->queues, a);
}
