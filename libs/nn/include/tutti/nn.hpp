// SPDX-License-Identifier: Apache-2.0
//
// Neural networks as functions of explicit parameters: initialisers, layers, losses, metrics and
// optimisers. A network contains no trained values; parameters are a std::vector<array>, as in
// value_and_grad (grad.hpp).
#pragma once

#include "tutti/nn/activations.hpp"
#include "tutti/nn/attention.hpp"
#include "tutti/nn/initializers.hpp"
#include "tutti/nn/layer.hpp"
#include "tutti/nn/layers.hpp"
#include "tutti/nn/losses.hpp"
#include "tutti/nn/optimizers.hpp"
#include "tutti/nn/pipeline.hpp"
#include "tutti/nn/pooling.hpp"
#include "tutti/nn/recurrent.hpp"
#include "tutti/nn/sampling.hpp"
#include "tutti/nn/trainer.hpp"
#include "tutti/nn/training.hpp"
