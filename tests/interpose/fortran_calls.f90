! The calls of MPI-IO from Fortran: fortran_calls FOLDER. Rank r writes bytes of the value r + 1, then reads them.
program fortran_calls
  use mpi
  implicit none
  integer :: rank, ranks, error, file, view, request
  integer :: sizes(2), parts(2), starts(2)
  integer(kind=MPI_OFFSET_KIND) :: offset
  integer(kind=1) :: mine(40), back(40)
  integer :: status(MPI_STATUS_SIZE)
  character(len=512) :: folder

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, folder)
  mine = int(rank + 1, 1)

  ! A column block of a 2-D array in Fortran order, by every kind of call.
  sizes = [8, 5 * ranks]
  parts = [8, 5]
  starts = [0, 5 * rank]
  call MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INTEGER1, view, error)
  call MPI_Type_commit(view, error)
  call MPI_File_open(MPI_COMM_WORLD, trim(folder)//'/fortran-view', MPI_MODE_CREATE + MPI_MODE_RDWR, &
    MPI_INFO_NULL, file, error)
  call check('open')
  offset = 16
  call MPI_File_set_view(file, offset, MPI_INTEGER1, view, 'native', MPI_INFO_NULL, error)
  call check('set_view')
  call MPI_File_write_all(file, mine, 40, MPI_INTEGER1, status, error)
  call check('write_all')
  offset = 40
  call MPI_File_iwrite_at(file, offset, mine, 20, MPI_INTEGER1, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call check('iwrite_at')
  offset = 60
  call MPI_File_write_at_all_begin(file, offset, mine, 20, MPI_INTEGER1, error)
  call MPI_File_write_at_all_end(file, mine, MPI_STATUS_IGNORE, error)
  call check('write_at_all_end')
  call MPI_Barrier(MPI_COMM_WORLD, error)
  offset = 0
  call MPI_File_seek(file, offset, MPI_SEEK_SET, error)
  call MPI_File_read_all(file, back, 40, MPI_INTEGER1, MPI_STATUS_IGNORE, error)
  call check('read_all')
  if (any(back /= mine)) call MPI_Abort(MPI_COMM_WORLD, 2, error)
  call MPI_File_read(file, back, 40, MPI_INTEGER1, MPI_STATUS_IGNORE, error)
  call check('read')
  if (any(back /= mine)) call MPI_Abort(MPI_COMM_WORLD, 3, error)
  call MPI_File_close(file, error)
  call MPI_Type_free(view, error)

  ! Ordered, through the pointer that all share.
  call MPI_File_open(MPI_COMM_WORLD, trim(folder)//'/fortran-ordered', MPI_MODE_CREATE + MPI_MODE_WRONLY, &
    MPI_INFO_NULL, file, error)
  call check('open')
  call MPI_File_write_ordered(file, mine, 3 + rank, MPI_INTEGER1, MPI_STATUS_IGNORE, error)
  call check('write_ordered')
  call MPI_File_write_ordered(file, mine, 5, MPI_INTEGER1, MPI_STATUS_IGNORE, error)
  call check('write_ordered')
  call MPI_File_close(file, error)
  call MPI_Finalize(error)

contains
  subroutine check(what)
    character(len=*), intent(in) :: what
    integer :: ignored
    if (error == MPI_SUCCESS) return
    print *, 'failed: ', what, error
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
