// SPDX-License-Identifier: Apache-2.0
//
// Learning on tables, as users of scikit-learn know it: preparation, models, metrics, search. The
// guide: docs/guide/ml.md.
//
// Samples are arrays [rows, features], of any device. They are computed in f32 or f64: bool,
// integers, f16 and bf16 become f32, complex numbers throw dtype_error. Labels of classes are
// integers or bool [rows], of any values; models name classes in ascending order (classes(), i64;
// u64 above that wraps). Shapes that do not fit and samples without rows throw shape_error; options
// out of range throw value_error, and so does what is used before fit().
//
// fit() returns the model. parameters() are what it has learned, by name, as io::save_safetensors
// takes them, and load_parameters() takes them back, on the device where they lie then; options are
// not part of them. load_parameters() throws value_error for names that are missing or unknown,
// shape_error for shapes that do not fit, and changes nothing then.
#pragma once

#include "tutti/ml/boosting.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/ml/preprocessing.hpp"
#include "tutti/ml/search.hpp"
