// SPDX-License-Identifier: Apache-2.0
//
// What a user of Python would call: the cases of peer_python.py, in a Python that runs beside.
#pragma once

#include <functional>
#include <string>

namespace tutti::bench {

/// A function that returns the milliseconds that the case of that name takes by the fastest of the
/// libraries that have it; empty where the Python of TUTTI_BENCH_PYTHON (python3) has none.
std::function<double()> python_peer(const std::string& name);

}  // namespace tutti::bench
