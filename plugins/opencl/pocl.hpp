// SPDX-License-Identifier: Apache-2.0
//
// Requirements of PoCL on the process that it does not check: /sys, a writable folder, and the exit
// statuses of the linkers that it starts.
#pragma once

#include <string>
#include <string_view>

namespace tutti::opencl {

/// Whether a platform or a driver of this name is PoCL.
bool is_pocl(std::string_view name);
/// Whether a driver of this name stores its compiled code in a folder, so that this is not needed
/// elsewhere. Requesting a binary costs PoCL far more: it compiles each kernel again, in a form
/// that it never runs.
bool keeps_programs(std::string_view driver);
/// Without /sys, as in some containers, PoCL aborts when its devices are queried.
bool is_sys_mounted();
/// Sets its environment variables; to be called before the first call into a platform.
void prepare_pocl();
/// Creates its folder again if it was removed; before each build.
void restore_pocl_folder();
/// For messages: possible reasons why PoCL does not work, "" or "; ...".
std::string about_pocl();
/// Reports if the process ignores SIGCHLD, with which PoCL aborts at its first kernel.
void warn_of_ignored_children();

}  // namespace tutti::opencl
