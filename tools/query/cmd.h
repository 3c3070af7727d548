/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands of shuffle-query. */
#ifndef QUERY_CMD_H
#define QUERY_CMD_H

int cmd_run(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_convert(int argc, char **argv);

#endif /* QUERY_CMD_H */
