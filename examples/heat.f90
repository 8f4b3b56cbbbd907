! The heat equation of heat.cpp in Fortran, in blocks of columns (Fortran's slow dimension).
!
!     mpirun -n 4 ./heat_fortran heat.h5 [synchronous|servers|thread]
program heat
  use mpi
  use weir
  implicit none

  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: rows = 150, columns = 200, steps = 100, every = 20
  type(weir_session) :: io
  type(weir_session_options) :: how
  type(weir_file) :: out
  type(weir_file_options) :: options
  type(weir_reader) :: in
  type(weir_ticket) :: ticket
  real(dp), allocatable :: now(:, :), next(:, :), back(:, :)
  real(dp), allocatable, asynchronous :: snapshot(:, :)
  integer(weir_size) :: whole(2), first(2)
  integer :: comm, rank, ranks, ierr, provided, step, j, left, right, begin, count
  character(200) :: path, mode

  call get_command_argument(1, path)
  if (path == '') path = 'heat.h5'
  call get_command_argument(2, mode)
  if (mode /= '') how%mode = trim(mode)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)  ! mode thread needs it
  call weir_init(io, MPI_COMM_WORLD, how)            ! I/O servers stay inside; compute ranks go on
  comm = io%compute()                                ! used in place of MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank, ierr)
  call MPI_Comm_size(comm, ranks, ierr)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
  begin = columns * rank / ranks
  count = columns * (rank + 1) / ranks - begin
  whole = [rows, columns]
  first = [0, begin]

  allocate (now(rows, 0:count + 1), snapshot(rows, count), back(rows, count), source=0.0_dp)
  if (begin == 0 .and. count > 0) now(:, 1) = 100    ! the first column is hot
  next = now

  options%checksums = .true.
  call io%create(out, path, options)
  do step = 0, steps
    if (mod(step, every) == 0) then
      call ticket%wait()                             ! until the last write no longer needs the array
      snapshot = now(:, 1:count)
      call out%write('temperature', snapshot, shape=whole, offset=first, step=step, ticket=ticket)
    end if
    call MPI_Sendrecv(now(1, 1), rows, MPI_DOUBLE_PRECISION, left, 0, now(1, count + 1), rows, MPI_DOUBLE_PRECISION, &
                      right, 0, comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(now(1, count), rows, MPI_DOUBLE_PRECISION, right, 1, now(1, 0), rows, MPI_DOUBLE_PRECISION, &
                      left, 1, comm, MPI_STATUS_IGNORE, ierr)
    do j = 1, count
      if (begin + j == 1 .or. begin + j == columns) cycle
      next(2:rows - 1, j) = 0.25_dp * (now(2:rows - 1, j - 1) + now(2:rows - 1, j + 1) + now(1:rows - 2, j) + now(3:rows, j))
    end do
    now = next
  end do
  call ticket%wait_stored()
  call out%set_text('temperature', 'unit', 'degree Celsius')
  call out%close()

  call io%open(in, path)
  if (any(in%shape_of('temperature') /= whole)) error stop 'heat: the shape came back differently'
  call in%read('temperature', back, offset=first, step=steps)
  call in%close()
  if (any(back /= snapshot)) error stop 'heat: the last step came back differently'
  if (rank == 0) print '(2a)', 'wrote and read ', trim(path)
  call io%finalize()
  call MPI_Finalize(ierr)
end program heat
