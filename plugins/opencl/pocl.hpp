// SPDX-License-Identifier: Apache-2.0
//
// What PoCL needs of the process around it, and does not ask for: /sys, a folder to write to, and
// the exit statuses of the linkers that it starts.
#pragma once

#include <string>
#include <string_view>

namespace tutti::opencl {

/// Whether a platform or a driver of this name is PoCL.
bool is_pocl(std::string_view name);
/// Whether a driver of this name keeps what it has compiled in a folder, so that nobody else needs
/// to. To be asked for a binary costs PoCL far more: for it, it compiles each kernel once more, in
/// a form that it never runs.
bool keeps_programs(std::string_view driver);
/// Without /sys, as in some containers, PoCL aborts where it is asked for its devices.
bool is_sys_mounted();
/// Sets its variables; to be called before the first call into a platform.
void prepare_pocl();
/// Makes its folder again where somebody has removed it; before each build.
void restore_pocl_folder();
/// For messages: what may keep PoCL from working, "" or "; ...".
std::string about_pocl();
/// Says so where the process ignores SIGCHLD, with which PoCL aborts at its first kernel.
void warn_of_ignored_children();

}  // namespace tutti::opencl
