! Weir's programming interface in Fortran.
!
!     use weir
!     type(weir_session) :: io
!     type(weir_file) :: out
!     type(weir_ticket) :: ticket
!     call weir_init(io, MPI_COMM_WORLD)           ! mpi_f08: MPI_COMM_WORLD%MPI_VAL, or `use weir_f08` as well
!     comm = io%compute()                          ! used in place of MPI_COMM_WORLD, nothing else changes
!     call io%create(out, 'run.h5')
!     call out%write('T', field, shape=[nx, ny], offset=[x0, y0], step=step, ticket=ticket)
!     call ticket%wait()                           ! errors arrive here
!     call out%close()
!     call io%finalize()
!
! Order: an array is given, and read, as Fortran holds it. Files, and the other languages, name its dimensions the
! other way round: field(nx, ny) is [ny][nx] in the file, so that the elements keep their order in memory. Offsets
! count elements that lie before: 0 is the first. Numbers of elements are integer(weir_size).
!
! Calls are COLLECTIVE over the session's communicator unless they say LOCAL. `stat` and `errmsg` work as in
! ALLOCATE: stat is 0 or one of WEIR_IO and so on, errmsg says what happened, where, and what to do; without stat
! a failure stops the program with that message. (weir_init with a wrong option is such a failure, too.)
!
! Give an array that is written with a ticket the attribute ASYNCHRONOUS or TARGET, and do not change it before
! ticket%wait() returned. It must be contiguous: a section with gaps is refused, since a copy made for the call would
! be gone before it is written.
!
! Threads: one at a time per session.
module weir
  use, intrinsic :: iso_c_binding
  use weir_c
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64, error_unit
  implicit none
  private

  public :: weir_session, weir_file, weir_reader, weir_ticket, weir_session_options, weir_file_options, weir_summary, &
    weir_reduction, weir_memory
  public :: weir_init, weir_size

  integer, parameter :: weir_size = int64

  integer, parameter, public :: WEIR_OK = 0, WEIR_INVALID_ARGUMENT = 1, WEIR_NOT_FOUND = 2, WEIR_UNSUPPORTED = 3, &
    WEIR_IO = 4, WEIR_CORRUPT = 5, WEIR_DISAGREEMENT = 6, WEIR_STATE = 7, WEIR_NO_MEMORY = 8
  integer(c_int), parameter, public :: WEIR_AUTOMATIC = 0, WEIR_SYNCHRONOUS = 1, WEIR_ASYNCHRONOUS = 2, WEIR_THROTTLED = 3

  integer(c_int), parameter :: type_int8 = 0, type_int16 = 1, type_int32 = 2, type_int64 = 3, type_float32 = 8, &
    type_float64 = 9, type_complex64 = 11, type_complex128 = 12
  integer(c_int64_t), parameter :: no_step = -huge(0_c_int64_t) - 1

  ! How the I/O of a whole program is done; what is left out is as the plan of WEIR_PLAN says.
  type :: weir_session_options
    character(:), allocatable :: mode           ! 'synchronous', 'servers', 'thread'
    character(:), allocatable :: mapping        ! 'consecutive', 'hyperthread', 'oversubscribe'
    integer :: compute_per_server = 0           ! 0: one
    integer :: node_size = 0                    ! 0: found out
    integer(weir_size) :: budget = 0            ! bytes of data on its way, per server; 0: WEIR_BUDGET, else 1 GiB
  end type

  type :: weir_file_options
    character(:), allocatable :: backend        ! left out: by the extension of the name (writing), by content (reading)
    character(:), allocatable :: options        ! of the backend: 'deflate=4,shuffle=yes'
    logical :: checksums = .false.
    logical :: fsync = .false.
    integer(c_int) :: policy = WEIR_AUTOMATIC
    integer :: in_flight = 1                    ! of WEIR_THROTTLED
  end type

  ! What is stored of the steps and points that are written; the work is done by whoever writes the file.
  type :: weir_reduction
    character(:), allocatable :: operation      ! over steps: 'mean', 'min', 'max', 'sum', 'instant'; left out: all are stored
    integer(weir_size) :: steps = 1             ! so many give one result, which has the number of the last of them
    integer(weir_size), allocatable :: every(:) ! every k-th point, k for each dimension; left out: all points
  end type

  type :: weir_session
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: compute => session_compute     ! LOCAL
    procedure :: allocate => session_allocate   ! LOCAL
    procedure :: create => session_create
    procedure :: open => session_open
    procedure :: summary => session_summary     ! LOCAL: of this rank, so far; that of all ranks is told by finalize
    procedure :: finalize => session_finalize
  end type

  ! Memory where an I/O server can read: what lies in it is written without a copy. It shows as an array by
  !
  !     call io%allocate(memory, 8_weir_size * nx * ny)                ! zeroed
  !     call c_f_pointer(memory%fresh(), field, [nx, ny])              ! before field is overwritten as a whole
  !
  ! Free it when no pointer to it is used any more.
  type :: weir_memory
    private
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: place = c_null_ptr
  contains
    procedure :: address => memory_address      ! LOCAL: where it is now
    procedure :: fresh => memory_fresh          ! LOCAL: where to write next, without waiting for a ticket
    procedure :: free => memory_free            ! LOCAL
  end type

  type :: weir_ticket
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: test => ticket_test            ! LOCAL: may the array be changed?
    procedure :: stored => ticket_stored        ! LOCAL: is it in the file, or has it failed?
    procedure :: wait => ticket_wait            ! LOCAL: until the array may be changed
    procedure :: wait_stored => ticket_wait_stored ! LOCAL: until it is in the file
  end type

  type :: weir_file
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: write_int8, write_int16, write_int32, write_int64, &
      write_real32, write_real64, write_complex32, write_complex64
    ! write(name, data [, shape, offset, step, ticket, stat, errmsg, reduce]): this rank's part of an array, of any rank and
    ! of integers, reals or complex numbers. shape: of the whole array (left out: that of data). Without a ticket, the call
    ! returns when the data is in the file or has failed. reduce: stores less than is written, the same in every write.
    generic :: write => write_int8, write_int16, write_int32, write_int64, &
      write_real32, write_real64, write_complex32, write_complex64
    procedure :: set_text => file_set_text
    procedure :: close => file_close
    procedure :: close_later => file_close_later
  end type

  type :: weir_reader
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: read_int8, read_int16, read_int32, read_int64, &
      read_real32, read_real64, read_complex32, read_complex64
    ! read(name, data [, offset, step, stat, errmsg]): fills data.
    generic :: read => read_int8, read_int16, read_int32, read_int64, &
      read_real32, read_real64, read_complex32, read_complex64
    procedure :: shape_of => reader_shape_of    ! LOCAL
    procedure :: get_text => reader_get_text    ! LOCAL
    procedure, private :: get_real64, get_int32, get_int64
    ! get_number(variable, name, number [, stat, errmsg]): LOCAL. An attribute that holds one number of this kind.
    generic :: get_number => get_real64, get_int32, get_int64
    procedure :: close => reader_close
  end type

  ! weir_init(session, comm [, options, stat, errmsg]). Does not return on I/O servers.
  interface weir_init
    module procedure session_init
  end interface

contains

  ! The outcome of a call of C: into stat and errmsg, or the end of the program.
  subroutine conclude(status, stat, errmsg, own_message)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(*), intent(in), optional :: own_message
    character(:), allocatable :: message

    if (present(stat)) stat = status
    if (status == WEIR_OK) return
    if (present(own_message)) then
      message = own_message
    else
      message = text_of(c_message())
    end if
    if (present(errmsg)) errmsg = message
    if (present(stat)) return
    write (error_unit, '(2a)') 'weir: ', message
    error stop 1
  end subroutine

  function text_of(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(c_char), pointer :: letters(:)
    integer :: i

    call c_f_pointer(address, letters, [c_length(address)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  ! Blanks at the end of a name are not part of it, as everywhere in Fortran.
  pure function c_text(text) result(letters)
    character(*), intent(in) :: text
    character(c_char) :: letters(len_trim(text) + 1)
    integer :: i

    do i = 1, len_trim(text)
      letters(i) = text(i:i)
    end do
    letters(size(letters)) = c_null_char
  end function

  subroutine keep_text(text, letters, address)
    character(:), allocatable, intent(in) :: text
    character(c_char), allocatable, target, intent(out) :: letters(:)
    type(c_ptr), intent(out) :: address

    address = c_null_ptr
    if (.not. allocated(text)) return
    letters = c_text(text)
    address = c_loc(letters)
  end subroutine

  subroutine session_init(session, comm, options, stat, errmsg)
    type(weir_session), intent(out) :: session
    integer, intent(in) :: comm
    type(weir_session_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_session_options) :: wanted
    character(c_char), allocatable, target :: mode(:), mapping(:)

    wanted = c_session_options(c_null_ptr, c_null_ptr, 0, 0, 0)
    if (present(options)) then
      wanted%compute_per_server = int(options%compute_per_server, c_int32_t)
      wanted%node_size = int(options%node_size, c_int32_t)
      wanted%budget = options%budget
      call keep_text(options%mode, mode, wanted%mode)
      call keep_text(options%mapping, mapping, wanted%mapping)
    end if
    call conclude(c_init(int(comm, c_int), wanted, session%handle), stat, errmsg)
  end subroutine

  ! To be used by the program in place of the communicator it passed; the handle that `use mpi` works with.
  integer function session_compute(self) result(comm)
    class(weir_session), intent(in) :: self
    integer(c_int) :: handle

    call conclude(c_compute(self%handle, handle))
    comm = handle
  end function

  subroutine session_finalize(self, stat, errmsg, summary)
    class(weir_session), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(weir_summary), intent(out), optional :: summary  ! of all ranks
    type(weir_summary) :: total
    integer(c_int) :: status

    status = c_finalize(self%handle, total, c_null_ptr)
    if (present(summary)) summary = total
    call conclude(status, stat, errmsg)
  end subroutine

  function session_summary(self) result(summary)
    class(weir_session), intent(in) :: self
    type(weir_summary) :: summary

    call conclude(c_summary(self%handle, summary))
  end function

  subroutine session_allocate(self, memory, bytes, stat, errmsg)
    class(weir_session), intent(in) :: self
    type(weir_memory), intent(out) :: memory
    integer(weir_size), intent(in) :: bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(c_allocate(self%handle, bytes, memory%handle, memory%place), stat, errmsg)
  end subroutine

  function memory_address(self) result(place)
    class(weir_memory), intent(in) :: self
    type(c_ptr) :: place

    place = self%place
  end function

  ! If what is there is still on its way into a file, another place (its content unspecified); there are two, and if
  ! both are on their way, it waits.
  function memory_fresh(self) result(place)
    class(weir_memory), intent(inout) :: self
    type(c_ptr) :: place

    call conclude(c_fresh(self%handle, self%place))
    place = self%place
  end function

  subroutine memory_free(self)
    class(weir_memory), intent(inout) :: self

    call conclude(c_free(self%handle))
    self%place = c_null_ptr
  end subroutine

  subroutine convert(options, wanted, backend, words)
    type(weir_file_options), intent(in), optional :: options
    type(c_file_options), intent(out) :: wanted
    character(c_char), allocatable, target, intent(out) :: backend(:), words(:)

    wanted = c_file_options(c_null_ptr, c_null_ptr, 0, 0, WEIR_AUTOMATIC, 1)
    if (.not. present(options)) return
    call keep_text(options%backend, backend, wanted%backend)
    call keep_text(options%options, words, wanted%options)
    wanted%checksums = merge(1, 0, options%checksums)
    wanted%fsync = merge(1, 0, options%fsync)
    wanted%policy = options%policy
    wanted%in_flight = int(options%in_flight, c_int32_t)
  end subroutine

  subroutine session_create(self, file, path, options, stat, errmsg)
    class(weir_session), intent(in) :: self
    type(weir_file), intent(out) :: file
    character(*), intent(in) :: path
    type(weir_file_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_file_options) :: wanted
    character(c_char), allocatable, target :: backend(:), words(:)

    call convert(options, wanted, backend, words)
    call conclude(c_create(self%handle, c_text(path), wanted, file%handle), stat, errmsg)
  end subroutine

  subroutine session_open(self, reader, path, options, stat, errmsg)
    class(weir_session), intent(in) :: self
    type(weir_reader), intent(out) :: reader
    character(*), intent(in) :: path
    type(weir_file_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_file_options) :: wanted
    character(c_char), allocatable, target :: backend(:), words(:)

    call convert(options, wanted, backend, words)
    call conclude(c_open(self%handle, c_text(path), wanted, reader%handle), stat, errmsg)
  end subroutine

  ! A text as an attribute of a variable, or of the file ('').
  subroutine file_set_text(self, variable, name, text, stat, errmsg)
    class(weir_file), intent(in) :: self
    character(*), intent(in) :: variable, name, text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(c_set_text(self%handle, c_text(variable), c_text(name), c_text(text)), stat, errmsg)
  end subroutine

  ! The file gets its name, or, on failure, is removed.
  subroutine file_close(self, stat, errmsg)
    class(weir_file), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(c_close(self%handle), stat, errmsg)
  end subroutine

  ! The same, but returns at once: ticket%wait_stored() tells how it ended; without a ticket, or if nobody asks,
  ! finalize does. A file of which any write failed does not get its name.
  subroutine file_close_later(self, ticket, stat, errmsg)
    class(weir_file), intent(inout) :: self
    type(weir_ticket), intent(inout), optional, target :: ticket
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: place

    place = c_null_ptr
    if (present(ticket)) then
      call conclude(c_drop(ticket%handle))
      place = c_loc(ticket%handle)
    end if
    call conclude(c_close_later(self%handle, place), stat, errmsg)
  end subroutine

  subroutine reader_close(self, stat, errmsg)
    class(weir_reader), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(c_close_reader(self%handle), stat, errmsg)
  end subroutine

  ! The shape of an array in the file, as Fortran names its dimensions.
  function reader_shape_of(self, name, stat, errmsg) result(lengths)
    class(weir_reader), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(weir_size), allocatable :: lengths(:)
    integer(c_int64_t) :: shape(32), steps
    integer(c_int) :: type, dimensions, status

    dimensions = size(shape)
    status = c_inquire(self%handle, c_text(name), type, dimensions, shape, steps)
    if (status /= WEIR_OK) dimensions = 0
    lengths = shape(dimensions:1:-1)
    call conclude(status, stat, errmsg)
  end function

  ! The text of an attribute of a variable, or of the file ('').
  function reader_get_text(self, variable, name, stat, errmsg) result(text)
    class(weir_reader), intent(in) :: self
    character(*), intent(in) :: variable, name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: address
    integer(c_int) :: status

    text = ''
    status = c_get_text(self%handle, c_text(variable), c_text(name), address)
    if (status == WEIR_OK) text = text_of(address)
    call conclude(status, stat, errmsg)
  end function

  subroutine get_real64(self, variable, name, number, stat, errmsg)
    class(weir_reader), intent(in) :: self
    character(*), intent(in) :: variable, name
    real(real64), intent(out), target :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(c_get_numbers(self%handle, c_text(variable), c_text(name), type_float64, c_loc(number), 1_c_int64_t), &
                  stat, errmsg)
  end subroutine

  subroutine get_int32(self, variable, name, number, stat, errmsg)
    class(weir_reader), intent(in) :: self
    character(*), intent(in) :: variable, name
    integer(int32), intent(out), target :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(c_get_numbers(self%handle, c_text(variable), c_text(name), type_int32, c_loc(number), 1_c_int64_t), &
                  stat, errmsg)
  end subroutine

  subroutine get_int64(self, variable, name, number, stat, errmsg)
    class(weir_reader), intent(in) :: self
    character(*), intent(in) :: variable, name
    integer(int64), intent(out), target :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(c_get_numbers(self%handle, c_text(variable), c_text(name), type_int64, c_loc(number), 1_c_int64_t), &
                  stat, errmsg)
  end subroutine

  logical function ticket_test(self) result(done)
    class(weir_ticket), intent(in) :: self
    integer(c_int) :: answer

    done = .true.
    if (.not. c_associated(self%handle)) return
    call conclude(c_test(self%handle, answer))
    done = answer /= 0
  end function

  logical function ticket_stored(self) result(done)
    class(weir_ticket), intent(in) :: self
    integer(c_int) :: answer

    done = .true.
    if (.not. c_associated(self%handle)) return
    call conclude(c_stored(self%handle, answer))
    done = answer /= 0
  end function

  subroutine ticket_wait(self, stat, errmsg)
    class(weir_ticket), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(c_wait(self%handle), stat, errmsg)
  end subroutine

  subroutine ticket_wait_stored(self, stat, errmsg)
    class(weir_ticket), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(c_wait_stored(self%handle), stat, errmsg)
  end subroutine

  ! Does its place in memory alone say where its elements are?
  logical function is_whole(what, contiguous, count, stat, errmsg)
    character(*), intent(in) :: what
    logical, intent(in) :: contiguous
    integer(weir_size), intent(in) :: count(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    is_whole = .false.
    if (any(count < 0)) then
      call conclude(WEIR_INVALID_ARGUMENT, stat, errmsg, what//': an array (*) does not know its size; give a section, (1:n)')
    else if (.not. contiguous) then
      call conclude(WEIR_INVALID_ARGUMENT, stat, errmsg, what//': the array is a section with gaps; take an array of its own')
    else
      is_whole = .true.
    end if
  end function

  ! All writes: dimensions are turned round into the order of C.
  subroutine put(file, name, type, address, contiguous, count, shape, offset, step, ticket, stat, errmsg, reduce)
    type(c_ptr), intent(in) :: file, address
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: type
    logical, intent(in) :: contiguous
    integer(weir_size), intent(in) :: count(:)
    integer(weir_size), intent(in), optional :: shape(:), offset(:)
    integer, intent(in), optional :: step
    type(weir_ticket), intent(inout), optional, target :: ticket
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(weir_reduction), intent(in), optional :: reduce
    integer(c_int64_t), dimension(size(count)) :: whole, first, part
    integer(c_int64_t), target :: every(size(count))
    integer(c_int64_t) :: at
    type(c_reduction), target :: less
    character(c_char), allocatable, target :: operation(:)
    type(c_ptr) :: place, reduction
    integer :: n

    n = size(count)
    if (present(shape)) then
      if (size(shape) /= n) then
        call conclude(WEIR_INVALID_ARGUMENT, stat, errmsg, 'write '//name//': shape and data differ in rank')
        return
      end if
    end if
    if (present(offset)) then
      if (size(offset) /= n) then
        call conclude(WEIR_INVALID_ARGUMENT, stat, errmsg, 'write '//name//': offset and data differ in rank')
        return
      end if
    end if
    reduction = c_null_ptr
    if (present(reduce)) then
      less = c_reduction(c_null_ptr, reduce%steps, c_null_ptr)
      call keep_text(reduce%operation, operation, less%operation)
      if (allocated(reduce%every)) then
        if (size(reduce%every) /= n) then
          call conclude(WEIR_INVALID_ARGUMENT, stat, errmsg, 'write '//name//': every and data differ in rank')
          return
        end if
        every = reduce%every(n:1:-1)
        less%every = c_loc(every)
      end if
      reduction = c_loc(less)
    end if
    if (.not. is_whole('write '//name, contiguous, count, stat, errmsg)) return
    part = count(n:1:-1)
    whole = part
    first = 0
    at = no_step
    place = c_null_ptr
    if (present(shape)) whole = shape(n:1:-1)
    if (present(offset)) first = offset(n:1:-1)
    if (present(step)) at = int(step, c_int64_t)
    if (present(ticket)) then
      call conclude(c_drop(ticket%handle))  ! of an earlier write; its error is left to close
      place = c_loc(ticket%handle)
    end if
    call conclude(c_write(file, c_text(name), type, address, int(n, c_int), whole, first, part, at, reduction, place), &
      stat, errmsg)
  end subroutine

  subroutine get(reader, name, type, address, contiguous, count, offset, step, stat, errmsg)
    type(c_ptr), intent(in) :: reader, address
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: type
    logical, intent(in) :: contiguous
    integer(weir_size), intent(in) :: count(:)
    integer(weir_size), intent(in), optional :: offset(:)
    integer, intent(in), optional :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), dimension(size(count)) :: first, part
    integer(c_int64_t) :: at
    integer :: n

    n = size(count)
    if (present(offset)) then
      if (size(offset) /= n) then
        call conclude(WEIR_INVALID_ARGUMENT, stat, errmsg, 'read '//name//': offset and data differ in rank')
        return
      end if
    end if
    if (.not. is_whole('read '//name, contiguous, count, stat, errmsg)) return
    part = count(n:1:-1)
    first = 0
    at = no_step
    if (present(offset)) first = offset(n:1:-1)
    if (present(step)) at = int(step, c_int64_t)
    call conclude(c_read(reader, c_text(name), type, address, int(n, c_int), first, part, at), stat, errmsg)
  end subroutine

  include 'each_type.inc'

end module weir
