/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objects, one a file, and commands that have a file of their own. */
#ifndef SHUFFLECTL_OBJECTS_H
#define SHUFFLECTL_OBJECTS_H

int op_object(int argc, char **argv);
int peer_object(int argc, char **argv);
int socket_object(int argc, char **argv);
int config_object(int argc, char **argv);
int stats_object(int argc, char **argv);
int qdisc_object(int argc, char **argv);
int monitor_object(int argc, char **argv);
int topology_object(int argc, char **argv);
int relay_object(int argc, char **argv);
int overlay_object(int argc, char **argv);

int peer_ping(int argc, char **argv);
int watch_run(int argc, char **argv);

#endif
