/*
 * What a launcher gives to its processes: each prints where it is, how many
 * share its node, which of several programs it is, and two variables.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "-";
}

int main(int argc, char **argv)
{
	int rank, n, size, *program, is_set;
	char node[MPI_MAX_PROCESSOR_NAME], folder[4096];
	MPI_Comm shared;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Get_processor_name(node, &size);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
		MPI_INFO_NULL, &shared);
	MPI_Comm_size(shared, &size);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &is_set);
	if (!getcwd(folder, sizeof(folder)))
		return 9;
	printf("%d of %d on %s of %d, program %d %s, in %s, %s %s %s\n", rank,
		n, node, size, is_set ? *program : -1, argc > 1 ? argv[1] : "-",
		strrchr(folder, '/'), variable("WEFT_TEST_A"),
		variable("WEFT_TEST_B"), variable("OMP_NUM_THREADS"));
	MPI_Finalize();
	return 0;
}
