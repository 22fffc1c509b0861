! Waits for what nobody sends, by Fortran's two interfaces.
program waits
    use mpi_f08
    implicit none
    integer :: rank, x
    type(MPI_Status) :: status

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (rank == 0) call older(x)
    call MPI_Recv(x, 1, MPI_INTEGER, 0, 11, MPI_COMM_WORLD, status)
end program

subroutine older(x)
    implicit none
    include 'mpif.h'
    integer :: x, status(MPI_STATUS_SIZE), code

    call MPI_RECV(x, 1, MPI_INTEGER, 1, 12, MPI_COMM_WORLD, status, code)
end subroutine
