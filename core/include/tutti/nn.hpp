// SPDX-License-Identifier: Apache-2.0
//
// Neural networks as functions of explicit parameters: initialisers, layers, losses, metrics and
// optimisers. A network holds no trained values; parameters are a std::vector<array>, as
// value_and_grad (grad.hpp) takes them.
#pragma once

#include "tutti/nn_activations.hpp"
#include "tutti/nn_attention.hpp"
#include "tutti/nn_initializers.hpp"
#include "tutti/nn_layer.hpp"
#include "tutti/nn_layers.hpp"
#include "tutti/nn_losses.hpp"
#include "tutti/nn_optimizers.hpp"
#include "tutti/nn_recurrent.hpp"
#include "tutti/nn_trainer.hpp"
#include "tutti/nn_training.hpp"
