# SPDX-License-Identifier: GPL-2.0-or-later
"""Alltoallv and Alltoallw of numpy arrays by mpi4py, and its pickled alltoall."""
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

scounts = np.array([1000 * (rank + 1) + to for to in range(size)])
rcounts = np.array([1000 * (frm + 1) + rank for frm in range(size)])
sdispls = np.concatenate(([0], np.cumsum(scounts)[:-1]))
rdispls = np.concatenate(([0], np.cumsum(rcounts)[:-1]))
sbuf = np.concatenate([np.arange(n) + rank * 1e6 + to * 1e4 for to, n in enumerate(scounts)])
want = np.concatenate([np.arange(n) + frm * 1e6 + rank * 1e4 for frm, n in enumerate(rcounts)])

rbuf = np.zeros(rcounts.sum())
comm.Alltoallv([sbuf, (scounts, sdispls), MPI.DOUBLE], [rbuf, (rcounts, rdispls), MPI.DOUBLE])
ok = np.array_equal(rbuf, want)

rbuf[:] = 0
comm.Ialltoallv([sbuf, (scounts, sdispls), MPI.DOUBLE],
                [rbuf, (rcounts, rdispls), MPI.DOUBLE]).Wait()
ok = ok and np.array_equal(rbuf, want)

got = comm.alltoall([{"from": rank, "to": to} for to in range(size)])
ok = ok and got == [{"from": frm, "to": rank} for frm in range(size)]

ok = comm.allreduce(ok, MPI.LAND)
if rank == 0:
    print("ok" if ok else "FAILED")
sys.exit(not ok)
