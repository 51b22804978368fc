// SPDX-License-Identifier: Apache-2.0
//
// Paths that only CMake knows. A program has those that tutti_test_paths (cmake/TuttiTest.cmake)
// gives it, in a generated source of their own: no other object depends on where the tree lies, so
// a compiler cache serves every clone.
#pragma once

namespace tutti_test::paths {

extern const char* const crashing_compiler;
extern const char* const cuda_plugin;
extern const char* const fake_plugins;
extern const char* const faulty_kernels;
extern const char* const faulty_plugin;
extern const char* const guide_data;
extern const char* const little_plugin;
extern const char* const opencl_plugin;
extern const char* const plugin_output;
extern const char* const printed;
extern const char* const sample_data;
extern const char* const source_folder;
extern const char* const tutti_program;
extern const char* const vectors;
extern const char* const world_program;

}  // namespace tutti_test::paths
