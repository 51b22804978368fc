// SPDX-License-Identifier: Apache-2.0
//
// Learning on tables, similar to scikit-learn: preparation, models, metrics, search. The guide:
// docs/guide/ml.md.
//
// Samples are arrays [rows, features] on any device. They are computed in f32 or f64: bool,
// integers, f16 and bf16 become f32, complex numbers throw dtype_error. Class labels are integers
// or bool [rows] with any values; models order classes ascending (classes(), i64; larger u64 values
// wrap). Shapes that do not match and samples without rows throw shape_error; options out of range,
// and use before fit(), throw value_error.
//
// fit() returns the model. parameters() returns the learned arrays by name, as for
// io::save_safetensors; load_parameters() restores them, on the device where they are. Options are
// not included. load_parameters() throws value_error for missing or unknown names and shape_error
// for shapes that do not match, without changing the model.
#pragma once

#include "tutti/ml/boosting.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/ml/preprocessing.hpp"
#include "tutti/ml/search.hpp"
