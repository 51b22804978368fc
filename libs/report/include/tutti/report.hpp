// SPDX-License-Identifier: Apache-2.0
//
// What a run leaves behind, for people and for programs: plots as SVG, named values as JSON, a page
// of HTML, and all of them for a training. Link Tutti::report.
#pragma once

#include "tutti/report/metrics.hpp"
#include "tutti/report/page.hpp"
#include "tutti/report/plots.hpp"
#include "tutti/report/training.hpp"
