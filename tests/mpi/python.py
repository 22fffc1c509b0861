# Objects and arrays between ranks, by mpi4py.
import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, n = comm.Get_rank(), comm.Get_size()

assert comm.allreduce(rank) == n * (n - 1) // 2
assert comm.bcast({"a": [1, 2]} if rank == 0 else None) == {"a": [1, 2]}
assert comm.allgather(rank) == list(range(n))
assert comm.alltoall([(rank, i) for i in range(n)]) == [
    (i, rank) for i in range(n)
]
given = array.array("d", [rank + i for i in range(100)])
taken = array.array("d", [0] * 100)
comm.Allreduce([given, MPI.DOUBLE], [taken, MPI.DOUBLE])
assert all(taken[i] == n * (n - 1) / 2 + n * i for i in range(100))
comm.Sendrecv(
    [given, MPI.DOUBLE], (rank + 1) % n, 7, [taken, MPI.DOUBLE], (rank - 1) % n, 7
)
assert taken[0] == (rank - 1) % n
if rank == 0:
    print("all of it is right")
