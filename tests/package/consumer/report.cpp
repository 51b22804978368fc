// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <tutti/report.hpp>

int main() { std::cout << tutti::report::metrics{{"right", true}}.json(); }
