// SPDX-License-Identifier: Apache-2.0
//
// Reports of a run, for people and for programs: plots as SVG, named values as JSON, an HTML page,
// and all of these for a training run. Link Tutti::report.
#pragma once

#include "tutti/report/metrics.hpp"
#include "tutti/report/page.hpp"
#include "tutti/report/plots.hpp"
#include "tutti/report/training.hpp"
