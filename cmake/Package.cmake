# The installed package: one shared library that exports only the programming interface, headers, and two ways to find it.
if(NOT WEIR_HAVE_MPI)
  return()
endif()
include(CMakePackageConfigHelpers)

# The programming interface lives in session/; what it needs of the other modules is drawn in behind it.
add_library(weir SHARED $<TARGET_OBJECTS:weir_session>)
target_link_libraries(weir PUBLIC MPI::MPI_C PRIVATE weir_session weir_build_flags)
target_include_directories(weir PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_definitions(weir PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_compile_features(weir PUBLIC cxx_std_20)
set_target_properties(weir PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME weir
  INSTALL_RPATH_USE_LINK_PATH ON)
set_target_properties(weir-cli PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
add_library(Weir::weir ALIAS weir)

install(TARGETS weir EXPORT WeirTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/weir DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT WeirTargets NAMESPACE Weir:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weir)
configure_package_config_file(cmake/WeirConfig.cmake.in ${PROJECT_BINARY_DIR}/generated/WeirConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/WeirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# Relative, so that an installed tree can be moved.
file(RELATIVE_PATH WEIR_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/weir.pc.in generated/weir.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/WeirConfig.cmake ${PROJECT_BINARY_DIR}/generated/WeirConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weir)
install(FILES ${PROJECT_BINARY_DIR}/generated/weir.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
