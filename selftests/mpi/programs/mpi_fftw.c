// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that uses FFTW's MPI library as its manual shows: a large transform in one
 * dimension, forth and back, compared with what it began with.  Nothing in it knows of
 * AF_SHUFFLE.
 */
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

#define LENGTH	(16 * 1024)
/* FFTW uses MPI_Alltoall only where it may overwrite its input. */
#define HOW	(FFTW_ESTIMATE | FFTW_DESTROY_INPUT)

static fftw_complex value(ptrdiff_t i)
{
	return sin(i * 0.37) + I * cos(i * 0.11 + 3);
}

int main(int argc, char **argv)
{
	ptrdiff_t local, other, n, first, n_out, first_out, i;
	fftw_complex *data, *image, is;
	double worst = 0, all, diff;
	fftw_plan forth, back;
	int rank;

	MPI_Init(&argc, &argv);
	fftw_mpi_init();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);

	local = fftw_mpi_local_size_1d(LENGTH, MPI_COMM_WORLD, FFTW_FORWARD, HOW, &n, &first,
				       &n_out, &first_out);
	other = fftw_mpi_local_size_1d(LENGTH, MPI_COMM_WORLD, FFTW_BACKWARD, HOW, &n, &first,
				       &n_out, &first_out);
	local = local > other ? local : other;
	data = fftw_alloc_complex(local);
	image = fftw_alloc_complex(local);
	forth = fftw_mpi_plan_dft_1d(LENGTH, data, image, MPI_COMM_WORLD, FFTW_FORWARD, HOW);
	back = fftw_mpi_plan_dft_1d(LENGTH, image, data, MPI_COMM_WORLD, FFTW_BACKWARD, HOW);
	for (i = 0; i < n; i++)
		data[i] = value(first + i);
	fftw_execute(forth);
	fftw_execute(back);
	for (i = 0; i < n; i++) {
		is = data[i] / LENGTH;
		diff = cabs(value(first + i) - is);
		if (diff > worst)
			worst = diff;
	}
	MPI_Reduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%s: worst difference %.3g\n", all * 1e10 < 1 ? "ok" : "FAILED", all);
	fftw_destroy_plan(forth);
	fftw_destroy_plan(back);
	fftw_free(data);
	fftw_free(image);
	fftw_mpi_cleanup();
	MPI_Finalize();
	return 0;
}
