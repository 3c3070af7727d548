/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TORTURE_HOSTS_H
#define TORTURE_HOSTS_H

/* New namespaces, the first of which this thread is in; -1 and errno. */
int hosts_make(int n);

#endif /* TORTURE_HOSTS_H */
