// SPDX-License-Identifier: Apache-2.0
//
// Images: colours, geometry, filters, features. For image files see data/image_files.hpp.
#pragma once

#include "tutti/image/basics.hpp"
#include "tutti/image/features.hpp"
#include "tutti/image/filters.hpp"
