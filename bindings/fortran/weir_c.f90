! The functions of weir.h that module weir calls, as C has them. Not for programs: use weir.
module weir_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! What the I/O of a session cost: of this rank so far (summary), or of all ranks (finalize); see weir.h.
  type, bind(c) :: weir_summary
    integer(c_int64_t) :: files, writes, bytes
    real(c_double) :: storing_seconds, sending_seconds, waiting_seconds, closing_seconds
    integer(c_int64_t) :: peak_memory, transport_bytes
    real(c_double) :: transport_seconds
    integer(c_int64_t) :: stored_bytes
  end type

  type, bind(c) :: c_session_options
    type(c_ptr) :: mode, mapping
    integer(c_int32_t) :: compute_per_server, node_size
    integer(c_int64_t) :: budget
  end type

  type, bind(c) :: c_file_options
    type(c_ptr) :: backend, options
    integer(c_int) :: checksums, fsync, policy
    integer(c_int32_t) :: in_flight
  end type

  type, bind(c) :: c_reduction
    type(c_ptr) :: operation
    integer(c_int64_t) :: steps
    type(c_ptr) :: every
  end type

  interface
    function c_message() bind(c, name='weir_message') result(text)
      import; type(c_ptr) :: text
    end function
    function c_length(text) bind(c, name='strlen') result(length)
      import; type(c_ptr), value :: text; integer(c_size_t) :: length
    end function
    function c_init(comm, options, session) bind(c, name='weir_init_f') result(status)
      import; integer(c_int), value :: comm; type(c_session_options), intent(in) :: options
      type(c_ptr), intent(out) :: session; integer(c_int) :: status
    end function
    function c_compute(session, comm) bind(c, name='weir_compute_comm_f') result(status)
      import; type(c_ptr), value :: session; integer(c_int), intent(out) :: comm; integer(c_int) :: status
    end function
    function c_finalize(session, summary, text) bind(c, name='weir_finalize_with') result(status)
      import; type(c_ptr), intent(inout) :: session; type(weir_summary), intent(out) :: summary
      type(c_ptr), value :: text; integer(c_int) :: status
    end function
    function c_summary(session, summary) bind(c, name='weir_get_summary') result(status)
      import; type(c_ptr), value :: session; type(weir_summary), intent(out) :: summary; integer(c_int) :: status
    end function
    function c_allocate(session, bytes, memory, address) bind(c, name='weir_allocate') result(status)
      import; type(c_ptr), value :: session; integer(c_int64_t), value :: bytes
      type(c_ptr), intent(out) :: memory, address; integer(c_int) :: status
    end function
    function c_fresh(memory, address) bind(c, name='weir_fresh') result(status)
      import; type(c_ptr), value :: memory; type(c_ptr), intent(out) :: address; integer(c_int) :: status
    end function
    function c_free(memory) bind(c, name='weir_free') result(status)
      import; type(c_ptr), intent(inout) :: memory; integer(c_int) :: status
    end function
    function c_create(session, path, options, file) bind(c, name='weir_create') result(status)
      import; type(c_ptr), value :: session; character(c_char), intent(in) :: path(*)
      type(c_file_options), intent(in) :: options; type(c_ptr), intent(out) :: file; integer(c_int) :: status
    end function
    function c_open(session, path, options, reader) bind(c, name='weir_open') result(status)
      import; type(c_ptr), value :: session; character(c_char), intent(in) :: path(*)
      type(c_file_options), intent(in) :: options; type(c_ptr), intent(out) :: reader; integer(c_int) :: status
    end function
    function c_write(file, name, type, data, dimensions, shape, offset, count, step, reduction, ticket) &
        bind(c, name='weir_write_reduced') result(status)
      import; type(c_ptr), value :: file, data, reduction, ticket; character(c_char), intent(in) :: name(*)
      integer(c_int), value :: type, dimensions; integer(c_int64_t), intent(in) :: shape(*), offset(*), count(*)
      integer(c_int64_t), value :: step; integer(c_int) :: status
    end function
    function c_set_text(file, variable, name, text) bind(c, name='weir_set_text') result(status)
      import; type(c_ptr), value :: file; character(c_char), intent(in) :: variable(*), name(*), text(*)
      integer(c_int) :: status
    end function
    function c_get_text(reader, variable, name, text) bind(c, name='weir_get_text') result(status)
      import; type(c_ptr), value :: reader; character(c_char), intent(in) :: variable(*), name(*)
      type(c_ptr), intent(out) :: text; integer(c_int) :: status
    end function
    function c_get_numbers(reader, variable, name, type, elements, room) bind(c, name='weir_get_numbers') result(status)
      import; type(c_ptr), value :: reader, elements; character(c_char), intent(in) :: variable(*), name(*)
      integer(c_int), value :: type; integer(c_int64_t), value :: room; integer(c_int) :: status
    end function
    function c_close(file) bind(c, name='weir_close') result(status)
      import; type(c_ptr), intent(inout) :: file; integer(c_int) :: status
    end function
    function c_close_later(file, ticket) bind(c, name='weir_close_later') result(status)
      import; type(c_ptr), intent(inout) :: file; type(c_ptr), value :: ticket; integer(c_int) :: status
    end function
    function c_read(reader, name, type, data, dimensions, offset, count, step) bind(c, name='weir_read') result(status)
      import; type(c_ptr), value :: reader, data; character(c_char), intent(in) :: name(*)
      integer(c_int), value :: type, dimensions; integer(c_int64_t), intent(in) :: offset(*), count(*)
      integer(c_int64_t), value :: step; integer(c_int) :: status
    end function
    function c_inquire(reader, name, type, dimensions, shape, steps) bind(c, name='weir_inquire') result(status)
      import; type(c_ptr), value :: reader; character(c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: type; integer(c_int), intent(inout) :: dimensions
      integer(c_int64_t), intent(out) :: shape(*), steps; integer(c_int) :: status
    end function
    function c_close_reader(reader) bind(c, name='weir_close_reader') result(status)
      import; type(c_ptr), intent(inout) :: reader; integer(c_int) :: status
    end function
    function c_test(ticket, done) bind(c, name='weir_test') result(status)
      import; type(c_ptr), value :: ticket; integer(c_int), intent(out) :: done; integer(c_int) :: status
    end function
    function c_stored(ticket, done) bind(c, name='weir_stored') result(status)
      import; type(c_ptr), value :: ticket; integer(c_int), intent(out) :: done; integer(c_int) :: status
    end function
    function c_wait(ticket) bind(c, name='weir_wait') result(status)
      import; type(c_ptr), intent(inout) :: ticket; integer(c_int) :: status
    end function
    function c_drop(ticket) bind(c, name='weir_drop') result(status)
      import; type(c_ptr), intent(inout) :: ticket; integer(c_int) :: status
    end function
    function c_wait_stored(ticket) bind(c, name='weir_wait_stored') result(status)
      import; type(c_ptr), intent(inout) :: ticket; integer(c_int) :: status
    end function
  end interface

end module weir_c
