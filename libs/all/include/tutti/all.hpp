// SPDX-License-Identifier: Apache-2.0
//
// The core and all libraries.
#pragma once

#include "tutti/analysis.hpp"
#include "tutti/data.hpp"
#include "tutti/image.hpp"
#include "tutti/ml.hpp"
#include "tutti/nn.hpp"
#include "tutti/report.hpp"
#include "tutti/signal.hpp"
#include "tutti/sparse.hpp"
#include "tutti/tutti.hpp"
