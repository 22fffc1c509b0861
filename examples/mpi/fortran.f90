! A sum and a ring in Fortran, by both of its interfaces to MPI.
program fortran
    use mpi_f08
    implicit none
    integer :: rank, n, total, token, wrong
    type(MPI_Status) :: status
    double precision :: begin

    call MPI_Init()
    begin = MPI_Wtime()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, n)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    token = 0
    if (rank > 0) call MPI_Recv(token, 1, MPI_INTEGER, rank - 1, 4, &
        MPI_COMM_WORLD, status)
    token = token + rank
    call MPI_Send(token, 1, MPI_INTEGER, mod(rank + 1, n), 4, MPI_COMM_WORLD)
    if (rank == 0) call MPI_Recv(token, 1, MPI_INTEGER, n - 1, 4, &
        MPI_COMM_WORLD, status)
    wrong = 0
    if (total /= n * (n - 1) / 2) wrong = 1
    if (rank == 0 .and. token /= total) wrong = 1
    call older(rank, n, wrong)
    if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
    if (rank == 0) print '(a,f8.3,a)', ' sums are right after ', &
        (MPI_Wtime() - begin) * 1d6, ' us'
    call MPI_Finalize()
end program

subroutine older(rank, n, wrong)
    implicit none
    include 'mpif.h'
    integer :: rank, n, wrong, largest, code, request
    logical :: is_done

    call MPI_REDUCE(rank, largest, 1, MPI_INTEGER, MPI_MAX, 0, &
        MPI_COMM_WORLD, code)
    if (rank == 0 .and. largest /= n - 1) wrong = 1
    call MPI_IBARRIER(MPI_COMM_WORLD, request, code)
    is_done = .false.
    do while (.not. is_done)
        call MPI_TEST(request, is_done, MPI_STATUS_IGNORE, code)
    end do
end subroutine
