# Options, compiler flags, LLVM/MLIR linked statically, and how an extension of Python is made.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
option(TILETWIN_BUILD_TESTS "Build the C++ tests and developer tools" ON)
option(TILETWIN_INPLACE "Link the built modules into python/tiletwin, for use with PYTHONPATH" ON)
if(SKBUILD)
  set(TILETWIN_INPLACE OFF)
endif()
set(TILETWIN_SANITIZE "" CACHE STRING "address;undefined or thread: build with sanitizers")

include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 20)
  # Relative to where compilers run, so that the compiler cache serves every clone.
  file(RELATIVE_PATH _silent ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/cmake/silent_warnings.txt)
  add_compile_options(--warning-suppression-mappings=${_silent})
endif()
if(TILETWIN_SANITIZE)
  string(REPLACE ";" "," _sanitize "${TILETWIN_SANITIZE}")
  add_compile_options(-fsanitize=${_sanitize} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${_sanitize})
endif()

find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "tiletwin needs LLVM and MLIR 22, found ${LLVM_PACKAGE_VERSION}")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
# Debian's MLIR archives name the LLVM shared library; with LLVM's archives too there would be two LLVMs in one process.
foreach(_target IN LISTS MLIR_EXPORTED_TARGETS)
  get_target_property(_libs ${_target} INTERFACE_LINK_LIBRARIES)
  if(_libs)
    list(FILTER _libs EXCLUDE REGEX "(^|:)LLVM[>]*$")
    set_property(TARGET ${_target} PROPERTY INTERFACE_LINK_LIBRARIES "${_libs}")
  endif()
endforeach()
# The wheel may not need libzstd.so.
get_target_property(_libs LLVMSupport INTERFACE_LINK_LIBRARIES)
list(TRANSFORM _libs REPLACE "zstd::libzstd_shared" "zstd::libzstd_static")
set_property(TARGET LLVMSupport PROPERTY INTERFACE_LINK_LIBRARIES "${_libs}")
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(TBB REQUIRED)
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
# LLVM components every MLIR-using target needs, linked statically.
llvm_map_components_to_libnames(TILETWIN_LLVM_LIBS core support)

# A number that changes with the text of these headers, for both sides of an interface between separate modules.
function(tiletwin_interface_number out)
  set(_text "")
  foreach(_file IN LISTS ARGN)
    file(READ "${_file}" _content)
    string(APPEND _text "${_content}")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  string(SHA256 _hash "${_text}")
  string(SUBSTRING "${_hash}" 0 16 _hash)
  set(${out} "0x${_hash}ull" PARENT_SCOPE)
endfunction()

# One precompiled header for a target: parsing MLIR or Eigen takes most of a file's compile time. Without its time, so that the
# compiler cache serves every clone.
#   tiletwin_precompile(tw_diff ${CMAKE_CURRENT_SOURCE_DIR}/bounds/Builder.h WITHOUT Compare.cpp)
#   tiletwin_precompile(tw_python REUSE_FROM tw_frontend): that of another target, which has the same compiler options
function(tiletwin_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 _given "" "REUSE_FROM" "WITHOUT")
  if(_given_REUSE_FROM)
    target_precompile_headers(${target} REUSE_FROM ${_given_REUSE_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${_given_UNPARSED_ARGUMENTS})
  endif()
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  set_source_files_properties(${_given_WITHOUT} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# An extension of the package over the limited API: one file, tiletwin/NAME.abi3.so, for all Python versions from 3.11 on.
#   tiletwin_extension(tw_python_sim _sim SOURCES SimModule.cpp LIBRARIES tw_sim tw_runtime)
# Beside the CMakeLists.txt that calls it lies exports.map, what the file exports.
function(tiletwin_extension target name)
  cmake_parse_arguments(PARSE_ARGV 2 _given "" "" "SOURCES;LIBRARIES")
  add_library(${target} MODULE ${_given_SOURCES})  # CMake 3.25 has no USE_SABI
  target_include_directories(${target} PRIVATE ${Python_INCLUDE_DIRS})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} PREFIX "" SUFFIX ".abi3.so")
  target_compile_definitions(${target} PRIVATE Py_LIMITED_API=0x030B0000)
  target_compile_options(${target} PRIVATE -fno-rtti -fvisibility=hidden)
  target_link_libraries(${target} PRIVATE ${_given_LIBRARIES})
  # -z defs is not possible: Python's own symbols stay undefined until the interpreter loads the module. A test looks at them.
  target_link_options(${target} PRIVATE
    -Wl,--gc-sections -Wl,--as-needed -Wl,--exclude-libs,ALL -Wl,-z,nodelete
    -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
  tiletwin_in_package(${target})
endfunction()

# A module is a file of the package: installed into it, and linked into python/tiletwin whenever it has been built.
function(tiletwin_in_package module)
  install(TARGETS ${module} LIBRARY DESTINATION tiletwin)
  if(TILETWIN_INPLACE)
    add_custom_command(TARGET ${module} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:${module}>
              ${PROJECT_SOURCE_DIR}/python/tiletwin/$<TARGET_FILE_NAME:${module}>)
  endif()
endfunction()
