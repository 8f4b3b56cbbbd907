function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "failed (${result}): ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${WEIR_BUILD} --prefix ${WORK}/prefix)
set(flags "")
if(SANITIZE)
  set(flags -fsanitize=${SANITIZE})
endif()

# Moved, to prove that nothing points back.
file(RENAME ${WORK}/prefix ${WORK}/moved)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CONSUMER} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/moved -DCMAKE_CXX_FLAGS=${flags})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${MPIEXEC} -n 2 ${WORK}/build/consumer ${WORK}/found.dat)

set(ENV{PKG_CONFIG_PATH} ${WORK}/moved/${LIBDIR}/pkgconfig)
execute_process(COMMAND pkg-config --cflags --libs weir OUTPUT_VARIABLE words OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(words UNIX_COMMAND "${words}")
run(${MPICXX} -std=c++20 ${flags} ${CONSUMER}/consumer.cpp -o ${WORK}/by-pkg-config ${words} -Wl,-rpath,${WORK}/moved/${LIBDIR})
run(${MPIEXEC} -n 2 ${WORK}/by-pkg-config ${WORK}/pkg.dat)
run(${WORK}/moved/bin/weir verify ${WORK}/pkg.dat)

# As the makefile of an iocomp program does it.
set(IOCOMP_DIR ${WORK}/moved/${LIBDIR}/weir/iocomp)
run(${MPICC} ${flags} ${CONSUMER}/iocomp.c -o ${WORK}/iocomp -I${IOCOMP_DIR}/include -L${IOCOMP_DIR}/lib -liocomp -Wl,-rpath,${IOCOMP_DIR}/lib)
execute_process(COMMAND ${MPIEXEC} -n 2 ${WORK}/iocomp WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${WORK}/mpiio.dat size)
if(NOT size EQUAL 48)
  message(FATAL_ERROR "the iocomp program left ${size} bytes")
endif()

# The recorder is found where it was installed, and sees the MPI-IO of that program.
if(NOT SANITIZE)
  execute_process(COMMAND ${WORK}/moved/bin/weir record -o ${WORK}/recording -- ${MPIEXEC} -n 2 ${WORK}/iocomp WORKING_DIRECTORY ${WORK}
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  if(NOT text MATCHES "mpiio.dat[^\n]* written +2 +48 B")
    message(FATAL_ERROR "weir record: ${text}")
  endif()
endif()

# The Fortran module, by find_package and from its sources; the Python package.
if(FORTRAN)
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CONSUMER}/fortran -B ${WORK}/build-fortran -DCMAKE_PREFIX_PATH=${WORK}/moved)
  run(${CMAKE_COMMAND} --build ${WORK}/build-fortran)
  run(${MPIEXEC} -n 2 ${WORK}/build-fortran/from-package ${WORK}/fortran.dat)
  run(${MPIEXEC} -n 2 ${WORK}/build-fortran/from-sources ${WORK}/fortran.dat)
endif()
if(PYTHON)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${WORK}/moved/${LIBDIR}/weir/python --unset=WEIR_LIBRARY
    /usr/bin/python3 -c "import mpi4py; mpi4py.rc.initialize = False; import weir; print(weir.version())"
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(result AND NOT text MATCHES "No module named|another MPI|No such file or directory: '/usr/bin/python3'")
    message(FATAL_ERROR "import weir: ${text}")
  endif()
endif()
