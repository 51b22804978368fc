// SPDX-License-Identifier: Apache-2.0
//
// Contractions against loops over every index on the host, the order in which operands are
// contracted, how many copies that takes, and gradients.
#include "differences.hpp"
#include "graph/node.hpp"
#include "op/contraction/einsum_plan.hpp"
#include "sampled_layouts.hpp"
#include "tutti_test/host_device.hpp"

namespace {

using arguments = std::vector<array>;

struct example {
  std::string subscripts;
  std::vector<shape> shapes;
  // As for by_loops, where the subscripts themselves do not say it.
  std::vector<std::string> terms{};
  std::string output{};
};

const std::vector<example> examples = {
    {"ij,jk->ik", {{3, 4}, {4, 5}}},
    {"ij,kj->ki", {{3, 4}, {5, 4}}},
    {"ji , jk -> ik", {{4, 3}, {4, 5}}, {"ji", "jk"}, "ik"},
    {"ij,jk", {{3, 4}, {4, 5}}, {"ij", "jk"}, "ik"},
    {"ba,cb", {{3, 4}, {5, 3}}, {"ba", "cb"}, "ac"},
    {"aB,Bc", {{3, 4}, {4, 5}}, {"aB", "Bc"}, "ac"},
    {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}},
    {"ibj,jkb->bki", {{3, 2, 4}, {4, 5, 2}}},
    {"bqhd,bkhd->bhqk", {{2, 3, 4, 5}, {2, 6, 4, 5}}},
    {"abcd,dcbe->ae", {{2, 3, 4, 5}, {5, 4, 3, 2}}},
    {"i,i->", {{7}, {7}}},
    {"i,i->i", {{7}, {7}}},
    {"i,j->ji", {{3}, {4}}},
    {"bi,bi->b", {{3, 5}, {3, 5}}},
    {"ij,ij->", {{3, 5}, {3, 5}}},
    {"ij,j->i", {{3, 5}, {5}}},
    {"i,ij->j", {{3}, {3, 5}}},
    {"ij,kl->ik", {{3, 4}, {5, 2}}},
    {"ii->i", {{4, 4}}},
    {"ii->", {{4, 4}}},
    {"ii", {{4, 4}}, {"ii"}, ""},
    {"iji->j", {{4, 3, 4}}},
    {"iii->i", {{3, 3, 3}}},
    {"ij->ji", {{3, 5}}},
    {"ij->j", {{3, 5}}},
    {"ijk->kj", {{3, 5, 2}}},
    {"iij,jkk->ik", {{3, 3, 4}, {4, 5, 5}}},
    {",ij->ij", {{}, {3, 4}}},
    {"...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 2}}, {"xyij", "yjk"}, "xyik"},
    {"...i,...i", {{2, 3}, {3}}, {"xi", "i"}, "x"},
    {"i...->...i", {{3, 2, 4}}, {"ixy"}, "xyi"},
    {"...,...", {{2, 3}, {3}}, {"xy", "y"}, "xy"},
    {"i...j,j->i...", {{2, 3, 4}, {4}}, {"ixj", "j"}, "ix"},
    {"ij,jk->ik", {{3, 1}, {4, 5}}},
    {"ij,ij->i", {{1, 4}, {3, 1}}},
    {"ij,jk,kl->il", {{3, 4}, {4, 5}, {5, 2}}},
    {"ij,jk,kl,lm->im", {{3, 4}, {4, 5}, {5, 2}, {2, 6}}},
    {"i,ij,j->", {{3}, {3, 4}, {4}}},
    {"ai,bi,ci->abc", {{2, 5}, {3, 5}, {4, 5}}},
    {"ab,bc,cd,de,ef,fg,gh,hi,ij->aj",
     {{2, 3}, {3, 2}, {2, 4}, {4, 2}, {2, 3}, {3, 2}, {2, 2}, {2, 3}, {3, 2}}},
};

std::vector<std::string> terms_of(const example& e) {
  if (!e.terms.empty()) return e.terms;
  std::vector<std::string> out(1);
  for (char c : e.subscripts.substr(0, e.subscripts.find("->"))) {
    if (c == ',')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

std::string output_of(const example& e) {
  return e.terms.empty() ? e.subscripts.substr(e.subscripts.find("->") + 2) : e.output;
}

std::vector<dense> operands_of(const example& e) {
  std::vector<dense> out;
  for (const shape& s : e.shapes) out.push_back(random_dense(s, -1, 1, 501 + out.size()));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(einsum_by_loops) {
  // Each layout is another program to compile: all of them on one device, on the others in turn.
  const std::size_t count = tutti_test::on_host() ? 4 : 1;
  std::size_t turn = 0;
  for (const example& e : examples) {
    const std::vector<dense> operands = operands_of(e);
    const dense expected = by_loops(terms_of(e), output_of(e), operands);
    std::vector<std::vector<std::pair<std::string, array>>> views;
    for (const dense& d : operands) views.push_back(layouts<double>(d));
    ++turn;
    for (std::size_t v = turn; v < turn + count; ++v) {
      std::vector<array> given;
      for (const auto& of_one : views)
        given.push_back(of_one[(v + given.size()) % of_one.size()].second);
      BOOST_TEST_CONTEXT(e.subscripts << " layout " << v % 4) {
        BOOST_TEST(matches(tutti::einsum(e.subscripts, given), expected,
                           {.relative = 1e-13, .absolute = 1e-13}));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(einsum_dtypes) {
  const dense a = random_integers({3, 4}, -5, 5, 511), b = random_integers({4, 2}, -5, 5, 512);
  const dense product = by_loops({"ij", "jk"}, "ik", {a, b});
  const dense rows = by_loops({"ij"}, "i", {a});
  for (dtype type : {dtype::f16, dtype::f32, dtype::f64, dtype::i32, dtype::i64}) {
    const array x = upload(a, type), y = upload(b, type);
    for (const array& got : {tutti::einsum("ij,jk->ik", {x, y}), tutti::tensordot(x, y, 1)}) {
      BOOST_TEST((got.dtype() == type));
      BOOST_TEST(matches(got, product));
    }
    BOOST_TEST((tutti::einsum("ij->i", {x}).dtype() == type));
    BOOST_TEST(matches(tutti::einsum("ij->i", {x}), rows));
    BOOST_TEST((tutti::vecdot(x, x).dtype() == type));
  }
  BOOST_TEST((tutti::einsum("i,i", {array::from<std::int32_t>({1, 2}), array::from<float>({3, 4})})
                  .dtype() == dtype::f32));
  BOOST_TEST(tutti::einsum(",i->i", {2, array::from<std::int32_t>({3})}).item() == 6);
  FAILS(dtype_error, tutti::einsum("i->i", {array::from<bool>({true})}), "einsum");
}

BOOST_AUTO_TEST_CASE(einsum_special_values_and_sizes) {
  const array x = array::from(std::vector<float>{1, NAN, 2, INFINITY}, {2, 2});
  BOOST_TEST(matches(tutti::einsum("ij->i", {x}), {{2}, {NAN, INFINITY}}));
  BOOST_TEST(
      matches(tutti::einsum("ij,j->i", {x, array::from<float>({1, 1})}), {{2}, {NAN, INFINITY}}));
  BOOST_TEST(matches(tutti::einsum("ij,jk->ik", {tutti::zeros({2, 0}), tutti::zeros({0, 3})}),
                     tabulate({2, 3}, [](const position&) { return 0; })));
  BOOST_TEST(tutti::einsum("ij,jk->ik", {tutti::zeros({0, 2}), tutti::zeros({2, 3})}).shape() ==
             (shape{0, 3}));
  BOOST_TEST(tutti::einsum("ii->i", {tutti::zeros({0, 0})}).shape() == shape{0});
  BOOST_TEST(tutti::einsum("->", {3.5}).item() == 3.5);
}

BOOST_AUTO_TEST_CASE(einsum_bad_input) {
  const array m = tutti::zeros({2, 3}), n = tutti::zeros({4, 5});
  const auto message = [&](std::string_view text, const std::vector<array>& given,
                           std::string_view expected) {
    FAILS(value_error, tutti::einsum(text, given), expected);
  };
  FAILS(shape_error, tutti::einsum("ij,jk->ik", {m, n}),
        "einsum: \"ij,jk->ik\": 'j' has extents 3 and 4");
  FAILS(shape_error, tutti::einsum("...,...", {m, n}), "of \"...\"");
  message("ij,jk->ik", {m}, "2 terms for 1 operands");
  message("ijk->i", {m}, "a term of 3 letters for an operand of shape [2,3]");
  message("i->i", {m}, "a term of 1 letters");
  message("ij->k", {m}, "output 'k' is in no operand");
  message("ij->ii", {m}, "output 'i' is given twice");
  message("i1->i", {m}, "unexpected '1'");
  message("i...->i", {m}, "the output lacks");
  message("......", {m}, "unexpected '.'");
  message("ij->i->j", {m}, "unexpected '-'");
  FAILS(shape_error,
        tutti::einsum("abcde,fghij->abcdefghij",
                      {tutti::zeros({1, 1, 1, 1, 1}), tutti::zeros({1, 1, 1, 1, 1})}),
        "more than 8 dimensions");
}

BOOST_AUTO_TEST_CASE(order_of_contractions) {
  using steps = std::vector<std::pair<int, int>>;
  const auto order = [](std::string_view text, const std::vector<shape>& shapes) {
    return tutti::op::contraction_order(tutti::op::parse_einsum(text, shapes));
  };
  // (A B) v is worse than A (B v), and v A B is done from the left.
  BOOST_TEST((order("ij,jk,k->i", {{100, 100}, {100, 100}, {100}}) == steps{{1, 2}, {0, 3}}));
  BOOST_TEST((order("i,ij,jk->k", {{100}, {100, 100}, {100, 100}}) == steps{{0, 1}, {2, 3}}));
  // The textbook's chain 30x35, 35x15, 15x5, 5x10, 10x20, 20x25 has the optimum
  // (A1 (A2 A3)) ((A4 A5) A6) (Cormen et al., Introduction to Algorithms, 15.2).
  const auto chain =
      order("ab,bc,cd,de,ef,fg->ag", {{30, 35}, {35, 15}, {15, 5}, {5, 10}, {10, 20}, {20, 25}});
  const auto holds = [&](std::pair<int, int> step) {
    return std::find(chain.begin(), chain.end(), step) != chain.end();
  };
  BOOST_TEST_REQUIRE(chain.size() == 5u);
  BOOST_TEST(holds({1, 2}));
  BOOST_TEST(holds({3, 4}));
  const int inner = int(std::find(chain.begin(), chain.end(), std::pair{1, 2}) - chain.begin()) + 6;
  BOOST_TEST(holds({0, inner}));
  // Greedily, beyond eight operands: a vector at the end is still taken first.
  std::vector<shape> many(9, shape{50, 50});
  many.push_back({50});
  const auto greedy = order("ab,bc,cd,de,ef,fg,gh,hi,ij,j->a", many);
  BOOST_TEST((greedy.front() == std::pair{8, 9}));
  BOOST_TEST(greedy.size() == 9u);
}

BOOST_AUTO_TEST_CASE(einsum_copies_nothing_needless) {
  // The operands of the matmul below a result.
  const auto operands = [](array y) {
    const tutti::graph::node* n = y.node().get();
    while (n->kind == tutti::graph::kind::view) n = n->view().base.get();
    BOOST_TEST_REQUIRE(n->is(TUTTI_OPERATOR_MATMUL));
    return n->inputs;
  };
  const auto views_of_data = [&](std::string_view text, const shape& a, const shape& b) {
    const array x = upload_as<float>(random_dense(a, -1, 1, 521));
    const array y = upload_as<float>(random_dense(b, -1, 1, 522));
    for (const auto& input : operands(tutti::einsum(text, {x, y}))) {
      const tutti::graph::node& base = tutti::graph::base_of(*input);
      BOOST_TEST((base.kind == tutti::graph::kind::data), text << " copies an operand");
    }
  };
  views_of_data("ij,jk->ik", {3, 4}, {4, 5});
  views_of_data("ji,kj->ki", {4, 3}, {5, 4});
  views_of_data("bij,bkj->bik", {2, 3, 4}, {2, 5, 4});
  views_of_data("ijk,kl->ijl", {2, 3, 4}, {4, 5});
  views_of_data("ijk,jkl->il", {2, 3, 4}, {3, 4, 5});
  views_of_data("kji,lkj->il", {4, 3, 2}, {5, 4, 3});
  views_of_data("bhqd,bhkd->bhqk", {2, 3, 4, 5}, {2, 3, 6, 5});
}

BOOST_AUTO_TEST_CASE(tensor_products) {
  const dense a = random_dense({3, 4, 5}, -1, 1, 531), b = random_dense({4, 3, 2}, -1, 1, 532);
  const tutti_test::tolerance near{.relative = 1e-13, .absolute = 1e-13};
  const auto lb = sampled_layouts<double>(b);
  std::size_t k = 0;
  for (const auto& [layout, x] : sampled_layouts<double>(a)) {
    const array y = lb[++k % lb.size()].second;
    BOOST_TEST_CONTEXT(layout) {
      BOOST_TEST(matches(tutti::tensordot(x, y, shape{0, 1}, shape{1, 0}),
                         by_loops({"ijk", "jil"}, "kl", {a, b}), near));
      BOOST_TEST(matches(tutti::tensordot(x, y, shape{-2}, shape{0}),
                         by_loops({"ijk", "jlm"}, "iklm", {a, b}), near));
      BOOST_TEST(
          matches(tutti::tensordot(x, y, 0), by_loops({"ijk", "lmn"}, "ijklmn", {a, b}), near));
      BOOST_TEST(matches(tutti::outer(x, y),
                         {{60, 24}, by_loops({"ijk", "lmn"}, "ijklmn", {a, b}).values}, near));
      BOOST_TEST(matches(tutti::inner(x, x), by_loops({"ijk", "lmk"}, "ijlm", {a, a}), near));
      BOOST_TEST(matches(tutti::trace(x, 1, 1, 2), by_loops({"ijj"}, "i", {read(x({{}, {}, {1}}))}),
                         near));
    }
  }
  BOOST_TEST(matches(tutti::inner(upload_as<float>(a), 2),
                     tabulate(a.extents, [&](const position& i) { return 2 * a.at(i); })));
  const dense deep = random_dense({2, 1, 2, 1, 3}, -1, 1, 533);
  BOOST_TEST(
      matches(tutti::kron(upload_as<double>(deep), array::from<double>({1, 10})),
              tabulate({2, 1, 2, 1, 6},
                       [&](const position& i) {
                         return deep.at({i[0], 0, i[2], 0, i[4] / 2}) * (i[4] % 2 == 0 ? 1 : 10);
                       }),
              near));
  BOOST_TEST((tutti::trace(tutti::ones({3, 3}, dtype::u8)).dtype() == dtype::u64));
  BOOST_TEST(tutti::trace(tutti::eye(5)).item() == 5);
  BOOST_TEST(tutti::outer(tutti::zeros({0}), tutti::zeros({3})).shape() == (shape{0, 3}));
  BOOST_TEST(tutti::tensordot(tutti::zeros({2, 0}), tutti::zeros({0, 3}), 1).shape() ==
             (shape{2, 3}));

  const array x = tutti::zeros({3, 4, 5}), y = tutti::zeros({4, 3, 2});
  FAILS(shape_error, tutti::tensordot(x, y, shape{0}, shape{0}),
        "tensordot: axes [0] of [3,4,5] and [0] of [4,3,2] differ");
  FAILS(value_error, tutti::tensordot(x, y, shape{0, 1}, shape{1}), "differ in number");
  FAILS(value_error, tutti::tensordot(x, y, shape{0, 0}, shape{1, 1}), "repeat an axis");
  FAILS(value_error, tutti::tensordot(x, y, 4), "over 4 axes");
  FAILS(shape_error, tutti::inner(x, y), "inner");
}

BOOST_AUTO_TEST_CASE(vectors) {
  const dense a = random_dense({2, 3, 4}, -1, 1, 541), b = random_dense({3, 4}, -1, 1, 542);
  const tutti_test::tolerance near{.relative = 1e-13, .absolute = 1e-13};
  const auto lb = sampled_layouts<double>(b);
  std::size_t k = 0;
  for (const auto& [layout, x] : sampled_layouts<double>(a)) {
    const array y = lb[++k % lb.size()].second;
    BOOST_TEST_CONTEXT(layout) {
      BOOST_TEST(matches(tutti::vecdot(x, y), by_loops({"ijk", "jk"}, "ij", {a, b}), near));
      BOOST_TEST(matches(tutti::vecdot(x, y, -2), by_loops({"ijk", "jk"}, "ik", {a, b}), near));
      BOOST_TEST(matches(
          tutti::cross(x, y, -2),
          tabulate(a.extents,
                   [&](const position& i) {
                     const auto p = [&](std::int64_t c) { return a.at({i[0], c % 3, i[2]}); };
                     const auto q = [&](std::int64_t c) { return b.at({c % 3, i[2]}); };
                     return p(i[1] + 1) * q(i[1] + 2) - p(i[1] + 2) * q(i[1] + 1);
                   }),
          near));
    }
  }
  const array e = tutti::eye(3, dtype::i32);
  BOOST_TEST(matches(tutti::cross(e[0], e), {{3, 3}, {0, 0, 0, 0, 0, 1, 0, -1, 0}}));
  BOOST_TEST(matches(tutti::cross(e, e[0], 0), {{3, 3}, {0, 0, 0, 0, 0, 1, 0, -1, 0}}));
  FAILS(shape_error, tutti::cross(tutti::zeros({2}), tutti::zeros({2})),
        "cross: needs vectors of 3 along axis -1");
  FAILS(shape_error, tutti::vecdot(tutti::zeros({2}), tutti::zeros({3})),
        "vecdot: axis -1 differs: [2] and [3]");
}

BOOST_AUTO_TEST_CASE(gradients_of_contractions) {
  const auto check = [](const std::function<array(const arguments&)>& f,
                        const std::vector<dense>& at) {
    check_gradient([&](const arguments& v) { return weighted_sum(f(v)); }, at);
  };
  for (std::size_t i : {0u, 7u, 9u, 13u, 26u, 28u, 33u, 36u, 38u}) {
    BOOST_TEST_CONTEXT(examples[i].subscripts) {
      check([&](const arguments& v) { return tutti::einsum(examples[i].subscripts, v); },
            operands_of(examples[i]));
    }
  }
  const dense a = random_dense({2, 3}, -1, 1, 551), b = random_dense({2, 3}, -1, 1, 552);
  check([](const arguments& v) { return tutti::kron(v[0], v[1]); }, {a, b});
  check([](const arguments& v) { return tutti::cross(v[0], v[1]); }, {a, b});
  check([](const arguments& v) { return tutti::vecdot(v[0], v[1]); }, {a, b});
  check([](const arguments& v) { return tutti::outer(v[0], v[1]); }, {a, b});
  check([](const arguments& v) { return tutti::tensordot(v[0], v[1], shape{1}, shape{1}); },
        {a, b});
  check([](const arguments& v) { return tutti::trace(tutti::sin(v[0]), 1); }, {a});
}
