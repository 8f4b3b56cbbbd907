! Somebody else's Fortran program.
program consumer
  use mpi
  use weir
  implicit none
  type(weir_session) :: io
  type(weir_file) :: out
  character(300) :: path
  integer :: rank, ierr

  call get_command_argument(1, path)
  call MPI_Init(ierr)
  call weir_init(io, MPI_COMM_WORLD)
  call MPI_Comm_rank(io%compute(), rank, ierr)
  call io%create(out, path)
  call out%write('v', [rank, rank], shape=[4_weir_size], offset=[2_weir_size * rank])
  call out%close()
  call io%finalize()
  call MPI_Finalize(ierr)
end program
