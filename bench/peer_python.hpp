// SPDX-License-Identifier: Apache-2.0
//
// Python libraries: runs the cases of peer_python.py in a Python process.
#pragma once

#include <functional>
#include <string>

namespace tutti::bench {

/// A function that returns the milliseconds of the case in the fastest library that has it; empty
/// if the Python of TUTTI_BENCH_PYTHON (python3) has none.
std::function<double()> python_peer(const std::string& name);

}  // namespace tutti::bench
