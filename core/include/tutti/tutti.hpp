// SPDX-License-Identifier: Apache-2.0
//
// The header that an application includes.
#pragma once

#include "tutti/array.hpp"
#include "tutti/collective.hpp"
#include "tutti/contractions.hpp"
#include "tutti/device.hpp"
#include "tutti/device_group.hpp"
#include "tutti/dlpack.hpp"
#include "tutti/dtype.hpp"
#include "tutti/error.hpp"
#include "tutti/grad.hpp"
#include "tutti/indexing.hpp"
#include "tutti/io.hpp"
#include "tutti/kernel.hpp"
#include "tutti/movement.hpp"
#include "tutti/multi.hpp"
#include "tutti/nn.hpp"
#include "tutti/ops.hpp"
#include "tutti/parallel.hpp"
#include "tutti/random.hpp"
#include "tutti/shape.hpp"
#include "tutti/slicing.hpp"
#include "tutti/sorting.hpp"
#include "tutti/standard.hpp"
#include "tutti/statistics.hpp"
#include "tutti/stats.hpp"
