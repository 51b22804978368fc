// SPDX-License-Identifier: Apache-2.0
//
// One job on all devices of TUTTI_DEVICE, from any vendors: rows are distributed by speed.
#include <iostream>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"

int main(int argc, char** argv) {
  CLI::App app("One product on all devices of TUTTI_DEVICE, with rows distributed by speed.",
               "several");
  return samples::run(app, argc, argv, [] {
    const tutti::device_group group;
    const tutti::sharded x =
        shard(tutti::random::normal({1}, {4096, 512}), group, 0, tutti::shares::by_throughput());
    const tutti::sharded w = replicate(tutti::random::normal({2}, {512, 256}), group);
    const tutti::sharded y = map(tutti::tanh, matmul(x, w)) * 0.5 + 1;
    std::cout << x.str() << "\nmean " << mean(y).gather(group[0]).item() << '\n';
  });
}
