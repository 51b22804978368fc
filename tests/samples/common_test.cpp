// SPDX-License-Identifier: Apache-2.0
//
// Tables, progress and the search for data files.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/facts.hpp"
#include "common/numbers.hpp"
#include "common/progress.hpp"
#include "common/text_table.hpp"
#include "tutti_test/arrays.hpp"

BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(tables_align_their_columns) {
  BOOST_TEST(samples::text_table({{"a", "bb"}, {"long", "1"}, {"x"}}) ==
             "a     bb\n--------\nlong   1\nx\n");
  BOOST_TEST(samples::text_table({}) == "");
}

BOOST_AUTO_TEST_CASE(confusion_tables_show_shares) {
  const std::vector<std::int64_t> counts{3, 1, 0, 0};
  BOOST_TEST(samples::confusion_table(counts, {"cat", "dog"}) ==
             "truth  cat  dog  right\n----------------------\ncat      3    1  75.0%\n"
             "dog      .    .      -\n");
  FAILS(shape_error, samples::confusion_table(counts, {"cat"}), "4 counts for 1 classes");
}

BOOST_AUTO_TEST_CASE(facts_are_sentences_or_json) {
  samples::facts facts;
  facts.add("error", 0.25, "off by {:.1e}");
  facts.add("count", std::int64_t{3}, "{} things");
  facts.add("a \"name\"", std::string("tab\t, \\"));
  facts.list("list", {1.5, NAN});
  facts.say("said\n");
  facts.table("table", {"", "x"}, {"one", "two"}, {1, INFINITY});
  std::ostringstream people, programs;
  facts.print(people, false);
  facts.print(programs, true);
  BOOST_TEST(people.str() ==
             "off by 2.5e-01\n3 things\nsaid\n            x\n-------------\none  1.000000\n"
             "two       inf\n");
  // As JSON it is what metrics make of the values.
  const double nan = NAN, infinite = INFINITY;
  const tutti::report::metrics expected{{"error", 0.25},
                                        {"count", std::int64_t{3}},
                                        {"a \"name\"", "tab\t, \\"},
                                        {"list", std::vector<double>{1.5, nan}},
                                        {"table", std::vector<double>{1, infinite}}};
  BOOST_TEST(programs.str() == expected.json());
  FAILS(shape_error, facts.table("t", {"", "x"}, {"one"}, {1, 2}), "t: 2 values for 1 rows of 1");
}

BOOST_AUTO_TEST_CASE(numbers_of_options_have_limits) {
  const CLI::Validator check = samples::within(0.5, 2);
  for (const char* right : {"0.5", "1e0", "2"}) BOOST_TEST(check(right) == "");
  for (const char* wrong : {"nan", "inf", "-1", "2.1", "", "x", "1x"}) {
    BOOST_TEST(check(wrong).find("is not a number in [0.5 - 2]") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(progress_prints_lines_where_there_is_no_terminal) {
  std::ostringstream out;
  {
    samples::progress progress(out, 3, 0);
    for (int i = 0; i < 3; ++i) progress.advance();
    progress.report("epoch 1");
    progress.report("epoch 2");
  }
  BOOST_TEST(out.str() == "epoch 1\nepoch 2\n");
}

BOOST_AUTO_TEST_CASE(progress_draws_a_bar_within_the_terminal) {
  for (const int columns : {1, 10, 40, 80, 300}) {
    std::ostringstream out;
    {
      samples::progress progress(out, 4, columns);
      for (int i = 0; i < 9; ++i) progress.advance();
    }
    BOOST_TEST(out.str().find("\r") == 0u);
    BOOST_TEST(out.str().back() == '\n');
    std::istringstream in(out.str());
    for (std::string drawn; std::getline(in, drawn, '\r');) {
      BOOST_TEST(drawn.substr(0, drawn.find('\x1b')).size() < std::max<std::size_t>(columns, 2));
    }
    if (columns >= 40) BOOST_TEST(out.str().find("#] 100%") != std::string::npos);
  }
}

/// What a terminal shows of `written`: a line after "\r" replaces the one before, and "\x1b[K"
/// erases what is left of that.
std::string on_a_terminal(const std::string& written) {
  std::string screen;
  std::size_t line = 0, at = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] == '\r') {
      at = line;
    } else if (written.compare(i, 3, "\x1b[K") == 0) {
      screen.resize(at);
      i += 2;
    } else if (written[i] == '\n') {
      screen += '\n';
      line = at = screen.size();
    } else {
      screen.resize(std::max(screen.size(), at + 1));
      screen[at++] = written[i];
    }
  }
  return screen;
}

BOOST_AUTO_TEST_CASE(reports_stay_on_the_terminal_and_only_the_bar_is_overwritten) {
  const std::string longer_than_the_terminal(100, 'x');
  for (const bool ends_with_report : {true, false}) {
    std::ostringstream out;
    {
      samples::progress progress(out, 4, 40);
      progress.report("before the first step");
      for (int i = 0; i < 2; ++i) progress.advance();
      progress.report(longer_than_the_terminal);
      for (int i = 0; i < 2; ++i) progress.advance();
      if (ends_with_report) progress.report("epoch 2");
    }
    const std::string bar = '[' + std::string(31, '#') + "] 100% \n";
    BOOST_TEST(out.str().find(bar.substr(0, bar.size() - 1)) != std::string::npos);
    BOOST_TEST(on_a_terminal(out.str()) == "before the first step\n" + longer_than_the_terminal +
                                               '\n' + (ends_with_report ? "epoch 2\n" : bar));
  }
}

BOOST_AUTO_TEST_CASE(a_terminal_without_a_width_is_none) {
  const int saved = dup(STDOUT_FILENO);
  const int controller = posix_openpt(O_RDWR | O_NOCTTY);
  BOOST_REQUIRE(grantpt(controller) + unlockpt(controller) == 0);
  const int terminal = open(ptsname(controller), O_RDWR | O_NOCTTY);
  const auto columns_at = [&](unsigned short width) {
    const winsize size{24, width, 0, 0};
    ioctl(terminal, TIOCSWINSZ, &size);
    dup2(terminal, STDOUT_FILENO);
    const int columns = samples::terminal_columns();
    dup2(saved, STDOUT_FILENO);
    return columns;
  };
  const int none = columns_at(0), some = columns_at(132);
  for (const int file : {terminal, controller, saved}) close(file);
  BOOST_TEST(none == 0);
  BOOST_TEST(some == 132);
}

BOOST_AUTO_TEST_CASE(data_files_are_searched_in_order) {
  const tutti_test::temporary_folder given, named;
  given.write("only-here.txt", "1");
  named.write("named.txt", "2");
  BOOST_TEST((samples::find_data("only-here.txt", given.path()) == given / "only-here.txt"));
  setenv("TUTTI_DATA", named.path().c_str(), 1);
  BOOST_TEST((samples::find_data("named.txt", {}) == named / "named.txt"));
  FAILS(io_error, samples::find_data("named.txt", given.path()), given.path().string());
  FAILS(io_error, samples::find_data("absent.txt", {}), named.path().string());
  unsetenv("TUTTI_DATA");
  BOOST_TEST(samples::find_data("digits.csv.gz", {}).filename() == "digits.csv.gz");
}

BOOST_AUTO_TEST_CASE(empty_names_are_refused) {
  for (const std::string name : {"--out", "--data", "--device"}) {
    CLI::App app;
    samples::common_options options(app);
    options.with_data("files").with_out("results");
    BOOST_TEST(fails<CLI::ValidationError>(
        [&] {
          app.parse(std::vector<std::string>{"", name});
        },
        name + ": is empty"));
  }
}

BOOST_AUTO_TEST_CASE(seeds_are_whole_numbers) {
  const auto seed_of = [](const std::string& text) {
    CLI::App app;
    samples::common_options options(app, "of all");
    app.parse(std::vector<std::string>{"--seed=" + text});
    return options.seed;
  };
  BOOST_TEST(seed_of("0") == 0u);
  BOOST_TEST(seed_of("18446744073709551615") == UINT64_MAX);
  for (const char* wrong : {"-1", "18446744073709551616", "1.5", "x", "0x"})
    BOOST_TEST(fails<CLI::ParseError>([&] { seed_of(wrong); }, wrong));
}

BOOST_AUTO_TEST_CASE(names_of_data_are_searched_below_the_named_folder) {
  const tutti_test::temporary_folder named;
  std::filesystem::create_directory(named / "set");
  const auto data_of = [](const std::string& given) {
    CLI::App app;
    samples::common_options options(app);
    options.with_data("files");
    app.parse("--data " + given, false);
    return options.data;
  };
  setenv("TUTTI_DATA", named.path().c_str(), 1);
  BOOST_TEST((data_of("set") == named / "set"));
  BOOST_TEST((data_of("absent") == "absent"));
  BOOST_TEST((data_of("/") == "/"));
  unsetenv("TUTTI_DATA");
  BOOST_TEST((data_of("set") == "set"));
}

BOOST_AUTO_TEST_CASE(texts_are_read_whole) {
  const tutti_test::temporary_folder folder;
  folder.write("t", std::string("a\0b\r\n", 5));
  folder.write("none", "");
  BOOST_TEST(samples::read_text(folder / "t", 5) == std::string("a\0b\r\n", 5));
  BOOST_TEST(samples::read_text(folder / "none").empty());
  FAILS(io_error, samples::read_text(folder / "t", 6), "5 letters, at least 6");
  FAILS(io_error, samples::read_text(folder / "x"), "No such file");
  FAILS(io_error, samples::read_text(folder.path()), "no file");
}

BOOST_AUTO_TEST_SUITE_END()
