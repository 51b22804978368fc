// SPDX-License-Identifier: Apache-2.0
//
// Data: files of arrays, tables, images and sounds, data sets and the batch loader, augmentation,
// checkpoints of runs.
#pragma once

#include "tutti/data/augmentation.hpp"
#include "tutti/data/checkpoint.hpp"
#include "tutti/data/image_files.hpp"
#include "tutti/data/image_folder.hpp"
#include "tutti/data/io.hpp"
#include "tutti/data/loader.hpp"
#include "tutti/data/partitioned_checkpoints.hpp"
#include "tutti/data/sound_files.hpp"
#include "tutti/data/splits.hpp"
#include "tutti/data/table.hpp"
