// SPDX-License-Identifier: Apache-2.0
//
// Pages of the guide, line by line.
#include "markdown.hpp"

#include <limits>
#include <sstream>
#include <stdexcept>

namespace tutti_test::guide {
namespace {

[[noreturn]] void refuse(int line, const std::string& why) {
  throw std::runtime_error("line " + std::to_string(line) + ": " + why);
}

/// The cells of a table's row, "\|" unescaped outside of them.
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|') {
      cell += row[++i];
    } else if (row[i] == '|') {
      cells.push_back(std::move(cell));
      cell.clear();
    } else {
      cell += row[i];
    }
  }
  return cells;
}

std::vector<std::string> code_spans(const std::string& text) {
  std::vector<std::string> spans;
  for (std::size_t from = text.find('`'); from != std::string::npos;) {
    const std::size_t to = text.find('`', from + 1);
    if (to == std::string::npos) break;
    spans.push_back(text.substr(from + 1, to - from - 1));
    from = text.find('`', to + 1);
  }
  return spans;
}

const std::string within = "<!-- numbers within ";

class parser {
 public:
  parser(std::string_view markdown, bool only_files)
      : in_(std::string(markdown)), only_files_(only_files) {}

  std::vector<part> run() {
    for (std::string text; next(text);) {
      if (text.starts_with("```")) {
        block(text.substr(3));
        tolerance_ = part().tolerance;
      } else if (text.starts_with("|")) {
        table_row(text);
        continue;
      } else if (text.starts_with("## ")) {
        parts_.push_back({part_kind::section, line_, text.substr(3), {}});
        last_ = part_kind::section;
      } else if (text == "<!-- numbers vary -->") {
        tolerance_ = std::numeric_limits<double>::infinity();
      } else if (text.starts_with(within)) {
        tolerance_ = std::stod(text.substr(within.size()));
      }
      column_ = no_table;
    }
    return std::move(parts_);
  }

 private:
  static constexpr int no_table = -2, other_table = -1;

  bool next(std::string& text) {
    if (!std::getline(in_, text)) return false;
    ++line_;
    return true;
  }

  void block(const std::string& info) {
    const int first = line_ + 1;
    std::string body;
    for (std::string text;;) {
      if (!next(text)) refuse(first - 1, "a block without an end");
      if (text == "```") break;
      body += text + '\n';
    }
    const std::size_t space = info.find(" file=");
    const std::string language = info.substr(0, space);
    if (space != std::string::npos && (language == "cpp" || language == "cmake")) {
      add(part_kind::file, first, body, info.substr(space + 6));
    } else if (only_files_) {
      return;
    } else if (info == "cpp") {
      add(part_kind::snippet, first, body);
    } else if (info == "text") {
      if (last_ != part_kind::snippet) refuse(first, "an output without a snippet");
      add(part_kind::output, first, body);
    } else if (info == "console") {
      commands(first, body);
    } else if (info != "sh") {
      refuse(first - 1, "no block of the guide: ```" + info);
    }
  }

  void add(part_kind kind, int line, std::string text, std::string file = {}) {
    parts_.push_back({kind, line, std::move(text), std::move(file), tolerance_});
    last_ = kind;
  }

  void commands(int line, const std::string& body) {
    std::istringstream lines(body);
    bool ours = false;
    for (std::string text; std::getline(lines, text); ++line) {
      if (text.starts_with("$ ")) {
        ours = text.find("./build/") != std::string::npos;
        if (ours) add(part_kind::command, line, {}, text.substr(2));
      } else if (ours) {
        parts_.back().text += text + '\n';
      }
    }
  }

  void table_row(const std::string& text) {
    const std::vector<std::string> cells = cells_of(text);
    if (column_ == no_table) {
      column_ = other_table;
      for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i] == " Tutti ") column_ = static_cast<int>(i);
      return;
    }
    if (column_ == other_table || static_cast<std::size_t>(column_) >= cells.size()) return;
    for (std::string& code : code_spans(cells[static_cast<std::size_t>(column_)]))
      parts_.push_back({part_kind::expression, line_, std::move(code), {}});
  }

  std::istringstream in_;
  bool only_files_;
  std::vector<part> parts_;
  int line_ = 0;
  int column_ = no_table;
  part_kind last_ = part_kind::section;
  double tolerance_ = part().tolerance;
};

}  // namespace

std::vector<part> parse_page(std::string_view markdown) { return parser(markdown, false).run(); }

std::vector<part> parse_files(std::string_view markdown) {
  std::vector<part> parts = parser(markdown, true).run();
  std::erase_if(parts, [](const part& p) { return p.kind != part_kind::file; });
  return parts;
}

}  // namespace tutti_test::guide
