// SPDX-License-Identifier: Apache-2.0
//
// Rows for the layers and losses of nn.hpp.
#include "hostile_arguments.hpp"

namespace hostile {
namespace {

namespace nn = tutti::nn;

tutti::array applied(const nn::layer& l, const tutti::array& x) {
  return l.apply(l.parameters(), l.state(), x, nn::training({1})).value;
}

}  // namespace

std::vector<entry> networks() {
  return {
      ROW(nn::linear(p.size(), p.size(), {}).parameters()),
      ROW(nn::embedding(p.size(), p.size(), {}).parameters()),
      ROW(nn::conv2d(p.size(), p.size(), p.size(), {}, {.groups = p.size()}).parameters()),
      ROW(nn::lstm(p.size(), p.size(), {}).parameters()),
      ROW(nn::gru(p.size(), p.size(), {}).parameters()),
      ROW(nn::multi_head_attention(p.size(), p.size(), {}, {.kv_heads = p.size()}).parameters()),
      ROW(nn::transformer_block(p.size(), p.size(), {}).parameters()),
      ROW(nn::orthogonal({}, p.extents(), p.type())),
      ROW(nn::kaiming_normal({}, p.extents(), p.type())),
      ROW(nn::glorot_uniform({}, p.extents(), p.type())),
      ROW(nn::lecun_normal({}, p.extents(), p.type())),
      ROW(applied(nn::batch_norm(p.size(), {.momentum = p.number()}), p.any())),
      ROW(applied(nn::layer_norm(p.extents(), {.epsilon = p.number()}), p.any())),
      ROW(applied(nn::group_norm(p.size(), p.size()), p.any())),
      ROW(applied(nn::rms_norm(p.size(), p.number()), p.any())),
      ROW(applied(nn::dropout(p.number(), {.shared = p.axis()}), p.any())),
      ROW(applied(nn::flatten(), p.any())),
      ROW(applied(nn::max_pool(p.size()), p.any())),
      ROW(nn::elu(p.any(), p.number())),
      ROW(nn::mish(p.any())),
      ROW(nn::hard_swish(p.any())),
      ROW(nn::glu(p.any(), p.axis())),
      ROW(nn::rotary(p.any(), p.size(), p.number())),
      ROW(nn::scaled_dot_product_attention(p.any(), p.any(), p.any(), {.causal = p.flag()})),
      ROW(nn::rotary(p.any(), p.indices(), {.base = p.number(), .width = p.size()})),
      ROW(nn::attention_with_weights(p.any(), p.any(), p.any(),
                                     {.window = {.before = p.size()}, .grouped = p.flag()})
              .value),
      ROW(nn::batch_norm(p.any(), p.any(), p.any())),
      ROW(nn::layer_norm(p.any(), p.axis(), {.epsilon = p.number()})),
      ROW(nn::group_norm(p.any(), p.size())),
      ROW(nn::lstm(p.any(), {.input = p.any(), .hidden = p.any()}, {.lengths = p.indices()}).value),
      ROW(nn::cross_entropy(p.any(), p.indices(),
                            {.label_smoothing = p.number(), .ignore = p.size()})),
      ROW(nn::huber_loss(p.any(), p.any(), {.delta = p.number()})),
      ROW(nn::binary_cross_entropy_with_logits(p.any(), p.any(), {.weight = p.any()})),
      ROW(nn::kl_divergence(p.any(), p.any())),
      ROW(nn::triplet_loss(p.any(), p.any(), p.any(), {.margin = p.number()})),
      ROW(nn::ctc_loss(p.any(), p.indices(), p.indices(), p.indices(), {.blank = p.size()})),
      ROW(nn::clip_by_norm({p.any(), p.any()}, p.number()).gradients),
  };
}

}  // namespace hostile
