! For programs that `use mpi_f08`: the same calls with type(MPI_Comm).
!
!     call weir_init(io, MPI_COMM_WORLD)
!     call weir_compute_comm(io, comm)
module weir_f08
  use weir
  use mpi_f08, only: MPI_Comm
  implicit none
  private
  public :: weir_init, weir_compute_comm

  interface weir_init
    module procedure session_init_f08
  end interface

contains

  subroutine session_init_f08(session, comm, options, stat, errmsg)
    type(weir_session), intent(out) :: session
    type(MPI_Comm), intent(in) :: comm
    type(weir_session_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call weir_init(session, comm%MPI_VAL, options, stat, errmsg)
  end subroutine

  subroutine weir_compute_comm(session, comm)
    type(weir_session), intent(in) :: session
    type(MPI_Comm), intent(out) :: comm

    comm%MPI_VAL = session%compute()
  end subroutine

end module weir_f08
