! SPDX-License-Identifier: GPL-2.0-or-later
!
! MPI_ALLTOALLV as a Fortran program calls it, with sizes that differ for each pair.
program mpi_fortran
  use mpi
  implicit none
  integer :: ierr, rank, nproc, i, k, bad, total
  integer, allocatable :: scounts(:), sdispls(:), rcounts(:), rdispls(:)
  double precision, allocatable :: sbuf(:), rbuf(:)

  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, nproc, ierr)
  allocate(scounts(nproc), sdispls(nproc), rcounts(nproc), rdispls(nproc))

  do i = 1, nproc
     scounts(i) = 100 * (rank + 1) + (i - 1)
     rcounts(i) = 100 * i + rank
  end do
  sdispls(1) = 0
  rdispls(1) = 0
  do i = 2, nproc
     sdispls(i) = sdispls(i - 1) + scounts(i - 1)
     rdispls(i) = rdispls(i - 1) + rcounts(i - 1)
  end do
  allocate(sbuf(sum(scounts)), rbuf(sum(rcounts)))
  do i = 1, nproc
     do k = 1, scounts(i)
        sbuf(sdispls(i) + k) = rank * 1.0d6 + (i - 1) * 1.0d4 + k
     end do
  end do
  rbuf = -1.0d0

  call MPI_ALLTOALLV(sbuf, scounts, sdispls, MPI_DOUBLE_PRECISION, &
                     rbuf, rcounts, rdispls, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)

  bad = 0
  do i = 1, nproc
     do k = 1, rcounts(i)
        if (rbuf(rdispls(i) + k) /= (i - 1) * 1.0d6 + rank * 1.0d4 + k) bad = bad + 1
     end do
  end do
  call MPI_REDUCE(bad, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. total == 0) print '(a)', 'ok'
  if (rank == 0 .and. total /= 0) print '(a,i0,a)', 'FAILED: ', total, ' numbers are wrong'
  call MPI_FINALIZE(ierr)
end program mpi_fortran
