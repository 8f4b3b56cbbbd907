! The Fortran module: all types, several ranks, order of dimensions, errors. fortran_test FILE [MODE]
program fortran_test
  use mpi_f08
  use weir
  use weir_f08
  use, intrinsic :: iso_c_binding, only: c_f_pointer
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none

  type(weir_session) :: io, another
  type(weir_session_options) :: how
  type(weir_file) :: out
  type(weir_file_options) :: options
  type(weir_reader) :: in
  type(weir_ticket) :: ticket, other
  type(weir_summary) :: before, summary, total
  type(weir_reduction) :: less
  type(weir_memory) :: memory
  real(real64), pointer, asynchronous :: field(:, :)
  type(MPI_Comm) :: comm
  integer :: rank, ranks, provided, i, j, k, status
  character(300) :: path, mode, message
  real(real32), asynchronous :: a1(5)
  real(real64), asynchronous :: a2(3, 4)
  integer(int32), asynchronous :: a3(2, 3, 4)
  integer(int64), asynchronous :: wide(6, 2)
  complex(real32), asynchronous :: z4(2, 1, 2, 3)
  complex(real64), asynchronous :: z5(1, 2, 1, 1, 2)
  integer(int8), asynchronous :: small(7)
  integer(int16), asynchronous :: short(2, 2)
  complex(real32) :: y4(2, 1, 2, 3)
  complex(real64) :: y5(1, 2, 1, 1, 2)
  integer(int8) :: few(7)
  integer(int16) :: brief(2, 2)
  real(real32) :: b1(5)
  real(real64) :: b2(3, 4), row(12), least(1, 2), number
  integer(int32) :: b3(2, 3, 4)
  integer(int64) :: c2(6, 2)
  integer(weir_size) :: at

  call get_command_argument(1, path)
  call get_command_argument(2, mode)
  if (mode /= '') how%mode = trim(mode)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)  ! mode thread needs it
  call weir_init(io, MPI_COMM_WORLD, how)
  call weir_compute_comm(io, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  at = rank

  a1 = [(real(10 * rank + i, real32), i=1, 5)]
  do concurrent(i=1:3, j=1:4)
    a2(i, j) = 100 * rank + 10 * j + i
  end do
  do concurrent(i=1:2, j=1:3, k=1:4)
    a3(i, j, k) = 1000 * rank + 100 * k + 10 * j + i
  end do
  wide = reshape([(int(100 * rank + i, int64), i=1, 12)], [6, 2])

  options%policy = WEIR_THROTTLED
  options%in_flight = 3
  call io%create(out, path, options)
  call out%write('a1', a1, shape=[5_weir_size * ranks], offset=[5 * at], ticket=ticket)
  call out%write('a2', a2, shape=[3_weir_size, 4_weir_size * ranks], offset=[0_weir_size, 4 * at], ticket=other)
  call other%wait()
  call ticket%wait()
  if (.not. (ticket%test() .and. ticket%stored())) error stop 'a ticket that was waited for is not done'
  call out%write('a3', a3, shape=[2_weir_size, 3_weir_size, 4_weir_size * ranks], offset=[0_weir_size, 0_weir_size, 4 * at], &
                 step=7)
  call out%write('wide', wide, shape=[6_weir_size, 2_weir_size * ranks], offset=[0_weir_size, 2 * at], ticket=ticket)
  call ticket%wait_stored()

  ! The other types, and more dimensions.
  z4 = reshape([(cmplx(i, -rank, real32), i=1, 12)], [2, 1, 2, 3])
  z5 = reshape([(cmplx(rank, i, real64), i=1, 4)], [1, 2, 1, 1, 2])
  small = int([(10 * rank - i, i=1, 7)], int8)
  short = int(reshape([(1000 * rank + i, i=1, 4)], [2, 2]), int16)
  call out%write('z4', z4, shape=[2_weir_size, 1_weir_size, 2_weir_size, 3_weir_size * ranks], &
                 offset=[0_weir_size, 0_weir_size, 0_weir_size, 3 * at])
  call out%write('z5', z5, shape=[1_weir_size, 2_weir_size, 1_weir_size, 1_weir_size, 2_weir_size * ranks], &
                 offset=[0_weir_size, 0_weir_size, 0_weir_size, 0_weir_size, 2 * at])
  call out%write('small', small, shape=[7_weir_size * ranks], offset=[7 * at])
  call out%write('short', short, shape=[2_weir_size, 2_weir_size * ranks], offset=[0_weir_size, 2 * at])

  ! Weir's memory, overwritten without waiting.
  call io%allocate(memory, 8_weir_size * 3 * 4)
  call c_f_pointer(memory%address(), field, [3, 4])
  if (any(field /= 0)) error stop 'memory is not zeroed'
  do i = 1, 5
    call c_f_pointer(memory%fresh(), field, [3, 4])
    field = 10 * i + rank
    call out%write('field', field, shape=[3_weir_size, 4_weir_size * ranks], offset=[0_weir_size, 4 * at], step=7 + i, &
                   ticket=ticket)
  end do
  call ticket%wait_stored()
  call memory%free()

  call out%set_text('a2', 'unit', 'K')

  ! Errors are values when asked for.
  call out%write('a2', a2(1:3:2, :), stat=status, errmsg=message)
  if (status /= WEIR_INVALID_ARGUMENT .or. index(message, 'gaps') == 0) error stop 'a section with gaps was taken'
  call out%write('scalar', 1.0_real64, stat=status, errmsg=message)
  if (status /= WEIR_INVALID_ARGUMENT .or. index(message, 'scalar') == 0) error stop 'a scalar was taken'
  call out%write('a2', a2, shape=[3_weir_size], stat=status)
  if (status /= WEIR_INVALID_ARGUMENT) error stop 'a shape of another rank was taken'
  call out%write('none', a1, offset=[77_weir_size], stat=status, errmsg=message)
  if (status /= WEIR_INVALID_ARGUMENT .or. index(message, 'none') == 0) error stop 'a block outside of its array was taken'
  call out%close()
  call io%open(in, 'no such file', stat=status)
  if (status /= WEIR_IO .and. status /= WEIR_NOT_FOUND) error stop 'a file that is not there was opened'
  how%budget = -1
  call weir_init(another, comm, how, stat=status, errmsg=message)
  if (status /= WEIR_INVALID_ARGUMENT .or. index(message, 'budget is -1') == 0) error stop 'a negative budget was taken'

  call io%open(in, path)
  if (any(in%shape_of('a3') /= [2, 3, 4 * ranks])) error stop 'shape of a3'
  if (in%get_text('a2', 'unit') /= 'K') error stop 'the unit came back differently'
  call in%get_number('', 'none', number, stat=status, errmsg=message)
  if (status /= WEIR_NOT_FOUND .or. index(message, 'none') == 0) error stop 'an attribute that is not there was read'
  do i = 1, 5
    call in%read('field', b2, offset=[0_weir_size, 4 * at], step=7 + i)
    if (any(b2 /= 10 * i + rank)) error stop 'field came back differently'
  end do
  call in%read('a1', b1, offset=[5 * at])
  call in%read('a2', b2, offset=[0_weir_size, 4 * at])
  call in%read('a3', b3, offset=[0_weir_size, 0_weir_size, 4 * at], step=7)
  call in%read('wide', c2, offset=[0_weir_size, 2 * at])
  call in%read('z4', y4, offset=[0_weir_size, 0_weir_size, 0_weir_size, 3 * at])
  call in%read('z5', y5, offset=[0_weir_size, 0_weir_size, 0_weir_size, 0_weir_size, 2 * at])
  call in%read('small', few, offset=[7 * at])
  call in%read('short', brief, offset=[0_weir_size, 2 * at])
  if (any(y4 /= z4) .or. any(y5 /= z5)) error stop 'complex numbers came back differently'
  if (any(few /= small) .or. any(brief /= short)) error stop 'small integers came back differently'
  if (any(b1 /= a1)) error stop 'a1 came back differently'
  if (any(b2 /= a2)) error stop 'a2 came back differently'
  if (any(b3 /= a3)) error stop 'a3 came back differently'
  if (any(c2 /= wide)) error stop 'wide came back differently'
  call in%read('a2', row, stat=status)
  if (status == WEIR_OK) error stop 'two dimensions were read as one'
  call in%close()

  ! Less is stored than is written, and the program does not wait for the file.
  before = io%summary()
  call io%create(out, path)
  less%operation = 'max'
  less%steps = 3
  less%every = [3_weir_size, 2_weir_size]
  do i = 1, 3
    a2 = a2 + 1
    call out%write('less', a2, shape=[3_weir_size, 4_weir_size * ranks], offset=[0_weir_size, 4 * at], step=i, reduce=less)
  end do
  less%every = [3_weir_size]
  call out%write('less', a2, shape=[3_weir_size, 4_weir_size * ranks], step=4, reduce=less, stat=status)
  if (status /= WEIR_INVALID_ARGUMENT) error stop 'points of another rank were taken'
  call out%close_later(ticket)
  call ticket%wait_stored()
  call io%open(in, path)
  if (any(in%shape_of('less') /= [1, 2 * ranks])) error stop 'shape of what was reduced'
  call in%read('less', least, offset=[0_weir_size, 2 * at], step=3)
  if (any(least /= a2(1:3:3, 1:4:2))) error stop 'what was reduced came back differently'
  call in%close()

  summary = io%summary()
  if (summary%files /= before%files + 1 .or. summary%writes /= before%writes + 3) error stop 'summary: files and writes'
  if ((summary%transport_bytes > 0) .neqv. (summary%transport_seconds > 0)) error stop 'summary: transport'
  if (summary%bytes /= before%bytes + 3 * 12 * 8) error stop 'summary: bytes'
  call io%finalize(summary=total)
  if (total%files /= summary%files .or. total%writes /= summary%writes * ranks) error stop 'summary of all ranks: writes'
  ! Three steps of 3 x 4 became one of 1 x 2.
  if (total%bytes - total%stored_bytes /= (3 * 12 - 2) * 8 * ranks) error stop 'summary of all ranks: bytes'
  call MPI_Finalize()
end program fortran_test
